/* Fields are listed in the order and with the names of the trace. The fields that say which call
 * launched a row are combined: the call, and the queue time from its return to the start of the
 * work, as in the reports. The call stack comes last, one frame a line, the innermost first; the
 * frame that the call counts for stands among the first lines. */
#include "viewer/timeline/detail_pane.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyze/columns/return_codes.h"
#include "analyze/columns/launch_fields.h"
#include "formats/base/buf.h"
#include "formats/base/numbers.h"
#include "formats/names/demangle.h"
#include "formats/names/stack_names.h"
#include "viewer/util/number_text.h"

#define NAME_WIDTH 15u   /* columns for names of lines */
#define COLUMN_WIDTH 50u /* columns of lines that stand side by side */

/* ---- lines ---- */

static void clear(struct gt_detail_pane *d)
{
	for (size_t i = 0; i < d->n; i++)
		free(d->lines[i].value);
	d->n = d->top = 0;
	d->title[0] = 0;
	d->failed = false;
}

void gt_detail_pane_release(struct gt_detail_pane *d)
{
	clear(d);
	free(d->lines);
	*d = (struct gt_detail_pane){ .n = 0 };
}

/* A failed allocation sets d->failed; the line is then missing. */
static void add(struct gt_detail_pane *d, const char *name, const char *value)
{
	char *copy = strdup(value);

	if (!copy || gt_grow(&d->lines, &d->cap, d->n + 1, sizeof(*d->lines))) {
		free(copy);
		d->failed = true;
		return;
	}
	d->lines[d->n] = (struct gt_detail_line){ .value = copy, .ink = GT_INK_TEXT };
	snprintf(d->lines[d->n++].name, sizeof(d->lines->name), "%s", name);
}

static void __attribute__((format(printf, 3, 4)))
add_f(struct gt_detail_pane *d, const char *name, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	add(d, name, text);
}

/* ---- of a row ---- */

struct description {
	struct gt_detail_pane *to;
	const struct gt_detail_source *from;
	const struct gt_selection *pick;
	const struct gt_segment *seg;
	const struct gt_event_ref *row;
	/* the call that launched it, as its fields say */
	bool launched, by_order;
	uint32_t track;
	int64_t start;
	uint64_t ns;
	char call[120];
	uint64_t stack; /* GT_NONE: none */
};

/* As exact as a clock is. */
static void put_time(const struct description *t, int64_t segment_time, char to[GT_TIME_ROOM])
{
	const struct gt_scene *s = t->from->scene;

	gt_time_text(&s->times, segment_time - gt_archive_offset(s->archive, t->seg->index), 1,
		s->extent.to, to);
}

static void put_path(const struct description *t, uint32_t track, char *to, size_t room)
{
	const struct gt_lane_line line = { t->seg->index, track, .kind = GT_LANE_TRACK };

	if (track < t->seg->ntracks)
		gt_lanes_path(t->from->lanes, &line, to, room);
	else
		snprintf(to, room, "?");
}

static void add_duration(struct gt_detail_pane *d, const char *name, int64_t ns)
{
	struct gt_scaled scaled = gt_number_text(GT_C_NS, (uint64_t)ns);

	if (ns < 1000)
		add(d, name, scaled.text);
	else
		add_f(d, name, "%s (%" PRId64 " ns)", scaled.text, ns);
}

static void mark_last_line(struct gt_detail_pane *d)
{
	if (d->n)
		d->lines[d->n - 1].ink = GT_INK_ERROR;
}

static void describe_duration(struct description *t)
{
	char rate[GT_NUMBER_TEXT];

	if (t->row->kind == GT_INSTANT)
		return;
	add_duration(t->to, t->row->kind == GT_OPEN ? "so far" : "duration", t->row->dur);
	if (t->row->kind == GT_GPU && t->row->bytes && t->row->dur > 0)
		add(t->to, "rate", gt_number_text_rate(rate, t->row->bytes, (uint64_t)t->row->dur));
}

static void describe_times(struct description *t)
{
	char from[GT_TIME_ROOM], to[GT_TIME_ROOM], path[300];
	bool open = t->row->kind == GT_OPEN;

	put_time(t, t->row->start, from);
	put_time(t, gt_event_ref_end(t->row), to);
	put_path(t, t->row->lane.strip.track, path, sizeof(path));
	add(t->to, "start", from);
	if (t->row->kind == GT_INSTANT) {
		add(t->to, "on", path);
		return;
	}
	add_f(t->to, "end",
		!open ? "%s"
			: t->from->scene->growing
			? "none yet: it was open at %s"
			: "none: still open when the recording ended, at %s",
		to);
	if (open)
		mark_last_line(t->to);
	add(t->to, "on", path);
}

static const char *kind_word(enum gt_kind kind, enum gt_op op)
{
	return kind == GT_CALL       ? "call"
		: kind == GT_OPEN    ? "call that had not returned"
		: kind == GT_GPU     ? "work of a GPU"
		: kind == GT_INSTANT ? op == GT_OP_SAMPLE ? "sample" : "instant"
				     : "span";
}

static void describe_return(struct description *t, const struct gt_type *type)
{
	char room[80];
	const char *words = t->row->ret
		? gt_return_code_text(type->layer, t->row->ret, room, sizeof(room))
		: "success";

	if (t->row->kind != GT_CALL)
		return;
	add_f(t->to, "returned", "%d%s%s", t->row->ret, words ? " " : "", words ? words : "");
	if (t->row->ret)
		mark_last_line(t->to);
}

static enum gt_role role_of(const struct description *t, const char *field)
{
	const struct gt_type *type = &t->seg->types[t->row->type];

	for (unsigned i = 0; i < type->nfields; i++)
		if (!strcmp(gt_str(t->seg, type->fields[i].name), field))
			return type->fields[i].role;
	return GT_R_NONE;
}

/* "grid_x", "grid_y", "grid_z" become one line: "256 x 1 x 1". */
static void add_dimension(struct gt_detail_pane *d, enum gt_role role, const char *value)
{
	const char *name = role == GT_R_GRID ? "grid" : "block";
	struct gt_detail_line *last = d->n ? &d->lines[d->n - 1] : NULL;
	char both[200];

	if (last && !strcmp(last->name, name)) {
		snprintf(both, sizeof(both), "%s x %s", last->value, value);
		free(last->value);
		d->n--;
		value = both;
	}
	add(d, name, value);
}

static int add_field(void *arg, const char *name, const char *value)
{
	struct description *t = arg;
	enum gt_role role = role_of(t, name);

	if (role == GT_R_BYTES && strspn(value, "0123456789") != strlen(value))
		role = GT_R_NONE;

	switch (role) {
	case GT_R_LAUNCH_TRACK: t->track = (uint32_t)strtoul(value, NULL, 10); return 0;
	case GT_R_LAUNCH_START: t->start = strtoll(value, NULL, 10); return 0;
	case GT_R_LAUNCH_NS: t->ns = strtoull(value, NULL, 10); return 0;
	case GT_R_LAUNCH_NAME: snprintf(t->call, sizeof(t->call), "%s", value); return 0;
	case GT_R_LAUNCH_JOIN:
		t->launched = strtoul(value, NULL, 10) != GT_JOIN_UNKNOWN;
		t->by_order = strtoul(value, NULL, 10) == GT_JOIN_ORDER;
		return 0;
	case GT_R_STACK: t->stack = strtoull(value, NULL, 10); return 0;
	case GT_R_GRID:
	case GT_R_BLOCK: add_dimension(t->to, role, value); return 0;
	case GT_R_KERNEL:
		if (*value)
			add(t->to, name, gt_display_name_of_kernel(t->from->spell, value));
		return 0;
	case GT_R_BYTES:
		add_f(t->to, name, "%s (%s)", value,
			gt_number_text(GT_C_BYTES, strtoull(value, NULL, 10)).text);
		return 0;
	default: add(t->to, name, *value ? value : "not known"); return 0;
	}
}

static void describe_launch(struct description *t)
{
	char path[200], at[GT_TIME_ROOM];
	int64_t end;

	if (t->row->kind != GT_GPU)
		return;
	if (!t->launched || !gt_launch_end(t->start, t->ns, &end)) {
		add(t->to, "launched by", "not recorded");
		return;
	}
	put_path(t, t->track, path, sizeof(path));
	put_time(t, t->start, at);
	add_f(t->to, "launched by", "%s at %s on %s%s", *t->call ? t->call : "a call", at, path,
		t->by_order ? " (likely: matched by its order in the stream)" : "");
	if (t->row->start >= end)
		add_f(t->to, "queue time", "%s after the call returned",
			gt_number_text(GT_C_NS, (uint64_t)(t->row->start - end)).text);
	else
		add(t->to, "queue time", "none: it began before the call returned");
}

static void add_frame(struct description *t, const char *name, uint32_t text)
{
	struct gt_buf b = { 0 };

	gt_frame_name(&b, t->seg, text, GT_STACK_LINE);
	gt_buf_byte(&b, 0);
	if (b.failed)
		t->to->failed = true;
	else
		add(t->to, name, (const char *)b.data);
	gt_buf_release(&b);
}

static void describe_caller(struct description *t)
{
	uint32_t frame = gt_stack_caller(t->seg, t->stack);

	if (frame != GT_NONE)
		add_frame(t,
			t->row->kind == GT_GPU                                   ? "launched in"
				: t->row->lane.strip.aspect == GT_ASPECT_SAMPLES ? "sampled in"
				: t->row->kind == GT_SPAN                        ? "waits in"
										 : "called in",
			frame);
}

static void describe_stack(struct description *t)
{
	const struct gt_stack *s = t->stack < t->seg->nstacks ? &t->seg->stacks[t->stack] : NULL;

	for (uint32_t i = s ? s->n : 0; i-- > 0;)
		add_frame(t, i + 1 == s->n ? "stack" : "", s->frames[i]);
}

/* Moves the lines from `from` on before those from `to` on, so that the most important lines fit
 * into a small pane. */
static void move_up(struct gt_detail_pane *d, size_t to, size_t from)
{
	for (; from < d->n; from++, to++) {
		struct gt_detail_line line = d->lines[from];

		memmove(&d->lines[to + 1], &d->lines[to], (from - to) * sizeof(line));
		d->lines[to] = line;
	}
}

/* A kernel's name in full, if the title is not that. */
static void describe_name(struct description *t, const char *name)
{
	char *full = gt_demangle(name);

	if (full || strcmp(t->to->title, name))
		add(t->to, "full name", full ? full : name);
	free(full);
}

static int describe_row(struct description *t, struct gt_err *err)
{
	const struct gt_type *type =
		t->row->type < t->seg->ntypes ? &t->seg->types[t->row->type] : NULL;
	struct gt_archive *a = t->from->scene->archive;
	size_t times, launch;
	int rc;

	snprintf(t->to->title, sizeof(t->to->title), "%s",
		gt_display_name_of_type(t->from->spell, t->seg, t->row->type));
	describe_duration(t);
	if (type)
		describe_return(t, type);
	times = t->to->n;
	describe_times(t);
	if (!type)
		return 0;
	add_f(t->to, "kind", "%s, %s", kind_word(t->row->kind, (enum gt_op)type->op),
		gt_cell_category_word(gt_archive_is_communication(a, t->seg->index, t->row->type)
				? GT_CELL_COMMUNICATION
				: type->category));
	rc = gt_event_fields(a, t->row, add_field, t, err);
	if (rc)
		return rc;
	launch = t->to->n;
	describe_launch(t);
	describe_caller(t);
	move_up(t->to, times, launch);
	describe_name(t, gt_event_name(a, t->row));
	describe_stack(t);
	return 0;
}

/* ---- of a gap ---- */

static bool overlaps(const struct gt_trouble *t, int64_t from, int64_t to)
{
	return t->from < to && t->to > from;
}

/* Where something is missing an idle time is none that is known. */
static bool is_known(const struct gt_scene *s, int64_t from, int64_t to)
{
	struct gt_trouble damage;

	for (size_t i = 0; i < s->ntroubles; i++)
		if (overlaps(&s->troubles[i], from, to))
			return false;
	for (size_t i = 0; gt_scene_damage(s, i, &damage); i++)
		if (overlaps(&damage, from, to))
			return false;
	return true;
}

/* The times and the lane of a gap and of a damaged range; segment's time. */
static void add_range(struct description *t, int64_t from, int64_t end)
{
	char start_text[GT_TIME_ROOM], end_text[GT_TIME_ROOM], path[300];

	put_time(t, from, start_text);
	put_time(t, end, end_text);
	put_path(t, t->pick->lane.strip.track, path, sizeof(path));
	add(t->to, "start", start_text);
	add(t->to, "end", end_text);
	add(t->to, "on", path);
}

static void describe_gap(struct description *t, const struct gt_event_ref *behind)
{
	int64_t from = gt_event_ref_end(t->row), to = behind->start;

	snprintf(t->to->title, sizeof(t->to->title), "gap of %s",
		gt_number_text(GT_C_NS, (uint64_t)(to - from)).text);
	add_duration(t->to, "duration", to - from);
	add(t->to, "after", gt_display_name_of_type(t->from->spell, t->seg, t->row->type));
	add(t->to, "before", gt_display_name_of_type(t->from->spell, t->seg, behind->type));
	if (t->pick->lane.strip.aspect == GT_ASPECT_WORK)
		add(t->to, "cause", "5 shows the causes of all gaps of the visible time");
	add_range(t, from, to);
	gt_selection_range(t->pick, &from, &to);
	if (!is_known(t->from->scene, from, to)) {
		add(t->to, "note", "not all of this time was recorded, or can be read");
		mark_last_line(t->to);
	}
}

/* ---- of a hole ---- */

static const char *rows_word(enum gt_kind kind)
{
	return kind == GT_CALL    ? "calls"
		: kind == GT_GPU  ? "operations of a GPU"
		: kind == GT_SPAN ? "spans"
				  : "rows";
}

/* Which block it is, what the index says that it has, and what the reader said when it tried. */
static void describe_block(struct description *t, const struct gt_damaged_block *b)
{
	size_t n;
	const struct gt_damage *all = gt_reader_damage(t->from->scene->reader, &n),
			       *d = b->damage < n ? &all[b->damage] : NULL;
	char name[24], from[GT_TIME_ROOM], to[GT_TIME_ROOM];

	if (!d)
		return;
	put_time(t, d->min_start, from);
	put_time(t, d->max_end, to);
	snprintf(name, sizeof(name), "block %" PRIu32, b->number);
	add(t->to, name, d->text);
	mark_last_line(t->to);
	add_f(t->to, "  where", "byte %" PRIu64 " of the file, with %" PRIu32 " %s%s from %s to %s",
		d->offset, d->rows, rows_word(b->kind), b->shared ? " of several tracks" : "", from,
		to);
}

static void describe_damaged_range(struct description *t)
{
	const struct gt_damaged_range *h = &t->pick->hole;
	int64_t offset = gt_archive_offset(t->from->scene->archive, t->seg->index);

	snprintf(t->to->title, sizeof(t->to->title), "hole: %" PRIu64 " block%s cannot be read",
		h->blocks, gt_plural(h->blocks, "s"));
	add_duration(t->to, "duration", h->to - h->from);
	add_range(t, h->from + offset, h->to - 1 + offset);
	if (h->blocks > 1)
		add_f(t->to, "lost", "%" PRIu64 " rows (count from the index)", h->rows);
	for (unsigned i = 0; i < h->n; i++)
		describe_block(t, &h->list[i]);
	if (h->blocks > h->n)
		add_f(t->to, "and", "%" PRIu64 " more blocks", h->blocks - h->n);
	add(t->to, "to repair",
		"gtexport --native copies all readable rows to a new file and marks this time span as lost");
}

int gt_detail_pane_fill(struct gt_detail_pane *d, const struct gt_detail_source *from,
	const struct gt_selection *p, struct gt_err *err)
{
	struct description t = {
		.to = d, .from = from, .pick = p, .row = &p->row, .stack = GT_NONE
	};
	int rc = 0;

	clear(d);
	if (p->what == GT_SELECTION_NONE)
		return 0;
	t.seg = gt_reader_segment(from->scene->reader, p->row.lane.strip.segment);
	if (p->what == GT_SELECTION_DAMAGED)
		describe_damaged_range(&t);
	else if (p->what == GT_SELECTION_GAP)
		describe_gap(&t, &p->after);
	else
		rc = describe_row(&t, err);
	return rc || d->failed ? gt_err_set(err, rc ? rc : -ENOMEM, "out of memory") : 0;
}

/* ---- the pane ---- */

/* Lanes keep two thirds of their lines, or, when it is tall, one; cells keep as many columns as a
 * report has. */
struct gt_pane gt_pane_place(struct gt_layout *at, enum gt_pane_size size)
{
	struct gt_pane p = { .height = 0 };
	unsigned wide = at->width / (size == GT_PANE_TALL ? 2 : 4),
		 lines = at->nlanes / 3 * (size == GT_PANE_TALL ? 2 : 1);

	wide = wide < 46 ? 46 : wide;
	if (size == GT_PANE_NONE)
		return p;
	if (at->width >= 150 && at->cells >= wide + 40 && at->nlanes >= 12) {
		at->cells -= wide;
		p = (struct gt_pane){ (int)(at->left + at->cells), at->lanes, wide, at->nlanes };
	} else if (lines >= 4 && at->nlanes >= 10) {
		lines = lines > 14 && size == GT_PANE_USUAL ? 14 : lines;
		at->nlanes -= lines;
		p = (struct gt_pane){ 0, at->lanes + (int)at->nlanes, at->width, lines };
	}
	return p;
}

/* Lines fill a column from the top, then the next one if several fit. */
void gt_pane_draw(const struct gt_pane *p, const struct gt_detail_pane *d, struct gt_screen *to)
{
	bool beside = p->x > 0;
	int x = p->x + (beside ? 2 : 0), y = p->y + 1, bottom = p->y + (int)p->height;
	unsigned width = p->width - (beside ? 2 : 0),
		 columns = width / COLUMN_WIDTH ? width / COLUMN_WIDTH : 1, each = width / columns;
	unsigned room = each > NAME_WIDTH + 2 ? each - NAME_WIDTH - 2 : 1;
	char more[40];
	size_t i;
	int n;

	if (!p->height)
		return;
	gt_screen_fill(to, p->x, p->y, (int)p->width, (int)p->height, ' ', gt_look_faint);
	if (beside)
		gt_screen_fill(to, p->x, p->y, 1, (int)p->height, 0x2502, gt_look_axis);
	else
		gt_screen_fill(to, 0, p->y, (int)p->width, 1, 0x2500, gt_look_axis);
	gt_screen_text(to, beside ? x : 2, p->y, (int)width - (beside ? 0 : 4),
		d->n ? d->title : "no selection: press Enter on an event", gt_look_heading);
	for (i = d->top; i < d->n; i++) {
		unsigned lines = gt_screen_count_lines(d->lines[i].value, room),
			 left = (unsigned)(bottom - y);

		if (y >= bottom || (lines > left && y > p->y + 1 && columns > 1)) {
			if (--columns == 0)
				break;
			x += (int)each;
			y = p->y + 1;
			left = (unsigned)(bottom - y);
		}
		lines = lines < left ? lines : left;
		gt_screen_text(to, x, y, (int)NAME_WIDTH, d->lines[i].name, gt_look_faint);
		gt_screen_put_lines(to, x + (int)NAME_WIDTH + 1, y, room, lines, d->lines[i].value,
			(struct gt_look){ d->lines[i].ink, GT_INK_NONE, 0 });
		y += (int)lines;
	}
	if (i < d->n) {
		n = snprintf(more, sizeof(more), " %zu more: p ", d->n - i);
		gt_screen_text(to, p->x + (int)p->width - n - 2, p->y, n, more, gt_look_heading);
	}
}
