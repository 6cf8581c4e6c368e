/* Slices that the file has as two events: a begin and an end.
 *
 * An end ends the innermost open slice of its lane (a thread, a track, an asynchronous operation),
 * after all events are sorted by time. Most writers write the events of a lane in order of time;
 * then the open slices are a stack in memory. If an event of a lane is earlier than one before it
 * (PyTorch writes all begins, then all ends), or too many slices are open, its further events go
 * through an external sort: the sort has their times, a temporary file has what else is known of
 * them. Lanes of which there may be any number have only their key, and are always sorted. */
#include "formats/import/kineto/import_kineto.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "formats/base/buf.h"
#include "formats/os/file.h"

#define DEPTH_MAX 512u       /* open slices of a lane in memory */
#define OPEN_MAX 4096u       /* and of all lanes */
#define STACK_MAX (1u << 20) /* and in the sorted pass; more are an error */
#define SORT_BUFFER 32768u
/* what the temporary file has of an event */
#define EVENT_BYTES offsetof(struct gt_kineto_event, values)

struct record {
	uint64_t key; /* of the lane */
	int64_t time;
	uint64_t order;
	uint64_t at : 63, ends : 1; /* at: in the temporary file, plus 1; 0: nothing */
};

static bool before(const void *a, const void *b)
{
	const struct record *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key;
	return x->time != y->time ? x->time < y->time : x->order < y->order;
}

/* ---- events ---- */

static int put_slice(
	struct gt_kineto_slices *s, struct gt_kineto_event *ev, int64_t end, struct gt_err *err)
{
	ev->dur = end > ev->ts ? end - ev->ts : 0;
	ev->has |= GT_KINETO_DUR;
	return s->put(s->arg, ev, err);
}

static int start_sort(struct gt_kineto_slices *s, struct gt_err *err)
{
	int fd = gt_temporary(err);

	if (fd < 0)
		return fd;
	s->spool_fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (s->spool_fd < 0) {
		close(fd);
		return gt_err_set(err, -EMFILE, "no more descriptors");
	}
	if (gt_out_open_fd(&s->spool, fd, "a temporary file", err))
		return err->code;
	return gt_sorter_init(&s->sorter, sizeof(struct record), SORT_BUFFER, before, err);
}

static int spool_failed(const struct gt_kineto_slices *s, struct gt_err *err)
{
	return s->spool.failed
		? gt_err_set(err, s->spool.failed, "cannot write a temporary file: %s",
			  strerror(-s->spool.failed))
		: 0;
}

static int sort_event(struct gt_kineto_slices *s, uint64_t key, int64_t time,
	const struct gt_kineto_event *ev, bool ends, struct gt_err *err)
{
	size_t extra = ev ? ev->nextra * sizeof(*ev->extra_values) : 0;
	struct record *r;

	if (!s->sorter.buffer && start_sort(s, err))
		return err->code;
	r = gt_sorter_add(&s->sorter, err);
	if (!r)
		return err->code;
	*r = (struct record){ .key = key, .time = time, .order = ++s->order, .ends = ends };
	if (!ev)
		return 0;
	r->at = s->spooled + 1;
	gt_out_add(&s->spool, ev, EVENT_BYTES);
	gt_out_add(&s->spool, ev->extra_values, extra);
	s->spooled += EVENT_BYTES + extra;
	return spool_failed(s, err);
}

/* From here on, the events of the lane are sorted. */
static int start_sorting(
	struct gt_kineto_slices *s, struct gt_kineto_lane *lane, uint64_t key, struct gt_err *err)
{
	int e = 0;

	lane->sorted = true;
	for (size_t i = 0; !e && i < lane->nopen; i++)
		e = sort_event(s, key, lane->open[i].ts, &lane->open[i], false, err);
	s->nopen -= lane->nopen;
	lane->nopen = 0;
	free(lane->open);
	lane->open = NULL;
	lane->cap = 0;
	return e;
}

struct gt_kineto_event *gt_kineto_slice_open(struct gt_kineto_slices *s,
	struct gt_kineto_lane *lane, uint64_t key, int64_t time, struct gt_err *err)
{
	if (lane && !lane->sorted &&
		(time < lane->last || lane->nopen >= DEPTH_MAX || s->nopen >= OPEN_MAX) &&
		start_sorting(s, lane, key, err))
		return NULL;
	if (!lane || lane->sorted)
		return &s->beginning;
	lane->last = time;
	if (gt_grow(&lane->open, &lane->cap, lane->nopen + 1, sizeof(*lane->open))) {
		gt_kineto_no_memory(err);
		return NULL;
	}
	return &lane->open[lane->nopen];
}

int gt_kineto_slice_begin(struct gt_kineto_slices *s, struct gt_kineto_lane *lane, uint64_t key,
	const struct gt_kineto_event *ev, struct gt_err *err)
{
	if (!lane || lane->sorted)
		return sort_event(s, key, ev->ts, ev, false, err);
	lane->nopen++;
	s->nopen++;
	return 0;
}

int gt_kineto_slice_end(struct gt_kineto_slices *s, struct gt_kineto_lane *lane, uint64_t key,
	int64_t time, const struct gt_kineto_event *ev, struct gt_err *err)
{
	if (lane && !lane->sorted && (time < lane->last || !lane->nopen) &&
		start_sorting(s, lane, key, err))
		return err->code;
	if (!lane || lane->sorted)
		return sort_event(s, key, time, ev, true, err);
	lane->last = time;
	s->nopen--;
	return put_slice(s, &lane->open[--lane->nopen], time, err);
}

int gt_kineto_lane_finish(
	struct gt_kineto_slices *s, struct gt_kineto_lane *lane, struct gt_err *err)
{
	int e = 0;

	while (!e && lane->nopen)
		e = s->put_begin(s->arg, &lane->open[--lane->nopen], err);
	return e;
}

/* ---- the sorted pass ---- */

struct sorted {
	const char *events;
	uint64_t *stack; /* places in `events`, plus 1 */
	size_t n, cap;
};

static void read_spooled(const struct sorted *t, uint64_t at, struct gt_kineto_event *ev)
{
	const char *from = t->events + at - 1;

	memcpy(ev, from, EVENT_BYTES);
	memcpy(ev->extra_values, from + EVENT_BYTES, ev->nextra * sizeof(*ev->extra_values));
}

static int put_open(struct gt_kineto_slices *s, struct sorted *t, struct gt_err *err)
{
	struct gt_kineto_event ev;
	int e = 0;

	while (!e && t->n) {
		read_spooled(t, t->stack[--t->n], &ev);
		e = s->put_begin(s->arg, &ev, err);
	}
	return e;
}

static int put_record(
	struct gt_kineto_slices *s, struct sorted *t, const struct record *r, struct gt_err *err)
{
	struct gt_kineto_event ev;

	if (!r->ends) {
		if (t->n >= STACK_MAX)
			return gt_err_set(err, -E2BIG, "more than %u slices are open on one track",
				STACK_MAX);
		if (gt_grow(&t->stack, &t->cap, t->n + 1, sizeof(*t->stack)))
			return gt_kineto_no_memory(err);
		t->stack[t->n++] = r->at;
		return 0;
	}
	if (t->n) {
		read_spooled(t, t->stack[--t->n], &ev);
		return put_slice(s, &ev, r->time, err);
	}
	if (r->at)
		read_spooled(t, r->at, &ev);
	return s->put_end(s->arg, r->at ? &ev : NULL, err);
}

static int put_sorted(struct gt_kineto_slices *s, struct sorted *t, struct gt_err *err)
{
	bool first = true;
	uint64_t key = 0;
	struct record r;
	int more, e = 0;

	while (!e && (more = gt_sorter_next(&s->sorter, &r, err)) > 0) {
		if (!first && r.key != key)
			e = put_open(s, t, err);
		first = false;
		key = r.key;
		if (!e)
			e = put_record(s, t, &r, err);
	}
	return e ? e : more < 0 ? more : put_open(s, t, err);
}

int gt_kineto_slices_finish(struct gt_kineto_slices *s, struct gt_err *err)
{
	struct sorted t = { .events = NULL };
	void *map = NULL;
	int e;

	if (!s->sorter.buffer)
		return 0;
	gt_out_flush(&s->spool);
	if (spool_failed(s, err))
		return err->code;
	if (s->spooled)
		map = mmap(NULL, s->spooled, PROT_READ, MAP_SHARED, s->spool_fd, 0);
	if (map == MAP_FAILED)
		return gt_kineto_no_memory(err);
	t.events = map;
	e = put_sorted(s, &t, err);
	if (map)
		munmap(map, s->spooled);
	free(t.stack);
	return e;
}

void gt_kineto_slices_release(struct gt_kineto_slices *s)
{
	gt_sorter_release(&s->sorter);
	if (s->spool_fd > 0) {
		close(s->spool_fd);
		gt_out_close(&s->spool, NULL);
	}
}
