/* What is selected: an event, or an area; and the ways to select one. */

Object.assign(App.prototype, {
	select(event, reveal) {
		const v = this.view;

		v.area = null;
		v.selected = event;
		v.arrows = [];
		if (event) {
			const call = this.model.launchOf(event.lane, event.i);

			if (call) v.arrows.push([call, event]);
			else if (event.lane.aspect === CALLS)
				v.arrows = this.model
					.workOf(event.lane, event.i)
					.slice(0, 200)
					.map(work => [event, work]);
			if (reveal) this.reveal(event);
			this.speak(event);
		}
		this.details.show();
		this.redraw();
		this.remember();
	},
	reveal({ lane, i }) {
		const v = this.view,
			start = lane.start[i],
			end = lane.end[i],
			span = v.to - v.from;

		this.show("timeline");
		if (this.layout.reveal(lane)) this.relayout();
		const line = lane.line,
			y = line.y + (line.rows > 1 ? lane.level[i] * line.unit : 0),
			available = this.painter.height - RULER;

		if (y < v.scroll || y + line.unit > v.scroll + available) this.scrollTo(y - available / 3);
		if (end < v.from + span * 0.02 || start > v.to - span * 0.02 || end - start > span)
			end - start > span ? this.zoomTo(start, end) : this.centre((start + end) / 2);
		else if (end > start && end - start < span / 5000)
			this.setRange(
				(start + end) / 2 - (end - start + 50) * 60,
				(start + end) / 2 + (end - start + 50) * 60
			);
	},
	speak({ lane, i }) {
		byId("spoken").textContent =
			printable(this.model.typeOf(lane, i).name) +
			", " +
			formatNs(lane.end[i] - lane.start[i]) +
			", at " +
			formatTime(lane.start[i], 1000) +
			", " +
			this.layout.path(lane);
	},
	/* The event before or after the selected one, or that of the row above or below. */
	step(dx, dy) {
		const s = this.view.selected;

		if (!s) {
			const middle = (this.view.from + this.view.to) / 2,
				line = this.painter
					.visibleLines()
					.find(l => l.lane && !l.lane.points && l.lane.n);

			if (line)
				this.select(
					{
						lane: line.lane,
						i: line.lane.levels[0].event(
							Math.max(
								0,
								line.lane.levels[0].find(middle, Infinity)
							)
						),
					},
					true
				);
			return;
		}
		if (dx) {
			const level = s.lane.levels[s.lane.levels.length > 1 ? s.lane.level[s.i] : 0],
				at = level.find(s.lane.start[s.i], 0),
				next = this.indexIn(level, s.i, at) + dx;

			if (next >= 0 && next < level.start.length)
				this.select({ lane: s.lane, i: level.event(next) }, true);
			return;
		}
		this.stepRow(s, dy);
	},
	indexIn(level, i, near) {
		for (let k = Math.max(0, near); k >= 0; k--) if (level.event(k) === i) return k;
		return near;
	},
	stepRow(s, dy) {
		const middle = (s.lane.start[s.i] + s.lane.end[s.i]) / 2,
			lines = this.layout.lines;
		let line = s.lane.line,
			row = (line && line.rows > 1 ? s.lane.level[s.i] : 0) + dy,
			at = lines.indexOf(line);

		while (at >= 0 && at < lines.length) {
			line = lines[at];
			if (
				line.lane &&
				!line.lane.points &&
				row >= 0 &&
				row < line.rows &&
				line.lane.levels[row]
			) {
				const level = line.lane.levels[row],
					k = level.find(middle, Infinity);

				if (k >= 0) {
					this.select({ lane: line.lane, i: level.event(k) }, true);
					return;
				}
			}
			row += dy;
			if (row < 0 || row >= line.rows) {
				at += dy;
				row = dy > 0 || !lines[at] ? 0 : lines[at].rows - 1;
			}
		}
	},
	followLaunch(direction) {
		const s = this.view.selected;

		if (!s) return;
		const to =
			direction < 0 ? this.model.launchOf(s.lane, s.i) : this.model.workOf(s.lane, s.i)[0];

		if (to) this.select(to, true);
	},
	setArea(area, done) {
		this.view.area = area;
		if (done || !area) this.details.show();
		this.redraw();
	},
	measureSelected() {
		const s = this.view.selected;

		if (s)
			this.setArea(
				{
					from: s.lane.start[s.i],
					to: Math.max(s.lane.end[s.i], s.lane.start[s.i] + 1),
				},
				true
			);
	},
	clear() {
		const v = this.view;

		if (v.area) v.area = null;
		else if (v.selected) [v.selected, v.arrows] = [null, []];
		else if (this.expression) this.search((byId("query").value = ""));
		this.details.show();
		this.redraw();
		this.remember();
	},
	showRange(from, to) {
		this.show("timeline");
		this.view.area = to > from ? { from, to } : null;
		this.details.show();
		if (to > from) this.zoomTo(from - (to - from), to + (to - from));
		else this.zoomTo(from - 50000, from + 50000);
	},
	typeByName(name) {
		if (!this.names) {
			this.names = new Map();
			this.model.types.forEach((t, i) =>
				[t.full, t.name].forEach(n => this.names.has(n) || this.names.set(n, i))
			);
		}
		return this.names.has(name) ? this.names.get(name) : -1;
	},
	/* Selects the longest event of a type; GPU work rather than calls. */
	showLongest(type) {
		const name = this.model.types[type].name;
		let best = null,
			most = -1;

		for (const lane of this.model.lanes)
			for (let i = 0; !lane.points && i < lane.n; i++)
				if (
					this.model.types[lane.type[i]].name === name &&
					lane.end[i] - lane.start[i] > most
				) {
					most = lane.end[i] - lane.start[i];
					best = { lane, i };
				}
		if (best) this.select(best, true);
	},
	reportBase(recording) {
		const s = this.model.head.segments[recording || 0];

		return s ? s[5] : 0;
	},
});
