/* The rules of the report advice. Each looks at one thing that costs a GPU time, and has one of
 * three answers: found, with its evidence, what it costs, what a remedy could win at most, and a
 * place in the trace to look at; clean; or that it cannot be answered, and why. They are never
 * mixed: what was not recorded is not clean. Costs are GPU time of the window (gpu_window.h). What
 * is idle time has one cause (idle.h), so what rules about causes win is not more than there is;
 * large-gap and low-utilisation look at the same idle time from another side, whatever its cause,
 * and stand behind the others. */
#ifndef GT_ADVICE_RULES_H
#define GT_ADVICE_RULES_H
#include "analyze/advice/advice_facts.h"

struct gt_finding {
	enum gt_answer state; /* GT_ANSWERED: clean */
	/* it cannot be answered, as nobody asked for what it takes: the other rules are an answer
	 * without it */
	bool not_asked;
	char text[400];      /* evidence, or why it cannot be answered */
	uint64_t cost, gain; /* ns of GPU time: what it takes, and what is won at most */
	struct gt_evidence at;
};
struct gt_rule {
	const char *name, *remedy;
	enum {
		GT_NEEDS_NO_GPU = 1 /* does without its records */,
		GT_NEEDS_CALLS = 2 /* to say clean */,
		GT_SAME_TIME = 4 /* what it costs is in what other rules find, too */,
		GT_READS_AGAIN = 8 /* which is for who asks for the report by its name */
	} flags;
	void (*look)(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to);
};
#define GT_RULES 19u
extern const struct gt_rule gt_advice_rules[GT_RULES];

/* window: ns of all GPUs, added; cannot: why nothing can be said of GPUs, or NULL. */
void gt_advice_look(const struct gt_advice_facts *f, const struct gt_rule *rule, uint64_t window,
	const char *cannot, struct gt_finding *to);
static inline double gt_advice_percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}
#endif
