/* One question to a trace, one file, one row in analyses.c. An analysis takes the columns of a block, declares in what order
 * it must see blocks and along what its state splits, and ends in tables; it prints nothing.
 *
 * Most questions ask for sums per type or per track. Those are counted once for everybody, in the fold (aggregate.h): a report
 * names the parts it reads in `folds`, has no block() of its own unless it needs more, and finds the fold in the options
 * it was given at init; the fold is complete when finish() is called. */
#ifndef GT_ANALYSIS_H
#define GT_ANALYSIS_H
#include "analyze/columns/source_dedup.h"
#include "analyze/columns/aggregate.h"
#include "formats/names/demangle.h"
#include "formats/trace/read/reader.h"
#include "formats/table/table.h"

struct gt_query;
struct gt_gap_by;
struct gt_rank_name;			/* ranks.h */
struct gt_idle;
struct gt_analysis_options {
	unsigned top;			/* rows a table shows; 0 all */
	struct gt_filter filter;
	int64_t origin;			/* time 0 of what is printed */
	const int64_t *origins;		/* the same by recording; NULL: that for the clock of the first, and for others their own start */
	const char *file;		/* as the user named it; with ranks: "N files" */
	const struct gt_rank_name *ranks; /* by recording: several files are read as one, and this is what each goes by; NULL: it is one file */
	bool in_default_report;			/* the default report: nobody asked for one by its name, and what has nothing to say stays away */
	const char *restrictions;		/* the options that leave rows out, as given; NULL: none */
	bool nothing_selected;			/* they leave no row of any kind; filled in by gt_run, for finish() */
	int64_t min_ns;			/* gaps shorter than this are not looked into */
	int64_t gap_ns;			/* `advice` has a word on each gap longer than this; 0: as it is used to */
	bool whole;			/* GPU reports look at all of the recording, not only from the first to the last GPU operation */
	const struct gt_opt_list *without;	/* globs (formats/names/globs.h): what `critical` shall do without; NULL: nothing */
	enum gt_name_form names;	/* how kernels are called, where people read it */
	bool spark;			/* reports that know a histogram of each row draw it beside the name (text_bars.h) */
	size_t width;			/* of the terminal that text will be printed on; 0 or SIZE_MAX: there is none */
	const struct gt_query *query, *histogram;	/* what the reports of these names are asked; NULL: nothing, and they have no table. Borrowed */
	const struct gt_gap_by *gaps_by; /* what a histogram of gaps is asked, in its place. Borrowed */
	const struct gt_aggregate *aggregate;	/* borrowed, lives longer than any state */
	const struct gt_source_dedup *source_dedup; /* likewise: what was recorded twice, and is in no block that an analysis sees */
	struct gt_idle *idle;		/* likewise: of analyses with `idle`; listened to from init on, and complete when finish() is called */
};
/* The default report of a trace with rows of the GPU says what limits the program; without, what was called. */
enum gt_default_use { GT_DEFAULT_NEVER, GT_DEFAULT_ALWAYS, GT_DEFAULT_GPU, GT_DEFAULT_CALLS };
enum gt_default_use gt_default_use_of(const struct gt_reader *r);	/* which of the two it is */

#define GT_LAYERS_OF_CALLS (GT_BIT(GT_LAYER_API) | GT_BIT(GT_LAYER_RUNTIME))
enum gt_splits { GT_BY_BLOCK = 1 };

struct gt_analysis {
	const char *name;		/* REPORT on the command line, the JSON key */
	const char *help;
	const char *family;		/* what --list puts it under, behind all others; NULL: none */
	uint32_t wants;			/* kinds of rows */
	unsigned needs;			/* layers, GT_BIT(enum gt_layer) | ...: it cannot answer where none of them was recorded. 0: it sees to that itself */
	bool needs_unfiltered;			/* or its figures would be wrong: with --match it gets no rows, and cannot answer */
	bool wants_args;
	unsigned aggregates;			/* enum gt_aggregate_part: what it reads of the fold */
	/* Another analysis that runs once for all reports that name it. Their opt->idle is its state. It sees each block before
	 * they do. NULL: none. A run has at most one engine. */
	const struct gt_analysis *engine;
	enum gt_order order;
	unsigned splits;		/* enum gt_splits: only what a test proves equal to the whole */
	enum gt_default_use in_default;		/* part of what is printed where no report is named */
	bool per_recording;			/* its tables tell a story of each process in order of time: to people several files are shown one
					 * after the other */
	bool runs_last;			/* finish() comes when all others' have, which may read, and find damage */
	size_t state_size;
	/* The state is zeroed before init. All return 0 or negative. init, block, merge and release may be NULL (merge: nothing
	 * to merge, or it does not split). opt is borrowed until release, the reader until the tables are freed. */
	int (*init)(void *state, struct gt_reader *r, const struct gt_analysis_options *opt, struct gt_err *err);
	int (*block)(void *state, const struct gt_cols *cols, struct gt_err *err);
	int (*merge)(void *into, void *from, struct gt_err *err);	/* from is released after */
	/* Appends up to max tables; returns how many, or negative. The tables are the caller's. */
	int (*finish)(void *state, struct gt_table **tables, unsigned max, struct gt_err *err);
	void (*release)(void *state);
};
extern const struct gt_analysis *const gt_analyses[];	/* NULL-terminated, in the order of the default report */
#endif
