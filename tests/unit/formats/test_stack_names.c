/* Names of frames, and the frame that a stack counts for. */
#include "tests/unit/t.h"
#include "formats/names/stack_names.h"
#include "tests/unit/traces.h"

struct known {
	struct gt_reader *r;
	const struct gt_segment *seg;
	uint32_t text[8];
};

static uint32_t string_of(struct tiny *t, const char *s)
{
	return s ? gt_writer_string(t->w, s) : GT_NONE;
}

/* A trace with one frame of each kind, and stacks of them. */
static struct known known_frames(void)
{
	static const struct {
		const char *text, *function, *file, *module;
		uint32_t line;
		uint8_t kind;
	} frames[] = {
		{ "step (train/loop.py:88)", "step", "/home/x/train/loop.py", NULL, 88,
			GT_FRAME_PYTHON },
		{ "libblas.so.3+0x10", "gemm", "/src/blas/src/blas.f", "/usr/lib/libblas.so.3", 40,
			GT_FRAME_NATIVE },
		{ "libt.so+0x20", "_ZN2at6native4gemmIfEEvPKfi", NULL, "/opt/libt.so", 0,
			GT_FRAME_NATIVE },
		{ "libt.so+0x30", NULL, NULL, "/opt/libt.so", 0, GT_FRAME_NATIVE },
		{ "no rule", NULL, NULL, NULL, 0, GT_FRAME_MARK },
		{ "plain text", NULL, NULL, NULL, 0, 0 },
		{ "main (train/loop.py:9)", "main", "/home/x/train/loop.py", NULL, 9,
			GT_FRAME_PYTHON },
	};
	struct tiny t;
	struct known k;
	int fd = temp_file(), keep = dup(fd);

	tiny_open(&t, fd, true);
	for (unsigned i = 0; i < 7; i++) {
		struct gt_frame f = { .kind = frames[i].kind,
			.function = string_of(&t, frames[i].function),
			.file = string_of(&t, frames[i].file),
			.module = string_of(&t, frames[i].module),
			.line = frames[i].line };

		k.text[i] = string_of(&t, frames[i].text);
		if (f.kind)
			gt_writer_frame(t.w, k.text[i], &f);
	}
	gt_writer_stack(t.w, (uint32_t[]){ k.text[5], k.text[6], k.text[0], k.text[1] }, 4);
	gt_writer_stack(t.w, (uint32_t[]){ k.text[4], k.text[3], k.text[2], k.text[4] }, 4);
	gt_writer_stack(t.w, (uint32_t[]){ k.text[4] }, 1);
	gt_writer_stack(t.w, NULL, 0);
	gt_writer_close(t.w, NULL);
	k.r = gt_reader_open_fd(keep, NULL);
	k.seg = gt_reader_segment(k.r, 0);
	return k;
}

static const char *name_of(const struct known *k, unsigned i, enum gt_stack_by by)
{
	static struct gt_buf b;

	gt_buf_clear(&b);
	gt_frame_name(&b, k->seg, k->text[i], by);
	gt_buf_byte(&b, 0);
	return (const char *)b.data;
}

static void frames_have_names(void)
{
	static const char *const want[][3] = {
		{ "step (train/loop.py:88)", "step (train/loop.py)", "train/loop.py" },
		{ "gemm (src/blas.f:40)", "gemm (libblas.so.3)", "libblas.so.3" },
		{ "at::native::gemm<float> (libt.so)", "at::native::gemm<float> (libt.so)",
			"libt.so" },
		{ "libt.so+0x30", "libt.so+0x30", "libt.so" },
		{ "no rule", "no rule", "no rule" },
		{ "plain text", "plain text", "plain text" },
	};
	struct known k = known_frames();

	for (unsigned i = 0; i < 6; i++)
		for (unsigned by = 0; by < 3; by++)
			CHECK_STR(name_of(&k, i, by), want[i][by]);
	CHECK(gt_frame_is_function(k.seg, k.text[0]) && gt_frame_is_function(k.seg, k.text[5]) &&
		!gt_frame_is_function(k.seg, k.text[4]));
	gt_reader_close(k.r);
}

/* Files whose paths have the same end: as much of the path as tells them apart. */
static void files_of_one_name_are_told_apart(void)
{
	static const struct {
		const char *text, *function, *file, *module;
		uint8_t kind;
	} frames[] = {
		{ "f (p/a.py:8)", "f", "/x/p/a.py", NULL, GT_FRAME_PYTHON },
		{ "f (p/a.py:8)", "f", "/y/z/p/a.py", NULL, GT_FRAME_PYTHON },
		{ "f (q/a.py:8)", "f", "/x/q/a.py", NULL, GT_FRAME_PYTHON },
		{ "l.so+0x8", NULL, NULL, "/x/lib/l.so", GT_FRAME_NATIVE },
		{ "l.so+0x8", NULL, NULL, "l.so", GT_FRAME_NATIVE },
		{ "l.so+0x9", "g", NULL, "/y/lib/l.so", GT_FRAME_NATIVE },
	};
	static const char *const want[][3] = {
		{ "f (x/p/a.py:8)", "f (x/p/a.py)", "x/p/a.py" },
		{ "f (z/p/a.py:8)", "f (z/p/a.py)", "z/p/a.py" },
		{ "f (q/a.py:8)", "f (q/a.py)", "q/a.py" },
		{ "x/lib/l.so+0x8", "x/lib/l.so+0x8", "x/lib/l.so" },
		{ "l.so+0x8", "l.so+0x8", "l.so" },
		{ "g (y/lib/l.so)", "g (y/lib/l.so)", "y/lib/l.so" },
	};
	int fd = temp_file(), keep = dup(fd);
	struct tiny t;
	struct known k;

	CHECK(!tiny_open(&t, fd, true));
	for (unsigned i = 0; i < 6; i++)
		k.text[i] = gt_writer_place(t.w, string_of(&t, frames[i].text),
			&(struct gt_frame){ .kind = frames[i].kind,
				.function = string_of(&t, frames[i].function),
				.file = string_of(&t, frames[i].file),
				.module = string_of(&t, frames[i].module),
				.line = 8,
				.offset = 8 });
	CHECK(!gt_writer_close(t.w, NULL) && (k.r = gt_reader_open_fd(keep, NULL)));
	k.seg = gt_reader_segment(k.r, 0);
	for (unsigned i = 0; i < 6; i++)
		for (unsigned by = 0; by < 3; by++)
			CHECK_STR(name_of(&k, i, by), want[i][by]);
	gt_reader_close(k.r);
}

/* The names of functions without parameters and return types. */
static void cxx_functions_have_names(void)
{
	static const char *const names[][2] = {
		{ "_Z1fi", "f" },
		{ "_ZN12_GLOBAL__N_11fEi", "(anonymous namespace)::f" },
		{ "_ZN1AclEi", "A::operator()" },
		{ "_ZN1AlsEi", "A::operator<<" },
		{ "_ZN1AptEv", "A::operator->" },
		{ "_Znwm", "operator new" },
		{ "_Z1gIiET_PFvS0_E", "g<int>" },
		{ "_ZN1A1fEv", "A::f" },
		{ "main", "main" },
		{ "__libc_start_main@@GLIBC_2.34", "__libc_start_main" },
		{ "_ZN1A1fEv@V1", "A::f" },
		{ "a b(c", "a b(c" },
		/* parameters of functions around it are left out */
		{ "_ZZN1A1fEiENKUlfE_clEf", "A::f::{lambda#1}::operator()" },
		{ "_ZZNK1A1fEvENUlvE_4_FUNEv", "A::f::{lambda#1}::_FUN" },
		{ "_ZN12_GLOBAL__N_11fEPFvvE.isra.0", "(anonymous namespace)::f" },
		{ "_ZN1AcvjEv", "A::operator unsigned int" },
		{ "_ZNK1AcvSt6vectorIiSaIiEEEv", "A::operator std::vector<...>" },
		{ "_Z1kIiEPFviET_", "k<int>" },
		{ "_Z1aI1SEDTpldtfp_1xptfp_1yET_", "a<S>" },
		{ "_ZThn16_N1A1fEv", "A::f" },
		{ "_ZNK1AltERKS_", "A::operator<" },
		{ "_ZN1AltIiEEbT_", "A::operator< <int>" },
		{ "_ZeqIiEbT_", "operator==<int>" },
		{ "_ZN1AclIiEEbT_", "A::operator()<int>" },
		{ "_ZN1A1fB5cxx11Ev", "A::f[abi:cxx11]" },
		/* and long template arguments */
		{ "_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector<...>::push_back" },
		{ "_ZN3c104impl4wrapINS0_2FnIFN2at6TensorEbEXadL_ZNS3_4viewEbEEEEE4callEPNS_6KernelEb",
			"c10::impl::wrap<...>::call" },
		{ "_Z1fILm12345678901234567EEvv", "f<12345678901234567ul>" },
		{ "_Z1fI1AIXgtLi1ELi2EEEEvv", "f<A<((1)>(2))> >" },
		{ "_Z1fI1AIXgtLi1ELi2EEEiiiiEvv", "f<...>" },
	};
	enum { N = sizeof(names) / sizeof(*names) };
	struct tiny t;
	int fd = temp_file(), keep = dup(fd);
	struct gt_buf b = { 0 };
	struct gt_reader *r;
	uint32_t text[N];

	CHECK(!tiny_open(&t, fd, true));
	for (unsigned i = 0; i < N; i++) {
		char name[20];

		snprintf(name, sizeof(name), "x+%u", i);
		text[i] = gt_writer_string(t.w, name);
		gt_writer_frame(t.w, text[i],
			&(struct gt_frame){ .kind = GT_FRAME_NATIVE,
				.function = gt_writer_string(t.w, names[i][0]),
				.file = GT_NONE,
				.module = GT_NONE });
	}
	CHECK(!gt_writer_close(t.w, NULL) && (r = gt_reader_open_fd(keep, NULL)));
	for (unsigned i = 0; i < N; i++) {
		gt_buf_clear(&b);
		gt_frame_name(&b, gt_reader_segment(r, 0), text[i], GT_STACK_FUNCTION);
		gt_buf_byte(&b, 0);
		CHECK_STR((const char *)b.data, names[i][1]);
	}
	gt_buf_release(&b);
	gt_reader_close(r);
}

static void a_stack_counts_for_its_innermost_line_of_python(void)
{
	struct known k = known_frames();
	struct gt_buf b = { 0 };

	CHECK_EQ(gt_stack_caller(k.seg, 0), k.text[0]);
	CHECK_EQ(gt_stack_caller(k.seg, 1), k.text[2]); /* no Python: the innermost function */
	CHECK_EQ(gt_stack_caller(k.seg, 2), GT_NONE);
	CHECK_EQ(gt_stack_caller(k.seg, 3), GT_NONE);
	CHECK_EQ(gt_stack_caller(k.seg, 4), GT_NONE);
	CHECK_EQ(gt_stack_caller(k.seg, UINT64_MAX), GT_NONE);
	gt_stack_text(&b, k.seg, 0, GT_STACK_LINE);
	gt_stack_text(&b, k.seg, 99, GT_STACK_LINE);
	gt_buf_byte(&b, 0);
	CHECK_STR((const char *)b.data,
		"gemm (src/blas.f:40) < step (train/loop.py:88) < main (train/loop.py:9) < plain text");
	gt_buf_release(&b);
	gt_reader_close(k.r);
}

static uint32_t native(struct tiny *t, const char *text, const char *function, const char *module)
{
	const struct gt_frame f = { .kind = GT_FRAME_NATIVE,
		.function = string_of(t, function),
		.file = GT_NONE,
		.module = string_of(t, module),
		.offset = 16 };
	uint32_t id = string_of(t, text);

	gt_writer_frame(t->w, id, &f);
	return id;
}

static uint32_t mark(struct tiny *t, const char *text)
{
	const struct gt_frame f = {
		.kind = GT_FRAME_MARK, .function = GT_NONE, .file = GT_NONE, .module = GT_NONE
	};
	uint32_t id = string_of(t, text);

	gt_writer_frame(t->w, id, &f);
	return id;
}

/* Where the line of Python was not read, no function of native code takes its place. */
static void unread_lines_of_python_count_for_their_mark(void)
{
	struct gt_frame f = { .kind = GT_FRAME_PYTHON, .module = GT_NONE, .line = 88 };
	uint32_t eval, gemm, python, unread, unknown, more;
	struct tiny t;
	int fd = temp_file(), keep = dup(fd);
	const struct gt_segment *seg;
	struct gt_reader *r;

	tiny_open(&t, fd, true);
	eval = native(&t, "libpython3.11.so+0x1", "_PyEval", "/lib/libpython3.11.so");
	gemm = native(&t, "libblas.so.3+0x2", "gemm", "/lib/libblas.so.3");
	python = string_of(&t, "step (train.py:88)");
	f.function = string_of(&t, "step");
	f.file = string_of(&t, "train.py");
	gt_writer_frame(t.w, python, &f);
	unread = mark(&t, GT_MARK_UNREADABLE);
	unknown = mark(&t, "[Python frames unknown]");
	more = mark(&t, "[native frames unknown]");
	gt_writer_stack(t.w, (uint32_t[]){ unread, eval, gemm }, 3);
	gt_writer_stack(t.w, (uint32_t[]){ unread, more, eval, gemm }, 4);
	gt_writer_stack(t.w, (uint32_t[]){ unread }, 1);
	gt_writer_stack(t.w, (uint32_t[]){ python, unread, gemm }, 3);
	gt_writer_stack(t.w, (uint32_t[]){ unread, python, gemm }, 3);
	gt_writer_stack(t.w, (uint32_t[]){ unknown, eval, gemm }, 3);
	gt_writer_close(t.w, NULL);
	r = gt_reader_open_fd(keep, NULL);
	seg = gt_reader_segment(r, 0);
	for (uint32_t stack = 0; stack < 3; stack++)
		CHECK_STR(gt_str(seg, gt_stack_caller(seg, stack)), GT_MARK_UNREADABLE);
	/* a part of the lines */
	CHECK_STR(gt_str(seg, gt_stack_caller(seg, 3)), "step (train.py:88)");
	CHECK_STR(gt_str(seg, gt_stack_caller(seg, 4)), "step (train.py:88)");
	/* an interpreter whose frames nothing can read: the functions are all that is known */
	CHECK_STR(gt_str(seg, gt_stack_caller(seg, 5)), "libblas.so.3+0x2");
	gt_reader_close(r);
}

/* The frames of CUDA's libraries are no callers, nor those of its runtime in a program. */
static void the_caller_is_outside_cuda(void)
{
	struct tiny t;
	int fd = temp_file(), keep = dup(fd);
	uint32_t own, torch, runtime, helper, mangled[3], blas, nameless[2];
	const struct gt_segment *seg;
	struct gt_reader *r;
	struct gt_buf b = { 0 };

	tiny_open(&t, fd, true);
	own = native(&t, "app+0x1", "step", "/home/x/app");
	torch = native(&t, "libtorch_cuda.so+0x2", "gemm", "/opt/libtorch_cuda.so");
	runtime = native(&t, "app+0x3", "libcudart_static_4d8b", "/home/x/app");
	helper = native(&t, "app+0x4", "cudaLaunchKernel", "/home/x/app");
	mangled[0] =
		native(&t, "app+0x8", "_ZL25__cudaLaunchKernel_helperP9CUkern_st", "/home/x/app");
	mangled[1] = native(&t, "app+0x9", "_ZN6cudart10contextApiEv", "/home/x/app");
	mangled[2] = native(
		&t, "app+0xa", "_ZL36__device_stub__Z5scaleIfLi3EEvPT_S0_Pff", "/home/x/app");
	blas = native(&t, "libcublasLt.so.13+0x5", NULL, "/opt/libcublasLt.so.13");
	nameless[0] = native(&t, "libz.so.1+0x6", NULL, "/lib/libz.so.1");
	nameless[1] = native(&t, "libz.so.1+0x7", NULL, "/lib/libz.so.1");
	gt_writer_stack(t.w, (uint32_t[]){ own, helper, runtime }, 3);
	gt_writer_stack(t.w, (uint32_t[]){ own, torch, blas }, 3);
	gt_writer_stack(t.w, (uint32_t[]){ blas, runtime }, 2);
	gt_writer_stack(t.w, (uint32_t[]){ own, mangled[2], mangled[0], mangled[1], runtime }, 5);
	gt_writer_close(t.w, NULL);
	r = gt_reader_open_fd(keep, NULL);
	seg = gt_reader_segment(r, 0);
	CHECK_STR(gt_str(seg, gt_stack_caller(seg, 0)), "app+0x1");
	CHECK_STR(gt_str(seg, gt_stack_caller(seg, 1)), "libtorch_cuda.so+0x2");
	CHECK_STR(gt_str(seg, gt_stack_caller(seg, 2)), "libcublasLt.so.13+0x5");
	CHECK_STR(gt_str(seg, gt_stack_caller(seg, 3)), "app+0x1");
	for (int i = 0; i < 2; i++) {
		gt_buf_clear(&b);
		gt_stack_row_name(&b, seg, nameless[i], i ? GT_STACK_FUNCTION : GT_STACK_LINE);
		gt_buf_byte(&b, 0);
		CHECK_STR((const char *)b.data, "libz.so.1 (no symbols)");
	}
	gt_buf_release(&b);
	gt_reader_close(r);
}

T_MAIN(T(frames_have_names), T(files_of_one_name_are_told_apart), T(cxx_functions_have_names),
	T(a_stack_counts_for_its_innermost_line_of_python),
	T(unread_lines_of_python_count_for_their_mark), T(the_caller_is_outside_cuda))
