/* The buffers that CUPTI fills with activity records.
 *
 * CUPTI requests empty buffers on the program's threads, and delivers full ones on a thread of
 * its own. The request only takes a buffer from a stack. The delivery converts records to events
 * (guest_cupti_records.c) on a ring of CUPTI's thread, where they survive the program.
 *
 * A request is never refused, as CUPTI before CUDA 12.9 crashes on that. If all buffers are in
 * use, more are mapped, up to 2 GiB. After that each request gets one shared buffer, in which
 * records overwrite each other: they are lost, and counted. A buffer that is not the guest's
 * belongs to another user of CUPTI (guest_cupti_sharing.c). */
#define _GNU_SOURCE
#include "collect/guest/cupti/guest_cupti_activity_internal.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "collect/guest/cupti/guest_cupti_clock.h"
#include "collect/guest/cupti/guest_cupti_sharing.h"
#include "collect/guest/cupti/guest_usdt.h"

#define BUFFER_BYTES (64u << 10) /* some 300 kernels */
#define SHARED_BUFFER 0u         /* index of the buffer for requests when none is free */

static uint8_t *slab(uint32_t k)
{
	uint8_t *there = __atomic_load_n(&gt_cupti_session->slabs[k], __ATOMIC_ACQUIRE), *new;

	if (there || !(new = gt_map((size_t)SLAB * BUFFER_BYTES)))
		return there;
	if (__atomic_compare_exchange_n(&gt_cupti_session->slabs[k], &there, new, false,
		    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return new;
	syscall(SYS_munmap, new, (size_t)SLAB * BUFFER_BYTES);
	return there;
}

static uint8_t *buffer_at(uint32_t i)
{
	uint8_t *s = i < BUFFERS ? slab(i / SLAB) : NULL;

	return s ? s + (size_t)(i % SLAB) * BUFFER_BYTES : NULL;
}

/* Index of a buffer of the guest; BUFFERS: it is not the guest's. */
static uint32_t index_of(const uint8_t *buffer)
{
	for (uint32_t k = 0; k < SLABS && gt_cupti_session->slabs[k]; k++)
		if (buffer >= gt_cupti_session->slabs[k] &&
			buffer < gt_cupti_session->slabs[k] + (size_t)SLAB * BUFFER_BYTES)
			return k * SLAB +
				(uint32_t)((size_t)(buffer - gt_cupti_session->slabs[k]) /
					BUFFER_BYTES);
	return BUFFERS;
}

static struct gt_index_stack free_buffers(void)
{
	return (struct gt_index_stack){ &gt_cupti_session->free, (uint8_t *)gt_cupti_session->below,
		sizeof(*gt_cupti_session->below), 1, BUFFERS + 1 };
}

static uint8_t *take_buffer(void)
{
	const struct gt_index_stack s = free_buffers();
	uint32_t number;

	if (gt_index_stack_pop(&s, &number))
		return buffer_at(number - 1);
	if (__atomic_load_n(&gt_cupti_session->buffers_used, __ATOMIC_RELAXED) >= BUFFERS)
		return NULL;
	return buffer_at(__atomic_fetch_add(&gt_cupti_session->buffers_used, 1, __ATOMIC_RELAXED));
}

static void give_buffer(uint8_t *buffer, uint32_t index, size_t dirty)
{
	const struct gt_index_stack s = free_buffers();

	/* buffers of further slabs are seldom needed */
	if (index < SLAB || syscall(SYS_madvise, buffer, (size_t)BUFFER_BYTES, MADV_DONTNEED))
		memset(buffer, 0, dirty < BUFFER_BYTES ? dirty : BUFFER_BYTES);
	gt_index_stack_push(&s, index + 1);
}

bool gt_cupti_buffers_init(void)
{
	if (!slab(0))
		return false;
	gt_cupti_session->buffers_used = SHARED_BUFFER + 1;
	return true;
}

void gt_cupti_buffer_requested(uint8_t **buffer, size_t *size, size_t *records_max)
{
	int saved = errno;

	*buffer = take_buffer();
	errno = saved;
	if (!*buffer)
		*buffer = buffer_at(SHARED_BUFFER);
	__atomic_fetch_add(&gt_cupti_session->buffers_out, 1, __ATOMIC_RELAXED);
	*size = BUFFER_BYTES;
	*records_max = __atomic_load_n(&gt_cupti_session->records_max, __ATOMIC_RELAXED);
}

/* ---- full buffers ---- */

/* Writes the buffer's records to the ring and puts the buffer back on the stack. */
static void take_records(struct gt_tcb *t, uint8_t *buffer, uint32_t index, size_t valid)
{
	if (!gt_cupti_session->foreign_clock)
		gt_probes_fire_buffer(gt_cupti.next, buffer, valid);
	if (gt_cupti_is_recording())
		gt_gpu_put_records(&gt_cupti_session->names, t,
			&(struct gt_gpu_buffer){
				buffer, valid, gt_cupti.next, gt_cupti_session->foreign_clock });
	__atomic_fetch_add(
		&gt_cupti_session->records_seen, (uint32_t)(valid / GT_K_BYTES), __ATOMIC_RELAXED);
	give_buffer(buffer, index, valid);
}

static void put_dropped(struct gt_tcb *t, void *context, uint32_t stream)
{
	const uint64_t now = gt_slow_clock();
	struct gt_ev_loss e = { .reason = GT_GPU_LOST_DROPPED };
	size_t dropped = 0;

	if (gt_cupti_session->foreign_clock || gt_cupti.dropped(context, stream, &dropped) ||
		!dropped)
		return;
	e.count = dropped;
	gt_ring_put_event(t, GT_EV_GPU_LOST, now, now, &e, sizeof(e));
}

static void complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	uint32_t index = gt_cupti_own_session() ? index_of(buffer) : BUFFERS;
	int saved = errno;
	struct gt_tcb *t = NULL;

	if (index == BUFFERS) {
		gt_cupti_forward_buffer(context, stream, buffer, size, valid);
		return;
	}
	t = gt_cupti_is_recording() ? gt_producer_ring() : NULL;
	if (index != SHARED_BUFFER)
		take_records(t, buffer, index, valid);
	__atomic_fetch_sub(&gt_cupti_session->buffers_out, 1, __ATOMIC_RELAXED);
	if (t && index != SHARED_BUFFER)
		put_dropped(t, context, stream);
	/* they may be overwritten */
	for (size_t n = t && index == SHARED_BUFFER ? valid / GT_K_BYTES : 0; n; n--)
		gt_ring_count_drop(t, gt_now(t), gt_now(t));
	errno = saved;
}

void gt_gpu_buffer_completed(
	void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	const bool is_known = gt_inside || gt_self->ring || gt_producer_self;

	gt_session_enter();
	complete(context, stream, buffer, size, valid);
	if (!is_known && gt_producer_self) /* CUPTI's thread, at its first buffer */
		gt_note_started_thread(GT_STARTED_BY_CUPTI);
	gt_session_leave();
}

/* ---- rounds of the fetching thread ---- */

/* CUPTI keeps a buffer while one of its kernels runs. While a tracer is attached to a probe of
 * GPU work, a record should not wait long for a kernel launched before it. So a buffer may hold
 * the records of half a round: one record if kernels are rare. (tests/gpu/cupti_held.c shows that
 * a record always waits for earlier launches of its thread.) A session alone needs no such limit.
 */
static void limit_buffer_fill(void)
{
	uint32_t n = __atomic_exchange_n(&gt_cupti_session->records_seen, 0, __ATOMIC_RELAXED) / 2;

	n = n < 1 ? 1 : n < BUFFER_BYTES / GT_K_BYTES ? n : 0;
	__atomic_store_n(&gt_cupti_session->records_max,
		gt_cupti_session->watching || gt_probes_need_work() ? n : 0, __ATOMIC_RELAXED);
}

void gt_cupti_buffers_prepare(void)
{
	limit_buffer_fill();
	buffer_at(__atomic_load_n(&gt_cupti_session->buffers_used, __ATOMIC_RELAXED) + SLAB);
}
