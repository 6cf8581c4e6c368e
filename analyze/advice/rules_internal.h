/* Private to this folder: the rules, and what they share. The table of all rules is in
 * advice_rules.c. */
#ifndef GT_RULES_INTERNAL_H
#define GT_RULES_INTERNAL_H
#include "analyze/advice/advice_rules.h"

/* smallest share of the window that is a finding, in hundredths of a percent */
#define FIND 100u
#define FIND_MOST 500u /* the same for causes that occur in every program */
#define LOOP 10u       /* smallest number of waits that is a loop */
#define SOME 100u      /* smallest number of copies or sets that is a finding */

#define ns_text(ns) gt_scaled(GT_C_NS, gt_clamp(ns)).text
#define percent gt_advice_percent
#define SET_TEXT(to, ...) snprintf((to)->text, sizeof((to)->text), __VA_ARGS__)

bool gt_is_significant(uint64_t ns, uint64_t window, unsigned hundredths);
/* Is one event most of a loss that usually repeats? */
bool gt_is_one_event(const struct gt_finding *f);
void gt_set_found(
	struct gt_finding *to, uint64_t cost, uint64_t gain, const struct gt_evidence *at);
void gt_set_unanswered(struct gt_finding *to, const char *why);
/* The function of the call. Static or of the trace. */
const char *gt_call_of(const struct gt_advice_facts *f, const struct gt_evidence *e);
/* Sets the detail to "cuLaunchKernel, 1064 a step"; without steps, the number of all its calls. */
void gt_put_call_count(
	const struct gt_advice_facts *f, struct gt_finding *to, const struct gt_evidence *e);

void gt_rule_host_bound(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to);
void gt_rule_off_processor(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to);
void gt_rule_process_start(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to);
void gt_rule_launch_bound(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to);
void gt_rule_sync_in_loop(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to);
void gt_rule_pageable_copy(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to);
void gt_rule_blocking_copy(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to);
void gt_rule_blocking_set(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to);
void gt_rule_small_copy(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to);
void gt_rule_alloc_in_loop(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to);
void gt_rule_module_in_loop(
	const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to);
void gt_rule_driver_in_loop(
	const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to);
void gt_rule_exposed_communication(
	const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to);
void gt_rule_waits_elsewhere(
	const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to);
void gt_rule_unbalanced(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to);
void gt_rule_profiled(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to);
void gt_rule_serialised(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to);
void gt_rule_large_gap(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to);
void gt_rule_low_utilisation(
	const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to);
void gt_rule_throttled(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to);
void gt_rule_leak(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to);
#endif
