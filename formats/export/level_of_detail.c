/* What merges is the short rows of a track, of one class (calls, spans and GPU work, instants),
 * whatever their nesting: few slices are left, and the result is a trace that each exporter of rows
 * can write. Rows lose their arrows and nesting when they merge.
 *
 * The page of --html does not use this: html_lanes.c merges its slices per level of nesting, and
 * keeps calls apart while GPU work may still lead back to them. */
#include "formats/export/level_of_detail.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>
#include "formats/base/buf.h"
#include "formats/base/map.h"
#include "formats/os/file.h"

#define LONG_MAX_OPEN 32u /* long rows of a track that are considered at one time */
#define ROUNDS_MAX 64u

enum { CALLS, SPANS, INSTANTS, CLASSES };

struct group {
	struct gt_event first; /* its args are in args[] */
	uint64_t *args;
	size_t args_cap;
	int64_t end, busy_end;
	uint64_t n, busy;
	/* when the long rows around it end */
	int64_t long_ends[LONG_MAX_OPEN];
	unsigned nlong;
};
struct counter {
	uint32_t track, type;
	int64_t last; /* the start of the value that was put out last */
};
struct gt_row_merger {
	const struct gt_segment *seg;
	struct gt_detail *detail;
	struct gt_merge_output out;
	struct group **groups; /* by track and class; NULL: no row yet */
	struct counter *counters;
	size_t ncounters, counters_cap;
	struct gt_map counter_map;
};

struct gt_row_merger *gt_merge_new(
	const struct gt_segment *seg, struct gt_detail *detail, const struct gt_merge_output *out)
{
	struct gt_row_merger *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	*m = (struct gt_row_merger){ .seg = seg, .detail = detail, .out = *out };
	m->groups = calloc((size_t)seg->ntracks * CLASSES + 1, sizeof(struct group *));
	if (m->groups)
		return m;
	free(m);
	return NULL;
}

void gt_merge_free(struct gt_row_merger *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < (size_t)m->seg->ntracks * CLASSES; i++) {
		if (m->groups[i])
			free(m->groups[i]->args);
		free(m->groups[i]);
	}
	free(m->groups);
	free(m->counters);
	gt_map_release(&m->counter_map);
	free(m);
}

/* Puts out the rows of a group: as they are if it is only one. */
static int put_group(struct gt_row_merger *m, struct group *g)
{
	const struct gt_event *first = &g->first;
	struct gt_merged all = { .kind = first->kind == GT_CALL ? GT_CALL : GT_SPAN,
		.track = first->track,
		.start = first->row.start,
		.end = g->end,
		.depth = first->row.depth,
		.layer = m->seg->types[first->row.type].layer,
		.events = g->n,
		.busy_ns = g->busy };
	uint64_t n = g->n;

	g->n = 0;
	if (n < 2)
		return n ? m->out.row(m->out.arg, first) : 0;
	m->detail->merged += n;
	m->detail->slices++;
	return m->out.merged(m->out.arg, &all);
}

/* Forgets the long rows that have ended. True: there was one. */
static bool pop_long(struct group *g, int64_t now)
{
	unsigned left = 0, n = g->nlong;

	for (unsigned i = 0; i < n; i++)
		if (g->long_ends[i] > now)
			g->long_ends[left++] = g->long_ends[i];
	g->nlong = left;
	return left < n;
}

static int start_group(struct group *g, const struct gt_event *ev)
{
	if (gt_grow(&g->args, &g->args_cap, ev->row.nargs + 1u, sizeof(*g->args)))
		return -ENOMEM;
	if (ev->row.nargs)
		memcpy(g->args, ev->args, ev->row.nargs * sizeof(*g->args));
	g->first = *ev;
	g->first.args = g->args;
	g->end = g->busy_end = ev->row.start;
	g->busy = 0;
	return 0;
}

static void add_to_group(struct group *g, const struct gt_row *row)
{
	int64_t from = row->start > g->busy_end ? row->start : g->busy_end;

	if (row->end > from) {
		g->busy += (uint64_t)(row->end - from);
		g->busy_end = row->end;
	}
	if (row->end > g->end)
		g->end = row->end;
	g->n++;
}

static int merge_row(struct gt_row_merger *m, struct group *g, const struct gt_event *ev)
{
	int64_t limit = m->detail->shorter_than, start = ev->row.start;
	bool is_long = gt_since(ev->row.end, start) >= limit, left = pop_long(g, start);
	bool inside = ev->kind == GT_CALL && start < g->end;
	int rc = 0;

	if (g->n && !inside && (left || is_long || gt_since(start, g->first.row.start) >= limit))
		rc = put_group(m, g);
	if (!rc && is_long) {
		if (g->nlong < LONG_MAX_OPEN)
			g->long_ends[g->nlong++] = ev->row.end;
		return m->out.row(m->out.arg, ev);
	}
	if (!rc && !g->n)
		rc = start_group(g, ev);
	if (!rc)
		add_to_group(g, &ev->row);
	return rc;
}

/* Puts out a value of a counter if the last one is at least the limit ago. */
static int thin_counter(struct gt_row_merger *m, const struct gt_event *ev)
{
	struct counter one = { .track = ev->track, .type = ev->row.type };
	const size_t key = offsetof(struct counter, last);
	uint32_t i = gt_map_find_item(&m->counter_map, m->counters, sizeof(one), &one, key);

	if (i != UINT32_MAX &&
		gt_since(ev->row.start, m->counters[i].last) < m->detail->shorter_than) {
		m->detail->merged++;
		return 0;
	}
	if (i == UINT32_MAX)
		i = gt_map_add_item(&m->counter_map, &m->counters, &m->ncounters, &m->counters_cap,
			sizeof(one), &one, key);
	if (i == UINT32_MAX)
		return -ENOMEM;
	m->counters[i].last = ev->row.start;
	return m->out.row(m->out.arg, ev);
}

int gt_merge_row(void *merge, const struct gt_event *ev)
{
	static const uint8_t classes[GT_KINDS] = { [GT_CALL] = CALLS + 1,
		[GT_SPAN] = SPANS + 1,
		[GT_GPU] = SPANS + 1,
		[GT_INSTANT] = INSTANTS + 1 };
	struct gt_row_merger *m = merge;
	struct group **g;

	if (ev->kind == GT_COUNTER)
		return thin_counter(m, ev);
	if (!classes[ev->kind] || ev->track >= m->seg->ntracks)
		return m->out.row(m->out.arg, ev);
	g = &m->groups[(size_t)ev->track * CLASSES + classes[ev->kind] - 1];
	if (!*g)
		*g = calloc(1, sizeof(**g));
	return *g ? merge_row(m, *g, ev) : -ENOMEM;
}

int gt_merge_finish(struct gt_row_merger *m)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < (size_t)m->seg->ntracks * CLASSES; i++)
		if (m->groups[i])
			rc = put_group(m, m->groups[i]);
	return rc;
}

/* ---- exporting at most a number of bytes ---- */

/* Exports into a temporary file. 1: it fits, and *fd has it; 0: it is too large; or negative. */
static int try_export(const struct gt_exporter *x, struct gt_reader *r,
	const struct gt_export_options *opt, uint64_t most, int *fd, struct gt_err *err)
{
	struct gt_err why = GT_ERR_INIT;
	struct gt_out out;
	int file = gt_temporary(err), rc;
	off_t size;

	*fd = file < 0 ? -1 : dup(file);
	if (file < 0 || *fd < 0 || gt_out_open_fd(&out, file, "a temporary file", err))
		return err->code ? err->code : gt_err_set(err, -errno, "no more descriptors");
	gt_out_limit(&out, most);
	rc = x->export(r, opt, &out, &why);
	gt_out_flush(&out);
	if (out.failed == -E2BIG) {
		gt_out_close(&out, NULL);
		return 0;
	}
	if (rc && why.code)
		*err = why;
	rc = gt_out_close(&out, err);
	if (err->code)
		return err->code;
	size = lseek(*fd, 0, SEEK_END);
	return rc ? rc : size >= 0 && (uint64_t)size <= most;
}

/* new: a trace with the selected rows, those shorter than the limit merged. */
static struct gt_reader *reduce(struct gt_reader *r, const struct gt_export_options *opt,
	struct gt_detail *detail, struct gt_err *err)
{
	struct gt_export_options reduced = *opt;
	int fd = gt_temporary(err);

	if (fd < 0)
		return NULL;
	reduced.detail = detail;
	reduced.rows_done = NULL;
	detail->merged = detail->slices = 0;
	if (!gt_export_copy(r, &reduced, fd, err) && lseek(fd, 0, SEEK_SET) == 0)
		return gt_reader_open_fd(fd, err);
	close(fd);
	return NULL;
}

/* The limit to try first: if all rows were merged, about `slices` of them would be left. */
static int64_t first_limit(struct gt_reader *r, const struct gt_filter *f, uint64_t slices)
{
	double longest = 0, tracks = 0;

	for (uint32_t i = 0; i < gt_reader_segments(r); i++) {
		const struct gt_segment *s = gt_reader_segment(r, i);
		struct gt_range range = gt_range_of(f, s);
		double ns = s->min_start > s->max_end
			? 0
			: (double)gt_ns_in_range(range, s->min_start, s->max_end);

		longest = ns > longest ? ns : longest;
		tracks += s->ntracks;
	}
	longest = longest * tracks / (double)(slices ? slices : 1) / 64;
	return longest < 100 ? 100 : longest > 1e18 ? (int64_t)1e18 : (int64_t)longest;
}

/* 1: the output is written and fits; 0: it would be too large; or negative. */
typedef int try_fn(
	void *arg, struct gt_reader *r, const struct gt_export_options *opt, struct gt_err *err);

/* Tries all selected rows, then a trace with fewer of them, until it fits. */
static int fit(struct gt_reader *r, const struct gt_export_options *opt, uint64_t most, try_fn *try,
	void *arg, struct gt_detail *detail, struct gt_err *err)
{
	struct gt_export_options all = *opt;
	int rc = try(arg, r, opt, err);

	*detail = (struct gt_detail){ 0 };
	all.filter = (struct gt_filter){ 0 }; /* of the trace with fewer rows */
	all.rows_done = NULL;
	for (unsigned i = 0; !rc && i < ROUNDS_MAX; i++) {
		struct gt_reader *reduced;

		/* a row takes about 64 bytes in most formats */
		detail->shorter_than =
			i ? detail->shorter_than * 2 : first_limit(r, &opt->filter, most / 64);
		if (detail->shorter_than > GT_TIME_MAX)
			break;
		reduced = reduce(r, opt, detail, err);
		rc = reduced ? try(arg, reduced, &all, err) : err->code;
		gt_reader_close(reduced);
	}
	if (rc)
		return rc < 0 ? rc : 0;
	return gt_err_set(err, -E2BIG,
		"cannot be exported in %" PRIu64 " bytes, even with all rows merged", most);
}

struct stream {
	const struct gt_exporter *x;
	uint64_t most;
	int fd; /* of the last try, or -1 */
};

static int try_stream(
	void *arg, struct gt_reader *r, const struct gt_export_options *opt, struct gt_err *err)
{
	struct stream *s = arg;

	if (s->fd >= 0)
		close(s->fd);
	return try_export(s->x, r, opt, s->most, &s->fd, err);
}

int gt_export_within(const struct gt_exporter *x, struct gt_reader *r,
	const struct gt_export_options *opt, uint64_t most, struct gt_out *out,
	struct gt_detail *detail, struct gt_err *err)
{
	struct stream s = { x, most, -1 };
	int rc = fit(r, opt, most, try_stream, &s, detail, err);

	if (!rc)
		rc = gt_out_add_file(out, s.fd, err);
	if (s.fd >= 0)
		close(s.fd);
	return rc;
}

struct files {
	const struct gt_exporter *x;
	const char *path;
	bool replace;
};

static int try_files(
	void *arg, struct gt_reader *r, const struct gt_export_options *opt, struct gt_err *err)
{
	const struct files *f = arg;
	struct gt_err why = GT_ERR_INIT;
	int rc = f->x->export_to(r, opt, f->path, f->replace, &why);

	if (rc == -E2BIG)
		return 0;
	if (rc)
		*err = why;
	return rc ? rc : 1;
}

int gt_export_files_within(const struct gt_exporter *x, struct gt_reader *r,
	const struct gt_export_options *opt, const char *path, bool replace,
	struct gt_detail *detail, struct gt_err *err)
{
	struct files f = { x, path, replace };

	return fit(r, opt, opt->max_size, try_files, &f, detail, err);
}
