/* The lines of the timeline from the top: processes, their GPUs with streams, their threads, counters. A line is a lane
 * (one row per level) or the heading of a group. */

const ROW = 19,
	GROUP_ROW = 24,
	COUNTER_ROW = 40,
	LOW_COUNTER_ROW = 26,
	GAP = 3;
const LANE_ORDER = [RANGES, CALLS, WORK, WAITS, STATES, 5, 6, SAMPLES, MARKS, LOSSES, COUNTER];

function trackLabel(model, track) {
	const name = printable(track.name);

	switch (track.kind) {
		case "process":
			return name ? name + " (pid " + track.id + ")" : "pid " + track.id;
		case "thread":
			return (name || "thread") + " " + track.id;
		case "device":
			return gpuLabel(model, track, name);
		default:
			return name || track.kind + " " + track.id;
	}
}

/* The name of the GPU, with its model if all GPUs of the machine are of one. */
function gpuLabel(model, track, name) {
	const gpus = (model.metadata(track.segment).gpus || []).map(g => g && g.model).filter(Boolean);
	const label = name || "GPU " + track.id;

	return gpus.length && gpus.every(g => g === gpus[0]) && !label.includes(gpus[0])
		? label + " " + printable(gpus[0])
		: label;
}

function rankOf(track) {
	return (
		{ process: 0, device: 1, context: 2, stream: 3, thread: 4, cpu: 6, custom: 7, machine: 8 }[
			track.kind
		] ?? 9
	);
}

class Layout {
	constructor(model) {
		this.model = model;
		this.folded = new Set();
		this.children = new Map();
		this.weights = this.weigh();
		for (const t of model.tracks) {
			if (!this.children.has(t.parent)) this.children.set(t.parent, []);
			this.children.get(t.parent).push(t);
		}
		for (const list of this.children.values()) list.sort((a, b) => this.compare(a, b));
		this.foldMinor();
		this.build();
	}
	/* Events of a track and those below it. */
	weigh() {
		const tracks = this.model.tracks,
			weights = tracks.map(t => t.lanes.reduce((n, l) => n + l.n, 0));
		const add = (t, w) => {
			for (let p = t.parent, deep = 0; p >= 0 && deep < 16; p = tracks[p].parent, deep++)
				weights[p] += w;
		};

		tracks.map((t, i) => weights[i]).forEach((w, i) => add(tracks[i], w));
		return weights;
	}
	isMain(t) {
		return t.kind === "thread" && t.parent >= 0 && this.model.tracks[t.parent].id === t.id;
	}
	compare(a, b) {
		const bySize =
			a.kind === "thread" && b.kind === "thread"
				? this.isMain(b) - this.isMain(a) ||
					Math.round(
						Math.log2(1 + this.weights[b.index]) -
							Math.log2(1 + this.weights[a.index])
					)
				: 0;

		return (
			a.segment - b.segment ||
			rankOf(a) - rankOf(b) ||
			bySize ||
			a.id - b.id ||
			a.index - b.index
		);
	}
	/* Threads with less than a fiftieth of the events of the busiest: one line stands for them, if there are several. */
	foldMinor() {
		this.minor = new Set();
		for (const [parent, list] of this.children) {
			const most = list.reduce((m, t) => Math.max(m, this.weights[t.index]), 0);
			const minor = list.filter(
				t =>
					t.kind === "thread" &&
					this.weights[t.index] &&
					!this.isMain(t) &&
					this.weights[t.index] < most / 50
			);

			for (const t of minor) {
				this.folded.add("t" + t.index);
				if (minor.length > 1) this.minor.add(t.index);
			}
			this.folded.add("m" + parent);
		}
	}
	addBelow(t, below, indent) {
		const minor = below.filter(c => this.minor.has(c.index)),
			key = "m" + t.index,
			folded = this.folded.has(key);

		below.filter(c => !this.minor.has(c.index)).forEach(c => this.addTrack(c, indent));
		if (!minor.length) return;
		this.add({
			key,
			label: minor.length + (minor.length < below.length ? " more threads" : " threads"),
			group: true,
			folded,
			foldable: true,
			indent,
			rows: 1,
			unit: GROUP_ROW,
			members: minor,
		});
		if (!folded) minor.forEach(c => this.addTrack(c, indent + 1));
	}
	build() {
		this.lines = [];
		this.height = 0;
		for (const lane of this.model.lanes) lane.line = null;
		this.addRecordings(this.children.get(-1) || []);
		for (const lane of this.model.lanes)
			if (lane.track < 0)
				this.add({
					key: "l" + lane.index,
					label: "losses",
					lane,
					indent: 0,
					rows: 1,
					unit: ROW,
				});
	}
	/* A recording has a line if there are several. */
	addRecordings(roots) {
		const segments = this.model.head.segments;

		segments.forEach((segment, i) => {
			const own = roots.filter(t => t.segment === i && this.weights[t.index]),
				key = "s" + i,
				folded = this.folded.has(key);

			if (segments.length > 1 && own.length)
				this.add({
					key,
					label: "recording " + i + " " + printable(segment[0]),
					group: true,
					folded,
					foldable: true,
					indent: 0,
					rows: 1,
					unit: GROUP_ROW,
					members: own,
				});
			if (!folded) own.forEach(t => this.addTrack(t, segments.length > 1 ? 1 : 0));
		});
	}
	add(line) {
		line.y = this.height;
		line.height = line.rows * line.unit + GAP;
		this.height += line.height;
		this.lines.push(line);
		if (line.lane) line.lane.line = line;
		return line;
	}
	addTrack(t, indent) {
		const key = "t" + t.index,
			folded = this.folded.has(key),
			below = this.children.get(t.index) || [];
		const lanes = t.lanes
			.slice()
			.sort((a, b) => LANE_ORDER.indexOf(a.aspect) - LANE_ORDER.indexOf(b.aspect));
		const main =
				lanes.find(l => [CALLS, WORK].includes(l.aspect)) ||
				lanes.find(l => l.aspect !== COUNTER),
			label = trackLabel(this.model, t);
		const group = below.length || !main || ["process", "device"].includes(t.kind);

		if (!this.weights[t.index]) return;
		if (indent > 12) indent = 12;
		if (group)
			this.add({
				key,
				label,
				group: true,
				folded,
				foldable: true,
				indent,
				rows: 1,
				unit: GROUP_ROW,
				members: [t],
			});
		if (folded && group) return;
		if (!group && folded) {
			this.addLane(main, label, indent, key, true);
			return;
		}
		if (t.kind === "process")
			/* its GPUs and threads come before its own lanes */
			this.addBelow(t, below, indent + 1);
		for (const l of lanes)
			if (l.aspect !== COUNTER)
				this.addPart(t, l, {
					label,
					indent,
					key,
					isMain: l === main && !group,
					isAbove: l.aspect === RANGES && l !== main && !group,
				});
		if (t.kind !== "process") this.addBelow(t, below, indent + 1);
		if (this.model.queues.has(t.index))
			this.addCounter(
				"q" + t.index,
				this.model.queues.get(t.index),
				indent + 1,
				t.kind === "device" ? COUNTER_ROW : LOW_COUNTER_ROW
			);
		for (const l of lanes)
			if (l.aspect === COUNTER) this.addCounter("l" + l.index, l, indent + 1, COUNTER_ROW);
	}
	addCounter(key, lane, indent, unit) {
		this.add({
			key,
			label: printable(this.model.counterName(lane)),
			lane,
			indent,
			rows: 1,
			unit,
			part: !!lane.name,
		});
	}
	/* Ranges of a thread with calls stand above it, as in gtview. */
	addPart(t, lane, { label, indent, key, isMain, isAbove }) {
		this.addLane(
			lane,
			isMain ? label : isAbove ? "ranges " + label : this.partLabel(t, lane),
			isMain || isAbove ? indent : indent + 1,
			isMain ? key : "l" + lane.index,
			false
		);
	}
	partLabel(t, lane) {
		if (lane.aspect === 6) return t.kind === "device" ? "managed memory" : "others";
		return ASPECTS[lane.aspect];
	}
	addLane(lane, label, indent, key, folded) {
		const one = folded || this.folded.has(key);

		this.add({
			key,
			label,
			lane,
			indent,
			folded: one,
			foldable: lane.levels.length > 1 || folded,
			rows: one ? 1 : Math.max(1, lane.levels.length),
			unit: ROW,
			part: key[0] === "l",
		});
	}
	toggle(key) {
		if (!this.folded.delete(key)) this.folded.add(key);
		this.build();
	}
	/* The line at a height, by bisection. */
	lineAt(y) {
		let low = 0,
			high = this.lines.length;

		while (low < high) {
			const mid = (low + high) >> 1;

			if (this.lines[mid].y + this.lines[mid].height <= y) low = mid + 1;
			else high = mid;
		}
		return this.lines[low];
	}
	/* Makes the lane of an event visible: unfolds what is above it. */
	reveal(lane) {
		if (lane.line) return false;
		for (let t = lane.track; t >= 0; t = this.model.tracks[t].parent) {
			this.folded.delete("s" + this.model.tracks[t].segment);
			this.folded.delete("t" + t);
			this.folded.delete("m" + t);
		}
		this.build();
		return true;
	}
	/* "python3 (pid 4) > GPU 0 > stream 7" */
	path(lane) {
		const names = [];

		for (let t = lane.track; t >= 0; t = this.model.tracks[t].parent)
			names.unshift(trackLabel(this.model, this.model.tracks[t]));
		if (![CALLS, WORK].includes(lane.aspect)) names.push(ASPECTS[lane.aspect]);
		return names.join(" \u203a ");
	}
}
