/* Converts CUPTI's records to events on a ring (collect/ipc/ring.h lists them and their words).
 * cupti_layout.h has the offsets of the records' fields. */
#include "collect/guest/cupti/guest_cupti_records.h"

#include <sys/syscall.h>
#include <unistd.h>
#include "collect/guest/core/guest_elf.h"
#include "collect/guest/core/guest_ring.h"
#include "collect/guest/cupti/cupti_layout.h"
#include "formats/cuda/cuda_api_cbid.h"

static uint16_t u16(const uint8_t *p)
{
	uint16_t v;
	memcpy(&v, p, 2);
	return v;
}
static uint32_t u32(const uint8_t *p)
{
	uint32_t v;
	memcpy(&v, p, 4);
	return v;
}
static uint64_t u64(const uint8_t *p)
{
	uint64_t v;
	memcpy(&v, p, 8);
	return v;
}
static uint64_t two(uint32_t low, uint32_t high) { return low | (uint64_t)high << 32; }

/* A checksum of a text, eight bytes per step: shows whether the name at this address has changed.
 */
static uint64_t sum_of(const char *text, uint32_t len)
{
	uint64_t sum = len, word = 0;

	for (; len >= 8; len -= 8, text += 8)
		sum = (sum ^ u64((const uint8_t *)text)) * 0x9e3779b97f4a7c15ull, sum ^= sum >> 29;
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

struct event {
	enum gt_ring_event id;
	uint64_t start, end, words[9];
	uint32_t n;
};

static bool read_kernel(
	struct gt_gpu_names *names, struct gt_tcb *t, const uint8_t *r, struct event *e)
{
	const uint64_t words[] = {
		two(u32(r + GT_K_CORRELATION), u32(r + GT_K_DEVICE)),
		two(u32(r + GT_K_CONTEXT), u32(r + GT_K_STREAM)),
		two(u32(r + GT_K_GRAPH), u16(r + GT_K_REGISTERS)),
		u64(r + GT_K_NODE),
		u64(r + GT_K_GRID),
		two(u32(r + GT_K_GRID + 8), u32(r + GT_K_BLOCK)),
		u64(r + GT_K_BLOCK + 4),
		u64(r + GT_K_SHARED),
		put_name(names, t, (const char *)(uintptr_t)u64(r + GT_K_NAME)),
	};

	*e = (struct event){
		.id = GT_EV_KERNEL, .start = u64(r + GT_K_START), .end = u64(r + GT_K_END), .n = 9
	};
	memcpy(e->words, words, sizeof(words));
	return true;
}

static bool read_copy(const uint8_t *r, struct event *e, bool peer)
{
	uint32_t device = u32(r + GT_C_DEVICE);
	const uint64_t words[] = {
		two(u32(r + (peer ? GT_P_CORRELATION : GT_C_CORRELATION)), device),
		u64(r + GT_C_CONTEXT),
		two(u32(r + (peer ? GT_P_GRAPH : GT_C_GRAPH)), u32(r + GT_C_KINDS)),
		u64(r + (peer ? GT_P_NODE : GT_C_NODE)),
		u64(r + GT_C_BYTES),
		peer ? two(u32(r + GT_P_SOURCE), u32(r + GT_P_DESTINATION)) : two(device, device),
	};

	*e = (struct event){
		.id = GT_EV_COPY, .start = u64(r + GT_C_START), .end = u64(r + GT_C_END), .n = 6
	};
	memcpy(e->words, words, sizeof(words));
	return true;
}

static bool read_set(const uint8_t *r, struct event *e)
{
	const uint64_t words[] = {
		two(u32(r + GT_C_CORRELATION), u32(r + GT_C_DEVICE)),
		u64(r + GT_C_CONTEXT),
		two(u32(r + GT_C_GRAPH),
			u16(r + GT_S_FLAGS + 2) | (uint32_t)u16(r + GT_S_FLAGS) << 16),
		u64(r + GT_C_NODE),
		u64(r + GT_C_BYTES),
		u32(r + GT_S_VALUE),
	};

	*e = (struct event){
		.id = GT_EV_SET, .start = u64(r + GT_C_START), .end = u64(r + GT_C_END), .n = 6
	};
	memcpy(e->words, words, sizeof(words));
	return true;
}

/* An older CUPTI records all driver calls or none, so others are skipped here. */
static const bool makes_work[GT_CBID_MAX] = {
#define X(cbid, name) [cbid] = true,
	GT_CBIDS(X)
#undef X
};

static bool read_call(const uint8_t *r, struct event *e)
{
	uint32_t cbid = u32(r + GT_A_CBID);

	*e = (struct event){ .id = GT_EV_CUPTI_CALL,
		.start = u64(r + GT_A_START),
		.end = u64(r + GT_A_END),
		.n = 2,
		.words = { two(u32(r + GT_A_CORRELATION), cbid), u32(r + GT_A_THREAD) } };
	return cbid < GT_CBID_MAX && makes_work[cbid];
}

static bool read_runtime(const uint8_t *r, struct event *e)
{
	*e = (struct event){ .id = GT_EV_RUNTIME,
		.start = u64(r + GT_A_START),
		.end = u64(r + GT_A_END),
		.n = 2,
		.words = { two(u32(r + GT_A_CORRELATION), u32(r + GT_A_CBID)),
			two(u32(r + GT_A_THREAD), u32(r + GT_A_RETURNED)) } };
	return true;
}

static bool read_managed(const uint8_t *r, struct event *e)
{
	*e = (struct event){ .id = GT_EV_MANAGED,
		.start = u64(r + GT_U_START),
		.end = u64(r + GT_U_END),
		.n = 4,
		.words = { two(u32(r + GT_U_COUNTER), u32(r + GT_U_FLAGS)), u64(r + GT_U_VALUE),
			u64(r + GT_U_ADDRESS), two(u32(r + GT_U_FROM), u32(r + GT_U_TO)) } };
	return true;
}

static bool read_overhead(const uint8_t *r, struct event *e)
{
	void (*release)(void *);

	*e = (struct event){ .id = GT_EV_OVERHEAD,
		.start = u64(r + GT_O_START),
		.end = u64(r + GT_O_END),
		.n = 2,
		.words = { two(u32(r + GT_O_OVERHEAD), u32(r + GT_O_OBJECT)),
			two(u32(r + GT_O_PROCESS), u32(r + GT_O_THREAD)) } };
	if (u32(r + GT_O_OVERHEAD) == GT_CUPTI_COMMANDS_FULL &&
		(release = (void (*)(void *))gt_find_next_definition("free", NULL)))
		release((void *)(uintptr_t)u64(r + GT_O_DATA));
	return true;
}

static bool read_record(
	struct gt_gpu_names *names, struct gt_tcb *t, const uint8_t *r, struct event *e)
{
	switch (u32(r)) {
	case GT_CUPTI_KERNEL: return read_kernel(names, t, r, e);
	case GT_CUPTI_MEMCPY: return read_copy(r, e, false);
	case GT_CUPTI_MEMCPY_PEER: return read_copy(r, e, true);
	case GT_CUPTI_MEMSET: return read_set(r, e);
	case GT_CUPTI_DRIVER: return read_call(r, e);
	case GT_CUPTI_RUNTIME: return read_runtime(r, e);
	case GT_CUPTI_MANAGED: return read_managed(r, e);
	case GT_CUPTI_OVERHEAD: return read_overhead(r, e);
	}
	return false; /* a kind that another client has enabled */
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
	const uint64_t words[2] = { n, GT_GPU_LOST_FOREIGN }, now = gt_slow_clock();

	if (!n || gt_ring_put_event(t, GT_EV_GPU_LOST, now, now, words, 2))
		return;
	while (n--)
		gt_ring_count_drop(t, gt_now(t), gt_now(t));
}

void gt_gpu_put_records(struct gt_gpu_names *names, struct gt_tcb *t, const struct gt_gpu_buffer *b)
{
	uint8_t *record = NULL;
	uint64_t foreign = 0;
	struct event e;

	lock(names);
	while (!b->next(b->buffer, b->valid, &record)) {
		if (!t)
			gt_count_untraced();
		else if (b->foreign_clock)
			foreign++;
		else if (read_record(names, t, record, &e) &&
			!gt_ring_put_event(t, e.id, e.start, e.end, e.words, e.n))
			gt_ring_count_drop(t, gt_now(t), gt_now(t));
	}
	put_foreign_count(t, foreign);
	unlock(names);
}
