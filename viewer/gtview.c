/* gtview: the timeline of a trace in a terminal, or one frame of it as text. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "formats/base/alloc_failure.h"
#include "formats/cmdline/opt.h"
#include "formats/text/printable.h"
#include "formats/cmdline/std_fds.h"
#include "formats/names/globs.h"
#include "formats/symbols/trace_symbols.h"
#include "viewer/app/event_loop.h"

#define TOOL "gtview"
#define OPENING_MS 100 /* interval of progress lines */

static struct {
	const char *render, *from, *to, *at;
	int view, values;
	bool colour, svg, ascii, follow;
	struct gt_opt_list exclude, symbols;
} opt;
static const char *views[GT_VIEWS_MOST + 1]; /* names of gt_views */
static const char *const values[] = { "busy", "count", "longest", "bytes", NULL };
static const struct gt_opt options[] = {
	{ .name = "view",
		.kind = GT_OPT_WORD,
		.to = &opt.view,
		.arg = "VIEW",
		.help = "first view",
		.words = views },
	{ .name = "from",
		.kind = GT_OPT_STR,
		.to = &opt.from,
		.arg = "TIME",
		.help = "show from TIME after the start (1.5s, 250ms)" },
	{ .name = "to",
		.kind = GT_OPT_STR,
		.to = &opt.to,
		.arg = "TIME",
		.help = "show until TIME after the start" },
	{ .name = "at",
		.kind = GT_OPT_STR,
		.to = &opt.at,
		.arg = "TIME[+TIME]",
		.help = "show TIME in the middle; 2s+50ms: show these 50 ms, and mark them" },
	{ .name = "exclude",
		.kind = GT_OPT_LIST,
		.to = &opt.exclude,
		.arg = "GLOB",
		.help = "no names that match, or @CATEGORY; repeatable" },
	{ .name = "symbols",
		.kind = GT_OPT_LIST,
		.to = &opt.symbols,
		.arg = "DIR",
		.help = "functions and lines of native code by the files in DIR with the recorded build ids; repeatable" },
	{ .name = "values",
		.kind = GT_OPT_WORD,
		.to = &opt.values,
		.arg = "WHAT",
		.help = "what cells of the timeline show",
		.words = values },
	{ .name = "follow",
		.kind = GT_OPT_FLAG,
		.to = &opt.follow,
		.help = "show new events while the trace is being recorded" },
	{ .name = "ascii",
		.kind = GT_OPT_FLAG,
		.to = &opt.ascii,
		.help = "draw with ASCII characters only" },
	{ .kind = GT_OPT_TEXT, .help = "Without a terminal" },
	{ .name = "render",
		.kind = GT_OPT_STR,
		.to = &opt.render,
		.arg = "WxH",
		.help = "print one frame of W columns and H lines as text, and exit" },
	{ .name = "color",
		.kind = GT_OPT_FLAG,
		.to = &opt.colour,
		.help = "print the frame with 256 colours (escape sequences)" },
	{ .name = "svg",
		.kind = GT_OPT_FLAG,
		.to = &opt.svg,
		.help = "print the frame as an SVG image; with --view flame: a flame graph for a browser, as gtexport --flame" },
};
static struct gt_command command = {
	.name = TOOL,
	.usage = "[options] TRACE",
	.options = options,
	.noptions = sizeof(options) / sizeof(*options),
	.about = "Shows what GPUs, streams and threads did over time, in a terminal.",
};

static int fail(const char *file, const struct gt_err *err, int status)
{
	gt_err_print(TOOL, file, err);
	return status;
}

struct frame {
	unsigned width, height;
	struct gt_ui_times times;
};

/* "120x40" */
static int parse_size(const char *text, struct frame *f, struct gt_err *err)
{
	unsigned *width = &f->width, *height = &f->height;
	int n = 0;

	if (sscanf(text, "%4u%*1[x]%4u%n", width, height, &n) != 2 || text[n] ||
		text[strspn(text, "0123456789x")] || !*width || !*height ||
		*width > GT_SCREEN_MOST || *height > GT_SCREEN_MOST)
		return gt_err_set(err, -EINVAL,
			"--render: invalid size '%.40s'; use COLUMNSxLINES, at most %ux%u", text,
			GT_SCREEN_MOST, GT_SCREEN_MOST);
	return 0;
}

static int bad_time(const char *option, const char *text, struct gt_err *err)
{
	return gt_err_set(
		err, -EINVAL, "--%s: '%.60s' is not a time (1.5s, 250ms, 10us)", option, text);
}

/* "2s" or "2s+50ms" */
static int parse_at(const char *text, struct gt_ui_times *to, struct gt_err *err)
{
	const char *plus = strchr(text, '+');
	char start[64];
	int64_t ns = 0;

	snprintf(start, sizeof(start), "%.*s", plus ? (int)(plus - text) : 63, text);
	if (gt_parse_ns(start, &to->from) || (plus && gt_parse_ns(plus + 1, &ns)))
		return gt_err_set(err, -EINVAL,
			"--at: '%.60s' is not a time, or a time and a duration (1.5s, 1.5s+20ms)",
			text);
	to->how = plus ? GT_UI_SPAN : GT_UI_MIDDLE;
	if (__builtin_add_overflow(to->from, ns, &to->to))
		to->to = INT64_MAX;
	return 0;
}

static int parse_times(struct gt_ui_times *to, struct gt_err *err)
{
	*to = (struct gt_ui_times){ opt.from || opt.to ? GT_UI_RANGE : GT_UI_ALL, INT64_MIN,
		INT64_MAX };
	if (opt.from && gt_parse_ns(opt.from, &to->from))
		return bad_time("from", opt.from, err);
	if (opt.to && gt_parse_ns(opt.to, &to->to))
		return bad_time("to", opt.to, err);
	if (to->from >= to->to)
		return gt_err_set(err, -EINVAL, "--from must come before --to");
	if (opt.at && to->how != GT_UI_ALL)
		return gt_err_set(err, -EINVAL, "give --at, or --from and --to, not both");
	return opt.at ? parse_at(opt.at, to, err) : 0;
}

/* ---- one frame ---- */

static int print_frame(struct gt_ui *s, struct gt_out *out, struct gt_err *err)
{
	struct gt_screen screen = { .ascii = opt.ascii, .mono = !opt.colour && !opt.svg };
	int rc = gt_ui_step(s, 0, err);

	if (!rc)
		rc = gt_screen_resize(&screen, s->width, s->height);
	if (!rc) {
		gt_ui_draw(s, &screen);
		if (opt.svg)
			gt_screen_svg(&screen, out);
		else
			gt_screen_print(&screen, opt.colour ? GT_COLOURS_256 : GT_MONO, out);
	}
	gt_screen_release(&screen);
	return rc;
}

static int render(struct gt_ui *s, const struct frame *f, struct gt_err *err)
{
	struct gt_out out;
	int rc;

	s->scene.is_static = true;
	rc = gt_ui_resize(s, f->width, f->height, err);
	if (!rc)
		rc = gt_ui_show_times(s, &f->times, err);
	if (!rc)
		rc = gt_ui_show_values(s, (unsigned)opt.values, err);
	if (!rc)
		rc = gt_out_open(&out, "-", false, err);
	if (rc)
		return gt_err_set(err, rc, "out of memory");
	rc = opt.svg && s->view->ops->write_svg ? s->view->ops->write_svg(s->view, &out, err)
						: print_frame(s, &out, err);
	if (!rc && gt_alloc_failed())
		rc = -ENOMEM;
	if (rc) {
		gt_err_set(err, rc, GT_ALLOC_FAILURE_TEXT);
		gt_out_fail(&out, rc);
	}
	return gt_out_close(&out, err);
}

/* ---- main ---- */

/* Frames do not show data that could not be read. */
static int report_damage(const char *file, struct gt_reader *r)
{
	struct gt_err e = GT_ERR_INIT;
	size_t n;
	const struct gt_damage *d = gt_reader_damage(r, &n);

	if (!n)
		return 0;
	gt_err_at(&e, d[0].offset, -EBADMSG, "damaged: %.100s%s", d[0].text,
		n > 1 ? "; and more places" : "");
	return fail(file, &e, 1);
}

/* Opens the trace completely. If stderr is a terminal, one line shows the progress. Ctrl-C ends the
 * program and leaves no temporary file. */
static int open_trace(struct gt_trace_open *o, struct gt_err *err)
{
	bool seen = isatty(STDERR_FILENO), printed = false;
	int more;

	while ((more = gt_trace_open_step(o, OPENING_MS, err)) > 0) {
		if (gt_trace_open_is_waiting(o))
			return gt_err_set(err, -ENODATA,
				"the trace has no events yet; gtview waits for them only in a terminal");
		if (seen)
			fprintf(stderr, "\r" TOOL ": %s, %u %% (Ctrl-C exits) ",
				gt_trace_open_progress(o), gt_trace_open_percent(o));
		printed = seen;
	}
	if (printed)
		fprintf(stderr, "\r%*s\r", 70, "");
	for (size_t i = 0; printed && !more && gt_trace_open_note(o, i); i++)
		gt_message(stderr, TOOL, "%s", gt_trace_open_note(o, i));
	return more;
}

static int show_frame(struct gt_trace_open *o, const struct frame *f, struct gt_err *err)
{
	struct gt_ui ui;
	int rc = open_trace(o, err);

	if (rc)
		return rc;
	rc = gt_ui_open(
		&ui, gt_trace_open_result(o), gt_trace_open_path(o), gt_views[opt.view], err);
	if (!rc)
		gt_scene_set_growing(&ui.scene, gt_trace_open_is_following(o));
	if (!rc)
		rc = render(&ui, f, err);
	gt_ui_close(&ui);
	return rc;
}

/* Shows the trace in the terminal if there is one and no printed frame was requested; else prints
 * one. If the file cannot be opened, the message appears before the terminal changes its mode. */
static int show(struct gt_trace_open *o, const struct frame *f, struct gt_err *err)
{
	const struct gt_event_loop_options how = { .view = gt_views[opt.view],
		.times = f->times,
		.values = (unsigned)opt.values,
		.ascii = opt.ascii };
	struct gt_err why = GT_ERR_INIT;
	struct gt_term *term = NULL;
	int rc = gt_trace_open_step(o, OPENING_MS, err);

	if (rc < 0)
		return rc;
	if (!opt.render && !opt.svg) {
		term = gt_term_open(NULL, NULL, NULL, &why);
		if (!term && why.code != -ENOTSUP)
			return gt_err_set(err, why.code, "%s", why.text);
		if (!term)
			gt_message(stderr, TOOL, "%s: printing one frame of %ux%u, like --render",
				why.text, f->width, f->height);
	}
	rc = term ? gt_event_loop_run(o, term, &how, err) : show_frame(o, f, err);
	gt_term_close(term);
	return rc;
}

static int show_file(const char *file, const struct frame *f)
{
	const struct gt_trace_open_options how = { .follow = opt.follow,
		.exclude = opt.exclude.n ? &opt.exclude : NULL };
	struct gt_err err = GT_ERR_INIT;
	struct gt_trace_open *o = gt_trace_open_start(file, &how, &err);
	int rc = o ? show(o, f, &err) : err.code, status = rc ? fail(file, &err, 1) : 0;

	if (o && gt_trace_open_result(o))
		status |= report_damage(file, gt_trace_open_result(o));
	status |= o && gt_trace_open_is_damaged(o) ? 1 : 0;
	gt_trace_open_close(o);
	return status;
}

int main(int argc, char **argv)
{
	struct gt_err err = GT_ERR_INIT;
	struct gt_buf keys = { .len = 0 };
	struct frame f = { .width = 80, .height = 24 };
	int n = 0, rc;

	gt_std_fds_occupy();
	for (unsigned i = 0; gt_views[i]; i++)
		views[i] = gt_views[i]->name;
	gt_buf_str(&keys,
		"TRACE is a file of gtcollect, or a file of another tool that gt can import; - is standard input.\n"
		"Exit status: 0, 1 failure or damaged trace, 2 usage.\n\n");
	gt_bindings_text(&keys);
	command.after = keys.failed ? NULL : (const char *)keys.data;
	rc = gt_opt_parse(&command, argc, argv, &n, &err);
	if (!rc && n != 1)
		rc = gt_err_set(&err, -EINVAL,
			n ? "give only one trace" : "no trace given (see gtview --help)");
	if (!rc)
		rc = parse_times(&f.times, &err);
	if (!rc)
		rc = gt_globs_check(&opt.exclude, "--exclude", &err);
	if (!rc && opt.follow && opt.exclude.n)
		rc = gt_err_set(&err, -EINVAL,
			"--exclude needs a complete trace: it cannot be used with --follow");
	if (!rc && opt.svg && !opt.render && !gt_views[opt.view]->write_svg)
		rc = gt_err_set(
			&err, -EINVAL, "--svg prints one frame: add --render WxH for its size");
	if (!rc && opt.render)
		rc = parse_size(opt.render, &f, &err);
	if (!rc && gt_trace_symbols_start(opt.symbols.items, opt.symbols.n, &err))
		rc = -EINVAL;
	if (rc >= 0)
		rc = rc ? 0 : show_file(argv[1], &f);
	else
		rc = fail(NULL, &err, rc == -EINVAL ? 2 : 1);
	gt_buf_release(&keys);
	gt_trace_symbols_report(TOOL);
	gt_trace_symbols_finish();
	gt_opt_list_release(&opt.exclude);
	gt_opt_list_release(&opt.symbols);
	return rc;
}
