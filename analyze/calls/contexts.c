/* Events of contexts, and the context of each thread.
 *
 * A thread has a stack of contexts; the top one is current. Calls that bind a context say which
 * one becomes current. The previous call tells the context before. So the report knows whether a
 * call binds another context (a switch, which costs time), the same one again (a useless call),
 * or the first known one of the thread. The context of a thread before the recording, or before
 * the selected range, is unknown: its first call counts as a bind. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyze/calls/driver_functions.h"
#include "analyze/core/call_list.h"
#include "analyze/columns/column_cursor.h"
#include "formats/base/buf.h"
#include "formats/cuda/cuda_api.h"

/* clang-format off */
#define EVENTS(X) \
	X(CREATE, "create") \
	X(RETAIN, "retain") \
	X(BIND, "bind") \
	X(SWITCH, "switch") \
	X(SAME, "bound already") \
	X(UNBIND, "unbind") \
	X(RELEASE, "release") \
	X(DESTROY, "destroy") \
	X(FAILED, "failed") \
	X(KERNEL, "in the kernel") \
	X(OTHER, "other")
/* clang-format on */
enum event {
#define X(e, words) e,
	EVENTS(X)
#undef X
		NEVENTS
};
static const char *const words[] = {
#define X(e, words) words,
	EVENTS(X)
#undef X
};

enum effect { NONE, SET, PUSH, POP, GONE }; /* change of the thread's stack */
static const struct {
	const char *name;
	uint8_t event, effect;
} calls[] = {
	{ "cuCtxCreate", CREATE, PUSH },
	{ "cuGreenCtxCreate", CREATE, NONE },
	{ "cuCtxFromGreenCtx", CREATE, NONE },
	{ "cuDevicePrimaryCtxRetain", RETAIN, NONE },
	{ "cuCtxAttach", RETAIN, NONE },
	{ "cuCtxSetCurrent", BIND, SET },
	{ "cuCtxPushCurrent", BIND, PUSH },
	{ "cuCtxPopCurrent", UNBIND, POP },
	{ "cudaSetDevice", BIND, NONE },
	{ "cuDevicePrimaryCtxRelease", RELEASE, NONE },
	{ "cuCtxDetach", RELEASE, NONE },
	{ "cuCtxDestroy", DESTROY, GONE },
	{ "cuDevicePrimaryCtxReset", DESTROY, NONE },
	{ "cuGreenCtxDestroy", DESTROY, NONE },
	{ "cudaDeviceReset", DESTROY, NONE },
};
#define NCALLS (sizeof(calls) / sizeof(*calls))
#define KERNEL_FUNCTION (NCALLS + 1)

#define DEEPEST 16u /* depth of a thread's stack; programs use up to two */
struct stack {
	uint64_t contexts[DEEPEST];
	uint32_t n;
};
struct column { /* of a code of the current run */
	/* index into calls; NCALLS: another call; KERNEL_FUNCTION; GT_NONE: not about contexts */
	uint32_t call;
	const uint64_t *context, *device;
	uint32_t ncontext, ndevice, nth;
};
struct contexts {
	struct gt_report_state report;
	struct gt_top_n keep;
	uint32_t *tracks;      /* by segment: number of tracks in earlier segments */
	struct stack **stacks; /* by track, numbered over all segments; NULL: unknown */
	struct column *columns;
	size_t columns_cap;
	struct {
		uint64_t count, ns, longest;
	} sums[NEVENTS];
	bool unknown; /* a call binds an unknown context */
};

static int contexts_init(
	void *state, struct gt_reader *r, const struct gt_analysis_options *opt, struct gt_err *err)
{
	struct contexts *c = state;
	uint32_t n = gt_reader_segments(r);

	c->report = (struct gt_report_state){ r, opt };
	gt_top_n_init(&c->keep, opt->top);
	c->tracks = calloc(n + 1ul, sizeof(*c->tracks));
	for (uint32_t i = 0; c->tracks && i < n; i++)
		c->tracks[i + 1] = c->tracks[i] + gt_reader_segment(r, i)->ntracks;
	c->stacks = c->tracks ? calloc(c->tracks[n] + 1ul, sizeof(struct stack *)) : NULL;
	return c->stacks ? 0 : gt_err_set(err, -ENOMEM, "out of memory (contexts)");
}

/* ---- what a call does ---- */

/* NCALLS: another call. */
static uint32_t call_of(const char *name)
{
	uint32_t i = 0;

	while (i < NCALLS && !gt_api_is(name, calls[i].name))
		i++;
	return i;
}

static enum event bound(uint64_t before, uint64_t now)
{
	return !now ? UNBIND : !before ? BIND : before == now ? SAME : SWITCH;
}

static enum event change(struct stack *s, enum effect effect, uint64_t context)
{
	uint64_t before = s->n ? s->contexts[s->n - 1] : 0;

	switch (effect) {
	case POP:
	case GONE:
		if (s->n && (effect == POP || before == context))
			s->n--;
		break;
	case SET:
		s->n -= s->n > 0;
		if (!context)
			break;
		/* fall through */
	default:
		if (s->n == DEEPEST) /* drops the lowest context */
			memmove(s->contexts, s->contexts + 1, --s->n * sizeof(*s->contexts));
		s->contexts[s->n++] = context;
	}
	return bound(before, s->n ? s->contexts[s->n - 1] : 0);
}

/* The event that a row is for its thread. NEVENTS: no memory. */
static enum event event_of(struct contexts *c, const struct gt_cols *cols, const struct column *col,
	const struct gt_top_entry *one)
{
	struct stack **s = cols->track < cols->seg->ntracks
		? &c->stacks[c->tracks[cols->seg->index] + cols->track]
		: NULL;
	enum event event = col->call < NCALLS  ? (enum event)calls[col->call].event
		: col->call == KERNEL_FUNCTION ? KERNEL
					       : OTHER,
		   then;
	enum effect effect = col->call < NCALLS ? (enum effect)calls[col->call].effect : NONE;

	if (one->ret)
		return FAILED;
	c->unknown |= event == BIND && (one->a == UINT64_MAX || c->report.opt->filter.match);
	if (effect == NONE || !s || cols->kind != GT_CALL || c->report.opt->filter.match)
		return event;
	if (!*s && !(*s = calloc(1, sizeof(**s))))
		return NEVENTS;
	if (one->a == UINT64_MAX && effect != POP) {
		(*s)->n = 0;
		return event;
	}
	then = change(*s, effect, one->a);
	return event == BIND || event == UNBIND ? then : event;
}

/* ---- rows ---- */

/* A function of the driver in the kernel, by its name (nv*ctx*). */
static bool is_kernel_event(const struct gt_type *type, const char *name)
{
	return gt_is_kernel_function(type) &&
		(strstr(name, "ctx") || strstr(name, "Ctx") || strstr(name, "context"));
}

/* Does this run have calls about contexts? Negative: err. */
static int look_at_codes(struct contexts *c, const struct gt_cols *cols, struct gt_err *err)
{
	bool any = false;

	if (gt_grow(&c->columns, &c->columns_cap, cols->ntypes + 1ul, sizeof(*c->columns)))
		return gt_err_set(err, -ENOMEM, "out of memory (contexts)");
	for (uint32_t code = 0; code < cols->ntypes; code++) {
		const struct gt_type *type = gt_cols_type(cols, code);
		const char *name = type ? gt_type_name(cols->seg, cols->types[code]) : "";
		struct column *to = &c->columns[code];

		*to = (struct column){ .call = GT_NONE };
		if (type && is_kernel_event(type, name)) {
			to->call = KERNEL_FUNCTION;
			any = true;
		}
		if (!type || type->category != GT_CAT_CONTEXT || !gt_api_changes_context(name))
			continue;
		to->call = call_of(name);
		to->context = gt_cols_role(cols, code, GT_R_CONTEXT, &to->ncontext);
		to->device = gt_cols_role(cols, code, GT_R_DEVICE, &to->ndevice);
		any = true;
	}
	return any;
}

static int add_row(struct contexts *c, const struct gt_cols *cols, struct column *col, uint32_t i,
	struct gt_err *err)
{
	/* earlier is better */
	struct gt_top_entry one = gt_top_entry_of_row(cols, i, ~cols->start[i]);
	uint64_t ns = cols->dur ? (uint64_t)cols->dur[i] : 0;
	uint32_t nth = col->nth++;
	enum event event;

	one.a = nth < col->ncontext ? col->context[nth] : UINT64_MAX;
	event = event_of(c, cols, col, &one);
	if (event == NEVENTS)
		return gt_err_set(err, -ENOMEM, "out of memory (contexts)");
	c->sums[event].count++;
	c->sums[event].ns = gt_sat_add(c->sums[event].ns, ns);
	c->sums[event].longest = ns > c->sums[event].longest ? ns : c->sums[event].longest;
	one.b = (uint64_t)event << 32 | (nth < col->ndevice ? (uint32_t)col->device[nth] : GT_NONE);
	return gt_top_n_offer(&c->keep, one.score) && gt_top_n_add(&c->keep, &one, err) ? -ENOMEM
											: 0;
}

static int contexts_block(void *state, const struct gt_cols *cols, struct gt_err *err)
{
	struct contexts *c = state;
	int rc = look_at_codes(c, cols, err);

	for (uint32_t i = 0; rc > 0 && i < cols->n; i++) {
		struct column *col = &c->columns[cols->code ? cols->code[i] : 0];

		if (col->call != GT_NONE && add_row(c, cols, col, i, err))
			rc = -ENOMEM;
	}
	return rc < 0 ? rc : 0;
}

/* ---- the tables ---- */

static const struct gt_column columns[] = {
	GT_CALL_LIST_COLUMNS,
	{ "event", "Event", GT_C_TEXT },
	{ "context", "Context", GT_C_WHOLE },
	{ "device", "Device", GT_C_COUNT },
};
#define NCOLUMNS (GT_CALL_LIST_CELLS + 3u)
static const struct gt_column sum_columns[] = {
	{ "event", "Event", GT_C_TEXT },
	{ "count", "Calls", GT_C_COUNT },
	{ "total_ns", "Total", GT_C_NS },
	{ "max_ns", "Longest", GT_C_NS },
};

static void add(const struct contexts *c, struct gt_table *t, const struct gt_top_entry *one)
{
	struct gt_cell cells[NCOLUMNS];
	char handle[24];

	snprintf(handle, sizeof(handle), "0x%llx", (unsigned long long)one->a);
	gt_call_list_cells(cells, &c->report, one);
	cells[10] = gt_cell_text(words[one->b >> 32]);
	cells[11] = one->a == UINT64_MAX ? gt_cell_none() : gt_cell_text(handle);
	cells[12] = gt_cell_known((uint32_t)one->b != GT_NONE, (uint32_t)one->b);
	gt_table_add(t, cells);
}

static int contexts_finish(void *state, struct gt_table **tables, unsigned max, struct gt_err *err)
{
	struct contexts *c = state;

	tables[0] = gt_report_table(&c->report, "contexts", "Context events", columns, NCOLUMNS,
		"device process depth thread result tid pid context duration_ns", err);
	tables[1] = gt_report_table(
		&c->report, "context_events", "Context events by kind", sum_columns, 4, NULL, err);
	if (!tables[0] || !tables[1])
		return err->code;
	gt_top_n_sort(&c->keep);
	for (size_t i = 0; i < c->keep.n; i++)
		add(c, tables[0], &c->keep.list[i]);
	gt_note_top_n(tables[0], &c->keep);
	for (unsigned e = 0; e < NEVENTS; e++)
		if (c->sums[e].count)
			gt_table_add(tables[1],
				(struct gt_cell[]){ gt_cell_text(words[e]),
					gt_cell_u(c->sums[e].count), gt_cell_u(c->sums[e].ns),
					gt_cell_u(c->sums[e].longest) });
	if (c->unknown)
		gt_table_note(tables[1], "switches and repeated binds are unknown%s",
			c->report.opt->filter.match
				? GT_MATCH_TEXT(c->report.opt, ": ", " may leave out calls")
				: " if the context was not recorded");
	return 2;
}

static void contexts_release(void *state)
{
	struct contexts *c = state;

	for (uint32_t i = 0; c->stacks && i < c->tracks[gt_reader_segments(c->report.reader)]; i++)
		free(c->stacks[i]);
	free(c->stacks);
	free(c->tracks);
	free(c->columns);
	gt_top_n_release(&c->keep);
}

const struct gt_analysis gt_contexts_report = {
	.name = "contexts",
	.per_recording = true,
	.help = "contexts created, bound, switched and destroyed, in order of time, and how often",
	.wants = GT_BIT(GT_CALL) | GT_BIT(GT_INSTANT) | GT_BIT(GT_SPAN),
	.needs = GT_LAYERS_OF_CALLS,
	.wants_args = true,
	.order = GT_PER_TRACK,
	.state_size = sizeof(struct contexts),
	.init = contexts_init,
	.block = contexts_block,
	.finish = contexts_finish,
	.release = contexts_release,
};
