/* bench_html.js FILE: how fast chromium shows a page of gtexport --html, for tests/bench/html.sh. */
const { openBrowser, openPage, openFile } = require("./lib.js");

const median = list => list.sort((a, b) => a - b)[list.length >> 1];

/* Time between two pictures, and processor time that the page takes for one, ms, while the timeline moves at three zooms. */
function pan() {
	const frame = () => new Promise(requestAnimationFrame),
		span = gt.model.to - gt.model.from;

	return (async () => {
		const gaps = [],
			work = [];

		for (const zoom of [1, 20, 1000]) {
			gt.setRange(gt.model.from + span * 0.8, gt.model.from + span * 0.8 + span / zoom);
			await frame();
			await frame();
			for (let i = 0, last = performance.now(); i < 60; i++) {
				gt.pan(i < 30 ? 0.004 : -0.004);
				await frame();
				gaps.push(performance.now() - last);
				work.push(gt.frameMs);
				last = performance.now();
			}
		}
		return { gaps, work };
	})();
}

async function main() {
	const browser = await openBrowser(),
		first = [],
		cpu = [];
	let moved;

	for (let i = 0; i < 5; i++) {
		const page = await openPage(browser),
			cdp = await page.context().newCDPSession(page);

		await cdp.send("Performance.enable", { timeDomain: "threadTicks" });
		await openFile(page, process.argv[2]);
		cpu.push(
			(await cdp.send("Performance.getMetrics")).metrics.find(m => m.name === "ThreadTime")
				.value
		);
		first.push(await page.evaluate(() => gt.firstPicture));
		moved = await page.evaluate(pan);
		await page.context().close();
	}
	console.log("html_first_picture_s " + (median(first) / 1000).toFixed(3) + " s");
	console.log("html_load_cpu_s " + median(cpu).toFixed(3) + " s");
	console.log("html_pan_frame_ms " + median(moved.gaps).toFixed(1) + " ms");
	console.log("html_pan_work_ms " + median(moved.work).toFixed(1) + " ms");
	await browser.close();
}

main().catch(e => {
	console.error(e);
	process.exit(1);
});
