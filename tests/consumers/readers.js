/* What gt writes, in programs for the command line: jq (JSON), protoc (Perfetto's protocol buffers), go tool pprof, Graphviz; and pprof's
 * profile in a decoder that follows its description (github.com/google/pprof, proto/profile.proto). A program that is missing is a skip. */
const fs = require("fs");
const { spawnSync } = require("child_process");
const { check, is, run, recorded } = require("./lib.js");
const { gunzipSync } = require("zlib");

/* The output of another program for this input, or null with a failed result. */
function output(name, program, args, input) {
	const done = spawnSync(program, args, { input, maxBuffer: 1 << 30, env: { ...process.env, HOME: process.cwd() } });

	return check(name, done.status === 0, `${done.error || ""} ${String(done.stderr).slice(-200)}`) ? String(done.stdout) : null;
}

function has(program, name = program) {
	const found = !spawnSync("which", [program]).status;

	if (!found) console.log(`skip ${name}: no ${program}`);
	return found;
}

/* ---- jq ---- */

function testJq() {
	const trace = recorded("h200-streams.zst");
	/* a filter that prints a number for each output, and what counts the same in another way */
	const formats = {
		chrome: [".traceEvents | length", text => text.split("\n").filter(l => /^\{"name"/.test(l)).length],
		speedscope: [".profiles | length", text => JSON.parse(text).profiles.length],
		jsonl: ["-n", "[inputs] | length", text => text.split("\n").filter(Boolean).length],
	};

	for (const [format, spec] of Object.entries(formats)) {
		const text = run("gtexport", "--" + format, "-o", "-", trace),
			count = spec.pop(),
			got = output("jq-" + format, "jq", spec, text);

		is("jq-" + format + "-counts", count(text), Number(got));
	}
	output("jq-reports", "jq", ["."], run("gtanalyze", "--format", "json", trace));
}

/* ---- pprof ---- */

function* fields(bytes) {
	let at = 0;
	const varint = () => {
		for (let v = 0n, shift = 0n; ; shift += 7n) {
			const b = bytes[at++];

			if (b === undefined || shift > 63n) throw new Error("a varint is incomplete at " + at);
			v |= BigInt(b & 127) << shift;
			if (b < 128) return v;
		}
	};

	while (at < bytes.length) {
		const tag = Number(varint()), wire = tag & 7, number = tag >> 3;

		if (wire === 0) yield [number, varint()];
		else if (wire === 2) {
			const n = Number(varint());

			if (at + n > bytes.length) throw new Error("a field is incomplete at " + at);
			yield [number, bytes.subarray(at, (at += n))];
		} else throw new Error(`wire type ${wire} at ${at}`);
	}
}

/* A message by the names of its fields; "x*": repeated, "x#": repeated numbers, packed or not. */
function message(bytes, names) {
	const to = {};

	for (const name of Object.values(names)) if (/[*#]$/.test(name)) to[name.slice(0, -1)] = [];
	for (const [number, value] of fields(bytes)) {
		const name = names[number] || "other", key = name.replace(/[*#]$/, "");

		if (name.endsWith("#") && typeof value !== "bigint") {
			for (const v of varints(value)) to[key].push(v);
		} else if (/[*#]$/.test(name)) to[key].push(value);
		else to[key] = value;
	}
	return to;
}

function varints(bytes) {
	const list = [];
	let v = 0n, shift = 0n;

	for (const b of bytes) {
		v |= BigInt(b & 127) << shift;
		shift += 7n;
		if (b < 128) {
			list.push(v);
			v = shift = 0n;
		}
	}
	return list;
}

function testProfile(name, bytes, folded) {
	const p = message(bytes, { 1: "types*", 2: "samples*", 3: "mappings*", 4: "locations*", 5: "functions*", 6: "strings*", 9: "time", 10: "duration" }),
		strings = p.strings.map(b => Buffer.from(b).toString()),
		text = i => strings[Number(i || 0n)],
		types = p.types.map(b => message(b, { 1: "type", 2: "unit" })).map(t => [text(t.type), text(t.unit)]),
		functions = new Map(p.functions.map(b => message(b, { 1: "id", 2: "name", 4: "file" })).map(f => [f.id, text(f.name)])),
		mappings = new Set(p.mappings.map(b => message(b, { 1: "id" }).id)),
		locations = new Map(),
		sums = types.map(() => 0n);
	let good = strings[0] === "" && types.length > 0;

	for (const b of p.locations) {
		const l = message(b, { 1: "id", 2: "mapping", 3: "address", 4: "lines*" }),
			names = l.lines.map(line => functions.get(message(line, { 1: "function", 2: "line" }).function));

		good = good && l.id > 0n && !locations.has(l.id) && (!l.mapping || mappings.has(l.mapping)) && !names.includes(undefined);
		locations.set(l.id, names);
	}
	check(name + "-references", good, "a location, function or mapping is missing");
	good = p.samples.length > 0;
	for (const b of p.samples) {
		const s = message(b, { 1: "locations#", 2: "values#" });

		good = good && s.values.length === types.length && s.locations.length > 0 && s.locations.every(id => locations.has(id));
		s.values.forEach((v, i) => (sums[i] += v));
	}
	check(name + "-samples", good, p.samples.length);
	/* "CPU;main;cuInit 123": the first frame is the type */
	const expected = types.map(() => 0n);

	for (const line of folded.split("\n").filter(Boolean)) {
		const i = types.findIndex(([type]) => type.toLowerCase() === line.split(";")[0].toLowerCase());

		if (i >= 0) expected[i] += BigInt(line.slice(line.lastIndexOf(" ") + 1));
		else check(name + "-types", false, line + " of " + types);
	}
	is(name + "-sums", expected.map(String), sums.map(String));
	return types;
}

function testPprof() {
	const go = has("go");

	for (const file of ["h200-streams.zst", "h200-decode.zst"]) {
		const trace = recorded(file), name = "pprof-" + file.split(".")[0];

		run("gtexport", "--pprof", "-f", "-o", "profile.pb.gz", trace);
		const types = testProfile(name, gunzipSync(fs.readFileSync("profile.pb.gz")), run("gtexport", "--folded", "--stacks", "-o", "-", trace));

		for (const [type] of go ? types : []) {
			const top = output(`${name}-go-${type}`, "go", ["tool", "pprof", "-top", "-sample_index=" + type, "profile.pb.gz"]);

			check(`${name}-go-${type}-has-functions`, top !== null && /flat%/.test(top) && top.trim().split("\n").length > 8, top);
		}
	}
}

/* ---- the others ---- */

function testProtoc() {
	run("gtexport", "--perfetto", "-f", "-o", "t.pftrace", recorded("h200-streams.zst"));
	const text = output("protoc", "protoc", ["--decode_raw"], fs.readFileSync("t.pftrace"));
	let packets = 0;

	for (const [number] of fields(fs.readFileSync("t.pftrace"))) packets += number === 1;
	is("protoc-packets", packets, text === null ? 0 : text.match(/^1 \{/gm).length);
}

function testGraphviz() {
	const text = run("gtexport", "--dot", "-o", "-", recorded("h200-decode.zst")),
		svg = output("graphviz", "dot", ["-Tsvg"], text);

	is("graphviz-boxes", text.match(/^\s*b\d+_\d+ \[label=/gm).length, svg === null ? 0 : svg.match(/class="node"/g).length);
	is("graphviz-arrows", text.match(/^\s*b\d+_\d+ -> b/gm).length, svg === null ? 0 : svg.match(/class="edge"/g).length);
}

if (has("jq")) testJq();
testPprof();
if (has("protoc")) testProtoc();
if (has("dot", "graphviz")) testGraphviz();
