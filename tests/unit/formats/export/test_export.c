#include "tests/unit/formats/export/exported.h"
#include <errno.h>
#include "formats/import/importers.h"
#include "tests/unit/stack_program.h"

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

/* The sum of the lines that begin this way. */
static uint64_t sum_of(const char *text, const char *root)
{
	uint64_t sum = 0;

	for (const char *line = text; *line; line = strchr(line, '\n') + 1)
		if (!strncmp(line, root, strlen(root)))
			sum += strtoull(
				memrchr(line, ' ', (size_t)(strchr(line, '\n') - line)), NULL, 10);
	return sum;
}

static void folded(void)
{
	struct gt_reader *r = nested_calls();
	char *text = export(r, "folded");

	CHECK(!strcmp(text,
		"CPU;python3 (4711);main:x (4711);cuLaunchKernel;vectorAdd 60\n"
		"CPU;python3 (4711);main:x (4711);cuLaunchKernel;vectorAdd;RM:control 40\n"
		"CPU;python3 (4711);main:x (4711);cuMemcpyHtoD_v2 50\n"
		"CPU;python3 (4711);thread 4712;cuInit 10\n"));
	free(text);
	text = export_with(r, "folded", &(struct gt_export_options){ .cost = GT_COST_COUNT });
	CHECK(strstr(text, "vectorAdd 1\n") && strstr(text, "RM:control 2\n") &&
		strstr(text, "cuInit 2\n"));
	free(text);
	text = export_with(r, "folded", &(struct gt_export_options){ .cost = GT_COST_BYTES });
	CHECK_STR(text, "CPU;python3 (4711);main:x (4711);cuMemcpyHtoD_v2 4096\n");
	free(text);
	gt_reader_close(r);
}

/* Of rows that extend beyond the range, only the time within it counts; their number and bytes
 * count in full. */
static void folded_of_a_range(void)
{
	struct gt_reader *r = nested_calls();
	struct gt_export_options opt = { .filter = { .ranged = true, .from = 130, .to = 220 } };
	char *text = export_with(r, "folded", &opt);

	CHECK_STR(text,
		"CPU;python3 (4711);main:x (4711);cuLaunchKernel;vectorAdd 50\n"
		"CPU;python3 (4711);main:x (4711);cuLaunchKernel;vectorAdd;RM:control 20\n"
		"CPU;python3 (4711);main:x (4711);cuMemcpyHtoD_v2 20\n");
	free(text);
	opt.cost = GT_COST_BYTES;
	text = export_with(r, "folded", &opt);
	CHECK_STR(text, "CPU;python3 (4711);main:x (4711);cuMemcpyHtoD_v2 4096\n");
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
	CHECK(strstr(text, "x (4711);cuInit 10\n"));
	/* each moment once */
	CHECK(sum_of(text, "CPU;python3 (4711);main:x (4711);") == 200);
	free(text);
	gt_reader_close(r);
}

/* Ranges and calls of a thread nest by time and have exclusive times; GPU work has a root of its
 * own. */
static void folded_ranges(void)
{
	struct made m = make();
	uint64_t launch[] = { gt_writer_string(m.w, KERNEL_NAME), 1, 0, 5 }, five = 5;
	struct gt_reader *r;
	char *text;

	put(&m, GT_SPAN, m.thread, PLAIN, 100, 100, 0, 0, NULL);
	put(&m, GT_SPAN, m.thread, MARK, 100, 200, 0, 0, NULL);
	put(&m, GT_CALL, m.thread, LAUNCH, 100, 110, 0, 0, launch);
	put(&m, GT_SPAN, m.thread, COPY, 120, 160, 0, 0, NULL);
	put(&m, GT_CALL, m.thread, PLAIN, 130, 140, 0, 0, NULL);
	put(&m, GT_CALL, m.thread, PLAIN, 150, 150, 0, 0, NULL);
	put(&m, GT_SPAN, m.thread, GAUGE, 180, 250, 0, 0, NULL); /* outlasts its parent */
	put(&m, GT_CALL, m.thread, PLAIN, 240, 245, 0, 0, NULL);
	put(&m, GT_GPU, m.gpu, KERNEL, 300, 400, 0, 0, &five);
	put(&m, GT_GPU, m.gpu, KERNEL, 350, 450, 0, 0, &five); /* beside the one before */
	r = reread(&m);
	text = export(r, "folded");
	CHECK(!strcmp(text,
		"CPU;python3 (4711);main:x (4711);mark \"one\"? 30\n"
		"CPU;python3 (4711);main:x (4711);mark \"one\"?;cuLaunchKernel;vectorAdd 10\n"
		"CPU;python3 (4711);main:x (4711);mark \"one\"?;cuMemcpyHtoD_v2 30\n"
		"CPU;python3 (4711);main:x (4711);mark \"one\"?;cuMemcpyHtoD_v2;cuInit 10\n"
		"CPU;python3 (4711);main:x (4711);mark \"one\"?;power 20\n"
		"CPU;python3 (4711);main:x (4711);power 45\n"
		"CPU;python3 (4711);main:x (4711);power;cuInit 5\n"
		"GPU;stream 7;vectorAdd 150\n"));
	free(text);
	text = export_with(r, "folded", &(struct gt_export_options){ .cost = GT_COST_COUNT });
	CHECK_EQ(sum_of(text, ""), 10);
	free(text);
	gt_reader_close(r);
}

/* With any rows of a thread, the sum of its lines is the time in which at least one row exists. */
static void folded_adds_up(void)
{
	for (unsigned seed = 1; seed <= 200; seed++) {
		unsigned state = seed, busy = 0;
		bool covered[700] = { false };
		struct made m = make();
		struct gt_reader *r;
		char *text;

		for (int i = 0; i < 100; i++) {
			int64_t start = next_random(&state) % 500,
				dur = next_random(&state) % (seed % 4 ? 40 : 200);
			bool span = next_random(&state) % 2;

			put(&m, span ? GT_SPAN : GT_CALL, m.thread, span ? MARK : PLAIN, start,
				start + dur, span ? 0 : next_random(&state) % 4, 0, NULL);
			for (int64_t t = start; t < start + dur; t++)
				covered[t] = true;
		}
		for (int t = 0; t < 700; t++)
			busy += covered[t];
		r = reread(&m);
		text = export(r, "folded");
		CHECK(sum_of(text, "CPU;python3 (4711);main:x (4711);") == busy &&
			!strchr(text, '-'));
		free(text);
		text = export_with(
			r, "folded", &(struct gt_export_options){ .cost = GT_COST_COUNT });
		CHECK_EQ(sum_of(text, ""), 100);
		free(text);
		gt_reader_close(r);
	}
}

#define MAIN "main (app/train.py:9);"
#define STEP MAIN "step (app/train.py:88);at::gemm<float> (libtorch.so);"
#define LOAD MAIN MAIN "load (app/data.py:12);"
#define WORKER "(truncated);start_thread (libc.so.6);worker (libworker.so);"
#define PYTHON "python3 (100);"

static void folded_below_call_stacks(void)
{
	static const char want[] = "CPU;" PYTHON "(no stack recorded);cuCtxGetCurrent 4\n"
				   "CPU;" PYTHON "(no stack recorded);cuLaunchKernel 5\n"
				   "CPU;" PYTHON WORKER "cuLaunchKernel 30\n"
				   "CPU;" PYTHON LOAD "cuLaunchKernel 40\n"
				   "CPU;" PYTHON STEP "cuLaunchKernel 30\n"
				   "GPU;" PYTHON "(no stack recorded);add 7\n"
				   "GPU;" PYTHON WORKER "add 50\n"
				   "GPU;" PYTHON LOAD "mul 2000\n"
				   "GPU;" PYTHON STEP "add 200\n"
				   "GPU;" PYTHON STEP "mul 100\n";
	struct gt_export_options opt = { .by_stack = true };
	struct gt_reader *r = stack_program();
	char *text = export_with(r, "folded", &opt);

	CHECK_STR(text, want);
	free(text);
	opt.cost = GT_COST_COUNT;
	text = export_with(r, "folded", &opt);
	CHECK(strstr(text, "GPU;" PYTHON STEP "add 2\n") &&
		strstr(text, "CPU;" PYTHON STEP "cuLaunchKernel 3\n"));
	free(text);
	opt = (struct gt_export_options){ .by_stack = true, .filter = { .ranged = true } };
	opt.filter.from = 11500, opt.filter.to = 12500; /* within a kernel of 11000 to 12000 */
	text = export_with(r, "folded", &opt);
	CHECK_STR(text, "GPU;" PYTHON LOAD "mul 500\n");
	free(text);
	opt = (struct gt_export_options){ .by_stack = true };
	text = export_with(r, "flame", &opt);
	CHECK(strstr(text, "step (app/train.py:88)") && strstr(text, "at::gemm&lt;float&gt;"));
	free(text);
	gt_reader_close(r);
}

static void without_stacks_there_is_no_flame(void)
{
	struct gt_export_options opt = { .by_stack = true };
	struct gt_reader *r = gt_reader_open_fd(two_hosts(), NULL);
	struct gt_err err = GT_ERR_INIT;
	struct gt_out o;

	gt_out_memory(&o);
	CHECK_EQ(exporter("folded")->export(r, &opt, &o, &err), -ENODATA);
	CHECK(strstr(err.text, "no call stacks"));
	gt_out_close(&o, NULL);
	gt_reader_close(r);
}

static void folded_two_hosts(void)
{
	struct gt_reader *r = gt_reader_open_fd(two_hosts(), NULL);
	char *text = export(r, "folded");

	CHECK(!strncmp(
		text, "CPU;host-a;python3 (4711);main:x (4711);cuInit 100\nCPU;host-b;", 62));
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
		"\"details\":{\"f\":\"" KERNEL_NAME
		"\",\"gridDimX\":1,\"hStream\":\"0x0\",\"id\":5}}\n",
		120));
	CHECK(strstr(text,
		"{\"ts\":0.000000100,\"op_id\":0,\"phase\":\"E\",\"name\":\"cuLaunchKernel\",\"pid\":4711,\"tid\":"
		"4711,\"details\":{\"status\":0}}\n"));
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save), n++) {
		json_t *j = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
		size_t op = (size_t)json_integer_value(json_object_get(j, "op_id"));

		CHECK(j && op < 6);
		/* in order of time */
		CHECK(json_real_value(json_object_get(j, "ts")) >= last);
		last = json_real_value(json_object_get(j, "ts"));
		/* a begin, then an end */
		CHECK(*word(j, "phase") == "BE"[open[op]++]);
		json_decref(j);
	}
	CHECK_EQ(n, 12);
	free(text);
	gt_reader_close(r);
}

/* Opens text as any program would. */
static struct gt_reader *import_text(const char *text, struct gt_err *err)
{
	char path[64];
	int fd = memfd_create("lines", 0);
	struct gt_reader *r = NULL;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (write(fd, text, strlen(text)) == (ssize_t)strlen(text))
		r = gt_open_any(path, err);
	close(fd);
	return r;
}

/* Each stack is defined once, and an import has the same stacks. */
static void jsonl_has_stacks(void)
{
	struct gt_reader *r = stack_program(), *copy;
	struct gt_err err = GT_ERR_INIT;
	char *text = export(r, "jsonl"), *again;
	const struct gt_segment *seg;
	unsigned defined = 0;

	for (const char *at = text; (at = strstr(at, "\"STACK\"")); at++)
		defined++;
	CHECK_EQ(defined, 3);
	CHECK(strstr(text,
		"{\"text\":\"libtorch.so+0x100\",\"kind\":\"native\",\"function\":\"_ZN2at4gemmIfEEvi\","
		"\"module\":\"/opt/libtorch.so\",\"address\":\"0x100\"}]}"));
	CHECK(!strstr(text, "\"stack_id\":0") && !strstr(text, "4294967295"));
	copy = import_text(text, &err);
	CHECK(copy);
	seg = gt_reader_segment(copy, 0);
	CHECK(seg->nstacks == 3 && seg->nframes == 7);
	again = export(copy, "jsonl");
	CHECK_STR(again, text);
	free(again);
	free(text);
	gt_reader_close(copy);
	gt_reader_close(r);
}

/* The stack of the only call that an import of these lines has. GT_NONE: none. */
static uint64_t imported_stack(const char *definition, const char *details)
{
	struct gt_err err = GT_ERR_INIT;
	char text[1000];
	struct gt_reader *r;
	struct gt_iter *it;
	struct gt_event ev;
	uint64_t stack = GT_NONE;

	snprintf(text, sizeof(text),
		"%s\n{\"ts\":0.1,\"op_id\":1,\"phase\":\"B\",\"name\":\"cuInit\",\"details\":{%s}}\n"
		"{\"ts\":0.2,\"op_id\":1,\"phase\":\"E\",\"name\":\"cuInit\",\"details\":{}}\n",
		definition, details);
	r = import_text(text, &err);
	if (!r)
		return UINT64_MAX;
	it = gt_iter_open(r, &(struct gt_filter){ .kinds = GT_BIT(GT_CALL) }, &err);
	if (gt_iter_next(it, &ev, &err) > 0)
		stack = gt_event_value(&ev, &ev.seg->types[ev.row.type], GT_R_STACK, GT_NONE);
	gt_iter_close(it);
	gt_reader_close(r);
	return stack;
}
#define DEFINED "{\"ts\":0,\"name\":\"STACK\",\"stack_id\":7,\"frames\":"

static void damaged_stacks_are_unknown(void)
{
	CHECK_EQ(imported_stack(DEFINED "[{\"text\":\"f\"}]}", "\"stack_id\":7"), 0);
	CHECK_EQ(imported_stack(DEFINED "[]}", "\"stack_id\":7"), 0);
	CHECK_EQ(imported_stack(DEFINED "[{\"text\":\"f\"}]}", "\"stack_id\":8"), GT_NONE);
	CHECK_EQ(imported_stack(DEFINED "[1,[2,{\"text\":\"x\"}],{},{\"text\":3},"
					"{\"text\":\"f\",\"kind\":\"?\",\"line\":-1,"
					"\"address\":\"zz\",\"function\":{\"a\":[1]}}]}",
			 "\"stack_id\":7"),
		0);
	CHECK_EQ(imported_stack(DEFINED "{\"a\":1}}", "\"stack_id\":7"), 7); /* not defined */
}

/* ---- native ---- */

static struct gt_reader *repack(struct gt_reader *r)
{
	struct gt_err err = GT_ERR_INIT;
	char path[64];
	int fd = memfd_create("copy", 0);
	struct gt_out o;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (gt_out_open(&o, path, true, &err) ||
		exporter("native")->export(r, &(struct gt_export_options){ 0 }, &o, &err) ||
		gt_out_close(&o, &err))
		printf("# %s\n", err.text);
	return gt_reader_open_fd(fd, &err);
}

/* Compares row by row: names, values, places, and the data outside the rows. */
static bool same_rows(struct gt_reader *ra, struct gt_reader *rb)
{
	struct gt_filter f = { 0 };
	struct gt_iter *a = gt_iter_open(ra, &f, NULL), *b = gt_iter_open(rb, &f, NULL);
	struct gt_event x, y;
	bool same = true;
	int more, n = 0;

	for (; (more = gt_iter_next(a, &x, NULL)) == gt_iter_next(b, &y, NULL) && more > 0 && same;
		n++) {
		same = x.kind == y.kind && x.row.start == y.row.start && x.row.ret == y.row.ret &&
			x.row.depth == y.row.depth && x.row.nargs == y.row.nargs &&
			(x.track == GT_NONE) == (y.track == GT_NONE) &&
			(x.kind == GT_OPEN || x.row.end == y.row.end);
		if (same && x.track != GT_NONE)
			same = x.seg->tracks[x.track].id == y.seg->tracks[y.track].id &&
				x.seg->tracks[x.track].kind == y.seg->tracks[y.track].kind;
		if (same && x.kind == GT_LOST) {
			same = x.args[0] == y.args[0] && x.args[1] == y.args[1];
			continue;
		}
		same = same &&
			!strcmp(gt_type_name(x.seg, x.row.type), gt_type_name(y.seg, y.row.type));
		for (unsigned i = 0; same && i < x.row.nargs; i++)
			same = x.seg->types[x.row.type].fields[i].kind == GT_F_STR
				? !strcmp(gt_str(x.seg, (uint32_t)x.args[i]),
					  gt_str(y.seg, (uint32_t)y.args[i]))
				: x.args[i] == y.args[i];
	}
	gt_iter_close(a);
	gt_iter_close(b);
	return same && more == 0 && n > 0;
}

/* Of the frame that native_is_equal() writes. */
static bool has_known_frame(const struct gt_segment *seg)
{
	const struct gt_frame *f = gt_segment_frame(seg, seg->stacks[0].frames[0]);

	return f && f->kind == GT_FRAME_NATIVE && f->line == 7 && f->offset == 0x1234 &&
		f->function == seg->stacks[0].frames[1] && f->file == GT_NONE &&
		seg->nmodules == 1 && seg->modules[0].path == f->module &&
		seg->modules[0].nid == 2 && !memcmp(seg->modules[0].id, "id", 3);
}

static void native_is_equal(void)
{
	struct made m = make();
	uint64_t launch[] = { gt_writer_string(m.w, KERNEL_NAME), 9, 0xabc, 5 };
	struct gt_row open = { .start = 5000000000, .type = m.types[LAUNCH], .nargs = 4 };
	uint32_t frames[2] = { 0, 1 };
	struct gt_frame known = { .kind = GT_FRAME_NATIVE,
		.function = 1,
		.file = GT_NONE,
		.module = 2,
		.line = 7,
		.offset = 0x1234 };
	struct gt_reader *r, *copy;

	for (int64_t t = 0; t < 5000000000; t += 10000000) {
		put(&m, GT_CALL, m.thread, LAUNCH, t, t + 9000000, 0, t % 3 == 0, launch);
		put(&m, GT_CALL, m.thread, IOCTL, t + 100, t + 200, 1, 0, NULL);
		if (gt_writer_epoch_is_due(m.w, t))
			gt_writer_epoch(m.w, t, NULL);
	}
	put(&m, GT_CALL, m.other, COPY, 100, 4900000000, 0, 0, NULL); /* lasts for epochs */
	put(&m, GT_GPU, m.gpu, KERNEL, 300, 400, 0, 0, &launch[3]);
	put(&m, GT_GPU, m.gpu, JOINED, 310, 420, 0, 0,
		(uint64_t[]){ m.thread, 0, 9000000, launch[0], GT_JOIN_ORDER, 5, 0 });
	put(&m, GT_SPAN, m.gpu, PLAIN, 350, 450, 0, 0, NULL);
	put(&m, GT_COUNTER, m.process, GAUGE, 300, 300, 0, 0, &launch[2]);
	put(&m, GT_INSTANT, m.thread, MARK, 300, 300, 0, 0, NULL);
	put(&m, GT_UNMATCHED, m.thread, PLAIN, 400, 400, 0, 1, NULL);
	gt_writer_loss(m.w, GT_SCOPE_CPU, GT_NONE, 500, 600, GT_LOST_UNKNOWN, NULL);
	gt_writer_anchor(m.w,
		&(struct gt_anchor){ .monotonic = 1, .realtime = 2, .ticks = 3, .error = 4 }, NULL);
	gt_writer_stack(m.w, frames, 2);
	gt_writer_frame(m.w, 0, &known);
	gt_writer_module(m.w, 2, (const uint8_t *)"id", 2);
	gt_writer_open_call(m.w, m.thread, &open, launch, NULL);
	gt_writer_epoch(m.w, 6000000000, NULL);
	r = reread(&m);
	copy = repack(r);
	CHECK(copy && gt_reader_segments(copy) == 1);
	CHECK(same_rows(r, copy));
	for (int k = 0; k < GT_KINDS; k++)
		CHECK(gt_reader_segment(r, 0)->rows[k] == gt_reader_segment(copy, 0)->rows[k]);
	CHECK(gt_reader_segment(copy, 0)->closed && gt_reader_segment(copy, 0)->simulated);
	CHECK(gt_reader_segment(copy, 0)->nanchors == 1 &&
		gt_reader_segment(copy, 0)->anchors[0].error == 4);
	CHECK(gt_reader_segment(copy, 0)->nstacks == 1 &&
		gt_reader_segment(copy, 0)->stacks[0].n == 2);
	CHECK(has_known_frame(gt_reader_segment(r, 0)) &&
		has_known_frame(gt_reader_segment(copy, 0)));
	CHECK_STR(gt_reader_segment(copy, 0)->host, "host-a");
	gt_reader_close(copy);
	gt_reader_close(r);
}

static void native_keeps_segments(void)
{
	struct gt_reader *r = gt_reader_open_fd(two_hosts(), NULL), *copy = repack(r);

	CHECK(copy && gt_reader_segments(copy) == 2);
	CHECK(same_rows(r, copy));
	CHECK(gt_reader_segment(copy, 0)->rows[GT_CALL] == 1 &&
		gt_reader_segment(copy, 1)->rows[GT_CALL] == 1);
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

/* The copy is complete again, so only a loss can show that rows are missing. */
static void native_copies_report_damage(void)
{
	struct made m = make();
	struct gt_reader *r, *copy;
	off_t size, found = 0;
	size_t n = 0;
	uint8_t byte;
	int fd = dup(m.fd); /* a reader closes its own */

	for (int64_t t = 0; t < 2000; t += 10)
		put(&m, GT_CALL, m.thread, PLAIN, t, t + 5 + t % 3, 0, 0, NULL);
	gt_reader_close(reread(&m));
	size = lseek(fd, 0, SEEK_END);
	for (off_t at = 0; at < size && !found; at++) {
		CHECK(pread(fd, &byte, 1, at) == 1 &&
			pwrite(fd, &(uint8_t){ byte ^ 64 }, 1, at) == 1);
		r = gt_reader_open_fd(dup(fd), NULL);
		copy = r ? repack(r) : NULL;
		if (copy && gt_reader_segments(copy) && gt_reader_damage(r, &n) && n &&
			gt_reader_segment(copy, 0)->rows[GT_CALL] == 0) {
			found = at;
			CHECK_EQ(lost_in(copy), 200);
		}
		gt_reader_close(copy);
		gt_reader_close(r);
		CHECK_EQ(pwrite(fd, &byte, 1, at), 1);
	}
	CHECK(found);
	close(fd);
}

/* ---- code that all exporters share ---- */

static void values(void)
{
	static const struct {
		uint8_t kind;
		uint64_t v;
		const char *want;
	} cases[] = {
		{ GT_F_U64, 0, "0" },
		{ GT_F_U64, 1ull << 53, "9007199254740992" },
		{ GT_F_U64, (1ull << 53) + 1, "\"9007199254740993\"" },
		{ GT_F_U64, UINT64_MAX, "\"18446744073709551615\"" },
		{ GT_F_I64, (uint64_t)-5, "-5" },
		{ GT_F_I64, 1ull << 63, "\"-9223372036854775808\"" },
		{ GT_F_HEX, 0xdead, "\"0xdead\"" },
		{ GT_F_BOOL, 1, "true" },
		{ GT_F_BOOL, 0, "false" },
		{ GT_F_F64, 0x3fb999999999999aull, "0.1" },
		{ GT_F_F64, 0x7ff0000000000000ull, "\"Infinity\"" },
		{ GT_F_F64, 0x7ff8000000000000ull, "\"NaN\"" },
		{ GT_F_F64, 0x3fd5555555555555ull, "0.3333333333333333" },
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
		CHECK(!gt_pending_push(&p,
			&(struct gt_pending_row){ .end = next_random(&state) % 50, .seq = i },
			NULL));
	for (; gt_pending_pop(&p, &row); last = row, n++)
		CHECK(row.end > last.end || (row.end == last.end && row.seq < last.seq));
	CHECK_EQ(n, 1000);
	gt_pending_release(&p);
}

T_MAIN(T(folded), T(folded_of_a_range), T(folded_of_lies_is_never_negative), T(folded_ranges),
	T(folded_adds_up), T(folded_two_hosts), T(folded_below_call_stacks),
	T(without_stacks_there_is_no_flame), T(jsonl), T(jsonl_has_stacks),
	T(damaged_stacks_are_unknown), T(native_is_equal), T(native_keeps_segments),
	T(native_copies_report_damage), T(values), T(pending_ends_in_order))
