/* --baseline: the stacks of a trace beside those of an earlier one. */
#include <stdlib.h>
#include "analyze/export/export_internal.h"
#include "formats/cmdline/progress_line.h"
#include "formats/export/stacks/stack_tree.h"
#include "formats/import/importers.h"

/* The stacks of the baseline, with the same options. It is read completely, and is closed when this
 * returns. */
static int add_baseline(const struct gt_export_args *a, const char *name,
	const struct gt_stack_tree *now, struct gt_stack_tree *compared, struct gt_err *err)
{
	struct gt_reader *r = gt_open_any(a->baseline, err);
	struct gt_stack_tree before;
	struct gt_exported e;
	int rc;

	if (!r)
		return err->code;
	rc = gt_exported_init(&e, a, a->baseline, r, err);
	if (!rc) {
		rc = gt_export_tree(a, &e, &before, err);
		rc = rc ? rc
			: gt_stack_tree_compare(compared, &before, now,
				  (const char *const[]){ e.opt.name, name }, err);
		gt_stack_tree_release(&before);
	}
	gt_exported_release(&e);
	gt_progress_line_hide();
	if (gt_export_print_losses(a->baseline, r) && !rc)
		rc = gt_err_set(err, -EIO, "a comparison with a damaged trace is not written");
	gt_reader_close(r);
	return rc;
}

void gt_export_compared(const struct gt_export_args *a, const struct gt_exporter *x,
	struct gt_exported *e, struct gt_out *out, struct gt_err *err)
{
	struct gt_stack_tree now, compared = { .err = err };
	struct gt_err baseline_err = GT_ERR_INIT;
	int rc = gt_export_tree(a, e, &now, err);

	if (!rc && add_baseline(a, e->opt.name, &now, &compared, &baseline_err))
		gt_err_set(err, baseline_err.code, "--baseline %.200s: %s", a->baseline,
			baseline_err.text);
	e->opt.tree = &compared;
	if (!err->code)
		gt_export_run(x, e, out, err);
	e->opt.tree = NULL;
	gt_stack_tree_release(&compared);
	gt_stack_tree_release(&now);
}
