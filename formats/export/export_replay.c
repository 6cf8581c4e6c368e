/* Calls as text, nested as the program made them, in the way of `uftrace replay`:
 *
 *   # DURATION     TID      FUNCTION
 *     1.202 us [    4712] | cuMemAlloc_v2(bytesize=4096);
 *              [    4712] | cuLaunchKernel(gridDimX=32) {
 *     0.900 us [    4712] |   cuCtxGetCurrent();
 *    12.410 us [    4712] | } = 1; // cuLaunchKernel
 *     5.600 us [stream 7] | // vectorAdd
 *
 * Rows come by start. Whether a call has calls inside is known when it has ended or the next row of
 * its thread comes; until then its line and all later ones wait in a queue. If the queue is full,
 * the first call is printed as one with calls inside, with both of its ends: that is a call that
 * lasts long while other threads make thousands of calls. Other rows are a comment each, with
 * their track in the place of the thread. */
#include "formats/export/exporters.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "formats/base/buf.h"

#define WAITING_MAX 4096u /* lines */
#define DEPTH_SHOWN 40u   /* deeper calls are indented as these */

/* form: how a call is printed. number: of the line, counted from the first one of the file */
struct line {
	enum { UNDECIDED, WHOLE, BEGIN, END } form;
	int64_t ns; /* its duration; negative: it has none */
	unsigned depth;
	char *track, *text, *result; /* new. text: name and arguments */
};
struct replay {
	struct gt_reader *r;
	struct gt_out *out;
	struct gt_err *err;
	struct line *lines;     /* a ring: the line of number n is lines[n % WAITING_MAX] */
	uint64_t first, next;   /* numbers: of the first line that waits, and of the next new one */
	struct gt_pending ends; /* of calls; seq: the number of the line */
	uint64_t **last;        /* by segment and track: 1 + the number of its last call's line */
};

static int no_memory(struct replay *p) { return gt_err_set(p->err, -ENOMEM, "out of memory"); }

/* ---- printing ---- */

static void put_duration(struct gt_out *out, int64_t ns)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = { { "us", 1e3 }, { "ms", 1e6 }, { " s", 1e9 } };
	unsigned i = ns < 1000000 ? 0 : ns < 1000000000 ? 1 : 2;

	if (ns < 0)
		gt_out_str(out, "           ");
	else
		gt_out_printf(out, "%8.3f %s", (double)ns / units[i].ns, units[i].unit);
}

static void put_line(struct gt_out *out, const struct line *l)
{
	put_duration(out, l->form == BEGIN ? -1 : l->ns);
	gt_out_printf(out, " [%8s] | %*s", l->track, l->depth * 2, "");
	if (l->form == END)
		gt_out_str(out, "}");
	else
		gt_out_printable(out, l->text);
	if (l->form == BEGIN)
		gt_out_str(out, " {");
	else
		gt_out_str(out, l->result);
	if (l->form == END) {
		gt_out_str(out, " // ");
		gt_out_printable(out, l->text);
	}
	gt_out_str(out, "\n");
}

static void release_line(struct line *l)
{
	free(l->track);
	free(l->text);
	free(l->result);
	memset(l, 0, sizeof(*l));
}

/* Prints lines up to the first undecided one; that one, too, if the queue is full. */
static void print_decided(struct replay *p)
{
	for (; p->first < p->next; p->first++) {
		struct line *l = &p->lines[p->first % WAITING_MAX];

		if (l->form == UNDECIDED && p->next - p->first < WAITING_MAX)
			break;
		l->form = l->form == UNDECIDED ? BEGIN : l->form;
		put_line(p->out, l);
		release_line(l);
	}
}

/* ---- lines ---- */

static int add_line(struct replay *p, const struct line *l)
{
	if (!l->track || !l->text || !l->result) {
		release_line((struct line *)l);
		return no_memory(p);
	}
	print_decided(p);
	p->lines[p->next++ % WAITING_MAX] = *l;
	return 0;
}

static char *track_text(const struct gt_segment *seg, uint32_t track)
{
	char name[256], number[24];

	if (track == GT_NONE)
		return strdup("");
	if (seg->tracks[track].kind == GT_TRACK_THREAD) {
		snprintf(number, sizeof(number), "%" PRId64, seg->tracks[track].id);
		return strdup(number);
	}
	gt_export_track_name(seg, track, name, sizeof(name));
	for (char *c = name; *c; c++)
		*c = (unsigned char)*c < ' ' || *c == 0x7f ? '?' : *c;
	return strdup(name);
}

/* new: name(argument=value, ...). NULL: no memory. */
static char *call_text(const struct gt_event *ev, const char *prefix)
{
	const struct gt_type *t = &ev->seg->types[ev->row.type];
	const char *separator = "";
	struct gt_out o;
	char *text = NULL;

	gt_out_memory(&o);
	gt_out_str(&o, prefix);
	gt_out_str(&o, gt_type_name(ev->seg, ev->row.type));
	gt_out_str(&o, "(");
	for (unsigned i = 0; ev->args && i < t->nfields && i < ev->row.nargs; i++) {
		const struct gt_field *f = &t->fields[i];

		if (gt_export_is_none(ev, t, i) ||
			(f->role >= GT_R_LAUNCH_TRACK && f->role <= GT_R_STACK) ||
			(f->role >= GT_R_CREATED_BY_TRACK && f->role <= GT_R_CREATED_BY_NAME))
			continue;
		gt_out_str(&o, separator);
		gt_out_str(&o, gt_str(ev->seg, f->name));
		gt_out_str(&o, "=");
		gt_export_value(&o, ev->seg, f, ev->args[i]);
		separator = ", ";
	}
	gt_out_str(&o, ")");
	text = o.failed ? NULL : strndup(o.data, o.len);
	gt_out_close(&o, NULL);
	return text;
}

static char *result_text(const struct gt_event *ev)
{
	char text[64] = "";

	if (ev->kind == GT_OPEN)
		snprintf(text, sizeof(text), "; // did not return");
	else if (ev->row.ret)
		snprintf(text, sizeof(text), " = %" PRId32 ";", ev->row.ret);
	else
		snprintf(text, sizeof(text), ";");
	return strdup(text);
}

/* ---- calls ---- */

static int end_call(struct replay *p, const struct gt_pending_row *e)
{
	const struct gt_segment *seg = gt_reader_segment(p->r, e->segment);
	struct line *begin = e->seq >= p->first ? &p->lines[e->seq % WAITING_MAX] : NULL;
	struct gt_event ev = { .seg = seg, .kind = e->kind, .track = e->track, .row = e->row };

	if (begin && begin->form == UNDECIDED) {
		begin->form = WHOLE;
		return 0;
	}
	return add_line(p,
		&(struct line){ .form = END,
			.ns = gt_since(e->end, e->row.start),
			.depth = e->row.depth < DEPTH_SHOWN ? e->row.depth : DEPTH_SHOWN,
			.track = track_text(seg, e->track),
			.text = strdup(gt_type_name(seg, e->row.type)),
			.result = result_text(&ev) });
}

static int end_calls_before(struct replay *p, int64_t time)
{
	struct gt_pending_row e;
	int rc = 0;

	while (!rc && p->ends.n && p->ends.heap[0].end <= time) {
		gt_pending_pop(&p->ends, &e);
		rc = end_call(p, &e);
	}
	return rc;
}

/* The last call of the thread is around this row, unless it has ended: then it is decided. */
static void decide_parent(struct replay *p, const struct gt_event *ev)
{
	uint64_t last = p->last[ev->seg->index][ev->track];

	if (last && last - 1 >= p->first && p->lines[(last - 1) % WAITING_MAX].form == UNDECIDED)
		p->lines[(last - 1) % WAITING_MAX].form = BEGIN;
}

static int put_call(struct replay *p, const struct gt_event *ev)
{
	const unsigned depth = ev->row.depth < DEPTH_SHOWN ? ev->row.depth : DEPTH_SHOWN;
	struct gt_pending_row end = { .end = ev->row.end,
		.segment = ev->seg->index,
		.track = ev->track,
		.kind = ev->kind,
		.row = ev->row };
	int rc;

	decide_parent(p, ev);
	rc = add_line(p,
		&(struct line){ .form = UNDECIDED,
			.ns = gt_since(ev->row.end, ev->row.start),
			.depth = depth,
			.track = track_text(ev->seg, ev->track),
			.text = call_text(ev, ""),
			.result = result_text(ev) });
	if (rc)
		return rc;
	end.seq = p->next - 1;
	p->last[ev->seg->index][ev->track] = p->next;
	return gt_pending_push(&p->ends, &end, p->err);
}

/* ---- other rows ---- */

static char *loss_text(const struct gt_event *ev)
{
	char text[64];

	if (ev->args[0] == GT_LOST_UNKNOWN)
		snprintf(text, sizeof(text), "// rows are lost here");
	else
		snprintf(text, sizeof(text), "// %" PRIu64 " rows are lost here", ev->args[0]);
	return strdup(text);
}

static int put_other(struct replay *p, const struct gt_event *ev)
{
	const bool lasts = ev->kind == GT_SPAN || ev->kind == GT_GPU || ev->kind == GT_LOST;

	if (ev->track != GT_NONE && ev->seg->tracks[ev->track].kind == GT_TRACK_THREAD)
		decide_parent(p, ev);
	return add_line(p,
		&(struct line){ .form = WHOLE,
			.ns = lasts ? gt_since(ev->row.end, ev->row.start) : -1,
			.track = track_text(ev->seg, ev->track),
			.text = ev->kind == GT_LOST ? loss_text(ev) : call_text(ev, "// "),
			.result = strdup("") });
}

static int put_row(void *arg, const struct gt_event *ev)
{
	struct replay *p = arg;
	int rc = end_calls_before(p, ev->row.start);

	if (rc)
		return rc;
	return ev->kind == GT_CALL || ev->kind == GT_OPEN ? put_call(p, ev) : put_other(p, ev);
}

static int open_replay(struct replay *p)
{
	uint32_t n = gt_reader_segments(p->r);

	p->lines = calloc(WAITING_MAX, sizeof(*p->lines));
	p->last = calloc((size_t)n + 1, sizeof(*p->last));
	if (!p->lines || !p->last)
		return no_memory(p);
	for (uint32_t i = 0; i < n; i++) {
		p->last[i] =
			calloc((size_t)gt_reader_segment(p->r, i)->ntracks + 1, sizeof(**p->last));
		if (!p->last[i])
			return no_memory(p);
	}
	return 0;
}

static int replay_export(struct gt_reader *r, const struct gt_export_options *opt,
	struct gt_out *out, struct gt_err *err)
{
	struct replay p = { .r = r, .out = out, .err = err };
	int rc = open_replay(&p);

	gt_out_str(out, "# DURATION     TID      FUNCTION\n");
	rc = rc ? rc : gt_export_rows(r, opt, &opt->filter, out, put_row, &p, err);
	rc = rc ? rc : end_calls_before(&p, INT64_MAX);
	if (!rc)
		print_decided(&p);
	for (; p.first < p.next; p.first++)
		release_line(&p.lines[p.first % WAITING_MAX]);
	for (uint32_t i = 0; p.last && i < gt_reader_segments(r); i++)
		free(p.last[i]);
	free(p.last);
	free(p.lines);
	gt_pending_release(&p.ends);
	return rc;
}

const struct gt_exporter gt_export_replay = {
	.name = "replay",
	.suffix = "replay.txt",
	.help = "calls as indented text, in the way of uftrace replay",
	.export = replay_export,
};
