/* The steps report: a program whose figures are known, marks, missing answers, and random loops
 * counted a second time, the slow way. */
#define _GNU_SOURCE
#include <math.h>
#include "analyze/core/run.h"
#include "tests/unit/loop_program.h"
#include "tests/unit/random_program.h"
#include "tests/unit/reports.h"

static const char *const steps[] = { "steps", NULL };

/* ---- known figures ---- */

/* 3 slow ones first, then 100 ns each, but for the 15th: 300, of which 150 are mul's. */
static void twenty_steps(struct loop *l)
{
	loop_begin(l);
	for (int i = 0; i < 20; i++)
		loop_step(l, i < 3 ? 500 : i == 14 ? 300 : 100, i == 14 ? 150 : 0);
}

static void known_figures(void)
{
	static struct loop l;
	const json_t *r;
	json_t *j;

	twenty_steps(&l);
	j = report(gpus_end(&l.g), steps, &plain);
	r = row(j, "steps", 0);
	CHECK(rows(j, "steps") == 1 && is(r, "found_by", "sequence") && num(r, "steps") == 19 &&
		num(r, "sequences") == 1);
	CHECK(!noted(j, "steps", "in the time that is chosen"));
	CHECK(num(r, "warm_up") == 3 && num(r, "p50_ns") == 100 && num(r, "p90_ns") == 100 &&
		num(r, "p99_ns") == 300);
	CHECK(num(r, "min_ns") == 100 && num(r, "max_ns") == 300 && num(r, "alike_percent") == 95);
	/* 15 * 50 + 200 of 1800 */
	CHECK(num(r, "busy_percent") == 52.78 && is(r, "drift", "no drift") &&
		absent(r, "drift_percent"));
	CHECK(is(r, "anchor", "memcpy HtoD (pinned -> device)"));
	r = row(j, "step_list", 14);
	CHECK(rows(j, "step_list") == 19 && num(r, "step") == 15 &&
		num(r, "start_ns") == 50 + 1500 + 1100 && num(r, "duration_ns") == 300);
	CHECK(num(r, "busy_ns") == 200 && num(r, "idle_ns") == 100 && num(r, "kernels") == 4 &&
		num(r, "copies") == 1 && num(r, "sets") == 0);
	CHECK(num(r, "bytes") == 4096 && num(r, "calls") == 5 && absent(r, "runtime_calls") &&
		is(r, "note", "slow"));
	CHECK(is(row(j, "step_list", 2), "note", "warm-up") &&
		is(row(j, "step_list", 3), "note", ""));
	CHECK(rows(j, "slow_steps") == 2 && num(row(j, "slow_steps", 0), "step") == 15 &&
		num(row(j, "slow_steps", 0), "over_ns") == 200);
	r = row_named(j, "slow_steps", "name", "mul");
	CHECK(r == row(j, "slow_steps", 0) && num(r, "time_ns") == 160 &&
		num(r, "median_ns") == 10 && num(r, "difference_ns") == 150);
	r = row_named(j, "slow_steps", "name", "GPU idle");
	CHECK(num(r, "time_ns") == 100 && num(r, "median_ns") == 50 &&
		num(r, "difference_ns") == 50);
	json_decref(j);
}

/* Each step takes 2 ns longer than the one before: 200 ns in 100 steps, of a median of 1000 + 2
 * * 50. */
static void drift(void)
{
	static struct loop l;
	const json_t *r;
	json_t *j;

	loop_begin(&l);
	for (int i = 0; i < 102; i++)
		loop_step(&l, i % 20 == 7 ? 1400 : 1000 + 2 * i, 0);
	j = report(gpus_end(&l.g), steps, &plain);
	r = row(j, "steps", 0);
	CHECK(num(r, "steps") == 101 && num(r, "warm_up") == 0 && is(r, "drift", "slower"));
	CHECK(num(r, "drift_percent") > 17.5 && num(r, "drift_percent") < 19);
	json_decref(j);
	loop_begin(&l);
	for (int i = 0; i < 6; i++)
		loop_step(&l, 1000, 0);
	j = report(gpus_end(&l.g), steps, &plain);
	CHECK(num(row(j, "steps", 0), "steps") == 5 &&
		is(row(j, "steps", 0), "drift", "too few steps") &&
		absent(row(j, "steps", 0), "warm_up"));
	CHECK(noted(j, "slow_steps", "no step took longer"));
	json_decref(j);
	loop_begin(&l);
	for (int i = 0; i < 4; i++)
		loop_step(&l, 100 * (i + 1), 0);
	/* 100, 200, 300: one is longer than the median */
	j = report(gpus_end(&l.g), steps, &plain);
	CHECK(num(row(j, "steps", 0), "steps") == 3 && num(row(j, "steps", 0), "p50_ns") == 200);
	CHECK(rows(j, "slow_steps") == 1 && num(row(j, "slow_steps", 0), "step") == 3 &&
		num(row(j, "slow_steps", 0), "over_ns") == 100);
	json_decref(j);
}

/* The first three steps are as quick as all others, and run an operation that no later step
 * runs. */
static void warming_up_is_another_sequence(void)
{
	static struct loop l;
	const json_t *r;
	json_t *j;

	loop_begin(&l);
	for (int i = 0; i < 20; i++) {
		if (i < 3)
			loop_op(&l, 2, l.at + 70, 10);
		loop_step(&l, 100, 0);
	}
	j = report(gpus_end(&l.g), steps, &plain);
	r = row(j, "steps", 0);
	CHECK(num(r, "steps") == 19 && num(r, "sequences") == 2 && num(r, "warm_up") == 3 &&
		num(r, "max_ns") == 100);
	CHECK(is(row(j, "step_list", 2), "note", "warm-up") &&
		num(row(j, "step_list", 2), "duration_ns") == 100);
	CHECK(num(row(j, "step_list", 2), "kernels") == 5 &&
		num(row(j, "step_list", 3), "kernels") == 4);
	json_decref(j);
}

/* ---- marks ---- */

static void mark(struct gpus *g, const char *name, int64_t start, int64_t end)
{
	struct gt_type type = { .layer = GT_LAYER_USER,
		.category = GT_CAT_USER,
		.name = gt_writer_string(g->w, name) };
	struct gt_row range = { .start = start, .end = end, .type = gt_writer_type(g->w, &type) };

	gt_writer_row(g->w, GT_SPAN, g->thread[0], &range, NULL, &g->err);
}

/* Kernels without repetition between marks; ranges of layers within the marks, and a range
 * around all steps that is no step. */
static void marked(struct gpus *g, const char *format)
{
	char name[40];

	gpus_begin(g, NULL);
	for (int i = 0; i < 6; i++) {
		int64_t at = 1000 + 100 * i;

		snprintf(name, sizeof(name), format, 4 + i);
		for (int k = 0; k < 2; k++) {
			/* the second runs in the next step */
			struct gt_gpu_work w =
				gpus_work(g->stream[0][0], at + 60 + 30 * k, at + 80 + 30 * k);

			gpus_launched(g, &w, 1, at + 20 + 10 * k, 5, GT_JOIN_CORRELATION);
			gpus_kernel(g, (i * i + k) % 3 % 2, &w);
		}
		mark(g, name, at, at + 90);
		mark(g, "layer0", at, at + 20);
		mark(g, "layer1", at + 20, at + 40);
		mark(g, "sync", at + 50, at + 60);
	}
	mark(g, "epoch", 900, 2000);
}

static void marks_go_first(void)
{
	static const char *const formats[] = { "ProfilerStep#%d", "train_step", "pass %d" };
	const json_t *r;
	struct gpus g;
	json_t *j;

	for (size_t i = 0; i < 3; i++) {
		marked(&g, formats[i]);
		j = report(gpus_end(&g), steps, &plain);
		r = row(j, "steps", 0);
		CHECK(is(r, "found_by", "marks") && num(r, "steps") == 6 &&
			num(r, "max_ns") == 100 && num(r, "min_ns") == 90);
		r = row(j, "step_list", 1);
		CHECK(num(r, "start_ns") == 200 && num(r, "duration_ns") == 100 &&
			num(r, "kernels") == 2 && num(r, "calls") == 2);
		/* 60-80, 90-100; 0-10 of the one before */
		CHECK(num(r, "busy_ns") == 40 && num(row(j, "step_list", 0), "busy_ns") == 30);
		json_decref(j);
	}
}

/* Ranges that cover little of the time, and names whose numbers go up and down, mark no steps. */
static void not_all_marks_are_steps(void)
{
	struct gpus g;
	json_t *j;

	marked(&g, "layer0"); /* now twice within each other: not apart */
	j = report(gpus_end(&g), steps, &plain);
	CHECK(rows(j, "steps") == 1 && absent(row(j, "steps", 0), "found_by") &&
		rows(j, "step_list") == 0);
	json_decref(j);
}

/* Ranges that repeat while the GPU has no work yet, for example while a model is created, are no
 * steps; ranges that repeat later are. A range whose name contains "step" counts as a step if
 * the GPU got any work in it. */
static void before_the_gpu_works(void)
{
	static const struct {
		const char *name;
		int n;
		const char *by;
	} cases[] = {
		{ "aten::uniform_", 9, "sequence" },
		{ "init %d", 9, "sequence" },
		{ "init step %d", 9, "sequence" },
		/* these reach into the loop, for less than half of it */
		{ "warm %d", 14, "sequence" },
		{ "warm step %d", 14, "marks" },
	};
	static struct loop l;
	char name[40];
	json_t *j;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		twenty_steps(&l);
		for (int k = 0; k < cases[i].n; k++) {
			snprintf(name, sizeof(name), cases[i].name, k);
			mark(&l.g, name, 100 * k + 10, 100 * k + 100);
		}
		j = report(gpus_end(&l.g), steps, &plain);
		CHECK(is(row(j, "steps", 0), "found_by", cases[i].by));
		json_decref(j);
	}
}

/* A range of an import: its category is an argument. */
static void mark_of(
	struct gpus *g, const char *category, const char *name, int64_t start, int64_t end)
{
	struct gt_field field = { gt_writer_string(g->w, "category"), GT_F_STR, GT_R_NONE };
	struct gt_row range = { .start = start, .end = end, .nargs = 1 };
	struct gt_type type = { .layer = GT_LAYER_USER, .category = GT_CAT_USER };
	uint64_t arg = gt_writer_string(g->w, category);

	type.name = gt_writer_string(g->w, name);
	type.fields = &field;
	type.nfields = 1;
	range.type = gt_writer_type(g->w, &type);
	gt_writer_row(g->w, GT_SPAN, g->thread[0], &range, &arg, &g->err);
}

/* One mark or two count if their name is clear. Ranges of operators and of Python functions are no
 * marks, however many there are. */
static void one_or_two_marks(void)
{
	static const struct {
		const char *category, *name;
		int n, width;
		const char *by;
		double steps;
	} cases[] = {
		{ "user_annotation", "ProfilerStep#%d", 1, 300, "marks", 1 },
		{ "user_annotation", "ProfilerStep#%d", 2, 1000, "marks", 2 },
		{ "Operator", "ProfilerStep#%d", 2, 1000, "marks", 2 },
		{ "user_annotation", "step %d", 2, 1000, "marks", 2 },
		{ "user_annotation", "step[DECODE bs=%d]", 1, 2000, "marks", 1 },
		{ "user_annotation", "step %d", 2, 300, "sequence", 19 },
		{ "user_annotation", "20 steps", 1, 2000, "sequence", 19 },
		{ "user_annotation", "BatchNorm2d_%d", 1, 2000, "sequence", 19 },
		{ "user_annotation", "forward", 2, 1000, "sequence", 19 },
		{ "user_annotation", "forward", 4, 500, "marks", 4 },
		{ "Operator", "forward", 4, 500, "marks", 4 },
		{ "Operator", "aten::conv2d", 4, 500, "sequence", 19 },
		{ "cpu_op", "aten::batch_norm", 4, 500, "sequence", 19 },
		{ "python_function", "nn.Module: BertLayer_%d", 4, 500, "sequence", 19 },
	};
	static struct loop l;
	char name[40];
	json_t *j;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		twenty_steps(&l);
		for (int k = 0; k < cases[i].n; k++) {
			int64_t at = 1000 + k * cases[i].width;

			snprintf(name, sizeof(name), cases[i].name, k + 1);
			mark_of(&l.g, cases[i].category, name, at, at + cases[i].width);
			mark_of(&l.g, "cpu_op", "aten::mm", at, at + cases[i].width);
			mark_of(&l.g, "python_function", cases[i].name, at + 10, at + 20);
		}
		for (int k = 0; k < 8; k++)
			mark_of(&l.g, "cpu_op", "aten::add_", 1000 + 250 * k, 1240 + 250 * k);
		j = report(gpus_end(&l.g), steps, &plain);
		CHECK(is(row(j, "steps", 0), "found_by", cases[i].by));
		CHECK(num(row(j, "steps", 0), "steps") == cases[i].steps);
		json_decref(j);
	}
}

/* ---- missing answers ---- */

static bool unanswered(const json_t *j)
{
	static const char *const tables[] = { "steps", "step_list", "slow_steps" };
	bool all = true;

	for (int i = 0; i < 3; i++)
		all &= is(json_object_get(j, tables[i]), "state", "cannot answer");
	return all && !noted(j, "steps", "repeating:") &&
		!noted(j, "slow_steps", "no step took longer");
}

static void cannot_answer(void)
{
	static struct rp p;
	struct trace t;
	struct gpus g;
	json_t *j;

	known(&t, true);
	j = report(end(&t), steps, &plain);
	CHECK(j && !rows(j, "steps") &&
		noted(j, "steps", "cannot answer: what GPUs did was not recorded"));
	json_decref(j);
	gpus_begin(&g, NULL);
	for (int i = 0; i < 3; i++)
		gpus_plain(&g, i % 2, g.stream[0][0], 1000 + 10 * i, 1005 + 10 * i);
	j = report(gpus_end(&g), steps, &plain);
	CHECK(rows(j, "steps") == 1 && absent(row(j, "steps", 0), "steps") &&
		absent(row(j, "steps", 0), "p50_ns") && unanswered(j));
	CHECK(noted(j, "steps",
		"cannot answer: GPU 0 of process 100 has no repeating sequence: no operation occurs more than three times"));
	json_decref(j);
	gpus_begin(&g, NULL);
	for (int i = 0; i < 30; i++) {
		struct gt_gpu_work w = gpus_work(g.stream[0][0], 1000 + 10 * i, 1005 + 10 * i);

		gpus_copy(&g, &w, GT_DIR_HTOD, GT_GPU_MEM_PAGEABLE, GT_GPU_MEM_DEVICE, 100);
	}
	j = report(gpus_end(&g), steps, &plain);
	CHECK(absent(row(j, "steps", 0), "steps") && !rows(j, "step_list") &&
		noted(j, "steps", "only copies and sets repeat"));
	CHECK(unanswered(j));
	json_decref(j);
	j = report(rp_make(&p, 3), steps, &plain);
	CHECK(j && rows(j, "steps") &&
		noted(j, "steps", "single operations repeat, but not in the same order"));
	json_decref(j);
}

/* ---- random loops beside brute force ---- */

#define END 60000
#define MOST 4000
/* what: kernel, 5 a copy, 6 a set, -1: a call only */
struct one {
	int what, device, stream;
	int64_t call, start, end;
	bool joined;
};
struct program {
	struct one ops[MOST];
	int n;
	struct {
		int64_t host, at;
	} begins[2][100]; /* per device, in order */
	int nbegins[2];
	bool by_gpu;
};

static void add_op(
	struct program *p, int what, int device, int stream, int64_t call, int64_t tail[2][2])
{
	struct one *o = &p->ops[p->n++];
	int64_t start = call + 1 + rand() % 40;

	*o = (struct one){ what, device, stream, call, 0, 0,
		!p->by_gpu && (stream == 0 || rand() % 8) };
	if (what < 0)
		return;
	o->start = start > tail[device][stream] ? start : tail[device][stream] + rand() % 3;
	o->end = o->start + rand() % 30;
	tail[device][stream] = o->end;
}

/* A loop body that begins with two kernels that occur nowhere else, and has the work of two
 * devices. */
static void make_program(struct program *p, unsigned seed)
{
	int body[12][2], length, nsteps, devices = 1 + (int)(seed % 2);
	int64_t tail[2][2] = { { 0 } }, at = 100;

	memset(p, 0, sizeof(*p));
	srand(seed);
	p->by_gpu = seed % 5 == 0;
	length = 5 + rand() % 7;
	nsteps = 8 + rand() % 40;
	for (int i = 0; i < length; i++) {
		body[i][0] = i == 0 ? 10 : i == 1 ? 11 : i == 2 ? 12 : rand() % 7;
		body[i][1] = i < 4 ? 0 : rand() % 4 == 0;
	}
	for (int i = 0; i < 10; i++)
		add_op(p, 20 + i % 3, i % devices, 0, at += rand() % 20, tail);
	for (int s = 0; s < nsteps; s++)
		for (int d = 0; d < devices; d++)
			for (int i = 0; i < length; i++) {
				at += 1 + rand() % 20;
				add_op(p, body[i][0], d, body[i][1], at, tail);
				if (i == 0) {
					p->begins[d][p->nbegins[d]].host =
						p->by_gpu ? p->ops[p->n - 1].start : at;
					p->begins[d][p->nbegins[d]++].at = p->ops[p->n - 1].start;
				}
				if (rand() % 30 == 0)
					add_op(p, 13, d, 1, at += 1, tail);
				if (rand() % 10 == 0)
					add_op(p, -1, 0, 0, at += 1, tail);
			}
}

static void write_one(struct gpus *g, const struct one *o, const uint32_t names[30])
{
	struct gt_gpu_work w = gpus_work(g->stream[o->device][o->stream], o->start, o->end);

	gpus_launched(g, &w, 0, o->call, 1, o->joined ? GT_JOIN_CORRELATION : GT_JOIN_UNKNOWN);
	g->kernel[0] = names[o->what < 0 ? 0 : o->what];
	if (o->what == 5)
		gpus_copy(g, &w, GT_DIR_DTOH, GT_GPU_MEM_DEVICE, GT_GPU_MEM_PINNED, 100);
	else if (o->what == 6)
		gpus_set(g, &w, 7);
	else if (o->what >= 0)
		gpus_kernel(g, 0, &w);
}

/* In epochs, each row in the one in which it ended; calls, which gpus_launched writes, are short.
 */
static struct gt_reader *write_program(const struct program *p)
{
	uint32_t names[30];
	char name[20];
	struct gpus g;

	gpus_begin(&g, "{\"events\":\"api,gpu\"}");
	for (int i = 0; i < 30; i++) {
		snprintf(name, sizeof(name), "kernel%d", i);
		names[i] = gt_writer_string(g.w, name);
	}
	for (int64_t to = 1700, from = 0; from < END; from = to, to += 1700) {
		for (int i = 0; i < p->n; i++) {
			int64_t ended = p->ops[i].what < 0 ? p->ops[i].call + 1 : p->ops[i].end;

			if (ended >= from && ended < to)
				write_one(&g, &p->ops[i], names);
		}
		gt_writer_epoch(g.w, to, &g.err);
	}
	return gpus_end(&g);
}

struct figures {
	int64_t busy;
	int ops, kernels, copies, sets, bytes, calls;
	char order[2][200];
};

/* The step, of those that begin here, that contains it; -1: none. */
static int step_of(const struct program *p, int device, int first, int last, int64_t time, bool at)
{
	for (int i = first; i < last; i++)
		if (time >= (at ? p->begins[device][i].at : p->begins[device][i].host) &&
			time < (at ? p->begins[device][i + 1].at : p->begins[device][i + 1].host))
			return i;
	return -1;
}

static void count(const struct program *p, int device, int first, int last, struct figures *f)
{
	static char cell[END];

	memset(f, 0, (size_t)(last + 1) * sizeof(*f));
	memset(cell, 0, sizeof(cell));
	for (int i = 0; i < p->n; i++) {
		const struct one *o = &p->ops[i];
		int s = step_of(p, device, first, last, o->call, false), length;

		if (s >= 0)
			f[s].calls++;
		if (o->what < 0 || o->device != device)
			continue;
		memset(cell + o->start, 1, (size_t)(o->end - o->start));
		s = p->by_gpu || !o->joined ? step_of(p, device, first, last, o->start, true) : s;
		if (s < 0)
			continue;
		f[s].ops++;
		f[s].kernels += o->what != 5 && o->what != 6;
		f[s].copies += o->what == 5;
		f[s].sets += o->what == 6;
		f[s].bytes += o->what == 5 ? 100 : o->what == 6 ? 7 : 0;
		length = (int)strlen(f[s].order[o->stream]);
		if (p->by_gpu || o->joined)
			f[s].order[o->stream][length] = (char)('A' + o->what);
	}
	for (int s = first; s < last; s++)
		for (int64_t t = p->begins[device][s].at; t < p->begins[device][s + 1].at; t++)
			f[s].busy += cell[t];
}

static bool same_order(const struct figures *a, const struct figures *b)
{
	return !strcmp(a->order[0], b->order[0]) && !strcmp(a->order[1], b->order[1]);
}

static bool step_agrees(
	const json_t *r, const struct program *p, int device, int s, const struct figures *f)
{
	int64_t ns = p->begins[device][s + 1].at - p->begins[device][s].at;

	return num(r, "device") == device && num(r, "duration_ns") == (double)ns &&
		num(r, "busy_ns") == (double)f->busy &&
		num(r, "idle_ns") == (double)(ns - f->busy) && num(r, "kernels") == f->kernels &&
		num(r, "copies") == f->copies && num(r, "sets") == f->sets &&
		num(r, "bytes") == f->bytes && num(r, "calls") == f->calls;
}

static bool summary_agrees(const json_t *r, const struct program *p, int device, int first,
	int last, const struct figures *f, int all)
{
	int64_t times[100];
	int n = last - first, warm = absent(r, "warm_up") ? 0 : (int)num(r, "warm_up"), alike = 0;

	for (int s = first; s < last; s++) {
		bool twin = false;

		for (int o = first; o < last; o++)
			twin |= o != s && same_order(&f[s], &f[o]);
		alike += twin ? f[s].ops : 0;
	}
	for (int s = first + warm; s < last; s++)
		times[s - first - warm] = p->begins[device][s + 1].at - p->begins[device][s].at;
	qsort(times, (size_t)(n - warm), sizeof(*times), by_value);
	return num(r, "steps") == n && num(r, "min_ns") == (double)times[0] &&
		num(r, "max_ns") == (double)times[n - warm - 1] &&
		num(r, "p50_ns") == (double)times[(n - warm + 1) / 2 - 1] &&
		fabs(num(r, "alike_percent") - 100.0 * alike / all) < 0.006;
}

/* All steps from the first to the last of each device are there, with all their figures. first,
 * last: per device. */
static bool agrees(const json_t *j, const struct program *p, const int *first, const int *last,
	int64_t from, int64_t to)
{
	static struct figures f[100];
	size_t at = 0;

	for (int d = 0; d < 2 && p->nbegins[d]; d++) {
		size_t here = at;
		int all = 0;

		count(p, d, first[d], last[d], f);
		for (int i = 0; i < p->n; i++)
			all += p->ops[i].what >= 0 && p->ops[i].device == d &&
				p->ops[i].start >= from && p->ops[i].start < to;
		if (!summary_agrees(row(j, "steps", (size_t)d), p, d, first[d], last[d], f, all))
			return false;
		for (int s = first[d]; s < last[d]; s++, at++) {
			if (!step_agrees(row(j, "step_list", at), p, d, s, &f[s]))
				return false;
			for (int o = first[d]; o < last[d]; o++)
				if (same_order(&f[s], &f[o]) !=
					(num(row(j, "step_list", at), "sequence") ==
						num(row(j, "step_list",
							    here + (size_t)(o - first[d])),
							"sequence")))
					return false;
		}
	}
	return rows(j, "step_list") == at;
}

static void random_loops(void)
{
	static struct program p;

	for (unsigned seed = 1; seed <= 80; seed++) {
		json_t *j;

		make_program(&p, seed);
		j = report(write_program(&p), steps, &plain);
		CHECK(agrees(j, &p, (int[]){ 0, 0 }, (int[]){ p.nbegins[0] - 1, p.nbegins[1] - 1 },
			0, END));
		CHECK(noted(j, "steps", "launches are unknown") == p.by_gpu);
		json_decref(j);
	}
}

/* From the start of a step to that of another, which is not in it any more. */
static void random_loops_in_a_range(void)
{
	static struct program p;

	/* of one device: a range has one beginning */
	for (unsigned seed = 2; seed <= 80; seed += 2) {
		struct gt_analysis_options o = plain;
		int first, last;
		json_t *j;

		make_program(&p, seed);
		first = 1 + (int)(seed % 3), last = p.nbegins[0] - 2;
		o.filter = (struct gt_filter){
			.ranged = true, .from = p.begins[0][first].at, .to = p.begins[0][last].at
		};
		o.restrictions = "--from";
		j = report(write_program(&p), steps, &o);
		CHECK(!rows(j, "step_list") ||
			noted(j, "steps",
				"steps are found and numbered in the selected range only"));
		CHECK(last - first < 5 ||
			agrees(j, &p, &first, &(int){ last - 1 }, o.filter.from, o.filter.to));
		json_decref(j);
	}
}

T_MAIN(T(known_figures), T(warming_up_is_another_sequence), T(drift), T(marks_go_first),
	T(not_all_marks_are_steps), T(before_the_gpu_works), T(one_or_two_marks), T(cannot_answer),
	T(random_loops), T(random_loops_in_a_range))
