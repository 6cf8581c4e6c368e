/* Values of the fields of a row. Some are the same for all rows of a type, others for all rows
 * of a track. The rest are in columns with one value per row of a code: the index of a row is
 * the number of rows of its code before it, which is counted on first use. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "analyze/columns/column_cursor.h"
#include "analyze/query/query_rows.h"
#include "formats/base/buf.h"
#include "formats/names/demangle.h"
#include "formats/names/kernel_names.h"
#include "formats/names/stack_names.h"

static struct gt_query_value none(void) { return (struct gt_query_value){ .is = GT_Q_ABSENT }; }
static struct gt_query_value of_int(int64_t i)
{
	return (struct gt_query_value){ .is = GT_Q_INT, .i = i };
}
static struct gt_query_value of_uint(uint64_t u)
{
	return (struct gt_query_value){ .is = GT_Q_UINT, .u = u };
}

static struct gt_query_value of_string(const struct gt_segment *seg, uint64_t id)
{
	return id < seg->nstrings ? (struct gt_query_value){ .is = GT_Q_STRING, .u = id } : none();
}

/* ---- of a type ---- */

struct gt_query_value gt_query_of_type(
	struct gt_query_rows *e, enum gt_query_id id, uint32_t type, enum gt_kind kind)
{
	const struct gt_segment *seg = e->seg->seg;
	const struct gt_type *t = type < seg->ntypes ? &seg->types[type] : NULL;

	if (id == GT_Q_KIND)
		return of_uint(gt_query_kind_of(kind, t));
	if (!t)
		return none();
	if (id == GT_Q_CATEGORY)
		return of_uint(t->category);
	if (id == GT_Q_LAYER)
		return of_uint(t->layer);
	return (struct gt_query_value){ .is = GT_Q_CHARS,
		.s = e->seg->names[id - GT_Q_NAME][type] };
}

static const char *demangled(struct gt_query_rows *e, const char *name)
{
	char *full = gt_demangle(name);

	if (!full)
		return name;
	if (gt_grow(&e->owned, &e->owned_cap, e->nowned + 1, sizeof(*e->owned))) {
		free(full);
		return NULL;
	}
	return e->owned[e->nowned++] = full;
}

/* NULL: no memory. */
static const char *name_of(
	struct gt_query_rows *e, const struct gt_segment *seg, uint32_t type, enum gt_query_id id)
{
	const struct gt_type *t = &seg->types[type];
	const char *name = gt_type_name(seg, type);
	struct gt_err ignored = GT_ERR_INIT;

	if ((id == GT_Q_NAME || id == GT_Q_GROUPNAME) && t->layer == GT_LAYER_GPU &&
		t->category == GT_CAT_KERNEL)
		return gt_kernel_names_get(e->kernels, name);
	if (id == GT_Q_GROUPNAME && t->layer == GT_LAYER_USER)
		return gt_name_templates_of(&e->templates, seg, t, &ignored).ptr;
	return id == GT_Q_FULLNAME ? demangled(e, name) : name;
}

static int make_names(struct gt_query_rows *e, enum gt_query_id id, struct gt_err *err)
{
	for (uint32_t i = 0; i < e->nsegs; i++) {
		const struct gt_segment *seg = e->segs[i].seg;
		const char **names = calloc(seg->ntypes + 1ul, sizeof(*names));

		e->segs[i].names[id - GT_Q_NAME] = names;
		for (uint32_t t = 0; names && t < seg->ntypes; t++)
			if (!(names[t] = name_of(e, seg, t, id)))
				return gt_err_set(err, -ENOMEM, "out of memory (names)");
		if (!names)
			return gt_err_set(err, -ENOMEM, "out of memory (names)");
	}
	return 0;
}

/* ---- of a track ---- */

static struct gt_query_value of_track(
	const struct gt_segment *seg, uint32_t track, enum gt_query_id id)
{
	static const enum gt_track_kind kinds[GT_QUERY_FIELD_COUNT] = {
		[GT_Q_PID] = GT_TRACK_PROCESS,
		[GT_Q_PROCESS] = GT_TRACK_PROCESS,
		[GT_Q_TID] = GT_TRACK_THREAD,
		[GT_Q_THREAD] = GT_TRACK_THREAD,
		[GT_Q_DEVICE] = GT_TRACK_DEVICE,
		[GT_Q_STREAM] = GT_TRACK_STREAM,
		[GT_Q_CONTEXT] = GT_TRACK_CONTEXT,
	};

	if (id == GT_Q_RECORDING)
		return of_uint(seg->index);
	track = gt_track_above(seg, track, kinds[id]);
	if (track == GT_NONE)
		return none();
	return id == GT_Q_PROCESS || id == GT_Q_THREAD ? of_string(seg, seg->tracks[track].name)
						       : of_int(seg->tracks[track].id);
}

/* ---- of a row ---- */

#define ROLES 3
static const struct {
	uint8_t roles[ROLES];
	bool all; /* all fields with the first role, not only one */
} stored[GT_QUERY_FIELD_COUNT] = {
	[GT_Q_SIZE] = { { GT_R_BYTES }, false },
	[GT_Q_GRID] = { { GT_R_GRID }, true },
	[GT_Q_BLOCK] = { { GT_R_BLOCK }, true },
	[GT_Q_REGISTERS] = { { GT_R_REGISTERS }, false },
	[GT_Q_SHARED] = { { GT_R_SHARED }, true },
	[GT_Q_GRAPH] = { { GT_R_GRAPH }, false },
	[GT_Q_NODE] = { { GT_R_NODE }, false },
	[GT_Q_CORRELATION] = { { GT_R_CORRELATION }, false },
	[GT_Q_CONTEXT] = { { GT_R_CONTEXT }, false },
	[GT_Q_LAUNCH] = { { GT_R_LAUNCH_NAME }, false },
	[GT_Q_LAUNCH_DUR] = { { GT_R_LAUNCH_JOIN, GT_R_LAUNCH_NS }, false },
	[GT_Q_LAUNCH_TID] = { { GT_R_LAUNCH_JOIN, GT_R_LAUNCH_TRACK }, false },
	[GT_Q_QUEUE] = { { GT_R_LAUNCH_JOIN, GT_R_LAUNCH_START, GT_R_LAUNCH_NS }, false },
	[GT_Q_DIRECTION] = { { GT_R_DIRECTION }, false },
	[GT_Q_SRC] = { { GT_R_SRC_MEMORY }, false },
	[GT_Q_DST] = { { GT_R_DST_MEMORY }, false },
	[GT_Q_VALUE] = { { GT_R_VALUE }, false },
	[GT_Q_LINE] = { { GT_R_STACK }, false },
	[GT_Q_FUNCTION] = { { GT_R_STACK }, false },
	[GT_Q_MODULE] = { { GT_R_STACK }, false },
	[GT_Q_STACK] = { { GT_R_STACK }, false },
};

/* Adds a column. false: it is missing, or its length differs. */
static bool add_column(
	struct gt_query_source *s, const struct gt_cols *cols, uint32_t code, uint32_t field)
{
	uint32_t n;
	const uint64_t *v = field == GT_NONE ? NULL : gt_cols_args(cols, code, field, &n);

	if (!v || (s->nv && n != s->n))
		return false;
	if (!s->nv)
		s->kind = gt_cols_type(cols, code)->fields[field].kind;
	s->v[s->nv++] = v;
	s->n = n;
	return true;
}

static uint32_t field_called(
	const struct gt_segment *seg, const struct gt_type *type, const char *name)
{
	for (uint32_t i = 0; i < type->nfields; i++)
		if (!strcmp(gt_str(seg, type->fields[i].name), name))
			return i;
	return GT_NONE;
}

static void find_columns(struct gt_query_source *s, const struct gt_cols *cols, uint32_t code,
	const struct gt_query_use *use)
{
	const struct gt_type *type = gt_cols_type(cols, code);

	if (!type)
		return;
	if (use->arg) {
		add_column(s, cols, code, field_called(cols->seg, type, use->arg));
		return;
	}
	for (uint32_t i = 0;
		stored[use->id].all && i < type->nfields && s->nv < sizeof(s->v) / sizeof(*s->v);
		i++)
		if (type->fields[i].role == stored[use->id].roles[0])
			add_column(s, cols, code, i);
	for (unsigned i = 0; !stored[use->id].all && i < ROLES && stored[use->id].roles[i]; i++)
		if (!add_column(s, cols, code, gt_type_field(type, stored[use->id].roles[i]))) {
			s->nv = 0; /* one without the other is meaningless */
			return;
		}
}

static const struct gt_query_source *source_of(struct gt_query_rows *e, unsigned use, uint32_t code)
{
	struct gt_query_source *s = &e->sources[(size_t)use * e->cap + code];

	if (s->run != e->run) {
		s->run = e->run;
		s->nv = 0;
		s->n = 0;
		find_columns(s, e->cols, code, &e->q->uses[use]);
	}
	return s;
}

static uint32_t count_row(struct gt_query_rows *e, uint32_t row)
{
	struct gt_query_counted *c = &e->counted[e->cols->code[row]];

	if (c->run != e->run) {
		c->run = e->run;
		c->n = 0;
	}
	return c->n++;
}

/* Computes the indices of the chunk's rows in argument columns; skipped rows are counted now. */
static void rank_chunk(struct gt_query_rows *e)
{
	e->has_ranks = true;
	for (uint32_t i = 0; !e->cols->code && i < e->n; i++)
		e->rank[i] = e->from + i;
	if (!e->cols->code)
		return;
	for (; e->ranked < e->from; e->ranked++)
		count_row(e, e->ranked);
	for (uint32_t i = 0; i < e->n; i++)
		e->rank[i] = count_row(e, e->from + i);
	e->ranked = e->from + e->n;
}

static struct gt_query_value product(const struct gt_query_source *s, uint32_t at)
{
	uint64_t u = 1;

	for (unsigned i = 0; i < s->nv; i++)
		if (__builtin_mul_overflow(u, s->v[i][at], &u))
			return of_uint(UINT64_MAX);
	return of_uint(u);
}

static struct gt_query_value sum(const struct gt_query_source *s, uint32_t at)
{
	uint64_t u = 0;

	for (unsigned i = 0; i < s->nv; i++)
		u = gt_sat_add(u, s->v[i][at]);
	return of_uint(u);
}

/* From the end of the launch call to the start of the operation; an operation that began before
 * the call returned did not queue. */
static struct gt_query_value queue(const struct gt_query_source *s, uint32_t at, int64_t start)
{
	int64_t returned;

	if (s->v[0][at] == GT_JOIN_UNKNOWN || s->v[2][at] > INT64_MAX ||
		__builtin_add_overflow((int64_t)s->v[1][at], (int64_t)s->v[2][at], &returned) ||
		start < returned)
		return none();
	return of_uint((uint64_t)start - (uint64_t)returned);
}

static struct gt_query_value plain(const struct gt_segment *seg, unsigned kind, uint64_t bits)
{
	struct gt_query_value v = { .is = GT_Q_UINT, .hex = kind == GT_F_HEX, .u = bits };

	if (kind == GT_F_STR)
		return of_string(seg, bits);
	if (kind == GT_F_I64)
		v.is = GT_Q_INT;
	if (kind == GT_F_F64) {
		memcpy(&v.d, &bits, sizeof(v.d));
		v.is = isnan(v.d) ? GT_Q_ABSENT : GT_Q_DOUBLE;
	}
	return v;
}

static struct gt_query_value real(struct gt_query_value v)
{
	if (v.is == GT_Q_INT || v.is == GT_Q_UINT)
		return (struct gt_query_value){ .is = GT_Q_DOUBLE,
			.d = v.is == GT_Q_INT ? (double)v.i : (double)v.u };
	return v.is == GT_Q_DOUBLE ? v : none();
}

static struct gt_query_value launch_tid(
	const struct gt_segment *seg, const struct gt_query_source *s, uint32_t at)
{
	uint64_t track = s->v[1][at];

	if (s->v[0][at] == GT_JOIN_UNKNOWN || track >= seg->ntracks ||
		seg->tracks[track].kind != GT_TRACK_THREAD)
		return none();
	return of_int(seg->tracks[track].id);
}

/* The frame that a stack counts for, in one of its forms, or the whole stack. new: NULL: no memory.
 */
static char *make_stack_text(const struct gt_segment *seg, uint32_t stack, enum gt_query_id id)
{
	struct gt_buf text = { 0 };
	char *copy;

	if (id == GT_Q_STACK)
		gt_stack_text(&text, seg, stack, GT_STACK_LINE);
	else
		gt_stack_row_name(&text, seg, gt_stack_caller(seg, stack),
			(enum gt_stack_by)(GT_STACK_LINE + (id - GT_Q_LINE)));
	gt_buf_byte(&text, 0);
	copy = text.failed ? NULL : strdup((const char *)text.data);
	gt_buf_release(&text);
	return copy;
}

/* Absent: no stack was recorded, or it has no function. */
static struct gt_query_value of_stack(struct gt_query_rows *e, enum gt_query_id id, uint64_t stack)
{
	const struct gt_segment *seg = e->seg->seg;
	char ***texts = &e->seg->stacks[id - GT_Q_LINE];

	if (stack >= seg->nstacks || gt_stack_caller(seg, stack) == GT_NONE)
		return none();
	if (!*texts)
		*texts = calloc(seg->nstacks, sizeof(**texts));
	if (*texts && !(*texts)[stack])
		(*texts)[stack] = make_stack_text(seg, (uint32_t)stack, id);
	if (!*texts || !(*texts)[stack]) {
		e->no_memory = true;
		return none();
	}
	return (struct gt_query_value){
		.is = GT_Q_CHARS, .stack = (uint32_t)stack + 1, .s = (*texts)[stack]
	};
}

static struct gt_query_value of_columns(struct gt_query_rows *e, unsigned use, uint32_t row)
{
	const struct gt_query_source *s = source_of(e, use, gt_query_code(e->cols, row));
	const struct gt_segment *seg = e->cols->seg;
	uint32_t at;

	if (!s->nv)
		return none();
	if (!e->has_ranks)
		rank_chunk(e);
	at = e->rank[row - e->from];
	/* results of an open call are unknown, and stored as 0 */
	if (at >= s->n || (e->cols->kind == GT_OPEN && !s->v[0][at]))
		return none();
	switch (e->q->uses[use].id) {
	case GT_Q_GRID:
	case GT_Q_BLOCK: return product(s, at);
	case GT_Q_SHARED: return sum(s, at);
	case GT_Q_LAUNCH:
	case GT_Q_SRC:
	case GT_Q_DST: return of_string(seg, s->v[0][at]);
	case GT_Q_LAUNCH_DUR: return s->v[0][at] == GT_JOIN_UNKNOWN ? none() : of_uint(s->v[1][at]);
	case GT_Q_LAUNCH_TID: return launch_tid(seg, s, at);
	case GT_Q_QUEUE: return queue(s, at, e->cols->start[row]);
	case GT_Q_DIRECTION:
		return of_uint(s->v[0][at] > GT_DIR_PEER ? GT_DIR_UNKNOWN : s->v[0][at]);
	case GT_Q_VALUE:
		return e->cols->kind == GT_COUNTER ? real(plain(seg, s->kind, s->v[0][at]))
						   : none();
	case GT_Q_LINE:
	case GT_Q_FUNCTION:
	case GT_Q_MODULE:
	case GT_Q_STACK: return of_stack(e, e->q->uses[use].id, s->v[0][at]);
	case GT_Q_ARG: return plain(seg, s->kind, s->v[0][at]);
	default: return of_uint(s->v[0][at]);
	}
}

/* From the track, if contexts have tracks. Otherwise from the row: 0 is unknown, and calls have
 * handles. */
static struct gt_query_value context(struct gt_query_rows *e, unsigned use, uint32_t row)
{
	struct gt_query_value v = e->of_track[use];

	if (v.is != GT_Q_ABSENT || e->cols->kind == GT_CALL || e->cols->kind == GT_OPEN)
		return v;
	v = of_columns(e, use, row);
	return v.u ? v : none();
}

static bool is_moment(enum gt_kind kind) { return kind == GT_INSTANT || kind == GT_COUNTER; }

static struct gt_query_value of_row(struct gt_query_rows *e, unsigned use, uint32_t row)
{
	const struct gt_cols *c = e->cols;

	switch (e->q->uses[use].id) {
	case GT_Q_DUR: return is_moment(c->kind) ? none() : of_int(c->dur[row]);
	case GT_Q_START: return of_int(c->start[row] - e->seg->origin);
	case GT_Q_END: return of_int(c->start[row] + c->dur[row] - e->seg->origin);
	case GT_Q_DEPTH:
		return c->kind == GT_CALL || c->kind == GT_OPEN
			? of_uint(c->depth ? c->depth[row] : 0)
			: none();
	case GT_Q_RET: return c->kind == GT_CALL ? of_int(gt_cols_ret(c, row)) : none();
	case GT_Q_CONTEXT: return context(e, use, row);
	case GT_Q_FAILED: return c->kind == GT_CALL ? of_uint(gt_cols_ret(c, row) != 0) : none();
	default: return of_columns(e, use, row);
	}
}

struct gt_query_value gt_query_get(struct gt_query_rows *e, unsigned use, uint32_t row)
{
	const struct gt_query_use *u = &e->q->uses[use];

	switch (gt_query_field(u->id)->level) {
	case GT_Q_OF_TYPE:
		return gt_query_of_type(
			e, u->id, e->cols->types[gt_query_code(e->cols, row)], e->cols->kind);
	case GT_Q_OF_TRACK: return e->of_track[use];
	default: return of_row(e, use, row);
	}
}

void gt_query_begin_run(struct gt_query_rows *e)
{
	e->run++;
	e->ranked = 0;
	for (unsigned i = 0; i < e->q->nuses; i++)
		if (gt_query_field(e->q->uses[i].id)->level == GT_Q_OF_TRACK ||
			e->q->uses[i].id == GT_Q_CONTEXT)
			e->of_track[i] = of_track(e->cols->seg, e->cols->track, e->q->uses[i].id);
}

/* ---- life ---- */

struct gt_query_rows *gt_query_rows_new(const struct gt_query *q, struct gt_reader *r,
	const struct gt_analysis_options *opt, struct gt_err *err)
{
	struct gt_query_rows *e = calloc(1, sizeof(*e));
	uint32_t n = gt_reader_segments(r);
	int rc = 0;

	if (e)
		*e = (struct gt_query_rows){ .q = q,
			.reader = r,
			.segs = calloc(n + 1ul, sizeof(*e->segs)),
			.kernels = gt_kernel_names_of(r, opt->names) };
	if (!e || !e->segs || !e->kernels) {
		gt_query_rows_free(e);
		return gt_err_set(err, -ENOMEM, "out of memory (query)"), NULL;
	}
	for (; e->nsegs < n; e->nsegs++) {
		const struct gt_segment *seg = gt_reader_segment(r, e->nsegs);

		e->segs[e->nsegs] =
			(struct gt_query_segment){ .seg = seg, .origin = gt_origin(opt, r, seg) };
	}
	for (unsigned i = 0; !rc && i < q->nuses; i++)
		if (q->uses[i].id >= GT_Q_NAME && q->uses[i].id <= GT_Q_GROUPNAME)
			rc = make_names(e, q->uses[i].id, err);
	if (!rc)
		return e;
	gt_query_rows_free(e);
	return NULL;
}

static void free_texts(char **texts, uint32_t n)
{
	for (uint32_t i = 0; texts && i < n; i++)
		free(texts[i]);
	free(texts);
}

void gt_query_rows_free(struct gt_query_rows *e)
{
	if (!e)
		return;
	for (uint32_t i = 0; i < e->nsegs; i++) {
		for (unsigned k = 0; k < GT_QUERY_NAMES; k++)
			free(e->segs[i].names[k]);
		for (unsigned k = 0; k < GT_QUERY_NODES; k++) {
			free(e->segs[i].of_type[k]);
			free(e->segs[i].of_string[k]);
			free(e->segs[i].of_stack[k]);
		}
		for (unsigned k = 0; k < GT_QUERY_STACK_TEXTS; k++)
			free_texts(e->segs[i].stacks[k], e->segs[i].seg->nstacks);
	}
	for (size_t i = 0; i < e->nowned; i++)
		free(e->owned[i]);
	gt_kernel_names_free(e->kernels);
	free(e->owned);
	gt_name_templates_release(&e->templates);
	free(e->segs);
	free(e->sources);
	free(e->counted);
	free(e->of_code);
	free(e);
}
