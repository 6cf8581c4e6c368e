/* Native -> another format -> native: what the other format carries (docs/formats.md) is the same
 * afterwards. Random traces and the recordings in samples/recorded (in the folder that SRC names)
 * go through each format, and the rows that it carries are compared as lines: kind, layer, thread
 * or stream, name, start and duration in ns, result, and of GPU work its launch. Times count from
 * the first compared row. A format that joins is one row of formats[].
 *
 * Names are compared as formats for text have them: bytes that are not UTF-8 are U+FFFD, names of
 * kernels are demangled. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include "formats/base/buf.h"
#include "formats/export/exporters.h"
#include "formats/import/importers.h"
#include "formats/names/demangle.h"
#include "formats/names/kernel_names.h"
#include "formats/text/utf8.h"
#include "tests/unit/formats/random_trace.h"
#include "tests/unit/t.h"

#define ROUNDS 40

enum {
	CALLS = 1,
	RESULTS = 2, /* of calls */
	GPU = 4,
	RANGES = 8,
	MARKS = 16,
	COUNTERS = 32,
	LOSSES = 64,
	/* else calls on the driver's files are other system calls, and only the program's marks are
	 * there */
	LAYERS = 128,
	GPU_COUNTERS = 256, /* else a counter may move from its GPU to a process */
	ALL = 511,
	/* names and times only: calls are spans of tracks with names, and a launch whose kernel is
	 * known contains a span with the kernel's short name */
	SPANS = 512
};
static const struct {
	const char *name;
	unsigned carries;
	uint32_t kinds; /* of rows that are exported: bits; 0: all */
} formats[] = {
	{ "native", ALL, 0 },
	{ "jsonl", ALL, 0 },
	{ "chrome", ALL & ~GPU_COUNTERS, 0 },
	{ "perfetto", ALL, 0 },
	{ "sqlite", CALLS | RESULTS | GPU | RANGES | MARKS, 0 },
	{ "parquet", CALLS | RESULTS | GPU | RANGES | MARKS, 0 },
	/* not ranges and GPU work: the time of those that overlap others is divided */
	{ "speedscope", CALLS | SPANS, GT_BIT(GT_CALL) },
};

/* ---- rows as lines ---- */

struct lines {
	char **line;
	size_t n, cap;
	unsigned carries;
	int64_t base;                  /* start of the first compared row */
	struct gt_kernel_names *names; /* of SPANS */
};

static void put_name(struct gt_buf *to, const char *name, bool kernel)
{
	char *plain = kernel ? gt_demangle(name) : NULL;
	uint32_t ch;

	for (const char *p = plain ? plain : name; *p;) {
		size_t n = gt_utf8_get(p, strlen(p), &ch);

		if (ch == UINT32_MAX)
			gt_buf_str(to, "\xef\xbf\xbd");
		else
			gt_buf_add(to, p, n);
		p += n;
	}
	free(plain);
}

/* "100/101" of a thread, "0/7" of a stream, of a counter "GPU 0 of 100". Others move: of a process
 * or GPU to a track within it, and of a track with a name to a process of its own. */
static void put_track(struct gt_buf *to, const struct gt_segment *seg, uint32_t track, bool counter)
{
	const struct gt_track *t = track == GT_NONE ? NULL : &seg->tracks[track];
	uint32_t up = t ? gt_track_device(seg, track) : GT_NONE;

	if (t && up == track && counter) {
		gt_buf_printf(to, "GPU %" PRId64 " of ", t->id);
		up = gt_track_process(seg, track);
		t = up == GT_NONE ? NULL : &seg->tracks[up];
		gt_buf_printf(to, "%" PRId64, t ? t->id : 0);
		return;
	}
	if (!t || (t->kind != GT_TRACK_THREAD && t->kind != GT_TRACK_STREAM))
		return;
	if (up == GT_NONE)
		up = gt_track_process(seg, track);
	gt_buf_printf(to, "%" PRId64 "/%" PRId64, up == GT_NONE ? 0 : seg->tracks[up].id, t->id);
}

static bool get_role(const struct gt_event *ev, unsigned role, uint64_t *value)
{
	uint32_t i = gt_type_field(&ev->seg->types[ev->row.type], role);

	if (i == GT_NONE || i >= ev->row.nargs)
		return false;
	*value = ev->args[i];
	return true;
}

static void put_launch(struct gt_buf *to, const struct gt_event *ev, int64_t base)
{
	uint64_t join, track, start, ns, name;

	if (!get_role(ev, GT_R_LAUNCH_JOIN, &join) || join == GT_JOIN_UNKNOWN ||
		!get_role(ev, GT_R_LAUNCH_TRACK, &track) ||
		!get_role(ev, GT_R_LAUNCH_START, &start) || !get_role(ev, GT_R_LAUNCH_NS, &ns) ||
		!get_role(ev, GT_R_LAUNCH_NAME, &name))
		return;
	gt_buf_str(to, " <- ");
	put_track(to, ev->seg, (uint32_t)track, false);
	gt_buf_printf(to, " %s %" PRId64 "+%" PRIu64, gt_str(ev->seg, (uint32_t)name),
		(int64_t)start - base, ns);
}

/* Which of the bits above the row is; 0: it is not compared. */
static unsigned what_is(const struct gt_event *ev)
{
	const struct gt_type *type;

	if (ev->kind == GT_LOST)
		return LOSSES;
	type = &ev->seg->types[ev->row.type];
	switch (ev->kind) {
	case GT_CALL: return CALLS;
	case GT_GPU: return GPU;
	case GT_SPAN:
		return type->layer == GT_LAYER_USER       ? RANGES
			: type->layer == GT_LAYER_RUNTIME ? CALLS
							  : 0;
	case GT_INSTANT: return type->op == GT_OP_NONE ? MARKS : 0;
	case GT_COUNTER: return COUNTERS;
	default: return 0;
	}
}

static bool is_carried_mark(const struct gt_event *ev, unsigned carries)
{
	return carries & LAYERS || ev->seg->types[ev->row.type].layer == GT_LAYER_USER;
}

static void put_line(struct lines *l, struct gt_buf *text)
{
	gt_buf_byte(text, 0);
	if (l->n == l->cap) {
		l->cap = l->cap ? 2 * l->cap : 1024;
		l->line = realloc(l->line, l->cap * sizeof(*l->line));
	}
	l->line[l->n++] = (char *)text->data;
}

static void put_span(struct lines *l, const struct gt_event *ev, const char *name)
{
	struct gt_buf text = { 0 };

	gt_buf_byte(&text, '\'');
	put_name(&text, name, false);
	gt_buf_printf(&text, "' %" PRId64 "+%" PRId64, ev->row.start - l->base,
		ev->row.end - ev->row.start);
	put_line(l, &text);
}

/* With a span for the kernel of a launch. */
static void add_spans(struct lines *l, const struct gt_event *ev)
{
	uint64_t kernel;

	put_span(l, ev, gt_type_name(ev->seg, ev->row.type));
	if (get_role(ev, GT_R_KERNEL, &kernel))
		put_span(l, ev, gt_kernel_names_shown(l->names, gt_str(ev->seg, (uint32_t)kernel)));
}

static void add_line(struct lines *l, const struct gt_event *ev)
{
	const struct gt_type *type = ev->kind == GT_LOST ? NULL : &ev->seg->types[ev->row.type];
	struct gt_buf text = { 0 };
	double value;

	/* a call of the CUDA runtime is a span, because driver calls may overlap it */
	if (what_is(ev) == CALLS)
		gt_buf_printf(&text, "%s call ",
			l->carries & LAYERS || type->layer != GT_LAYER_IOCTL
				? gt_layer_word(type->layer)
				: gt_layer_word(GT_LAYER_SYSCALL));
	else
		gt_buf_printf(&text, "%s ", gt_kind_word(ev->kind));
	if (ev->kind != GT_INSTANT) /* that of a track with a name moves to a thread */
		put_track(&text, ev->seg, ev->track,
			ev->kind == GT_COUNTER && l->carries & GPU_COUNTERS);
	gt_buf_str(&text, " '");
	put_name(&text, ev->kind == GT_LOST ? "" : gt_type_name(ev->seg, ev->row.type),
		ev->kind == GT_GPU);
	gt_buf_printf(&text, "' %" PRId64 "+%" PRId64, ev->row.start - l->base,
		ev->row.end - ev->row.start);
	if (what_is(ev) == CALLS && l->carries & RESULTS)
		gt_buf_printf(&text, " = %d", ev->row.ret);
	if (ev->kind == GT_GPU)
		put_launch(&text, ev, l->base);
	if (ev->kind == GT_COUNTER && ev->row.nargs) {
		memcpy(&value, ev->args, sizeof(value));
		gt_buf_printf(&text, " %.17g",
			type->fields[0].kind == GT_F_F64 ? value : (double)ev->args[0]);
	}
	if (ev->kind == GT_LOST)
		gt_buf_printf(&text, " of %" PRIu64, ev->args[0]);
	put_line(l, &text);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The rows of these kinds (bits; 0: all) that are compared, sorted. */
static struct lines list(struct gt_reader *r, unsigned carries, uint32_t kinds)
{
	struct lines l = { .carries = carries,
		.base = INT64_MIN,
		.names = carries & SPANS ? gt_kernel_names_of(r, GT_NAME_SHORT) : NULL };
	struct gt_err err = GT_ERR_INIT;
	struct gt_iter *it =
		gt_iter_open(r, &(struct gt_filter){ .args = true, .kinds = kinds }, &err);
	struct gt_event ev;

	while (it && gt_iter_next(it, &ev, &err) > 0) {
		if (!(what_is(&ev) & carries) ||
			(what_is(&ev) == MARKS && !is_carried_mark(&ev, carries)))
			continue;
		if (l.base == INT64_MIN)
			l.base = ev.row.start;
		if (carries & SPANS)
			add_spans(&l, &ev);
		else
			add_line(&l, &ev);
	}
	gt_iter_close(it);
	gt_kernel_names_free(l.names);
	qsort(l.line, l.n, sizeof(*l.line), by_text);
	return l;
}

static void release(struct lines *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->line[i]);
	free(l->line);
}

/* The first difference, printed; false: there is none. */
static bool differ(const struct lines *a, const struct lines *b, const char *what)
{
	size_t i = 0, k = 0;
	int order = 0;

	while (!order && (i < a->n || k < b->n)) {
		order = i == a->n ? 1 : k == b->n ? -1 : strcmp(a->line[i], b->line[k]);
		i += order == 0;
		k += order == 0;
	}
	if (order)
		printf("# %s: %zu rows become %zu; %s: %s\n", what, a->n, b->n,
			order < 0 ? "missing" : "added", order < 0 ? a->line[i] : b->line[k]);
	return order != 0;
}

/* ---- round trips ---- */

static const struct gt_exporter *exporter(const char *name)
{
	for (const struct gt_exporter *const *x = gt_exporters; *x; x++)
		if (!strcmp((*x)->name, name))
			return *x;
	return NULL;
}

/* path: in the folder of this test; a format has its own, which may be a folder. */
static int write_file(struct gt_reader *r, const struct gt_exporter *x, uint32_t kinds,
	const char *path, struct gt_err *err)
{
	const struct gt_export_options options = { .filter.kinds = kinds };
	struct gt_out out;
	int e;

	if (x->export_to)
		return x->export_to(r, &options, path, true, err);
	e = gt_out_open_fd(&out, open(path, O_CREAT | O_TRUNC | O_RDWR, 0600), path, err);
	e = e ? e : x->export(r, &options, &out, err);
	return gt_out_close(&out, e ? NULL : err) || e;
}

/* Is the trace the same after the round trip? what: for the message. */
static bool survives(struct gt_reader *r, unsigned format, const char *what)
{
	struct gt_err err = GT_ERR_INIT;
	const char *name = formats[format].name;
	unsigned carries = formats[format].carries;
	struct lines before = list(r, carries, formats[format].kinds), after = { 0 };
	struct gt_reader *again = NULL;
	char text[200], path[40];
	bool same = false;

	snprintf(text, sizeof(text), "%s of %s", name, what);
	snprintf(path, sizeof(path), "round-trip.%s", name);
	if (!write_file(r, exporter(name), formats[format].kinds, path, &err))
		again = gt_open_any(path, &err);
	if (!again)
		printf("# %s: %s\n", text, err.text);
	else
		after = list(again, carries & SPANS ? carries | RANGES : carries, 0);
	same = again && before.n && !differ(&before, &after, text);
	gt_reader_close(again);
	release(&before);
	release(&after);
	return same;
}

static void random_traces_survive(void)
{
	for (unsigned seed = 1; seed <= T_INPUTS(ROUNDS); seed++) {
		struct gt_reader *r = random_trace(seed);
		char what[40];

		CHECK(r);
		snprintf(what, sizeof(what), "the random trace %u", seed);
		for (size_t f = 0; f < sizeof(formats) / sizeof(*formats); f++)
			CHECK(survives(r, (unsigned)f, what));
		gt_reader_close(r);
	}
}

/* Does the file survive all formats? */
static bool file_survives(const char *name)
{
	struct gt_err err = GT_ERR_INIT;
	struct gt_reader *r = gt_open_any(name, &err);
	const char *last = strrchr(name, '/');
	bool same = r;

	if (!r)
		printf("# %s: %s\n", name, err.text);
	for (size_t f = 0; r && f < sizeof(formats) / sizeof(*formats); f++)
		same &= survives(r, (unsigned)f, last ? last + 1 : name);
	gt_reader_close(r);
	return same;
}

/* The smaller ones; a sanitized test has only the first two. */
static void recordings_survive(void)
{
	static const char *const files[] = { "h200-nvtx.zst", "strace-many-threads.txt.gz",
		"h200-graphs.zst", "h200-streams.zst", "kineto-h200-mlp.json.gz" };
	char name[4096];

	if (!getenv("SRC"))
		SKIP("no SRC");
	for (size_t i = 0; i < (T_SANITIZED ? 2 : sizeof(files) / sizeof(*files)); i++) {
		snprintf(name, sizeof(name), "%s/samples/recorded/%s", getenv("SRC"), files[i]);
		CHECK(file_survives(name));
	}
}

/* test_round_trips FILE...: these instead. */
int main(int argc, char **argv)
{
	static const struct t_case cases[] = { T(random_traces_survive), T(recordings_survive) };
	bool same = true;

	for (int i = 1; i < argc; i++)
		same &= file_survives(argv[i]);
	return argc > 1 ? !same : t_main(__FILE__, cases, sizeof(cases) / sizeof(*cases));
}
