/* Two processes that communicate as NCCL does, for tests/cli/collect/nccl.sh: ranges in the domain
 * "NCCL" with payloads, and kernels with NCCL's names that are launched within them, when a group
 * ends, or by a graph. Rank 0 launches each collective of the first communicator first, rank 1 each
 * of the second. The kernels are short: those of one collective do not overlap in time. Usage: nccl
 * [unknown]: with "unknown" the schemas of the payloads have other names. */
#define _GNU_SOURCE
#include <stdbool.h>
#include <sys/wait.h>
#include "collect/guest/nvtx/guest_nvtx.h"
#include "samples/cu.h"

#define ALL_REDUCE "ncclDevKernel_AllReduce_Sum_f32_RING_LL"
static const char nccl_ptx[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
			       ".visible .entry " ALL_REDUCE "()\n{\n	ret;\n}\n";

enum { ROUNDS = 20, SCHEMA = (1 << 24) + 5, GROUPED = 4 };
static const uint64_t communicators[2] = { 0xabcdef0123456789, 0x1122334455667788 };
typedef void (*function)(void);
static intptr_t slots[63];
static function core2[16], *core2_at[16];
static const void *domain;

/* ---- NVTX ---- */

static int module_table(int module, function ***table, unsigned *n)
{
	for (int i = 0; i < 16; i++)
		core2_at[i] = &core2[i];
	*table = core2_at;
	*n = 16;
	return module == 5;
}

static const void *export_table(uint32_t id)
{
	static const struct {
		size_t size;
		int (*table)(int, function ***, unsigned *);
	} callbacks = { sizeof(callbacks), module_table };

	return id == 1 ? &callbacks : NULL;
}

static void inject(void)
{
	const char *path = getenv("NVTX_INJECTION64_PATH");
	void *library = path ? dlopen(path, RTLD_LAZY) : NULL;
	struct gt_nvtx_segment segment = { 0, 63, slots };
	struct gt_nvtx_module m = { 3, sizeof(m), GT_NVTX_PAYLOAD_MODULE, 0x0104, 1, &segment, NULL,
		NULL };

	if (!library ||
		!((int (*)(const void *(*)(uint32_t)))dlsym(library, "InitializeInjectionNvtx2"))(
			export_table) ||
		!((int (*)(const struct gt_nvtx_module *))dlsym(
			library, "InitializeInjectionNvtxExtension"))(&m))
		exit(9);
}

static void register_schema(bool known)
{
	const struct gt_nvtx_entry entries[] = {
		{ 0, GT_TYPE_UINT64, known ? "NCCL communicator ID" : "other", NULL, 0, 0, NULL,
			NULL },
		{ 0, GT_TYPE_SIZE, known ? "Message size [bytes]" : "size", NULL, 0, 8, NULL,
			NULL },
	};
	const struct gt_nvtx_schema schema = { GT_SCHEMA_HAS_ENTRIES | GT_SCHEMA_HAS_N |
			GT_SCHEMA_HAS_ID | 1 << 2,
		"AllReduce", GT_SCHEMA_STATIC, 0, entries, 2, 0, 0, SCHEMA };

	domain = ((void *(*)(const char *))core2[12])("NCCL");
	((uint64_t(*)(const void *, const struct gt_nvtx_schema *))slots[GT_SLOT_SCHEMA])(
		domain, &schema);
}

static void push(const char *name, const struct gt_nvtx_payload *payload)
{
	struct gt_nvtx_attributes a = { .version = 3,
		.size = sizeof(a),
		.payload_type = payload ? GT_PAYLOAD_EXTENDED : 0,
		.npayloads = payload != NULL,
		.payload = (uintptr_t)payload,
		.message_type = GT_MESSAGE_CHAR,
		.message = name };

	((int (*)(const void *, const struct gt_nvtx_attributes *))core2[4])(domain, &a);
}

static void pop(void) { ((int (*)(const void *))core2[5])(domain); }

/* ---- collectives ---- */

static CUfunction kernel;
static CUstream streams[2];

static void launch(int which)
{
	OK(cuLaunchKernel(kernel, 8, 1, 1, 256, 1, 1, 0, streams[which], NULL, NULL));
}

static void call(int which, uint64_t bytes, bool grouped)
{
	const uint64_t values[2] = { communicators[which], bytes };
	const struct gt_nvtx_payload payload = { SCHEMA, sizeof(values), values };

	push("ncclAllReduce", &payload);
	if (!grouped)
		launch(which);
	pop();
}

static void group(int which)
{
	push("ncclGroupStart", NULL);
	pop();
	for (int i = 0; i < GROUPED; i++)
		call(which, 1000, true);
	push("ncclGroupEnd", NULL);
	launch(which);
	launch(which);
	pop();
}

/* A collective that a graph launches twice. */
static void replay(int which)
{
	CUgraphExec exec;
	CUgraph graph;

	OK(cuStreamBeginCapture_v2(streams[which], 0));
	call(which, 3000, false);
	OK(cuStreamEndCapture(streams[which], &graph));
	OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
	OK(cuGraphLaunch(exec, streams[which]));
	OK(cuGraphLaunch(exec, streams[which]));
}

static void wait_for(int from)
{
	char byte;

	if (read(from, &byte, 1) != 1)
		exit(3);
}

static void wake(int to)
{
	if (write(to, "", 1) != 1)
		exit(4);
}

/* In each round the other rank launches when this one's kernel has ended. */
static void run_rank(int rank, int from, int to, bool known)
{
	CUmodule m;

	inject();
	cu_start();
	register_schema(known);
	OK(cuModuleLoadData(&m, nccl_ptx));
	kernel = cu_kernel(m, ALL_REDUCE);
	for (int i = 0; i < 2; i++)
		OK(cuStreamCreate(&streams[i], 1));
	for (int i = 0; i < 2 * ROUNDS; i++) {
		int which = i % 2;

		if (rank != which)
			wait_for(from);
		call(which, which ? 4096 : 1 << 20, false);
		OK(cuStreamSynchronize(streams[which]));
		if (rank == which)
			wake(to);
	}
	group(0);
	replay(1);
	OK(cuStreamSynchronize(streams[1]));
	OK(cuStreamSynchronize(streams[0]));
}

int main(int argc, char **argv)
{
	bool known = argc < 2 || strcmp(argv[1], "unknown") != 0;
	int to_child[2], to_parent[2], status = 0;
	pid_t child;

	if (pipe(to_child) || pipe(to_parent) || (child = fork()) < 0)
		return 5;
	if (!child) {
		run_rank(1, to_child[0], to_parent[1], known);
		return 0;
	}
	run_rank(0, to_parent[0], to_child[1], known);
	return waitpid(child, &status, 0) == child ? status : 6;
}
