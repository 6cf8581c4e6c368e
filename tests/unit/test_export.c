#define _GNU_SOURCE
#include "tests/unit/t.h"

#include <inttypes.h>
#include <jansson.h>
#include <sys/mman.h>
#include <unistd.h>
#include "formats/exporters.h"
#include "formats/writer.h"

/* ---- making traces ---- */

struct made { struct gt_writer *w; int fd; uint32_t process, thread, other, gpu, types[8]; };
enum { LAUNCH, COPY, IOCTL, KERNEL, MARK, GAUGE, PLAIN, JOINED, TYPES };

#define KERNEL_NAME "_Z9vectorAddPKfS0_Pfi"

static void add_types(struct made *m)
{
	struct gt_writer *w = m->w;
	const struct gt_field launch[] = {{gt_writer_string(w, "f"), GT_F_STR, GT_R_KERNEL},
					  {gt_writer_string(w, "gridDimX"), GT_F_U64, GT_R_GRID},
					  {gt_writer_string(w, "hStream"), GT_F_HEX, GT_R_STREAM},
					  {gt_writer_string(w, "id"), GT_F_U64, GT_R_CORRELATION}};
	const struct gt_field copy[] = {{gt_writer_string(w, "ByteCount"), GT_F_U64, GT_R_BYTES},
					{gt_writer_string(w, "direction"), GT_F_U64, GT_R_DIRECTION}};
	const struct gt_field joined[] = {{gt_writer_string(w, "launch_track"), GT_F_U64, GT_R_LAUNCH_TRACK},
					  {gt_writer_string(w, "launch_start"), GT_F_I64, GT_R_LAUNCH_START},
					  {gt_writer_string(w, "launch_ns"), GT_F_U64, GT_R_LAUNCH_NS},
					  {gt_writer_string(w, "launch_name"), GT_F_STR, GT_R_LAUNCH_NAME},
					  {gt_writer_string(w, "launch_join"), GT_F_U64, GT_R_LAUNCH_JOIN},
					  launch[3],
					  {gt_writer_string(w, "caller"), GT_F_U64, GT_R_STACK}};
	const struct gt_field gauge[] = { { gt_writer_string(w, "value"), GT_F_F64, GT_R_VALUE } };
	const struct gt_type types[TYPES] = {
	    [LAUNCH] = {.name = gt_writer_string(w, "cuLaunchKernel"),
			.category = GT_CAT_LAUNCH,
			.op = GT_OP_LAUNCH,
			.nfields = 4,
			.fields = launch},
	    [COPY] = {.name = gt_writer_string(w, "cuMemcpyHtoD_v2"),
		      .category = GT_CAT_COPY,
		      .op = GT_OP_COPY,
		      .nfields = 2,
		      .fields = copy},
	    [IOCTL] = {.name = gt_writer_string(w, "RM;control"),
		       .category = GT_CAT_IOCTL,
		       .op = GT_OP_IOCTL,
		       .layer = GT_LAYER_IOCTL},
	    [KERNEL] = {.name = gt_writer_string(w, KERNEL_NAME),
			.category = GT_CAT_KERNEL,
			.layer = GT_LAYER_GPU,
			.nfields = 1,
			.fields = launch + 3},
	    [MARK] = {.name = gt_writer_string(w, "mark \"one\"\n"), .category = GT_CAT_USER},
	    [GAUGE] = {.name = gt_writer_string(w, "power"), .category = GT_CAT_OTHER, .nfields = 1, .fields = gauge},
	    [PLAIN] = {.name = gt_writer_string(w, "cuInit"), .category = GT_CAT_INIT},
	    [JOINED] = {.name = gt_writer_string(w, KERNEL_NAME),
			.category = GT_CAT_KERNEL,
			.layer = GT_LAYER_GPU,
			.nfields = 7,
			.fields = joined},
	};

	for (int i = 0; i < TYPES; i++)
		m->types[i] = gt_writer_type(w, &types[i]);
}

static bool by_end;	/* rows are handed in as the recorder does: by end time, so that late calls have a store of their own */

static struct made make_at(int fd, const char *host, int64_t pid)
{
	struct gt_writer_options opt = {
	    .rows_sorted = by_end, .meta_json = "{\"simulated\":true,\"command\":\"a \\\"b\\\"\"}", .host = host, .boot_id = host};
	struct made m = { .fd = dup(fd) };
	uint32_t source;

	m.w = gt_writer_open(fd, &opt, NULL);
	source = gt_writer_string(m.w, "preload");
	m.process = gt_writer_track(m.w, &(struct gt_track){.parent = GT_NONE,
							    .name = gt_writer_string(m.w, "python3"),
							    .source = source,
							    .kind = GT_TRACK_PROCESS,
							    .id = pid,
							    .ns_id = pid,
							    .start = 77});
	m.thread = gt_writer_track(m.w, &(struct gt_track){.parent = m.process,
							   .name = gt_writer_string(m.w, "main;x"),
							   .source = source,
							   .kind = GT_TRACK_THREAD,
							   .id = pid,
							   .ns_id = pid});
	m.other = gt_writer_track(m.w, &(struct gt_track){.parent = m.process,
							  .name = GT_NONE,
							  .source = source,
							  .kind = GT_TRACK_THREAD,
							  .id = pid + 1,
							  .ns_id = pid + 1});
	m.gpu = gt_writer_track(
	    m.w, &(struct gt_track){
		     .parent = GT_NONE, .name = GT_NONE, .source = source, .kind = GT_TRACK_STREAM, .id = 7, .ns_id = 7});
	add_types(&m);
	return m;
}

static struct made make(void) { return make_at(memfd_create("trace", 0), "host-a", 4711); }

static void put(struct made *m, enum gt_kind kind, uint32_t track, int type, int64_t start, int64_t end, unsigned depth, int ret,
		const uint64_t *args)
{
	static const uint64_t none[GT_FIELDS_MAX];
	struct gt_row row = { .start = start, .end = end, .type = m->types[type], .ret = ret, .depth = (uint8_t)depth,
			      .nargs = gt_writer_type_get(m->w, m->types[type])->nfields };
	struct gt_err err = GT_ERR_INIT;

	if (gt_writer_row(m->w, kind, track, &row, args ? args : none, &err))
		printf("# %s\n", err.text);
}

static struct gt_reader *reread(struct made *m)
{
	struct gt_err err = GT_ERR_INIT;
	struct gt_reader *r;

	if (gt_writer_close(m->w, &err))
		printf("# %s\n", err.text);
	r = gt_reader_open_fd(m->fd, &err);
	if (!r)
		printf("# %s\n", err.text);
	return r;
}

/* ---- exporting ---- */

static const struct gt_exporter *exporter(const char *name)
{
	for (const struct gt_exporter *const *x = gt_exporters; *x; x++)
		if (!strcmp((*x)->name, name))
			return *x;
	return NULL;
}

/* What the exporter writes: new. */
static char *export_with(struct gt_reader *r, const char *name, const struct gt_export_options *opt)
{
	struct gt_err err = GT_ERR_INIT;
	struct gt_out o;
	char *text;

	gt_out_memory(&o);
	if (exporter(name)->export(r, opt, &o, &err)) {
		printf("# %s\n", err.text);
		gt_out_close(&o, NULL);
		return strdup("");
	}
	text = strndup(o.data, o.len);
	gt_out_close(&o, NULL);
	return text;
}

static char *export(struct gt_reader *r, const char *name)
{
	return export_with(r, name, &(struct gt_export_options){ .cost = GT_COST_TIME });
}

static json_t *chrome(struct gt_reader *r, const struct gt_export_options *opt)
{
	char *text = export_with(r, "chrome", opt ? opt : &(struct gt_export_options){ 0 });
	json_error_t e;
	json_t *j = json_loads(text, JSON_REJECT_DUPLICATES, &e);

	if (!j)
		printf("# %s at %d\n", e.text, e.position);
	free(text);
	return j;
}

static const char *word(const json_t *e, const char *key)
{
	const char *s = json_string_value(json_object_get(e, key));

	return s ? s : "";
}

/* The nth event of that phase and name (NULL: any), or NULL. */
static json_t *event(json_t *trace, const char *phase, const char *name, unsigned nth)
{
	json_t *e;
	size_t i;

	json_array_foreach(json_object_get(trace, "traceEvents"), i, e)
		if (!strcmp(word(e, "ph"), phase) && (!name || !strcmp(word(e, "name"), name)) && !nth--)
			return e;
	return NULL;
}

static int64_t ns(const json_t *e, const char *key)
{
	double us = json_number_value(json_object_get(e, key)) * 1000;

	return (int64_t)(us + (us < 0 ? -0.5 : 0.5));
}

struct placed { int64_t pid, tid, start, end; };

static int by_place(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;
	int64_t d = x->pid != y->pid	   ? x->pid - y->pid
		    : x->tid != y->tid	   ? x->tid - y->tid
		    : x->start != y->start ? x->start - y->start
					   : y->end - x->end;

	return (d > 0) - (d < 0);
}

/* How many X slices overlap another of their thread by halves, -1 when there are not `want` slices (async pairs count). */
static int halves(json_t *trace, size_t want)
{
	json_t *events = json_object_get(trace, "traceEvents"), *e;
	struct placed *p = calloc(json_array_size(events) + 1, sizeof(*p)), stack[1000];
	size_t n = 0, i, async = 0, top = 0;
	int bad = 0;

	json_array_foreach(events, i, e) {
		async += !strcmp(word(e, "ph"), "b");
		if (!strcmp(word(e, "ph"), "X"))
			p[n++] = (struct placed){json_integer_value(json_object_get(e, "pid")),
						 json_integer_value(json_object_get(e, "tid")), ns(e, "ts"),
						 ns(e, "ts") + ns(e, "dur")};
	}
	qsort(p, n, sizeof(*p), by_place);
	for (i = 0; i < n; i++) {
		while (top &&
		       (stack[top - 1].pid != p[i].pid || stack[top - 1].tid != p[i].tid || stack[top - 1].end <= p[i].start))
			top--;
		bad += top && stack[top - 1].end < p[i].end;
		if (top < 1000)
			stack[top++] = p[i];
	}
	free(p);
	return n + async == want ? bad : -1;
}

static void chrome_says_it_all(void)
{
	struct made m = make();
	uint64_t launch[] = { gt_writer_string(m.w, KERNEL_NAME), 256, 0x7f00dead, 5 }, copy[] = { 1ull << 60, GT_DIR_HTOD };
	struct gt_reader *r;
	json_t *j, *e, *args;

	put(&m, GT_CALL, m.thread, LAUNCH, 1000000001, 1000001235, 0, 700, launch);
	put(&m, GT_CALL, m.thread, COPY, 1000002000, 1000002001, 0, 0, copy);
	put(&m, GT_INSTANT, m.thread, MARK, 1000002500, 1000002500, 0, 0, NULL);
	r = reread(&m);
	j = chrome(r, NULL);
	e = event(j, "X", "cuLaunchKernel", 0);
	args = json_object_get(e, "args");
	CHECK(e && ns(e, "ts") == 0 && ns(e, "dur") == 1234 && !strcmp(word(e, "cat"), "launch"));
	CHECK(json_integer_value(json_object_get(e, "pid")) == 4711 && json_integer_value(json_object_get(e, "tid")) == 4711);
	CHECK(!strcmp(word(args, "kernel"), "vectorAdd") && !strcmp(word(args, "hStream"), "0x7f00dead"));
	CHECK(json_integer_value(json_object_get(args, "gridDimX")) == 256 &&
	      json_integer_value(json_object_get(args, "ret")) == 700);
	args = json_object_get(event(j, "X", "cuMemcpyHtoD_v2", 0), "args");
	CHECK(!strcmp(word(args, "ByteCount"), "1152921504606846976") && !strcmp(word(args, "direction"), "HtoD") &&
	      !json_object_get(args, "ret"));
	CHECK(event(j, "i", "mark \"one\"\n", 0));
	CHECK(!strcmp(word(json_object_get(event(j, "M", "process_name", 0), "args"), "name"), "python3"));
	CHECK(!strcmp(word(json_object_get(event(j, "M", "thread_name", 0), "args"), "name"), "main;x"));
	CHECK(event(j, "M", "process_sort_index", 0) && event(j, "M", "thread_sort_index", 0));
	e = json_object_get(j, "otherData");
	CHECK(!strcmp(word(j, "displayTimeUnit"), "ns"));
	CHECK(!strcmp(word(json_object_get(e, "kernels"), "vectorAdd"), "vectorAdd(float const*, float const*, float*, int)"));
	e = json_array_get(json_object_get(e, "segments"), 0);
	CHECK(json_is_true(json_object_get(e, "simulated")) &&
	      !strcmp(word(json_object_get(e, "metadata"), "command"), "a \"b\""));
	CHECK(!strcmp(word(e, "base_monotonic_ns"), "1000000001"));
	json_decref(j);
	gt_reader_close(r);
}

static void chrome_times_have_three_decimals(void)
{
	struct made m = make();
	struct gt_reader *r;
	char *text;

	put(&m, GT_CALL, m.thread, PLAIN, 5, 6, 0, 0, NULL);
	put(&m, GT_CALL, m.thread, PLAIN, 123456789012345, 123456789012346, 0, 0, NULL);
	r = reread(&m);
	text = export(r, "chrome");
	CHECK(strstr(text, "\"ts\":0.000,\"dur\":0.001}") && strstr(text, "\"ts\":123456789012.340,\"dur\":0.001}"));
	free(text);
	gt_reader_close(r);
}

static void chrome_of_nothing(void)
{
	struct made m = make();
	struct gt_reader *r = reread(&m);
	json_t *j = chrome(r, NULL);

	CHECK(j && json_array_size(json_object_get(j, "traceEvents")) == 0);
	json_decref(j);
	gt_reader_close(r);
}

/* A call that outlives epochs is written after its children, and holds them. */
static int long_calls(void)
{
	struct made m = make();
	struct gt_reader *r;
	int64_t t = 1000;
	json_t *j;
	int bad;

	put(&m, GT_CALL, m.thread, PLAIN, 100, 400, 0, 0, NULL);
	for (int epoch = 0; epoch < 5; epoch++) {
		for (int i = 0; i < 100; i++, t += 100) {
			put(&m, GT_CALL, m.thread, IOCTL, t + 10, t + 20, 2, 0, NULL);
			put(&m, GT_CALL, m.thread, PLAIN, t, t + 50, 1, 0, NULL);
		}
		gt_writer_epoch(m.w, t, NULL);
	}
	put(&m, GT_CALL, m.thread, IOCTL, t + 10, t + 20, 1, 0, NULL);
	put(&m, GT_CALL, m.thread, COPY, 500, t + 100, 0, 0, NULL);
	for (int i = 0; i < 50000; i++)		/* blocks full of calls that began after it, written before it */
		put(&m, GT_CALL, m.thread, PLAIN, t + 100 + i * 10, t + 105 + i * 10, 0, 0, NULL);
	r = reread(&m);
	j = chrome(r, NULL);
	bad = halves(j, 51003);
	if (event(j, "M", "thread_name", 1))
		bad = -2;	/* needs no lane for it */
	json_decref(j);
	gt_reader_close(r);
	return bad;
}

static void chrome_long_call_over_epochs(void)
{
	CHECK(long_calls() == 0);
	by_end = true;
	CHECK(long_calls() == 0);
	by_end = false;
}

static unsigned next_random(unsigned *seed) { return (*seed = *seed * 1103515245 + 12345) >> 8; }

/* Files that lie: calls of any depth overlap in any way, over several epochs. Nothing is dropped, nothing overlaps by halves. */
static void chrome_of_lies(void)
{
	for (unsigned seed = 1; seed <= 100; seed++) {
		unsigned state = seed;
		struct gt_reader *r;
		struct made m;
		json_t *j;

		by_end = seed % 2;
		m = make();

		for (int i = 0; i < 300; i++) {
			int64_t start = 1000 + next_random(&state) % 500, dur = next_random(&state) % (seed % 3 ? 12 : 100);

			put(&m, GT_CALL, next_random(&state) % 3 ? m.thread : m.other, PLAIN, start, start + dur,
			    next_random(&state) % 4, 0, NULL);
			if (i % 50 == 49)
				gt_writer_epoch(m.w, start, NULL);
		}
		r = reread(&m);
		j = chrome(r, NULL);
		by_end = false;
		CHECK(halves(j, 300) == 0);
		json_decref(j);
		gt_reader_close(r);
	}
}

static void chrome_spans_get_lanes(void)
{
	struct made m = make();
	struct gt_reader *r;
	json_t *j;

	put(&m, GT_SPAN, m.gpu, PLAIN, 100, 200, 0, 0, NULL);
	put(&m, GT_SPAN, m.gpu, PLAIN, 120, 150, 0, 0, NULL);	/* nests: the same lane */
	put(&m, GT_SPAN, m.gpu, PLAIN, 180, 250, 0, 0, NULL);	/* overlaps: another */
	put(&m, GT_SPAN, m.gpu, PLAIN, 250, 260, 0, 0, NULL);	/* the first again */
	r = reread(&m);
	j = chrome(r, NULL);
	CHECK(halves(j, 4) == 0);
	CHECK(event(j, "M", "thread_name", 1) && !event(j, "M", "thread_name", 2));
	CHECK(!strcmp(word(json_object_get(event(j, "M", "thread_name", 1), "args"), "name"), "stream 7 (2)"));
	CHECK(json_integer_value(json_object_get(json_object_get(event(j, "M", "thread_sort_index", 1), "args"), "sort_index")) ==
	      json_integer_value(json_object_get(json_object_get(event(j, "M", "thread_sort_index", 0), "args"), "sort_index")) +
		  1);
	json_decref(j);
	gt_reader_close(r);
}

/* More at once than there are lanes: async pairs, still nothing dropped. */
static void chrome_runs_out_of_lanes(void)
{
	struct made m = make();
	struct gt_reader *r;
	json_t *j;

	for (int i = 0; i < 600; i++)
		put(&m, GT_SPAN, m.gpu, PLAIN, 100 + i, 10000 + i, 0, 0, NULL);
	r = reread(&m);
	j = chrome(r, NULL);
	CHECK(halves(j, 600) == 0);
	CHECK(event(j, "b", NULL, 0) && event(j, "e", NULL, 0));
	json_decref(j);
	gt_reader_close(r);
}

static void chrome_spans_beside_calls(void)
{
	struct made m = make();
	struct gt_reader *r;
	json_t *j;

	put(&m, GT_CALL, m.thread, PLAIN, 100, 200, 0, 0, NULL);
	put(&m, GT_SPAN, m.thread, MARK, 150, 250, 0, 0, NULL);
	r = reread(&m);
	j = chrome(r, NULL);
	CHECK(halves(j, 2) == 0);
	json_decref(j);
	gt_reader_close(r);
}

static void chrome_open_calls(void)
{
	struct made m = make();
	struct gt_row row = { .start = 150, .type = m.types[LAUNCH], .depth = 0, .nargs = 0 };
	struct gt_reader *r;
	json_t *j, *e;

	put(&m, GT_CALL, m.thread, IOCTL, 160, 170, 1, 0, NULL);
	put(&m, GT_CALL, m.other, PLAIN, 100, 900, 0, 0, NULL);
	CHECK(!gt_writer_open_call(m.w, m.thread, &row, NULL, NULL));
	CHECK(!gt_writer_epoch(m.w, 1000, NULL));
	r = reread(&m);
	j = chrome(r, NULL);
	e = event(j, "X", "cuLaunchKernel", 0);
	CHECK(e && json_is_true(json_object_get(json_object_get(e, "args"), "open")));
	CHECK(ns(e, "ts") == 50 && ns(e, "ts") + ns(e, "dur") >= 800);
	CHECK(halves(j, 3) == 0);
	json_decref(j);
	gt_reader_close(r);
}

static void chrome_losses_counters_unmatched(void)
{
	struct made m = make();
	double watts = 123.25;
	uint64_t bits;
	struct gt_reader *r;
	json_t *j, *e;

	memcpy(&bits, &watts, 8);
	put(&m, GT_CALL, m.thread, PLAIN, 100, 200, 0, 0, NULL);
	put(&m, GT_COUNTER, m.process, GAUGE, 300, 300, 0, 0, &bits);
	put(&m, GT_UNMATCHED, m.thread, PLAIN, 400, 400, 0, 1, NULL);
	CHECK(!gt_writer_lost(m.w, GT_SCOPE_TRACK, m.thread, 500, 600, 17, NULL));
	CHECK(!gt_writer_lost(m.w, GT_SCOPE_ALL, GT_NONE, 700, 800, GT_LOST_UNKNOWN, NULL));
	r = reread(&m);
	j = chrome(r, NULL);
	e = event(j, "C", "power", 0);
	CHECK(json_real_value(json_object_get(json_object_get(e, "args"), "value")) == 123.25);
	e = event(j, "i", "cuInit", 0);
	CHECK(!strcmp(word(json_object_get(e, "args"), "unmatched"), "an end without a begin"));
	e = event(j, "i", "LOST 17 events", 0);
	CHECK(e && !strcmp(word(e, "s"), "t") && ns(e, "ts") == 400);
	e = event(j, "i", "LOST events (number unknown)", 0);
	CHECK(e && !strcmp(word(e, "s"), "g"));
	e = json_object_get(json_object_get(j, "otherData"), "lost");
	CHECK(json_integer_value(json_object_get(e, "events")) == 17 && json_is_true(json_object_get(e, "unknown")));
	json_decref(j);
	gt_reader_close(r);
}

static void chrome_flows(void)
{
	struct made m = make();
	uint64_t launch[] = { GT_NONE, 1, 0, 5 }, five = 5;
	struct gt_reader *r;
	json_t *j, *s, *f;

	put(&m, GT_CALL, m.thread, LAUNCH, 100, 200, 0, 0, launch);
	put(&m, GT_GPU, m.gpu, KERNEL, 300, 400, 0, 0, &five);
	r = reread(&m);
	j = chrome(r, NULL);
	s = event(j, "s", NULL, 0);
	f = event(j, "f", NULL, 0);
	CHECK(s && f && !strcmp(word(s, "id"), word(f, "id")) && !strcmp(word(f, "bp"), "e"));
	CHECK(json_integer_value(json_object_get(s, "tid")) == 4711 && json_integer_value(json_object_get(f, "tid")) == 7);
	CHECK(!json_object_get(json_object_get(event(j, "X", "cuLaunchKernel", 0), "args"), "kernel"));	/* not known */
	json_decref(j);
	gt_reader_close(r);
}

/* GPU work that carries its launch needs nobody who knows correlation ids: not the call, not a table. */
static void chrome_flows_of_the_row_itself(void)
{
	struct made m = make();
	uint64_t joined[] = { m.thread, 100, 50, gt_writer_string(m.w, "cuInit"), GT_JOIN_CORRELATION, 5, GT_NONE };
	uint64_t nowhere[] = { 12345, 100, 50, joined[3], GT_JOIN_UNKNOWN, 6, GT_NONE };
	struct gt_reader *r;
	json_t *j, *s, *f;

	put(&m, GT_CALL, m.thread, PLAIN, 100, 150, 0, 0, NULL);
	put(&m, GT_GPU, m.gpu, JOINED, 300, 400, 0, 0, joined);
	put(&m, GT_GPU, m.gpu, JOINED, 500, 600, 0, 0, nowhere);
	r = reread(&m);
	j = chrome(r, NULL);
	s = event(j, "s", NULL, 0);
	f = event(j, "f", NULL, 0);
	CHECK(s && f && !strcmp(word(s, "id"), word(f, "id")));
	CHECK(json_integer_value(json_object_get(s, "tid")) == 4711 && ns(s, "ts") == 0 && ns(f, "ts") == 200);
	CHECK(!event(j, "s", NULL, 1));
	json_decref(j);
	gt_reader_close(r);
}

static void chrome_filters(void)
{
	struct made m = make();
	struct gt_export_options opt = { .filter = { .ranged = true, .from = 150, .to = 250 } };
	struct gt_reader *r;
	json_t *j;

	put(&m, GT_CALL, m.thread, PLAIN, 100, 110, 0, 0, NULL);
	put(&m, GT_CALL, m.thread, LAUNCH, 200, 210, 0, 0, NULL);
	put(&m, GT_CALL, m.other, COPY, 200, 210, 0, 0, NULL);
	r = reread(&m);
	j = chrome(r, &opt);
	CHECK(!event(j, "X", "cuInit", 0) && event(j, "X", "cuLaunchKernel", 0) && event(j, "X", "cuMemcpyHtoD_v2", 0));
	json_decref(j);
	opt.filter = (struct gt_filter){ .tid = 4712 };
	j = chrome(r, &opt);
	CHECK(!event(j, "X", "cuLaunchKernel", 0) && event(j, "X", "cuMemcpyHtoD_v2", 0));
	json_decref(j);
	gt_reader_close(r);
}

/* Two hosts, one pid: two processes, and the second says who it is. */
static int two_hosts(void)
{
	int fd = memfd_create("trace", 0), keep = dup(fd);

	for (int i = 0; i < 2; i++) {
		struct made m = make_at(dup(fd), i ? "host-b" : "host-a", 4711);

		put(&m, GT_CALL, m.thread, i ? COPY : PLAIN, 1000 * (i + 1), 1000 * (i + 1) + 100, 0, 0, NULL);
		gt_writer_close(m.w, NULL);
		close(m.fd);
	}
	close(fd);
	return keep;
}

static void chrome_two_hosts(void)
{
	struct gt_reader *r = gt_reader_open_fd(two_hosts(), NULL);
	json_t *j = chrome(r, NULL), *a = event(j, "X", "cuInit", 0), *b = event(j, "X", "cuMemcpyHtoD_v2", 0);

	CHECK(a && b && ns(a, "ts") == 0 && ns(b, "ts") == 0);	/* each from its own first row */
	CHECK(json_integer_value(json_object_get(a, "pid")) == 4711);
	CHECK(json_integer_value(json_object_get(b, "pid")) != 4711);
	CHECK(!strcmp(word(json_object_get(event(j, "M", "process_name", 1), "args"), "name"), "python3 (process 4711, host-b)"));
	CHECK(json_array_size(json_object_get(json_object_get(j, "otherData"), "segments")) == 2);
	json_decref(j);
	gt_reader_close(r);
}

/* ---- folded ---- */

static struct gt_reader *nested_calls(void)
{
	struct made m = make();
	uint64_t launch[] = { gt_writer_string(m.w, KERNEL_NAME), 1, 0, 5 }, copy[] = { 4096, 0 };

	put(&m, GT_CALL, m.thread, LAUNCH, 100, 200, 0, 0, launch);
	put(&m, GT_CALL, m.thread, IOCTL, 110, 140, 1, 0, NULL);
	put(&m, GT_CALL, m.thread, IOCTL, 150, 160, 1, 0, NULL);
	put(&m, GT_CALL, m.thread, COPY, 200, 250, 0, 0, copy);
	put(&m, GT_CALL, m.other, PLAIN, 300, 310, 0, 0, NULL);
	put(&m, GT_CALL, m.other, PLAIN, 310, 310, 0, 0, NULL);
	return reread(&m);
}

static void folded(void)
{
	struct gt_reader *r = nested_calls();
	char *text = export(r, "folded");

	CHECK(!strcmp(text, "python3 (4711);main:x (4711);cuLaunchKernel;vectorAdd 60\n"
			    "python3 (4711);main:x (4711);cuLaunchKernel;vectorAdd;RM:control 40\n"
			    "python3 (4711);main:x (4711);cuMemcpyHtoD_v2 50\n"
			    "python3 (4711);thread 4712;cuInit 10\n"));
	free(text);
	text = export_with(r, "folded", &(struct gt_export_options){ .cost = GT_COST_COUNT });
	CHECK(strstr(text, "vectorAdd 1\n") && strstr(text, "RM:control 2\n") && strstr(text, "cuInit 2\n"));
	free(text);
	text = export_with(r, "folded", &(struct gt_export_options){ .cost = GT_COST_BYTES });
	CHECK(!strcmp(text, "python3 (4711);main:x (4711);cuMemcpyHtoD_v2 4096\n"));
	free(text);
	gt_reader_close(r);
}

static void folded_of_lies_is_never_negative(void)
{
	struct made m = make();
	struct gt_reader *r;
	char *text;

	put(&m, GT_CALL, m.thread, PLAIN, 100, 200, 0, 0, NULL);
	put(&m, GT_CALL, m.thread, COPY, 110, 150, 1, 0, NULL);
	put(&m, GT_CALL, m.thread, COPY, 120, 180, 1, 0, NULL);
	put(&m, GT_CALL, m.thread, IOCTL, 150, 300, 1, 0, NULL);
	r = reread(&m);
	text = export(r, "folded");
	CHECK(*text && !strchr(text, '-'));
	CHECK(strstr(text, "cuInit 30\n"));	/* 100..110 and 180..200 */
	free(text);
	gt_reader_close(r);
}

static void folded_two_hosts(void)
{
	struct gt_reader *r = gt_reader_open_fd(two_hosts(), NULL);
	char *text = export(r, "folded");

	CHECK(!strncmp(text, "host-a;python3 (4711);main:x (4711);cuInit 100\nhost-b;", 54));
	free(text);
	gt_reader_close(r);
}

/* ---- jsonl ---- */

static void jsonl(void)
{
	struct gt_reader *r = nested_calls();
	char *text = export(r, "jsonl"), *line, *save;
	unsigned open[6] = { 0 }, n = 0;
	double last = -1;

	CHECK(!strncmp(text,
		       "{\"ts\":0.000000000,\"op_id\":0,\"phase\":\"B\",\"name\":\"cuLaunchKernel\",\"pid\":4711,\"tid\":4711,"
		       "\"details\":{\"f\":\"" KERNEL_NAME "\",\"gridDimX\":1,\"hStream\":\"0x0\",\"id\":5}}\n",
		       120));
	CHECK(strstr(text, "{\"ts\":0.000000100,\"op_id\":0,\"phase\":\"E\",\"name\":\"cuLaunchKernel\",\"pid\":4711,\"tid\":"
			   "4711,\"details\":{\"status\":0}}\n"));
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save), n++) {
		json_t *j = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
		size_t op = (size_t)json_integer_value(json_object_get(j, "op_id"));

		CHECK(j && op < 6);
		CHECK(json_real_value(json_object_get(j, "ts")) >= last);	/* in order of time */
		last = json_real_value(json_object_get(j, "ts"));
		CHECK(*word(j, "phase") == "BE"[open[op]++]);			/* a begin, then an end */
		json_decref(j);
	}
	CHECK(n == 12);
	free(text);
	gt_reader_close(r);
}

/* ---- native ---- */

static struct gt_reader *repack(struct gt_reader *r)
{
	struct gt_err err = GT_ERR_INIT;
	char path[64];
	int fd = memfd_create("copy", 0);
	struct gt_out o;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (gt_out_open(&o, path, true, &err) || exporter("native")->export(r, &(struct gt_export_options){0}, &o, &err) ||
	    gt_out_close(&o, &err))
		printf("# %s\n", err.text);
	return gt_reader_open_fd(fd, &err);
}

/* Row by row: names, values, places, and what is beside the rows. */
static bool same_rows(struct gt_reader *ra, struct gt_reader *rb)
{
	struct gt_filter f = { 0 };
	struct gt_iter *a = gt_iter_open(ra, &f, NULL), *b = gt_iter_open(rb, &f, NULL);
	struct gt_event x, y;
	bool same = true;
	int more, n = 0;

	for (; (more = gt_iter_next(a, &x, NULL)) == gt_iter_next(b, &y, NULL) && more > 0 && same; n++) {
		same = x.kind == y.kind && x.row.start == y.row.start && x.row.ret == y.row.ret && x.row.depth == y.row.depth &&
		       x.row.nargs == y.row.nargs && (x.track == GT_NONE) == (y.track == GT_NONE) &&
		       (x.kind == GT_OPEN || x.row.end == y.row.end);
		if (same && x.track != GT_NONE)
			same = x.seg->tracks[x.track].id == y.seg->tracks[y.track].id &&
			       x.seg->tracks[x.track].kind == y.seg->tracks[y.track].kind;
		if (same && x.kind == GT_LOST) {
			same = x.args[0] == y.args[0] && x.args[1] == y.args[1];
			continue;
		}
		same = same && !strcmp(gt_type_name(x.seg, x.row.type), gt_type_name(y.seg, y.row.type));
		for (unsigned i = 0; same && i < x.row.nargs; i++)
			same = x.seg->types[x.row.type].fields[i].kind == GT_F_STR
				   ? !strcmp(gt_str(x.seg, (uint32_t)x.args[i]), gt_str(y.seg, (uint32_t)y.args[i]))
				   : x.args[i] == y.args[i];
	}
	gt_iter_close(a);
	gt_iter_close(b);
	return same && more == 0 && n > 0;
}

static void native_is_equal(void)
{
	struct made m = make();
	uint64_t launch[] = { gt_writer_string(m.w, KERNEL_NAME), 9, 0xabc, 5 };
	struct gt_row open = { .start = 5000000000, .type = m.types[LAUNCH], .nargs = 4 };
	uint32_t frames[2] = { 0, 1 };
	struct gt_reader *r, *copy;

	for (int64_t t = 0; t < 5000000000; t += 10000000) {
		put(&m, GT_CALL, m.thread, LAUNCH, t, t + 9000000, 0, t % 3 == 0, launch);
		put(&m, GT_CALL, m.thread, IOCTL, t + 100, t + 200, 1, 0, NULL);
		if (gt_writer_due(m.w, t))
			gt_writer_epoch(m.w, t, NULL);
	}
	put(&m, GT_CALL, m.other, COPY, 100, 4900000000, 0, 0, NULL);	/* lasts for epochs */
	put(&m, GT_GPU, m.gpu, KERNEL, 300, 400, 0, 0, &launch[3]);
	put(&m, GT_GPU, m.gpu, JOINED, 310, 420, 0, 0, (uint64_t[]){ m.thread, 0, 9000000, launch[0], GT_JOIN_ORDER, 5, 0 });
	put(&m, GT_SPAN, m.gpu, PLAIN, 350, 450, 0, 0, NULL);
	put(&m, GT_COUNTER, m.process, GAUGE, 300, 300, 0, 0, &launch[2]);
	put(&m, GT_INSTANT, m.thread, MARK, 300, 300, 0, 0, NULL);
	put(&m, GT_UNMATCHED, m.thread, PLAIN, 400, 400, 0, 1, NULL);
	gt_writer_lost(m.w, GT_SCOPE_CPU, GT_NONE, 500, 600, GT_LOST_UNKNOWN, NULL);
	gt_writer_anchor(m.w, &(struct gt_anchor){ .monotonic = 1, .realtime = 2, .ticks = 3, .error = 4 }, NULL);
	gt_writer_stack(m.w, frames, 2);
	gt_writer_open_call(m.w, m.thread, &open, launch, NULL);
	gt_writer_epoch(m.w, 6000000000, NULL);
	r = reread(&m);
	copy = repack(r);
	CHECK(copy && gt_reader_segments(copy) == 1);
	CHECK(same_rows(r, copy));
	for (int k = 0; k < GT_KINDS; k++)
		CHECK(gt_reader_segment(r, 0)->rows[k] == gt_reader_segment(copy, 0)->rows[k]);
	CHECK(gt_reader_segment(copy, 0)->closed && gt_reader_segment(copy, 0)->simulated);
	CHECK(gt_reader_segment(copy, 0)->nanchors == 1 && gt_reader_segment(copy, 0)->anchors[0].error == 4);
	CHECK(gt_reader_segment(copy, 0)->nstacks == 1 && gt_reader_segment(copy, 0)->stacks[0].n == 2);
	CHECK(!strcmp(gt_reader_segment(copy, 0)->host, "host-a"));
	gt_reader_close(copy);
	gt_reader_close(r);
}

static void native_keeps_segments(void)
{
	struct gt_reader *r = gt_reader_open_fd(two_hosts(), NULL), *copy = repack(r);

	CHECK(copy && gt_reader_segments(copy) == 2);
	CHECK(same_rows(r, copy));
	CHECK(gt_reader_segment(copy, 0)->rows[GT_CALL] == 1 && gt_reader_segment(copy, 1)->rows[GT_CALL] == 1);
	gt_reader_close(copy);
	gt_reader_close(r);
}

static uint64_t lost_in(struct gt_reader *r)
{
	struct gt_iter *it = gt_iter_open(r, &(struct gt_filter){ .kinds = GT_BIT(GT_LOST) }, NULL);
	struct gt_event ev;
	uint64_t n = 0;

	while (gt_iter_next(it, &ev, NULL) > 0)
		n += ev.args[0];
	gt_iter_close(it);
	return n;
}

/* The copy is whole again, so only a loss can tell that rows are missing. */
static void native_tells_what_was_damaged(void)
{
	struct made m = make();
	struct gt_reader *r, *copy;
	off_t size, found = 0;
	size_t n = 0;
	uint8_t byte;
	int fd = dup(m.fd);	/* a reader closes its own */

	for (int64_t t = 0; t < 2000; t += 10)
		put(&m, GT_CALL, m.thread, PLAIN, t, t + 5 + t % 3, 0, 0, NULL);
	gt_reader_close(reread(&m));
	size = lseek(fd, 0, SEEK_END);
	for (off_t at = 0; at < size && !found; at++) {
		CHECK(pread(fd, &byte, 1, at) == 1 && pwrite(fd, &(uint8_t){ byte ^ 64 }, 1, at) == 1);
		r = gt_reader_open_fd(dup(fd), NULL);
		copy = r ? repack(r) : NULL;
		if (copy && gt_reader_segments(copy) && gt_reader_damage(r, &n) && n && gt_reader_segment(copy, 0)->rows[GT_CALL] == 0) {
			found = at;
			CHECK(lost_in(copy) == 200);
		}
		gt_reader_close(copy);
		gt_reader_close(r);
		CHECK(pwrite(fd, &byte, 1, at) == 1);
	}
	CHECK(found);
	close(fd);
}

/* ---- what they share ---- */

static void values(void)
{
	static const struct { uint8_t kind; uint64_t v; const char *want;
	} cases[] = {
	    {GT_F_U64, 0, "0"},
	    {GT_F_U64, 1ull << 53, "9007199254740992"},
	    {GT_F_U64, (1ull << 53) + 1, "\"9007199254740993\""},
	    {GT_F_U64, UINT64_MAX, "\"18446744073709551615\""},
	    {GT_F_I64, (uint64_t)-5, "-5"},
	    {GT_F_I64, 1ull << 63, "\"-9223372036854775808\""},
	    {GT_F_HEX, 0xdead, "\"0xdead\""},
	    {GT_F_BOOL, 1, "true"},
	    {GT_F_BOOL, 0, "false"},
	    {GT_F_F64, 0x3fb999999999999aull, "0.1"},
	    {GT_F_F64, 0x7ff0000000000000ull, "\"Infinity\""},
	    {GT_F_F64, 0x7ff8000000000000ull, "\"NaN\""},
	    {GT_F_F64, 0x3fd5555555555555ull, "0.3333333333333333"},
	};
	char text[64];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		*gt_put_value(text, cases[i].kind, cases[i].v) = '\0';
		CHECK(!strcmp(text, cases[i].want));
	}
}

static void pending_ends_in_order(void)
{
	struct gt_pending p = { 0 };
	struct gt_pending_row row, last = { .end = -1 };
	unsigned state = 7, n = 0;

	for (uint64_t i = 0; i < 1000; i++)
		CHECK(!gt_pending_push(&p, &(struct gt_pending_row){ .end = next_random(&state) % 50, .seq = i }, NULL));
	for (; gt_pending_pop(&p, &row); last = row, n++)
		CHECK(row.end > last.end || (row.end == last.end && row.seq < last.seq));
	CHECK(n == 1000);
	gt_pending_release(&p);
}

T_MAIN(T(chrome_says_it_all), T(chrome_times_have_three_decimals), T(chrome_of_nothing), T(chrome_long_call_over_epochs),
       T(chrome_of_lies), T(chrome_spans_get_lanes), T(chrome_runs_out_of_lanes), T(chrome_spans_beside_calls),
       T(chrome_open_calls), T(chrome_losses_counters_unmatched), T(chrome_flows), T(chrome_flows_of_the_row_itself), T(chrome_filters), T(chrome_two_hosts),
       T(folded), T(folded_of_lies_is_never_negative), T(folded_two_hosts), T(jsonl), T(native_is_equal),
       T(native_keeps_segments), T(native_tells_what_was_damaged), T(values), T(pending_ends_in_order))
