#include "analyze/advice/stream_serialization.h"

#include <stdlib.h>
#include <string.h>
#include "analyze/columns/column_cursor.h"
#include "analyze/launch/starvation.h"
#include "formats/base/buf.h"
#include "formats/cuda/cuda_api.h"
#include "formats/cuda/gpu_rows.h"

struct held {
	uint64_t n, ns, copies;
	struct gt_evidence longest;
}; /* of a pair */
struct stream {
	uint32_t track, type;
	struct gt_union busy;
	int64_t start; /* that and the type: of its last operation */
	/* a bit for each stream that it worked beside: they are no pair that counts, and not looked
	 * at */
	uint32_t met;
};
struct gt_serial_device {
	const struct gt_segment *seg;
	uint32_t number;
	struct stream *streams;
	struct held *held; /* by pair: at gt_stream_pair_at() */
	size_t n, streams_cap, held_cap;
};
_Static_assert(GT_STREAM_PAIRS_MOST <= 32, "a bit each");

/* ---- operations ---- */

static const struct gt_type *type_of(
	const struct gt_idle *s, const struct gt_segment *seg, uint32_t number)
{
	return &seg->types[number - s->order.types[seg->index]];
}

/* By one engine: their names are the same up to the kinds of memory. */
static bool one_way(const struct gt_idle *s, const struct gt_segment *seg, uint32_t a, uint32_t b)
{
	const struct gt_type *x = type_of(s, seg, a), *y = type_of(s, seg, b);
	const char *name = gt_str(seg, x->name);

	return x->op == GT_OP_COPY && y->op == GT_OP_COPY &&
		!strncmp(name, gt_str(seg, y->name), strcspn(name, "("));
}

static bool is_kernel(const struct gt_idle *s, const struct gt_segment *seg, uint32_t number)
{
	return gt_gpu_what(type_of(s, seg, number)) == GT_GPU_KERNEL;
}

/* The stream, none that works at `at`, whose last operation ended last; SIZE_MAX: there is none. */
static size_t ended_last(const struct gt_serial_device *d, size_t but, int64_t at)
{
	size_t best = SIZE_MAX;

	for (size_t k = 0; k < d->n; k++) {
		const struct gt_union *u = &d->streams[k].busy;

		if (k != but && u->any && u->end <= at &&
			(best == SIZE_MAX || u->end > d->streams[best].busy.end))
			best = k;
	}
	return best;
}

/* Was it held up by another stream? Mostly it began as soon as it was launched, or as its own
 * stream was free: that is told first. */
static void look(
	struct gt_serial_device *d, const struct gt_idle *s, size_t i, const struct gt_idle_op *op)
{
	const struct gt_union *own = &d->streams[i].busy;
	int64_t ready = op->returned + GT_PROMPT_NS, end, wait, took = op->end - op->start;
	const struct stream *other;
	struct gt_evidence one;
	struct held *h;
	size_t k;

	ready = ready > s->window->from ? ready : s->window->from;
	ready = own->any && own->end > ready ? own->end : ready;
	if (!op->joined || ready >= op->start || op->waited || op->graph ||
		s->types[op->type].pageable)
		return;
	k = ended_last(d, i, op->start);
	if (k == SIZE_MAX)
		return;
	other = &d->streams[k];
	end = other->busy.end;
	wait = end - ready < took ? end - ready : took;
	if (wait <= 0 || op->start - end > GT_PROMPT_NS ||
		one_way(s, d->seg, op->type, other->type))
		return;
	h = &d->held[gt_stream_pair_at(i, k)];
	h->n++;
	h->ns = gt_sat_add(h->ns, (uint64_t)wait);
	h->copies += is_kernel(s, d->seg, op->type) != is_kernel(s, d->seg, other->type);
	one = (struct gt_evidence){ d->seg, ready > other->start ? ready : other->start, op->end,
		op->thread, op->type, d->number };
	gt_evidence_keep_longest(&h->longest, &one);
}

/* Stream i works from start to end: beside which others? Of its own time what lies behind its end
 * is new, and what begins later comes later, so all moments in which two work are met. */
static void meet(struct gt_serial_device *d, size_t i, int64_t start, int64_t end)
{
	struct stream *own = &d->streams[i];
	int64_t fresh = own->busy.any && own->busy.end > start ? own->busy.end : start;

	for (size_t k = 0; k < d->n; k++) {
		int64_t until = d->streams[k].busy.end < end ? d->streams[k].busy.end : end;

		if (k == i || until <= fresh)
			continue;
		own->met |= 1u << k;
		d->streams[k].met |= 1u << i;
	}
}

static int make_room(struct gt_serial *x, const struct gt_idle *s, struct gt_err *err)
{
	size_t tracks = s->order.tracks[s->order.nsegs] + 1ul;

	x->device = calloc(tracks, sizeof(*x->device));
	x->stream = calloc(tracks, sizeof(*x->stream));
	return x->device && x->stream ? 0 : gt_err_set(err, -ENOMEM, "no memory for the streams");
}

static struct gt_serial_device *device_of(
	struct gt_serial *x, const struct gt_idle_device *d, struct gt_err *err)
{
	if (!x->device[d->number]) {
		if (gt_grow(&x->devices, &x->cap, x->n + 1, sizeof(*x->devices))) {
			gt_err_set(err, -ENOMEM, "no memory for the streams");
			return NULL;
		}
		x->devices[x->n] = (struct gt_serial_device){ .seg = d->seg, .number = d->number };
		x->device[d->number] = (uint32_t)++x->n;
	}
	return &x->devices[x->device[d->number] - 1];
}

/* A stream's first operation. It gets a place, if it is one of those whose pairs are looked at. */
static __attribute__((noinline)) int see_stream(struct gt_serial *x, const struct gt_idle *s,
	const struct gt_idle_device *idle, uint32_t number, struct gt_err *err)
{
	struct gt_serial_device *d;
	size_t n, first;

	if (!x->stream && make_room(x, s, err))
		return err->code;
	if (!(d = device_of(x, idle, err)))
		return err->code;
	n = d->n;
	first = n ? gt_stream_pair_at(0, n) : 0;
	if (n == GT_STREAM_PAIRS_MOST)
		return 0;
	if (gt_grow(&d->streams, &d->streams_cap, n + 1, sizeof(*d->streams)) ||
		gt_grow(&d->held, &d->held_cap, first + n + 1, sizeof(*d->held)))
		return gt_err_set(err, -ENOMEM, "no memory for the streams");
	memset(d->held + first, 0, n * sizeof(*d->held));
	d->streams[n] = (struct stream){ .track = number - s->order.tracks[d->seg->index] };
	x->stream[number] = (uint32_t)++d->n;
	return 0;
}

int gt_serial_op(struct gt_serial *x, const struct gt_idle *s, const struct gt_idle_device *d,
	const struct gt_idle_op *op, struct gt_err *err)
{
	int64_t start = op->start > s->window->from ? op->start : s->window->from,
		end = op->end < s->window->to ? op->end : s->window->to;
	struct gt_serial_device *mine;
	struct stream *st;
	size_t i;

	if ((!x->stream || !x->stream[op->stream]) && see_stream(x, s, d, op->stream, err))
		return err->code;
	if (!x->stream[op->stream])
		return 0;
	i = x->stream[op->stream] - 1;
	mine = &x->devices[x->device[d->number] - 1];
	st = &mine->streams[i];
	if ((st->met | 1u << i) != UINT32_MAX >> (32 - mine->n)) {
		look(mine, s, i, op);
		meet(mine, i, start, end);
	}
	gt_union_add(&st->busy, start, end);
	st->start = start;
	st->type = op->type;
	return 0;
}

/* ---- what else ties ---- */

/* Calls that keep a stream from going on until something happens that no row tells. */
static bool may_hold(const char *name)
{
	static const char *const calls[] = { "cuLaunchHostFunc", "cudaLaunchHostFunc",
		"cuStreamAddCallback", "cudaStreamAddCallback", "cuStreamWaitValue32",
		"cuStreamWaitValue64", "cuStreamBatchMemOp", "cuWaitExternalSemaphoresAsync",
		"cudaWaitExternalSemaphoresAsync" };

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (gt_api_is(name, calls[i]))
			return true;
	return false;
}

enum watch { UNKNOWN, NOTHING, HOLDS, WAIT_CALL, RUNTIME_WAIT_CALL, WAIT_ROW };

static enum watch watch(const struct gt_segment *seg, const struct gt_type *type)
{
	const char *name = gt_str(seg, type->name);

	if (type->layer == GT_LAYER_GPU)
		return gt_gpu_wait_of_row(name) == GT_GPU_WAIT_STREAM_EVENT ? WAIT_ROW : NOTHING;
	if (type->layer != GT_LAYER_API && type->layer != GT_LAYER_RUNTIME)
		return NOTHING;
	if (strstr(name, "StreamWaitEvent"))
		return type->layer == GT_LAYER_API ? WAIT_CALL : RUNTIME_WAIT_CALL;
	return may_hold(name) ? HOLDS : NOTHING;
}

static uint64_t rows_of(const struct gt_cols *cols, uint32_t code)
{
	struct gt_column_cursor p;
	uint64_t n = 0;

	for (gt_column_cursor_start(&p, cols, code, GT_R_NONE, GT_R_NONE);
		gt_column_cursor_next(&p);)
		n++;
	return n;
}

static void count(struct gt_serial *x, const struct gt_cols *cols, uint32_t code, enum watch what)
{
	bool stream = cols->track < cols->seg->ntracks &&
		cols->seg->tracks[cols->track].kind == GT_TRACK_STREAM;
	uint64_t n = rows_of(cols, code);

	if (what == HOLDS && n)
		x->holds = gt_str(cols->seg, gt_cols_type(cols, code)->name);
	x->wait_calls += what == WAIT_CALL ? n : 0;
	x->runtime_wait_calls += what == RUNTIME_WAIT_CALL ? n : 0;
	x->wait_rows += what == WAIT_ROW && stream ? n : 0;
}

int gt_serial_block(struct gt_serial *x, const struct gt_idle *s, const struct gt_cols *cols,
	struct gt_err *err)
{
	if (!x->watch && !(x->watch = calloc(s->order.types[s->order.nsegs] + 1ul, 1)))
		return gt_err_set(err, -ENOMEM, "no memory for the types");
	for (uint32_t c = 0; c < cols->ntypes; c++) {
		const struct gt_type *type = gt_cols_type(cols, c);
		uint8_t *w =
			type ? &x->watch[s->order.types[cols->seg->index] + cols->types[c]] : NULL;

		if (w && *w == UNKNOWN)
			*w = (uint8_t)watch(cols->seg, type);
		if (w && *w > NOTHING)
			count(x, cols, c, (enum watch) * w);
	}
	return 0;
}

/* ---- all of it ---- */

static void add_pair(const struct gt_serial_device *d, size_t a, size_t b, struct gt_serial_sum *to,
	uint64_t *most)
{
	const struct held *h = &d->held[gt_stream_pair_at(a, b)];

	if (h->n < GT_SERIAL_LOOP || d->streams[a].met & 1u << b)
		return;
	to->pairs++;
	to->n += h->n;
	to->copies += h->copies;
	to->ns = gt_sat_add(to->ns, h->ns);
	if (to->seg && h->ns <= *most)
		return;
	*most = h->ns;
	to->seg = d->seg;
	to->a = d->seg->tracks[d->streams[a].track].id;
	to->b = d->seg->tracks[d->streams[b].track].id;
	to->longest = h->longest;
}

void gt_serial_add_up(const struct gt_serial *x, const struct gt_idle *s, struct gt_serial_sum *to)
{
	uint64_t most = 0;

	*to = (struct gt_serial_sum){ .pairs = 0 };
	for (size_t i = 0; i < s->ndevices; i++) {
		const struct gt_serial_device *d = &x->devices[x->device[s->devices[i].number] - 1];
		uint64_t before = to->ns, busiest = 0,
			 room = s->devices[i].window - s->devices[i].idle;

		for (size_t k = 0; k < d->n; k++) {
			busiest = d->streams[k].busy.ns > busiest ? d->streams[k].busy.ns : busiest;
			for (size_t a = 0; a < k; a++)
				add_pair(d, a, k, to, &most);
		}
		room -= busiest < room ? busiest : room;
		to->gain = gt_sat_add(to->gain, to->ns - before < room ? to->ns - before : room);
	}
}

bool gt_serial_several(const struct gt_serial *x)
{
	for (size_t i = 0; i < x->n; i++)
		if (x->devices[i].n > 1)
			return true;
	return false;
}

void gt_serial_again(struct gt_serial *x)
{
	for (size_t i = 0; i < x->n; i++) {
		free(x->devices[i].streams);
		free(x->devices[i].held);
	}
	free(x->devices);
	free(x->device);
	free(x->stream);
	x->devices = NULL;
	x->device = x->stream = NULL;
	x->n = x->cap = 0;
}

void gt_serial_release(struct gt_serial *x)
{
	gt_serial_again(x);
	free(x->watch);
}
