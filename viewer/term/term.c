/* ncurses knows what several hundred terminals want to be sent, and sends no more than has changed.
 * That is what it is asked for: to find the terminal's abilities, and to bring cells to its screen.
 * Three things it is not asked for, because they have to hold at any moment:
 *
 *   giving the terminal back is guard.c's, so that a signal's handler can do it;
 *   keys are read and understood here and in typed.c: ncurses takes the end of its input for
 * "nothing yet", for ever, and knows the mouse of few terminals; what is on the screen is
 * remembered here as well, so that of a frame that is the same but for two cells only these two are
 *   handed on.
 *
 * Colours: the terminal's entry says how many. COLORTERM says 16 million, and is believed as far as
 * the database has an entry for it (xterm-direct, or else xterm-256color); the table of colours
 * (palette.c) looks nearly the same with 256. A terminal that is newer than the machine's database,
 * as happens over ssh, is taken for the xterm that it copies.
 */
#define _GNU_SOURCE
#define NCURSES_WIDECHAR 1
#include "viewer/term/term.h"

#include <curses.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <term.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>
#include "viewer/term/glyphs.h"
#include "viewer/term/terminal_restore.h"
#include "viewer/term/key_decoder.h"

#define MS_ESC 50 /* an ESC that nothing has followed for so long is the key */
#define MS_DOUBLE 400
#define OWN_MOST 48
/* Buttons and what moves while one is held (1002), in numbers of any size (1006). */
#define MOUSE_ON "\x1b[?1002h\x1b[?1006h"
#define MOUSE_OFF "\x1b[?1006l\x1b[?1002l"

struct colours {
	int32_t ink, paper;
};
struct seen {
	int16_t pair;
	uint8_t style;
	bool known;
};

struct gt_term {
	FILE *in, *out, *opened; /* opened: /dev/tty, if that is `in` */
	SCREEN *screen;
	enum gt_colours colours;
	bool ascii, gone, spoilt;
	/* ncurses fills the last cell of the screen by moving the one before it there */
	bool inserts_corner;
	int signal_fd; /* can be read from when something was told; guard.h's */
	unsigned width, height;
	struct gt_spot *shown; /* height lines of width; ch UINT32_MAX: not known */
	struct seen seen[GT_INKS][GT_INKS];
	struct colours *pairs; /* what ncurses' pairs are, from 1 */
	int npairs, most_pairs;
	struct gt_key_sequence own[OWN_MOST];
	size_t nown;
	uint8_t typed[4 * GT_KEY_DECODE_MAX];
	size_t ntyped;
	/* ms; pressed_at: 0, when the last press cannot be the first of two */
	int64_t typed_at, pressed_at;
	struct gt_key pressed;
};

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- which terminal it is ---- */

/* Names that are newer than many databases, and what these know that understands the same. */
static const struct {
	const char *begins, *known[2];
} copies[] = {
	{ "tmux", { "screen-256color", "screen" } },
	{ "screen", { "screen-256color", "screen" } },
	{ "xterm", { "xterm-256color", "xterm" } },
	{ "alacritty", { "xterm-256color", "xterm" } },
	{ "contour", { "xterm-256color", "xterm" } },
	{ "foot", { "xterm-256color", "xterm" } },
	{ "ghostty", { "xterm-256color", "xterm" } },
	{ "gnome", { "xterm-256color", "xterm" } },
	{ "iterm", { "xterm-256color", "xterm" } },
	{ "kitty", { "xterm-256color", "xterm" } },
	{ "konsole", { "xterm-256color", "xterm" } },
	{ "rxvt", { "rxvt-256color", "rxvt" } },
	{ "st-", { "xterm-256color", "xterm" } },
	{ "vte", { "xterm-256color", "xterm" } },
	{ "wezterm", { "xterm-256color", "xterm" } },
};

static bool environment_says(const char *name)
{
	const char *v = getenv(name);

	return v && *v;
}

static bool millions(void)
{
	const char *v = getenv("COLORTERM");

	return v && (!strcmp(v, "truecolor") || !strcmp(v, "24bit")) &&
		!environment_says("NO_COLOR");
}

/* newterm() leaks memory where the database has no such name, so that is asked first. */
static bool try_entry(struct gt_term *t, const char *name)
{
	int why;

	if (setupterm(name, fileno(t->out), &why) == ERR)
		return false;
	del_curterm(cur_term);
	t->screen = newterm(name, t->out, t->in);
	return t->screen;
}

/* The same terminal, with more colours than its name says. */
static bool try_more_colours(struct gt_term *t, const char *term)
{
	size_t n = strlen(term);
	char name[64];

	if (n > 9 && !strcmp(term + n - 9, "-256color"))
		n -= 9;
	snprintf(name, sizeof(name), "%.*s-direct", (int)(n < 40 ? n : 40), term);
	if (try_entry(t, name))
		return true;
	snprintf(name, sizeof(name), "%.*s-256color", (int)(n < 40 ? n : 40), term);
	return try_entry(t, name);
}

static int find_entry(struct gt_term *t, const char *term, struct gt_err *err)
{
	if (!term || !*term)
		return gt_err_set(err, -ENOTSUP, "TERM is not set: it says which terminal this is");
	/* sizes come from the terminal, even if a shell once exported others */
	use_env(FALSE);
	use_tioctl(TRUE);
	if ((millions() && try_more_colours(t, term)) || try_entry(t, term))
		return 0;
	for (size_t i = 0; i < sizeof(copies) / sizeof(*copies); i++)
		if (!strncmp(term, copies[i].begins, strlen(copies[i].begins)) &&
			(try_entry(t, copies[i].known[0]) || try_entry(t, copies[i].known[1])))
			return 0;
	return gt_err_set(err, -ENOTSUP, "terminal \"%.60s\" (TERM) is unknown here", term);
}

/* A string of the terminal's entry; NULL: it has none. */
static const char *ability(const char *name)
{
	const char *s = tigetstr(name);

	return s && s != (const char *)-1 && *s ? s : NULL;
}

static int check_abilities(const char *term, struct gt_err *err)
{
	if (!ability("cup") || !ability("clear") || tigetflag("hc") > 0)
		return gt_err_set(
			err, -ENOTSUP, "terminal \"%.60s\" (TERM) cannot move its cursor", term);
	return 0;
}

/* ---- what it can do ---- */

/* Is a locale named that this machine does not have (ssh brings names along), it can still be one
 * of UTF-8. */
static bool find_utf8(void)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
	const char *name = NULL;

	if (!setlocale(LC_CTYPE, "")) {
		for (size_t i = 0; i < 3 && !name; i++)
			name = environment_says(names[i]) ? getenv(names[i]) : NULL;
		if (name && (strcasestr(name, "utf-8") || strcasestr(name, "utf8")))
			setlocale(LC_CTYPE, "C.UTF-8");
	}
	return !strcmp(nl_langinfo(CODESET), "UTF-8");
}

static enum gt_colours find_colours(void)
{
	if (environment_says("NO_COLOR") || !has_colors() || start_color() == ERR ||
		use_default_colors() == ERR)
		return GT_MONO;
	if (COLORS >= 1 << 24 && tigetflag("RGB") > 0)
		return GT_COLOURS_TRUE;
	return COLORS >= 256 ? GT_COLOURS_256 : COLORS >= 8 ? GT_COLOURS_8 : GT_MONO;
}

/* What this terminal sends for its keys. Most of it typed.c knows anyway. */
static void find_keys(struct gt_term *t)
{
	static const struct {
		const char *name;
		uint32_t key;
		uint8_t with;
	} keys[] = {
		{ "kcuu1", GT_KEY_UP, 0 },
		{ "kcud1", GT_KEY_DOWN, 0 },
		{ "kcub1", GT_KEY_LEFT, 0 },
		{ "kcuf1", GT_KEY_RIGHT, 0 },
		{ "kpp", GT_KEY_PAGE_UP, 0 },
		{ "knp", GT_KEY_PAGE_DOWN, 0 },
		{ "khome", GT_KEY_HOME, 0 },
		{ "kend", GT_KEY_END, 0 },
		{ "kich1", GT_KEY_INSERT, 0 },
		{ "kdch1", GT_KEY_DELETE, 0 },
		{ "kcbt", GT_KEY_BACKTAB, 0 },
		{ "kLFT", GT_KEY_SHIFT_LEFT, 0 },
		{ "kRIT", GT_KEY_SHIFT_RIGHT, 0 },
		{ "kri", GT_KEY_UP, GT_WITH_SHIFT },
		{ "kind", GT_KEY_DOWN, GT_WITH_SHIFT },
		{ "kLFT5", GT_KEY_LEFT, GT_WITH_CTRL },
		{ "kRIT5", GT_KEY_RIGHT, GT_WITH_CTRL },
		{ "kUP5", GT_KEY_UP, GT_WITH_CTRL },
		{ "kDN5", GT_KEY_DOWN, GT_WITH_CTRL },
		{ "kf1", GT_KEY_F1, 0 },
		{ "kf2", GT_KEY_F1 + 1, 0 },
		{ "kf3", GT_KEY_F1 + 2, 0 },
		{ "kf4", GT_KEY_F1 + 3, 0 },
		{ "kf5", GT_KEY_F1 + 4, 0 },
		{ "kf6", GT_KEY_F1 + 5, 0 },
		{ "kf7", GT_KEY_F1 + 6, 0 },
		{ "kf8", GT_KEY_F1 + 7, 0 },
		{ "kf9", GT_KEY_F1 + 8, 0 },
		{ "kf10", GT_KEY_F1 + 9, 0 },
		{ "kf11", GT_KEY_F1 + 10, 0 },
		{ "kf12", GT_KEY_F1 + 11, 0 },
	};

	_Static_assert(sizeof(keys) / sizeof(*keys) <= OWN_MOST, "room for all");
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		const char *s = ability(keys[i].name);
		size_t n = s ? strlen(s) : 0;
		struct gt_key_sequence *own = &t->own[t->nown];

		if (n < 2 || n > sizeof(own->bytes) || *s != '\x1b')
			continue;
		memcpy(own->bytes, s, n);
		own->len = (uint8_t)n;
		own->key = (struct gt_key){ .key = keys[i].key, .with = keys[i].with };
		t->nown++;
	}
}

/* Adds a string of the terminal's to `to`. The delays in it ("$<5>"), which are for lines of 1200
 * baud, are left out. */
static void add_ability(char to[GT_TERMINAL_SEQUENCE_MAX], const char *s)
{
	size_t n = strlen(to);

	for (; s && *s && n + 1 < GT_TERMINAL_SEQUENCE_MAX; s++) {
		const char *end = s[0] == '$' && s[1] == '<' ? strchr(s, '>') : NULL;

		if (end)
			s = end;
		else
			to[n++] = *s;
	}
	to[n] = 0;
}

static void find_strings(struct gt_terminal_state *g)
{
	bool mouse = ability("kmous");

	add_ability(g->take, ability("smcup"));
	add_ability(g->take, ability("smkx"));
	add_ability(g->take, ability("civis"));
	add_ability(g->take, mouse ? MOUSE_ON : "");
	add_ability(g->give, mouse ? MOUSE_OFF : "");
	add_ability(g->give, ability("sgr0"));
	add_ability(g->give, ability("op"));
	/* it has no second page: under our last line then, however many there are */
	if (!ability("smcup")) {
		add_ability(g->give, tparm(ability("cup"), 998, 0, 0, 0, 0, 0, 0, 0, 0));
		add_ability(g->give, ability("el"));
	}
	add_ability(g->give, ability("rmkx"));
	add_ability(g->give, ability("cnorm"));
	add_ability(g->give, ability("rmcup"));
}

/* Each byte comes at once and as it is, and nothing echoes. Ctrl-Z still stops; Ctrl-C and
 * Ctrl-\ are keys. */
static struct termios our_modes(struct termios m)
{
	m.c_iflag &= ~(tcflag_t)(BRKINT | PARMRK | ISTRIP | INLCR | IGNCR | ICRNL | IXON);
	m.c_oflag &= ~(tcflag_t)ONLCR;
	m.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ECHONL | IEXTEN);
	m.c_cc[VINTR] = m.c_cc[VQUIT] = _POSIX_VDISABLE;
	m.c_cc[VMIN] = 1;
	m.c_cc[VTIME] = 0;
	return m;
}

/* ---- open and close ---- */

static int find_files(struct gt_term *t, FILE *in, FILE *out, struct gt_err *err)
{
	if (!out && !isatty(STDOUT_FILENO))
		return gt_err_set(err, -ENOTSUP, "standard output is no terminal");
	t->out = out ? out : stdout;
	t->in = in ? in : stdin;
	if (!in && !isatty(STDIN_FILENO)) { /* a trace comes that way, perhaps */
		t->in = t->opened = fopen("/dev/tty", "re");
		if (!t->in)
			return gt_err_set(err, -ENOTSUP, "no terminal to read keys from: %s",
				strerror(errno));
	}
	fflush(t->out);
	return 0;
}

static void find_size(struct gt_term *t)
{
	struct winsize w = { 0 };

	if (ioctl(fileno(t->out), TIOCGWINSZ, &w) || !w.ws_col || !w.ws_row) {
		w.ws_col = (unsigned short)COLS;
		w.ws_row = (unsigned short)LINES;
	}
	t->width = w.ws_col < GT_SCREEN_MOST ? w.ws_col : GT_SCREEN_MOST;
	t->height = w.ws_row < GT_SCREEN_MOST ? w.ws_row : GT_SCREEN_MOST;
}

/* Whatever ncurses thinks is on the screen, and what we do, is not so any more. */
static int forget(struct gt_term *t)
{
	struct gt_spot *shown = realloc(t->shown, (size_t)t->width * t->height * sizeof(*shown));

	t->spoilt = true;
	if (!shown)
		return -ENOMEM;
	t->shown = shown;
	memset(shown, 0xff, (size_t)t->width * t->height * sizeof(*shown));
	return 0;
}

/* Now the terminal is ours: another page of it, its keys, its mouse. */
static void take(struct gt_term *t, struct gt_terminal_state *g)
{
	find_strings(g);
	gt_terminal_restore_arm(g);
	raw();
	noecho();
	nonl();
	if (g->modes) {
		tcsetattr(g->fd, TCSADRAIN, &g->ours);
		def_prog_mode();
	}
	keypad(stdscr, TRUE);
	leaveok(stdscr, TRUE);
	typeahead(-1); /* a frame is shown as a whole, even if more was typed meanwhile */
	curs_set(0);
	if (is_term_resized((int)t->height, (int)t->width))
		resize_term((int)t->height, (int)t->width);
	refresh();
	t->spoilt = false; /* it is empty, as ncurses knows */
	if (ability("kmous") && write(g->fd, MOUSE_ON, strlen(MOUSE_ON)) < 0)
		t->gone = true;
}

static int open_terminal(struct gt_term *t, const char *term, struct gt_err *err)
{
	struct gt_terminal_state g = { .fd = fileno(t->out) };
	int r;

	g.modes = !tcgetattr(g.fd, &g.theirs);
	g.ours = our_modes(g.theirs);
	gt_terminal_restore_arm(&g); /* newterm() changes modes */
	t->ascii = !find_utf8();
	if ((r = find_entry(t, term, err)) || (r = check_abilities(term, err)))
		return r;
	t->colours = find_colours();
	t->inserts_corner = !ability("smam") || !ability("rmam");
	t->most_pairs = COLOR_PAIRS < INT16_MAX ? COLOR_PAIRS - 1 : INT16_MAX;
	t->pairs = calloc(GT_INKS * GT_INKS, sizeof(*t->pairs));
	find_keys(t);
	find_size(t);
	if (!t->pairs || forget(t))
		return gt_err_set(err, -ENOMEM, "out of memory");
	take(t, &g);
	return 0;
}

struct gt_term *gt_term_open(FILE *in, FILE *out, const char *term, struct gt_err *err)
{
	struct gt_term *t = calloc(1, sizeof(*t));

	if (!t) {
		gt_err_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	if (find_files(t, in, out, err) || (t->signal_fd = gt_terminal_restore_init(err)) < 0) {
		if (t->opened)
			fclose(t->opened);
		free(t);
		return NULL;
	}
	if (open_terminal(t, term ? term : getenv("TERM"), err)) {
		gt_term_close(t);
		return NULL;
	}
	return t;
}

void gt_term_close(struct gt_term *t)
{
	if (!t)
		return;
	if (t->screen)
		delscreen(t->screen);
	if (t->opened)
		fclose(t->opened);
	free(t->shown);
	free(t->pairs);
	free(t);
	gt_terminal_restore_close();
}

enum gt_colours gt_term_colours(const struct gt_term *t) { return t->colours; }

bool gt_term_ascii(const struct gt_term *t) { return t->ascii; }

void gt_term_size(const struct gt_term *t, unsigned *width, unsigned *height)
{
	*width = t->width;
	*height = t->height;
}

/* ---- showing ---- */

/* ncurses' number for two colours. When all are used up, that of the terminal's own. */
static int16_t pair_of(struct gt_term *t, struct gt_shown shown)
{
	struct colours c = { shown.ink, shown.paper };

	if (t->colours == GT_MONO || (c.ink == GT_OWN && c.paper == GT_OWN))
		return 0;
	for (int i = 0; i < t->npairs; i++)
		if (t->pairs[i].ink == c.ink && t->pairs[i].paper == c.paper)
			return (int16_t)(i + 1);
	if (t->npairs >= t->most_pairs || init_extended_pair(t->npairs + 1, c.ink, c.paper) == ERR)
		return 0;
	t->pairs[t->npairs++] = c;
	return (int16_t)t->npairs;
}

static const struct seen *see(struct gt_term *t, struct gt_look look)
{
	struct seen *seen =
		&t->seen[look.ink < GT_INKS ? look.ink : 0][look.paper < GT_INKS ? look.paper : 0];

	if (!seen->known) {
		struct gt_shown shown =
			gt_look_shown((struct gt_look){ look.ink, look.paper, 0 }, t->colours);

		*seen = (struct seen){ pair_of(t, shown), shown.style, true };
		if (!seen->pair && shown.paper != GT_OWN)
			/* no pair was left: a paper is seen all the same */
			seen->style |= GT_REVERSE;
	}
	return seen;
}

/* A text of one spot, with a zero behind it. False: ncurses, which asks the C library, does not
 * know it to have that width. */
static bool make_text(const struct gt_term *t, const struct gt_spot *spot, int width,
	wchar_t text[GT_LETTER_MARKS + 2])
{
	unsigned n = 0;

	text[n++] = (wchar_t)(t->ascii ? gt_in_ascii(spot->ch) : spot->ch);
	for (size_t i = 0; !t->ascii && i < GT_LETTER_MARKS && spot->marks[i]; i++)
		if (!wcwidth((wchar_t)spot->marks[i]))
			text[n++] = (wchar_t)spot->marks[i];
	text[n] = 0;
	return wcwidth(text[0]) == width;
}

/* Puts what is seen of a spot that takes that many columns; as many '?' where the terminal would
 * not take it for that, or a wide one stands where ncurses would move half of it. Returns how many
 * cells. */
static unsigned make_cells(
	struct gt_term *t, const struct gt_spot *spot, unsigned width, bool moved, cchar_t *cells)
{
	const struct seen *seen = see(t, spot->look);
	uint8_t style = seen->style | spot->look.style;
	attr_t attributes = (style & GT_BOLD ? A_BOLD : 0) | (style & GT_DIM ? A_DIM : 0) |
		(style & GT_REVERSE ? A_REVERSE : 0) | (style & GT_UNDERLINE ? A_UNDERLINE : 0);
	wchar_t text[GT_LETTER_MARKS + 2];
	bool known = make_text(t, spot, (int)width, text) && !(moved && width > 1);

	for (unsigned i = 0; i < (known ? 1 : width); i++)
		setcchar(&cells[i], known ? text : L"?", attributes, seen->pair, NULL);
	return known ? 1 : width;
}

static bool same_spot(const struct gt_spot *a, const struct gt_spot *b)
{
	return a->ch == b->ch && !memcmp(a->marks, b->marks, sizeof(a->marks)) &&
		a->look.ink == b->look.ink && a->look.paper == b->look.paper &&
		a->look.style == b->look.style;
}

/* Notes that a spot is shown now; was it another one? */
static bool note(struct gt_spot *shown, const struct gt_spot *spot)
{
	bool other = !same_spot(shown, spot);

	*shown = *spot;
	return other;
}

/* What is at x of a line, and in how many columns; nothing where the screen has none, or half of it
 * has no room on the terminal. */
static const struct gt_spot *spot_at(
	const struct gt_term *t, const struct gt_screen *s, unsigned x, unsigned y, unsigned *width)
{
	static const struct gt_spot nothing = { .ch = ' ' };
	const struct gt_spot *spot =
		x < s->width && y < s->height ? &s->spots[(size_t)y * s->width + x] : &nothing;

	*width = x + 1 < s->width && y < s->height && spot[1].ch == GT_RIGHT_HALF ? 2 : 1;
	if (x + *width <= t->width)
		return spot;
	*width = 1;
	return &nothing;
}

/* Hands what has changed in a line to ncurses, in runs: a cell for each character. */
static void show_line(struct gt_term *t, unsigned y, const struct gt_screen *s)
{
	struct gt_spot *shown = t->shown + (size_t)y * t->width;
	cchar_t cells[GT_SCREEN_MOST];
	bool corner = t->inserts_corner && y + 1 == t->height;
	unsigned n = 0, from = 0, width;

	for (unsigned x = 0; x < t->width; x += width) {
		const struct gt_spot *spot = spot_at(t, s, x, y, &width);
		bool changed = note(&shown[x], spot);

		if (width > 1)
			changed |= note(&shown[x + 1], &spot[1]);
		if (!changed && n) {
			mvadd_wchnstr((int)y, (int)from, cells, (int)n);
			n = 0;
		}
		from = changed && !n ? x : from;
		n += changed
			? make_cells(t, spot, width, corner && x + width + 1 == t->width, &cells[n])
			: 0;
	}
	if (n)
		mvadd_wchnstr((int)y, (int)from, cells, (int)n);
}

void gt_term_show(struct gt_term *t, const struct gt_screen *s)
{
	gt_terminal_write_begin();
	if (t->gone || gt_is_suspended()) {
		t->spoilt = true;
	} else {
		for (unsigned y = 0; y < t->height; y++)
			show_line(t, y, s);
		if (t->spoilt)
			clearok(curscr, TRUE);
		t->spoilt = false;
		wnoutrefresh(stdscr);
		doupdate();
	}
	gt_terminal_write_end();
}

void gt_term_redraw(struct gt_term *t) { t->spoilt = true; }

/* ---- keys ---- */

/* Drops n bytes. */
static void used(struct gt_term *t, size_t n)
{
	t->ntyped -= n;
	memmove(t->typed, t->typed + n, t->ntyped);
}

/* A press at the place of the one before, soon after it, is the second of a double click. */
static void pair_presses(struct gt_term *t, struct gt_key *k)
{
	bool second = t->pressed_at && t->typed_at - t->pressed_at < MS_DOUBLE &&
		t->pressed.x == k->x && t->pressed.y == k->y;

	t->pressed = *k;
	t->pressed_at = second ? 0 : t->typed_at;
	if (second)
		k->key = GT_KEY_DOUBLE;
}

/* The next key of what was typed. GT_KEY_NONE: there is none, or it is not complete. */
static struct gt_key next_key(struct gt_term *t, bool last)
{
	struct gt_key k = { .key = GT_KEY_NONE }, next;
	size_t n;

	while (t->ntyped && (n = gt_key_decode(t->typed, t->ntyped, last, t->own, t->nown, &k))) {
		used(t, n);
		if (k.key)
			break;
	}
	/* where the mouse was on its way here is of no interest any more */
	while (k.key == GT_KEY_DRAG &&
		(n = gt_key_decode(t->typed, t->ntyped, false, t->own, t->nown, &next)) &&
		next.key == GT_KEY_DRAG && next.with == k.with) {
		used(t, n);
		k = next;
	}
	if (k.key == GT_KEY_PRESS)
		pair_presses(t, &k);
	return k;
}

static void read_typed(struct gt_term *t)
{
	ssize_t n = read(fileno(t->in), t->typed + t->ntyped, sizeof(t->typed) - t->ntyped);

	if (n > 0)
		t->ntyped += (size_t)n;
	else if (!n || (errno != EINTR && errno != EAGAIN))
		t->gone = true;
	t->typed_at = now_ms();
}

/* Is the size another, or what was shown gone? */
static bool was_spoilt(struct gt_term *t, unsigned told)
{
	unsigned width = t->width, height = t->height;

	find_size(t);
	if (width == t->width && height == t->height) {
		t->spoilt |= !!(told & GT_SIGNAL_CONTINUED);
		return told & GT_SIGNAL_CONTINUED;
	}
	resize_term((int)t->height, (int)t->width);
	t->gone |= !!forget(t);
	return true;
}

/* Waits until something was typed or told, for ms at most. False: nothing was. */
static bool wait_for(struct gt_term *t, int ms)
{
	struct pollfd fds[2] = { { .fd = fileno(t->in), .events = POLLIN },
		{ .fd = t->signal_fd, .events = POLLIN } };
	int n = poll(fds, 2, ms);

	if (n > 0 && fds[0].revents)
		read_typed(t);
	return n > 0 || (n < 0 && errno == EINTR);
}

/* It was not complete for so long; but the rest may lie there since, and it is us who come late. */
static struct gt_key next_key_of_all(struct gt_term *t)
{
	if (t->ntyped > 1)
		wait_for(t, 0);
	return next_key(t, t->gone || now_ms() - t->typed_at >= MS_ESC);
}

struct gt_key gt_term_key(struct gt_term *t, int ms)
{
	int64_t until = ms < 0 ? INT64_MAX : now_ms() + ms, now;
	struct gt_key k;
	unsigned told;
	int wait;

	for (bool again = true;;) {
		told = gt_signal_pending();
		if (told & GT_SIGNAL_END)
			return (struct gt_key){ .key = GT_KEY_GONE };
		if (!t->gone && was_spoilt(t, told))
			return (struct gt_key){ .key = GT_KEY_RESIZE,
				.x = (uint16_t)t->width,
				.y = (uint16_t)t->height };
		k = next_key(t, t->gone);
		now = now_ms();
		if (!k.key && t->ntyped && now - t->typed_at >= MS_ESC)
			k = next_key_of_all(t);
		if (!k.key && t->gone)
			k.key = GT_KEY_GONE;
		if (k.key || !again)
			return k;
		wait = until == INT64_MAX ? -1 : until > now ? (int)(until - now) : 0;
		if (t->ntyped && (wait < 0 || wait > MS_ESC))
			wait = MS_ESC;
		again = wait_for(t, wait) || now_ms() < until;
	}
}
