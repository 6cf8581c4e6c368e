/* The groups of a query, and the sums of their rows. They are not those of the aggregate
 * (aggregate.h), which is counted per type for all reports: a query selects rows, and groups them
 * by fields that differ within a type. */
#ifndef GT_QUERY_GROUPS_H
#define GT_QUERY_GROUPS_H
#include "analyze/gpu/gpu_time.h"
#include "analyze/stats/group_table.h"
#include "analyze/stats/hist.h"
#include "analyze/query/query.h"
#include "analyze/query/query_distinct.h"
#include "formats/base/map.h"

#define GT_QUERY_GROUPS 100000u

struct gt_query_sums {   /* of one field */
	uint64_t n;      /* rows that have the field */
	uint64_t values; /* different values, if they are counted */
	union {
		__int128 whole;
		long double real;
	} sum;
	union {
		unsigned __int128 whole;
		long double real;
	} squares;
	union {
		int64_t whole;
		double real;
	} min, max;            /* valid if n > 0 */
	bool overflow, coarse; /* squares exceed 128 bits; hist lacks rows */
	struct gt_hist *hist;
};
struct gt_query_group { /* behind the key, and before the sums of each field */
	uint64_t count;
	/* start of the first row, end of the last; relative to the report's origin */
	int64_t first, last;
	struct gt_union busy;
	bool ran; /* busy contains at least one row, maybe of length 0 */
};
struct gt_query_sum { /* a field that is summed, or whose different values are counted */
	uint8_t use;
	bool real, hist, squares, distinct;
};
struct gt_query_groups {
	const struct gt_query *q;
	struct gt_query_rows *rows; /* borrowed */
	struct gt_query_sum fields[GT_QUERY_AGGS];
	unsigned nfields, width; /* words per key: which fields are present, then one per field */
	struct gt_group_table table;
	size_t hist_bytes;
	char **texts; /* owned; keys contain indices of texts */
	size_t ntexts, texts_cap;
	struct gt_map text_map;
	struct gt_distinct distinct;
	/* cache: names of types by their addresses */
	struct gt_query_recent {
		const char *s;
		uint32_t text;
	} recent[64];
	uint32_t **of_string; /* by segment and string: 1 + index of its text */
	uint32_t nsegs;
	/* fields of --by that are the same for all rows of a code in a run, and those that may
	 * differ */
	struct gt_query_places {
		uint8_t list[GT_QUERY_BY];
		unsigned n;
	} by_code, by_row;
	bool of_tracks; /* keys may differ between tracks */
	/* by code, in the current run (of_tracks) or block: the group of its last row, and the
	 * shared part of the key */
	struct gt_query_known {
		uint64_t when;
		uint32_t group;
	} * known;
	uint64_t *code_keys;
	uint32_t known_cap;
	uint64_t when, block;
	const struct gt_segment *seg;
	enum gt_kind kind;
	/* limit that the number of groups exceeded: later rows are in no group; 0: not exceeded */
	size_t full;
	uint32_t at[GT_QUERY_CHUNK]; /* groups of the rows added last */
};

int gt_query_groups_init(struct gt_query_groups *g, const struct gt_query *q,
	struct gt_query_rows *rows, struct gt_reader *r, struct gt_err *err);
int gt_query_groups_run(struct gt_query_groups *g, const struct gt_cols *cols, struct gt_err *err);
/* Adds n rows of the chunk that was matched last. `origin` is time 0. -EOVERFLOW: too many
 * groups, no more rows may be added. */
int gt_query_groups_add(struct gt_query_groups *g, const struct gt_cols *cols, const uint32_t *rows,
	uint32_t n, int64_t origin, struct gt_err *err);
/* -EOVERFLOW: as above, here or in `from`. */
int gt_query_groups_merge(
	struct gt_query_groups *into, const struct gt_query_groups *from, struct gt_err *err);
/* The cell of a by-field (i < nby) or of an aggregate. */
struct gt_cell gt_query_key_cell(const struct gt_query_groups *g, size_t group, unsigned i);
struct gt_cell gt_query_agg_cell(const struct gt_query_groups *g, size_t group, unsigned agg);
/* Compares two groups by their keys: < 0: a comes first. */
int gt_query_compare_keys(const struct gt_query_groups *g, size_t a, size_t b);
void gt_query_groups_release(struct gt_query_groups *g);
/* A group begins with its key. The rest of it is aligned for long double and __int128. */
#define GT_QUERY_ALIGNED(bytes) (((bytes) + 15ul) & ~15ul)
static inline struct gt_query_group *gt_query_group_of(
	const struct gt_query_groups *g, size_t group)
{
	unsigned char *key = gt_group_table_at(&g->table, group);

	return (struct gt_query_group *)(key + GT_QUERY_ALIGNED(g->table.key));
}
static inline struct gt_query_sums *gt_query_sums_of(
	const struct gt_query_groups *g, size_t group, unsigned field)
{
	unsigned char *one = (unsigned char *)gt_query_group_of(g, group);

	return (struct gt_query_sums *)(one + GT_QUERY_ALIGNED(sizeof(struct gt_query_group))) +
		field;
}
#endif
