#include "analyze/advice/rules_internal.h"

#include <stdio.h>
#include <string.h>
#include "analyze/steps/steady.h"

bool gt_is_significant(uint64_t ns, uint64_t window, unsigned hundredths)
{
	return ns && (unsigned __int128)ns * 10000 >= (unsigned __int128)window * hundredths;
}

void gt_set_found(struct gt_finding *to, uint64_t cost, uint64_t gain, const struct gt_evidence *at)
{
	to->state = GT_FOUND;
	to->cost = cost;
	to->gain = gain;
	to->at = *at;
}

const char *gt_call_of(const struct gt_advice_facts *f, const struct gt_evidence *e)
{
	if (!e->seg || e->type == GT_NONE)
		return "?";
	return gt_str(e->seg, e->seg->types[e->type - f->idle->order.types[e->seg->index]].name);
}

/* The number of calls of the function of this call that synchronise or launch. */
static uint64_t calls_of(const struct gt_advice_facts *f, const struct gt_evidence *e)
{
	const struct gt_idle *s = f->idle;
	const char *name = gt_call_of(f, e);
	uint64_t n = 0;

	for (uint32_t i = 0; f->calls && i < s->order.nsegs; i++) {
		const struct gt_segment *seg = gt_reader_segment(s->report.reader, i);

		for (uint32_t t = 0; t < seg->ntypes; t++)
			if (f->calls[s->order.types[i] + t] && !strcmp(gt_type_name(seg, t), name))
				n += f->calls[s->order.types[i] + t];
	}
	return n;
}

void gt_put_call_count(
	const struct gt_advice_facts *f, struct gt_finding *to, const struct gt_evidence *e)
{
	const struct gt_steady *steady = f->idle->report.opt->steady;
	size_t steps = f->idle->report.opt->only_steady ? gt_steady_all_steps(steady) : 0;
	uint64_t n = calls_of(f, e);

	if (n && steps)
		snprintf(to->detail, sizeof(to->detail), "%.40s, %.*f a step", gt_call_of(f, e),
			n / steps < 10 && n % steps ? 1 : 0, (double)n / (double)steps);
	else if (n)
		snprintf(to->detail, sizeof(to->detail), "%.40s, %llu call%s", gt_call_of(f, e),
			(unsigned long long)n, n == 1 ? "" : "s");
}

void gt_set_unanswered(struct gt_finding *to, const char *why)
{
	to->state = GT_UNANSWERED;
	SET_TEXT(to, "%s", why);
}

const struct gt_rule gt_advice_rules[GT_RULES] = {
	{ "host-bound", "code outside CUDA",
		"give the GPU more work at a time, or move this code to another thread",
		GT_NEEDS_CALLS | GT_REPEATED, gt_rule_host_bound },
	{ "off-processor", "threads off the processor", "gtanalyze offcpu", GT_NEEDS_CALLS,
		gt_rule_off_processor },
	{ "process-start", "starting processes",
		"start processes before their work is needed, and keep them for later work",
		GT_NEEDS_CALLS, gt_rule_process_start },
	{ "launch-bound", "launching work", "use CUDA graphs, or fewer and larger kernels",
		GT_NEEDS_CALLS | GT_REPEATED, gt_rule_launch_bound },
	{ "sync-in-loop", "synchronising", "synchronise later, on an event, or not at all",
		GT_NEEDS_CALLS | GT_REPEATED, gt_rule_sync_in_loop },
	{ "pageable-copy", "copying pageable memory",
		"use pinned memory (cudaMallocHost, pin_memory)", GT_NEEDS_CALLS,
		gt_rule_pageable_copy },
	{ "blocking-copy", "blocking copies", "use asynchronous copies on a stream of their own", 0,
		gt_rule_blocking_copy },
	{ "blocking-set", "blocking memsets", "use cudaMemsetAsync", 0, gt_rule_blocking_set },
	{ "small-copies", "small copies", "pack the data, and copy it at once", 0,
		gt_rule_small_copy },
	{ "alloc-in-loop", "allocating memory",
		"use a memory pool (cudaMallocAsync), or reuse memory", GT_NEEDS_CALLS,
		gt_rule_alloc_in_loop },
	{ "module-loading-in-loop", "loading modules",
		"load them before the loop (CUDA_MODULE_LOADING=EAGER)", GT_NEEDS_CALLS,
		gt_rule_module_in_loop },
	{ "driver-in-loop", "time in the kernel driver",
		"find the call that goes to the driver: gtanalyze ioctls gaps", GT_NEEDS_CALLS,
		gt_rule_driver_in_loop },
	{ "exposed-communication", "communication", "overlap communication with compute", 0,
		gt_rule_exposed_communication },
	{ "waits-elsewhere", "waiting for another stream",
		"find the operation that the event waits for", GT_NEEDS_CALLS,
		gt_rule_waits_elsewhere },
	{ "unbalanced-gpus", "GPUs that wait for one another",
		"distribute the work evenly, or find what is late: gtanalyze collectives", 0,
		gt_rule_unbalanced },
	{ "profiler-overhead", "profiler overhead", "record less", GT_NEEDS_CALLS,
		gt_rule_profiled },
	{ "serialised-streams", "streams that run one after the other",
		"if one is the default stream: use streams that do not wait for it (cudaStreamNonBlocking); else smaller grids",
		GT_NEEDS_CALLS, gt_rule_serialised },
	{ "large-gap", "long gaps", "find what the host does then: gtanalyze gaps", GT_SAME_TIME,
		gt_rule_large_gap },
	{ "low-utilisation", "low utilisation", "find what the host does then: gtanalyze gaps",
		GT_SAME_TIME, gt_rule_low_utilisation },
	{ "throttled-clocks", "throttled clocks", "improve cooling, or raise the power limit", 0,
		gt_rule_throttled },
	{ "leak", "memory that is never freed", "free the memory, or reuse it", GT_NEEDS_NO_GPU,
		gt_rule_leak },
};

uint64_t gt_advice_per_step(const struct gt_idle *s, uint64_t part)
{
	const struct gt_steady *steady = s->report.opt->steady;
	size_t steps = s->report.opt->only_steady ? gt_steady_all_steps(steady) : 0;

	return steps ? part / steps : 0;
}

bool gt_is_one_event(const struct gt_finding *f)
{
	return f->at.seg && (uint64_t)(f->at.to - f->at.from) >= f->cost - f->cost / 2;
}

void gt_advice_apply(const struct gt_advice_facts *f, const struct gt_rule *rule, uint64_t window,
	const char *why, struct gt_finding *to)
{
	const struct gt_cause_facts *c = f->causes;
	uint64_t calls = gt_sat_add(gt_sat_add(c[GT_IDLE_UNSEEN].ns, c[GT_IDLE_UNJOINED].ns),
		gt_sat_add(c[GT_IDLE_LOST].ns, c[GT_IDLE_TOO_MUCH].ns));

	memset(to, 0, sizeof(*to));
	if (!window)
		why = why ? why : "the selected time range is empty";
	if (why && !(rule->flags & GT_NEEDS_NO_GPU))
		gt_set_unanswered(to, why);
	else
		rule->apply(f, window, to);
	if (to->state == GT_FOUND && rule->flags & GT_REPEATED && !to->remedy &&
		gt_is_one_event(to))
		to->remedy = "look at this moment first";
	if (to->state == GT_ANSWERED && rule->flags & GT_NEEDS_CALLS &&
		gt_is_significant(calls, window, FIND_MOST)) {
		to->state = GT_UNANSWERED;
		SET_TEXT(to, "for %s of idle time the activity of the host is unknown",
			ns_text(calls));
	} else if (to->state == GT_ANSWERED && rule->flags & GT_NEEDS_CALLS &&
		gt_is_significant(c[GT_IDLE_SHORT].ns, window, FIND)) {
		to->state = GT_UNANSWERED;
		SET_TEXT(to, "%s of idle time are gaps shorter than --min, which are ignored",
			ns_text(c[GT_IDLE_SHORT].ns));
	} else if (to->state == GT_ANSWERED && !(rule->flags & GT_NEEDS_NO_GPU) &&
		gt_is_significant(f->unsure, window, FIND_MOST)) {
		to->state = GT_UNANSWERED;
		SET_TEXT(to, "GPU records were lost: for %s it is unknown whether the GPU worked",
			ns_text(f->unsure));
	}
}
