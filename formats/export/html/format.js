/* Numbers and colours as people read them. */

/* A duration: three significant decimals. */
function formatNs(ns) {
	const a = Math.abs(ns);

	if (a < 1000) return trimmed(ns, 0) + " ns";
	if (a < 1e6) return trimmed(ns / 1e3, 3) + " \u00b5s";
	if (a < 1e9) return trimmed(ns / 1e6, 3) + " ms";
	return trimmed(ns / 1e9, 3) + " s";
}

function trimmed(v, digits) {
	return v.toFixed(digits);
}

/* A moment: seconds with as many decimals as `step` (ns) needs. */
function formatTime(ns, step = 1) {
	const digits = Math.max(0, Math.min(9, 9 - Math.floor(Math.log10(Math.max(1, step)) + 1e-9)));

	return (ns / 1e9).toFixed(digits) + " s";
}

/* A moment on the axis: relative to a coarser moment if there would be too many digits. */
function formatTick(ns, step) {
	if (step >= 1e9) return (ns / 1e9).toFixed(0) + " s";
	if (step >= 1e6)
		return ns >= 1e9
			? (ns / 1e9).toFixed(step >= 1e8 ? 1 : step >= 1e7 ? 2 : 3) + " s"
			: (ns / 1e6).toFixed(0) + " ms";
	return formatTime(ns, step);
}

function formatBytes(b) {
	const units = ["B", "KiB", "MiB", "GiB", "TiB"];
	let u = 0;

	while (Math.abs(b) >= 1024 && u < units.length - 1) {
		b /= 1024;
		u++;
	}
	return (u ? b.toFixed(2) : String(b)) + " " + units[u];
}

function formatCount(n) {
	return Number(n).toLocaleString("en-US").replace(/,/g, "\u2009");
}

function formatNumber(v) {
	if (!isFinite(v)) return String(v);
	if (Number.isInteger(v)) return formatCount(v);
	return Math.abs(v) >= 1000 ? v.toFixed(1) : v.toPrecision(5);
}

function realOfBits(v) {
	const view = new DataView(new ArrayBuffer(8));

	view.setBigUint64(0, v);
	return view.getFloat64(0);
}

/* The colours of gtview (viewer/term/palette.c). */
const COLOURS = {
	communication: "#d75f00",
	kernel: "#005fff",
	copy: "#00875f",
	sync: "#d75fd7",
	launch: "#5f87d7",
	graph: "#5f5fff",
	memory: "#878700",
	user: "#5f8700",
	ioctl: "#af5f5f",
	scheduler: "#87875f",
	lock: "#d75f87",
	gil: "#af00af",
	io: "#008787",
	sleep: "#767676",
	fault: "#d70087",
	wait: "#5f875f",
	runnable: "#af5f00",
	file: "#5f8787",
	stream: "#8787af",
	interop: "#875faf",
	module: "#875f5f",
	context: "#875f87",
	init: "#6c6c6c",
	query: "#808080",
	other: "#767676",
	lost: "#d7005f",
};

function rgbOf(colour) {
	const v = parseInt(colour.slice(1), 16);

	return [v >> 16, (v >> 8) & 255, v & 255];
}

function hashOf(text) {
	let h = 2166136261;

	for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 16777619);
	return (h ^ (h >>> 15)) >>> 0;
}

/* The colour of a type: that of its category, a little lighter or darker by its name, so that neighbours differ. */
function shadeOf(type, dark) {
	const base = rgbOf(COLOURS[type.category] || COLOURS.other),
		h = hashOf(type.name);
	const light = ((h & 255) / 255 - 0.5) * 0.3 + (dark ? 0.08 : 0.04),
		turn = (((h >> 8) & 255) / 255 - 0.5) * 26;

	return base.map((c, i) => {
		const v = light >= 0 ? c + (255 - c) * light : c * (1 + light);

		return Math.max(
			0,
			Math.min(255, Math.round(v + (i === 0 ? turn : i === 1 ? turn / 2 : -turn / 3)))
		);
	});
}

function isLight(rgb) {
	return rgb[0] * 0.299 + rgb[1] * 0.587 + rgb[2] * 0.114 > 150;
}

/* An element with attributes and children; text is never read as HTML. */
function make(tag, attributes = {}, ...children) {
	const e = document.createElement(tag);

	for (const [name, value] of Object.entries(attributes)) {
		if (name.startsWith("on")) e.addEventListener(name.slice(2), value);
		else if (value === true) e.setAttribute(name, "");
		else if (value !== false && value !== null && value !== undefined)
			e.setAttribute(name, value);
	}
	e.append(...children.filter(c => c !== null && c !== undefined));
	return e;
}

function byId(id) {
	return document.getElementById(id);
}

/* Text of a recording with control characters made visible. */
function printable(text) {
	return String(text).replace(
		/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
		c => "\\x" + c.charCodeAt(0).toString(16).padStart(2, "0")
	);
}
