/* pprof's profile.proto: `gtexport --pprof trace.zst; go tool pprof -http : trace.pb.gz`.
 *
 * A sample is a stack of the tree of stacks (stack_tree.h) with its cost. The profile has one value
 * for each root of the tree, CPU and GPU, since their times must not be added: pprof shows one of
 * them at a time (-sample_index=gpu). If the trace has call stacks, the frames are those of the
 * code that made the calls and launched the GPU work, as with --stacks.
 *
 * A location is a frame: a line of a function, an address in a library, a call or a kernel.
 * Libraries are mappings with their build ids. The numbers of the messages' fields are in pprof's
 * proto/profile.proto. */
#include "formats/export/stacks/stack_tree.h"

#include <stdio.h>
#include <stdlib.h>
#include "formats/base/buf.h"
#include "formats/io/proto_write.h"
#include "formats/names/stack_names.h"

#define STACK_MOST 4200u /* frames: the deepest call stack and what is below and above it */
#define VALUES_MOST 16u  /* roots */

enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE,
	PROFILE_MAPPING,
	PROFILE_LOCATION,
	PROFILE_FUNCTION,
	PROFILE_STRING_TABLE,
	PROFILE_TIME_NANOS = 9,
	PROFILE_DURATION_NANOS
};

struct profile {
	const struct gt_stack_tree *tree;
	struct gt_out *out;
	struct gt_buf strings;
	uint64_t nstrings;
	uint32_t roots[VALUES_MOST]; /* nodes */
	unsigned nroots;
	uint32_t *root_of;  /* by node: index in roots, or GT_NONE */
	uint32_t *mappings; /* by segment: the id of its first module's mapping */
};

/* The index of a text in the string table. */
static uint64_t add_string(struct profile *p, const char *s)
{
	gt_buf_add(&p->strings, s, strlen(s) + 1);
	return p->nstrings++;
}

static void put_strings(struct profile *p)
{
	const char *s = (const char *)p->strings.data;
	char head[GT_PROTO_FIELD_MAX];

	for (uint64_t i = 0; i < p->nstrings; i++, s += strlen(s) + 1) {
		char *end = gt_proto_tag(head, PROFILE_STRING_TABLE, GT_PROTO_BYTES);

		end = gt_proto_varint(end, strlen(s));
		gt_out_add(p->out, head, (size_t)(end - head));
		gt_out_add(p->out, s, strlen(s));
	}
}

static void put_number(struct profile *p, uint32_t field, uint64_t v)
{
	char *to = gt_out_reserve(p->out, GT_PROTO_FIELD_MAX);

	gt_out_commit(p->out, gt_proto_u64(to, field, v));
}

static void put_message(struct profile *p, uint32_t field, const char *body, const char *end)
{
	const size_t len = (size_t)(end - body);
	char head[GT_PROTO_FIELD_MAX], *to = gt_proto_tag(head, field, GT_PROTO_BYTES);

	to = gt_proto_varint(to, len);
	gt_out_add(p->out, head, (size_t)(to - head));
	gt_out_add(p->out, body, len);
}

/* ---- libraries and frames ---- */

static void put_mapping(
	struct profile *p, const struct gt_segment *seg, uint32_t module, uint64_t id)
{
	const struct gt_module *m = &seg->modules[module];
	char body[8 * GT_PROTO_FIELD_MAX], *to = body, hex[2 * GT_BUILD_ID_MAX + 1] = "";

	for (uint32_t i = 0; i < m->nid; i++)
		snprintf(hex + 2 * (size_t)i, 3, "%02x", m->id[i]);
	to = gt_proto_u64(to, 1, id);
	to = gt_proto_u64(to, 5, add_string(p, gt_str(seg, m->path)));
	to = gt_proto_u64(to, 6, add_string(p, hex));
	to = gt_proto_u64(to, 7, true); /* has_functions: pprof need not look for symbols */
	put_message(p, PROFILE_MAPPING, body, to);
}

static void put_mappings(struct profile *p)
{
	uint32_t id = 1;

	for (uint32_t i = 0; i < gt_reader_segments(p->tree->r); i++) {
		const struct gt_segment *seg = gt_reader_segment(p->tree->r, i);

		p->mappings[i] = id;
		for (uint32_t m = 0; m < seg->nmodules; m++)
			put_mapping(p, seg, m, id++);
	}
}

/* 0: no library */
static uint64_t mapping_of(
	const struct profile *p, const struct gt_segment *seg, const struct gt_frame *f)
{
	for (uint32_t m = 0; f && f->module != GT_NONE && m < seg->nmodules; m++)
		if (seg->modules[m].path == f->module)
			return p->mappings[seg->index] + m;
	return 0;
}

/* The location and the function of a label have the same number, 1 + label. */
static void put_location(struct profile *p, uint32_t label)
{
	const struct gt_stack_tree *t = p->tree;
	const struct gt_stack_label *from = &t->labels[label];
	const struct gt_segment *seg =
		from->text == GT_NONE ? NULL : gt_reader_segment(t->r, from->segment);
	const struct gt_frame *f = seg ? gt_segment_frame(seg, from->text) : NULL;
	char body[8 * GT_PROTO_FIELD_MAX], *to = body, *line;
	uint64_t mapping = mapping_of(p, seg, f);
	struct gt_buf name = { 0 };

	to = gt_proto_u64(to, 1, label + 1ull);
	if (mapping)
		to = gt_proto_u64(to, 2, mapping);
	if (f && f->offset)
		to = gt_proto_u64(to, 3, f->offset);
	line = gt_proto_open(&to, 4);
	to = gt_proto_u64(to, 1, label + 1ull);
	if (f && f->line)
		to = gt_proto_u64(to, 2, f->line);
	to = gt_proto_close(line, to);
	put_message(p, PROFILE_LOCATION, body, to);

	if (seg)
		gt_frame_name(&name, seg, from->text, GT_STACK_FUNCTION);
	else
		gt_buf_str(&name, gt_stack_tree_label(t, label));
	gt_buf_byte(&name, 0);
	to = gt_proto_u64(body, 1, label + 1ull);
	if (!name.failed)
		to = gt_proto_u64(to, 2, add_string(p, (const char *)name.data));
	if (f && f->file != GT_NONE)
		to = gt_proto_u64(to, 4, add_string(p, gt_str(seg, f->file)));
	put_message(p, PROFILE_FUNCTION, body, to);
	if (name.failed)
		gt_out_fail(p->out, -ENOMEM);
	gt_buf_release(&name);
}

/* ---- samples ---- */

static void put_value_types(struct profile *p)
{
	static const char *const units[] = {
		[GT_COST_TIME] = "nanoseconds", [GT_COST_COUNT] = "count", [GT_COST_BYTES] = "bytes"
	};
	const struct gt_stack_tree *t = p->tree;
	const uint64_t unit = add_string(p, units[t->cost]);

	for (unsigned i = 0; i < p->nroots; i++) {
		char body[2 * GT_PROTO_FIELD_MAX], *to, type[64];

		snprintf(type, sizeof(type), "%s",
			gt_stack_tree_label(t, t->nodes[p->roots[i]].label));
		for (char *c = type; *c; c++)
			*c = *c >= 'A' && *c <= 'Z' ? (char)(*c + 'a' - 'A') : *c == ' ' ? '_' : *c;
		to = gt_proto_u64(body, 1, add_string(p, type));
		to = gt_proto_u64(to, 2, unit);
		put_message(p, PROFILE_SAMPLE_TYPE, body, to);
	}
}

static void put_sample(struct profile *p, uint32_t node)
{
	const struct gt_stack_tree *t = p->tree;
	char body[STACK_MOST * 5 + VALUES_MOST * 10 + 4 * GT_PROTO_FIELD_MAX], *to = body, *list;
	unsigned depth = 0;

	list = gt_proto_open(&to, 1);
	for (uint32_t n = node; t->nodes[n].parent != GT_NONE && depth++ < STACK_MOST;
		n = t->nodes[n].parent)
		to = gt_proto_varint(to, t->nodes[n].label + 1ull);
	to = gt_proto_close(list, to);
	list = gt_proto_open(&to, 2);
	for (unsigned i = 0; i < p->nroots; i++)
		to = gt_proto_varint(to, p->root_of[node] == i ? (uint64_t)t->nodes[node].cost : 0);
	to = gt_proto_close(list, to);
	put_message(p, PROFILE_SAMPLE, body, to);
}

static void find_roots(struct profile *p)
{
	const struct gt_stack_tree *t = p->tree;

	for (uint32_t i = 0; i < t->nnodes; i++) {
		p->root_of[i] = GT_NONE;
		if (t->nodes[i].parent != GT_NONE) {
			p->root_of[i] = p->root_of[t->nodes[i].parent];
		} else if (p->nroots < VALUES_MOST) {
			p->root_of[i] = p->nroots;
			p->roots[p->nroots++] = i;
		}
	}
}

struct span {
	int64_t from, to; /* ns */
};

/* What is exported of a segment, in its own clock. False: nothing. */
static bool span_of(const struct gt_segment *seg, const struct gt_filter *filter, struct span *s)
{
	struct gt_range range = gt_range_of(filter, seg);

	s->from = seg->min_start > range.from ? seg->min_start : range.from;
	s->to = seg->max_end < range.to ? seg->max_end : range.to;
	return s->from <= s->to;
}

/* The time of the profile is that from the first to the last of all recordings, by the time of day.
 * Without one, only recordings of the first one's boot can be compared. */
static void put_times(struct profile *p, const struct gt_filter *filter)
{
	struct span all = { INT64_MAX, INT64_MIN }, s;
	const struct gt_segment *first = NULL;

	for (uint32_t i = 0; p->tree->r && i < gt_reader_segments(p->tree->r); i++) {
		const struct gt_segment *seg = gt_reader_segment(p->tree->r, i);
		int64_t to_day;

		if (!span_of(seg, filter, &s) ||
			(first && !seg->nanchors &&
				(first->nanchors || !gt_same_clock(first, seg))))
			continue;
		if (!first || (seg->nanchors && !first->nanchors)) {
			first = seg;
			all = (struct span){ INT64_MAX, INT64_MIN };
		}
		to_day = seg->nanchors
			? gt_since(seg->anchors[0].realtime, seg->anchors[0].monotonic)
			: 0;
		s.from = gt_since(s.from, gt_since(0, to_day));
		s.to = gt_since(s.to, gt_since(0, to_day));
		all.from = s.from < all.from ? s.from : all.from;
		all.to = s.to > all.to ? s.to : all.to;
	}
	if (!first)
		return;
	if (first->nanchors)
		put_number(p, PROFILE_TIME_NANOS, (uint64_t)all.from);
	put_number(p, PROFILE_DURATION_NANOS, (uint64_t)gt_since(all.to, all.from));
}

static int put_profile(const struct gt_stack_tree *t, const struct gt_filter *filter,
	struct gt_out *out, struct gt_err *err)
{
	struct profile p = { .tree = t,
		.out = out,
		.root_of = calloc(t->nnodes + 1, sizeof(*p.root_of)),
		.mappings =
			calloc(t->r ? gt_reader_segments(t->r) + 1ul : 1, sizeof(*p.mappings)) };
	int rc = 0;

	if (p.root_of && p.mappings) {
		add_string(&p, "");
		find_roots(&p);
		put_value_types(&p);
		put_mappings(&p);
		for (uint32_t i = 0; i < t->nlabels; i++)
			put_location(&p, i);
		for (uint32_t i = 0; i < t->nnodes; i++)
			if (t->nodes[i].cost > 0 && p.root_of[i] != GT_NONE)
				put_sample(&p, i);
		put_times(&p, filter);
		put_strings(&p);
	}
	if (!p.root_of || !p.mappings || p.strings.failed)
		rc = gt_err_set(err, -ENOMEM, "out of memory");
	gt_buf_release(&p.strings);
	free(p.root_of);
	free(p.mappings);
	return rc;
}

static int pprof_export(struct gt_reader *r, const struct gt_export_options *opt,
	struct gt_out *out, struct gt_err *err)
{
	struct gt_export_options own = *opt;
	struct gt_stack_tree tree;
	int rc;

	if (opt->tree)
		return put_profile(opt->tree, &opt->filter, out, err);
	own.by_stack |= gt_has_stacks(r);
	rc = gt_stack_tree_build(&tree, r, &own, err);
	rc = rc ? rc : put_profile(&tree, &opt->filter, out, err);
	gt_stack_tree_release(&tree);
	return rc;
}

const struct gt_exporter gt_export_pprof = {
	.name = "pprof",
	.suffix = "pb.gz",
	.help = "pprof's profile.proto: CPU and GPU time by stack",
	.takes = GT_TAKES_STACKS | GT_TAKES_COST,
	.sums = true,
	.export = pprof_export,
};
