#include "viewer/view/queue_lanes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "analyze/columns/source_dedup.h"
#include "formats/base/buf.h"
#include "viewer/util/deadline.h"
#include "viewer/util/background_thread.h"

#define WHOLE_CELLS 4096u /* of the whole run */
/* 12 MiB; further streams are computed when they are visible */
#define WHOLE_QUEUES 256u
#define NEAR_CELLS (1u << 19) /* for all queues of a part: 6 MiB */
#define WINDOWS 3u            /* width of a part in windows, with the visible one in the middle */
#define FINER 2u              /* log2: cells of a part are finer than the visible ones */
#define PARTS 2u              /* number of results for parts */
#define DEBOUNCE_US 150000    /* time without a change of the window before a job begins */
/* a growing trace is read again after at least this multiple of the last read's duration */
#define IDLE_PART 4u

struct cells { /* a result: these queues in this window */
	struct gt_cell_window window;
	struct gt_queue_id *of;
	size_t n;
	int64_t end; /* end of the trace then, and how often it had grown */
	unsigned grown;
	struct gt_queue_cell *cells; /* window.cells of each */
	bool *known;                 /* of each */
};
struct job { /* the thread's from its start to its end */
	struct gt_queue_lanes *owner;
	struct cells result;
	int64_t *edges, *offset;      /* of the request */
	struct gt_queue_reach *reach; /* result of a job for the whole run; else NULL */
	struct gt_time_extent extent;
	uint32_t segments;
	/* file to open, and the offset to read from; negative: none */
	int file;
	uint64_t from, began; /* began: time, µs */
	atomic_uint percent;
	struct gt_err err;
	int rc;
};
struct gt_queue_lanes {
	struct gt_archive *archive;
	struct gt_time_extent extent;
	/* by segment: its types allow waiting launches */
	bool *any;
	struct gt_background_thread thread;
	unsigned grown; /* number of times the trace has grown */
	/* used by the thread; jobs for the whole run open them */
	struct gt_reader *reader;
	struct gt_source_dedup *dedup;
	struct job *job; /* running */
	/* last seen progress: frames show only this, so that two frames without a step are equal */
	unsigned percent;
	struct gt_queue_reach *reach; /* of the whole run, after the first read */
	/* state of the trace at that read: extent, number of segments, growth count */
	struct gt_time_extent read;
	uint32_t nreach;
	unsigned read_growth, read_count; /* read_count: of complete reads */
	uint64_t next_read;               /* time before which the trace is not read again, µs */
	/* between two archives: offsets of its segments */
	int64_t *offsets;
	uint32_t noffsets;
	struct cells whole, near[PARTS]; /* near: newest first */
	struct gt_cell_window window;    /* the request */
	struct gt_queue_id *of;
	size_t n, cap;
	uint64_t since; /* time of the request, µs */
	bool failed;    /* an error: the result stays unknown */
};

static int read_archive(
	struct gt_queue_lanes *q, struct gt_archive *a, const struct gt_time_extent *e)
{
	struct gt_reader *r = gt_archive_reader(a);

	q->any = calloc(gt_reader_segments(r) + 1ul, sizeof(*q->any));
	for (uint32_t i = 0; q->any && i < gt_reader_segments(r); i++)
		q->any[i] = gt_queues_may_exist(gt_reader_segment(r, i));
	q->archive = a;
	q->extent = *e;
	return q->any ? 0 : -ENOMEM;
}

struct gt_queue_lanes *gt_queue_lanes_new(struct gt_archive *a, const struct gt_time_extent *e)
{
	struct gt_queue_lanes *q = calloc(1, sizeof(*q));

	if (!q || read_archive(q, a, e)) {
		free(q);
		return NULL;
	}
	gt_background_thread_init(&q->thread);
	return q;
}

bool gt_queue_lanes_has_queue(const struct gt_queue_lanes *q, uint32_t segment)
{
	return q->any[segment] && (segment >= q->nreach || q->reach[segment].launches);
}

unsigned gt_queue_lanes_read_count(const struct gt_queue_lanes *q) { return q->read_count; }

/* Has the trace grown since the last complete read? */
static bool is_stale(const struct gt_queue_lanes *q)
{
	return !q->reach || q->read_growth != q->grown;
}

/* ---- results ---- */

static void cells_release(struct cells *c)
{
	free(c->of);
	free(c->cells);
	free(c->known);
	*c = (struct cells){ .n = 0 };
}

static void drop_results(struct gt_queue_lanes *q)
{
	cells_release(&q->whole);
	for (unsigned i = 0; i < PARTS; i++)
		cells_release(&q->near[i]);
}

static size_t find(const struct cells *c, const struct gt_queue_id *of)
{
	size_t i = 0;

	while (i < c->n && (c->of[i].segment != of->segment || c->of[i].track != of->track))
		i++;
	return i;
}

/* Does the result cover [from, to), as far as the trace extends? */
static bool covers(
	const struct cells *c, int64_t from, int64_t to, const struct gt_time_extent *trace)
{
	from = from > trace->from ? from : trace->from;
	to = to < trace->to ? to : trace->to;
	return c->n && (from >= to || (from >= c->window.from && to <= c->window.to));
}

/* All results that contain a queue. at: its index in each result, or n. Parts come first. */
struct queue_results {
	const struct cells *cells[PARTS + 1];
	size_t at[PARTS + 1];
	bool fits[PARTS + 1]; /* visible cells consist of whole cells of it */
};

static struct queue_results find_all(const struct gt_queue_lanes *q, const struct gt_queue_id *of)
{
	struct queue_results k;

	for (unsigned i = 0; i <= PARTS; i++) {
		k.cells[i] = i < PARTS ? &q->near[i] : &q->whole;
		k.at[i] = find(k.cells[i], of);
		k.fits[i] = k.at[i] < k.cells[i]->n &&
			gt_window_consists_of(&q->window, &k.cells[i]->window);
	}
	return k;
}

/* An older result does not know the cell in which the trace then ended, nor later cells. */
static bool covers_validly(
	const struct gt_queue_lanes *q, const struct cells *c, int64_t from, int64_t to)
{
	const struct gt_time_extent all = { .from = q->extent.from, .to = INT64_MAX };

	return c->grown == q->grown ? covers(c, from, to, &q->extent)
				    : to <= c->end && covers(c, from, to, &all);
}

/* Index of the result that covers this range and knows most of it; PARTS + 1: none. */
static unsigned best(
	const struct gt_queue_lanes *q, const struct queue_results *k, int64_t from, int64_t to)
{
	unsigned found = PARTS + 1;

	for (unsigned i = 0; i <= PARTS; i++)
		if (k->fits[i] && covers_validly(q, k->cells[i], from, to) &&
			(found > PARTS || k->cells[i]->grown > k->cells[found]->grown))
			found = i;
	return found;
}

/* Does the queue exist in the thread's state of the trace? No job may be opening it now. */
static bool exists_for_thread(const struct gt_queue_lanes *q, const struct gt_queue_id *of)
{
	return of->segment < q->nreach &&
		of->track < gt_reader_segment(q->reader, of->segment)->ntracks;
}

/* Do the results cover the request, in the state of the last complete read? */
static bool all_known(const struct gt_queue_lanes *q)
{
	const struct gt_cell_window *w = &q->window;

	for (size_t i = 0; q->reach && i < q->n; i++) {
		struct queue_results k = find_all(q, &q->of[i]);
		bool found = !exists_for_thread(q, &q->of[i]);

		for (unsigned c = 0; !found && c <= PARTS; c++)
			found = k.fits[c] && k.cells[c]->grown == q->read_growth &&
				covers(k.cells[c], w->from, w->to, &q->read);
		if (!found)
			return false;
	}
	return q->reach;
}

static void sum_up(const struct cells *c, size_t of, const struct gt_cell_window *w, unsigned cell,
	struct gt_counter_cell *to)
{
	int64_t from = gt_window_column(&c->window, gt_cell_start(w, cell)),
		end = gt_window_column(&c->window, gt_cell_start(w, cell + 1ll) - 1) + 1;
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

void gt_queue_lanes_get(
	const struct gt_queue_lanes *q, const struct gt_queue_id *of, struct gt_counter_cell *to)
{
	const struct gt_cell_window *w = &q->window;
	const struct gt_queue_reach *r = of->segment < q->nreach ? &q->reach[of->segment] : NULL;
	struct queue_results k = find_all(q, of);

	for (unsigned i = 0; i < w->cells; i++) {
		unsigned c = best(q, &k, gt_cell_start(w, i), gt_cell_start(w, i + 1ll));

		to[i] = (struct gt_counter_cell){ .known = false };
		if (c <= PARTS)
			sum_up(k.cells[c], k.at[c], w, i, &to[i]);
		to[i].is_lower_bound = r ? r->launches_missing || is_stale(q) : to[i].known;
		to[i].is_estimate = r && r->has_inferred;
	}
}

/* ---- in the thread ---- */

/* Opens the current state of the trace, which may be newer than the job's, but has the same
 * segments. */
static bool open_reader(struct gt_queue_lanes *q, struct job *job)
{
	gt_source_dedup_free(q->dedup);
	gt_reader_close(q->reader);
	q->dedup = NULL;
	q->reader = job->file < 0 ? NULL : gt_reader_open_from(job->file, job->from, &job->err);
	job->file = -1;
	return q->reader && gt_reader_segments(q->reader) == job->segments;
}

static void work(void *arg)
{
	struct job *job = arg;
	struct gt_queue_lanes *q = job->owner;
	struct cells *c = &job->result;
	struct gt_queue_request ask = { .of = c->of,
		.n = c->n,
		.cells = c->window.cells,
		.edges = job->edges,
		.offset = job->offset,
		.near = job->reach ? NULL : q->reach,
		.unwanted = &q->thread.cancelled,
		.percent = &job->percent };

	job->rc = -ENOMEM;
	if (job->reach && !open_reader(q, job))
		return;
	if (!q->dedup && !(q->dedup = gt_source_dedup_new(q->reader, &job->err)))
		return;
	ask.doubles = q->dedup;
	job->rc = gt_queue_cells(q->reader, &ask, c->cells, c->known, job->reach, &job->err);
}

/* ---- jobs ---- */

static void job_free(struct job *job)
{
	if (!job)
		return;
	cells_release(&job->result);
	gt_queue_reach_free(job->reach, job->segments);
	if (job->file >= 0)
		close(job->file);
	free(job->edges);
	free(job->offset);
	free(job);
}

static void forget_reach(struct gt_queue_lanes *q)
{
	gt_queue_reach_free(q->reach, q->nreach);
	q->reach = NULL;
	q->nreach = 0;
}

/* Stores the result of a job; a part replaces the oldest part. */
static void store_result(struct gt_queue_lanes *q, struct job *job)
{
	struct cells *to = &q->whole;

	if (job->reach) {
		forget_reach(q);
		q->reach = job->reach;
		q->nreach = job->segments;
		q->read = job->extent;
		q->read_growth = job->result.grown;
		q->read_count++;
		q->next_read = gt_now_us() + (gt_now_us() - job->began) * IDLE_PART;
		job->reach = NULL;
		cells_release(&q->whole);
	} else {
		cells_release(&q->near[PARTS - 1]);
		memmove(q->near + 1, q->near, (PARTS - 1) * sizeof(*q->near));
		to = q->near;
	}
	*to = job->result;
	job->result = (struct cells){ .n = 0 };
}

static void take_result(struct gt_queue_lanes *q)
{
	struct job *job = q->job;

	if (!gt_background_thread_take_end(&q->thread))
		return;
	q->job = NULL;
	if (q->reader && q->archive)
		gt_reader_add_damage(gt_archive_reader(q->archive), q->reader);
	if (!job->rc)
		store_result(q, job);
	else if (job->reach)
		/* the thread has already opened another state of the trace */
		forget_reach(q);
	q->failed |= job->rc && job->rc != -ECANCELED;
	job_free(job);
}

static int add_queue(struct cells *c, size_t *cap, uint32_t segment, uint32_t track)
{
	if (gt_grow(&c->of, cap, c->n + 1, sizeof(*c->of)))
		return -ENOMEM;
	c->of[c->n++] = (struct gt_queue_id){ segment, track };
	return 0;
}

/* All queues of the whole run, GPUs first. */
static int choose_whole(const struct gt_queue_lanes *q, struct cells *c)
{
	static const uint8_t kinds[] = { GT_TRACK_DEVICE, GT_TRACK_STREAM };
	struct gt_reader *r = gt_archive_reader(q->archive);
	size_t cap = 0;
	int rc = 0;

	c->window = q->window;
	c->window.cells *=
		WHOLE_CELLS / (c->window.cells < WHOLE_CELLS ? c->window.cells : WHOLE_CELLS);
	if (gt_window_is_aligned(&q->window) || !gt_window_shows_all(&q->window, &q->extent)) {
		c->window.cells = WHOLE_CELLS;
		gt_window_fit_aligned(&c->window, &q->extent);
	}
	for (unsigned k = 0; k < sizeof(kinds); k++)
		for (uint32_t s = 0; s < gt_reader_segments(r); s++) {
			const struct gt_segment *seg = gt_reader_segment(r, s);

			for (uint32_t t = 0;
				!rc && c->n < WHOLE_QUEUES && q->any[s] && t < seg->ntracks; t++)
				if (seg->tracks[t].kind == kinds[k])
					rc = add_queue(c, &cap, s, t);
		}
	return rc;
}

/* The range and cell width of a job: around the request and finer than it, within the limit. */
static int choose_near(const struct gt_queue_lanes *q, struct cells *c)
{
	const struct gt_cell_window *w = &q->window;
	uint64_t room = NEAR_CELLS / (q->n ? q->n : 1);
	unsigned windows = (uint64_t)w->cells * WINDOWS <= room ? WINDOWS : 1, finer = 0;
	int64_t first = (w->from >> w->shift) - (int64_t)(windows / 2 * w->cells);

	while (finer < FINER && finer < w->shift &&
		((uint64_t)w->cells * windows << (finer + 1)) <= room)
		finer++;
	c->window = *w;
	if (gt_window_is_aligned(w))
		c->window = gt_aligned_window((int64_t)((uint64_t)first << finer), w->shift - finer,
			w->cells * windows << finer);
	c->of = malloc(q->n * sizeof(*c->of));
	if (!c->of)
		return -ENOMEM;
	for (size_t i = 0; i < q->n; i++)
		if (exists_for_thread(q, &q->of[i]))
			c->of[c->n++] = q->of[i];
	return 0;
}

static int set_times(struct job *job, const struct gt_archive *a)
{
	const struct gt_cell_window *w = &job->result.window;

	job->edges = malloc((w->cells + 1ul) * sizeof(*job->edges));
	job->offset = malloc((job->segments + 1ul) * sizeof(*job->offset));
	if (!job->edges || !job->offset)
		return -ENOMEM;
	for (unsigned i = 0; i <= w->cells; i++)
		job->edges[i] = gt_cell_start(w, i);
	for (uint32_t i = 0; i < job->segments; i++)
		job->offset[i] = gt_archive_offset(a, i);
	return 0;
}

/* all: for the whole current trace; else for the request, in the thread's state of the trace. */
static struct job *job_new(struct gt_queue_lanes *q, bool all)
{
	struct gt_reader *r = gt_archive_reader(q->archive);
	uint32_t n = gt_reader_segments(r);
	struct job *job = calloc(1, sizeof(*job));
	struct cells *c;

	if (!job)
		return NULL;
	c = &job->result;
	job->owner = q;
	job->err = (struct gt_err)GT_ERR_INIT;
	job->file = -1;
	job->segments = n;
	job->extent = all ? q->extent : q->read;
	c->end = job->extent.to;
	c->grown = all ? q->grown : q->read_growth;
	job->began = gt_now_us();
	job->reach = all ? gt_queue_reach_new(r) : NULL;
	if ((all && !job->reach) || (all ? choose_whole(q, c) : choose_near(q, c)) ||
		set_times(job, q->archive))
		goto fail;
	if (all)
		job->file = gt_reader_file(r, &job->from, &job->err);
	c->cells = malloc((c->n * c->window.cells + 1) * sizeof(*c->cells));
	c->known = calloc(c->n + 1, sizeof(*c->known));
	if (!c->cells || !c->known)
		goto fail;
	return job;
fail:
	job_free(job);
	return NULL;
}

static int begin(struct gt_queue_lanes *q, bool all, struct gt_err *err)
{
	int rc;

	q->percent = 0;
	q->job = job_new(q, all);
	if (!q->job)
		return gt_err_set(err, -ENOMEM, "out of memory");
	rc = gt_background_thread_begin(&q->thread, work, q->job);
	if (!rc)
		return 0;
	job_free(q->job);
	q->job = NULL;
	return gt_err_set(err, rc, "no thread to count launches: %s", strerror(-rc));
}

/* Does the running job cover the requested window and lanes? */
static bool is_still_needed(const struct gt_queue_lanes *q)
{
	for (size_t i = 0; i < q->n && !q->job->reach; i++)
		if (exists_for_thread(q, &q->of[i]) &&
			find(&q->job->result, &q->of[i]) == q->job->result.n)
			return false;
	return q->job->reach ||
		(gt_window_consists_of(&q->window, &q->job->result.window) &&
			covers(&q->job->result, q->window.from, q->window.to, &q->read));
}

/* ---- in the viewer's thread ---- */

int gt_queue_lanes_request(struct gt_queue_lanes *q, const struct gt_cell_window *w,
	const struct gt_queue_id *of, size_t n, struct gt_err *err)
{
	if (q->n == n && gt_same_window(&q->window, w) &&
		(!n || !memcmp(q->of, of, n * sizeof(*of))))
		return 0;
	if (gt_grow(&q->of, &q->cap, n + 1, sizeof(*q->of)))
		return gt_err_set(err, -ENOMEM, "out of memory");
	memcpy(q->of, of, n * sizeof(*of));
	q->n = n;
	q->window = *w;
	q->since = gt_now_us();
	if (q->job && !is_still_needed(q))
		gt_background_thread_cancel(&q->thread);
	return 0;
}

/* Waits for a short time without a key press. 1: that time is not over. */
static int wait_quietly(uint64_t until, uint64_t us)
{
	uint64_t now = gt_now_us(), left = until > now ? until - now : 0;
	struct timespec t = { 0, (long)(left < us ? left : us) * 1000 };

	if (!us || !left)
		return 0;
	nanosleep(&t, NULL);
	return 1;
}

int gt_queue_lanes_step(struct gt_queue_lanes *q, uint64_t us, struct gt_err *err)
{
	for (;;) {
		take_result(q);
		if (q->failed || !q->n || (!q->job && !is_stale(q) && all_known(q)))
			return 0;
		if (!q->job) {
			bool all = is_stale(q) &&
				(!us || all_known(q) || !q->reach || gt_now_us() >= q->next_read);
			int rc = wait_quietly(all ? q->next_read : q->since + DEBOUNCE_US, us);

			rc = rc ? rc : begin(q, all, err);
			if (rc)
				return rc;
		}
		if (gt_background_thread_wait(&q->thread, us)) {
			q->percent = atomic_load(&q->job->percent);
			return 1;
		}
	}
}

void gt_queue_lanes_pause(struct gt_queue_lanes *q)
{
	if (q)
		gt_background_thread_cancel(&q->thread);
}

void gt_queue_lanes_stop(struct gt_queue_lanes *q)
{
	if (!q)
		return;
	gt_queue_lanes_pause(q);
	gt_background_thread_wait(&q->thread, 0);
	take_result(q);
}

unsigned gt_queue_lanes_percent(const struct gt_queue_lanes *q)
{
	return q->job ? q->percent : 100;
}

void gt_queue_lanes_free(struct gt_queue_lanes *q)
{
	if (!q)
		return;
	gt_queue_lanes_stop(q);
	drop_results(q);
	forget_reach(q);
	gt_source_dedup_free(q->dedup);
	gt_reader_close(q->reader);
	gt_background_thread_release(&q->thread);
	free(q->offsets);
	free(q->any);
	free(q->of);
	free(q);
}

/* ---- a trace that grows ---- */

void gt_queue_lanes_detach(struct gt_queue_lanes *q)
{
	if (!q || !q->archive)
		return;
	take_result(q);
	q->noffsets = gt_reader_segments(gt_archive_reader(q->archive));
	q->offsets = malloc((q->noffsets + 1ul) * sizeof(*q->offsets));
	for (uint32_t i = 0; q->offsets && i < q->noffsets; i++)
		q->offsets[i] = gt_archive_offset(q->archive, i);
	free(q->any);
	q->any = NULL;
	q->archive = NULL;
	q->n = 0;
}

/* Does a viewer's time mean the same moment of each recording as before? */
static bool same_times(const struct gt_queue_lanes *q, const struct gt_archive *a)
{
	bool same = q->offsets && q->noffsets <= gt_reader_segments(gt_archive_reader(a));

	for (uint32_t i = 0; same && i < q->noffsets; i++)
		same = q->offsets[i] == gt_archive_offset(a, i);
	return same;
}

int gt_queue_lanes_reopen(
	struct gt_queue_lanes *q, struct gt_archive *a, const struct gt_time_extent *e)
{
	bool same = same_times(q, a);

	free(q->offsets);
	q->offsets = NULL;
	if (!same) {
		drop_results(q);
		gt_background_thread_cancel(&q->thread);
	}
	q->grown++;
	q->failed = false;
	return read_archive(q, a, e);
}
