/* The interface of an analysis: one question to a trace, one file, one row in analyses.c. An
 * analysis gets the columns of each block and makes tables; it prints nothing. Its descriptor
 * says in which order it must see blocks, and whether its state may be split over threads.
 *
 * Most reports need sums per type or per track. These are counted once for all reports
 * (aggregate.h): a report names the parts it reads in `aggregates`, and has no block() unless it
 * needs more. It finds the aggregate in the options of init(); it is complete when finish() is
 * called. */
#ifndef GT_ANALYSIS_H
#define GT_ANALYSIS_H
#include "analyze/columns/source_dedup.h"
#include "analyze/columns/aggregate.h"
#include "formats/cmdline/opt.h"
#include "formats/names/kernel_names.h"
#include "formats/trace/read/reader.h"
#include "formats/table/table.h"

struct gt_rank_name; /* ranks.h */
struct gt_steady;    /* steady.h */

/* Headings of --help below which options of reports may stand beside those of the program. */
#define GT_HEADING_OPTIONS "Options"
#define GT_HEADING_ROWS "Which rows to analyze"

/* An option of the command line that some reports take. Reports that share it name the same row.
 */
struct gt_option_row {
	struct gt_opt opt;   /* `to` stays NULL: the program holds the value */
	const char *heading; /* in --help; one of the above, or their own */
	/* Without this report or another one that takes the option, the option is refused. NULL: it
	 * is accepted with any report. */
	const char *report;
};

/* The value of such an option: of GT_OPT_STR the text, of other kinds what gt_opt.to points at. Or,
 * under the name of a report, its settings (gt_configured_report). */
struct gt_report_option {
	const char *name; /* without "--"; NULL: end of a list */
	const void *value;
};
struct gt_analysis_options {
	unsigned top; /* rows that a table shows; 0: all */
	struct gt_filter filter;
	enum gt_match_options { GT_BY_MATCH, GT_BY_EXCLUDE, GT_BY_BOTH } match_options;
	int64_t origin; /* time 0 of printed times */
	/* the same by recording; NULL: `origin` for recordings of the first one's clock, for others
	 * their own start */
	const int64_t *origins;
	const char *file; /* as given by the user; with ranks: "N files" */
	/* by recording, if several files are read as one: the names of their ranks; NULL: one file
	 */
	const struct gt_rank_name *ranks;
	/* no report was named: reports without rows leave their tables out */
	bool in_default_report;
	/* the default report, as text, of a trace with GPU operations: reports show what fits on
	 * one page */
	bool one_page;
	const struct gt_steady *steady; /* NULL: steady steps were not searched */
	bool only_steady;               /* it has some, and the filter selects their time */
	struct gt_filter whole_run;     /* only_steady: the filter for the whole run */
	const char *restrictions;       /* the options that leave rows out, as given; NULL: none */
	bool compared; /* with another file: names do not depend on which others the file has */
	bool nothing_selected; /* they leave no row of any kind; set by gt_run before finish() */
	/* GPU reports cover the whole recording, not only the first to the last GPU operation */
	bool whole;
	enum gt_name_form names; /* kernel name style in text */
	size_t width;            /* of the terminal that text is printed on; 0 or SIZE_MAX: none */
	const struct gt_report_option *report_options; /* a list, borrowed; NULL: empty */
	const struct gt_aggregate *aggregate;          /* borrowed, outlives all states */
	/* likewise: duplicate rows, which no analysis sees */
	const struct gt_source_dedup *source_dedup;
	/* likewise: state of the engine, for analyses that name it; set from init on, complete when
	 * finish() is called */
	void *engine;
};
/* A message that names the options of filter.match; before and after are literals. */
#define GT_MATCH_TEXT(opt, before, after)                                                          \
	((opt)->match_options == GT_BY_MATCH                    ? before "--match" after           \
			: (opt)->match_options == GT_BY_EXCLUDE ? before "--exclude" after         \
								: before                           \
			"--match or --exclude" after)
/* If the trace has GPU rows, the default report says what limits the program, or, if collectives
 * are all GPU work that was recorded, how long these take; else it says what was called, and of a
 * file without anything of CUDA that has samples of running threads, where they ran. */
enum gt_default_use {
	GT_DEFAULT_NEVER,
	GT_DEFAULT_ALWAYS,
	GT_DEFAULT_GPU,
	GT_DEFAULT_CALLS,
	GT_DEFAULT_SAMPLES,
	GT_DEFAULT_COLLECTIVES
};
enum gt_default_use gt_default_use_of(const struct gt_reader *r); /* GPU, COLLECTIVES or CALLS */
/* The value of an option of a report. NULL: not given. */
const void *gt_report_option(const struct gt_analysis_options *opt, const char *name);

#define GT_LAYERS_OF_CALLS (GT_BIT(GT_LAYER_API) | GT_BIT(GT_LAYER_RUNTIME))
enum gt_splits { GT_BY_BLOCK = 1 };

struct gt_configured_report;
struct gt_analysis {
	const char *name; /* REPORT on the command line, the JSON key */
	const char *help;
	const char *family; /* group heading in --list, after all others; NULL: none */
	uint32_t wants;     /* kinds of rows */
	/* layers, GT_BIT(enum gt_layer) | ...: it cannot answer if none of them was recorded. 0: it
	 * checks that itself */
	unsigned needs;
	/* it looks for faults: its answer may be GT_FOUND */
	bool finds;
	/* its figures need all rows: with --match or --exclude it gets none, and cannot answer */
	bool needs_unfiltered;
	bool wants_args;
	unsigned aggregates; /* enum gt_aggregate_part: the parts it reads */
	/* Another analysis that runs once for all reports that name it. Its state is their
	 * opt->engine. It sees each block before they do. NULL: none. A run has at most one
	 * engine. */
	const struct gt_analysis *engine;
	enum gt_order order;
	unsigned splits;                /* enum gt_splits: only splits that a test proves correct */
	enum gt_default_use in_default; /* part of the output if no report is named */
	/* its tables follow each process in order of time: text prints several files one after the
	 * other */
	bool per_recording;
	/* the name of a report: in the default report the first table of this one precedes the
	 * tables of that one. NULL: it does not */
	const char *first_table_before;
	/* finish() is called after those of the others, which may read the file and find damage */
	bool runs_last;
	/* The options that it takes, besides those of its engine; NULL-terminated. NULL: none. */
	const struct gt_option_row *const *options;
	/* Checks the options and adapts *c to them, before a file is opened. opt has only
	 * report_options. Returns 0, -EINVAL: a value is wrong, or another error. NULL: nothing to
	 * check. */
	int (*configure)(struct gt_configured_report *c, const struct gt_analysis_options *opt,
		struct gt_err *err);
	void (*free_settings)(void *settings); /* of gt_configured_report; NULL: no need */
	size_t state_size;
	/* The state is zeroed before init. All return 0 or negative. init, block, merge and
	 * release may be NULL (merge: nothing to merge, or no splits). opt is borrowed until
	 * release, the reader until the tables are freed. */
	int (*init)(void *state, struct gt_reader *r, const struct gt_analysis_options *opt,
		struct gt_err *err);
	int (*block)(void *state, const struct gt_cols *cols, struct gt_err *err);
	/* `from` is released afterwards */
	int (*merge)(void *into, void *from, struct gt_err *err);
	/* Appends at most `max` tables. Returns their number, or negative. The caller owns the
	 * tables. */
	int (*finish)(void *state, struct gt_table **tables, unsigned max, struct gt_err *err);
	void (*release)(void *state);
};
/* A report adapted to its options. */
struct gt_configured_report {
	struct gt_analysis report; /* at first a copy of the report's descriptor */
	void *settings;            /* init() finds them in its options, under the report's name */
	/* After -EINVAL: the option and its text, in which err->offset is the byte of the mistake.
	 * NULL: the message names the option. */
	const char *option, *text;
};
/* NULL-terminated, in the order of the default report */
extern const struct gt_analysis *const gt_analyses[];
#endif
