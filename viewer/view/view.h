/* Views show the same trace and time range in different ways. A view is a file view_*.c, ending in
 * its struct gt_view_ops, and a row in views.c. Keys change a view's state and never draw; drawing
 * changes nothing. */
#ifndef GT_VIEW_H
#define GT_VIEW_H
#include "viewer/view/bindings.h"
#include "viewer/view/key_bar.h"
#include "viewer/view/scene.h"
#include "viewer/term/screen.h"

#define GT_VIEW_WAITING 2
struct gt_view;
struct gt_view_ops {
	const char *name;                /* --view NAME */
	size_t state_size;               /* size of view->state, zeroed before open */
	const struct gt_key_hint *hints; /* for the key bar */
	/* 0 or negative; close it in both cases */
	int (*open)(struct gt_view *v, struct gt_err *err);
	void (*close)(struct gt_view *v);
	/* The scene's archive and reader are about to be closed: releases what depends on them,
	 * keeps what the user chose. Then the view is closed, or opened again with more data. */
	void (*detach)(struct gt_view *v);
	/* Called after a change of the size, the scene or the view's state. 0 or negative. */
	int (*arrange)(struct gt_view *v, unsigned width, unsigned height, struct gt_err *err);
	/* Works for at most `us` µs (0: until done). 1: there is more to do; GT_VIEW_WAITING: a
	 * background job does the rest, so calling now and then is enough; 0: done, negative:
	 * error. */
	int (*step)(struct gt_view *v, uint64_t us, struct gt_err *err);
	/* Another view becomes visible: cancels background work. NULL: none. */
	void (*leave)(struct gt_view *v);
	/* A process is about to fork: ends the view's threads, which a step begins again. NULL: no
	 * threads. */
	void (*stop_threads)(struct gt_view *v);
	/* an action that the view does not know is ignored */
	void (*act)(struct gt_view *v, const struct gt_binding *b, struct gt_key k);
	/* The input of the prompts GT_DO_GOTO, GT_DO_FIND and GT_DO_FILTER (for commands see
	 * app/commands.h). NULL, or a message. */
	const char *(*answer)(struct gt_view *v, enum gt_action asked, const char *text);
	/* viewer's time of the cursor. NULL: no cursor in time */
	int64_t (*moment)(const struct gt_view *v);
	/* is a search running that Esc stops? NULL: never */
	bool (*is_searching)(const struct gt_view *v);
	/* Writes the view's own SVG image of the scene's range, in place of a drawn frame. 0 or
	 * negative. NULL: the frame is the image. */
	int (*write_svg)(const struct gt_view *v, struct gt_out *to, struct gt_err *err);
	/* draws the arranged size */
	void (*draw)(const struct gt_view *v, struct gt_screen *to);
};
struct gt_view {
	const struct gt_view_ops *ops;
	struct gt_scene *scene;
	void *state;
	bool opened;
};

/* NULL-terminated; the first view is the default */
extern const struct gt_view_ops *const gt_views[];
#define GT_VIEWS_MOST 24u
const struct gt_view_ops *gt_view_find(const char *name); /* or NULL */
#endif
