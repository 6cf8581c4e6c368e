#include "formats/cuda/cuda_api.h"
#include "tests/unit/t.h"

static void every_row_parses(void)
{
	static const char kinds[] = "iulzwbfhpasHAZUIXL234MRTNEQBCDPKV";
	struct gt_api_field f[GT_FIELDS_MAX];

	CHECK(gt_api_count > 650 && gt_api_count <= GT_API_MAX);
	for (uint32_t id = 0; id < gt_api_count; id++) {
		const struct gt_api *api = &gt_api[id];
		unsigned params = 0, n = gt_api_fields(api, f);

		for (const char *p = api->params; *p; params++) {
			CHECK(strchr(kinds, *p) && p[1] == ':');
			p += strcspn(p, " ");
			p += *p == ' ';
		}
		CHECK(n >= params && n <= GT_FIELDS_MAX);
		CHECK(api->since >= 2000 && api->since <= 13000 &&
			api->category < GT_CATEGORY_COUNT && api->op < GT_OP_COUNT);
		for (unsigned i = 0; i < n; i++) {
			CHECK(f[i].name[0] && f[i].param < params && f[i].role < GT_ROLES &&
				f[i].kind < GT_FIELD_KINDS);
			CHECK(strspn(f[i].name,
				      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") ==
				strlen(f[i].name));
		}
	}
}

static void each_name_is_found_once(void)
{
	for (uint32_t id = 0; id < gt_api_count; id++)
		CHECK(gt_api_find(gt_api[id].name) == id);
	CHECK_EQ(gt_api_find("cuNoSuchThing"), GT_NONE);
	CHECK_EQ(gt_api_find(""), GT_NONE);
	CHECK_EQ(gt_api_find("cuMemAlloc_v"), GT_NONE);
}

static void runtime_names(void)
{
	CHECK(!strcmp(gt_cuda_runtime_name(211), "cudaLaunchKernel") &&
		!strcmp(gt_cuda_runtime_name(41), "cudaMemcpyAsync"));
	CHECK(!strcmp(gt_cuda_runtime_name(214), "cudaLaunchKernel_ptsz") &&
		!strcmp(gt_cuda_runtime_name(522), "cudaDeviceGetP2PAtomicCapabilities"));
	CHECK(!gt_cuda_runtime_name(0) && !gt_cuda_runtime_name(523) &&
		!gt_cuda_runtime_name(UINT32_MAX));
	for (uint32_t i = 1; i < 523; i++) {
		const char *name = gt_cuda_runtime_name(i);

		CHECK(!name ||
			((!strncmp(name, "cuda", 4) || !strncmp(name, "__cuda", 6)) &&
				!strstr(name, "_v1") && !strstr(name, "_v3")));
	}
}

static unsigned role_count(const char *name, unsigned role, bool key_only)
{
	struct gt_api_field f[GT_FIELDS_MAX];
	unsigned n = gt_api_fields(&gt_api[gt_api_find(name)], f), found = 0;

	for (unsigned i = 0; i < n; i++)
		found += f[i].role == role && (f[i].key || !key_only);
	return found;
}

static void launches_have_their_key_arguments(void)
{
	static const char *const names[] = { "cuLaunchKernel", "cuLaunchKernel_ptsz",
		"cuLaunchKernelEx", "cuLaunchCooperativeKernel" };

	for (unsigned i = 0; i < 4; i++) {
		CHECK_EQ(role_count(names[i], GT_R_GRID, true), 3);
		CHECK_EQ(role_count(names[i], GT_R_BLOCK, true), 3);
		CHECK_EQ(role_count(names[i], GT_R_SHARED, true), 1);
		CHECK_EQ(role_count(names[i], GT_R_STREAM, true), 1);
		CHECK_EQ(role_count(names[i], GT_R_FUNC, true), 1);
	}
	CHECK(role_count("cuGraphLaunch", GT_R_GRAPH, true) == 1 &&
		role_count("cuGraphLaunch", GT_R_STREAM, true) == 1);
}

static bool is_old(const char *name) /* the 32-bit versions, whose structs are not followed */
{
	const struct gt_api *api = &gt_api[gt_api_find(name)];

	return api->since < 3020 && !strstr(name, "_v");
}

static void memory_and_copies_have_bytes_and_addresses(void)
{
	for (uint32_t id = 0; id < gt_api_count; id++) {
		const struct gt_api *api = &gt_api[id];

		if (api->op == GT_OP_ALLOC || api->op == GT_OP_FREE) {
			CHECK(role_count(api->name, GT_R_ADDR, true) == 1 && api->memkind);
			CHECK(api->op == GT_OP_FREE || is_old(api->name) ||
				role_count(api->name, GT_R_BYTES, true) == 1);
		}
		if ((api->op == GT_OP_COPY || api->op == GT_OP_SET) && !is_old(api->name) &&
			!strstr(api->name, "Batch")) {
			CHECK_EQ(role_count(api->name, GT_R_BYTES, true), 1);
			CHECK_EQ(role_count(api->name, GT_R_DST, true), 1);
			CHECK(!strstr(api->name, "Async") ||
				role_count(api->name, GT_R_STREAM, true) == 1);
		}
	}
}

static void spot_checks(void)
{
	static const struct {
		const char *name;
		uint32_t since;
		uint8_t category, op, memkind, direction;
	} rows[] = {
		{ "cuInit", 2000, GT_CAT_INIT, 0, 0, 0 },
		{ "cuMemAlloc_v2", 3020, GT_CAT_MEMORY, GT_OP_ALLOC, GT_MEM_DEVICE, 0 },
		{ "cuMemAllocAsync_ptsz", 11020, GT_CAT_MEMORY, GT_OP_ALLOC, GT_MEM_POOL, 0 },
		{ "cuMemFreeHost", 2000, GT_CAT_MEMORY, GT_OP_FREE, GT_MEM_HOST, 0 },
		{ "cuMemcpyHtoDAsync_v2_ptsz", 7000, GT_CAT_COPY, GT_OP_COPY, 0, GT_DIR_HTOD },
		{ "cuMemcpyDtoH_v2", 3020, GT_CAT_COPY, GT_OP_COPY, 0, GT_DIR_DTOH },
		{ "cuMemsetD8Async", 3020, GT_CAT_COPY, GT_OP_SET, 0, 0 },
		{ "cuLaunchKernelEx_ptsz", 11060, GT_CAT_LAUNCH, GT_OP_LAUNCH, 0, 0 },
		{ "cuStreamSynchronize", 2000, GT_CAT_SYNC, GT_OP_SYNC, 0, 0 },
		{ "cuThreadExchangeStreamCaptureMode", 10010, GT_CAT_QUERY, 0, 0, 0 },
		{ "cuMemImportFromShareableHandle", 10020, GT_CAT_MEMORY, GT_OP_IMPORT,
			GT_MEM_PHYSICAL, 0 },
		{ "cuCtxGetDevice_v2", 13000, GT_CAT_QUERY, 0, 0, 0 },
		{ "cuDevicePrimaryCtxGetState", 7000, GT_CAT_QUERY, 0, 0, 0 },
		{ "cuGetProcAddress_v2", 12000, GT_CAT_QUERY, 0, 0, 0 },
		{ "cuGLGetDevices_v2", 6050, GT_CAT_INTEROP, 0, 0, 0 },
		{ "cuProfilerStart", 4000, GT_CAT_INIT, 0, 0, 0 },
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		uint32_t id = gt_api_find(rows[i].name);

		CHECK(id != GT_NONE);
		CHECK(gt_api[id].since == rows[i].since &&
			gt_api[id].category == rows[i].category && gt_api[id].op == rows[i].op);
		CHECK(gt_api[id].memkind == rows[i].memkind &&
			gt_api[id].direction == rows[i].direction);
	}
}

static void some_calls_about_contexts_change_none(void)
{
	CHECK(gt_api_changes_context("cuCtxCreate_v4") &&
		gt_api_changes_context("cuCtxSetCurrent") &&
		gt_api_changes_context("cuDevicePrimaryCtxReset_v2"));
	/* not in the table */
	CHECK(gt_api_changes_context("cudaSetDevice") && gt_api_changes_context("nv_ctx_new"));
	CHECK(!gt_api_changes_context("cuThreadExchangeStreamCaptureMode") &&
		!gt_api_changes_context("cuCtxSetLimit"));
	CHECK(!gt_api_changes_context("cuCtxRecordEvent") &&
		!gt_api_changes_context("cuDevicePrimaryCtxSetFlags_v2"));
}

static void getters_have_no_key_arguments(void)
{
	CHECK(!role_count("cuCtxGetDevice_v2", GT_R_DEVICE, true) &&
		role_count("cuCtxGetDevice_v2", GT_R_DEVICE, false) == 1);
	CHECK(!role_count("cuDevicePrimaryCtxGetState", GT_R_DEVICE, true));
	CHECK(!role_count("cuCtxGetCurrent", GT_R_CONTEXT, true));
}

static void guesses(void)
{
	struct gt_api a = gt_api_guess("cuMemAlloc");

	CHECK(a.op == GT_OP_ALLOC && a.memkind == GT_MEM_DEVICE && !strcmp(a.name, "cuMemAlloc"));
	a = gt_api_guess("cudaMalloc");
	CHECK(a.category == GT_CAT_MEMORY && a.op == GT_OP_ALLOC && a.memkind == GT_MEM_DEVICE &&
		!strcmp(a.name, "cudaMalloc"));
	a = gt_api_guess("cudaFreeHost");
	CHECK(a.op == GT_OP_FREE && a.memkind == GT_MEM_HOST);
	CHECK_EQ(gt_api_guess("cuLaunchKernel").op, GT_OP_LAUNCH);
	CHECK_EQ(gt_api_guess("cudaLaunchKernel_v7000").op, GT_OP_LAUNCH);
	CHECK_EQ(gt_api_guess("cudaMemcpyAsync").op, GT_OP_COPY);
	CHECK_EQ(gt_api_guess("cudaStreamSynchronize").op, GT_OP_SYNC);
	CHECK_EQ(gt_api_guess("cudaDeviceSynchronize").op, GT_OP_SYNC);
	CHECK_EQ(gt_api_guess("cuCtxPopCurrent_v7").category, GT_CAT_CONTEXT);
	CHECK_EQ(gt_api_guess("cudaGetDevice").category, GT_CAT_QUERY);
	CHECK_EQ(gt_api_guess("malloc").category, GT_CAT_OTHER);
	a = gt_api_guess("cu");
	CHECK(a.category == GT_CAT_OTHER && !strcmp(a.params, ""));
}

/* HIP has the names of both CUDA APIs, and some of its own. */
static void hip_names(void)
{
	static const struct {
		const char *name;
		uint8_t category, op, memkind, direction;
	} rows[] = {
		{ "hipFree", GT_CAT_MEMORY, GT_OP_FREE, GT_MEM_DEVICE, 0 },
		{ "hipFreeAsync", GT_CAT_MEMORY, GT_OP_FREE, GT_MEM_POOL, 0 },
		{ "hipHostFree", GT_CAT_MEMORY, GT_OP_FREE, GT_MEM_HOST, 0 },
		{ "hipHostMalloc", GT_CAT_MEMORY, GT_OP_ALLOC, GT_MEM_HOST, 0 },
		{ "hipExtHostAlloc", GT_CAT_MEMORY, GT_OP_ALLOC, GT_MEM_HOST, 0 },
		{ "hipMemAllocHost", GT_CAT_MEMORY, GT_OP_ALLOC, GT_MEM_HOST, 0 },
		{ "hipMalloc", GT_CAT_MEMORY, GT_OP_ALLOC, GT_MEM_DEVICE, 0 },
		{ "hipExtMallocWithFlags", GT_CAT_MEMORY, GT_OP_ALLOC, GT_MEM_DEVICE, 0 },
		{ "hipArrayCreate", GT_CAT_MEMORY, GT_OP_ALLOC, GT_MEM_ARRAY, 0 },
		{ "hipMemCreate", GT_CAT_MEMORY, GT_OP_ALLOC, GT_MEM_PHYSICAL, 0 },
		{ "hipMemUnmap", GT_CAT_MEMORY, GT_OP_UNMAP, GT_MEM_PHYSICAL, 0 },
		{ "hipMemcpyWithStream", GT_CAT_COPY, GT_OP_COPY, 0, 0 },
		{ "hipMemcpyHtoDAsync", GT_CAT_COPY, GT_OP_COPY, 0, GT_DIR_HTOD },
		{ "hipDrvMemcpy3D", GT_CAT_COPY, GT_OP_COPY, 0, 0 },
		{ "hipMemsetD8Async", GT_CAT_COPY, GT_OP_SET, 0, 0 },
		{ "hipExtModuleLaunchKernel", GT_CAT_LAUNCH, GT_OP_LAUNCH, 0, 0 },
		{ "hipLaunchKernel_spt", GT_CAT_LAUNCH, GT_OP_LAUNCH, 0, 0 },
		{ "hipGraphLaunch", GT_CAT_LAUNCH, GT_OP_GRAPH_LAUNCH, 0, 0 },
		{ "hipLaunchHostFunc", GT_CAT_LAUNCH, 0, 0, 0 },
		{ "__hipPushCallConfiguration", GT_CAT_LAUNCH, 0, 0, 0 },
		{ "hipGraphAddMemcpyNode", GT_CAT_GRAPH, 0, 0, 0 },
		{ "hipGraphAddMemcpyNode1D", GT_CAT_GRAPH, 0, 0, 0 },
		{ "hipDrvGraphAddMemsetNode", GT_CAT_GRAPH, 0, 0, 0 },
		{ "hipGraphExecMemcpyNodeSetParamsToSymbol", GT_CAT_GRAPH, 0, 0, 0 },
		{ "hipStreamIsCapturing", GT_CAT_QUERY, 0, 0, 0 },
		{ "hipGetDevicePropertiesR0600", GT_CAT_QUERY, 0, 0, 0 },
		{ "hipExternalMemoryGetMappedBuffer", GT_CAT_INTEROP, 0, 0, 0 },
		{ "hipCreateTextureObject", GT_CAT_MODULE, 0, 0, 0 },
		{ "hipProfilerStart", GT_CAT_INIT, 0, 0, 0 },
		{ "hipDeviceSynchronize", GT_CAT_SYNC, GT_OP_SYNC, 0, 0 },
		{ "hipSetDevice", GT_CAT_CONTEXT, 0, 0, 0 },
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct gt_api a = gt_api_guess(rows[i].name);

		CHECK(a.category == rows[i].category && a.op == rows[i].op &&
			a.memkind == rows[i].memkind);
		CHECK(a.direction == rows[i].direction && !strcmp(a.params, ""));
	}
	CHECK_EQ(gt_api_guess("cudaGraphAddMemcpyNode1D").op, GT_OP_NONE);
	CHECK_EQ(gt_api_guess("cudaGraphMemcpyNodeSetParamsToSymbol").category, GT_CAT_GRAPH);
	CHECK(gt_api_is("hipStreamSynchronize", "cuStreamSynchronize") &&
		gt_api_is("hipSetDevice", "cudaSetDevice"));
	CHECK(gt_api_is("hipStreamSynchronize_spt", "cudaStreamSynchronize") &&
		!gt_api_is("hipStreamSync", "cuStreamSynchronize"));
	CHECK(!gt_api_is("hipStreamSynchronize", "cudaEventSynchronize") &&
		!gt_api_is("cudaFree", "cuFree"));
	CHECK(gt_api_is_cuda("cudaFree") && gt_api_is_cuda("cuInit") && gt_api_is_cuda("hipFree") &&
		gt_api_is_cuda("__hipPopCallConfiguration"));
	CHECK(!gt_api_is_cuda("custom") && !gt_api_is_cuda("hipster") && !gt_api_is_cuda("hip") &&
		!gt_api_is_cuda("aten::hipify"));
}

T_MAIN(T(every_row_parses), T(each_name_is_found_once), T(runtime_names),
	T(launches_have_their_key_arguments), T(memory_and_copies_have_bytes_and_addresses),
	T(spot_checks), T(some_calls_about_contexts_change_none), T(getters_have_no_key_arguments),
	T(guesses), T(hip_names))
