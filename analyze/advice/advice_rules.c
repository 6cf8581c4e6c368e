#include "analyze/advice/advice_rules.h"

#include <stdio.h>
#include <string.h>

/* hundredths of a percent of the window that a cause must take to be worth a word: 1 % */
#define FIND 100u
#define FIND_MOST 500u /* of those that every program has some of: 5 % */
#define LOOP 10u       /* times that make a loop */
#define SOME 100u      /* copies, waits and the like that make a habit */

#define told(ns) gt_scaled(GT_C_NS, gt_clamp(ns)).text
#define percent gt_advice_percent
static bool worth(uint64_t ns, uint64_t window, unsigned hundredths)
{
	return ns && (unsigned __int128)ns * 10000 >= (unsigned __int128)window * hundredths;
}

#define SAY(to, ...) snprintf((to)->text, sizeof((to)->text), __VA_ARGS__)

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

/* ---- rules ---- */

static void host_bound(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to)
{
	const struct gt_cause_facts *c = &f->causes[GT_IDLE_OUTSIDE];

	if (!worth(c->ns, window, FIND_MOST))
		return;
	found(to, c->ns, c->ns, &c->longest);
	SAY(to, "the GPU waits %s (%.1f %%) while the program does something else than CUDA, in %llu stretch%s between its calls",
		told(c->ns), percent(c->ns, window), (unsigned long long)c->slices,
		c->slices == 1 ? "" : "es");
}

static void launch_bound(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to)
{
	const struct gt_cause_facts *c = &f->launching, *q = &f->causes[GT_IDLE_QUEUED];

	if (!worth(gt_sat_add(c->ns, q->ns), window, FIND_MOST))
		return;
	found(to, gt_sat_add(c->ns, q->ns), gt_sat_add(c->ns, q->ns),
		c->ns ? &c->longest : &q->longest);
	SAY(to, "the GPU waits %s (%.1f %%) for launches: %s in calls that launch, %s from their return to the start of the work",
		told(to->cost), percent(to->cost, window), told(c->ns), told(q->ns));
}

static void sync_in_loop(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to)
{
	const struct gt_cause_facts *c = &f->causes[GT_IDLE_SYNC];

	if (!worth(c->ns, window, FIND) || c->slices < LOOP)
		return;
	found(to, c->ns, c->ns, &c->longest);
	SAY(to, "the GPU runs out of work during waits: %s (%.1f %%) idle in %llu of %llu calls that synchronise, most in %s",
		told(c->ns), percent(c->ns, window), (unsigned long long)c->slices,
		(unsigned long long)f->syncs, call_of(f, &c->longest));
}

/* Pinned memory would do without the waiting, and make copies quicker; they cannot take less than
 * no time. */
static void pageable_copy(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to)
{
	const struct gt_cause_facts *c = &f->causes[GT_IDLE_PAGEABLE];
	uint64_t all;

	if (!worth(c->ns, window, FIND) &&
		!(f->pageable_async.n >= SOME && worth(f->pageable.ns, window, FIND)))
		return;
	all = gt_sat_add(c->ns, f->pageable.ns);
	all = all < window ? all : window; /* copies that overlap count once each */
	found(to, all, all, c->ns ? &c->longest : &f->pageable.longest);
	SAY(to,
		"%llu of %llu copies are of pageable memory (%llu of them asked to be asynchronous, and are not): the driver copies twice, and "
		"the GPU waits %s meanwhile, and copies for %s",
		(unsigned long long)f->pageable.n, (unsigned long long)f->copies.n,
		(unsigned long long)f->pageable_async.n, told(c->ns), told(f->pageable.ns));
}

static void blocking_copy(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to)
{
	if (f->blocking.n < SOME || !worth(f->blocking.ns, window, FIND))
		return;
	found(to, f->blocking.ns, f->blocking.ns, &f->blocking.longest);
	SAY(to, "%llu of %llu copies hold the calling thread until they are done: %s on the GPU",
		(unsigned long long)f->blocking.n, (unsigned long long)f->copies.n,
		told(f->blocking.ns));
}

static void blocking_set(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to)
{
	if (f->sets_blocking.n < SOME || !worth(f->sets_blocking.ns, window, FIND))
		return;
	found(to, f->sets_blocking.ns, f->sets_blocking.ns, &f->sets_blocking.longest);
	SAY(to, "%llu memsets hold the calling thread until they are done: %s on the GPU",
		(unsigned long long)f->sets_blocking.n, told(f->sets_blocking.ns));
}

static void small_copy(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to)
{
	if (f->small.n < SOME || f->small.n * 2 < f->copies.n || !worth(f->small.ns, window, FIND))
		return;
	found(to, f->small.ns, f->small.ns, &f->small.longest);
	SAY(to, "%llu of %llu copies are of less than 64 KiB (%.1f KiB on average) and take %s of the GPU",
		(unsigned long long)f->small.n, (unsigned long long)f->copies.n,
		(double)f->small.bytes / 1024 / (double)f->small.n, told(f->small.ns));
}

/* What repeats does so in both halves of the operations; what is only in the first one is warming
 * up. */
static void late_cause(const struct gt_advice_facts *f, enum gt_idle_cause cause, uint64_t window,
	const char *what, struct gt_finding *to)
{
	const struct gt_cause_facts *c = &f->causes[cause];
	uint64_t loop = gt_sat_add(c->late_ns, c->late_ns);

	if (!worth(c->late_ns, window, FIND))
		return;
	found(to, c->ns, loop < c->ns ? loop : c->ns, &c->latest_longest);
	SAY(to, "the GPU waits %s (%.1f %%) while %s, %s of it in the second half of its work (%llu time%s), longest in %s",
		told(c->ns), percent(c->ns, window), what, told(c->late_ns),
		(unsigned long long)c->late_slices, c->late_slices == 1 ? "" : "s",
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

/* A stretch of a GPU. */
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
		struct gt_evidence one = on_gpu(&f->idle->devices[i], f->idle->devices[i].talk);

		ns = gt_sat_add(ns, f->idle->devices[i].kind[GT_WORK_COMMUNICATION]);
		if (one.seg)
			gt_evidence_keep_longest(&longest, &one);
	}
	if (!worth(ns, window, FIND_MOST))
		return;
	found(to, ns, ns, &longest);
	SAY(to, "GPUs communicate for %s (%.1f %%) in which nothing computes", told(ns),
		percent(ns, window));
}

/* What a GPU has to do by itself: who has less of it waits for the others in communication, and
 * would look as busy as they. */
static uint64_t own_work(const struct gt_idle_device *d)
{
	return gt_sat_add(d->kind[GT_WORK_COMPUTE], d->kind[GT_WORK_COPY]);
}

/* Where it waits for who has more: in communication, or with nothing to do. */
static struct gt_evidence where_it_waits(const struct gt_idle_device *d)
{
	return on_gpu(d, d->talk.to > d->talk.from ? d->talk : d->gap);
}

static void unbalanced(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to)
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
	if (f->idle->ndevices < 2 || !worth(more, span, 1000))
		return;
	at = where_it_waits(least);
	found(to, more, more, &at);
	SAY(to, "%s works for %s (communication apart) and %s for %s",
		gt_gpu_label_of(&f->idle->asked, most->seg, most->track).text, told(own_work(most)),
		gt_gpu_label_of(&f->idle->asked, least->seg, least->track).text,
		told(own_work(least)));
}

static void waits_elsewhere(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to)
{
	const struct gt_cause_facts *c = &f->causes[GT_IDLE_WAITING];

	if (!worth(c->ns, window, FIND))
		return;
	found(to, c->ns, c->ns, &c->longest);
	SAY(to, "a GPU has nothing to do for %s (%.1f %%) because its stream waits for an event that comes from elsewhere",
		told(c->ns), percent(c->ns, window));
}

static void profiled(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to)
{
	const struct gt_cause_facts *c = &f->causes[GT_IDLE_OVERHEAD];

	if (!worth(c->ns, window, FIND))
		return;
	found(to, c->ns, c->ns, &c->longest);
	SAY(to, "the GPU waits %s (%.1f %%) for the profiler itself: without it the program is that much faster",
		told(c->ns), percent(c->ns, window));
}

/* Whatever its cause. */
static void large_gap(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to)
{
	const struct gt_gap_facts *g = &f->gaps;
	int64_t least = f->idle->asked.opt->gap_ns ? f->idle->asked.opt->gap_ns : GT_LARGE_GAP;

	if (!g->n)
		return;
	found(to, g->ns, g->ns, &g->longest);
	SAY(to, "a GPU does nothing for more than %s at a time, %llu time%s: %s (%.1f %%) in all; most of the longest gap is: %s",
		told((uint64_t)least), (unsigned long long)g->n, g->n == 1 ? "" : "s", told(g->ns),
		percent(g->ns, window), gt_idle_words(g->cause));
}

/* Thirtieths of the window in which a GPU works for less than half of the time; neighbours are one
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

static void add_chunk(struct regions *r, const struct gt_windowed_gpu *g, unsigned i,
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

static void low_utilisation(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to)
{
	struct regions r = { .n = 0 };

	for (size_t i = 0; i < f->idle->ndevices; i++, end_region(&r))
		for (unsigned k = 0; k < GT_CHUNKS; k++)
			add_chunk(&r, &f->windowed.gpus[i], k, &f->idle->devices[i], f->unsure);
	if (!r.n && r.doubtful) {
		to->state = GT_CANNOT;
		SAY(to, "records of the GPU were lost: for %s it is not known whether it worked",
			told(f->unsure));
	}
	if (!r.n)
		return;
	found(to, r.ns - r.busy, r.ns - r.busy, &r.worst);
	SAY(to,
		"a GPU works for %.1f %% of %s, in %llu region%s made of thirtieths of the window in each of which it is idle for more "
		"than half of the time",
		percent(r.busy, r.ns), told(r.ns), (unsigned long long)r.n, r.n == 1 ? "" : "s");
	if (r.n > 1)
		snprintf(to->text + strlen(to->text), sizeof(to->text) - strlen(to->text),
			"; for %.1f %% of the worst one",
			percent(r.worst_busy, r.worst_busy + r.worst_idle));
}

static void cannot(struct gt_finding *to, const char *why)
{
	to->state = GT_CANNOT;
	SAY(to, "%s", why);
}

static void serialised(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to)
{
	uint64_t calls = f->serial.wait_calls ? f->serial.wait_calls : f->serial.runtime_wait_calls;
	struct gt_serial_sum s;

	gt_serial_add_up(&f->serial, f->idle, &s);
	if (!worth(s.gain, window, FIND)) {
		if (gt_serial_several(&f->serial) && f->idle->unjoined * 20 > f->idle->ops)
			cannot(to,
				"it is not known when work was launched, so not when it could have begun");
		return;
	}
	if (f->serial.holds || f->serial.wait_rows < calls) {
		to->state = GT_CANNOT;
		if (f->serial.holds)
			SAY(to, "streams take turns, but the program calls %s, and what that keeps waiting is not known",
				f->serial.holds);
		else
			SAY(to, "streams take turns, but of %llu of %llu calls that make one wait for an event it is not known which it is",
				(unsigned long long)(calls - f->serial.wait_rows),
				(unsigned long long)calls);
		return;
	}
	found(to, s.ns, s.gain, &s.longest);
	SAY(to,
		"streams %lld and %lld%s never work at once: %llu time%s work was ready (launched, its stream done, told to wait for no event) "
		"and began when the other stream's ended; of those %llu with a copy and a kernel, of the others it is not known whether the GPU "
		"had room",
		(long long)s.a, (long long)s.b, s.pairs > 1 ? " (and others)" : "",
		(unsigned long long)s.n, s.n == 1 ? "" : "s", (unsigned long long)s.copies);
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
	uint64_t samples, watched, held, lost, reasons, best;
	unsigned __int128 weighed;
	bool clockless, always, matched;
	struct gt_evidence at;
};

static void add_clocks(const struct gt_advice_facts *f, struct throttled *t)
{
	for (size_t i = 0; i < f->windowed.nclocks; i++) {
		const struct gt_gpu_sample_clock *c = &f->windowed.clocks[i];

		t->samples += c->samples;
		t->watched = gt_sat_add(t->watched, c->watched);
		t->held = gt_sat_add(t->held, c->held);
		t->reasons |= c->reasons;
		t->weighed += c->weighed;
		t->clockless |= c->clockless;
		t->always |= c->held && !c->free;
		if (!c->held)
			continue;
		t->best = c->best > t->best ? c->best : t->best;
		t->lost += c->best ? c->held - (uint64_t)(c->weighed / c->best) : 0;
		gt_evidence_keep_longest(&t->at, &c->longest);
	}
	for (size_t i = 0; i < f->idle->ndevices; i++)
		t->matched |= f->windowed.gpus[i].clock > 0;
}

static void throttled(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to)
{
	struct throttled t = { .samples = 0 };
	uint64_t busy = 0;
	char reasons[120];

	add_clocks(f, &t);
	for (size_t i = 0; i < f->idle->ndevices; i++)
		busy = gt_sat_add(busy, f->windowed.gpus[i].all.ns);
	if (!t.samples) {
		cannot(to, "the clocks were not recorded (gtcollect -e nvml)");
		to->not_asked = true;
	} else if (!t.matched)
		cannot(to,
			"it is not known which of the machine's GPUs the program used (CUDA_VISIBLE_DEVICES)");
	else if (t.watched < busy - busy / 2 && !worth(t.lost, window, FIND))
		cannot(to,
			"there are samples of the clocks for less than half of the time that the GPU works");
	else if (t.clockless && worth(t.held, window, FIND))
		cannot(to, "the clocks are held down, but what they are was not recorded");
	else if (t.always && worth(t.held, window, FIND) && !worth(t.lost, window, FIND))
		cannot(to,
			"the clocks are held down in all samples: what they would be otherwise is not known");
	if (to->state == GT_CANNOT || !worth(t.lost, window, FIND))
		return;
	found(to, t.held, t.lost, &t.at);
	put_reasons(t.reasons, reasons, sizeof(reasons));
	SAY(to, "the clocks are held down (%s) for %s of the %s that the GPU works: at %.0f MHz on average, of %llu MHz",
		reasons, told(t.held), told(t.watched), (double)t.weighed / (double)t.held,
		(unsigned long long)t.best);
}

/* ---- memory ---- */

static const char *leak_untold(const struct gt_advice_facts *f)
{
	const struct gt_report_state *a = &f->idle->asked;
	const struct gt_leaks_sum *l = &f->leak;

	if (a->opt->filter.match || a->opt->filter.tid)
		return "--match and --tid leave allocations and frees out";
	if (!gt_is_recorded(a->reader, GT_LAYER_API))
		return "what the program allocates and frees was not recorded";
	if (l->tracked < l->allocs)
		return "sizes and addresses were not recorded (gtcollect --args key)";
	if (gt_has_name_filter(a->reader))
		return "functions were left out while recording";
	if (l->lost)
		return "events were lost, and allocations or frees may be among them";
	return l->not_followed ? "more memory was alive than can be followed" : NULL;
}

static void leak(const struct gt_advice_facts *f, uint64_t window, struct gt_finding *to)
{
	const char *why = leak_untold(f);
	const struct gt_leaks_sum *l = &f->leak;

	if (why)
		cannot(to, why);
	if (why || !l->groups)
		return;
	found(to, 0, 0, &l->last);
	SAY(to,
		"%.3f MiB more are alive at the end of the window than at its start, and never freed: %llu of %llu blocks by %s of %llu bytes, "
		"%.3f MiB, more and more in %u of 8 parts of the window%s; what is won is memory, not time",
		(double)l->bytes / (1 << 20), (unsigned long long)l->most_blocks,
		(unsigned long long)l->blocks, gt_str(l->seg, l->most->name),
		(unsigned long long)l->most->bytes,
		(double)l->most_blocks * (double)l->most->bytes / (1 << 20), l->parts,
		l->groups > 1 ? "; others do likewise: gtanalyze memory" : "");
}

const struct gt_rule gt_advice_rules[GT_RULES] = {
	{ "host-bound", "give the GPU more work at a time, or do the other work on another thread",
		GT_NEEDS_CALLS, host_bound },
	{ "launch-bound", "a CUDA graph, or fewer and larger kernels", GT_NEEDS_CALLS,
		launch_bound },
	{ "sync-in-loop", "wait for events, later, or not at all", GT_NEEDS_CALLS, sync_in_loop },
	{ "pageable-copy", "pinned memory (cudaMallocHost, pin_memory)", GT_NEEDS_CALLS,
		pageable_copy },
	{ "blocking-copy", "asynchronous copies on a stream of their own", 0, blocking_copy },
	{ "blocking-set", "cudaMemsetAsync", 0, blocking_set },
	{ "small-copies", "one copy of a packed buffer", 0, small_copy },
	{ "alloc-in-loop", "a memory pool (cudaMallocAsync), or memory that is kept",
		GT_NEEDS_CALLS, alloc_in_loop },
	{ "module-loading-in-loop", "load before the loop (CUDA_MODULE_LOADING=EAGER)",
		GT_NEEDS_CALLS, module_in_loop },
	{ "driver-in-loop", "find the call that goes to the driver: gtanalyze ioctls gaps",
		GT_NEEDS_CALLS, driver_in_loop },
	{ "exposed-communication", "communicate while something computes", 0,
		exposed_communication },
	{ "waits-elsewhere", "see what the event waits for", GT_NEEDS_CALLS, waits_elsewhere },
	{ "unbalanced-gpus", "share the work out evenly", 0, unbalanced },
	{ "profiler-overhead", "record less", GT_NEEDS_CALLS, profiled },
	{ "serialised-streams",
		"if one is the default stream: streams that do not wait for it (cudaStreamNonBlocking); else smaller grids",
		GT_NEEDS_CALLS, serialised },
	{ "large-gap", "see what the host does there: gtanalyze gaps", GT_SAME_TIME, large_gap },
	{ "low-utilisation", "see what the host does there: gtanalyze --from --to budget gaps",
		GT_SAME_TIME | GT_READS_AGAIN, low_utilisation },
	{ "throttled-clocks", "cooling, or a higher limit of power", GT_READS_AGAIN, throttled },
	{ "leak", "free it, or use it again", GT_NEEDS_NO_GPU | GT_READS_AGAIN, leak },
};

void gt_advice_look(const struct gt_advice_facts *f, const struct gt_rule *rule, uint64_t window,
	const char *why, struct gt_finding *to)
{
	const struct gt_cause_facts *c = f->causes;
	uint64_t calls = gt_sat_add(gt_sat_add(c[GT_IDLE_UNSEEN].ns, c[GT_IDLE_UNJOINED].ns),
		gt_sat_add(c[GT_IDLE_LOST].ns, c[GT_IDLE_TOO_MUCH].ns));

	memset(to, 0, sizeof(*to));
	if (!window)
		why = why ? why : "the time that was looked at is empty";
	if (why && !(rule->flags & GT_NEEDS_NO_GPU))
		cannot(to, why);
	else if (rule->flags & GT_READS_AGAIN && f->idle->asked.opt->in_default_report) {
		cannot(to, "it takes to read the trace once more: gtanalyze advice");
		to->not_asked = true;
	} else
		rule->look(f, window, to);
	if (to->state == GT_ANSWERED && rule->flags & GT_NEEDS_CALLS &&
		worth(calls, window, FIND_MOST)) {
		to->state = GT_CANNOT;
		SAY(to, "of %s of idle time it is not known what the host did", told(calls));
	} else if (to->state == GT_ANSWERED && rule->flags & GT_NEEDS_CALLS &&
		worth(c[GT_IDLE_SHORT].ns, window, FIND)) {
		to->state = GT_CANNOT;
		SAY(to, "%s of idle time are gaps shorter than --min, which were not looked into",
			told(c[GT_IDLE_SHORT].ns));
	} else if (to->state == GT_ANSWERED && !(rule->flags & GT_NEEDS_NO_GPU) &&
		worth(f->unsure, window, FIND_MOST)) {
		to->state = GT_CANNOT;
		SAY(to, "records of the GPU were lost: for %s it is not known whether it worked",
			told(f->unsure));
	}
}
