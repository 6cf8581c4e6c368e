/* The head of the page of gtexport --html: JSON. Lists are referred to by index; where 0 means
 * none, by 1 + index.
 *
 *     strings, frames  texts
 *     stacks           lists of frames, the outermost first
 *     tracks           [kind, id, name, parent or -1, segment]
 *     types            [name, full name or "", category, layer, operation, fields]
 *                      a field: [name, kind, role]
 *     lanes            [track or -1, aspect, events, levels, types, counter's type or -1,
 *                      its values are doubles]
 *     segments         [host, simulated, closed, ns since 1970 at time 0 or null, metadata, ns from
 * time 0 to the time 0 of reports] */
#include "formats/export/html/html_lanes.h"

#include <inttypes.h>
#include <stdlib.h>
#include "formats/cmdline/opt.h"
#include "formats/names/demangle.h"
#include "formats/names/stack_names.h"

/* Roles and kinds are numbers in the page: html/model.js names them. */
_Static_assert(GT_R_BYTES == 1 && GT_R_KERNEL == 5 && GT_R_DIRECTION == 18 &&
		GT_R_LAUNCH_TRACK == 19 && GT_R_LAUNCH_START == 20 && GT_R_LAUNCH_NS == 21 &&
		GT_R_LAUNCH_NAME == 22 && GT_R_LAUNCH_JOIN == 23 && GT_R_STACK == 24 &&
		GT_R_CREATED_BY_TRACK == 31 && GT_R_CREATED_BY_START == 32,
	"ROLE in model.js");
_Static_assert(
	GT_F_HEX == 2 && GT_F_F64 == 3 && GT_F_STR == 4 && GT_F_BOOL == 5, "FIELD in model.js");

static void put_text(struct gt_out *out, const char *s) { gt_out_json(out, s, strlen(s)); }

static const struct gt_segment *segment_of(
	const struct gt_html_lanes *h, const struct gt_html_id *id)
{
	return gt_reader_segment(h->r, id->segment);
}

static void put_strings(
	const struct gt_html_lanes *h, struct gt_kernel_names *kernels, struct gt_out *out)
{
	gt_out_str(out, ",\n\"strings\":[");
	for (size_t i = 0; i < h->strings.n; i++) {
		const struct gt_html_id *id = &h->strings.list[i];
		const struct gt_string *s = &segment_of(h, id)->strings[id->id];

		gt_out_str(out, i ? "," : "");
		if (id->kernel)
			put_text(out, gt_kernel_names_shown(kernels, s->ptr));
		else
			gt_out_json(out, s->ptr, s->len);
	}
	gt_out_str(out, "]");
}

static void put_stacks(struct gt_html_lanes *h, struct gt_out *out)
{
	struct gt_buf name = { .len = 0 };

	gt_out_str(out, ",\n\"stacks\":[");
	for (size_t i = 0; i < h->stacks.n; i++) {
		const struct gt_segment *seg = segment_of(h, &h->stacks.list[i]);
		const struct gt_stack *s = &seg->stacks[h->stacks.list[i].id];

		gt_out_str(out, i ? ",[" : "[");
		for (uint32_t k = 0; k < s->n; k++)
			gt_out_printf(out, "%s%u", k ? "," : "",
				gt_html_id(h, &h->frames, seg->index, seg->nstrings, s->frames[k]));
		gt_out_str(out, "]");
	}
	gt_out_str(out, "],\n\"frames\":[");
	for (size_t i = 0; i < h->frames.n; i++) {
		const struct gt_html_id *id = &h->frames.list[i];

		gt_buf_clear(&name);
		gt_frame_name(&name, segment_of(h, id), id->id, GT_STACK_LINE);
		gt_out_str(out, i ? "," : "");
		gt_out_json(out, (const char *)name.data, name.len);
	}
	gt_out_str(out, "]");
	gt_buf_release(&name);
}

static void put_tracks(struct gt_html_lanes *h, struct gt_out *out)
{
	gt_out_str(out, ",\n\"tracks\":[");
	for (size_t i = 0; i < h->tracks.n; i++) { /* parents are appended meanwhile */
		struct gt_html_id id = h->tracks.list[i];
		const struct gt_segment *seg = segment_of(h, &id);
		const struct gt_track *t = &seg->tracks[id.id];
		const char *name = t->name == GT_NONE ? "" : gt_str(seg, t->name);
		uint32_t parent = t->parent;

		while (parent < seg->ntracks && seg->lone_contexts[parent])
			parent = seg->tracks[parent].parent;
		gt_out_printf(out, "%s[\"%s\",%" PRId64 ",", i ? "," : "",
			gt_track_kind_word(t->kind), t->id);
		put_text(out, name);
		gt_out_printf(out, ",%" PRId64 ",%u]",
			(int64_t)gt_html_id(h, &h->tracks, id.segment, seg->ntracks, parent) - 1,
			id.segment);
	}
	gt_out_str(out, "]");
}

static void put_type(const struct gt_segment *seg, const struct gt_type *t,
	struct gt_kernel_names *kernels, struct gt_out *out)
{
	const char *name = gt_str(seg, t->name), *shown = name;
	char *full = NULL;

	if (t->category == GT_CAT_KERNEL) {
		shown = gt_kernel_names_shown(kernels, name);
		full = gt_demangle(name);
	}
	gt_out_str(out, "[");
	put_text(out, shown);
	gt_out_str(out, ",");
	put_text(out, full ? full : shown != name ? name : "");
	gt_out_printf(out, ",\"%s\",\"%s\",\"%s\",[", gt_category_word(t->category),
		gt_layer_word(t->layer), gt_op_word(t->op));
	for (unsigned i = 0; i < t->nfields; i++) {
		gt_out_str(out, i ? ",[" : "[");
		put_text(out, gt_str(seg, t->fields[i].name));
		gt_out_printf(out, ",%u,%u]", t->fields[i].kind, t->fields[i].role);
	}
	gt_out_str(out, "]]");
	free(full);
}

static void put_types(
	const struct gt_html_lanes *h, struct gt_kernel_names *kernels, struct gt_out *out)
{
	gt_out_str(out, ",\n\"types\":[");
	for (size_t i = 0; i < h->ntypes; i++) {
		const struct gt_segment *seg = gt_reader_segment(h->r, h->types[i].segment);

		gt_out_str(out, i ? ",\n" : "");
		if (h->types[i].type == GT_NONE)
			gt_out_str(out,
				"[\"lost events\",\"\",\"lost\",\"\",\"\",[[\"events\",0,0],[\"scope\",0,0]]]");
		else
			put_type(seg, &seg->types[h->types[i].type], kernels, out);
	}
	gt_out_str(out, "]");
}

static void put_lanes(struct gt_html_lanes *h, struct gt_out *out)
{
	gt_out_str(out, ",\n\"lanes\":[");
	for (size_t i = 0; i < h->nlanes; i++) {
		const struct gt_html_lane *l = &h->lanes[i];
		const struct gt_segment *seg = gt_reader_segment(h->r, l->key.segment);
		int64_t track =
			(int64_t)gt_html_id(h, &h->tracks, seg->index, seg->ntracks, l->key.track) -
			1;

		gt_out_printf(out, "%s[%" PRId64 ",%u,%u,%u,[", i ? "," : "", track, l->key.aspect,
			l->n, l->nlevels);
		for (uint32_t k = 0; k < l->ntypes; k++)
			gt_out_printf(out, "%s%u", k ? "," : "", h->lane_types[l->types[k]].type);
		gt_out_printf(out, "],%" PRId64 ",%d]",
			l->key.counter == GT_NONE
				? -1
				: (int64_t)h->type_number[seg->index][l->key.counter] - 1,
			l->real);
	}
	gt_out_str(out, "]");
}

static void put_segments(const struct gt_html_lanes *h, struct gt_out *out)
{
	const struct gt_segment *first = gt_reader_segment(h->r, 0);

	gt_out_str(out, ",\n\"segments\":[");
	for (uint32_t i = 0; i < gt_reader_segments(h->r); i++) {
		const struct gt_segment *s = gt_reader_segment(h->r, i);

		gt_out_str(out, i ? ",\n[" : "[");
		put_text(out, s->host ? s->host : "");
		gt_out_printf(out, ",%s,%s,", s->simulated ? "true" : "false",
			s->closed ? "true" : "false");
		if (s->nanchors)
			gt_out_printf(out, "\"%" PRId64 "\",",
				(int64_t)((uint64_t)s->anchors->realtime +
					(uint64_t)gt_since(h->bases[i], s->anchors->monotonic)));
		else
			gt_out_str(out, "null,");
		/* as text: the page reads it by itself and shows it as it is if it is no JSON */
		put_text(out, s->meta_json ? s->meta_json : "{}");
		gt_out_printf(out, ",%" PRId64 "]",
			gt_since(gt_same_clock(first, s) ? first->min_start : s->min_start,
				h->bases[i]));
	}
	gt_out_str(out, "]");
}

void gt_html_head(struct gt_html_lanes *h, const struct gt_export_options *opt, struct gt_out *out)
{
	struct gt_kernel_names *kernels = gt_kernel_names_of(h->r, GT_NAME_SHORT);
	bool any = h->from <= h->to;
	size_t damage;

	if (!kernels) {
		gt_err_set(h->err, -ENOMEM, "out of memory");
		return;
	}
	gt_reader_damage(h->r, &damage);
	gt_out_printf(out,
		"{\"version\":1,\"tool\":\"gtexport %s\",\"from\":%" PRId64 ",\"to\":%" PRId64
		",\"events\":%" PRIu64 ",\"merged\":%" PRIu64 ",\"resolution\":%" PRId64
		",\"damage\":%zu,\"cut\":%s,\"name\":",
		GT_VERSION, any ? h->from : 0, any ? h->to : 0, h->total, h->merged, h->resolution,
		damage, opt->cut ? opt->cut : "null");
	put_text(out, opt->name ? opt->name : "");
	put_segments(h, out);
	put_lanes(h, out);
	put_stacks(h, out);
	put_tracks(h, out);
	put_strings(h, kernels, out);
	put_types(h, kernels, out);
	gt_out_str(out, "}\n");
	gt_kernel_names_free(kernels);
}
