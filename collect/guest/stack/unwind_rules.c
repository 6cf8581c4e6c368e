/* The helper thread, which compiles rules.
 *
 * A thread that finds no rule for a return address leaves a request with its stack pointer and its
 * frame pointer, and a copy of its stack from there on. The helper compiles the rule and goes on in
 * the copy, where it finds the callers, whose rules it compiles, too. So one or two requests are
 * enough for a whole stack.
 *
 * EPOCHS. A rule is valid in the epoch in its key. dlclose begins a new epoch before it unloads
 * anything, and until it returns nothing is added to the cache. If it has unloaded nothing, the
 * last epoch is continued. glibc itself closes libraries without that function (converters of
 * character sets, modules of the name service); the helper notices it at the next request. */
#define _GNU_SOURCE
#include "collect/guest/stack/unwind_rules.h"

#include <dlfcn.h>
#include <linux/futex.h>
#include "collect/guest/core/guest_elf.h"
#include "collect/guest/core/guest_objects.h"
#include "collect/guest/core/guest_session.h"
#include "collect/guest/stack/python_frames.h"
#include "collect/guest/stack/unwind_step.h"

#ifdef GT_HOSTED
#define dlclose gt_hosted_dlclose
#endif

#define REQUESTS 64
#define REQUEST_PROBES 8
#define START_AGAIN 10000000ull /* ns to the next try of a failed start; then 2, 4 ... times */
#define START_DOUBLINGS 10      /* at most, which is 10 s */
#define BUSY 1                  /* address of a request that is being written */
#define COPY_WORDS 2048u        /* of a stack */
#define WORD_BYTES 8
#define FIND_PYTHON_EVERY 16 /* batches of requests, while no interpreter is there */

struct request {
	uint64_t address; /* 0: free */
	uintptr_t sp, fp;
	uint32_t nwords; /* of the stack, from sp on */
	uint64_t words[COPY_WORDS];
};
/* The kernel clears it in a forked child. */
struct unwind_state {
	struct gt_rule_cache cache;
	struct request requests[REQUESTS];
	uint32_t work;       /* futex; 1: there are requests */
	uint32_t helper;     /* 1: it has been started */
	uint32_t starts;     /* that have failed */
	uint64_t start_at;   /* ns: not before */
	uint32_t is_counted; /* gtcollect knows that a start has failed */
	uint32_t ending;     /* 1: the helper is to end */
	uint32_t is_busy;    /* the helper handles requests */
	uint32_t closing;    /* calls of dlclose in progress */
	uint64_t epochs;     /* begun */
	/* the helper's own */
	uint64_t compiled;
	bool closed; /* libraries have been closed since the last batch */
	uint32_t next_way;
};
struct gt_rule_cache *gt_rule_cache; /* first member of the state */
static struct unwind_state *state_of(struct gt_rule_cache *c) { return (struct unwind_state *)c; }
static struct unwind_state *state(void)
{
	return state_of(__atomic_load_n(&gt_rule_cache, __ATOMIC_ACQUIRE));
}

void gt_unwind_open(void)
{
	struct gt_rule_cache *none = NULL;
	struct unwind_state *new;

	if (state() || !gt_code_open())
		return;
	new = gt_map_of_process(sizeof(*new));
	/* if two threads are here, one of the two mappings is never used */
	if (new)
		__atomic_compare_exchange_n(&gt_rule_cache, &none, &new->cache, false,
			__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

/* ---- compilation ---- */

/* Words below the CFA. */
static bool words_below(int64_t offset, uint32_t *words)
{
	if (offset >= 0 || offset % WORD_BYTES || offset < -GT_FRAME_MAX)
		return false;
	*words = (uint32_t)(-offset / WORD_BYTES);
	return true;
}

static bool place_of_fp(const struct gt_cfi_row *row, uint32_t *words)
{
	*words = 0;
	if (row->fp.place == GT_CFI_SAME)
		return row->cfa != GT_CFA_AT_FP;
	if (row->cfa == GT_CFA_AT_FP)
		return row->fp.place == GT_CFI_AT_FP && !row->fp.offset;
	if (row->fp.place == GT_CFI_AT_FP && row->cfa == GT_CFA_FP)
		return words_below(row->fp.offset - row->cfa_offset, words);
	return row->fp.place == GT_CFI_SAVED && words_below(row->fp.offset, words);
}

/* Is this offset of the CFA possible? */
static bool is_cfa(const struct gt_cfi_row *row)
{
	return row->cfa != GT_CFA_OTHER && !(row->cfa_offset % WORD_BYTES) &&
		row->cfa_offset < GT_FRAME_MAX && row->cfa_offset > -(int64_t)GT_FRAME_MAX &&
		(row->cfa != GT_CFA_SP || row->cfa_offset > 0);
}

static struct gt_unwind_rule pack(const struct gt_cfi_row *row)
{
	static const uint8_t kinds[] = {
		[GT_CFA_SP] = GT_RULE_SP, [GT_CFA_FP] = GT_RULE_FP, [GT_CFA_AT_FP] = GT_RULE_AT_FP
	};
	uint32_t fp, ra, how;

	if (row->is_signal_frame)
		return (struct gt_unwind_rule){ GT_RULE_SIGNAL, 0 };
	if (row->ra.place == GT_CFI_UNDEFINED)
		return (struct gt_unwind_rule){ GT_RULE_END, 0 };
	if (!is_cfa(row) || row->ra.place != GT_CFI_SAVED || !words_below(row->ra.offset, &ra) ||
		!place_of_fp(row, &fp) || !gt_rule_places(fp, ra, &how))
		return (struct gt_unwind_rule){ GT_RULE_NONE, 0 };
	return (struct gt_unwind_rule){ kinds[row->cfa] | how, row->cfa_offset };
}

static struct gt_unwind_rule compile(uintptr_t address, uint32_t *object)
{
	struct gt_eh_image image;
	enum gt_eh_result found;
	struct gt_cfi_row row;

	*object = 0;
	if (!gt_code_at(address - 1, &image, object) || !image.size)
		return (struct gt_unwind_rule){ GT_RULE_PLAIN, 0 };
	found = gt_eh_find(&image, address - 1, &row);
	if (found == GT_EH_FOUND)
		return pack(&row);
	return (struct gt_unwind_rule){ found == GT_EH_NO_FUNCTION ? GT_RULE_PLAIN : GT_RULE_NONE,
		0 };
}

/* ---- the cache ---- */

static void insert(struct unwind_state *s, uint64_t base, uintptr_t address,
	struct gt_unwind_rule rule, uint32_t object)
{
	uint32_t number = gt_rule_set(address), way = 0;
	struct gt_rule_entry *set = s->cache.sets[number], *e;

	while (way < GT_RULE_WAYS && set[way].key && !((set[way].key ^ base) >> GT_CODE_BITS))
		way++;
	if (way == GT_RULE_WAYS)
		way = s->next_way++ % GT_RULE_WAYS;
	e = &set[way];
	__atomic_store_n(&e->key, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&s->cache.objects[number][way], (uint16_t)object, __ATOMIC_RELEASE);
	__atomic_store_n(&e->how, rule.how, __ATOMIC_RELEASE);
	__atomic_store_n(&e->cfa, (int32_t)rule.cfa, __ATOMIC_RELEASE);
	__atomic_store_n(&e->key, base | address, __ATOMIC_RELEASE);
}

uint32_t gt_unwind_object(uintptr_t address)
{
	const struct gt_rule_cache *c = __atomic_load_n(&gt_rule_cache, __ATOMIC_ACQUIRE);
	const struct gt_rule_entry *set = c ? c->sets[gt_rule_set(address)] : NULL;
	uint64_t key = c ? gt_rule_epoch(c) | address : 0;

	for (unsigned i = 0; c && i < GT_RULE_WAYS; i++)
		if (__atomic_load_n(&set[i].key, __ATOMIC_ACQUIRE) == key) {
			uint32_t object = __atomic_load_n(
				&c->objects[gt_rule_set(address)][i], __ATOMIC_ACQUIRE);

			return __atomic_load_n(&set[i].key, __ATOMIC_RELAXED) == key ? object : 0;
		}
	return 0;
}

/* Begins an epoch and returns its number, *last is that of the epoch before. */
static uint64_t begin_epoch(struct unwind_state *s, uint64_t *last)
{
	uint64_t epoch = __atomic_add_fetch(&s->epochs, 1, __ATOMIC_SEQ_CST);

	if (!(epoch & 0xffff)) /* the number in the keys repeats */
		for (unsigned i = 0; i < GT_RULE_SETS * GT_RULE_WAYS; i++)
			__atomic_store_n(&s->cache.sets[i / GT_RULE_WAYS][i % GT_RULE_WAYS].key, 0,
				__ATOMIC_RELEASE);
	*last = __atomic_exchange_n(&s->cache.epoch, epoch, __ATOMIC_SEQ_CST);
	return epoch;
}

/* ---- the helper thread ---- */

/* Reads a word of a copied stack. */
static bool read_copy(void *arg, uintptr_t address, uint64_t *word)
{
	const struct request *r = arg;
	uintptr_t i = (address - r->sp) / WORD_BYTES;

	if (address % WORD_BYTES || i >= r->nwords)
		return false;
	*word = r->words[i];
	return true;
}

static void handle(struct unwind_state *s, struct request *r, uint64_t base)
{
	struct gt_frame_registers at = { (uintptr_t)r->address, r->sp, r->fp };
	enum gt_step step = GT_STEP_BY_RULE;
	struct gt_unwind_rule rule;
	uint32_t object;

	while (step <= GT_STEP_BY_FP && !(at.ra >> GT_CODE_BITS)) {
		if (!gt_rule_lookup(&s->cache, base, at.ra, &rule)) {
			rule = compile(at.ra, &object);
			insert(s, base, at.ra, rule, object);
			s->compiled++;
		}
		step = gt_unwind_step(rule, &at, read_copy, r);
	}
}

static void handle_requests(void *arg)
{
	struct unwind_state *s = arg;
	uint64_t base, last;
	bool is_closing;

	if (s->closed)
		begin_epoch(s, &last);
	base = gt_rule_epoch(&s->cache);
	/* in this order, opposite to that of dlclose */
	is_closing = __atomic_load_n(&s->closing, __ATOMIC_SEQ_CST);
	for (uint32_t i = 0; i < REQUESTS; i++) {
		struct request *r = &s->requests[i];

		if (__atomic_load_n(&r->address, __ATOMIC_ACQUIRE) <= BUSY)
			continue;
		/* a thread that still needs a rule repeats its request */
		if (!is_closing)
			handle(s, r, base);
		__atomic_store_n(&r->address, 0, __ATOMIC_RELEASE);
	}
}

static void wait_for_work(struct unwind_state *s)
{
	while (!__atomic_load_n(&s->work, __ATOMIC_ACQUIRE))
		syscall(SYS_futex, &s->work, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
}

static void *help(void *arg)
{
	struct unwind_state *s = arg;
	uint32_t batches = 0;

	gt_inside = true;
	for (;;) {
		wait_for_work(s);
		if (__atomic_load_n(&s->ending, __ATOMIC_ACQUIRE))
			break;
		__atomic_store_n(&s->is_busy, 1, __ATOMIC_RELEASE);
		__atomic_store_n(&s->work, 0, __ATOMIC_SEQ_CST);
		gt_with_loaded_code(handle_requests, s, &s->closed);
		if (!gt_python_version() && !(batches++ % FIND_PYTHON_EVERY))
			gt_python_find_safely();
		__atomic_store_n(&s->is_busy, 0, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&s->helper, 0, __ATOMIC_RELEASE);
	return NULL;
}

/* ---- other threads ---- */

/* Copies this thread's stack from sp (0: nothing) on, up to its end or the first page that cannot
 * be read. The C library keeps a thread's own data above the stack of each thread but the first:
 * memory above these is not the thread's stack. */
static __attribute__((no_sanitize("address"))) void copy_stack(struct request *to)
{
	const uintptr_t page = (uintptr_t)1 << GT_READABLE_SHIFT;
	const uint64_t *words = (const uint64_t *)to->sp;

	const uintptr_t end = (uintptr_t)__builtin_thread_pointer();
	uint32_t most = COPY_WORDS;

	to->nwords = 0;
	if (to->sp % WORD_BYTES)
		return;
	if (to->sp < end && (end - to->sp) / WORD_BYTES < most)
		most = (uint32_t)((end - to->sp) / WORD_BYTES);
	for (uint32_t n = 0; n < most; to->nwords = ++n) {
		if ((!n || (uintptr_t)&words[n] % page == 0) &&
			!gt_readable_now((uintptr_t)&words[n]))
			return;
		to->words[n] = words[n];
	}
}

static bool put_request(struct unwind_state *s, const struct gt_frame_registers *at)
{
	for (unsigned i = 0; i < REQUEST_PROBES; i++) {
		struct request *r = &s->requests[(gt_rule_set(at->ra) + i) % REQUESTS];
		uint64_t there = __atomic_load_n(&r->address, __ATOMIC_ACQUIRE);

		if (there == at->ra)
			return false;
		if (there ||
			!__atomic_compare_exchange_n(&r->address, &there, BUSY, false,
				__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			continue;
		r->sp = at->sp;
		r->fp = at->fp;
		copy_stack(r);
		__atomic_store_n(&r->address, at->ra, __ATOMIC_RELEASE);
		return true;
	}
	return false;
}

static void wake(struct unwind_state *s)
{
	if (!__atomic_exchange_n(&s->work, 1, __ATOMIC_SEQ_CST))
		syscall(SYS_futex, &s->work, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* A limit of threads, or a filter of system calls. Until another start succeeds, rules are missing,
 * and stacks end where one is needed. */
static void note_failed_start(struct unwind_state *s, uint64_t now)
{
	uint32_t n = __atomic_fetch_add(&s->starts, 1, __ATOMIC_RELAXED);

	__atomic_store_n(&s->start_at,
		now + (START_AGAIN << (n < START_DOUBLINGS ? n : START_DOUBLINGS)),
		__ATOMIC_RELAXED);
	if (gt_shared && !__atomic_exchange_n(&s->is_counted, 1, __ATOMIC_RELAXED))
		__atomic_fetch_add(&gt_shared->unhelped, 1, __ATOMIC_RELAXED);
}

/* False: it runs already, or cannot be started. */
static bool start_helper(struct unwind_state *s)
{
	uint64_t now;

	if (__atomic_load_n(&s->helper, __ATOMIC_ACQUIRE))
		return false;
	now = gt_monotonic();
	if (now < __atomic_load_n(&s->start_at, __ATOMIC_RELAXED) ||
		__atomic_exchange_n(&s->helper, 1, __ATOMIC_ACQ_REL))
		return false;
	if (gt_start_thread(help, s))
		return true;
	note_failed_start(s, now);
	__atomic_store_n(&s->helper, 0, __ATOMIC_RELEASE);
	return false;
}

void gt_unwind_start_helper(void)
{
	if (state())
		start_helper(state());
}

void gt_unwind_end(void)
{
	struct unwind_state *s = state();

	if (!s || !__atomic_load_n(&s->helper, __ATOMIC_ACQUIRE))
		return;
	__atomic_store_n(&s->ending, 1, __ATOMIC_RELEASE);
	while (__atomic_load_n(&s->helper, __ATOMIC_ACQUIRE)) {
		wake(s);
		gt_sleep(100000);
	}
	__atomic_store_n(&s->work, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&s->ending, 0, __ATOMIC_RELEASE);
}

/* In a process of one thread, which the handler of a sample has interrupted. */
static void compile_here(struct unwind_state *s)
{
	gt_with_loaded_code_alone(handle_requests, s, &s->closed);
	__atomic_store_n(&s->work, 0, __ATOMIC_SEQ_CST);
}

__attribute__((noinline, cold)) void gt_unwind_request(const struct gt_frame_registers *at)
{
	GT_GUEST_CODE;
	struct unwind_state *s = state();
	bool is_new;

	if (!s || at->ra <= BUSY || at->ra >> GT_CODE_BITS)
		return;
	if (gt_interrupted && !__atomic_load_n(&s->helper, __ATOMIC_ACQUIRE)) {
		if (put_request(s, at) && !__atomic_exchange_n(&s->work, 1, __ATOMIC_SEQ_CST))
			compile_here(s);
		return;
	}
	is_new = put_request(s, at);
	if (start_helper(s) || (is_new && __atomic_load_n(&s->helper, __ATOMIC_ACQUIRE)))
		wake(s);
}

bool gt_unwind_is_busy(void)
{
	const struct unwind_state *s = state();

	return s &&
		(__atomic_load_n(&s->work, __ATOMIC_ACQUIRE) ||
			__atomic_load_n(&s->is_busy, __ATOMIC_ACQUIRE));
}

bool gt_unwind_may_list(void)
{
	const struct unwind_state *s = state();

	return !gt_interrupted ||
		(s && !__atomic_load_n(&s->helper, __ATOMIC_ACQUIRE) && gt_loader_is_idle());
}

GT_EXPORT int dlclose(void *handle)
{
	int (*real)(void *) = gt_replaced_function(GT_LIBC_DLCLOSE);
	struct unwind_state *s = state();
	uint64_t before = 0, after = 0, epoch, last;
	bool known, had_python;
	int ret;

	if (!real || !s)
		return real ? real(handle) : -1;
	__atomic_add_fetch(&s->closing, 1, __ATOMIC_SEQ_CST);
	epoch = begin_epoch(s, &last);
	known = gt_closed_libraries(&before);
	had_python = gt_python_forget();
	ret = real(handle);
	if (had_python)
		gt_python_find();
	/* unless another dlclose has begun one more */
	if (known && gt_closed_libraries(&after) && after == before)
		__atomic_compare_exchange_n(
			&s->cache.epoch, &epoch, last, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
	__atomic_sub_fetch(&s->closing, 1, __ATOMIC_SEQ_CST);
	return ret;
}

bool gt_unwind_wait(unsigned ms)
{
	struct unwind_state *s = state();

	for (; ms; ms--) {
		bool idle = s && !__atomic_load_n(&s->work, __ATOMIC_ACQUIRE) &&
			!__atomic_load_n(&s->is_busy, __ATOMIC_ACQUIRE);

		for (unsigned i = 0; idle && i < REQUESTS; i++)
			idle = !__atomic_load_n(&s->requests[i].address, __ATOMIC_ACQUIRE);
		if (idle)
			return true;
		gt_sleep(1000000);
	}
	return false;
}

uint64_t gt_unwind_compiled(void)
{
	struct unwind_state *s = state();

	return s ? __atomic_load_n(&s->compiled, __ATOMIC_RELAXED) : 0;
}
