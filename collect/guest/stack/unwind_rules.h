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

/* What `how` consists of, from bit 0:
 *	3 bits	enum gt_rule_kind
 *	16 bits	the caller's frame pointer is saved so many words below the CFA; 0: it is unchanged
 *	13 bits	the return address is saved so many words below the CFA */
struct gt_unwind_rule {
	uint32_t how;
	intptr_t cfa; /* offset of the CFA in bytes */
};
#define GT_RULE_FP_BITS 16
#define GT_RULE_RA_BITS 13

static inline enum gt_rule_kind gt_rule_kind(struct gt_unwind_rule r) { return r.how & 7; }
/* these in bytes */
static inline uintptr_t gt_rule_fp(struct gt_unwind_rule r) { return r.how & 0xffff << 3; }
static inline uintptr_t gt_rule_ra(struct gt_unwind_rule r)
{
#ifdef __x86_64__
	return 8; /* where the call puts it */
#else
	return (r.how & 0xfff80000) >> 16;
#endif
}
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
#define GT_CODE_BITS                                                                               \
	48 /* width of an address of code; bits above it sign it (aarch64) or are 0                \
	    */

/* NULL: not opened, or there is no memory. */
extern struct gt_rule_cache *gt_rule_cache;

/* Reserves the memory. Called before the first walk, on any thread. */
void gt_unwind_open(void);

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

/* Asks the helper thread for the rule of this address, and of those of its callers, which the
 * helper finds from the thread's registers there: stack pointer after the return, frame pointer (0,
 * 0: not known). Does nothing if there are too many such requests. Preserves errno. */
void gt_unwind_request(uintptr_t address, uintptr_t sp, uintptr_t fp);

/* The rule of a return address. False: there is none yet, and it has been requested. */
static inline bool gt_unwind_rule(uintptr_t address, struct gt_unwind_rule *rule)
{
	const struct gt_rule_cache *c = __atomic_load_n(&gt_rule_cache, __ATOMIC_ACQUIRE);

	if (gt_likely(c && !((address - 1) >> GT_CODE_BITS) &&
		    gt_rule_lookup(c, gt_rule_epoch(c), address, rule)))
		return true;
	gt_unwind_request(address, 0, 0);
	return false;
}
/* The number of the object of an address whose rule is known; 0: none. */
uint32_t gt_unwind_object(uintptr_t address);

/* For tests: waits until the helper has handled all requests, at most so many ms. */
bool gt_unwind_wait(unsigned ms);
/* For tests: rules compiled so far, including those that were forgotten. */
uint64_t gt_unwind_compiled(void);
#endif
