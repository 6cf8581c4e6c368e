/* The terminal: real ncurses, on files and pseudo terminals. Its output goes to the small
 * terminal of emulator.h, whose cells are compared with the screen; the input of a terminal is
 * decoded into keys; and however the process ends, the terminal's modes are restored. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <locale.h>
#include <poll.h>
#include <pthread.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>
#include "tests/unit/viewer/term/emulator.h"
#include "tests/unit/own_folder.h"
#include "viewer/term/glyphs.h"
#include "viewer/term/term.h"

static uint64_t rng = 88172645463325252u;
static uint32_t dice(uint32_t n)
{
	rng ^= rng << 13;
	rng ^= rng >> 7;
	rng ^= rng << 17;
	return (uint32_t)(rng >> 20) % n;
}

#define MS_MOST 60000 /* limit of a wait for an expected event */
static void wait_ms(long ms)
{
	nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000 }, NULL);
}

/* ---- a pseudo terminal, with a thread that reads all output ---- */

struct tty {
	int master, slave;
	FILE *in, *out;
	pthread_t reader;
	pthread_mutex_t lock;
	struct emulator e;
	size_t bytes; /* how many came */
	struct termios before;
};

static bool same_modes(const struct termios *a, const struct termios *b)
{
	return a->c_iflag == b->c_iflag && a->c_oflag == b->c_oflag && a->c_cflag == b->c_cflag &&
		a->c_lflag == b->c_lflag && !memcmp(a->c_cc, b->c_cc, sizeof(a->c_cc));
}

static void *read_all(void *arg)
{
	struct tty *t = arg;
	char bytes[4096];
	ssize_t n;

	while ((n = read(t->master, bytes, sizeof(bytes))) > 0) {
		pthread_mutex_lock(&t->lock);
		emulator_feed(&t->e, bytes, (size_t)n);
		t->bytes += (size_t)n;
		pthread_mutex_unlock(&t->lock);
	}
	return NULL;
}

/* Waits until the written bytes have arrived. False: they have not. */
static bool arrived(struct tty *t)
{
	bool there = false;
	unsigned want;

	pthread_mutex_lock(&t->lock);
	want = t->e.enquiries + 1;
	pthread_mutex_unlock(&t->lock);
	if (write(t->slave, "\x05", 1) != 1)
		return false;
	for (int i = 0; i < MS_MOST && !there; i++) {
		pthread_mutex_lock(&t->lock);
		there = t->e.enquiries >= want;
		pthread_mutex_unlock(&t->lock);
		if (!there)
			wait_ms(1);
	}
	return there;
}

static bool tty_resize(struct tty *t, int w, int h)
{
	struct winsize size = { .ws_col = (unsigned short)w, .ws_row = (unsigned short)h };

	pthread_mutex_lock(&t->lock);
	emulator_resize(&t->e, w, h, '%'); /* a terminal keeps any part of the old contents */
	pthread_mutex_unlock(&t->lock);
	return !ioctl(t->slave, TIOCSWINSZ, &size);
}

static bool tty_open(struct tty *t, int w, int h)
{
	*t = (struct tty){ .lock = PTHREAD_MUTEX_INITIALIZER };
	emulator_open(&t->e, w, h);
	if (openpty(&t->master, &t->slave, NULL, NULL, NULL))
		return false;
	tcgetattr(t->slave, &t->before);
	t->in = fdopen(dup(t->slave), "r");
	t->out = fdopen(dup(t->slave), "w");
	return tty_resize(t, w, h) && !pthread_create(&t->reader, NULL, read_all, t);
}

static void tty_close(struct tty *t)
{
	fclose(t->in);
	fclose(t->out);
	close(t->slave); /* the last: the reader's read fails */
	pthread_join(t->reader, NULL);
	close(t->master);
	free(t->e.cells);
}

static void environment(const char *locale, const char *colorterm, const char *no_color)
{
	setenv("LC_ALL", locale, 1);
	if (colorterm)
		setenv("COLORTERM", colorterm, 1);
	else
		unsetenv("COLORTERM");
	if (no_color)
		setenv("NO_COLOR", no_color, 1);
	else
		unsetenv("NO_COLOR");
}

/* ---- output ---- */

/* The last but one column of the last line: of a wide character that ends there some terminals get
 * two '?' (term.c). */
static bool is_by_corner(const struct tty *t, const struct gt_screen *s, int i)
{
	size_t half = (size_t)t->e.w * (size_t)t->e.h - 2;

	return (int)s->width == t->e.w && (int)s->height == t->e.h && t->e.w > 2 &&
		(i == (int)half || i + 1 == (int)half) && s->spots[half].ch == GT_RIGHT_HALF &&
		t->e.cells[i].ch == '?';
}

/* Reports the first cell that differs. */
static bool shows(
	struct tty *t, const struct gt_term *term, const struct gt_screen *s, uint8_t styles)
{
	enum gt_colours depth = gt_term_colours(term);
	bool same = arrived(t);

	pthread_mutex_lock(&t->lock);
	if (t->e.unknown[0])
		printf("not understood: %s\n", t->e.unknown);
	same &= !t->e.unknown[0];
	for (int i = 0; same && i < t->e.w * t->e.h; i++) {
		unsigned x = (unsigned)(i % t->e.w), y = (unsigned)(i / t->e.w);
		struct gt_spot spot = { .ch = ' ' };

		if (x < s->width && y < s->height)
			spot = s->spots[y * s->width + x];
		if (gt_term_ascii(term) || is_by_corner(t, s, i))
			spot = (struct gt_spot){
				.ch = is_by_corner(t, s, i) ? '?' : gt_glyph_ascii(spot.ch),
				.look = spot.look
			};
		same = emulator_shows(
			&t->e.cells[i], &spot, gt_look_resolve(spot.look, depth), depth, styles);
		if (!same)
			printf("at %u,%u: U+%04x %x on %x style %x, not U+%04x ink %u paper %u style %x\n",
				x, y, t->e.cells[i].ch, (unsigned)t->e.cells[i].look.ink,
				(unsigned)t->e.cells[i].look.paper, t->e.cells[i].look.style,
				spot.ch, spot.look.ink, spot.look.paper, spot.look.style);
	}
	pthread_mutex_unlock(&t->lock);
	return same;
}

static struct gt_look any_look(void)
{
	return (struct gt_look){ (uint8_t)dice(GT_INKS), dice(3) ? 0 : (uint8_t)dice(GT_INKS),
		(uint8_t)(dice(2) ? 0 : dice(16)) };
}

static void scribble(struct gt_screen *s)
{
	static const char *const texts[] = { "void gemm<float, 128>(float*)", "▁▂▃▄▅▆▇█", "│├─┤",
		"µs … 漢字", "\x1b[31m", "       ", "学習🚀x가e\u0301がé" };

	for (unsigned i = 0, n = 1 + dice(12); i < n; i++) {
		int x = (int)dice(s->width + 8) - 4, y = (int)dice(s->height + 4) - 2,
		    w = (int)dice(40) - 1;

		switch (dice(5)) {
		case 0:
		case 4: gt_screen_text(s, x, y, w, texts[dice(7)], any_look()); break;
		case 1:
			gt_screen_fill(s, x, y, w, (int)dice(5),
				dice(2) ? ' ' : 0x2590 - (uint32_t)dice(9), any_look());
			break;
		case 2:
			gt_screen_set_paper(s, x, y, w, (int)dice(5), (uint8_t)dice(GT_INKS));
			break;
		default: gt_screen_add_style(s, x, y, w, (int)dice(5), (uint8_t)dice(16));
		}
	}
}

static bool no_key(struct gt_term *term) { return gt_term_key(term, 0).key == GT_KEY_NONE; }

static const char no_tty[] = "no pseudo terminals here";
#define TTY(w, h)                                                                                  \
	do {                                                                                       \
		if (!tty_open(&t, w, h))                                                           \
			SKIP(no_tty);                                                              \
	} while (0)

/* Many frames, each as shown. With COLORTERM there may be more colours than that. styles: those
 * that this terminal has. */
static const char *frames(const char *name, enum gt_colours depth, uint8_t styles)
{
	struct gt_screen s = { 0 };
	struct gt_err err = GT_ERR_INIT;
	struct gt_term *term;
	struct tty t;
	const char *bad = NULL;

	if (!tty_open(&t, 70, 20))
		return no_tty;
	term = gt_term_open(t.in, t.out, name, &err);
	if (!term)
		printf("%s\n", err.text);
	else if (gt_term_colours(term) != depth &&
		!(getenv("COLORTERM") && gt_term_colours(term) > depth))
		bad = "another depth";
	for (int i = 0; term && !bad && i < 150; i++) {
		if (!i && gt_screen_resize(&s, 70, 20))
			bad = "no screen";
		if (i % 40 == 39)
			gt_screen_clear(&s);
		if (i % 50 == 20)
			gt_term_redraw(term);
		scribble(&s);
		gt_term_show(term, &s);
		if (!shows(&t, term, &s, styles) || !no_key(term))
			bad = "another picture";
	}
	gt_term_close(term);
	gt_screen_release(&s);
	tty_close(&t);
	return term ? bad : "not opened";
}
#define FRAMES(...)                                                                                \
	do {                                                                                       \
		const char *bad_ = frames(__VA_ARGS__);                                            \
		if (bad_ == no_tty)                                                                \
			SKIP(no_tty);                                                              \
		if (bad_)                                                                          \
			printf("%s\n", bad_);                                                      \
		CHECK(!bad_);                                                                      \
	} while (0)

static void frames_256(void)
{
	environment("C.UTF-8", NULL, NULL);
	FRAMES("xterm-256color", GT_COLOURS_256, 0xff);
	FRAMES("tmux-256color", GT_COLOURS_256, 0xff);
	FRAMES("screen-256color", GT_COLOURS_256, 0xff);
	environment("C.UTF-8", "24bit", NULL);
	/* or better, where the database has xterm-direct */
	FRAMES("xterm", GT_COLOURS_256, 0xff);
}

static void frames_8(void)
{
	environment("C.UTF-8", NULL, NULL);
	FRAMES("xterm", GT_COLOURS_8, 0xff);
	/* its other styles are not for text that has colours */
	FRAMES("linux", GT_COLOURS_8, GT_BOLD | GT_REVERSE);
}

static void frames_without_colours(void)
{
	environment("C.UTF-8", NULL, NULL);
	FRAMES("vt100", GT_MONO, GT_BOLD | GT_REVERSE | GT_UNDERLINE);
	environment("C.UTF-8", "truecolor", "1");
	FRAMES("xterm-256color", GT_MONO, 0xff);
	environment("C.UTF-8", NULL, "");
	FRAMES("xterm-256color", GT_COLOURS_256, 0xff);
}

static void frames_in_ascii(void)
{
	environment("C", NULL, NULL);
	FRAMES("xterm-256color", GT_COLOURS_256, 0xff);
}

/* The locale decides whether characters beyond ASCII are printed; a locale that is not installed
 * decides it by its name. */
static void locale_decides(void)
{
	static const struct {
		const char *locale;
		bool ascii;
	} cases[] = {
		{ "C", true },
		{ "C.UTF-8", false },
		{ "xx_YY.UTF-8", false },
		{ "xx_YY.utf8", false },
		{ "xx_YY", true },
		{ "xx_YY.ISO-8859-1", true },
	};
	FILE *in = fopen("/dev/null", "r"), *out = tmpfile();

	CHECK(in && out);
	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		SKIP("no locale C.UTF-8");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gt_term *term;

		setlocale(LC_CTYPE, "C");
		environment(cases[i].locale, NULL, NULL);
		CHECK((term = gt_term_open(in, out, "xterm", &(struct gt_err)GT_ERR_INIT)));
		CHECK(gt_term_ascii(term) == cases[i].ascii);
		gt_term_close(term);
	}
	fclose(in);
	fclose(out);
}

/* A database of our own with one terminal of 16 million colours, as ncurses-term has it. */
static bool make_direct(void)
{
	FILE *f = fopen("direct.ti", "w");

	if (!f)
		return false;
	fputs("xterm-direct|of the test,\n\tRGB, ccc@, colors#0x1000000, pairs#0x7FFF, initc@, oc@,\n"
	      "\tsetab=\\E[%?%p1%{8}%<%t4%p1%d%e48:2::%p1%{65536}%/%d:%p1%{256}%/%{255}%&%d:%p1%{255}%&%d%;m,\n"
	      "\tsetaf=\\E[%?%p1%{8}%<%t3%p1%d%e38:2::%p1%{65536}%/%d:%p1%{256}%/%{255}%&%d:%p1%{255}%&%d%;m,\n"
	      "\tuse=xterm-256color,\n",
		f);
	return !fclose(f) && !system("tic -x -o terminfo direct.ti 2>tic.log") &&
		!setenv("TERMINFO", "terminfo", 1);
}

static void frames_of_16_million(void)
{
	environment("C.UTF-8", NULL, NULL);
	if (!make_direct())
		SKIP("no tic, which makes the entry of a terminal of 16 million colours");
	FRAMES("xterm-direct", GT_COLOURS_TRUE, 0xff);
	FRAMES("xterm-256color", GT_COLOURS_256, 0xff);
	environment("C.UTF-8", "truecolor", NULL);
	FRAMES("xterm-256color", GT_COLOURS_TRUE, 0xff);
	FRAMES("xterm", GT_COLOURS_TRUE, 0xff);
	FRAMES("tmux-256color", GT_COLOURS_256, 0xff); /* has no such entry */
	environment("C.UTF-8", "yes", NULL);
	FRAMES("xterm-256color", GT_COLOURS_256, 0xff);
	unsetenv("TERMINFO");
}

static void unknown_and_dumb(void)
{
	static const struct {
		const char *term, *why;
	} refused[] = {
		{ "dumb", "cannot move its cursor" },
		{ "no-such-terminal", "unknown terminal" },
		{ "", "TERM is not set" },
		{ "../../etc/passwd", "unknown terminal" },
	};
	struct tty t;

	environment("C.UTF-8", NULL, NULL);
	TTY(80, 24);
	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
		struct gt_err err = GT_ERR_INIT;

		CHECK(!gt_term_open(t.in, t.out, refused[i].term, &err) && err.code == -ENOTSUP &&
			strstr(err.text, refused[i].why));
	}
	/* nothing was sent to it except the mark of arrived() */
	CHECK(arrived(&t) && t.bytes == 1);
	/* newer than the database, or so the names say */
	FRAMES("xterm-of-tomorrow", GT_COLOURS_256, 0xff);
	FRAMES("alacritty-unknown", GT_COLOURS_256, 0xff);
	FRAMES("tmux-of-tomorrow", GT_COLOURS_256, 0xff);
	setenv("TERM", "xterm-256color", 1);
	FRAMES(NULL, GT_COLOURS_256, 0xff);
	unsetenv("TERM");
	CHECK(!gt_term_open(t.in, t.out, NULL, &(struct gt_err)GT_ERR_INIT));
	/* a test has no terminal */
	CHECK(!gt_term_open(NULL, NULL, "xterm", &(struct gt_err)GT_ERR_INIT));
	tty_close(&t);
}

/* A file is no terminal, but the screen can be written to it: 80 columns, 24 lines. */
static void into_a_file(void)
{
	struct gt_err err = GT_ERR_INIT;
	struct gt_screen s = { 0 };
	struct emulator e;
	struct gt_term *term;
	unsigned w, h;
	char bytes[8192];
	size_t n;
	FILE *out = tmpfile(), *in = fopen("/dev/null", "r");

	environment("C.UTF-8", NULL, NULL);
	CHECK(out && in && (term = gt_term_open(in, out, "xterm-256color", &err)));
	CHECK(!gt_term_open(in, out, "xterm", &err) && err.code == -EBUSY);
	gt_term_size(term, &w, &h);
	CHECK(w == 80 && h == 24 && !gt_screen_resize(&s, w, h));
	gt_screen_text(&s, 70, 23, -1, "the corner!", (struct gt_look){ .ink = GT_INK_ERROR });
	gt_term_show(term, &s);
	CHECK(gt_term_key(term, -1).key == GT_KEY_HANGUP &&
		gt_term_key(term, 1000).key == GT_KEY_HANGUP);
	CHECK(lseek(fileno(out), 0, SEEK_SET) == 0 &&
		(n = (size_t)read(fileno(out), bytes, sizeof(bytes))) < sizeof(bytes));
	emulator_open(&e, 80, 24);
	emulator_feed(&e, bytes, n);
	CHECK(!e.unknown[0] && e.alternate && e.mouse && e.sgr_mouse && e.hidden && e.application &&
		emulator_has(&e, "the corne…"));
	gt_term_close(term);
	CHECK((n = (size_t)pread(fileno(out), bytes, sizeof(bytes), (off_t)n)) > 0 && n < 200);
	emulator_feed(&e, bytes, n);
	CHECK(!e.unknown[0] && !e.alternate && !e.mouse && !e.sgr_mouse && !e.hidden &&
		!e.application);
	gt_screen_release(&s);
	free(e.cells);
	fclose(out);
	fclose(in);
}

static void only_changes(void)
{
	struct gt_err err = GT_ERR_INIT;
	struct gt_screen s = { 0 };
	struct gt_term *term;
	struct tty t;
	size_t before;

	environment("C.UTF-8", NULL, NULL);
	TTY(200, 50);
	CHECK((term = gt_term_open(t.in, t.out, "xterm-256color", &err)) &&
		!gt_screen_resize(&s, 200, 50));
	for (unsigned i = 0; i < 200 * 50; i++)
		s.spots[i] = (struct gt_spot){ .ch = '!' + i % 90, .look = any_look() };
	gt_term_show(term, &s);
	CHECK(shows(&t, term, &s, 0xff));
	before = t.bytes;
	CHECK(before > 200 * 50);
	gt_term_show(term, &s);
	CHECK(arrived(&t) && t.bytes == before + 1); /* the mark */
	before = t.bytes;
	gt_screen_put(&s, 199, 49, 'x', (struct gt_look){ 0 });
	gt_screen_put(&s, 3, 3, 'y', (struct gt_look){ .ink = GT_INK_COMM });
	gt_term_show(term, &s);
	CHECK(shows(&t, term, &s, 0xff) && t.bytes - before < 80);
	before = t.bytes;
	gt_term_redraw(term);
	gt_term_show(term, &s);
	CHECK(shows(&t, term, &s, 0xff) && t.bytes - before > 200 * 50);
	gt_term_close(term);
	gt_screen_release(&s);
	tty_close(&t);
}

/* Any size at any time: reported once, all drawn again, and no access is out of bounds. */
static void resized(void)
{
	static const int sizes[][2] = {
		{ 1, 1 },
		{ 80, 24 },
		{ 2, 60 },
		{ 240, 2 },
		{ 40, 10 },
		{ 1024, 3 },
		{ 3, 1 },
		{ 1200, 5 },
		{ 100, 30 },
	};
	struct gt_err err = GT_ERR_INIT;
	struct gt_screen s = { 0 };
	struct gt_term *term;
	struct tty t;
	struct gt_key k;
	unsigned w, h;

	environment("C.UTF-8", NULL, NULL);
	TTY(33, 7);
	CHECK((term = gt_term_open(t.in, t.out, "xterm-256color", &err)));
	for (size_t i = 0; i < 40; i++) {
		const int *size = sizes[i < 9 ? i : dice(9)];
		unsigned most = size[0] < 1024 ? (unsigned)size[0] : 1024;

		/* a frame before the new size is known is cut or incomplete */
		if (i % 5 == 4) {
			CHECK(!gt_screen_resize(&s, 1 + dice(300), 1 + dice(80)));
			scribble(&s);
			gt_term_show(term, &s);
		}
		gt_term_size(term, &w, &h);
		CHECK(tty_resize(&t, size[0], size[1]));
		k = gt_term_key(term, 0);
		CHECK(k.key == GT_KEY_RESIZE ? k.x == most && k.y == size[1]
					     : w == most && (int)h == size[1]);
		CHECK(no_key(term));
		gt_term_size(term, &w, &h);
		CHECK(w == most && (int)h == size[1] && !gt_screen_resize(&s, w, h));
		if (k.key != GT_KEY_RESIZE)
			gt_term_redraw(term);
		scribble(&s);
		gt_term_show(term, &s);
		CHECK(size[0] > 1024 || shows(&t, term, &s, 0xff));
	}
	gt_term_close(term);
	gt_screen_release(&s);
	tty_close(&t);
}

/* ---- keys ---- */

static const char *next_word(struct gt_term *term, int ms)
{
	static char word[GT_KEY_WORD];
	struct gt_key k = gt_term_key(term, ms);

	return k.key == GT_KEY_NONE ? "none" : gt_key_word(k, word);
}
#define KEY(word)                                                                                  \
	do {                                                                                       \
		const char *got_ = next_word(term, MS_MOST);                                       \
		if (strcmp(got_, word))                                                            \
			printf("%s, not %s\n", got_, word);                                        \
		CHECK(!strcmp(got_, word));                                                        \
	} while (0)
#define TYPE(bytes) CHECK(write(t.master, bytes, sizeof(bytes) - 1) == sizeof(bytes) - 1)

static long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* A key that arrives in two pieces is one key, even if the second piece is read late, as long as
 * it has arrived. If the machine is suspended just after the first piece was read, the first
 * piece counts as the whole key: the test then tries again. */
static bool comes_in_two_pieces(struct tty *t, struct gt_term *term, long late)
{
	struct pollfd there = { .fd = t->slave, .events = POLLIN };

	for (int tries = 0; tries < 10; tries++) {
		long before = now_ms();
		bool first = write(t->master, "\x1b[", 2) == 2 && poll(&there, 1, MS_MOST) == 1 &&
			no_key(term),
		     stood = now_ms() - before > 20;

		if (write(t->master, "B", 1) != 1 || poll(&there, 1, MS_MOST) != 1)
			return false;
		wait_ms(late);
		if (!strcmp(next_word(term, MS_MOST), "Down") && first)
			return true;
		if (first || !stood)
			return false;
		while (gt_term_key(term, 100).key != GT_KEY_NONE)
			;
	}
	return false;
}

static void keys_come(void)
{
	struct gt_err err = GT_ERR_INIT;
	struct gt_term *term;
	struct tty t;

	environment("C.UTF-8", NULL, NULL);
	TTY(80, 24);
	CHECK((term = gt_term_open(t.in, t.out, "xterm-256color", &err)));
	CHECK(no_key(term) && !strcmp(next_word(term, 30), "none"));
	TYPE("aé\x03\x1c\r\n\t\x7f\x13\x11\x16");
	KEY("a");
	KEY("é");
	KEY("C-c");
	KEY("C-\\");
	KEY("Enter");
	KEY("Enter");
	KEY("Tab");
	KEY("Backspace");
	KEY("C-s");
	KEY("C-q");
	KEY("C-v");
	TYPE("\x1b[1;5D\x1bOA\x1b[5~\x1bx\x1b[1;2C");
	KEY("C-Left");
	KEY("Up");
	KEY("PgUp");
	KEY("M-x");
	KEY("S-Right");
	TYPE("\x1b");
	KEY("Esc");
	CHECK(comes_in_two_pieces(&t, term, 0) && comes_in_two_pieces(&t, term, 100));
	TYPE("\x1b[<0;5;6M\x1b[<32;6;6M\x1b[<32;7;6M\x1b[<32;9;7M\x1b[<0;9;7m\x1b[<80;240;60M");
	KEY("press 4,5");
	KEY("drag 8,6"); /* the last of three that came at once */
	KEY("release 8,6");
	KEY("C-wheel-up 239,59");
	TYPE("\x1b[<0;2;2M\x1b[<0;2;2m\x1b[<0;2;2M\x1b[<0;2;2m\x1b[<0;2;2M\x1b[<0;3;2M");
	KEY("press 1,1");
	KEY("release 1,1");
	KEY("second-press 1,1");
	KEY("release 1,1");
	KEY("press 1,1"); /* a third is the first of the next two */
	KEY("press 2,1"); /* elsewhere */
	CHECK(no_key(term));
	gt_term_close(term);
	tty_close(&t);
}

static void keys_of_other_terminals(void)
{
	struct gt_err err = GT_ERR_INIT;
	struct gt_term *term;
	struct tty t;

	environment("C.UTF-8", NULL, NULL);
	TTY(80, 24);
	CHECK((term = gt_term_open(t.in, t.out, "linux", &err)));
	TYPE("\x1b[[A\x1b[A\x1b[1~\x1b\t");
	KEY("F1");
	KEY("Up");
	KEY("Home");
	KEY("S-Tab");
	gt_term_close(term);
	CHECK((term = gt_term_open(t.in, t.out, "rxvt", &err)));
	TYPE("\x1b[d\x1b[7~\x1bOd\x1b[11~");
	KEY("S-Left");
	KEY("Home");
	KEY("C-Left");
	KEY("F1");
	gt_term_close(term);
	tty_close(&t);
}

/* Any input, in any pieces: decoding ends, and the terminal still decodes a key. */
static void noise(void)
{
	struct gt_err err = GT_ERR_INIT;
	struct gt_term *term;
	struct tty t;
	char bytes[400];
	size_t total = 0, keys = 0;

	environment("C.UTF-8", NULL, NULL);
	TTY(80, 24);
	CHECK((term = gt_term_open(t.in, t.out, "xterm-256color", &err)));
	for (int round = 0; round < 300; round++) {
		size_t n = 1 + dice(sizeof(bytes));

		for (size_t i = 0; i < n; i++) {
			bytes[i] = dice(4) ? "\x1b[O<;M0123~]P\\u\xc3"[dice(15)] : (char)dice(256);
			bytes[i] = bytes[i] == 0x1a ? 'z' : bytes[i];
		}
		CHECK(write(t.master, bytes, n) == (ssize_t)n);
		total += n;
		while (gt_term_key(term, 0).key != GT_KEY_NONE)
			CHECK(++keys <= total);
	}
	while (gt_term_key(term, 100).key != GT_KEY_NONE)
		;
	TYPE("q");
	KEY("q");
	gt_term_close(term);
	tty_close(&t);
}

static void keys_then_the_end(void)
{
	struct gt_err err = GT_ERR_INIT;
	struct gt_term *term;
	int ends[2];
	FILE *in, *out = tmpfile();

	environment("C.UTF-8", NULL, NULL);
	CHECK(!pipe(ends) && (in = fdopen(ends[0], "r")) && out);
	CHECK((term = gt_term_open(in, out, "xterm-256color", &err)));
	CHECK(write(ends[1], "ab\x1b", 3) == 3 && !close(ends[1]));
	KEY("a");
	KEY("b");
	KEY("Esc");
	KEY("hangup");
	KEY("hangup");
	gt_term_close(term);
	fclose(in);
	fclose(out);
}

/* The terminal's modes and contents are as before. */
static void given_back(void)
{
	struct gt_err err = GT_ERR_INIT;
	struct termios during, after = { 0 };
	struct gt_term *term;
	struct tty t;

	environment("C.UTF-8", NULL, NULL);
	for (int i = 0; i < 2; i++) {
		TTY(80, 24);
		CHECK((term = gt_term_open(t.in, t.out, i ? "vt100" : "xterm-256color", &err)));
		CHECK(!tcgetattr(t.slave, &during) && !(during.c_lflag & (ECHO | ICANON)) &&
			during.c_lflag & ISIG);
		CHECK(arrived(&t) && t.e.alternate == !i && t.e.application && t.e.mouse == !i);
		gt_term_close(term);
		CHECK(!tcgetattr(t.slave, &after) && same_modes(&after, &t.before));
		CHECK(arrived(&t) && !t.e.alternate && !t.e.hidden && !t.e.mouse &&
			!t.e.sgr_mouse && !t.e.application);
		/* no second page: the prompt comes below */
		CHECK(!i || (t.e.y == 23 && t.e.x == 0));
		CHECK(!t.e.unknown[0]);
		tty_close(&t);
	}
	gt_term_close(NULL);
}

T_MAIN_IN_OWN_FOLDER(T(frames_256), T(frames_8), T(frames_without_colours), T(frames_in_ascii),
	T(locale_decides), T(frames_of_16_million), T(unknown_and_dumb), T(into_a_file),
	T(only_changes), T(resized), T(keys_come), T(keys_of_other_terminals), T(noise),
	T(keys_then_the_end), T(given_back))
