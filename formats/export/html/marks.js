/* Draws what stands on the rows and above them: the axis, the selected area, bookmarks, outlines and arrows. */

Object.assign(Painter.prototype, {
	step() {
		const raw = ((this.view.to - this.view.from) / this.width) * 110,
			power = 10 ** Math.floor(Math.log10(raw));

		return Math.max(
			1,
			[1, 2, 5, 10].map(m => m * power).find(s => s >= raw)
		);
	},
	drawGrid() {
		const c = this.context,
			step = this.step();

		c.fillStyle = this.colour.faint;
		for (let t = Math.ceil(this.view.from / step) * step; t < this.view.to; t += step)
			c.fillRect(Math.round(this.x(t)), RULER, 1, this.height);
	},
	drawRuler() {
		const c = this.context,
			step = this.step();

		c.fillStyle = this.colour.panel;
		c.fillRect(0, 0, this.width, RULER);
		c.fillStyle = this.colour.line;
		c.fillRect(0, RULER - 1, this.width, 1);
		c.font = "11px " + this.sans;
		c.textBaseline = "middle";
		c.textAlign = "left";
		for (let t = Math.ceil(this.view.from / step) * step; t < this.view.to; t += step) {
			const x = Math.round(this.x(t));

			c.fillStyle = this.colour.line;
			c.fillRect(x, 14, 1, 14);
			c.fillStyle = this.colour.soft;
			if (x + 50 < this.width || !x) c.fillText(formatTick(t, step), x + 4, 14);
		}
		this.drawRulerMarks();
	},
	drawRulerMarks() {
		const c = this.context,
			v = this.view;

		for (const b of v.bookmarks) {
			c.fillStyle = this.colour.hit;
			c.fillRect(this.x(b.from), 2, 2, RULER - 4);
		}
		if (v.area) {
			const a = Math.max(0, this.x(v.area.from)),
				b = Math.min(this.width, this.x(v.area.to)),
				text = formatNs(v.area.to - v.area.from);

			c.fillStyle = this.colour.accent;
			c.fillRect(a, RULER - 4, b - a, 3);
			c.textAlign = "center";
			const w = c.measureText(text).width + 10,
				middle = Math.max(w / 2, Math.min(this.width - w / 2, (a + b) / 2));

			c.fillRect(middle - w / 2, 4, w, 17);
			c.fillStyle = this.colour.back;
			c.fillText(text, middle, 13);
		}
	},
	outline(event, colour, width) {
		const c = this.context,
			{ lane, i } = event,
			line = lane.line;

		if (!line || lane.points || (line.rows === 1 && lane.level[i] > 0)) return;
		const x = Math.max(-4, this.x(lane.start[i])),
			end = Math.min(this.width + 4, this.x(lane.end[i])),
			y = this.yOf(line, lane.level[i]);

		c.strokeStyle = colour;
		c.lineWidth = width;
		c.strokeRect(x - 0.5, y + 0.5, Math.max(3, end - x + 0.5), line.unit - 1);
	},
	drawMarks() {
		const c = this.context,
			v = this.view;

		c.save();
		c.beginPath();
		c.rect(0, RULER, this.width, this.height);
		c.clip();
		if (v.area) {
			const a = this.x(v.area.from),
				b = this.x(v.area.to);
			const top = v.area.top === undefined ? RULER : RULER + v.area.top - v.scroll,
				bottom =
					v.area.top === undefined
						? this.height
						: RULER + v.area.bottom - v.scroll;

			c.fillStyle = this.colour.area;
			c.fillRect(a, top, b - a, bottom - top);
			c.fillStyle = this.colour.accent;
			c.fillRect(a, top, 1, bottom - top);
			c.fillRect(b, top, 1, bottom - top);
		}
		for (const b of v.bookmarks) {
			c.fillStyle = this.colour.hit;
			c.globalAlpha = 0.5;
			c.fillRect(this.x(b.from), RULER, 1, this.height);
			c.globalAlpha = 1;
		}
		for (const [from, to] of v.arrows) this.drawArrow(from, to);
		if (v.hover) this.outline(v.hover, this.colour.text, 1);
		if (v.selected) this.outline(v.selected, this.colour.cursor, 2);
		c.restore();
	},
	drawArrow(from, to) {
		const c = this.context,
			a = from.lane,
			b = to.lane;

		if (!a.line || !b.line) return;
		const x0 = this.x(a.start[from.i]),
			x1 = this.x(b.start[to.i]);
		const y0 = this.yOf(a.line, a.level[from.i]) + ROW / 2,
			y1 = this.yOf(b.line, b.level[to.i]) + ROW / 2;

		if (Math.max(x0, x1) < -50 || Math.min(x0, x1) > this.width + 50) return;
		const bend = Math.max(18, Math.min(90, Math.abs(x1 - x0) / 2)),
			left = x1 - 4;

		c.strokeStyle = c.fillStyle = this.colour.cursor;
		c.lineWidth = 1.5;
		c.beginPath();
		c.moveTo(x0, y0);
		c.bezierCurveTo(x0 + bend, y0, left - bend, y1, left, y1);
		c.stroke();
		c.beginPath();
		c.moveTo(x1, y1);
		c.lineTo(x1 - 7, y1 - 4);
		c.lineTo(x1 - 7, y1 + 4);
		c.fill();
	},
});
