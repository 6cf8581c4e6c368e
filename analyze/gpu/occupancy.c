#include "analyze/gpu/occupancy.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "formats/base/buf.h"
#include "formats/trace/meta.h"

#define WARP 32u
#define REGISTER_UNIT 256u
#define RECORDED_MOST 4096u /* as many as the recorder writes */

/* ---- facts ---- */

/* CUDA C++ Programming Guide, "Technical Specifications per Compute Capability". */
static const struct {
	uint8_t major, minor;
	uint16_t threads, blocks, shared_kib;
} capabilities[] = {
	{ 5, 0, 2048, 32, 64 },
	{ 5, 2, 2048, 32, 96 },
	{ 5, 3, 2048, 32, 64 },
	{ 6, 0, 2048, 32, 64 },
	{ 6, 1, 2048, 32, 96 },
	{ 6, 2, 2048, 32, 64 },
	{ 7, 0, 2048, 32, 96 },
	{ 7, 2, 2048, 32, 96 },
	{ 7, 5, 1024, 16, 64 },
	{ 8, 0, 2048, 32, 164 },
	{ 8, 6, 1536, 16, 100 },
	{ 8, 7, 1536, 16, 164 },
	{ 8, 9, 1536, 24, 100 },
	{ 9, 0, 2048, 32, 228 },
	{ 10, 0, 2048, 32, 228 },
	{ 10, 3, 2048, 32, 228 },
	{ 11, 0, 1536, 24, 228 },
	{ 12, 0, 1536, 24, 100 },
	{ 12, 1, 1536, 24, 100 },
};
#define REGISTERS 65536u /* of all of them */

/* Words in the names of GPUs (developer.nvidia.com/cuda-gpus), the more specific ones first. A word
 * that ends in a digit of a series stands for all that begin with it. */
static const struct {
	const char *word;
	bool series;
	uint8_t capability;
} models[] = {
	{ "Ada", false, 89 },
	{ "RTX PRO", true, 120 },
	{ "Quadro RTX", true, 75 },
	{ "RTX 50", true, 120 },
	{ "RTX 40", true, 89 },
	{ "RTX 30", true, 86 },
	{ "RTX 20", true, 75 },
	{ "RTX A", true, 86 },
	{ "TITAN RTX", false, 75 },
	{ "GTX 16", true, 75 },
	{ "GTX 10", true, 61 },
	{ "B300", false, 103 },
	{ "GB300", false, 103 },
	{ "B200", false, 100 },
	{ "GB200", false, 100 },
	{ "H200", false, 90 },
	{ "GH200", false, 90 },
	{ "H100", false, 90 },
	{ "H800", false, 90 },
	{ "H20", false, 90 },
	{ "L40", false, 89 },
	{ "L40S", false, 89 },
	{ "L4", false, 89 },
	{ "A100", false, 80 },
	{ "A800", false, 80 },
	{ "A30", false, 80 },
	{ "A40", false, 86 },
	{ "A16", false, 86 },
	{ "A10", false, 86 },
	{ "A10G", false, 86 },
	{ "A2", false, 86 },
	{ "T4", false, 75 },
	{ "V100", false, 70 },
	{ "V100S", false, 70 },
	{ "P100", false, 60 },
	{ "P40", false, 61 },
	{ "P4", false, 61 },
};

static bool has_word(const char *text, const char *word, bool series)
{
	size_t n = strlen(word);

	for (const char *at = text; (at = strstr(at, word)); at++)
		if ((at == text || !isalnum((unsigned char)at[-1])) &&
			(series || !isalnum((unsigned char)at[n])))
			return true;
	return false;
}

unsigned gt_compute_capability_of_model(const char *model)
{
	for (size_t i = 0; i < sizeof(models) / sizeof(*models); i++)
		if (has_word(model, models[i].word, models[i].series))
			return models[i].capability;
	return 0;
}

void gt_sm_limits_complete(struct gt_sm_limits *l)
{
	for (size_t i = 0; i < sizeof(capabilities) / sizeof(*capabilities); i++) {
		if (capabilities[i].major != l->major || capabilities[i].minor != l->minor)
			continue;
		l->threads = l->threads ?: capabilities[i].threads;
		l->blocks = l->blocks ?: capabilities[i].blocks;
		l->registers = l->registers ?: REGISTERS;
		l->shared = l->shared ?: capabilities[i].shared_kib * 1024u;
	}
	if (l->major >= 8)
		l->shared_reserved = l->shared_reserved ?: 1024;
}

/* ---- occupancy ---- */

const char *gt_occupancy_word(enum gt_occupancy_limit limit)
{
	static const char *const words[GT_OCCUPANCY_LIMITS] = { [GT_OCCUPANCY_REGISTERS] =
									"registers",
		[GT_OCCUPANCY_SHARED] = "shared memory",
		[GT_OCCUPANCY_BLOCK_SIZE] = "block size",
		[GT_OCCUPANCY_BLOCKS] = "blocks per SM" };

	return limit < GT_OCCUPANCY_LIMITS ? words[limit] : NULL;
}

static uint64_t round_up(uint64_t v, uint64_t unit) { return (v + unit - 1) / unit * unit; }

/* The warps of an SM that have registers. */
static uint64_t warps_by_registers(const struct gt_sm_limits *l, uint64_t registers)
{
	uint64_t partitions = l->major == 6 && !l->minor ? 2 : 4,
		 warp = round_up(registers * WARP, REGISTER_UNIT);

	return warp ? l->registers / partitions / warp * partitions : UINT32_MAX;
}

static uint64_t blocks_by_shared(const struct gt_sm_limits *l, uint64_t shared)
{
	uint64_t block = round_up(shared + l->shared_reserved, l->major >= 8 ? 128 : 256);

	return block ? l->shared / block : UINT32_MAX;
}

bool gt_occupancy_of(const struct gt_sm_limits *l, uint64_t threads, uint64_t registers,
	uint64_t shared, struct gt_occupancy *to)
{
	uint64_t warps = (threads + WARP - 1) / WARP, slots = l->threads / WARP,
		 blocks = UINT32_MAX;

	if (!l->major || !slots || !l->blocks || !l->registers || !l->shared || !threads ||
		threads > UINT32_MAX || registers > UINT32_MAX || shared > UINT32_MAX)
		return false;
	for (unsigned i = GT_OCCUPANCY_REGISTERS; i < GT_OCCUPANCY_LIMITS; i++) {
		uint64_t fit = i == GT_OCCUPANCY_REGISTERS
			? warps_by_registers(l, registers) / warps
			: i == GT_OCCUPANCY_SHARED     ? blocks_by_shared(l, shared)
			: i == GT_OCCUPANCY_BLOCK_SIZE ? slots / warps
						       : l->blocks;

		if (fit < blocks) {
			blocks = fit;
			to->limit = (enum gt_occupancy_limit)i;
		}
	}
	to->blocks = (uint32_t)blocks;
	to->hundredths = (uint32_t)((blocks * warps * 10000 + slots / 2) / slots);
	if (blocks * warps == slots)
		to->limit = GT_OCCUPANCY_FULL;
	return blocks > 0;
}

/* ---- limits in a recording ---- */

static struct gt_sm_limits *limits_of(
	struct gt_sm_limits_reader *x, long long pid, long long device)
{
	for (size_t i = 0; i < x->n; i++)
		if (x->list[i].pid == pid && x->list[i].device == device)
			return &x->list[i].limits;
	if (x->n == RECORDED_MOST || gt_grow(&x->list, &x->cap, x->n + 1, sizeof(*x->list))) {
		x->failed |= x->n < RECORDED_MOST;
		return NULL;
	}
	x->list[x->n] = (struct gt_recorded_limits){ .pid = pid, .device = device };
	return &x->list[x->n++].limits;
}

/* gpu_limits.PID.DEVICE.WHAT, of gtcollect */
static void note_limit(struct gt_sm_limits_reader *x, const char *key, const char *value)
{
	static const struct {
		const char *name;
		size_t at;
	} all[] = {
		{ "multiprocessors", offsetof(struct gt_sm_limits, sms) },
		{ "threads", offsetof(struct gt_sm_limits, threads) },
		{ "blocks", offsetof(struct gt_sm_limits, blocks) },
		{ "registers", offsetof(struct gt_sm_limits, registers) },
		{ "shared_bytes", offsetof(struct gt_sm_limits, shared) },
		{ "shared_reserved_bytes", offsetof(struct gt_sm_limits, shared_reserved) },
	};
	struct gt_sm_limits *l;
	long long pid, device;
	int end = 0;

	if (sscanf(key, "gpu_limits.%lld.%lld.%n", &pid, &device, &end) != 2 || !end ||
		!(l = limits_of(x, pid, device)))
		return;
	if (!strcmp(key + end, "compute_capability"))
		sscanf(value, "%u.%u", &l->major, &l->minor);
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (!strcmp(key + end, all[i].name))
			*(uint32_t *)((char *)l + all[i].at) = (uint32_t)strtoul(value, NULL, 10);
}

static uint32_t number_after(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	return at ? (uint32_t)strtoul(at + strlen(key), NULL, 10) : 0;
}

/* kineto.deviceProperties.N: the properties of a device of all processes, as JSON without blanks */
static void note_properties(struct gt_sm_limits_reader *x, const char *text)
{
	struct gt_sm_limits *l =
		strstr(text, "\"id\":") ? limits_of(x, -1, number_after(text, "\"id\":")) : NULL;

	if (!l)
		return;
	l->major = number_after(text, "\"computeMajor\":");
	l->minor = number_after(text, "\"computeMinor\":");
	l->sms = number_after(text, "\"numSms\":");
	l->threads = number_after(text, "\"maxThreadsPerMultiprocessor\":");
	l->registers = number_after(text, "\"regsPerMultiprocessor\":");
	l->shared = number_after(text, "\"sharedMemPerMultiprocessor\":");
}

static int note(void *arg, const char *key, const char *value)
{
	if (!strncmp(key, "kineto.deviceProperties.", 24))
		note_properties(arg, value);
	else if (!strncmp(key, "gpu_limits.", 11))
		note_limit(arg, key, value);
	return 0;
}

static const struct gt_sm_limits *find(
	const struct gt_sm_limits_reader *x, long long pid, long long device)
{
	const struct gt_sm_limits *of_all = NULL;

	for (size_t i = 0; i < x->n; i++) {
		if (x->list[i].device == device && x->list[i].pid == pid)
			return &x->list[i].limits;
		if (x->list[i].device == device && x->list[i].pid == -1)
			of_all = &x->list[i].limits;
	}
	return of_all;
}

int gt_sm_limits_read(struct gt_sm_limits_reader *x, const struct gt_segment *seg, uint32_t device,
	struct gt_sm_limits *to)
{
	uint32_t process = gt_track_process(seg, device);
	const struct gt_sm_limits *l;
	const char *model;
	unsigned capability;

	*to = (struct gt_sm_limits){ .major = 0 };
	if (device >= seg->ntracks)
		return 0;
	if (x->seg != seg) {
		x->n = 0;
		x->seg = seg;
		if (gt_meta_each(seg, note, x) || x->failed)
			return -ENOMEM;
	}
	l = find(x, process == GT_NONE ? -1 : seg->tracks[process].id, seg->tracks[device].id);
	model = gt_gpu_name(&x->names, seg, &seg->tracks[device]);
	capability = model ? gt_compute_capability_of_model(model) : 0;
	if (l && l->major)
		*to = *l;
	else
		*to = (struct gt_sm_limits){ .major = capability / 10, .minor = capability % 10 };
	gt_sm_limits_complete(to);
	return 0;
}

void gt_sm_limits_reader_release(struct gt_sm_limits_reader *x)
{
	gt_gpu_namer_release(&x->names);
	free(x->list);
	*x = (struct gt_sm_limits_reader){ .n = 0 };
}
