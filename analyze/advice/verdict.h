/* The verdict of the default report: how busy the GPUs are, and the largest loss, in two sentences.
 */
#ifndef GT_VERDICT_H
#define GT_VERDICT_H
#include "analyze/advice/advice_rules.h"

/* Makes the table "verdict". rule, finding: the first one of the answers; NULL: no rule found
 * anything. unanswered: rules that cannot answer though their data was requested. cannot: why there
 * are no figures of GPUs, or NULL. window: ns, sum of all GPUs. The caller owns the table. NULL
 * with err filled in. */
struct gt_table *gt_verdict(const struct gt_advice_facts *f, const struct gt_rule *rule,
	const struct gt_finding *finding, unsigned unanswered, const char *cannot, uint64_t window,
	struct gt_err *err);
#endif
