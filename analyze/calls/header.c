/* The header of every report: the recorded data and its reliability. Counts are of the whole file,
 * whatever the options leave out. Only lost rows are those of the selected range, but for steady
 * steps: with them, they are those of the run. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyze/calls/metadata_notes.h"
#include "analyze/columns/column_cursor.h"
#include "analyze/ranks/ranks.h"
#include "analyze/core/report.h"
#include "formats/base/buf.h"
#include "formats/base/numbers.h"
#include "formats/trace/meta.h"

#define STREAMS_MAX 8  /* streams with losses that have a note of their own */
#define HALVES_NAMED 4 /* names that a note on unmatched begins and ends gives */
struct losses {
	uint64_t rows, count, unknown;
	/* A GPU stream whose records were lost. */
	struct lost_stream {
		uint32_t track;
		uint64_t count;
		int64_t from;
	} streams[STREAMS_MAX];
	uint32_t nstreams; /* may exceed the number of stored streams */
	/* Begins without an end, and ends without a begin. */
	struct unmatched {
		uint64_t begins, ends;
	} * half; /* by type; NULL: none */
};
struct header {
	struct gt_report_state report;
	struct losses *losses; /* per segment */
	uint32_t nsegs;
	char *command, *machine; /* as last printed; NULL: not printed yet */
};

static int header_init(
	void *state, struct gt_reader *r, const struct gt_analysis_options *opt, struct gt_err *err)
{
	struct header *h = state;

	h->report = (struct gt_report_state){ r, opt };
	h->nsegs = gt_reader_segments(r);
	h->losses = calloc(h->nsegs + 1ul, sizeof(*h->losses));
	return h->losses ? 0 : gt_err_set(err, -ENOMEM, "out of memory (header)");
}

static void add_stream(struct losses *l, uint32_t track, uint64_t count, int64_t from)
{
	uint32_t i = 0, stored = l->nstreams < STREAMS_MAX ? l->nstreams : STREAMS_MAX;

	while (i < stored && l->streams[i].track != track)
		i++;
	if (i == stored) {
		if (l->nstreams++ >= STREAMS_MAX)
			return;
		l->streams[i] = (struct lost_stream){ track, 0, from };
	}
	l->streams[i].count = gt_sat_add(l->streams[i].count, count);
	l->streams[i].from = from < l->streams[i].from ? from : l->streams[i].from;
}

static struct unmatched *unmatched_of(
	struct losses *l, const struct gt_segment *seg, struct gt_err *err)
{
	if (!l->half && !(l->half = calloc(seg->ntypes + 1ul, sizeof(*l->half))))
		gt_err_set(err, -ENOMEM, "out of memory (header)");
	return l->half;
}

static int count_unmatched(struct losses *l, const struct gt_cols *cols, struct gt_err *err)
{
	struct unmatched *half = unmatched_of(l, cols->seg, err);

	for (uint32_t i = 0; half && i < cols->n; i++) {
		uint32_t type = cols->types[cols->code ? cols->code[i] : 0];

		if (type < cols->seg->ntypes)
			(*(gt_cols_ret(cols, i) ? &half[type].ends : &half[type].begins))++;
	}
	return half ? 0 : err->code;
}

static int header_block(void *state, const struct gt_cols *cols, struct gt_err *err)
{
	struct losses *l = &((struct header *)state)->losses[cols->seg->index];

	if (cols->kind == GT_UNMATCHED)
		return count_unmatched(l, cols, err);
	l->rows += cols->n;
	for (uint32_t c = 0; c < cols->ntypes; c++) {
		uint32_t n = 0;
		const uint64_t *counts = gt_cols_args(cols, c, 0, &n);

		for (uint32_t i = 0; counts && i < n; i++) {
			if (counts[i] == GT_LOST_UNKNOWN)
				l->unknown++;
			else
				l->count = gt_sat_add(l->count, counts[i]);
			if (counts[i] != GT_LOST_UNKNOWN && cols->track < cols->seg->ntracks &&
				cols->seg->tracks[cols->track].kind == GT_TRACK_STREAM)
				add_stream(l, cols->track, counts[i], cols->start[i]);
		}
	}
	return 0;
}

static int merge_unmatched(
	struct losses *a, const struct losses *b, const struct gt_segment *seg, struct gt_err *err)
{
	struct unmatched *half = b->half ? unmatched_of(a, seg, err) : NULL;

	if (b->half && !half)
		return err->code;
	for (uint32_t t = 0; half && t < seg->ntypes; t++) {
		half[t].begins += b->half[t].begins;
		half[t].ends += b->half[t].ends;
	}
	return 0;
}

static int header_merge(void *into, void *from, struct gt_err *err)
{
	struct header *a = into, *b = from;

	for (uint32_t i = 0; i < a->nsegs; i++) {
		if (merge_unmatched(&a->losses[i], &b->losses[i],
			    gt_reader_segment(a->report.reader, i), err))
			return err->code;
		a->losses[i].rows += b->losses[i].rows;
		a->losses[i].unknown += b->losses[i].unknown;
		a->losses[i].count = gt_sat_add(a->losses[i].count, b->losses[i].count);
		for (uint32_t k = 0; k < b->losses[i].nstreams && k < STREAMS_MAX; k++)
			add_stream(&a->losses[i], b->losses[i].streams[k].track,
				b->losses[i].streams[k].count, b->losses[i].streams[k].from);
	}
	return 0;
}

static const struct gt_column columns[] = {
	{ "file", "File", GT_C_TEXT },
	{ "recording", "Recording", GT_C_COUNT },
	{ "host", "Host", GT_C_TEXT },
	{ "command", "Command", GT_C_TEXT },
	{ "start_utc", "Started", GT_C_TEXT },
	{ "gpu", "GPU", GT_C_TEXT },
	{ "driver", "Driver", GT_C_TEXT },
	{ "cuda", "CUDA", GT_C_TEXT },
	{ "events", "Events", GT_C_TEXT },
	{ "args", "Arguments", GT_C_TEXT },
	{ "simulated", "Simulated GPU", GT_C_TEXT },
	{ "layers", "Layers recorded", GT_C_TEXT },
	{ "sources", "Recorded by", GT_C_TEXT },
	{ "span_ns", "First to last row", GT_C_NS },
	{ "recorded_ns", "Recorded for", GT_C_NS },
	{ "processes", "Processes", GT_C_COUNT },
	{ "threads", "Threads", GT_C_COUNT },
	{ "calls", "Finished calls", GT_C_COUNT },
	{ "open", "Still open", GT_C_COUNT },
	{ "spans", "Spans", GT_C_COUNT },
	{ "gpu_operations", "GPU operations", GT_C_COUNT },
	{ "instants", "Instants", GT_C_COUNT },
	{ "counters", "Counter values", GT_C_COUNT },
	{ "unmatched", "Unmatched begins and ends", GT_C_COUNT },
	{ "lost", "Lost events", GT_C_COUNT },
	{ "lost_unknown", "Losses of unknown size", GT_C_COUNT },
	{ "closed", "State", GT_C_TEXT },
	{ "complete_to_ns", "Complete up to", GT_C_TIME },
	{ "unread_bytes", "Unread at the end", GT_C_BYTES },
	{ "damaged_blocks", "Damaged blocks", GT_C_COUNT },
	{ "damaged_rows", "Rows in them", GT_C_COUNT },
	{ "quantile_error_percent", NULL, GT_C_PERCENT },
	/* the same as texts above, with their types */
	{ "is_simulated", NULL, GT_C_DATA },
	{ "is_closed", NULL, GT_C_DATA },
	{ "event_list", NULL, GT_C_DATA },
	{ "layer_list", NULL, GT_C_DATA },
	{ "source_list", NULL, GT_C_DATA },
};
#define NCOLUMNS (sizeof(columns) / sizeof(*columns))

/* The layers of a segment as text: "api ioctl". */
static void put_layers(struct gt_buf *b, const struct gt_segment *seg)
{
	for (unsigned l = 0; l < GT_LAYER_COUNT; l++)
		if (gt_is_recorded_in(seg, l))
			gt_buf_printf(b, "%s%s", b->len ? " " : "", gt_layer_word(l));
	gt_buf_byte(b, 0);
}

/* The sources of its tracks, each once. */
static void put_sources(struct gt_buf *b, const struct gt_segment *seg)
{
	uint32_t seen[16], n = 0;

	for (uint32_t t = 0; t < seg->ntracks; t++) {
		uint32_t k = 0;

		while (k < n && seen[k] != seg->tracks[t].source)
			k++;
		if (k < n || n == 16 || seg->tracks[t].source == GT_NONE)
			continue;
		seen[n++] = seg->tracks[t].source;
		gt_buf_printf(b, "%s%s", b->len ? ", " : "", gt_str(seg, seg->tracks[t].source));
	}
	gt_buf_byte(b, 0);
}

static const struct gt_duplicate_counts *duplicates_of(
	const struct header *h, const struct gt_segment *seg)
{
	return gt_source_dedup_counts(h->report.opt->source_dedup, seg->index);
}

/* The number of processes or threads. A process that two sources recorded has two tracks, and
 * counts once. */
static uint64_t count_tracks(const struct header *h, const struct gt_segment *seg, unsigned kind)
{
	const struct gt_duplicate_counts *d = duplicates_of(h, seg);
	uint64_t n = 0;

	for (uint32_t t = 0; t < seg->ntracks; t++)
		n += seg->tracks[t].kind == kind;
	return n - (kind == GT_TRACK_THREAD ? d->threads : d->processes);
}

/* Rows of a kind, without duplicates. */
static uint64_t rows_of(const struct header *h, const struct gt_segment *seg, unsigned kind)
{
	uint64_t all = seg->rows[kind], twice = duplicates_of(h, seg)->rows[kind];

	return all > twice ? all - twice : 0;
}

static struct losses damage_of(struct gt_reader *r, uint32_t segment)
{
	struct losses sum = { 0 };
	size_t n;
	const struct gt_damage *d = gt_reader_damage(r, &n);

	for (size_t i = 0; i < n; i++)
		if (d[i].segment == segment) {
			sum.count++;
			sum.rows += d[i].rows;
		}
	return sum;
}

/* A note on one recording. */
#define note_unreliable(h, t, seg, fmt, ...)                                                       \
	gt_table_note(t, "%s" fmt, gt_recording_prefix(&(h)->report, seg).text, ##__VA_ARGS__)

static const char *file_of(const struct header *h, const struct gt_segment *seg)
{
	return h->report.opt->ranks ? h->report.opt->ranks[seg->index].file : h->report.opt->file;
}

/* The metadata that the header shows, with the recorder's keys. */
enum { COMMAND, START, DRIVER, CUDA, EVENTS, ARGS, TOOL, DURATION, DELAY, LIMIT, RANGE, NKNOWN };
static const char *const known[NKNOWN] = {
	[COMMAND] = "command",
	[START] = "start_utc",
	[DRIVER] = "driver_version",
	[CUDA] = "cuda_version",
	[EVENTS] = "events",
	[ARGS] = "args",
	[TOOL] = "tool",
	[DURATION] = "duration_ns",
	[DELAY] = "delay_ns",
	[LIMIT] = "duration_limit_ns",
	[RANGE] = "range",
};
/* GPU models of the machine, each with its number. */
#define MODELS 8u
struct models {
	struct {
		char name[64];
		unsigned n;
	} list[MODELS];
	unsigned n;
};
struct known {
	struct gt_metadata_notes notes;
	char *values[NKNOWN];
	struct models models;
	char gpus[MODELS * 72]; /* "2 x NVIDIA H200" */
};

/* Adds the GPU if the key is that of its model: "gpus.3.model". */
static void add_model(struct models *m, const char *key, const char *name)
{
	size_t number = strncmp(key, "gpus.", 5) ? 0 : strspn(key + 5, "0123456789");
	unsigned i = 0;

	if (!number || strcmp(key + 5 + number, ".model") != 0)
		return;
	while (i < m->n && strncmp(m->list[i].name, name, sizeof(m->list[i].name) - 1) != 0)
		i++;
	if (i == MODELS)
		return;
	if (i == m->n)
		snprintf(m->list[m->n++].name, sizeof(m->list[i].name), "%.63s", name);
	m->list[i].n++;
}

static void put_models(const struct models *m, char *to, size_t size)
{
	size_t n = 0;

	*to = 0;
	for (unsigned i = 0; i < m->n && n < size; i++) {
		n += (size_t)snprintf(to + n, size - n, "%s", i ? ", " : "");
		if (m->list[i].n > 1 && n < size)
			n += (size_t)snprintf(to + n, size - n, "%u x ", m->list[i].n);
		if (n < size)
			n += (size_t)snprintf(to + n, size - n, "%s", m->list[i].name);
	}
}

static int note_known(void *arg, const char *key, const char *value)
{
	struct known *k = arg;

	for (size_t i = 0; *value && i < NKNOWN; i++)
		if (!strcmp(key, known[i]) && !k->values[i] && !(k->values[i] = strdup(value)))
			return -ENOMEM;
	if (*value)
		add_model(&k->models, key, value);
	gt_metadata_notes_add(&k->notes, key, value);
	return 0;
}

static struct gt_cell text_or_none(const char *s)
{
	return s && *s ? gt_cell_text(s) : gt_cell_none();
}

/* The third line: the machine, and how the program was traced. */
static void put_machine(struct gt_buf *b, const struct gt_segment *seg, const struct known *k,
	const char *layers, const char *sources, bool all)
{
	char *const *v = k->values;

#define ITEM(sep, word, value)                                                                     \
	do {                                                                                       \
		if ((value) && *(value))                                                           \
			gt_buf_printf(b, "%s%s%s", b->len ? sep : "", word, (value));              \
	} while (0)
	ITEM("", "", seg->simulated ? "SIMULATED GPU" : k->gpus);
	ITEM(", ", "driver ", v[DRIVER]);
	ITEM(", ", "CUDA ", v[CUDA]);
	ITEM("; ", "host ", seg->host);
	ITEM("; ", "", v[START]);
	ITEM("; ", "",
		*sources              ? sources
			: seg->closed ? "nothing was recorded"
				      : "nothing can be read yet");
	ITEM(": ", "", layers);
	ITEM(", ", "args ", v[ARGS]);
	ITEM("; ", "", all ? "no losses" : "");
#undef ITEM
	gt_buf_byte(b, 0);
}

/* A foreign file does not say what its tool lost; nor is a part of a recording, or a damaged
 * one, known to be complete. */
static bool lossless(const struct header *h, const struct gt_segment *seg, const struct known *k)
{
	const struct gt_analysis_options *opt = h->report.opt;
	bool chosen = opt->filter.ranged && !opt->only_steady;

	return k->values[TOOL] && seg->closed && !k->notes.part && !k->notes.gpu_missing &&
		!seg->rows[GT_LOST] && !chosen && !damage_of(h->report.reader, seg->index).count;
}

/* -1: not a number. */
static int64_t number(const char *text)
{
	char *end;
	long long n = text ? strtoll(text, &end, 10) : -1;

	return n >= 0 && !*end ? n : -1;
}

/* ns: how long the recorder recorded of the run, after --delay and --duration. -1: unknown. */
static int64_t recorded_ns(const struct known *k)
{
	int64_t ns = number(k->values[DURATION]), delay = number(k->values[DELAY]),
		limit = number(k->values[LIMIT]);

	if (ns < 0 || k->notes.part || k->values[RANGE])
		return -1;
	if (delay > 0)
		ns = ns > delay ? ns - delay : 0;
	return limit > 0 && limit < ns ? limit : ns;
}

static uint64_t span_of(const struct gt_segment *seg)
{
	return seg->max_end > seg->min_start ? (uint64_t)seg->max_end - (uint64_t)seg->min_start
					     : 0;
}

static bool has_rows(const struct gt_segment *seg)
{
	for (unsigned k = 0; k < GT_KINDS; k++)
		if (seg->rows[k])
			return true;
	return false;
}

/* "train.zst: python3 train.py", then "234971 calls and ioctls in 1 process, 2 threads, over 4.655
 * s of 6.806 s". A rank has one line. */
static void put_size(struct gt_table *t, const struct header *h, const struct gt_segment *seg,
	const struct known *k)
{
	uint64_t processes = count_tracks(h, seg, GT_TRACK_PROCESS),
		 threads = count_tracks(h, seg, GT_TRACK_THREAD);
	uint64_t calls = rows_of(h, seg, GT_CALL);
	int64_t span = gt_clamp(span_of(seg)), all = recorded_ns(k);
	bool ioctls = calls && gt_is_recorded_in(seg, GT_LAYER_IOCTL);
	const char *file = h->report.opt->ranks ? h->report.opt->ranks[seg->index].called
						: h->report.opt->file;
	char of[48] = "", open[48] = "", began[64] = "";

	if (h->report.opt->ranks && k->values[START])
		snprintf(began, sizeof(began), "; %.60s", k->values[START]);
	if (all > 0 && (double)all > (double)span * 1.01)
		snprintf(of, sizeof(of), " of %s", gt_scaled(GT_C_NS, all).text);
	if (rows_of(h, seg, GT_OPEN))
		snprintf(open, sizeof(open), " and %" PRIu64 " still open",
			rows_of(h, seg, GT_OPEN));
	gt_table_set_tone(t, GT_TONE_HEADING);
	if (has_rows(seg) && !h->report.opt->ranks && k->values[COMMAND]) {
		gt_table_add_line(t, "%s: %s", file, k->values[COMMAND]);
		gt_table_set_tone(t, GT_TONE_NONE);
		file = NULL;
	}
	if (has_rows(seg))
		gt_table_add_line(t,
			"%s%s%" PRIu64 " call%s%s%s in %" PRIu64 " process%s, %" PRIu64
			" thread%s, over %s%s%s",
			file ? file : "", file ? ": " : "  ", calls, gt_plural(calls, "s"),
			ioctls ? " and ioctls" : "", open, processes, gt_plural(processes, "es"),
			threads, gt_plural(threads, "s"), gt_scaled(GT_C_NS, span).text, of, began);
	else if (all > 0)
		gt_table_add_line(
			t, "%s: an EMPTY recording of %s", file, gt_scaled(GT_C_NS, all).text);
	else
		gt_table_add_line(t, "%s: an EMPTY recording", file);
}

/* Text shows the header as a few lines, without empty figures. Ranks are mostly alike: a line
 * equal to that of the rank before is left out, but for the start time. */
static void put_header_lines(struct gt_table *t, struct header *h, const struct gt_segment *seg,
	struct known *k, const char *layers, const char *sources)
{
	const char *command = k->values[COMMAND] ? k->values[COMMAND] : "",
		   *began = k->values[START];
	struct gt_buf b = { 0 };
	char *machine;

	if (h->report.opt->ranks)
		k->values[START] = NULL;
	put_machine(&b, seg, k, layers, sources, lossless(h, seg, k));
	k->values[START] = (char *)began;
	machine = strdup(b.failed ? "" : (char *)b.data);
	gt_buf_release(&b);
	put_size(t, h, seg, k);
	gt_table_set_tone(t, GT_TONE_NONE);
	if (*command && h->report.opt->ranks && !(h->command && !strcmp(h->command, command)))
		gt_table_add_line(t, "  %s", command);
	if (!(h->report.opt->ranks && h->machine && machine && !strcmp(h->machine, machine)))
		gt_table_add_line(t, "  %s", machine ? machine : "");
	free(h->command);
	free(h->machine);
	h->command = strdup(command);
	h->machine = machine;
}

/* Lists of texts, for programs. */
struct lists {
	struct gt_out events, layers, sources;
};

static void make_lists(struct lists *l, const char *events, const char *layers, const char *sources)
{
	gt_out_memory(&l->events);
	gt_out_memory(&l->layers);
	gt_out_memory(&l->sources);
	gt_put_list(&l->events, events ? events : "", ",");
	gt_put_list(&l->layers, layers ? layers : "", " ");
	gt_put_list(&l->sources, sources ? sources : "", ", ");
}

static int free_lists(struct lists *l)
{
	int events = gt_out_close(&l->events, NULL), layers = gt_out_close(&l->layers, NULL),
	    sources = gt_out_close(&l->sources, NULL);

	return events ? events : layers ? layers : sources;
}

static int add_segment(
	struct header *h, struct gt_table *t, const struct gt_segment *seg, bool in_text)
{
	const struct losses *l = &h->losses[seg->index];
	struct losses damage = damage_of(h->report.reader, seg->index);
	struct gt_buf layers = { 0 }, sources = { 0 };
	struct lists lists;
	int64_t complete = gt_time_since_origin(
		&h->report, seg, seg->closed ? seg->max_end : seg->complete_to);
	struct known k = { .notes = { .report = &h->report, .seg = seg, .t = t } };
	int rc = gt_meta_each(seg, note_known, &k);

	put_models(&k.models, k.gpus, sizeof(k.gpus));
	put_layers(&layers, seg);
	put_sources(&sources, seg);
	make_lists(&lists, k.values[EVENTS], (char *)layers.data, (char *)sources.data);
	gt_table_add(t,
		(struct gt_cell[]){ gt_cell_text(file_of(h, seg)), gt_cell_u(seg->index),
			text_or_none(seg->host), text_or_none(k.values[COMMAND]),
			text_or_none(k.values[START]), text_or_none(k.gpus),
			text_or_none(k.values[DRIVER]), text_or_none(k.values[CUDA]),
			text_or_none(k.values[EVENTS]), text_or_none(k.values[ARGS]),
			text_or_none(seg->simulated      ? "yes"
					: k.values[TOOL] ? "no"
							 : NULL),
			text_or_none((char *)layers.data), text_or_none((char *)sources.data),
			gt_cell_u(span_of(seg)),
			gt_cell_known(recorded_ns(&k) >= 0, (uint64_t)recorded_ns(&k)),
			gt_cell_u(count_tracks(h, seg, GT_TRACK_PROCESS)),
			gt_cell_u(count_tracks(h, seg, GT_TRACK_THREAD)),
			gt_cell_u(rows_of(h, seg, GT_CALL)), gt_cell_u(rows_of(h, seg, GT_OPEN)),
			gt_cell_u(rows_of(h, seg, GT_SPAN)), gt_cell_u(rows_of(h, seg, GT_GPU)),
			gt_cell_u(rows_of(h, seg, GT_INSTANT)),
			gt_cell_u(rows_of(h, seg, GT_COUNTER)), gt_cell_u(seg->rows[GT_UNMATCHED]),
			gt_cell_u(l->count), gt_cell_u(l->unknown),
			gt_cell_text(seg->closed ? "closed" : "not closed"), gt_cell_i(complete),
			gt_cell_u(seg->closed ? 0 : seg->unread_bytes), gt_cell_u(damage.count),
			gt_cell_u(damage.rows), gt_cell_i(100),
			seg->simulated || k.values[TOOL] ? gt_cell_bool(seg->simulated)
							 : gt_cell_none(),
			gt_cell_bool(seg->closed),
			k.values[EVENTS] ? gt_cell_text(lists.events.data) : gt_cell_none(),
			gt_cell_text(lists.layers.data), gt_cell_text(lists.sources.data) });
	rc = free_lists(&lists) ? -ENOMEM : rc;
	if (!has_rows(seg) && seg->closed && k.values[TOOL])
		note_unreliable(h, t, seg,
			"no CUDA call was recorded: the program never loaded or called libcuda.so.1, or a program in between "
			"removed LD_PRELOAD from its environment, or the options left out all calls; "
			"run gtcollect --doctor");
	if (k.notes.newer)
		note_unreliable(h, t, seg,
			"%u driver function%s newer than the recorder: calls were not recorded; the metadata report names them",
			k.notes.newer, gt_plural(k.notes.newer, "s"));
	if (in_text)
		put_header_lines(t, h, seg, &k, layers.data ? (char *)layers.data : "",
			sources.data ? (char *)sources.data : "");
	gt_buf_release(&layers);
	gt_buf_release(&sources);
	for (size_t i = 0; i < NKNOWN; i++)
		free(k.values[i]);
	return rc;
}

/* "12 calls recorded by ebpf as well are counted once, from preload" */
static void note_doubles(const struct header *h, struct gt_table *t, const struct gt_segment *seg)
{
	const struct gt_duplicate_counts *d = duplicates_of(h, seg);

	for (uint32_t i = 0; i < d->n; i++) {
		const struct gt_source_pair *two = &d->list[i];
		uint64_t n = two->calls + two->others;

		note_unreliable(h, t, seg,
			"%" PRIu64 " %s%s recorded by %s as well %s counted once, from %s", n,
			two->others ? "event" : "call", gt_plural(n, "s"),
			two->from == GT_NONE ? "another source" : gt_str(seg, two->from),
			n == 1 ? "is" : "are",
			two->by == GT_NONE ? "the better one" : gt_str(seg, two->by));
	}
}

/* The limits of a file that its recorder did not close. */
static void note_unclosed(const struct header *h, struct gt_table *t, const struct gt_segment *seg)
{
	char complete[64] = "nothing can be read yet";

	if (has_rows(seg))
		snprintf(complete, sizeof(complete), "complete to %.6f s%s",
			(double)gt_time_since_origin(&h->report, seg, seg->complete_to) / 1e9,
			seg->max_end > seg->complete_to ? ", later events are incomplete" : "");
	note_unreliable(h, t, seg,
		"NOT CLOSED: %s, %" PRIu64
		" byte%s unread; the file was not closed: the recorder died, or it is still being "
		"written",
		complete, seg->unread_bytes, gt_plural(seg->unread_bytes, "s"));
}

/* Operations whose records CUPTI had not delivered when the program was killed. */
static void note_lost_streams(const struct header *h, struct gt_table *t,
	const struct gt_segment *seg, const struct losses *l)
{
	for (uint32_t i = 0; i < l->nstreams && i < STREAMS_MAX; i++) {
		const struct lost_stream *s = &l->streams[i];
		uint32_t device = gt_track_device(seg, s->track);

		note_unreliable(h, t, seg,
			"LOST on %.40s%s%.40s: GPU records of %" PRIu64 " launch%s since %.6f s",
			gt_str(seg, seg->tracks[s->track].name), device == GT_NONE ? "" : " of ",
			device == GT_NONE ? "" : gt_str(seg, seg->tracks[device].name), s->count,
			gt_plural(s->count, "es"), (double)(s->from - seg->min_start) / 1e9);
	}
	if (l->nstreams > STREAMS_MAX)
		note_unreliable(h, t, seg, "LOST on %u more stream%s", l->nstreams - STREAMS_MAX,
			gt_plural(l->nstreams - STREAMS_MAX, "s"));
}

static bool any_gpu(const struct header *h)
{
	for (uint32_t i = 0; i < h->nsegs; i++)
		if (gt_reader_segment(h->report.reader, i)->rows[GT_GPU])
			return true;
	return false;
}

/* "4 begins without an end: ncclCommFinalize (2), ncclCommInitRankConfig (2)". Rows that the
 * options leave out have no name here. */
static void note_unmatched(const struct header *h, struct gt_table *t, const struct gt_segment *seg)
{
	const struct losses *l = &h->losses[seg->index];
	uint64_t all = seg->rows[GT_UNMATCHED], begins = 0;
	struct gt_buf names = { 0 };
	uint32_t n = 0;

	for (uint32_t i = 0; l->half && i < seg->ntypes; i++) {
		uint64_t of_it = l->half[i].begins + l->half[i].ends;

		begins += l->half[i].begins;
		if (of_it && n++ < HALVES_NAMED)
			gt_buf_printf(&names, "%s%.60s (%" PRIu64 ")", n > 1 ? ", " : ": ",
				gt_type_name(seg, i), of_it);
	}
	if (n > HALVES_NAMED)
		gt_buf_printf(&names, " and %" PRIu32 " more name%s", n - HALVES_NAMED,
			gt_plural(n - HALVES_NAMED, "s"));
	gt_buf_byte(&names, 0);
	if (begins && begins == all)
		note_unreliable(h, t, seg,
			"UNMATCHED: %" PRIu64
			" event%s a begin but no end; only the report open lists %s%s",
			all, all == 1 ? " has" : "s have", all == 1 ? "it" : "them",
			names.failed ? "" : (char *)names.data);
	else
		note_unreliable(h, t, seg,
			"UNMATCHED: %" PRIu64
			" event%s only a begin or only an end (the report open lists the begins)%s",
			all, all == 1 ? " has" : "s have", names.failed ? "" : (char *)names.data);
	gt_buf_release(&names);
}

static const char *lost_words(const struct losses *l, char to[80])
{
	if (!l->count && l->unknown)
		return "an unknown number of events";
	snprintf(to, 80, "%" PRIu64 " event%s%s", l->count, gt_plural(l->count, "s"),
		l->unknown ? " and an unknown number more" : "");
	return to;
}

static void note_doubts(const struct header *h, struct gt_table *t, const struct gt_segment *seg)
{
	const struct losses *l = &h->losses[seg->index];
	char words[80];
	size_t n;

	gt_reader_damage(h->report.reader, &n);
	note_doubles(h, t, seg);
	if (seg->simulated)
		note_unreliable(
			h, t, seg, "the GPU was simulated: its times do not match a real GPU");
	if (l->rows)
		note_unreliable(h, t, seg,
			"LOST: %s; counts and sums lack the lost rows, and gaps may contain lost operations",
			lost_words(l, words));
	note_lost_streams(h, t, seg, l);
	if (seg->rows[GT_UNMATCHED])
		note_unmatched(h, t, seg);
	if (!seg->closed)
		note_unclosed(h, t, seg);
	if (!seg->rows[GT_GPU] && has_rows(seg) && any_gpu(h))
		note_unreliable(
			h, t, seg, "it has no GPU operations: GPU reports cover the others");
	if (!seg->index && n)
		gt_table_note(t,
			"%s damaged in %zu place%s: rows are missing from every report; the header report lists the places",
			h->report.opt->ranks ? "files are" : "the file is", n, gt_plural(n, "s"));
	if (!seg->index && h->report.opt->restrictions)
		gt_table_note(t, "restricted by %s%s", h->report.opt->restrictions,
			h->report.opt->filter.ranged
				? "; calls that overlap the range count in full"
				: "");
	if (!seg->index && h->report.opt->nothing_selected)
		gt_note_no_rows(t, &h->report);
}

static const struct gt_column damage_columns[] = {
	{ "recording", "Recording", GT_C_COUNT },
	{ "offset_bytes", "At byte", GT_C_COUNT },
	{ "rows", "Rows", GT_C_COUNT },
	{ "from_ns", "From", GT_C_TIME },
	{ "to_ns", "To", GT_C_TIME },
	{ "what", "What", GT_C_WHOLE },
};

/* NULL: nothing is damaged, or no memory. */
static struct gt_table *damage_table(const struct header *h)
{
	size_t n;
	const struct gt_damage *d = gt_reader_damage(h->report.reader, &n);
	size_t shown = gt_rows_shown(n, h->report.opt->top);
	struct gt_table *t = n
		? gt_report_table(&h->report, "damage", "Damage", damage_columns, 6, NULL, NULL)
		: NULL;

	for (size_t i = 0; t && i < shown; i++) {
		const struct gt_segment *seg = gt_reader_segment(
			h->report.reader, d[i].segment < h->nsegs ? d[i].segment : 0);
		bool timed = d[i].rows && seg;

		gt_table_add(t,
			(struct gt_cell[]){ gt_cell_u(d[i].segment), gt_cell_u(d[i].offset),
				gt_cell_u(d[i].rows),
				timed ? gt_cell_time(&h->report, seg, d[i].min_start)
				      : gt_cell_none(),
				timed ? gt_cell_time(&h->report, seg, d[i].max_end)
				      : gt_cell_none(),
				gt_cell_text(d[i].text) });
	}
	if (t)
		gt_table_note_cut(t, n, shown);
	return t;
}

/* The run is narrowed to steady steps: losses of the whole run make its figures doubtful, too. */
static int count_all_losses(struct header *h, struct gt_err *err)
{
	const struct gt_analysis_options *opt = h->report.opt;
	struct gt_filter filter = opt->whole_run;

	for (uint32_t i = 0; i < h->nsegs; i++) {
		free(h->losses[i].half);
		h->losses[i] = (struct losses){ 0 };
	}
	filter.kinds = GT_BIT(GT_LOST) | GT_BIT(GT_UNMATCHED);
	filter.args = true;
	filter.hide = opt->filter.hide;
	filter.hide_arg = opt->filter.hide_arg;
	return gt_reread_trace(h->report.reader, &filter, GT_ANY_ORDER, header_block, h, err);
}

static int header_finish(void *state, struct gt_table **tables, unsigned max, struct gt_err *err)
{
	struct header *h = state;
	const struct gt_analysis_options *opt = h->report.opt;
	uint32_t shown = (uint32_t)gt_rows_shown(h->nsegs, opt->top);
	int rc = opt->only_steady ? count_all_losses(h, err) : 0;

	if (rc)
		return rc;
	tables[0] = gt_table_new("header", NULL, columns, NCOLUMNS);
	if (!tables[0])
		return gt_err_set(err, -ENOMEM, "out of memory (header)");
	if (opt->ranks)
		gt_table_add_line(tables[0],
			"%s, read as the ranks of one run (--per-rank: each separately)",
			opt->file);
	gt_table_set_warning(tables[0]);
	for (uint32_t i = 0; !rc && i < h->nsegs; i++) {
		note_doubts(h, tables[0], gt_reader_segment(h->report.reader, i));
		rc = add_segment(h, tables[0], gt_reader_segment(h->report.reader, i),
			!opt->ranks || i < shown);
	}
	if (rc)
		return gt_err_set(err, -ENOMEM, "out of memory (header)");
	if (opt->ranks && shown < h->nsegs)
		gt_table_add_line(tables[0], "and %u more", h->nsegs - shown);
	tables[1] = damage_table(h);
	return tables[1] ? 2 : 1;
}

static void header_release(void *state)
{
	struct header *h = state;

	for (uint32_t i = 0; h->losses && i < h->nsegs; i++)
		free(h->losses[i].half);
	free(h->losses);
	free(h->command);
	free(h->machine);
}

const struct gt_analysis gt_header_report = {
	.name = "header",
	.help = "data, sources, losses and damage of each recording",
	.runs_last = true,
	.wants = GT_BIT(GT_LOST) | GT_BIT(GT_UNMATCHED),
	.wants_args = true,
	.splits = GT_BY_BLOCK,
	.in_default = GT_DEFAULT_ALWAYS,
	.state_size = sizeof(struct header),
	.init = header_init,
	.block = header_block,
	.merge = header_merge,
	.finish = header_finish,
	.release = header_release,
};
