/* Rows of GPU work as formats/cuda/gpu_rows.h writes them: read back field by field, and copied
 * with --native. */
#define _GNU_SOURCE
#include "tests/unit/t.h"

#include "formats/export/exporters.h"
#include "tests/unit/gpus.h"

struct seen {
	struct gt_event ev;
	uint64_t args[GT_FIELDS_MAX];
	const struct gt_type *type;
};

/* All rows of these kinds in order of time; how many. */
static int read_rows(struct gt_reader *r, uint32_t kinds, struct seen *list, int max)
{
	struct gt_filter f = { .kinds = kinds };
	struct gt_err err = GT_ERR_INIT;
	struct gt_iter *it = gt_iter_open(r, &f, &err);
	int n = 0;

	while (n < max && gt_iter_next(it, &list[n].ev, &err) > 0) {
		memcpy(list[n].args, list[n].ev.args, list[n].ev.row.nargs * sizeof(*list[n].args));
		list[n].type = &list[n].ev.seg->types[list[n].ev.row.type];
		n++;
	}
	gt_iter_close(it);
	return n;
}

/* The nth field with this role; UINT64_MAX when there is none. */
static uint64_t value(const struct seen *s, unsigned role, unsigned nth)
{
	for (unsigned i = 0; i < s->type->nfields; i++)
		if (s->type->fields[i].role == role && !nth--)
			return s->args[i];
	return UINT64_MAX;
}

static const char *text(const struct seen *s, unsigned role)
{
	return gt_str(s->ev.seg, (uint32_t)value(s, role, 0));
}
static const char *name(const struct seen *s) { return gt_type_name(s->ev.seg, s->ev.row.type); }

static void a_kernel_has_its_fields(void)
{
	struct gt_gpu_work w;
	struct gt_reader *r;
	struct seen s[2];
	struct gpus g;

	gpus_begin(&g, NULL);
	w = gpus_work(g.stream[1][1], 2000, 2500);
	gpus_launched(&g, &w, 1, 1000, 70, GT_JOIN_CORRELATION);
	gpus_kernel(&g, 0, &w);
	r = gpus_end(&g);
	CHECK(read_rows(r, GT_BIT(GT_GPU), s, 2) == 1 && s->ev.track == g.stream[1][1] &&
		s->ev.row.start == 2000 && s->ev.row.end == 2500);
	CHECK(!strcmp(name(s), "_Z3addPf") && s->type->category == GT_CAT_KERNEL &&
		s->type->op == GT_OP_LAUNCH && s->type->layer == GT_LAYER_GPU);
	CHECK(value(s, GT_R_CORRELATION, 0) == 5 && value(s, GT_R_CONTEXT, 0) == 1 &&
		value(s, GT_R_REGISTERS, 0) == 32);
	CHECK(value(s, GT_R_GRID, 0) == 8 && value(s, GT_R_GRID, 1) == 2 &&
		value(s, GT_R_GRID, 2) == 1 && value(s, GT_R_GRID, 3) == UINT64_MAX);
	CHECK(value(s, GT_R_BLOCK, 0) == 256 && value(s, GT_R_BLOCK, 2) == 1);
	CHECK(value(s, GT_R_SHARED, 0) == 48 && value(s, GT_R_SHARED, 1) == 1000);
	CHECK(value(s, GT_R_LAUNCH_TRACK, 0) == g.thread[1] &&
		value(s, GT_R_LAUNCH_START, 0) == 1000 && value(s, GT_R_LAUNCH_NS, 0) == 70);
	CHECK(!strcmp(text(s, GT_R_LAUNCH_NAME), "cuLaunchKernel") &&
		value(s, GT_R_LAUNCH_JOIN, 0) == GT_JOIN_CORRELATION);
	CHECK(value(s, GT_R_GRAPH, 0) == UINT64_MAX && value(s, GT_R_NODE, 0) == UINT64_MAX);
	gt_reader_close(r);
}

/* A kernel of a graph has two fields more, and a type of its own; each type is made once. */
static void graphs_have_a_type_of_their_own(void)
{
	struct gt_gpu_work w;
	struct gt_reader *r;
	struct seen s[7];
	struct gpus g;

	gpus_begin(&g, NULL);
	for (int i = 0; i < 6; i++) {
		w = gpus_work(g.stream[0][0], 100 * i, 100 * i + 50);
		w.graph = i % 2 ? 9 : 0;
		w.node = i % 2 ? 1ull << 40 | (uint64_t)i : 0;
		gpus_kernel(&g, 0, &w);
	}
	r = gpus_end(&g);
	CHECK_EQ(read_rows(r, GT_BIT(GT_GPU), s, 7), 6);
	for (int i = 0; i < 6; i++) {
		CHECK(!strcmp(name(&s[i]), "_Z3addPf") && s[i].ev.row.type == s[i % 2].ev.row.type);
		CHECK(value(&s[i], GT_R_GRAPH, 0) == (i % 2 ? 9 : UINT64_MAX));
		CHECK(value(&s[i], GT_R_NODE, 0) ==
			(i % 2 ? 1ull << 40 | (uint64_t)i : UINT64_MAX));
	}
	CHECK(s[0].ev.row.type != s[1].ev.row.type);
	gt_reader_close(r);
}

/* If the call is unknown, the row must not look as if it were known: no track, no name, and the
 * row's own start. */
static void an_unknown_cause_has_no_track(void)
{
	struct gt_gpu_work w;
	struct gt_reader *r;
	struct seen s[1];
	struct gpus g;

	gpus_begin(&g, NULL);
	w = gpus_work(g.stream[0][0], 500, 600);
	w.cause = (struct gt_gpu_cause){
		.join = GT_JOIN_UNKNOWN, .track = 1, .name = g.launch_name, .start = 77, .ns = 88
	};
	gpus_kernel(&g, 0, &w);
	r = gpus_end(&g);
	CHECK_EQ(read_rows(r, GT_BIT(GT_GPU), s, 1), 1);
	CHECK(value(s, GT_R_LAUNCH_TRACK, 0) == GT_NONE &&
		value(s, GT_R_LAUNCH_NAME, 0) == GT_NONE && value(s, GT_R_LAUNCH_NS, 0) == 0);
	CHECK(value(s, GT_R_LAUNCH_START, 0) == 500 &&
		value(s, GT_R_LAUNCH_JOIN, 0) == GT_JOIN_UNKNOWN);
	gt_reader_close(r);
}

/* Every direction between two kinds of memory has its own name and fields. */
static void copies_of_each_kind(void)
{
	static struct seen s[400];
	struct gt_reader *r;
	struct gpus g;
	int n = 0;

	gpus_begin(&g, NULL);
	for (unsigned d = 0; d <= GT_DIR_PEER; d++)
		for (unsigned from = 0; from < GT_GPU_MEMORY_COUNT; from++)
			for (unsigned to = 0; to < GT_GPU_MEMORY_COUNT; to++, n++) {
				struct gt_gpu_work w =
					gpus_work(g.stream[0][0], 100 * n, 100 * n + 50);

				gpus_copy(&g, &w, d, from, to, 1000 + (uint64_t)n);
			}
	r = gpus_end(&g);
	CHECK(read_rows(r, GT_BIT(GT_GPU), s, 400) == n && n == 384);
	for (int i = 0; i < n; i++) {
		unsigned d = (unsigned)i / 64, from = (unsigned)i / 8 % 8, to = (unsigned)i % 8;
		char want[100];

		snprintf(want, sizeof(want), "memcpy %s (%s -> %s)", gt_direction_word(d),
			gt_gpu_memory_word(from), gt_gpu_memory_word(to));
		CHECK(!strcmp(name(&s[i]), want) && s[i].type->category == GT_CAT_COPY &&
			s[i].type->op == GT_OP_COPY);
		CHECK(value(&s[i], GT_R_BYTES, 0) == 1000 + (uint64_t)i &&
			value(&s[i], GT_R_DIRECTION, 0) == d && value(&s[i], GT_R_ASYNC, 0) == 1);
		CHECK(!strcmp(text(&s[i], GT_R_SRC_MEMORY), gt_gpu_memory_word(from)) &&
			!strcmp(text(&s[i], GT_R_DST_MEMORY), gt_gpu_memory_word(to)));
		CHECK(value(&s[i], GT_R_DEVICE, 0) == (d == GT_DIR_PEER ? 1 : UINT64_MAX));
	}
	CHECK(!strcmp(gt_direction_word(GT_DIR_PEER), "PtoP") &&
		!strcmp(gt_direction_word(99), "?") && !strcmp(gt_gpu_memory_word(99), "unknown"));
	gt_reader_close(r);
}

static void sets_and_waits(void)
{
	static const char *const waits[] = { "wait", "wait for event", "stream waits for event",
		"wait for stream", "wait for context", "wait" };
	struct gt_gpu_work w;
	struct gt_reader *r;
	struct seen s[8];
	struct gpus g;

	gpus_begin(&g, NULL);
	w = gpus_work(g.stream[0][0], 0, 50);
	gpus_set(&g, &w, 640);
	for (int i = 0; i < 6; i++) {
		w = gpus_work(g.stream[0][0], 100 + i, 200);
		gpus_wait(&g, &w, i, 30 + (uint32_t)i);
	}
	r = gpus_end(&g);
	CHECK_EQ(read_rows(r, GT_BIT(GT_GPU), s, 8), 1); /* waits are no work */
	CHECK(!strcmp(name(s), "memset (device)") && s->type->category == GT_CAT_COPY &&
		s->type->op == GT_OP_SET && s->type->layer == GT_LAYER_GPU);
	CHECK(value(s, GT_R_BYTES, 0) == 640 && value(s, GT_R_VALUE, 0) == 255 &&
		value(s, GT_R_ASYNC, 0) == 0);
	CHECK(!strcmp(text(s, GT_R_DST_MEMORY), "device") &&
		value(s, GT_R_SRC_MEMORY, 0) == UINT64_MAX);
	CHECK_EQ(read_rows(r, GT_BIT(GT_SPAN), s, 8), 6);
	for (int i = 0; i < 6; i++) {
		CHECK(!strcmp(name(&s[i]), waits[i]) && s[i].type->category == GT_CAT_SYNC &&
			s[i].type->layer == GT_LAYER_GPU);
		CHECK(value(&s[i], GT_R_EVENT, 0) == 30 + (uint64_t)i &&
			value(&s[i], GT_R_CONTEXT, 0) == 1);
	}
	gt_reader_close(r);
}

/* Operations of managed memory, and the overhead of recording: rows that do not count as work. */
static void managed_memory_and_overhead(void)
{
	static const struct {
		uint32_t kind, why;
		bool instant;
		const char *name, *said;
	} wanted[] = {
		{ 1, 2, false, "migration HtoD", "coherence" },
		{ 2, 4, false, "migration DtoH", "eviction" },
		{ 3, 1, true, "CPU page fault", "read" },
		{ 4, 3, false, "GPU page fault", "atomic" },
		{ 5, 0, true, "thrashing", NULL },
		{ 6, 0, false, "throttling", NULL },
		{ 7, 3, true, "remote map", "policy" },
		{ 8, 99, false, "migration DtoD", "unknown" },
	};
	static const struct {
		uint32_t kind;
		const char *name;
		bool ours;
	} overheads[] = {
		{ 1, "compiler", false },
		{ 1 << 16, "CUPTI buffer flush", true },
		{ 2 << 16, "CUPTI instrumentation", true },
		{ 5 << 16, "lazy function loading", false },
		{ 7 << 16, "CUPTI buffer request", true },
		{ 77 << 16, "overhead", true },
	};
	struct gt_gpu_work w;
	struct gt_reader *r;
	struct seen s[16];
	struct gpus g;
	const int n = sizeof(wanted) / sizeof(*wanted), m = sizeof(overheads) / sizeof(*overheads);

	gpus_begin(&g, NULL);
	for (int i = 0; i < n; i++) {
		struct gt_gpu_managed e = { (enum gt_gpu_managed_kind)wanted[i].kind, 4096, 0x7000,
			GT_GPU_HOST, 1, wanted[i].why };

		w = gpus_work(g.stream[0][0], 100 * i, 100 * i + 50);
		gt_gpu_put_managed(&g.types, &w, &e, &g.err);
	}
	for (int i = 0; i < m; i++) {
		w = gpus_work(g.process, 2000 + 100 * i, 2050 + 100 * i);
		gt_gpu_put_overhead(
			&g.types, &w, &(struct gt_gpu_overhead){ overheads[i].kind, 77 }, &g.err);
		CHECK(gt_gpu_overhead_is_ours(overheads[i].kind) == overheads[i].ours);
	}
	r = gpus_end(&g);
	CHECK(read_rows(r, GT_BIT(GT_GPU), s, 16) == 0 &&
		read_rows(r, GT_BIT(GT_SPAN) | GT_BIT(GT_INSTANT), s, 16) == n + m);
	for (int i = 0; i < n; i++) {
		const char *said = NULL;

		CHECK(!strcmp(name(&s[i]), wanted[i].name) && s[i].type->layer == GT_LAYER_GPU &&
			s[i].type->op == GT_OP_NONE);
		CHECK(s[i].type->category == GT_CAT_MEMORY &&
			value(&s[i], GT_R_BYTES, 0) ==
				(i == 2 || i == 3 || i == 5 ? UINT64_MAX : 4096));
		for (unsigned k = 0; k < s[i].type->nfields; k++)
			if (s[i].type->fields[k].kind == GT_F_STR)
				said = gt_str(s[i].ev.seg, (uint32_t)s[i].args[k]);
		CHECK(wanted[i].said ? said && !strcmp(said, wanted[i].said) : !said);
	}
	for (int i = 0; i < m; i++)
		CHECK(!strcmp(name(&s[n + i]), overheads[i].name) &&
			s[n + i].type->layer == GT_LAYER_OVERHEAD);
	CHECK(read_rows(r, GT_BIT(GT_SPAN), s, 16) == n + m - 3 &&
		read_rows(r, GT_BIT(GT_INSTANT), s, 16) == 3);
	gt_reader_close(r);
}

/* A copy of a recording assigns new numbers to tracks and strings: launches must use the new
 * numbers, also on threads that appear late. */
static void a_copy_keeps_launches(void)
{
	const struct gt_export_options opt = {
		.filter = { .ranged = true, .from = 4000, .to = 100000 }
	};
	struct gt_err err = GT_ERR_INIT;
	struct gt_reader *r, *again;
	struct gt_gpu_work w;
	struct seen s[3];
	struct gpus g;
	struct gt_out o;
	int fd;

	gpus_begin(&g, NULL);
	gpus_plain(&g, 1, g.stream[0][0], 100, 200); /* before the range */
	w = gpus_work(g.stream[1][1], 9000, 9100);
	gpus_launched(&g, &w, 1, 5000, 10, GT_JOIN_ORDER);
	gpus_kernel(&g, 0, &w);
	gpus_plain(&g, 0, g.stream[1][0], 9200, 9300);
	r = gpus_end(&g);
	fd = memfd_create("copy", 0);
	{
		char path[64];
		const struct gt_exporter *const *x = gt_exporters;

		while (*x && strcmp((*x)->name, "native"))
			x++;
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		CHECK(*x && !gt_out_open(&o, path, true, &err) &&
			!(*x)->export(r, &opt, &o, &err) && !gt_out_close(&o, &err));
	}
	again = gt_reader_open_fd(fd, &err);
	CHECK(again && read_rows(again, GT_BIT(GT_GPU), s, 3) == 2);
	CHECK(value(s, GT_R_LAUNCH_JOIN, 0) == GT_JOIN_ORDER &&
		value(s, GT_R_LAUNCH_START, 0) == 5000 &&
		value(s, GT_R_LAUNCH_TRACK, 0) < s->ev.seg->ntracks);
	CHECK(s->ev.seg->tracks[value(s, GT_R_LAUNCH_TRACK, 0)].kind == GT_TRACK_THREAD &&
		s->ev.seg->tracks[value(s, GT_R_LAUNCH_TRACK, 0)].id == 101);
	CHECK(!strcmp(text(s, GT_R_LAUNCH_NAME), "cuLaunchKernel") &&
		s->ev.seg->tracks[s->ev.track].id == 8);
	CHECK_EQ(s->ev.seg->tracks[s->ev.seg->tracks[s->ev.track].parent].kind, GT_TRACK_DEVICE);
	CHECK(value(&s[1], GT_R_LAUNCH_TRACK, 0) == GT_NONE &&
		value(&s[1], GT_R_LAUNCH_JOIN, 0) == GT_JOIN_UNKNOWN);
	gt_reader_close(again);
	gt_reader_close(r);
}

/* Work that was timed with CUDA events has a field that says so, and a type of its own beside
 * CUPTI's type of the same name. */
static void times_by_events_say_so(void)
{
	struct gt_gpu_work w;
	struct gt_reader *r;
	struct seen s[3];
	struct gpus g;
	bool told;

	gpus_begin(&g, NULL);
	for (int i = 0; i < 3; i++) {
		w = gpus_work(g.stream[0][0], 1000 * (i + 1), 1000 * (i + 1) + 500);
		w.by_events = i > 0;
		gpus_launched(&g, &w, 1, 900, 70, GT_JOIN_CORRELATION);
		if (i < 2)
			gpus_kernel(&g, 0, &w);
		else
			CHECK(!gt_gpu_put_graph(&g.types, &w, &g.err));
	}
	r = gpus_end(&g);
	CHECK(read_rows(r, GT_BIT(GT_GPU), s, 3) == 3 && s[0].ev.row.type != s[1].ev.row.type &&
		!strcmp(name(&s[0]), name(&s[1])));
	for (int i = 0; i < 3; i++) {
		told = false;
		for (unsigned k = 0; k < s[i].type->nfields; k++)
			told |= !strcmp(gt_str(s[i].ev.seg, s[i].type->fields[k].name), "timing") &&
				!strcmp(gt_str(s[i].ev.seg, (uint32_t)s[i].args[k]), "cuda events");
		CHECK(told == (i > 0));
	}
	CHECK(!strcmp(name(&s[2]), "graph") && s[2].type->category == GT_CAT_GRAPH &&
		s[2].type->op == GT_OP_GRAPH_LAUNCH);
	CHECK(value(&s[2], GT_R_LAUNCH_START, 0) == 900 && s[2].type->layer == GT_LAYER_GPU);
	gt_reader_close(r);
}

T_MAIN(T(a_kernel_has_its_fields), T(times_by_events_say_so), T(graphs_have_a_type_of_their_own),
	T(an_unknown_cause_has_no_track), T(copies_of_each_kind), T(sets_and_waits),
	T(managed_memory_and_overhead), T(a_copy_keeps_launches))
