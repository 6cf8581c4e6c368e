/* How far a report is, and whether it is still wanted, is learned from inside the run: beside the
 * report runs a watch, an analysis that makes no table, counts the blocks that come by and, when
 * nobody wants the report any more, fails, which ends the scan. There is one watch for each order
 * in which the report has the file read, so that none makes it be read once more.
 *
 * A job belongs to the thread from its start to its end; then the one who waits takes what it made.
 * Only one is at work, because they share a reader: one that was given up has to end first. */
#include "viewer/view/report_job.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "analyze/cli/time_range_option.h"
#include "analyze/idle/idle.h"
#include "viewer/util/background_thread.h"

#define THREADS 4u
#define KEPT 16u

struct key {
	const struct gt_analysis *what;
	struct gt_range range;
};
struct made {
	struct key key;
	struct gt_report_result *reported;
	uint64_t used;
};
struct job {
	/* the watch finds its job by them: it stays first */
	struct gt_analysis_options options;
	struct gt_report_job *owner;
	struct key key;
	struct gt_range *ranges; /* by segment */
	struct gt_analysis watches[GT_BY_TIME + 1];
	struct gt_report_result *reported;
	atomic_bool unwanted;
	atomic_ullong blocks;      /* that came by */
	_Atomic uint64_t expected; /* blocks; 0: not known yet */
	struct gt_err err;
};
struct gt_report_job {
	struct gt_archive *archive;
	struct gt_reader *reader; /* the thread's; opened by the first job */
	struct made made[KEPT];
	unsigned nmade;
	uint64_t uses;
	struct job *job; /* at work */
	struct gt_background_thread thread;
	struct key wanted; /* what NULL: nothing is */
};

struct gt_report_job *gt_report_job_new(struct gt_archive *a)
{
	struct gt_report_job *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->archive = a;
	gt_background_thread_init(&p->thread);
	return p;
}

/* ---- the watch ---- */

static int watch_init(
	void *state, struct gt_reader *r, const struct gt_analysis_options *opt, struct gt_err *err)
{
	*(struct job **)state =
		(struct job *)((char *)(uintptr_t)opt - offsetof(struct job, options));
	return 0;
}

static int watch_block(void *state, const struct gt_cols *cols, struct gt_err *err)
{
	struct job *job = *(struct job **)state;

	if (cols->last_of_block)
		atomic_fetch_add_explicit(&job->blocks, 1, memory_order_relaxed);
	return atomic_load_explicit(&job->unwanted, memory_order_relaxed)
		? gt_err_set(err, -ECANCELED, "given up")
		: 0;
}

static int watch_merge(void *into, void *from, struct gt_err *err) { return 0; }
static int watch_finish(void *state, struct gt_table **tables, unsigned max, struct gt_err *err)
{
	return 0;
}

/* What runs: the report, below the header, whose notes say what is missing in the trace, and a
 * watch for each order. */
static unsigned choose(struct job *job, const struct gt_analysis *chosen[GT_BY_TIME + 3])
{
	const struct gt_analysis *parts[] = { gt_analyses[0], job->key.what,
		job->key.what->engine };
	unsigned n = 0;

	for (unsigned order = 0; order <= GT_BY_TIME; order++) {
		struct gt_analysis *w = &job->watches[order];

		*w = (struct gt_analysis){ .name = "watch",
			.order = (enum gt_order)order,
			.splits = order == GT_ANY_ORDER ? GT_BY_BLOCK : 0,
			.state_size = sizeof(struct job *),
			.init = watch_init,
			.block = watch_block,
			.merge = watch_merge,
			.finish = watch_finish };
		for (unsigned i = 0; i < 3; i++)
			if (parts[i] && parts[i]->order == (enum gt_order)order &&
				(parts[i]->block || parts[i]->aggregates))
				w->wants |= parts[i]->wants;
		if (w->wants)
			chosen[n++] = w;
	}
	chosen[n++] = gt_analyses[0];
	if (job->key.what != gt_analyses[0])
		chosen[n++] = job->key.what;
	return n;
}

/* ---- in the thread ---- */

struct count {
	const struct gt_filter *filter;
	struct gt_reader *reader;
	const struct job *job;
	uint64_t n;
};

static int count_block(void *arg, const struct gt_block_info *f)
{
	struct count *c = arg;
	struct gt_range range = gt_range_of(c->filter, gt_reader_segment(c->reader, f->segment));

	for (unsigned order = 0;
		f->kind && f->start < range.to && f->end >= range.from && order <= GT_BY_TIME;
		order++)
		c->n += c->job->watches[order].wants >> f->kind & 1;
	return 0;
}

static int set_ranges(struct job *job, struct gt_reader *r, struct gt_err *err)
{
	uint32_t n = gt_reader_segments(r);
	struct gt_range all = job->key.range;

	if (all.from == INT64_MIN && all.to == INT64_MAX)
		return 0;
	job->ranges = gt_archive_ranges(job->owner->archive, all);
	if (!job->ranges)
		return gt_err_set(err, -ENOMEM, "out of memory");
	job->options.filter.ranged = true;
	job->options.filter.from = n ? job->ranges[0].from : all.from;
	job->options.filter.to = n ? job->ranges[0].to : all.to;
	job->options.filter.ranges = job->ranges;
	job->options.restrictions = "what is seen";
	return 0;
}

static int run(struct job *job, struct gt_reader *r, unsigned threads, struct gt_err *err)
{
	const struct gt_analysis *chosen[GT_BY_TIME + 3];
	struct gt_report_result *to = job->reported;
	struct gt_time_ranges asked;
	struct count count = { &job->options.filter, r, job, 0 };
	unsigned n = choose(job, chosen);
	int rc = gt_time_ranges_set(&asked, &job->options, r, NULL, NULL, NULL, err);

	if (!rc)
		rc = set_ranges(job, r, err);
	if (!rc)
		rc = gt_each_block(r, count_block, &count, err);
	atomic_store(&job->expected, count.n);
	if (!rc)
		rc = gt_run(r, chosen, n, &job->options, threads, to->tables, err);
	to->n = rc > 0 ? (unsigned)rc : 0;
	to->origins = asked.origins;
	asked.origins = NULL;
	gt_time_ranges_release(&asked);
	return rc < 0 ? rc : 0;
}

static uint64_t cells_of(const struct gt_report_result *r)
{
	uint64_t cells = 0;
	unsigned n;

	for (unsigned i = 0; i < r->n; i++) {
		gt_table_columns(r->tables[i], &n);
		cells += (uint64_t)n * gt_table_rows(r->tables[i]);
	}
	return cells;
}

static void drop_tables(struct gt_report_result *r)
{
	for (unsigned i = 0; i < GT_RUN_TABLES; i++) {
		gt_table_free(r->tables[i]);
		r->tables[i] = NULL;
	}
	r->n = 0;
}

static void work(void *arg)
{
	struct job *job = arg;
	struct gt_report_job *p = job->owner;
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	int rc = 0;

	if (!p->reader && !(p->reader = gt_reader_reopen(gt_archive_reader(p->archive), &job->err)))
		rc = job->err.code;
	if (!rc)
		rc = run(job, p->reader,
			processors < 1                       ? 1
				: processors < (long)THREADS ? (unsigned)processors
							     : THREADS,
			&job->err);
	for (unsigned i = 0; !rc && i < job->reported->n; i++)
		if (!job->reported->tables[i] || gt_table_failed(job->reported->tables[i]))
			rc = gt_err_set(&job->err, -ENOMEM, "out of memory");
	if (rc)
		drop_tables(job->reported);
	job->reported->cells = cells_of(job->reported);
	if (rc)
		snprintf(job->reported->why, sizeof(job->reported->why), "%s", job->err.text);
}

/* ---- what is made ---- */

static bool same(const struct key *a, const struct key *b)
{
	return a->what == b->what && a->range.from == b->range.from && a->range.to == b->range.to;
}

static void report_result_free(struct gt_report_result *r)
{
	if (!r)
		return;
	drop_tables(r);
	free(r->origins);
	free(r);
}

static void forget(struct gt_report_job *p, unsigned i)
{
	report_result_free(p->made[i].reported);
	p->made[i] = p->made[--p->nmade];
}

/* The one that was not used for the longest; p->nmade: all are held. */
static unsigned oldest(const struct gt_report_job *p)
{
	unsigned at = p->nmade;

	for (unsigned i = 0; i < p->nmade; i++)
		if (!p->made[i].reported->held &&
			(at == p->nmade || p->made[i].used < p->made[at].used))
			at = i;
	return at;
}

/* Makes room for so many cells and one more report. */
static void make_room(struct gt_report_job *p, uint64_t cells)
{
	for (;;) {
		uint64_t all = cells;
		unsigned at = oldest(p);

		for (unsigned i = 0; i < p->nmade; i++)
			all += p->made[i].reported->cells;
		if (at == p->nmade || (all <= GT_REPORTED_CELLS && p->nmade < KEPT))
			return;
		forget(p, at);
	}
}

static void job_free(struct job *job)
{
	report_result_free(job->reported);
	free(job->ranges);
	free(job);
}

/* A job that is done is over, and what it made is kept, unless it was given up. */
static void settle(struct gt_report_job *p)
{
	struct job *job = p->job;

	if (!gt_background_thread_take_end(&p->thread))
		return;
	p->job = NULL;
	if (p->reader)
		gt_reader_add_damage(gt_archive_reader(p->archive), p->reader);
	if (!atomic_load(&job->unwanted)) {
		make_room(p, job->reported->cells);
		if (p->nmade < KEPT) {
			p->made[p->nmade++] = (struct made){ job->key, job->reported, ++p->uses };
			job->reported = NULL;
		}
	}
	job_free(job);
}

/* ---- in the viewer's thread ---- */

/* Begins with what is wanted, if nothing is at work. */
static int begin(struct gt_report_job *p, struct gt_err *err)
{
	struct job *job;
	int rc;

	settle(p);
	if (p->job || !p->wanted.what)
		return 0;
	job = calloc(1, sizeof(*job));
	if (!job || !(job->reported = calloc(1, sizeof(*job->reported)))) {
		free(job);
		return gt_err_set(err, -ENOMEM, "out of memory");
	}
	job->owner = p;
	job->key = p->wanted;
	job->err = (struct gt_err)GT_ERR_INIT;
	job->options.file = "";
	rc = gt_background_thread_begin(&p->thread, work, job);
	if (rc) {
		job_free(job);
		return gt_err_set(err, rc, "no thread for a report: %s", strerror(-rc));
	}
	p->job = job;
	return 0;
}

int gt_report_job_take(struct gt_report_job *p, const struct gt_analysis *what,
	struct gt_range range, struct gt_report_result **to, struct gt_err *err)
{
	struct key key = { what, range };
	int rc;

	settle(p);
	for (unsigned i = 0; i < p->nmade; i++)
		if (same(&p->made[i].key, &key)) {
			gt_report_job_leave(p);
			p->made[i].used = ++p->uses;
			p->made[i].reported->held++;
			*to = p->made[i].reported;
			return 1;
		}
	if (p->job && !same(&p->job->key, &key))
		atomic_store(&p->job->unwanted, true);
	p->wanted = key;
	rc = begin(p, err);
	return rc;
}

void gt_report_job_release(struct gt_report_job *p, struct gt_report_result *r)
{
	if (r)
		r->held--;
}

void gt_report_job_leave(struct gt_report_job *p)
{
	p->wanted.what = NULL;
	if (p->job)
		atomic_store(&p->job->unwanted, true);
}

int gt_report_job_wait(struct gt_report_job *p, uint64_t us)
{
	return gt_background_thread_wait(&p->thread, us);
}

void gt_report_job_rest(struct gt_report_job *p)
{
	gt_report_job_leave(p);
	gt_report_job_wait(p, 0);
	settle(p);
}

unsigned gt_report_job_percent(const struct gt_report_job *p)
{
	uint64_t all = p->job ? atomic_load(&p->job->expected) : 0,
		 n = p->job ? atomic_load(&p->job->blocks) : 0;

	return !all || atomic_load(&p->job->unwanted) ? 0
		: n >= all                            ? 99
						      : (unsigned)(n * 100 / all);
}

void gt_report_job_free(struct gt_report_job *p)
{
	if (!p)
		return;
	gt_report_job_rest(p);
	while (p->nmade)
		forget(p, 0);
	gt_reader_close(p->reader);
	gt_background_thread_release(&p->thread);
	free(p);
}
