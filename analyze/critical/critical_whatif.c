/* How long a run would be without some of its calls and operations (--without).
 *
 * The rows of a process are replayed in order of their start. Each row begins as soon as everything
 * it depends on has ended (critical_graph.c), and takes as long as it took; a removed row takes no
 * time. The dependency that ended last delays the row by as much as in the recording: that is time
 * in a queue, or outside CUDA. The other dependencies only have to be over: the trace does not tell
 * how soon after them the row could have begun, so it may begin at once. A call that waits for work
 * ends as long after the last of this work as in the recording. If none of it is left, the call
 * takes this time from its start. A removed call does not wait.
 *
 * Each of these assumptions makes the run shorter rather than longer, and the GPU is assumed to run
 * any work at once and as fast as before. So the difference is an upper bound of the gain. If no
 * row is removed, all times are the recorded times. */
#include "analyze/critical/critical_graph.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "formats/base/heap.h"
#include "formats/os/file.h"

#define FILE_MIN (32u << 20) /* bytes; more go to a temporary file */

struct next_row { /* of a thread or stream: the row that begins next */
	int64_t start;
	uint32_t line, track;
	bool stream;
};
struct new_time {
	int64_t start, end; /* start: of calls only */
};
struct replay {
	struct gt_critical *c;
	const struct gt_critical_process *p;
	const bool *removed; /* by type number */
	struct next_row *heap;
	size_t n;
	/* of all rows of the process; by line: where its rows begin */
	struct new_time *times;
	size_t *first, bytes;
	int64_t end; /* of the last work; with --whole also of calls */
};

/* ---- new times ---- */

static int map_temporary(struct replay *a, struct gt_err *err)
{
	int fd = gt_temporary(err), rc;

	if (fd < 0)
		return fd;
	rc = posix_fallocate(fd, 0, (off_t)a->bytes);
	if (!rc) {
		a->times = mmap(NULL, a->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		rc = a->times == MAP_FAILED ? ENOMEM : 0;
	}
	close(fd);
	return rc ? gt_err_set(err, -rc, "cannot write a temporary file in %s (TMPDIR): %s",
			    gt_temporary_folder(), strerror(rc))
		  : 0;
}

static int map_times(struct replay *a, struct gt_err *err)
{
	size_t n = 1;

	for (size_t i = 0; i < a->p->nlines; i++) {
		a->first[a->p->lines[i]] = n;
		n += a->c->lines[a->p->lines[i]].rows.n;
	}
	a->bytes = n * sizeof(*a->times);
	if (a->bytes > FILE_MIN)
		return map_temporary(a, err);
	a->times = mmap(NULL, a->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return a->times == MAP_FAILED ? gt_err_set(err, -ENOMEM, "out of memory (new times)") : 0;
}

static struct new_time *time_of(const struct replay *a, uint32_t line, uint32_t index)
{
	return &a->times[a->first[line] + index];
}

static int64_t clamp(const struct replay *a, int64_t at)
{
	return at < a->p->from ? a->p->from : at > a->p->to ? a->p->to : at;
}
static int64_t duration_in_window(const struct replay *a, int64_t from, int64_t to)
{
	return clamp(a, to) - clamp(a, from);
}
static bool is_removed(const struct replay *a, const struct gt_stored_event *one)
{
	return one->type != GT_NONE && a->removed[one->type];
}

static struct gt_stored_event row_of(const struct replay *a, uint32_t line, uint32_t index)
{
	return gt_event_list_get(&a->c->store, &a->c->lines[line].rows, index);
}

/* ---- ends ---- */

/* The new end of a call that waits for work and has this new start. */
static int64_t end_of_waiting(const struct replay *a, const struct gt_critical_line *thread,
	const struct gt_stored_event *call, int64_t start, struct gt_critical_wait w)
{
	struct gt_dependency last = { 0 };
	int64_t latest = INT64_MIN, of_last = 0, rest;

	for (size_t i = 0; i < a->p->nlines; i++) {
		struct gt_dependency d =
			gt_critical_awaited_work(a->c, thread, call, w, a->p->lines[i]);
		int64_t end = d.what ? time_of(a, d.line, d.index)->end : INT64_MIN;

		latest = end > latest ? end : latest;
		if (d.what &&
			(!last.what || d.at > last.at || (d.at == last.at && end > of_last))) {
			last = d;
			of_last = end;
		}
	}
	if (!last.what)
		return start + duration_in_window(a, call->start, call->end);
	rest = duration_in_window(a, last.at, call->end);
	of_last = (of_last > start ? of_last : start) + rest;
	return of_last > latest ? of_last : latest;
}

/* Computes the end of the last call of a thread that has begun. The work it waits for has its new
 * times by now. */
static void end_last_call(const struct replay *a, uint32_t line)
{
	struct gt_critical_line *l = &a->c->lines[line];
	struct gt_critical_wait w;
	struct gt_stored_event call;
	struct new_time *t;

	if (!l->done || l->last_ended)
		return;
	l->last_ended = true;
	call = row_of(a, line, l->done - 1);
	t = time_of(a, line, l->done - 1);
	w = gt_critical_wait_of(a->c, l, &call);
	if (is_removed(a, &call)) {
		t->end = t->start;
	} else if (w.waits) {
		call.end = clamp(a, call.end);
		t->end = end_of_waiting(a, l, &call, t->start, w);
	} else {
		t->end = t->start + duration_in_window(a, call.start, call.end);
	}
}

/* ---- starts ---- */

static bool is_same(const struct gt_dependency *a, const struct gt_dependency *b)
{
	return a->what == b->what && a->line == b->line && a->index == b->index;
}

/* The earliest time at which a row that began at `start` can begin because of this dependency. */
static int64_t release_time(const struct replay *a, const struct gt_dependency *d,
	const struct gt_dependency *last, int64_t start)
{
	int64_t delay = is_same(d, last) ? duration_in_window(a, d->at, start) : 0;
	struct gt_critical_line *l = &a->c->lines[d->line];
	struct gt_stored_event call;

	if (d->what == GT_DEPENDS_ON_NOTHING)
		return INT64_MIN;
	if (d->what == GT_DEPENDS_ON_EARLIER)
		return a->p->from + delay;
	if (d->what == GT_DEPENDS_ON_RETURN && d->index + 1 == l->done)
		end_last_call(a, d->line);
	if (d->what != GT_DEPENDS_ON_CALL_START)
		return time_of(a, d->line, d->index)->end + delay;
	call = row_of(a, d->line, d->index);
	return (d->index < l->done ? time_of(a, d->line, d->index)->start : call.start) +
		(is_removed(a, &call) ? 0 : delay);
}

static int64_t latest_release(
	const struct replay *a, const struct gt_dependencies *s, int64_t start)
{
	const struct gt_dependency *const each[] = { &s->launch, &s->before, &s->other };
	int64_t latest = INT64_MIN;

	for (unsigned i = 0; i < 3; i++) {
		int64_t at = release_time(a, each[i], &s->last, start);

		latest = at > latest ? at : latest;
	}
	return latest > INT64_MIN ? latest : clamp(a, start);
}

static void begin_call(
	struct replay *a, uint32_t line, uint32_t index, const struct gt_stored_event *call)
{
	struct gt_critical_line *l = &a->c->lines[line];
	struct gt_dependencies s;

	gt_dependencies_of_call(a->c, line, index, call, &s);
	time_of(a, line, index)->start = latest_release(a, &s, call->start);
	l->done = index + 1;
	l->last_ended = false;
}

static void begin_work(
	struct replay *a, uint32_t line, uint32_t index, const struct gt_stored_event *work)
{
	struct gt_dependencies s;
	int64_t end;

	gt_dependencies_of_work(a->c, line, index, work, &s);
	end = latest_release(a, &s, work->start) +
		(is_removed(a, work) ? 0 : duration_in_window(a, work->start, work->end));
	time_of(a, line, index)->end = end;
	a->c->lines[line].done = index + 1;
	a->end = end > a->end ? end : a->end;
}

/* ---- in order of time ---- */

/* A call comes before work that began at the same time. */
static bool is_earlier(const void *arg, const struct next_row *a, const struct next_row *b)
{
	if (a->start != b->start)
		return a->start < b->start;
	return a->stream != b->stream ? b->stream : a->track < b->track;
}

GT_HEAP(replay, struct next_row, is_earlier)

static void start_lines(struct replay *a)
{
	for (size_t i = 0; i < a->p->nlines; i++) {
		struct gt_critical_line *l = &a->c->lines[a->p->lines[i]];

		l->done = 0;
		l->last_ended = false;
		if (l->rows.n)
			a->heap[a->n++] = (struct next_row){ l->rows.firsts[0], a->p->lines[i],
				l->track, l->stream };
	}
	for (size_t i = a->n; i--;)
		replay_down(NULL, a->heap, a->n, i, a->heap[i]);
}

static void step(struct replay *a)
{
	struct next_row *first = a->heap;
	uint32_t line = first->line, index = a->c->lines[line].done;
	struct gt_stored_event one = row_of(a, line, index);

	if (first->stream)
		begin_work(a, line, index, &one);
	else
		begin_call(a, line, index, &one);
	if (index + 1 < a->c->lines[line].rows.n)
		first->start = row_of(a, line, index + 1).start;
	else
		*first = a->heap[--a->n];
	replay_down(NULL, a->heap, a->n, 0, *first);
}

/* With --whole a call may end the run. */
static void end_last_calls(struct replay *a)
{
	for (size_t i = 0; i < a->p->nlines; i++) {
		uint32_t line = a->p->lines[i];
		int64_t end;

		if (a->c->lines[line].stream || !a->c->lines[line].done)
			continue;
		end_last_call(a, line);
		end = time_of(a, line, a->c->lines[line].done - 1)->end;
		a->end = end > a->end ? end : a->end;
	}
}

int gt_critical_time_without(struct gt_critical *c, const struct gt_critical_process *p,
	const bool *types, uint64_t *ns, struct gt_err *err)
{
	struct replay a = { .c = c, .p = p, .removed = types, .times = MAP_FAILED, .end = p->from };
	int rc = 0;

	a.heap = calloc(p->nlines + 1, sizeof(*a.heap));
	a.first = calloc(c->nlines + 1, sizeof(*a.first));
	if (!a.heap || !a.first)
		rc = gt_err_set(err, -ENOMEM, "out of memory (threads and streams)");
	if (!rc)
		rc = map_times(&a, err);
	if (!rc)
		start_lines(&a);
	while (!rc && a.n && a.heap[0].start <= p->to && !gt_event_store_failed(&c->store))
		step(&a);
	if (!rc && c->report.opt->whole)
		end_last_calls(&a);
	if (!rc && gt_event_store_failed(&c->store))
		rc = gt_err_set(err, c->store.err.code, "%s", c->store.err.text);
	*ns = (uint64_t)a.end - (uint64_t)p->from;
	if (a.times != MAP_FAILED)
		munmap(a.times, a.bytes);
	free(a.heap);
	free(a.first);
	return rc;
}
