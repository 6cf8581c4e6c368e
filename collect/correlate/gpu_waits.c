/* Streams by the program's handles, and the calls that waited for them.
 *
 * A handle is reused as soon as its stream is destroyed, perhaps by another thread, whose calls may
 * be read before the call that destroyed the stream. So each stream gets a number. It is found by
 * the handle and the time of the call, after all earlier calls have been read. The track of work
 * launched into the stream is stored for its number. Two handles mean several streams: the default
 * stream, of which each context has one, and the per-thread default stream. The thread identifies
 * the second. For the first, and for any other number with work on two tracks, no stream is
 * reported.
 *
 * A wait is written from the recorded call, because CUPTI's record of it costs too much
 * (guest_cupti_kinds.c). It is pending until work launched into its stream has shown the
 * stream's track: usually until the next flush of CUPTI's buffers, which may be late on a busy
 * machine. So it is written without a stream only after the GPU has reported later work, or has
 * reported nothing for a long time. */
#include "collect/correlate/gpu_correlate_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "formats/base/buf.h"

#define HANDLES_MAX 4096u    /* streams that exist at a time */
#define INSTANCES 8192u      /* how many of the most recent streams keep their tracks */
#define DESTROYED_MAX 4096u  /* how many of the most recently destroyed streams are kept */
#define HOLD_NS 1000000000ll /* ns that a wait is pending after the GPU has reported later work */
#define SILENT_NS 10000000000ll /* ns, if it has not */
#define PENDING_MAX 65536u
/* CU_STREAM_LEGACY and CU_STREAM_PER_THREAD; 0 is one or the other */
#define DEFAULT 1u
#define PER_THREAD 2u

struct gt_gpu_stream {
	uint64_t handle, instance;
	int32_t tid;
	int64_t from /* ns: the first call with it */;
};
struct gt_gpu_destroyed_stream {
	uint64_t handle, instance;
	int64_t at;
};
struct gt_gpu_instance {
	uint64_t number;
	uint32_t track, context, name;
	bool unsure;
};
struct gt_gpu_pending_wait {
	int64_t since;
	uint64_t stream /* its stream's number, when it has been looked up */;
	struct gt_gpu_call call;
};

static struct gt_gpu_instance *find_instance(const struct gt_gpu_waits *s, uint64_t number)
{
	struct gt_gpu_instance *i =
		s->instances && number ? &s->instances[number % INSTANCES] : NULL;

	return i && i->number == number ? i : NULL;
}

static struct gt_gpu_stream *find_handle(struct gt_gpu_waits *s, uint64_t handle, int32_t tid)
{
	for (size_t i = 0; i < s->n; i++, s->hint = s->hint + 1 < s->n ? s->hint + 1 : 0)
		if (s->handles[s->hint].handle == handle && s->handles[s->hint].tid == tid)
			return &s->handles[s->hint];
	return NULL;
}

/* A new number; 0: no memory. */
static uint64_t make_instance(struct gt_gpu_waits *s)
{
	if (!s->instances && !(s->instances = calloc(INSTANCES, sizeof(*s->instances))))
		return 0;
	s->last_number++;
	s->instances[s->last_number % INSTANCES] = (struct gt_gpu_instance){
		.number = s->last_number, .track = GT_NONE, .name = GT_NONE
	};
	return s->last_number;
}

/* The stream that had this handle at that time and was destroyed later; 0: none. `destroyed` is
 * sorted by time. */
static uint64_t find_destroyed(const struct gt_gpu_waits *s, uint64_t handle, int64_t at)
{
	uint64_t instance = 0;

	for (size_t i = s->ndestroyed; i-- && s->destroyed[i].at > at;)
		instance = s->destroyed[i].handle == handle ? s->destroyed[i].instance : instance;
	return instance;
}

static uint64_t find_number(struct gt_gpu_waits *s, uint64_t handle, int32_t tid, int64_t at)
{
	uint64_t gone = tid ? 0 : find_destroyed(s, handle, at), last_number;
	struct gt_gpu_stream *known = gone ? NULL : find_handle(s, handle, tid);

	if (gone)
		return gone;
	if (known) {
		known->from = at < known->from ? at : known->from;
		return known->instance;
	}
	if (s->n == HANDLES_MAX || gt_grow(&s->handles, &s->cap, s->n + 1, sizeof(*s->handles)) ||
		!(last_number = make_instance(s)))
		return 0;
	s->hint = s->n++;
	s->handles[s->hint] = (struct gt_gpu_stream){ handle, last_number, tid, at };
	return last_number;
}

static uint64_t normalize_handle(const struct gt_gpu_call *c)
{
	return c->stream ? c->stream : c->per_thread ? PER_THREAD : DEFAULT;
}

uint64_t gt_gpu_stream_number(struct gt_gpu_waits *s, const struct gt_gpu_call *c)
{
	uint64_t handle = normalize_handle(c);

	return c->has_stream ? find_number(s, handle, handle == PER_THREAD ? c->tid : 0, c->start)
			     : 0;
}

/* The number of an earlier call may be looked up later than that of a call on the next stream with
 * this handle. */
int gt_gpu_stream_destroy(struct gt_gpu_waits *s, const struct gt_gpu_call *c)
{
	struct gt_gpu_stream *known = c->has_stream ? find_handle(s, c->stream, 0) : NULL;
	struct gt_gpu_destroyed_stream g = { .handle = c->stream, .at = c->start };
	size_t i;

	if (!c->has_stream)
		return 0;
	if (s->ndestroyed == DESTROYED_MAX) {
		s->ndestroyed /= 2;
		memcpy(s->destroyed, s->destroyed + DESTROYED_MAX - s->ndestroyed,
			s->ndestroyed * sizeof(*s->destroyed));
	}
	if (known && known->from <= c->start) {
		g.instance = known->instance;
		*known = s->handles[--s->n];
		s->hint = 0;
	}
	if (gt_grow(&s->destroyed, &s->destroyed_cap, s->ndestroyed + 1, sizeof(*s->destroyed)) ||
		(!g.instance && !(g.instance = make_instance(s))))
		return -ENOMEM;
	for (i = s->ndestroyed++; i && s->destroyed[i - 1].at > g.at; i--)
		s->destroyed[i] = s->destroyed[i - 1];
	s->destroyed[i] = g;
	return 0;
}

int gt_gpu_stream_set_track(struct gt_gpu_waits *s, struct gt_writer *w, uint64_t stream,
	uint32_t track, uint32_t context, struct gt_err *err)
{
	struct gt_gpu_instance *i = find_instance(s, stream);

	if (!i || i->track == track)
		return 0;
	i->unsure = i->track != GT_NONE;
	i->track = track;
	i->context = context;
	return i->name != GT_NONE ? gt_writer_track_name(w, track, i->name, err) : 0;
}

uint32_t gt_gpu_stream_get_track(const struct gt_gpu_waits *s, uint64_t stream)
{
	const struct gt_gpu_instance *i = find_instance(s, stream);

	return i && !i->unsure ? i->track : GT_NONE;
}

int gt_gpu_stream_set_name(struct gt_gpu_waits *s, struct gt_writer *w, uint64_t handle,
	int64_t when, uint32_t name, struct gt_err *err)
{
	struct gt_gpu_instance *i =
		find_instance(s, find_number(s, handle ? handle : DEFAULT, 0, when));

	if (!i || name == GT_NONE)
		return 0;
	i->name = name;
	return i->track == GT_NONE ? 0 : gt_writer_track_name(w, i->track, name, err);
}

/* ---- waits ---- */

int gt_gpu_waits_add(struct gt_gpu_waits *s, const struct gt_gpu_call *c)
{
	if (gt_grow(&s->pending, &s->pending_cap, s->npending + 1, sizeof(*s->pending)))
		return -ENOMEM;
	s->pending[s->npending++] = (struct gt_gpu_pending_wait){ .call = *c };
	return 0;
}

static bool is_on_stream(const struct gt_gpu_call *c)
{
	return c->wait == GT_GPU_WAIT_STREAM || c->wait == GT_GPU_WAIT_STREAM_EVENT;
}

/* How long the wait is pending, ns: its track may still become known, or turn out to be several. */
static int64_t hold_time(const struct gt_gpu_waits *s, const struct gt_gpu_pending_wait *h)
{
	const struct gt_gpu_instance *i = find_instance(s, h->stream);
	const struct gt_gpu_call *c = &h->call;

	if (!is_on_stream(c) || !i || i->unsure)
		return 0;
	if (i->track == GT_NONE)
		return s->reported_until < c->end ? SILENT_NS : HOLD_NS;
	return normalize_handle(c) == DEFAULT ? HOLD_NS : 0;
}

static int emit_wait(const struct gt_gpu_flush *f, const struct gt_gpu_pending_wait *h)
{
	const struct gt_gpu_waits *s = &f->p->waits;
	const struct gt_gpu_call *c = &h->call;
	uint32_t track = is_on_stream(c) ? gt_gpu_stream_get_track(s, h->stream) : GT_NONE;
	struct gt_gpu_waiting what = { (enum gt_gpu_wait)c->wait, c->event };
	struct gt_gpu_work w = {
		.track = track,
		.start = c->start,
		.end = c->end,
		.cause = { GT_JOIN_CORRELATION, c->track, c->name, c->start,
			(uint64_t)(c->end - c->start) },
	};

	if (track == GT_NONE) {
		w.track = f->p->track;
		w.context = f->p->context == GT_NONE ? 0 : f->p->context;
	} else {
		w.context = find_instance(s, h->stream)->context;
	}
	f->g->totals.waits++;
	f->g->totals.waits_nowhere += is_on_stream(c) && !c->has_stream;
	return gt_gpu_put_wait(&f->g->types, &w, &what, f->err);
}

int gt_gpu_waits_flush_ready(const struct gt_gpu_flush *f)
{
	struct gt_gpu_waits *s = &f->p->waits;
	size_t kept = 0;
	int code = 0;

	for (size_t i = 0; !code && i < s->npending; i++) {
		struct gt_gpu_pending_wait *h = &s->pending[i];

		/* all calls that ended before it have been added */
		if (!h->since && (f->last || h->call.end < f->now)) {
			h->since = f->now;
			h->stream = gt_gpu_stream_number(s, &h->call);
		}
		if (!f->last && kept < PENDING_MAX &&
			(!h->since || f->now - h->since < hold_time(s, h)))
			s->pending[kept++] = *h;
		else if (f->p->ever_on)
			code = emit_wait(f, h);
	}
	s->npending = kept;
	return code;
}

void gt_gpu_waits_release(struct gt_gpu_waits *s)
{
	free(s->handles);
	free(s->instances);
	free(s->pending);
	free(s->destroyed);
}
