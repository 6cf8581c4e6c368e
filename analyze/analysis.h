/* One question to a trace, one file, one row in analyses.c. An analysis takes the columns of a block, declares in what order
 * it must see blocks and along what its state splits, and ends in tables; it prints nothing. */
#ifndef GT_ANALYSIS_H
#define GT_ANALYSIS_H
#include "formats/reader.h"
#include "formats/table.h"

struct gt_analysis_options {
	unsigned top;			/* rows a table shows; 0 all */
	struct gt_filter filter;
	int64_t origin;			/* time 0 of what is printed */
};
enum gt_splits { GT_BY_BLOCK = 1, GT_BY_TRACK = 2, GT_BY_FILE = 4 };

struct gt_analysis {
	const char *name;		/* REPORT on the command line, the JSON key */
	const char *help;
	uint32_t wants;			/* kinds of rows */
	bool wants_args;
	enum gt_order order;
	unsigned splits;		/* enum gt_splits: only what a test proves equal to the whole */
	bool in_default;		/* part of the report without REPORT names */
	size_t state_size;
	/* The state is zeroed before init. All return 0 or negative. init and release may be NULL. */
	int (*init)(void *state, struct gt_reader *r, const struct gt_analysis_options *opt, struct gt_err *err);
	int (*block)(void *state, const struct gt_cols *cols, struct gt_err *err);
	int (*merge)(void *into, void *from, struct gt_err *err);	/* from is released after */
	/* Appends up to max tables; returns how many, or negative. The tables are the caller's. */
	int (*finish)(void *state, struct gt_table **tables, unsigned max, struct gt_err *err);
	void (*release)(void *state);
};
extern const struct gt_analysis *const gt_analyses[];	/* NULL-terminated, in the order of the default report */
#endif
