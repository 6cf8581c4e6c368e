/* Profiles and text made of the tree of stacks: speedscope, pprof, Graphviz, replay, CSV and TSV.
 */
#include "tests/unit/formats/export/exported.h"
#include "tests/unit/stack_program.h"

static struct gt_reader *nested_calls(void)
{
	struct made m = make();
	uint64_t launch[] = { gt_writer_string(m.w, KERNEL_NAME), 1, 0, 5 }, copy[] = { 4096, 0 };
	uint64_t five = 5;

	put(&m, GT_CALL, m.thread, LAUNCH, 1100, 1200, 0, 0, launch);
	put(&m, GT_CALL, m.thread, IOCTL, 1110, 1140, 1, 0, NULL);
	put(&m, GT_CALL, m.thread, COPY, 1200, 1250, 0, 2, copy);
	put(&m, GT_GPU, m.gpu, KERNEL, 1300, 1400, 0, 0, &five);
	return reread(&m);
}

/* ---- speedscope ---- */

static json_t *speedscope(struct gt_reader *r, const struct gt_export_options *opt)
{
	char *text = export_with(r, "speedscope", opt);
	json_t *j = json_loads(text, JSON_REJECT_DUPLICATES, NULL);

	free(text);
	return j; /* NULL: it is no JSON; it then has no profiles */
}

static const char *frame_name(const json_t *j, size_t frame)
{
	const json_t *frames = json_object_get(json_object_get(j, "shared"), "frames");

	return word(json_array_get(frames, frame), "name");
}

/* "O main 0, C main 5, ..." of a profile */
static char *events_text(const json_t *j, size_t profile)
{
	const json_t *p = json_array_get(json_object_get(j, "profiles"), profile), *e;
	struct gt_out o;
	char *text;
	size_t i;

	gt_out_memory(&o);
	json_array_foreach(json_object_get(p, "events"), i, e)
		gt_out_printf(&o, "%s %s %" JSON_INTEGER_FORMAT "\n", word(e, "type"),
			frame_name(j, (size_t)json_integer_value(json_object_get(e, "frame"))),
			json_integer_value(json_object_get(e, "at")));
	text = strndup(o.data, o.len);
	gt_out_close(&o, NULL);
	return text;
}

static void speedscope_has_threads_by_time(void)
{
	struct gt_reader *r = nested_calls();
	json_t *j = speedscope(r, &(struct gt_export_options){ .cost = GT_COST_TIME }), *profiles;
	char *text;

	CHECK_STR(word(j, "$schema"), "https://www.speedscope.app/file-format-schema.json");
	profiles = json_object_get(j, "profiles");
	CHECK_EQ(json_array_size(profiles), 2);
	CHECK_STR(word(json_array_get(profiles, 0), "name"), "python3 (4711), main;x (4711)");
	CHECK_STR(word(json_array_get(profiles, 0), "type"), "evented");
	CHECK_STR(word(json_array_get(profiles, 0), "unit"), "nanoseconds");
	text = events_text(j, 0);
	CHECK_STR(text,
		"O cuLaunchKernel 0\nO vectorAdd 0\nO RM;control 10\nC RM;control 40\nC vectorAdd 100\n"
		"C cuLaunchKernel 100\nO cuMemcpyHtoD_v2 100\nC cuMemcpyHtoD_v2 150\n");
	free(text);
	text = events_text(j, 1);
	CHECK_STR(text, "O vectorAdd 200\nC vectorAdd 300\n");
	free(text);
	json_decref(j);
	gt_reader_close(r);
}

/* The time in which the profile has frames, and whether its events are balanced and in order. */
static int64_t covered_by(const json_t *profile, bool *valid)
{
	int64_t open[300], began = 0, last = 0, covered = 0;
	size_t i, n = 0;
	const json_t *e;

	json_array_foreach(json_object_get(profile, "events"), i, e)
	{
		int64_t at = json_integer_value(json_object_get(e, "at")),
			frame = json_integer_value(json_object_get(e, "frame"));

		*valid &= at >= last;
		last = at;
		if (*word(e, "type") == 'O') {
			began = n ? began : at;
			open[n++] = frame;
			continue;
		}
		*valid &= n && open[n - 1] == frame;
		n -= n > 0;
		covered += n ? 0 : at - began;
	}
	*valid &= !n && last <= json_integer_value(json_object_get(profile, "endValue"));
	return covered;
}

static void speedscope_of_any_rows_is_balanced(void)
{
	for (unsigned seed = 1; seed <= T_INPUTS(100); seed++) {
		unsigned state = seed, busy = 0;
		bool covered[800] = { true }, valid = true;
		struct made m = make();
		struct gt_reader *r;
		json_t *j;

		/* the first row is at 0, where times begin */
		put(&m, GT_CALL, m.thread, PLAIN, 0, 1, 0, 0, NULL);
		for (int i = 0; i < 100; i++) {
			int64_t start = next_random(&state) % 500,
				dur = next_random(&state) % (seed % 4 ? 40 : 200);
			bool span = next_random(&state) % 2;

			put(&m, span ? GT_SPAN : GT_CALL, m.thread, span ? MARK : PLAIN, start,
				start + dur, span ? 0 : next_random(&state) % 4, 0, NULL);
			for (int64_t t = start; t < start + dur; t++)
				covered[t] = true;
		}
		for (int t = 0; t < 800; t++)
			busy += covered[t];
		r = reread(&m);
		j = speedscope(r, &(struct gt_export_options){ .cost = GT_COST_TIME });
		CHECK_EQ(covered_by(json_array_get(json_object_get(j, "profiles"), 0), &valid),
			busy);
		CHECK(valid);
		json_decref(j);
		gt_reader_close(r);
	}
}

static void speedscope_has_stacks_by_cost(void)
{
	struct gt_reader *r = stack_program();
	json_t *j = speedscope(r, &(struct gt_export_options){ .by_stack = true }), *p, *frames;
	json_int_t sum = 0;
	json_t *weight;
	size_t i;

	p = json_array_get(json_object_get(j, "profiles"), 0);
	CHECK_STR(word(p, "type"), "sampled");
	CHECK_STR(word(p, "name"), "CPU");
	CHECK_EQ(json_array_size(json_object_get(p, "samples")),
		json_array_size(json_object_get(p, "weights")));
	json_array_foreach(json_object_get(p, "weights"), i, weight) sum +=
		json_integer_value(weight);
	CHECK_EQ(sum, 4 + 5 + 30 + 40 + 30);
	CHECK_EQ(json_integer_value(json_object_get(p, "endValue")), sum);
	frames = json_object_get(json_object_get(j, "shared"), "frames");
	for (i = 0; i < json_array_size(frames); i++)
		if (!strcmp(frame_name(j, i), "step (app/train.py:88)"))
			break;
	CHECK_EQ(json_integer_value(json_object_get(json_array_get(frames, i), "line")), 88);
	CHECK(strstr(word(json_array_get(frames, i), "file"), "app/train.py"));
	json_decref(j);
	gt_reader_close(r);
}

static void speedscope_of_nothing_is_json(void)
{
	struct made m = make();
	struct gt_reader *r = reread(&m);
	json_t *j = speedscope(r, &(struct gt_export_options){ .cost = GT_COST_TIME });

	CHECK_EQ(json_array_size(json_object_get(j, "profiles")), 0);
	json_decref(j);
	gt_reader_close(r);
}

/* ---- pprof ---- */

static bool malformed; /* a message is cut off, or has a field of an unknown kind */
struct wire {
	const uint8_t *p, *end;
};
struct wire_field {
	uint32_t number;
	uint64_t v; /* of a number */
	struct wire bytes;
};

static uint64_t wire_varint(struct wire *w)
{
	uint64_t v = 0;

	for (unsigned shift = 0; w->p < w->end; shift += 7) {
		v |= (uint64_t)(*w->p & 0x7f) << shift;
		if (!(*w->p++ & 0x80))
			return v;
	}
	malformed = true;
	return v;
}

static bool wire_next(struct wire *w, struct wire_field *f)
{
	uint64_t tag;

	if (w->p >= w->end)
		return false;
	tag = wire_varint(w);
	f->number = (uint32_t)(tag >> 3);
	f->v = wire_varint(w);
	malformed |= (tag & 7) != 0 && (tag & 7) != 2;
	if ((tag & 7) != 2)
		return true;
	malformed |= f->v > (uint64_t)(w->end - w->p);
	if (malformed)
		return false;
	f->bytes = (struct wire){ w->p, w->p + f->v };
	w->p += f->v;
	return true;
}

struct pprof_sums {
	unsigned types, locations, functions, samples, strings, build_ids;
	uint64_t cost[4], start, duration;
	bool known; /* all locations of samples are there */
};

static void add_sample(struct wire w, struct pprof_sums *s)
{
	struct wire_field f;
	unsigned i = 0;

	while (wire_next(&w, &f)) {
		while (f.number == 1 && f.bytes.p < f.bytes.end) {
			uint64_t location = wire_varint(&f.bytes);

			s->known &= location > 0 && location <= s->locations;
		}
		while (f.number == 2 && f.bytes.p < f.bytes.end)
			s->cost[i++ & 3] += wire_varint(&f.bytes);
	}
	s->known &= i == s->types;
	s->samples++;
}

static struct pprof_sums read_pprof(const char *data, size_t len)
{
	struct wire w = { (const uint8_t *)data, (const uint8_t *)data + len };
	struct pprof_sums s = { .known = true };
	struct wire_field f;

	while (wire_next(&w, &f)) {
		s.types += f.number == 1;
		s.locations += f.number == 4;
		s.functions += f.number == 5;
		s.build_ids += f.number == 6 && f.bytes.end - f.bytes.p == 8 &&
			!memcmp(f.bytes.p, "01020304", 8);
		if (f.number == 6 && !s.strings++)
			malformed |= f.bytes.p != f.bytes.end; /* the first string is empty */
		if (f.number == 2)
			add_sample(f.bytes, &s);
		s.start = f.number == 9 ? f.v : s.start;
		s.duration = f.number == 10 ? f.v : s.duration;
	}
	return s;
}

static struct pprof_sums pprof(struct gt_reader *r, const struct gt_export_options *opt)
{
	struct gt_err err = GT_ERR_INIT;
	struct pprof_sums s;
	struct gt_out o;

	gt_out_memory(&o);
	malformed = exporter("pprof")->export(r, opt, &o, &err) != 0;
	s = read_pprof(o.data, o.len);
	gt_out_close(&o, NULL);
	return s;
}

static void pprof_has_a_value_for_cpu_and_gpu(void)
{
	struct gt_reader *r = stack_program();
	struct pprof_sums s = pprof(r, &(struct gt_export_options){ .cost = GT_COST_TIME });

	CHECK(!malformed);
	CHECK_EQ(s.types, 2);
	CHECK_EQ(s.samples, 10);
	CHECK(s.known && s.locations == s.functions);
	CHECK_EQ(s.cost[0], 4 + 5 + 30 + 40 + 30);
	CHECK_EQ(s.cost[1], 7 + 50 + 2000 + 200 + 100);
	CHECK(s.build_ids > 0);
	gt_reader_close(r);
	r = nested_calls(); /* without stacks: the rows as they nest */
	s = pprof(r, &(struct gt_export_options){ .cost = GT_COST_TIME });
	CHECK(!malformed && s.known && s.cost[0] == 150 && s.cost[1] == 100);
	gt_reader_close(r);
}

/* The times of the profile are those of the range, and of all recordings. */
static void pprof_has_the_time_of_all_recordings(void)
{
	struct gt_export_options part = { .filter = { .ranged = true, .from = 1150, .to = 1250 } };
	struct gt_reader *r = nested_calls();
	int fd = memfd_create("trace", 0);
	struct pprof_sums s;
	struct made m;

	s = pprof(r, &(struct gt_export_options){ .cost = GT_COST_TIME });
	CHECK(s.start == 0 && s.duration == 300);
	CHECK_EQ(pprof(r, &part).duration, 100);
	gt_reader_close(r);
	for (int i = 0; i < 2; i++) {
		m = make_at(dup(fd), i ? "host-b" : "host-a", 4711);
		gt_writer_anchor(m.w,
			&(struct gt_anchor){ .monotonic = 1000, .realtime = i ? 2000 : 5000 },
			NULL);
		put(&m, GT_CALL, m.thread, PLAIN, 1100, 1200, 0, 0, NULL);
		if (i)
			continue;
		CHECK_EQ(gt_writer_close(m.w, NULL), 0);
		close(m.fd);
	}
	close(fd);
	r = reread(&m);
	CHECK_EQ(gt_reader_segments(r), 2);
	s = pprof(r, &(struct gt_export_options){ .cost = GT_COST_TIME });
	CHECK_EQ(s.start, 2100);
	CHECK_EQ(s.duration, 5200 - 2100);
	gt_reader_close(r);
}

/* ---- Graphviz ---- */

static void dot_counts_each_function_once(void)
{
	struct gt_reader *r = stack_program();
	char *text = export_with(r, "dot", &(struct gt_export_options){ .by_stack = true });

	CHECK(!strncmp(text, "digraph gt {\n", 13));
	/* "main" calls itself in one of its two stacks */
	CHECK(strstr(text, "\"main (app/train.py:9)\\n2.300 ms") ||
		strstr(text, "\"main (app/train.py:9)\\n2.300 us"));
	CHECK(strstr(text, "subgraph cluster_") && strstr(text, "label=\"GPU: 2.357 us\""));
	CHECK(strstr(text, " -> b"));
	free(text);
	gt_reader_close(r);
}

static void dot_escapes_names(void)
{
	struct made m = make();
	struct gt_reader *r;
	char *text;

	put(&m, GT_SPAN, m.thread, MARK, 100, 200, 0, 0, NULL); /* mark "one"\n */
	r = reread(&m);
	text = export(r, "dot");
	CHECK(strstr(text, "[label=\"mark \\\"one\\\"?\\n"));
	free(text);
	gt_reader_close(r);
}

/* ---- text ---- */

static void replay_nests_calls(void)
{
	struct gt_reader *r = nested_calls();
	char *text = export(r, "replay");

	CHECK_STR(text,
		"# DURATION     TID      FUNCTION\n"
		"            [    4711] | cuLaunchKernel(f=\"" KERNEL_NAME
		"\", gridDimX=1, hStream=\"0x0\", id=5) {\n"
		"   0.030 us [    4711] |   RM;control();\n"
		"   0.100 us [    4711] | }; // cuLaunchKernel\n"
		"   0.050 us [    4711] | cuMemcpyHtoD_v2(ByteCount=4096, direction=\"unknown\") = 2;\n"
		"   0.100 us [stream 7] | // " KERNEL_NAME "(id=5)\n");
	free(text);
	gt_reader_close(r);
}

/* A call that lasts beside more calls than may wait is printed with both of its ends. */
static void replay_of_a_long_call_is_bounded(void)
{
	struct made m = make();
	struct gt_reader *r;
	char *text, *end;
	unsigned lines = 0;

	put(&m, GT_CALL, m.thread, COPY, 1000, 100000, 0, 0, NULL);
	for (int i = 0; i < 6000; i++)
		put(&m, GT_CALL, m.other, PLAIN, 1001 + 10 * i, 1002 + 10 * i, 0, 0, NULL);
	r = reread(&m);
	text = export(r, "replay");
	for (const char *c = text; (c = strchr(c, '\n')); c++)
		lines++;
	CHECK_EQ(lines, 1 + 6000 + 2);
	end = strstr(text, "}; // cuMemcpyHtoD_v2\n");
	CHECK(end && !end[sizeof("}; // cuMemcpyHtoD_v2\n") - 1]);
	CHECK(strstr(text, "[    4711] | cuMemcpyHtoD_v2(ByteCount=0, direction=\"unknown\") {\n"));
	free(text);
	gt_reader_close(r);
}

static void csv_has_all_rows(void)
{
	struct gt_reader *r = nested_calls();
	char *text = export(r, "csv");

	CHECK_STR(text,
		"start_ns,duration_ns,kind,layer,category,name,host,pid,process,track,track_id,track_name,"
		"device,depth,status,arguments\r\n"
		"0,100,call,api,launch,cuLaunchKernel,host-a,4711,python3,thread,4711,main;x,,0,0,"
		"\"{\"\"f\"\":\"\"" KERNEL_NAME
		"\"\",\"\"gridDimX\"\":1,\"\"hStream\"\":\"\"0x0\"\",\"\"id\"\":5}\"\r\n"
		"10,30,call,ioctl,ioctl,RM;control,host-a,4711,python3,thread,4711,main;x,,1,0,\r\n"
		"100,50,call,api,copy,cuMemcpyHtoD_v2,host-a,4711,python3,thread,4711,main;x,,0,2,"
		"\"{\"\"ByteCount\"\":4096,\"\"direction\"\":\"\"unknown\"\"}\"\r\n"
		"200,100,gpu,gpu,kernel," KERNEL_NAME
		",host-a,,,stream,7,,,0,,\"{\"\"id\"\":5}\"\r\n");
	free(text);
	gt_reader_close(r);
	r = stack_program();
	text = export(r, "tsv");
	CHECK(strstr(
		text, "\"stack\":\"at::gemm<float> (libtorch.so) < step (app/train.py:88) < "));
	free(text);
	gt_reader_close(r);
}

static void csv_is_no_formula(void)
{
	struct gt_err err = GT_ERR_INIT;
	int fd = memfd_create("trace", 0);
	struct gt_writer *w = gt_writer_open(
		dup(fd), &(struct gt_writer_options){ .host = "=1+cmd()", .boot_id = "b" }, NULL);
	uint32_t type = gt_writer_type(
		w, &(struct gt_type){ .name = gt_writer_string(w, "@SUM(A1:A9)\r\n\x1b[2J") });
	struct gt_reader *r;
	char *text;

	CHECK_EQ(gt_writer_row(w, GT_INSTANT,
			 gt_writer_track(w,
				 &(struct gt_track){ .parent = GT_NONE,
					 .name = GT_NONE,
					 .kind = GT_TRACK_THREAD }),
			 &(struct gt_row){ .start = 1, .end = 1, .type = type }, NULL, &err),
		0);
	CHECK_EQ(gt_writer_close(w, &err), 0);
	r = gt_reader_open_fd(fd, &err);
	text = export(r, "csv");
	CHECK(strstr(text, ",\"'@SUM(A1:A9)") && strstr(text, ",\"'=1+cmd()\","));
	CHECK(!strchr(text, '\x1b'));
	free(text);
	gt_reader_close(r);
}

T_MAIN(T(speedscope_has_threads_by_time), T(speedscope_of_any_rows_is_balanced),
	T(speedscope_has_stacks_by_cost), T(speedscope_of_nothing_is_json),
	T(pprof_has_a_value_for_cpu_and_gpu), T(pprof_has_the_time_of_all_recordings),
	T(dot_counts_each_function_once), T(dot_escapes_names), T(replay_nests_calls),
	T(replay_of_a_long_call_is_bounded), T(csv_has_all_rows), T(csv_is_no_formula))
