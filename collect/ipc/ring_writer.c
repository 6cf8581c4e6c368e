#define _GNU_SOURCE
#include "collect/ipc/ring_writer.h"

#include <stdlib.h>
#include <string.h>
#include "formats/base/buf.h"

#define TEXT_MAX 4096u /* bytes of a text */
#define LISTED_MIN 64u /* see forget_ended() */

static uint64_t payload(const struct gt_ring_writer *w)
{
	return w->rings->chunk_bytes - sizeof(struct gt_ring_chunk);
}

static void announce(struct gt_ring_writer *w, enum gt_ring_bits which, uint32_t i)
{
	__atomic_fetch_or(&w->rings->bits[which][i / 64], 1ull << i % 64, __ATOMIC_RELEASE);
}

/* Slots before first_own are those of guests. */
static bool is_free(
	const struct gt_ring_writer *w, enum gt_ring_bits used, uint32_t i, const uint32_t *state)
{
	return !(w->rings->bits[used][i / 64] >> i % 64 & 1) &&
		__atomic_load_n(state, __ATOMIC_ACQUIRE) == GT_SLOT_FREE;
}

/* ---- processes ---- */

static uint32_t take_process_slot(
	struct gt_ring_writer *w, int32_t tgid, const char comm[16], int64_t at)
{
	struct gt_guest guest = { .host_pid = 0 };
	bool known = gt_guest_read(tgid, &guest);

	for (uint32_t i = w->rings->first_own; i < w->rings->nprocs; i++) {
		struct gt_ring_proc *p = &w->rings->procs[i];

		if (!is_free(w, GT_BITS_USED_PROCS, i, &p->state))
			continue;
		p->pid = known ? guest.ns_pid : tgid;
		p->ppid = 0;
		p->generation++;
		p->host_pid = 0;
		p->untraced = 0;
		p->start_ticks = (uint64_t)at;
		memcpy(p->comm, comm, sizeof(p->comm));
		w->rings->written[i] = GT_WRITTEN;
		if (known)
			gt_guest_server_add(w->server, &guest);
		__atomic_store_n(&p->state, GT_SLOT_LIVE, __ATOMIC_RELEASE);
		announce(w, GT_BITS_NEW_PROCS, i);
		return i;
	}
	return GT_RING_NIL;
}

/* The recorder frees the slot of a process or thread that has ended; another may have it now. */
static bool owns_process(const struct gt_ring_writer *w, const struct gt_written_process *p)
{
	const struct gt_ring_proc *slot = &w->rings->procs[p->slot];

	return slot->state == GT_SLOT_LIVE && slot->generation == p->generation;
}

static struct gt_ring_thread *ring_of(
	const struct gt_ring_writer *w, const struct gt_written_thread *t)
{
	return &w->rings->threads[t->slot];
}

static bool owns_thread(const struct gt_ring_writer *w, const struct gt_written_thread *t)
{
	const struct gt_ring_thread *slot = &w->rings->threads[t->slot];

	return slot->state == GT_SLOT_LIVE && slot->generation == t->generation;
}

/* Removes processes and threads that have ended, whenever their number has doubled. */
static void forget_ended(struct gt_ring_writer *w)
{
	if (w->nprocesses >= w->processes_max) {
		for (size_t i = w->nprocesses; i-- > 0;)
			if (!owns_process(w, &w->processes[i]))
				gt_map_remove_item(&w->processes_map, w->processes, &w->nprocesses,
					sizeof(*w->processes), (uint32_t)i, sizeof(int32_t));
		w->processes_max = 2 * w->nprocesses + LISTED_MIN;
	}
	if (w->nthreads >= w->threads_max) {
		for (size_t i = w->nthreads; i-- > 0;)
			if (!owns_thread(w, &w->threads[i]))
				gt_map_remove_item(&w->threads_map, w->threads, &w->nthreads,
					sizeof(*w->threads), (uint32_t)i, sizeof(int32_t));
		w->threads_max = 2 * w->nthreads + LISTED_MIN;
	}
}

static uint32_t process_slot(
	struct gt_ring_writer *w, int32_t tgid, const char comm[16], int64_t at)
{
	struct gt_written_process new = { .tgid = tgid, .since = at };
	uint32_t i = gt_map_find_item(
		&w->processes_map, w->processes, sizeof(new), &new, sizeof(new.tgid));

	if (i != UINT32_MAX && owns_process(w, &w->processes[i]))
		return w->processes[i].slot;
	new.slot = take_process_slot(w, tgid, comm, at);
	if (new.slot == GT_RING_NIL)
		return GT_RING_NIL;
	new.generation = w->rings->procs[new.slot].generation;
	if (i != UINT32_MAX)
		w->processes[i] = new;
	else if (gt_map_add_item(&w->processes_map, &w->processes, &w->nprocesses,
			 &w->processes_cap, sizeof(new), &new, sizeof(new.tgid)) == UINT32_MAX)
		return GT_RING_NIL;
	return new.slot;
}

/* ---- threads ---- */

/* GT_RING_NIL: none is free. They are not searched again before the recorder frees one. */
static uint32_t find_thread_slot(struct gt_ring_writer *w)
{
	const uint32_t from = w->rings->first_own, n = w->rings->nthreads - from;

	for (uint32_t k = 0; k < n && w->full_since != w->rings->slots_freed + 1; k++) {
		uint32_t i = from + (w->next_thread + k) % n;

		if (!is_free(w, GT_BITS_USED_THREADS, i, &w->rings->threads[i].state))
			continue;
		w->next_thread = i - from + 1;
		return i;
	}
	w->full_since = w->rings->slots_freed + 1;
	return GT_RING_NIL;
}

/* The recorder takes what is written, and frees what is not used any more. */
static void drain(struct gt_ring_writer *w)
{
	w->chunks_taken = w->threads_ended = 0;
	if (w->rings->drain)
		w->rings->drain();
}

/* Guests may hold most chunks for long: each drain is worth its time. */
static bool needs_drain(const struct gt_ring_writer *w)
{
	const uint32_t n = w->rings->nchunks;

	return w->chunks_taken > n / 16 &&
		__atomic_load_n(&w->rings->s->free_count, __ATOMIC_RELAXED) < n / 4;
}

static uint32_t find_or_free_thread_slot(struct gt_ring_writer *w)
{
	uint32_t i = find_thread_slot(w);

	if (i != GT_RING_NIL || !w->threads_ended)
		return i;
	drain(w);
	return find_thread_slot(w);
}

static void take_thread_slot(
	struct gt_ring_writer *w, uint32_t i, uint32_t proc, int32_t tid, const char comm[16])
{
	struct gt_ring_thread *r = &w->rings->threads[i];

	r->proc = proc;
	r->generation++;
	r->tid = tid;
	r->role = GT_RING_CALLER;
	r->first = r->taken = GT_RING_NIL;
	memcpy(r->name, comm, sizeof(r->name));
	memset(r->open, 0, sizeof(r->open));
	r->given_up = 0;
	r->word = r->dropped = r->dropped_from = r->dropped_to = r->deep = r->abandoned =
		r->in_handler = r->sampled_out = r->consumed = 0;
	__atomic_store_n(&r->state, GT_SLOT_LIVE, __ATOMIC_RELEASE);
	announce(w, GT_BITS_NEW_THREADS, i);
}

/* Adds the thread, or replaces one with its id that has ended. Its index; UINT32_MAX: no memory. */
static uint32_t set_thread(struct gt_ring_writer *w, struct gt_written_thread *new)
{
	uint32_t i =
		gt_map_find_item(&w->threads_map, w->threads, sizeof(*new), new, sizeof(new->tid));

	new->generation = w->rings->threads[new->slot].generation + 1;
	if (i == UINT32_MAX)
		return gt_map_add_item(&w->threads_map, &w->threads, &w->nthreads, &w->threads_cap,
			sizeof(*new), new, sizeof(new->tid));
	w->threads[i] = *new;
	return i;
}

struct gt_written_thread *gt_ring_writer_thread(
	struct gt_ring_writer *w, int32_t tgid, int32_t tid, const char comm[16], int64_t at)
{
	struct gt_written_thread new = { .tid = tid, .chunk = GT_RING_NIL };
	uint32_t i, proc;

	if (needs_drain(w))
		drain(w);
	i = gt_map_find_item(&w->threads_map, w->threads, sizeof(new), &new, sizeof(new.tid));
	if (i != UINT32_MAX && owns_thread(w, &w->threads[i]))
		return &w->threads[i];
	new.slot = find_or_free_thread_slot(w);
	forget_ended(w);
	proc = new.slot == GT_RING_NIL ? GT_RING_NIL : process_slot(w, tgid, comm, at);
	i = proc == GT_RING_NIL ? UINT32_MAX : set_thread(w, &new);
	if (i == UINT32_MAX) {
		gt_record_loss_add(&w->rings->own_loss, 1, at, at);
		return NULL;
	}
	take_thread_slot(w, new.slot, proc, tid, comm);
	return &w->threads[i];
}

void gt_ring_writer_end_thread(struct gt_ring_writer *w, int32_t tid)
{
	uint32_t i = gt_map_find_item(
		&w->threads_map, w->threads, sizeof(*w->threads), &tid, sizeof(tid));
	struct gt_ring_thread *ring;

	if (i == UINT32_MAX || !owns_thread(w, &w->threads[i]))
		return;
	ring = ring_of(w, &w->threads[i]);
	if (ring->word & 0xff) /* a call remains open: the recorder has to miss the thread */
		return;
	__atomic_store_n(&ring->state, GT_SLOT_DONE, __ATOMIC_RELEASE);
	w->threads_ended++;
}

static void end_process(struct gt_ring_writer *w, const struct gt_written_process *p)
{
	for (size_t k = 0; k < w->nthreads; k++) {
		struct gt_ring_thread *ring = &w->rings->threads[w->threads[k].slot];

		if (owns_thread(w, &w->threads[k]) && ring->proc == p->slot)
			__atomic_store_n(&ring->state, GT_SLOT_DONE, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&w->rings->procs[p->slot].state, GT_SLOT_DONE, __ATOMIC_RELEASE);
}

void gt_ring_writer_exec(
	struct gt_ring_writer *w, int32_t tgid, int32_t tid, const char comm[16], int64_t at)
{
	struct gt_written_process key = { .tgid = tgid };
	uint32_t i = gt_map_find_item(
		&w->processes_map, w->processes, sizeof(key), &key, sizeof(key.tgid));

	if (i != UINT32_MAX && owns_process(w, &w->processes[i]) && w->processes[i].since <= at)
		end_process(w, &w->processes[i]);
	/* without guests, the next record takes the slot: there may be none */
	if (!w->rings->with_writer || !gt_ring_writer_thread(w, tgid, tid, comm, at))
		return;
	i = gt_map_find_item(&w->processes_map, w->processes, sizeof(key), &key, sizeof(key.tgid));
	if (i != UINT32_MAX)
		w->rings->written[w->processes[i].slot] = GT_WRITTEN_EXECUTED;
}

/* ---- records ---- */

static bool take_chunk(struct gt_ring_writer *w, struct gt_written_thread *t)
{
	struct gt_session *s = w->rings->s;
	const struct gt_index_stack free_chunks = { &s->free_head, w->rings->chunks,
		w->rings->chunk_bytes, 0, w->rings->nchunks };
	struct gt_ring_thread *ring = ring_of(w, t);
	struct gt_ring_chunk *new, *old;
	uint32_t i;

	if (!gt_index_stack_pop(&free_chunks, &i))
		return false;
	w->chunks_taken++;
	__atomic_fetch_sub(&s->free_count, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&ring->taken, i, __ATOMIC_RELEASE);
	new = gt_rings_chunk(w->rings, i);
	new->next = GT_RING_NIL;
	new->owner = t->slot;
	new->number = t->limit / payload(w);
	if (ring->first == GT_RING_NIL)
		__atomic_store_n(&ring->first, i, __ATOMIC_RELEASE);
	else {
		old = gt_rings_chunk(w->rings, t->chunk);
		if (t->position < t->limit)
			memset(old->payload + (t->position - t->number * payload(w)), 0, 8);
		__atomic_store_n(&old->next, i, __ATOMIC_RELEASE);
	}
	t->chunk = i;
	t->number = new->number;
	t->position = t->number * payload(w);
	t->limit = t->position + payload(w);
	return true;
}

static bool put(struct gt_ring_writer *w, struct gt_written_thread *t, const struct gt_rec *head,
	const void *body, size_t bytes)
{
	struct gt_ring_thread *ring = ring_of(w, t);
	size_t padded = (bytes + 7) & ~(size_t)7, all = sizeof(*head) + padded;
	uint8_t *to;

	/* the recorder may have taken the last chunk */
	if ((ring->first == GT_RING_NIL || t->position + all > t->limit) &&
		(all > payload(w) || !take_chunk(w, t))) {
		if (!ring->dropped)
			__atomic_store_n(&ring->dropped_from, head->start, __ATOMIC_RELAXED);
		__atomic_store_n(&ring->dropped_to, head->end, __ATOMIC_RELAXED);
		__atomic_store_n(&ring->dropped, ring->dropped + 1, __ATOMIC_RELEASE);
		return false;
	}
	to = gt_rings_chunk(w->rings, t->chunk)->payload + (t->position - t->number * payload(w));
	if (padded)
		memset(to + all - 8, 0, 8);
	memcpy(to, head, sizeof(*head));
	memcpy(to + sizeof(*head), body, bytes);
	t->position += all;
	__atomic_store_n(&ring->word, t->position << 8, __ATOMIC_RELEASE);
	return true;
}

bool gt_ring_writer_call(struct gt_ring_writer *w, struct gt_written_thread *t,
	const struct gt_rec *head, const uint64_t *words)
{
	return put(w, t, head, words, 8u * head->nargs);
}

void gt_ring_writer_open_call(struct gt_ring_writer *w, struct gt_written_thread *t,
	const struct gt_rec *head, const uint64_t *words)
{
	struct gt_ring_thread *ring = ring_of(w, t);
	unsigned depth = head->kind_depth, n = head->nargs;
	struct gt_ring_open *to = &ring->open[depth];

	if (depth >= GT_RING_OPEN_MAX)
		return;
	to->id = head->id;
	to->nargs = (uint8_t)(n < GT_RING_OPEN_ARGS ? n : GT_RING_OPEN_ARGS);
	memcpy(to->args, words, to->nargs * sizeof(*words));
	to->start = head->start;
	__atomic_store_n(&ring->word, t->position << 8 | (depth + 1), __ATOMIC_RELEASE);
}

bool gt_ring_writer_event(struct gt_ring_writer *w, struct gt_written_thread *t,
	enum gt_ring_event id, uint64_t start, uint64_t end, const void *body, size_t bytes)
{
	const struct gt_rec head = { .start = start,
		.end = end,
		.id = (uint16_t)id,
		.nargs = (uint8_t)(bytes / 8),
		.kind_depth = GT_REC_EVENT << 5 };

	return put(w, t, &head, body, bytes);
}

bool gt_ring_writer_bytes(struct gt_ring_writer *w, struct gt_written_thread *t,
	enum gt_rec_kind kind, uint64_t key, const void *bytes, size_t n)
{
	struct gt_rec head = { .start = key, .end = n, .kind_depth = (uint8_t)(kind << 5) };

	return put(w, t, &head, bytes, n);
}

struct gt_wait_look gt_ring_writer_look(
	const struct gt_written_thread *t, uint64_t start, uint64_t end)
{
	struct gt_wait_look found = { .until = 0 };

	for (unsigned i = 0; i < GT_WAIT_LOOKS; i++) {
		const struct gt_wait_look *one = &t->looks[i];
		uint32_t stack = one->stack_until < end ? one->stack : 0;

		if (one->from <= start || one->until >= end || !one->until)
			continue;
		if (one->is_expected && found.until)
			continue;
		stack = stack ? stack : found.is_expected ? 0 : found.stack;
		found = *one;
		found.stack = stack;
	}
	return found;
}

bool gt_ring_writer_text(struct gt_ring_writer *w, struct gt_written_thread *t,
	enum gt_rec_kind kind, uint64_t key, const char *text)
{
	return gt_ring_writer_bytes(w, t, kind, key, text, strnlen(text, TEXT_MAX));
}

void gt_ring_writer_release(struct gt_ring_writer *w)
{
	for (size_t i = 0; i < w->nthreads; i++)
		if (owns_thread(w, &w->threads[i]))
			__atomic_store_n(
				&ring_of(w, &w->threads[i])->state, GT_SLOT_DONE, __ATOMIC_RELEASE);
	for (size_t i = 0; i < w->nprocesses; i++)
		if (owns_process(w, &w->processes[i]))
			__atomic_store_n(&w->rings->procs[w->processes[i].slot].state, GT_SLOT_DONE,
				__ATOMIC_RELEASE);
	gt_map_release(&w->processes_map);
	gt_map_release(&w->threads_map);
	free(w->processes);
	free(w->threads);
	w->processes = NULL, w->threads = NULL;
	w->nprocesses = w->nthreads = 0;
}
