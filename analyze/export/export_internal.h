/* Shared by export_trace.c, export_baseline.c and export_ranks.c. */
#ifndef GT_EXPORT_INTERNAL_H
#define GT_EXPORT_INTERNAL_H
#include "analyze/export/export_trace.h"
#include "formats/names/name_patterns.h"

struct gt_stack_tree;

/* One trace while it is exported. */
struct gt_exported {
	const char *trace;
	struct gt_reader *reader;
	struct gt_name_patterns patterns;
	struct gt_export_options opt;
	char *cut; /* opt.cut */
};
/* Sets opt. reader, borrowed. Release in all cases. */
int gt_exported_init(struct gt_exported *e, const struct gt_export_args *a, const char *trace,
	struct gt_reader *reader, struct gt_err *err);
void gt_exported_release(struct gt_exported *e);
/* ns; a time beyond the range is the first or last one. */
int64_t gt_export_time(int64_t base, int64_t by);

/* Runs the exporter with e->opt. err gets each error but that of the output itself. */
void gt_export_run(
	const struct gt_exporter *x, struct gt_exported *e, struct gt_out *out, struct gt_err *err);
/* Writes all that the exporter writes to a stream. */
void gt_export_stream(const struct gt_export_args *a, const struct gt_exporter *x,
	struct gt_exported *e, struct gt_out *out, struct gt_err *err);
/* The tree of --stacks=WHAT, else the tree that exporters build. Release it in all cases. */
int gt_export_tree(const struct gt_export_args *a, struct gt_exported *e,
	struct gt_stack_tree *tree, struct gt_err *err);
/* --baseline: writes the comparison. */
void gt_export_compared(const struct gt_export_args *a, const struct gt_exporter *x,
	struct gt_exported *e, struct gt_out *out, struct gt_err *err);

bool gt_export_shows_progress(const struct gt_export_args *a, const char *output);
/* Closes the output, and prints why it is incomplete. Returns 1 then. */
int gt_export_close(struct gt_out *out, struct gt_err *err);
/* Prints an error; 1. trace may be NULL. */
int gt_export_refuse(struct gt_err *err, const char *trace);
/* Prints a line for each part of the trace that is missing or damaged, and so not in the output.
 * Returns the exit status. */
int gt_export_print_losses(const char *file, struct gt_reader *r);
#endif
