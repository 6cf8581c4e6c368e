/* The whole trace in one picture: how busy the GPUs are, or, without GPU work, the threads. */
class Overview {
	constructor(model) {
		this.model = model;
		this.canvas = byId("overview");
	}
	draw(painter) {
		const box = this.canvas.getBoundingClientRect(),
			ratio = window.devicePixelRatio || 1,
			W = Math.max(1, Math.round(box.width * ratio)),
			H = Math.round(42 * ratio);
		const c = this.canvas.getContext("2d"),
			work = this.model.lanes.filter(l => l.aspect === WORK);
		const devices = new Set(work.map(l => this.deviceOf(l)));

		this.canvas.width = W;
		this.canvas.height = H;
		this.width = box.width;
		if (work.length)
			this.band(
				c,
				this.sum(
					this.model.lanes.filter(l => l.aspect === CALLS),
					W
				),
				0,
				H * 0.3,
				painter.colour.soft,
				0.45
			);
		this.band(
			c,
			this.sum(
				work.length ? work : this.model.lanes.filter(l => l.aspect === CALLS),
				W,
				Math.max(1, devices.size)
			),
			work.length ? H * 0.34 : 0,
			work.length ? H * 0.66 : H,
			COLOURS[work.length ? "kernel" : "launch"],
			0.85
		);
	}
	deviceOf(lane) {
		for (let t = lane.track; t >= 0; t = this.model.tracks[t].parent)
			if (this.model.tracks[t].kind === "device") return t;
		return -1;
	}
	sum(lanes, W, by = 1) {
		const sums = new Float64Array(W + 1),
			from = this.model.from,
			scale = W / (this.model.to - from);

		for (const lane of lanes) {
			const step = lane.levels[0].at(1 / scale);

			for (let i = 0; i < step.n; i++) {
				const x0 = (step.start[i] - from) * scale,
					x1 = Math.min(W, (step.end[i] - from) * scale),
					a = x0 | 0,
					b = x1 | 0;
				const share =
					step.busy && x1 > x0
						? step.busy[i] / (step.end[i] - step.start[i])
						: 1;

				if (a === b) {
					sums[a] += (x1 - x0) * share;
					continue;
				}
				sums[a] += (a + 1 - x0) * share;
				for (let x = a + 1; x < b; x++) sums[x] += share;
				sums[b] += (x1 - b) * share;
			}
		}
		return sums.map(s => Math.min(1, s / by));
	}
	band(c, sums, top, height, colour, alpha) {
		c.fillStyle = colour;
		c.globalAlpha = alpha;
		for (let x = 0; x < sums.length - 1; x++)
			if (sums[x] > 0) {
				const h = Math.max(1, sums[x] * (height - 1));

				c.fillRect(x, top + height - h, 1, h);
			}
		c.globalAlpha = 1;
	}
	place(view) {
		const scale = this.width / (this.model.to - this.model.from),
			w = byId("window");

		w.style.left = Math.max(0, (view.from - this.model.from) * scale) + "px";
		w.style.width = Math.max(3, Math.min(this.width, (view.to - view.from) * scale)) + "px";
	}
}
