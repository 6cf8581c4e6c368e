/* gtexport --perfetto of every recording, read by perfetto.mjs: it has what --chrome has. */
const path = require("path");
const { spawnSync } = require("child_process");
const { source, check, is, run, recorded } = require("./lib.js");

const files = ["h200-train.zst", "h200-inference.zst", "h200-graphs.zst", "h200-streams.zst", "h200-nvtx.zst", "h200x2-nccl.zst", "h200-decode.zst",
	"kineto-h200-mlp.json.gz"];

for (const file of files) {
	const name = file.split(".")[0];

	run("gtexport", "--perfetto", "-f", "-o", "t.pftrace", recorded(file));
	run("gtexport", "--chrome", "-f", "-o", "t.json", recorded(file));
	const reader = spawnSync(process.execPath, [path.join(source, "tests/consumers/perfetto.mjs"), "t.pftrace", "t.json"], { encoding: "utf8" });
	const lines = reader.stdout.trim().split("\n");

	for (const line of lines) {
		const [, result, what, why] = line.match(/^(ok|FAIL) ([^:]*):? ?(.*)$/) || [null, "FAIL", "reader", line + reader.stderr];

		check(name + "-" + what, result === "ok", why);
	}
	is(name + "-all", 18, lines.length);
}
