/* While no key is pressed, the loop works in steps of a few ms, and draws a frame when something
 * changed, at most 30 times a second.
 *
 * A trace that is being recorded is polled a few times a second. When it has grown and the previous
 * data are processed, the loop detaches everything that depends on the reader, reads the new data,
 * and reopens it; a view keeps what the user chose. The larger the trace, the longer that takes, so
 * the loop limits it to a fifth of the time. Tables do not change while the user reads them: the
 * title says that there is more, and Ctrl-L shows it. */
#include "viewer/app/event_loop.h"

#include <stdio.h>
#include <string.h>
#include "formats/base/alloc_failure.h"
#include "formats/trace/clock.h"

/* between two frames that differ only in progress, or between fast key presses */
#define FRAME_NS 33000000
#define OPENING_MS 100    /* between two frames while the trace is opened */
#define POLL_NS 200000000 /* between two polls of the file */
/* idle time between two renewals, as a multiple of the duration of the last one */
#define IDLE_PART 4
#define JOB_POLL_MS 50 /* between two checks of a background job */
/* the first frame after a renewal is delayed by up to this, so that it does not change at once */
#define RENEWED_FRAME_NS 60000000

struct event_loop {
	struct gt_trace_open *opening;
	struct gt_term *term;
	const struct gt_event_loop_options *options;
	struct gt_ui ui;
	struct gt_screen screen;
	int64_t shown; /* time of the last frame */
	bool dirty;
	int more; /* the last result of gt_ui_step */
	/* following */
	int64_t polled, renewed; /* times */
	/* time when work began, and the duration until it was complete, ns */
	int64_t began, took;
	bool working; /* work is not complete */
	/* the visible view when all data were shown */
	const struct gt_view *seen;
	char status_text[200];
};
enum end {
	RUNNING,
	QUIT,
	REPLACED
}; /* REPLACED: another file has the name, or the file became shorter */

/* ---- opening ---- */

static void draw_bar(struct gt_screen *to, int x, int y, unsigned width, unsigned percent)
{
	const struct gt_look done = { GT_INK_TITLE, GT_INK_NONE, GT_REVERSE };
	unsigned n = width * percent / 100;

	gt_screen_fill(to, x, y, (int)n, 1, to->ascii ? '#' : ' ', done);
	gt_screen_fill(
		to, x + (int)n, y, (int)(width - n), 1, to->ascii ? '.' : 0xb7, gt_look_faint);
}

/* Draws the screen of a trace that is being opened. */
static void draw_progress(
	const char *name, const char *doing, unsigned percent, struct gt_screen *to)
{
	unsigned width = to->width > 64 ? 60 : to->width > 8 ? to->width - 4 : to->width;
	int x = (int)(to->width - width) / 2, y = to->height > 6 ? (int)to->height / 2 - 2 : 0;

	gt_screen_clear(to);
	gt_screen_text(to, x, y, (int)width, name, gt_look_heading);
	gt_screen_text(to, x, y + 1, (int)width - 6, doing, gt_look_plain);
	if (percent) {
		gt_screen_printf(
			to, x + (int)width - 5, y + 1, -1, gt_look_plain, "%3u %%", percent);
		draw_bar(to, x, y + 2, width, percent);
	}
	gt_screen_text(to, x, y + 3, (int)width, "q, Esc: quit", gt_look_faint);
}

static bool is_quit_key(struct gt_key k)
{
	return k.key == 'q' || k.key == GT_KEY_ESC || k.key == 3 || k.key == GT_KEY_HANGUP;
}

static int resize(struct event_loop *s, unsigned *width, unsigned *height)
{
	gt_term_size(s->term, width, height);
	return gt_screen_resize(&s->screen, *width, *height);
}

/* Opens in steps; shows progress if the first step does not complete it. */
static int open_trace(struct event_loop *s, enum end *end, struct gt_err *err)
{
	unsigned width, height;
	bool shown_progress = false;
	int more;

	while ((more = gt_trace_open_step(s->opening, OPENING_MS, err)) > 0) {
		if (resize(s, &width, &height))
			return gt_err_set(err, -ENOMEM, "out of memory");
		draw_progress(gt_trace_open_path(s->opening), gt_trace_open_progress(s->opening),
			gt_trace_open_percent(s->opening), &s->screen);
		gt_term_show(s->term, &s->screen);
		shown_progress = true;
		if (is_quit_key(gt_term_key(s->term, 0))) {
			*end = QUIT;
			return 0;
		}
	}
	s->status_text[0] = 0;
	for (size_t i = 0; shown_progress && !more && gt_trace_open_note(s->opening, i); i++)
		snprintf(s->status_text + strlen(s->status_text),
			sizeof(s->status_text) - strlen(s->status_text), "%s%s", i ? "; " : "",
			gt_trace_open_note(s->opening, i));
	return more;
}

/* ---- following ---- */

/* Shows the last note about the file until the next key. */
static void set_note(struct event_loop *s)
{
	const char *note = NULL;

	for (size_t i = 0; gt_trace_open_note(s->opening, i); i++)
		note = gt_trace_open_note(s->opening, i);
	snprintf(s->status_text, sizeof(s->status_text), "%s", note ? note : "");
	s->ui.scene.message = note ? s->status_text : NULL;
	s->dirty = true;
}

static int renew(struct event_loop *s, enum end *end, struct gt_err *err)
{
	struct gt_ui *v = &s->ui;
	int64_t began = gt_clock_monotonic();
	int rc;

	gt_ui_detach(v);
	rc = gt_trace_open_refresh(s->opening, err);
	if (rc || !gt_trace_open_result(s->opening)) {
		*end = REPLACED;
		return rc;
	}
	v->scene.is_outdated = false;
	rc = gt_ui_reopen(v, gt_trace_open_result(s->opening), err);
	for (s->more = 1; !rc && v->busy && gt_clock_monotonic() - began < RENEWED_FRAME_NS;)
		rc = (s->more = gt_ui_step(v, GT_UI_STEP_US, err)) < 0 ? s->more : 0;
	s->renewed = s->began = began;
	s->working = true;
	s->seen = v->view;
	s->dirty = true;
	return rc;
}

/* Only the timeline shows new events by itself; other views wait for Ctrl-L. */
static bool is_following(const struct event_loop *s) { return s->ui.view->ops == gt_views[0]; }

/* A closed trace is read once more at once. */
static bool is_due(const struct event_loop *s, enum gt_follow_state what, int64_t now)
{
	if (s->ui.redraw || s->ui.view != s->seen || (what == GT_FOLLOW_CLOSED && is_following(s)))
		return true;
	return is_following(s) && !s->ui.busy && now - s->renewed >= IDLE_PART * s->took;
}

/* Measures how long the visible data take to process, from a key or a renewal on. */
static void measure_time(struct event_loop *s, int64_t now)
{
	bool busy = s->ui.busy;

	if (busy && !s->working)
		s->began = now;
	if (!busy && s->working)
		s->took = now - s->began;
	s->working = busy;
}

static int follow(struct event_loop *s, enum end *end, struct gt_err *err)
{
	struct gt_scene *scene = &s->ui.scene;
	int64_t now = gt_clock_monotonic();
	enum gt_follow_state what;
	int rc;

	measure_time(s, now);
	if (!scene->growing || (now - s->polled < POLL_NS && !s->ui.redraw))
		return 0;
	s->polled = now;
	what = gt_trace_open_poll(s->opening);
	switch (what) {
	case GT_FOLLOW_UNCHANGED: return 0;
	case GT_FOLLOW_ABANDONED:
		scene->growing = false;
		set_note(s);
		return 0;
	case GT_FOLLOW_REPLACED:
		*end = REPLACED;
		gt_ui_detach(&s->ui);
		return gt_trace_open_refresh(s->opening, err);
	default: break;
	}
	if (!is_due(s, what, now)) {
		s->dirty |= scene->is_outdated == is_following(s);
		scene->is_outdated = !is_following(s);
		return 0;
	}
	rc = renew(s, end, err);
	if (!rc && what == GT_FOLLOW_CLOSED) {
		scene->growing = false;
		set_note(s);
	}
	return rc;
}

/* ---- frames and keys ---- */

static void show(struct event_loop *s, int64_t now)
{
	if (gt_alloc_failed()) {
		gt_alloc_failure_clear();
		gt_scene_set_status(&s->ui.scene, "out of memory: the screen may be incomplete");
	}
	gt_ui_draw(&s->ui, &s->screen);
	if (s->ui.redraw)
		gt_term_redraw(s->term);
	s->ui.redraw = s->dirty = false;
	gt_term_show(s->term, &s->screen);
	s->shown = now;
}

/* Time without work, ms; -1: until the next key. */
static int timeout_ms(const struct event_loop *s, int64_t now)
{
	if (s->more > 0 && s->ui.busy)
		return 0;
	if (s->more > 0)
		return JOB_POLL_MS;
	if (s->dirty)
		return (int)((FRAME_NS - (now - s->shown)) / 1000000) + 1;
	return s->ui.scene.growing ? (int)(POLL_NS / 1000000) : -1;
}

static int turn(struct event_loop *s, enum end *end, struct gt_err *err)
{
	int64_t now = gt_clock_monotonic();
	struct gt_key k;
	int rc = follow(s, end, err);

	if (rc || *end)
		return rc;
	if (s->dirty && now - s->shown >= FRAME_NS)
		show(s, now);
	k = gt_term_key(s->term, timeout_ms(s, now));
	if (k.key != GT_KEY_NONE) {
		rc = gt_ui_key(&s->ui, k, err);
		if (!s->ui.scene.is_outdated)
			s->seen = s->ui.view;
		s->more = 1;
		s->shown = k.key == GT_KEY_RESIZE ? 0 : s->shown;
		s->dirty = true;
		*end = s->ui.quit ? QUIT : RUNNING;
	} else if (s->more > 0) {
		rc = s->more = gt_ui_step(&s->ui, GT_UI_STEP_US, err);
		s->dirty = true;
	}
	return rc < 0 ? rc : 0;
}

static int view_trace(struct event_loop *s, enum end *end, struct gt_err *err)
{
	const struct gt_event_loop_options *how = s->options;
	struct gt_ui *v = &s->ui;
	unsigned width, height;
	int rc = gt_ui_open(v, gt_trace_open_result(s->opening), gt_trace_open_path(s->opening),
		how->view, err);

	if (!rc)
		gt_scene_set_growing(&v->scene, gt_trace_open_is_following(s->opening));
	v->scene.message = s->status_text[0] ? s->status_text : NULL;
	gt_term_size(s->term, &width, &height);
	if (!rc)
		rc = gt_ui_resize(v, width, height, err);
	if (!rc)
		rc = gt_ui_show_times(v, &how->times, err);
	if (!rc)
		rc = gt_ui_show_values(v, how->values, err);
	s->dirty = true;
	s->more = 1;
	s->shown = 0;
	s->seen = v->view;
	s->renewed = gt_clock_monotonic();
	while (!rc && *end == RUNNING)
		rc = turn(s, end, err);
	gt_ui_close(v);
	return rc;
}

int gt_event_loop_run(struct gt_trace_open *o, struct gt_term *term,
	const struct gt_event_loop_options *options, struct gt_err *err)
{
	struct event_loop s = { .opening = o,
		.term = term,
		.options = options,
		.screen.ascii = options->ascii || gt_term_ascii(term),
		.screen.mono = gt_term_colours(term) == GT_MONO };
	enum end end = REPLACED;
	int rc = 0;

	while (!rc && end == REPLACED) {
		end = RUNNING;
		rc = open_trace(&s, &end, err);
		if (!rc && end == RUNNING)
			rc = view_trace(&s, &end, err);
	}
	gt_screen_release(&s.screen);
	return rc;
}
