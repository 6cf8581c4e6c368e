/* The sections of the file: base64 of deflated bytes. Numbers are varints. */

function sectionText(name) {
	const element = document.getElementById("gt-" + name);

	return element ? element.textContent : "";
}

function fromBase64(text) {
	if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
	const chars = atob(text),
		bytes = new Uint8Array(chars.length);

	for (let i = 0; i < bytes.length; i++) bytes[i] = chars.charCodeAt(i);
	return bytes;
}

/* The bytes of a section; none if the file does not have it. */
async function readSection(name) {
	const text = sectionText(name);

	if (!text) return new Uint8Array(0);
	const stream = new Blob([fromBase64(text)])
		.stream()
		.pipeThrough(new DecompressionStream("deflate-raw"));

	return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function readJson(name) {
	const bytes = await readSection(name);

	return bytes.length ? JSON.parse(new TextDecoder().decode(bytes)) : null;
}

/* Reads varints one after the other. Numbers beyond 2^53 are exact only by big(). */
class Varints {
	constructor(bytes, at = 0) {
		this.bytes = bytes;
		this.at = at;
	}
	next() {
		const bytes = this.bytes;
		let c = bytes[this.at++],
			v,
			unit;

		if (c < 128) return c;
		v = c & 127;
		unit = 128;
		do {
			c = bytes[this.at++];
			v += (c & 127) * unit;
			unit *= 128;
		} while (c >= 128);
		return v;
	}
	zigzag() {
		const v = this.next();

		return v % 2 ? -(v + 1) / 2 : v / 2;
	}
	big() {
		let v = 0n,
			shift = 0n,
			c;

		do {
			c = this.bytes[this.at++];
			v |= BigInt(c & 127) << shift;
			shift += 7n;
		} while (c >= 128);
		return v;
	}
	bigZigzag() {
		const v = this.big();

		return v & 1n ? -((v + 1n) >> 1n) : v >> 1n;
	}
}

/* The columns of a lane. The readers of the sections stand at the lane's values. */
function readLane(of, n, first, types) {
	const start = new Float64Array(n),
		end = new Float64Array(n),
		type = new Uint32Array(n),
		level = new Uint8Array(n);
	const starts = of.start,
		durs = of.dur,
		kinds = of.type,
		levels = of.level;
	let at = first;

	for (let i = 0; i < n; i++) {
		at += starts.zigzag();
		start[i] = at;
		end[i] = at + durs.next();
		type[i] = types[kinds.next()];
		level[i] = levels.next();
	}
	return { start, end, type, level };
}

/* The few events with a number of merged events, a return code, or without an end. */
function readExtras(reader) {
	const stop = reader.next() + reader.at,
		extras = { count: new Map(), ret: new Map(), open: new Map() };
	const names = [null, "count", "ret", "open"];
	let i = -1;

	while (reader.at < stop) {
		i += reader.next();
		const kind = names[reader.next()];
		const value = kind === "ret" ? reader.zigzag() : reader.next();

		if (kind) extras[kind].set(i + 1, value);
	}
	return extras;
}

/* The points of a counter. */
function readPoints(of, n, first, real) {
	const start = new Float64Array(n),
		value = new Float64Array(n),
		reader = of.value;
	const view = new DataView(reader.bytes.buffer, reader.bytes.byteOffset);
	let at = first,
		v = 0;

	for (let i = 0; i < n; i++) {
		at += of.start.zigzag();
		start[i] = at;
		if (real) {
			value[i] = view.getFloat64(reader.at, true);
			reader.at += 8;
		} else {
			value[i] = v += reader.zigzag();
		}
	}
	return { start, value };
}

/* Finds the columns of arguments: for each lane and type a list, one per field and one for the launch. Values are decoded
 * when an event is first shown. */
function findArguments(bytes, lanes, types) {
	const reader = new Varints(bytes);

	for (const lane of lanes) {
		lane.columns = lane.types.map(type => {
			const columns = [];

			for (let i = 0; i < types[type].fields.length + 1; i++) {
				const size = reader.next();

				if (size) {
					columns.push({ at: reader.at, size });
					reader.at += size;
				} else {
					columns.push({ same: reader.bigZigzag() });
				}
			}
			return columns;
		});
	}
}

/* All values of a column as BigInt. */
function decodeColumn(bytes, column) {
	if (column.values) return column.values;
	const reader = new Varints(bytes, column.at),
		values = [];
	let v = 0n;

	while (reader.at < column.at + column.size) {
		v = BigInt.asUintN(64, v + reader.bigZigzag());
		values.push(v);
	}
	return (column.values = values);
}

/* The same as numbers, for launches: indices. */
function decodeIndices(bytes, column, n) {
	const out = new Float64Array(n);

	if (column.same !== undefined) return out.fill(Number(column.same));
	const reader = new Varints(bytes, column.at);
	let v = 0;

	for (let i = 0; i < n; i++) out[i] = v += reader.zigzag();
	return out;
}
