/* gtexport --speedscope in speedscope itself, as npm has it: it opens the file from disk, and has its profiles. */
const fs = require("fs");
const path = require("path");
const { out, check, is, run, recorded, openBrowser, openPage } = require("./lib.js");

const release = path.join(path.dirname(require.resolve("speedscope/package.json")), "dist/release/index.html");

async function open(browser, name, file, ...options) {
	const text = run("gtexport", "--speedscope", ...options, recorded(file)),
		profiles = JSON.parse(text).profiles,
		page = await openPage(browser);

	fs.writeFileSync(name + ".json", text);
	await page.goto("file://" + release);
	await page.locator("input[type=file]").first().setInputFiles(name + ".json");
	await page.waitForFunction(first => document.body.innerText.includes(first), profiles[0].name, { timeout: 60000 });
	const shown = await page.evaluate(() => document.body.innerText);

	check(name + "-has-all-profiles", profiles.length === 1 || shown.includes("/" + profiles.length + ")"), shown);
	for (const view of ["Time Order", "Left Heavy", "Sandwich"]) check(name + "-" + view.replace(" ", "-"), shown.includes(view), shown);
	/* the tab of the view that is shown has other classes */
	const before = await page.evaluate(() => {
		window.classesOf = word => [...document.querySelectorAll("div")].filter(e => e.textContent.includes(word)).pop().className;
		return classesOf("Left Heavy");
	});
	await page.keyboard.press("2");
	await page.waitForFunction(was => classesOf("Left Heavy") !== was, before, { timeout: 60000 });
	is(name + "-no-faults", [], page.faults);
	await page.screenshot({ path: path.join(out, "speedscope-" + name + ".png") });
	await page.close();
}

async function main() {
	const browser = await openBrowser();

	await open(browser, "by-time", "h200-streams.zst");
	await open(browser, "by-stack", "h200-decode.zst", "--stacks");
	await open(browser, "idle", "h200-decode.zst", "--stacks=idle");
	await browser.close();
}

main().catch(e => {
	console.log("FAIL speedscope: " + String(e).split("\n")[0]);
	console.error(e);
	process.exit(1);
});
