/* Pages with hostile names, with a limited size, of an imported file, of reports alone; and SVG images. */
const fs = require("fs");
const { check, is, run, recorded, openBrowser, openPage, openFile, out } = require("./lib.js");

/* Names that would be HTML, terminal controls, invalid UTF-8, and a call 300 levels deep. */
function hostileTrace() {
	const lines = [],
		names = [
			"</script><script>hacked=1</script>",
			"<img src=x onerror=hacked=1>",
			"\\u001b[31mred\\u0000",
			"=cmd()|' /C calc'!A0",
			"__proto__",
			"\\u202eevil",
			"constructor",
		];
	let t = 0,
		id = 0;
	const line = (phase, name, op) =>
		lines.push(
			`{"ts":${(t += 1000) / 1e9},"op_id":${op},"phase":"${phase}","name":"${name}","pid":7,"tid":8,"details":{"note":"${phase === "B" ? name : ""}"}}`
		);

	for (const name of names) {
		line("B", name, ++id);
		line("E", name, id);
	}
	for (let i = 1; i <= 300; i++) line("B", "deep" + i, id + i);
	for (let i = 300; i; i--) line("E", "deep" + i, id + i);
	fs.writeFileSync(
		"evil.jsonl",
		Buffer.concat([
			Buffer.from(lines.join("\n") + "\n"),
			Buffer.from(`{"ts":1,"op_id":9999,"phase":"B","name":"bad`),
			Buffer.from([0xff, 0xfe, 0xc0]),
			Buffer.from(`","pid":7,"tid":8,"details":{}}\n`),
		])
	);
}

async function testHostile(page) {
	hostileTrace();
	fs.writeFileSync("evil.html", run("gtexport", "--html", "evil.jsonl"));
	await openFile(page, "evil.html");
	const names = await page.evaluate(() => {
		const lane = gt.model.lanes[0],
			seen = [];

		for (let i = 0; i < 7; i++) {
			gt.select({ lane, i }, true);
			seen.push(document.querySelector("#details h2").innerText);
		}
		for (const tab of ["reports", "flame", "info"]) gt.show(tab);
		gt.show("timeline");
		return seen;
	});

	check(
		"html-hostile-names-are-shown-as-text",
		names[0].includes("</script><script>hacked=1</script>") &&
			names[1].includes("<img src=x") &&
			names[2].includes("\\x1b[31mred"),
		JSON.stringify(names)
	);
	is("html-hostile-names-execute-nothing", undefined, await page.evaluate(() => window.hacked));
	check(
		"html-deep-calls-nest",
		(await page.evaluate(() => gt.model.lanes[0].levels.length)) >= 100,
		"levels"
	);
	is("html-hostile-no-faults", [], page.faults);
}

async function testMaxSize(page) {
	run("gtexport", "--html", "-f", "-o", "small.html", "--max-size", "400K", recorded("h200-train.zst"));
	check("html-max-size", fs.statSync("small.html").size <= 400 << 10, fs.statSync("small.html").size);
	await openFile(page, "small.html");
	check(
		"html-max-size-is-said",
		/level of detail/.test(await page.locator("#badges").textContent()) &&
			/merged/.test(await page.locator("#note").textContent()),
		await page.locator("#badges").textContent()
	);
	const kept = await page.evaluate(() => {
		let events = 0,
			slices = 0,
			linked = 0,
			text = "";

		for (const l of gt.model.lanes) {
			slices += l.n;
			for (let i = 0; i < l.n; i++) events += l.extras.count.get(i) || 1;
			for (let i = 0; i < l.n && l.aspect === WORK_ASPECT; i++)
				linked += gt.model.launchOf(l, i) !== null;
		}
		const lane = gt.model.lanes.find(l => l.extras.count.size);

		gt.select({ lane, i: lane.extras.count.keys().next().value }, true);
		text = document.getElementById("details").innerText;
		return { events, slices, linked, text };
	});

	check(
		"html-max-size-counts-all-events",
		kept.events > 250000 && kept.slices < 100000,
		JSON.stringify(kept).slice(0, 100)
	);
	check("html-max-size-keeps-arrows", kept.linked > 10, kept.linked);
	check(
		"html-max-size-slices-say-what-they-are",
		/events, the longest is/.test(kept.text) && /--max-size/.test(kept.text),
		kept.text
	);
	is("html-max-size-no-faults", [], page.faults);
}

async function testEmpty(page) {
	run(
		"gtexport",
		"--html",
		"-f",
		"-o",
		"empty.html",
		"--match",
		"no such name",
		recorded("h200-nvtx.zst")
	);
	await openFile(page, "empty.html");
	for (const key of ["w", "ArrowRight", "n", "f", "2", "3", "4", "1"]) await page.keyboard.press(key);
	is("html-without-events-no-faults", [], page.faults);
}

async function testOthers(page) {
	for (const name of [
		"h200x2-nccl.zst",
		"h200-graphs.zst",
		"h200-decode.zst",
		"kineto-h200-mlp.json.gz",
		"strace-many-threads.txt.gz",
	]) {
		fs.writeFileSync("other.html", run("gtexport", "--html", recorded(name)));
		await openFile(page, "other.html");
		await page.evaluate(
			() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))
		);
		await page.screenshot({ path: out + "/html-" + name.replace(/\..*/, "") + ".png" });
		is("html-of-" + name, [], page.faults.splice(0));
	}
}

async function testReports(page) {
	const file = recorded("h200-train.zst"),
		tables = JSON.parse(run("gtanalyze", "kernels", "--format", "json", "--no-progress", file));

	run("gtanalyze", "--html", "-f", "-o", "reports.html", "kernels", "budget", file);
	await openFile(page, "reports.html");
	const rows = await page
		.locator(".report", { hasText: "Kernels on the GPU" })
		.locator("tbody tr")
		.count();

	is("gtanalyze-html-has-all-rows", tables.kernels.rows.length, rows);
	check("gtanalyze-html-has-charts", (await page.locator(".stack span").count()) >= 2, "no chart");
	is("gtanalyze-html-has-no-timeline", true, await page.locator("#tab-timeline").isHidden());
	is("gtanalyze-html-no-faults", [], page.faults);
}

/* An image's script runs, zooms and searches. */
async function testSvg(page) {
	fs.writeFileSync("flame.svg", run("gtexport", "--flame", recorded("h200-train.zst")));
	page.removeAllListeners("dialog");
	page.on("dialog", d => d.accept("gemm"));
	await page.goto("file://" + process.cwd() + "/flame.svg");
	await page.locator("#search").click();
	check(
		"svg-searches",
		/% of GPU/.test(await page.locator("#found").textContent()),
		await page.locator("#found").textContent()
	);
	const width = () =>
		page.evaluate(() =>
			[...document.querySelectorAll("g.graph g")]
				.find(g => g.querySelector("title").textContent.startsWith("cuInit"))
				.querySelector("rect")
				.getAttribute("width")
		);
	const before = +(await width());

	await page.evaluate(() =>
		[...document.querySelectorAll("g.graph g")]
			.find(g => g.querySelector("title").textContent.startsWith("cuInit"))
			.onclick()
	);
	check("svg-zooms", +(await width()) > before * 1.5, before + " " + (await width()));
	is("svg-no-faults", [], page.faults);
}

async function main() {
	const browser = await openBrowser(),
		page = await openPage(browser, { viewport: { width: 1366, height: 768 } });

	await testHostile(page);
	await testMaxSize(page);
	await testEmpty(page);
	await testOthers(page);
	await testReports(page);
	await testSvg(page);
	await browser.close();
}

main().catch(e => {
	console.log("FAIL html_data: " + String(e).split("\n")[0]);
	console.error(e);
	process.exit(1);
});
