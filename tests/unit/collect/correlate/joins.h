/* Shared by the tests of joins: a file with a process of eight threads, for which a test
 * delivers calls, CUPTI's records and GPU work in any order, and functions that check the
 * contents of the file at the end. */
#ifndef TEST_JOINS_H
#define TEST_JOINS_H
#include <malloc.h>
#include "collect/correlate/gpu_correlate.h"
#include "formats/os/file.h"
#include "tests/unit/t.h"
#include "tests/unit/traces.h"

#define SECOND 1000000000ll
#define LAUNCH_CBID 307 /* cuLaunchKernel */
#define GRAPH_CBID 514  /* cuGraphLaunch */

struct join {
	struct gt_writer *w;
	struct gt_correlator *g;
	struct gt_gpu_process *p;
	uint32_t process, thread[8], names[8], launch_name;
	bool names_known;
	int copy;
	struct gt_err err;
};

static inline uint32_t string_of(void *arg, uint64_t hash)
{
	struct join *j = arg;

	return j->names_known && hash && hash <= 8 ? j->names[hash - 1] : GT_NONE;
}

static inline void begin(struct join *j)
{
	struct gt_writer_options o = { .rows_sorted = true };
	char name[20];
	int fd = gt_temporary(NULL);

	memset(j, 0, sizeof(*j));
	j->copy = dup(fd);
	j->w = gt_writer_open(fd, &o, &j->err);
	j->g = gt_gpu_open(j->w, false, true);
	j->names_known = true;
	j->process = gt_writer_track(j->w,
		&(struct gt_track){
			.parent = GT_NONE, .name = GT_NONE, .kind = GT_TRACK_PROCESS, .id = 1 });
	for (uint32_t i = 0; i < 8; i++) {
		j->thread[i] = gt_writer_track(j->w,
			&(struct gt_track){ .parent = j->process,
				.name = GT_NONE,
				.kind = GT_TRACK_THREAD,
				.id = i + 1 });
		snprintf(name, sizeof(name), "kernel%u", i + 1);
		j->names[i] = gt_writer_string(j->w, name);
	}
	j->launch_name = gt_writer_string(j->w, "cuLaunchKernel");
}

/* A launch of kernel `k` (1..8) by thread `t` with a grid of `grid` blocks. */
static inline void call(
	struct join *j, unsigned t, int64_t start, int64_t end, unsigned k, uint32_t grid)
{
	struct gt_gpu_call c = { .id = (uint16_t)gt_api_find("cuLaunchKernel"),
		.track = j->thread[t],
		.tid = (int32_t)t + 1,
		.start = start,
		.end = end,
		.name = j->launch_name,
		.kernel = j->names[k - 1],
		.has_shape = true,
		.grid = { grid, 1, 1 },
		.block = { 32, 1, 1 } };

	gt_gpu_call(j->g, &j->p, j->process, &c);
}

static inline void graph_call(struct join *j, unsigned t, int64_t start, int64_t end)
{
	struct gt_gpu_call c = { .id = (uint16_t)gt_api_find("cuGraphLaunch"),
		.track = j->thread[t],
		.tid = (int32_t)t + 1,
		.start = start,
		.end = end,
		.name = j->launch_name,
		.kernel = GT_NONE };

	gt_gpu_call(j->g, &j->p, j->process, &c);
}

static inline void record(
	struct join *j, unsigned t, int64_t start, int64_t end, uint32_t correlation, uint32_t cbid)
{
	struct gt_gpu_event e = { .id = GT_EV_CUPTI_CALL,
		.start = start,
		.end = end,
		.n = 2,
		.body.call = { .correlation = correlation, .cbid = cbid, .tid = (int32_t)t + 1 } };

	gt_gpu_event(j->g, &j->p, j->process, &e);
}

static inline void kernel_of(struct join *j, int64_t start, int64_t end, uint32_t correlation,
	unsigned k, uint32_t grid, uint32_t graph, uint64_t node)
{
	struct gt_gpu_event e = { .id = GT_EV_KERNEL,
		.start = start,
		.end = end,
		.n = 9,
		.body.kernel = { .work = { .correlation = correlation,
					 .context = 1,
					 .stream = 7,
					 .graph = graph,
					 .registers = 40,
					 .node = node },
			.grid = { grid, 1, 1 },
			.block = { 32, 1, 1 },
			.shared_dynamic = 100,
			.name = k } };

	gt_gpu_event(j->g, &j->p, j->process, &e);
}

static inline void kernel(
	struct join *j, int64_t start, int64_t end, uint32_t correlation, unsigned k, uint32_t grid)
{
	kernel_of(j, start, end, correlation, k, grid, 0, 0);
}

static inline void settle(struct join *j, int64_t now, bool last)
{
	if (j->p)
		gt_gpu_flush_ready(j->g, j->p, now, last, string_of, j, &j->err);
}

static inline struct gt_reader *finish(struct join *j, int64_t now, struct gt_gpu_totals *totals)
{
	settle(j, now, true);
	gt_gpu_process_close(j->g, j->p);
	*totals = *gt_gpu_totals(j->g);
	gt_gpu_close(j->g);
	if (j->err.code || gt_writer_close(j->w, &j->err))
		return NULL;
	return gt_reader_open_fd(j->copy, &j->err);
}

/* ---- contents of the file ---- */

struct row {
	int64_t start, launch_start;
	uint64_t launch_ns, join, track, correlation;
	char name[20];
	uint32_t on;
};
struct rows {
	struct row r[4096];
	size_t n;
};

static inline uint64_t role(const struct gt_event *ev, unsigned wanted)
{
	const struct gt_type *t = &ev->seg->types[ev->row.type];

	for (unsigned i = 0; i < t->nfields; i++)
		if (t->fields[i].role == wanted)
			return ev->args[i];
	return UINT64_MAX;
}

static inline void read_rows(struct gt_reader *r, struct rows *to)
{
	struct gt_filter f = { .kinds = GT_BIT(GT_GPU) };
	struct gt_iter *it = gt_iter_open(r, &f, NULL);
	struct gt_event ev;

	to->n = 0;
	while (it && to->n < 4096 && gt_iter_next(it, &ev, NULL) == 1) {
		struct row *row = &to->r[to->n++];

		*row = (struct row){ ev.row.start, (int64_t)role(&ev, GT_R_LAUNCH_START),
			role(&ev, GT_R_LAUNCH_NS), role(&ev, GT_R_LAUNCH_JOIN),
			role(&ev, GT_R_LAUNCH_TRACK), role(&ev, GT_R_CORRELATION), "", ev.track };
		snprintf(row->name, sizeof(row->name), "%s", gt_type_name(ev.seg, ev.row.type));
	}
	gt_iter_close(it);
}

static inline size_t in_use(void)
{
	struct mallinfo2 m = mallinfo2(); /* all 0 under a sanitizer */

	return m.uordblks + m.hblkhd;
}

/* Delivers a change of the state of CUPTI. */
static inline void gpu_state(struct join *j, enum gt_gpu_state what, int64_t from, int64_t to)
{
	struct gt_gpu_event e = { .id = GT_EV_GPU_STATE,
		.start = from,
		.end = to,
		.n = 3,
		.body.state = { what, 1, 130001 } };

	gt_gpu_event(j->g, &j->p, j->process, &e);
}
#endif
