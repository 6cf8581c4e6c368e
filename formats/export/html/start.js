/* The parts of the page outside the timeline: heading, views, colours, bookmarks, the address. And the start. */

Object.assign(App.prototype, {
	badge(text, warn) {
		if (text)
			byId("badges").append(
				make("span", { class: "badge" + (warn ? " warn" : "") }, printable(text))
			);
	},
	setName(name) {
		byId("name").textContent = byId("name").title = printable(name || "trace");
		document.title = printable(name || "trace") + " \u2013 gt";
	},
	makeHeading(head) {
		const meta = this.model.metadata(0),
			command = Array.isArray(meta.command) ? meta.command.join(" ") : meta.command;

		this.setName(head.name);
		this.badge(typeof command === "string" ? command.slice(0, 60) : "");
		this.badge(formatCount(head.events) + " events");
		this.badge(head.segments.some(s => s[1]) ? "simulated GPU" : "", true);
		this.badge(head.segments.some(s => !s[2]) ? "recording not closed" : "", true);
		this.badge(head.damage ? "damaged: rows are missing" : "", true);
		if (head.merged) {
			this.badge("level of detail: " + formatNs(head.resolution), true);
			byId("note").textContent =
				formatCount(head.merged) +
				" short events are merged into slices (--max-size)";
		}
	},
	/* The sections that the first picture does not need. */
	addReports(documents) {
		const row =
			(documents[0] && documents[0].tables.header && documents[0].tables.header.rows[0]) ||
			{};

		this.reports = new Reports(this, documents);
		if (!this.model) {
			this.setName(
				documents.length === 1
					? documents[0].file.replace(/.*\//, "")
					: documents.length + " files"
			);
			this.badge(row.command);
			this.badge(row.gpu);
			this.badge(row.is_simulated ? "simulated GPU" : "", true);
		}
		if (this.current === "reports") this.reports.show();
		if (this.model && !this.view.area && !this.view.selected) this.details.show();
	},
	addFlame(tree) {
		this.flame = new Flame(this, tree);
		if (this.current === "flame") this.flame.show();
	},
	addQueues() {
		this.model.findQueues();
		this.layout.build();
		if (this.current === "timeline") this.relayout();
	},
	addArguments(bytes) {
		this.model.args = bytes;
		if (this.view.selected && !this.view.area) this.select(this.view.selected, false);
	},
	showInfo() {
		const view = byId("view-info");

		if (view.childElementCount || !this.model) return;
		this.model.head.segments.forEach((s, i) => {
			const list = make("dl", { class: "facts" }),
				put = (key, value) =>
					this.details.fact(
						list,
						printable(key),
						printable(value),
						String(value).length > 60
					);
			const walk = (prefix, value) => {
				if (value && typeof value === "object")
					for (const [k, v] of Object.entries(value))
						walk(prefix ? prefix + "." + k : k, v);
				else put(prefix, value === null ? "" : String(value));
			};

			put("host", s[0]);
			if (s[3]) put("began", new Date(Number(BigInt(s[3]) / 1000000n)).toISOString());
			walk("", this.model.metadata(i));
			view.append(make("h2", {}, "Recording " + i), list);
		});
		view.append(
			make(
				"p",
				{ class: "empty" },
				"Written by " +
					printable(this.model.head.tool) +
					"." +
					(this.model.head.cut
						? " Only a part: " +
							JSON.stringify(
								this.model.head.cut.cut || this.model.head.cut
							)
						: "")
			)
		);
	},
	show(tab) {
		if (!this.tabs.includes(tab) || this.current === tab) return;
		this.current = tab;
		for (const t of ["timeline", "reports", "flame", "info"]) {
			const button = byId("tab-" + t);

			button.hidden = !this.tabs.includes(t);
			button.setAttribute("aria-selected", String(t === tab));
			button.tabIndex = t === tab ? 0 : -1;
			byId("view-" + t).hidden = t !== tab;
		}
		byId("search").hidden = tab === "reports" || tab === "info";
		if (tab === "timeline") this.resize();
		if (tab === "reports" && this.reports) this.reports.show();
		if (tab === "flame" && this.flame) {
			this.flame.show();
			this.flame.draw();
		}
		if (tab === "info") this.showInfo();
		this.remember();
	},
	setTheme(theme) {
		document.documentElement.dataset.theme = theme;
		if (!this.painter) return;
		this.painter.setTheme();
		this.resize();
	},
	switchTheme() {
		const theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";

		this.setTheme(theme);
		try {
			localStorage.setItem("gt-theme", theme);
		} catch (error) {
			/* files from disk may have no storage */
		}
	},
	/* ---- bookmarks ---- */
	addBookmark() {
		const v = this.view,
			from = v.area ? v.area.from : v.from,
			to = v.area ? v.area.to : v.to;

		v.bookmarks.push({
			from: Math.round(from),
			to: Math.round(to),
			name: String(v.bookmarks.length + 1),
		});
		this.showBookmarks();
		this.remember();
	},
	showBookmarks() {
		const v = this.view;

		byId("bookmarks").replaceChildren(
			...v.bookmarks.flatMap((b, i) => [
				make(
					"button",
					{
						type: "button",
						title: formatTime(b.from) + ", " + formatNs(b.to - b.from),
						onclick: () => this.zoomTo(b.from, b.to),
					},
					"\u2691 " + printable(b.name)
				),
				make(
					"button",
					{
						type: "button",
						class: "drop",
						"aria-label": "Remove bookmark " + printable(b.name),
						onclick: () => {
							v.bookmarks.splice(i, 1);
							this.showBookmarks();
							this.remember();
						},
					},
					"\u00d7"
				),
			])
		);
		this.redraw();
	},
	/* ---- the address: #t=FROM-TO&s=LANE.EVENT&a=FROM-TO&q=TEXT&v=VIEW&b=FROM-TO.NAME ... ---- */
	remember() {
		clearTimeout(this.timer);
		this.timer = setTimeout(() => this.writeAddress(), 150);
	},
	writeAddress() {
		const p = new URLSearchParams(),
			v = this.view,
			range = r => Math.round(r.from) + "_" + Math.round(r.to);

		if (this.current !== this.tabs[0]) p.set("v", this.current);
		if (v) {
			p.set("t", range(v));
			if (v.selected) p.set("s", v.selected.lane.index + "." + v.selected.i);
			if (v.area) p.set("a", range(v.area));
			for (const b of v.bookmarks) p.append("b", range(b) + "." + b.name);
		}
		if (byId("query").value) p.set("q", byId("query").value);
		this.address = "#" + p;
		try {
			history.replaceState(null, "", this.address);
		} catch (error) {
			location.hash = this.address;
		}
	},
	readAddress() {
		const p = new URLSearchParams(location.hash.slice(1)),
			range = text => {
				const [from, to] = (text || "").split(".")[0].split("_").map(Number);

				return from < to ? { from, to } : null;
			};
		const t = range(p.get("t")),
			v = this.view;

		if (location.hash === this.address || !location.hash) return;
		this.show(this.tabs.includes(p.get("v")) ? p.get("v") : this.tabs[0]);
		if (v) {
			const [lane, i] = (p.get("s") || "").split(".").map(Number),
				of = this.model.lanes[lane];

			v.bookmarks = p
				.getAll("b")
				.slice(0, 50)
				.map(b => ({ ...range(b), name: b.slice(b.indexOf(".") + 1) }))
				.filter(b => b.to > b.from);
			this.showBookmarks();
			if (p.get("q") !== null) this.search((byId("query").value = p.get("q")));
			if (p.get("s") && of && !of.points && i >= 0 && i < of.n)
				this.select({ lane: of, i }, false);
			v.area = range(p.get("a"));
			if (t) this.setRange(t.from, t.to);
			this.details.show();
		}
	},
	listen() {
		const on = (id, f) => byId(id).addEventListener("click", f);

		for (const t of this.tabs) on("tab-" + t, () => this.show(t));
		document.querySelector(".tabs").addEventListener("keydown", e => {
			const at =
				this.tabs.indexOf(this.current) +
				(e.key === "ArrowRight") -
				(e.key === "ArrowLeft");

			if ((e.key === "ArrowRight" || e.key === "ArrowLeft") && this.tabs[at]) {
				this.show(this.tabs[at]);
				byId("tab-" + this.tabs[at]).focus();
			}
		});
		on("theme", () => this.switchTheme());
		on("help", () => byId("keys").showModal());
		byId("keys").append(
			make("h2", {}, "Keys and mouse"),
			make(
				"dl",
				{},
				...KEYS.flatMap(([a, b, c, d]) => [
					make("dt", {}, make("kbd", {}, a)),
					make("dd", {}, b),
					make("dt", {}, make("kbd", {}, c)),
					make("dd", {}, d),
				])
			),
			make("button", { type: "button", onclick: () => byId("keys").close() }, "Close")
		);
		byId("query").addEventListener("input", () => {
			clearTimeout(this.searching);
			this.searching = setTimeout(() => this.search(byId("query").value), 120);
		});
		byId("search").addEventListener("submit", e => {
			e.preventDefault();
			this.search(byId("query").value);
			if (this.current === "timeline") this.nextHit(1);
		});
		byId("query").addEventListener("keydown", e => {
			if (e.key === "Escape") {
				this.search((byId("query").value = ""));
				byId(this.current === "timeline" ? "tracks" : "main").focus();
			}
		});
		window.addEventListener("resize", () => {
			if (this.current === "timeline") this.resize();
			else if (this.current === "flame" && this.flame) this.flame.draw();
		});
		window.addEventListener("hashchange", () => this.readAddress());
		if (this.model) this.listenTimeline(on);
	},
	listenTimeline(on) {
		const mode = name => () => {
			this.view.mode = name;
			byId("mode-pan").setAttribute("aria-pressed", String(name === "pan"));
			byId("mode-select").setAttribute("aria-pressed", String(name === "select"));
			byId("tracks").classList.toggle("select", name === "select");
		};

		this.input = new Input(this);
		on("mode-pan", mode("pan"));
		on("mode-select", mode("select"));
		on("zoom-in", () => this.zoomAt(0.5, (this.view.from + this.view.to) / 2));
		on("zoom-out", () => this.zoomAt(2, (this.view.from + this.view.to) / 2));
		on("fit", () => this.setRange(...this.whole()));
		on("bookmark", () => this.addBookmark());
		on("next", () => this.nextHit(1));
		on("previous", () => this.nextHit(-1));
	},
});

function initialTheme() {
	let stored = null;

	try {
		stored = localStorage.getItem("gt-theme");
	} catch (error) {
		/* as above */
	}
	return stored || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
}

async function readModel() {
	const head = await readJson("head"),
		names = ["start", "dur", "type", "level", "extra", "value"],
		sections = {};

	if (!head) return null;
	(await Promise.all(names.map(readSection))).forEach((bytes, i) => (sections[names[i]] = bytes));
	return new Model(head, sections);
}

async function start() {
	const loading = byId("loading");

	document.documentElement.dataset.theme = initialTheme();
	if (typeof DecompressionStream === "undefined") {
		loading.textContent =
			"This browser is too old: it has no DecompressionStream (Chrome 103, Firefox 113, Safari 16.4).";
		return;
	}
	try {
		const model = await readModel(),
			has = name => !!byId("gt-" + name),
			app = new App(model, has);

		loading.hidden = true;
		app.readAddress();
		app.show(app.tabs[0]);
		window.gt = app; /* for the console */
		await new Promise(done => requestAnimationFrame(() => setTimeout(done)));
		app.firstPicture = performance.now();
		if (model) app.addArguments(await readSection("args"));
		if (has("reports")) app.addReports(await readJson("reports"));
		if (has("flame")) app.addFlame(await readJson("flame"));
		if (model) app.addQueues();
		app.ready = true;
	} catch (error) {
		loading.hidden = false;
		loading.textContent = "This file cannot be shown: " + error.message;
		throw error;
	}
}

start();
