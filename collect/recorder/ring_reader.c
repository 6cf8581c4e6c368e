/* Reads one ring and writes its records as rows. The traced process may damage the ring at any
 * moment, also while it is read. So each value is read once, into memory of the recorder, and
 * checked there: indices, sizes, positions and times. A ring with an impossible value is given up.
 */
#define _GNU_SOURCE
#include "collect/recorder/recorder_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "formats/base/buf.h"
#include "formats/trace/block.h"

#define READS_MAX 1000 /* tries to read the stack of a thread that changes it */
#define UNKNOWN_MAX 512
/* Beside GT_DAMAGED. STALL: the kernel's name, or the forward pass, is not known yet. LATER: the
 * record is for a later pass. */
enum { STALL = 1, LATER = 3 };
#define FUTURE_MAX (10 * GT_SECOND) /* ns: times further in the future are damage */
#define CLOCK_ERROR 1000            /* ns: larger than the clock's error between two calls */
#define CPU_SKEW_MAX 1000000        /* ns: larger than the difference of two CPUs' counters */

/* ---- walking a ring ---- */

struct record {
	uint64_t start, end, size;
	uint16_t id;
	uint8_t kind, depth, nargs;
	int32_t ret;
	const uint64_t *words;
	uint64_t stack; /* of a call: its number in the thread; 0: none */
};

/* Atomic, so that the compiler does not read the word twice: the program may overwrite it. */
static inline uint64_t read_word(const void *p)
{
	return __atomic_load_n((const uint64_t *)p, __ATOMIC_RELAXED);
}

/* Reads the record at p, of at most `left` bytes. False: it is damaged. */
static inline bool read_record(const uint8_t *p, uint64_t left, struct record *rec)
{
	uint64_t head = read_word(p + 16);

	*rec = (struct record){ .start = read_word(p),
		.end = read_word(p + 8),
		.id = (uint16_t)head,
		.nargs = (uint8_t)(head >> 16),
		.depth = head >> 24 & 31,
		.kind = head >> 29 & 7,
		.ret = (int32_t)(head >> 32),
		.words = (const uint64_t *)(p + sizeof(struct gt_rec)) };
	if (rec->kind == GT_REC_CALL) {
		bool stacked = rec->nargs & GT_REC_STACKED;

		rec->nargs &= (uint8_t)~GT_REC_STACKED;
		rec->size = sizeof(struct gt_rec) + rec->nargs * 8u;
		if (stacked && rec->nargs && rec->size <= left)
			rec->stack = read_word(&rec->words[--rec->nargs]);
		return rec->size <= left && rec->depth <= GT_RING_OPEN_MAX &&
			rec->nargs <= GT_FIELDS_MAX &&
			(rec->id < gt_api_count || (rec->id >= GT_ID_IOCTL && rec->id < GT_IDS));
	}
	if (rec->kind == GT_REC_EVENT) {
		rec->size = sizeof(struct gt_rec) + rec->nargs * 8u;
		return rec->size <= left && rec->id < GT_EVENTS;
	}
	if (rec->end > left)
		return false;
	rec->size = sizeof(struct gt_rec) + ((rec->end + 7) & ~7ULL);
	return rec->size <= left && rec->kind < GT_REC_KINDS;
}

/* Is this chunk number `number` in the chain of this slot? No other chunk is read or freed. */
static bool is_in_chain(struct gt_recorder *r, uint32_t chunk, uint32_t slot, uint64_t number)
{
	const struct gt_ring_chunk *c;

	if (chunk >= r->rings->nchunks)
		return false;
	c = gt_rings_chunk(r->rings, chunk);
	return __atomic_load_n(&c->owner, __ATOMIC_RELAXED) == slot &&
		__atomic_load_n(&c->number, __ATOMIC_RELAXED) == number;
}

/* Moves the cursor to the next chunk of the chain; with `owner` the old chunk is freed. */
static bool next_chunk(
	struct gt_recorder *r, struct gt_cursor *c, uint32_t slot, struct gt_ring_thread *owner)
{
	uint32_t old = c->chunk,
		 next = __atomic_load_n(&gt_rings_chunk(r->rings, old)->next, __ATOMIC_ACQUIRE);
	uint64_t number = c->base / r->payload;

	if (!is_in_chain(r, old, slot, number) || !is_in_chain(r, next, slot, number + 1))
		return false;
	c->chunk = next;
	c->base += r->payload;
	c->at = c->base;
	if (owner) {
		__atomic_store_n(&owner->consumed, c->at, __ATOMIC_RELEASE);
		gt_rings_free_chunk(r->rings, old);
		r->chunks_freed++;
	}
	return true;
}

/* Reads the record at the cursor. 1; 0: there is none below the limit; -1: the ring is damaged.
 * The caller moves the cursor behind the record. */
static inline int find_record(struct gt_recorder *r, const struct gt_traced_thread *t,
	struct gt_cursor *c, uint64_t limit, struct gt_ring_thread *owner, struct record *rec)
{
	while (c->at < limit) {
		uint64_t left = r->payload - (c->at - c->base);
		const uint8_t *p = gt_rings_chunk(r->rings, c->chunk)->payload + (c->at - c->base);

		if (left >= sizeof(struct gt_rec) && read_word(p))
			return read_record(p, left < limit - c->at ? left : limit - c->at, rec)
				? 1
				: -1;
		if (c->base + r->payload >= limit) {
			c->at = limit;
			return c->base + r->payload > limit ? -1 : 0;
		}
		if (!next_chunk(r, c, (uint32_t)(t - r->threads), owner))
			return -1;
	}
	return 0;
}

/* Reads the thread's position and, when an epoch is closed, also its stack of open calls; both are
 * from the same moment. */
void gt_ring_reader_look(struct gt_recorder *r, struct gt_traced_thread *t,
	const struct gt_ring_thread *ring, bool closing)
{
	uint64_t word = __atomic_load_n(&ring->word, __ATOMIC_ACQUIRE), again;

	for (int i = 0; closing && i < READS_MAX; i++, word = again) {
		t->nopen = (word & 255) < GT_RING_OPEN_MAX ? (uint8_t)word : GT_RING_OPEN_MAX;
		memcpy(t->open, ring->open, t->nopen * sizeof(*t->open));
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		again = __atomic_load_n(&ring->word, __ATOMIC_ACQUIRE);
		if (again == word)
			break;
	}
	r->active |= word != t->word;
	t->word = word;
	t->limit = word >> 8;
	if (t->c.chunk == GT_RING_NIL && t->limit > t->c.at) {
		t->c.chunk = __atomic_load_n(&ring->first, __ATOMIC_ACQUIRE);
		t->c.at = t->c.base;
		t->broken |= !is_in_chain(
			r, t->c.chunk, (uint32_t)(t - r->threads), t->c.base / r->payload);
	}
	if (t->limit < t->c.at || t->limit % 8 ||
		t->limit - t->c.at > (uint64_t)r->rings->nchunks * r->payload)
		t->broken = true;
}

/* ---- rows ---- */

/* A time after the start of this pass is compared with the current clock, because the recorder may
 * have been suspended meanwhile. */
bool gt_ring_reader_is_possible(struct gt_recorder *r, uint64_t ticks)
{
	int64_t ns = gt_clock_ns(&r->clock, ticks);

	return ns >= r->earliest &&
		(ns <= r->now.monotonic || ns < gt_clock_monotonic() + FUTURE_MAX);
}

/* Clamps start and end by the clock error of a few ns so that rows nest. Records are in the order
 * of their ends. floor[d] is the latest end at depth d or above: no row at depth d begins before
 * it. first_child_start[d] is the start of the first call at depth d since a call above it ended:
 * its parent, whose record follows, begins no later. A parent that was left by longjmp or dropped
 * has no record. So a call that begins well after that child, or after the end of all rows so far,
 * is not its parent. */
static inline void clamp_nesting(
	struct gt_traced_thread *t, unsigned depth, int64_t *start, int64_t *end)
{
	int64_t low = t->floor[depth < t->deepest ? depth : t->deepest];

	if (*start > t->first_child_start[depth + 1] && *start < t->last &&
		*start - t->first_child_start[depth + 1] <= CLOCK_ERROR)
		*start = t->first_child_start[depth + 1];
	t->first_child_start[depth + 1] = INT64_MAX;
	if (*start < low)
		*start = low;
	if (*end < t->last)
		*end = t->last;
	if (*end < *start)
		*end = *start;
	for (unsigned d = t->deepest + 1; d < depth; d++)
		t->floor[d] = t->floor[t->deepest];
	t->floor[depth] = t->last = *end;
	t->deepest = depth;
	if (depth && *start < t->first_child_start[depth])
		t->first_child_start[depth] = *start;
}

static struct gt_reported_names *names_of(struct gt_recorder *r, const struct gt_traced_thread *t)
{
	return &r->procs[t->proc].known;
}

/* Looks up a name by its key. While threads may stall, an unknown name may be in another ring:
 * STALL. Otherwise the key gets no name for good, so that the next call does not stall again. */
static int resolve(struct gt_recorder *r, const struct gt_traced_thread *t,
	enum gt_reported_kind kind, uint64_t key, uint64_t *string)
{
	struct gt_reported_names *k = names_of(r, t);

	*string = key ? gt_reported_names_get(k, kind, key) : GT_NONE;
	if (!key || *string != GT_NONE)
		return 0;
	if (r->may_stall && !gt_reported_names_has(k, kind, key))
		return STALL;
	gt_reported_names_add(k, kind, key, GT_NONE, false);
	return 0;
}

/* Converts the words of a record to a row's arguments; missing words are 0. 0 or STALL. */
static int translate(struct gt_recorder *r, const struct gt_traced_thread *t,
	const struct gt_call_type *c, const uint64_t *words, unsigned n, uint64_t *args)
{
	for (unsigned i = 0; i < c->nwords; i++) {
		args[i] = i < n ? words[i] : 0;
		if (c->strings >> i & 1 && resolve(r, t, GT_REPORTED_STRING, args[i], &args[i]))
			return STALL;
	}
	return c->func == GT_NO_WORD
		? 0
		: resolve(r, t, GT_REPORTED_FUNC, args[c->func], &args[c->nwords]);
}

static int64_t ns_of_start(
	struct gt_recorder *r, const struct gt_traced_thread *t, unsigned depth, uint64_t ticks)
{
	if (ticks <= r->epoch.ticks && t->reported_starts[depth].ticks == ticks)
		return t->reported_starts[depth].ns;
	return gt_clock_ns(&r->clock, ticks);
}

/* CUresult of a capture that ended without a graph */
enum { CAPTURE_INVALIDATED = 901, CAPTURE_UNJOINED = 904 };

/* Did the call do its work? A wait may return the error of earlier GPU work. */
static inline bool did_its_work(const struct gt_call_type *c, int32_t ret)
{
	return !ret || (c->kind == GT_GPU_CALL_WAITS && ret >= 700 && ret < 900) ||
		(c->kind == GT_GPU_CALL_ENDS_CAPTURE &&
			(ret == CAPTURE_INVALIDATED || ret == CAPTURE_UNJOINED));
}

/* Is it a call within the backward pass from a thread without Python? The forward pass may be in
 * another ring, which must be read before. */
static bool needs_forward(
	const struct gt_recorder *r, const struct gt_traced_thread *t, uint64_t number)
{
	return t->ranges.numbered && r->procs[t->proc].objects.has_python &&
		!gt_call_stack_has_python(&t->stacks, number);
}

/* The file's stack of a call (forward_stacks.h), or GT_NONE. */
static uint32_t stack_of_call(
	struct gt_recorder *r, const struct gt_traced_thread *t, uint64_t number, int64_t at)
{
	uint32_t stack = gt_call_stack(&t->stacks, number);
	struct gt_process *p = &r->procs[t->proc];
	const struct gt_forward_call call = { &t->ranges, at, t->track, stack };

	if (stack == GT_NONE || !p->objects.has_python)
		return stack;
	if (!gt_call_stack_has_python(&t->stacks, number)) {
		uint32_t *marked = &t->stacks.stacks[number - 1].marked;

		if (!t->ranges.numbered && *marked)
			return *marked - 1;
		stack = gt_forward_stacks_get(&p->forward, r->w, &call);
		*marked = t->ranges.numbered ? *marked : stack + 1;
		return stack;
	}
	gt_forward_stacks_add(&p->forward, &call);
	return stack;
}

/* Adds the stack to the row's arguments, which are in `own` afterwards, if it is known. */
static const uint64_t *add_stack(struct gt_recorder *r, const struct gt_traced_thread *t,
	uint16_t id, uint64_t number, struct gt_row *row, const uint64_t *args, uint64_t *own)
{
	uint32_t stack = stack_of_call(r, t, number, row->start),
		 type = stack == GT_NONE ? GT_NONE
					 : gt_types_stacked(&r->types, &r->types.calls[id]);

	if (type == GT_NONE)
		return args;
	if (args != own)
		memcpy(own, args, row->nargs * sizeof(*own));
	own[row->nargs++] = stack;
	row->type = type;
	return own;
}

/* Writes a finished call as a row. 0, STALL, GT_DAMAGED, or negative from the writer. */
static inline int put_call(struct gt_recorder *r, struct gt_traced_thread *t,
	const struct record *rec, struct gt_err *err)
{
	struct gt_row row = { .ret = rec->ret, .depth = rec->depth };
	uint64_t own[GT_FIELDS_MAX + 1];
	const uint64_t *args = rec->words;
	int code;

	row.start = ns_of_start(r, t, rec->depth, rec->start);
	row.end = gt_clock_ns(&r->clock, rec->end);
	if (row.start < r->earliest || row.end < r->earliest || row.start - row.end > CPU_SKEW_MAX)
		return GT_DAMAGED;
	if (rec->stack && r->may_stall && needs_forward(r, t, rec->stack))
		return STALL;
	if (rec->id < gt_api_count) {
		const struct gt_call_type *c = gt_types_call(&r->types, rec->id);

		if (!c->plain || rec->nargs != c->nwords) {
			if (translate(r, t, c, rec->words, rec->nargs, own))
				return STALL;
			args = own;
		}
		row.type = c->type;
		row.nargs = c->nfields;
		if (rec->stack)
			args = add_stack(r, t, rec->id, rec->stack, &row, args, own);
		if (__builtin_expect(rec->id == r->version_id && c->nwords && !rec->ret, 0))
			r->totals.driver_version = (int32_t)args[0];
	} else {
		if (row.ret == -ENOTTY && r->procs[t->proc].guest.simulated)
			/* the kernel refuses ioctls on the simulator's files; the driver's status
			 * counts */
			row.ret = 0;
		row.type = gt_types_file(
			&r->types, rec->id, rec->words, rec->nargs, own, &row.nargs, &row.ret);
		args = own;
	}
	if (t->reported_starts[rec->depth].ticks == rec->start && row.end < r->epoch.monotonic)
		/* the last epoch has it as open, because its record was committed after the epoch
		 */
		row.end = r->epoch.monotonic;
	clamp_nesting(t, rec->depth, &row.start, &row.end);
	if (rec->id < gt_api_count && r->types.calls[rec->id].makes_gpu_work &&
		did_its_work(&r->types.calls[rec->id], row.ret) &&
		(code = gt_dispatch_gpu_call(r, t, rec->id, rec->start, &row, args, err)))
		return code;
	if (__builtin_expect(t->node_call == rec->start && rec->id < gt_api_count && !row.ret, 0) &&
		(code = gt_dispatch_node_created(
			 r, t, r->types.calls[rec->id].name, &row, args, err)))
		return code;
	if (rec->id < gt_api_count && r->types.calls[rec->id].memory && !row.ret &&
		(code = gt_memory_calls_add(r, t, rec->id, &row, args, err)))
		return code;
	if (__builtin_expect(row.type == GT_NONE, 0)) {
		r->totals.nameless++;
		return gt_writer_loss(r->w, GT_SCOPE_TRACK, t->track, row.start, row.end, 1, err);
	}
	return gt_writer_row(r->w, GT_CALL, t->track, &row, args, err);
}

static void count_unknown_function(struct gt_recorder *r, const char *name, size_t len)
{
	len = strnlen(name, len < 200 ? len : 200);
	for (size_t i = 0; i < r->nunknown_functions; i++)
		if (!strncmp(r->unknown_functions[i].name, name, len) &&
			!r->unknown_functions[i].name[len]) {
			r->unknown_functions[i].count++;
			return;
		}
	if (r->nunknown_functions == UNKNOWN_MAX ||
		gt_grow(&r->unknown_functions, &r->unknown_functions_cap, r->nunknown_functions + 1,
			sizeof(*r->unknown_functions)))
		return;
	r->unknown_functions[r->nunknown_functions].name = strndup(name, len);
	r->unknown_functions[r->nunknown_functions].count = 1;
	r->nunknown_functions += r->unknown_functions[r->nunknown_functions].name != NULL;
}

/* Stores the string of a key. A program may create texts without end, but the dictionary must have
 * space for new threads, and the table of names is limited: texts beyond the limits have no name.
 */
static void store_name(struct gt_recorder *r, struct gt_reported_names *k,
	enum gt_reported_kind kind, uint64_t key, const char *text, size_t len, bool replace)
{
	bool known = gt_reported_names_has(k, kind, key);

	if (!known && (k->n >= GT_REPORTED_MAX || !gt_writer_has_name_space(r->w)))
		k->forgotten++;
	else if (!known || replace)
		gt_reported_names_add(k, kind, key, gt_writer_string_n(r->w, text, len), replace);
}

/* A part of a stack's definition. */
static void put_stack_part(struct gt_recorder *r, struct gt_traced_thread *t,
	const struct record *rec, const char *text, bool early)
{
	struct gt_reported_names *names = names_of(r, t);
	struct gt_process *p = &r->procs[t->proc];
	struct gt_rec_code head;

	if (early)
		return;
	if (rec->kind == GT_REC_OBJECT)
		gt_call_stacks_object(r->w, &p->objects, text, rec->end);
	else if (rec->kind == GT_REC_STACK)
		gt_call_stacks_stack(
			r->w, &t->stacks, &p->objects, &p->guest, rec->start, text, rec->end);
	else if (rec->end >= sizeof(head)) {
		memcpy(&head, text, sizeof(head));
		gt_call_stacks_code(&t->stacks, rec->start, text, rec->end,
			gt_reported_names_get(names, GT_REPORTED_STRING, head.name),
			gt_reported_names_get(names, GT_REPORTED_STRING, head.file));
	}
}

/* A record that has a name. early: read by a search, ahead of its turn. */
static int put_text(struct gt_recorder *r, struct gt_traced_thread *t, const struct record *rec,
	bool early, struct gt_err *err)
{
	const char *text = memcpy(r->text, rec->words, rec->end);

	if (rec->kind >= GT_REC_CODE)
		put_stack_part(r, t, rec, text, early);
	else if (rec->kind == GT_REC_NAME)
		store_name(r, names_of(r, t), GT_REPORTED_FUNC, rec->start, text, rec->end, !early);
	else if (rec->kind == GT_REC_STRING)
		store_name(
			r, names_of(r, t), GT_REPORTED_STRING, rec->start, text, rec->end, !early);
	else if (!early && rec->kind == GT_REC_UNKNOWN_FUNCTION)
		count_unknown_function(r, text, rec->end);
	return 0;
}

int gt_ring_reader_abandon(struct gt_recorder *r, struct gt_traced_thread *t, struct gt_err *err)
{
	t->broken = true;
	t->c.at = t->limit;
	__atomic_store_n(&gt_ring_of(r, t)->given_up, 1, __ATOMIC_RELEASE);
	r->chunks_freed++; /* so that its thread is woken if it waits for a chunk */
	r->totals.broken++;
	return gt_writer_loss(r->w, GT_SCOPE_TRACK, t->track,
		t->last == INT64_MIN ? r->now.monotonic : t->last, r->now.monotonic,
		GT_LOST_UNKNOWN, err);
}

/* The type of a record with this head. True: its words are the row's arguments unchanged. */
static inline bool plain_type(const struct gt_recorder *r, uint64_t head, uint32_t *type)
{
	unsigned id = head & 0xffff, n = head >> 16 & 255, depth = head >> 24 & 255;
	const struct gt_call_type *c = &r->types.calls[id < GT_API_MAX ? id : 0];

	*type = c->type;
	return depth <= GT_RING_OPEN_MAX && id < gt_api_count && id != r->version_id &&
		c->type != GT_NONE && c->plain && c->nwords == n;
}

/* Most records have one or two words: faster than memcpy. */
static inline void copy_words(uint64_t *to, const uint64_t *from, unsigned n)
{
	if (n)
		to[0] = from[0];
	if (n > 1)
		to[1] = from[1];
	for (unsigned i = 2; i < n; i++)
		to[i] = from[i];
}

/* The range of ticks after the last epoch, before this pass, and on one piece of the clock.
 * Returns its length, 0: none; *first is its beginning. */
static uint64_t easy_ticks(const struct gt_recorder *r, const struct gt_knot *k, uint64_t *first)
{
	uint64_t stop = k->span <= r->now.ticks - k->ticks ? k->ticks + k->span : r->now.ticks + 1;

	*first = k->ticks > r->epoch.ticks ? k->ticks : r->epoch.ticks + 1;
	return stop > *first ? stop - *first : 0;
}

/* The fast path. Most records are calls whose words go into the row unchanged. This writes as many
 * consecutive records of the chunk as possible directly into the writer's rows. It stops at the
 * first other or suspicious record and leaves it to the general path. For a row that follows a row
 * of its own depth, clamp_nesting() only makes it begin after that row's end; `low` does so
 * without its state in memory. */
static void take_plain(struct gt_recorder *r, struct gt_traced_thread *t)
{
	const struct gt_knot k = r->clock.knot[r->clock.hint];
	const uint8_t *base = gt_rings_chunk(r->rings, t->c.chunk)->payload - t->c.base;
	const uint64_t stop = t->limit - t->c.base < r->payload ? t->limit : t->c.base + r->payload;
	uint32_t known = UINT32_MAX, type = GT_NONE;
	unsigned flat = UINT32_MAX, n = 0, depth = 0;
	size_t nrows = 0, nvalues = 0, size = 0;
	uint64_t at = t->c.at, first, width = easy_ticks(r, &k, &first);
	int64_t low = t->last, from, to;
	struct gt_writer_space left;

	gt_writer_reserve(r->w, t->track, &left);
	for (; nrows < left.nrows && stop - at >= sizeof(struct gt_rec); at += size) {
		const uint64_t *p = (const uint64_t *)(base + at);
		uint64_t start = read_word(p), end = read_word(p + 1), head = read_word(p + 2);

		if ((uint32_t)head != known) {
			if (!plain_type(r, head, &type))
				break;
			known = (uint32_t)head;
			n = known >> 16 & 255;
			depth = known >> 24;
			size = sizeof(struct gt_rec) + n * 8;
		}
		if (start - first >= width || end - first >= width || size > stop - at ||
			n > left.nvalues - nvalues)
			break;
		from = gt_clock_on(&k, start);
		to = gt_clock_on(&k, end);
		if (depth == flat) {
			from = from < low ? low : from;
			to = to < from ? from : to;
		} else if (from < low) {
			break;
		} else {
			if (flat != UINT32_MAX)
				t->floor[flat] = t->last = low;
			clamp_nesting(t, depth, &from, &to);
			flat = depth;
		}
		low = to;
		left.rows[nrows++] = (struct gt_writer_row){ from, to, type, (int32_t)(head >> 32),
			left.first + (uint32_t)nvalues, (uint8_t)depth, (uint8_t)n, { 0, 0 } };
		copy_words(left.values + nvalues, p + 3, n);
		nvalues += n;
	}
	if (flat != UINT32_MAX)
		t->floor[flat] = t->last = low;
	gt_writer_commit(r->w, nrows, nvalues, low);
	t->c.at = at;
}

static int put_event(struct gt_recorder *r, struct gt_traced_thread *t, const struct record *rec,
	struct gt_err *err)
{
	struct gt_event_record e = {
		.id = rec->id, .start = rec->start, .end = rec->end, .n = rec->nargs
	};
	size_t bytes = rec->nargs * sizeof(*rec->words);

	memcpy(&e.body, rec->words, bytes < sizeof(e.body) ? bytes : sizeof(e.body));
	return gt_dispatch_event(r, t, &e, err);
}

/* A record with a time after this pass began is for a later pass, unless the time is impossible. */
static int postpone(struct gt_recorder *r, uint64_t ticks)
{
	return gt_ring_reader_is_possible(r, ticks) ? LATER : GT_DAMAGED;
}

/* 0, STALL, LATER, GT_DAMAGED or negative. */
static int put_record(struct gt_recorder *r, struct gt_traced_thread *t, const struct record *rec,
	struct gt_err *err)
{
	if (rec->kind == GT_REC_EVENT && gt_dispatch_has_ticks(rec->id) &&
		rec->start > r->now.ticks)
		return postpone(r, rec->start);
	if (rec->kind == GT_REC_EVENT)
		return put_event(r, t, rec, err);
	if (rec->kind != GT_REC_CALL)
		return put_text(r, t, rec, false, err);
	return rec->end > r->now.ticks ? postpone(r, rec->end) : put_call(r, t, rec, err);
}

/* gtcollect's own ring, which has been read to the end, needs no chunk until its next record. */
static void take_last_chunk(
	struct gt_recorder *r, struct gt_traced_thread *t, struct gt_ring_thread *ring)
{
	uint32_t slot = (uint32_t)(t - r->threads);

	if (slot < r->rings->first_own || t->c.chunk == GT_RING_NIL || t->c.at != t->limit)
		return;
	gt_rings_free_chunk(r->rings, t->c.chunk);
	r->chunks_freed++;
	ring->first = ring->taken = t->c.chunk = GT_RING_NIL;
	t->c.base += r->payload;
}

/* Takes the records of one thread that ended by now. */
int gt_ring_reader_drain(struct gt_recorder *r, struct gt_traced_thread *t,
	struct gt_ring_thread *ring, struct gt_err *err)
{
	uint64_t before = t->c.at;
	struct record rec;
	int got = 0, code = 0;

	t->stalled = false;
	while (!code && (got = find_record(r, t, &t->c, t->limit, ring, &rec)) > 0) {
		uint64_t at = t->c.at;

		take_plain(r, t);
		if (t->c.at != at)
			continue;
		code = put_record(r, t, &rec, err);
		t->c.at += code ? 0 : rec.size;
	}
	t->stalled = code == STALL;
	if (!code && !got)
		take_last_chunk(r, t, ring);
	r->bytes_read += t->c.at - before;
	__atomic_store_n(&ring->consumed, t->c.at, __ATOMIC_RELEASE);
	if (code < 0)
		return code;
	return got < 0 || code == GT_DAMAGED ? gt_ring_reader_abandon(r, t, err) : 0;
}

/* Reads the names in all rings ahead of their turn, because a launch lacks its kernel's name. */
void gt_ring_reader_search_names(struct gt_recorder *r)
{
	for (uint32_t k = 0; k < r->nlive; k++) {
		struct gt_traced_thread *t = gt_live_thread(r, k);
		struct gt_cursor c = t->c;
		struct record rec;
		uint64_t limit;

		if (t->broken || c.chunk >= r->rings->nchunks)
			continue;
		limit = __atomic_load_n(&gt_ring_of(r, t)->word, __ATOMIC_ACQUIRE) >> 8;
		if (limit - c.at > (uint64_t)r->rings->nchunks * r->payload)
			continue;
		while (find_record(r, t, &c, limit, NULL, &rec) > 0) {
			if (rec.kind != GT_REC_CALL && rec.kind != GT_REC_EVENT)
				put_text(r, t, &rec, true, NULL);
			c.at += rec.size;
		}
	}
}

/* ---- calls that are open ---- */

struct open_state {
	uint64_t start;
	uint16_t id;
	uint8_t n;
	const uint64_t *words;
	uint64_t stack; /* as of a record */
};

/* An entry of the stack of open calls. */
static struct open_state open_state_of(const struct gt_ring_open *o)
{
	struct open_state s = { o->start, o->id, o->nargs & (uint8_t)~GT_REC_STACKED, o->args, 0 };

	if (o->nargs & GT_REC_STACKED && s.n && s.n <= GT_RING_OPEN_ARGS)
		s.stack = s.words[--s.n];
	return s;
}

/* Fills in the row of a call that has not ended. False: it has no type. */
static bool open_row(struct gt_recorder *r, struct gt_traced_thread *t, unsigned depth,
	const struct open_state *o, struct gt_row *row, uint64_t *args)
{
	unsigned n = o->n;

	*row = (struct gt_row){ .depth = (uint8_t)depth };
	if (o->id < gt_api_count) {
		const struct gt_call_type *c = gt_types_call(&r->types, o->id);

		n = n < c->nwords ? n : c->nwords;
		memcpy(args, o->words, n * sizeof(*args));
		/* the index of a string that is not known yet would be 0, another string */
		if (!c->plain) {
			translate(r, t, c, o->words, n, args);
			n = c->nfields;
		}
		row->type = c->type;
		row->nargs = (uint8_t)n;
		for (; o->stack && n < c->nfields; n++)
			args[row->nargs++] = 0;
		if (o->stack)
			add_stack(r, t, o->id, o->stack, row, args, args);
	} else
		row->type =
			gt_types_file(&r->types, o->id, o->words, n, args, &row->nargs, &row->ret);
	row->ret = 0;
	row->start = row->end = ns_of_start(r, t, depth, o->start);
	return row->type != GT_NONE;
}

/* Collects by depth the calls that were running when the epoch closed: those on the stack, and
 * those in the ring that ended later. Returns the bits of the depths found. */
static unsigned find_open_calls(
	struct gt_recorder *r, const struct gt_traced_thread *t, struct open_state *by_depth)
{
	struct gt_cursor c = t->c;
	struct record rec;
	unsigned found = 0;

	for (unsigned d = 0; d < t->nopen; d++)
		if (t->open[d].start && t->open[d].start <= r->now.ticks &&
			(t->open[d].nargs & ~GT_REC_STACKED) <= GT_RING_OPEN_ARGS) {
			by_depth[d] = open_state_of(&t->open[d]);
			found |= 1u << d;
		}
	while (!t->broken && find_record(r, t, &c, t->limit, NULL, &rec) > 0) {
		if (rec.kind == GT_REC_CALL && rec.start <= r->now.ticks) {
			by_depth[rec.depth] = (struct open_state){ rec.start, rec.id, rec.nargs,
				rec.words, rec.stack };
			found |= 1u << rec.depth;
		}
		if (rec.kind == GT_REC_CALL && !rec.depth)
			break; /* all later records began later */
		c.at += rec.size;
	}
	return found;
}

int64_t gt_ring_reader_first_free(struct gt_recorder *r, struct gt_traced_thread *t)
{
	struct open_state by_depth[GT_DEPTHS];
	unsigned found = find_open_calls(r, t, by_depth);
	int64_t first = INT64_MAX, start;

	for (unsigned d = 0; d < GT_DEPTHS; d++) {
		unsigned op = found >> d & 1 && by_depth[d].id < gt_api_count
			? gt_api[by_depth[d].id].op
			: GT_OP_NONE;

		if (op != GT_OP_FREE && op != GT_OP_UNMAP)
			continue;
		/* clamp_nesting() may move it */
		start = ns_of_start(r, t, d, by_depth[d].start) - CLOCK_ERROR;
		first = start < first ? start : first;
	}
	return first;
}

int gt_ring_reader_each_open(
	struct gt_recorder *r, struct gt_traced_thread *t, gt_open_fn *fn, struct gt_err *err)
{
	struct open_state by_depth[GT_DEPTHS];
	unsigned found = find_open_calls(r, t, by_depth);
	uint64_t args[GT_FIELDS_MAX + 1];
	struct gt_row row;
	int code = 0;

	for (unsigned d = 0; !code && d < GT_DEPTHS; d++) {
		struct open_state *o = &by_depth[d];
		int64_t low = t->floor[d < t->deepest ? d : t->deepest];

		if (!(found >> d & 1) || o->n > GT_FIELDS_MAX ||
			(o->id >= gt_api_count && (o->id < GT_ID_IOCTL || o->id >= GT_IDS)) ||
			!open_row(r, t, d, o, &row, args) || row.start < r->earliest)
			continue;
		if (row.start < low)
			row.start = row.end = low;
		t->reported_starts[d] = (struct gt_reported_start){ o->start, row.start };
		code = fn(r, t->track, &row, args, err);
	}
	return code;
}
