/* The verdict of the default report: how busy the GPUs are, and the largest loss, in two sentences.
 * Further ones follow if memory leaks, and if the steps change. */
#ifndef GT_VERDICT_H
#define GT_VERDICT_H
#include "analyze/advice/advice_rules.h"

struct gt_verdict {
	const struct gt_rule *rule; /* of the first finding; NULL: no rule found anything */
	const struct gt_finding *finding, *leak; /* the first one; that of memory, or NULL */
	unsigned unanswered; /* rules that cannot answer though their data was requested */
	const char *cannot;  /* why there are no figures of GPUs, or NULL */
	uint64_t window;     /* ns, sum of all GPUs */
};
/* Makes the table "verdict". The caller owns it. NULL with err filled in. */
struct gt_table *gt_verdict_table(
	const struct gt_advice_facts *f, const struct gt_verdict *v, struct gt_err *err);
#endif
