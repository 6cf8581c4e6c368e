#define _GNU_SOURCE
#include "collect/guest/stack/stack_table.h"

#include <linux/futex.h>
#include <time.h>
#include "collect/guest/stack/recent_stacks.h"
#include "collect/guest/stack/unwind_rules.h"
#include "collect/ipc/code_piece.h"

#define STACKS 8192u          /* that a thread remembers */
#define CODES 4096u           /* code objects whose definition it remembers */
#define WAYS 8u               /* places in the table for one hash */
#define RULES_WAITS 10        /* times 50 us, and the kernel's slack, which is as much */
#define REFUSED_MAX 64        /* calls that may come from a signal handler */
#define FIND_PYTHON_EVERY 64u /* new stacks, while no interpreter is there */

struct known_stack {
	uint64_t hash;
	uint32_t number, unused;
};
struct known_code {
	uint64_t code;
	uint32_t check, number;
};
/* The frames of one stack. The arrays have GT_STACK_FRAMES places. */
struct frames {
	struct gt_readable *readable;
	struct gt_python_frame *python;
	uint64_t *native;
	uint32_t npython, nnative;
	uintptr_t stop_low, stop_high; /* where native frames end */
	uint64_t epoch;                /* of the rules; before the walk */
	enum gt_python_state python_state;
	enum gt_native_state native_state;
};
/* Of one thread. It has all large buffers, because the program's stacks may be small. */
struct gt_stack_state {
	/* the frame of the gt_stack_take that runs; 0: none. It is not reentered from a signal
	 * handler */
	uintptr_t running;
	uint32_t refused;       /* calls without a stack since then */
	uint32_t stacks, codes; /* numbers given so far */
	uint32_t next_way;
	/* bits by number: the library's definition was written */
	uint64_t objects[GT_CODE_OBJECTS / 64];
	struct known_stack stack[STACKS];
	struct known_code code[CODES];
	struct gt_recent_stacks recent;
	struct gt_readable readable;
	/* of the stack that is being taken */
	struct gt_python_frame python[GT_STACK_FRAMES];
	uint64_t native[GT_STACK_FRAMES], words[2 * GT_STACK_FRAMES + 2];
	struct gt_python_code code_read;
	struct gt_code_piece piece;
	/* of a sample; the pages that can be read are tried again for each */
	struct frames sample;
	struct gt_readable sample_readable;
	struct gt_python_frame sample_python[GT_STACK_FRAMES];
	uint64_t sample_native[GT_STACK_FRAMES];
};

/* ---- hash ---- */

static inline uint64_t rotate(uint64_t x, unsigned by) { return x << by | x >> (64 - by); }

/* The multiplications do not depend on each other, so the processor overlaps them. */
static uint64_t hash_frames(const struct frames *f)
{
	uint64_t h = f->npython | (uint64_t)f->nnative << 16 | (uint64_t)f->python_state << 32 |
		(uint64_t)f->native_state << 40;

	/* when a library is closed, its addresses may become those of another one */
	if (f->nnative)
		h ^= f->epoch;

	for (uint32_t i = 0; i < f->nnative; i++)
		h = rotate(h, 9) + f->native[i] * 0x9e3779b97f4a7c15ull;
	for (uint32_t i = 0; i < f->npython; i++) {
		const struct gt_python_frame *p = &f->python[i];

		h = rotate(h, 9) + p->code * 0xc2b2ae3d27d4eb4full +
			(p->offset | (uint64_t)p->check << 32) * 0x165667b19e3779f9ull;
	}
	h *= 0x9e3779b97f4a7c15ull;
	h ^= h >> 29;
	return h ? h : 1;
}

static uint32_t find(const struct gt_stack_state *s, uint64_t hash)
{
	const struct known_stack *k = &s->stack[hash % (STACKS / WAYS) * WAYS];

	for (uint32_t i = 0; i < WAYS; i++)
		if (k[i].hash == hash)
			return k[i].number;
	return 0;
}

/* The last place of the bucket that is free, else any. */
static void remember(struct gt_stack_state *s, uint64_t hash, uint32_t number)
{
	struct known_stack *k = &s->stack[hash % (STACKS / WAYS) * WAYS];
	uint32_t way = s->next_way++ % WAYS;

	for (uint32_t i = 0; i < WAYS; i++)
		if (!k[i].hash)
			way = i;
	k[way] = (struct known_stack){ hash, number, 0 };
}

/* ---- definitions ---- */

/* False: the ring is full. */
static bool put_name(struct gt_tcb *t, const char *name, uint32_t n, uint64_t *hash)
{
	*hash = gt_ring_put_string_n(t, name, n);
	return t->sent_texts[*hash % GT_SENT_TEXTS] == *hash;
}

/* Writes the definition of a code object. */
static bool put_code(struct gt_tcb *t, struct gt_stack_state *s, uint32_t number)
{
	const struct gt_python_code *c = &s->code_read;
	struct gt_code_piece *piece = &s->piece;

	piece->head = (struct gt_rec_code){
		.version = gt_python_version(), .first_line = c->first_line, .total = c->nlines
	};
	if (!put_name(t, c->name, c->nname, &piece->head.name) ||
		!put_name(t, c->file, c->nfile, &piece->head.file))
		return false;
	do {
		if (!gt_ring_put_text(t, GT_REC_CODE, number, (const char *)piece,
			    gt_code_piece_fill(piece, c->lines)))
			return false;
	} while (gt_code_piece_next(piece, c->lines));
	return true;
}

/* The number of a code object; 0: it cannot be read, or the ring is full. r NULL: the frame may
 * have returned since it was read, so that the object is not read any more. */
static uint32_t code_number(struct gt_tcb *t, struct gt_stack_state *s, struct gt_readable *r,
	const struct gt_python_frame *f)
{
	uint64_t hash = (f->code ^ (uint64_t)f->check << 40) * 0x9e3779b97f4a7c15ull;
	struct known_code *k = NULL;

	for (uint32_t i = 0; i < WAYS; i++) {
		k = &s->code[((hash >> 40) + i) % CODES];
		if (k->code == f->code && k->check == f->check)
			return k->number;
		if (!k->code)
			break;
	}
	if (!r || !gt_python_code(r, f->code, &s->code_read) || !put_code(t, s, s->codes + 1))
		return 0;
	*k = (struct known_code){ f->code, f->check, ++s->codes };
	return k->number;
}

/* Writes the definition of the library of a return address, if it is known and not written yet. */
static bool put_object(struct gt_tcb *t, struct gt_stack_state *s, uintptr_t address)
{
	uint32_t number = gt_unwind_object(address), n;
	const struct gt_code_object *o = gt_code_object(number);
	struct {
		struct gt_rec_object head;
		char path[GT_CODE_PATH_MAX];
	} text;

	if (!o || s->objects[number / 64] >> number % 64 & 1)
		return true;
	text.head = (struct gt_rec_object){
		.low = o->low, .high = o->high, .base = o->base, .nbuild_id = o->nbuild_id
	};
	memcpy(text.head.build_id, o->build_id, sizeof(text.head.build_id));
	n = (uint32_t)strnlen(o->path, sizeof(text.path));
	memcpy(text.path, o->path, n);
	if (!gt_ring_put_text(
		    t, GT_REC_OBJECT, number, (const char *)&text, (uint32_t)sizeof(text.head) + n))
		return false;
	s->objects[number / 64] |= 1ull << number % 64;
	return true;
}

/* Where CUPTI's callbacks report calls, the driver and CUPTI are between the program and the guest.
 * The stack begins at the program's call. */
static uint32_t frames_of_driver(const struct frames *f)
{
	uint32_t n = 0;

	while (gt_is_loaded_late() && n < f->nnative &&
		gt_is_driver_code((const void *)(f->native[n] - 1)))
		n++;
	return n;
}

/* Writes the stack's definition and all that it refers to. False: the ring is full. */
static bool define(
	struct gt_tcb *t, struct gt_stack_state *s, const struct frames *f, uint32_t number)
{
	uint32_t n = 0, code;

	for (uint32_t i = frames_of_driver(f); i < f->nnative; i++) {
		if (!put_object(t, s, f->native[i]))
			return false;
		s->words[n++] = f->native[i];
	}
	/* with frames of Python, the walk ends at the interpreter */
	if (f->native_state != (f->npython ? GT_NATIVE_STOPPED : GT_NATIVE_OK))
		s->words[n++] = GT_STACK_MARK | GT_MARK_NATIVE_CUT;
	for (uint32_t i = 0; i < f->npython; i++) {
		code = code_number(t, s, f->readable, &f->python[i]);
		s->words[n++] = code ? GT_STACK_PYTHON | (uint64_t)code << 32 | f->python[i].offset
				     : GT_STACK_MARK | GT_MARK_PYTHON_UNREADABLE;
	}
	if (f->python_state == GT_PYTHON_TRUNCATED)
		s->words[n++] = GT_STACK_MARK | GT_MARK_PYTHON_CUT;
	else if (f->python_state == GT_PYTHON_DAMAGED)
		s->words[n++] = GT_STACK_MARK | GT_MARK_PYTHON_UNREADABLE;
	else if (f->python_state == GT_PYTHON_UNKNOWN)
		s->words[n++] = GT_STACK_MARK | GT_MARK_PYTHON_UNKNOWN;
	return gt_ring_put_text(t, GT_REC_STACK, number, (const char *)s->words, 8 * n);
}

/* ---- taking ---- */

/* An interpreter may have been loaded since the start. */
static void find_python(void)
{
	if (!gt_is_loaded_late() && gt_unwind_may_list())
		gt_python_find();
}

static __attribute__((cold)) struct gt_stack_state *make_state(struct gt_tcb *t)
{
	GT_GUEST_CODE; /* no sample comes in between */

	gt_unwind_open();
	find_python();
	t->stack_state = gt_map(sizeof(*t->stack_state));
	return t->stack_state;
}

void gt_stack_free(struct gt_stack_state *s)
{
	if (s)
		syscall(SYS_munmap, s, sizeof(*s));
}

void gt_stack_start(void)
{
	if (!gt_shared || !gt_shared->stacks)
		return;
	gt_unwind_open();
	gt_unwind_start_helper();
	gt_python_find_safely();
}

void gt_stack_end(void) { gt_unwind_end(); }

void gt_stack_forget(struct gt_stack_state *s)
{
	if (s)
		memset(s, 0, offsetof(struct gt_stack_state, python));
}

/* Sleeps for 50 us by a system call that programs permit themselves in a sandbox. */
static void sleep_shortly(void)
{
	const struct timespec wait = { .tv_nsec = 50000 };
	uint32_t word = 0;
	int saved = errno;

	syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &wait, NULL, 0);
	errno = saved;
}

/* The native frames up to the interpreter. */
static void take_native(const uintptr_t start[3], struct frames *f)
{
	f->epoch = gt_unwind_epoch();
	f->stop_low = f->stop_high = 0;
	if (f->npython)
		gt_python_eval_range(&f->stop_low, &f->stop_high);
	f->nnative = gt_native_frames(f->readable, start, f->stop_low, f->stop_high, f->native,
		GT_STACK_FRAMES, &f->native_state);
}

/* The end of the stack has no rules yet: waits for these. */
static void wait_for_rules(const uintptr_t start[3], struct frames *f)
{
	for (int i = 0; i < RULES_WAITS && f->native_state == GT_NATIVE_PENDING; i++) {
		if (gt_unwind_is_busy())
			sleep_shortly();
		take_native(start, f);
	}
}

/* Returns the stack's number; 0: it is new. */
static uint32_t take_again(
	struct gt_stack_state *s, const uintptr_t start[3], struct frames *f, uint64_t *hash)
{
	wait_for_rules(start, f);
	*hash = hash_frames(f);
	return find(s, *hash);
}

/* The number of a stack that is new to the thread; 0: the ring is full. */
static uint32_t add_stack(
	struct gt_tcb *t, struct gt_stack_state *s, const struct frames *f, uint64_t hash)
{
	if (!gt_python_version() && !(s->stacks % FIND_PYTHON_EVERY))
		find_python();
	if (!define(t, s, f, s->stacks + 1))
		return 0;
	remember(s, hash, ++s->stacks);
	return s->stacks;
}

/* A handler's frame is below the frame of the call that it interrupts. A call that was left by
 * siglongjmp looks the same, so that after some calls it counts as left. */
static bool is_reentered(struct gt_stack_state *s, uintptr_t here)
{
	if (gt_likely(!s->running || here >= s->running))
		return false;
	return s->refused++ < REFUSED_MAX;
}

/* Would the next walk from the same place find the same? */
static bool is_settled(const struct frames *f)
{
	return (f->python_state == GT_PYTHON_OK || !f->npython) &&
		(f->native_state == GT_NATIVE_OK || f->native_state == GT_NATIVE_STOPPED ||
			f->native_state == GT_NATIVE_NO_RULE ||
			f->native_state == GT_NATIVE_SIGNAL);
}

/* Walks. start NULL: there are no native frames. */
static __attribute__((noinline)) uint32_t walk(struct gt_tcb *t, struct gt_stack_state *s,
	const uintptr_t *start, const struct gt_python_top *top, enum gt_stack_of how)
{
	struct frames f = { .readable = &s->readable,
		.python = s->python,
		.native = s->native,
		.native_state = GT_NATIVE_DAMAGED };
	uint32_t number;
	uint64_t hash;

	f.npython = gt_python_walk(&s->readable, top, s->python, GT_STACK_FRAMES, &f.python_state);
	if (gt_likely(start))
		take_native(start, &f);
	hash = hash_frames(&f);
	number = find(s, hash);
	if (gt_unlikely(!number && how == GT_STACK_WHOLE && start))
		number = take_again(s, start, &f, &hash);
	if (gt_likely(number)) {
		if (start && is_settled(&f))
			gt_recent_keep(&s->recent, &s->readable,
				&(struct gt_recent_walk){ number, f.epoch, start, f.stop_low,
					f.stop_high, top, s->python, f.npython });
		return number;
	}
	return add_stack(t, s, &f, hash);
}

__attribute__((noinline, hot)) uint32_t gt_stack_take(struct gt_tcb *t, enum gt_stack_of how)
{
	struct gt_stack_state *s = gt_likely(t->stack_state) ? t->stack_state : make_state(t);
	uintptr_t here = (uintptr_t)__builtin_frame_address(0), start[3];
	struct gt_python_top top;
	uint32_t number = 0;
	bool has_start;

	if (!s || is_reentered(s, here))
		return 0;
	s->running = here;
	s->refused = 0;
	gt_python_top(&s->readable, 0, &top);
	has_start = gt_native_start(start);
	if (gt_likely(has_start))
		number = gt_recent_find(&s->recent, start, &top);
	if (gt_unlikely(!number))
		number = walk(t, s, has_start ? start : NULL, &top, how);
	s->running = 0;
	return number;
}

/* ---- stacks of samples ---- */

bool gt_stack_is_running(struct gt_tcb *t, uintptr_t sp)
{
	return t->stack_state && is_reentered(t->stack_state, sp);
}

bool gt_stack_read_sample(struct gt_tcb *t, const uintptr_t at[3], bool is_whole)
{
	struct gt_stack_state *s = t->stack_state ? t->stack_state : make_state(t);
	struct frames *f = s ? &s->sample : NULL;

	if (!s)
		return false;
	memset(&s->sample_readable, 0, sizeof(s->sample_readable));
	*f = (struct frames){ .readable = &s->sample_readable,
		.python = s->sample_python,
		.native = s->sample_native };
	f->npython =
		gt_python_frames(f->readable, at[1], f->python, GT_STACK_FRAMES, &f->python_state);
	take_native(at, f);
	if (is_whole)
		wait_for_rules(at, f);
	return true;
}

uint32_t gt_stack_number_sample(struct gt_tcb *t, const uintptr_t at[3])
{
	struct gt_stack_state *s = t->stack_state;
	uint64_t hash = hash_frames(&s->sample);
	uint32_t number = find(s, hash);

	if (!at)
		s->sample.readable = NULL;
	else if (!number)
		number = take_again(s, at, &s->sample, &hash);
	return number ? number : add_stack(t, s, &s->sample, hash);
}
