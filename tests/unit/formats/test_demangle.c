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

/* What c++filt prints for names of functions of PyTorch, LLVM and the standard library. */
static void expressions(void)
{
	CHECK(is("_Z1eIXadL_Z2sqiEEEvv", "void e<&(sq(int))>()"));
	CHECK(is("_Z1eIXadL_ZN1n2sqEiEEEvv", "void e<&n::sq>()"));
	CHECK(is("_Z1eIXadL_ZN1n2tqIiEEiT_EEEvv", "void e<&(int n::tq<int>(int))>()"));
	CHECK(is("_Z2e2IXadL_ZN1n1vEEEEvv", "void e2<&n::v>()"));
	CHECK(is("_ZN1n4callIFN1t6TensorEbEXadL_ZNS1_12_GLOBAL__N_14viewEbEEEES2_b",
		"t::Tensor n::call<t::Tensor (bool), &t::(anonymous namespace)::view>(bool)"));
	CHECK(is(
		"_ZN4llvm10checkedAddIlEENSt9enable_ifIXsr3std9is_signedIT_EE5valueENS_8OptionalIS2_EEE4typeES2_S2_",
		"std::enable_if<std::is_signed<long>::value, llvm::Optional<long> >::type llvm::checkedAdd<long>(long, long)"));
	CHECK(is("_Z1aI1SEDTpldtfp_1xptfp_1yET_", "decltype (({parm#1}.x)+({parm#1}->y)) a<S>(S)"));
	CHECK(is("_Z1gI1AEDTcmtlT_Li1ELi2EEcvS1__Li1ELi2EEES1_",
		"decltype (A{1, 2},((A)(1, 2))) g<A>(A)"));
	CHECK(is("_Z1bIiLi3EEvRAplT0_Li1E_i", "void b<int, 3>(int (&) [(3)+(1)])"));
	CHECK(is("_Z1cIJicEESt17integral_constantImXsZT_EEDpT_",
		"std::integral_constant<unsigned long, 2> c<int, char>(int, char)"));
	CHECK(is("_Z1fIJicEE1AIXfrplstT_EEDpS1_",
		"A<((sizeof (int, char))+...)> f<int, char>(int, char)"));
	CHECK(is("_Z1lIliE1AIXqugtT_Li1ELi2ELi3EEET0_",
		"A<(((long)>(1)))?(2) : (3)> l<long, int>(int)"));
	CHECK(is("_Z1dI1AEDTcvlclL_Z2sqiEngdtfp_1xEET_",
		"decltype ((long)(sq(-({parm#1}.x)))) d<A>(A)"));
	CHECK(is("_Z1eIXadE", NULL));
	CHECK(is("_Z1eIXf", NULL));
	CHECK(is("_Z1eIXadL_Z2sqiEvv", NULL));
}

static void types(void)
{
	CHECK(is("_Z1f8functionIKFvmEE", "f(function<void (unsigned long) const>)"));
	CHECK(is("_Z1fM1SKFiiREi", "f(int (S::*)(int) const &, int)"));
	CHECK(is("_Z1fPDoFvvE", "f(void (*)() noexcept)"));
	CHECK(is("_Z1fPA3_A4_i", "f(int (*) [3][4])"));
	CHECK(is("_Z1fPA3_PFviE", "f(void (* (*) [3])(int))"));
	CHECK(is("_Z1fPFPFviEdE", "f(void (*(*)(double))(int))"));
	CHECK(is("_Z1kIiEPFviET_", "void (*k<int>(int))(int)"));
	CHECK(is("_Z1jDv4_fCd", "j(float __vector(4), double _Complex)"));
	CHECK(is("_Z1fPU3AS1f", "f(float AS1*)"));
	CHECK(is("_Z1fIKiEvRKT_", "void f<int const>(int const&)"));
	/* of conversions that are templates */
	CHECK(is("_ZN1YIiEcvPT_IcEEv", "Y<int>::operator char*<char>()"));
	CHECK(is("_ZNK1JcvSt6vectorIT_SaIS1_EEIiEEv",
		"J::operator std::vector<int, std::allocator<int> ><int>() const"));
	/* of a generic lambda: T_ means auto in its parameters, and its arguments behind them */
	CHECK(is("_ZZ1gvENKUlT_T0_E_clIiPFvvEEEDaS_S0_",
		"auto g()::{lambda(auto:1, auto:2)#1}::operator()<int, void (*)()>(int, void (*)()) const"));
}

static void special_names(void)
{
	CHECK(is("_ZTV3Foo", "vtable for Foo"));
	CHECK(is("_ZTCN1a1BE16_NS_1CE", "construction vtable for a::C-in-a::B"));
	CHECK(is("_ZThn16_N1A1fEv", "non-virtual thunk to A::f()"));
	CHECK(is("_ZTv0_n24_N1A1fEi", "virtual thunk to A::f(int)"));
	CHECK(is("_ZTchn8_v0_n24_N1A1fEv", "covariant return thunk to A::f()"));
	CHECK(is("_ZGVZN1A1fEvE1x", "guard variable for A::f()::x"));
	CHECK(is("_ZTx3Foo", NULL));
	/* default arguments and clones */
	CHECK(is("_ZZN1D1fEiEd_NKUlvE_clEv",
		"D::f(int)::{default arg#1}::{lambda()#1}::operator()() const"));
	CHECK(is("_Z1fv.constprop.0.isra.1", "f() [clone .constprop.0] [clone .isra.1]"));
	CHECK(is("_Z1fv.part.0.cold", "f() [clone .part.0] [clone .cold]"));
}

static void not_mangled(void)
{
	static const char *const names[] = { "", "_", "_Z", "_Z3", "_Z99999999999x", "main",
		"sm80_xmma_gemm_f32f32", "_ZN", "_ZNE", "_Z1fI", "_ZS_", "_ZT_", "_Z1fS9_",
		"_Z1fILi", "_ZTV", "_Z1f\xff" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		CHECK(is(names[i], NULL));
}

/* Every truncated name is either refused or demangled, and no byte after it is read. */
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

/* The short form of a name, and of its demangled name, which other tools' files have. */
static bool short_is(const char *name, const char *want)
{
	char got[GT_SHORT_MAX + 1], of_plain[GT_SHORT_MAX + 1] = "";
	char *plain = gt_demangle(name);

	gt_kernel_short(name, got);
	if (plain)
		gt_kernel_short(plain, of_plain);
	if (strcmp(got, want) || (plain && strcmp(of_plain, want)))
		printf("# %s\n# gave %s and %s\n# want %s\n", name, got, of_plain, want);
	free(plain);
	return !strcmp(got, want) && (!*of_plain || !strcmp(of_plain, want));
}

static void short_forms(void)
{
	/* clang-format off */
	static const struct {
		const char *name, *brief;
	} table[] = {
		/* PyTorch, as recorded */
		{ "_ZN2at6native57_GLOBAL__N__e658eeb9_24_ForeachBinaryOpScalar_cu_86b9896c25multi_tensor_apply_kernelINS1_18TensorListMetadataILi1EEENS1_21BinaryOpScalarFunctorIfLi1ELi1ELi0EEEJSt10multipliesIfEfEEEvT_T0_DpT1_",
			"multi_tensor_apply<BinaryOpScalar, multiplies, float>" },
		{ "_ZN2at6native57_GLOBAL__N__e658eeb9_24_ForeachBinaryOpScalar_cu_86b9896c25multi_tensor_apply_kernelINS1_18TensorListMetadataILi1EEENS1_21BinaryOpScalarFunctorIfLi1ELi1ELi0EEEJSt4plusIfEfEEEvT_T0_DpT1_",
			"multi_tensor_apply<BinaryOpScalar, plus, float>" },
		{ "_ZN2at6native50_GLOBAL__N__b6ca21f8_17_ForeachUnaryOp_cu_77fe623d25multi_tensor_apply_kernelINS1_18TensorListMetadataILi2EEENS1_14UnaryOpFunctorIfLi2ELi1ELi1EEEJNS0_4SqrtIfEEEEEvT_T0_DpT1_",
			"multi_tensor_apply<UnaryOp, Sqrt, float>" },
		{ "_ZN2at6native13reduce_kernelILi128ELi4ENS0_8ReduceOpIfNS0_14func_wrapper_tIfZNS0_11sum_functorIfffEclERNS_14TensorIteratorEEUlffE_EEjfLi4ELi4EEEEEvT1_",
			"reduce<sum, float>" },
		{ "_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIfNS0_7MeanOpsIffffEEjfLi4ELi4EEEEEvT1_",
			"reduce<MeanOps, float>" },
		{ "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_13BinaryFunctorIfffZNS0_67_GLOBAL__N__06c19b41_28_ActivationThresholdKernel_cu_751192d7_1581121threshold_kernel_implIfEEvRNS_18TensorIteratorBaseET_S7_EUlffE_EESt5arrayIPcLm3EEEEviT0_T1_",
			"vectorized_elementwise<Binary<threshold>, float>" },
		{ "_ZN2at6native29vectorized_elementwise_kernelILi4EZZZNS0_49_GLOBAL__N__d2ba64fb_16_TensorCompare_cu_71e06f4e19launch_clamp_scalarERNS_18TensorIteratorBaseEN3c106ScalarES6_NS0_6detail11ClampLimitsEENKUlvE_clEvENKUlvE5_clEvEUlfE_St5arrayIPcLm2EEEEviT0_T1_",
			"vectorized_elementwise<launch_clamp_scalar, float>" },
		{ "_ZN2at6native18elementwise_kernelILi128ELi2EZNS0_22gpu_kernel_impl_nocastINS0_13BUnaryFunctorIfffNS0_15binary_internal10MulFunctorIfEEEEEEvRNS_18TensorIteratorBaseERKT_EUliE_EEviT1_",
			"elementwise<BUnary<Mul>, float>" },
		{ "_ZN2at6native27unrolled_elementwise_kernelIZZZNS0_23direct_copy_kernel_cudaERNS_18TensorIteratorBaseEENKUlvE1_clEvENKUlvE5_clEvEUlfE_St5arrayIPcLm2EELi4E23TrivialOffsetCalculatorILi1EjESB_NS0_6memory12LoadWithCastILi1EEENSC_13StoreWithCastILi1EEEEEviT_T0_T2_T3_T4_T5_",
			"unrolled_elementwise<direct_copy, float>" },
		{ "_ZN2at6native53_GLOBAL__N__21739cd4_20_layer_norm_kernel_cu_9c5ada8a28vectorized_layer_norm_kernelIN3c104HalfEfLb0EEEviT0_PKT_S8_S8_PS5_S9_PS6_",
			"vectorized_layer_norm_kernel<Half, float, false>" },
		/* PyTorch, demangled: the second lambda of a function; no operation */
		{ "void at::native::vectorized_elementwise_kernel<4, at::native::(anonymous namespace)::pow_tensor_scalar_kernel_impl<float, float>(at::TensorIteratorBase&, float)::{lambda(float)#2}, std::array<char*, 2ul> >(int)",
			"vectorized_elementwise<pow_tensor_scalar#2, float>" },
		{ "void at::native::(anonymous namespace)::cunn_SoftMaxForward<4, c10::BFloat16, float, c10::BFloat16, at::native::(anonymous namespace)::SoftMaxForwardEpilogue>(c10::BFloat16*, c10::BFloat16 const*, int)",
			"cunn_SoftMaxForward<SoftMaxForwardEpilogue, BFloat16>" },
		{ "void at::native::index_elementwise_kernel<128, 4, at::native::gpu_index_kernel<at::native::index_kernel_impl<at::native::OpaqueType<4> >(at::TensorIteratorBase&, c10::ArrayRef<long>)::{lambda(char*, char const*, long)#1}>(at::TensorIteratorBase&)::{lambda(int)#1}>(long)",
			"index_elementwise<index, long>" },
		/* cuBLAS, cuDNN */
		{ "void cublasLt::splitKreduce_kernel<32, 16, int, float>(cublasLt::cublasSplitKParams<float>)",
			"splitKreduce_kernel<32, 16, int, float>" },
		{ "_Z18sgemm_largek_lds64ILb1ELb0ELi5ELi5ELi4ELi4ELi4ELi34EEvPfPKfS2_iiiiiiS2_S2_ffiiPiS3_",
			"sgemm_largek_lds64<true, false, 5, 5, 4, 4, 4, 34>" },
		{ "void cudnn::ops::nchwToNhwcKernel<float, float, float, false, true, (cudnnKernelDataType_t)2>(cudnn::ops::nchw2nhwc_params_t<float>, float const*, float*)",
			"nchwToNhwcKernel<float, float, float, false, true, (cudnnK.." },
		{ "sm80_xmma_gemm", "sm80_xmma_gemm" },
		{ "nvjet_sm90_hsh_64x48_64x15_2x4_h_bz_bias_TNT", "nvjet_sm90_hsh_64x48_64x15_2x4_h_bz_bias_TNT" },
		/* CUTLASS, FlashAttention */
		{ "_ZN7cutlass7Kernel2I41cutlass_80_simt_sgemm_64x64_8x5_tn_align1EEvNT_6ParamsE",
			"Kernel2<cutlass_80_simt_sgemm_64x64_8x5_tn_align1>" },
		{ "void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<cute::tuple<int, int, int, int>, cutlass::gemm::collective::CollectiveMma<cutlass::gemm::MainloopSm90TmaGmma<7, cute::tuple<cute::C<2>, cute::C<1> > >, cutlass::half_t> > >(int)",
			"device<GemmUniversal<CollectiveMma<MainloopSm90TmaGmma>>, .." },
		{ "void flash::flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4, false, false, cutlass::bfloat16_t>, false, true, false>(flash::Flash_fwd_params)",
			"flash_fwd<Flash_fwd_kernel_traits, bfloat16_t>" },
		/* CUB and thrust */
		{ "void cub::CUB_200200_900_NS::DeviceReduceKernel<cub::CUB_200200_900_NS::DeviceReducePolicy<float, unsigned int, thrust::plus<float> >::Policy600, float const*, float*, int, thrust::plus<float>, float>(float const*)",
			"DeviceReduceKernel<plus, float>" },
		{ "void thrust::cuda_cub::core::_kernel_agent<thrust::cuda_cub::__parallel_for::ParallelForAgent<thrust::cuda_cub::__uninitialized_fill::functor<thrust::device_ptr<float>, float>, unsigned long>, unsigned long>(int)",
			"_kernel_agent<ParallelForAgent<functor<device_ptr>>, float>" },
		{ "void thrust::cuda_cub::detail::for_each_kernel<(int)256, foo(bar)>(x)", "for_each<foo>" },
		/* NCCL, vLLM, Triton, JAX */
		{ "_Z39ncclDevKernel_AllReduce_Sum_f32_RING_LL24ncclDevKernelArgsStorageILm4096EE",
			"ncclDevKernel_AllReduce_Sum_f32_RING_LL" },
		{ "void vllm::act_and_mul_kernel<c10::BFloat16, &(c10::BFloat16 vllm::silu_kernel<c10::BFloat16>(c10::BFloat16 const&)), true>(c10::BFloat16*, c10::BFloat16 const*, int)",
			"act_and_mul<silu, BFloat16>" },
		{ "triton_poi_fused_add_mul_0", "triton_poi_fused_add_mul_0" },
		{ "loop_add_fusion_12", "loop_add_fusion_12" },
		/* others */
		{ "_Z9vectorAddPKfS0_Pfi", "vectorAdd" },
		{ "_Z4axpyIfEvPT_S1_i", "axpy<float>" },
		{ "void scale<float, 3>(float*, float)", "scale<float, 3>" },
		{ "", "" },
		{ "(", "(" },
		{ "f<", "f<>" },
	};
	/* clang-format on */

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		CHECK(short_is(table[i].name, table[i].brief));
}

#define ELEMENTWISE "void at::native::vectorized_elementwise_kernel<4, at::native::"

static void short_forms_are_short(void)
{
	char out[GT_SHORT_MAX + 1];

	gt_kernel_short(
		"sm80_xmma_gemm_f32f32_f32f32_f32_nt_n_tilesize128x32x8_stage3_warpsize2x2x1_ffma_aligna4_alignc4_"
		"execute_kernel__5x_cublas",
		out);
	CHECK(strlen(out) == GT_SHORT_MAX && !strcmp(out + GT_SHORT_MAX - 2, ".."));
	gt_kernel_short(
		"\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
		"\xc3\xa9\xc3\xa9\xc3\xa9"
		"\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
		"\xc3\xa9\xc3\xa9"
		"x",
		out);
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
		/* equal forms: with more of their arguments */
		"void at::native::vectorized_elementwise_kernel<8, at::native::FillFunctor<float>, std::array<char*, 1ul> >(int)",
		"void at::native::vectorized_elementwise_kernel<8, at::native::FillFunctor<float>, std::array<char*, 2ul> >(int)",
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
	CHECK_STR(first[0], "vectorized_elementwise<Fill, float>");
	CHECK_STR(first[1], "vectorized_elementwise<AUnary<Mul>, float>");
	CHECK_STR(first[2], "vectorized_elementwise<Binary<Mul>, float>");
	CHECK_STR(first[3], "vectorized_elementwise<8, Fill, float>");
	CHECK_STR(first[4], "vectorized_elementwise_kernel<8, FillFunctor<float>, array..");
	CHECK_STR(first[6], "vectorAdd#2"); /* of the same namespace: none */
	CHECK_STR(first[7], "a::vectorAdd");
	CHECK(!*first[N - 1]);
	CHECK(gt_kernel_names_count(k) == N);
	CHECK(!strcmp(gt_kernel_names_at(k, 5, &full), "vectorAdd") && !strcmp(full, names[5]));
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

/* The full form leaves nothing out, the recorded form changes nothing; names whose full forms
 * are equal have numbers. */
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

/* Names that are designed to harm the demangler. The caller frees the result. */
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

/* So many names that free numbers must be found without trying each. */
static void names_that_look_alike(void)
{
	struct gt_kernel_names *k = gt_kernel_names_new(GT_NAME_SHORT);
	char name[200], last[GT_SHORT_MAX + 1];

	for (int i = 0; i < 20000; i++) {
		snprintf(name, sizeof(name),
			"void n::f<a_long_argument_that_fills_the_room_of_a_short_name_all_alone, 1>(int (&)[%d])",
			i);
		snprintf(last, sizeof(last), "%s", gt_kernel_names_get(k, name));
		CHECK(strlen(last) <= GT_SHORT_MAX);
	}
	CHECK(strstr(last, "..#") && gt_kernel_names_count(k) == 20000);
	gt_kernel_names_free(k);
}

T_MAIN(T(plain_names), T(templates), T(expressions), T(types), T(special_names),
	T(whose_template_parameter), T(not_mangled), T(cut_anywhere), T(a_bomb_is_refused),
	T(nesting_and_length_are_bounded), T(long_names), T(short_forms), T(short_forms_are_short),
	T(names_of_a_table_differ), T(forms_stay_where_they_are), T(whole_names),
	T(names_that_hurt), T(names_that_look_alike))
