/* gtexport --perfetto of every recording, and of two as ranks, read by perfetto.mjs: the events are those of --chrome. */
const fs = require("fs");
const path = require("path");
const { execFileSync, spawnSync } = require("child_process");
const { source, check, is, run, recorded } = require("./lib.js");

const files = ["h200-train.zst", "h200-inference.zst", "h200-graphs.zst", "h200-streams.zst", "h200-nvtx.zst", "h200x2-nccl.zst", "h200-decode.zst",
	"kineto-h200-mlp.json.gz"];

/* Reads one file, and compares it with the Chrome JSON of the same trace. */
function read(name, pftrace, json) {
	const reader = spawnSync(process.execPath, [path.join(source, "tests/consumers/perfetto.mjs"), pftrace, json], { encoding: "utf8" });
	const lines = reader.stdout.trim().split("\n");

	for (const line of lines) {
		const [, result, what, why] = line.match(/^(ok|FAIL) ([^:]*):? ?(.*)$/) || [null, "FAIL", "reader", line + reader.stderr];

		check(name + "-" + what, result === "ok", why);
	}
	is(name + "-all", 18, lines.length);
}

for (const file of files) {
	run("gtexport", "--perfetto", "-f", "-o", "t.pftrace", recorded(file));
	run("gtexport", "--chrome", "-f", "-o", "t.json", recorded(file));
	read(file.split(".")[0], "t.pftrace", "t.json");
}

/* An archive of two ranks: each file is whole, and the manifest names it. */
const ranks = ["h200-streams.zst", "h200-nvtx.zst"];

run("gtexport", "--perfetto", "-o", "run.tar", ...ranks.map(recorded));
execFileSync("tar", ["xf", "run.tar"]);
const manifest = JSON.parse(fs.readFileSync("perfetto_manifest.json", "utf8")).perfetto_manifest;

is("archive-version", 1, manifest.version);
manifest.files.forEach((file, i) => {
	run("gtexport", "--chrome", "-f", "-o", "t.json", recorded(ranks[i]));
	read("archive-" + i, file.path, "t.json");
});
