/* Draws the timeline. Each row of a lane becomes one row of pixels in a picture (the strip), which is then stretched to the
 * height of the row: so a frame costs the pixels and the slices of the visible rows, not their area. A pixel that several
 * slices share has the colour of the one that covers most of it, as opaque as they cover it. */

const RULER = 28,
	TEXT_LEAST = 30,
	SEPARATOR_LEAST = 4;

class Painter {
	constructor(model, layout, view) {
		this.model = model;
		this.layout = layout;
		this.view = view;
		this.canvas = byId("tracks");
		this.context = this.canvas.getContext("2d");
		this.strip = document.createElement("canvas");
		this.widths = new Map();
		this.setTheme();
	}
	setTheme() {
		const style = getComputedStyle(document.documentElement),
			dark = document.documentElement.dataset.theme === "dark";

		this.colour = {};
		for (const name of [
			"back",
			"panel",
			"line",
			"faint",
			"text",
			"soft",
			"accent",
			"cursor",
			"area",
			"hit",
		])
			this.colour[name] = style.getPropertyValue("--" + name).trim();
		this.queueShade = rgbOf(this.colour.accent);
		this.sans = style.getPropertyValue("--sans");
		this.shades = this.model.types.map(t => shadeOf(t, dark));
		this.pixels = Uint32Array.from(this.shades, c => (c[2] << 16) | (c[1] << 8) | c[0]);
		this.light = this.shades.map(isLight);
		this.widths.clear();
	}
	resize() {
		const box = this.canvas.getBoundingClientRect(),
			ratio = window.devicePixelRatio || 1;

		this.ratio = ratio;
		this.width = Math.max(1, Math.round(box.width));
		this.height = Math.max(1, Math.round(box.height));
		this.canvas.width = Math.round(this.width * ratio);
		this.canvas.height = Math.round(this.height * ratio);
		this.image = null;
	}
	x(t) {
		return ((t - this.view.from) / (this.view.to - this.view.from)) * this.width;
	}
	time(x) {
		return this.view.from + (x / this.width) * (this.view.to - this.view.from);
	}
	/* Top of a level of a lane on the canvas, in CSS pixels. */
	yOf(line, level) {
		return RULER + line.y - this.view.scroll + (line.rows === 1 ? 0 : level * line.unit);
	}
	draw() {
		const c = this.context,
			v = this.view;

		if (!this.ratio) this.resize();
		c.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
		c.fillStyle = this.colour.back;
		c.fillRect(0, 0, this.width, this.height);
		this.drawGrid();
		this.boxes = [];
		this.drawRows();
		this.drawTexts();
		this.drawErrors();
		this.drawMarks();
		this.drawRuler();
		this.drawnFrom = v.from;
	}
	visibleLines() {
		const first = this.layout.lineAt(this.view.scroll),
			lines = this.layout.lines,
			bottom = this.view.scroll + this.height - RULER;
		const shown = [];

		for (
			let i = first ? lines.indexOf(first) : lines.length;
			i < lines.length && lines[i].y < bottom;
			i++
		)
			shown.push(lines[i]);
		return shown;
	}
	drawRows() {
		const c = this.context,
			W = this.canvas.width,
			rows = [];

		for (const line of this.visibleLines()) {
			const y = RULER + line.y - this.view.scroll;

			c.fillStyle = line.group ? this.colour.panel : this.colour.faint;
			if (line.group) c.fillRect(0, y, this.width, line.height);
			else c.fillRect(0, y + line.height - 1, this.width, 1);
			if (line.group && line.folded) this.summaryRows(line, y, rows);
			else if (line.lane && line.lane.points) this.drawCounter(line, y);
			else if (line.lane)
				for (let k = 0; k < line.rows; k++)
					if (
						y + (k + 1) * line.unit > RULER &&
						y + k * line.unit < this.height
					)
						rows.push({
							level: line.lane.levels[k],
							y: y + k * line.unit + 1,
							height: line.unit - 1,
							lane: line.lane,
							line: k ? null : line,
						});
		}
		if (!rows.length) return;
		if (!this.image || this.image.width !== W || this.image.height < rows.length) {
			this.strip.width = W;
			this.strip.height = rows.length + 16;
			this.stripContext = this.strip.getContext("2d", { willReadFrequently: false });
			this.image = this.stripContext.createImageData(W, rows.length + 16);
			this.words = new Uint32Array(this.image.data.buffer);
		}
		this.words.fill(0, 0, W * rows.length);
		rows.forEach((row, i) => row.level && this.fillRow(row, i * W, W));
		this.stripContext.putImageData(this.image, 0, 0, 0, 0, W, rows.length);
		c.imageSmoothingEnabled = false;
		c.setTransform(1, 0, 0, 1, 0, 0);
		rows.forEach((row, i) => {
			const top = Math.round(row.y * this.ratio);

			c.drawImage(
				this.strip,
				0,
				i,
				W,
				1,
				0,
				top,
				W,
				Math.round((row.y + row.height) * this.ratio) - top
			);
		});
		c.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
	}
	/* A folded group shows the busiest lane of work or calls below it. */
	summaryRows(line, y, rows) {
		const below = [],
			visit = t => {
				below.push(...t.lanes.filter(l => [WORK, CALLS, RANGES].includes(l.aspect)));
				for (const child of this.layout.children.get(t.index) || []) visit(child);
			};

		line.members.forEach(visit);
		const lane = below.sort((a, b) => (b.aspect === WORK) - (a.aspect === WORK) || b.n - a.n)[0];

		if (lane)
			rows.push({
				level: lane.levels[0],
				y: y + 5,
				height: GROUP_ROW - 9,
				lane,
				quiet: true,
			});
	}
	/* Fills one row of the strip. */
	fillRow(row, offset, W) {
		const v = this.view,
			scale = W / (v.to - v.from),
			step = row.level.at(1 / scale),
			{ start, end, type, busy, n } = step;
		const words = this.words,
			pixels = this.pixels,
			from = v.from,
			to = v.to,
			flags = v.flags,
			exact = !busy;
		const least = row.lane.aspect === MARKS || row.lane.aspect === SAMPLES ? 0.7 : 0.3,
			separator = SEPARATOR_LEAST * this.ratio;
		let at = -1,
			cover = 0,
			best = 0,
			most = -1,
			total = 0;
		const flush = () => {
			if (at >= 0 && at < W && most >= 0) {
				const alpha =
					(least + (1 - least) * Math.min(1, cover)) *
					(flags && !flags[best] ? 0.16 : 1);

				words[offset + at] = pixels[best] | (Math.round(alpha * 255) << 24);
			}
		};

		for (let i = Math.max(0, upperBound(start, from) - 1); i < n && start[i] < to; i++) {
			if (end[i] < from) continue;
			const x0 = Math.max(0, (start[i] - from) * scale),
				x1 = Math.min(W, (end[i] - from) * scale),
				kind = type[i];
			const share =
				exact || end[i] <= start[i] ? 1 : Math.min(1, busy[i] / (end[i] - start[i]));
			const a = x0 | 0,
				b = x1 | 0;

			if (a !== at) {
				flush();
				at = a;
				cover = 0;
				most = -1;
			}
			const here = (Math.min(x1, a + 1) - x0) * share;

			cover += here;
			total += (x1 - x0) * share;
			if (here > most) {
				most = here;
				best = kind;
			}
			if (b === a) continue;
			flush();
			const fade = flags && !flags[kind] ? 0.16 : 1,
				wide = x1 - x0 >= separator; /* merged slices are narrower */

			words.fill(
				pixels[kind] | (Math.round((least + (1 - least) * share) * fade * 255) << 24),
				offset + a + 1,
				offset + b
			);
			at = b;
			cover = most = x1 - b;
			best = kind;
			if (wide) {
				words[offset + b - 1] = pixels[kind] | (Math.round(0.5 * fade * 255) << 24);
				if (x1 - x0 >= TEXT_LEAST * this.ratio && !row.quiet)
					this.boxes.push({
						x: x0 / this.ratio,
						width: (x1 - x0) / this.ratio,
						y: row.y,
						height: row.height,
						type: kind,
						fade,
					});
			}
		}
		flush();
		if (row.line && least < 0.5) row.line.busy = total / W;
	}
	textWidth(text) {
		let w = this.widths.get(text);

		if (w === undefined) {
			w = this.context.measureText(text).width;
			if (this.widths.size > 20000) this.widths.clear();
			this.widths.set(text, w);
		}
		return w;
	}
	/* How many letters of a name fit, with an ellipsis behind them. */
	lettersIn(name, available, full) {
		let n = Math.floor((name.length * available) / full);

		for (let w; n >= 3 && (w = this.textWidth(name.slice(0, n) + "\u2026")) > available;)
			n -= Math.max(1, Math.floor((w - available) / 9));
		return n;
	}
	drawTexts() {
		const c = this.context;

		c.font = "11px " + this.sans;
		c.textBaseline = "middle";
		c.textAlign = "left";
		for (const b of this.boxes) {
			const name = printable(this.model.types[b.type].name),
				available = b.width - 8,
				full = this.textWidth(name);
			const letters =
				full <= available ? name.length : this.lettersIn(name, available, full);

			if (letters < 3) continue;
			c.globalAlpha = b.fade < 1 ? 0.4 : 1;
			c.fillStyle =
				b.fade < 1 ? this.colour.soft : this.light[b.type] ? "#10151d" : "#ffffff";
			c.fillText(
				letters < name.length ? name.slice(0, letters) + "\u2026" : name,
				b.x + 4,
				b.y + b.height / 2 + 0.5
			);
		}
		c.globalAlpha = 1;
	}
	/* Calls that returned an error, and calls that had not returned at the end. */
	drawErrors() {
		const c = this.context;

		c.fillStyle = this.colour.cursor;
		for (const line of this.visibleLines()) {
			const lane = line.lane;

			if (!lane || lane.points || lane.extras.ret.size > 3000) continue;
			for (const i of lane.extras.ret.keys())
				if (
					lane.start[i] < this.view.to &&
					lane.end[i] > this.view.from &&
					(line.rows > 1 || !lane.level[i])
				)
					c.fillRect(
						this.x(lane.start[i]),
						this.yOf(line, lane.level[i]) + line.unit - 3,
						Math.max(2, this.x(lane.end[i]) - this.x(lane.start[i])),
						2
					);
		}
	}
	drawCounter(line, y) {
		const c = this.context,
			p = line.lane.points,
			top = y + 5,
			height = line.unit - 6,
			v = this.view;
		const low = Math.min(0, p.min),
			range = Math.max(p.max, 0) - low || 1,
			perPixel = (v.to - v.from) / this.width;
		let i = Math.max(0, upperBound(p.start, v.from) - 1);

		if (!p.start.length || p.start[0] >= v.to) return;
		c.beginPath();
		c.moveTo(Math.max(0, this.x(p.start[0])), top + height);
		for (let x = Math.max(0, Math.floor(this.x(p.start[0]))); x <= this.width; x++) {
			const t = v.from + (x + 1) * perPixel,
				next = upperBound(p.start, t, i);
			const value = next > i + 1 ? p.largest(i, next) : p.value[i];

			c.lineTo(x, top + height - ((value - low) / range) * height);
			i = Math.max(i, next - 1);
		}
		c.lineTo(this.width, top + height);
		c.closePath();
		const shade = line.lane.name ? this.queueShade : this.shades[line.lane.counter];

		c.fillStyle = "rgba(" + shade + ",.32)";
		c.fill();
		c.strokeStyle = "rgb(" + shade + ")";
		c.lineWidth = 1;
		c.stroke();
		c.fillStyle = this.colour.soft;
		c.font = "10px " + this.sans;
		c.textAlign = "left";
		c.textBaseline = "top";
		const most = "max " + this.counterText(line.lane, p.max);

		c.strokeStyle = this.colour.back; /* so that it is legible on the curve */
		c.lineWidth = 3;
		c.strokeText(most, 4, top - 2);
		c.fillText(most, 4, top - 2);
	}
	counterText(lane, value) {
		const type = this.model.types[lane.counter],
			field = type && type.fields[0];

		if (Number.isNaN(value)) return "no value";
		if (lane.name) return formatCount(value);
		return (field && field.role === ROLE.BYTES) || /bytes$/i.test(type.name)
			? formatBytes(value)
			: formatNumber(value);
	}
	/* The event at a point of the canvas, { lane, i }, or null. */
	hit(x, y) {
		const line = y < RULER ? null : this.layout.lineAt(y - RULER + this.view.scroll),
			lane = line && line.lane;

		if (!lane || lane.points) return null;
		const row = Math.floor((y - RULER + this.view.scroll - line.y) / line.unit),
			level = lane.levels[Math.min(row, line.rows - 1)];
		const at = level
			? level.find(this.time(x), (3 * (this.view.to - this.view.from)) / this.width)
			: -1;

		return at < 0 ? null : { lane, i: level.event(at) };
	}
}
