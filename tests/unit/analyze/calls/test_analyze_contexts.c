/* Contexts and their lifetimes: a program whose events are known, and random programs whose
 * threads are replayed with plain stacks. */
#define _GNU_SOURCE
#include "analyze/core/run.h"
#include "tests/unit/reports.h"

enum { CREATE, RETAIN, SET, PUSH, POP, RELEASE, DESTROY, NCALLS };
static const char *const names[] = { "cuCtxCreate_v2", "cuDevicePrimaryCtxRetain",
	"cuCtxSetCurrent", "cuCtxPushCurrent_v2", "cuCtxPopCurrent_v2",
	"cuDevicePrimaryCtxRelease_v2", "cuCtxDestroy_v2" };

struct program {
	struct trace t;
	uint32_t types[NCALLS];
	int64_t at;
};

static void program_begins(struct program *p, bool args)
{
	begin(&p->t, args);
	for (int i = 0; i < NCALLS; i++)
		p->types[i] =
			new_type(&p->t, names[i], (struct gt_type){ .category = GT_CAT_CONTEXT },
				args && i != RELEASE ? GT_R_CONTEXT : 0, 0);
	p->at = 1000;
}

static void calls(struct program *p, int thread, int what, uint64_t context, int ret)
{
	struct gt_row row = { .start = p->at,
		.end = p->at + 10 + what,
		.type = p->types[what],
		.ret = ret,
		.nargs = what != RELEASE };

	if (!gt_writer_type_get(p->t.w, p->types[what])->nfields)
		row.nargs = 0;
	gt_writer_row(p->t.w, GT_CALL, p->t.thread[thread], &row, &context, &p->t.err);
	p->at += 100;
}

static json_t *contexts_of(struct program *p, const struct gt_analysis_options *o)
{
	return report(end(&p->t), (const char *[]){ "contexts", NULL }, o);
}

static const json_t *sum(const json_t *j, const char *event)
{
	return row_named(j, "context_events", "event", event);
}

static void known_events(void)
{
	static const char *const events[] = { "retain", "bind", "bound already", "switch", "failed",
		"switch", "switch", "unbind", "bind", "create", "destroy", "release", "bind" };
	struct program p;
	json_t *j;

	program_begins(&p, true);
	calls(&p, 0, RETAIN, 1, 0);
	calls(&p, 0, SET, 1, 0);
	calls(&p, 0, SET, 1, 0);
	calls(&p, 0, SET, 2, 0);
	calls(&p, 0, SET, 3, 201); /* which changes nothing */
	calls(&p, 0, PUSH, 1, 0);
	calls(&p, 0, POP, 1, 0); /* back to 2 */
	calls(&p, 0, SET, 0, 0);
	calls(&p, 0, SET, 2, 0);
	calls(&p, 0, CREATE, 4, 0);  /* it is current from now on */
	calls(&p, 0, DESTROY, 4, 0); /* 2 is */
	calls(&p, 0, RELEASE, 0, 0);
	calls(&p, 1, SET, 2, 0); /* another thread */
	j = contexts_of(&p, &plain);
	CHECK(rows(j, "contexts") == sizeof(events) / sizeof(*events));
	for (size_t i = 0; i < rows(j, "contexts"); i++)
		CHECK(is(row(j, "contexts", i), "event", events[i]) || !printf("# %zu\n", i));
	CHECK(is(row(j, "contexts", 3), "context", "0x2") &&
		absent(row(j, "contexts", 11), "context"));
	CHECK(num(sum(j, "switch"), "count") == 3 && num(sum(j, "bind"), "count") == 3 &&
		num(sum(j, "failed"), "count") == 1);
	CHECK(num(sum(j, "switch"), "total_ns") == 10 + SET + 10 + PUSH + 10 + POP &&
		num(sum(j, "switch"), "max_ns") == 10 + POP);
	CHECK(!noted(j, "context_events", "not told"));
	json_decref(j);
}

/* Without arguments, or when options may hide other calls that bind, a call binds a context, and
 * the report has no more than that. */
static bool of_set(const struct gt_segment *seg, const struct gt_type *type, void *arg)
{
	return !strcmp(gt_str(seg, type->name), names[SET]);
}

static void unknown_bindings(void)
{
	for (int how = 0; how < 2; how++) {
		struct gt_analysis_options o = plain;
		struct program p;
		json_t *j;

		program_begins(&p, how);
		calls(&p, 0, SET, 1, 0);
		calls(&p, 0, PUSH, 2, 0);
		calls(&p, 0, SET, 1, 0);
		o.filter.match = how ? of_set : NULL;
		j = contexts_of(&p, &o);
		CHECK(rows(j, "contexts") == (how ? 2 : 3) &&
			num(sum(j, "bind"), "count") == (how ? 2 : 3));
		CHECK_EQ(rows(j, "context_events"), 1);
		CHECK(noted(j, "context_events",
			how ? "unknown: --match" : "unknown if the context was not recorded"));
		json_decref(j);
	}
	{ /* the current context is unknown from the push on */
		struct program p;
		json_t *j;

		program_begins(&p, true);
		p.types[PUSH] = new_type(
			&p.t, names[PUSH], (struct gt_type){ .category = GT_CAT_CONTEXT }, 0, 0);
		calls(&p, 0, SET, 1, 0);
		calls(&p, 0, PUSH, 2, 0);
		calls(&p, 0, SET, 1, 0);
		calls(&p, 0, SET, 1, 0);
		j = contexts_of(&p, &plain);
		CHECK(num(sum(j, "bind"), "count") == 3 &&
			num(sum(j, "bound already"), "count") == 1);
		CHECK(noted(j, "context_events", "unknown if"));
		json_decref(j);
	}
}

/* A stack of the greatest depth: the one on top is the last. */
struct paper {
	uint64_t of[200];
	int n;
};

static const char *play(struct paper *s, int what, uint64_t context)
{
	uint64_t before = s->n ? s->of[s->n - 1] : 0, now;

	if (what == POP || (what == DESTROY && before == context) || what == SET)
		s->n -= s->n > 0;
	if (what == CREATE || what == PUSH || (what == SET && context))
		s->of[s->n++] = context;
	now = s->n ? s->of[s->n - 1] : 0;
	if (what == CREATE || what == DESTROY)
		return what == CREATE ? "create" : "destroy";
	return !now ? "unbind" : !before ? "bind" : now == before ? "bound already" : "switch";
}

static void random_threads(void)
{
	unsigned switches = 0;

	for (unsigned seed = 1; seed <= 40; seed++) {
		const char *want[300];
		struct paper threads[3] = { 0 };
		struct program p;
		json_t *j;
		int n = 0;

		srand(seed);
		program_begins(&p, true);
		while (n < 300) {
			static const int some[] = { CREATE, SET, SET, SET, PUSH, POP, DESTROY };
			int thread = rand() % 3, what = some[rand() % 7];
			uint64_t context =
				what == SET && !(rand() % 8) ? 0 : 1 + (uint64_t)rand() % 3;

			if ((what == PUSH || what == CREATE) && threads[thread].n == 12)
				continue;
			want[n++] = play(&threads[thread], what, context);
			calls(&p, thread, what, context, 0);
		}
		j = contexts_of(&p, &plain);
		CHECK_EQ(rows(j, "contexts"), 300);
		for (int i = 0; i < 300; i++) {
			CHECK(is(row(j, "contexts", (size_t)i), "event", want[i]) ||
				!printf("# seed %u, %d\n", seed, i));
			switches += !strcmp(want[i], "switch");
		}
		json_decref(j);
	}
	CHECK(switches > 1000);
}

T_MAIN(T(known_events), T(unknown_bindings), T(random_threads))
