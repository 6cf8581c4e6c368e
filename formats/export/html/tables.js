/* Sortable tables, and the reports. */

function cellText(kind, value, key) {
	if (value === null || value === undefined) return "\u2013";
	if (typeof value === "boolean") return value ? "yes" : "no";
	if (Array.isArray(value) || typeof value === "object") return printable(JSON.stringify(value));
	if (typeof value === "string") return printable(value);
	switch (kind) {
		case "ns":
			return formatNs(value);
		case "time":
			return formatTime(value);
		case "bytes":
			return formatBytes(value);
		case "percent":
			return value.toFixed(2) + " %";
		case "count":
			return formatCount(value);
		default:
			return key && key.endsWith("_ns") ? formatNs(value) : formatNumber(value);
	}
}

function compareCells(a, b) {
	const noA = a === null || a === undefined,
		noB = b === null || b === undefined;

	if (noA || noB) return noA - noB;
	return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
}

const isTextKind = kind => kind === "text" || kind === "whole" || kind === "data";

/* columns: [key, title, kind]; rows: objects, `jump`: what a click on the row does. Shows `most` rows until asked for more. */
function makeTable(columns, rows, sortKey, most = 200) {
	const body = make("tbody"),
		heads = [],
		table = make("table"),
		widest = {};
	let order = rows.slice(),
		shown = most,
		by = null,
		down = true;
	const caption = make("button", {
		type: "button",
		onclick: () => {
			shown = Infinity;
			fill();
		},
	});

	for (const [key, , kind] of columns)
		if (kind === "percent") widest[key] = rows.reduce((m, r) => Math.max(m, r[key] || 0), 100);
	function cell(row, [key, , kind]) {
		const value = row[key],
			text = cellText(kind, value, key);

		if (kind === "percent" && typeof value === "number") {
			const bar = make("i");

			bar.style.width = Math.max(0, Math.min(100, (value / widest[key]) * 100)) + "%";
			return make("td", { class: "share" }, bar, make("span", {}, text));
		}
		const td = make(
			"td",
			{
				class:
					(isTextKind(kind) || typeof value === "string" ? "text" : "") +
					(value === null || value === undefined ? " absent" : ""),
			},
			text
		);

		if (row.level > 0 && key === columns[0][0])
			/* part of the row above */
			td.style.paddingLeft = 10 + row.level * 16 + "px";
		return td;
	}
	function fill() {
		body.replaceChildren(
			...order.slice(0, shown).map(row => {
				const tr = make(
					"tr",
					row.jump
						? {
								class: "jump",
								tabindex: "0",
								title: "Show it in the timeline",
							}
						: {},
					...columns.map(c => cell(row, c))
				);

				if (row.jump) {
					tr.addEventListener("click", row.jump);
					tr.addEventListener("keydown", e => e.key === "Enter" && row.jump());
				}
				return tr;
			})
		);
		caption.hidden = order.length <= shown;
		caption.textContent = "Show all " + order.length + " rows";
	}
	function sort(key, downward) {
		by = key;
		down = downward;
		order = rows
			.slice()
			.sort((a, b) => (down ? compareCells(b[key], a[key]) : compareCells(a[key], b[key])));
		columns.forEach(([k], i) =>
			heads[i].setAttribute(
				"aria-sort",
				k === key ? (down ? "descending" : "ascending") : "none"
			)
		);
		fill();
	}
	for (const [key, title, kind] of columns)
		heads.push(
			make(
				"th",
				{ scope: "col", class: isTextKind(kind) ? "text" : "" },
				make(
					"button",
					{
						type: "button",
						onclick: () =>
							sort(key, by === key ? !down : !isTextKind(kind)),
					},
					title || key
				)
			)
		);
	table.append(make("thead", {}, make("tr", {}, ...heads)), body);
	if (sortKey) sort(sortKey, true);
	else fill();
	return make("div", {}, table, caption);
}

/* The reports of one or several files. */
class Reports {
	constructor(app, documents) {
		this.app = app;
		this.view = byId("view-reports");
		this.documents = documents;
	}
	show() {
		if (this.shown) return;
		this.shown = true;
		const pages = make("div", { class: "pages", tabindex: "0" }),
			contents = make("nav", { class: "contents", "aria-label": "Reports" });

		this.documents.forEach((doc, d) => {
			contents.append(
				make(
					"h2",
					{},
					this.documents.length > 1 || !this.app.model
						? printable(doc.file)
						: "Reports"
				)
			);
			for (const [name, table] of Object.entries(doc.tables)) {
				if (name === "header" || !doc.columns) continue;
				const described = doc.columns[name] ||
					doc.columns[name.replace(/^whole_run\./, "")] || {
						title: null,
						columns: [],
					};
				const title = this.titleOf(name, described),
					id = "report-" + d + "-" + name.replace(/[^a-z0-9]/gi, "-");

				if (!table.rows.length && !table.notes.length) continue;
				contents.append(
					make(
						"a",
						{
							href: "#" + id,
							onclick: e => {
								e.preventDefault();
								byId(id).scrollIntoView();
							},
						},
						title
					)
				);
				pages.append(this.report(id, title, described, table));
			}
		});
		this.view.append(contents, pages);
	}
	titleOf(name, described) {
		const title = printable(described.title || name.replace(/^whole_run\./, "")),
			whole = name.startsWith("whole_run.") ? " (whole run)" : "";

		return title[0].toUpperCase() + title.slice(1) + whole;
	}
	report(id, title, described, table) {
		const section = make(
			"section",
			{ class: "report", id, "aria-label": title },
			make("h2", {}, title)
		);
		const columns = described.columns.filter(c => c[1] !== null && c[0] !== "bar");

		for (const note of table.notes)
			section.append(
				make(
					"p",
					{ class: table.state === "cannot answer" ? "cannot" : "" },
					printable(note)
				)
			);
		if (!table.rows.length) return section;
		const chart = this.chart(described.columns, table.rows);

		if (chart) section.append(chart);
		const filled = c => table.rows.some(r => r[c[0]] !== null && r[c[0]] !== "");
		const shown = (
			columns.length ? columns : described.columns.filter(c => c[2] !== "data")
		).filter(filled);
		const rows = table.rows.map(row => ({ ...row, jump: this.jump(described.columns, row) }));

		section.append(make("div", { class: "box" }, makeTable(shown, rows, null)));
		return section;
	}
	/* A bar of the parts, if the rows have shares of one whole. */
	chart(columns, rows) {
		const share = columns.find(c => c[0] === "share_percent"),
			name = columns.find(c => c[2] === "text");
		const parts =
			share && name
				? rows.filter(
						r =>
							r[share[0]] > 0 &&
							!(r.level > 0) &&
							r.key !== "all" &&
							r.part !== "all"
					)
				: [];
		const sum = parts.reduce((n, r) => n + r[share[0]], 0);

		if (parts.length < 2 || sum > 101) return null;
		const bar = make("div", {
			class: "stack",
			role: "img",
			"aria-label": parts
				.map(r => r[name[0]] + " " + r[share[0]].toFixed(1) + " %")
				.join(", "),
		});
		const legend = make("div", { class: "legend" }),
			hues = [
				"#1f5fd0",
				"#00875f",
				"#d75f00",
				"#8f5bd0",
				"#b08a00",
				"#c0417f",
				"#4f7f8f",
				"#7f6f5f",
			];

		parts.slice(0, 8).forEach((r, i) => {
			const piece = make(
				"span",
				{
					title:
						printable(String(r[name[0]])) +
						" " +
						r[share[0]].toFixed(2) +
						" %",
				},
				r[share[0]] > 8 ? printable(String(r[name[0]])) : ""
			);
			const key = make("i");

			piece.style.width = r[share[0]] + "%";
			piece.style.background = key.style.background = hues[i];
			bar.append(piece);
			legend.append(
				make(
					"span",
					{},
					key,
					printable(String(r[name[0]])) + " " + r[share[0]].toFixed(1) + " %"
				)
			);
		});
		return make("div", {}, bar, legend);
	}
	/* A row with a time leads there; a row with a name of events leads to the longest of them. */
	jump(columns, row) {
		const app = this.app,
			time = columns.find(c => c[2] === "time" && typeof row[c[0]] === "number");

		if (!app.model) return null;
		if (time) {
			const from = row[time[0]] + app.reportBase(row.recording),
				last = row.last_ns ?? row.to_ns;
			const ns =
				row.duration_ns > 0
					? row.duration_ns
					: last > row[time[0]]
						? last - row[time[0]]
						: 0;

			return () => app.showRange(from, from + ns);
		}
		for (const [key, , kind] of columns) {
			const type =
				kind === "text" && typeof row[key] === "string"
					? app.typeByName(row[key])
					: -1;

			if (type >= 0) return () => app.showLongest(type);
		}
		return null;
	}
}
