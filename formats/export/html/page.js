/* The page: its views, what is selected, and the address, which has all of that. */

const HITS_MOST = 200000,
	SPAN_LEAST = 20;

class App {
	/* has(name): does the file have that section? */
	constructor(model, has) {
		this.model = model;
		this.expression = null;
		this.hits = [];
		this.hit = -1;
		this.pointer = null;
		this.tabs = [
			model && "timeline",
			has("reports") && "reports",
			has("flame") && "flame",
			model && "info",
		].filter(Boolean);
		if (model) {
			this.view = {
				from: model.from,
				to: model.to,
				scroll: 0,
				mode: "pan",
				selected: null,
				hover: null,
				area: null,
				arrows: [],
				bookmarks: [],
				flags: null,
			};
			this.layout = new Layout(model);
			this.painter = new Painter(model, this.layout, this.view);
			this.overview = new Overview(model);
			this.details = new Details(this);
			this.setRange(...this.whole());
			this.makeHeading(model.head);
			this.details.show();
		}
		this.listen();
	}
	/* ---- the range of time ---- */
	whole() {
		const pad = (this.model.to - this.model.from) * 0.01;

		return [this.model.from - pad, this.model.to + pad];
	}
	setRange(from, to) {
		const [first, last] = this.whole(),
			span = Math.max(SPAN_LEAST, Math.min(last - first, to - from));

		if (!(to > from)) [from, to] = [from - SPAN_LEAST, from + SPAN_LEAST];
		const middle = (from + to) / 2;

		from = Math.max(first - span * 0.3, Math.min(last - span * 0.7, middle - span / 2));
		this.view.from = from;
		this.view.to = from + span;
		this.redraw();
	}
	zoomAt(factor, t) {
		const v = this.view,
			span = Math.max(
				SPAN_LEAST,
				Math.min(this.whole()[1] - this.whole()[0], (v.to - v.from) * factor)
			),
			part = (t - v.from) / (v.to - v.from);

		this.setRange(t - part * span, t - part * span + span);
	}
	pan(screens) {
		const by = screens * (this.view.to - this.view.from);

		this.setRange(this.view.from + by, this.view.to + by);
	}
	centre(t) {
		const half = (this.view.to - this.view.from) / 2;

		this.setRange(t - half, t + half);
	}
	zoomTo(from, to) {
		const pad = Math.max(SPAN_LEAST, (to - from) * 0.08);

		this.setRange(from - pad, to + pad);
		this.remember();
	}
	zoomToEvent({ lane, i }) {
		this.zoomTo(lane.start[i], Math.max(lane.end[i], lane.start[i] + 100));
	}
	zoomToSelection() {
		if (this.view.area) this.zoomTo(this.view.area.from, this.view.area.to);
		else if (this.view.selected) this.zoomToEvent(this.view.selected);
	}
	/* ---- the height ---- */
	fitsHeight() {
		return this.layout.height <= this.painter.height - RULER;
	}
	scrollTo(y) {
		const bar = byId("scroll");

		this.view.scroll = Math.max(
			0,
			Math.min(this.layout.height - (this.painter.height - RULER) + 30, y)
		);
		if (this.fitsHeight()) this.view.scroll = 0;
		if (Math.abs(bar.scrollTop - this.view.scroll) > 1) bar.scrollTop = this.view.scroll;
		this.redraw();
	}
	/* ---- search ---- */
	search(text) {
		const input = byId("query");

		try {
			this.expression = text ? new RegExp(text, "i") : null;
			input.classList.remove("bad");
		} catch (error) {
			input.classList.add("bad");
			byId("hits").textContent = "not valid";
			return;
		}
		if (this.model) {
			this.view.flags = this.model.matchingTypes(this.expression);
			this.hits = this.view.flags ? this.model.matches(this.view.flags, HITS_MOST) : [];
			this.hit = -1;
			this.redraw();
		}
		this.showHits();
		if (this.flame && this.flame.shown) this.flame.draw();
	}
	showHits() {
		const n = this.hits.length,
			more = n >= HITS_MOST ? "+" : "";

		byId("hits").textContent = !this.expression
			? ""
			: this.hit >= 0
				? this.hit + 1 + "/" + n + more
				: n + more;
	}
	nextHit(by) {
		const middle = (this.view.from + this.view.to) / 2;

		if (!this.hits.length) return;
		if (this.hit < 0)
			this.hit =
				this.hits.findIndex(
					h => h.lane.start[h.i] >= (this.hits.length ? this.view.from : middle)
				) - (by > 0 ? 1 : 0);
		this.hit = (this.hit + by + this.hits.length) % this.hits.length;
		this.select(this.hits[this.hit], true);
		this.showHits();
	}
	/* ---- drawing ---- */
	redraw() {
		if (this.pending) return;
		this.pending = true;
		requestAnimationFrame(() => {
			this.pending = false;
			if (this.current === "timeline") this.drawNow();
		});
	}
	drawNow() {
		const before = performance.now();

		this.painter.draw();
		this.overview.place(this.view);
		this.placeLabels();
		byId("range").textContent =
			formatTime(
				Math.max(0, this.view.from),
				this.view.to - this.view.from > 1e6 ? 1000 : 1
			) +
			"  +" +
			formatNs(this.view.to - this.view.from);
		this.frameMs = performance.now() - before;
	}
	resize() {
		if (this.current !== "timeline") return;
		this.painter.resize();
		this.overview.draw(this.painter);
		this.relayout();
	}
	relayout() {
		byId("scroll-height").style.height = this.layout.height + 30 + "px";
		this.labelled = null;
		this.scrollTo(this.view.scroll);
	}
	/* The labels near the visible part; all move with the rows. */
	placeLabels() {
		const v = this.view,
			list = byId("label-list"),
			available = this.painter.height;

		if (
			!this.labelled ||
			v.scroll < this.labelled.from ||
			v.scroll + available > this.labelled.to
		) {
			this.labelled = {
				from: Math.max(0, v.scroll - 1500),
				to: v.scroll + available + 1500,
			};
			list.replaceChildren(
				...this.layout.lines
					.filter(
						l =>
							l.y + l.height > this.labelled.from &&
							l.y < this.labelled.to
					)
					.map(l => this.label(l))
			);
		}
		for (const line of this.painter.visibleLines())
			if (line.busy !== undefined && line.share)
				line.share.textContent =
					line.busy === 0
						? ""
						: line.busy < 0.001
							? "<0.1%"
							: (line.busy * 100).toFixed(1) + "%";
		list.style.transform = "translateY(" + -v.scroll + "px)";
	}
	label(line) {
		const fold = make(
			"button",
			{
				type: "button",
				class: "fold" + (line.foldable ? "" : " none"),
				tabindex: line.foldable ? "0" : "-1",
				"aria-label": (line.folded ? "Unfold " : "Fold ") + line.label,
				"aria-expanded": String(!line.folded),
			},
			line.folded ? "\u25b8" : "\u25be"
		);
		const e = make(
			"div",
			{
				class: "label" + (line.group ? " group" : "") + (line.part ? " part" : ""),
				role: "treeitem",
				"aria-level": line.indent + 1,
				"aria-label": line.label,
				title: line.label,
			},
			fold,
			make("span", { class: "name" }, line.label)
		);

		if (!line.group && !line.lane.points)
			e.append(
				(line.share = make("span", {
					class: "busy",
					title: "busy share of the visible range",
				}))
			);
		e.style.top = line.y + "px";
		e.style.height = line.height + "px";
		e.style.paddingLeft = 6 + line.indent * 11 + "px";
		if (line.foldable)
			e.addEventListener("click", () => {
				this.layout.toggle(line.key);
				this.relayout();
			});
		return e;
	}
	hover(p) {
		const tip = byId("tip"),
			v = this.view;

		this.pointer = p;
		const hit = p && this.painter.hit(p.x, p.y),
			line = p && this.layout.lineAt(p.y - RULER + v.scroll),
			changed =
				(v.hover && v.hover.i) !== (hit && hit.i) ||
				(v.hover && v.hover.lane) !== (hit && hit.lane);

		v.hover = hit;
		if (changed) this.redraw();
		tip.hidden = !hit && !(line && line.lane && line.lane.points && p.y > RULER);
		if (tip.hidden) return;
		if (hit) {
			const n = hit.lane.extras.count.get(hit.i),
				name = printable(this.model.typeOf(hit.lane, hit.i).name);

			tip.replaceChildren(
				make("b", {}, n ? formatCount(n) + " events, as " + name : name),
				make(
					"span",
					{},
					formatNs(hit.lane.end[hit.i] - hit.lane.start[hit.i]) +
						" at " +
						formatTime(hit.lane.start[hit.i])
				)
			);
		} else {
			tip.replaceChildren(
				make("b", {}, line.label),
				make(
					"span",
					{},
					this.painter.counterText(
						line.lane,
						line.lane.points.at(this.painter.time(p.x))
					) +
						" at " +
						formatTime(this.painter.time(p.x), 1000)
				)
			);
		}
		const left = byId("labels").offsetWidth + p.x + 14,
			stage = byId("stage");

		tip.style.left = Math.max(4, Math.min(left, stage.clientWidth - tip.offsetWidth - 8)) + "px";
		tip.style.top =
			(p.y + 20 + tip.offsetHeight > stage.clientHeight
				? p.y - tip.offsetHeight - 8
				: p.y + 18) + "px";
	}
}
