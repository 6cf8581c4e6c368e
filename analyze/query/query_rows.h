/* What an evaluation of a query knows; for query_value.c and query_match.c, which share it. */
#ifndef GT_QUERY_ROWS_H
#define GT_QUERY_ROWS_H
#include "analyze/query/query.h"

enum { GT_Q_NO, GT_Q_HOLDS, GT_Q_UNKNOWN /* the row has no such field */ };	/* what comes of a test */

/* The argument columns of one field and code in the run at hand. */
struct gt_query_source {
	uint64_t run;			/* that was filled in for */
	const uint64_t *v[4];
	uint32_t n;			/* values in each */
	uint8_t nv, kind;		/* columns; enum gt_field_kind of the first */
};
struct gt_query_segment {
	const struct gt_segment *seg;
	int64_t origin;			/* of its times */
	const char **names[3];		/* by type: GT_Q_NAME, GT_Q_FULLNAME, GT_Q_MANGLED; NULL: not asked for */
	/* By node, then by type or string: 1 + what came of the test, 0 where it was not made. NULL: none was. */
	uint8_t *of_type[GT_QUERY_NODES], *of_string[GT_QUERY_NODES];
};
struct gt_query_rows {
	const struct gt_query *q;
	struct gt_reader *reader;
	struct gt_query_segment *segs;
	uint32_t nsegs;
	struct gt_kernel_names *kernels;
	char **owned;			/* demangled names */
	size_t nowned, owned_cap;
	/* the run at hand */
	const struct gt_cols *cols;
	struct gt_query_segment *seg;
	uint64_t run;			/* runs so far */
	struct gt_query_value of_track[GT_QUERY_USES];
	/* by code */
	struct gt_query_source *sources;	/* cap of each field */
	struct gt_query_counted { uint64_t run; uint32_t n; } *counted;	/* rows before `ranked` */
	uint8_t *of_code;		/* cap of each node: what comes of tests that depend on the type only */
	uint32_t cap;
	/* what of_code was made for */
	const struct gt_segment *block_seg;
	uint64_t block;
	enum gt_kind block_kind;
	/* the chunk at hand */
	uint32_t from, n, ranked;	/* ranked: up to that row of the run, rows are counted by code */
	bool has_ranks;
	uint32_t rank[GT_QUERY_CHUNK];	/* how many rows of its code come before a row in the run: its place in argument columns */
	uint32_t rows[GT_QUERY_CHUNK];
	uint64_t absent[GT_QUERY_NODES];
	bool no_memory;			/* for a cache, on the way: what was found since is wrong */
};
void gt_query_begin_run(struct gt_query_rows *e);	/* query_value.c's share of it */
struct gt_query_value gt_query_of_type(struct gt_query_rows *e, enum gt_query_id id, uint32_t type, enum gt_kind kind);
static inline uint32_t gt_query_code(const struct gt_cols *cols, uint32_t row) { return cols->code ? cols->code[row] : 0; }
#endif
