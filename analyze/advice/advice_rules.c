#include "analyze/advice/advice_rules.h"

#include <stdio.h>
#include <string.h>
#include "analyze/steps/steady.h"

/* smallest share of the window that is a finding, in hundredths of a percent */
#define FIND 100u
#define FIND_MOST 500u /* the same for causes that occur in every program */
#define LOOP 10u       /* smallest number of waits that is a loop */
#define SOME 100u      /* smallest number of copies or sets that is a finding */

#define ns_text(ns) gt_scaled(GT_C_NS, gt_clamp(ns)).text
#define percent gt_advice_percent
static bool is_significant(uint64_t ns, uint64_t window, unsigned hundredths)
{
	return ns && (unsigned __int128)ns * 10000 >= (unsigned __int128)window * hundredths;
}

#define SET_TEXT(to, ...) snprintf((to)->text, sizeof((to)->text), __VA_ARGS__)

static void found(struct gt_finding *to, uint64_t cost, uint64_t gain, const struct gt_evidence *at)
{
	to->state = GT_FOUND;
	to->cost = cost;
	to->gain = gain;
	to->at = *at;
}

static const char *call_of(const struct gt_advice_facts *f, const struct gt_evidence *e)
{
	if (!e->seg || e->type == GT_NONE)
		return "?";
	return gt_str(e->seg, e->seg->types[e->type - f->idle->order.types[e->seg->index]].name);
}

/* The number of calls of the function of this call that synchronise or launch. */
static uint64_t calls_of(const struct gt_advice_facts *f, const struct gt_evidence *e)
{
	const struct gt_idle *s = f->idle;
	const char *name = call_of(f, e);
	uint64_t n = 0;

	for (uint32_t i = 0; f->calls && i < s->order.nsegs; i++) {
		const struct gt_segment *seg = gt_reader_segment(s->report.reader, i);

		for (uint32_t t = 0; t < seg->ntypes; t++)
			if (f->calls[s->order.types[i] + t] && !strcmp(gt_type_name(seg, t), name))
				n += f->calls[s->order.types[i] + t];
	}
	return n;
}

/* Sets the detail to "cuLaunchKernel, 1064 a step"; without steps, the number of all its calls. */
static void put_count(
	const struct gt_advice_facts *f, struct gt_finding *to, const struct gt_evidence *e)
{
	const struct gt_steady *steady = f->idle->report.opt->steady;
	size_t steps = f->idle->report.opt->only_steady ? gt_steady_all_steps(steady) : 0;
	uint64_t n = calls_of(f, e);

	if (n && steps)
		snprintf(to->detail, sizeof(to->detail), "%.40s, %.*f a step", call_of(f, e),
			n / steps < 10 && n % steps ? 1 : 0, (double)n / (double)steps);
	else if (n)
		snprintf(to->detail, sizeof(to->detail), "%.40s, %llu calls", call_of(f, e),
			(unsigned long long)n);
}

static void cannot(struct gt_finding *to, const char *why)
{
	to->state = GT_UNANSWERED;
	SET_TEXT(to, "%s", why);
}

/* ---- rules ---- */

static void host_bound(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to)
{
	const struct gt_cause_facts *c = &f->causes[GT_IDLE_OUTSIDE];

	if (!is_significant(c->ns, window, FIND_MOST))
		return;
	found(to, c->ns, c->ns, &c->longest);
	SET_TEXT(to, "the GPU waits %s for code outside CUDA, %llu time%s between calls",
		ns_text(c->ns), (unsigned long long)c->slices, gt_plural(c->slices, "s"));
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

		if (!is_significant(ns, window, FIND))
			continue;
		snprintf(to->text + n, sizeof(to->text) - n, "%s%s %s", before, ns_text(ns),
			gt_idle_words(off_causes[i].cause));
		before = ", ";
	}
}

static void off_processor(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to)
{
	const struct gt_cause_facts *c = f->causes;
	uint64_t sum = 0;
	size_t most = 0;

	if (!gt_has_thread_states(f->idle->report.reader)) {
		cannot(to, "switches of threads were not recorded");
		to->not_requested = true;
		return;
	}
	for (size_t i = 0; i < OFF_CAUSES; i++) {
		sum = gt_sat_add(sum, c[off_causes[i].cause].ns);
		most = c[off_causes[i].cause].ns > c[off_causes[most].cause].ns ? i : most;
	}
	if (!is_significant(sum, window, FIND_MOST))
		return;
	found(to, sum, sum, &c[off_causes[most].cause].longest);
	to->remedy = off_causes[most].remedy;
	snprintf(to->detail, sizeof(to->detail), "%s", gt_idle_words(off_causes[most].cause));
	SET_TEXT(to, "the GPU waits %s while the launching thread is off the processor",
		ns_text(sum));
	put_off_causes(f, window, to);
	if (is_significant(c[GT_IDLE_RUNNABLE].ns, window, FIND_MOST))
		put_preemption(f, to);
}

/* Processes that share a GPU and start one after the other leave it idle meanwhile. */
static void process_start(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to)
{
	const struct gt_cause_facts *c = &f->causes[GT_IDLE_STARTING];

	if (!is_significant(c->ns, window, FIND))
		return;
	found(to, c->ns, c->ns, &c->longest);
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

static void launch_bound(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to)
{
	const struct gt_cause_facts *c = &f->launching, *q = &f->causes[GT_IDLE_QUEUED];

	if (!is_significant(gt_sat_add(c->ns, q->ns), window, FIND_MOST))
		return;
	found(to, gt_sat_add(c->ns, q->ns), gt_sat_add(c->ns, q->ns),
		c->ns ? &c->longest : &q->longest);
	SET_TEXT(to,
		"the GPU waits %s in calls that launch, and %s from their return to the start of the work",
		ns_text(c->ns), ns_text(q->ns));
	put_count(f, to, &c->longest);
	if (f->syncs >= f->launches / 2 && f->causes[GT_IDLE_SYNC].slices >= LOOP)
		to->remedy = "synchronise less often: launches then overlap with GPU work";
	else if (f->graph_launches > f->launches / 2 || launches_graph(f, &c->longest))
		to->remedy = "put more work into a graph, or fewer and larger nodes";
}

static void sync_in_loop(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to)
{
	const struct gt_cause_facts *c = &f->causes[GT_IDLE_SYNC];

	if (!is_significant(c->ns, window, FIND) || c->slices < LOOP)
		return;
	found(to, c->ns, c->ns, &c->longest);
	SET_TEXT(to, "the GPU is idle for %s in %llu of %llu calls that synchronise, most in %s",
		ns_text(c->ns), (unsigned long long)f->idle_syncs, (unsigned long long)f->syncs,
		call_of(f, &c->longest));
	put_count(f, to, &c->longest);
	if (f->migrated_ns < c->ns / 4)
		return;
	snprintf(to->text + strlen(to->text), sizeof(to->text) - strlen(to->text),
		"; meanwhile managed memory migrates for %s", ns_text(f->migrated_ns));
	snprintf(to->detail, sizeof(to->detail), "managed memory migrates");
	to->remedy = "keep managed memory where it is used (cudaMemPrefetchAsync), or copy it";
}

/* With pinned memory nothing waits, and copies are faster: their whole time is the upper bound. */
static void pageable_copy(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to)
{
	const struct gt_cause_facts *c = &f->causes[GT_IDLE_PAGEABLE];
	uint64_t all;

	if (!is_significant(c->ns, window, FIND) &&
		!(f->pageable_async.n >= SOME && is_significant(f->pageable.ns, window, FIND)))
		return;
	all = gt_sat_add(c->ns, f->pageable.ns);
	all = all < window ? all : window; /* overlapping copies count in full */
	found(to, all, all, c->ns ? &c->longest : &f->pageable.longest);
	SET_TEXT(to,
		"%llu of %llu copies use pageable memory (%llu called asynchronous are not): the GPU waits %s for the driver's own copy, and copies for %s",
		(unsigned long long)f->pageable.n, (unsigned long long)f->copies.n,
		(unsigned long long)f->pageable_async.n, ns_text(c->ns), ns_text(f->pageable.ns));
}

static void blocking_copy(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to)
{
	if (f->blocking.n < SOME || !is_significant(f->blocking.ns, window, FIND))
		return;
	found(to, f->blocking.ns, f->blocking.ns, &f->blocking.longest);
	SET_TEXT(to, "%llu of %llu copies block the calling thread until they end: %s on the GPU",
		(unsigned long long)f->blocking.n, (unsigned long long)f->copies.n,
		ns_text(f->blocking.ns));
}

static void blocking_set(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to)
{
	if (f->sets_blocking.n < SOME || !is_significant(f->sets_blocking.ns, window, FIND))
		return;
	found(to, f->sets_blocking.ns, f->sets_blocking.ns, &f->sets_blocking.longest);
	SET_TEXT(to, "%llu memsets block the calling thread until they end: %s on the GPU",
		(unsigned long long)f->sets_blocking.n, ns_text(f->sets_blocking.ns));
}

static void small_copy(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to)
{
	if (f->small.n < SOME || f->small.n * 2 < f->copies.n ||
		!is_significant(f->small.ns, window, FIND))
		return;
	found(to, f->small.ns, f->small.ns, &f->small.longest);
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

	if (!is_significant(c->late_ns, window, FIND))
		return;
	found(to, c->ns, loop < c->ns ? loop : c->ns, &c->latest_longest);
	if (!f->idle->report.opt->filter.ranged && !f->idle->report.opt->filter.pid)
		snprintf(half, sizeof(half), ", %s of it in the second half of its work",
			ns_text(c->late_ns));
	SET_TEXT(to, "the GPU waits %s while %s%s (%llu time%s), longest in %s", ns_text(c->ns),
		what, half, (unsigned long long)c->late_slices, gt_plural(c->late_slices, "s"),
		call_of(f, &c->latest_longest));
}

static void alloc_in_loop(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to)
{
	late_cause(f, GT_IDLE_MEMORY, window, "memory is allocated or freed", to);
}

static void module_in_loop(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to)
{
	late_cause(f, GT_IDLE_MODULE, window, "code is loaded", to);
}

static void driver_in_loop(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to)
{
	late_cause(f, GT_IDLE_IOCTL, window, "the program is in the kernel driver", to);
}

/* A time span of a GPU as evidence. */
static struct gt_evidence on_gpu(const struct gt_idle_device *d, struct gt_idle_time t)
{
	return (struct gt_evidence){ t.to > t.from ? d->seg : NULL, t.from, t.to, GT_NONE, GT_NONE,
		d->number };
}

static void exposed_communication(
	const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to)
{
	struct gt_evidence longest = { .seg = NULL };
	uint64_t ns = 0;

	for (size_t i = 0; i < f->idle->ndevices; i++) {
		struct gt_evidence one =
			on_gpu(&f->idle->devices[i], f->idle->devices[i].longest_exposed);

		ns = gt_sat_add(ns, f->idle->devices[i].kind[GT_WORK_COMMUNICATION]);
		if (one.seg)
			gt_evidence_keep_longest(&longest, &one);
	}
	if (!is_significant(ns, window, FIND_MOST))
		return;
	found(to, ns, ns, &longest);
	SET_TEXT(to, "GPUs communicate for %s while nothing computes", ns_text(ns));
}

/* The work of a GPU without communication. A GPU with less of it waits for the others in
 * communication, and so is as busy as they are. */
static uint64_t own_work(const struct gt_idle_device *d)
{
	return gt_sat_add(d->kind[GT_WORK_COMPUTE], d->kind[GT_WORK_COPY]);
}

/* Where a GPU waits for GPUs with more work: in communication, or idle. */
static struct gt_evidence where_it_waits(const struct gt_idle_device *d)
{
	return on_gpu(
		d, d->longest_exposed.to > d->longest_exposed.from ? d->longest_exposed : d->gap);
}

/* Adds that one GPU works longer than another one. */
static void unbalanced_work(const struct gt_advice_facts *f, struct gt_finding *to)
{
	const struct gt_idle_device *all = f->idle->devices, *most = all, *least = all;
	struct gt_evidence at;
	uint64_t span = 0, more;

	for (size_t i = 0; i < f->idle->ndevices; i++) {
		most = own_work(&all[i]) > own_work(most) ? &all[i] : most;
		least = own_work(&all[i]) < own_work(least) ? &all[i] : least;
		span = all[i].window > span ? all[i].window : span;
	}
	more = f->idle->ndevices ? own_work(most) - own_work(least) : 0;
	if (f->idle->ndevices < 2 || !is_significant(more, span, 1000))
		return;
	at = where_it_waits(least);
	if (to->state != GT_FOUND)
		found(to, more, more, &at);
	snprintf(to->text + strlen(to->text), sizeof(to->text) - strlen(to->text),
		"%s%s works for %s (without communication) and %s for %s", *to->text ? "; " : "",
		gt_gpu_label_of(&f->idle->report, most->seg, most->track).text,
		ns_text(own_work(most)),
		gt_gpu_label_of(&f->idle->report, least->seg, least->track).text,
		ns_text(own_work(least)));
}

/* The exposed communication of all GPUs but this one (NULL: of all): waits that compute hides cost
 * nothing. */
static uint64_t exposed_elsewhere(const struct gt_idle *s, const struct gt_collective_gpu *gpu)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < s->ndevices; i++)
		if (!gpu || s->devices[i].seg != gpu->seg || s->devices[i].track != gpu->track)
			ns = gt_sat_add(ns, s->devices[i].kind[GT_WORK_COMMUNICATION]);
	return ns;
}

/* One GPU arrives late at collectives, for whatever reason: the others wait there. */
static void one_is_late(const struct gt_advice_facts *f, const struct gt_collective_gpu *late,
	uint64_t window, struct gt_finding *to)
{
	uint64_t exposed = exposed_elsewhere(f->idle, late);

	found(to, late->f.caused, late->f.caused < exposed ? late->f.caused : exposed,
		&late->f.longest_caused);
	SET_TEXT(to,
		"%s arrives last at %llu of %llu collectives, %s after the first on average: the others wait %s for it",
		gt_gpu_label_of(&f->idle->report, late->seg, late->track).text,
		(unsigned long long)late->f.last, (unsigned long long)late->f.matched,
		ns_text(late->f.late / late->f.last), ns_text(late->f.caused));
	snprintf(to->detail, sizeof(to->detail), "%.60s is late",
		gt_gpu_label_of(&f->idle->report, late->seg, late->track).text);
}

/* GPUs arrive late by turns: for none of them the others wait more than half of the time. */
static void some_are_late(const struct gt_advice_facts *f, const struct gt_collective_gpu *most,
	uint64_t wait, uint64_t window, struct gt_finding *to)
{
	uint64_t exposed = exposed_elsewhere(f->idle, NULL);

	found(to, wait, wait < exposed ? wait : exposed, &most->f.longest_caused);
	SET_TEXT(to,
		"GPUs arrive at %llu collectives at different times: they wait %s (%.1f %%) in communication for the last one, by turns (most for %s: %s)",
		(unsigned long long)f->collectives.matched, ns_text(wait), percent(wait, window),
		gt_gpu_label_of(&f->idle->report, most->seg, most->track).text,
		ns_text(most->f.caused));
}

static void late_gpus(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to)
{
	const struct gt_collective_gpu *late = gt_collectives_latest(&f->collectives);
	uint64_t wait = 0;

	for (size_t i = 0; i < f->collectives.ngpus; i++)
		wait = gt_sat_add(wait, f->collectives.gpus[i].f.wait);
	if (late && late->f.caused >= wait - wait / 2 &&
		is_significant(late->f.caused, window, FIND))
		one_is_late(f, late, window, to);
	else if (late && is_significant(wait, window, FIND))
		some_are_late(f, late, wait, window, to);
}

static void unbalanced(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to)
{
	late_gpus(f, window, to);
	unbalanced_work(f, to);
}

static void waits_elsewhere(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to)
{
	const struct gt_cause_facts *c = &f->causes[GT_IDLE_WAITING];

	if (!is_significant(c->ns, window, FIND))
		return;
	found(to, c->ns, c->ns, &c->longest);
	SET_TEXT(to,
		"a GPU is idle for %s (%.1f %%) because its stream waits for an event of another stream",
		ns_text(c->ns), percent(c->ns, window));
}

static void profiled(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to)
{
	const struct gt_cause_facts *c = &f->causes[GT_IDLE_OVERHEAD];

	if (!is_significant(c->ns, window, FIND))
		return;
	found(to, c->ns, c->ns, &c->longest);
	SET_TEXT(to,
		"the GPU waits %s (%.1f %%) for the profiler: without it the program is faster by this time",
		ns_text(c->ns), percent(c->ns, window));
}

/* Gaps of any cause. */
static void large_gap(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to)
{
	const struct gt_gap_facts *g = &f->gaps;

	if (!g->n)
		return;
	found(to, g->ns, g->ns, &g->longest);
	SET_TEXT(to,
		"a GPU is idle for more than %s at a time, %llu time%s: %s (%.1f %%) in total; main cause of the longest gap: %s",
		ns_text((uint64_t)f->least), (unsigned long long)g->n, gt_plural(g->n, "s"),
		ns_text(g->ns), percent(g->ns, window), gt_idle_words(g->cause));
}

/* Regions of the window in which a GPU is less than 50 % busy: neighbouring intervals are one
 * region. */
struct regions {
	uint64_t n, ns, busy, doubtful;
	struct gt_evidence at, worst;
	uint64_t at_idle, worst_idle, worst_busy, at_busy;
};

static void end_region(struct regions *r)
{
	if (r->at.seg && (!r->worst.seg || r->at_idle > r->worst_idle)) {
		r->worst = r->at;
		r->worst_idle = r->at_idle;
		r->worst_busy = r->at_busy;
	}
	r->at.seg = NULL;
}

static void add_chunk(struct regions *r, const struct gt_utilisation_gpu *g, unsigned i,
	const struct gt_idle_device *d, uint64_t unsure)
{
	uint64_t ns = (uint64_t)(g->edges[i + 1] - g->edges[i]);

	if (2 * (g->busy[i] + unsure) >= ns) {
		r->doubtful += 2 * g->busy[i] < ns;
		end_region(r);
		return;
	}
	if (!r->at.seg) {
		r->at = (struct gt_evidence){ d->seg, g->edges[i], g->edges[i], GT_NONE, GT_NONE,
			d->number };
		r->at_idle = r->at_busy = 0;
		r->n++;
	}
	r->at.to = g->edges[i + 1];
	r->at_idle += ns - g->busy[i];
	r->at_busy += g->busy[i];
	r->ns += ns;
	r->busy += g->busy[i];
}

/* The cause of most of the idle time. */
static unsigned main_cause(const struct gt_advice_facts *f)
{
	unsigned most = 0;

	for (unsigned c = 1; c < GT_IDLE_CAUSE_COUNT; c++)
		most = f->causes[c].ns > f->causes[most].ns ? c : most;
	return most;
}

static void low_utilisation(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to)
{
	struct regions r = { .n = 0 };

	for (size_t i = 0; i < f->idle->ndevices; i++, end_region(&r))
		for (unsigned k = 0; k < GT_CHUNKS; k++)
			add_chunk(&r, &f->utilisation.gpus[i], k, &f->idle->devices[i], f->unsure);
	if (!r.n && r.doubtful) {
		to->state = GT_UNANSWERED;
		SET_TEXT(to, "GPU records were lost: for %s it is unknown whether the GPU worked",
			ns_text(f->unsure));
	}
	if (!r.n)
		return;
	found(to, r.ns - r.busy, r.ns - r.busy, &r.worst);
	snprintf(to->detail, sizeof(to->detail), "idle most: %s", gt_idle_words(main_cause(f)));
	SET_TEXT(to,
		"a GPU works for %.1f %% of %s, in %llu region%s (of 30 intervals) that %s less than 50 %% busy",
		percent(r.busy, r.ns), ns_text(r.ns), (unsigned long long)r.n, gt_plural(r.n, "s"),
		r.n == 1 ? "is" : "are");
	if (r.n > 1)
		snprintf(to->text + strlen(to->text), sizeof(to->text) - strlen(to->text),
			"; in the worst one for %.1f %%",
			percent(r.worst_busy, r.worst_busy + r.worst_idle));
}

static void serialised(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to)
{
	uint64_t calls = f->serial.wait_calls ? f->serial.wait_calls : f->serial.runtime_wait_calls;
	struct gt_serialization_sum s;

	gt_serialization_sum_up(&f->serial, f->idle, &s);
	if (!is_significant(s.gain, window, FIND)) {
		if (gt_serialization_has_several(&f->serial) &&
			f->idle->unjoined * 20 > f->idle->ops)
			cannot(to,
				"the launch of some work is unknown, and so is the earliest time it could begin");
		return;
	}
	if (f->serial.blocking_call || f->serial.wait_rows < calls) {
		to->state = GT_UNANSWERED;
		if (f->serial.blocking_call)
			SET_TEXT(to,
				"streams run one after the other, but the program calls %s, and the trace does not show which stream that blocks",
				f->serial.blocking_call);
		else
			SET_TEXT(to,
				"streams run one after the other, but for %llu of %llu calls that make a stream wait for an event the stream is unknown",
				(unsigned long long)(calls - f->serial.wait_rows),
				(unsigned long long)calls);
		return;
	}
	found(to, s.ns, s.gain, &s.longest);
	SET_TEXT(to,
		"streams %lld and %lld%s never work at once: %llu time%s an operation was ready (launched, stream idle, no event to wait for) "
		"and began when the operation of the other stream ended; %llu of these are a copy and a kernel; for the others it is unknown "
		"whether the GPU had capacity for both",
		(long long)s.a, (long long)s.b, s.pairs > 1 ? " (and others)" : "",
		(unsigned long long)s.n, gt_plural(s.n, "s"), (unsigned long long)s.copies);
}

/* ---- clocks ---- */

static void put_reasons(uint64_t bits, char *to, size_t size)
{
	static const struct {
		uint64_t bit;
		const char *words;
	} all[] = {
		{ 0x4, "power cap" },
		{ 0x8, "hardware slowdown" },
		{ 0x20, "heat, by software" },
		{ 0x40, "heat, by hardware" },
		{ 0x80, "power brake" },
	};

	*to = 0;
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (bits & all[i].bit)
			snprintf(to + strlen(to), size - strlen(to), "%s%s", *to ? ", " : "",
				all[i].words);
}

struct throttled {
	uint64_t samples, watched, throttled_ns, lost, reasons, best;
	unsigned __int128 weighed;
	bool clockless, always, matched;
	struct gt_evidence at;
};

static void add_clocks(const struct gt_advice_facts *f, struct throttled *t)
{
	for (size_t i = 0; i < f->utilisation.nclocks; i++) {
		const struct gt_gpu_sample_clock *c = &f->utilisation.clocks[i];

		t->samples += c->samples;
		t->watched = gt_sat_add(t->watched, c->watched);
		t->throttled_ns = gt_sat_add(t->throttled_ns, c->throttled_ns);
		t->reasons |= c->reasons;
		t->weighed += c->weighed;
		t->clockless |= c->clockless;
		t->always |= c->throttled_ns && !c->free;
		if (!c->throttled_ns)
			continue;
		t->best = c->best > t->best ? c->best : t->best;
		t->lost += c->best ? c->throttled_ns - (uint64_t)(c->weighed / c->best) : 0;
		gt_evidence_keep_longest(&t->at, &c->longest);
	}
	for (size_t i = 0; i < f->idle->ndevices; i++)
		t->matched |= f->utilisation.gpus[i].clock > 0;
}

static void throttled(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to)
{
	struct throttled t = { .samples = 0 };
	uint64_t busy = 0;
	char reasons[120];

	add_clocks(f, &t);
	for (size_t i = 0; i < f->idle->ndevices; i++)
		busy = gt_sat_add(busy, f->utilisation.gpus[i].all.ns);
	if (!t.samples) {
		cannot(to, "the clocks were not recorded (gtcollect -e nvml)");
		to->not_requested = true;
	} else if (!t.matched)
		cannot(to,
			"it is unknown which of the machine's GPUs the program used (CUDA_VISIBLE_DEVICES)");
	else if (t.watched < busy - busy / 2 && !is_significant(t.lost, window, FIND))
		cannot(to,
			"the clocks were sampled for less than half of the time in which the GPU works");
	else if (t.clockless && is_significant(t.throttled_ns, window, FIND))
		cannot(to, "the clocks are throttled, but their frequency was not recorded");
	else if (t.always && is_significant(t.throttled_ns, window, FIND) &&
		!is_significant(t.lost, window, FIND))
		cannot(to,
			"the clocks are throttled in all samples: the frequency without throttling is unknown");
	if (to->state == GT_UNANSWERED || !is_significant(t.lost, window, FIND))
		return;
	found(to, t.throttled_ns, t.lost, &t.at);
	put_reasons(t.reasons, reasons, sizeof(reasons));
	SET_TEXT(to,
		"the clocks are throttled (%s) for %s of the %s in which the GPU works: to %.0f of %llu MHz on average",
		reasons, ns_text(t.throttled_ns), ns_text(t.watched),
		(double)t.weighed / (double)t.throttled_ns, (unsigned long long)t.best);
}

/* ---- memory ---- */

static const char *why_no_leaks(const struct gt_advice_facts *f)
{
	const struct gt_report_state *a = &f->idle->report;
	const struct gt_leaks_sum *l = &f->leak;

	if (a->opt->filter.match || a->opt->filter.tid)
		return a->opt->filter.match
			? GT_MATCH_TEXT(a->opt, "", " leaves out allocations and frees")
			: "--tid leaves out allocations and frees";
	if (!gt_is_recorded(a->reader, GT_LAYER_API))
		return "allocations and frees were not recorded";
	if (l->tracked < l->allocs)
		return "sizes and addresses were not recorded (gtcollect --args key)";
	if (gt_has_name_filter(a->reader))
		return "a filter left out functions while recording";
	if (l->lost)
		return "events were lost, which may include allocations or frees";
	return l->not_followed ? "more blocks were alive than can be tracked" : NULL;
}

static void leak(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to)
{
	const char *why = why_no_leaks(f);
	const struct gt_leaks_sum *l = &f->leak;

	if (why)
		cannot(to, why);
	if (why || !l->groups)
		return;
	found(to, 0, 0, &l->last);
	to->bytes = l->bytes;
	SET_TEXT(to,
		"%.3f MiB allocated in the window are never freed. Largest part, %.3f MiB: %llu of %llu blocks, allocated by %s, "
		"%llu bytes each; their number grows in %u of 8 parts of the window%s. Fixing this saves memory, not time",
		(double)l->bytes / (1 << 20),
		(double)l->most_blocks * (double)l->most->bytes / (1 << 20),
		(unsigned long long)l->most_blocks, (unsigned long long)l->blocks,
		gt_str(l->seg, l->most->name), (unsigned long long)l->most->bytes, l->parts,
		l->groups > 1 ? "; gtanalyze memory lists the other parts" : "");
}

const struct gt_rule gt_advice_rules[GT_RULES] = {
	{ "host-bound", "code outside CUDA",
		"give the GPU more work at a time, or move this code to another thread",
		GT_NEEDS_CALLS | GT_REPEATED, host_bound },
	{ "off-processor", "threads off the processor", "gtanalyze offcpu", GT_NEEDS_CALLS,
		off_processor },
	{ "process-start", "starting processes",
		"start processes before their work is needed, and keep them for later work",
		GT_NEEDS_CALLS, process_start },
	{ "launch-bound", "launching work", "use CUDA graphs, or fewer and larger kernels",
		GT_NEEDS_CALLS | GT_REPEATED, launch_bound },
	{ "sync-in-loop", "synchronising", "synchronise later, on an event, or not at all",
		GT_NEEDS_CALLS | GT_REPEATED, sync_in_loop },
	{ "pageable-copy", "copying pageable memory",
		"use pinned memory (cudaMallocHost, pin_memory)", GT_NEEDS_CALLS, pageable_copy },
	{ "blocking-copy", "blocking copies", "use asynchronous copies on a stream of their own", 0,
		blocking_copy },
	{ "blocking-set", "blocking memsets", "use cudaMemsetAsync", 0, blocking_set },
	{ "small-copies", "small copies", "pack the data, and copy it at once", 0, small_copy },
	{ "alloc-in-loop", "allocating memory",
		"use a memory pool (cudaMallocAsync), or reuse memory", GT_NEEDS_CALLS,
		alloc_in_loop },
	{ "module-loading-in-loop", "loading modules",
		"load them before the loop (CUDA_MODULE_LOADING=EAGER)", GT_NEEDS_CALLS,
		module_in_loop },
	{ "driver-in-loop", "time in the kernel driver",
		"find the call that goes to the driver: gtanalyze ioctls gaps", GT_NEEDS_CALLS,
		driver_in_loop },
	{ "exposed-communication", "communication", "overlap communication with compute", 0,
		exposed_communication },
	{ "waits-elsewhere", "waiting for another stream",
		"find the operation that the event waits for", GT_NEEDS_CALLS, waits_elsewhere },
	{ "unbalanced-gpus", "GPUs that wait for one another",
		"distribute the work evenly, or find what is late: gtanalyze collectives", 0,
		unbalanced },
	{ "profiler-overhead", "profiler overhead", "record less", GT_NEEDS_CALLS, profiled },
	{ "serialised-streams", "streams that run one after the other",
		"if one is the default stream: use streams that do not wait for it (cudaStreamNonBlocking); else smaller grids",
		GT_NEEDS_CALLS, serialised },
	{ "large-gap", "long gaps", "find what the host does then: gtanalyze gaps", GT_SAME_TIME,
		large_gap },
	{ "low-utilisation", "low utilisation", "find what the host does then: gtanalyze gaps",
		GT_SAME_TIME, low_utilisation },
	{ "throttled-clocks", "throttled clocks", "improve cooling, or raise the power limit", 0,
		throttled },
	{ "leak", "memory that is never freed", "free the memory, or reuse it", GT_NEEDS_NO_GPU,
		leak },
};

uint64_t gt_advice_per_step(const struct gt_idle *s, uint64_t part)
{
	const struct gt_steady *steady = s->report.opt->steady;
	size_t steps = s->report.opt->only_steady ? gt_steady_all_steps(steady) : 0;

	return steps ? part / steps : 0;
}

/* One event is most of a loss that usually repeats. */
static bool is_one_event(const struct gt_finding *f)
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
		cannot(to, why);
	else
		rule->apply(f, window, to);
	if (to->state == GT_FOUND && rule->flags & GT_REPEATED && !to->remedy && is_one_event(to))
		to->remedy = "look at this moment first";
	if (to->state == GT_ANSWERED && rule->flags & GT_NEEDS_CALLS &&
		is_significant(calls, window, FIND_MOST)) {
		to->state = GT_UNANSWERED;
		SET_TEXT(to, "for %s of idle time the activity of the host is unknown",
			ns_text(calls));
	} else if (to->state == GT_ANSWERED && rule->flags & GT_NEEDS_CALLS &&
		is_significant(c[GT_IDLE_SHORT].ns, window, FIND)) {
		to->state = GT_UNANSWERED;
		SET_TEXT(to, "%s of idle time are gaps shorter than --min, which are ignored",
			ns_text(c[GT_IDLE_SHORT].ns));
	} else if (to->state == GT_ANSWERED && !(rule->flags & GT_NEEDS_NO_GPU) &&
		is_significant(f->unsure, window, FIND_MOST)) {
		to->state = GT_UNANSWERED;
		SET_TEXT(to, "GPU records were lost: for %s it is unknown whether the GPU worked",
			ns_text(f->unsure));
	}
}
