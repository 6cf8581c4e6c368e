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

const collator = new Intl.Collator();

function compareCells(a, b) {
	const noA = a === null || a === undefined,
		noB = b === null || b === undefined;

	if (noA || noB) return noA - noB;
	return typeof a === "number" && typeof b === "number" ? a - b : collator.compare(String(a), String(b));
}

const ROWS_AT_ONCE = 2000; /* a browser takes about 0.4 ms for a row */
const LONG_TEXT = 60; /* letters: its column is wide enough to read it */
const isTextKind = kind => kind === "text" || kind === "whole" || kind === "data";

/* The lines below a table that has more rows than a page: which rows are shown, and buttons for the others. `at` is the first
 * one, show(at, n) shows others. */
function makePager(all, most, show) {
	const text = make("span", { "aria-live": "polite" }),
		last = Math.floor((all - 1) / most) * most,
		button = (label, to) =>
			make("button", { type: "button", onclick: () => show(to(), most) }, label);
	let at = 0;
	const first = button("First", () => 0),
		previous = button("Previous", () => Math.max(0, at - most)),
		next = button("Next", () => Math.min(last, at + most)),
		end = button("Last", () => last),
		whole = make(
			"button",
			{ type: "button", onclick: () => show(0, all) },
			"Show all " + formatCount(all) + " rows"
		),
		pager = make("div", { class: "pager" }, text, first, previous, next, end);

	if (all <= ROWS_AT_ONCE) pager.append(whole);
	pager.update = (from, n) => {
		at = from;
		text.textContent =
			"Rows " +
			formatCount(from + 1) +
			" to " +
			formatCount(Math.min(all, from + n)) +
			" of " +
			formatCount(all);
		first.disabled = previous.disabled = !from;
		next.disabled = end.disabled = from + n >= all;
	};
	return pager;
}

/* columns: [key, title, kind]; rows: objects, `jump`: what a click on the row does. Shows `most` rows at a time. */
function makeTable(columns, rows, sortKey, most = 200) {
	const body = make("tbody"),
		heads = [],
		table = make("table"),
		widest = {};
	let order = rows.slice(),
		first = 0,
		shown = most,
		by = null,
		down = true;
	const pager =
		rows.length > most &&
		makePager(rows.length, most, (from, n) => {
			first = from;
			shown = n;
			fill();
			body.firstChild.scrollIntoView({ block: "nearest" });
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
					(text.length > LONG_TEXT ? " long" : "") +
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
			...order.slice(first, first + shown).map(row => {
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
		if (pager) pager.update(first, shown);
	}
	function sort(key, downward) {
		by = key;
		down = downward;
		first = 0;
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
	return make("div", {}, table, ...(pager ? [pager] : []));
}

const MORE_ROWS = /^[0-9]+ more rows?: --top/; /* a note of gtanalyze */

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
				pages.append(this.report(id, title, described, table, doc.file));
			}
		});
		this.view.append(contents, pages);
	}
	titleOf(name, described) {
		/* some titles are headings of several lines */
		const title = printable(
				(described.title || name.replace(/^whole_run\./, ""))
					.split("\n")
					.pop()
					.replace(/:$/, "")
			),
			whole = name.startsWith("whole_run.") ? " (whole run)" : "";

		return title[0].toUpperCase() + title.slice(1) + whole;
	}
	report(id, title, described, table, file) {
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
					printable(note),
					...(MORE_ROWS.test(note) && described.report
						? [
								"; this command prints all: ",
								make(
									"code",
									{},
									"gtanalyze --top 0 " + described.report + " " + printable(file)
								),
							]
						: [])
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

		const largest = parts.slice(0, 8).reduce((n, r) => n + r[share[0]], 0);

		if (parts.length < 2 || sum > 101 || largest < 5) return null;
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
