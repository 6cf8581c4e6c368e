#include "viewer/queue_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "analyze/doubles.h"
#include "formats/base/buf.h"
#include "viewer/deadline.h"
#include "viewer/thread.h"

#define WHOLE_CELLS 4096u	/* of the whole run */
#define WHOLE_QUEUES 256u	/* 12 MiB; those of further streams are found out where they are seen */
#define NEAR_CELLS (1u << 19)	/* of all queues of a part of it: 6 MiB */
#define BESIDE 3u		/* windows wide, the one that is seen in the middle */
#define FINER 2u		/* (log2) than what is seen */
#define KEPT 2u			/* parts */
#define REST_US 150000		/* without another window before it begins */

struct cells {				/* what is known: of these queues in this window */
	struct gt_window window;
	struct gt_queue_of *of;
	size_t n;
	struct gt_queue_cell *cells;	/* window.cells of each */
	bool *known;			/* of each */
};
struct job {				/* the thread's from its start to its end */
	struct gt_queue_rows *owner;
	struct cells made;
	int64_t *first;			/* by segment */
	struct gt_queue_reach *reach;	/* of the whole run: to be filled; else NULL */
	atomic_bool unwanted;
	atomic_uint percent;
	struct gt_err err;
	int rc;
};
struct gt_queue_rows {
	struct gt_archive *archive;
	struct gt_extent extent;
	bool *any;			/* by segment: by its types it may have launches that wait */
	struct gt_thread thread;
	struct gt_reader *reader;	/* the thread's, opened by the first job, as is: */
	struct gt_doubles *doubles;
	struct job *job;		/* at work */
	unsigned percent;		/* of it, when it was looked at last: two frames with nothing between them are one */
	struct gt_queue_reach *reach;	/* of the whole run, once it was read */
	struct cells whole, near[KEPT];	/* near: the newest first */
	struct gt_window window;	/* that is wanted, and of which queues */
	struct gt_queue_of *of;
	size_t n, cap;
	uint64_t since;			/* us: when; 0: whenever */
	bool failed;			/* it cannot be found out */
};

struct gt_queue_rows *gt_queue_rows_new(struct gt_archive *a, const struct gt_extent *e)
{
	struct gt_reader *r = gt_archive_reader(a);
	struct gt_queue_rows *q = calloc(1, sizeof(*q));

	if (!q || !(q->any = calloc(gt_reader_segments(r) + 1ul, sizeof(*q->any)))) {
		free(q);
		return NULL;
	}
	for (uint32_t i = 0; i < gt_reader_segments(r); i++)
		q->any[i] = gt_queue_any(gt_reader_segment(r, i));
	q->archive = a;
	q->extent = *e;
	gt_thread_init(&q->thread);
	return q;
}

bool gt_queue_rows_any(const struct gt_queue_rows *q, uint32_t segment)
{
	return q->any[segment] && (!q->reach || q->reach[segment].launches);
}

bool gt_queue_rows_read(const struct gt_queue_rows *q) { return q->reach; }

/* ---- what is known ---- */

static void cells_release(struct cells *c)
{
	free(c->of);
	free(c->cells);
	free(c->known);
	*c = (struct cells){ .n = 0 };
}

static size_t find(const struct cells *c, const struct gt_queue_of *of)
{
	size_t i = 0;

	while (i < c->n && (c->of[i].segment != of->segment || c->of[i].track != of->track))
		i++;
	return i;
}

/* Does it have all of [from, to), as far as the trace goes, in cells of that width or finer? */
static bool spans(const struct gt_queue_rows *q, const struct cells *c, unsigned shift, int64_t from, int64_t to)
{
	from = from > q->extent.from ? from : q->extent.from;
	to = to < q->extent.to ? to : q->extent.to;
	return c->n && c->window.shift <= shift && (from >= to || (from >= gt_cell_start(&c->window, 0) && to <= gt_window_end(&c->window)));
}

/* All that is known of a queue: at: its number in each, or their n. The nearest first. */
struct known { const struct cells *cells[KEPT + 1]; size_t at[KEPT + 1]; };

static struct known find_all(const struct gt_queue_rows *q, const struct gt_queue_of *of)
{
	struct known k;

	for (unsigned i = 0; i <= KEPT; i++) {
		k.cells[i] = i < KEPT ? &q->near[i] : &q->whole;
		k.at[i] = find(k.cells[i], of);
	}
	return k;
}

/* Which of these says what is to be said of that stretch of time; KEPT + 1: none does. */
static unsigned best(const struct gt_queue_rows *q, const struct known *k, unsigned shift, int64_t from, int64_t to)
{
	unsigned i = 0;

	while (i <= KEPT && !(k->at[i] < k->cells[i]->n && spans(q, k->cells[i], shift, from, to)))
		i++;
	return i;
}

static bool all_known(const struct gt_queue_rows *q)
{
	const struct gt_window *w = &q->window;

	for (size_t i = 0; i < q->n; i++) {
		struct known k = find_all(q, &q->of[i]);

		if (best(q, &k, w->shift, gt_cell_start(w, 0), gt_window_end(w)) > KEPT)
			return false;
	}
	return true;
}

static void sum_up(const struct cells *c, size_t of, const struct gt_window *w, unsigned cell, struct gt_gauge_cell *to)
{
	unsigned finer = w->shift - c->window.shift;
	int64_t from = (int64_t)((uint64_t)(w->first + cell) << finer) - c->window.first, end = from + (int64_t)(1ull << finer);
	struct gt_queue_cell sum = { UINT32_MAX, 0, 0 };

	from = from < 0 ? 0 : from;
	end = end > c->window.cells ? c->window.cells : end;
	for (int64_t i = from; i < end; i++) {
		const struct gt_queue_cell *one = &c->cells[of * c->window.cells + (size_t)i];

		if (one->least == UINT32_MAX)
			continue;
		sum.least = one->least < sum.least ? one->least : sum.least;
		sum.most = one->most > sum.most ? one->most : sum.most;
		sum.last = one->last;
	}
	to->known = c->known[of];
	to->low = sum.least == UINT32_MAX ? 0 : sum.least;
	to->high = sum.most;
	to->last = sum.last;
}

void gt_queue_rows_cells(const struct gt_queue_rows *q, const struct gt_queue_of *of, struct gt_gauge_cell *to)
{
	const struct gt_window *w = &q->window;
	const struct gt_queue_reach *r = q->reach ? &q->reach[of->segment] : NULL;
	struct known k = find_all(q, of);

	for (unsigned i = 0; i < w->cells; i++) {
		unsigned c = best(q, &k, w->shift, gt_cell_start(w, i), gt_cell_start(w, i + 1));

		to[i] = (struct gt_gauge_cell){ .known = false };
		if (c <= KEPT)
			sum_up(k.cells[c], k.at[c], w, i, &to[i]);
		to[i].some = r && r->some;
		to[i].likely = r && r->likely;
	}
}

/* ---- in the thread ---- */

static void work(void *arg)
{
	struct job *job = arg;
	struct gt_queue_rows *q = job->owner;
	struct cells *c = &job->made;
	struct gt_queue_ask ask = { .of = c->of, .n = c->n, .shift = c->window.shift, .cells = c->window.cells, .first = job->first,
				    .near = job->reach ? NULL : q->reach, .unwanted = &job->unwanted, .percent = &job->percent };

	job->rc = -ENOMEM;
	if (!q->reader && !(q->reader = gt_reader_again(gt_archive_reader(q->archive), &job->err)))
		return;
	if (!q->doubles && !(q->doubles = gt_doubles_new(q->reader, &job->err)))
		return;
	ask.doubles = q->doubles;
	job->rc = gt_queue_cells(q->reader, &ask, c->cells, c->known, job->reach, &job->err);
}

/* ---- jobs ---- */

static void job_free(struct gt_queue_rows *q, struct job *job)
{
	if (!job)
		return;
	cells_release(&job->made);
	gt_queue_reach_free(job->reach, gt_reader_segments(gt_archive_reader(q->archive)));
	free(job->first);
	free(job);
}

/* What a job has made is kept: that of a part in place of the oldest. */
static void keep(struct gt_queue_rows *q, struct job *job)
{
	struct cells *to = &q->whole;

	if (job->reach) {
		q->reach = job->reach;
		job->reach = NULL;
	} else {
		cells_release(&q->near[KEPT - 1]);
		memmove(q->near + 1, q->near, (KEPT - 1) * sizeof(*q->near));
		to = q->near;
	}
	*to = job->made;
	job->made = (struct cells){ .n = 0 };
}

static void settle(struct gt_queue_rows *q)
{
	struct job *job = q->job;

	if (!gt_thread_ended(&q->thread))
		return;
	q->job = NULL;
	if (q->reader)
		gt_reader_take_damage(gt_archive_reader(q->archive), q->reader);
	if (!job->rc)
		keep(q, job);
	q->failed |= job->rc && job->rc != -ECANCELED;
	job_free(q, job);
}

static int add_queue(struct cells *c, size_t *cap, uint32_t segment, uint32_t track)
{
	if (gt_grow(&c->of, cap, c->n + 1, sizeof(*c->of)))
		return -ENOMEM;
	c->of[c->n++] = (struct gt_queue_of){ segment, track };
	return 0;
}

/* Of the whole run: its GPUs first. */
static int choose_whole(const struct gt_queue_rows *q, struct cells *c)
{
	static const uint8_t kinds[] = { GT_TRACK_DEVICE, GT_TRACK_STREAM };
	struct gt_reader *r = gt_archive_reader(q->archive);
	size_t cap = 0;
	int rc = 0;

	c->window.cells = WHOLE_CELLS;
	gt_window_fit(&c->window, &q->extent);
	for (unsigned k = 0; k < sizeof(kinds); k++)
		for (uint32_t s = 0; s < gt_reader_segments(r); s++) {
			const struct gt_segment *seg = gt_reader_segment(r, s);

			for (uint32_t t = 0; !rc && c->n < WHOLE_QUEUES && q->any[s] && t < seg->ntracks; t++)
				if (seg->tracks[t].kind == kinds[k])
					rc = add_queue(c, &cap, s, t);
		}
	return rc;
}

/* Around what is wanted, finer than it, as far as there is room for it. */
static int choose_near(const struct gt_queue_rows *q, struct cells *c)
{
	const struct gt_window *w = &q->window;
	uint64_t room = NEAR_CELLS / q->n;
	unsigned beside = (uint64_t)w->cells * BESIDE <= room ? BESIDE : 1, finer = 0;

	while (finer < FINER && finer < w->shift && ((uint64_t)w->cells * beside << (finer + 1)) <= room)
		finer++;
	c->window = (struct gt_window){ .first = (int64_t)((uint64_t)(w->first - (int64_t)(beside / 2 * w->cells)) << finer),
					.shift = w->shift - finer, .cells = w->cells * beside << finer };
	c->of = malloc(q->n * sizeof(*c->of));
	if (!c->of)
		return -ENOMEM;
	memcpy(c->of, q->of, q->n * sizeof(*c->of));
	c->n = q->n;
	return 0;
}

static struct job *job_new(struct gt_queue_rows *q)
{
	struct gt_reader *r = gt_archive_reader(q->archive);
	uint32_t n = gt_reader_segments(r);
	struct job *job = calloc(1, sizeof(*job));
	struct cells *c;

	if (!job)
		return NULL;
	c = &job->made;
	job->owner = q;
	job->err = (struct gt_err)GT_ERR_INIT;
	job->first = malloc((n + 1ul) * sizeof(*job->first));
	job->reach = q->reach ? NULL : gt_queue_reach_new(r);
	if (!job->first || !(q->reach || job->reach) || (q->reach ? choose_near(q, c) : choose_whole(q, c)))
		goto fail;
	c->cells = malloc((c->n * c->window.cells + 1) * sizeof(*c->cells));
	c->known = calloc(c->n + 1, sizeof(*c->known));
	if (!c->cells || !c->known)
		goto fail;
	for (uint32_t i = 0; i < n; i++)
		job->first[i] = c->window.first + (gt_archive_offset(q->archive, i) >> c->window.shift);
	return job;
fail:
	job_free(q, job);
	return NULL;
}

static int begin(struct gt_queue_rows *q, struct gt_err *err)
{
	int rc;

	q->percent = 0;
	q->job = job_new(q);
	if (!q->job)
		return gt_err_set(err, -ENOMEM, "out of memory");
	rc = gt_thread_begin(&q->thread, work, q->job);
	if (!rc)
		return 0;
	job_free(q, q->job);
	q->job = NULL;
	return gt_err_set(err, rc, "no thread to count launches: %s", strerror(-rc));
}

/* Will what it is at say what is wanted? */
static bool is_of_use(const struct gt_queue_rows *q)
{
	for (size_t i = 0; i < q->n && !q->job->reach; i++)
		if (find(&q->job->made, &q->of[i]) == q->job->made.n)
			return false;
	return q->job->reach || spans(q, &q->job->made, q->window.shift, gt_cell_start(&q->window, 0), gt_window_end(&q->window));
}

/* ---- in the viewer's thread ---- */

int gt_queue_rows_want(struct gt_queue_rows *q, const struct gt_window *w, const struct gt_queue_of *of, size_t n, struct gt_err *err)
{
	if (gt_grow(&q->of, &q->cap, n + 1, sizeof(*q->of)))
		return gt_err_set(err, -ENOMEM, "out of memory");
	memcpy(q->of, of, n * sizeof(*of));
	q->n = n;
	q->window = *w;
	q->since = q->reach ? gt_now_us() : 0;	/* the first time it reads everything, wherever one looks */
	if (q->job && !is_of_use(q))
		atomic_store(&q->job->unwanted, true);
	return 0;
}

/* A little of the time that nobody presses a key. 1: that is not over yet. */
static int rest(const struct gt_queue_rows *q, uint64_t us)
{
	uint64_t now = gt_now_us(), left = q->since + REST_US > now ? q->since + REST_US - now : 0;
	struct timespec t = { 0, (long)(left < us ? left : us) * 1000 };

	if (!us || !left)
		return 0;
	nanosleep(&t, NULL);
	return 1;
}

int gt_queue_rows_step(struct gt_queue_rows *q, uint64_t us, struct gt_err *err)
{
	for (;;) {
		settle(q);
		if (q->failed || !q->n || (!q->job && all_known(q)))
			return 0;
		if (!q->job) {
			int rc = rest(q, us);

			rc = rc ? rc : begin(q, err);
			if (rc)
				return rc;
		}
		if (gt_thread_wait(&q->thread, us)) {
			q->percent = atomic_load(&q->job->percent);
			return 1;
		}
	}
}

void gt_queue_rows_leave(struct gt_queue_rows *q)
{
	if (q->job)
		atomic_store(&q->job->unwanted, true);
}

unsigned gt_queue_rows_percent(const struct gt_queue_rows *q)
{
	return q->job ? q->percent : 100;
}

void gt_queue_rows_free(struct gt_queue_rows *q)
{
	if (!q)
		return;
	gt_queue_rows_leave(q);
	gt_thread_wait(&q->thread, 0);
	settle(q);
	cells_release(&q->whole);
	for (unsigned i = 0; i < KEPT; i++)
		cells_release(&q->near[i]);
	gt_queue_reach_free(q->reach, gt_reader_segments(gt_archive_reader(q->archive)));
	gt_doubles_free(q->doubles);
	gt_reader_close(q->reader);
	gt_thread_release(&q->thread);
	free(q->any);
	free(q->of);
	free(q);
}
