/* Events of Chrome JSON that say only when something begins or ends: B and E of a thread; b, n and
 * e (old: S, T, p, F) of an asynchronous operation, which has an id.
 *
 * An end belongs to the innermost begin of its thread or operation; if it has none, it becomes an
 * unmatched end, and a begin without an end an unmatched begin: nothing is invented. An operation
 * is known by its category and id, with its scope if it has one; an id may be local to a process
 * (id2). Its slices are on a track of the process that has the category's name: those of several
 * operations may overlap. */
#include "formats/import/kineto/import_kineto.h"

#include <stdlib.h>

#define NO_THREAD (1ull << 63) /* marks keys that are no threads */

static int put(void *arg, struct gt_kineto_event *ev, struct gt_err *err)
{
	ev->phase = 'X';
	return gt_kineto_complete(arg, ev, err);
}

static int put_begin(void *arg, struct gt_kineto_event *ev, struct gt_err *err)
{
	return gt_kineto_unmatched(arg, ev, false, err);
}

static int put_end(void *arg, struct gt_kineto_event *ev, struct gt_err *err)
{
	return gt_kineto_unmatched(arg, ev, true, err);
}

static struct gt_kineto_slices *slices_of(struct gt_kineto *k)
{
	k->slices.put = put;
	k->slices.put_begin = put_begin;
	k->slices.put_end = put_end;
	k->slices.arg = k;
	return &k->slices;
}

static uint64_t mix(uint64_t a, uint64_t b) { return gt_hash_u64(a * 31 + b); }

/* Begin or end: 'B' or 'E'. lane NULL: that of the key. */
static int put_half(struct gt_kineto *k, struct gt_kineto_lane *lane, uint64_t key,
	const struct gt_kineto_event *ev, char half, struct gt_err *err)
{
	struct gt_kineto_slices *s = slices_of(k);
	struct gt_kineto_event *open;

	if (half == 'E')
		return gt_kineto_slice_end(s, lane, key, ev->ts, ev, err);
	open = gt_kineto_slice_open(s, lane, key, ev->ts, err);
	if (!open)
		return err->code;
	*open = *ev;
	return gt_kineto_slice_begin(s, lane, key, open, err);
}

static int of_thread(struct gt_kineto *k, const struct gt_kineto_event *ev, struct gt_err *err)
{
	struct gt_kineto_lane *lane = NULL;
	size_t thread;
	int64_t track = gt_kineto_track_of(k, ev, false, &thread, err);
	uint64_t key = NO_THREAD | (uint64_t)track;

	if (track < 0)
		return (int)track;
	if (thread != SIZE_MAX) {
		lane = &k->threads[thread].lane;
		key = thread;
	}
	return put_half(k, lane, key, ev, ev->phase, err);
}

/* Its place is a track below the process. */
static void set_place(struct gt_kineto *k, struct gt_kineto_event *ev)
{
	if (ev->cat_name == GT_NONE)
		ev->cat_name = gt_writer_string(k->w, "async");
	ev->cat = GT_KINETO_OTHER;
	ev->tid.word = ev->cat_name;
	ev->has |= GT_KINETO_TID;
}

static int of_operation(
	struct gt_kineto *k, struct gt_kineto_event *ev, char half, bool named, struct gt_err *err)
{
	uint64_t key = mix(mix(ev->id, ev->scope), ev->cat_name);

	if (!(ev->has & GT_KINETO_ID)) {
		k->counts.not_understood++;
		return 0;
	}
	if (named)
		key = mix(key, ev->name);
	if (ev->has & GT_KINETO_LOCAL_ID)
		key = mix(mix(key, (uint64_t)ev->pid.number), ev->pid.word);
	set_place(k, ev);
	return put_half(k, NULL, NO_THREAD | key >> 1, ev, half, err);
}

int gt_kineto_phase(struct gt_kineto *k, struct gt_kineto_event *ev, struct gt_err *err)
{
	switch (ev->phase) {
	case 'B':
	case 'E': return of_thread(k, ev, err);
	case 'b': return of_operation(k, ev, 'B', false, err);
	case 'e': return of_operation(k, ev, 'E', false, err);
	case 'S': return of_operation(k, ev, 'B', true, err);
	case 'F': return of_operation(k, ev, 'E', true, err);
	default: /* 'n', 'T', 'p' */ set_place(k, ev); return gt_kineto_instant(k, ev, err);
	}
}

int gt_kineto_phases_finish(struct gt_kineto *k, struct gt_err *err)
{
	int e = 0;

	for (size_t i = 0; !e && i < k->nthreads; i++)
		e = gt_kineto_lane_finish(&k->slices, &k->threads[i].lane, err);
	return e ? e : gt_kineto_slices_finish(&k->slices, err);
}
