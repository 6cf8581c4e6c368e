/* State of the evaluation of a query; shared by query_value.c and query_match.c. */
#ifndef GT_QUERY_ROWS_H
#define GT_QUERY_ROWS_H
#include "analyze/query/query.h"
#include "analyze/stats/name_template.h"

enum {
	GT_Q_NO,
	GT_Q_HOLDS,
	GT_Q_UNKNOWN /* the row has no such field */
};                   /* results of a test */

#define GT_QUERY_NAMES (GT_Q_GROUPNAME - GT_Q_NAME + 1)
#define GT_QUERY_STACK_TEXTS (GT_Q_STACK - GT_Q_LINE + 1)

/* The argument columns of one field and code in the current run. */
struct gt_query_source {
	uint64_t run; /* the run that it is valid for */
	const uint64_t *v[4];
	uint32_t n;       /* values per column */
	uint8_t nv, kind; /* number of columns; enum gt_field_kind of the first */
};
struct gt_query_segment {
	const struct gt_segment *seg;
	int64_t origin; /* of its times */
	/* by type: GT_Q_NAME to GT_Q_GROUPNAME; NULL: not needed */
	const char **names[GT_QUERY_NAMES];
	/* By node, then by type, string or stack: 1 + result of the test, 0: not evaluated. NULL:
	 * no results. */
	uint8_t *of_type[GT_QUERY_NODES], *of_string[GT_QUERY_NODES], *of_stack[GT_QUERY_NODES];
	/* by stack, of GT_Q_LINE to GT_Q_STACK: made when needed; owned. NULL: none yet */
	char **stacks[GT_QUERY_STACK_TEXTS];
};
struct gt_query_rows {
	const struct gt_query *q;
	struct gt_reader *reader;
	struct gt_query_segment *segs;
	uint32_t nsegs;
	struct gt_kernel_names *kernels;
	char **owned; /* demangled names */
	size_t nowned, owned_cap;
	struct gt_name_templates templates;
	/* the current run */
	const struct gt_cols *cols;
	struct gt_query_segment *seg;
	uint64_t run; /* runs so far */
	struct gt_query_value of_track[GT_QUERY_USES];
	/* by code */
	struct gt_query_source *sources; /* `cap` for each field */
	struct gt_query_counted {
		uint64_t run;
		uint32_t n;
	} * counted;      /* rows before `ranked` */
	uint8_t *of_code; /* `cap` for each node: results of tests that depend on the type only */
	uint32_t cap;
	/* the block that of_code is valid for */
	const struct gt_segment *block_seg;
	uint64_t block;
	enum gt_kind block_kind;
	/* the current chunk */
	uint32_t from, n, ranked; /* ranked: rows of the run before this one are counted by code */
	bool has_ranks;
	/* number of rows of the same code before a row in the run: its index in argument columns */
	uint32_t rank[GT_QUERY_CHUNK];
	uint32_t rows[GT_QUERY_CHUNK];
	uint64_t absent[GT_QUERY_NODES];
	bool no_memory; /* no memory for a cache: later results are wrong */
};
void gt_query_begin_run(struct gt_query_rows *e); /* the part of query_value.c */
struct gt_query_value gt_query_of_type(
	struct gt_query_rows *e, enum gt_query_id id, uint32_t type, enum gt_kind kind);
static inline uint32_t gt_query_code(const struct gt_cols *cols, uint32_t row)
{
	return cols->code ? cols->code[row] : 0;
}
#endif
