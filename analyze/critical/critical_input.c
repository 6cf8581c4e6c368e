/* Sorts rows into lists: the outermost calls of each thread and the work of each stream, in order
 * of their start (event_store.h).
 *
 * Work comes in order of time from gt_time_ordered. Calls do not need that: the calls of a thread
 * are sorted, except that a block may hold calls that began before the end of the block before it.
 * So the calls of a block are pending until the next block of their thread. */
#include "analyze/critical/critical_internal.h"

#include <stdlib.h>
#include <string.h>
#include "analyze/columns/column_cursor.h"
#include "analyze/columns/launch_fields.h"
#include "analyze/gpu/work_kind.h"
#include "formats/base/sorted.h"
#include "formats/base/buf.h"
#include "formats/cuda/gpu_rows.h"

#define LINES_MAX 65536u
#define LOST_MAX 65536u /* losses; the last one is extended by further ones */

/* gt_moment.addr of a row: its role, its join, the track of its launching thread, and the time
 * from the launch to the row. A row whose launch does not fit counts as not joined. */
enum { IGNORED, WORK, WAIT };
#define WHAT_SHIFT 62
#define ORDER_BIT (1ull << 61)
#define TRACK_SHIFT 40
#define TRACK_MAX ((1u << 21) - 2)
#define NO_TRACK (TRACK_MAX + 1)
#define AGO_MAX ((1ull << TRACK_SHIFT) - 1)

/* ---- types ---- */

/* Calls that wait for the GPU. A free of device memory waits for all work that may use it. A copy
 * from or to pageable memory waits for itself even if its name ends in Async: to such memory
 * always, from it only if it is large. */
static unsigned role_of_call(const struct gt_segment *seg, const struct gt_type *type)
{
	const char *name = gt_str(seg, type->name);
	enum gt_gpu_wait wait = gt_gpu_wait_of_call(name);

	if (type->layer != GT_LAYER_API && type->layer != GT_LAYER_RUNTIME)
		return SEEN;
	if (type->op == GT_OP_COPY || type->op == GT_OP_SET)
		return SEEN | IS_CALL | WAITS | OWN | (strstr(name, "Async") ? ONLY_PAGEABLE : 0);
	if (type->op == GT_OP_FREE && type->memkind == GT_MEM_DEVICE)
		return SEEN | IS_CALL | WAITS;
	if (type->op == GT_OP_SYNC ||
		(type->category == GT_CAT_SYNC && strstr(name, "Synchronize")))
		return SEEN | IS_CALL | WAITS | (wait == GT_GPU_WAIT_CONTEXT ? CERTAIN : 0);
	return SEEN | IS_CALL |
		(type->category == GT_CAT_QUERY || type->category == GT_CAT_CONTEXT ? IS_QUERY : 0);
}

static unsigned role_of(const struct gt_segment *seg, const struct gt_type *type)
{
	if (!type)
		return SEEN;
	if (type->layer != GT_LAYER_GPU)
		return role_of_call(seg, type);
	return SEEN | (strstr(gt_str(seg, type->name), "-> pageable") ? TO_PAGEABLE : 0) |
		(gt_type_field(type, GT_R_GRAPH) != GT_NONE ? OF_GRAPH : 0) |
		gt_work_kind(seg, type) << KIND_SHIFT;
}

uint8_t gt_critical_find_role(struct gt_critical *c, const struct gt_segment *seg, uint32_t number)
{
	return c->roles[number] =
		       (uint8_t)role_of(seg, &seg->types[number - c->order.types[seg->index]]);
}

/* ---- lists ---- */

static struct gt_critical_line *new_line(
	struct gt_critical *c, const struct gt_segment *seg, uint32_t number, struct gt_err *err)
{
	uint32_t first = c->order.tracks[seg->index], track = number - first,
		 device = gt_track_device(seg, track);
	struct gt_critical_process *p;

	if (c->nlines == LINES_MAX) {
		c->too_many = true;
		return NULL;
	}
	p = &c->processes[gt_process_slot_of(&c->where, seg, track)];
	if (gt_grow(&c->lines, &c->lines_cap, c->nlines + 1, sizeof(*c->lines)) ||
		gt_grow(&p->lines, &p->lines_cap, p->nlines + 1, sizeof(*p->lines))) {
		gt_err_set(err, -ENOMEM, "out of memory (threads and streams)");
		return NULL;
	}
	c->lines[c->nlines] = (struct gt_critical_line){ .track = number,
		.device = device == GT_NONE ? number : first + device,
		.place = gt_process_slot_of(&c->where, seg, track),
		.last = INT64_MIN,
		.cover = INT64_MIN };
	p->lines[p->nlines++] = (uint32_t)c->nlines++;
	c->slot[number] = (uint32_t)c->nlines;
	return &c->lines[c->nlines - 1];
}

/* The line of a track; NULL: no memory, or too many. */
static inline struct gt_critical_line *line_of(
	struct gt_critical *c, const struct gt_segment *seg, uint32_t number, struct gt_err *err)
{
	return c->slot[number] ? &c->lines[c->slot[number] - 1] : new_line(c, seg, number, err);
}

/* Nested calls are left out: their time belongs to the outermost call. If two calls begin at the
 * same time, the outer one may come second. */
static void add_call(
	struct gt_critical *c, struct gt_critical_line *l, const struct gt_stored_event *one)
{
	bool outer =
		l->rows.n && one->start == l->last && one->end > l->cover && l->cover > l->last;

	if (outer)
		gt_event_list_set_last(&c->store, &l->rows, one);
	else if (one->start >= l->cover)
		gt_event_list_add(&c->store, &l->rows, one);
	else
		c->crossing += one->end > l->cover;
	if (outer || one->start >= l->cover) {
		l->last = one->start;
		l->cover = one->end;
	}
}

/* Appends calls of [from, to), up to the first one that overlaps the call before it, or until the
 * chunk is full. The caller has checked the first call. Returns the number of appended calls. */
static uint32_t add_plain_calls(
	struct gt_critical *c, struct gt_critical_line *l, uint32_t from, uint32_t to)
{
	const struct gt_critical_pending *h = &l->pending;
	const int64_t *start = h->start + from, *end = h->end + from;
	const struct gt_event_columns rows = { h->start + from, h->end + from, h->start + from,
		h->type + from, h->by + from };
	uint32_t n = to - from, left = gt_event_list_chunk_left(&c->store, &l->rows), i = 1;
	int64_t sign = 0;

	n = n < left ? n : left;
	/* in most blocks all calls are such calls, which this loop checks fast */
	for (uint32_t k = 1; k < n; k++)
		sign |= start[k] - end[k - 1];
	if (sign >= 0)
		i = n;
	while (i < n && start[i] >= end[i - 1])
		i++;
	l->last = start[i - 1];
	l->cover = end[i - 1];
	gt_event_list_append(&c->store, &l->rows, &rows, i);
	return i;
}

/* Adds the first n pending calls to the list. */
static void add_calls(struct gt_critical *c, struct gt_critical_line *l, uint32_t n)
{
	const struct gt_critical_pending *h = &l->pending;

	for (uint32_t i = 0; i < n;) {
		if (h->start[i] >= l->cover && h->start[i] >= l->last) {
			i += add_plain_calls(c, l, i, n);
			continue;
		}
		if (h->start[i] < l->last)
			c->late++;
		else
			add_call(c, l,
				&(struct gt_stored_event){ .start = h->start[i],
					.end = h->end[i],
					.type = h->type[i],
					.by = BY_NONE,
					.launch = h->start[i] });
		i++;
	}
}

/* Adds the pending calls that begin before `floor`: later blocks have no earlier call. */
static void flush_pending(struct gt_critical *c, struct gt_critical_line *l, int64_t floor)
{
	struct gt_critical_pending *h = &l->pending;
	uint32_t n = (uint32_t)GT_LOWER_BOUND(i, 0, h->n, h->start[i] < floor);

	add_calls(c, l, n);
	h->n -= n;
	c->npending -= n;
	if (!n || !h->n)
		return;
	memmove(h->start, h->start + n, h->n * sizeof(*h->start));
	memmove(h->end, h->end + n, h->n * sizeof(*h->end));
	memmove(h->type, h->type + n, h->n * sizeof(*h->type));
}

static void flush_all_pending(struct gt_critical *c, int64_t floor)
{
	for (size_t i = 0; i < c->nlines; i++)
		flush_pending(c, &c->lines[i], floor);
}

static void release_pending(struct gt_critical_pending *h)
{
	free(h->start);
	free(h->end);
	free(h->type);
	free(h->by);
	*h = (struct gt_critical_pending){ 0 };
}

/* cap: not less than h->n. 0 or -ENOMEM. */
static int resize_pending(struct gt_critical_pending *h, size_t cap)
{
	int64_t *start, *end;
	uint32_t *type, *by;

	if (!cap) {
		release_pending(h);
		return 0;
	}
	if ((start = realloc(h->start, cap * sizeof(*start))))
		h->start = start;
	if ((end = realloc(h->end, cap * sizeof(*end))))
		h->end = end;
	if ((type = realloc(h->type, cap * sizeof(*type))))
		h->type = type;
	if ((by = realloc(h->by, cap * sizeof(*by))))
		h->by = by;
	h->cap = start && end && type && by ? cap : h->n;
	for (size_t i = h->n; i < h->cap; i++)
		h->by[i] = BY_NONE;
	return h->cap == cap ? 0 : -ENOMEM;
}

/* Frees the unused capacity of all threads: each may have had a large block once. 0 or -ENOMEM. */
static int shrink_all_pending(struct gt_critical *c)
{
	c->pending_cap = 0;
	for (size_t i = 0; i < c->nlines; i++) {
		if (resize_pending(&c->lines[i].pending, c->lines[i].pending.n))
			return -ENOMEM;
		c->pending_cap += c->lines[i].pending.cap;
	}
	return 0;
}

/* Grows the capacity by at least n calls. 0 or -ENOMEM. */
static int grow_pending(struct gt_critical *c, struct gt_critical_line *l, uint32_t n)
{
	struct gt_critical_pending *h = &l->pending;
	size_t need = h->n + n;

	if (need <= h->cap)
		return 0;
	if (c->pending_cap + need > GT_TIME_MERGE_MAX / 4 * 5 && shrink_all_pending(c))
		return -ENOMEM;
	c->pending_cap -= h->cap;
	if (resize_pending(h, need + need / 2))
		return -ENOMEM;
	c->pending_cap += h->cap;
	return 0;
}

static void add_work(
	struct gt_critical *c, struct gt_critical_line *l, const struct gt_stored_event *one)
{
	struct gt_critical_process *p = &c->processes[l->place];

	l->stream = true;
	l->last = one->start;
	gt_event_list_add(&c->store, &l->rows, one);
	p->from = !p->ops || one->start < p->from ? one->start : p->from;
	p->to = !p->ops || one->end > p->to ? one->end : p->to;
	p->ops++;
	p->unjoined += (one->by & BY_NONE) == BY_NONE;
	p->by_order += one->by >> 31;
}

/* The track of a wait is the stream, device or process for which it waits. The wait is added to the
 * thread of its call; a wait of a stream for an event to that stream. */
static int add_wait(struct gt_critical *c, const struct gt_segment *seg,
	const struct gt_stored_event *wait, uint32_t on, struct gt_err *err)
{
	const struct gt_type *type = &seg->types[wait->type - c->order.types[seg->index]];
	enum gt_gpu_wait what = gt_gpu_wait_of_row(gt_str(seg, type->name));
	uint32_t to = what == GT_GPU_WAIT_STREAM_EVENT ? on : wait->by & BY_NONE;
	struct gt_stored_event one = {
		.start = wait->launch, .end = wait->end, .type = what, .by = on
	};
	struct gt_critical_line *l = to == BY_NONE ? NULL : line_of(c, seg, to, err);

	if (l &&
		(!l->waits.n ||
			gt_event_list_get(&c->store, &l->waits, l->waits.n - 1).start <= one.start))
		gt_event_list_add(&c->store, &l->waits, &one);
	return err->code;
}

static int on_row(void *arg, const struct gt_moment *m, struct gt_err *err)
{
	struct gt_critical *c = arg;
	const struct gt_segment *seg;
	uint32_t track = (uint32_t)(m->addr >> TRACK_SHIFT) & (TRACK_MAX + 1);
	struct gt_stored_event one = { .start = m->at, .end = m->end, .type = m->what };
	struct gt_critical_line *l;
	unsigned what = (unsigned)(m->addr >> WHAT_SHIFT);

	if (what == IGNORED)
		return 0;
	seg = gt_time_ordered_segment(&c->order, c->report.reader, m);
	one.by = BY_NONE;
	one.launch = m->at;
	if (track != NO_TRACK) {
		one.by = (c->order.tracks[seg->index] + track) |
			(m->addr & ORDER_BIT ? BY_ORDER : 0);
		one.launch = m->at - (int64_t)(m->addr & AGO_MAX);
	}
	if (what == WAIT)
		return add_wait(c, seg, &one, m->place, err);
	l = line_of(c, seg, m->place, err);
	if (l && m->at < l->last)
		c->late++;
	else if (l)
		add_work(c, l, &one);
	return err->code;
}

/* Rows of one type in a run: their role, the columns of their launches, and the number of rows
 * seen so far. */
struct gt_critical_launches {
	struct gt_launch_fields fields;
	uint32_t rows_seen;
	unsigned what;
};

static bool is_wait(const struct gt_type *type)
{
	return type && type->layer == GT_LAYER_GPU && type->category == GT_CAT_SYNC;
}

static struct gt_critical_launches launches_of(const struct gt_cols *cols, uint32_t code)
{
	struct gt_critical_launches l = { .what = cols->kind == GT_GPU ? WORK
			: is_wait(gt_cols_type(cols, code))            ? WAIT
								       : IGNORED };

	if (l.what != IGNORED)
		gt_launch_fields_read(&l.fields, cols, code, GT_LAUNCH_TRACK | GT_LAUNCH_START);
	return l;
}

/* The launch of row `nth` of its type, for gt_moment.addr. */
static uint64_t encode_launch(const struct gt_cols *cols, const struct gt_critical_launches *l,
	uint32_t nth, int64_t start)
{
	const uint64_t unknown = (uint64_t)NO_TRACK << TRACK_SHIFT;
	struct gt_launch_call call;

	if (!gt_launch_fields_call(&l->fields, cols->seg, nth, &call) || call.track > TRACK_MAX ||
		call.start > start || (uint64_t)(start - call.start) > AGO_MAX)
		return unknown;
	return (uint64_t)call.track << TRACK_SHIFT | (uint64_t)(start - call.start) |
		(call.by_order ? ORDER_BIT : 0);
}

static int mark_rows(
	struct gt_critical *c, const struct gt_cols *cols, struct gt_moment *m, struct gt_err *err)
{
	if (gt_grow(&c->launches, &c->launches_cap, cols->ntypes + 1ul, sizeof(*c->launches)))
		return gt_err_set(err, -ENOMEM, "out of memory (launches)");
	for (uint32_t i = 0; i < cols->ntypes; i++)
		c->launches[i].rows_seen = 0;
	for (uint32_t i = 0; i < cols->n; i++) {
		uint32_t code = cols->code ? cols->code[i] : 0;
		struct gt_critical_launches *l = &c->launches[code];

		if (!l->rows_seen) /* most types of a block do not occur in each of its runs */
			*l = launches_of(cols, code);
		if (l->what != IGNORED)
			m[i].addr = (uint64_t)l->what << WHAT_SHIFT |
				encode_launch(cols, l, l->rows_seen, cols->start[i]);
		l->rows_seen++;
	}
	return 0;
}

/* The type numbers of a block's calls by code; GT_NONE: not a call. *all: all are calls. NULL: no
 * memory. */
static const uint32_t *call_types_by_code(
	struct gt_critical *c, const struct gt_cols *cols, bool *all, struct gt_err *err)
{
	const uint32_t first = c->order.types[cols->seg->index];

	if (gt_grow(&c->codes, &c->codes_cap, cols->ntypes + 1ul, sizeof(*c->codes))) {
		gt_err_set(err, -ENOMEM, "out of memory (calls)");
		return NULL;
	}
	*all = true;
	for (uint32_t i = 0; i < cols->ntypes; i++) {
		uint32_t type = cols->types[i];
		bool call = type < cols->seg->ntypes && role(c, cols->seg, first + type) & IS_CALL;

		c->codes[i] = call ? first + type : GT_NONE;
		*all &= call;
	}
	return c->codes;
}

static bool in_order(const int64_t *start, size_t n)
{
	int64_t sign = 0;

	for (size_t i = 1; i < n; i++)
		sign |= start[i] - start[i - 1];
	return sign >= 0;
}

/* Sorts the calls from `from` to before `to` into those before, which are sorted. Mostly nothing
 * has to move. */
static void sort_appended(struct gt_critical_pending *h, size_t from, size_t to)
{
	int64_t *restrict starts = h->start, *restrict ends = h->end;
	uint32_t *restrict types = h->type;

	from -= from > 0;
	if (in_order(starts + from, to - from))
		return;
	for (size_t i = from + 1; i < to; i++) {
		int64_t start = starts[i], end = ends[i];
		uint32_t type = types[i];
		size_t k = i;

		for (; k && starts[k - 1] > start; k--) {
			starts[k] = starts[k - 1];
			ends[k] = ends[k - 1];
			types[k] = types[k - 1];
		}
		starts[k] = start;
		ends[k] = end;
		types[k] = type;
	}
}

/* Appends a block whose rows are all calls. */
static void append_all(
	struct gt_critical_pending *h, const struct gt_cols *cols, const uint32_t *codes)
{
	int64_t *restrict end = h->end + h->n;
	uint32_t *restrict type = h->type + h->n;
	const int64_t *start = cols->start, *dur = cols->dur;
	const uint16_t *code = cols->code;

	memcpy(h->start + h->n, start, cols->n * sizeof(*start));
	for (uint32_t i = 0; i < cols->n; i++)
		end[i] = start[i] + dur[i];
	for (uint32_t i = 0; i < cols->n; i++)
		type[i] = codes[code ? code[i] : 0];
	h->n += cols->n;
}

/* Appends the calls of a block. */
static void append_calls(
	struct gt_critical_pending *h, const struct gt_cols *cols, const uint32_t *codes)
{
	int64_t *restrict starts = h->start, *restrict ends = h->end;
	uint32_t *restrict types = h->type;
	const int64_t *start = cols->start, *dur = cols->dur;
	const uint16_t *code = cols->code;
	size_t n = h->n;

	for (uint32_t i = 0; i < cols->n; i++) {
		uint32_t type = codes[code ? code[i] : 0];

		starts[n] = start[i];
		ends[n] = start[i] + dur[i];
		types[n] = type;
		n += type != GT_NONE;
	}
	h->n = n;
}

/* Adds the calls of a block to the pending calls, and those of the blocks before to the list as far
 * as the block allows. */
static int add_pending_calls(struct gt_critical *c, const struct gt_cols *cols, struct gt_err *err)
{
	bool all = true;
	const uint32_t *codes = call_types_by_code(c, cols, &all, err);
	struct gt_critical_line *l;
	size_t before;

	if (c->npending + cols->n >
		GT_TIME_MERGE_MAX) /* threads that have ended have pending calls, too */
		flush_all_pending(c, cols->floor);
	if (c->pending_of != cols->seg || c->npending + cols->n > GT_TIME_MERGE_MAX)
		flush_all_pending(c, INT64_MAX);
	c->pending_of = cols->seg;
	l = codes ? line_of(c, cols->seg, gt_time_ordered_track(&c->order, cols->seg, cols->track),
			    err)
		  : NULL;
	if (!l)
		return err->code;
	flush_pending(c, l, cols->floor);
	if (grow_pending(c, l, cols->n))
		return gt_err_set(err, -ENOMEM, "out of memory (calls)");
	before = l->pending.n;
	(all ? append_all : append_calls)(&l->pending, cols, codes);
	sort_appended(&l->pending, before, l->pending.n);
	c->npending += l->pending.n - before;
	return 0;
}

static int add_lost(struct gt_critical *c, const struct gt_cols *cols, struct gt_err *err)
{
	for (uint32_t i = 0; i < cols->n; i++) {
		struct gt_critical_loss one = { cols->seg->index, cols->track, cols->start[i],
			cols->start[i] + cols->dur[i], 0 },
					*last;

		if (c->nlost < LOST_MAX) {
			if (gt_grow(&c->lost, &c->lost_cap, c->nlost + 1, sizeof(*c->lost)))
				return gt_err_set(err, -ENOMEM, "out of memory (losses)");
			c->lost[c->nlost++] = one;
			continue;
		}
		last = &c->lost[LOST_MAX - 1]; /* of an unknown track */
		last->track = GT_NONE;
		last->start = one.start < last->start ? one.start : last->start;
		last->end = one.end > last->end ? one.end : last->end;
	}
	return 0;
}

int gt_critical_block(struct gt_critical *c, const struct gt_cols *cols, struct gt_err *err)
{
	struct gt_moment *m;
	bool any = cols->kind != GT_SPAN;

	if (cols->kind == GT_LOST)
		return add_lost(c, cols, err);
	for (uint32_t i = 0; !any && i < cols->ntypes; i++)
		any = is_wait(gt_cols_type(cols, i));
	if (!any || c->too_many)
		return 0;
	if (cols->kind == GT_CALL || cols->kind == GT_OPEN)
		return add_pending_calls(c, cols, err);
	m = gt_time_ordered_run(&c->order, cols, err);
	if (!m || mark_rows(c, cols, m, err))
		return err->code;
	return c->store.err.code ? gt_err_set(err, c->store.err.code, "%s", c->store.err.text) : 0;
}

/* ---- start and end ---- */

int gt_critical_init(struct gt_critical *c, struct gt_reader *r,
	const struct gt_analysis_options *opt, struct gt_err *err)
{
	int rc;

	c->report = (struct gt_report_state){ r, opt };
	rc = gt_time_ordered_init(&c->order, r, on_row, c, err);
	if (!rc)
		rc = gt_process_slots_init(&c->where, r, err);
	if (rc)
		return rc;
	gt_event_store_init(&c->store, c->order.tracks[c->order.nsegs]);
	c->processes = calloc(c->where.n + 1, sizeof(*c->processes));
	c->slot = calloc(c->order.tracks[c->order.nsegs] + 1ul, sizeof(*c->slot));
	c->roles = calloc(c->order.types[c->order.nsegs] + 1ul, sizeof(*c->roles));
	if (!c->processes || !c->slot || !c->roles)
		return gt_err_set(err, -ENOMEM, "out of memory (critical path)");
	for (size_t i = 0; i < c->where.n; i++) {
		c->processes[i].seg = c->where.list[i].seg;
		c->processes[i].track = c->where.list[i].track;
	}
	return 0;
}

/* With --whole the window includes the calls of the process. */
static void widen(struct gt_critical_process *p, const struct gt_critical_line *l)
{
	if (!l->rows.n || l->stream)
		return;
	p->from = l->rows.firsts[0] < p->from ? l->rows.firsts[0] : p->from;
	p->to = l->cover > p->to ? l->cover : p->to;
}

int gt_critical_finish(struct gt_critical *c, struct gt_err *err)
{
	int rc = gt_time_ordered_flush(&c->order, err);

	flush_all_pending(c, INT64_MAX);
	gt_critical_sort_losses(c);
	for (size_t i = 0; i < c->nlines && c->report.opt->whole; i++)
		widen(&c->processes[c->lines[i].place], &c->lines[i]);
	/* the process' part of the window of the recording */
	for (size_t i = 0; i < c->where.n; i++) {
		struct gt_critical_process *p = &c->processes[i];
		struct gt_gpu_window e;

		gt_gpu_window_open(&e, c->report.opt, p->seg);
		p->from = p->ops && p->from < e.from ? e.from : p->from;
		p->to = p->ops && p->to > e.to ? e.to : p->to;
	}
	if (gt_event_store_failed(&c->store))
		return gt_err_set(err, c->store.err.code, "%s", c->store.err.text);
	return rc;
}

void gt_critical_release(struct gt_critical *c)
{
	for (size_t i = 0; i < c->nlines; i++) {
		gt_event_list_release(&c->lines[i].rows);
		gt_event_list_release(&c->lines[i].waits);
		release_pending(&c->lines[i].pending);
	}
	for (size_t i = 0; c->processes && i < c->where.n; i++) {
		free(c->processes[i].lines);
	}
	gt_event_store_release(&c->store);
	gt_time_ordered_release(&c->order);
	gt_process_slots_release(&c->where);
	free(c->processes);
	free(c->lines);
	free(c->slot);
	free(c->roles);
	free(c->codes);
	free(c->launches);
	free(c->lost);
}
