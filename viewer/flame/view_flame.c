/* The flame graph of the visible time: all of its time across the screen, and below each box its
 * parts. It grows while rows are read, and is correct for the rows so far. */
#include <stdio.h>
#include <stdlib.h>
#include "formats/export/exporters.h"
#include "formats/names/kernel_names.h"
#include "formats/base/numbers.h"
#include "viewer/view/view_common.h"
#include "viewer/flame/flame.h"
#include "viewer/view/item_search.h"
#include "viewer/util/number_text.h"

#define NAME 320

struct flame {
	struct gt_flame *tree;
	/* kinds by call stack: a job computes the tree, which is empty until then */
	bool is_pending;
	unsigned percent; /* of the job */
	/* of such a tree: what to know about its figures, or why there are none */
	char note[200];
	struct gt_range range; /* of the tree */
	enum gt_flame_of of;   /* the kind to show */
	enum gt_flame_of made; /* the kind of the tree */
	struct gt_kernel_names *names;
	struct gt_flame_box *boxes;
	size_t nboxes;
	unsigned lines;                /* of all boxes */
	uint32_t zoomed, selected;     /* nodes */
	struct gt_item_search *search; /* search, or NULL */
	unsigned top;                  /* the first visible line of boxes */
	unsigned width, height, body;  /* body: lines for boxes, from line 1 on */
};

/* Views that begin with different kinds, in the order of enum gt_flame_of. */
#define FLAMES(X)                                                                                  \
	X(flame, "flame")                                                                          \
	X(flame_gpu, "flame-gpu")                                                                  \
	X(flame_ranges, "flame-ranges")                                                            \
	X(flame_host, "flame-host")                                                                \
	X(flame_idle, "flame-idle") X(flame_kernel, "flame-kernel") X(flame_memory, "flame-memory")
#define X(id, title) extern const struct gt_view_ops gt_view_##id;
FLAMES(X)
#undef X
#define X(id, title) &gt_view_##id,
static const struct gt_view_ops *const views[GT_FLAMES] = { FLAMES(X) };
#undef X

static int flame_open(struct gt_view *v, struct gt_err *err)
{
	struct flame *f = v->state;

	for (unsigned i = 0; !f->width && i < GT_FLAMES; i++) /* later the user's choice stays */
		if (v->ops == views[i])
			f->of = (enum gt_flame_of)i;
	f->names = gt_kernel_names_of(v->scene->reader, GT_NAME_SHORT);
	return f->names && gt_scene_report_job(v->scene)
		? 0
		: gt_err_set(err, -ENOMEM, "out of memory (flame graph)");
}

static void flame_detach(struct gt_view *v)
{
	struct flame *f = v->state;

	gt_flame_free(f->tree);
	gt_kernel_names_free(f->names);
	free(f->boxes);
	f->tree = NULL;
	f->names = NULL;
	f->boxes = NULL;
	f->nboxes = 0;
}

static void flame_close(struct gt_view *v)
{
	struct flame *f = v->state;

	flame_detach(v);
	gt_item_search_free(f->search);
}

/* ---- names ---- */

/* Formats the name of a node; returns its colour. */
static uint8_t name_of(const struct gt_view *v, const struct gt_flame_node *n, char to[NAME])
{
	const struct flame *f = v->state;
	const struct gt_segment *seg = n->kind == GT_FLAME_ALL || n->kind == GT_FLAME_FRAME
		? NULL
		: gt_reader_segment(v->scene->reader, n->segment);
	const struct gt_track *track =
		seg && n->kind <= GT_FLAME_DEVICE ? &seg->tracks[n->id] : NULL;
	bool typed =
		n->kind == GT_FLAME_CALL || n->kind == GT_FLAME_RANGE || n->kind == GT_FLAME_WORK;
	const struct gt_type *type = seg && typed ? &seg->types[n->id] : NULL;
	const char *name = type ? gt_str(seg, type->name) : "all";

	if (track)
		name = track->name != GT_NONE         ? gt_str(seg, track->name)
			: n->kind == GT_FLAME_PROCESS ? "process"
						      : "thread";
	if (type && type->category == GT_CAT_KERNEL)
		name = gt_kernel_names_shown(f->names, name);
	if (n->kind == GT_FLAME_LAUNCH)
		name = gt_str(seg, n->id);
	if (n->kind == GT_FLAME_FRAME)
		name = gt_flame_label(f->tree, n);
	if (n->kind == GT_FLAME_PROCESS)
		snprintf(to, NAME, "%.250s (pid %lld)", name, (long long)track->id);
	else if (n->kind == GT_FLAME_THREAD)
		snprintf(to, NAME, "%.250s %lld", name, (long long)track->id);
	else if (n->kind == GT_FLAME_DEVICE)
		snprintf(to, NAME, "unknown launch: GPU %lld", (long long)track->id);
	else
		snprintf(to, NAME, "%.300s", name);
	if (n->kind == GT_FLAME_LAUNCH)
		return GT_INK_CATEGORY + GT_CAT_LAUNCH;
	if (n->kind == GT_FLAME_FRAME && *name == '[')
		return GT_INK_CATEGORY + GT_CAT_WAIT;
	if (type && gt_archive_is_communication(v->scene->archive, n->segment, n->id))
		return GT_INK_COMM;
	return type && type->category < GT_CATEGORY_COUNT
		? (uint8_t)(GT_INK_CATEGORY + type->category)
		: GT_INK_TEXT;
}

static unsigned percent_of(const struct flame *f)
{
	return f->is_pending ? f->percent < 99 ? f->percent : 99 : gt_flame_percent(f->tree);
}

/* ---- boxes ---- */

static const struct gt_flame_node *node_at(const struct flame *f, uint32_t node)
{
	uint32_t n;

	return gt_flame_nodes(f->tree, &n) + node;
}

/* The box of a node, or NULL if it is too narrow. */
static const struct gt_flame_box *box_of(const struct flame *f, uint32_t node)
{
	for (size_t i = 0; i < f->nboxes; i++)
		if (f->boxes[i].node == node)
			return &f->boxes[i];
	return NULL;
}

static void scroll(struct flame *f)
{
	const struct gt_flame_box *b = box_of(f, f->selected);
	unsigned line = b ? b->line : 0, body = f->body ? f->body : 1;

	if (line < f->top)
		f->top = line;
	if (line >= f->top + body)
		f->top = line - body + 1;
	if (f->top + body > f->lines)
		f->top = f->lines > body ? f->lines - body : 0;
}

static int update_boxes(struct flame *f, struct gt_err *err)
{
	struct gt_flame_box *boxes = gt_flame_boxes(f->tree, f->zoomed, f->width, &f->nboxes);

	free(f->boxes);
	f->boxes = boxes;
	f->lines = 0;
	if (!boxes)
		return gt_err_set(err, -ENOMEM, "out of memory (flame graph)");
	for (size_t i = 0; i < f->nboxes; i++)
		f->lines = f->boxes[i].line >= f->lines ? f->boxes[i].line + 1 : f->lines;
	while (!box_of(f, f->selected) && f->selected != f->zoomed && f->selected)
		f->selected = node_at(f, f->selected)->parent;
	if (!box_of(f, f->selected))
		f->selected = f->zoomed;
	scroll(f);
	return 0;
}

static int flame_arrange(struct gt_view *v, unsigned width, unsigned height, struct gt_err *err)
{
	struct flame *f = v->state;
	struct gt_range range;

	gt_view_common_arrange(v->scene, width, height);
	range = gt_scene_range(v->scene);
	f->width = width;
	f->height = height;
	f->body = height > 2 ? height - 2 : 1;
	if (!f->tree || f->range.from != range.from || f->range.to != range.to ||
		f->of != f->made) {
		gt_flame_free(f->tree);
		f->zoomed = f->selected = f->top = 0;
		f->range = range;
		f->made = f->of;
		f->is_pending = f->of >= GT_FLAME_STACKS;
		f->note[0] = '\0';
		f->tree = f->is_pending ? gt_flame_of_table(NULL)
					: gt_flame_new(v->scene->archive, f->of, range, err);
		if (!f->tree)
			return err->code ? err->code
					 : gt_err_set(err, -ENOMEM, "out of memory (flame graph)");
		gt_item_search_restart(f->search);
	}
	return update_boxes(f, err);
}

/* ---- search ---- */

static int matches(const void *view, size_t node, const struct gt_search_regex *e)
{
	const struct gt_view *v = view;
	char name[NAME];

	name_of(v, node_at(v->state, (uint32_t)node), name);
	return gt_search_regex_matches(e, name);
}

static size_t node_of_box(const void *view, size_t i)
{
	return ((const struct flame *)((const struct gt_view *)view)->state)->boxes[i].node;
}

static struct gt_items items_of(const struct gt_view *v)
{
	const struct flame *f = v->state;
	uint32_t n;

	gt_flame_nodes(f->tree, &n);
	return (struct gt_items){ .what = "frame",
		.hidden = "all matches are too narrow or outside the zoomed frame: Esc zooms out",
		.n = n,
		.nplaces = f->nboxes,
		.matches = matches,
		.item_at = node_of_box,
		.arg = v };
}

/* last: see gt_item_search_next */
static void select_match(struct gt_view *v, bool last)
{
	struct flame *f = v->state;
	const struct gt_flame_box *at = box_of(f, f->selected);
	const struct gt_items items = items_of(v);
	size_t i = gt_item_search_next(
		f->search, &items, at ? (size_t)(at - f->boxes) : 0, v->scene, last);

	if (i == SIZE_MAX)
		return;
	f->selected = f->boxes[i].node;
	scroll(f);
}

static int step_search(struct gt_view *v, uint64_t us, struct gt_err *err)
{
	struct flame *f = v->state;
	const struct gt_items items = items_of(v);
	int rc = gt_item_search_step(f->search, &items, us, err);

	if (rc >= 0)
		select_match(v, !rc && percent_of(f) == 100);
	return rc;
}

/* The time of all matches, that of nested ones counted once. */
static uint64_t matched_ns(const struct flame *f)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < gt_item_search_count_tried(f->search); i++) {
		const struct gt_flame_node *n = node_at(f, i);
		uint32_t up = i;

		if (!gt_item_search_has(f->search, i))
			continue;
		do
			up = up ? node_at(f, up)->parent : UINT32_MAX;
		while (up != UINT32_MAX && !gt_item_search_has(f->search, up));
		if (up == UINT32_MAX)
			ns = ns + n->ns < ns ? UINT64_MAX : ns + n->ns;
	}
	return ns;
}

/* Takes the result of the job, if it is complete. 1: not yet. */
static int take_tree(struct gt_view *v, uint64_t us, struct gt_err *err)
{
	struct flame *f = v->state;
	const struct gt_analysis *what = gt_stack_flames[f->made - GT_FLAME_STACKS].analysis;
	struct gt_report_job *job = v->scene->report_job;
	struct gt_report_result *result;
	const char *note;
	int rc = gt_report_job_take(job, what, f->range, &result, err);

	if (!rc && !gt_report_job_wait(job, us))
		rc = gt_report_job_take(job, what, f->range, &result, err);
	f->percent = gt_report_job_percent(job);
	if (rc <= 0)
		return rc ? rc : 1;
	note = result->n ? gt_table_get_note(result->tables[result->n - 1], 0) : result->why;
	snprintf(f->note, sizeof(f->note), "%s", note ? note : "");
	gt_flame_free(f->tree);
	f->tree = gt_flame_of_table(result->n ? result->tables[result->n - 1] : NULL);
	f->is_pending = false;
	gt_report_job_release(result);
	gt_item_search_restart(f->search);
	return f->tree ? 0 : gt_err_set(err, -ENOMEM, "out of memory (flame graph)");
}

static int flame_step(struct gt_view *v, uint64_t us, struct gt_err *err)
{
	struct flame *f = v->state;
	bool reads = percent_of(f) < 100;
	int rc = f->is_pending ? take_tree(v, us, err)
		: reads        ? gt_flame_step(f->tree, us, err)
			       : 0,
	    more;

	if (rc < 0 || (reads && update_boxes(f, err)))
		return err->code;
	more = step_search(v, us, err);
	return more ? more : rc;
}

/* ---- keys ---- */

/* Selects the longest child, or the parent. */
static void go_deeper(struct flame *f, int by)
{
	const struct gt_flame_box *at = box_of(f, f->selected);

	if (!at)
		return;
	if (by < 0) {
		f->selected =
			f->selected == f->zoomed ? f->zoomed : node_at(f, f->selected)->parent;
		return;
	}
	for (const struct gt_flame_box *b = at + 1; b < f->boxes + f->nboxes; b++)
		if (node_at(f, b->node)->parent == f->selected) {
			f->selected = b->node;
			return;
		}
}

/* Selects the next box of the line. */
static void go_beside(struct flame *f, int by)
{
	const struct gt_flame_box *at = box_of(f, f->selected), *best = NULL;

	for (size_t i = 0; at && i < f->nboxes; i++) {
		const struct gt_flame_box *b = &f->boxes[i];

		if (b->line == at->line &&
			(by > 0 ? b->x > at->x && (!best || b->x < best->x)
				: b->x < at->x && (!best || b->x > best->x)))
			best = b;
	}
	if (best)
		f->selected = best->node;
}

static void zoom_out(struct flame *f)
{
	f->selected = f->zoomed;
	f->zoomed = f->zoomed ? node_at(f, f->zoomed)->parent : 0;
}

static void select_at(struct flame *f, struct gt_key k)
{
	for (size_t i = 0; i < f->nboxes; i++) {
		const struct gt_flame_box *b = &f->boxes[i];

		if (k.y >= 1 && k.y <= f->body && b->line == f->top + k.y - 1 && k.x >= b->x &&
			k.x < b->x + b->width)
			f->selected = b->node;
	}
}

/* Shows the longest event of the selected frame in the timeline. */
static void go_to_longest(struct gt_view *v)
{
	struct flame *f = v->state;
	const struct gt_flame_node *n = gt_flame_longest(f->tree, f->selected);
	enum gt_aspect aspect = f->made == GT_FLAME_GPU ? GT_ASPECT_WORK : GT_ASPECT_CALLS;
	struct gt_lane_key lane;

	if (n && n->kind == GT_FLAME_RANGE)
		aspect = GT_ASPECT_RANGES;

	if (!n) {
		v->scene->message = "this frame has no event to go to";
		return;
	}
	lane = (struct gt_lane_key){ { n->segment, n->track, aspect, false },
		gt_aspect_depth(aspect, n->depth) };
	gt_scene_show_row(v->scene, &lane, n->start, n->dur);
	if (percent_of(f) < 100)
		v->scene->message =
			"the longest event so far: the visible time is not read completely";
}

/* Esc ends the search; without a search it zooms out. */
static void escape(struct gt_view *v)
{
	struct flame *f = v->state;

	if (f->search)
		gt_item_search_start(&f->search, v->scene, "");
	else
		zoom_out(f);
}

static bool has_kind(struct gt_reader *r, unsigned of)
{
	return of == GT_FLAME_RANGES ? gt_flame_has_ranges(r)
		: of >= GT_FLAME_STACKS
		? gt_stack_flame_has(r, (enum gt_stack_flame_kind)(of - GT_FLAME_STACKS))
		: true;
}

/* The next kind that the trace has; by: 1 or -1. */
static enum gt_flame_of next_of(const struct gt_view *v, int by)
{
	unsigned of = ((const struct flame *)v->state)->of;

	do
		of = (of + (by < 0 ? GT_FLAMES - 1 : 1)) % GT_FLAMES;
	while (!has_kind(v->scene->reader, of));
	return (enum gt_flame_of)of;
}

static void flame_act(struct gt_view *v, const struct gt_binding *b, struct gt_key k)
{
	struct flame *f = v->state;

	switch (b->action) {
	case GT_DO_LINE: go_deeper(f, b->arg); break;
	case GT_DO_STEP: go_beside(f, b->arg); break;
	case GT_DO_SELECT:
	case GT_DO_FOLD: f->zoomed = f->selected; break;
	case GT_DO_ESCAPE: escape(v); break;
	case GT_DO_FOUND:
		if (gt_item_search_request(f->search, v->scene, b->arg))
			select_match(v, true);
		break;
	case GT_DO_LONGEST: go_to_longest(v); break;
	case GT_DO_START:
	case GT_DO_TOP: f->selected = f->zoomed; break;
	case GT_DO_PAGE:
		for (unsigned i = 0; i + 1 < f->body; i++)
			go_deeper(f, b->arg);
		break;
	case GT_DO_VIEW: f->of = next_of(v, 1); break;
	case GT_DO_HEIGHTS: f->of = next_of(v, b->arg); break;
	case GT_DO_POINT: select_at(f, k); break;
	case GT_DO_POINT_FOLD:
		select_at(f, k);
		f->zoomed = f->selected;
		break;
	default: gt_view_common_act(v->scene, b);
	}
}

static const char *flame_answer(struct gt_view *v, enum gt_action asked, const char *text)
{
	struct flame *f = v->state;

	return asked == GT_DO_FIND ? gt_item_search_start(&f->search, v->scene, text)
				   : gt_view_common_answer(v->scene, asked, text);
}

/* ---- drawing ---- */

static void draw_box(const struct gt_view *v, const struct gt_flame_box *b, struct gt_screen *to)
{
	const struct flame *f = v->state;
	int y = (int)(b->line - f->top) + 1, x = (int)b->x, width = (int)b->width;
	char name[NAME];
	struct gt_look look = { name_of(v, node_at(f, b->node), name), GT_INK_NONE, GT_REVERSE };

	if (gt_item_search_has(f->search, b->node))
		look = (struct gt_look){ GT_INK_TEXT, GT_INK_FOUND, 0 };
	if (b->node == f->selected && !v->scene->is_static)
		look = (struct gt_look){ GT_INK_TEXT, GT_INK_CURSOR, GT_BOLD };
	gt_screen_fill(to, x, y, width, 1, ' ', look);
	gt_screen_put(to, x, y, 0x2502, look);
	if (width > 1)
		gt_screen_text(to, x + 1, y, width - 1, name, look);
}

/* Draws an edge after a box without a right neighbour, so that its width is visible without
 * colours. */
static void draw_boxes(const struct gt_view *v, struct gt_screen *to)
{
	const struct flame *f = v->state;

	for (unsigned pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < f->nboxes; i++) {
			const struct gt_flame_box *b = &f->boxes[i];

			if (b->line < f->top || b->line >= f->top + f->body)
				continue;
			if (pass)
				draw_box(v, b, to);
			else
				gt_screen_put(to, (int)(b->x + b->width),
					(int)(b->line - f->top) + 1, 0x2502, gt_look_faint);
		}
}

/* The name of the counted rows of a node. */
static const char *rows_are(const struct flame *f, const struct gt_flame_node *n)
{
	if (f->made == GT_FLAME_RANGES && n->kind != GT_FLAME_CALL)
		return n->kind == GT_FLAME_RANGE ? "range" : "outermost range or call";
	return f->made == GT_FLAME_GPU ? "operation" : "call";
}

static enum gt_cell_kind unit_of(const struct flame *f)
{
	return f->made >= GT_FLAME_STACKS && gt_stack_flames[f->made - GT_FLAME_STACKS].bytes
		? GT_C_BYTES
		: GT_C_NS;
}

/* "12.3 ms, 4.5% of cuLaunchKernel, 1.2% of all, 1204 calls: name" */
static void draw_status(const struct gt_view *v, struct gt_screen *to)
{
	const struct flame *f = v->state;
	const struct gt_flame_node *n = node_at(f, f->selected), *up = node_at(f, n->parent);
	char name[NAME], above[NAME], share[GT_BRIEF], of_all[GT_BRIEF];
	int y = (int)f->height - 1, x = 0;

	if (percent_of(f) < 100)
		x = gt_screen_printf(
			to, 0, y, -1, gt_look_warn, "reading ... %u %%  ", percent_of(f));
	else if (gt_flame_is_cut(f->tree))
		x = gt_screen_text(to, 0, y, -1, "too many stacks: some count for their parents  ",
			gt_look_warn);
	else if (gt_flame_overlaps(f->tree))
		x = gt_screen_printf(to, 0, y, -1, gt_look_warn,
			"%llu events end after their parent: their rest is drawn beside it  ",
			(unsigned long long)gt_flame_overlaps(f->tree));
	name_of(v, n, name);
	name_of(v, up, above);
	gt_brief_share(share, n->ns, up->ns);
	gt_brief_share(of_all, n->ns, node_at(f, 0)->ns);
	x += gt_screen_printf(
		to, x, y, -1, gt_look_plain, "%s", gt_number_text(unit_of(f), n->ns).text);
	if (n->kind > GT_FLAME_PROCESS)
		x += gt_screen_printf(to, x, y, -1, gt_look_plain, ", %s of %s", share, above);
	if (f->selected)
		x += gt_screen_printf(to, x, y, -1, gt_look_plain, ", %s of all", of_all);
	if (n->kind == GT_FLAME_FRAME || f->made >= GT_FLAME_STACKS) {
		gt_screen_printf(to, x, y, -1, gt_look_faint, ": %s", f->selected ? name : f->note);
		return;
	}
	gt_screen_printf(to, x, y, -1, gt_look_faint, ", %llu %s%s: %s",
		(unsigned long long)n->rows, rows_are(f, n), gt_plural(n->rows, "s"), name);
}

/* " /gemm  34.5% of all, 12 frames ": at the right of the title. */
static void draw_search(const struct flame *f, struct gt_screen *to)
{
	const struct gt_look look = { GT_INK_TEXT, GT_INK_FOUND, 0 };
	size_t n = gt_item_search_count(f->search);
	const char *expression = gt_item_search_regex(f->search)->text;
	char text[GT_SEARCH_REGEX_SIZE + 80], share[GT_BRIEF];
	int width;

	gt_brief_share(share, matched_ns(f), node_at(f, 0)->ns);
	snprintf(text, sizeof(text), " /%.*s  %s of all, %zu frame%s%s ",
		gt_search_regex_brief(expression), expression, share, n, gt_plural(n, "s"),
		percent_of(f) < 100 ? " so far" : "");
	width = (int)gt_utf8_width(text);
	gt_screen_text(to, (int)to->width > width ? (int)to->width - width : 0, 0, -1, text, look);
}

static const struct {
	const char *title, *nothing;
} pictures[GT_FLAMES] = {
	[GT_FLAME_CALLS] = { "flame graph of calls",
		"cannot answer: the visible time has no calls" },
	[GT_FLAME_GPU] = { "flame graph of GPU work",
		"cannot answer: the visible time has no GPU work" },
	[GT_FLAME_RANGES] = { "flame graph of ranges",
		"cannot answer: the visible time has no ranges and no calls" },
	[GT_FLAME_STACKS + GT_STACK_FLAME_HOST] = { "flame graph of the host's time",
		"cannot answer: the visible time has no samples and no waits" },
	[GT_FLAME_STACKS + GT_STACK_FLAME_IDLE] = { "flame graph of idle time of GPUs",
		"cannot answer: the visible time has no idle time" },
	[GT_FLAME_STACKS + GT_STACK_FLAME_KERNEL] = { "flame graph of kernel time by stack",
		"cannot answer: the visible time has no kernels" },
	[GT_FLAME_STACKS + GT_STACK_FLAME_MEMORY] = { "flame graph of memory at the peak",
		"cannot answer: the visible time has no memory" },
};

static bool is_empty(const struct flame *f) { return !node_at(f, 0)->ns && percent_of(f) == 100; }

static void flame_draw(const struct gt_view *v, struct gt_screen *to)
{
	const struct flame *f = v->state;

	gt_screen_clear(to);
	gt_view_common_draw_top(v->scene, pictures[f->made].title, to);
	if (is_empty(f))
		gt_screen_put_lines(to, 1, 2, f->width > 2 ? f->width - 2 : 1,
			f->body > 1 ? f->body - 1 : 1,
			f->note[0] ? f->note : pictures[f->made].nothing, gt_look_faint);
	else
		draw_boxes(v, to);
	if (f->search)
		draw_search(f, to);
	if (f->height > 2 && !is_empty(f))
		draw_status(v, to);
}

/* As gtexport --stacks=KIND --flame. */
static int write_stacks(const struct gt_view *v, const struct gt_export_options *how,
	struct gt_out *to, struct gt_err *err)
{
	struct gt_export_options opt = *how;
	struct gt_stack_tree tree;
	unsigned kind = ((const struct flame *)v->state)->of - GT_FLAME_STACKS;
	int rc = gt_stack_flame_run(
		&tree, (enum gt_stack_flame_kind)kind, v->scene->reader, &how->filter, NULL, err);

	opt.tree = &tree;
	if (!rc)
		rc = gt_export_flame.export(v->scene->reader, &opt, to, err);
	gt_stack_tree_release(&tree);
	return rc;
}

/* The image of `gtexport --flame`, the same for calls, GPU work and ranges: it has CPU and GPU. */
static int flame_write_svg(const struct gt_view *v, struct gt_out *to, struct gt_err *err)
{
	struct gt_export_options how = { .cost = GT_COST_TIME };
	struct gt_range *ranges;
	int rc = gt_archive_limit(
		v->scene->archive, gt_scene_range(v->scene), &how.filter, &ranges, err);

	if (!rc)
		rc = ((const struct flame *)v->state)->of >= GT_FLAME_STACKS
			? write_stacks(v, &how, to, err)
			: gt_export_flame.export(v->scene->reader, &how, to, err);
	free(ranges);
	return rc;
}

static const struct gt_key_hint hints[] = {
	GT_KEY_HINT('?', "Help", 1),
	{ "Arrows", "Move", { .key = GT_KEY_NONE }, 3 },
	{ "Enter", "Zoom", { .key = GT_KEY_ENTER }, 2 },
	{ "Esc", "Back", { .key = GT_KEY_ESC }, 3 },
	GT_KEY_HINT('v', "Longest in timeline", 4),
	GT_KEY_HINT('b', "Next kind", 5),
	GT_KEY_HINT('/', "Find", 4),
	GT_KEY_HINT('1', "Timeline", 1),
	GT_KEY_HINT('q', "Quit", 1),
	{ .label = NULL },
};

#define X(id, title)                                                                               \
	const struct gt_view_ops gt_view_##id = {                                                  \
		.name = title,                                                                     \
		.hints = hints,                                                                    \
		.state_size = sizeof(struct flame),                                                \
		.open = flame_open,                                                                \
		.close = flame_close,                                                              \
		.detach = flame_detach,                                                            \
		.arrange = flame_arrange,                                                          \
		.step = flame_step,                                                                \
		.act = flame_act,                                                                  \
		.answer = flame_answer,                                                            \
		.draw = flame_draw,                                                                \
		.write_svg = flame_write_svg,                                                      \
	};
FLAMES(X)
#undef X
