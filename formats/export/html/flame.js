/* The flame graph: the tree of stacks that the file has. A click zooms into a frame; the search of the page marks frames. */

const DEEPEST = 400; /* rows of a flame graph */

class Flame {
	constructor(app, tree) {
		this.app = app;
		this.tree = tree;
		this.view = byId("view-flame");
		this.nodes = [];
		for (let i = 0; i < tree.nodes.length; i += 3)
			this.nodes.push({
				parent: tree.nodes[i],
				name: tree.labels[tree.nodes[i + 1]],
				own: Math.max(0, tree.nodes[i + 2]),
				total: 0,
				children: [],
			});
		for (let i = this.nodes.length - 1; i >= 0; i--) {
			const n = this.nodes[i],
				up = this.nodes[n.parent];

			n.total += n.own;
			if (up) {
				up.total += n.total;
				up.children.push(n);
			}
		}
		for (const n of this.nodes)
			n.children.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
		this.roots = this.nodes.filter(n => n.parent < 0 && n.total > 0);
		this.zoomed = new Map(this.roots.map(r => [r, r]));
	}
	cost(v) {
		return this.tree.bytes ? formatBytes(v) : formatNs(v);
	}
	show() {
		if (this.shown) return;
		this.shown = true;
		this.status = make("span", { class: "range", "aria-live": "polite" });
		this.view.append(
			make(
				"div",
				{ class: "tools" },
				make(
					"button",
					{
						type: "button",
						onclick: () => {
							this.zoomed = new Map(this.roots.map(r => [r, r]));
							this.draw();
						},
					},
					"Reset zoom"
				),
				this.status
			)
		);
		this.graphs = this.roots.map(root => {
			const graph = make("div", {
				class: "graph",
				role: "group",
				"aria-label": "Flame graph of " + printable(root.name),
			});

			this.view.append(graph);
			return { root, graph };
		});
		if (!this.roots.length)
			this.view.append(
				make(
					"p",
					{ class: "notice" },
					"There is no time in calls, ranges or GPU work."
				)
			);
		this.draw();
	}
	draw() {
		for (const { root, graph } of this.graphs || []) {
			const width = graph.clientWidth || this.view.clientWidth - 28,
				to = this.zoomed.get(root),
				pieces = [];
			const above = [];
			let deepest = 0;

			for (let n = this.nodes[to.parent]; n; n = this.nodes[n.parent]) above.unshift(n);
			above.forEach((n, depth) =>
				pieces.push(this.frame(root, n, 0, width, depth, "above"))
			);
			const place = (n, x, w, depth) => {
				if (w < 1.5 || depth > DEEPEST) return;
				deepest = Math.max(deepest, depth);
				pieces.push(this.frame(root, n, x, w, depth, ""));
				for (const c of n.children) {
					place(c, x, (w * c.total) / n.total, depth + 1);
					x += (w * c.total) / n.total;
				}
			};

			place(to, 0, width, above.length);
			graph.style.height = (deepest + 1) * 19 + "px";
			graph.replaceChildren(...pieces);
		}
		if (this.status) this.status.textContent = this.app.expression ? this.matchedShares() : "";
	}
	/* The shares of the graphs below frames that match the search; nested ones count once. */
	matchedShares() {
		const expression = this.app.expression;

		for (let i = this.nodes.length - 1; i >= 0; i--) {
			const n = this.nodes[i];

			n.matched = expression.test(n.name)
				? n.total
				: n.children.reduce((sum, c) => sum + c.matched, 0);
		}
		return this.roots
			.map(r => ((r.matched / r.total) * 100).toFixed(1) + " % of " + printable(r.name))
			.join(", ");
	}
	frame(root, n, x, w, depth, kind) {
		const gpu = root.name === "GPU",
			h = hashOf(n.name),
			match = this.app.expression && this.app.expression.test(n.name);
		const title =
			printable(n.name) +
			"\n" +
			this.cost(n.total) +
			", " +
			((n.total / root.total) * 100).toFixed(2) +
			" % of " +
			printable(root.name) +
			"; itself " +
			this.cost(n.own);
		const b = make(
			"button",
			{
				type: "button",
				title,
				"aria-label": title,
				class: kind || (this.app.expression && !match ? "other" : ""),
			},
			w > 24 ? printable(n.name) : ""
		);

		b.style.left = x + "px";
		b.style.width = Math.max(1, w - 1) + "px";
		b.style.top = depth * 19 + "px";
		b.style.background = match
			? "#ff5fd2"
			: gpu
				? "rgb(" +
					[100 + (h & 31), 165 + ((h >> 5) & 63), 150 + ((h >> 11) & 95)] +
					")"
				: "rgb(" +
					[222 + (h & 31), 140 + ((h >> 5) & 95), 70 + ((h >> 12) & 47)] +
					")";
		if (w < 24) b.style.padding = "0";
		b.addEventListener("click", () => {
			this.zoomed.set(root, this.zoomed.get(root) === n ? root : n);
			this.draw();
		});
		return b;
	}
}
