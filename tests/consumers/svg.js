/* gtexport --flame and --icicle in a browser, from disk: each frame has its title, a click zooms, Ctrl-F searches, and names from the
 * trace are text, whatever they contain. */
const fs = require("fs");
const path = require("path");
const { out, check, is, run, recorded, openBrowser, openPage } = require("./lib.js");

const names = ["</title><script>alert(1)</script>", "]]></script><script>alert(2)</script>", '"><img src=x onerror=alert(3)>', "&lt;b&gt;",
	"<style>*{display:none}</style>", "a\u001b[31mb", "javascript:alert(4)", "r\u00e4nge \u2192"];

/* A trace whose calls have these names, each within the one before. */
function hostileTrace(file) {
	const lines = [],
		line = (time, id, phase, name) => lines.push(JSON.stringify({ ts: time, op_id: id, phase, name, pid: 1, tid: 1 }));

	names.forEach((name, i) => line(0.001 * i, i, "B", name));
	names.forEach((name, i) => line(0.1 - 0.001 * i, i, "E", name));
	fs.writeFileSync(file, lines.sort((a, b) => JSON.parse(a).ts - JSON.parse(b).ts).join("\n") + "\n");
}

/* The page opens the image and answers the question for the pattern. */
async function openImage(browser, file) {
	const page = await openPage(browser);

	page.removeAllListeners("dialog");
	page.questions = 0;
	page.on("dialog", d => {
		if (d.type() !== "prompt") page.faults.push("dialog " + d.message());
		page.questions++;
		d.accept(page.answer);
	});
	await page.goto("file://" + path.resolve(file));
	await page.evaluate(() => {
		window.frames_ = [...document.querySelectorAll("g.graph > g")].map(g => ({
			g,
			name: g.querySelector("title").textContent.split("\n")[0],
			rect: g.querySelector("rect"),
		}));
	});
	return page;
}

async function search(page, pattern) {
	page.answer = pattern;
	await page.keyboard.press("Control+f");
	return page.evaluate(() => ({
		said: document.getElementById("found").textContent,
		hits: frames_.filter(f => f.rect.getAttribute("fill") === "#e600e6").map(f => f.name),
	}));
}

const widthOf = (page, i) => page.evaluate(i => +frames_[i].rect.getAttribute("width"), i);

async function testZoom(page, name) {
	const root = await widthOf(page, 0),
		small = await page.evaluate(() => frames_.findIndex(f => +f.rect.getAttribute("width") < 0.9 * +frames_[0].rect.getAttribute("width"))),
		before = await widthOf(page, small);

	/* the element itself: a frame may be narrower than a pixel */
	await page.evaluate(i => frames_[i].rect.dispatchEvent(new MouseEvent("click", { bubbles: true })), small);
	check(name + "-click-zooms", Math.abs((await widthOf(page, small)) - root) < 1, [before, await widthOf(page, small), root]);
	await page.evaluate(() => frames_[0].rect.dispatchEvent(new MouseEvent("click", { bubbles: true })));
	check(name + "-click-on-the-root-zooms-out", Math.abs((await widthOf(page, small)) - before) < 1, [before, await widthOf(page, small)]);
}

async function testRecording(browser, option, file, ...more) {
	const name = option.slice(2) + more.join(""),
		image = name + ".svg";

	run("gtexport", option, ...more, "-f", "-o", image, recorded(file));
	const page = await openImage(browser, image),
		frames = await page.evaluate(() => frames_.map(f => f.name));

	check(name + "-has-frames", frames.length > 10, frames.length);
	await testZoom(page, name);
	const pattern = frames[frames.length - 1].replace(/[^\w]+/g, ".*"),
		expected = frames.filter(f => new RegExp(pattern).test(f)),
		found = await search(page, pattern);

	is(name + "-search-finds", expected, found.hits);
	check(name + "-search-has-a-share", /\d % of /.test(found.said), found.said);
	check(name + "-search-asks", page.questions === 1, page.questions);
	const wrong = await search(page, "(");
	check(name + "-search-explains-a-wrong-pattern", /regular expression/i.test(wrong.said), wrong.said);
	is(name + "-search-for-nothing", [], (await search(page, "")).hits);
	is(name + "-no-faults", [], page.faults);
	await page.screenshot({ path: path.join(out, "svg-" + name + ".png") });
	await page.close();
}

async function testHostile(browser, option) {
	const name = "hostile" + option.slice(1),
		image = name + ".svg";

	run("gtexport", option, "-f", "-o", image, "hostile.jsonl");
	const page = await openImage(browser, image),
		seen = await page.evaluate(() => ({
			names: frames_.map(f => f.name),
			scripts: document.querySelectorAll("script").length,
			images: document.querySelectorAll("img, image, foreignObject").length,
		}));

	/* a control character is no XML: the image has another one in its place */
	for (const text of names.filter(n => !n.includes("\u001b"))) check(name + "-is-text: " + text, seen.names.includes(text), seen.names);
	is(name + "-one-script", 1, seen.scripts);
	is(name + "-no-images", 0, seen.images);
	await testZoom(page, name);
	is(name + "-search-finds", 3, (await search(page, "alert\\([123]")).hits.length);
	is(name + "-no-faults", [], page.faults);
	await page.close();
}

async function main() {
	const browser = await openBrowser();

	hostileTrace("hostile.jsonl");
	for (const option of ["--flame", "--icicle"]) {
		await testRecording(browser, option, "h200-streams.zst");
		await testRecording(browser, option, "h200-decode.zst", "--stacks");
		await testHostile(browser, option);
	}
	await browser.close();
}

main().catch(e => {
	console.log("FAIL svg: " + String(e).split("\n")[0]);
	console.error(e);
	process.exit(1);
});
