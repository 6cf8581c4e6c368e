/* Rules about what the host does while a GPU is idle: code, calls, copies. */
#include "analyze/advice/rules_internal.h"

#include <stdio.h>
#include <string.h>

void gt_rule_host_bound(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to)
{
	const struct gt_cause_facts *c = &f->causes[GT_IDLE_OUTSIDE];
	struct gt_waiting_lines first = f->waiting.running;

	if (!gt_is_significant(c->ns, window, FIND_MOST))
		return;
	gt_set_found(to, c->ns, c->ns, &c->longest);
	SET_TEXT(to, "the GPU waits %s for code outside CUDA, %llu time%s between calls",
		ns_text(c->ns), (unsigned long long)c->slices, gt_plural(c->slices, "s"));
	gt_waiting_lines_put(
		&f->waiting.running, f->idle->shares.sum.outside, ": ", to->text, sizeof(to->text));
	first.n = first.n ? 1 : 0;
	gt_waiting_lines_put(
		&first, f->idle->shares.sum.outside, "", to->detail, sizeof(to->detail));
}

/* States of the launching thread off the processor, outside calls or while it is runnable. */
static const struct {
	enum gt_idle_cause cause;
	const char *remedy;
} off_causes[] = {
	{ GT_IDLE_RUNNABLE,
		"use fewer threads or more processors, or keep other processes off them (taskset)" },
	{ GT_IDLE_LOCK,
		"find the reason of the wait: gtanalyze offcpu names the thread that ends it" },
	{ GT_IDLE_GIL, "let other threads hold the GIL less: move their Python code to processes" },
	{ GT_IDLE_PIPE,
		"have the data ready before it is needed: more workers, or a longer queue" },
	{ GT_IDLE_SOCKET,
		"have the data ready before it is needed: more workers, or a longer queue" },
	{ GT_IDLE_IO, "read and write in another thread, ahead of the GPU's work" },
	{ GT_IDLE_ASLEEP, "wait for an event in place of sleeping for a fixed time" },
	{ GT_IDLE_FAULT, "touch or lock memory before the loop (MAP_POPULATE, mlock)" },
	{ GT_IDLE_OFF_CPU, "find the reason of the wait: gtanalyze offcpu" },
};
#define OFF_CAUSES (sizeof(off_causes) / sizeof(*off_causes))

/* Appends the process that preempts threads most. */
static void put_preemption(const struct gt_advice_facts *f, struct gt_finding *to)
{
	const struct gt_preemption *p = gt_preemptions_most(&f->preemptions);
	size_t n = strlen(to->text);
	const char *name = "";

	if (!p)
		return;
	for (uint32_t i = 0; i < f->idle->order.nsegs; i++) {
		const struct gt_segment *seg = gt_reader_segment(f->idle->report.reader, i);

		for (uint32_t t = 0; t < seg->ntracks; t++)
			if (seg->tracks[t].kind == GT_TRACK_PROCESS &&
				(uint64_t)seg->tracks[t].id == p->pid &&
				seg->tracks[t].name != GT_NONE)
				name = gt_str(seg, seg->tracks[t].name);
	}
	snprintf(to->text + n, sizeof(to->text) - n,
		"; process %llu%s%.60s%s preempts threads most, for %s of %s",
		(unsigned long long)p->pid, *name ? " (" : "", name, *name ? ")" : "",
		ns_text(p->ns), ns_text(f->preemptions.ns));
}

/* Appends the causes with a significant part. */
static void put_off_causes(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to)
{
	const char *before = ": ";

	for (size_t i = 0; i < OFF_CAUSES; i++) {
		uint64_t ns = f->causes[off_causes[i].cause].ns;
		size_t n = strlen(to->text);

		if (!gt_is_significant(ns, window, FIND))
			continue;
		snprintf(to->text + n, sizeof(to->text) - n, "%s%s %s", before, ns_text(ns),
			gt_idle_words(off_causes[i].cause));
		before = ", ";
		if (off_causes[i].cause == GT_IDLE_GIL)
			gt_host_put_gil_holder(&f->idle->shares, f->idle->report.reader, " ",
				to->text, sizeof(to->text));
	}
}

void gt_rule_off_processor(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to)
{
	const struct gt_cause_facts *c = f->causes;
	uint64_t sum = 0;
	size_t most = 0;

	if (!gt_has_thread_states(f->idle->report.reader)) {
		gt_set_unanswered(to, "switches of threads were not recorded");
		to->not_requested = true;
		return;
	}
	for (size_t i = 0; i < OFF_CAUSES; i++) {
		sum = gt_sat_add(sum, c[off_causes[i].cause].ns);
		most = c[off_causes[i].cause].ns > c[off_causes[most].cause].ns ? i : most;
	}
	if (!gt_is_significant(sum, window, FIND_MOST))
		return;
	gt_set_found(to, sum, sum, &c[off_causes[most].cause].longest);
	to->remedy = off_causes[most].remedy;
	snprintf(to->detail, sizeof(to->detail), "%s", gt_idle_words(off_causes[most].cause));
	SET_TEXT(to, "the GPU waits %s while the launching thread is off the processor",
		ns_text(sum));
	put_off_causes(f, window, to);
	gt_waiting_lines_put(&f->waiting.waits, sum, "; ", to->text, sizeof(to->text));
	if (gt_is_significant(c[GT_IDLE_RUNNABLE].ns, window, FIND_MOST))
		put_preemption(f, to);
}

/* Processes that share a GPU and start one after the other leave it idle meanwhile. */
void gt_rule_process_start(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to)
{
	const struct gt_cause_facts *c = &f->causes[GT_IDLE_STARTING];

	if (!gt_is_significant(c->ns, window, FIND))
		return;
	gt_set_found(to, c->ns, c->ns, &c->longest);
	SET_TEXT(to,
		"the GPU waits %s while another process starts: its imports, cuInit, contexts and modules, until its first GPU operation",
		ns_text(c->ns));
}

static bool launches_graph(const struct gt_advice_facts *f, const struct gt_evidence *e)
{
	return e->seg && e->type != GT_NONE &&
		e->seg->types[e->type - f->idle->order.types[e->seg->index]].op ==
		GT_OP_GRAPH_LAUNCH;
}

void gt_rule_launch_bound(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to)
{
	const struct gt_cause_facts *c = &f->launching, *q = &f->causes[GT_IDLE_QUEUED];
	struct gt_evidence at = c->longest;

	if (!gt_is_significant(gt_sat_add(c->ns, q->ns), window, FIND_MOST))
		return;
	if (q->longest.seg)
		gt_evidence_keep_longest(&at, &q->longest);
	gt_set_found(to, gt_sat_add(c->ns, q->ns), gt_sat_add(c->ns, q->ns), &at);
	SET_TEXT(to,
		"the GPU waits %s in calls that launch, and %s from their return to the start of the work",
		ns_text(c->ns), ns_text(q->ns));
	gt_put_call_count(f, to, gt_is_one_event(to) ? &at : &c->longest);
	if (f->syncs >= f->launches / 2 && f->causes[GT_IDLE_SYNC].slices >= LOOP)
		to->remedy = "synchronise less often: launches then overlap with GPU work";
	else if (!gt_is_one_event(to) &&
		(f->graph_launches > f->launches / 2 || launches_graph(f, &at)))
		to->remedy = "put more work into a graph, or fewer and larger nodes";
}

void gt_rule_sync_in_loop(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to)
{
	const struct gt_cause_facts *c = &f->causes[GT_IDLE_SYNC];

	if (!gt_is_significant(c->ns, window, FIND) || c->slices < LOOP)
		return;
	gt_set_found(to, c->ns, c->ns, &c->longest);
	SET_TEXT(to, "the GPU is idle for %s in %llu of %llu calls that synchronise, most in %s",
		ns_text(c->ns), (unsigned long long)f->idle_syncs, (unsigned long long)f->syncs,
		gt_call_of(f, &c->longest));
	gt_put_call_count(f, to, &c->longest);
	if (f->migrated_ns < c->ns / 4)
		return;
	snprintf(to->text + strlen(to->text), sizeof(to->text) - strlen(to->text),
		"; meanwhile managed memory migrates for %s", ns_text(f->migrated_ns));
	snprintf(to->detail, sizeof(to->detail), "managed memory migrates");
	to->remedy = "keep managed memory where it is used (cudaMemPrefetchAsync), or copy it";
}

/* With pinned memory nothing waits, and copies are faster: their whole time is the upper bound. */
void gt_rule_pageable_copy(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to)
{
	const struct gt_cause_facts *c = &f->causes[GT_IDLE_PAGEABLE];
	uint64_t all;

	if (!gt_is_significant(c->ns, window, FIND) &&
		!(f->pageable_async.n >= SOME && gt_is_significant(f->pageable.ns, window, FIND)))
		return;
	all = gt_sat_add(c->ns, f->pageable.ns);
	all = all < window ? all : window; /* overlapping copies count in full */
	gt_set_found(to, all, all, c->ns ? &c->longest : &f->pageable.longest);
	SET_TEXT(to,
		"%llu of %llu copies use pageable memory (%llu called asynchronous are not): the GPU waits %s for the driver's own copy, and copies for %s",
		(unsigned long long)f->pageable.n, (unsigned long long)f->copies.n,
		(unsigned long long)f->pageable_async.n, ns_text(c->ns), ns_text(f->pageable.ns));
}

void gt_rule_blocking_copy(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to)
{
	if (f->blocking.n < SOME || !gt_is_significant(f->blocking.ns, window, FIND))
		return;
	gt_set_found(to, f->blocking.ns, f->blocking.ns, &f->blocking.longest);
	SET_TEXT(to, "%llu of %llu copies block the calling thread until they end: %s on the GPU",
		(unsigned long long)f->blocking.n, (unsigned long long)f->copies.n,
		ns_text(f->blocking.ns));
}

void gt_rule_blocking_set(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to)
{
	if (f->sets_blocking.n < SOME || !gt_is_significant(f->sets_blocking.ns, window, FIND))
		return;
	gt_set_found(to, f->sets_blocking.ns, f->sets_blocking.ns, &f->sets_blocking.longest);
	SET_TEXT(to, "%llu memsets block the calling thread until they end: %s on the GPU",
		(unsigned long long)f->sets_blocking.n, ns_text(f->sets_blocking.ns));
}

void gt_rule_small_copy(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to)
{
	if (f->small.n < SOME || f->small.n * 2 < f->copies.n ||
		!gt_is_significant(f->small.ns, window, FIND))
		return;
	gt_set_found(to, f->small.ns, f->small.ns, &f->small.longest);
	SET_TEXT(to,
		"%llu of %llu copies have less than 64 KiB (%.1f KiB on average) and take %s of GPU time",
		(unsigned long long)f->small.n, (unsigned long long)f->copies.n,
		(double)f->small.bytes / 1024 / (double)f->small.n, ns_text(f->small.ns));
}

/* A repeated cause occurs in both halves of the operations; the first half alone is warm-up. */
static void late_cause(const struct gt_advice_facts *f, enum gt_idle_cause cause, uint64_t window,
	const char *what, struct gt_finding *to)
{
	const struct gt_cause_facts *c = &f->causes[cause];
	uint64_t loop = gt_sat_add(c->late_ns, c->late_ns);
	char half[96] = "";

	if (!gt_is_significant(c->late_ns, window, FIND))
		return;
	gt_set_found(to, c->ns, loop < c->ns ? loop : c->ns, &c->latest_longest);
	if (!f->idle->report.opt->filter.ranged && !f->idle->report.opt->filter.pid)
		snprintf(half, sizeof(half), ", %s of it in the second half of its work",
			ns_text(c->late_ns));
	SET_TEXT(to, "the GPU waits %s while %s%s (%llu time%s), longest in %s", ns_text(c->ns),
		what, half, (unsigned long long)c->late_slices, gt_plural(c->late_slices, "s"),
		gt_call_of(f, &c->latest_longest));
}

void gt_rule_alloc_in_loop(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to)
{
	late_cause(f, GT_IDLE_MEMORY, window, "memory is allocated or freed", to);
}

void gt_rule_module_in_loop(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to)
{
	late_cause(f, GT_IDLE_MODULE, window, "code is loaded", to);
}

void gt_rule_driver_in_loop(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to)
{
	late_cause(f, GT_IDLE_IOCTL, window, "the program is in the kernel driver", to);
}
