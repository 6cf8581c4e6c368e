/* Progress and cancellation work from inside the run: a "watch" analysis without tables runs beside
 * the report, counts its blocks, and fails when the job is cancelled, which ends the scan. There is
 * one watch for each order in which the report reads the file, so that no watch causes another
 * read.
 *
 * The thread uses a job from its start to its end; then the viewer's thread takes the result. Jobs
 * share a reader, so a cancelled job must end before the next one starts. */
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
#define RESULTS_MOST 16u

struct key {
	const struct gt_analysis *what;
	struct gt_range range;
};
struct cached_result {
	struct key key;
	struct gt_report_result *result;
	uint64_t used;
};
struct job {
	/* the watch finds its job by them: this member stays first */
	struct gt_analysis_options options;
	struct gt_report_job *owner;
	struct key key;
	struct gt_range *ranges;
	char restrictions[300];
	struct gt_analysis watches[GT_BY_TIME + 1];
	struct gt_report_result *result;
	atomic_ullong blocks;      /* processed */
	_Atomic uint64_t expected; /* blocks; 0: not known yet */
	struct gt_err err;
};
struct gt_report_job {
	struct gt_archive *archive;
	const char *excluded;
	struct gt_reader *reader; /* used by the thread; the first job opens it */
	struct cached_result results[RESULTS_MOST];
	unsigned nresults;
	uint64_t uses;
	struct job *job; /* running */
	struct gt_background_thread thread;
	struct key request; /* what NULL: no request */
};

struct gt_report_job *gt_report_job_new(struct gt_archive *a, const char *excluded)
{
	struct gt_report_job *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->archive = a;
	p->excluded = excluded;
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
	return atomic_load_explicit(&job->owner->thread.cancelled, memory_order_relaxed)
		? gt_err_set(err, -ECANCELED, "given up")
		: 0;
}

static int watch_finish(void *state, struct gt_table **tables, unsigned max, struct gt_err *err)
{
	return 0;
}

/* Selects the analyses to run: the header, whose notes describe missing data, the report, and one
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

/* The trace is a copy without the excluded names. */
static bool is_not_excluded(const struct gt_segment *seg, const struct gt_type *type, void *arg)
{
	return true;
}

static int set_filter(struct job *job, struct gt_err *err)
{
	const char *excluded = job->owner->excluded;
	int rc = gt_archive_limit(
		job->owner->archive, job->key.range, &job->options.filter, &job->ranges, err);

	if (excluded) {
		job->options.filter.match = is_not_excluded;
		job->options.match_options = GT_BY_EXCLUDE;
	}
	snprintf(job->restrictions, sizeof(job->restrictions), "%s%s%s%s",
		excluded ? "--exclude " : "", excluded ? excluded : "",
		excluded && job->ranges ? ", " : "", job->ranges ? "the visible range" : "");
	job->options.restrictions = job->restrictions[0] ? job->restrictions : NULL;
	return rc;
}

static int run(struct job *job, struct gt_reader *r, unsigned threads, struct gt_err *err)
{
	const struct gt_analysis *chosen[GT_BY_TIME + 3];
	struct gt_report_result *to = job->result;
	struct gt_time_ranges asked;
	struct count count = { &job->options.filter, r, job, 0 };
	unsigned n = choose(job, chosen);
	int rc = gt_time_ranges_set(&asked, &job->options, r, NULL, NULL, NULL, err);

	if (!rc)
		rc = set_filter(job, err);
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
	for (unsigned i = 0; !rc && i < job->result->n; i++)
		if (!job->result->tables[i] || gt_table_failed(job->result->tables[i]))
			rc = gt_err_set(&job->err, -ENOMEM, "out of memory");
	if (rc)
		drop_tables(job->result);
	job->result->cells = cells_of(job->result);
	if (rc)
		snprintf(job->result->why, sizeof(job->result->why), "%s", job->err.text);
}

/* ---- results ---- */

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

static void drop_result(struct gt_report_job *p, unsigned i)
{
	report_result_free(p->results[i].result);
	p->results[i] = p->results[--p->nresults];
}

/* The least recently used result without users; p->nresults: none. */
static unsigned oldest(const struct gt_report_job *p)
{
	unsigned at = p->nresults;

	for (unsigned i = 0; i < p->nresults; i++)
		if (!p->results[i].result->users &&
			(at == p->nresults || p->results[i].used < p->results[at].used))
			at = i;
	return at;
}

/* Removes results until so many cells and one more report fit. */
static void evict_results(struct gt_report_job *p, uint64_t cells)
{
	for (;;) {
		uint64_t all = cells;
		unsigned at = oldest(p);

		for (unsigned i = 0; i < p->nresults; i++)
			all += p->results[i].result->cells;
		if (at == p->nresults ||
			(all <= GT_REPORT_CELLS_MOST && p->nresults < RESULTS_MOST))
			return;
		drop_result(p, at);
	}
}

static void job_free(struct job *job)
{
	report_result_free(job->result);
	free(job->ranges);
	free(job);
}

/* Takes the result of a job that has ended; drops that of a cancelled one. */
static void take_result(struct gt_report_job *p)
{
	struct job *job = p->job;

	if (!gt_background_thread_take_end(&p->thread))
		return;
	p->job = NULL;
	if (p->reader)
		gt_reader_add_damage(gt_archive_reader(p->archive), p->reader);
	if (!atomic_load(&p->thread.cancelled)) {
		evict_results(p, job->result->cells);
		if (p->nresults < RESULTS_MOST) {
			p->results[p->nresults++] =
				(struct cached_result){ job->key, job->result, ++p->uses };
			job->result = NULL;
		}
	}
	job_free(job);
}

/* ---- in the viewer's thread ---- */

/* Starts the requested report if no job is running. */
static int begin(struct gt_report_job *p, struct gt_err *err)
{
	struct job *job;
	int rc;

	take_result(p);
	if (p->job || !p->request.what)
		return 0;
	job = calloc(1, sizeof(*job));
	if (!job || !(job->result = calloc(1, sizeof(*job->result)))) {
		free(job);
		return gt_err_set(err, -ENOMEM, "out of memory");
	}
	job->owner = p;
	job->key = p->request;
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

	take_result(p);
	for (unsigned i = 0; i < p->nresults; i++)
		if (same(&p->results[i].key, &key)) {
			gt_report_job_cancel(p);
			p->results[i].used = ++p->uses;
			p->results[i].result->users++;
			*to = p->results[i].result;
			return 1;
		}
	if (p->job && !same(&p->job->key, &key))
		gt_background_thread_cancel(&p->thread);
	p->request = key;
	return begin(p, err);
}

void gt_report_job_release(struct gt_report_result *r)
{
	if (r)
		r->users--;
}

void gt_report_job_cancel(struct gt_report_job *p)
{
	p->request.what = NULL;
	gt_background_thread_cancel(&p->thread);
}

int gt_report_job_wait(struct gt_report_job *p, uint64_t us)
{
	return gt_background_thread_wait(&p->thread, us);
}

void gt_report_job_stop(struct gt_report_job *p)
{
	gt_report_job_cancel(p);
	gt_report_job_wait(p, 0);
	take_result(p);
}

unsigned gt_report_job_percent(const struct gt_report_job *p)
{
	uint64_t all = p->job ? atomic_load(&p->job->expected) : 0,
		 n = p->job ? atomic_load(&p->job->blocks) : 0;

	return !all || atomic_load(&p->thread.cancelled) ? 0
		: n >= all                               ? 99
							 : (unsigned)(n * 100 / all);
}

void gt_report_job_free(struct gt_report_job *p)
{
	if (!p)
		return;
	gt_report_job_stop(p);
	while (p->nresults)
		drop_result(p, 0);
	gt_reader_close(p->reader);
	gt_background_thread_release(&p->thread);
	free(p);
}
