/* Attaches process and thread slots, checks whether their owners are alive, reaps them, and writes
 * their losses. A slot belongs to its guest until the guest detaches or dies. Then its last
 * records are read, the call in which it died stays in the file as an open call, and the slot and
 * its chunks are freed. */
#define _GNU_SOURCE
#include "collect/recorder/recorder_internal.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "formats/base/buf.h"
#include "formats/trace/recorder_threads.h"

#define DEAD_OPEN_MAX 8192
#define MISSING_FOR (GT_SECOND / 2) /* see has_ended() */
#define THREAD_TRACK_FOR GT_SECOND  /* see forget_thread_tracks() */
/* calls of one thread without a record; larger counts are damage */
#define TOTAL_MAX (1ull << 40)

/* ---- losses ---- */

static int64_t clamp_ns(struct gt_recorder *r, uint64_t ticks, int64_t low)
{
	int64_t ns = gt_clock_ns(&r->clock, ticks);

	return ns > r->now.monotonic ? r->now.monotonic : ns < low ? low : ns;
}

static int write_thread_losses(struct gt_recorder *r, struct gt_traced_thread *t,
	const struct gt_ring_thread *ring, struct gt_err *err)
{
	uint64_t dropped = __atomic_load_n(&ring->dropped, __ATOMIC_RELAXED),
		 more = dropped - t->dropped;
	const bool is_own = (uint32_t)(t - r->threads) >= r->rings->first_own;
	int64_t from, to;

	if (!more)
		return 0;
	if (more > GT_COUNT_MAX) {
		t->dropped = dropped;
		return t->broken ? 0 : gt_ring_reader_abandon(r, t, err);
	}
	from = clamp_ns(r, ring->dropped_from, t->losses_until);
	to = clamp_ns(r, ring->dropped_to, from);
	t->dropped = dropped;
	t->losses_until = to;
	*(is_own                      ? &r->totals.own_dropped
			: t->producer ? &r->totals.gpu_lost
				      : &r->totals.dropped) += more;
	r->active = true;
	return gt_writer_loss(r->w, t->producer ? GT_SCOPE_PROCESS : GT_SCOPE_TRACK, t->track, from,
		to, more, err);
}

static int write_process_losses(struct gt_recorder *r, struct gt_process *p,
	const struct gt_ring_proc *slot, struct gt_err *err)
{
	uint64_t untraced = __atomic_load_n(&slot->untraced, __ATOMIC_RELAXED),
		 more = untraced - p->untraced;
	int64_t from = p->losses_until;

	p->losses_until = r->now.monotonic;
	if (!more)
		return 0;
	p->untraced = untraced;
	r->totals.untraced += more > GT_COUNT_MAX ? 0 : more;
	r->totals.broken += more > GT_COUNT_MAX;
	r->active = true;
	return gt_writer_loss(r->w, GT_SCOPE_PROCESS, p->track, from, r->now.monotonic,
		more > GT_COUNT_MAX ? GT_LOST_UNKNOWN : more, err);
}

static int write_own_losses(struct gt_recorder *r, struct gt_err *err)
{
	struct gt_record_loss *own = &r->rings->own_loss;
	int code = 0;

	if (own->count) {
		r->totals.own_untraced += own->count;
		code = gt_writer_loss(
			r->w, GT_SCOPE_ALL, GT_NONE, own->from, own->to, own->count, err);
		own->count = 0;
	}

	for (unsigned i = 0; !code && i < r->rings->ncpus; i++) {
		struct gt_record_loss *l = &r->rings->cpu_losses[i];

		if (!l->count)
			continue;
		r->totals.cpu_lost += l->count;
		code = gt_writer_loss(r->w, GT_SCOPE_CPU, GT_NONE, l->from, l->to, l->count, err);
		l->count = 0;
	}
	return code;
}

/* A guest counts the calls that it does not record in the session, and in the slot of its process
 * if it has one. The counts written for processes are subtracted from the session's. The two are
 * not read at one time, so a few may be written in the next epoch. */
int gt_registry_write_losses(struct gt_recorder *r, struct gt_err *err)
{
	uint64_t all = __atomic_load_n(&r->rings->s->untraced, __ATOMIC_ACQUIRE);
	int64_t more;
	int code = write_own_losses(r, err);

	for (uint32_t k = 0; !code && k < r->nlive; k++)
		code = write_thread_losses(
			r, gt_live_thread(r, k), gt_ring_of(r, gt_live_thread(r, k)), err);
	for (uint32_t k = 0; !code && k < r->nlive_procs; k++) {
		struct gt_process *p = gt_live_process(r, k);

		code = write_process_losses(r, p, gt_slot_of(r, p), err);
	}
	more = (int64_t)(all - r->totals.untraced);
	if (code || more <= 0 || more > (int64_t)GT_COUNT_MAX)
		return code;
	r->totals.untraced += (uint64_t)more;
	return gt_writer_loss(r->w, GT_SCOPE_ALL, GT_NONE, r->epoch.monotonic, r->now.monotonic,
		(uint64_t)more, err);
}

/* ---- attach ---- */

/* Identifies a process by its connection, or, without one (a fork that uses its parent's mapping),
 * by /proc. */
static void identify(struct gt_recorder *r, struct gt_process *p, const struct gt_ring_proc *slot)
{
	if (r->server && gt_guest_server_take_guest(r->server, slot->pid, &p->guest))
		return;
	if (r->server && gt_guest_read(slot->pid, &p->guest) && p->guest.ns_pid == slot->pid)
		return;
	memset(&p->guest, 0, sizeof(p->guest));
	p->guest.ns_pid = slot->pid;
	snprintf(p->guest.comm, sizeof(p->guest.comm), "%.15s", slot->comm);
}

/* Does one slot belong to the guest of a process and the other to gtcollect, for the same program?
 */
static bool is_same_program(const struct gt_process *a, const struct gt_process *b)
{
	const struct gt_process *own = a->written ? a : b, *guest = a->written ? b : a;

	return !a->written != !b->written && !a->exited && !b->exited &&
		(own->written != GT_WRITTEN_EXECUTED || guest->start_ticks >= own->start_ticks);
}

static void attach_process(struct gt_recorder *r, uint32_t i)
{
	const struct gt_ring_proc copy = r->rings->procs[i],
				  *slot = &copy; /* a copy: each value is read once */
	struct gt_process *p = &r->procs[i];
	struct gt_track track = {
		.parent = GT_NONE, .source = r->source, .kind = GT_TRACK_PROCESS
	};

	memset(p, 0, sizeof(*p));
	p->used = true;
	p->track = GT_NONE;
	p->written = r->rings->ebpf ? GT_WRITTEN : r->rings->written[i];
	p->generation = slot->generation;
	p->start_ticks = slot->start_ticks;
	identify(r, p, slot);
	r->rings->procs[i].host_pid = p->guest.host_pid;
	for (uint32_t k = 0; k < r->nlive_procs; k++) {
		struct gt_process *other = gt_live_process(r, k);

		if (p->guest.host_pid && other->guest.host_pid == p->guest.host_pid &&
			is_same_program(p, other))
			p->track = other->track;
		/* it has called exec, or another process got its pid */
		else if (p->guest.host_pid && other->guest.host_pid == p->guest.host_pid)
			*(other->start_ticks <= p->start_ticks ? &other->exited : &p->exited) =
				true;
		else if (slot->ppid && other->guest.ns_pid == slot->ppid && !other->exited)
			gt_reported_names_copy(&p->known, &other->known);
	}
	track.id = p->guest.host_pid ? p->guest.host_pid : slot->pid;
	track.ns_id = slot->pid;
	track.start = p->guest.start;
	track.name = gt_writer_string(r->w, p->guest.comm[0] ? p->guest.comm : "?");
	r->totals.processes += p->track == GT_NONE;
	if (p->track == GT_NONE)
		p->track = gt_writer_track(r->w, &track);
	p->losses_until = r->now.monotonic;
	r->live_procs[r->nlive_procs++] = i;
	gt_mark_used(r, GT_BITS_USED_PROCS, i, true);
	r->totals.libcuda |= p->guest.libcuda;
	r->totals.simulated |= p->guest.simulated;
	r->active = true;
}

/* Is the process in our pid namespace? */
static bool shares_pid_namespace(const struct gt_process *p)
{
	return p->guest.host_pid && p->guest.host_pid == p->guest.ns_pid;
}

/* The track of a thread that another slot has already, or NULL. */
static struct gt_thread_track *find_thread_track(
	struct gt_recorder *r, const struct gt_thread_track *key)
{
	uint32_t i = gt_map_find_item(&r->thread_tracks_map, r->thread_tracks, sizeof(*key), key,
		offsetof(struct gt_thread_track, track));

	return i == UINT32_MAX ? NULL : &r->thread_tracks[i];
}

/* The track of a new slot of a thread. */
static uint32_t thread_track(struct gt_recorder *r, const struct gt_track *track)
{
	struct gt_thread_track new = {
		.process = track->parent, .tid = (int32_t)track->id, .slots = 1
	};
	struct gt_thread_track *known = r->rings->with_writer ? find_thread_track(r, &new) : NULL;

	if (known) {
		known->slots++;
		return known->track;
	}
	r->totals.threads++;
	new.track = gt_writer_track(r->w, track);
	if (r->rings->with_writer && new.track != GT_NONE)
		gt_map_add_item(&r->thread_tracks_map, &r->thread_tracks, &r->nthread_tracks,
			&r->thread_tracks_cap, sizeof(new), &new,
			offsetof(struct gt_thread_track, track));
	return new.track;
}

/* A slot of the thread has been freed. */
static void leave_thread_track(struct gt_recorder *r, const struct gt_traced_thread *t)
{
	const struct gt_thread_track key = { .process = r->procs[t->proc].track, .tid = t->tid };
	struct gt_thread_track *known = r->rings->with_writer ? find_thread_track(r, &key) : NULL;

	if (!known || known->track != t->track)
		return;
	known->slots--;
	known->ended_at = r->now.monotonic;
}

/* Later, another thread may have the id. Until then, gtcollect may write the last records. */
static void forget_thread_tracks(struct gt_recorder *r)
{
	for (size_t i = r->nthread_tracks; i-- > 0;)
		if (!r->thread_tracks[i].slots &&
			r->now.monotonic - r->thread_tracks[i].ended_at >= THREAD_TRACK_FOR)
			gt_map_remove_item(&r->thread_tracks_map, r->thread_tracks,
				&r->nthread_tracks, sizeof(*r->thread_tracks), (uint32_t)i,
				offsetof(struct gt_thread_track, track));
}

uint32_t gt_program_thread_name(struct gt_writer *w, uint32_t name)
{
	const char *text = gt_writer_string_text(w, name);
	char longer[32];

	if (!gt_is_recorder_thread_name(text))
		return name;
	snprintf(longer, sizeof(longer), "%s" GT_PROGRAM_THREAD_SUFFIX, text);
	return gt_writer_string(w, longer);
}

/* False: its process is not attached yet. */
static bool attach_thread(struct gt_recorder *r, uint32_t i)
{
	const struct gt_ring_thread *ring = &r->rings->threads[i];
	uint32_t proc = __atomic_load_n(&ring->proc, __ATOMIC_RELAXED);
	int32_t tid = __atomic_load_n(&ring->tid, __ATOMIC_RELAXED);
	struct gt_traced_thread *t = &r->threads[i];
	struct gt_track track = { .source = r->source,
		.kind = GT_TRACK_THREAD,
		.id = tid,
		.ns_id = tid,
		.name = GT_NONE };
	char name[sizeof(ring->name) + 1] = "";

	if (proc >= r->nprocs || !r->procs[proc].used)
		return false;
	memset(t, 0, sizeof(*t));
	t->used = true;
	t->generation = ring->generation;
	t->proc = proc;
	t->tid = tid;
	t->c.chunk = GT_RING_NIL;
	t->last = t->floor[0] = INT64_MIN;
	t->losses_until = r->now.monotonic - GT_SECOND;
	for (unsigned d = 0; d < GT_DEPTHS; d++)
		t->first_child_start[d] = INT64_MAX;
	memcpy(name, ring->name, sizeof(ring->name));
	memcpy(t->name, name, sizeof(t->name));
	track.parent = r->procs[t->proc].track;
	t->producer = __atomic_load_n(&ring->role, __ATOMIC_RELAXED) == GT_RING_PRODUCER;
	r->live[r->nlive++] = i;
	gt_mark_used(r, GT_BITS_USED_THREADS, i, true);
	if (t->producer) {
		t->track = track.parent;
		return true;
	}
	if (name[0])
		track.name = gt_program_thread_name(r->w, gt_writer_string(r->w, name));
	t->track = thread_track(r, &track);
	/* the dictionary is full, so its calls cannot be written */
	t->broken = t->track == GT_NONE;
	r->totals.nameless += t->broken;
	if (shares_pid_namespace(&r->procs[proc]))
		t->host_tid = tid;
	else
		r->procs[proc].has_new_threads = true;
	return true;
}

/* A slot that is not live belongs to the guest and is not read. */
static bool is_live(const uint32_t *shared)
{
	uint32_t state = __atomic_load_n(shared, __ATOMIC_ACQUIRE);

	return state == GT_SLOT_LIVE || state == GT_SLOT_DONE;
}

/* Both return false if the slot must be checked again. */
static bool check_process_slot(struct gt_recorder *r, uint32_t i)
{
	const struct gt_ring_proc *slot = &r->rings->procs[i];

	if (!is_live(&slot->state) || r->procs[i].used)
		return true;
	/* gtcollect's own slot of the same program comes first */
	if (r->rings->with_writer && !r->rings->written[i] &&
		(int64_t)slot->start_ticks > r->rings->written_until)
		return false;
	attach_process(r, i);
	return true;
}

static bool check_thread_slot(struct gt_recorder *r, uint32_t i)
{
	return !is_live(&r->rings->threads[i].state) || r->threads[i].used || attach_thread(r, i);
}

typedef bool check_slot_fn(struct gt_recorder *r, uint32_t i);

/* Checks those of the n slots whose bit is set, and clears the bit. */
static void check_new_slots(struct gt_recorder *r, uint64_t *bits, uint32_t n, check_slot_fn *check)
{
	for (uint32_t from = 0; from < n; from += 64, bits++) {
		uint64_t left = 0;

		if (!__atomic_load_n(bits, __ATOMIC_RELAXED))
			continue;
		for (uint64_t b = __atomic_exchange_n(bits, 0, __ATOMIC_ACQ_REL); b; b &= b - 1) {
			uint32_t i = from + (uint32_t)__builtin_ctzll(b);

			if (i < n && !check(r, i))
				left |= b & -b;
		}
		if (left)
			__atomic_fetch_or(bits, left, __ATOMIC_RELAXED);
	}
}

void gt_registry_attach(struct gt_recorder *r)
{
	check_new_slots(r, r->rings->bits[GT_BITS_NEW_PROCS], r->nprocs, check_process_slot);
	check_new_slots(r, r->rings->bits[GT_BITS_NEW_THREADS], r->nthreads, check_thread_slot);
}

/* A process that died or was stopped after it had taken a slot may not have set the slot's bit. */
void gt_registry_scan(struct gt_recorder *r)
{
	r->scanned_at = r->now.monotonic;
	for (uint32_t i = 0; i < r->nprocs; i++)
		check_process_slot(r, i);
	for (uint32_t i = 0; i < r->nthreads; i++)
		check_thread_slot(r, i);
}

/* ---- detach ---- */

static bool thread_has_exited(const struct gt_process *p, int32_t tid)
{
	if (!shares_pid_namespace(p))
		return false;
	return syscall(SYS_tgkill, p->guest.host_pid, tid, 0) && errno == ESRCH;
}

/* ---- names of threads ---- */

#define NAMES_AT_ONCE 64 /* names that one liveness check reads at most */

struct new_threads {
	struct gt_recorder *r;
	const struct gt_process *p;
};

static void note_host_tid(void *arg, int32_t host_tid, int32_t ns_tid)
{
	struct new_threads *n = arg;

	for (uint32_t k = 0; k < n->r->nlive; k++) {
		struct gt_traced_thread *t = gt_live_thread(n->r, k);

		if (t->tid == ns_tid && &n->r->procs[t->proc] == n->p)
			t->host_tid = host_tid;
	}
}

/* Threads of a process in another pid namespace have other ids in /proc. To find them, all threads
 * of the process are read. */
static void find_host_tids(struct gt_recorder *r)
{
	for (uint32_t k = 0; k < r->nlive_procs; k++) {
		struct gt_process *p = gt_live_process(r, k);

		if (!p->has_new_threads || !p->guest.host_pid ||
			r->now.monotonic - p->threads_read_at < GT_SECOND)
			continue;
		p->has_new_threads = false;
		p->threads_read_at = r->now.monotonic;
		gt_guest_each_thread(&p->guest, note_host_tid, &(struct new_threads){ r, p });
	}
}

static bool needs_name(const struct gt_recorder *r, const struct gt_traced_thread *t, uint64_t word)
{
	return t->host_tid && !t->is_recorders && !t->producer && !t->broken && !t->dead &&
		(word != t->name_word || r->now.monotonic - t->name_at >= GT_SECOND);
}

static int read_name(
	struct gt_recorder *r, struct gt_traced_thread *t, uint64_t word, struct gt_err *err)
{
	char name[16];

	t->name_word = word;
	t->name_at = r->now.monotonic;
	if (!gt_guest_thread_name(&r->procs[t->proc].guest, t->host_tid, name) || !name[0] ||
		!strcmp(name, t->name) || !gt_writer_has_name_space(r->w))
		return 0;
	memcpy(t->name, name, sizeof(name));
	return gt_writer_track_name(
		r->w, t->track, gt_program_thread_name(r->w, gt_writer_string(r->w, name)), err);
}

/* A thread may rename itself at any time. The guest does not read the name, because that takes a
 * system call. The recorder reads the names of threads that have made calls at each liveness
 * check, those of others once a second, and at most NAMES_AT_ONCE each time. */
static int read_names(struct gt_recorder *r, struct gt_err *err)
{
	uint32_t reads = 0, n = r->nlive;
	int code = 0;

	find_host_tids(r);
	while (!code && n-- > 0 && reads < NAMES_AT_ONCE) {
		struct gt_traced_thread *t = gt_live_thread(r, r->next_name++ % r->nlive);
		uint64_t word = __atomic_load_n(&gt_ring_of(r, t)->word, __ATOMIC_RELAXED);

		if (!needs_name(r, t, word))
			continue;
		reads++;
		code = read_name(r, t, word, err);
	}
	return code;
}

/* The thread's own slot; NULL: gtcollect has no rows of it. */
static struct gt_traced_thread *find_written_thread(
	struct gt_recorder *r, const struct gt_process *p, int32_t tid)
{
	for (uint32_t k = 0; k < r->nlive; k++) {
		struct gt_traced_thread *t = gt_live_thread(r, k);

		if (t->tid == tid && r->procs[t->proc].written &&
			r->procs[t->proc].track == p->track)
			return t;
	}
	return NULL;
}

static int name_started_thread(
	struct gt_recorder *r, struct gt_process *p, unsigned i, struct gt_err *err)
{
	uint64_t started = __atomic_load_n(&gt_slot_of(r, p)->started[i], __ATOMIC_ACQUIRE);
	struct gt_traced_thread *t = started && !(p->named_threads >> i & 1)
		? find_written_thread(r, p, (int32_t)started)
		: NULL;

	if (!t || t->broken || !gt_writer_has_name_space(r->w))
		return 0;
	p->named_threads |= (uint8_t)(1u << i);
	t->is_recorders = true;
	r->totals.threads--;
	return gt_writer_track_name(r->w, t->track,
		gt_writer_string(r->w,
			started >> 32 == GT_STARTED_BY_GUEST ? GT_OWN_THREAD_NAME
							     : GT_CUPTI_THREAD_NAME),
		err);
}

/* Threads that guests and CUPTI have started have a track if gtcollect writes rows of them. Ids of
 * other pid namespaces are not those of the tracks. */
static int name_started_threads(struct gt_recorder *r, struct gt_err *err)
{
	int code = 0;

	for (uint32_t k = 0; !code && r->rings->with_writer && k < r->nlive_procs; k++) {
		struct gt_process *p = gt_live_process(r, k);
		uint32_t n = __atomic_load_n(&gt_slot_of(r, p)->nstarted, __ATOMIC_RELAXED);

		if (p->written || !shares_pid_namespace(p))
			continue;
		for (uint32_t i = 0; !code && i < n && i < GT_RING_STARTED_THREADS; i++)
			code = name_started_thread(r, p, i, err);
	}
	return code;
}

/* Writes the recorder's words of the ring again: if the program has overwritten them, a thread
 * under --lossless would wait for ever. */
static void repeat_progress(struct gt_recorder *r, const struct gt_traced_thread *t)
{
	struct gt_ring_thread *ring = gt_ring_of(r, t);

	if (t->broken)
		__atomic_store_n(&ring->given_up, 1, __ATOMIC_RELEASE);
	else if (__atomic_load_n(&ring->consumed, __ATOMIC_RELAXED) != t->c.at)
		__atomic_store_n(&ring->consumed, t->c.at, __ATOMIC_RELEASE);
}

/* gtcollect writes the records of processes with probes some time after they were made, also after
 * the end of their thread. Its slot is freed when they are written. */
static bool has_ended(struct gt_recorder *r, bool written, bool is_missing, int64_t *since)
{
	if (!is_missing || !written)
		return is_missing;
	*since = *since ? *since : r->now.monotonic;
	return r->rings->written_until - *since >= MISSING_FOR;
}

/* A process that exited may have taken thread slots since the last pass. They are attached here,
 * before its slot is freed: later they would belong to no process, and their calls would be lost.
 */
int gt_registry_check_alive(struct gt_recorder *r, struct gt_err *err)
{
	bool exited = false;

	r->checked_alive_at = r->now.monotonic;
	for (uint32_t k = 0; k < r->nlive_procs; k++) {
		struct gt_process *p = gt_live_process(r, k);

		if (!p->exited && p->guest.host_pid)
			exited |= p->exited = has_ended(
				r, p->written, gt_guest_has_exited(&p->guest), &p->missing_since);
	}
	if (exited)
		gt_registry_attach(r);
	for (uint32_t k = 0; k < r->nlive; k++) {
		struct gt_traced_thread *t = gt_live_thread(r, k);

		t->dead = t->dead || r->procs[t->proc].exited ||
			has_ended(r, r->procs[t->proc].written,
				thread_has_exited(&r->procs[t->proc], t->tid), &t->missing_since);
		repeat_progress(r, t);
	}
	forget_thread_tracks(r);
	return read_names(r, err);
}

static void free_if_owned(struct gt_recorder *r, uint32_t slot, uint32_t chunk)
{
	if (chunk < r->rings->nchunks && gt_rings_chunk(r->rings, chunk)->owner == slot)
		gt_rings_free_chunk(r->rings, chunk);
}

/* A thread may die before its chain leads to the chunk that it took last. If the chain is damaged,
 * all chunks are checked. */
static void free_chunks(struct gt_recorder *r, uint32_t slot, const struct gt_traced_thread *t)
{
	uint32_t n = r->rings->nchunks, i = t->c.chunk;
	bool whole;

	if (i == GT_RING_NIL)
		i = r->rings->threads[slot].first;
	for (uint32_t steps = 0; i < n && steps < n; steps++) {
		uint32_t next = gt_rings_chunk(r->rings, i)->next;

		if (gt_rings_chunk(r->rings, i)->owner != slot)
			break;
		gt_rings_free_chunk(r->rings, i);
		i = next;
	}
	free_if_owned(r, slot, r->rings->threads[slot].taken);
	whole = i == GT_RING_NIL && !t->broken;
	for (i = 0; !whole && i < n; i++)
		free_if_owned(r, slot, i);
	r->chunks_freed++;
}

static int save_open_call(struct gt_recorder *r, uint32_t track, const struct gt_row *row,
	const uint64_t *args, struct gt_err *err)
{
	struct gt_dead_open_call *g;

	if (r->ndead_open == DEAD_OPEN_MAX ||
		gt_grow(&r->dead_open, &r->dead_open_cap, r->ndead_open + 1, sizeof(*r->dead_open)))
		return gt_writer_loss(r->w, GT_SCOPE_TRACK, track, row->start, row->start, 1, err);
	g = &r->dead_open[r->ndead_open++];
	g->track = track;
	g->row = *row;
	memcpy(g->args, args, row->nargs * sizeof(*args));
	r->active = true;
	return 0;
}

static uint64_t plausible_count(const uint64_t *shared)
{
	uint64_t n = __atomic_load_n(shared, __ATOMIC_RELAXED);

	return n > TOTAL_MAX ? 0 : n;
}

static int reap_thread(struct gt_recorder *r, uint32_t i, struct gt_err *err)
{
	struct gt_traced_thread *t = &r->threads[i];
	struct gt_ring_thread *ring = &r->rings->threads[i];
	int code = write_thread_losses(r, t, ring, err);

	gt_ring_reader_look(r, t, ring, true);
	if (!code && t->dead)
		code = gt_ring_reader_each_open(r, t, save_open_call, err);
	if (!code)
		code = gt_dispatch_end_thread(r, t, err);
	r->totals.deep += plausible_count(&ring->deep);
	r->totals.abandoned += plausible_count(&ring->abandoned);
	r->totals.in_handler += plausible_count(&ring->in_handler);
	r->totals.sampled_out += plausible_count(&ring->sampled_out);
	free_chunks(r, i, t);
	leave_thread_track(r, t);
	gt_thread_stacks_release(&t->stacks);
	ring->first = GT_RING_NIL;
	t->used = false;
	r->rings->slots_freed++;
	__atomic_store_n(&ring->state, GT_SLOT_FREE, __ATOMIC_RELEASE);
	gt_mark_used(r, GT_BITS_USED_THREADS, i, false);
	return code;
}

static int reap_process(struct gt_recorder *r, struct gt_process *p, struct gt_err *err)
{
	int code = write_process_losses(r, p, gt_slot_of(r, p), err);

	if (!code)
		code = gt_dispatch_end_process(r, p, err);
	gt_dispatch_release(r, p);
	gt_reported_names_release(&p->known);
	gt_loaded_objects_release(&p->objects);
	gt_forward_stacks_release(&p->forward);
	p->used = false;
	if (r->rings->written)
		r->rings->written[p - r->procs] = GT_WRITTEN_NOT;
	__atomic_store_n(&gt_slot_of(r, p)->state, GT_SLOT_FREE, __ATOMIC_RELEASE);
	gt_mark_used(r, GT_BITS_USED_PROCS, (uint32_t)(p - r->procs), false);
	return code;
}

/* The thread writes no more, and all its records are read. */
static bool is_drained(struct gt_recorder *r, const struct gt_traced_thread *t)
{
	const struct gt_ring_thread *ring = gt_ring_of(r, t);

	if (!t->dead && __atomic_load_n(&ring->state, __ATOMIC_ACQUIRE) != GT_SLOT_DONE)
		return false;
	return t->broken || t->c.at == __atomic_load_n(&ring->word, __ATOMIC_ACQUIRE) >> 8;
}

int gt_registry_reap(struct gt_recorder *r, struct gt_err *err)
{
	uint32_t n = r->nlive, nprocs = r->nlive_procs;
	int code = name_started_threads(r, err);

	r->nlive = r->nlive_procs = 0;
	for (uint32_t k = 0; k < n; k++) {
		uint32_t i = r->live[k];
		struct gt_traced_thread *t = &r->threads[i];

		if (!code && is_drained(r, t))
			code = reap_thread(r, i, err);
		r->procs[t->proc].has_threads |= t->used;
		r->live[r->nlive] = i;
		r->nlive += t->used;
	}
	for (uint32_t k = 0; k < nprocs; k++) {
		uint32_t i = r->live_procs[k];
		struct gt_process *p = &r->procs[i];

		if (!code && p->exited && !p->has_threads)
			code = reap_process(r, p, err);
		p->has_threads = false;
		r->live_procs[r->nlive_procs] = i;
		r->nlive_procs += p->used;
	}
	return code;
}
