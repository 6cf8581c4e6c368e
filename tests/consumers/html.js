/* gtexport --html in a browser: the page has every event of the trace, and each of its controls does what it says. */
const fs = require("fs");
const { out, check, is, run, recorded, openBrowser, openPage, openFile } = require("./lib.js");

/* All rows of the trace as gtexport --jsonl has them. */
function rowsOf(file) {
	return run("gtexport", "--jsonl", file)
		.split("\n")
		.filter(Boolean)
		.map(line => JSON.parse(line));
}

async function testContents(page, file) {
	const tables = JSON.parse(
		run("gtanalyze", "header", "kernels", "--format", "json", "--no-progress", "--whole", file)
	);
	const header = tables.header.rows[0];
	const counts = await page.evaluate(() => {
		const n = { calls: 0, work: 0 };

		for (const l of gt.model.lanes) {
			n.calls += l.aspect === CALLS_ASPECT ? l.n : 0;
			n.work += l.aspect === WORK_ASPECT ? l.n : 0;
		}
		return n;
	});

	is("html-has-all-calls", header.calls, counts.calls);
	is("html-has-all-gpu-work", header.gpu_operations, counts.work);
	const sums = await page.evaluate(() => {
		const sum = {};

		for (const l of gt.model.lanes)
			for (let i = 0; l.aspect === WORK_ASPECT && i < l.n; i++) {
				const t = gt.model.types[l.type[i]];

				if (t.category === "kernel")
					sum[t.full] = (sum[t.full] || 0) + l.end[i] - l.start[i];
			}
		return sum;
	});
	/* the report has the recorded names, the page demangled ones */
	const sorted = list => list.map(Number).sort((a, b) => a - b);

	is(
		"html-kernel-times-are-those-of-the-report",
		sorted(tables.kernels.rows.map(r => r.total_ns)),
		sorted(Object.values(sums))
	);
	testArrows(
		await page.evaluate(() => {
			const lane = gt.model.lanes.find(l => l.aspect === WORK_ASPECT),
				list = [];

			for (let i = 0; i < lane.n; i += 97) {
				const call = gt.model.launchOf(lane, i),
					fields = {};

				for (const { field, value } of gt.model.fields(lane, i).list)
					fields[field.name] = gt.details.valueText(field, value);
				list.push({
					name: gt.model.typeOf(lane, i).full,
					start: lane.start[i],
					ns: lane.end[i] - lane.start[i],
					correlation: fields.correlation,
					call: call && call.lane.start[call.i],
					callName: call && gt.model.typeOf(call.lane, call.i).name,
				});
			}
			return list;
		}),
		JSON.parse(run("gtexport", "--chrome", file))
	);
}

/* Each has the launch that the Chrome trace has for the same time and name. */
function testArrows(list, chrome) {
	const ns = us => Math.round(us * 1000),
		calls = new Map(),
		work = new Map();

	for (const e of chrome.traceEvents)
		if (e.ph === "X" && e.args && e.args.correlation !== undefined)
			(e.args.launch_name ? work : calls).set(
				e.args.launch_name ? ns(e.ts) : e.args.correlation,
				e
			);
	const wrong = list.filter(e => {
		const w = work.get(e.start),
			c = w && calls.get(w.args.correlation);

		return (
			!w ||
			!c ||
			ns(w.dur) !== e.ns ||
			ns(c.ts) !== e.call ||
			c.name !== e.callName ||
			String(w.args.correlation) !== e.correlation
		);
	});

	check(
		"html-arrows-and-arguments-are-those-of-the-chrome-trace",
		list.length > 100 && !wrong.length,
		wrong.length + " of " + list.length + " differ: " + JSON.stringify(wrong[0])
	);
}

const range = page => page.evaluate(() => [gt.view.from, gt.view.to]);
const span = async page => {
	const [from, to] = await range(page);

	return to - from;
};

/* The canvas has pixels that are neither background nor text. */
const colours = page =>
	page.evaluate(() => {
		const c = document.getElementById("tracks"),
			data = c.getContext("2d").getImageData(0, 0, c.width, c.height).data,
			seen = new Set();

		for (let i = 0; i < data.length; i += 4)
			if (
				Math.max(data[i], data[i + 1], data[i + 2]) -
					Math.min(data[i], data[i + 1], data[i + 2]) >
				60
			)
				seen.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
		return seen.size;
	});

async function settle(page) {
	await page.evaluate(
		() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))
	);
}

async function testMoves(page) {
	const box = await page.locator("#tracks").boundingBox(),
		x = box.x + box.width * 0.7,
		y = box.y + 150;
	const before = await span(page);

	const busy = await page.evaluate(() => {
		const lane = gt.model.lanes.find(l => l.aspect === WORK_ASPECT),
			v = gt.view;
		let ns = 0;

		for (let i = 0; i < lane.n; i++)
			ns += lane.level[i]
				? 0
				: Math.max(0, Math.min(lane.end[i], v.to) - Math.max(lane.start[i], v.from));
		return [lane.line.busy, ns / (v.to - v.from)];
	});

	check("html-busy-share-is-exact", busy[1] > 0.01 && Math.abs(busy[0] - busy[1]) < 0.0001, busy);
	check("html-draws", (await colours(page)) > 20, "only " + (await colours(page)) + " colours");
	await page.mouse.move(x, y);
	await page.keyboard.down("Control");
	await page.mouse.wheel(0, -600);
	await page.keyboard.up("Control");
	check("html-wheel-zooms", (await span(page)) < before * 0.6, "span " + (await span(page)));
	const zoomed = await range(page);

	await page.mouse.down();
	await page.mouse.move(x - 200, y, { steps: 4 });
	await page.mouse.up();
	check("html-drag-moves", (await range(page))[0] > zoomed[0], "from " + (await range(page))[0]);
	const here = await range(page);

	await page.keyboard.down("w");
	await page.waitForFunction(s => gt.view.to - gt.view.from < s, (here[1] - here[0]) * 0.8);
	await page.keyboard.up("w");
	check("html-w-zooms", true);
	const at = await range(page);

	await page.keyboard.down("d");
	await page.waitForFunction(from => gt.view.from > from, at[0]);
	await page.keyboard.up("d");
	check("html-d-moves", true);
	await page.keyboard.press("0");
	await settle(page);
	check("html-0-fits", (await span(page)) > before * 0.99, "span " + (await span(page)));
}

/* Shows a time around GPU work of the training loop, `half` ns on both sides. */
const showWork = (page, half) =>
	page.evaluate(half => {
		const lane = gt.model.lanes.find(l => l.aspect === WORK_ASPECT && l.n > 1000),
			i = Math.floor(lane.n * 0.8);

		gt.setRange(lane.start[i] - half, lane.start[i] + half);
		gt.select({ lane, i }, false);
	}, half);

async function testTouch(browser, file) {
	const page = await openPage(browser, {
		viewport: { width: 412, height: 860 },
		hasTouch: true,
		isMobile: true,
		deviceScaleFactor: 1.5,
	});

	await openFile(page, file);
	const cdp = await page.context().newCDPSession(page),
		box = await page.locator("#tracks").boundingBox(),
		before = await span(page),
		y = box.y + 140;
	const touch = (type, ...points) =>
		cdp.send("Input.dispatchTouchEvent", {
			type,
			touchPoints: points.map(x => ({ x, y, id: points.indexOf(x) })),
		});

	await touch("touchStart", box.x + 100, box.x + 140);
	for (let i = 1; i <= 4; i++) await touch("touchMove", box.x + 100 - i * 15, box.x + 140 + i * 20);
	await touch("touchEnd");
	check(
		"html-pinch-zooms",
		(await span(page)) < before * 0.6,
		"span " + (await span(page)) + " of " + before
	);
	await showWork(page, 1.5e6);
	await settle(page);
	await page.screenshot({ path: out + "/html-phone.png" });
	is("html-phone-no-faults", [], page.faults);
	await page.context().close();
}

async function testSelection(page) {
	const place = await page.evaluate(() => {
		const lane = gt.model.lanes.find(l => l.aspect === WORK_ASPECT && l.n > 1000),
			i = 5000;

		gt.zoomTo(lane.start[i] - 20000, lane.end[i] + 20000);
		const box = document.getElementById("tracks").getBoundingClientRect();

		return {
			x: box.left + gt.painter.x((lane.start[i] + lane.end[i]) / 2),
			y: box.top + gt.painter.yOf(lane.line, lane.level[i]) + 8,
			name: gt.model.typeOf(lane, i).full,
			lane: lane.index,
			i,
		};
	});

	await settle(page);
	await page.mouse.click(place.x, place.y);
	const text = await page.locator("#details").innerText();

	check("html-click-selects", text.includes(place.name), text);
	check(
		"html-details-have-arguments",
		/correlation/.test(text) && /launched by/.test(text) && /queue time/.test(text),
		text
	);
	is("html-arrow", 1, await page.evaluate(() => gt.view.arrows.length));
	await page.keyboard.press("[");
	check(
		"html-bracket-leads-to-the-call",
		/cu(da)?(Launch|Memcpy|Memset)/.test(await page.locator("#details h2").innerText()),
		await page.locator("#details h2").innerText()
	);
	await page.keyboard.press("]");
	is(
		"html-bracket-leads-back",
		[place.lane, place.i],
		await page.evaluate(() => [gt.view.selected.lane.index, gt.view.selected.i])
	);
	await page.keyboard.press("ArrowRight");
	is("html-arrow-key-steps", place.i + 1, await page.evaluate(() => gt.view.selected.i));
	check(
		"html-speaks-for-screen-readers",
		(await page.locator("#spoken").textContent()).includes("stream"),
		await page.locator("#spoken").textContent()
	);
}

async function testArea(page) {
	const box = await page.locator("#tracks").boundingBox();

	await page.keyboard.down("Shift");
	await page.mouse.move(box.x + 200, box.y + 60);
	await page.mouse.down();
	await page.mouse.move(box.x + 900, box.y + 320, { steps: 5 });
	await page.mouse.up();
	await page.keyboard.up("Shift");
	const text = await page.locator("#details").innerText();

	check(
		"html-area-is-measured",
		/Area: [\d.]+ (ns|µs|ms|s)/.test(text) && /any GPU busy/.test(text),
		text
	);
	const sum = await page.evaluate(() => {
		const area = gt.view.area,
			{ rows } = gt.details.sumArea({ from: area.from, to: area.to });
		const lanes = gt.model.lanes.filter(l => !l.points);
		let n = 0,
			ns = 0;

		for (const l of lanes)
			for (let i = 0; i < l.n; i++)
				if (
					l.start[i] < area.to &&
					(l.end[i] > area.from || l.start[i] >= area.from)
				) {
					n++;
					ns += Math.min(l.end[i], area.to) - Math.max(l.start[i], area.from);
				}
		return {
			n,
			ns,
			count: rows.reduce((s, r) => s + r.count, 0),
			total: rows.reduce((s, r) => s + r.total, 0),
		};
	});

	check(
		"html-area-sums",
		sum.n > 10 && sum.count === sum.n && Math.abs(sum.total - sum.ns) < 1,
		JSON.stringify(sum)
	);
	await page.keyboard.press("Escape");
	is("html-escape-clears", null, await page.evaluate(() => gt.view.area));
}

async function testSearch(page, file) {
	const wanted = rowsOf(file).filter(r => r.phase !== "E" && /gemm/i.test(r.name)).length;

	await page.keyboard.press("/");
	await page.keyboard.type("GEMM");
	await page.waitForFunction(() => gt.hits.length > 0);
	is("html-search-finds", wanted, await page.evaluate(() => gt.hits.length));
	await page.keyboard.press("Enter");
	check(
		"html-search-selects",
		/gemm/i.test(await page.locator("#details h2").innerText()),
		await page.locator("#details h2").innerText()
	);
	await page.locator("#query").fill("(");
	await page.waitForFunction(() => document.getElementById("query").classList.contains("bad"));
	check("html-search-says-that-an-expression-is-wrong", true);
	await page.locator("#query").press("Escape");
	is("html-search-ends", null, await page.evaluate(() => gt.expression));
}

async function testBookmarks(browser, page, file) {
	await page.locator("#tracks").focus();
	await page.evaluate(() => gt.setRange(6.5e9, 6.6e9));
	await page.keyboard.press("b");
	await page.waitForFunction(() => /b=6500000000_6600000000/.test(location.hash));
	const address = await page.evaluate(() => location.hash),
		other = await openPage(browser);

	await openFile(other, file, address);
	is("html-address-has-the-range", [6.5e9, 6.6e9], (await range(other)).map(Math.round));
	is("html-address-has-bookmarks", 1, await other.evaluate(() => gt.view.bookmarks.length));
	is("html-address-no-faults", [], other.faults);
	await other.context().close();
}

async function testReports(page) {
	await page.keyboard.press("2");
	await page.waitForSelector(".report table");
	await page.screenshot({ path: out + "/html-reports.png" });
	const box = page.locator(".report", {
			has: page.getByRole("heading", { name: "Kernels on the GPU" }),
		}),
		head = box.locator("th button").nth(1);

	const column = () => box.locator("tbody tr td:nth-child(2)").allInnerTexts();

	await head.click();
	const down = await column();

	await head.click();
	const up = await column();

	check(
		"html-tables-sort",
		down.length > 3 && down.join() !== up.join() && down[0] === up[up.length - 1],
		down.slice(0, 3) + " / " + up.slice(0, 3)
	);
	is(
		"html-tables-say-how-they-are-sorted",
		"ascending",
		await box.locator("th").nth(1).getAttribute("aria-sort")
	);
	await page.locator("tr.jump", { hasText: "host-bound" }).first().click();
	is("html-rows-lead-to-the-timeline", "timeline", await page.evaluate(() => gt.current));
	check(
		"html-rows-lead-to-the-time",
		await page.evaluate(() => gt.view.area && gt.view.area.to > gt.view.area.from),
		"no area"
	);
}

/* The lanes of queue depth have the depths of the report; with merged events they say that they may be deeper. */
async function testQueues(browser, file) {
	const page = await openPage(browser),
		depths = () => {
			const m = gt.model;

			return [...m.queues.values()].map(l => {
				let device = l.track;

				while (m.tracks[device].kind !== "device") device = m.tracks[device].parent;
				return [
					m.tracks[m.tracks[device].parent].id,
					m.tracks[device].id,
					device === l.track ? null : m.tracks[l.track].id,
					l.points.max,
				];
			});
		},
		sorted = list => list.map(String).sort();
	const report = JSON.parse(run("gtanalyze", "queues", "--format", "json", "--no-progress", file)).queues.rows;

	fs.writeFileSync("html-queues.html", run("gtexport", "--html", file));
	await openFile(page, "html-queues.html");
	is(
		"html-queue-depths-are-those-of-the-report",
		sorted(report.map(r => [r.pid, r.device, r.stream, r.most])),
		sorted(await page.evaluate(depths))
	);
	const labels = () => page.evaluate(() => gt.layout.lines.filter(l => l.key[0] === "q").map(l => l.label));

	is("html-queue-lanes", Array(report.length).fill("queue depth"), await labels());
	is(
		"html-queues-are-empty-at-the-end",
		true,
		await page.evaluate(() => [...gt.model.queues.values()].every(l => l.points.value.at(-1) === 0))
	);
	const spot = await page.evaluate(() => {
		const line = gt.layout.lines.find(l => l.key[0] === "q"),
			p = line.lane.points,
			at = p.value.indexOf(p.max);

		gt.setRange(p.start[at] - 1e6, p.start[at] + 1e6);
		gt.scrollTo(line.y - 100);
		return { x: gt.painter.x((p.start[at] + p.start[at + 1]) / 2), y: gt.painter.yOf(line, 0) + 15, most: p.max };
	});
	const box = await page.locator("#tracks").boundingBox();

	await page.mouse.move(box.x + spot.x, box.y + spot.y);
	check(
		"html-queue-depth-under-the-pointer",
		(await page.locator("#tip").innerText()).startsWith("queue depth\n" + spot.most + " at "),
		await page.locator("#tip").innerText()
	);
	fs.writeFileSync("html-queues.html", run("gtexport", "--html", "--max-size", "400K", file));
	await openFile(page, "html-queues.html");
	is("html-queues-of-merged-events", ["queue depth (at least)"], [...new Set(await labels())]);
	is("html-no-faults-queues", [], page.faults);
	await page.context().close();
}

/* A table of many rows has pages, and the command that prints the rows that the page lacks. */
async function testLongTables(browser) {
	const lines = [];

	for (let i = 0; i < 3000; i++)
		for (const [phase, t] of [["B", i], ["E", i + 0.5]])
			lines.push(JSON.stringify({ ts: t / 1e4, op_id: i, phase, name: "op" + i, tid: 1 }));
	fs.writeFileSync("many.jsonl", lines.join("\n") + "\n");
	fs.writeFileSync("many.html", run("gtexport", "--html", "many.jsonl"));
	fs.writeFileSync("all.html", run("gtanalyze", "--html", "--top", "0", "-o", "-", "top", "many.jsonl"));
	const page = await openPage(browser),
		box = page.locator(".report", { has: page.getByRole("heading", { name: "Operations by total time" }) }),
		rows = () => box.locator("tbody tr").count(),
		where = () => box.locator(".pager span").innerText();

	await openFile(page, "many.html");
	await page.evaluate(() => gt.show("reports"));
	is("html-table-command", "gtanalyze --top 0 top many.jsonl", await box.locator("code").innerText());
	await box.getByRole("button", { name: "Show all" }).click();
	is("html-table-all-rows", 1000, await rows());
	await openFile(page, "all.html");
	is("html-table-has-pages", [200, "Rows 1 to 200 of 3\u2009000"], [await rows(), (await where()).replace(/\u202f/g, "\u2009")]);
	is("html-table-whole-has-no-command", 0, await box.locator("code").count());
	await box.getByRole("button", { name: "Last" }).click();
	check("html-table-last-page", (await where()).startsWith("Rows 2"), await where());
	is("html-table-no-next-page", true, await box.getByRole("button", { name: "Next" }).isDisabled());
	await box.locator("th button").first().click();
	check("html-table-sorts-all-pages", (await where()).startsWith("Rows 1 to"), await where());
	is("html-table-first-row", "op0", await box.locator("tbody td").first().innerText());
	is("html-no-faults-tables", [], page.faults);
	await page.context().close();
}

async function testFlame(page) {
	await page.keyboard.press("3");
	await page.waitForSelector(".graph button");
	await page.screenshot({ path: out + "/html-flame.png" });
	const frame = page
			.locator(".graph")
			.nth(0)
			.getByRole("button", { name: /^cuInit/ }),
		before = (await frame.boundingBox()).width;

	await frame.click();
	await page.waitForFunction(
		w =>
			[...document.querySelectorAll(".graph button")].find(b => b.textContent === "cuInit")
				.offsetWidth >
			w * 1.5,
		before
	);
	check("html-flame-zooms", true);
	await page.locator("#query").fill("gemm");
	await page.waitForFunction(() =>
		/% of GPU/.test(document.querySelector("#view-flame .range").textContent)
	);
	check("html-flame-searches", true);
	await page.locator("#query").press("Escape");
}

async function testThemes(page) {
	const back = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);

	await page.keyboard.press("1");
	const light = await back();

	await page.locator("#theme").click();
	check("html-theme", light !== (await back()), light);
	await page.locator("#theme").click();
}

async function testPictures(browser, file) {
	const sizes = { wide: [1600, 900, "light"], laptop: [1280, 720, "dark"] };

	for (const [name, [width, height, colorScheme]] of Object.entries(sizes)) {
		const page = await openPage(browser, { viewport: { width, height }, colorScheme });

		await openFile(page, file);
		await showWork(page, 4e6);
		await settle(page);
		await page.screenshot({ path: out + "/html-" + name + ".png" });
		is(
			"html-fits-" + name,
			true,
			await page.evaluate(
				() =>
					document.documentElement.scrollWidth <= innerWidth &&
					document.documentElement.scrollHeight <= innerHeight
			)
		);
		is("html-no-faults-" + name, [], page.faults);
		await page.context().close();
	}
}

async function main() {
	const file = recorded("h200-train.zst"),
		browser = await openBrowser();

	fs.writeFileSync("html-train.html", run("gtexport", "--html", file));
	const page = await openPage(browser);

	await openFile(page, "html-train.html");
	await testContents(page, file);
	await testMoves(page);
	await testSelection(page);
	await testArea(page);
	await testSearch(page, file);
	await testBookmarks(browser, page, "html-train.html");
	await testReports(page);
	await testFlame(page);
	await testThemes(page);
	is("html-no-faults", [], page.faults);
	await testTouch(browser, "html-train.html");
	await testPictures(browser, "html-train.html");
	await testQueues(browser, recorded("h200x2-nccl.zst"));
	await testLongTables(browser);
	await browser.close();
}

main().catch(e => {
	console.log("FAIL html: " + String(e).split("\n")[0]);
	console.error(e);
	process.exit(1);
});
