/* The trace: tracks, lanes of events, their levels, and what is found in them. Times are ns since the start. */

const ASPECTS = [
	"calls",
	"ranges",
	"off the processor",
	"work",
	"waits",
	"overhead",
	"others",
	"samples",
	"events",
	"losses",
	"counter",
];
const CALLS = 0,
	RANGES = 1,
	STATES = 2,
	WORK = 3,
	WAITS = 4,
	SAMPLES = 7,
	MARKS = 8,
	LOSSES = 9,
	COUNTER = 10;
const ROLE = {
	BYTES: 1,
	KERNEL: 5,
	DIRECTION: 18,
	LAUNCH_TRACK: 19,
	LAUNCH_START: 20,
	LAUNCH_NS: 21,
	LAUNCH_NAME: 22,
	LAUNCH_JOIN: 23,
	STACK: 24,
	CREATED_TRACK: 31,
	CREATED_START: 32,
};
const FIELD = { U64: 0, I64: 1, HEX: 2, F64: 3, STR: 4, BOOL: 5 };
const DIRECTIONS = ["unknown", "HtoD", "DtoH", "DtoD", "HtoH", "PtoP"];

/* The first index in sorted a[] whose value is larger than v. */
function upperBound(a, v, low = 0, high = a.length) {
	while (low < high) {
		const mid = (low + high) >> 1;

		if (a[mid] <= v) low = mid + 1;
		else high = mid;
	}
	return low;
}

/* Events of one level, which do not overlap, and coarser copies of them: in step k, neighbours that are shorter than
 * resolution r and begin within r are one slice, with the busy share of its time. */
class Level {
	constructor(lane, refs) {
		this.lane = lane;
		this.refs = refs; /* null: all events of the lane */
		this.start = lane.start;
		this.end = lane.end;
		this.type = lane.type;
		this.steps = null;
		if (refs) this.copy(lane, refs);
	}
	copy(lane, refs) {
		const n = refs.length,
			start = new Float64Array(n),
			end = new Float64Array(n),
			type = new Uint32Array(n);

		for (let k = 0; k < n; k++) {
			start[k] = lane.start[refs[k]];
			end[k] = lane.end[refs[k]];
			type[k] = lane.type[refs[k]];
		}
		this.start = start;
		this.end = end;
		this.type = type;
	}
	event(i) {
		return this.refs ? this.refs[i] : i;
	}
	/* The slices to draw where one pixel has so many ns. */
	at(nsPerPixel) {
		if (!this.steps) this.steps = this.makeSteps();
		let best = this.steps[0];

		for (const s of this.steps) if (s.resolution <= nsPerPixel) best = s;
		return best;
	}
	makeSteps() {
		const n = this.start.length;
		const steps = [
			{ resolution: 0, start: this.start, end: this.end, type: this.type, busy: null, n },
		];

		for (let r = 256; n > 512 && steps[steps.length - 1].n > 256 && r < 1e15; r *= 4) {
			const last = steps[steps.length - 1],
				step = mergeStep(last, r);

			if (step.n < last.n * 0.75) steps.push(step);
		}
		return steps;
	}
	/* Index of the event at time t, or of the nearest one within `slack`; -1: none. */
	find(t, slack) {
		const i = upperBound(this.start, t) - 1;

		if (i >= 0 && this.end[i] >= t) return i;
		const before = i >= 0 ? t - this.end[i] : Infinity,
			after = i + 1 < this.start.length ? this.start[i + 1] - t : Infinity;

		if (Math.min(before, after) > slack) return -1;
		return before <= after ? i : i + 1;
	}
}

function mergeStep(from, r) {
	const n = from.n,
		start = new Float64Array(n),
		end = new Float64Array(n),
		type = new Uint32Array(n),
		busy = new Float64Array(n);
	let at = -1,
		longest = 0;

	for (let i = 0; i < n; i++) {
		const s = from.start[i],
			e = from.end[i],
			b = from.busy ? from.busy[i] : e - s;

		if (at >= 0 && s - start[at] < r && e - s < r && longest < r) {
			if (e > end[at]) end[at] = e;
			if (b > longest) {
				longest = b;
				type[at] = from.type[i];
			}
			busy[at] += b;
			continue;
		}
		at++;
		start[at] = s;
		end[at] = e;
		type[at] = from.type[i];
		busy[at] = b;
		longest = e - s < r ? b : r;
	}
	const m = at + 1;

	return {
		resolution: r,
		start: start.slice(0, m),
		end: end.slice(0, m),
		type: type.slice(0, m),
		busy: busy.slice(0, m),
		n: m,
	};
}

function makeLevels(lane, n) {
	if (n <= 1) return [new Level(lane, null)];
	const counts = new Uint32Array(n);

	for (let i = 0; i < lane.n; i++) counts[lane.level[i]]++;
	const refs = Array.from(counts, c => new Uint32Array(c));

	counts.fill(0);
	for (let i = 0; i < lane.n; i++) refs[lane.level[i]][counts[lane.level[i]]++] = i;
	for (const list of refs) {
		let sorted = true;

		for (let i = 1; i < list.length && sorted; i++)
			sorted = lane.start[list[i - 1]] <= lane.start[list[i]];
		if (!sorted) list.sort((a, b) => lane.start[a] - lane.start[b]);
	}
	return refs.map(list => new Level(lane, list));
}

/* A counter's points, with the largest and smallest value of each block of 64. */
class Points {
	constructor(points) {
		this.start = points.start;
		this.value = points.value;
		this.max = -Infinity;
		this.min = Infinity;
		for (const v of points.value)
			if (isFinite(v)) {
				this.max = Math.max(this.max, v);
				this.min = Math.min(this.min, v);
			}
		this.blocks = new Float64Array(Math.ceil(points.value.length / 64)).fill(-Infinity);
		for (let i = 0; i < points.value.length; i++)
			this.blocks[i >> 6] = Math.max(this.blocks[i >> 6], points.value[i]);
	}
	/* The largest value of points a to b - 1. */
	largest(a, b) {
		let v = -Infinity;

		while (a < b)
			if (!(a & 63) && a + 64 <= b) {
				v = Math.max(v, this.blocks[a >> 6]);
				a += 64;
			} else {
				v = Math.max(v, this.value[a++]);
			}
		return v;
	}
	at(t) {
		const i = upperBound(this.start, t) - 1;

		return i < 0 ? NaN : this.value[i];
	}
}

const COMMUNICATION = /^(nccl|rccl|ncclDev|nvshmem|mscclpp|msccl)/i;

function readTypes(head) {
	return head.types.map(t => ({
		name: t[0],
		full: t[1] || t[0],
		category: t[2] === "kernel" && COMMUNICATION.test(t[0]) ? "communication" : t[2],
		layer: t[3],
		op: t[4],
		fields: t[5].map(f => ({ name: f[0], kind: f[1], role: f[2] })),
	}));
}

class Model {
	constructor(head, sections) {
		this.head = head;
		this.types = readTypes(head);
		this.from = head.from;
		this.to = Math.max(head.to, head.from + 1);
		this.tracks = head.tracks.map((t, i) => ({
			index: i,
			kind: t[0],
			id: t[1],
			name: t[2],
			parent: t[3],
			segment: t[4],
			lanes: [],
		}));
		this.args = sections.args;
		this.readLanes(sections);
		this.calledWork = null;
		this.queues = new Map(); /* queues.js */
	}
	readLanes(sections) {
		const of = {};

		for (const name of ["start", "dur", "type", "level", "extra", "value"])
			of[name] = new Varints(sections[name]);
		this.lanes = this.head.lanes.map((l, i) => {
			const lane = {
				index: i,
				track: l[0],
				aspect: l[1],
				n: l[2],
				types: l[4],
				counter: l[5],
			};

			if (lane.aspect === COUNTER)
				lane.points = new Points(readPoints(of, lane.n, 0, l[6]));
			else Object.assign(lane, readLane(of, lane.n, 0, lane.types));
			lane.extras = readExtras(of.extra);
			lane.levels = lane.aspect === COUNTER ? [] : makeLevels(lane, l[3]);
			return lane;
		});
		for (const lane of this.lanes) if (lane.track >= 0) this.tracks[lane.track].lanes.push(lane);
	}
	/* The metadata of a recording, an object. */
	metadata(segment) {
		const s = this.head.segments[segment];

		if (s && !s.parsed) {
			try {
				s.parsed = JSON.parse(s[4]) || {};
			} catch (e) {
				s.parsed = {};
			}
		}
		return s ? s.parsed : {};
	}
	/* The arguments are not needed for the first picture. */
	ensureArguments() {
		if (this.args && !this.argumentsFound) {
			findArguments(this.args, this.lanes, this.types);
			this.argumentsFound = true;
		}
	}
	/* The number of the event among those of its type in its lane, and the columns of that type. */
	row(lane, i) {
		this.ensureArguments();
		if (!lane.ordinal) {
			const counts = new Map();

			lane.ordinal = new Uint32Array(lane.n);
			for (let k = 0; k < lane.n; k++) {
				const c = counts.get(lane.type[k]) || 0;

				lane.ordinal[k] = c;
				counts.set(lane.type[k], c + 1);
			}
			lane.counts = counts;
		}
		const local = lane.types.indexOf(lane.type[i]);

		return { columns: lane.columns ? lane.columns[local] : null, at: lane.ordinal[i] };
	}
	value(column, at) {
		if (column.same !== undefined) return BigInt.asUintN(64, column.same);
		return decodeColumn(this.args, column)[at] ?? 0n;
	}
	/* The fields of an event with raw values (BigInt), and `launch`: 1 + index of its call, or 0. */
	fields(lane, i) {
		const row = this.row(lane, i),
			type = this.types[lane.type[i]];

		if (!row.columns || lane.extras.count.has(i)) return { list: [], launch: 0 };
		return {
			list: type.fields.map((field, k) => ({
				field,
				value: this.value(row.columns[k], row.at),
			})),
			launch: Number(this.value(row.columns[type.fields.length], row.at)),
		};
	}
	callLane(track) {
		return track >= 0 && track < this.tracks.length
			? this.tracks[track].lanes.find(l => l.aspect === CALLS)
			: undefined;
	}
	/* The call that launched GPU work, or null. */
	launchOf(lane, i) {
		if (lane.aspect !== WORK) return null;
		const { list, launch } = this.fields(lane, i);
		const track = list.find(f => f.field.role === ROLE.LAUNCH_TRACK),
			call = track && this.callLane(Number(track.value) - 1);

		return launch && call && launch <= call.n ? { lane: call, i: launch - 1 } : null;
	}
	/* All GPU work by the call that launched it: a Map from lane to Map from call to list of events. Made on first use. */
	workOf(lane, i) {
		if (!this.calledWork) this.calledWork = this.indexLaunches();
		return (this.calledWork.get(lane) || new Map()).get(i) || [];
	}
	indexLaunches() {
		const all = new Map();

		this.eachLaunch((lane, i, call, key) => {
			if (!call) return;
			if (!all.has(call)) all.set(call, new Map());
			const of = all.get(call);

			if (of.has(key)) of.get(key).push({ lane, i });
			else of.set(key, [{ lane, i }]);
		});
		return all;
	}
	/* Calls f(lane, i, lane of the call or null, index of the call) for all GPU work. */
	eachLaunch(f) {
		this.ensureArguments();
		for (const lane of this.lanes) {
			if (lane.aspect !== WORK || !lane.n || !lane.columns) continue;
			this.row(lane, 0);
			const decoded = new Map();

			for (let i = 0; i < lane.n; i++) {
				const type = lane.type[i];

				if (!decoded.has(type)) decoded.set(type, this.launchColumns(lane, type));
				const columns = decoded.get(type),
					at = lane.ordinal[i];

				if (columns && columns.call[at])
					f(lane, i, this.callLane(columns.track[at] - 1) || null, columns.call[at] - 1);
				else f(lane, i, null, 0);
			}
		}
	}
	launchColumns(lane, type) {
		const columns = lane.columns[lane.types.indexOf(type)],
			n = lane.counts.get(type);
		const track = this.types[type].fields.findIndex(f => f.role === ROLE.LAUNCH_TRACK);

		return track < 0
			? null
			: {
					call: decodeIndices(this.args, columns[columns.length - 1], n),
					track: decodeIndices(this.args, columns[track], n),
				};
	}
	counterName(lane) {
		return lane.name || this.types[lane.counter].name;
	}
	typeOf(lane, i) {
		return this.types[lane.type[i]];
	}
	/* Types whose names match; null: all. */
	matchingTypes(expression) {
		if (!expression) return null;
		return Uint8Array.from(this.types, t =>
			expression.test(t.name) || expression.test(t.full) ? 1 : 0
		);
	}
	/* All events of matching types in order of time, at most `most`. */
	matches(flags, most) {
		const found = [];

		for (const lane of this.lanes)
			for (let i = 0; lane.aspect !== COUNTER && i < lane.n; i++)
				if (flags[lane.type[i]] && found.push({ lane, i }) >= most)
					return found.sort((a, b) => a.lane.start[a.i] - b.lane.start[b.i]);
		return found.sort((a, b) => a.lane.start[a.i] - b.lane.start[b.i]);
	}
}
