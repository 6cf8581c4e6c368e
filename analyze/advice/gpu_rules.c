/* Rules about the GPU itself: gaps, utilisation, streams, clocks, memory. */
#include "analyze/advice/rules_internal.h"

#include <stdio.h>
#include <string.h>

void gt_rule_profiled(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to)
{
	const struct gt_cause_facts *c = &f->causes[GT_IDLE_OVERHEAD];

	if (!gt_is_significant(c->ns, window, FIND))
		return;
	gt_set_found(to, c->ns, c->ns, &c->longest);
	SET_TEXT(to,
		"the GPU waits %s (%.1f %%) for the profiler: without it the program is faster by this time",
		ns_text(c->ns), percent(c->ns, window));
}

/* Gaps of any cause. */
void gt_rule_large_gap(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to)
{
	const struct gt_gap_facts *g = &f->gaps;

	if (!g->n)
		return;
	gt_set_found(to, g->ns, g->ns, &g->longest);
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

void gt_rule_low_utilisation(
	const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to)
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
	gt_set_found(to, r.ns - r.busy, r.ns - r.busy, &r.worst);
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

void gt_rule_serialised(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to)
{
	uint64_t calls = f->serial.wait_calls ? f->serial.wait_calls : f->serial.runtime_wait_calls;
	struct gt_serialization_sum s;

	gt_serialization_sum_up(&f->serial, f->idle, &s);
	if (!gt_is_significant(s.gain, window, FIND)) {
		if (gt_serialization_has_several(&f->serial) &&
			f->idle->unjoined * 20 > f->idle->ops)
			gt_set_unanswered(to,
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
	gt_set_found(to, s.ns, s.gain, &s.longest);
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

void gt_rule_throttled(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to)
{
	struct throttled t = { .samples = 0 };
	uint64_t busy = 0;
	char reasons[120];

	add_clocks(f, &t);
	for (size_t i = 0; i < f->idle->ndevices; i++)
		busy = gt_sat_add(busy, f->utilisation.gpus[i].all.ns);
	if (!t.samples) {
		gt_set_unanswered(to, "the clocks were not recorded (gtcollect -e nvml)");
		to->not_requested = true;
	} else if (!t.matched)
		gt_set_unanswered(to,
			"it is unknown which of the machine's GPUs the program used (CUDA_VISIBLE_DEVICES)");
	else if (t.watched < busy - busy / 2 && !gt_is_significant(t.lost, window, FIND))
		gt_set_unanswered(to,
			"the clocks were sampled for less than half of the time in which the GPU works");
	else if (t.clockless && gt_is_significant(t.throttled_ns, window, FIND))
		gt_set_unanswered(
			to, "the clocks are throttled, but their frequency was not recorded");
	else if (t.always && gt_is_significant(t.throttled_ns, window, FIND) &&
		!gt_is_significant(t.lost, window, FIND))
		gt_set_unanswered(to,
			"the clocks are throttled in all samples: the frequency without throttling is unknown");
	if (to->state == GT_UNANSWERED || !gt_is_significant(t.lost, window, FIND))
		return;
	gt_set_found(to, t.throttled_ns, t.lost, &t.at);
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
	if (!l->allocs && !gt_is_recorded(a->reader, GT_LAYER_API))
		return "allocations and frees were not recorded";
	if (l->tracked < l->allocs)
		return "sizes and addresses were not recorded (gtcollect --args key)";
	if (gt_has_name_filter(a->reader))
		return "a filter left out functions while recording";
	if (l->lost)
		return "events were lost, which may include allocations or frees";
	return l->not_followed ? "more blocks were alive than can be tracked" : NULL;
}

void gt_rule_leak(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to)
{
	const char *why = why_no_leaks(f);
	const struct gt_leaks_sum *l = &f->leak;

	if (why)
		gt_set_unanswered(to, why);
	if (why || !l->groups)
		return;
	gt_set_found(to, 0, 0, &l->last);
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
