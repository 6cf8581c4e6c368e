/* Other tools' files out. One exporter is one file, export_<tool>.c, ending in its descriptor, and
 * one row in exporters.c. */
#ifndef GT_EXPORTERS_H
#define GT_EXPORTERS_H
#include <stdatomic.h>
#include "formats/base/err.h"
#include "formats/io/stream_out.h"
#include "formats/trace/read/reader.h"

struct gt_export_options {
	struct gt_filter filter;
	enum gt_cost { GT_COST_TIME, GT_COST_COUNT, GT_COST_BYTES } cost; /* folded */
	/* native: what the filter is, as metadata {"cut":{...}} for the copy; NULL: it leaves
	 * nothing out */
	const char *cut;
	/* rows that it went through, added up as it goes, for who watches from elsewhere; or NULL
	 */
	_Atomic uint64_t *rows_done;
};
struct gt_exporter {
	const char *name;   /* the option: --NAME */
	const char *suffix; /* default file name: TRACE.SUFFIX */
	const char *help;
	/* Writes everything that opt wants; err must not be NULL. What could be written stands
	 * there even on failure. */
	int (*export)(struct gt_reader *r, const struct gt_export_options *opt, struct gt_out *out,
		struct gt_err *err);
};
extern const struct gt_exporter *const gt_exporters[]; /* NULL-terminated */
/* The native one's work, into a file at its end; fd is borrowed. opt->cut may be any metadata. err
 * must not be NULL. */
int gt_export_copy(
	struct gt_reader *r, const struct gt_export_options *opt, int fd, struct gt_err *err);

/* ---- what exporters share (exporters.c) ---- */

/* So many rows more. */
static inline void gt_export_count_rows(const struct gt_export_options *opt, uint64_t rows)
{
	if (opt->rows_done)
		atomic_fetch_add_explicit(opt->rows_done, rows, memory_order_relaxed);
}
/* Time 0 of each segment: its first row, or that of the earliest segment of the same boot. new:
 * free it. NULL: no memory. */
int64_t *gt_export_bases(struct gt_reader *r);
/* a - b that wraps instead of being undefined; for times of files that lie. */
static inline int64_t gt_since(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a - (uint64_t)b);
}
/* What people call this track: its name, or kind and id ("thread 4711"). Writes at most size bytes
 * with the NUL. */
void gt_export_track_name(const struct gt_segment *seg, uint32_t track, char *to, size_t size);
/* The string a row's kernel name field holds, or GT_NONE: only launches that know their kernel have
 * one. */
uint32_t gt_export_kernel(
	const struct gt_segment *seg, uint32_t type, const uint64_t *args, unsigned nargs);
/* A number as JSON: u64 and i64 beyond 2^53 as strings, HEX as "0x..", infinities as strings. At
 * most 64 bytes. STR: "null". */
char *gt_put_value(char *p, uint8_t kind, uint64_t value);
/* The class (category, op, memkind, layer) that a reader of `gtexport --jsonl` infers from a name
 * alone. A line states only what differs from it. */
void gt_export_jsonl_guess(const char *name, struct gt_type *type);
/* the direction that gt_export_value writes so; GT_DIR_UNKNOWN */
uint64_t gt_export_direction(const char *word);
void gt_export_value(
	struct gt_out *out, const struct gt_segment *seg, const struct gt_field *f, uint64_t value);

/* Rows begun and not yet ended, earliest end first; among equal ends the one begun last, so that
 * children end before their parents. Zero-initialised is empty. */
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
/* rows open at one moment; more is an error, not a hunger for memory */
#define GT_PENDING_MAX (1u << 20)
int gt_pending_push(struct gt_pending *p, const struct gt_pending_row *row, struct gt_err *err);
bool gt_pending_pop(struct gt_pending *p, struct gt_pending_row *row); /* false when empty */
void gt_pending_release(struct gt_pending *p);
#endif
