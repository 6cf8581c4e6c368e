#define _GNU_SOURCE /* qsort_r */
#include "analyze/gpu/collectives.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyze/columns/column_cursor.h"
#include "formats/base/buf.h"
#include "formats/base/sorted.h"

#define SAMPLES 1024u     /* kernels of a stream that are compared with a group */
#define NEAR 16u          /* collectives before and after a kernel that are compared with it */
#define TOGETHER_NS 10000 /* ends that differ by less are together */

struct collective {
	int64_t first, last, end;     /* the first and last arrival, the last end */
	uint32_t name, members, late; /* late: index of the stream that arrived last */
	uint32_t best;                /* 1 + the kernel with the longest overlap, while matching */
	int64_t overlap;              /* of `best` */
};
struct place { /* for the order of the first arrivals */
	int64_t first;
	uint32_t collective;
};
struct gt_collective_group {
	const struct gt_segment *seg; /* of its clock */
	uint32_t base;                /* its first stream */
	const char *communicator;     /* NULL: unknown */
	struct collective *list;
	struct place *order;
	size_t n, cap, order_cap;
	int64_t end; /* the last end of all */
};

/* ---- kernels ---- */

static uint32_t add_stream(
	struct gt_collectives *c, const struct gt_segment *seg, uint32_t number, struct gt_err *err)
{
	uint32_t track = number - c->order->tracks[seg->index],
		 device = gt_track_device(seg, track);

	if (gt_grow(&c->streams, &c->streams_cap, c->nstreams + 1, sizeof(*c->streams))) {
		gt_err_set(err, -ENOMEM, "out of memory (streams)");
		return 0;
	}
	c->streams[c->nstreams++] = (struct gt_collective_stream){
		.seg = seg, .track = track, .device = device == GT_NONE ? track : device
	};
	return c->stream_of[number] = (uint32_t)c->nstreams;
}

static int start(struct gt_collectives *c, const struct gt_time_ordered *order, struct gt_err *err)
{
	c->order = order;
	c->stream_of = calloc(order->tracks[order->nsegs] + 1ul, sizeof(*c->stream_of));
	if (!c->stream_of)
		return gt_err_set(err, -ENOMEM, "out of memory (streams)");
	return gt_name_interner_init(&c->names, order->types[order->nsegs], 0, err);
}

int gt_collectives_add(struct gt_collectives *c, const struct gt_time_ordered *order,
	const struct gt_segment *seg, uint32_t stream, uint32_t type, int64_t start_ns,
	int64_t end_ns, uint64_t bytes, struct gt_err *err)
{
	uint32_t name, i;
	struct gt_collective_stream *s;

	if (!c->stream_of && start(c, order, err))
		return err->code;
	i = c->stream_of[stream];
	if (c->nops == GT_COLLECTIVE_OPS || (!i && c->nstreams == GT_COLLECTIVE_STREAMS)) {
		c->beyond++;
		return 0;
	}
	if (!i && !(i = add_stream(c, seg, stream, err)))
		return err->code;
	name = gt_name_interner_type(&c->names, type, seg, type - order->types[seg->index], 0, err);
	if (name == GT_NONE)
		return err->code;
	s = &c->streams[i - 1];
	if (gt_grow(&s->ops, &s->cap, s->n + 1, sizeof(*s->ops)))
		return gt_err_set(err, -ENOMEM, "out of memory (collectives)");
	s->ops[s->n++] = (struct gt_collective_op){ start_ns, end_ns, 0, bytes, name, GT_NONE };
	c->nops++;
	return 0;
}

/* ---- communicators ---- */

static const char several[] = ""; /* no communicator has this address */

/* The field that names the communicator: of PyTorch's profiler, or NCCL's id (gpu_emit.c).
 * GT_FIELDS_MAX: there is none. */
static uint32_t find_field(const struct gt_segment *seg, const struct gt_type *type)
{
	for (uint32_t i = 0; i < type->nfields; i++) {
		const char *name = gt_str(seg, type->fields[i].name);

		bool text = type->fields[i].kind == GT_F_STR;

		if ((text && !strcmp(name, "Process Group Name")) ||
			((text || type->fields[i].kind == GT_F_HEX) &&
				!strcmp(name, "communicator")))
			return i;
	}
	return GT_FIELDS_MAX;
}

/* NCCL's id as a text that stays valid; `several` for 0 and beyond the limit. NULL: no memory. */
static const char *text_of_id(struct gt_collectives *c, uint64_t id)
{
	struct gt_communicator_id *new;
	uint32_t n = 0;

	for (struct gt_communicator_id *i = c->ids; i; i = i->next, n++)
		if (i->id == id)
			return i->text;
	if (!id || n == GT_COLLECTIVE_STREAMS)
		return several;
	if (!(new = malloc(sizeof(*new))))
		return NULL;
	*new = (struct gt_communicator_id){ .next = c->ids, .id = id };
	snprintf(new->text, sizeof(new->text), "0x%llx", (unsigned long long)id);
	c->ids = new;
	return new->text;
}

static int note_communicators(struct gt_collectives *c, const struct gt_cols *cols, uint32_t code,
	uint32_t field, const char **of)
{
	bool id = gt_cols_type(cols, code)->fields[field].kind == GT_F_HEX;
	const struct gt_segment *seg = cols->seg;
	uint64_t last = 0;
	uint32_t n = 0;
	const uint64_t *values = gt_cols_args(cols, code, field, &n);

	for (uint32_t i = 0; values && i < n && *of != several; i++) {
		const char *text;

		if (i && values[i] == last)
			continue;
		last = values[i];
		text = id                      ? text_of_id(c, last)
			: last < seg->nstrings ? gt_str(seg, (uint32_t)last)
					       : several;
		if (!text)
			return -ENOMEM;
		*of = !*of || (*of != several && !strcmp(*of, text)) ? text : several;
	}
	return 0;
}

int gt_collectives_run(struct gt_collectives *c, const struct gt_time_ordered *order,
	const struct gt_cols *cols, struct gt_err *err)
{
	uint32_t track = gt_time_ordered_track(order, cols->seg, cols->track);

	if (!c->fields) {
		c->fields = calloc(order->types[order->nsegs] + 1ul, 1);
		c->communicators =
			calloc(order->tracks[order->nsegs] + 1ul, sizeof(*c->communicators));
	}
	if (!c->fields || !c->communicators)
		return gt_err_set(err, -ENOMEM, "out of memory (communicators)");
	for (uint32_t code = 0; track != GT_NONE && code < cols->ntypes; code++) {
		const struct gt_type *type = gt_cols_type(cols, code);
		uint8_t *field = type
			? &c->fields[order->types[cols->seg->index] + cols->types[code]]
			: NULL;

		if (field && !*field)
			*field = (uint8_t)(1 + find_field(cols->seg, type));
		if (field && *field <= GT_FIELDS_MAX &&
			note_communicators(c, cols, code, *field - 1u, &c->communicators[track]))
			return gt_err_set(err, -ENOMEM, "out of memory (communicators)");
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

/* How many of the sampled kernels end together with a collective of the group. 0: the stream is no
 * part of it. */
static size_t compare(const struct gt_collective_group *g, const struct gt_collective_stream *s)
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
	const struct gt_collectives *c, uint32_t group, const struct gt_collective_stream *s)
{
	for (size_t i = 0; i < c->nstreams; i++)
		if (c->streams[i].group == group && c->streams[i].seg == s->seg &&
			c->streams[i].device == s->device)
			return true;
	return false;
}

static bool is_same_sequence(
	const struct gt_collective_stream *a, const struct gt_collective_stream *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (a->ops[i].name != b->ops[i].name)
			return false;
	return true;
}

/* The kernels of a communicator have one order on all GPUs. If a sequence lacks one, it cannot be
 * told which. */
static bool is_in_order(const struct gt_collectives *c, const struct gt_collective_group *g,
	const struct gt_collective_stream *s)
{
	return g->communicator && s->communicator && !strcmp(g->communicator, s->communicator) &&
		is_same_sequence(&c->streams[g->base], s);
}

/* How well the stream fits into the group; 0: not. */
static size_t fit(const struct gt_collectives *c, const struct gt_collective_group *g,
	const struct gt_collective_stream *s)
{
	if (is_in_order(c, g, s))
		return s->n;
	if (g->communicator && s->communicator && strcmp(g->communicator, s->communicator) != 0)
		return 0;
	return gt_same_clock(g->seg, s->seg) ? compare(g, s) : 0;
}

static struct gt_collective_group *choose_group(
	struct gt_collectives *c, struct gt_collective_stream *s, struct gt_err *err)
{
	size_t most = 0;

	for (size_t i = 0; i < c->ngroups; i++) {
		size_t together = has_device(c, (uint32_t)i + 1, s) ? 0 : fit(c, &c->groups[i], s);

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
			.base = (uint32_t)(s - c->streams),
			.communicator = s->communicator };
		s->group = (uint32_t)c->ngroups;
	}
	return &c->groups[s->group - 1];
}

/* ---- collectives of a group ---- */

/* The collective that each kernel prefers, and the kernel that each collective prefers. */
static void prefer(struct gt_collective_group *g, struct gt_collective_stream *s)
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

static void join(struct collective *c, const struct gt_collective_op *op, uint32_t stream)
{
	int64_t start = op->start - op->ahead, end = op->end - op->ahead;

	if (start > c->last) {
		c->last = start;
		c->late = stream;
	}
	c->first = start < c->first ? start : c->first;
	c->end = end > c->end ? end : c->end;
	c->members++;
}

/* The stream's kernels are those of the group's first stream, in the same order. */
static void join_by_order(struct gt_collective_group *g, const struct gt_collective_stream *base,
	struct gt_collective_stream *s, uint32_t stream)
{
	bool same = gt_same_clock(g->seg, s->seg);

	for (size_t i = 0; i < s->n; i++) {
		struct collective *c = &g->list[base->ops[i].collective];

		s->ops[i].collective = base->ops[i].collective;
		s->ops[i].ahead = same ? 0 : s->ops[i].end - c->end;
		join(c, &s->ops[i], stream);
		g->end = c->end > g->end ? c->end : g->end;
	}
	for (size_t i = 0; i < g->n; i++)
		g->order[i].first = g->list[g->order[i].collective].first;
	GT_SORT(g->order, g->n, by_first);
}

static int add_to_group(struct gt_collective_group *g, struct gt_collective_stream *s,
	uint32_t stream, struct gt_err *err)
{
	prefer(g, s);
	if (gt_grow(&g->list, &g->cap, g->n + s->n, sizeof(*g->list)) ||
		gt_grow(&g->order, &g->order_cap, g->n + s->n, sizeof(*g->order)))
		return gt_err_set(err, -ENOMEM, "out of memory (collectives)");
	for (size_t i = 0; i < s->n; i++) {
		struct gt_collective_op *op = &s->ops[i];

		g->end = !g->n || op->end > g->end ? op->end : g->end;
		if (op->collective != GT_NONE && g->list[op->collective].best == i + 1) {
			join(&g->list[op->collective], op, stream);
			continue;
		}
		op->collective = (uint32_t)g->n;
		g->list[g->n++] = (struct collective){ .first = op->start,
			.last = op->start,
			.end = op->end,
			.name = op->name,
			.members = 1,
			.late = stream };
	}
	for (size_t i = 0; i < g->n; i++)
		g->order[i] = (struct place){ g->list[i].first, (uint32_t)i };
	GT_SORT(g->order, g->n, by_first);
	return 0;
}

static int by_size(const void *pa, const void *pb, void *arg)
{
	const struct gt_collective_stream *streams = arg;
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	return GT_COMPARE(streams[b].n, streams[a].n) ?: GT_COMPARE(a, b);
}

/* The longest sequences first: others join them. */
static int match(struct gt_collectives *c, struct gt_err *err)
{
	uint32_t *order = calloc(c->nstreams + 1, sizeof(*order));
	int rc = order ? 0 : gt_err_set(err, -ENOMEM, "out of memory (collectives)");

	for (size_t i = 0; !rc && i < c->nstreams; i++)
		order[i] = (uint32_t)i;
	if (!rc)
		qsort_r(order, c->nstreams, sizeof(*order), by_size, c->streams);
	for (size_t i = 0; !rc && i < c->nstreams; i++) {
		struct gt_collective_stream *s = &c->streams[order[i]];
		struct gt_collective_group *g = choose_group(c, s, err);

		if (g && g->n && is_in_order(c, g, s))
			join_by_order(g, &c->streams[g->base], s, order[i]);
		else
			rc = g ? add_to_group(g, s, order[i], err) : err->code;
	}
	free(order);
	return rc;
}

/* ---- sums ---- */

#define NAME_KEY (2 * sizeof(uint32_t)) /* stream and name */

static struct gt_collective_figures *name_of(
	struct gt_collectives *c, uint32_t stream, uint32_t name)
{
	const struct gt_collective_name new = { .stream = stream, .name = name };
	uint32_t i = gt_map_find_item(&c->sums_map, c->sums, sizeof(new), &new, NAME_KEY);

	if (i == UINT32_MAX)
		i = gt_map_add_item(&c->sums_map, &c->sums, &c->nsums, &c->sums_cap, sizeof(new),
			&new, NAME_KEY);
	return i == UINT32_MAX ? NULL : &c->sums[i].f;
}

static struct gt_collective_figures *gpu_of(struct gt_collectives *c, uint32_t stream)
{
	const struct gt_collective_stream *s = &c->streams[stream];
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

static struct member member_of(const struct gt_collectives *c, uint32_t stream,
	const struct gt_collective_op *op, const struct gt_range *in)
{
	const struct gt_collective_stream *s = &c->streams[stream];
	const struct collective *of = &c->groups[s->group - 1].list[op->collective];
	int64_t from = op->start > in->from ? op->start : in->from,
		to = op->end < in->to ? op->end : in->to, last = of->last + op->ahead,
		until = last < to ? last : to;

	return (struct member){ .op = op,
		.c = of,
		.ran = to > from ? to - from : 0,
		.last = of->late == stream,
		.wait = { s->seg, from, until > from ? until : from, GT_NONE, GT_NONE,
			c->order->tracks[s->seg->index] + s->device } };
}

static int sum_up(struct gt_collectives *c, const struct gt_report_state *a, struct gt_err *err)
{
	for (uint32_t i = 0; i < c->nstreams; i++) {
		struct gt_range in = gt_range_of(&a->opt->filter, c->streams[i].seg);

		for (size_t k = 0; k < c->streams[i].n; k++) {
			struct member m = member_of(c, i, &c->streams[i].ops[k], &in);
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

int gt_collectives_finish(
	struct gt_collectives *c, const struct gt_report_state *a, struct gt_err *err)
{
	for (size_t i = 0; i < c->nstreams; i++) {
		struct gt_collective_stream *s = &c->streams[i];
		const char *of = c->communicators
			? c->communicators[c->order->tracks[s->seg->index] + s->track]
			: NULL;

		s->communicator = of == several ? NULL : of;
		GT_SORT(s->ops, s->n, by_start);
	}
	return !c->nstreams ? 0 : match(c, err) ?: sum_up(c, a, err);
}

const struct gt_collective_gpu *gt_collectives_latest(const struct gt_collectives *c)
{
	const struct gt_collective_gpu *latest = NULL;

	for (size_t i = 0; i < c->ngpus; i++)
		if (c->gpus[i].f.caused && (!latest || c->gpus[i].f.caused > latest->f.caused))
			latest = &c->gpus[i];
	return latest;
}

void gt_collectives_restart(struct gt_collectives *c)
{
	const struct gt_collectives kept = *c;

	c->communicators = NULL;
	c->fields = NULL;
	c->ids = NULL;
	gt_collectives_release(c);
	c->communicators = kept.communicators;
	c->fields = kept.fields;
	c->ids = kept.ids;
}

void gt_collectives_release(struct gt_collectives *c)
{
	for (size_t i = 0; i < c->nstreams; i++)
		free(c->streams[i].ops);
	for (size_t i = 0; i < c->ngroups; i++) {
		free(c->groups[i].list);
		free(c->groups[i].order);
	}
	free(c->streams);
	free(c->groups);
	free(c->sums);
	free(c->gpus);
	free(c->stream_of);
	free(c->communicators);
	free(c->fields);
	for (struct gt_communicator_id *i = c->ids, *next; i; i = next) {
		next = i->next;
		free(i);
	}
	gt_name_interner_release(&c->names);
	gt_map_release(&c->sums_map);
	gt_map_release(&c->gpus_map);
	*c = (struct gt_collectives){ .nstreams = 0 };
}
