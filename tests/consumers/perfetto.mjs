// An independent reader of Perfetto's format: checks a file of gtexport --perfetto, and compares it with the Chrome JSON of the same
// trace. It does not share code with gt; the numbers of fields are those of Perfetto's protos.
//
//	node perfetto.mjs TRACE.pftrace [TRACE.json]	prints "ok NAME" or "FAIL NAME: WHY" for each check; exit status 1 if one failed
//	node perfetto.mjs --dump TRACE.pftrace		prints each slice: track, start, duration, name, arguments
import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'

// ---- protocol buffers ----

// Calls field(number, wire, value) for each field; value: a BigInt, or a Uint8Array.
function walk(bytes, field) {
	let at = 0
	const varint = () => {
		let v = 0n
		for (let shift = 0n; ; shift += 7n) {
			if (at >= bytes.length || shift > 63n) throw new Error(`a varint is incomplete at byte ${at}`)
			const b = bytes[at++]
			v |= BigInt(b & 0x7f) << shift
			if (b < 0x80) return v & 0xffffffffffffffffn
		}
	}
	const take = (n) => {
		if (at + n > bytes.length) throw new Error(`a field of ${n} bytes is incomplete at byte ${at}`)
		return bytes.subarray(at, (at += n))
	}
	while (at < bytes.length) {
		const tag = varint(), number = Number(tag >> 3n), wire = Number(tag & 7n)
		if (!number) throw new Error(`a field has number 0 at byte ${at}`)
		if (wire === 0) field(number, wire, varint())
		else if (wire === 1) field(number, wire, view(take(8)).getBigUint64(0, true))
		else if (wire === 5) field(number, wire, BigInt(view(take(4)).getUint32(0, true)))
		else if (wire === 2) field(number, wire, take(Number(varint())))
		else throw new Error(`wire type ${wire} at byte ${at}`)
	}
}
const view = (b) => new DataView(b.buffer, b.byteOffset, b.length)
const utf8 = new TextDecoder('utf-8', { fatal: true })
const signed = (v) => BigInt.asIntN(64, v)
const double = (bits) => new Float64Array(new BigUint64Array([bits]).buffer)[0]

// Reads a message by a table: number -> [key, kind]. Kinds: u, s, d (double), t (text), b (bytes), or a table; an array of it: repeated.
function read(bytes, table) {
	const to = {}
	walk(bytes, (number, wire, v) => {
		const row = table[number]
		if (!row) { (to.unknown ??= []).push(number); return }
		let [key, kind, repeated] = row
		const value = kind === 'u' ? v : kind === 's' ? signed(v) : kind === 'd' ? double(v) : kind === 't' ? utf8.decode(v)
			: kind === 'b' ? v : read(v, kind)
		if (repeated) (to[key] ??= []).push(value)
		else to[key] = value
	})
	return to
}

const annotation = { 1: ['nameIid', 'u'], 2: ['bool', 'u'], 3: ['uint', 'u'], 4: ['int', 's'], 5: ['double', 'd'], 6: ['string', 't'],
	7: ['pointer', 'u'], 9: ['json', 't'], 10: ['name', 't'], 17: ['stringIid', 'u'] }
annotation[11] = ['entries', annotation, true]
annotation[12] = ['values', annotation, true]
const trackEvent = { 3: ['categoryIids', 'u', true], 4: ['args', annotation, true], 9: ['type', 'u'], 10: ['nameIid', 'u'],
	11: ['track', 'u'], 22: ['categories', 't', true], 23: ['name', 't'], 30: ['value', 's'], 34: ['location', 'u'], 44: ['doubleValue', 'd'],
	47: ['flows', 'u', true], 48: ['flowEnds', 'u', true], 52: ['correlation', 'u'], 56: ['stack', 'u'] }
const text = { 1: ['iid', 'u'], 2: ['text', 't'] }, bytes = { 1: ['iid', 'u'], 2: ['text', 'b'] }
const interned = { 1: ['categories', text, true], 2: ['names', text, true], 3: ['argNames', text, true],
	4: ['locations', { 1: ['iid', 'u'], 2: ['file', 't'], 3: ['function', 't'], 4: ['line', 'u'] }, true], 5: ['functions', text, true],
	6: ['frames', { 1: ['iid', 'u'], 2: ['function', 'u'], 3: ['mapping', 'u'], 4: ['pc', 'u'], 5: ['source', 'u'], 6: ['line', 'u'],
		7: ['kind', 'u'] }, true],
	7: ['stacks', { 1: ['iid', 'u'], 2: ['frames', 'u', true] }, true], 16: ['buildIds', bytes, true], 17: ['paths', text, true],
	18: ['sources', text, true], 19: ['mappings', { 1: ['iid', 'u'], 2: ['buildId', 'u'], 7: ['path', 'u', true] }, true],
	29: ['strings', text, true] }
const track = { 1: ['uuid', 'u'], 2: ['name', 't'], 3: ['process', { 1: ['pid', 'u'], 6: ['name', 't'] }],
	4: ['thread', { 1: ['pid', 'u'], 2: ['tid', 'u'], 5: ['name', 't'] }], 5: ['parent', 'u'], 8: ['counter', { 3: ['unit', 'u'] }],
	11: ['childOrdering', 'u'], 12: ['rank', 'u'], 19: ['processOrdering', 'u'], 20: ['threadOrdering', 'u'] }
const packet = { 6: ['clocks', { 1: ['clocks', { 1: ['id', 'u'], 2: ['time', 'u'] }, true], 2: ['primary', 'u'] }], 8: ['time', 'u'],
	10: ['sequence', 'u'], 11: ['event', trackEvent], 12: ['interned', interned], 13: ['flags', 'u'], 58: ['clock', 'u'],
	59: ['defaults', { 58: ['clock', 'u'] }], 60: ['track', track], 87: ['first', 'u'],
	126: ['attributes', { 1: ['list', { 1: ['key', 't'], 2: ['long', 's'], 3: ['string', 't'] }, true] }] }

// ---- the file ----

const problems = {}
const problem = (name, why) => (problems[name] ??= []).push(why)

function load(file) {
	let data = readFileSync(file)
	if (data[0] === 0x1f && data[1] === 0x8b) data = gunzipSync(data)
	const t = { events: [], tracks: new Map(), attributes: {}, tables: {}, cleared: 0, base: 0n, primary: 0n }
	let order = 0, clock = 6n
	walk(data, (number, wire, v) => {
		if (number !== 1 || wire !== 2) return problem('packets', `field ${number} of the trace`)
		const p = read(v, packet)
		if (p.unknown) problem('fields', `unknown fields ${p.unknown} in a packet`)
		if (p.event && p.sequence === undefined) problem('sequence', 'an event without a sequence')
		if (p.flags && p.flags & 1n) t.cleared++
		if (p.defaults?.clock) clock = p.defaults.clock
		if (p.clocks) {
			t.clocks = p.clocks
			t.base = p.clocks.clocks.find((c) => c.id === 3n)?.time ?? 0n
		}
		if (p.track) {
			if (t.tracks.has(p.track.uuid)) problem('tracks', `track ${p.track.uuid} is described twice`)
			t.tracks.set(p.track.uuid, p.track)
			if (p.track.parent !== undefined && !t.tracks.has(p.track.parent)) problem('tracks', `parent ${p.track.parent} comes later`)
		}
		for (const a of p.attributes?.list ?? []) t.attributes[a.key] = a.string ?? a.long
		for (const [table, entries] of Object.entries(p.interned ?? {})) {
			const to = (t.tables[table] ??= new Map())
			for (const e of entries) {
				if (!e.iid || to.has(e.iid)) problem('interned', `iid ${e.iid} of ${table} twice, or 0`)
				to.set(e.iid, e)
			}
		}
		if (p.event) t.events.push(resolve(t, p, order++))
	})
	if (clock !== 64n) problem('clock', `the clock of events is ${clock}`)
	return t
}

function lookup(t, table, iid) {
	const e = t.tables[table]?.get(iid)
	if (!e) problem('interned', `iid ${iid} of ${table} is used before it is defined`)
	return e
}
function value(t, a) {
	if (a.values) return a.values.map((v) => value(t, v))
	if (a.entries) return Object.fromEntries(a.entries.map((v) => [v.name ?? lookup(t, 'argNames', v.nameIid)?.text, value(t, v)]))
	if (a.stringIid !== undefined) return lookup(t, 'strings', a.stringIid)?.text
	if (a.bool !== undefined) return a.bool === 1n
	return a.uint ?? a.int ?? a.double ?? a.string ?? a.pointer ?? a.json
}
function resolve(t, p, order) {
	const e = p.event
	const names = (e.categoryIids ?? []).map((i) => lookup(t, 'categories', i)?.text)
	const usesState = e.nameIid || names.length || e.args || e.stack || e.location
	if (usesState && !(p.flags & 2n)) problem('flags', 'an event with iids does not need the state')
	if (e.unknown) problem('fields', `unknown fields ${e.unknown} in an event`)
	const frames = e.stack === undefined ? [] : (lookup(t, 'stacks', e.stack)?.frames ?? []).map((f) => lookup(t, 'frames', f))
	for (const f of frames) {
		if (f.function) lookup(t, 'functions', f.function)
		else if (!f.mapping) problem('frames', 'a frame without function and library')
		if (f.source) lookup(t, 'sources', f.source)
		if (f.mapping) {
			if (f.pc === undefined) problem('frames', 'a mapping without rel_pc')
			const m = lookup(t, 'mappings', f.mapping)
			for (const path of m?.path ?? []) lookup(t, 'paths', path)
			if (m?.buildId) lookup(t, 'buildIds', m.buildId)
		}
	}
	if (e.location) lookup(t, 'locations', e.location)
	return { order, time: p.time, type: Number(e.type), track: e.track, name: e.name ?? (e.nameIid ? lookup(t, 'names', e.nameIid)?.text : undefined),
		category: names[0] ?? e.categories?.[0], args: (e.args ?? []).map((a) => [a.name ?? lookup(t, 'argNames', a.nameIid)?.text, value(t, a)]),
		flows: e.flows ?? [], flowEnds: e.flowEnds ?? [], frames: frames.length, value: e.value ?? e.doubleValue }
}

// Pairs begins and ends as trace_processor does: events by time, those of one time in the order of the file.
function pair(t) {
	const open = new Map(), slices = []
	t.events.sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : a.order - b.order))
	for (const e of t.events) {
		if (!t.tracks.has(e.track)) problem('tracks', `an event is on the unknown track ${e.track}`)
		const stack = open.get(e.track) ?? []
		open.set(e.track, stack)
		if (e.type === 1) {
			stack.push(e)
			slices.push(e)
			e.depth = stack.length
		} else if (e.type === 2) {
			const begin = stack.pop()
			if (!begin) problem('pairs', `an end without a begin on track ${e.track} at ${e.time}`)
			else begin.end = e.time
		}
	}
	return slices
}

const say = (name, why) => console.log(why ? `FAIL ${name}: ${why}` : `ok ${name}`)
function check(name) {
	const list = problems[name] ?? []
	say(name, list.length ? `${list[0]}${list.length > 1 ? `, and ${list.length - 1} more` : ''}` : '')
	return !list.length
}
const count = (list) => list.reduce((m, k) => m.set(k, (m.get(k) ?? 0) + 1), new Map())
function compare(name, wanted, got) {
	const a = count(wanted), b = count(got)
	for (const [k, n] of a) if (b.get(k) !== n) problem(name, `'${k}' is there ${b.get(k) ?? 0} times, not ${n}`)
	for (const k of b.keys()) if (!a.has(k)) problem(name, `'${k}' is too much`)
	if (!a.size && name === 'slices') problem(name, 'there are none')
}

// ---- the same trace as Chrome JSON ----

const ns = (us) => Math.round(us * 1000)
function compareChrome(t, slices, file) {
	const json = JSON.parse(readFileSync(file, 'utf8')), events = json.traceEvents
	const open = (e) => e.args?.open === true
	const line = (cat, name, from, to) => `${cat} ${name} ${from} ${to}`
	compare('slices', events.filter((e) => e.ph === 'X').map((e) => line(e.cat, e.name, ns(e.ts), open(e) ? 'open' : ns(e.ts) + ns(e.dur))),
		slices.map((s) => line(s.category, s.name, s.time, s.end ?? 'open')))
	const instants = t.events.filter((e) => e.type === 3)
	compare('instants', events.filter((e) => e.ph === 'i').map((e) => line(e.cat, e.name, ns(e.ts), '')),
		instants.map((e) => line(e.category, e.name, e.time, '')))
	compare('counters', events.filter((e) => e.ph === 'C').map((e) => `${e.name} ${ns(e.ts)} ${Number(e.args.value)}`),
		t.events.filter((e) => e.type === 4).map((e) => `${t.tracks.get(e.track).name} ${e.time} ${Number(e.value)}`))
	// arrows: name and start of both slices
	const at = new Map()
	for (const e of events) if (e.ph === 'X') at.set(`${e.pid} ${e.tid} ${ns(e.ts)}`, e)
	const end = (e) => at.get(`${e.pid} ${e.tid} ${ns(e.ts)}`) ?? at.get(`${e.pid} ${e.tid} ${ns(e.ts) - 1}`)
	const starts = new Map(events.filter((e) => e.ph === 's').map((e) => [String(e.id), e]))
	const place = (e) => (e ? `${e.name} ${ns(e.ts)}` : '?')
	const from = new Map()
	for (const s of slices) for (const f of s.flows) from.set(f, s)
	compare('arrows', events.filter((e) => e.ph === 'f').map((e) => `${place(end(starts.get(String(e.id))))} -> ${place(end(e))}`),
		slices.flatMap((s) => s.flowEnds.map((f) => `${from.get(f)?.name} ${from.get(f)?.time} -> ${s.name} ${s.time}`)))
	// arguments: every one of Chrome's has the same value; hexadecimal numbers and large ones are texts there, and the bandwidth is rounded
	const plain = (v) => (Array.isArray(v) ? v.map(plain).join() : typeof v === 'string' && /^(0x[0-9a-f]+|-?[0-9]+)$/.test(v) ? String(BigInt(v))
		: typeof v === 'number' && !Number.isInteger(v) ? v.toPrecision(6) : String(v))
	const shown = (args) => Object.entries(args).filter(([k]) => k !== 'created_ts' && k !== 'thread' && k !== 'open'
		&& k !== 'memory bandwidth (GB/s)')
		.map(([k, v]) => `${k}=${plain(v)}`).sort().join(' ')
	compare('arguments', events.filter((e) => e.ph === 'X').map((e) => `${e.name} ${ns(e.ts)} ${shown(e.args ?? {})}`),
		slices.map((s) => `${s.name} ${s.time} ${shown(Object.fromEntries(s.args))}`))
	const sf = events.filter((e) => e.sf).length
	if (sf !== t.events.filter((e) => e.frames).length) problem('stacks', `${t.events.filter((e) => e.frames).length} events have stacks, not ${sf}`)
}

const dump = process.argv[2] === '--dump'
const [file, chrome] = process.argv.slice(dump ? 3 : 2)
const t = load(file), slices = pair(t)
if (dump) {
	const plain = (v) => (Array.isArray(v) ? v.map(plain).join() : String(v))
	for (const s of slices)
		console.log([t.tracks.get(s.track)?.name ?? t.tracks.get(s.track)?.thread?.name ?? '', s.time, (s.end ?? s.time) - s.time, s.category, s.name,
			s.args.map(([k, v]) => `${k}=${plain(v)}`).join(' ')].join('\t'))
	process.exit(0)
}
if (t.cleared !== 1) problem('state', `the state is cleared ${t.cleared} times`)
if (!t.clocks || t.clocks.primary !== 3n) problem('clock', 'the clocks are not related')
if (!t.attributes['gt.tool']?.startsWith('gtexport ')) problem('attributes', 'there is no gt.tool')
const flows = count(slices.flatMap((s) => s.flows)), ends = count(slices.flatMap((s) => s.flowEnds))
for (const [id, n] of flows) if (n !== 1 || (chrome && ends.get(id) !== 1)) problem('flows', `flow ${id} has ${n} begins and ${ends.get(id) ?? 0} ends`)
for (const id of ends.keys()) if (!flows.has(id)) problem('flows', `flow ${id} has no begin`)
let good = true
for (const name of ['packets', 'fields', 'sequence', 'state', 'flags', 'clock', 'tracks', 'interned', 'frames', 'pairs', 'flows', 'attributes'])
	good = check(name) && good
if (chrome) {
	compareChrome(t, slices, chrome)
	for (const name of ['slices', 'instants', 'counters', 'arrows', 'arguments', 'stacks']) good = check(name) && good
}
process.exitCode = good ? 0 : 1
