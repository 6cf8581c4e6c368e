/* Prints the GPU rows of a trace, one per line, for tests that compare them with the simulated
 * CUPTI's output: gpu_rows rows FILE [cause], gpu_rows details FILE, gpu_rows waits FILE. */
#define _GNU_SOURCE
#include "collect/correlate/gpu_correlate.h"
#include "tests/unit/collect/correlate/joins.h"

/* rows FILE prints a line for each kernel, copy and set, as the simulated CUPTI's truth has them:
 * correlation, what, stream, device, start, end, grid, block, bytes; and with a third argument the
 * call that launched it: how joined, its name. */
static unsigned long long three(const struct gt_event *ev, unsigned wanted, unsigned long long v[3])
{
	const struct gt_type *t = &ev->seg->types[ev->row.type];
	unsigned n = 0;

	v[0] = v[1] = v[2] = 0;
	for (unsigned i = 0; i < t->nfields; i++)
		if (t->fields[i].role == wanted && n < 3)
			v[n++] = ev->args[i];
	return n;
}

static void print_row(const struct gt_event *ev, bool cause)
{
	const struct gt_track *t = &ev->seg->tracks[ev->track];
	unsigned op = ev->seg->types[ev->row.type].op;
	unsigned long long grid[3], block[3], bytes = role(ev, GT_R_BYTES);
	uint64_t name = role(ev, GT_R_LAUNCH_NAME);

	three(ev, GT_R_GRID, grid);
	three(ev, GT_R_BLOCK, block);
	printf("%llu %s %lld %lld %lld %lld %llu,%llu,%llu %llu,%llu,%llu %llu",
		(unsigned long long)role(ev, GT_R_CORRELATION),
		op == GT_OP_LAUNCH                 ? "kernel"
			: op == GT_OP_COPY         ? "copy"
			: op == GT_OP_GRAPH_LAUNCH ? "graph"
						   : "set",
		(long long)t->id,
		(long long)ev->seg->tracks[gt_track_device(ev->seg, ev->track)].id,
		(long long)ev->row.start, (long long)ev->row.end, grid[0], grid[1], grid[2],
		block[0], block[1], block[2], bytes == UINT64_MAX ? 0 : bytes);
	if (cause)
		printf(" %llu %s", (unsigned long long)role(ev, GT_R_LAUNCH_JOIN),
			name < GT_NONE ? gt_str(ev->seg, (uint32_t)name) : "-");
	putchar('\n');
}

/* details FILE: of the same rows what these lines have not: correlation, context, graph, node;
 * registers, static and dynamic shared memory; whether asynchronous; source and destination device;
 * value; name. - where the row has no such thing. */
static void print_detail(const struct gt_event *ev)
{
	static const char *const fields[] = { "correlation", "context", "graph", "node",
		"registers", "shared_static", "shared_dynamic", "async", "src_device", "dst_device",
		"value" };
	const struct gt_type *t = &ev->seg->types[ev->row.type];

	for (size_t k = 0; k < sizeof(fields) / sizeof(*fields); k++) {
		unsigned i = 0;

		while (i < t->nfields && strcmp(gt_str(ev->seg, t->fields[i].name), fields[k]))
			i++;
		if (i < t->nfields)
			printf("%llu ", (unsigned long long)ev->args[i]);
		else
			printf("- ");
	}
	puts(gt_type_name(ev->seg, ev->row.type));
}

static int print_rows(const char *path, bool details, bool cause)
{
	struct gt_filter f = { .kinds = GT_BIT(GT_GPU) };
	struct gt_reader *r = gt_reader_open(path, NULL);
	struct gt_iter *it = r ? gt_iter_open(r, &f, NULL) : NULL;
	struct gt_event ev;

	while (it && gt_iter_next(it, &ev, NULL) == 1)
		if (details)
			print_detail(&ev);
		else
			print_row(&ev, cause);
	gt_iter_close(it);
	gt_reader_close(r);
	return !r;
}

/* waits FILE: a line for each wait: type in CUPTI's numbers, stream (4294967295: the row is not on
 * one), start, end, the waiting call, how joined, whether the row has its times, whether an event
 * is named. */
static int print_waits(const char *path)
{
	static const char *const names[] = { "wait", "wait for event", "stream waits for event",
		"wait for stream", "wait for context" };
	struct gt_filter f = { .kinds = GT_BIT(GT_SPAN) };
	struct gt_reader *r = gt_reader_open(path, NULL);
	struct gt_iter *it = r ? gt_iter_open(r, &f, NULL) : NULL;
	struct gt_event ev;

	while (it && gt_iter_next(it, &ev, NULL) == 1) {
		const struct gt_track *t = &ev.seg->tracks[ev.track];
		uint64_t name = role(&ev, GT_R_LAUNCH_NAME);
		unsigned type = 0;

		while (type < 5 && strcmp(names[type], gt_type_name(ev.seg, ev.row.type)))
			type++;
		if (type == 5)
			continue;
		printf("%u %lld %lld %lld %s %llu %d %d\n", type,
			t->kind == GT_TRACK_STREAM ? (long long)t->id : 4294967295ll,
			(long long)ev.row.start, (long long)ev.row.end,
			name < GT_NONE ? gt_str(ev.seg, (uint32_t)name) : "-",
			(unsigned long long)role(&ev, GT_R_LAUNCH_JOIN),
			(int64_t)role(&ev, GT_R_LAUNCH_START) == ev.row.start &&
				(int64_t)role(&ev, GT_R_LAUNCH_NS) == ev.row.end - ev.row.start,
			role(&ev, GT_R_EVENT) != UINT32_MAX);
	}
	gt_iter_close(it);
	gt_reader_close(r);
	return !r;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	return !strcmp(argv[1], "waits")
		? print_waits(argv[2])
		: print_rows(argv[2], !strcmp(argv[1], "details"), argc > 3);
}
