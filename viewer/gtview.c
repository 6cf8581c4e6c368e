/* gtview: the timeline of a trace in a terminal, or one frame of it as text. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "formats/base/opt.h"
#include "formats/base/streams.h"
#include "formats/clock.h"
#include "viewer/opening.h"
#include "viewer/term.h"
#include "viewer/viewing.h"

#define TOOL "gtview"
#define VIEWS_MAX 16
#define STEP_US 8000		/* of work between two looks for a key */
#define OPENING_MS 100		/* between two lines that say how far the opening is */
#define FRAME_NS 33000000	/* between two frames that show nothing but progress, or keys that come faster than they are shown */

static struct {
	const char *render, *from, *to;
	int view;
	bool colour, svg, ascii;
} opt;
static const char *views[VIEWS_MAX + 1];	/* names of gt_views */
static const struct gt_opt options[] = {
	{ .name = "view", .kind = GT_OPT_WORD, .to = &opt.view, .arg = "VIEW", .help = "what to begin with", .words = views },
	{ .name = "from", .kind = GT_OPT_STR, .to = &opt.from, .arg = "TIME",
	  .help = "show the time from there on (1.5s, 250ms after the start)" },
	{ .name = "to", .kind = GT_OPT_STR, .to = &opt.to, .arg = "TIME", .help = "show the time until there" },
	{ .name = "ascii", .kind = GT_OPT_FLAG, .to = &opt.ascii, .help = "draw with characters of ASCII only" },
	{ .kind = GT_OPT_TEXT, .help = "Without a terminal" },
	{ .name = "render", .kind = GT_OPT_STR, .to = &opt.render, .arg = "WxH",
	  .help = "print one frame of W columns and H lines as text, and leave" },
	{ .name = "color", .kind = GT_OPT_FLAG, .to = &opt.colour, .help = "print it with colours (escape sequences of 256 colours)" },
	{ .name = "svg", .kind = GT_OPT_FLAG, .to = &opt.svg, .help = "print it as a picture, an SVG document" },
};
static struct gt_command command = {
	.name = TOOL, .usage = "[options] TRACE", .options = options, .noptions = sizeof(options) / sizeof(*options),
	.about = "Shows what GPUs, streams and threads did over time, in a terminal.",
};

static int fail(const char *file, const struct gt_err *err, int status)
{
	gt_err_print(TOOL, file, err);
	return status;
}

/* "120x40" */
static int parse_size(const char *text, unsigned *width, unsigned *height, struct gt_err *err)
{
	int n = 0;

	if (sscanf(text, "%4u%*1[x]%4u%n", width, height, &n) != 2 || text[n] || text[strspn(text, "0123456789x")] || !*width || !*height ||
	    *width > GT_SCREEN_MOST || *height > GT_SCREEN_MOST)
		return gt_err_set(err, -EINVAL, "--render: '%.40s' is no size: 120x40, up to %ux%u", text, GT_SCREEN_MOST, GT_SCREEN_MOST);
	return 0;
}

static int parse_range(int64_t *from, int64_t *to, struct gt_err *err)
{
	*from = INT64_MIN;
	*to = INT64_MAX;
	if (opt.from && gt_parse_ns(opt.from, from))
		return gt_err_set(err, -EINVAL, "--from: '%.60s' is not a time (1.5s, 250ms, 10us)", opt.from);
	if (opt.to && gt_parse_ns(opt.to, to))
		return gt_err_set(err, -EINVAL, "--to: '%.60s' is not a time (1.5s, 250ms, 10us)", opt.to);
	if (*from >= *to)
		return gt_err_set(err, -EINVAL, "--from must come before --to");
	return 0;
}

/* ---- one frame ---- */

static int render(struct gt_viewing *s, unsigned width, unsigned height, int64_t from, int64_t to, struct gt_err *err)
{
	struct gt_screen screen = { .ascii = opt.ascii };
	struct gt_out out;
	int rc;

	s->scene.still = true;
	rc = gt_viewing_resize(s, width, height, err);
	if (!rc && (opt.from || opt.to))
		rc = gt_viewing_range(s, from, to, err);
	if (!rc)
		rc = gt_viewing_step(s, 0, err);
	if (!rc)
		rc = gt_screen_resize(&screen, width, height);
	if (!rc)
		rc = gt_out_open(&out, "-", false, err);
	if (rc) {
		gt_screen_release(&screen);
		return gt_err_set(err, rc, "out of memory");
	}
	gt_viewing_draw(s, &screen);
	if (opt.svg)
		gt_screen_svg(&screen, &out);
	else
		gt_screen_print(&screen, opt.colour ? GT_COLOURS_256 : GT_MONO, &out);
	gt_screen_release(&screen);
	return gt_out_close(&out, err);
}

/* ---- a terminal ---- */

/* Shows frames while there is something new, and works while nobody presses a key. */
static int interact(struct gt_viewing *s, struct gt_term *term, struct gt_err *err)
{
	struct gt_screen screen = { .ascii = opt.ascii || gt_term_ascii(term) };
	int64_t shown = 0;
	bool dirty = true;
	int rc = 1;	/* as of a step */

	while (rc >= 0 && !s->quit) {
		int64_t now = gt_clock_monotonic();
		struct gt_key k = { .key = GT_KEY_NONE };

		if (dirty && now - shown >= FRAME_NS) {
			gt_viewing_draw(s, &screen);
			if (s->redraw)
				gt_term_redraw(term);
			s->redraw = dirty = false;
			gt_term_show(term, &screen);
			shown = now;
		}
		k = gt_term_key(term, rc > 0 ? 0 : dirty ? (int)((FRAME_NS - (now - shown)) / 1000000) + 1 : -1);
		if (k.key == GT_KEY_NONE && rc > 0) {
			rc = gt_viewing_step(s, STEP_US, err);
			dirty = true;
		} else if (k.key != GT_KEY_NONE) {
			rc = gt_viewing_key(s, k, err);
			rc = rc < 0 ? rc : 1;
			shown = k.key == GT_KEY_RESIZE ? 0 : shown;
			dirty = true;
		}
	}
	gt_screen_release(&screen);
	return rc < 0 ? rc : 0;
}

static int view_in(struct gt_viewing *s, struct gt_term *term, int64_t from, int64_t to, struct gt_err *err)
{
	unsigned width, height;
	int rc;

	gt_term_size(term, &width, &height);
	rc = gt_viewing_resize(s, width, height, err);
	if (!rc && (opt.from || opt.to))
		rc = gt_viewing_range(s, from, to, err);
	return rc ? rc : interact(s, term, err);
}

/* ---- main ---- */

/* What could not be read is in no frame. */
static int tell_damage(const char *file, struct gt_reader *r)
{
	struct gt_err e = GT_ERR_INIT;
	size_t n;
	const struct gt_damage *d = gt_reader_damage(r, &n);

	if (!n)
		return 0;
	gt_err_at(&e, d[0].offset, -EBADMSG, "damaged: %.100s%s", d[0].text, n > 1 ? "; and more places" : "");
	return fail(file, &e, 1);
}

/* All steps, with a line that says how far it is where somebody sees it. Who does not want to wait ends the program, and nothing is left of
 * it. */
static int open_trace(struct gt_opening *o, struct gt_err *err)
{
	bool seen = isatty(STDERR_FILENO), said = false;
	int more;

	while ((more = gt_opening_step(o, OPENING_MS, err)) > 0) {
		if (seen)
			fprintf(stderr, "\r" TOOL ": %s, %u %% (ctrl-C leaves) ", gt_opening_doing(o), gt_opening_percent(o));
		said = seen;
	}
	if (said)
		fprintf(stderr, "\r%*s\r", 70, "");
	for (size_t i = 0; said && !more && gt_opening_note(o, i); i++)
		fprintf(stderr, TOOL ": %s\n", gt_opening_note(o, i));
	return more;
}

/* In a terminal if there is one and no size was given; else a frame. */
static int show_reader(const char *file, struct gt_reader *r, unsigned width, unsigned height, int64_t from, int64_t to)
{
	struct gt_err err = GT_ERR_INIT, why = GT_ERR_INIT;
	struct gt_viewing viewing;
	struct gt_term *term = NULL;
	int rc, status;

	rc = gt_viewing_open(&viewing, r, file, gt_views[opt.view], &err);
	if (!rc && !opt.render) {
		term = gt_term_open(NULL, NULL, NULL, &why);
		if (!term && why.code != -ENOTSUP)
			rc = gt_err_set(&err, why.code, "%s", why.text);
		else if (!term)
			fprintf(stderr, TOOL ": %s: one frame of %ux%u instead, as of --render\n", why.text, width, height);
	}
	if (!rc)
		rc = term ? view_in(&viewing, term, from, to, &err) : render(&viewing, width, height, from, to, &err);
	gt_term_close(term);
	status = rc ? fail(file, &err, 1) : 0;
	status |= tell_damage(file, r);
	gt_viewing_close(&viewing);
	return status;
}

static int show(const char *file, unsigned width, unsigned height, int64_t from, int64_t to)
{
	static const struct gt_opening_options how = { .small = 0 };
	struct gt_err err = GT_ERR_INIT;
	struct gt_opening *o = gt_opening_open(file, &how, &err);
	int status;

	if (!o || open_trace(o, &err)) {
		gt_opening_close(o);
		return fail(file, &err, 1);
	}
	status = show_reader(file, gt_opening_result(o), width, height, from, to);
	status |= gt_opening_damaged(o) ? 1 : 0;
	gt_opening_close(o);
	return status;
}

int main(int argc, char **argv)
{
	struct gt_err err = GT_ERR_INIT;
	struct gt_buf keys = { .len = 0 };
	unsigned width = 80, height = 24;
	int64_t from, to;
	int n = 0, rc;

	gt_streams_guard();
	for (unsigned i = 0; i < VIEWS_MAX && gt_views[i]; i++)
		views[i] = gt_views[i]->name;
	gt_buf_str(&keys, "TRACE is a trace of gtcollect or any file gt can read; - is standard input. Exit status:\n"
			  "0, 1 failure or damaged trace, 2 usage.\n\n");
	gt_bindings_text(&keys);
	command.after = keys.failed ? NULL : (const char *)keys.data;
	rc = gt_opt_parse(&command, argc, argv, &n, &err);
	if (!rc && n != 1)
		rc = gt_err_set(&err, -EINVAL, n ? "one trace at a time" : "which trace? (gtview --help)");
	if (!rc)
		rc = parse_range(&from, &to, &err);
	if (!rc && opt.svg && !opt.render)
		rc = gt_err_set(&err, -EINVAL, "--svg is of one frame: --render WxH says how large");
	if (!rc && opt.render)
		rc = parse_size(opt.render, &width, &height, &err);
	if (rc >= 0)
		rc = rc ? 0 : show(argv[1], width, height, from, to);
	else
		rc = fail(NULL, &err, rc == -EINVAL ? 2 : 1);
	gt_buf_release(&keys);
	return rc;
}
