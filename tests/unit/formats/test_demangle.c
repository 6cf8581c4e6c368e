#include "tests/unit/t.h"

#include <stdbool.h>
#include "formats/names/demangle.h"
#include "formats/names/kernel_names.h"

static bool is(const char *mangled, const char *want)
{
	char *got = gt_demangle(mangled);
	bool same = want ? got && !strcmp(got, want) : !got;

	if (!same)
		printf("# %s\n# gave %s\n# want %s\n", mangled, got ? got : "nothing",
			want ? want : "nothing");
	free(got);
	return same;
}

static void plain_names(void)
{
	CHECK(is("_Z9vectorAddPKfS0_Pfi", "vectorAdd(float const*, float const*, float*, int)"));
	CHECK(is("_Z6kernelv", "kernel()"));
	CHECK(is("_ZN2at6native3addEf", "at::native::add(float)"));
	CHECK(is("_ZN12_GLOBAL__N_14workEv", "(anonymous namespace)::work()"));
	CHECK(is("_ZNK1A3getERKS_", "A::get(A const&) const"));
	CHECK(is("_ZN1AC1Ev", "A::A()"));
	CHECK(is("_ZlsRSoRK3Foo", "operator<<(std::ostream&, Foo const&)"));
	CHECK(is("_Z3fooPFviE", "foo(void (*)(int))"));
	CHECK(is("_Z3fooRA4_Kf", "foo(float const (&) [4])"));
	CHECK(is("_Z1fz", "f(...)"));
	CHECK(is("_Z4workv.isra.0", "work() [clone .isra.0]"));
}

static void templates(void)
{
	CHECK(is("_Z4axpyIfEvPT_S1_i", "void axpy<float>(float*, float*, int)"));
	CHECK(is("_Z4tileILi32ELb1ELj4EEvPf", "void tile<32, true, 4u>(float*)"));
	CHECK(is(
		"_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIfNS0_7MeanOpsIfffEEjfLi4EEEEEvT1_",
		"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::MeanOps<float, float, float>, "
		"unsigned int, "
		"float, 4> >(at::native::ReduceOp<float, at::native::MeanOps<float, float, float>, unsigned int, float, 4>)"));
	/* a false length */
	CHECK(is("_ZN7cutlass7Kernel2I43cutlass_80_simt_sgemm_64x64_8x5_nn_align1EEvNT_6ParamsE",
		NULL));
	CHECK(is("_ZN7cutlass7Kernel2I41cutlass_80_simt_sgemm_64x64_8x5_nn_align1EEvNT_6ParamsE",
		"void "
		"cutlass::Kernel2<cutlass_80_simt_sgemm_64x64_8x5_nn_align1>(cutlass_80_simt_sgemm_64x64_8x5_nn_align1::Params)"));
	CHECK(is("_ZNSt6vectorIiSaIiEE9push_backERKi",
		"std::vector<int, std::allocator<int> >::push_back(int const&)"));
	CHECK(is("_Z4growIN2ns3OpAEJfiEEvT_DpT0_",
		"void grow<ns::OpA, float, int>(ns::OpA, float, int)"));
	CHECK(is("_Z4growIJEEvDpT_", "void grow<>()"));
	CHECK(is("_Z3refIJfiEEvDpRKT_", "void ref<float, int>(float const&, int const&)"));
	CHECK(is("_Z4applyIZ4mainEUlfE_EvT_", NULL)); /* the outer name is 5 letters long */
	CHECK(is("_Z5applyIZ4mainEUlfE_EvT_",
		"void apply<main::{lambda(float)#1}>(main::{lambda(float)#1})"));
}

/* The argument for T_ within one function can contain another function's T_, which means that
 * function's parameter: for example a lambda of a function template as argument. */
static void whose_template_parameter(void)
{
	CHECK(is("_Z6kernelILi4EZ4implIffEvT0_EUlfE_EviS1_",
		"void kernel<4, impl<float, float>(float)::{lambda(float)#1}>"
		"(int, impl<float, float>(float)::{lambda(float)#1})"));
	CHECK(is(
		"_ZN2at6native29vectorized_elementwise_kernelILi4EZNS0_51_GLOBAL__N__b1108092_12_PowKernel_cu_751192d7_2139629"
		"pow_tensor_scalar_kernel_implIffEEvRNS_18TensorIteratorBaseET0_EUlfE_St5arrayIPcLm2EEEEviS6_T1_",
		"void at::native::vectorized_elementwise_kernel<4, at::native::(anonymous namespace)::pow_tensor_scalar_kernel_impl<float, "
		"float>(at::TensorIteratorBase&, float)::{lambda(float)#1}, std::array<char*, 2ul> >(int, at::native::(anonymous "
		"namespace)::pow_tensor_scalar_kernel_impl<float, float>(at::TensorIteratorBase&, float)::{lambda(float)#1}, "
		"std::array<char*, 2ul>)"));
}

static void not_mangled(void)
{
	static const char *const names[] = { "", "_", "_Z", "_Z3", "_Z99999999999x", "main",
		"sm80_xmma_gemm_f32f32", "_ZN", "_ZNE", "_Z1fI", "_ZS_", "_ZT_", "_Z1fS9_",
		"_Z1fILi", "_ZTV3Foo", "_Z1f\xff" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		CHECK(is(names[i], NULL));
}

/* Every name is refused at any length it is cut to, or demangled; nothing is read beyond it. */
static void cut_anywhere(void)
{
	static const char name[] =
		"_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIfNS0_7MeanOpsIfffEEjfLi4EEEEEvT1_";

	for (size_t len = 0; len < sizeof(name); len++) {
		char *copy = strndup(name, len);

		free(gt_demangle(copy));
		free(copy);
	}
}

/* Each substitution doubles the text before it: without a limit there are 2^34 copies. */
static void a_bomb_is_refused(void)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char name[1000] = "_Z1f1pIiiE", *p = name + strlen(name);

	for (int i = 0; i < 34; i++)
		p += sprintf(p, "S_IS%c_S%c_E", digits[i], digits[i]);
	CHECK(is(name, NULL));
	/* The same of T_ within one function, and read again in another. */
	p = name + sprintf(name, "_Z1fIZ1gIiEvT_1pIS0_S0_E");
	for (int i = 1; i < 34; i++)
		p += sprintf(p, "S_IS%c_S%c_E", digits[i], digits[i]);
	sprintf(p, "EUlvE_EvSX_SX_");
	CHECK(is(name, NULL));
}

static void nesting_and_length_are_bounded(void)
{
	char *name = calloc(1, 100001);

	strcpy(name, "_Z1f");
	memset(name + 4, 'P', 30000);
	name[30004] = 'i';
	CHECK(is(name, NULL));
	memset(name + 4, 'i', 50000);
	CHECK(is(name, NULL));
	free(name);
}

/* Names of more than 1024 characters are usual with CUTLASS. */
static void long_names(void)
{
	char name[4000] = "_Z6kernelI", want[4000] = "void kernel<";

	for (int i = 0; i < 50; i++) {
		sprintf(name + strlen(name), "30a_name_of_exactly_thirty_lett%02d", i);
		sprintf(want + strlen(want), "%sa_name_of_exactly_thirty_lett%02d", i ? ", " : "",
			i);
	}
	strcat(name, "EvPf");
	strcat(want, ">(float*)");
	CHECK(!strncmp(strstr(name, "a_name"), "a_name_of_exactly_thirty_lett00", 31));
	for (char *p = name; (p = strstr(p, "30a_")); p++)
		p[1] = '1';
	CHECK(is(name, want));
}

static bool short_is(const char *name, unsigned nargs, const char *want)
{
	char got[GT_SHORT_MAX + 1];

	gt_kernel_short(name, nargs, got);
	if (strcmp(got, want))
		printf("# %s\n# gave %s\n# want %s\n", name, got, want);
	return !strcmp(got, want);
}

#define ELEMENTWISE "void at::native::vectorized_elementwise_kernel<4, at::native::"

static void short_forms(void)
{
	CHECK(short_is("_Z9vectorAddPKfS0_Pfi", 1, "vectorAdd"));
	CHECK(short_is("_Z4axpyIfEvPT_S1_i", 1, "axpy<float>"));
	CHECK(short_is("sm80_xmma_gemm", 1, "sm80_xmma_gemm"));
	CHECK(short_is(ELEMENTWISE
		"FillFunctor<float>, std::array<char*, 1ul> >(int, at::native::FillFunctor<float>, std::array<char*, 1ul>)",
		1, "vectorized_elementwise_kernel<4, ..>"));
	CHECK(short_is(ELEMENTWISE "FillFunctor<float>, std::array<char*, 1ul> >(int)", 2,
		"vectorized_elementwise_kernel<4, FillFunctor<float>, ..>"));
	CHECK(short_is(
		"void cutlass::Kernel2<cutlass_80_simt_sgemm_64x64_8x5_nn_align1>(cutlass_80_simt_sgemm_64x64_8x5_nn_align1::Params)",
		1, "Kernel2<cutlass_80_simt_sgemm_64x64_8x5_nn_align1>"));
	CHECK(short_is(
		"void cublasLt::splitKreduce_kernel<32, 16, int, float>(cublasLt::cublasSplitKParams<float>)",
		1, "splitKreduce_kernel<32, ..>"));
	CHECK(short_is(
		"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
		"namespace)::TensorListMetadata<2>, "
		"std::plus<float>, float>(int)",
		1, "multi_tensor_apply_kernel<TensorListMetadata<2>, ..>"));
	CHECK(short_is("void thrust::cuda_cub::detail::for_each_kernel<(int)256, foo(bar)>(x)", 1,
		"for_each_kernel<(int)256, ..>"));
	CHECK(short_is("", 1, ""));
	CHECK(short_is("(", 1, "("));
	CHECK(short_is("f<", 1, "f<>"));
}

static void short_forms_are_short(void)
{
	char out[GT_SHORT_MAX + 1];

	gt_kernel_short(
		"sm80_xmma_gemm_f32f32_f32f32_f32_nt_n_tilesize128x32x8_stage3_warpsize2x2x1_ffma_aligna4_alignc4_"
		"execute_kernel__5x_cublas",
		1, out);
	CHECK(strlen(out) == GT_SHORT_MAX && !strcmp(out + GT_SHORT_MAX - 2, ".."));
	gt_kernel_short(
		"\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
		"\xc3\xa9\xc3\xa9\xc3\xa9"
		"\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
		"\xc3\xa9\xc3\xa9"
		"x",
		1, out);
	CHECK_EQ(((unsigned char)out[strlen(out) - 3] & 0xc0), 0x80); /* cut between characters */
	CHECK(strlen(out) <= GT_SHORT_MAX);
}

static void names_of_a_table_differ(void)
{
	static const char *const names[] = {
		ELEMENTWISE "FillFunctor<float>, std::array<char*, 1ul> >(int)",
		ELEMENTWISE
		"AUnaryFunctor<float, float, float, at::native::binary_internal::MulFunctor<float> >, std::array<char*, 2ul> >(int)",
		ELEMENTWISE
		"BinaryFunctor<float, float, float, at::native::binary_internal::MulFunctor<float> >, std::array<char*, 3ul> >(int)",
		"_Z9vectorAddPKfS0_Pfi", "_Z9vectorAddPKdS0_Pdi", "_ZN1a9vectorAddEv", "vectorAdd",
		"sm80_xmma_gemm_f32f32_f32f32_f32_nt_n_tilesize128x32x8_stage3_warpsize2x2x1_ffma_aligna4_alignc4_execute_kernel__5x_"
		"cublas",
		"sm80_xmma_gemm_f32f32_f32f32_f32_nt_n_tilesize128x32x8_stage3_warpsize2x2x1_ffma_aligna4_alignc4_execute_kernel__6x_"
		"cublas",
		"", /* as another tool's file may call one */
	};
	enum { N = sizeof(names) / sizeof(*names) };
	struct gt_kernel_names *k = gt_kernel_names_new(GT_NAME_SHORT);
	char first[N][GT_SHORT_MAX + 1];
	const char *full;

	for (int i = 0; i < N; i++)
		snprintf(first[i], sizeof(first[i]), "%s", gt_kernel_names_get(k, names[i]));
	for (int i = 0; i < N; i++) {
		CHECK(strlen(first[i]) <= GT_SHORT_MAX);
		/* asked again: the same */
		CHECK(!strcmp(gt_kernel_names_get(k, names[i]), first[i]));
		for (int j = 0; j < i; j++)
			CHECK(strcmp(first[i], first[j]));
	}
	CHECK_STR(first[0], "vectorized_elementwise_kernel<4, ..>");
	CHECK(!strncmp(first[1], "vectorized_elementwise_kernel<4, AUnaryFunctor<", 47));
	CHECK_STR(first[4], "vectorAdd#2"); /* of the same namespace: none */
	CHECK_STR(first[5], "a::vectorAdd");
	CHECK(!*first[N - 1]);
	CHECK(gt_kernel_names_count(k) == N);
	CHECK(!strcmp(gt_kernel_names_at(k, 3, &full), "vectorAdd") && !strcmp(full, names[3]));
	gt_kernel_names_free(k);
}

/* A caller may keep several forms at once: they stay valid until the end. */
static void forms_stay_where_they_are(void)
{
	struct gt_kernel_names *k = gt_kernel_names_new(GT_NAME_SHORT);
	const char *first = gt_kernel_names_get(k, "vectorAdd");
	char name[20];

	for (int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "kernel%d", i);
		CHECK(gt_kernel_names_get(k, name));
	}
	CHECK(gt_kernel_names_get(k, "vectorAdd") == first && !strcmp(first, "vectorAdd"));
	gt_kernel_names_free(k);
}

/* In full nothing is left out, as recorded nothing is changed; where two read the same in full they
 * have numbers. */
static void whole_names(void)
{
	static const char *const names[] = { "_Z9vectorAddPKfS0_Pfi", "_ZN1aC1Ev", "_ZN1aC2Ev",
		"sm80_gemm", "_Z1f1p_" };
	static const char *const want[] = { "vectorAdd(float const*, float const*, float*, int)",
		"a::a()", "a::a()#2", "sm80_gemm", "_Z1f1p_" };
	struct gt_kernel_names *full = gt_kernel_names_new(GT_NAME_FULL),
			       *mangled = gt_kernel_names_new(GT_NAME_MANGLED);

	for (int i = 0; i < 10; i++) {
		CHECK(!strcmp(gt_kernel_names_get(full, names[i % 5]), want[i % 5]));
		CHECK(!strcmp(gt_kernel_names_get(mangled, names[i % 5]), names[i % 5]));
	}
	CHECK(gt_kernel_names_count(full) == 5 && gt_kernel_names_count(mangled) == 5);
	gt_kernel_names_free(full);
	gt_kernel_names_free(mangled);
}

/* Names that are made to harm the demangler. The caller frees the result. */
static char *hostile(int which, int n)
{
	static const struct {
		const char *head, *again;
	} shapes[] = {
		{ "", "a" },
		{ "_Z", "9" },
		{ "_Z1f", "N" },
		{ "f", "<" },
		{ "f", "(" },
		{ "", "operator" },
		{ "f<", "a<b>," },
		{ "", "a::" },
		{ "_Z1fI", "1aI" },
		{ "_ZN", "1a" },
		{ "", "(anonymous namespace)" },
		{ "f", ">" },
		{ "", " " },
		{ "\xc3", "\xa9" },
		{ "_Z1f", "S_" },
	};
	size_t unit = strlen(shapes[which].again);
	char *name = calloc(1, (size_t)n * unit + 40),
	     *p = name + sprintf(name, "%s", shapes[which].head);

	for (int i = 0; i < n; i++, p += unit)
		memcpy(p, shapes[which].again, unit);
	return name;
}

/* Each is a name of its own in each form, and is short where it should be. */
static void names_that_hurt(void)
{
	for (enum gt_name_form form = GT_NAME_SHORT; form <= GT_NAME_MANGLED; form++) {
		struct gt_kernel_names *k = gt_kernel_names_new(form);

		for (int which = 0; which < 15; which++)
			for (int n = 0; n < 3; n++) {
				char *name = hostile(which, (int[]){ 7, 33000, 100000 }[n]);
				const char *had = gt_kernel_names_get(k, name);

				CHECK(had && gt_kernel_names_get(k, name) == had);
				CHECK(form != GT_NAME_SHORT || strlen(had) <= GT_SHORT_MAX);
				CHECK(form != GT_NAME_MANGLED || !strcmp(had, name));
				free(name);
			}
		for (size_t i = 0; i < gt_kernel_names_count(k); i++)
			for (size_t j = 0; j < i; j++) {
				const char *full;

				CHECK(strcmp(gt_kernel_names_at(k, i, &full),
					gt_kernel_names_at(k, j, &full)));
			}
		gt_kernel_names_free(k);
	}
}

/* So many that numbers must be found without trying them all. */
static void names_that_look_alike(void)
{
	struct gt_kernel_names *k = gt_kernel_names_new(GT_NAME_SHORT);
	char name[200], last[GT_SHORT_MAX + 1];

	for (int i = 0; i < 20000; i++) {
		snprintf(name, sizeof(name),
			"void n::f<a_long_argument_that_fills_the_room_of_a_short_name_all_alone, %d>(int)",
			i);
		snprintf(last, sizeof(last), "%s", gt_kernel_names_get(k, name));
		CHECK(strlen(last) <= GT_SHORT_MAX);
	}
	CHECK(strstr(last, "..#") && gt_kernel_names_count(k) == 20000);
	gt_kernel_names_free(k);
}

T_MAIN(T(plain_names), T(templates), T(whose_template_parameter), T(not_mangled), T(cut_anywhere),
	T(a_bomb_is_refused), T(nesting_and_length_are_bounded), T(long_names), T(short_forms),
	T(short_forms_are_short), T(names_of_a_table_differ), T(forms_stay_where_they_are),
	T(whole_names), T(names_that_hurt), T(names_that_look_alike))
