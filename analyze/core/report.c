#define _GNU_SOURCE /* vasprintf */
#include "analyze/core/report.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyze/ranks/ranks.h"
#include "formats/base/buf.h"
#include "formats/base/sorted.h"
#include "formats/trace/meta.h"

struct rereading {
	gt_run_fn *fn;
	void *arg;
	struct gt_err *err;
};

static int on_run(void *arg, unsigned worker, const struct gt_cols *cols)
{
	const struct rereading *a = arg;

	return a->fn(a->arg, cols, a->err);
}

int gt_reread_trace(struct gt_reader *r, const struct gt_filter *filter, enum gt_order order,
	gt_run_fn *fn, void *arg, struct gt_err *err)
{
	return gt_scan(r, filter, order, 1, on_run, &(struct rereading){ fn, arg, err }, err);
}

const void *gt_report_option(const struct gt_analysis_options *opt, const char *name)
{
	const struct gt_report_option *o = opt->report_options;

	while (o && o->name && strcmp(o->name, name))
		o++;
	return o && o->name ? o->value : NULL;
}

const struct gt_option_row gt_spark_option = {
	.opt = { .name = "spark",
		.kind = GT_OPT_FLAG,
		.help = "draw the spread of durations beside each name of top, ioctls and kernels" },
	.heading = GT_HEADING_OPTIONS,
};

const struct gt_option_row gt_by_id_option = {
	.opt = { .name = "by-id",
		.kind = GT_OPT_FLAG,
		.help = "list ranges with different numbers in their names separately (step 1, step 2), not as step N" },
	.heading = GT_HEADING_OPTIONS,
};

const struct gt_option_row gt_by_option = {
	.opt = { .name = "by",
		.kind = GT_OPT_STR,
		.arg = "FIELDS",
		.help = "one row for each combination of values of these fields: name,stream; of top, kernels, memory and host: for each line, function, module or stack of the program, of host also thread or step" },
	.heading = GT_QUERY_HEADING,
	.report = "query",
};

int gt_report_state_init(
	void *state, struct gt_reader *r, const struct gt_analysis_options *opt, struct gt_err *err)
{
	*(struct gt_report_state *)state = (struct gt_report_state){ r, opt };
	return 0;
}

struct gt_table *gt_report_table(const struct gt_report_state *a, const char *name,
	const char *title, const struct gt_column *columns, size_t ncolumns,
	const char *hideable_keys, struct gt_err *err)
{
	unsigned skip = strcmp(columns->key, "recording") ? 0 : gt_where_skip(a->reader);
	struct gt_table *t = gt_table_new(name, title, columns + skip, (unsigned)ncolumns - skip);

	if (!t) {
		gt_err_set(err, -ENOMEM, "out of memory (table)");
		return NULL;
	}
	gt_table_skip_cells(t, skip);
	if (hideable_keys)
		gt_table_set_hideable(t, hideable_keys);
	return t;
}

struct gt_recording_prefix gt_recording_prefix(
	const struct gt_report_state *a, const struct gt_segment *seg)
{
	struct gt_recording_prefix w = { "" };

	if (a->opt->ranks)
		snprintf(w.text, sizeof(w.text), "%.150s: ", a->opt->ranks[seg->index].called);
	else if (gt_reader_segments(a->reader) > 1)
		snprintf(w.text, sizeof(w.text), "recording %u: ", seg->index);
	return w;
}

struct gt_gpu_label gt_gpu_label_of(
	const struct gt_report_state *a, const struct gt_segment *seg, uint32_t track)
{
	uint32_t process = gt_track_process(seg, track);
	struct gt_recording_prefix whose = gt_recording_prefix(a, seg);
	struct gt_gpu_label w;

	if (*whose.text)
		whose.text[strlen(whose.text) - 2] = 0; /* removes the colon */
	else
		snprintf(whose.text, sizeof(whose.text), "process %lld",
			process == GT_NONE ? 0 : (long long)seg->tracks[process].id);
	snprintf(w.text, sizeof(w.text), "%s %lld of %.80s",
		seg->tracks[track].kind == GT_TRACK_DEVICE ? "GPU" : "stream",
		(long long)seg->tracks[track].id, whose.text);
	return w;
}

void gt_put_plural(struct gt_buf *to, const char *text, uint64_t n)
{
	for (const char *open; (open = strchr(text, '{'));) {
		const char *bar = strchr(open, '|'), *close = strchr(bar, '}');

		gt_buf_add(to, text, (size_t)(open - text));
		gt_buf_add(to, n == 1 ? open + 1 : bar + 1,
			(size_t)(n == 1 ? bar - open - 1 : close - bar - 1));
		text = close + 1;
	}
	gt_buf_str(to, text);
}

void gt_note_plural(struct gt_table *t, uint64_t n, const char *fmt, ...)
{
	struct gt_buf words = { 0 };
	char *text = NULL;
	va_list ap;

	if (!n)
		return;
	gt_put_plural(&words, fmt, n);
	gt_buf_byte(&words, 0);
	va_start(ap, fmt);
	if (!words.failed && vasprintf(&text, (const char *)words.data, ap) < 0)
		text = NULL;
	va_end(ap);
	gt_table_note(t, "%s", text ? text : fmt);
	free(text);
	gt_buf_release(&words);
}

void gt_note_joins(struct gt_table *t, uint64_t all, const char *what, uint64_t unjoined,
	const char *figures, uint64_t by_order)
{
	gt_note_plural(t, unjoined, "%llu of %llu %s {is|are} joined to no call, and %s",
		(unsigned long long)unjoined, (unsigned long long)all, what, figures);
	gt_note_plural(t, by_order,
		"%llu of %llu %s {was|were} joined to {its call|their calls} by order in the stream: likely, not "
		"certain",
		(unsigned long long)by_order, (unsigned long long)all, what);
}

void gt_note_unordered(struct gt_table *t, uint64_t late, const char *what)
{
	gt_note_plural(t, late,
		"%llu {row|rows} came too late to be sorted by time, which makes %s approximate",
		(unsigned long long)late, what);
}

void gt_note_top_n(struct gt_table *t, const struct gt_top_n *keep)
{
	uint64_t more = keep->offered - keep->n;

	if (more)
		gt_table_set_incomplete(t);
	if (keep->offered <= GT_TOP_N_MAX || !more)
		gt_table_note_cut(t, keep->offered, keep->n);
	else if (keep->max < GT_TOP_N_MAX)
		gt_table_note(t,
			"%llu more rows: --top 0 shows %d of them, gtexport --jsonl writes all",
			(unsigned long long)more, GT_TOP_N_MAX - (int)keep->n);
	else
		gt_note_plural(t, more,
			"%llu more {row|rows} left out: this list holds at most %d, gtexport --jsonl writes all",
			(unsigned long long)more, GT_TOP_N_MAX);
}

struct rest {
	uint64_t remainder;
	size_t i;
};

static int larger_rest(const void *a, const void *b)
{
	const struct rest *x = a, *y = b;

	return GT_COMPARE(y->remainder, x->remainder) ?: GT_COMPARE(x->i, y->i);
}

int gt_compute_shares(const uint64_t *parts, size_t n, int64_t *shares, struct gt_err *err)
{
	struct rest *rests = calloc(n + 1, sizeof(*rests));
	unsigned __int128 sum = 0;
	int64_t left = 10000;

	if (!rests)
		return gt_err_set(err, -ENOMEM, "out of memory (shares)");
	for (size_t i = 0; i < n; i++)
		sum += parts[i];
	for (size_t i = 0; i < n; i++) {
		unsigned __int128 scaled = (unsigned __int128)parts[i] * 10000;

		shares[i] = sum ? (int64_t)(scaled / sum) : 0;
		/* only compared: the low bits of a remainder beyond 2^64 are irrelevant */
		rests[i] =
			(struct rest){ sum ? (uint64_t)(scaled % sum >> (sum >> 64 ? 32 : 0)) : 0,
				i };
		left -= shares[i];
	}
	if (sum)
		GT_SORT(rests, n, larger_rest);
	for (size_t i = 0; sum && i < n && left > 0; i++, left--)
		shares[rests[i].i]++;
	free(rests);
	return 0;
}

int64_t *gt_new_shares(const void *list, size_t n, size_t size, size_t offset, struct gt_err *err)
{
	uint64_t *parts = calloc(n + 1, sizeof(*parts));
	int64_t *shares = calloc(n + 1, sizeof(*shares));

	for (size_t i = 0; parts && i < n; i++)
		memcpy(&parts[i], (const char *)list + i * size + offset, sizeof(parts[i]));
	if (!parts || !shares || gt_compute_shares(parts, n, shares, err)) {
		gt_err_set(err, -ENOMEM, "out of memory (shares)");
		free(shares);
		shares = NULL;
	}
	free(parts);
	return shares;
}

struct gt_cell gt_cell_share(uint64_t part, uint64_t whole)
{
	if (!whole)
		return gt_cell_none();
	return gt_cell_u((uint64_t)(((unsigned __int128)part * 10000 + whole / 2) / whole));
}

int64_t gt_origin(
	const struct gt_analysis_options *opt, struct gt_reader *r, const struct gt_segment *seg)
{
	if (opt->origins)
		return opt->origins[seg->index];
	return gt_same_clock(gt_reader_segment(r, 0), seg) ? opt->origin : seg->min_start;
}

int64_t gt_time_since_origin(
	const struct gt_report_state *a, const struct gt_segment *seg, int64_t at)
{
	return gt_subtract_origin(at, gt_origin(a->opt, a->reader, seg));
}

int64_t gt_complete_since_origin(const struct gt_report_state *a, const struct gt_segment *seg)
{
	int64_t at = gt_time_since_origin(a, seg, seg->closed ? seg->max_end : seg->complete_to);

	return at > 0 || seg->closed ? at : 0;
}

uint64_t gt_span_of(const struct gt_analysis_options *opt, const struct gt_segment *seg)
{
	struct gt_range in = gt_range_of(&opt->filter, seg);
	int64_t from = in.from > seg->min_start ? in.from : seg->min_start,
		to = in.to < seg->max_end ? in.to : seg->max_end;

	return to > from ? (uint64_t)to - (uint64_t)from : 0;
}

/* Is `word` in a comma-separated list? */
static bool listed(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (; *list; list += strcspn(list, ","), list += *list == ',')
		if (strcspn(list, ",") == len && !memcmp(list, word, len))
			return true;
	return false;
}

/* Do the times of its GPU operations come from CUDA events? */
static bool by_events(const char *value) { return !strncmp(value, "CUDA events", 11); }
bool gt_no_gpu_source(const char *value)
{
	return strncmp(value, "CUPTI, ", 7) != 0 && !by_events(value);
}

struct layer_facts {
	const char *layer;
	bool events, filtered, refused;
};

static int note_layer_facts(void *arg, const char *key, const char *value)
{
	struct layer_facts *t = arg;

	t->events |= !strcmp(key, "events") && listed(value, t->layer);
	t->refused |= !strcmp(key, "gpu_source") && gt_no_gpu_source(value) &&
		!strcmp(t->layer, gt_layer_word(GT_LAYER_GPU));
	t->filtered |= *value &&
		(!strcmp(key, "filter") || !strcmp(key, "exclude") || !strcmp(key, "cut.match") ||
			!strcmp(key, "cut.exclude"));
	return 0;
}

/* Counters of a GPU (utilization, power) are no GPU operations, and counts of calls are no calls.
 */
static bool counts(const struct gt_type *type)
{
	return (type->layer == GT_LAYER_GPU || type->layer == GT_LAYER_API) && type->nfields == 1 &&
		type->fields[0].role == GT_R_VALUE;
}

bool gt_is_recorded_in(const struct gt_segment *seg, unsigned layer)
{
	struct layer_facts facts = { .layer = gt_layer_word(layer) };
	bool has_threads = false;

	for (uint32_t t = 0; t < seg->ntypes; t++)
		if (seg->types[t].layer == layer && !counts(&seg->types[t]) &&
			seg->types[t].op != GT_OP_SAMPLE) /* it does not say when threads run */
			return true;
	for (uint32_t t = 0; t < seg->ntracks && !has_threads; t++)
		has_threads = seg->tracks[t].kind == GT_TRACK_THREAD;
	return has_threads && !gt_meta_each(seg, note_layer_facts, &facts) && facts.events &&
		!facts.filtered && !facts.refused;
}

bool gt_is_recorded(struct gt_reader *r, unsigned layer)
{
	for (uint32_t i = 0; i < gt_reader_segments(r); i++)
		if (gt_is_recorded_in(gt_reader_segment(r, i), layer))
			return true;
	return false;
}

static bool has_types_of(struct gt_reader *r, unsigned op)
{
	for (uint32_t i = 0; i < gt_reader_segments(r); i++) {
		const struct gt_segment *seg = gt_reader_segment(r, i);

		for (uint32_t t = 0; t < seg->ntypes; t++)
			if (seg->types[t].op == op)
				return true;
	}
	return false;
}

bool gt_has_thread_states(struct gt_reader *r) { return has_types_of(r, GT_OP_OFF_CPU); }

bool gt_has_samples(struct gt_reader *r) { return has_types_of(r, GT_OP_SAMPLE); }

bool gt_has_name_filter(struct gt_reader *r)
{
	struct layer_facts facts = { .layer = "" };

	for (uint32_t i = 0; i < gt_reader_segments(r); i++)
		gt_meta_each(gt_reader_segment(r, i), note_layer_facts, &facts);
	return facts.filtered;
}

static int note_imported(void *arg, const char *key, const char *value)
{
	*(bool *)arg |= *value && !strcmp(key, "imported_from");
	return 0;
}

bool gt_is_imported(struct gt_reader *r)
{
	bool imported = false;

	for (uint32_t i = 0; i < gt_reader_segments(r); i++)
		gt_meta_each(gt_reader_segment(r, i), note_imported, &imported);
	return imported;
}

bool gt_is_without_cuda(struct gt_reader *r)
{
	return gt_is_imported(r) && !gt_is_recorded(r, GT_LAYER_API) &&
		!gt_is_recorded(r, GT_LAYER_RUNTIME) && !gt_is_recorded(r, GT_LAYER_IOCTL) &&
		!gt_is_recorded(r, GT_LAYER_GPU);
}

static int note_merged(void *arg, const char *key, const char *value)
{
	*(bool *)arg |= !strcmp(key, "level_of_detail.merged_events") && strcmp(value, "0");
	return 0;
}

bool gt_is_merged(const struct gt_reader *r)
{
	bool merged = false;

	for (uint32_t i = 0; i < gt_reader_segments(r); i++)
		gt_meta_each(gt_reader_segment(r, i), note_merged, &merged);
	return merged;
}

static int note_gpu_work(void *arg, const char *key, const char *value)
{
	*(bool *)arg |= !strcmp(key, "gpu_work") && !strcmp(value, "collectives");
	return 0;
}

bool gt_has_only_collectives(const struct gt_reader *r)
{
	bool only = false;

	for (uint32_t i = 0; i < gt_reader_segments(r); i++) {
		if (!gt_reader_segment(r, i)->rows[GT_GPU])
			continue;
		only = false;
		gt_meta_each(gt_reader_segment(r, i), note_gpu_work, &only);
		if (!only)
			return false;
	}
	return only;
}

const char *gt_direction_text(uint64_t direction)
{
	static const char *const words[] = { "unknown", "host to device", "device to host",
		"device to device", "host to host", "peer" };

	return words[direction < sizeof(words) / sizeof(*words) ? direction : GT_DIR_UNKNOWN];
}

/* Is the selected time range free of rows? That is an answer, unlike a process id that does not
 * exist. */
static bool idle(const struct gt_report_state *a)
{
	const struct gt_filter *f = &a->opt->filter;
	bool within = false;

	for (uint32_t i = 0; i < gt_reader_segments(a->reader); i++) {
		const struct gt_segment *seg = gt_reader_segment(a->reader, i);

		struct gt_range in = gt_range_of(f, seg);

		within |= in.from < seg->max_end && in.to > seg->min_start;
	}
	return f->ranged && within && !f->pid && !f->tid && !f->match;
}

bool gt_is_selection_empty(const struct gt_report_state *a)
{
	return a->opt->nothing_selected && !idle(a);
}

const char *gt_why_filtered_out(const struct gt_report_state *a, unsigned layer, unsigned op)
{
	const struct gt_filter *f = &a->opt->filter;

	if (gt_is_selection_empty(a))
		return "nothing matched";
	for (uint32_t i = 0; f->match && i < gt_reader_segments(a->reader); i++) {
		const struct gt_segment *seg = gt_reader_segment(a->reader, i);

		for (uint32_t t = 0; t < seg->ntypes; t++) {
			const struct gt_type *type = &seg->types[t];
			bool of_it = layer == GT_LAYER_COUNT ? type->layer != GT_LAYER_GPU
							     : type->layer == layer;

			if (of_it && (op == GT_OP_NONE || type->op == op) &&
				f->match(seg, type, f->match_arg))
				return NULL;
		}
	}
	return f->match ? GT_MATCH_TEXT(a->opt, "left out by ", "") : NULL;
}

void gt_where_process(struct gt_cell cells[3], const struct gt_segment *seg, uint32_t process)
{
	bool known = process < seg->ntracks;

	cells[0] = gt_cell_u(seg->index);
	cells[1] = known ? gt_cell_i(seg->tracks[process].id) : gt_cell_none();
	cells[2] = known && seg->tracks[process].name != GT_NONE
		? gt_cell_text(gt_str(seg, seg->tracks[process].name))
		: gt_cell_none();
}

int gt_by_stream(const struct gt_segment *a, uint32_t device_a, uint32_t track_a,
	const struct gt_segment *b, uint32_t device_b, uint32_t track_b)
{
	int order = gt_by_place(a, device_a, b, device_b);
	const struct gt_track *ta = &a->tracks[track_a], *tb = &b->tracks[track_b];
	bool first_a = ta->kind == GT_TRACK_DEVICE, first_b = tb->kind == GT_TRACK_DEVICE;

	if (order)
		return order;
	if (first_a != first_b)
		return first_a ? -1 : 1;
	if (ta->id != tb->id)
		return ta->id < tb->id ? -1 : 1;
	return gt_by_place(a, track_a, b, track_b);
}

void gt_where_device(struct gt_cell cells[4], const struct gt_segment *seg, uint32_t track)
{
	uint32_t device = gt_track_device(seg, track);

	gt_where_process(cells, seg, gt_track_process(seg, track));
	cells[3] = device == GT_NONE ? gt_cell_none() : gt_cell_i(seg->tracks[device].id);
}

void gt_where_stream(struct gt_cell cells[5], const struct gt_segment *seg, uint32_t track)
{
	gt_where_device(cells, seg, track);
	cells[4] = seg->tracks[track].kind == GT_TRACK_DEVICE ? gt_cell_missing("all")
							      : gt_cell_i(seg->tracks[track].id);
}

void gt_where_thread(struct gt_cell cells[2], const struct gt_segment *seg, uint32_t track)
{
	const struct gt_track *t = track < seg->ntracks ? &seg->tracks[track] : NULL;

	cells[0] = t && t->kind == GT_TRACK_THREAD ? gt_cell_i(t->id) : gt_cell_none();
	cells[1] = t && t->name != GT_NONE        ? gt_cell_text(gt_str(seg, t->name))
		: t && t->kind != GT_TRACK_THREAD ? gt_cell_text(gt_track_kind_word(t->kind))
						  : gt_cell_none();
}

void gt_add_to_list(struct gt_out *to, const char *text, size_t len)
{
	gt_out_str(to, to->len ? ", " : "[");
	gt_out_json(to, text, len);
}

void gt_end_list(struct gt_out *to)
{
	gt_out_str(to, to->len ? "]" : "[]");
	gt_out_add(to, "", 1);
}

void gt_put_list(struct gt_out *to, const char *text, const char *separator)
{
	const char *end;

	for (; *text; text = *end ? end + strlen(separator) : end) {
		end = strstr(text, separator);
		end = end ? end : text + strlen(text);
		gt_add_to_list(to, text, (size_t)(end - text));
	}
	gt_end_list(to);
}
