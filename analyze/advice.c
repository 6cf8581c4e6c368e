/* What to do about it. Each rule looks at one thing that costs a GPU time, and has one of three answers: found, with its
 * evidence, what it costs, what a remedy could win at most, and a place in the trace to look at; clean; or that it cannot be
 * answered, and why. They are never mixed: what was not recorded is not clean. Costs are GPU time of the window (idle.h), so
 * what rules win of the same idle time is not more than there is: each nanosecond of it has one cause. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyze/advice_facts.h"
#include "formats/demangle.h"

#define FIND 100u		/* hundredths of a percent of the window that a cause must take to be worth a word: 1 % */
#define FIND_MOST 500u		/* of those that every program has some of: 5 % */
#define LINE 100u		/* columns of text, where the terminal has as many */
#define LOOP 10u		/* times that make a loop */
#define SOME 100u		/* copies, waits and the like that make a habit */

enum state { CLEAN, FOUND, UNKNOWN };
struct finding {
	enum state state;
	char text[320];			/* evidence, or why it cannot be answered */
	uint64_t cost, gain;		/* ns of GPU time: what it takes, and what is won at most */
	struct gt_example at;
};
struct rule {
	const char *name, *remedy;
	bool needs_calls;
	void (*look)(const struct gt_advice_facts *f, uint64_t window, struct finding *to);
};

static double ms(uint64_t ns) { return (double)ns / 1e6; }
static double percent(uint64_t part, uint64_t whole) { return whole ? 100.0 * (double)part / (double)whole : 0; }
static bool worth(uint64_t ns, uint64_t window, unsigned hundredths)
{
	return ns && (unsigned __int128)ns * 10000 >= (unsigned __int128)window * hundredths;
}

#define SAY(to, ...) snprintf((to)->text, sizeof((to)->text), __VA_ARGS__)

static void found(struct finding *to, uint64_t cost, uint64_t gain, const struct gt_example *at)
{
	to->state = FOUND;
	to->cost = cost;
	to->gain = gain;
	to->at = *at;
}

static const char *call_of(const struct gt_advice_facts *f, const struct gt_example *e)
{
	if (!e->seg || e->type == GT_NONE)
		return "?";
	return gt_str(e->seg, e->seg->types[e->type - f->idle.order.types[e->seg->index]].name);
}

/* ---- rules ---- */

static void host_bound(const struct gt_advice_facts *f, uint64_t window, struct finding *to)
{
	const struct gt_cause_facts *c = &f->causes[GT_IDLE_OUTSIDE];

	if (!worth(c->ns, window, FIND_MOST))
		return;
	found(to, c->ns, c->ns, &c->longest);
	SAY(to, "the GPU waits %.3f ms (%.1f %%) while the program does something else than CUDA, %llu times", ms(c->ns),
	    percent(c->ns, window), (unsigned long long)c->slices);
}

static void launch_bound(const struct gt_advice_facts *f, uint64_t window, struct finding *to)
{
	const struct gt_cause_facts *c = &f->launching, *q = &f->causes[GT_IDLE_QUEUED];

	if (!worth(gt_sat_add(c->ns, q->ns), window, FIND_MOST))
		return;
	found(to, gt_sat_add(c->ns, q->ns), gt_sat_add(c->ns, q->ns), c->ns ? &c->longest : &q->longest);
	SAY(to, "the GPU waits %.3f ms (%.1f %%) for launches: %.3f ms in calls that launch, %.3f ms from their return to the start of the work",
	    ms(to->cost), percent(to->cost, window), ms(c->ns), ms(q->ns));
}

static void sync_in_loop(const struct gt_advice_facts *f, uint64_t window, struct finding *to)
{
	const struct gt_cause_facts *c = &f->causes[GT_IDLE_SYNC];

	if (!worth(c->ns, window, FIND) || c->slices < LOOP)
		return;
	found(to, c->ns, c->ns, &c->longest);
	SAY(to, "the GPU runs out of work during waits: %.3f ms (%.1f %%) idle in %llu of %llu calls that synchronise, most in %s", ms(c->ns),
	    percent(c->ns, window), (unsigned long long)c->slices, (unsigned long long)f->syncs, call_of(f, &c->longest));
}

static void pageable_copy(const struct gt_advice_facts *f, uint64_t window, struct finding *to)
{
	const struct gt_cause_facts *c = &f->causes[GT_IDLE_PAGEABLE];

	if (!worth(c->ns, window, FIND) && !(f->pageable_async.n >= SOME && worth(f->pageable.ns, window, FIND)))
		return;
	found(to, gt_sat_add(c->ns, f->pageable.ns), c->ns, c->ns ? &c->longest : &f->pageable.longest);
	SAY(to, "%llu of %llu copies are of pageable memory (%llu of them asked to be asynchronous, and are not): the driver copies twice, and "
	    "the GPU waits %.3f ms meanwhile", (unsigned long long)f->pageable.n, (unsigned long long)f->copies.n,
	    (unsigned long long)f->pageable_async.n, ms(c->ns));
}

static void blocking_copy(const struct gt_advice_facts *f, uint64_t window, struct finding *to)
{
	if (f->blocking.n < SOME || !worth(f->blocking.ns, window, FIND))
		return;
	found(to, f->blocking.ns, f->blocking.ns, &f->blocking.longest);
	SAY(to, "%llu of %llu copies hold the calling thread until they are done: %.3f ms on the GPU", (unsigned long long)f->blocking.n,
	    (unsigned long long)f->copies.n, ms(f->blocking.ns));
}

static void blocking_set(const struct gt_advice_facts *f, uint64_t window, struct finding *to)
{
	if (f->sets_blocking.n < SOME || !worth(f->sets_blocking.ns, window, FIND))
		return;
	found(to, f->sets_blocking.ns, f->sets_blocking.ns, &f->sets_blocking.longest);
	SAY(to, "%llu memsets hold the calling thread until they are done: %.3f ms on the GPU", (unsigned long long)f->sets_blocking.n,
	    ms(f->sets_blocking.ns));
}

static void small_copy(const struct gt_advice_facts *f, uint64_t window, struct finding *to)
{
	if (f->small.n < SOME || f->small.n * 2 < f->copies.n || !worth(f->small.ns, window, FIND))
		return;
	found(to, f->small.ns, f->small.ns, &f->small.longest);
	SAY(to, "%llu of %llu copies are of less than 64 KiB (%.1f KiB on average) and take %.3f ms of the GPU", (unsigned long long)f->small.n,
	    (unsigned long long)f->copies.n, (double)f->small.bytes / 1024 / (double)f->small.n, ms(f->small.ns));
}

static void late_cause(const struct gt_advice_facts *f, enum gt_idle_cause cause, uint64_t window, const char *what, struct finding *to)
{
	const struct gt_cause_facts *c = &f->causes[cause];

	if (!worth(c->late_ns, window, FIND))
		return;
	found(to, c->ns, c->late_ns, &c->latest_longest);
	SAY(to, "the GPU waits %.3f ms (%.1f %%) while %s, %.3f ms of it after warming up (%llu times), longest in %s",
	    ms(c->ns), percent(c->ns, window), what, ms(c->late_ns), (unsigned long long)c->late_slices, call_of(f, &c->latest_longest));
}

static void alloc_in_loop(const struct gt_advice_facts *f, uint64_t window, struct finding *to)
{
	late_cause(f, GT_IDLE_MEMORY, window, "memory is allocated or freed", to);
}

static void module_in_loop(const struct gt_advice_facts *f, uint64_t window, struct finding *to)
{
	late_cause(f, GT_IDLE_MODULE, window, "code is loaded", to);
}

static void driver_in_loop(const struct gt_advice_facts *f, uint64_t window, struct finding *to)
{
	late_cause(f, GT_IDLE_IOCTL, window, "the program is in the kernel driver", to);
}

static void exposed_communication(const struct gt_advice_facts *f, uint64_t window, struct finding *to)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < f->idle.ndevices; i++)
		ns = gt_sat_add(ns, f->idle.devices[i].kind[GT_WORK_COMMUNICATION]);
	if (!worth(ns, window, FIND_MOST))
		return;
	found(to, ns, ns, &(struct gt_example){ .seg = NULL });
	SAY(to, "GPUs communicate for %.3f ms (%.1f %%) in which nothing computes", ms(ns), percent(ns, window));
}

/* What a GPU has to do by itself: who has less of it waits for the others in communication, and would look as busy as they. */
static uint64_t own_work(const struct gt_idle_device *d) { return gt_sat_add(d->kind[GT_WORK_COMPUTE], d->kind[GT_WORK_COPY]); }

static void unbalanced(const struct gt_advice_facts *f, uint64_t window, struct finding *to)
{
	const struct gt_idle_device *all = f->idle.devices, *most = all, *least = all;
	uint64_t span = 0, more;

	for (size_t i = 0; i < f->idle.ndevices; i++) {
		most = own_work(&all[i]) > own_work(most) ? &all[i] : most;
		least = own_work(&all[i]) < own_work(least) ? &all[i] : least;
		span = all[i].window > span ? all[i].window : span;
	}
	more = f->idle.ndevices ? own_work(most) - own_work(least) : 0;
	if (f->idle.ndevices < 2 || !worth(more, span, 1000))
		return;
	found(to, more, more, &(struct gt_example){ .seg = NULL });
	SAY(to, "%s works for %.3f ms (communication apart) and %s for %.3f ms", gt_which_gpu(&f->idle.asked, most->seg, most->track).text,
	    ms(own_work(most)), gt_which_gpu(&f->idle.asked, least->seg, least->track).text, ms(own_work(least)));
}

static void waits_elsewhere(const struct gt_advice_facts *f, uint64_t window, struct finding *to)
{
	const struct gt_cause_facts *c = &f->causes[GT_IDLE_WAITING];

	if (!worth(c->ns, window, FIND))
		return;
	found(to, c->ns, c->ns, &c->longest);
	SAY(to, "a GPU has nothing to do for %.3f ms (%.1f %%) because its stream waits for an event that comes from elsewhere", ms(c->ns),
	    percent(c->ns, window));
}

static void profiled(const struct gt_advice_facts *f, uint64_t window, struct finding *to)
{
	const struct gt_cause_facts *c = &f->causes[GT_IDLE_OVERHEAD];

	if (!worth(c->ns, window, FIND))
		return;
	found(to, c->ns, c->ns, &c->longest);
	SAY(to, "the GPU waits %.3f ms (%.1f %%) for the profiler itself: without it the program is that much faster", ms(c->ns),
	    percent(c->ns, window));
}

static const struct rule rules[] = {
	{ "host-bound", "give the GPU more work at a time, or do the other work on another thread", true, host_bound },
	{ "launch-bound", "a CUDA graph, or fewer and larger kernels", true, launch_bound },
	{ "sync-in-loop", "wait for events, later, or not at all", true, sync_in_loop },
	{ "pageable-copy", "pinned memory (cudaMallocHost, pin_memory)", true, pageable_copy },
	{ "blocking-copy", "asynchronous copies on a stream of their own", false, blocking_copy },
	{ "blocking-set", "cudaMemsetAsync", false, blocking_set },
	{ "small-copies", "one copy of a packed buffer", false, small_copy },
	{ "alloc-in-loop", "a memory pool (cudaMallocAsync), or memory that is kept", true, alloc_in_loop },
	{ "module-loading-in-loop", "load before the loop (CUDA_MODULE_LOADING=EAGER)", true, module_in_loop },
	{ "driver-in-loop", "find the call that goes to the driver: gtanalyze ioctls gaps", true, driver_in_loop },
	{ "exposed-communication", "communicate while something computes", false, exposed_communication },
	{ "waits-elsewhere", "see what the event waits for", true, waits_elsewhere },
	{ "unbalanced-gpus", "share the work out evenly", false, unbalanced },
	{ "profiler-overhead", "record less", true, profiled },
};
#define NRULES (sizeof(rules) / sizeof(*rules))

/* ---- the table ---- */

static const struct gt_column columns[] = {
	{ "recording", "Recording", GT_C_COUNT },	/* of the place to see */
	{ "rule", "Rule", GT_C_WHOLE }, { "state", "Answer", GT_C_WHOLE }, { "cost_ns", "Costs", GT_C_NS }, { "gain_ns", "Could win", GT_C_NS },
	{ "gain_percent", "%", GT_C_PERCENT }, { "at_ns", "See", GT_C_TIME }, { "duration_ns", "for", GT_C_NS }, { "tid", "TID", GT_C_COUNT },
	{ "evidence", "Why", GT_C_TEXT }, { "remedy", NULL, GT_C_TEXT },
};
#define NCOLUMNS 11

struct answer { const struct rule *rule; struct finding f; };

static int by_gain(const void *pa, const void *pb)
{
	static const int order[] = { [FOUND] = 0, [UNKNOWN] = 1, [CLEAN] = 2 };
	const struct answer *a = pa, *b = pb;

	if (a->f.state != b->f.state)
		return order[a->f.state] - order[b->f.state];
	if (a->f.gain != b->f.gain)
		return a->f.gain < b->f.gain ? 1 : -1;
	return (a->rule > b->rule) - (a->rule < b->rule);
}

static const char *const states[] = { "clean", "found", "cannot answer" };

static void add_answer(const struct gt_advice_facts *f, struct gt_table *t, const struct answer *a, uint64_t window)
{
	const struct gt_idle *s = &f->idle;
	const struct gt_example *e = &a->f.at;
	bool is = a->f.state == FOUND, place = is && e->seg, thread = place && e->thread != GT_NONE;

	gt_table_add(t, (struct gt_cell[NCOLUMNS]){
		place ? gt_cell_u(e->seg->index) : gt_cell_none(), gt_cell_text(a->rule->name), gt_cell_text(states[a->f.state]),
		gt_cell_known(is, a->f.cost), gt_cell_known(is, a->f.gain),
		is ? gt_cell_share(a->f.gain, window) : gt_cell_none(),
		place ? gt_cell_i(gt_since(s->asked.opt, s->asked.reader, e->seg, e->from)) : gt_cell_none(),
		place ? gt_cell_i(e->to - e->from) : gt_cell_none(),
		thread ? gt_cell_i(e->seg->tracks[e->thread - s->order.tracks[e->seg->index]].id) : gt_cell_none(),
		gt_cell_text(a->f.text), gt_cell_text(a->rule->remedy) } + gt_where_skip(s->asked.reader));
}

/* ---- as people read it ---- */

/* Words in lines of the terminal's width, the first one behind `first`, the others behind as many blanks. */
static void say_words(const struct gt_idle *s, struct gt_table *t, const char *first, const char *words)
{
	size_t width = s->asked.opt->width && s->asked.opt->width < LINE ? s->asked.opt->width : LINE, indent = strlen(first);
	char line[LINE + 1];

	while (*words) {
		size_t room = width > indent + 8 ? width - indent : 8, n = strlen(words);

		if (n > room) {
			n = room;
			while (n && words[n] != ' ')
				n--;
			n = n ? n : strcspn(words, " ");
		}
		snprintf(line, sizeof(line), "%*s%.*s", (int)indent, first, (int)n, words);
		gt_table_say(t, "%s", line);
		first = "";
		words += n + strspn(words + n, " ");
	}
}

static void say_found(const struct gt_advice_facts *f, struct gt_table *t, const struct answer *a, unsigned nth, uint64_t window)
{
	const struct gt_idle *s = &f->idle;
	const struct gt_example *e = &a->f.at;
	char text[400], number[16];

	snprintf(number, sizeof(number), "  %2u. ", nth);
	snprintf(text, sizeof(text), "%s: could win %.3f ms, %.2f %%", a->rule->name, ms(a->f.gain), percent(a->f.gain, window));
	say_words(s, t, number, text);
	say_words(s, t, "      ", a->f.text);
	snprintf(text, sizeof(text), "remedy: %s", a->rule->remedy);
	say_words(s, t, "      ", text);
	if (!e->seg)
		return;
	snprintf(text, sizeof(text), "see: %s%.9f s, for %.6f ms", gt_whose(&s->asked, e->seg).text,
		 (double)gt_since(s->asked.opt, s->asked.reader, e->seg, e->from) / 1e9, ms((uint64_t)(e->to - e->from)));
	if (e->thread != GT_NONE)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), ", thread %lld",
			 (long long)e->seg->tracks[e->thread - s->order.tracks[e->seg->index]].id);
	say_words(s, t, "      ", text);
}

/* The names of those with this answer, and where it is always the same reason that one. */
static void say_others(const struct gt_idle *s, struct gt_table *t, const struct answer *answers, enum state state)
{
	const char *why = NULL, *sep = "";
	char text[LINE * 8] = "", first[40];

	for (size_t i = 0; i < NRULES; i++)
		if (answers[i].f.state == state) {
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", sep, answers[i].rule->name);
			sep = ", ";
			why = answers[i].f.text;
		}
	if (why && *why)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), ": %s", why);
	snprintf(first, sizeof(first), "  %s: ", states[state]);
	say_words(s, t, first, text);
}

static void say_all(const struct gt_advice_facts *f, struct gt_table *t, const struct answer *answers, uint64_t window)
{
	for (unsigned i = 0; i < NRULES && answers[i].f.state == FOUND; i++)
		say_found(f, t, &answers[i], i + 1, window);
	say_others(&f->idle, t, answers, UNKNOWN);
	say_others(&f->idle, t, answers, CLEAN);
}

static void look(const struct gt_advice_facts *f, struct answer *a, uint64_t window, const char *cannot)
{
	uint64_t calls = gt_sat_add(f->causes[GT_IDLE_UNSEEN].ns, f->causes[GT_IDLE_UNJOINED].ns);

	memset(&a->f, 0, sizeof(a->f));
	if (cannot) {
		a->f.state = UNKNOWN;
		SAY(&a->f, "%s", cannot);
	} else if (a->rule->needs_calls && worth(calls, window, FIND_MOST)) {
		a->f.state = UNKNOWN;
		SAY(&a->f, "of %.3f ms of idle time it is not known what the host did", ms(calls));
	} else {
		a->rule->look(f, window, &a->f);
	}
}

static int advice_finish(void *state, struct gt_table **tables, unsigned max, struct gt_err *err)
{
	struct gt_advice_facts *f = state;
	int rc = gt_idle_finish(&f->idle, err);
	const char *cannot = gt_idle_cannot(&f->idle);
	struct answer answers[NRULES];
	uint64_t window = 0;
	unsigned n = 0, skip = gt_where_skip(f->idle.asked.reader);

	for (size_t i = 0; i < f->idle.ndevices; i++)
		window = gt_sat_add(window, f->idle.devices[i].window);
	tables[0] = rc ? NULL : gt_table_new("advice", "What could be won", columns + skip, NCOLUMNS - skip);
	if (!tables[0])
		return rc ? rc : gt_err_set(err, -ENOMEM, "no memory for a table");
	for (size_t i = 0; i < NRULES; i++) {
		answers[i].rule = &rules[i];
		look(f, &answers[i], window, cannot);
		n += answers[i].f.state == FOUND;
	}
	qsort(answers, NRULES, sizeof(*answers), by_gain);
	for (size_t i = 0; i < NRULES; i++)
		add_answer(f, tables[0], &answers[i], window);
	say_all(f, tables[0], answers, window);
	if (n)
		gt_table_found(tables[0]);
	else if (cannot)
		gt_table_cannot(tables[0], "%s", cannot);
	gt_table_note(tables[0], "%u of %zu rules found something; shares are of %.6f ms of GPU time", n, NRULES, ms(window));
	gt_table_note(tables[0], "what could be won is an upper bound: what else would then take the time is not known");
	return 1;
}

static int advice_init(void *state, struct gt_reader *r, const struct gt_analysis_options *opt, struct gt_err *err)
{
	return gt_advice_facts_init(state, r, opt, err);
}

static int advice_block(void *state, const struct gt_cols *cols, struct gt_err *err) { return gt_advice_facts_block(state, cols, err); }
static void advice_release(void *state) { gt_advice_facts_release(state); }

const struct gt_analysis gt_advice_report = {
	.name       = "advice",
	.help       = "what costs the GPU time, what a remedy could win, and what cannot be told",
	.wants      = GT_IDLE_WANTS,
	.wants_args = true,
	.order      = GT_BY_TIME,
	.screen     = GT_SCREEN_GPU,
	.state_size = sizeof(struct gt_advice_facts),
	.init       = advice_init,
	.block      = advice_block,
	.finish     = advice_finish,
	.release    = advice_release,
};
