/* The rules of the report "advice". Each rule checks for one cause of lost GPU time and has one of
 * three answers: found, with evidence, cost, an upper bound of the gain of a remedy, and an example
 * in the trace; clean; or cannot answer, with the reason. If the data was not recorded, a rule is
 * never clean. Costs are GPU time of the window (gpu_window.h). Idle time has one cause (idle.h),
 * so the gains of the rules about causes add up to no more than the idle time. large-gap and
 * low-utilisation count the same idle time whatever its cause, and come last. */
#ifndef GT_ADVICE_RULES_H
#define GT_ADVICE_RULES_H
#include "analyze/advice/advice_facts.h"

struct gt_finding {
	enum gt_answer state; /* GT_ANSWERED: clean */
	/* cannot answer because an option was not given; the report as a whole is still an answer
	 */
	bool not_requested;
	char text[400];      /* evidence, or the reason of GT_UNANSWERED */
	char detail[80];     /* found: what loses most of the time, in a few words; may be empty */
	const char *remedy;  /* NULL: that of the rule. Static */
	uint64_t cost, gain; /* ns of GPU time: lost, and saved at most */
	uint64_t bytes;      /* memory that is lost; then cost and gain are 0 */
	struct gt_evidence at;
};
struct gt_rule {
	const char *name;
	const char *loss; /* what loses the time, as in "the largest loss is" */
	const char *remedy;
	enum {
		GT_NEEDS_NO_GPU = 1 /* needs no GPU records */,
		GT_NEEDS_CALLS = 2 /* needs calls to be clean */,
		GT_SAME_TIME = 4 /* other rules count the same time */,
		GT_REPEATED = 8 /* the remedy is for a loss that repeats */
	} flags;
	void (*apply)(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to);
};
#define GT_RULES 21u
extern const struct gt_rule gt_advice_rules[GT_RULES];

static inline const char *gt_remedy(const struct gt_rule *rule, const struct gt_finding *f)
{
	return f->remedy ? f->remedy : rule->remedy;
}
/* window: ns, sum of all GPUs; cannot: why there are no figures of GPUs, or NULL. */
void gt_advice_apply(const struct gt_advice_facts *f, const struct gt_rule *rule, uint64_t window,
	const char *cannot, struct gt_finding *to);
/* The mean of `part` per steady step of a GPU; 0: there are none. */
uint64_t gt_advice_per_step(const struct gt_idle *s, uint64_t part);
static inline double gt_advice_percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}
#endif
