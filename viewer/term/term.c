/* ncurses finds the terminal's abilities and updates its screen with few bytes. Three things are
 * done without it:
 *
 * - The terminal is restored by terminal_restore.c, which a signal handler can call.
 * - Keys are decoded by key_decoder.c, which says why.
 * - The spots on the screen are stored here too. So a frame that differs in two spots passes only
 *   these two to ncurses.
 *
 * The terminfo entry gives the number of colours. COLORTERM announces 16 million colours; they are
 * used if the database has such an entry (xterm-direct), else 256 are, which look nearly the same
 * (palette.c). If the database does not know a terminal, as happens over ssh, the entry of a
 * similar terminal is used. */
#define _GNU_SOURCE
#define NCURSES_WIDECHAR 1
#include "viewer/term/term.h"

#include <curses.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <term.h>
#include <unistd.h>
#include <wchar.h>
#include "formats/trace/clock.h"
#include "viewer/term/glyphs.h"
#include "viewer/term/terminal_restore.h"
#include "viewer/term/key_decoder.h"

#define MS_ESC 50     /* an ESC that no byte follows for so long is the key Esc */
#define MS_DOUBLE 400 /* between the presses of a double click */
#define OWN_MOST 48
/* Mode 1002 reports buttons, and movement while one is pressed; 1006 has numbers of any size. */
#define MOUSE_ON "\x1b[?1002h\x1b[?1006h"
#define MOUSE_OFF "\x1b[?1006l\x1b[?1002l"

struct resolved {
	int16_t pair;
	uint8_t style;
	bool known;
};

struct gt_term {
	FILE *in, *out, *opened; /* opened: /dev/tty, if that is `in` */
	SCREEN *screen;
	enum gt_colours colours;
	bool ascii, hung_up, stale;
	/* ncurses fills the last column of the last line by inserting before it */
	bool inserts_corner;
	int signal_fd; /* readable when a signal is pending */
	unsigned width, height;
	struct gt_spot *shown; /* height lines of width; ch UINT32_MAX: unknown */
	struct resolved resolved[GT_INKS][GT_INKS]; /* by ink and paper */
	struct gt_resolved_look *pairs;             /* the colour pairs of ncurses, from 1 */
	int npairs, most_pairs;
	struct gt_key_sequence own[OWN_MOST];
	size_t nown;
	uint8_t typed[4 * GT_KEY_DECODE_MAX];
	size_t ntyped;
	/* ms; pressed_at 0: the last press cannot be the first of a double click */
	int64_t typed_at, pressed_at;
	struct gt_key pressed;
};

static int64_t now_ms(void) { return gt_clock_monotonic() / 1000000; }

/* ---- which terminal it is ---- */

/* Terminals that many databases do not know, and similar entries. */
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

/* newterm() leaks memory for an unknown name, so setupterm() checks the name first. */
static bool try_entry(struct gt_term *t, const char *name)
{
	int why;

	if (setupterm(name, fileno(t->out), &why) == ERR)
		return false;
	del_curterm(cur_term);
	t->screen = newterm(name, t->out, t->in);
	return t->screen;
}

/* Tries the entries of the same terminal with more colours. */
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
		return gt_err_set(err, -ENOTSUP, "TERM is not set");
	/* the size comes from the terminal, not from LINES and COLUMNS */
	use_env(FALSE);
	use_tioctl(TRUE);
	if ((millions() && try_more_colours(t, term)) || try_entry(t, term))
		return 0;
	for (size_t i = 0; i < sizeof(copies) / sizeof(*copies); i++)
		if (!strncmp(term, copies[i].begins, strlen(copies[i].begins)) &&
			(try_entry(t, copies[i].known[0]) || try_entry(t, copies[i].known[1])))
			return 0;
	return gt_err_set(err, -ENOTSUP, "unknown terminal \"%.60s\" (TERM)", term);
}

/* A string of the terminfo entry, or NULL. */
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

/* ---- abilities ---- */

/* The machine may not have the named locale (ssh copies its name), but its name still says whether
 * it is UTF-8. */
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

/* Collects the key sequences of the terminfo entry. */
static void add_key(struct gt_term *t, const char *name, struct gt_key key)
{
	const char *s = ability(name);
	size_t n = s ? strlen(s) : 0;
	struct gt_key_sequence *own = &t->own[t->nown];

	if (n < 2 || n > sizeof(own->bytes) || *s != '\x1b')
		return;
	memcpy(own->bytes, s, n);
	own->len = (uint8_t)n;
	own->key = key;
	t->nown++;
}

static void find_keys(struct gt_term *t)
{
	static const struct {
		const char *name;
		struct gt_key key;
	} keys[] = {
		{ "kcuu1", { .key = GT_KEY_UP } },
		{ "kcud1", { .key = GT_KEY_DOWN } },
		{ "kcub1", { .key = GT_KEY_LEFT } },
		{ "kcuf1", { .key = GT_KEY_RIGHT } },
		{ "kpp", { .key = GT_KEY_PAGE_UP } },
		{ "knp", { .key = GT_KEY_PAGE_DOWN } },
		{ "khome", { .key = GT_KEY_HOME } },
		{ "kend", { .key = GT_KEY_END } },
		{ "kich1", { .key = GT_KEY_INSERT } },
		{ "kdch1", { .key = GT_KEY_DELETE } },
		{ "kcbt", { .key = GT_KEY_BACKTAB } },
		{ "kLFT", { .key = GT_KEY_SHIFT_LEFT } },
		{ "kRIT", { .key = GT_KEY_SHIFT_RIGHT } },
		{ "kri", { .key = GT_KEY_UP, .modifiers = GT_MOD_SHIFT } },
		{ "kind", { .key = GT_KEY_DOWN, .modifiers = GT_MOD_SHIFT } },
		{ "kLFT5", { .key = GT_KEY_LEFT, .modifiers = GT_MOD_CTRL } },
		{ "kRIT5", { .key = GT_KEY_RIGHT, .modifiers = GT_MOD_CTRL } },
		{ "kUP5", { .key = GT_KEY_UP, .modifiers = GT_MOD_CTRL } },
		{ "kDN5", { .key = GT_KEY_DOWN, .modifiers = GT_MOD_CTRL } },
	};
	char name[8];

	_Static_assert(sizeof(keys) / sizeof(*keys) + 12 <= OWN_MOST, "the array is large enough");
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		add_key(t, keys[i].name, keys[i].key);
	for (unsigned i = 0; i < 12; i++) {
		snprintf(name, sizeof(name), "kf%u", i + 1);
		add_key(t, name, (struct gt_key){ .key = GT_KEY_F1 + i });
	}
}

/* Appends a string of the terminfo entry without its delays ("$<5>"), which are for slow serial
 * lines. */
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

	add_ability(g->setup, ability("smcup"));
	add_ability(g->setup, ability("smkx"));
	add_ability(g->setup, ability("civis"));
	add_ability(g->setup, mouse ? MOUSE_ON : "");
	add_ability(g->restore, mouse ? MOUSE_OFF : "");
	add_ability(g->restore, ability("sgr0"));
	add_ability(g->restore, ability("op"));
	/* without an alternate screen the cursor goes below the last line */
	if (!ability("smcup")) {
		add_ability(g->restore, tparm(ability("cup"), 998, 0, 0, 0, 0, 0, 0, 0, 0));
		add_ability(g->restore, ability("el"));
	}
	add_ability(g->restore, ability("rmkx"));
	add_ability(g->restore, ability("cnorm"));
	add_ability(g->restore, ability("rmcup"));
}

/* Input is raw and not echoed. Ctrl-Z still stops the process; Ctrl-C and Ctrl-\ are keys. */
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
		return gt_err_set(err, -ENOTSUP, "standard output is not a terminal");
	t->out = out ? out : stdout;
	t->in = in ? in : stdin;
	if (!in && !isatty(STDIN_FILENO)) { /* standard input may be the trace */
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

/* The content of the terminal is unknown. */
static int invalidate(struct gt_term *t)
{
	struct gt_spot *shown = realloc(t->shown, (size_t)t->width * t->height * sizeof(*shown));

	t->stale = true;
	if (!shown)
		return -ENOMEM;
	t->shown = shown;
	memset(shown, 0xff, (size_t)t->width * t->height * sizeof(*shown));
	return 0;
}

/* Sets up the terminal: alternate screen, keys, mouse. */
static void set_up(struct gt_term *t, struct gt_terminal_state *g)
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
	typeahead(-1); /* pending input does not interrupt the output of a frame */
	curs_set(0);
	if (is_term_resized((int)t->height, (int)t->width))
		resize_term((int)t->height, (int)t->width);
	refresh();
	t->stale = false; /* ncurses has cleared it */
	if (ability("kmous") && write(g->fd, MOUSE_ON, strlen(MOUSE_ON)) < 0)
		t->hung_up = true;
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
	if (!t->pairs || invalidate(t))
		return gt_err_set(err, -ENOMEM, "out of memory");
	set_up(t, &g);
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

/* The ncurses pair of two colours; 0, the default colours, if no pair is left. (alloc_pair() would
 * reuse a pair that is on the screen.) */
static int16_t pair_of(struct gt_term *t, struct gt_resolved_look shown)
{
	if (t->colours == GT_MONO ||
		(shown.ink == GT_COLOUR_DEFAULT && shown.paper == GT_COLOUR_DEFAULT))
		return 0;
	for (int i = 0; i < t->npairs; i++)
		if (t->pairs[i].ink == shown.ink && t->pairs[i].paper == shown.paper)
			return (int16_t)(i + 1);
	if (t->npairs >= t->most_pairs ||
		init_extended_pair(t->npairs + 1, shown.ink, shown.paper) == ERR)
		return 0;
	t->pairs[t->npairs++] = shown;
	return (int16_t)t->npairs;
}

static const struct resolved *resolve(struct gt_term *t, struct gt_look look)
{
	struct resolved *resolved = &t->resolved[look.ink < GT_INKS ? look.ink : 0]
						[look.paper < GT_INKS ? look.paper : 0];

	if (!resolved->known) {
		struct gt_resolved_look shown =
			gt_look_resolve((struct gt_look){ look.ink, look.paper, 0 }, t->colours);

		*resolved = (struct resolved){ pair_of(t, shown), shown.style, true };
		if (!resolved->pair && shown.paper != GT_COLOUR_DEFAULT)
			/* no pair is left: the paper is visible as reverse */
			resolved->style |= GT_REVERSE;
	}
	return resolved;
}

/* The zero-terminated text of one spot. False: the C library, which ncurses uses, gives it another
 * width. */
static bool make_text(const struct gt_term *t, const struct gt_spot *spot, int width,
	wchar_t text[GT_LETTER_MARKS + 2])
{
	unsigned n = 0;

	text[n++] = (wchar_t)(t->ascii ? gt_glyph_ascii(spot->ch) : spot->ch);
	for (size_t i = 0; !t->ascii && i < GT_LETTER_MARKS && spot->marks[i]; i++)
		if (!wcwidth((wchar_t)spot->marks[i]))
			text[n++] = (wchar_t)spot->marks[i];
	text[n] = 0;
	return wcwidth(text[0]) == width;
}

/* Makes the ncurses cells of a spot of this width and returns their number. The cells are '?' if
 * the C library gives the character another width, or if ncurses would move half of a wide one. */
static unsigned make_cells(
	struct gt_term *t, const struct gt_spot *spot, unsigned width, bool moved, cchar_t *cells)
{
	const struct resolved *resolved = resolve(t, spot->look);
	uint8_t style = resolved->style | spot->look.style;
	attr_t attributes = (style & GT_BOLD ? A_BOLD : 0) | (style & GT_DIM ? A_DIM : 0) |
		(style & GT_REVERSE ? A_REVERSE : 0) | (style & GT_UNDERLINE ? A_UNDERLINE : 0);
	wchar_t text[GT_LETTER_MARKS + 2];
	bool known = make_text(t, spot, (int)width, text) && !(moved && width > 1);

	for (unsigned i = 0; i < (known ? 1 : width); i++)
		setcchar(&cells[i], known ? text : L"?", attributes, resolved->pair, NULL);
	return known ? 1 : width;
}

static bool same_spot(const struct gt_spot *a, const struct gt_spot *b)
{
	return a->ch == b->ch && !memcmp(a->marks, b->marks, sizeof(a->marks)) &&
		a->look.ink == b->look.ink && a->look.paper == b->look.paper &&
		a->look.style == b->look.style;
}

/* Stores the spot; returns whether it differs from the stored one. */
static bool note(struct gt_spot *shown, const struct gt_spot *spot)
{
	bool other = !same_spot(shown, spot);

	*shown = *spot;
	return other;
}

/* The spot at x of a line and its width. Outside of the screen, and for a wide character that the
 * terminal would cut, it is an empty spot. */
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

/* Passes the changed spots of a line to ncurses, in runs. */
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
	if (t->hung_up || gt_is_suspended()) {
		t->stale = true;
	} else {
		for (unsigned y = 0; y < t->height; y++)
			show_line(t, y, s);
		if (t->stale)
			clearok(curscr, TRUE);
		t->stale = false;
		wnoutrefresh(stdscr);
		doupdate();
	}
	gt_terminal_write_end();
}

void gt_term_redraw(struct gt_term *t) { t->stale = true; }

/* ---- keys ---- */

static void drop_bytes(struct gt_term *t, size_t n)
{
	t->ntyped -= n;
	memmove(t->typed, t->typed + n, t->ntyped);
}

/* A press soon after the previous one at the same place is the second of a double click. */
static void detect_double_click(struct gt_term *t, struct gt_key *k)
{
	bool second = t->pressed_at && t->typed_at - t->pressed_at < MS_DOUBLE &&
		t->pressed.x == k->x && t->pressed.y == k->y;

	t->pressed = *k;
	t->pressed_at = second ? 0 : t->typed_at;
	if (second)
		k->key = GT_KEY_DOUBLE;
}

/* The next key in the input buffer. GT_KEY_NONE: there is none, or it is incomplete. */
static struct gt_key next_key(struct gt_term *t, bool last)
{
	struct gt_key k = { .key = GT_KEY_NONE }, next;
	size_t n;

	while (t->ntyped && (n = gt_key_decode(t->typed, t->ntyped, last, t->own, t->nown, &k))) {
		drop_bytes(t, n);
		if (k.key)
			break;
	}
	/* of several movements only the last one counts */
	while (k.key == GT_KEY_DRAG &&
		(n = gt_key_decode(t->typed, t->ntyped, false, t->own, t->nown, &next)) &&
		next.key == GT_KEY_DRAG && next.modifiers == k.modifiers) {
		drop_bytes(t, n);
		k = next;
	}
	if (k.key == GT_KEY_PRESS)
		detect_double_click(t, &k);
	return k;
}

static void read_typed(struct gt_term *t)
{
	ssize_t n = read(fileno(t->in), t->typed + t->ntyped, sizeof(t->typed) - t->ntyped);

	if (n > 0)
		t->ntyped += (size_t)n;
	else if (!n || (errno != EINTR && errno != EAGAIN))
		t->hung_up = true;
	t->typed_at = now_ms();
}

/* True if the size changed or the content was lost. */
static bool needs_show(struct gt_term *t, unsigned signals)
{
	unsigned width = t->width, height = t->height;

	find_size(t);
	if (width == t->width && height == t->height) {
		t->stale |= !!(signals & GT_SIGNAL_CONTINUED);
		return signals & GT_SIGNAL_CONTINUED;
	}
	resize_term((int)t->height, (int)t->width);
	t->hung_up |= !!invalidate(t);
	return true;
}

/* Waits for input or a signal for at most ms. False: there was none. */
static bool wait_for(struct gt_term *t, int ms)
{
	struct pollfd fds[2] = { { .fd = fileno(t->in), .events = POLLIN },
		{ .fd = t->signal_fd, .events = POLLIN } };
	int n = poll(fds, 2, ms);

	if (n > 0 && fds[0].revents)
		read_typed(t);
	return n > 0 || (n < 0 && errno == EINTR);
}

/* An incomplete sequence timed out. Its rest may be waiting unread if this process was busy. */
static struct gt_key next_key_after_timeout(struct gt_term *t)
{
	if (t->ntyped > 1)
		wait_for(t, 0);
	return next_key(t, t->hung_up || now_ms() - t->typed_at >= MS_ESC);
}

struct gt_key gt_term_key(struct gt_term *t, int ms)
{
	int64_t until = ms < 0 ? INT64_MAX : now_ms() + ms, now;
	struct gt_key k;
	unsigned signals;
	int wait;

	for (bool more = true;;) {
		signals = gt_signal_pending();
		if (signals & GT_SIGNAL_END)
			return (struct gt_key){ .key = GT_KEY_HANGUP };
		if (!t->hung_up && needs_show(t, signals))
			return (struct gt_key){ .key = GT_KEY_RESIZE,
				.x = (uint16_t)t->width,
				.y = (uint16_t)t->height };
		k = next_key(t, t->hung_up);
		now = now_ms();
		if (!k.key && t->ntyped && now - t->typed_at >= MS_ESC)
			k = next_key_after_timeout(t);
		if (!k.key && t->hung_up)
			k.key = GT_KEY_HANGUP;
		if (k.key || !more)
			return k;
		wait = until == INT64_MAX ? -1 : until > now ? (int)(until - now) : 0;
		if (t->ntyped && (wait < 0 || wait > MS_ESC))
			wait = MS_ESC;
		more = wait_for(t, wait) || now_ms() < until;
	}
}
