/* A Chrome JSON of 1 GB and more in node, as a stream: make check-consumers CONSUMERS=big runs it, nothing else does. gtexport writes it
 * into a pipe from a trace of 10 million calls; node reads it with bounded memory, and finds every call, in valid JSON. */
const path = require("path");
const { spawn, spawnSync } = require("child_process");
const { build, check, is } = require("./lib.js");

const CALLS = 10500000, LIMIT = 400 << 20; /* bytes of memory */

/* The calls as JSON lines, made by awk. */
function makeTrace() {
	const lines = `awk 'BEGIN { for (i = 0; i < ${CALLS}; i++) { t = i / 1e6
		printf "{\\"ts\\":%.9f,\\"op_id\\":%d,\\"phase\\":\\"B\\",\\"name\\":\\"cuFunction%d\\",\\"pid\\":7,\\"tid\\":%d}\\n", t, i, i % 50, i % 4
		printf "{\\"ts\\":%.9f,\\"op_id\\":%d,\\"phase\\":\\"E\\",\\"name\\":\\"cuFunction%d\\",\\"pid\\":7,\\"tid\\":%d}\\n", t + 5e-7, i, i % 50, i % 4 } }'`;

	return spawnSync("sh", ["-c", `${lines} | "${path.join(build, "gtexport")}" --native -f -o big.zst -`]).status === 0;
}

async function main() {
	if (!check("trace", makeTrace())) return;
	const writer = spawn(path.join(build, "gtexport"), ["--chrome", "-o", "-", "big.zst"], { stdio: ["ignore", "pipe", "ignore"] });
	let rest = "", bytes = 0, calls = 0, most = 0, head = null;

	/* an event is a line; what is around the events is little */
	for await (const piece of writer.stdout) {
		const lines = (rest + piece).split("\n");

		bytes += piece.length;
		rest = lines.pop();
		for (const line of lines) {
			if (!line.startsWith('{"name"')) {
				head = (head || "") + line;
				continue;
			}
			const event = JSON.parse(line.replace(/,$/, ""));

			calls += event.ph === "X";
		}
		most = Math.max(most, process.memoryUsage().rss);
	}
	head += rest;
	check("size", bytes >= 1e9, bytes);
	is("calls", CALLS, calls);
	check("around-the-events", Array.isArray(JSON.parse(head.replace(/,\s*\]/, "]")).traceEvents), head.slice(0, 200));
	check("memory", most < LIMIT, `${most >> 20} MiB`);
	console.error(`${bytes} bytes, ${most >> 20} MiB of memory`);
}

main().catch(e => {
	console.log("FAIL big: " + String(e).split("\n")[0]);
	console.error(e);
	process.exit(1);
});
