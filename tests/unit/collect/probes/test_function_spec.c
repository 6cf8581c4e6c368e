/* Functions as --probe and --kprobe name them. */
#include "collect/probes/function_spec.h"

#include <errno.h>
#include <string.h>
#include "tests/unit/t.h"

static int parse(struct gt_function_spec *s, const char *text, bool has_library)
{
	struct gt_err err = GT_ERR_INIT;

	return gt_function_spec_parse(s, "--probe", text, has_library, &err);
}

static void parts(void)
{
	struct gt_function_spec s;

	CHECK(!parse(&s, "libcudart:cudaLaunch*(3)", true));
	CHECK_STR(s.library, "libcudart");
	CHECK_STR(s.glob, "cudaLaunch*");
	CHECK_EQ(s.arguments, 3);
	CHECK(gt_function_spec_is_pattern(&s));
	CHECK(!parse(&s, "train:main", true));
	CHECK_EQ(s.arguments, 0);
	CHECK(!gt_function_spec_is_pattern(&s));
	CHECK(!parse(&s, "nv_sched(6)", false));
	CHECK_STR(s.library, "");
	CHECK_STR(s.glob, "nv_sched");
	CHECK_EQ(s.arguments, 6);
}

static void wrong(void)
{
	static const char *const texts[] = { "", ":", "lib:", ":f", "f", "lib:f(7)", "lib:f()",
		"lib:f(x)", "lib:f)", "lib:f(3", "lib:(1)" };
	struct gt_function_spec s;

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		CHECK_EQ(parse(&s, texts[i], true), -EINVAL);
}

static void files(void)
{
	struct gt_function_spec libc = { .library = "libc" }, cudart = { .library = "libcudart" },
				exe = { .library = "train" }, full = { .library = "libc.so.6" };

	CHECK(gt_function_spec_is_file(&libc, "/lib/x86_64-linux-gnu/libc.so.6"));
	CHECK(gt_function_spec_is_file(&libc, "/lib/libc-2.31.so"));
	CHECK(!gt_function_spec_is_file(&libc, "/lib/libcuda.so.1"));
	CHECK(!gt_function_spec_is_file(&libc, "/lib/glibc.so.1"));
	CHECK(gt_function_spec_is_file(&full, "/lib/libc.so.6"));
	CHECK(gt_function_spec_is_file(&cudart, "libcudart.so.12 (deleted)"));
	CHECK(gt_function_spec_is_file(&exe, "/opt/train"));
	CHECK(gt_function_spec_is_file(&exe, "/opt/train (deleted)"));
	CHECK(!gt_function_spec_is_file(&exe, "/opt/trainer"));
}

T_MAIN(T(parts), T(wrong), T(files))
