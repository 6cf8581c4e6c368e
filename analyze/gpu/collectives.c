#define _GNU_SOURCE /* qsort_r */
#include "analyze/gpu/collectives.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyze/columns/column_cursor.h"
#include "analyze/gpu/work_kind.h"
#include "formats/base/buf.h"
#include "formats/base/sorted.h"

#define SAMPLES 1024u     /* kernels of a sequence that are compared with a group */
#define NEAR 16u          /* collectives before and after a kernel that are compared with it */
#define TOGETHER_NS 10000 /* ends that differ by less are together */

struct collective {
	int64_t first, last, end;     /* the first and last arrival, the last end */
	uint64_t number;              /* of its kernels */
	uint32_t name, members, late; /* late: index of the sequence that arrived last */
	uint32_t best;                /* 1 + the kernel with the longest overlap, while matching */
	int64_t overlap;              /* of `best` */
};
struct place { /* for the order of the first arrivals */
	int64_t first;
	uint32_t collective;
};
struct gt_collective_group {
	const struct gt_segment *seg; /* of its clock */
	uint32_t base;                /* its first sequence */
	const char *communicator;     /* NULL: unknown */
	struct collective *list;
	struct place *order;
	size_t n, cap, order_cap;
	int64_t end; /* the last end of all */
};

/* ---- kernels ---- */

static enum gt_communicator_kind communicator_kind(
	const struct gt_segment *seg, const struct gt_field *f)
{
	const char *name = gt_str(seg, f->name);
	bool is_nccl = !strcmp(name, "communicator"); /* gpu_emit.c; text in an exported file */

	if (f->kind == GT_F_STR && (is_nccl || !strcmp(name, "Process Group Name")))
		return GT_COMMUNICATOR_NAME; /* or of PyTorch's profiler */
	return f->kind == GT_F_HEX && is_nccl ? GT_COMMUNICATOR_NCCL : GT_COMMUNICATOR_UNKNOWN;
}

static struct gt_collective_type describe(const struct gt_segment *seg, const struct gt_type *type)
{
	struct gt_collective_type t = { .known = true,
		.is_communication = gt_work_kind(seg, type) == GT_WORK_COMMUNICATION,
		.communicator = GT_FIELDS_MAX,
		.bytes = GT_FIELDS_MAX,
		.number = GT_FIELDS_MAX };

	for (uint32_t i = type->nfields; i-- > 0;) { /* of equal fields the first one counts */
		const struct gt_field *f = &type->fields[i];
		enum gt_communicator_kind kind = communicator_kind(seg, f);

		if (kind != GT_COMMUNICATOR_UNKNOWN) {
			t.kind = kind;
			t.communicator = (uint8_t)i;
		}
		if (f->kind == GT_F_U64 && !strcmp(gt_str(seg, f->name), "message_bytes"))
			t.bytes = (uint8_t)i;
		if (f->kind == GT_F_U64 && !strcmp(gt_str(seg, f->name), "sequence"))
			t.number = (uint8_t)i;
	}
	return t;
}

/* The index of the sequence of the run's track and this communicator. GT_COLLECTIVE_SEQUENCES: it
 * is beyond the limit. UINT32_MAX with err filled in. */
static uint32_t sequence_of(struct gt_collectives *c, const struct gt_cols *cols,
	enum gt_communicator_kind kind, uint64_t id, struct gt_err *err)
{
	struct gt_collective_sequence new = { .communicator_id = id,
		.number = gt_time_ordered_track(c->order, cols->seg, cols->track),
		.communicator_kind = kind,
		.seg = cols->seg,
		.track = cols->track };
	size_t key = offsetof(struct gt_collective_sequence, seg);
	uint32_t i = gt_map_find_item(&c->sequences_map, c->sequences, sizeof(new), &new, key);

	if (i != UINT32_MAX)
		return i;
	if (c->nsequences == GT_COLLECTIVE_SEQUENCES)
		return GT_COLLECTIVE_SEQUENCES;
	new.device = gt_track_device(cols->seg, cols->track);
	new.device = new.device == GT_NONE ? cols->track : new.device;
	i = gt_map_add_item(&c->sequences_map, &c->sequences, &c->nsequences, &c->sequences_cap,
		sizeof(new), &new, key);
	if (i == UINT32_MAX)
		gt_err_set(err, -ENOMEM, "out of memory (collectives)");
	return i;
}

static int add_kernel(struct gt_collectives *c, const struct gt_cols *cols,
	enum gt_communicator_kind kind, uint64_t id, const struct gt_collective_op *op,
	struct gt_err *err)
{
	uint32_t i = c->nops == GT_COLLECTIVE_OPS ? GT_COLLECTIVE_SEQUENCES
						  : sequence_of(c, cols, kind, id, err);
	struct gt_collective_sequence *s;

	if (i == UINT32_MAX)
		return err->code;
	if (i == GT_COLLECTIVE_SEQUENCES) {
		c->beyond++;
		return 0;
	}
	s = &c->sequences[i];
	if (gt_grow(&s->ops, &s->cap, s->n + 1, sizeof(*s->ops)))
		return gt_err_set(err, -ENOMEM, "out of memory (collectives)");
	s->ops[s->n++] = *op;
	s->is_numbered |= op->number != 0;
	c->nops++;
	return 0;
}

static const uint64_t *values_of(
	const struct gt_cols *cols, uint32_t code, uint32_t field, uint32_t *n)
{
	const uint64_t *values = field == GT_FIELDS_MAX ? NULL : gt_cols_args(cols, code, field, n);

	if (!values)
		*n = 0;
	return values;
}

/* An exported file has the text 0x0 for 0, which is no communicator. */
static bool is_known(const struct gt_segment *seg, enum gt_communicator_kind kind, uint64_t id)
{
	return kind == GT_COMMUNICATOR_NCCL
		? id != 0
		: id < seg->nstrings && strcmp(gt_str(seg, (uint32_t)id), "0x0") != 0;
}

/* Adds the kernels of one type. */
static int add_kernels(struct gt_collectives *c, const struct gt_cols *cols, uint32_t code,
	const struct gt_collective_type *t, struct gt_err *err)
{
	uint32_t nids = 0, nbytes = 0, nnumbers = 0, type = cols->types[code];
	const uint64_t *ids = values_of(cols, code, t->communicator, &nids),
		       *bytes = values_of(cols, code, t->bytes, &nbytes),
		       *numbers = values_of(cols, code, t->number, &nnumbers);
	struct gt_collective_op op = { .collective = GT_NONE };
	struct gt_column_cursor p;

	op.name = gt_name_interner_type(
		&c->names, c->order->types[cols->seg->index] + type, cols->seg, type, 0, err);
	if (op.name == GT_NONE)
		return err->code;
	gt_column_cursor_start(&p, cols, code, 0, 0);
	for (uint32_t i = 0; gt_column_cursor_next(&p); i++) {
		bool known = i < nids && is_known(cols->seg, t->kind, ids[i]);

		op.start = cols->start[p.row];
		op.end = op.start + cols->dur[p.row];
		op.bytes = i < nbytes ? bytes[i] : 0;
		op.number = known && i < nnumbers ? numbers[i] + 1 : 0;
		if (add_kernel(c, cols, known ? t->kind : GT_COMMUNICATOR_UNKNOWN,
			    known ? ids[i] : 0, &op, err))
			return err->code;
	}
	return 0;
}

static int begin(struct gt_collectives *c, const struct gt_time_ordered *order, struct gt_err *err)
{
	c->order = order;
	c->types = calloc(order->types[order->nsegs] + 1ul, sizeof(*c->types));
	if (!c->types)
		return gt_err_set(err, -ENOMEM, "out of memory (collectives)");
	return gt_name_interner_init(&c->names, order->types[order->nsegs], 0, err);
}

int gt_collectives_run(struct gt_collectives *c, const struct gt_time_ordered *order,
	const struct gt_cols *cols, struct gt_err *err)
{
	if (!c->types && begin(c, order, err))
		return err->code;
	for (uint32_t code = 0; cols->track < cols->seg->ntracks && code < cols->ntypes; code++) {
		const struct gt_type *type = gt_cols_type(cols, code);
		struct gt_collective_type *t;

		if (!type)
			continue;
		t = &c->types[order->types[cols->seg->index] + cols->types[code]];
		if (!t->known)
			*t = describe(cols->seg, type);
		if (t->is_communication && add_kernels(c, cols, code, t, err))
			return err->code;
	}
	return 0;
}

/* ---- groups ---- */

static int64_t overlap(const struct collective *c, const struct gt_collective_op *op)
{
	int64_t from = c->first > op->start ? c->first : op->start,
		to = c->end < op->end ? c->end : op->end;

	return to - from;
}

/* The collective of this name with the longest overlap. NULL: there is none. */
static struct collective *find(
	const struct gt_collective_group *g, const struct gt_collective_op *op)
{
	size_t at = GT_LOWER_BOUND(i, 0, g->n, g->order[i].first <= op->start),
	       to = g->n - at > NEAR ? at + NEAR : g->n;
	struct collective *best = NULL;

	for (size_t i = at > NEAR ? at - NEAR : 0; i < to; i++) {
		struct collective *one = &g->list[g->order[i].collective];

		if (one->name == op->name && overlap(one, op) > 0 &&
			(!best || overlap(one, op) > overlap(best, op)))
			best = one;
	}
	return best;
}

static bool end_together(const struct collective *c, const struct gt_collective_op *op)
{
	int64_t last = c->last > op->start ? c->last : op->start,
		first_end = c->end < op->end ? c->end : op->end, ran = first_end - last,
		apart = c->end > op->end ? c->end - op->end : op->end - c->end;

	return apart <= TOGETHER_NS || apart <= ran / 4;
}

/* How many of the sampled kernels end together with a collective of the group. 0: the sequence is
 * no part of it. */
static size_t compare(const struct gt_collective_group *g, const struct gt_collective_sequence *s)
{
	size_t step = s->n / SAMPLES + 1, n = 0, overlaps = 0, together = 0;

	for (size_t i = 0; i < s->n; i += step) {
		const struct collective *c = find(g, &s->ops[i]);

		n += s->ops[i].end > g->order[0].first && s->ops[i].start < g->end;
		overlaps += c != NULL;
		together += c && end_together(c, &s->ops[i]);
	}
	return overlaps * 4 >= n * 3 && together * 2 >= overlaps ? together : 0;
}

static bool has_device(
	const struct gt_collectives *c, uint32_t group, const struct gt_collective_sequence *s)
{
	for (size_t i = 0; i < c->nsequences; i++)
		if (c->sequences[i].group == group && c->sequences[i].seg == s->seg &&
			c->sequences[i].device == s->device)
			return true;
	return false;
}

static bool is_same_sequence(
	const struct gt_collective_sequence *a, const struct gt_collective_sequence *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (a->ops[i].name != b->ops[i].name)
			return false;
	return true;
}

static bool is_same_communicator(
	const struct gt_collective_group *g, const struct gt_collective_sequence *s)
{
	return g->communicator && s->communicator && !strcmp(g->communicator, s->communicator);
}

/* The kernels of a communicator have one order on all GPUs. If a sequence lacks one, it cannot be
 * told which. */
static bool is_in_order(const struct gt_collectives *c, const struct gt_collective_group *g,
	const struct gt_collective_sequence *s)
{
	return is_same_communicator(g, s) && is_same_sequence(&c->sequences[g->base], s);
}

static bool is_numbered(const struct gt_collectives *c, const struct gt_collective_group *g,
	const struct gt_collective_sequence *s)
{
	return is_same_communicator(g, s) && c->sequences[g->base].is_numbered && s->is_numbered;
}

/* The communicators are equal or one is unknown, and the group has no sequence of this GPU. */
static bool is_compatible(
	const struct gt_collectives *c, uint32_t group, const struct gt_collective_sequence *s)
{
	const char *communicator = c->groups[group - 1].communicator;

	return (!communicator || !s->communicator || !strcmp(communicator, s->communicator)) &&
		!has_device(c, group, s);
}

/* How well the sequence fits into the group; 0: not. */
static size_t fit(const struct gt_collectives *c, const struct gt_collective_group *g,
	const struct gt_collective_sequence *s)
{
	if (is_numbered(c, g, s) || is_in_order(c, g, s))
		return s->n;
	return gt_same_clock(g->seg, s->seg) ? compare(g, s) : 0;
}

static struct gt_collective_group *choose_group(
	struct gt_collectives *c, struct gt_collective_sequence *s, struct gt_err *err)
{
	size_t most = 0;

	for (size_t i = 0; i < c->ngroups; i++) {
		size_t together =
			is_compatible(c, (uint32_t)i + 1, s) ? fit(c, &c->groups[i], s) : 0;

		if (together > most) {
			most = together;
			s->group = (uint32_t)i + 1;
		}
	}
	if (!most) {
		if (gt_grow(&c->groups, &c->groups_cap, c->ngroups + 1, sizeof(*c->groups))) {
			gt_err_set(err, -ENOMEM, "out of memory (collectives)");
			return NULL;
		}
		c->groups[c->ngroups++] = (struct gt_collective_group){ .seg = s->seg,
			.base = (uint32_t)(s - c->sequences),
			.communicator = s->communicator };
		s->group = (uint32_t)c->ngroups;
	}
	return &c->groups[s->group - 1];
}

/* ---- collectives of a group ---- */

/* The collective that each kernel prefers, and the kernel that each collective prefers. */
static void prefer(struct gt_collective_group *g, struct gt_collective_sequence *s)
{
	for (size_t i = 0; i < g->n; i++)
		g->list[i].best = 0;
	for (size_t i = 0; i < s->n; i++) {
		struct collective *c = find(g, &s->ops[i]);
		int64_t ns = c ? overlap(c, &s->ops[i]) : 0;

		s->ops[i].collective = c ? (uint32_t)(c - g->list) : GT_NONE;
		if (!c || (c->best && c->overlap >= ns))
			continue;
		c->best = (uint32_t)i + 1;
		c->overlap = ns;
	}
}

static int by_first(const void *pa, const void *pb)
{
	const struct place *a = pa, *b = pb;

	return GT_COMPARE(a->first, b->first) ?: GT_COMPARE(a->collective, b->collective);
}

static void join(struct collective *c, const struct gt_collective_op *op, uint32_t sequence)
{
	int64_t start = op->start - op->ahead, end = op->end - op->ahead;

	if (start > c->last) {
		c->last = start;
		c->late = sequence;
	}
	c->first = start < c->first ? start : c->first;
	c->end = end > c->end ? end : c->end;
	c->members++;
}

/* The kernels are those of the group's first sequence, in the same order. */
static void join_by_order(struct gt_collective_group *g, const struct gt_collective_sequence *base,
	struct gt_collective_sequence *s, uint32_t sequence)
{
	bool same = gt_same_clock(g->seg, s->seg);

	for (size_t i = 0; i < s->n; i++) {
		struct collective *c = &g->list[base->ops[i].collective];

		s->ops[i].collective = base->ops[i].collective;
		s->ops[i].ahead = same ? 0 : s->ops[i].end - c->end;
		join(c, &s->ops[i], sequence);
		g->end = c->end > g->end ? c->end : g->end;
	}
	for (size_t i = 0; i < g->n; i++)
		g->order[i].first = g->list[g->order[i].collective].first;
	GT_SORT(g->order, g->n, by_first);
}

/* Memory for n more collectives. */
static int grow_group(struct gt_collective_group *g, size_t n, struct gt_err *err)
{
	if (gt_grow(&g->list, &g->cap, g->n + n, sizeof(*g->list)) ||
		gt_grow(&g->order, &g->order_cap, g->n + n, sizeof(*g->order)))
		return gt_err_set(err, -ENOMEM, "out of memory (collectives)");
	return 0;
}

/* A kernel without counterpart so far. */
static void add_alone(struct gt_collective_group *g, struct gt_collective_op *op, uint32_t sequence)
{
	op->collective = (uint32_t)g->n;
	g->list[g->n++] = (struct collective){ .first = op->start,
		.last = op->start,
		.end = op->end,
		.number = op->number,
		.name = op->name,
		.members = 1,
		.late = sequence };
}

static void sort_group(struct gt_collective_group *g)
{
	for (size_t i = 0; i < g->n; i++)
		g->order[i] = (struct place){ g->list[i].first, (uint32_t)i };
	GT_SORT(g->order, g->n, by_first);
}

static int add_to_group(struct gt_collective_group *g, struct gt_collective_sequence *s,
	uint32_t sequence, struct gt_err *err)
{
	prefer(g, s);
	if (grow_group(g, s->n, err))
		return err->code;
	for (size_t i = 0; i < s->n; i++) {
		struct gt_collective_op *op = &s->ops[i];

		g->end = !g->n || op->end > g->end ? op->end : g->end;
		if (op->collective != GT_NONE && g->list[op->collective].best == i + 1)
			join(&g->list[op->collective], op, sequence);
		else
			add_alone(g, op, sequence);
	}
	sort_group(g);
	return 0;
}

/* ---- collectives with numbers ---- */

struct numbered {
	uint64_t number;
	uint32_t name, collective;
	uint32_t joined; /* of the first of a name and number: how many of these the sequence has
			    joined */
};

static int by_number(const void *pa, const void *pb)
{
	const struct numbered *a = pa, *b = pb;

	return GT_COMPARE(a->name, b->name) ?:
		GT_COMPARE(a->number, b->number) ?:
		GT_COMPARE(a->collective, b->collective);
}

/* The next collective of the kernel's name and number, which no kernel of its sequence has joined.
 * NULL: there is none. */
static struct collective *find_number(struct gt_collective_group *g, struct numbered *index,
	size_t n, const struct gt_collective_op *op)
{
	const struct numbered key = { op->number, op->name, 0, 0 };
	size_t first = GT_LOWER_BOUND(k, 0, n, by_number(&index[k], &key) < 0), i;

	if (!op->number || first == n)
		return NULL;
	i = first + index[first].joined;
	if (i >= n || index[i].name != op->name || index[i].number != op->number)
		return NULL;
	index[first].joined++;
	return &g->list[index[i].collective];
}

static int join_by_number(struct gt_collective_group *g, struct gt_collective_sequence *s,
	uint32_t sequence, struct gt_err *err)
{
	bool same = gt_same_clock(g->seg, s->seg);
	size_t n = g->n;
	struct numbered *index = calloc(n + 1, sizeof(*index));

	if (!index || grow_group(g, s->n, err)) {
		free(index);
		return gt_err_set(err, -ENOMEM, "out of memory (collectives)");
	}
	for (size_t i = 0; i < n; i++)
		index[i] = (struct numbered){ g->list[i].number, g->list[i].name, (uint32_t)i, 0 };
	GT_SORT(index, n, by_number);
	for (size_t i = 0; i < s->n; i++) {
		struct gt_collective_op *op = &s->ops[i];
		struct collective *c = find_number(g, index, n, op);

		if (c) {
			op->collective = (uint32_t)(c - g->list);
			op->ahead = same ? 0 : op->end - c->end;
			join(c, op, sequence);
		} else {
			add_alone(g, op, sequence);
		}
		g->end =
			g->list[op->collective].end > g->end ? g->list[op->collective].end : g->end;
	}
	sort_group(g);
	free(index);
	return 0;
}

/* Known communicators first, which are matched by order; then the longest: others join them. */
static int by_match_order(const void *pa, const void *pb, void *arg)
{
	const struct gt_collective_sequence *sequences = arg;
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	return GT_COMPARE(sequences[b].communicator != NULL, sequences[a].communicator != NULL)
		?: GT_COMPARE(sequences[b].n, sequences[a].n) ?: GT_COMPARE(a, b);
}

static int match(struct gt_collectives *c, struct gt_err *err)
{
	uint32_t *order = calloc(c->nsequences + 1, sizeof(*order));
	int rc = order ? 0 : gt_err_set(err, -ENOMEM, "out of memory (collectives)");

	for (size_t i = 0; !rc && i < c->nsequences; i++)
		order[i] = (uint32_t)i;
	if (!rc)
		qsort_r(order, c->nsequences, sizeof(*order), by_match_order, c->sequences);
	for (size_t i = 0; !rc && i < c->nsequences; i++) {
		struct gt_collective_sequence *s = &c->sequences[order[i]];
		struct gt_collective_group *g = choose_group(c, s, err);

		if (g && g->n && is_numbered(c, g, s))
			rc = join_by_number(g, s, order[i], err);
		else if (g && g->n && is_in_order(c, g, s))
			join_by_order(g, &c->sequences[g->base], s, order[i]);
		else
			rc = g ? add_to_group(g, s, order[i], err) : err->code;
	}
	free(order);
	return rc;
}

/* ---- sums ---- */

#define NAME_KEY (2 * sizeof(uint32_t)) /* sequence and name */

static struct gt_collective_figures *name_of(
	struct gt_collectives *c, uint32_t sequence, uint32_t name)
{
	const struct gt_collective_name new = { .sequence = sequence, .name = name };
	uint32_t i = gt_map_find_item(&c->sums_map, c->sums, sizeof(new), &new, NAME_KEY);

	if (i == UINT32_MAX)
		i = gt_map_add_item(&c->sums_map, &c->sums, &c->nsums, &c->sums_cap, sizeof(new),
			&new, NAME_KEY);
	return i == UINT32_MAX ? NULL : &c->sums[i].f;
}

static struct gt_collective_figures *gpu_of(struct gt_collectives *c, uint32_t sequence)
{
	const struct gt_collective_sequence *s = &c->sequences[sequence];
	const struct gt_collective_gpu new = { .number =
						       c->order->tracks[s->seg->index] + s->device,
		.seg = s->seg,
		.track = s->device };
	uint32_t i = gt_map_find_item(&c->gpus_map, c->gpus, sizeof(new), &new, sizeof(new.number));

	if (i == UINT32_MAX)
		i = gt_map_add_item(&c->gpus_map, &c->gpus, &c->ngpus, &c->gpus_cap, sizeof(new),
			&new, sizeof(new.number));
	return i == UINT32_MAX ? NULL : &c->gpus[i].f;
}

/* A kernel and the collective that it belongs to; times are cut to --from and --to. */
struct member {
	const struct gt_collective_op *op;
	const struct collective *c;
	struct gt_evidence wait;
	int64_t ran;
	bool last; /* it arrived last */
};

static void add_own(struct gt_collective_figures *f, const struct member *m)
{
	f->count++;
	f->messages += m->op->bytes != 0;
	f->bytes = gt_sat_add(f->bytes, m->op->bytes);
	f->total = gt_sat_add(f->total, (uint64_t)m->ran);
	if (m->c->members < 2)
		return;
	f->matched++;
	f->wait = gt_sat_add(f->wait, (uint64_t)(m->wait.to - m->wait.from));
	f->last += m->last;
	f->late = gt_sat_add(f->late, m->last ? (uint64_t)(m->c->last - m->c->first) : 0);
	if (m->wait.to > m->wait.from)
		gt_evidence_keep_longest(&f->longest_wait, &m->wait);
}

static void add_caused(struct gt_collective_figures *f, const struct member *m)
{
	f->caused = gt_sat_add(f->caused, (uint64_t)(m->wait.to - m->wait.from));
	gt_evidence_keep_longest(&f->longest_caused, &m->wait);
}

static struct member member_of(const struct gt_collectives *c, uint32_t sequence,
	const struct gt_collective_op *op, const struct gt_range *in)
{
	const struct gt_collective_sequence *s = &c->sequences[sequence];
	const struct collective *of = &c->groups[s->group - 1].list[op->collective];
	int64_t from = op->start > in->from ? op->start : in->from,
		to = op->end < in->to ? op->end : in->to, last = of->last + op->ahead,
		until = last < to ? last : to;

	return (struct member){ .op = op,
		.c = of,
		.ran = to > from ? to - from : 0,
		.last = of->late == sequence,
		.wait = { s->seg, from, until > from ? until : from, GT_NONE, GT_NONE,
			c->order->tracks[s->seg->index] + s->device } };
}

static int sum_up(struct gt_collectives *c, const struct gt_report_state *a, struct gt_err *err)
{
	for (uint32_t i = 0; i < c->nsequences; i++) {
		struct gt_range in = gt_range_of(&a->opt->filter, c->sequences[i].seg);

		for (size_t k = 0; k < c->sequences[i].n; k++) {
			struct member m = member_of(c, i, &c->sequences[i].ops[k], &in);
			struct gt_collective_figures *own[2], *late[2];

			/* of each pair the first may move while the second is added */
			if (!name_of(c, i, m.op->name) || !gpu_of(c, i) ||
				!(late[0] = name_of(c, m.c->late, m.op->name)) ||
				!(late[1] = gpu_of(c, m.c->late)))
				return gt_err_set(err, -ENOMEM, "out of memory (collectives)");
			own[0] = name_of(c, i, m.op->name);
			own[1] = gpu_of(c, i);
			c->matched += m.c->members > 1 && m.last;
			for (int j = 0; j < 2; j++) {
				add_own(own[j], &m);
				if (m.c->members > 1 && m.wait.to > m.wait.from)
					add_caused(late[j], &m);
			}
		}
	}
	return 0;
}

static int by_start(const void *pa, const void *pb)
{
	const struct gt_collective_op *a = pa, *b = pb;

	return GT_COMPARE(a->start, b->start) ?: GT_COMPARE(a->end, b->end);
}

static int by_first_start(const void *pa, const void *pb)
{
	const struct gt_collective_sequence *a = pa, *b = pb;

	return GT_COMPARE(a->seg->index, b->seg->index)
		?: GT_COMPARE(a->ops[0].start, b->ops[0].start)
		?: GT_COMPARE(a->track, b->track);
}

static void set_communicator(struct gt_collective_sequence *s)
{
	if (s->communicator_kind == GT_COMMUNICATOR_NAME)
		s->communicator = gt_str(s->seg, (uint32_t)s->communicator_id);
	if (s->communicator_kind != GT_COMMUNICATOR_NCCL)
		return;
	snprintf(s->id_text, sizeof(s->id_text), "0x%llx", (unsigned long long)s->communicator_id);
	s->communicator = s->id_text;
}

int gt_collectives_finish(
	struct gt_collectives *c, const struct gt_report_state *a, struct gt_err *err)
{
	for (size_t i = 0; i < c->nsequences; i++)
		GT_SORT(c->sequences[i].ops, c->sequences[i].n, by_start);
	GT_SORT(c->sequences, c->nsequences, by_first_start);
	for (size_t i = 0; i < c->nsequences; i++)
		set_communicator(&c->sequences[i]);
	return !c->nsequences ? 0 : match(c, err) ?: sum_up(c, a, err);
}

const struct gt_collective_gpu *gt_collectives_latest(const struct gt_collectives *c)
{
	const struct gt_collective_gpu *latest = NULL;

	for (size_t i = 0; i < c->ngpus; i++)
		if (c->gpus[i].f.caused && (!latest || c->gpus[i].f.caused > latest->f.caused))
			latest = &c->gpus[i];
	return latest;
}

void gt_collectives_release(struct gt_collectives *c)
{
	for (size_t i = 0; i < c->nsequences; i++)
		free(c->sequences[i].ops);
	for (size_t i = 0; i < c->ngroups; i++) {
		free(c->groups[i].list);
		free(c->groups[i].order);
	}
	free(c->sequences);
	free(c->groups);
	free(c->sums);
	free(c->gpus);
	free(c->types);
	gt_name_interner_release(&c->names);
	gt_map_release(&c->sequences_map);
	gt_map_release(&c->sums_map);
	gt_map_release(&c->gpus_map);
	*c = (struct gt_collectives){ .nsequences = 0 };
}
