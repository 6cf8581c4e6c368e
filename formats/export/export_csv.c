/* All rows as CSV or TSV, in order of time: for spreadsheets, awk, and programs that read nothing
 * else. (gtanalyze prints its tables as CSV by itself.)
 *
 *   start_ns,duration_ns,kind,layer,category,name,host,pid,process,track,track_id,track_name,device,
 *   depth,status,arguments
 *
 * start_ns counts from the start of the trace. duration_ns is empty for a moment (instant,
 * counter), status for rows other than finished calls. kind, layer, category and track (thread,
 * stream ...) are the words of `gtanalyze query`. device: the GPU's number. arguments: one JSON
 * object, in which times are ns since the start, and a stack is its frames, the innermost first. */
#include "formats/export/exporters.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include "formats/base/buf.h"
#include "formats/base/map.h"
#include "formats/io/separated_values.h"
#include "formats/names/stack_names.h"

/* Bytes of texts that are kept; beyond that, all are made again. */
#define STACK_TEXTS_MOST (32u << 20)

/* Stacks as JSON texts. Many rows have the same stack. */
struct stack_texts {
	struct gt_map map; /* to items */
	struct stack_text {
		uint64_t segment, stack; /* the key */
		size_t at, len;
	} * items;
	size_t n, cap;
	struct gt_out json; /* in memory */
};
struct separated {
	struct gt_out *out, json;
	struct stack_texts stacks;
	int64_t *bases;
	const char *separator, *end;
	void (*put)(struct gt_out *out, const char *s);
};

static void put_next(struct separated *s, const char *text)
{
	gt_out_str(s->out, s->separator);
	if (text)
		s->put(s->out, text);
}

static void put_number(struct separated *s, int64_t v)
{
	gt_out_str(s->out, s->separator);
	gt_export_i64(s->out, v);
}

static const char *track_text(const struct gt_segment *seg, uint32_t track)
{
	return track == GT_NONE || seg->tracks[track].name == GT_NONE
		? NULL
		: gt_str(seg, seg->tracks[track].name);
}

static void put_id(struct separated *s, const struct gt_segment *seg, uint32_t track)
{
	if (track == GT_NONE)
		put_next(s, NULL);
	else
		put_number(s, seg->tracks[track].id);
}

static void put_place(struct separated *s, const struct gt_event *ev)
{
	const struct gt_segment *seg = ev->seg;
	uint32_t process = GT_NONE, device = GT_NONE;

	if (ev->track != GT_NONE) {
		process = gt_track_process(seg, ev->track);
		device = gt_track_device(seg, ev->track);
	}
	put_next(s, seg->host);
	put_id(s, seg, process);
	put_next(s, track_text(seg, process));
	put_next(s, ev->track == GT_NONE ? NULL : gt_track_kind_word(seg->tracks[ev->track].kind));
	put_id(s, seg, ev->track);
	put_next(s, track_text(seg, ev->track));
	put_id(s, seg, device);
}

/* Makes the text of a stack that is not there yet. NULL: no memory. */
static const struct stack_text *add_stack(
	struct stack_texts *s, struct stack_text item, const struct gt_segment *seg)
{
	struct gt_buf text = { 0 };
	uint32_t i;

	if (s->json.len > STACK_TEXTS_MOST) {
		gt_map_clear(&s->map);
		s->n = s->json.len = 0;
	}
	gt_stack_text(&text, seg, item.stack, GT_STACK_LINE);
	item.at = s->json.len;
	gt_out_json(&s->json, (const char *)text.data, text.len);
	item.len = s->json.len - item.at;
	if (text.failed)
		gt_out_fail(&s->json, -ENOMEM);
	gt_buf_release(&text);
	i = gt_map_add_item(&s->map, &s->items, &s->n, &s->cap, sizeof(item), &item,
		offsetof(struct stack_text, at));
	return s->json.failed || i == UINT32_MAX ? NULL : &s->items[i];
}

static void put_stack(struct separated *s, const struct gt_segment *seg, uint64_t stack)
{
	struct stack_text item = { .segment = seg->index, .stack = stack };
	uint32_t i = gt_map_find_item(&s->stacks.map, s->stacks.items, sizeof(item), &item,
		offsetof(struct stack_text, at));
	const struct stack_text *text =
		i == UINT32_MAX ? add_stack(&s->stacks, item, seg) : &s->stacks.items[i];

	if (text)
		gt_out_add(&s->json, s->stacks.json.data + text->at, text->len);
	else
		gt_out_fail(&s->json, -ENOMEM);
}

static void put_argument(
	struct separated *s, const struct gt_segment *seg, const struct gt_field *f, uint64_t v)
{
	if (f->role == GT_R_LAUNCH_START || f->role == GT_R_CREATED_BY_START)
		gt_export_i64(&s->json, gt_since((int64_t)v, s->bases[seg->index]));
	else if (f->role == GT_R_LAUNCH_TRACK || f->role == GT_R_CREATED_BY_TRACK)
		gt_export_i64(&s->json, seg->tracks[v].id);
	else if (f->role == GT_R_STACK)
		put_stack(s, seg, v);
	else
		gt_export_value(&s->json, seg, f, v);
}

static void put_arguments(struct separated *s, const struct gt_event *ev)
{
	const struct gt_type *t = &ev->seg->types[ev->row.type];
	const char *separator = "{";

	s->json.len = 0;
	for (unsigned i = 0; ev->args && i < t->nfields && i < ev->row.nargs; i++) {
		const char *name = t->fields[i].role == GT_R_STACK
			? "stack"
			: gt_export_field_name(ev->seg, &t->fields[i]);

		if (gt_export_is_none(ev, t, i))
			continue;
		gt_out_str(&s->json, separator);
		gt_out_json(&s->json, name, strlen(name));
		gt_out_str(&s->json, ":");
		put_argument(s, ev->seg, &t->fields[i], ev->args[i]);
		separator = ",";
	}
	gt_out_add(&s->json, "}", 2); /* and its NUL */
	put_next(s, *separator == ',' ? s->json.data : NULL);
}

static int put_row(void *arg, const struct gt_event *ev)
{
	const uint32_t moments = GT_BIT(GT_INSTANT) | GT_BIT(GT_COUNTER) | GT_BIT(GT_UNMATCHED);
	struct separated *s = arg;
	const struct gt_type *t = ev->kind == GT_LOST ? NULL : &ev->seg->types[ev->row.type];

	gt_export_i64(s->out, gt_since(ev->row.start, s->bases[ev->seg->index]));
	if (GT_BIT(ev->kind) & moments)
		put_next(s, NULL);
	else
		put_number(s, gt_since(ev->row.end, ev->row.start));
	put_next(s, gt_kind_word(ev->kind));
	put_next(s, t ? gt_layer_word(t->layer) : NULL);
	put_next(s, t ? gt_category_word(t->category) : NULL);
	put_next(s, t ? gt_type_name(ev->seg, ev->row.type) : NULL);
	put_place(s, ev);
	put_number(s, ev->row.depth);
	if (ev->kind == GT_CALL)
		put_number(s, ev->row.ret);
	else
		put_next(s, NULL);
	if (t) {
		put_arguments(s, ev);
	} else {
		gt_out_str(s->out, s->separator);
		if (ev->args[0] != GT_LOST_UNKNOWN)
			gt_out_printf(s->out, "%" PRIu64 " lost", ev->args[0]);
	}
	gt_out_str(s->out, s->end);
	return s->json.failed;
}

static int export_rows(struct separated *s, struct gt_reader *r,
	const struct gt_export_options *opt, struct gt_err *err)
{
	static const char *const columns[] = { "start_ns", "duration_ns", "kind", "layer",
		"category", "name", "host", "pid", "process", "track", "track_id", "track_name",
		"device", "depth", "status", "arguments" };
	int rc = 0;

	gt_out_memory(&s->json);
	gt_out_memory(&s->stacks.json);
	s->bases = gt_export_bases(r);
	if (!s->bases)
		rc = gt_err_set(err, -ENOMEM, "out of memory");
	for (unsigned i = 0; i < sizeof(columns) / sizeof(*columns); i++) {
		gt_out_str(s->out, i ? s->separator : "");
		gt_out_str(s->out, columns[i]);
	}
	gt_out_str(s->out, s->end);
	rc = rc ? rc : gt_export_rows(r, opt, &opt->filter, s->out, put_row, s, err);
	if (s->json.failed && !err->code)
		rc = gt_err_set(err, -ENOMEM, "out of memory");
	free(s->bases);
	gt_out_close(&s->json, NULL);
	gt_out_close(&s->stacks.json, NULL);
	gt_map_release(&s->stacks.map);
	free(s->stacks.items);
	return rc;
}

static int csv_export(struct gt_reader *r, const struct gt_export_options *opt, struct gt_out *out,
	struct gt_err *err)
{
	struct separated s = { .out = out, .separator = ",", .end = "\r\n", .put = gt_out_csv };

	return export_rows(&s, r, opt, err);
}

static int tsv_export(struct gt_reader *r, const struct gt_export_options *opt, struct gt_out *out,
	struct gt_err *err)
{
	struct separated s = { .out = out, .separator = "\t", .end = "\n", .put = gt_out_tsv };

	return export_rows(&s, r, opt, err);
}

const struct gt_exporter gt_export_csv = {
	.name = "csv",
	.suffix = "csv",
	.help = "all rows as CSV, by time",
	.export = csv_export,
};
const struct gt_exporter gt_export_tsv = {
	.name = "tsv",
	.suffix = "tsv",
	.help = "all rows as TSV, by time",
	.export = tsv_export,
};
