/* JSON lines, a begin and an end for every call, in order of time:
 *
 *   {"ts":0.000001000,"op_id":0,"phase":"B","name":"cuMemAlloc_v2","pid":7,"tid":8,"details":{"bytesize":4096}}
 *   {"ts":0.000004210,"op_id":0,"phase":"E","name":"cuMemAlloc_v2","pid":7,"tid":8,"details":{"status":0}}
 *
 * ts is seconds since the segment's first row, with 9 decimals; op_id pairs an end with its begin.
 * Open calls have a begin and no end; instants, counters and losses have neither phase nor op_id.
 * Rows come by start; a heap holds the ends, which are written before the next begin that is not
 * earlier.
 *
 * Further keys make sure that an import gives the same row: the kind of the row unless it is a
 * call; its layer, category and op if an import would infer others from the name; and the kind of
 * its track unless it is a thread. A span has its duration and its depth at its begin.
 *
 * A row has the number of its call stack as details.stack_id. The first row of a stack comes after
 * an instant that defines it, with its frames, the outermost first:
 *
 *   {"ts":0.000001000,"name":"STACK","stack_id":1,"frames":[{"text":"f (a.py:2)","kind":"python",
 *    "function":"f","file":"/x/a.py","line":2},{"text":"b.so+0x10","kind":"native",
 *    "function":"g","module":"/lib/b.so","address":"0x10"}]}
 */
#include "formats/export/exporters.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "formats/base/buf.h"
#include "formats/cuda/cuda_api.h"

/* By segment: the class of each type that an import infers from the name. */
struct guesses {
	struct guess {
		bool known;
		struct gt_type type;
	} * of_type;
	size_t n, cap;
};
/* By segment: the numbers of its stacks in the output; 0: not written yet. */
struct stack_numbers {
	uint32_t *of_stack;
	size_t n, cap;
};
struct gt_jsonl {
	struct gt_reader *r;
	struct gt_out *out;
	struct gt_err *err;
	int64_t *bases;
	struct gt_pending ends;
	uint64_t next_op;
	struct guesses *guesses;
	uint32_t nguesses;
	struct stack_numbers *stacks; /* by segment, as guesses */
	uint32_t nstacks;
	struct guess last; /* of a type for which there was no memory */
};

static void put_head(struct gt_jsonl *j, const struct gt_segment *seg, int64_t time)
{
	gt_out_str(j->out, "{\"ts\":");
	gt_export_s(j->out, gt_since(time, j->bases[seg->index]));
}

static void put_op(struct gt_jsonl *j, uint64_t op, char phase)
{
	char *p = gt_out_reserve(j->out, 64);

	memcpy(p, ",\"op_id\":", 9);
	p = gt_put_u64(p + 9, op);
	memcpy(p, ",\"phase\":\"", 10);
	p[10] = phase;
	p[11] = '"';
	gt_out_commit(j->out, p + 12);
}

static void put_id(
	struct gt_jsonl *j, const char *key, const struct gt_segment *seg, uint32_t track)
{
	if (track == GT_NONE)
		return;
	gt_out_str(j->out, key);
	gt_export_i64(j->out, seg->tracks[track].id);
}

/* Writes the GPU of a track: stream ids and counters of two GPUs may be the same. */
static void put_device(struct gt_jsonl *j, const struct gt_segment *seg, uint32_t track)
{
	uint32_t device = gt_track_device(seg, track);

	if (device != GT_NONE)
		put_id(j, ",\"device\":", seg, device);
}

static void put_place(
	struct gt_jsonl *j, const struct gt_segment *seg, uint32_t track, const char *name)
{
	gt_out_str(j->out, ",\"name\":");
	gt_out_json(j->out, name, strlen(name));
	if (track == GT_NONE)
		return;
	put_id(j, ",\"pid\":", seg, gt_track_process(seg, track));
	put_id(j, ",\"tid\":", seg, track);
	put_device(j, seg, track);
}

static void put_word(struct gt_jsonl *j, const char *key, const char *word)
{
	gt_out_str(j->out, key);
	gt_out_str(j->out, word);
	gt_out_str(j->out, "\"");
}

/* "open /dev/nvidiactl": gt's recordings name opening, mapping and closing of the
 * driver's files so. */
static bool is_file(const char *name)
{
	const char *path = strchr(name, ' ');

	return path && !strncmp(path, " /dev/nvidia", sizeof(" /dev/nvidia") - 1);
}

void gt_export_jsonl_guess(const char *name, struct gt_type *type)
{
	struct gt_api api = gt_api_guess(name);

	type->category = api.category;
	type->op = api.op;
	type->memkind = api.memkind;
	type->layer = GT_LAYER_API;
	if (api.category == GT_CAT_OTHER && strstr(name, "ioctl"))
		type->category = GT_CAT_IOCTL, type->op = GT_OP_IOCTL;
	else if (api.category == GT_CAT_OTHER && is_file(name))
		type->category = GT_CAT_FILE;
	if (type->category == GT_CAT_IOCTL || type->category == GT_CAT_FILE)
		type->layer = GT_LAYER_IOCTL;
}

/* The reader of a growing file may have more types than before. */
static struct guess *guess_at(struct gt_jsonl *j, const struct gt_segment *seg, uint32_t type)
{
	struct guesses *g = seg->index < j->nguesses ? &j->guesses[seg->index] : NULL;

	if (!g ||
		(type >= g->n && gt_grow(&g->of_type, &g->cap, type + 1ul, sizeof(*g->of_type)))) {
		j->last.known = false;
		return &j->last;
	}
	while (g->n <= type)
		g->of_type[g->n++].known = false;
	return &g->of_type[type];
}

static const struct gt_type *guess_of(
	struct gt_jsonl *j, const struct gt_segment *seg, uint32_t type)
{
	struct guess *g = guess_at(j, seg, type);

	if (!g->known)
		gt_export_jsonl_guess(gt_type_name(seg, type), &g->type);
	g->known = true;
	return &g->type;
}

/* Writes the parts of the class that an import would infer differently. It is at both ends of a
 * call: for an import, another class means another function. */
static void put_class(struct gt_jsonl *j, const struct gt_segment *seg, uint32_t id)
{
	const struct gt_type *type = &seg->types[id], *guess = guess_of(j, seg, id);

	if (type->layer != guess->layer)
		put_word(j, ",\"layer\":\"", gt_layer_word(type->layer));
	if (type->category != guess->category)
		put_word(j, ",\"category\":\"", gt_category_word(type->category));
	if (type->op != guess->op)
		put_word(j, ",\"op\":\"", gt_op_word(type->op));
	if (type->memkind != guess->memkind)
		put_word(j, ",\"memkind\":\"", gt_memkind_word(type->memkind));
}

static void put_track(struct gt_jsonl *j, const struct gt_segment *seg, uint32_t track)
{
	uint32_t context = gt_track_context(seg, track);

	if (seg->tracks[track].kind == GT_TRACK_THREAD)
		return;
	put_word(j, ",\"track\":\"", gt_track_kind_word(seg->tracks[track].kind));
	if (context != GT_NONE && context != track && !seg->lone_contexts[context])
		put_id(j, ",\"context\":", seg, context);
}

static bool is_span(enum gt_kind kind) { return kind == GT_SPAN || kind == GT_GPU; }

/* Writes what an import cannot infer from the name. */
static void put_rest(struct gt_jsonl *j, const struct gt_event *ev)
{
	if (ev->kind != GT_CALL && ev->kind != GT_OPEN && ev->kind != GT_INSTANT &&
		ev->kind != GT_LOST)
		put_word(j, ",\"kind\":\"", gt_kind_word(ev->kind));
	if (ev->kind != GT_LOST)
		put_class(j, ev->seg, ev->row.type);
	if (ev->track != GT_NONE)
		put_track(j, ev->seg, ev->track);
	if (!is_span(ev->kind))
		return;
	gt_out_str(j->out, ",\"duration_us\":");
	gt_export_us(j->out, gt_since(ev->row.end, ev->row.start));
	if (ev->row.depth) {
		gt_out_str(j->out, ",\"depth\":");
		gt_export_u64(j->out, ev->row.depth);
	}
}

/* ---- call stacks ---- */

static void put_string(
	struct gt_jsonl *j, const struct gt_segment *seg, const char *key, uint32_t s)
{
	if (s == GT_NONE)
		return;
	gt_out_str(j->out, key);
	gt_out_json(j->out, seg->strings[s].ptr, seg->strings[s].len);
}

static void put_frame(struct gt_jsonl *j, const struct gt_segment *seg, uint32_t text)
{
	const struct gt_frame *f = gt_segment_frame(seg, text);

	put_string(j, seg, "{\"text\":", text);
	if (f) {
		put_word(j, ",\"kind\":\"", gt_frame_kind_word(f->kind));
		put_string(j, seg, ",\"function\":", f->function);
		put_string(j, seg, ",\"file\":", f->file);
		put_string(j, seg, ",\"module\":", f->module);
		if (f->line)
			gt_out_printf(j->out, ",\"line\":%" PRIu32, f->line);
		if (f->offset)
			gt_out_printf(j->out, ",\"address\":\"0x%" PRIx64 "\"", f->offset);
	}
	gt_out_str(j->out, "}");
}

/* The number of a stack of a segment. NULL: no memory. */
static uint32_t *stack_number(struct gt_jsonl *j, const struct gt_segment *seg, uint32_t stack)
{
	struct stack_numbers *s = &j->stacks[seg->index];

	if (stack >= s->n && gt_grow(&s->of_stack, &s->cap, seg->nstacks, sizeof(*s->of_stack)))
		return NULL;
	while (s->n <= stack)
		s->of_stack[s->n++] = 0;
	return &s->of_stack[stack];
}

/* Defines the stack of a row, if the row is the first one that has it. */
static int put_stack(struct gt_jsonl *j, const struct gt_event *ev)
{
	const struct gt_segment *seg = ev->seg;
	uint64_t stack = ev->kind == GT_LOST
		? GT_NONE
		: gt_event_value(ev, &seg->types[ev->row.type], GT_R_STACK, GT_NONE);
	uint32_t *number;

	if (stack >= seg->nstacks || seg->index >= j->nguesses)
		return 0;
	number = stack_number(j, seg, (uint32_t)stack);
	if (!number)
		return gt_err_set(j->err, -ENOMEM, "out of memory");
	if (*number)
		return 0;
	*number = ++j->nstacks;
	put_head(j, seg, ev->row.start);
	gt_out_printf(j->out, ",\"name\":\"STACK\",\"stack_id\":%" PRIu32 ",\"frames\":[", *number);
	for (uint32_t i = 0; i < seg->stacks[stack].n; i++) {
		gt_out_str(j->out, i ? "," : "");
		put_frame(j, seg, seg->stacks[stack].frames[i]);
	}
	gt_out_str(j->out, "]}\n");
	return 0;
}

/* ---- fields ---- */

static void put_value(
	struct gt_jsonl *j, const struct gt_event *ev, const struct gt_field *f, uint64_t v)
{
	size_t at;

	if (f->role == GT_R_LAUNCH_START || f->role == GT_R_CREATED_BY_START) {
		gt_export_s(j->out, gt_since((int64_t)v, j->bases[ev->seg->index]));
	} else if (f->role == GT_R_LAUNCH_TRACK || f->role == GT_R_CREATED_BY_TRACK) {
		gt_export_i64(j->out, ev->seg->tracks[v].id);
	} else if (f->role == GT_R_STACK) {
		gt_export_u64(j->out, *stack_number(j, ev->seg, (uint32_t)v));
	} else if (f->kind == GT_F_F64) {
		char text[64];

		at = (size_t)(gt_put_value(text, f->kind, v) - text);
		gt_out_add(j->out, text, at);
		text[at] = '\0';
		if (!strpbrk(text, ".e\"")) /* so that it is read as a real number */
			gt_out_str(j->out, ".0");
	} else {
		gt_export_value(j->out, ev->seg, f, v);
	}
}

static void put_details(struct gt_jsonl *j, const struct gt_event *ev)
{
	const struct gt_type *t = &ev->seg->types[ev->row.type];
	const char *sep = ",\"details\":{";

	for (unsigned i = 0; ev->args && i < t->nfields && i < ev->row.nargs; i++) {
		const char *name = gt_export_field_name(ev->seg, &t->fields[i]);

		if (gt_export_is_none(ev, t, i) ||
			(t->fields[i].role == GT_R_STACK && ev->seg->index >= j->nguesses))
			continue;
		gt_out_str(j->out, sep);
		gt_out_json(j->out, name, strlen(name));
		gt_out_str(j->out, ":");
		put_value(j, ev, &t->fields[i], ev->args[i]);
		sep = ",";
	}
	if (!sep[1])
		gt_out_str(j->out, "}");
}

static void put_end(struct gt_jsonl *j, const struct gt_pending_row *e)
{
	const struct gt_segment *seg = gt_reader_segment(j->r, e->segment);

	put_head(j, seg, e->end);
	put_op(j, e->seq, 'E');
	put_place(j, seg, e->track, gt_type_name(seg, e->row.type));
	if (is_span(e->kind))
		put_word(j, ",\"kind\":\"", gt_kind_word(e->kind));
	else
		put_class(j, seg, e->row.type);
	gt_out_str(j->out, ",\"details\":{\"status\":");
	gt_export_i64(j->out, e->row.ret);
	gt_out_str(j->out, "}}\n");
}

/* Writes the ends up to this row's start, except that of its parent, which may end in the same ns.
 */
static void put_ends_before(struct gt_jsonl *j, const struct gt_event *ev)
{
	struct gt_pending_row e;

	while (j->ends.n) {
		const struct gt_pending_row *top = &j->ends.heap[0];

		if (top->end > ev->row.start ||
			(top->end == ev->row.start && top->segment == ev->seg->index &&
				top->track == ev->track && top->row.depth < ev->row.depth))
			break;
		gt_pending_pop(&j->ends, &e);
		put_end(j, &e);
	}
}

static int put_begin(struct gt_jsonl *j, const struct gt_event *ev)
{
	struct gt_pending_row e = { .end = ev->row.end,
		.seq = j->next_op++,
		.segment = ev->seg->index,
		.track = ev->track,
		.kind = ev->kind,
		.row = ev->row };
	bool has_end = ev->kind != GT_OPEN && ev->kind != GT_UNMATCHED;

	put_head(j, ev->seg, ev->row.start);
	put_op(j, e.seq, ev->kind == GT_UNMATCHED && ev->row.ret ? 'E' : 'B');
	put_place(j, ev->seg, ev->track, gt_type_name(ev->seg, ev->row.type));
	put_rest(j, ev);
	put_details(j, ev);
	gt_out_str(j->out, "}\n");
	return has_end ? gt_pending_push(&j->ends, &e, j->err) : 0;
}

static int put_instant(struct gt_jsonl *j, const struct gt_event *ev)
{
	put_head(j, ev->seg, ev->row.start);
	put_place(j, ev->seg, ev->track,
		ev->kind == GT_LOST ? "LOST" : gt_type_name(ev->seg, ev->row.type));
	put_rest(j, ev);
	if (ev->kind == GT_LOST) {
		gt_out_str(j->out, ",\"details\":{\"until\":");
		gt_export_s(j->out, gt_since(ev->row.end, j->bases[ev->seg->index]));
		if (ev->args[0] != GT_LOST_UNKNOWN)
			gt_out_printf(j->out, ",\"count\":%" PRIu64, ev->args[0]);
		gt_out_str(j->out, "}");
	} else
		put_details(j, ev);
	gt_out_str(j->out, "}\n");
	return 0;
}

int gt_jsonl_put(void *jsonl, const struct gt_event *ev)
{
	const uint32_t instants = GT_BIT(GT_INSTANT) | GT_BIT(GT_COUNTER) | GT_BIT(GT_LOST);

	int rc;

	put_ends_before(jsonl, ev);
	rc = put_stack(jsonl, ev);
	if (rc)
		return rc;
	return GT_BIT(ev->kind) & instants ? put_instant(jsonl, ev) : put_begin(jsonl, ev);
}

struct gt_jsonl *gt_jsonl_open(
	struct gt_reader *r, struct gt_out *out, const int64_t *origin, struct gt_err *err)
{
	struct gt_jsonl *j = calloc(1, sizeof(*j));

	if (j) {
		*j = (struct gt_jsonl){
			.r = r, .out = out, .err = err, .bases = gt_export_bases(r)
		};
		j->nguesses = gt_reader_segments(r);
		j->guesses = calloc(j->nguesses + 1ul, sizeof(*j->guesses));
		j->stacks = calloc(j->nguesses + 1ul, sizeof(*j->stacks));
	}
	if (!j || !j->bases || !j->guesses || !j->stacks) {
		gt_err_set(err, -ENOMEM, "out of memory");
		gt_jsonl_close(j);
		return NULL;
	}
	for (uint32_t i = 0; origin && i < j->nguesses; i++)
		j->bases[i] = *origin;
	return j;
}

void gt_jsonl_close(struct gt_jsonl *j)
{
	struct gt_pending_row e;

	if (!j)
		return;
	while (gt_pending_pop(&j->ends, &e))
		put_end(j, &e);
	gt_pending_release(&j->ends);
	for (uint32_t i = 0; j->guesses && i < j->nguesses; i++)
		free(j->guesses[i].of_type);
	for (uint32_t i = 0; j->stacks && i < j->nguesses; i++)
		free(j->stacks[i].of_stack);
	free(j->stacks);
	free(j->guesses);
	free(j->bases);
	free(j);
}

static int jsonl_export(struct gt_reader *r, const struct gt_export_options *opt,
	struct gt_out *out, struct gt_err *err)
{
	struct gt_jsonl *j = gt_jsonl_open(r, out, NULL, err);
	int rc = j ? gt_export_rows(r, opt, &opt->filter, out, gt_jsonl_put, j, err) : err->code;

	gt_jsonl_close(j);
	return rc;
}

const struct gt_exporter gt_export_jsonl = {
	.name = "jsonl",
	.suffix = "jsonl",
	.help = "JSON lines: a begin and an end line for every call, by time",
	.export = jsonl_export,
};
