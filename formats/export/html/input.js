/* Mouse, wheel, touch and keys of the timeline. */

const KEYS = [
	["W / S", "zoom in / out", "A / D", "move left / right"],
	["Ctrl + wheel", "zoom at the pointer", "wheel", "scroll the tracks (on the axis: zoom)"],
	["drag", "move", "Shift + drag", "select an area: measure, sums by name"],
	["0", "the whole trace", "F", "zoom to the selection"],
	["\u2190 / \u2192", "previous / next event of the row", "\u2191 / \u2193", "the row above / below"],
	["[ / ]", "to the launching call / to its GPU work", "M", "measure the selected event"],
	["/ or Ctrl + F", "search by regular expression", "N / Shift + N", "next / previous match"],
	["B", "bookmark the range (it is in the address)", "Esc", "clear area, selection, search"],
	["1 2 3 4", "timeline, reports, flame graph, recording", "T", "light or dark"],
];

class Input {
	constructor(app) {
		this.app = app;
		this.canvas = byId("tracks");
		this.pointers = new Map();
		this.held = new Set();
		this.listenPointers();
		this.listenOverview();
		this.listenGrip();
		this.canvas.addEventListener("wheel", e => this.wheel(e), { passive: false });
		byId("labels").addEventListener("wheel", e => this.wheel(e), { passive: false });
		byId("overview").addEventListener("wheel", e => this.wheel(e), { passive: false });
		byId("scroll").addEventListener("scroll", () => app.scrollTo(byId("scroll").scrollTop));
		document.addEventListener("keydown", e => this.keyDown(e));
		document.addEventListener("keyup", e => this.held.delete(e.key.toLowerCase()));
		window.addEventListener("blur", () => this.held.clear());
	}
	at(e) {
		const box = this.canvas.getBoundingClientRect();

		return { x: e.clientX - box.left, y: e.clientY - box.top };
	}
	wheel(e) {
		const app = this.app,
			v = app.view,
			p = this.at(e),
			unit = e.deltaMode === 1 ? 30 : 1,
			dy = e.deltaY * unit,
			dx = e.deltaX * unit;
		const axis =
			e.currentTarget !== this.canvas ? e.currentTarget.id === "overview" : p.y < RULER;

		e.preventDefault();
		if (
			e.ctrlKey ||
			e.metaKey ||
			axis ||
			(app.fitsHeight() &&
				!e.shiftKey &&
				Math.abs(dy) > Math.abs(dx) &&
				e.currentTarget === this.canvas)
		)
			app.zoomAt(
				Math.exp(Math.max(-0.6, Math.min(0.6, dy * 0.0025))),
				e.currentTarget === this.canvas ? app.painter.time(p.x) : (v.from + v.to) / 2
			);
		else if (e.shiftKey || Math.abs(dx) > Math.abs(dy)) app.pan((dx || dy) / app.painter.width);
		else app.scrollTo(v.scroll + dy);
	}
	listenPointers() {
		const c = this.canvas;

		c.addEventListener("pointerdown", e => this.down(e));
		c.addEventListener("pointermove", e => this.move(e));
		c.addEventListener("pointerup", e => this.up(e));
		c.addEventListener("pointercancel", e => this.up(e));
		c.addEventListener("pointerleave", () => this.app.hover(null));
		c.addEventListener("dblclick", e => {
			const hit = this.app.painter.hit(this.at(e).x, this.at(e).y);

			if (hit) this.app.zoomToEvent(hit);
		});
	}
	down(e) {
		const p = this.at(e);

		if (e.button > 0) return;
		try {
			this.canvas.setPointerCapture(e.pointerId);
		} catch (error) {
			/* the pointer is gone already */
		}
		this.canvas.focus({ preventScroll: true });
		this.pointers.set(e.pointerId, p);
		this.start = {
			x: p.x,
			y: p.y,
			from: this.app.view.from,
			to: this.app.view.to,
			scroll: this.app.view.scroll,
			select: e.shiftKey || this.app.view.mode === "select" || p.y < RULER,
			axis: p.y < RULER,
		};
		this.moved = false;
		this.pinch = this.pointers.size === 2 ? this.pinchState() : null;
	}
	pinchState() {
		const [a, b] = [...this.pointers.values()];

		return {
			width: Math.max(20, Math.abs(a.x - b.x)),
			time: this.app.painter.time((a.x + b.x) / 2),
			span: this.app.view.to - this.app.view.from,
		};
	}
	move(e) {
		const app = this.app,
			p = this.at(e);

		if (!this.pointers.has(e.pointerId)) {
			app.hover(p);
			return;
		}
		this.pointers.set(e.pointerId, p);
		if (this.pinch && this.pointers.size === 2) {
			const [a, b] = [...this.pointers.values()],
				span =
					(this.pinch.span * this.pinch.width) /
					Math.max(20, Math.abs(a.x - b.x));
			const from = this.pinch.time - ((a.x + b.x) / 2 / app.painter.width) * span;

			this.moved = true;
			app.setRange(from, from + span);
			return;
		}
		if (!this.moved && Math.hypot(p.x - this.start.x, p.y - this.start.y) < 4) return;
		this.moved = true;
		app.hover(null);
		if (this.start.select) this.dragArea(p);
		else this.dragView(p);
	}
	dragView(p) {
		const app = this.app,
			shift =
				((p.x - this.start.x) / app.painter.width) *
				(this.start.to - this.start.from);

		this.canvas.classList.add("moving");
		app.setRange(this.start.from - shift, this.start.to - shift);
		app.scrollTo(this.start.scroll - (p.y - this.start.y));
	}
	/* The edges snap to the edges of events that are near. */
	dragArea(p) {
		const app = this.app,
			a = this.snap(this.start),
			b = this.snap(p),
			scroll = app.view.scroll - RULER;
		const area = { from: Math.min(a, b), to: Math.max(a, b) };

		if (!this.start.axis) {
			const top = app.layout.lineAt(Math.min(this.start.y, p.y) + scroll),
				bottom = app.layout.lineAt(Math.max(RULER, this.start.y, p.y) + scroll);
			const last = bottom || app.layout.lines[app.layout.lines.length - 1];

			area.top = top ? top.y : 0;
			area.bottom = last.y + last.height;
		}
		app.setArea(area.to > area.from ? area : null, false);
	}
	snap(p) {
		const app = this.app,
			t = app.painter.time(p.x),
			hit = app.painter.hit(p.x, p.y),
			near = (6 * (app.view.to - app.view.from)) / app.painter.width;

		if (hit)
			for (const edge of [hit.lane.start[hit.i], hit.lane.end[hit.i]])
				if (Math.abs(edge - t) < near) return edge;
		return t;
	}
	up(e) {
		const app = this.app;

		if (!this.pointers.delete(e.pointerId)) return;
		this.canvas.classList.remove("moving");
		if (this.pinch) {
			this.pinch = this.pointers.size === 2 ? this.pinch : null;
			return;
		}
		if (!this.moved && e.type === "pointerup" && !this.start.axis)
			app.select(app.painter.hit(this.start.x, this.start.y), false);
		else if (this.moved && this.start.select) app.setArea(app.view.area, true);
		app.remember();
	}
	listenOverview() {
		const c = byId("overview"),
			app = this.app;
		const time = e => {
			const box = c.getBoundingClientRect();

			return (
				app.model.from +
				((e.clientX - box.left) / box.width) * (app.model.to - app.model.from)
			);
		};
		let start = null;

		c.addEventListener("pointerdown", e => {
			c.setPointerCapture(e.pointerId);
			start = { t: time(e), x: e.clientX };
		});
		c.addEventListener(
			"pointermove",
			e =>
				start &&
				Math.abs(e.clientX - start.x) > 4 &&
				app.setRange(Math.min(start.t, time(e)), Math.max(start.t, time(e)))
		);
		c.addEventListener("pointerup", e => {
			if (start && Math.abs(e.clientX - start.x) <= 4) app.centre(start.t);
			start = null;
			app.remember();
		});
	}
	listenGrip() {
		const grip = byId("grip"),
			details = byId("details"),
			app = this.app;
		const set = h => {
			details.style.height = Math.max(40, Math.min(window.innerHeight - 260, h)) + "px";
			app.resize();
		};

		grip.addEventListener("pointerdown", e => {
			const bottom = details.getBoundingClientRect().bottom,
				move = m => set(bottom - m.clientY - 4);

			grip.setPointerCapture(e.pointerId);
			grip.addEventListener("pointermove", move);
			grip.addEventListener(
				"pointerup",
				() => grip.removeEventListener("pointermove", move),
				{ once: true }
			);
		});
		grip.addEventListener("keydown", e => {
			if (e.key === "ArrowUp" || e.key === "ArrowDown") {
				e.preventDefault();
				set(details.offsetHeight + (e.key === "ArrowUp" ? 30 : -30));
			}
		});
	}
	keyDown(e) {
		const app = this.app,
			typing = /^(INPUT|TEXTAREA|SELECT)$/.test(e.target.tagName),
			key = e.key.length === 1 ? e.key.toLowerCase() : e.key;

		if (((e.ctrlKey || e.metaKey) && key === "f") || (key === "/" && !typing)) {
			e.preventDefault();
			byId("query").focus();
			byId("query").select();
			return;
		}
		if (typing || e.ctrlKey || e.metaKey || e.altKey || byId("keys").open) return;
		if (this.pageKey(key, e) || (app.current === "timeline" && this.timelineKey(key, e)))
			e.preventDefault();
	}
	pageKey(key) {
		const app = this.app,
			tabs = app.tabs;

		if (key === "?") byId("keys").showModal();
		else if (key === "t") app.switchTheme();
		else if (/^[1-4]$/.test(key) && tabs[key - 1]) app.show(tabs[key - 1]);
		else return false;
		return true;
	}
	timelineKey(key, e) {
		const app = this.app,
			onCanvas =
				e.target === this.canvas ||
				e.target === document.body ||
				e.target.id === "main";

		if (["w", "a", "s", "d"].includes(key)) {
			if (!this.held.size) requestAnimationFrame(now => this.glide(now, now - 16));
			this.held.add(key);
			return true;
		}
		const plain = {
			0: () => app.setRange(...app.whole()),
			f: () => app.zoomToSelection(),
			b: () => app.addBookmark(),
			n: () => app.nextHit(e.shiftKey ? -1 : 1),
			m: () => app.measureSelected(),
			"[": () => app.followLaunch(-1),
			"]": () => app.followLaunch(1),
			Escape: () => app.clear(),
		};
		const arrows = {
			ArrowLeft: () => app.step(-1, 0),
			ArrowRight: () => app.step(1, 0),
			ArrowUp: () => app.step(0, -1),
			ArrowDown: () => app.step(0, 1),
		};
		const action = plain[key] || (onCanvas && arrows[key]);

		if (!action) return false;
		action();
		app.remember();
		return true;
	}
	/* Moves and zooms as long as keys are down, as fast whatever the frame rate. */
	glide(now, last) {
		const app = this.app,
			seconds = Math.min(0.05, (now - last) / 1000),
			zoom = (this.held.has("s") - this.held.has("w")) * seconds * 3.2;
		const x = app.pointer ? app.pointer.x : app.painter.width / 2;

		if (zoom) app.zoomAt(Math.exp(zoom), app.painter.time(x));
		const move = (this.held.has("d") - this.held.has("a")) * seconds * 0.9;

		if (move) app.pan(move);
		if (this.held.size) requestAnimationFrame(next => this.glide(next, now));
		else app.remember();
	}
}
