#include "analyze/advice/stream_serialization.h"

#include <stdlib.h>
#include <string.h>
#include "analyze/columns/column_cursor.h"
#include "analyze/launch/starvation.h"
#include "formats/base/buf.h"
#include "formats/cuda/cuda_api.h"
#include "formats/cuda/gpu_rows.h"

struct delays {
	uint64_t n, ns, copies;
	struct gt_evidence longest;
}; /* delays of a pair */
struct stream {
	uint32_t track, type;
	struct gt_union busy;
	int64_t start; /* start and type of its last operation */
	/* bits of streams that worked at the same time: these pairs do not count */
	uint32_t concurrent;
};
struct gt_serialization_device {
	const struct gt_segment *seg;
	uint32_t number;
	struct stream *streams;
	struct delays *delays; /* by pair: at gt_stream_pair_at() */
	size_t n, streams_cap, held_cap;
};
_Static_assert(GT_STREAM_PAIRS_MOST <= 32, "a bit each");

/* ---- operations ---- */

static const struct gt_type *type_of(
	const struct gt_idle *s, const struct gt_segment *seg, uint32_t number)
{
	return &seg->types[number - s->order.types[seg->index]];
}

/* True if two copies use the same copy engine: their names differ at most in the kinds of memory.
 */
static bool uses_one_engine(
	const struct gt_idle *s, const struct gt_segment *seg, uint32_t a, uint32_t b)
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

/* The stream, idle at `at`, whose last operation ended last; SIZE_MAX: there is none. */
static size_t ended_last(const struct gt_serialization_device *d, size_t but, int64_t at)
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

/* Was the operation delayed by another stream? Most began as soon as they were launched, or as
 * their own stream was idle: this is checked first. */
static void check_delay(struct gt_serialization_device *d, const struct gt_idle *s, size_t i,
	const struct gt_idle_op *op)
{
	const struct gt_union *own = &d->streams[i].busy;
	int64_t ready = op->returned + GT_PROMPT_NS, end, wait, took = op->end - op->start;
	const struct stream *other;
	struct gt_evidence one;
	struct delays *h;
	size_t k;

	ready = ready > s->window->from ? ready : s->window->from;
	ready = own->any && own->end > ready ? own->end : ready;
	if (!op->joined || ready >= op->start || op->waited_for_event || op->graph ||
		s->types[op->type].pageable)
		return;
	k = ended_last(d, i, op->start);
	if (k == SIZE_MAX)
		return;
	other = &d->streams[k];
	end = other->busy.end;
	wait = end - ready < took ? end - ready : took;
	if (wait <= 0 || op->start - end > GT_PROMPT_NS ||
		uses_one_engine(s, d->seg, op->type, other->type))
		return;
	h = &d->delays[gt_stream_pair_at(i, k)];
	h->n++;
	h->ns = gt_sat_add(h->ns, (uint64_t)wait);
	h->copies += is_kernel(s, d->seg, op->type) != is_kernel(s, d->seg, other->type);
	one = (struct gt_evidence){ d->seg, ready > other->start ? ready : other->start, op->end,
		op->thread, op->type, d->number };
	gt_evidence_keep_longest(&h->longest, &one);
}

/* Stream i works from start to end: marks the streams that work at the same time. Operations come
 * in order of start, so it is enough to compare the new part with the ends of the other streams. */
static void mark_concurrent(struct gt_serialization_device *d, size_t i, int64_t start, int64_t end)
{
	struct stream *own = &d->streams[i];
	int64_t fresh = own->busy.any && own->busy.end > start ? own->busy.end : start;

	for (size_t k = 0; k < d->n; k++) {
		int64_t until = d->streams[k].busy.end < end ? d->streams[k].busy.end : end;

		if (k == i || until <= fresh)
			continue;
		own->concurrent |= 1u << k;
		d->streams[k].concurrent |= 1u << i;
	}
}

static int allocate(struct gt_serialization *x, const struct gt_idle *s, struct gt_err *err)
{
	size_t tracks = s->order.tracks[s->order.nsegs] + 1ul;

	x->device = calloc(tracks, sizeof(*x->device));
	x->stream = calloc(tracks, sizeof(*x->stream));
	return x->device && x->stream ? 0 : gt_err_set(err, -ENOMEM, "out of memory (streams)");
}

static struct gt_serialization_device *device_of(
	struct gt_serialization *x, const struct gt_idle_device *d, struct gt_err *err)
{
	if (!x->device[d->number]) {
		if (gt_grow(&x->devices, &x->cap, x->n + 1, sizeof(*x->devices))) {
			gt_err_set(err, -ENOMEM, "out of memory (streams)");
			return NULL;
		}
		x->devices[x->n] =
			(struct gt_serialization_device){ .seg = d->seg, .number = d->number };
		x->device[d->number] = (uint32_t)++x->n;
	}
	return &x->devices[x->device[d->number] - 1];
}

/* Adds a stream at its first operation. Only the first GT_STREAM_PAIRS_MOST of a device count. */
static __attribute__((noinline)) int add_stream(struct gt_serialization *x, const struct gt_idle *s,
	const struct gt_idle_device *idle, uint32_t number, struct gt_err *err)
{
	struct gt_serialization_device *d;
	size_t n, first;

	if (!x->stream && allocate(x, s, err))
		return err->code;
	if (!(d = device_of(x, idle, err)))
		return err->code;
	n = d->n;
	first = n ? gt_stream_pair_at(0, n) : 0;
	if (n == GT_STREAM_PAIRS_MOST)
		return 0;
	if (gt_grow(&d->streams, &d->streams_cap, n + 1, sizeof(*d->streams)) ||
		gt_grow(&d->delays, &d->held_cap, first + n + 1, sizeof(*d->delays)))
		return gt_err_set(err, -ENOMEM, "out of memory (streams)");
	memset(d->delays + first, 0, n * sizeof(*d->delays));
	d->streams[n] = (struct stream){ .track = number - s->order.tracks[d->seg->index] };
	x->stream[number] = (uint32_t)++d->n;
	return 0;
}

int gt_serialization_op(struct gt_serialization *x, const struct gt_idle *s,
	const struct gt_idle_device *d, const struct gt_idle_op *op, struct gt_err *err)
{
	int64_t start = op->start > s->window->from ? op->start : s->window->from,
		end = op->end < s->window->to ? op->end : s->window->to;
	struct gt_serialization_device *mine;
	struct stream *st;
	size_t i;

	if ((!x->stream || !x->stream[op->stream]) && add_stream(x, s, d, op->stream, err))
		return err->code;
	if (!x->stream[op->stream])
		return 0;
	i = x->stream[op->stream] - 1;
	mine = &x->devices[x->device[d->number] - 1];
	st = &mine->streams[i];
	if ((st->concurrent | 1u << i) != UINT32_MAX >> (32 - mine->n)) {
		check_delay(mine, s, i, op);
		mark_concurrent(mine, i, start, end);
	}
	gt_union_add(&st->busy, start, end);
	st->start = start;
	st->type = op->type;
	return 0;
}

/* ---- other dependencies ---- */

/* Does the call block a stream until something happens that no row records? */
static bool may_block(const char *name)
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

enum role { UNKNOWN, NOTHING, BLOCKS, WAIT_CALL, RUNTIME_WAIT_CALL, WAIT_ROW };

static enum role role_of(const struct gt_segment *seg, const struct gt_type *type)
{
	const char *name = gt_str(seg, type->name);

	if (type->layer == GT_LAYER_GPU)
		return gt_gpu_wait_of_row(name) == GT_GPU_WAIT_STREAM_EVENT ? WAIT_ROW : NOTHING;
	if (type->layer != GT_LAYER_API && type->layer != GT_LAYER_RUNTIME)
		return NOTHING;
	if (strstr(name, "StreamWaitEvent"))
		return type->layer == GT_LAYER_API ? WAIT_CALL : RUNTIME_WAIT_CALL;
	return may_block(name) ? BLOCKS : NOTHING;
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

static void count(
	struct gt_serialization *x, const struct gt_cols *cols, uint32_t code, enum role what)
{
	bool stream = cols->track < cols->seg->ntracks &&
		cols->seg->tracks[cols->track].kind == GT_TRACK_STREAM;
	uint64_t n = rows_of(cols, code);

	if (what == BLOCKS && n)
		x->blocking_call = gt_str(cols->seg, gt_cols_type(cols, code)->name);
	x->wait_calls += what == WAIT_CALL ? n : 0;
	x->runtime_wait_calls += what == RUNTIME_WAIT_CALL ? n : 0;
	x->wait_rows += what == WAIT_ROW && stream ? n : 0;
}

int gt_serialization_block(struct gt_serialization *x, const struct gt_idle *s,
	const struct gt_cols *cols, struct gt_err *err)
{
	if (!x->roles && !(x->roles = calloc(s->order.types[s->order.nsegs] + 1ul, 1)))
		return gt_err_set(err, -ENOMEM, "out of memory (types)");
	for (uint32_t c = 0; c < cols->ntypes; c++) {
		const struct gt_type *type = gt_cols_type(cols, c);
		uint8_t *w =
			type ? &x->roles[s->order.types[cols->seg->index] + cols->types[c]] : NULL;

		if (w && *w == UNKNOWN)
			*w = (uint8_t)role_of(cols->seg, type);
		if (w && *w > NOTHING)
			count(x, cols, c, (enum role) * w);
	}
	return 0;
}

/* ---- sums ---- */

static void add_pair(const struct gt_serialization_device *d, size_t a, size_t b,
	struct gt_serialization_sum *to, uint64_t *most)
{
	const struct delays *h = &d->delays[gt_stream_pair_at(a, b)];

	if (h->n < GT_SERIALIZATION_LOOP || d->streams[a].concurrent & 1u << b)
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

void gt_serialization_sum_up(
	const struct gt_serialization *x, const struct gt_idle *s, struct gt_serialization_sum *to)
{
	uint64_t most = 0;

	*to = (struct gt_serialization_sum){ .pairs = 0 };
	for (size_t i = 0; i < s->ndevices; i++) {
		const struct gt_serialization_device *d =
			&x->devices[x->device[s->devices[i].number] - 1];
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

bool gt_serialization_has_several(const struct gt_serialization *x)
{
	for (size_t i = 0; i < x->n; i++)
		if (x->devices[i].n > 1)
			return true;
	return false;
}

void gt_serialization_reset(struct gt_serialization *x)
{
	for (size_t i = 0; i < x->n; i++) {
		free(x->devices[i].streams);
		free(x->devices[i].delays);
	}
	free(x->devices);
	free(x->device);
	free(x->stream);
	x->devices = NULL;
	x->device = x->stream = NULL;
	x->n = x->cap = 0;
}

void gt_serialization_release(struct gt_serialization *x)
{
	gt_serialization_reset(x);
	free(x->roles);
}
