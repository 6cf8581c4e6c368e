/* Queries: --where, --by, --agg and --order-by. This header has the fields that a query can use,
 * the parsed query (struct gt_query), and the evaluation of rows.
 *
 * A query is parsed once, before any file is opened, and never changes. Each thread evaluates
 * rows with its own struct gt_query_rows. */
#ifndef GT_QUERY_H
#define GT_QUERY_H
#include <regex.h>
#include "analyze/core/report.h"

/* ---- fields ---- */

enum gt_query_class {
	GT_Q_TIME,   /* a duration, ns */
	GT_Q_MOMENT, /* ns since the report's origin (gt_time_since_origin) */
	GT_Q_BYTES,
	GT_Q_COUNT, /* a whole number */
	GT_Q_REAL,
	GT_Q_TEXT,
	GT_Q_WORD, /* one of a few words */
	GT_Q_YES,  /* 0 or 1 */
	GT_Q_ANY,  /* a number or a text, depending on the row's type */
};
/* a value is the same for all rows of one type or track, or differs by row */
enum gt_query_level { GT_Q_OF_TYPE, GT_Q_OF_TRACK, GT_Q_OF_ROW };

#define GT_Q_BY 1u   /* may be grouped by */
#define GT_Q_SUM 2u  /* may be summed */
#define GT_Q_HIST 4u /* has quantiles: whole numbers from 0 on */
#define GT_Q_ARGS 8u /* is in argument columns */
/* clang-format off */
#define GT_QUERY_FIELDS(X) /* enum, name and JSON key, title, class, level, flags */ \
	X(KIND, kind, "Kind", WORD, TYPE, GT_Q_BY) \
	X(NAME, name, "Name", TEXT, TYPE, GT_Q_BY) \
	X(FULLNAME, fullname, "Full name", TEXT, TYPE, GT_Q_BY) \
	X(MANGLED, mangled, "Mangled name", TEXT, TYPE, GT_Q_BY) \
	X(GROUPNAME, groupname, "Group name", TEXT, TYPE, GT_Q_BY) \
	X(CATEGORY, category, "Category", WORD, TYPE, GT_Q_BY) \
	X(LAYER, layer, "Layer", WORD, TYPE, GT_Q_BY) \
	X(RECORDING, recording, "Recording", COUNT, TRACK, GT_Q_BY) \
	X(PID, pid, "PID", COUNT, TRACK, GT_Q_BY) \
	X(PROCESS, process, "Process", TEXT, TRACK, GT_Q_BY) \
	X(TID, tid, "TID", COUNT, TRACK, GT_Q_BY) \
	X(THREAD, thread, "Thread", TEXT, TRACK, GT_Q_BY) \
	X(DEVICE, device, "Device", COUNT, TRACK, GT_Q_BY) \
	X(STREAM, stream, "Stream", COUNT, TRACK, GT_Q_BY) \
	X(DUR, dur, "Duration", TIME, ROW, GT_Q_SUM | GT_Q_HIST) \
	X(START, start, "Start", MOMENT, ROW, 0) \
	X(END, end, "End", MOMENT, ROW, 0) \
	X(DEPTH, depth, "Depth", COUNT, ROW, GT_Q_BY | GT_Q_SUM | GT_Q_HIST) \
	X(RET, ret, "Result", COUNT, ROW, GT_Q_BY) \
	X(FAILED, failed, "Failed", YES, ROW, GT_Q_BY | GT_Q_SUM) \
	X(SIZE, bytes, "Bytes", BYTES, ROW, GT_Q_BY | GT_Q_SUM | GT_Q_HIST | GT_Q_ARGS) \
	X(GRID, grid, "Grid", COUNT, ROW, GT_Q_BY | GT_Q_SUM | GT_Q_HIST | GT_Q_ARGS) \
	X(BLOCK, block, "Block", COUNT, ROW, GT_Q_BY | GT_Q_SUM | GT_Q_HIST | GT_Q_ARGS) \
	X(REGISTERS, registers, "Registers", COUNT, ROW, GT_Q_BY | GT_Q_SUM | GT_Q_HIST | GT_Q_ARGS) \
	X(SHARED, shared, "Shared", BYTES, ROW, GT_Q_BY | GT_Q_SUM | GT_Q_HIST | GT_Q_ARGS) \
	X(GRAPH, graph, "Graph", COUNT, ROW, GT_Q_BY | GT_Q_ARGS) \
	X(NODE, node, "Node", COUNT, ROW, GT_Q_BY | GT_Q_ARGS) \
	X(CORRELATION, correlation, "Correlation", COUNT, ROW, GT_Q_ARGS) \
	X(CONTEXT, context, "Context", COUNT, ROW, GT_Q_BY | GT_Q_ARGS) \
	X(LAUNCH, launch, "Launch", TEXT, ROW, GT_Q_BY | GT_Q_ARGS) \
	X(LAUNCH_DUR, launch_dur, "Launch time", TIME, ROW, GT_Q_SUM | GT_Q_HIST | GT_Q_ARGS) \
	X(LAUNCH_TID, launch_tid, "Launch TID", COUNT, ROW, GT_Q_BY | GT_Q_ARGS) \
	X(QUEUE, queue, "Queue", TIME, ROW, GT_Q_SUM | GT_Q_HIST | GT_Q_ARGS) \
	X(DIRECTION, direction, "Direction", WORD, ROW, GT_Q_BY | GT_Q_ARGS) \
	X(SRC, src, "From", TEXT, ROW, GT_Q_BY | GT_Q_ARGS) \
	X(DST, dst, "To", TEXT, ROW, GT_Q_BY | GT_Q_ARGS) \
	X(VALUE, value, "Value", REAL, ROW, GT_Q_SUM | GT_Q_ARGS) \
	X(LINE, line, "Line", TEXT, ROW, GT_Q_BY | GT_Q_ARGS) \
	X(FUNCTION, function, "Function", TEXT, ROW, GT_Q_BY | GT_Q_ARGS) \
	X(MODULE, module, "Module", TEXT, ROW, GT_Q_BY | GT_Q_ARGS) \
	X(STACK, stack, "Stack, innermost frame first", TEXT, ROW, GT_Q_BY | GT_Q_ARGS) \
	X(ARG, arg, "Argument", ANY, ROW, GT_Q_BY | GT_Q_SUM | GT_Q_ARGS)
/* clang-format on */
enum gt_query_id {
#define X(e, name, title, class, level, flags) GT_Q_##e,
	GT_QUERY_FIELDS(X)
#undef X
		GT_QUERY_FIELD_COUNT
};
struct gt_query_field {
	const char *name, *title;
	enum gt_query_class class;
	enum gt_query_level level;
	unsigned flags;
};
const struct gt_query_field *gt_query_field(enum gt_query_id id);
/* of GT_Q_WORD: NULL-terminated, at most 32 */
const char *const *gt_query_words(enum gt_query_id id);

/* clang-format off */
#define GT_QUERY_KINDS(X) \
	X(CALL, call) X(IOCTL, ioctl) X(RANGE, range) X(KERNEL, kernel) X(COPY, copy) X(SET, set) \
	X(GRAPH, graph) X(WAIT, wait) X(SPAN, span) X(OVERHEAD, overhead) X(OPEN, open) \
	X(INSTANT, instant) X(COUNTER, counter) X(LOST, lost)
/* clang-format on */
enum gt_query_kind { /* the word `kind` */
#define X(e, w) GT_Q_KIND_##e,
	GT_QUERY_KINDS(X)
#undef X
		GT_Q_KINDS
};
/* type: NULL for losses */
enum gt_query_kind gt_query_kind_of(enum gt_kind kind, const struct gt_type *type);

/* ---- a query ---- */

#define GT_QUERY_NODES 128
#define GT_QUERY_DEPTH 32
#define GT_QUERY_USES 32 /* different fields */
#define GT_QUERY_BY 8
#define GT_QUERY_AGGS 24

struct gt_query_use {
	enum gt_query_id id;
	char *arg; /* GT_Q_ARG: the name of the call's argument; else NULL */
};

enum gt_query_test {
	GT_Q_RANGE,
	GT_Q_WORDS,
	GT_Q_IS,
	GT_Q_GLOB,
	GT_Q_REGEX,
	GT_Q_THERE /* present and not 0 */
};
struct gt_query_node {
	enum { GT_Q_TEST, GT_Q_AND, GT_Q_OR, GT_Q_NOT } op;
	uint8_t left, right; /* nodes; of GT_Q_NOT left only */
	uint8_t use;         /* the field that is tested */
	enum gt_query_test test;
	bool negated; /* != or !~ */
	bool has_number, low_open, high_open;
	long double low, high; /* GT_Q_RANGE: the bounds; included unless open */
	int64_t ilow, ihigh;   /* the same as integers; no value matches if ilow > ihigh */
	uint64_t ulow, uhigh;
	uint32_t words; /* GT_Q_WORDS: GT_BIT of each matching word */
	char *text;     /* GT_Q_IS, GT_Q_GLOB, and GT_Q_REGEX */
	regex_t *regex;
	unsigned column, length; /* position in the expression */
};
enum gt_query_fn {
	GT_Q_FN_COUNT,
	GT_Q_FN_SUM,
	GT_Q_FN_MIN,
	GT_Q_FN_MAX,
	GT_Q_FN_MEAN,
	GT_Q_FN_STDDEV,
	GT_Q_FN_QUANTILE,
	GT_Q_FN_UNION,
	GT_Q_FN_FIRST,
	GT_Q_FN_LAST,
	GT_Q_FN_DISTINCT
};
struct gt_query_agg {
	enum gt_query_fn fn;
	uint8_t use; /* 255: none */
	double q;
	char *text; /* as the user would write it */
};

struct gt_query {
	char *where; /* the expression; NULL: all rows */
	struct gt_query_node nodes[GT_QUERY_NODES];
	unsigned nnodes, root;
	struct gt_query_use uses[GT_QUERY_USES];
	unsigned nuses;
	uint8_t by[GT_QUERY_BY]; /* uses */
	unsigned nby;
	struct gt_query_agg aggs[GT_QUERY_AGGS];
	unsigned naggs, order; /* order: index of the aggregate to sort by */
	/* for a histogram of the last aggregate's field; columns are those of a histogram */
	bool hist;
	/* Columns of the table: one for each of by and aggs. */
	struct gt_column columns[GT_QUERY_BY + GT_QUERY_AGGS];
	char *keys[GT_QUERY_BY + GT_QUERY_AGGS], *hideable_keys, *title;
};

/* Parses the options; each may be NULL. The caller frees the result. NULL with err filled in:
 * *option is the name of the wrong option, *wrong its text, and err->offset the byte of the
 * mistake. */
struct gt_query *gt_query_new(const char *where, const char *by, const char *agg,
	const char *order_by, const char **option, const char **wrong, struct gt_err *err);
/* The same for a histogram of the field `of` (NULL: dur). by NULL: by name; where NULL: all rows
 * that have ended. */
struct gt_query *gt_query_new_hist(const char *where, const char *by, const char *of,
	const char **option, const char **wrong, struct gt_err *err);
void gt_query_free(struct gt_query *q); /* NULL is allowed */
/* GT_BIT(enum gt_query_kind) of all kinds for which the expression can be true */
uint32_t gt_query_kinds(const struct gt_query *q);
/* Sets the fields of the report's descriptor that depend on the query: kinds of rows, arguments,
 * order. */
void gt_query_configure(const struct gt_query *q, struct gt_analysis *report);
/* The index in q->uses of the field `name` (len bytes) or arg.NAME. Negative with err filled in.
 * For query_*.c. */
int gt_query_use(
	struct gt_query *q, const char *name, size_t len, unsigned column, struct gt_err *err);
int gt_query_where(struct gt_query *q, const char *where, struct gt_err *err);
void gt_query_release_node(struct gt_query_node *n);
/* GT_Q_IS, GT_Q_GLOB, GT_Q_REGEX; not negated */
bool gt_query_text_matches(const struct gt_query_node *n, const char *text);

/* ---- rows ---- */

#define GT_QUERY_CHUNK 1024u

struct gt_query_value {
	enum {
		GT_Q_ABSENT,
		GT_Q_INT,
		GT_Q_UINT,
		GT_Q_DOUBLE,
		GT_Q_STRING /* id in the segment: u */,
		GT_Q_CHARS
	} is;
	bool hex;       /* people read it as a hexadecimal number */
	uint32_t stack; /* of GT_Q_CHARS: the stack that has this text, plus 1; 0: none */
	union {
		int64_t i;
		uint64_t u;
		double d;
		const char *s;
	};
};

struct gt_query_rows;
/* The caller frees the result. Names are computed here, so that all threads use the same short
 * names of kernels. */
struct gt_query_rows *gt_query_rows_new(const struct gt_query *q, struct gt_reader *r,
	const struct gt_analysis_options *opt, struct gt_err *err);
void gt_query_rows_free(struct gt_query_rows *e);
/* A run begins. Its rows follow in chunks of at most GT_QUERY_CHUNK. gt_query_match returns how
 * many rows of the chunk from row `from` on match, and their indices in the run in *rows,
 * borrowed until the next call. Negative with err filled in. */
int gt_query_run(struct gt_query_rows *e, const struct gt_cols *cols, struct gt_err *err);
int gt_query_match(
	struct gt_query_rows *e, uint32_t from, const uint32_t **rows, struct gt_err *err);
/* A field of a row of the current chunk. Texts are borrowed from e. */
struct gt_query_value gt_query_get(struct gt_query_rows *e, unsigned use, uint32_t row);
/* adds the counts of missing fields */
void gt_query_rows_merge(struct gt_query_rows *into, const struct gt_query_rows *from);
/* Notes how many rows were tested for a field that they do not have. */
void gt_query_note_absent(const struct gt_query_rows *e, struct gt_table *t);
#endif
