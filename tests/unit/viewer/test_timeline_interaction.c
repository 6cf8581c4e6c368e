/* Actions of a user on single events, as keys and screens. */
#define _GNU_SOURCE
#include "tests/unit/stack_program.h"
#include "tests/unit/viewer/view_stage.h"
#include "viewer/app/ui.h"
#include "viewer/timeline/timeline_draw.h"

static const char *const once[] = { "b", NULL };

static void enter_selects_and_the_pane_has_details(void)
{
	struct stage st;

	state = 31;
	stage_up(&st, once, 3000, 100, 40);
	CHECK(play(&st, "") && line_of(&st, "duration") < 0);
	CHECK(play(&st, "Z < j Enter") && on_screen(&st, "duration") &&
		on_screen(&st, "work of a GPU, kernel") && on_screen(&st, "launched by"));
	CHECK(play(&st, "Tab") && on_screen(&st, "duration"));
	CHECK(play(&st, "i") && on_screen(&st, "correlation"));
	/* the selection has one line */
	CHECK(play(&st, "i") && line_of(&st, "correlation") < 0);
	CHECK(strstr(line(&st, 37), "duration") && strstr(line(&st, 37), "start"));
	CHECK(play(&st, "i") && line_of(&st, "launched by") >= 0);
	CHECK(play(&st, "Esc") && line_of(&st, "launched by") < 0 &&
		strstr(line(&st, 37), "duration"));
	CHECK(play(&st, "Esc") && line_of(&st, "duration") < 0);
	strike(&st);
}

/* Lines follow each other on the screen, beside the label of the first one. */
static bool has_stack(struct stage *st, const char *const *frames, int n)
{
	int y = line_of(st, " stack ");

	for (int i = 0; i < n; i++)
		if (y < 0 || !strstr(line(st, y + i), frames[i]))
			return on_screen(st, frames[i]) && false;
	return true;
}

static void the_pane_has_the_stack(void)
{
	static const char *const step[] = { "at::gemm<float> (libtorch.so)",
		"step (app/train.py:88)", "main (app/train.py:9)" };
	struct stack_program p = { .fd = -1 };
	struct stage st;

	stack_program_begin_at(&p, temp_file());
	stack_launch(&p, BY_STEP, 0, 1000, 100, 2000, 1000);
	CHECK(!gt_writer_close(p.w, &p.err));
	stage_open(&st, p.fd, 220, 40);
	CHECK(play(&st, "Z < j Enter"));
	while (line_of(&st, "cuLaunchKernel at") < 0 && line_of(&st, "returned") < 0)
		if (!play(&st, "j Enter"))
			break;
	CHECK(on_screen(&st, "called in       step (app/train.py:88)"));
	CHECK(has_stack(&st, step, 3));
	CHECK(play(&st, "c") && on_screen(&st, "launched in     step (app/train.py:88)"));
	CHECK(has_stack(&st, step, 3));
	strike(&st);
}

static void the_pane_stands_where_there_is_room(void)
{
	struct stage st;

	state = 32;
	stage_up(&st, once, 3000, 40, 10);
	CHECK(play(&st, "Z < j Enter") && line_of(&st, "launched by") < 0);
	CHECK(strstr(line(&st, 8), "duration"));
	CHECK(play(&st, "resize 100x40") && on_screen(&st, "start  "));
	CHECK(line_of(&st, "start  ") > 20);
	CHECK(play(&st, "resize 170x30") && line_of(&st, "│ duration") >= 0 &&
		line_of(&st, "│ duration") < 8);
	CHECK(play(&st, "resize 40x10") && line_of(&st, "launched by") < 0 &&
		line_of(&st, "too small") < 0);
	CHECK(play(&st, "Esc i") && on_screen(&st, "the screen is too small for a pane") &&
		play(&st, "l h") && line_of(&st, "too small") < 0);
	CHECK(play(&st, "i") && on_screen(&st, "the screen is too small for a pane"));
	strike(&st);
}

/* At the highest zoom, names are in boxes, and they are the names of the rows. */
static void boxes_have_names(void)
{
	struct stage st;

	state = 33;
	stage_up(&st, once, 3000, 100, 40);
	/* one that began long ago and has no end */
	CHECK(play(&st, "Z < Enter Tab") && line_of(&st, "▏cuMemAlloc") < 0 &&
		on_screen(&st, "▏cuCall"));
	CHECK(play(&st, "w w w w w w w w w w w w w w w w") && on_screen(&st, "▏cu"));
	CHECK(play(&st, "b") && line_of(&st, "▏cu") < 0);
	strike(&st);
}

static void a_click_selects_and_a_drag_does_not(void)
{
	struct stage st;
	struct gt_layout at = gt_layout_of(100, 40, 0);
	char script[80];

	state = 38;
	stage_up(&st, once, 3000, 100, 40);
	CHECK(play(&st, "Z <"));
	sprintf(script, "drag %u,%d %u,%d", at.left + 5, at.lanes + 1, at.left + 9, at.lanes + 1);
	CHECK(play(&st, script) && line_of(&st, "launched by") < 0);
	/* marks have a line above the lanes */
	sprintf(script, "click %u,%d", at.left + 5, at.lanes + 2);
	CHECK(play(&st, script) && on_screen(&st, "work of a GPU"));
	strike(&st);
}

static void jumps_go_to_the_lane(void)
{
	struct stage st;

	state = 34;
	stage_up(&st, once, 3000, 100, 40);
	CHECK(play(&st, "z e") && on_screen(&st, "returned 700"));
	/* it was folded, and is unfolded now */
	CHECK(on_screen(&st, "thread 1") && on_screen(&st, "▾ pid 1"));
	CHECK(play(&st, "Esc Z < j Home Tab }") &&
		(line_of(&st, "gap of") >= 0 || on_screen(&st, "no further gap")));
	CHECK(play(&st, "r w w w w v") && on_screen(&st, "duration"));
	CHECK(play(&st, "r Z < j v c") && line_of(&st, "nothing") < 0);
	strike(&st);
}

static bool has_arrow(struct stage *st) { return line_of(st, "▲") >= 0 || line_of(st, "▼") >= 0; }

/* An arrow leads from a call to its work, whichever of them is selected. */
static void an_arrow_leads_to_the_work(void)
{
	struct stage st;
	unsigned arrows = 0;

	state = 31;
	stage_up(&st, once, 3000, 100, 60);
	CHECK(play(&st, "Z < r") && !has_arrow(&st));
	CHECK(play(&st, "/ '^cuLaunch' Enter"));
	for (unsigned i = 0; i < 12; i++) {
		bool linked;

		CHECK(play(&st, "n"));
		linked = has_arrow(&st);
		arrows += linked;
		CHECK(play(&st, "c"));
		if (linked) /* to the work, and back to the call */
			CHECK(has_arrow(&st) && play(&st, "c") && has_arrow(&st));
	}
	CHECK(arrows > 3);
	CHECK(play(&st, "Esc Esc Esc Esc") && !has_arrow(&st));
	strike(&st);
}

static void the_longest_in_view(void)
{
	struct stage st;
	struct gt_filter all = { .kinds = GT_BIT(GT_GPU) };
	struct gt_iter *it;
	struct gt_event ev;
	int64_t longest = 0;
	char want[40];

	state = 35;
	stage_up(&st, once, 3000, 100, 40);
	it = gt_iter_open(st.reader, &all, &st.err);
	while (it && gt_iter_next(it, &ev, &st.err) > 0)
		longest = ev.row.end - ev.row.start > longest ? ev.row.end - ev.row.start : longest;
	gt_iter_close(it);
	snprintf(want, sizeof(want), "(%lld ns)", (long long)longest);
	CHECK(play(&st, "Z < j") && play(&st, "v") && longest > 10000);
	CHECK(play(&st, "i") && on_screen(&st, want));
	strike(&st);
}

static void marks_are_drawn_and_measured(void)
{
	struct stage st;
	struct gt_layout at = gt_layout_of(100, 39, GT_LAYOUT_MARKS);
	char axis[1000];

	state = 36;
	stage_up(&st, once, 3000, 100, 40);
	CHECK(play(&st, "Z < j L L") && !strstr(line(&st, at.marks), "marks"));
	strcpy(axis, line(&st, at.axis));
	CHECK(play(&st, "m") && strstr(line(&st, at.marks), "A") &&
		strstr(line(&st, at.detail), "A "));
	CHECK(play(&st, "L L L m") && strstr(line(&st, at.marks), "A──") &&
		strstr(line(&st, at.marks), "──B"));
	CHECK(!strcmp(axis, line(&st, at.axis))); /* times are read as before */
	CHECK(strstr(line(&st, at.detail), "A-B ") && strstr(line(&st, at.detail), "busy ") &&
		strstr(line(&st, at.detail), " begin"));
	CHECK(play(&st, "Esc") && !strstr(line(&st, at.detail), "A-B"));
	CHECK(play(&st, "M") && on_screen(&st, "no selection"));
	CHECK(!strstr(line(&st, at.marks), "marks"));
	CHECK(play(&st, "Tab M") && strstr(line(&st, at.detail), "A-B ") &&
		strstr(line(&st, at.detail), "100%"));
	strike(&st);
}

/* Bookmarks and their names have a line of their own; a name is cut where the next one begins.
 * If there is no space for that line, bookmarks are on the axis. */
static void bookmarks_have_their_names(void)
{
	struct stage st;
	struct gt_layout at = gt_layout_of(100, 39, GT_LAYOUT_MARKS);
	struct gt_scene *s = &st.s.scene;
	char axis[1000];

	state = 36;
	stage_up(&st, once, 3000, 100, 40);
	CHECK(play(&st, "") && strcpy(axis, line(&st, at.axis)));
	for (unsigned i = 0; i < 2; i++)
		CHECK(!gt_bookmarks_set(&s->bookmarks, i ? "学習の始まり" : "first",
			gt_cell_start(&s->window, i ? 28 : 20) - s->extent.from, 3, NULL));
	CHECK(play(&st, "l") && strstr(line(&st, at.marks), " *first  *学習の始まり") &&
		!strcmp(axis, line(&st, at.axis)));
	gt_marks_set(&s->marks, gt_cell_start(&s->window, 24));
	gt_marks_set(&s->marks, gt_cell_start(&s->window, 36));
	CHECK(play(&st, "l") && strstr(line(&st, at.marks), " *f… A───*学習…──B"));
	CHECK(play(&st, "resize 100x9") && !on_screen(&st, "marks") && strstr(line(&st, 1), "A") &&
		strstr(line(&st, 1), "*"));
	strike(&st);
}

/* Bytes have a rate only in lanes of copies, because there the busy time is the time of the
 * transfer. */
static void only_copies_have_a_rate(void)
{
	struct stage st;
	char click[40];

	state = 38;
	stage_up(&st, once, 3000, 160, 40);
	CHECK(play(&st, "Z <") && play(&st, ": 'mark 1us 40us' Enter") && on_screen(&st, "A-B "));
	snprintf(click, sizeof(click), "click 3,%d", line_of(&st, "copies DtoH"));
	CHECK(play(&st, click) && on_screen(&st, "copies DtoH: busy") &&
		on_screen(&st, "B/s while busy"));
	snprintf(click, sizeof(click), "click 3,%d", line_of(&st, "GPU 0"));
	CHECK(play(&st, click) && on_screen(&st, "GPU 0: busy") && on_screen(&st, "iB  A ") &&
		line_of(&st, "B/s") < 0);
	strike(&st);
}

static void names_are_looked_for(void)
{
	struct stage st;

	state = 37;
	stage_up(&st, once, 3000, 100, 40);
	CHECK(play(&st, "n") && on_screen(&st, "no search is active"));
	CHECK(play(&st, "/ 'Mem'") && on_screen(&st, "find: Mem"));
	CHECK(play(&st, "'Alloc$' Enter") && on_screen(&st, "/MemAlloc$  "));
	CHECK(play(&st, "i") && on_screen(&st, "──cuMemAlloc"));
	CHECK(play(&st, "n n N") && on_screen(&st, "──cuMemAlloc") && line_of(&st, "counting") < 0);
	CHECK(play(&st, "/ 'a(' Enter") && on_screen(&st, "not a regular expression"));
	CHECK(play(&st, "/ 'nothing at all' Enter") && on_screen(&st, "no name matches"));
	CHECK(play(&st, "/ Enter") && line_of(&st, "/nothing") < 0);
	strike(&st);
}

/* Calls that had not returned point out of the end, the title counts them, and a command leads from
 * one to the next, the longest first. */
static void calls_that_are_still_open(void)
{
	struct stage st;

	state = 39;
	stage_up(&st, once, 3000, 120, 44);
	CHECK(play(&st, "Z <") &&
		strstr(line(&st, 0), "  15 calls still open at the end, the longest cuCall ") &&
		line_of(&st, "►") > 3);
	CHECK(play(&st, ": 'open' Enter") && on_screen(&st, "so far  ") &&
		on_screen(&st, "call that had not returned") &&
		on_screen(&st, "none: still open when the recording ended,") &&
		on_screen(&st, "on              thread 14"));
	CHECK(line_of(&st, "duration") < 0 && line_of(&st, "returned  ") < 0);
	CHECK(play(&st, ": 'open' Enter") && on_screen(&st, "on              thread 21"));
	for (int i = 0; i < 13; i++)
		CHECK(play(&st, ": 'open' Enter") && line_of(&st, "on              thread 21") < 0);
	CHECK(play(&st, ": 'open' Enter : 'open' Enter") &&
		on_screen(&st, "on              thread 21"));
	CHECK(play(&st, "Esc") && strstr(line(&st, 41), "so far ") &&
		strstr(line(&st, 41), "still open when"));
	CHECK(play(&st, "resize 120x15") && line_of(&st, "calls still open") < 0 &&
		strstr(line(&st, 13), "15 OPEN  "));
	strike(&st);
}

/* Enter in a hole names its blocks, their places in the file and the reason why they cannot be
 * read; from there Tab selects the next event outside the hole. */
static void a_hole_names_its_cause(void)
{
	struct stage st;
	struct gt_block_list blocks;
	char script[100], want[40];
	int fd = temp_file();

	state = 40;
	make(dup(fd), "b", 1000, 60000);
	stage_open(&st, dup(fd), 120, 44);
	blocks = gt_archive_blocks(st.s.scene.archive, 0, 2);
	CHECK(blocks.n > 5);
	break_block(fd, blocks.blocks[1].number);
	break_block(fd, blocks.blocks[2].number);
	snprintf(script, sizeof(script), "Z w w w w w w w w w w w w g '%lldns' Enter",
		(long long)(blocks.blocks[2].start - st.s.scene.extent.from));
	snprintf(want, sizeof(want), "block %u", blocks.blocks[2].number);
	CHECK(play(&st, script));
	sprintf(script, "click %d,%d Enter", 20, line_of(&st, "▾ thread 10"));
	CHECK(play(&st, script) && play(&st, "Enter i") &&
		on_screen(&st, "hole: 2 blocks cannot be read") && on_screen(&st, want));
	CHECK(on_screen(&st, "a block is ") && on_screen(&st, " of the file, with ") &&
		on_screen(&st, "gtexport --native"));
	CHECK(play(&st, "Enter") && line_of(&st, "hole: ") > 0); /* nothing else is there */
	CHECK(play(&st, "Tab") && line_of(&st, "hole: ") < 0 &&
		on_screen(&st, "kind            call"));
	CHECK(play(&st, "S-Tab") && on_screen(&st, "kind            call"));
	CHECK(play(&st, "resize 80x12") && line_of(&st, "hole: ") < 0);
	strike(&st);
	close(fd);
}

T_MAIN(T(enter_selects_and_the_pane_has_details), T(the_pane_has_the_stack),
	T(the_pane_stands_where_there_is_room), T(boxes_have_names),
	T(a_click_selects_and_a_drag_does_not), T(jumps_go_to_the_lane),
	T(an_arrow_leads_to_the_work), T(the_longest_in_view), T(marks_are_drawn_and_measured),
	T(bookmarks_have_their_names), T(only_copies_have_a_rate), T(names_are_looked_for),
	T(calls_that_are_still_open), T(a_hole_names_its_cause))
