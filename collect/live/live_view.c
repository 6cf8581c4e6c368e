#define _GNU_SOURCE
#include "collect/live/live_view.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include "collect/live/growing_trace.h"
#include "collect/live/live_figures.h"
#include "collect/live/row_lines.h"
#include "formats/trace/clock.h"

#define LOOK_EVERY 50           /* ms: an epoch closes about once a second */
#define SHOW_EVERY 1000000000LL /* ns */
#define TOP_LINE 3
#define TOP_SCREEN 15

struct gt_live_view {
	struct gt_live_view_options opt;
	struct gt_growing_trace trace;
	struct gt_live_figures figures;
	struct gt_out out;
	struct gt_jsonl *json; /* NULL: none yet */
	bool has_new;          /* the figures have changed since they were shown */
	int64_t shown_at;      /* ns */
	pthread_t thread;
	int end; /* eventfd: the trace is complete */
	atomic_bool is_closed;
	struct gt_err err;
};

static int take_row(void *arg, const struct gt_event *ev)
{
	struct gt_live_view *v = arg;

	if (v->opt.json && !v->json)
		v->json = gt_jsonl_open(v->trace.reader, &v->out, &v->opt.start, &v->err);
	if (v->opt.json && (!v->json || gt_jsonl_put(v->json, ev)))
		return v->err.code;
	if (v->opt.rows && !v->opt.json)
		gt_row_line_print(&v->out, ev, v->opt.start);
	if (v->opt.figures)
		v->has_new |= gt_live_figures_add(&v->figures, ev);
	return v->out.failed;
}

static void show_figures(struct gt_live_view *v, int64_t now)
{
	bool terminal = isatty(STDERR_FILENO);

	if (!gt_live_figures_print(&v->figures, gt_reader_segment(v->trace.reader, 0), stderr,
		    terminal, terminal ? TOP_SCREEN : TOP_LINE, v->opt.start))
		return;
	gt_live_figures_next(&v->figures);
	v->shown_at = now;
	v->has_new = false;
}

/* False: nothing more can be read or printed. */
static bool look(struct gt_live_view *v, bool last)
{
	int64_t now = gt_clock_monotonic();
	int rc;

	rc = gt_growing_trace_read(&v->trace, last, take_row, v, &v->err);
	if (v->opt.rows)
		gt_out_flush(&v->out);
	if (v->opt.figures && v->has_new && (last || now - v->shown_at >= SHOW_EVERY))
		show_figures(v, now);
	if (v->out.failed == -EPIPE)
		atomic_store(&v->is_closed, true);
	return rc >= 0 && !v->out.failed;
}

static void *run(void *arg)
{
	struct gt_live_view *v = arg;
	struct pollfd p = { .fd = v->end, .events = POLLIN };
	bool works = true;

	while (works && !p.revents) {
		poll(&p, 1, LOOK_EVERY);
		works = look(v, p.revents);
	}
	return NULL;
}

struct gt_live_view *gt_live_view_start(const struct gt_live_view_options *opt, struct gt_err *err)
{
	struct gt_live_view *v = calloc(1, sizeof(*v));
	int code = 0;

	if (!v) {
		gt_err_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	v->opt = *opt;
	v->trace.path = opt->path;
	v->shown_at = opt->start;
	v->err = (struct gt_err)GT_ERR_INIT;
	v->end = eventfd(0, EFD_CLOEXEC);
	if (v->end < 0)
		code = errno;
	else if (gt_out_open_fd(&v->out, STDOUT_FILENO, "standard output", err))
		code = -err->code;
	else if ((code = pthread_create(&v->thread, NULL, run, v)))
		gt_out_close(&v->out, err);
	if (!code)
		return v;
	gt_err_set(err, -code, "cannot print while recording: %s", strerror(code));
	if (v->end >= 0)
		close(v->end);
	free(v);
	return NULL;
}

bool gt_live_view_is_closed(const struct gt_live_view *v)
{
	return v && atomic_load(&v->is_closed);
}

int gt_live_view_finish(struct gt_live_view *v, struct gt_err *err)
{
	const uint64_t one = 1;
	int code;

	if (!v)
		return 0;
	while (write(v->end, &one, sizeof(one)) < 0 && errno == EINTR)
		;
	pthread_join(v->thread, NULL);
	gt_jsonl_close(v->json);
	code = gt_out_close(&v->out, err);
	if (atomic_load(&v->is_closed)) /* its reader needs no more */
		code = 0;
	else if (v->err.code && !code) {
		*err = v->err;
		code = err->code;
	}
	close(v->end);
	gt_live_figures_release(&v->figures);
	gt_growing_trace_close(&v->trace);
	free(v);
	return code;
}
