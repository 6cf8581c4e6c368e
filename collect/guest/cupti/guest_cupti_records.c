/* Converts CUPTI's records to events on a ring (collect/ipc/ring_events.h).
 * cupti_layout.h has the offsets of the records' fields. */
#include "collect/guest/cupti/guest_cupti_records.h"

#include "collect/guest/core/guest_elf.h"
#include "collect/guest/core/guest_ring.h"
#include "collect/guest/cupti/cupti_layout.h"
#include "formats/cuda/cuda_api_cbid.h"

#define u16 gt_u16_at
#define u32 gt_u32_at
#define u64 gt_u64_at

/* A checksum of a text, eight bytes per step: shows whether the name at this address has changed.
 */
static uint64_t sum_of(const char *text, uint32_t len)
{
	uint64_t sum = len, word = 0;

	for (; len >= 8; len -= 8, text += 8)
		sum = (sum ^ u64(text)) * 0x9e3779b97f4a7c15ull, sum ^= sum >> 29;
	memcpy(&word, text, len);
	return (sum ^ word) * 0x9e3779b97f4a7c15ull;
}

/* Returns the hash of a kernel's name, and writes the name to the ring if needed. The address
 * does not identify a name: a module may be unloaded and another loaded in its place. */
static uint64_t put_name(struct gt_gpu_names *names, struct gt_tcb *t, const char *name)
{
	struct gt_gpu_sent_name *n =
		&names->sent[((uintptr_t)name >> 3) * 0x9e3779b1u % GT_GPU_NAMES];
	uint32_t len;
	uint64_t sum;

	if (!name)
		return 0;
	len = gt_ring_text_length(name);
	sum = sum_of(name, len);
	if (n->at != name || n->sum != sum) {
		*n = (struct gt_gpu_sent_name){ name, sum, gt_ring_hash(name, len) };
		if (!gt_ring_put_text(t, GT_REC_STRING, n->hash, name, len))
			n->at = NULL;
	}
	return n->hash;
}

/* gtcollect detaches from the running program. The work of recorded calls has ended, or the
 * recorder notices that it has no record. All other work is of calls that are not recorded. */
static bool is_detaching(void)
{
	return gt_attached && __atomic_load_n(&gt_shared->detach, __ATOMIC_RELAXED);
}

/* start, end: the times in CUPTI's record. */
static void put(struct gt_tcb *t, enum gt_ring_event id, const uint8_t *start, const uint8_t *end,
	const void *event, size_t bytes)
{
	if (!u64(end) && is_detaching())
		return;
	if (!gt_ring_put_event(t, id, u64(start), u64(end), event, bytes))
		gt_ring_count_drop(t, gt_now(t), gt_now(t));
}

static void put_kernel(struct gt_gpu_names *names, struct gt_tcb *t, const uint8_t *r)
{
	struct gt_ev_kernel e = {
		.work = { .correlation = u32(r + GT_K_CORRELATION),
			.device = u32(r + GT_K_DEVICE),
			.context = u32(r + GT_K_CONTEXT),
			.stream = u32(r + GT_K_STREAM),
			.graph = u32(r + GT_K_GRAPH),
			.registers = u16(r + GT_K_REGISTERS),
			.node = u64(r + GT_K_NODE) },
		.shared_static = u32(r + GT_K_SHARED),
		.shared_dynamic = u32(r + GT_K_SHARED + 4),
		.name = put_name(names, t, (const char *)(uintptr_t)u64(r + GT_K_NAME)),
	};

	memcpy(e.grid, r + GT_K_GRID, sizeof(e.grid));
	memcpy(e.block, r + GT_K_BLOCK, sizeof(e.block));
	put(t, GT_EV_KERNEL, r + GT_K_START, r + GT_K_END, &e, sizeof(e));
}

static void put_copy(struct gt_tcb *t, const uint8_t *r, bool peer)
{
	uint32_t device = u32(r + GT_C_DEVICE);
	struct gt_ev_copy e = {
		.work = { .correlation = u32(r + (peer ? GT_P_CORRELATION : GT_C_CORRELATION)),
			.device = device,
			.context = u32(r + GT_C_CONTEXT),
			.stream = u32(r + GT_C_CONTEXT + 4),
			.graph = u32(r + (peer ? GT_P_GRAPH : GT_C_GRAPH)),
			.node = u64(r + (peer ? GT_P_NODE : GT_C_NODE)) },
		.bytes = u64(r + GT_C_BYTES),
		.source = peer ? u32(r + GT_P_SOURCE) : device,
		.destination = peer ? u32(r + GT_P_DESTINATION) : device,
	};

	memcpy(&e.work.copy, r + GT_C_KINDS, sizeof(e.work.copy));
	put(t, GT_EV_COPY, r + GT_C_START, r + GT_C_END, &e, sizeof(e));
}

static void put_set(struct gt_tcb *t, const uint8_t *r)
{
	struct gt_ev_set e = {
		.work = { .correlation = u32(r + GT_C_CORRELATION),
			.device = u32(r + GT_C_DEVICE),
			.context = u32(r + GT_C_CONTEXT),
			.stream = u32(r + GT_C_CONTEXT + 4),
			.graph = u32(r + GT_C_GRAPH),
			.set = { .memory = u16(r + GT_S_FLAGS + 2), .async = u16(r + GT_S_FLAGS) },
			.node = u64(r + GT_C_NODE) },
		.bytes = u64(r + GT_C_BYTES),
		.value = u32(r + GT_S_VALUE),
	};

	put(t, GT_EV_SET, r + GT_C_START, r + GT_C_END, &e, sizeof(e));
}

/* An older CUPTI records all driver calls or none, so other calls are skipped here. */
static void put_call(struct gt_tcb *t, const uint8_t *r, enum gt_ring_event id)
{
	struct gt_ev_call e = {
		.correlation = u32(r + GT_A_CORRELATION),
		.cbid = u32(r + GT_A_CBID),
		.tid = (int32_t)u32(r + GT_A_THREAD),
		.ret = id == GT_EV_RUNTIME ? (int32_t)u32(r + GT_A_RETURNED) : 0,
	};

	if (id == GT_EV_RUNTIME || gt_cuda_driver_name(e.cbid))
		put(t, id, r + GT_A_START, r + GT_A_END, &e, sizeof(e));
}

static void put_managed(struct gt_tcb *t, const uint8_t *r)
{
	struct gt_ev_managed e = {
		.counter = u32(r + GT_U_COUNTER),
		.flags = u32(r + GT_U_FLAGS),
		.value = u64(r + GT_U_VALUE),
		.address = u64(r + GT_U_ADDRESS),
		.source = u32(r + GT_U_FROM),
		.destination = u32(r + GT_U_TO),
	};

	put(t, GT_EV_MANAGED, r + GT_U_START, r + GT_U_END, &e, sizeof(e));
}

static void put_overhead(struct gt_tcb *t, const uint8_t *r)
{
	struct gt_ev_overhead e = {
		.kind = u32(r + GT_O_OVERHEAD),
		.object = u32(r + GT_O_OBJECT),
		.process = u32(r + GT_O_PROCESS),
		.thread = u32(r + GT_O_THREAD),
	};
	void (*release)(void *);

	put(t, GT_EV_OVERHEAD, r + GT_O_START, r + GT_O_END, &e, sizeof(e));
	if (e.kind == GT_CUPTI_COMMANDS_FULL && (release = gt_find_next_definition("free", NULL)))
		release((void *)(uintptr_t)u64(r + GT_O_DATA));
}

static void put_record(struct gt_gpu_names *names, struct gt_tcb *t, const uint8_t *r)
{
	switch (u32(r)) {
	case GT_CUPTI_KERNEL: put_kernel(names, t, r); break;
	case GT_CUPTI_MEMCPY: put_copy(t, r, false); break;
	case GT_CUPTI_MEMCPY_PEER: put_copy(t, r, true); break;
	case GT_CUPTI_MEMSET: put_set(t, r); break;
	case GT_CUPTI_DRIVER: put_call(t, r, GT_EV_CUPTI_CALL); break;
	case GT_CUPTI_RUNTIME: put_call(t, r, GT_EV_RUNTIME); break;
	case GT_CUPTI_MANAGED: put_managed(t, r); break;
	case GT_CUPTI_OVERHEAD: put_overhead(t, r); break;
	default: break; /* a kind that another client has enabled */
	}
}

/* Two threads may receive buffers at the same time. */
static void lock(struct gt_gpu_names *names)
{
	while (__atomic_exchange_n(&names->locked, 1, __ATOMIC_ACQUIRE))
		syscall(SYS_sched_yield);
}

static void unlock(struct gt_gpu_names *names)
{
	__atomic_store_n(&names->locked, 0, __ATOMIC_RELEASE);
}

static void put_foreign_count(struct gt_tcb *t, uint64_t n)
{
	const struct gt_ev_loss e = { .count = n, .reason = GT_GPU_LOST_FOREIGN };
	const uint64_t now = gt_slow_clock();

	if (!n || is_detaching() || gt_ring_put_event(t, GT_EV_GPU_LOST, now, now, &e, sizeof(e)))
		return;
	while (n--)
		gt_ring_count_drop(t, gt_now(t), gt_now(t));
}

void gt_gpu_put_records(struct gt_gpu_names *names, struct gt_tcb *t, const struct gt_gpu_buffer *b)
{
	uint8_t *record = NULL;
	uint64_t foreign = 0;

	lock(names);
	while (!b->next(b->buffer, b->valid, &record)) {
		if (!t)
			gt_count_untraced();
		else if (b->foreign_clock)
			foreign++;
		else
			put_record(names, t, record);
	}
	put_foreign_count(t, foreign);
	unlock(names);
}
