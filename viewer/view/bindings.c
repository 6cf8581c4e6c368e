#include "viewer/view/bindings.h"

#include <stdio.h>
#include <string.h>

/* column: in the list of keys on the screen */
#define HEADING(text, column)                                                                      \
	{                                                                                          \
		NULL, GT_DO_NOTHING, column, text, text                                            \
	}
/* clang-format off */
const struct gt_binding gt_bindings[] = {
	HEADING("In time", 0),
	{ "h Left", GT_DO_STEP, -1, "cursor a cell left or right; pans at the edge", "Left Right\tmove the cursor" },
	{ "l Right", GT_DO_STEP, 1, NULL, NULL },
	{ "H S-Left", GT_DO_STEP, -8, "cursor eight cells left or right", NULL },
	{ "L S-Right", GT_DO_STEP, 8, NULL, NULL },
	{ "a", GT_DO_PAN, -2, "pan by a quarter of the window", "a d  A D\tpan: a quarter, all" },
	{ "d", GT_DO_PAN, 2, NULL, NULL },
	{ "A", GT_DO_PAN, -8, "pan by a whole window", NULL },
	{ "D", GT_DO_PAN, 8, NULL, NULL },
	{ "w + =", GT_DO_ZOOM, 1, "zoom in or out around the cursor", "w s  + -\tzoom in, out" },
	{ "s -", GT_DO_ZOOM, -1, NULL, NULL },
	{ "r", GT_DO_FIT, 0, "show the whole run", "r F\twhole run; marked range" },
	{ "F", GT_DO_FIT, 1, "show the marked range, else the selection", NULL },
	{ "Home 0", GT_DO_START, 0, "go to the start or the end of the run", "Home End\tstart, end of the run" },
	{ "End $", GT_DO_END, 0, NULL, NULL },
	{ "g", GT_DO_GOTO, 0, "go to a time: 1.5s, 250ms, 1:05.5", "g\tgo to a time" },
	HEADING("Lanes", 0),
	{ "k Up", GT_DO_LINE, -1, "a lane up or down", "Up Down\tmove to another lane" },
	{ "j Down", GT_DO_LINE, 1, NULL, NULL },
	{ "PgUp C-b", GT_DO_PAGE, -1, "a screen up or down", "PgUp PgDn\ta screen up, down" },
	{ "PgDn C-f", GT_DO_PAGE, 1, NULL, NULL },
	{ "<", GT_DO_TOP, 0, "the first or the last lane", "< >\tfirst, last lane" },
	{ ">", GT_DO_BOTTOM, 0, NULL, NULL },
	{ "Space", GT_DO_FOLD, 0, "fold or unfold the lane, or its parent", "Space z Z\tfold one; all; none" },
	{ "z", GT_DO_FOLD_ALL, 1, "fold or unfold all lanes", NULL },
	{ "Z", GT_DO_FOLD_ALL, 0, NULL, NULL },
	{ "x", GT_DO_HIDE, 0, "hide the lane", "x X\thide; show hidden" },
	{ "X", GT_DO_SHOW_HIDDEN, 0, "show all hidden lanes", NULL },
	{ "K", GT_DO_MOVE, -1, "move the lane up or down", "K J\tmove the lane up, down" },
	{ "J", GT_DO_MOVE, 1, NULL, NULL },
	{ "\\ F4", GT_DO_FILTER, 0, "show only lanes whose name contains a text", "\\\tfilter lanes by name" },
	HEADING("Events", 1),
	{ "Enter", GT_DO_SELECT, 0, "select the event at the cursor", "Enter\tselect the event" },
	{ "Tab", GT_DO_NEXT, 1, "next or previous event; in reports: table", "Tab S-Tab\tnext, previous event" },
	{ "S-Tab", GT_DO_NEXT, -1, NULL, NULL },
	{ "]", GT_DO_SAME, 1, "next or previous event of the same name", "] [\t... of the same name" },
	{ "[", GT_DO_SAME, -1, NULL, NULL },
	{ "f", GT_DO_SAME_STACK, 0, "find events of the same call stack", "f\t... of the same call stack" },
	{ "G", GT_DO_LONGEST_GAP, 0, "longest visible gap of the lane, else of a GPU", "G\tlongest gap of the GPU" },
	{ "}", GT_DO_GAP, 1, "next or previous gap of a cell or more", "} {\tnext, previous gap" },
	{ "{", GT_DO_GAP, -1, NULL, NULL },
	{ "e", GT_DO_FAILURE, 1, "next or previous call that failed", "e E\tnext, previous failure" },
	{ "E", GT_DO_FAILURE, -1, NULL, NULL },
	{ "c", GT_DO_PARTNER, 0, "from a call to the work it launched, and back", "c\tcall <-> its GPU work" },
	{ "v", GT_DO_LONGEST, 0, "longest visible event of the lane or flame box", "v\tlongest visible event" },
	{ "/", GT_DO_FIND, 0, "find names, rows, boxes by regular expression", "/  n N\tfind; next, previous" },
	{ "n", GT_DO_FOUND, 1, "next or previous match", NULL },
	{ "N", GT_DO_FOUND, -1, NULL, NULL },
	{ "m", GT_DO_MARK, 0, "set mark A, then B, at event edges; measure", "m  M\tset marks; around event" },
	{ "M", GT_DO_MARK_BOTH, 0, "set marks at both ends of the selection", NULL },
	{ "i", GT_DO_DETAIL, 0, "details: normal, tall, off", "i  p P\tdetails: larger; scroll" },
	{ "p", GT_DO_DETAIL_SCROLL, 1, "details: scroll down or up", NULL },
	{ "P", GT_DO_DETAIL_SCROLL, -1, NULL, NULL },
	HEADING("Values and views", 0),
	{ "b", GT_DO_HEIGHTS, 1, "busy share, count, longest or bytes", "b B\tbusy, count, longest ..." },
	{ "B", GT_DO_HEIGHTS, -1, NULL, NULL },
	{ "t", GT_DO_CLOCK, 0, "times since the start, or wall-clock times", "t\twall-clock times" },
	{ "1", GT_DO_VIEW, 0, "the timeline", "1 2 3\ttimeline, top, kernels" },
	{ "2", GT_DO_VIEW, 1, "reports: top, kernels, streams, gaps", NULL },
	{ "3", GT_DO_VIEW, 2, NULL, NULL },
	{ "4", GT_DO_VIEW, 3, NULL, "4 5 6\tstreams, gaps, ioctls" },
	{ "5", GT_DO_VIEW, 4, NULL, NULL },
	{ "6", GT_DO_VIEW, 5, "reports: ioctls, memory, advice", NULL },
	{ "7", GT_DO_VIEW, 6, NULL, "7 8 9\tmemory, advice, flames" },
	{ "8", GT_DO_VIEW, 7, NULL, NULL },
	{ "9", GT_DO_VIEW, 8, "flame graph; 9 or b again: its next kind", NULL },
	{ "o", GT_DO_SORT, 0, "sort by the current column; again: reverse", "o\tsort by this column" },
	HEADING("Mouse", 1),
	{ "press", GT_DO_POINT, 0, "select the event; in the overview, go there", "click\tselect; twice: fold" },
	{ "drag", GT_DO_DRAG, 0, "mark the range; on the axis: pan", "drag\tmark; on the axis: pan" },
	{ "release", GT_DO_RELEASE, 0, NULL, NULL },
	{ "second-press", GT_DO_POINT_FOLD, 0, "fold or unfold", NULL },
	{ "wheel-up", GT_DO_ZOOM, 1, "zoom in or out around the mouse", "wheel\tzoom; with Shift: pan" },
	{ "wheel-down", GT_DO_ZOOM, -1, NULL, NULL },
	{ "S-wheel-up", GT_DO_PAN, -1, "pan", NULL },
	{ "S-wheel-down", GT_DO_PAN, 1, NULL, NULL },
	HEADING("General", 1),
	{ ":", GT_DO_COMMAND, 0, "enter a command; Tab lists and completes", ":\tcommand, Tab completes" },
	{ "*", GT_DO_COMMAND, 1, "set a bookmark here", "*  @\tset, go to a bookmark" },
	{ "@", GT_DO_COMMAND, 2, "go to a bookmark", NULL },
	{ "? F1", GT_DO_HELP, 0, "show this list", NULL },
	{ "Esc", GT_DO_ESCAPE, 0, "cancel; clear the filter", "Esc\tcancel; clear the filter" },
	{ "C-l", GT_DO_REDRAW, 0, "redraw the screen", "C-l\tredraw the screen" },
	{ "q C-c F10", GT_DO_QUIT, 0, "quit", "q\tquit" },
};
/* clang-format on */
const size_t gt_nbindings = sizeof(gt_bindings) / sizeof(*gt_bindings);

static bool has_word(const char *words, const char *word, size_t n)
{
	for (const char *w = words; w; w = strchr(w, ' ')) {
		w += strspn(w, " ");
		if (strcspn(w, " ") == n && !memcmp(w, word, n))
			return true;
	}
	return false;
}

const struct gt_binding *gt_binding_of(struct gt_key k)
{
	char room[GT_KEY_WORD];
	const char *word = gt_key_word(k, room);
	size_t n = word ? strcspn(word, " ") : 0; /* the mouse position follows the word */

	for (size_t i = 0; n && i < gt_nbindings; i++)
		if (gt_bindings[i].keys && has_word(gt_bindings[i].keys, word, n))
			return &gt_bindings[i];
	return NULL;
}

/* ---- help texts ---- */

const char *gt_binding_help(const struct gt_binding *b)
{
	while (!b->help && b > gt_bindings)
		b--;
	return b->help ? b->help : "";
}

#define KEYS_WIDTH 25

/* The usual name of a mouse action. */
static const char *spoken(const struct gt_binding *b)
{
	return b->action == GT_DO_POINT         ? "click"
		: b->action == GT_DO_POINT_FOLD ? "double click"
						: b->keys;
}

/* The keys of a row and of the following rows without a help text: "h Left / l Right". Returns
 * the number of these rows. */
static size_t put_keys(size_t i, char *to, size_t room)
{
	size_t n = 1, len = (size_t)snprintf(to, room, "%s", spoken(&gt_bindings[i]));

	for (; i + n < gt_nbindings && gt_bindings[i + n].keys && !gt_bindings[i + n].help; n++)
		/* implied by drag */
		if (len < room && gt_bindings[i + n].action != GT_DO_RELEASE)
			len += (size_t)snprintf(
				to + len, room - len, " / %s", spoken(&gt_bindings[i + n]));
	return n;
}

void gt_bindings_text(struct gt_buf *to)
{
	char keys[80];

	for (size_t i = 0, n; i < gt_nbindings; i += n) {
		n = 1;
		if (!gt_bindings[i].keys) {
			gt_buf_printf(to, "%s%s:\n", i ? "\n" : "", gt_bindings[i].help);
			continue;
		}
		n = put_keys(i, keys, sizeof(keys));
		gt_buf_printf(to, "  %-*s %s\n", KEYS_WIDTH, keys, gt_bindings[i].help);
	}
	gt_buf_byte(to, 0);
}
