/* What the pane below the timeline says: of the selected event, or of the selected area. */

class Details {
	constructor(app) {
		this.app = app;
		this.model = app.model;
		this.pane = byId("details");
	}
	show() {
		const v = this.app.view;

		this.pane.replaceChildren();
		if (v.area) this.showArea(v.area);
		else if (v.selected) this.showEvent(v.selected);
		else this.showSummary();
	}
	/* What advice says of the whole trace, and how to go on. */
	showSummary() {
		const reports = this.app.reports,
			tables = reports ? reports.documents[0].tables : {},
			columns = reports ? reports.documents[0].columns : {};
		const verdict = tables.verdict && tables.verdict.rows[0],
			found = tables.advice ? tables.advice.rows.filter(r => r.state === "found") : [];

		if (verdict && verdict.text)
			this.pane.append(make("p", { class: "verdict" }, printable(verdict.text)));
		for (const row of found.slice(0, 5)) {
			const jump = reports.jump(columns.advice.columns, row),
				text = row.evidence + (row.remedy ? ": " + row.remedy : "");

			this.pane.append(
				make(
					"p",
					{ class: "found" },
					jump
						? make(
								"button",
								{
									type: "button",
									class: "link",
									onclick: jump,
								},
								printable(text)
							)
						: printable(text)
				)
			);
		}
		this.pane.append(
			make(
				"p",
				{ class: "empty" },
				"Select an event to see its arguments and the call that launched it. Hold Shift and drag, or drag on the axis, to measure " +
					"and to sum up an area. Press ? for all keys."
			)
		);
	}
	fact(list, name, value, wide) {
		if (value !== null && value !== undefined && value !== "")
			list.append(
				make(
					"div",
					wide ? { class: "wide" } : {},
					make("dt", {}, name),
					make("dd", {}, value)
				)
			);
	}
	link(event, text) {
		return make(
			"button",
			{ type: "button", class: "link", onclick: () => this.app.select(event, true) },
			text
		);
	}
	chip(type) {
		const chip = make("span", { class: "chip" });

		chip.style.background = "rgb(" + this.app.painter.shades[type] + ")";
		return chip;
	}
	heading(type, text) {
		return make("h2", {}, this.chip(type), make("span", {}, text));
	}
	showEvent({ lane, i }) {
		const type = this.model.typeOf(lane, i),
			merged = lane.extras.count.get(i),
			list = make("dl", { class: "facts" });
		const open = lane.extras.open.has(i),
			ns = lane.end[i] - lane.start[i];

		this.pane.append(
			this.heading(
				lane.type[i],
				merged
					? formatCount(merged) +
							" events, the longest is " +
							printable(type.name)
					: printable(type.full)
			)
		);
		this.fact(list, "start", formatTime(lane.start[i]));
		if (lane.aspect !== MARKS && lane.aspect !== SAMPLES) {
			this.fact(
				list,
				open ? "so far" : merged ? "from first to last" : "duration",
				formatNs(ns) + (ns >= 1000 ? " (" + formatCount(ns) + " ns)" : "")
			);
			this.fact(
				list,
				"end",
				open ? "none: still open when the recording ended" : formatTime(lane.end[i])
			);
		}
		this.fact(list, "category", type.category + (type.layer ? " (" + type.layer + ")" : ""));
		this.fact(list, "on", this.app.layout.path(lane));
		if (lane.extras.ret.has(i)) this.fact(list, "return code", String(lane.extras.ret.get(i)));
		this.showLaunch(list, lane, i);
		this.showFields(list, lane, i);
		this.pane.append(list);
		if (merged)
			this.pane.append(
				make(
					"p",
					{ class: "empty" },
					"This file has one slice for these neighbours, which are shorter than " +
						formatNs(this.model.head.resolution) +
						": without that it would be larger than --max-size permits."
				)
			);
	}
	/* The call of GPU work, or the GPU work of a call. */
	showLaunch(list, lane, i) {
		const call = this.model.launchOf(lane, i);

		if (call) {
			this.fact(
				list,
				"launched by",
				this.link(
					call,
					printable(this.model.typeOf(call.lane, call.i).name) +
						" at " +
						formatTime(call.lane.start[call.i])
				)
			);
			const waited = lane.start[i] - call.lane.end[call.i];

			this.fact(
				list,
				"queue time",
				waited < 0 ? "none: it began before the call returned" : formatNs(waited)
			);
			this.fact(
				list,
				"launch lasted",
				formatNs(call.lane.end[call.i] - call.lane.start[call.i])
			);
		}
		for (const work of lane.aspect === CALLS ? this.model.workOf(lane, i).slice(0, 12) : [])
			this.fact(
				list,
				"launched",
				this.link(
					work,
					printable(this.model.typeOf(work.lane, work.i).name) +
						" at " +
						formatTime(work.lane.start[work.i])
				)
			);
	}
	showFields(list, lane, i) {
		const { list: fields, launch } = this.model.fields(lane, i),
			ns = lane.end[i] - lane.start[i];

		for (const { field, value } of fields) {
			const role = field.role;

			if (role >= ROLE.LAUNCH_TRACK && role <= ROLE.LAUNCH_NAME && launch) continue;
			if (role === ROLE.STACK) {
				this.showStack(list, Number(value));
				continue;
			}
			this.fact(
				list,
				printable(field.name),
				this.valueText(field, value),
				field.kind === FIELD.STR && this.valueText(field, value).length > 40
			);
			if (role === ROLE.BYTES && lane.aspect === WORK && ns > 0 && value)
				this.fact(list, "rate", (Number(value) / ns).toFixed(2) + " GB/s");
		}
	}
	showStack(list, number) {
		const head = this.model.head,
			frames = number && head.stacks[number - 1];

		if (frames)
			this.fact(
				list,
				"call stack",
				frames
					.map(f => printable(head.frames[f - 1]))
					.reverse()
					.join("\n  \u2190 "),
				true
			);
	}
	valueText(field, value) {
		const head = this.model.head,
			number = Number(BigInt.asIntN(64, value));

		switch (field.role) {
			case ROLE.LAUNCH_TRACK:
			case ROLE.CREATED_TRACK:
				return number ? trackLabel(this.model, this.model.tracks[number - 1]) : "";
			case ROLE.LAUNCH_START:
			case ROLE.CREATED_START:
				return number ? formatTime(number) : "";
			case ROLE.LAUNCH_NS:
				return number ? formatNs(number) : "";
			case ROLE.LAUNCH_JOIN:
				return (
					["unknown", "by correlation id", "by order: likely, not certain"][
						number
					] || String(number)
				);
			case ROLE.DIRECTION:
				return DIRECTIONS[number] || String(number);
			case ROLE.BYTES:
				return number >= 1024
					? formatBytes(number) + " (" + formatCount(number) + " B)"
					: number + " B";
		}
		switch (field.kind) {
			case FIELD.STR:
				return number ? printable(head.strings[number - 1]) : "";
			case FIELD.HEX:
				return "0x" + value.toString(16);
			case FIELD.F64:
				return formatNumber(realOfBits(value));
			case FIELD.BOOL:
				return value ? "yes" : "no";
			case FIELD.I64:
				return BigInt.asIntN(64, value).toString();
			default:
				return value.toString();
		}
	}
	/* Sums by name of the events that overlap the area, clipped to it. */
	sumArea(area) {
		const sums = new Map();
		const inside = lane =>
			area.top === undefined ||
			(lane.line && lane.line.y + lane.line.height > area.top && lane.line.y < area.bottom);
		let events = 0;

		for (const lane of this.model.lanes) {
			if (lane.points || !inside(lane)) continue;
			for (let k = 0; k < lane.levels.length; k++) {
				if (
					area.top !== undefined &&
					lane.line.rows > 1 &&
					(lane.line.y + (k + 1) * lane.line.unit <= area.top ||
						lane.line.y + k * lane.line.unit >= area.bottom)
				)
					continue;
				events += this.sumLevel(sums, lane, lane.levels[k], area);
			}
		}
		return { rows: [...sums.values()], events };
	}
	sumLevel(sums, lane, level, area) {
		let events = 0;

		for (
			let i = Math.max(0, upperBound(level.start, area.from) - 1);
			i < level.start.length && level.start[i] < area.to;
			i++
		) {
			if (
				level.end[i] < area.from ||
				(level.end[i] === area.from && level.start[i] < area.from)
			)
				continue;
			const type = level.type[i],
				key = type * 16 + lane.aspect,
				n = lane.extras.count.get(level.event(i)) || 1;
			const ns = Math.min(level.end[i], area.to) - Math.max(level.start[i], area.from);
			let s = sums.get(key);

			if (!s)
				sums.set(
					key,
					(s = {
						type,
						aspect: lane.aspect,
						count: 0,
						total: 0,
						longest: 0,
						at: null,
					})
				);
			s.count += n;
			s.total += ns;
			if (ns >= s.longest) {
				s.longest = ns;
				s.at = { lane, i: level.event(i) };
			}
			events += n;
		}
		return events;
	}
	/* ns of the area in which any GPU work ran. */
	busyIn(area) {
		const spans = [];

		for (const lane of this.model.lanes)
			if (lane.aspect === WORK)
				for (const level of lane.levels)
					for (
						let i = Math.max(0, upperBound(level.start, area.from) - 1);
						i < level.start.length && level.start[i] < area.to;
						i++
					)
						if (level.end[i] > area.from)
							spans.push([
								Math.max(area.from, level.start[i]),
								Math.min(area.to, level.end[i]),
							]);
		spans.sort((a, b) => a[0] - b[0]);
		let busy = 0,
			end = -Infinity;

		for (const [a, b] of spans) {
			busy += Math.max(0, b - Math.max(a, end));
			end = Math.max(end, b);
		}
		return busy;
	}
	showArea(area) {
		const { rows, events } = this.sumArea(area),
			span = area.to - area.from,
			list = make("dl", { class: "facts" });

		this.pane.append(make("h2", {}, "Area: " + formatNs(span)));
		this.fact(list, "from", formatTime(area.from));
		this.fact(list, "to", formatTime(area.to));
		this.fact(list, "events", formatCount(events));
		this.fact(list, "rate", (1e9 / span).toPrecision(4) + " Hz if it repeats");
		if (this.model.lanes.some(l => l.aspect === WORK))
			this.fact(list, "any GPU busy", ((this.busyIn(area) / span) * 100).toFixed(1) + " %");
		this.pane.append(
			list,
			make(
				"p",
				{},
				make(
					"button",
					{
						type: "button",
						onclick: () => this.app.zoomTo(area.from, area.to),
					},
					"Zoom to it"
				),
				" ",
				make(
					"button",
					{ type: "button", onclick: () => this.app.clear() },
					"Clear (Esc)"
				)
			)
		);
		const columns = [
			["name", "Name", "text"],
			["kind", "Kind", "text"],
			["count", "Count", "count"],
			["total", "Total", "ns"],
			["share", "Share of area", "percent"],
			["mean", "Mean", "ns"],
			["longest", "Longest", "ns"],
		];
		const data = rows.map(r => ({
			name: this.model.types[r.type].name,
			kind: ASPECTS[r.aspect],
			count: r.count,
			total: r.total,
			share: (r.total / span) * 100,
			mean: r.total / r.count,
			longest: r.longest,
			jump: () => this.app.select(r.at, true),
		}));

		this.pane.append(makeTable(columns, data, "total", 300));
	}
}
