/* Writes files of other tools. An exporter is one file, export_<tool>.c, that ends
 * in its descriptor, and one row in exporters.c. */
#ifndef GT_EXPORTERS_H
#define GT_EXPORTERS_H
#include <stdatomic.h>
#include "formats/base/err.h"
#include "formats/io/stream_out.h"
#include "formats/trace/read/reader.h"

struct gt_detail;
struct gt_stack_tree;
struct gt_export_options {
	struct gt_filter filter;
	enum gt_cost { GT_COST_TIME, GT_COST_COUNT, GT_COST_BYTES } cost; /* folded, flame */
	/* folded, flame: calls and GPU work are below the call stack that made or launched them */
	bool by_stack;
	/* folded, flame: writes this tree (stack_tree.h), and reads no rows; NULL: none */
	const struct gt_stack_tree *tree;
	/* tables: bit by table (tables/trace_tables.h) of those to write; 0: all */
	uint64_t tables;
	/* native: the filter as metadata {"cut":{...}} for the copy; NULL: it selects everything */
	const char *cut;
	/* html: name of the trace, for users, and the tables of reports as JSON
	 * (analyze/cli/page_tables.h); NULL: none */
	const char *name, *reports;
	/* perfetto: 1 + the index of this file among those of one archive, for ids that are in no
	 * other of them; 0: from the recording's id */
	uint32_t file_number;
	uint64_t max_size; /* of exporters that limit the size: bytes; 0: their default */
	/* gt_export_copy: merges short rows (level_of_detail.h); NULL: copies each */
	struct gt_detail *detail;
	/* the number of rows read so far, for a progress display in another thread; or NULL
	 **/
	_Atomic uint64_t *rows_done;
};
/* Options that only some exporters heed: bits of gt_exporter.takes. */
enum gt_export_takes {
	GT_TAKES_STACKS = 1, /* by_stack, tree */
	GT_TAKES_COST = 2,
	GT_TAKES_TABLES = 4,
	GT_TAKES_BASELINE = 8 /* a tree with costs of an earlier trace */
};
struct gt_exporter {
	const char *name;   /* the option: --NAME */
	const char *suffix; /* default file name: TRACE.SUFFIX */
	const char *help;
	/* several traces become one archive with a file of each; the suffix of its default name.
	 * NULL: takes one trace */
	const char *archive;
	uint8_t takes;
	bool has_reports; /* writes opt->reports */
	bool needs_file;  /* reads what it wrote: no pipe, not compressed */
	bool limits_size; /* heeds opt->max_size itself; for others see gt_export_within() */
	/* It writes sums of rows, not rows: --max-size, which merges rows, does not apply. */
	bool sums;
	/* Writes everything that opt selects; err must not be NULL. On failure, out has what
	 * was written before. */
	int (*export)(struct gt_reader *r, const struct gt_export_options *opt, struct gt_out *out,
		struct gt_err *err);
	/* Instead of `export` (NULL), where the output is no stream: writes the folder or file
	 * `path`. Without replace it must not exist. On failure it does not exist afterwards, or is
	 * as before. -E2BIG: with opt->max_size, its files would have more bytes. */
	int (*export_to)(struct gt_reader *r, const struct gt_export_options *opt, const char *path,
		bool replace, struct gt_err *err);
};
extern const struct gt_exporter *const gt_exporters[]; /* NULL-terminated */
extern const struct gt_exporter gt_export_flame,
	gt_export_folded; /* also of trees; gtview's image */
/* Appends a native copy to a file; fd is borrowed. opt->cut may be any metadata. err
 * must not be NULL. */
int gt_export_copy(
	struct gt_reader *r, const struct gt_export_options *opt, int fd, struct gt_err *err);

/* The lines of gtexport --jsonl, row by row, also of a reader that grows meanwhile. origin: ns, the
 * time that is written as 0; NULL: as gt_export_bases. Rows come by start. new: close it, which
 * writes the ends of calls that were not written yet. NULL: no memory. */
struct gt_jsonl;
struct gt_jsonl *gt_jsonl_open(
	struct gt_reader *r, struct gt_out *out, const int64_t *origin, struct gt_err *err);
int gt_jsonl_put(void *jsonl, const struct gt_event *ev); /* a gt_export_fn */
void gt_jsonl_close(struct gt_jsonl *j);                  /* NULL is fine */

/* ---- shared by exporters (exporters.c) ---- */

/* Adds to the number of rows read so far. */
static inline void gt_export_count_rows(const struct gt_export_options *opt, uint64_t rows)
{
	if (opt->rows_done)
		atomic_fetch_add_explicit(opt->rows_done, rows, memory_order_relaxed);
}
/* Passes the rows that the filter selects to fn in order of time, until fn returns non-zero or out,
 * unless NULL, has failed. 0 or negative. */
typedef int gt_export_fn(void *arg, const struct gt_event *ev);
int gt_export_rows(struct gt_reader *r, const struct gt_export_options *opt,
	const struct gt_filter *filter, struct gt_out *out, gt_export_fn *fn, void *arg,
	struct gt_err *err);
/* Time 0 of each segment: its first row, or that of the earliest segment of the same boot. new:
 * free it. NULL: no memory. */
int64_t *gt_export_bases(struct gt_reader *r);
/* Write a number. */
static inline void gt_export_u64(struct gt_out *o, uint64_t v)
{
	gt_out_commit(o, gt_put_u64(gt_out_reserve(o, 32), v));
}
static inline void gt_export_i64(struct gt_out *o, int64_t v)
{
	gt_out_commit(o, gt_put_i64(gt_out_reserve(o, 32), v));
}
static inline void gt_export_us(struct gt_out *o, int64_t ns) /* microseconds with 3 decimals */
{
	gt_out_commit(o, gt_put_us(gt_out_reserve(o, 64), ns));
}
static inline void gt_export_s(struct gt_out *o, int64_t ns) /* seconds with 9 decimals */
{
	gt_out_commit(o, gt_put_s(gt_out_reserve(o, 64), ns));
}
/* a - b, wrapping on overflow: times of a damaged file may be anything. */
static inline int64_t gt_since(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a - (uint64_t)b);
}
/* Writes a cost with its unit: "1.234 ms", "3 times", "4096 bytes". */
void gt_export_cost(struct gt_out *out, enum gt_cost cost, double v);
/* The track's name for users: its name, or kind and id ("thread 4711"). Writes at
 * most size bytes with the NUL. */
void gt_export_track_name(const struct gt_segment *seg, uint32_t track, char *to, size_t size);
/* Writes a number as JSON: u64 and i64 beyond 2^53 as strings, HEX as "0x..",
 * infinities as strings. At most 64 bytes. STR: "null". */
char *gt_put_value(char *p, uint8_t kind, uint64_t value);
/* The class (category, op, memkind, layer) that the import of `gtexport --jsonl`
 * infers from a name. A line has only the parts that differ from it. */
void gt_export_jsonl_guess(const char *name, struct gt_type *type);
/* the word that gt_export_value writes for a direction */
const char *gt_export_direction_word(uint64_t direction);
/* the direction that gt_export_value writes as this word, or GT_DIR_UNKNOWN */
uint64_t gt_export_direction(const char *word);
void gt_export_value(
	struct gt_out *out, const struct gt_segment *seg, const struct gt_field *f, uint64_t value);
/* Does the argument i mean "none": no string, an unknown launch, a wait for no event? */
bool gt_export_is_none(const struct gt_event *ev, const struct gt_type *t, unsigned i);
/* The name of a field for other programs: a track id is valid only in gt's own file, so its field
 * has the track's own id, and another name. */
const char *gt_export_field_name(const struct gt_segment *seg, const struct gt_field *f);

/* In a Chrome trace: what an instant of GT_UNMATCHED is. */
#define GT_UNMATCHED_BEGIN "a begin without an end"
#define GT_UNMATCHED_END "an end without a begin"

/* A heap of open rows, earliest end first; among equal ends, the latest start first,
 * so that children end before their parents. Zero-initialised is empty. */
struct gt_pending {
	struct gt_pending_row {
		int64_t end;
		uint64_t seq;
		uint32_t segment, track;
		enum gt_kind kind;
		struct gt_row row;
	} * heap;
	size_t n, cap;
};
/* rows open at one time; more is an error, to bound the memory */
#define GT_PENDING_MAX (1u << 20)
int gt_pending_push(struct gt_pending *p, const struct gt_pending_row *row, struct gt_err *err);
bool gt_pending_pop(struct gt_pending *p, struct gt_pending_row *row); /* false when empty */
void gt_pending_release(struct gt_pending *p);
#endif
