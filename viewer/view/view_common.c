#include "viewer/view/view_common.h"

#include <string.h>
#include "viewer/view/layout.h"

void gt_view_common_arrange(struct gt_scene *s, unsigned width, unsigned height)
{
	unsigned cells = gt_layout_of(width, height, 0).cells;

	if (s->window.cells != cells)
		gt_window_resize(&s->window, &s->extent, cells);
}

/* Says that the action needs the timeline. A command has no key. */
static void say_needs_timeline(struct gt_scene *s, const struct gt_binding *b)
{
	if (b->keys)
		gt_scene_set_status(s, "%.*s (%s) works in the timeline: press 1",
			(int)strcspn(b->keys, " "), b->keys, gt_binding_help(b));
	else
		gt_scene_set_status(
			s, "this view has no time cursor: use mark TIME or mark TIME TIME");
}

void gt_view_common_act(struct gt_scene *s, const struct gt_binding *b)
{
	int64_t cells = (int64_t)s->window.cells * b->arg / 8, from, to;

	switch (b->action) {
	case GT_DO_PAN: gt_window_pan(&s->window, &s->extent, cells ? cells : b->arg); break;
	case GT_DO_ZOOM: gt_window_zoom(&s->window, &s->extent, b->arg, s->window.cells / 2); break;
	case GT_DO_FIT:
		if (!b->arg)
			gt_window_fit(&s->window, &s->extent);
		else if (gt_marks_between(&s->marks, &from, &to))
			gt_window_show(&s->window, &s->extent, from, to);
		else
			s->message =
				"no marks: set them with m and M in the timeline, or with :mark";
		break;
	case GT_DO_CLOCK: gt_scene_toggle_clock(s); break;
	case GT_DO_FOLD_ALL:
	case GT_DO_HIDE:
	case GT_DO_SHOW_HIDDEN:
	case GT_DO_MOVE:
	case GT_DO_SAME:
	case GT_DO_SAME_STACK:
	case GT_DO_GAP:
	case GT_DO_LONGEST_GAP:
	case GT_DO_FAILURE:
	case GT_DO_PARTNER:
	case GT_DO_LONGEST:
	case GT_DO_MARK:
	case GT_DO_MARK_BOTH:
	case GT_DO_DETAIL:
	case GT_DO_DETAIL_SCROLL:
	case GT_DO_HEIGHTS: say_needs_timeline(s, b); break;
	default: break;
	}
}

const char *gt_view_common_answer(struct gt_scene *s, enum gt_action asked, const char *text)
{
	int64_t t;
	const char *why =
		asked == GT_DO_GOTO ? gt_scene_time(s, text, &t) : "this view has no search";

	if (!why)
		gt_window_goto(&s->window, &s->extent, t, s->window.cells / 2);
	return why;
}

void gt_view_common_draw_top(const struct gt_scene *s, const char *what, struct gt_screen *to)
{
	const struct gt_time_extent *e = &s->extent;
	struct gt_range range = gt_scene_range(s);
	int64_t step = gt_time_step(&s->window), a = range.from > e->from ? range.from : e->from,
		b = range.to < e->to ? range.to : e->to - 1;
	char from[GT_TIME_ROOM], until[GT_TIME_ROOM];
	int x = gt_screen_text(to, 0, 0, -1, what, gt_look_heading);

	gt_time_text(&s->times, a, step, e->to, from);
	gt_time_text(&s->times, b, step, e->to, until);
	x += gt_screen_printf(to, x, 0, -1, gt_look_plain, "  %s%s to %s",
		range.from == INT64_MIN ? "whole run, " : "", from, until);
	if (s->is_outdated)
		x += gt_screen_text(to, x, 0, -1, "  new rows: Ctrl-L shows them", gt_look_alert);
	if (s->excluded)
		x += gt_screen_printf(to, x, 0, -1, gt_look_warn, "  without %s", s->excluded);
	gt_screen_printf(to, x, 0, -1, gt_look_faint, "  %s", gt_scene_title(s));
}
