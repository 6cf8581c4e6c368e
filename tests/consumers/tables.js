/* gtexport --parquet and --arrow in the programs that read them: DuckDB reads every Parquet file, apache-arrow every stream, and both
 * have the same rows. DuckDB's results of Nsight's queries are those of gtanalyze. Parquet files that DuckDB writes are read back. */
const fs = require("fs");
const path = require("path");
const { execFileSync } = require("child_process");
const { DuckDBInstance } = require("@duckdb/node-api");
const { RecordBatchReader } = require("apache-arrow");
const { build, check, is, run, recorded } = require("./lib.js");

const asText = v => (typeof v === "bigint" ? String(v) : v);

/* By table: its rows, each a list of values, whole numbers as text. */
function arrowTables(bytes) {
	const tables = {};

	for (const stream of RecordBatchReader.readAll(bytes)) {
		stream.open({ autoDestroy: false });
		const rows = [];
		const names = stream.schema.fields.map(f => f.name);

		for (const batch of stream)
			for (let i = 0; i < batch.numRows; i++)
				rows.push(names.map((_, c) => asText(batch.getChildAt(c).get(i))));
		tables[stream.schema.metadata.get("table_name")] = rows;
	}
	return tables;
}

async function query(db, sql) {
	return (await db.runAndReadAll(sql)).getRowsJson();
}

async function testRecording(db, name) {
	const trace = recorded(`h200-${name}.zst`), folder = `${name}.parquet`;

	run("gtexport", "--parquet", "-o", folder, trace);
	const arrow = arrowTables(execFileSync(path.join(build, "gtexport"), ["--arrow", "-o", "-", trace], { maxBuffer: 1 << 30 }));
	const files = fs.readdirSync(folder);
	let rows = 0;

	is(`${name}-tables`, files.map(f => path.basename(f, ".parquet")).sort(), Object.keys(arrow).sort());
	for (const file of files) {
		const table = path.basename(file, ".parquet"), got = await query(db, `SELECT * FROM '${folder}/${file}'`);

		rows += got.length;
		check(`${name}-${table}`, got.length > 0 && JSON.stringify(got) === JSON.stringify(arrow[table]),
			`DuckDB ${JSON.stringify(got[0])} of ${got.length}, Arrow ${JSON.stringify((arrow[table] || [])[0])} of ${(arrow[table] || []).length}`);
	}
	check(`${name}-has-rows`, rows > 1000, rows);
	for (const table of ["KERNEL", "RUNTIME"]) {
		const file = `${folder}/CUPTI_ACTIVITY_KIND_${table}.parquet`;
		const [[least, most]] = await query(db, `SELECT min(start), max(start) FROM '${file}'`);

		is(`${name}-${table}-statistics`, [[least, most]], await query(db,
			`SELECT min(stats_min_value::BIGINT), max(stats_max_value::BIGINT) FROM parquet_metadata('${file}') WHERE path_in_schema = 'start'`));
	}
	await testReports(db, name, trace, folder);
}

/* Nsight's queries have the results of gtanalyze. */
async function testReports(db, name, trace, folder) {
	const from = t => `'${folder}/CUPTI_ACTIVITY_KIND_${t}.parquet'`;
	const sums = `sum("end" - start), count(*), min("end" - start), max("end" - start)`;
	const strings = `JOIN '${folder}/StringIds.parquet' s ON s.id =`;
	const reports = {
		cuda_gpu_kern_sum: [["total_ns", "instances", "min_ns", "max_ns", "name"],
			`SELECT ${sums}, s.value FROM ${from("KERNEL")} ${strings} demangledName GROUP BY s.value`],
		cuda_api_sum: [["total_ns", "num_calls", "min_ns", "max_ns", "name"],
			`SELECT ${sums}, s.value FROM ${from("RUNTIME")} ${strings} nameId GROUP BY s.value`],
		cuda_kern_exec_trace: [["api_start_ns", "api_dur_ns", "kernel_start_ns", "kernel_dur_ns"],
			`SELECT r.start, r."end" - r.start, k.start, k."end" - k.start FROM ${from("KERNEL")} k JOIN ${from("RUNTIME")} r
			 ON r.correlationId = k.correlationId AND k.globalPid = (r.globalTid & ~16777215)`],
	};
	const sorted = list => list.map(r => r.map(String).join(" ")).sort();

	for (const [report, [keys, sql]] of Object.entries(reports)) {
		const table = JSON.parse(run("gtanalyze", report, "--format", "json", "--top", "0", "--no-progress", trace))[report];
		const wanted = sorted(table.rows.map(r => keys.map(k => r[k]))), got = sorted(await query(db, sql));

		check(`${name}-${report}`, wanted.length > 0 && JSON.stringify(wanted) === JSON.stringify(got), `${got[0]} of ${got.length}, not ${wanted[0]} of ${wanted.length}`);
	}
}

/* What gt reads of a trace: all rows as JSON lines. */
const rowsOf = trace => run("gtexport", "--jsonl", "-o", "-", trace);

/* DuckDB writes the tables of gt with each codec and both versions of pages; gt reads the same rows. */
async function testWriting(db, name) {
	const folder = `${name}.parquet`, expected = rowsOf(folder), files = fs.readdirSync(folder);
	const narrow = "start::UBIGINT AS start, deviceId::INTEGER AS deviceId, gridX::UINTEGER AS gridX, blockX::SMALLINT AS blockX";

	check(`${name}-rows`, expected.split("\n").length > 1000, expected.length);
	for (const version of ["V1", "V2"])
		for (const codec of ["snappy", "zstd", "gzip", "uncompressed"]) {
			const to = `${name}-${version}-${codec}_pqtdir`;

			fs.mkdirSync(to);
			for (const file of files) {
				/* other types of integers, and a column that gt does not read */
				const kernels = file.includes("KIND_KERNEL") ? `REPLACE (${narrow}), [1, 2] AS list` : "";

				await db.run(`COPY (SELECT * ${kernels} FROM '${folder}/${file}') TO '${to}/${file}'
					(FORMAT parquet, COMPRESSION ${codec}, PARQUET_VERSION ${version}, ROW_GROUP_SIZE 2048)`);
			}
			check(`${name}-read-back-${version}-${codec}`, rowsOf(to) === expected);
		}
	const encodings = await query(db, `SELECT DISTINCT encodings FROM parquet_metadata('${name}-V?-zstd_pqtdir/*.parquet') ORDER BY 1`);

	check(`${name}-encodings`, ["RLE_DICTIONARY", "DELTA_BINARY_PACKED", "PLAIN"].every(e => String(encodings).includes(e)), encodings);
}

async function main() {
	const db = await (await DuckDBInstance.create(":memory:")).connect();

	for (const name of ["nvtx", "graphs", "decode"])
		await testRecording(db, name);
	for (const name of ["nvtx", "graphs"])
		await testWriting(db, name);
}

main();
