/* Views: different pictures of the same trace in the same stretch of time. One is a file, view_*.c,
 * ending in its struct gt_view_ops, and a row in views.c. Keys change a view's state and never
 * draw; drawing changes nothing. */
#ifndef GT_VIEW_H
#define GT_VIEW_H
#include "viewer/view/bindings.h"
#include "viewer/view/scene.h"
#include "viewer/term/screen.h"

enum gt_view_result {
	GT_VIEW_PASS, /* it has no use for this */
	GT_VIEW_DONE  /* something may have changed: arrange and draw it again */
};
#define GT_VIEW_BESIDE 2
struct gt_view;
struct gt_view_ops {
	const char *name; /* --view NAME */
	const char *help;
	size_t state_size; /* of what view->state points at, zeroed before open */
	/* 0 or negative; close in both cases */
	int (*open)(struct gt_view *v, struct gt_err *err);
	void (*close)(struct gt_view *v);
	/* The scene's archive and reader are about to be closed: what is theirs is given back, what
	 * the user chose is kept. Then it is closed, or opened again, with the same trace with more
	 * in it. */
	void (*detach)(struct gt_view *v);
	/* What it is to show from now on: the size has changed, the scene or its own state. 0 or
	 * negative. */
	int (*arrange)(struct gt_view *v, unsigned width, unsigned height, struct gt_err *err);
	/* Finds out more of what is to be shown, for some us at most (0: all of it). 1: there is
	 * more to do; GT_VIEW_BESIDE: what is left a thread does, or will do, and it is enough to
	 * ask now and then; 0: nothing, negative. */
	int (*step)(struct gt_view *v, uint64_t us, struct gt_err *err);
	/* Another view is shown from now on: nobody waits for what this one has begun. NULL: it
	 * begins nothing. */
	void (*leave)(struct gt_view *v);
	/* A process of its own is about to begin: the view's threads end, and begin again in a
	 * step. NULL: it has none. */
	void (*rest)(struct gt_view *v);
	enum gt_view_result (*act)(struct gt_view *v, const struct gt_binding *b, struct gt_key k);
	/* The answer to what GT_DO_GOTO, GT_DO_FIND and GT_DO_FILTER ask for (commands are
	 * orders.h's). NULL, or why that is none: one line. */
	const char *(*answer)(struct gt_view *v, enum gt_action asked, const char *text);
	/* where its cursor is, the viewer's time. NULL: it has none in time */
	int64_t (*moment)(const struct gt_view *v);
	/* is it at a search that Esc stops? NULL: never */
	bool (*is_searching)(const struct gt_view *v);
	/* of the size that it was arranged for */
	void (*draw)(const struct gt_view *v, struct gt_screen *to);
};
struct gt_view {
	const struct gt_view_ops *ops;
	struct gt_scene *scene;
	void *state;
	bool opened;
};

/* NULL-terminated; the first is what one begins with */
extern const struct gt_view_ops *const gt_views[];
#define GT_VIEWS_MOST 16u
const struct gt_view_ops *gt_view_find(const char *name); /* or NULL */
#endif
