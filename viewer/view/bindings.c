#include "viewer/view/bindings.h"

#include <stdio.h>
#include <string.h>

#define HEADING(text)                                                                              \
	{                                                                                          \
		NULL, GT_DO_NOTHING, 0, text                                                       \
	}
const struct gt_binding gt_bindings[] = {
	HEADING("In time"),
	{ "h Left", GT_DO_STEP, -1, "cursor a cell left or right; pans at the edge" },
	{ "l Right", GT_DO_STEP, 1, NULL },
	{ "H S-Left", GT_DO_STEP, -8, "cursor eight cells left or right" },
	{ "L S-Right", GT_DO_STEP, 8, NULL },
	{ "a", GT_DO_PAN, -2, "pan by a quarter of the window" },
	{ "d", GT_DO_PAN, 2, NULL },
	{ "A", GT_DO_PAN, -8, "pan by a whole window" },
	{ "D", GT_DO_PAN, 8, NULL },
	{ "w + =", GT_DO_ZOOM, 1, "zoom in or out around the cursor" },
	{ "s -", GT_DO_ZOOM, -1, NULL },
	{ "f", GT_DO_FIT, 0, "show the whole run" },
	{ "F", GT_DO_FIT, 1, "show the marked range, else the selection" },
	{ "Home 0", GT_DO_START, 0, "go to the start or the end of the run" },
	{ "End $", GT_DO_END, 0, NULL },
	{ "g", GT_DO_GOTO, 0, "go to a time: 1.5s, 250ms, 1:05.5" },
	HEADING("Lanes"),
	{ "k Up", GT_DO_LINE, -1, "a lane up or down" },
	{ "j Down", GT_DO_LINE, 1, NULL },
	{ "PgUp C-b", GT_DO_PAGE, -1, "a screen up or down" },
	{ "PgDn C-f", GT_DO_PAGE, 1, NULL },
	{ "<", GT_DO_TOP, 0, "the first or the last lane" },
	{ ">", GT_DO_BOTTOM, 0, NULL },
	{ "Space", GT_DO_FOLD, 0, "fold or unfold the lane, or its parent" },
	{ "z", GT_DO_FOLD_ALL, 1, "fold or unfold all lanes" },
	{ "Z", GT_DO_FOLD_ALL, 0, NULL },
	{ "x", GT_DO_HIDE, 0, "hide the lane" },
	{ "X", GT_DO_SHOW_HIDDEN, 0, "show all hidden lanes" },
	{ "K", GT_DO_MOVE, -1, "move the lane up or down" },
	{ "J", GT_DO_MOVE, 1, NULL },
	{ "\\ F4", GT_DO_FILTER, 0, "show only lanes whose name contains a text" },
	HEADING("Events"),
	{ "Enter", GT_DO_SELECT, 0, "select the event at the cursor" },
	{ "Tab", GT_DO_NEXT, 1, "next or previous event; in reports: table" },
	{ "S-Tab", GT_DO_NEXT, -1, NULL },
	{ "]", GT_DO_SAME, 1, "next or previous event of the same name" },
	{ "[", GT_DO_SAME, -1, NULL },
	{ "}", GT_DO_GAP, 1, "next or previous gap of a cell or more" },
	{ "{", GT_DO_GAP, -1, NULL },
	{ "e", GT_DO_FAILURE, 1, "next or previous call that failed" },
	{ "E", GT_DO_FAILURE, -1, NULL },
	{ "c", GT_DO_PARTNER, 0, "from a call to the work it launched, and back" },
	{ "v", GT_DO_LONGEST, 0, "longest visible event of the lane or flame box" },
	{ "/", GT_DO_FIND, 0, "find names, rows, boxes by regular expression" },
	{ "n", GT_DO_FOUND, 1, "next or previous match" },
	{ "N", GT_DO_FOUND, -1, NULL },
	{ "m", GT_DO_MARK, 0, "set mark A, then B, at event edges; measure" },
	{ "M", GT_DO_MARK_BOTH, 0, "set marks at both ends of the selection" },
	{ "i", GT_DO_DETAIL, 0, "details: normal, tall, off" },
	HEADING("What cells show"),
	{ "b", GT_DO_HEIGHTS, 1, "busy share, count, longest or bytes" },
	{ "B", GT_DO_HEIGHTS, -1, NULL },
	{ "t", GT_DO_CLOCK, 0, "times since the start, or wall-clock times" },
	HEADING("Views of the visible time"),
	{ "1", GT_DO_VIEW, 0, "the timeline" },
	{ "2", GT_DO_VIEW, 1, "reports: top, kernels, streams, gaps" },
	{ "3", GT_DO_VIEW, 2, NULL },
	{ "4", GT_DO_VIEW, 3, NULL },
	{ "5", GT_DO_VIEW, 4, NULL },
	{ "6", GT_DO_VIEW, 5, "reports: ioctls, memory, advice" },
	{ "7", GT_DO_VIEW, 6, NULL },
	{ "8", GT_DO_VIEW, 7, NULL },
	{ "9", GT_DO_VIEW, 8, "flame graph; 9 or b again: of GPUs, of ranges" },
	{ "o", GT_DO_SORT, 0, "sort by the current column; again: reverse" },
	HEADING("Mouse"),
	{ "press", GT_DO_POINT, 0, "select the event; in the overview, go there" },
	{ "drag", GT_DO_DRAG, 0, "mark the range; on the axis: pan" },
	{ "release", GT_DO_RELEASE, 0, NULL },
	{ "second-press", GT_DO_POINT_FOLD, 0, "fold or unfold" },
	{ "wheel-up", GT_DO_ZOOM, 1, "zoom in or out around the mouse" },
	{ "wheel-down", GT_DO_ZOOM, -1, NULL },
	{ "S-wheel-up", GT_DO_PAN, -1, "pan" },
	{ "S-wheel-down", GT_DO_PAN, 1, NULL },
	HEADING("General"),
	{ ":", GT_DO_COMMAND, 0, "enter a command; Tab lists and completes" },
	{ "*", GT_DO_COMMAND, 1, "set a bookmark here" },
	{ "@", GT_DO_COMMAND, 2, "go to a bookmark" },
	{ "? F1", GT_DO_HELP, 0, "show this list" },
	{ "Esc", GT_DO_ESCAPE, 0, "cancel; clear the filter" },
	{ "C-l", GT_DO_REDRAW, 0, "redraw the screen" },
	{ "q C-c F10", GT_DO_QUIT, 0, "quit" },
};
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
