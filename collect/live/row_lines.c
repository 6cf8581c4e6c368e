/*      0.001234567 train 4711/4712 cuMemAlloc_v2(bytesize=4096) = 0 <0.000012345>
 *
 * Time in seconds, process, its id and the thread's, the call with its arguments, its result, and
 * how long it took in seconds. GPU work has its stream instead of a thread, and braces around the
 * arguments, because it is no call. */
#include "collect/live/row_lines.h"

#include <inttypes.h>
#include <string.h>

/* Ids that are valid only in this file, and what follows from them. */
static bool is_internal(unsigned role)
{
	return role == GT_R_LAUNCH_TRACK || role == GT_R_LAUNCH_START || role == GT_R_LAUNCH_NS ||
		role == GT_R_LAUNCH_JOIN || role == GT_R_CREATED_BY_TRACK ||
		role == GT_R_CREATED_BY_START || role == GT_R_STACK;
}

static void put_time(struct gt_out *out, int64_t ns)
{
	gt_out_printf(out, "%" PRId64 ".%09" PRId64, ns / 1000000000, ns % 1000000000);
}

static void put_place(struct gt_out *out, const struct gt_segment *seg, uint32_t track)
{
	uint32_t process = gt_track_process(seg, track);
	char name[256];

	if (track == GT_NONE)
		return;
	if (process != GT_NONE) {
		gt_export_track_name(seg, process, name, sizeof(name));
		gt_out_printable(out, name);
		gt_out_printf(out, " %" PRId64, seg->tracks[process].id);
	}
	if (seg->tracks[track].kind == GT_TRACK_THREAD)
		gt_out_printf(out, "/%" PRId64, seg->tracks[track].id);
	if (seg->tracks[track].kind == GT_TRACK_THREAD || track == process) {
		gt_out_str(out, " ");
		return;
	}
	if (gt_track_device(seg, track) != GT_NONE)
		gt_out_printf(out, " GPU %" PRId64, seg->tracks[gt_track_device(seg, track)].id);
	if (track != gt_track_device(seg, track)) {
		gt_export_track_name(seg, track, name, sizeof(name));
		gt_out_str(out, " ");
		gt_out_printable(out, name);
	}
	gt_out_str(out, " ");
}

/* As in JSON, but numbers are never in quotes. */
static void put_value(
	struct gt_out *out, const struct gt_segment *seg, const struct gt_field *f, uint64_t v)
{
	char text[64], *end;

	if (f->kind == GT_F_STR || f->role == GT_R_DIRECTION) {
		gt_export_value(out, seg, f, v);
		return;
	}
	end = gt_put_value(text, f->kind, v);
	if (*text == '"')
		gt_out_add(out, text + 1, (size_t)(end - text) - 2);
	else
		gt_out_add(out, text, (size_t)(end - text));
}

static void put_args(struct gt_out *out, const struct gt_event *ev, const struct gt_type *t)
{
	const char *separator = "";

	for (unsigned i = 0; ev->args && i < t->nfields && i < ev->row.nargs; i++) {
		const struct gt_field *f = &t->fields[i];

		if (is_internal(f->role) ||
			(f->kind == GT_F_STR && ev->args[i] >= ev->seg->nstrings))
			continue;
		gt_out_str(out, separator);
		gt_out_printable(out, gt_str(ev->seg, f->name));
		gt_out_str(out, "=");
		put_value(out, ev->seg, f, ev->args[i]);
		separator = ", ";
	}
}

static void put_lost(struct gt_out *out, const struct gt_event *ev)
{
	if (ev->args[0] == GT_LOST_UNKNOWN)
		gt_out_str(out, "LOST an unknown number of records");
	else
		gt_out_printf(out, "LOST %" PRIu64 " records", ev->args[0]);
}

void gt_row_line_print(struct gt_out *out, const struct gt_event *ev, int64_t origin)
{
	bool call = ev->kind == GT_CALL || ev->kind == GT_OPEN;
	const struct gt_type *t;

	put_time(out, ev->row.start > origin ? ev->row.start - origin : 0);
	gt_out_str(out, " ");
	put_place(out, ev->seg, ev->track);
	if (ev->kind == GT_LOST) {
		put_lost(out, ev);
	} else {
		t = &ev->seg->types[ev->row.type];
		gt_out_printable(out, gt_type_name(ev->seg, ev->row.type));
		gt_out_str(out, call ? "(" : " {");
		put_args(out, ev, t);
		gt_out_str(out, call ? ")" : "}");
	}
	if (ev->kind == GT_CALL)
		gt_out_printf(out, " = %d", (int)ev->row.ret);
	if (ev->kind == GT_OPEN)
		gt_out_str(out, " <unfinished ...>");
	else if (ev->kind != GT_INSTANT && ev->kind != GT_COUNTER) {
		gt_out_str(out, " <");
		put_time(out, ev->row.end - ev->row.start);
		gt_out_str(out, ">");
	}
	gt_out_str(out, "\n");
}
