/* Notes of the header on metadata that make figures unreliable: a table of the recorder's keys,
 * their harmless values, and the notes on other values. */
#ifndef GT_METADATA_NOTES_H
#define GT_METADATA_NOTES_H
#include "analyze/core/report.h"

struct gt_metadata_notes {
	const struct gt_report_state *report;
	const struct gt_segment *seg;
	struct gt_table *t;
	/* what the values mean; set by gt_metadata_notes_add */
	unsigned newer;   /* driver functions newer than the recorder */
	bool part;        /* the file is only a part of a recording */
	bool gpu_missing; /* some GPU records are missing */
	bool no_gpu;      /* all of them; noted once */
};
/* Notes one value, if it makes figures unreliable. Call it for each value in the file's order. */
void gt_metadata_notes_add(struct gt_metadata_notes *n, const char *key, const char *value);
#endif
