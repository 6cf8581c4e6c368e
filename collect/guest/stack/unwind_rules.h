/* Rules by which a walk over the native stack finds the caller of a function, cached by return
 * address for all threads.
 *
 * A lookup takes no lock and makes no system call. Where there is no rule yet, the address goes to
 * a helper thread of the guest, which compiles the rule from the library's call frame information
 * (eh_frame.c). With a library that the program closes all rules are forgotten (dlclose is
 * replaced), so that no rule is used for another library at the same address. In a forked child
 * there are no rules at first. */
#ifndef GT_GUEST_UNWIND_RULES_H
#define GT_GUEST_UNWIND_RULES_H
#include "collect/guest/stack/loaded_code.h"

/* CFA: the caller's stack pointer after the return. A word has 8 bytes; all offsets are multiples
 * of that. */
enum gt_rule_kind {
	GT_RULE_SP,     /* CFA = stack pointer + offset */
	GT_RULE_FP,     /* CFA = frame pointer + offset */
	GT_RULE_AT_FP,  /* CFA = word at frame pointer + offset; the frame pointer points to the
			   caller's */
	GT_RULE_END,    /* there is no caller: a thread or the process begins here */
	GT_RULE_PLAIN,  /* code without call frame information */
	GT_RULE_SIGNAL, /* the kernel called this to return from a signal handler */
	GT_RULE_NONE    /* information that no rule can express, or damaged */
};
#define GT_FRAME_MAX (64 << 20) /* bytes; a larger frame counts as damage */

struct gt_unwind_rule {
	uint32_t how; /* 3 bits: enum gt_rule_kind; 29 bits: places, see below */
	intptr_t cfa; /* offset of the CFA in bytes */
};
static inline enum gt_rule_kind gt_rule_kind(struct gt_unwind_rule r) { return r.how & 7; }
/* Where the caller's frame pointer (0: it is unchanged) and the return address are saved, in bytes
 * below the CFA. Above the CFA is no place that a
 * rule can name. */
#ifdef __x86_64__
/* 29 bits: words from the CFA down to the frame pointer. The call puts the return address in the
 * first one. */
static inline uintptr_t gt_rule_fp(struct gt_unwind_rule r) { return r.how & ~7u; }
static inline uintptr_t gt_rule_ra(struct gt_unwind_rule r) { return 8; }
static inline bool gt_rule_places(uint32_t fp_words, uint32_t ra_words, uint32_t *how)
{
	*how = fp_words << 3;
	return ra_words == 1;
}
#else
/* 16 bits: words from the CFA down to the frame pointer, or to the return address if the frame
 * pointer is unchanged. 13 bits: 0 if it is, else words from there up to the return address, plus
 * GT_RULE_APART. The two are in most functions side by side at the low end of the frame. */
#define GT_RULE_APART 4096u
static inline uintptr_t gt_rule_fp(struct gt_unwind_rule r)
{
	return r.how >> 19 ? r.how & 0xffff << 3 : 0;
}
static inline uintptr_t gt_rule_ra(struct gt_unwind_rule r)
{
	uintptr_t place = r.how & 0xffff << 3, apart = r.how >> 19;

	return apart ? place - 8 * (apart - GT_RULE_APART) : place;
}
static inline bool gt_rule_places(uint32_t fp_words, uint32_t ra_words, uint32_t *how)
{
	uint32_t place = fp_words ? fp_words : ra_words;
	uint32_t apart = fp_words ? fp_words - ra_words + GT_RULE_APART : 0;

	*how = place << 3 | apart << 19;
	return place < 1u << 16 && apart < 1u << 13 && !fp_words == !apart;
}
#endif
static inline uintptr_t gt_rule_cfa(struct gt_unwind_rule r) { return (uintptr_t)r.cfa; }

/* The cache: sets of four entries, one cache line each. Only the helper thread writes entries. */
#define GT_RULE_SETS 4096
#define GT_RULE_WAYS 4
struct gt_rule_entry {
	/* return address, and in the 16 bits above it the epoch in which the rule is valid */
	uint64_t key;
	uint32_t how; /* the rule */
	int32_t cfa;
};
struct gt_rule_cache {
	struct gt_rule_entry sets[GT_RULE_SETS][GT_RULE_WAYS] __attribute__((aligned(64)));
	/* numbers of the objects (loaded_code.h) of the entries; 0: none */
	uint16_t objects[GT_RULE_SETS][GT_RULE_WAYS];
	uint64_t epoch;
};
/* Width of an address of code. The bits above it are 0, or sign it (aarch64). */
#define GT_CODE_BITS 48

/* NULL: not opened, or there is no memory. */
extern struct gt_rule_cache *gt_rule_cache;

/* Reserves the memory. Called before the first walk, on any thread. */
void gt_unwind_open(void);

/* Ends the helper thread, and returns when it has ended. A request starts it again. */
void gt_unwind_end(void);

/* The set of an address: calls within 64 bytes of code share one. */
static inline uint32_t gt_rule_set(uintptr_t address) { return address / 64 & (GT_RULE_SETS - 1); }

/* Looks a rule up. base: epoch << GT_CODE_BITS. The key is read again after the rule: in between
 * the helper may have replaced the entry. */
static inline __attribute__((always_inline)) bool gt_rule_lookup(const struct gt_rule_cache *c,
	uint64_t base, uintptr_t address, struct gt_unwind_rule *rule)
{
	const struct gt_rule_entry *set = c->sets[gt_rule_set(address)];
	uint64_t key = base | address;

	for (unsigned i = 0; i < GT_RULE_WAYS; i++)
		if (gt_likely(__atomic_load_n(&set[i].key, __ATOMIC_ACQUIRE) == key)) {
			rule->how = __atomic_load_n(&set[i].how, __ATOMIC_ACQUIRE);
			rule->cfa = __atomic_load_n(&set[i].cfa, __ATOMIC_ACQUIRE);
			return gt_likely(__atomic_load_n(&set[i].key, __ATOMIC_RELAXED) == key);
		}
	return false;
}
static inline uint64_t gt_rule_epoch(const struct gt_rule_cache *c)
{
	return __atomic_load_n(&c->epoch, __ATOMIC_ACQUIRE) << GT_CODE_BITS;
}

/* The epoch of the rules now, as gt_rule_epoch. */
static inline uint64_t gt_unwind_epoch(void)
{
	const struct gt_rule_cache *c = __atomic_load_n(&gt_rule_cache, __ATOMIC_ACQUIRE);

	return c ? gt_rule_epoch(c) : 0;
}

/* Registers of a function at the call that it makes: the address to which the call returns, the
 * stack pointer after the return, and the frame pointer. */
struct gt_frame_registers {
	uintptr_t ra, sp, fp;
};
/* Asks the helper thread for the rule of the return address and of those of its callers, which are
 * found by the other registers in this thread's stack. sp 0: only the address is known. Does
 * nothing if there are too many such requests. Preserves errno. */
void gt_unwind_request(const struct gt_frame_registers *at);

/* The rule of a return address. False: there is none yet, and it has been requested. */
static inline bool gt_unwind_rule(uintptr_t address, struct gt_unwind_rule *rule)
{
	const struct gt_rule_cache *c = __atomic_load_n(&gt_rule_cache, __ATOMIC_ACQUIRE);

	if (gt_likely(c && !((address - 1) >> GT_CODE_BITS) &&
		    gt_rule_lookup(c, gt_rule_epoch(c), address, rule)))
		return true;
	gt_unwind_request(&(struct gt_frame_registers){ .ra = address });
	return false;
}
/* Does the helper handle requests now? Then a rule is available soon. */
bool gt_unwind_is_busy(void);
/* Before the process gets its second thread: starts the helper. Until then, and in a forked child
 * until it does so, the handler of a sample compiles rules itself. */
void gt_unwind_start_helper(void);
/* May this thread list the loaded libraries now? Always outside the handler of a sample. */
bool gt_unwind_may_list(void);
/* The number of the object of an address whose rule is known; 0: none. */
uint32_t gt_unwind_object(uintptr_t address);

/* For tests: waits until the helper has handled all requests, at most so many ms. */
bool gt_unwind_wait(unsigned ms);
/* For tests: rules compiled so far, including those that were forgotten. */
uint64_t gt_unwind_compiled(void);
#endif
