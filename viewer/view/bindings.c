#include "viewer/view/bindings.h"

#include <stdio.h>
#include <string.h>

#define HEADING(text) { NULL, GT_DO_NOTHING, 0, text }
const struct gt_binding gt_bindings[] = {
	HEADING("In time"),
	{ "h Left",		GT_DO_STEP,	-1,	"a cell left or right; at the edge the window pans" },
	{ "l Right",		GT_DO_STEP,	1,	NULL },
	{ "H S-Left",		GT_DO_STEP,	-8,	"eight cells left or right" },
	{ "L S-Right",		GT_DO_STEP,	8,	NULL },
	{ "a",			GT_DO_PAN,	-2,	"pan by a quarter of the window" },
	{ "d",			GT_DO_PAN,	2,	NULL },
	{ "A",			GT_DO_PAN,	-8,	"pan by a whole window" },
	{ "D",			GT_DO_PAN,	8,	NULL },
	{ "w + =",		GT_DO_ZOOM,	1,	"zoom in or out about the cursor" },
	{ "s -",		GT_DO_ZOOM,	-1,	NULL },
	{ "f",			GT_DO_FIT,	0,	"the whole run" },
	{ "F",			GT_DO_FIT,	1,	"what is between the marks, or what is selected" },
	{ "Home 0",		GT_DO_START,	0,	"the start or the end of the run" },
	{ "End $",		GT_DO_END,	0,	NULL },
	{ "g",			GT_DO_GOTO,	0,	"go to a time: 1.5s, 250ms, 1:05.5" },
	HEADING("Lanes"),
	{ "k Up",		GT_DO_LINE,	-1,	"a lane up or down" },
	{ "j Down",		GT_DO_LINE,	1,	NULL },
	{ "PgUp C-b",		GT_DO_PAGE,	-1,	"a screen up or down" },
	{ "PgDn C-f",		GT_DO_PAGE,	1,	NULL },
	{ "<",			GT_DO_TOP,	0,	"the first or the last lane" },
	{ ">",			GT_DO_BOTTOM,	0,	NULL },
	{ "Space",		GT_DO_FOLD,	0,	"fold or unfold the lane, or what it is beneath" },
	{ "z",			GT_DO_FOLD_ALL,	1,	"fold or unfold all lanes" },
	{ "Z",			GT_DO_FOLD_ALL,	0,	NULL },
	{ "x",			GT_DO_HIDE,	0,	"hide the lane" },
	{ "X",			GT_DO_SHOW_HIDDEN, 0,	"show all hidden lanes" },
	{ "K",			GT_DO_MOVE,	-1,	"move the lane up or down" },
	{ "J",			GT_DO_MOVE,	1,	NULL },
	{ "\\ F4",		GT_DO_FILTER,	0,	"show only lanes whose name holds a text" },
	HEADING("Events"),
	{ "Enter",		GT_DO_SELECT,	0,	"select the event at the cursor" },
	{ "Tab",		GT_DO_NEXT,	1,	"the next on the lane, or before; in reports: table" },
	{ "S-Tab",		GT_DO_NEXT,	-1,	NULL },
	{ "]",			GT_DO_SAME,	1,	"the next of the same name, or the one before" },
	{ "[",			GT_DO_SAME,	-1,	NULL },
	{ "}",			GT_DO_GAP,	1,	"the next gap of a cell or more, or the one before" },
	{ "{",			GT_DO_GAP,	-1,	NULL },
	{ "e",			GT_DO_FAILURE,	1,	"the next call that failed, or the one before" },
	{ "E",			GT_DO_FAILURE,	-1,	NULL },
	{ "c",			GT_DO_PARTNER,	0,	"from a call to what it launched, and back" },
	{ "v",			GT_DO_LONGEST,	0,	"the longest in view: of the lane, of a flame's box" },
	{ "/",			GT_DO_FIND,	0,	"find names, rows, boxes: a regular expression" },
	{ "n",			GT_DO_FOUND,	1,	"the next that was found, or the one before" },
	{ "N",			GT_DO_FOUND,	-1,	NULL },
	{ "m",			GT_DO_MARK,	0,	"mark A, then B, at an edge: what is between them" },
	{ "M",			GT_DO_MARK_BOTH, 0,	"marks at both ends of what is selected" },
	{ "i",			GT_DO_DETAIL,	0,	"all about what is selected: a pane, a tall one" },
	HEADING("What cells show"),
	{ "b",			GT_DO_HEIGHTS,	1,	"busy share, count, longest or bytes" },
	{ "B",			GT_DO_HEIGHTS,	-1,	NULL },
	{ "t",			GT_DO_CLOCK,	0,	"times since the start, or of the wall clock" },
	HEADING("Views of the time that is seen"),
	{ "1",			GT_DO_VIEW,	0,	"the timeline" },
	{ "2",			GT_DO_VIEW,	1,	"reports: top, kernels, streams, gaps" },
	{ "3",			GT_DO_VIEW,	2,	NULL },
	{ "4",			GT_DO_VIEW,	3,	NULL },
	{ "5",			GT_DO_VIEW,	4,	NULL },
	{ "6",			GT_DO_VIEW,	5,	"reports: ioctls, memory, advice" },
	{ "7",			GT_DO_VIEW,	6,	NULL },
	{ "8",			GT_DO_VIEW,	7,	NULL },
	{ "9",			GT_DO_VIEW,	8,	"flame graph; again, or b: of GPUs, of ranges" },
	{ "o",			GT_DO_SORT,	0,	"sort by the column at hand, or the other way" },
	HEADING("Mouse"),
	{ "press",		GT_DO_POINT,	0,	"select what is there; in the overview, go there" },
	{ "drag",		GT_DO_DRAG,	0,	"marks around what is drawn over; on the axis: pan" },
	{ "release",		GT_DO_RELEASE,	0,	NULL },
	{ "second-press",	GT_DO_POINT_FOLD, 0,	"fold or unfold" },
	{ "wheel-up",		GT_DO_ZOOM,	1,	"zoom in or out where the mouse is" },
	{ "wheel-down",		GT_DO_ZOOM,	-1,	NULL },
	{ "S-wheel-up",		GT_DO_PAN,	-1,	"pan" },
	{ "S-wheel-down",	GT_DO_PAN,	1,	NULL },
	HEADING("General"),
	{ ":",			GT_DO_COMMAND,	0,	"a command: Tab shows which, and completes" },
	{ "*",			GT_DO_COMMAND,	1,	"a bookmark here, of a name" },
	{ "@",			GT_DO_COMMAND,	2,	"to a bookmark" },
	{ "? F1",		GT_DO_HELP,	0,	"this list" },
	{ "Esc",		GT_DO_ESCAPE,	0,	"leave what was begun; take back the filter" },
	{ "C-l",		GT_DO_REDRAW,	0,	"draw everything anew" },
	{ "q C-c F10",		GT_DO_QUIT,	0,	"quit" },
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
	size_t n = word ? strcspn(word, " ") : 0;	/* behind it is where the mouse was */

	for (size_t i = 0; n && i < gt_nbindings; i++)
		if (gt_bindings[i].keys && has_word(gt_bindings[i].keys, word, n))
			return &gt_bindings[i];
	return NULL;
}

/* ---- for people ---- */

const char *gt_binding_help(const struct gt_binding *b)
{
	while (!b->help && b > gt_bindings)
		b--;
	return b->help ? b->help : "";
}

#define KEYS_WIDTH 25

/* What people call that with the mouse. */
static const char *spoken(const struct gt_binding *b)
{
	return b->action == GT_DO_POINT ? "click" : b->action == GT_DO_POINT_FOLD ? "double click" : b->keys;
}

/* The keys of a row and of those that are told together with it: "h Left / l Right". Returns how many rows that are. */
static size_t put_keys(size_t i, char *to, size_t room)
{
	size_t n = 1, len = (size_t)snprintf(to, room, "%s", spoken(&gt_bindings[i]));

	for (; i + n < gt_nbindings && gt_bindings[i + n].keys && !gt_bindings[i + n].help; n++)
		if (len < room && gt_bindings[i + n].action != GT_DO_RELEASE)	/* goes without saying */
			len += (size_t)snprintf(to + len, room - len, " / %s", spoken(&gt_bindings[i + n]));
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
