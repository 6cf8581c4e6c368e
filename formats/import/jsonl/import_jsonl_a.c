/* Format A: JSON lines of an eBPF tracer for the whole stack.
 *
 *      {"event_id":1,"ts":0.001,"type":"userspace","name":"cuInit","phase":"B"}
 *
 * type is userspace, kernel, scheduler or memory. There are no thread ids and no ids that pair:
 * each type is a track of one process, and an end belongs to the innermost begin of its name there.
 * A line without phase is an instant, or a complete span from ts on if it has a duration_us. An end
 * without a begin is a complete span, too, if it has a duration. */
#include "formats/import/jsonl/import_jsonl_lines.h"
#include "formats/import/importers.h"
#include "formats/cuda/cuda_api.h"

enum group { OTHER, USERSPACE, KERNEL, SCHEDULER, MEMORY };
static const char *const words[] = { "userspace", "kernel", "scheduler", "memory", NULL };
static const struct {
	const char *track;
	uint8_t layer, category, op;
} groups[] = {
	[OTHER] = { "other", GT_LAYER_USER, GT_CAT_OTHER, GT_OP_NONE },
	[USERSPACE] = { "userspace", GT_LAYER_API, GT_CAT_OTHER, GT_OP_NONE },
	[KERNEL] = { "kernel", GT_LAYER_IOCTL, GT_CAT_KERNEL, GT_OP_NONE },
	[SCHEDULER] = { "scheduler", GT_LAYER_SCHED, GT_CAT_SCHEDULER, GT_OP_SCHED },
	[MEMORY] = { "memory", GT_LAYER_IOCTL, GT_CAT_MEMORY, GT_OP_NONE },
};

static bool is_driver_call(const char *name)
{
	return name[0] == 'c' && name[1] == 'u' &&
		((name[2] >= 'A' && name[2] <= 'Z') || name[2] == 'd');
}

static void classify(const char *name, unsigned group, struct gt_type *type)
{
	struct gt_api api = gt_api_guess(name);
	bool call = group == USERSPACE || (group == MEMORY && is_driver_call(name));

	type->layer = call ? GT_LAYER_API : groups[group].layer;
	type->category = call ? api.category : groups[group].category;
	type->op = call ? api.op : groups[group].op;
	type->memkind = call ? api.memkind : GT_MEM_UNKNOWN;
	if (group == KERNEL && strstr(name, "ioctl")) {
		type->category = GT_CAT_IOCTL;
		type->op = GT_OP_IOCTL;
	}
}

static int row(struct gt_import_rows *r, const struct gt_import_line *l, struct gt_err *err)
{
	int64_t track = gt_rows_track(r, 0, l->group, groups[l->group].track, err);
	bool lasts = l->has & GT_LINE_DURATION;

	if (track < 0)
		return (int)track;
	if (l->has & GT_LINE_SIZE)
		gt_rows_number(r, "size", l->size);
	if (l->phase == 'B')
		return gt_rows_begin(r, (uint32_t)track, l->name, l->time, l->name, err);
	if (l->phase == 'E' && lasts && !gt_rows_is_open(r, (uint32_t)track, l->name))
		return gt_rows_complete(
			r, GT_SPAN, (uint32_t)track, l->name, l->time - l->duration, l->time, err);
	if (l->phase == 'E')
		return gt_rows_end(r, (uint32_t)track, l->name, l->time, l->name, l->ret, err);
	return gt_rows_complete(r, lasts ? GT_SPAN : GT_INSTANT, (uint32_t)track, l->name, l->time,
		l->time + (lasts ? l->duration : 0), err);
}

static const struct gt_line_format format = {
	.rows = { "jsonl-a", GT_PAIR_NESTED, classify },
	.words = words,
	.row = row,
};

static int sniff(const char *head, size_t len)
{
	unsigned has = gt_lines_sniff(head, len);

	if (!(has & GT_LINE_TS) || has & (GT_LINE_OP_ID | GT_LINE_FRAMES))
		return 0;
	return has & GT_LINE_TYPE ? 90 : has & GT_LINE_EVENT_ID ? 60 : 0;
}

static int import(struct gt_in *in, struct gt_writer *w, struct gt_err *err)
{
	return gt_import_lines(&format, in, w, err);
}

const struct gt_importer gt_import_jsonl_a = {
	.name = "jsonl-a",
	.help = "JSON lines with event_id, ts, type, name, phase (an eBPF tracer's)",
	.sniff = sniff,
	.import = import,
};
