/* For the tests of tests/consumers: results, gt's programs, and a browser. */
const { execFileSync } = require("child_process");
const path = require("path");

const build = process.env.B,
	source = process.env.SRC,
	out = process.env.OUT;

function check(name, good, why = "") {
	console.log(
		good ? "ok " + name : "FAIL " + name + ": " + String(why).replace(/\s+/g, " ").slice(0, 300)
	);
	return good;
}

function is(name, wanted, got) {
	return check(
		name,
		JSON.stringify(wanted) === JSON.stringify(got),
		"is " + JSON.stringify(got) + ", not " + JSON.stringify(wanted)
	);
}

/* Runs a program of the build; its standard output. */
function run(program, ...args) {
	return execFileSync(path.join(build, program), args, {
		maxBuffer: 1 << 30,
		encoding: "utf8",
		stdio: ["ignore", "pipe", "ignore"],
	});
}

function recorded(name) {
	return path.join(source, "samples/recorded", name);
}

/* A browser without a network. Pages note what goes wrong in `page.faults`: errors, violations of the policy, and requests other than
 * for the file itself. */
async function openBrowser() {
	const { chromium } = require("playwright-core");

	return chromium.launch({
		executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
		args: ["--no-sandbox", "--disable-gpu"],
	});
}

async function openPage(browser, options = {}) {
	const context = await browser.newContext({
		viewport: { width: 1600, height: 1000 },
		colorScheme: "light",
		offline: true,
		...options,
	});
	const page = await context.newPage();

	page.faults = [];
	await page.addInitScript(() =>
		Object.assign(window, { CALLS_ASPECT: 0, WORK_ASPECT: 3 })
	); /* of model.js */
	page.on("pageerror", e => page.faults.push(String(e)));
	page.on("console", m => m.type() === "error" && page.faults.push(m.text()));
	page.on(
		"request",
		r =>
			r.url().startsWith("file:") ||
			r.url().startsWith("blob:") ||
			page.faults.push("requests " + r.url())
	);
	page.on("dialog", d => {
		page.faults.push("dialog " + d.message());
		d.dismiss();
	});
	return page;
}

/* Opens a page of gt from disk and waits until all of it is read. */
async function openFile(page, file, hash = "") {
	await page.goto("file://" + path.resolve(file) + hash);
	await page.waitForFunction(() => window.gt && window.gt.ready, null, { timeout: 120000 });
}

module.exports = { build, source, out, check, is, run, recorded, openBrowser, openPage, openFile };
