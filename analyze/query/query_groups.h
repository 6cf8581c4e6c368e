/* The groups of a query's rows: which there are, and what their rows come to. */
#ifndef GT_QUERY_GROUPS_H
#define GT_QUERY_GROUPS_H
#include "analyze/gpu/gpu_time.h"
#include "analyze/stats/hist.h"
#include "analyze/query/query.h"
#include "analyze/query/query_distinct.h"
#include "formats/base/map.h"

#define GT_QUERY_GROUPS 100000u

struct gt_query_sums {			/* of one field */
	uint64_t n;			/* rows that have it */
	uint64_t values;		/* different ones, where these are counted */
	union { __int128 whole; long double real; } sum;
	union { unsigned __int128 whole; long double real; } squares;
	union { int64_t whole; double real; } min, max;	/* of n > 0 */
	bool wild, coarse;		/* squares beyond 128 bits; hist misses rows */
	struct gt_hist *hist;
};
struct gt_query_group {
	uint64_t count;
	int64_t first, last;		/* start of the first row, end of the last one; since the report's origin */
	struct gt_union busy;
	bool ran;			/* busy is of at least one row, may it be of no length */
};
struct gt_query_sum {			/* a field that is added up, or whose different values are counted */
	uint8_t use;
	bool real, hist, squares, distinct;
};
struct gt_query_groups {
	const struct gt_query *q;
	struct gt_query_rows *rows;	/* borrowed */
	struct gt_query_sum fields[GT_QUERY_AGGS];
	unsigned nfields, width;	/* words of a key: which of its fields are there, then each */
	struct gt_query_group *list;
	uint64_t *keys;
	struct gt_query_sums *sums;
	size_t n, cap, keys_cap, sums_cap, hist_bytes;
	struct gt_map map;
	char **texts;			/* owned; a text in a key is an index into these */
	size_t ntexts, texts_cap;
	struct gt_map text_map;
	struct gt_distinct distinct;
	struct gt_query_recent { const char *s; uint32_t text; } recent[64];	/* names of types, by their addresses */
	uint32_t **of_string;		/* by segment, then by string: 1 + its text */
	uint32_t nsegs;
	/* fields of --by that are the same for all rows of a code in a run, and those that may differ */
	struct gt_query_places { uint8_t list[GT_QUERY_BY]; unsigned n; } by_code, by_row;
	bool of_tracks;			/* keys may differ from track to track */
	/* by code, in the run (of_tracks) or block at hand: the group of its last row, and what all its rows have of a key */
	struct gt_query_known { uint64_t when; uint32_t group; } *known;
	uint64_t *code_keys;
	uint32_t known_cap;
	uint64_t when, block;
	const struct gt_segment *seg;
	enum gt_kind kind;
	size_t full;			/* so many groups are too many: what was added since is in none; 0: all is well */
	uint32_t at[GT_QUERY_CHUNK];	/* the groups of the rows that were added last */
};

int gt_query_groups_init(struct gt_query_groups *g, const struct gt_query *q, struct gt_query_rows *rows, struct gt_reader *r,
			 struct gt_err *err);
int gt_query_groups_run(struct gt_query_groups *g, const struct gt_cols *cols, struct gt_err *err);
/* n rows of the run, of the chunk that was matched last. `origin` is time 0. -EOVERFLOW: it is full, and no more may be added. */
int gt_query_groups_add(struct gt_query_groups *g, const struct gt_cols *cols, const uint32_t *rows, uint32_t n, int64_t origin,
			struct gt_err *err);
/* -EOVERFLOW: as above, or one of the two was. */
int gt_query_groups_merge(struct gt_query_groups *into, const struct gt_query_groups *from, struct gt_err *err);
/* The cell of a group's by-field (i < nby); of an aggregate. */
struct gt_cell gt_query_key_cell(const struct gt_query_groups *g, size_t group, unsigned i);
struct gt_cell gt_query_agg_cell(const struct gt_query_groups *g, size_t group, unsigned agg);
/* Which of two groups comes first by their keys: < 0 a. */
int gt_query_compare_keys(const struct gt_query_groups *g, size_t a, size_t b);
void gt_query_groups_release(struct gt_query_groups *g);
static inline struct gt_query_sums *gt_query_sums_of(const struct gt_query_groups *g, size_t group, unsigned field)
{
	return &g->sums[group * g->nfields + field];
}
#endif
