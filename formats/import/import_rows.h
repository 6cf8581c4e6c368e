/* What importers of begin/end files share: names, typed arguments, tracks and pairing on the way to
 * a writer. An importer reads a line, tells the rows what it says, and knows nothing of schemas or
 * ids. Not an importer itself.
 *
 * Bounds: GT_ROWS_TEXT bytes of different names and strings (more names are an error; arguments may
 * have half of it, and those that find no room are left out and counted), GT_ROWS_TRACKS threads
 * (more are an error), GT_ROWS_TYPES different sets of arguments and GT_FIELDS_MAX arguments a row
 * (what is beyond is left out and counted).
 */
#ifndef GT_IMPORT_ROWS_H
#define GT_IMPORT_ROWS_H
#include "formats/base/err.h"
#include "formats/io/json_scan.h"
#include "formats/trace/read/begin_end_pairing.h"
#include "formats/trace/write/writer.h"

#define GT_ROWS_TEXT (24u << 20)
#define GT_ROWS_TRACKS (1u << 17)
#define GT_ROWS_TYPES (1u << 15)
/* ns: 73 years either way; no difference of two times overflows */
#define GT_ROWS_TIME_MAX ((int64_t)1 << 61)

struct gt_import_rows;

struct gt_rows_config {
	const char *importer; /* "jsonl-b" */
	enum gt_pair_mode mode;
	/* What calls of this name do; type comes with the name's string id. group: as given to
	 * gt_rows_name. */
	void (*classify)(const char *name, unsigned group, struct gt_type *type);
	/* The role of an argument of a call of that group, GT_R_NONE: that which its name has in
	 * anybody's files. NULL: always that. */
	uint8_t (*role)(unsigned group, const char *key, unsigned kind);
};
/* A track that need not be a thread. All bytes count: begin with zeros. */
struct gt_rows_place {
	int64_t pid, id;
	int64_t device, context; /* above a stream or context: their numbers */
	uint32_t kind;           /* enum gt_track_kind */
	bool on_device, in_context;
};
struct gt_import_rows *gt_rows_new(
	const struct gt_rows_config *config, struct gt_writer *w, struct gt_err *err);
/* Delivers what waits, writes the metadata. truncated: the input's last line was not whole. 0 or
 * negative. */
int gt_rows_finish(struct gt_import_rows *r, bool truncated, struct gt_err *err);
void gt_rows_free(struct gt_import_rows *r); /* NULL is fine */

/* A name within a group (names of different groups are different types). Negative or its number. */
int64_t gt_rows_name(
	struct gt_import_rows *r, const char *text, size_t len, unsigned group, struct gt_err *err);
/* The same name in another group. */
int64_t gt_rows_regroup(
	struct gt_import_rows *r, uint32_t name, unsigned group, struct gt_err *err);
/* The track of this thread; word, if not NULL, names it. Negative or its number. */
int64_t gt_rows_track(
	struct gt_import_rows *r, int64_t pid, int64_t tid, const char *word, struct gt_err *err);
int64_t gt_rows_place(struct gt_import_rows *r, const struct gt_rows_place *at, struct gt_err *err);
/* its number in the file; GT_NONE: no memory */
uint32_t gt_rows_track_id(struct gt_import_rows *r, uint32_t track);

/* The arguments of the row to come: forget those before; one number by hand; the object or array
 * whose opening bracket the scanner has just handed out (objects in it become "a.b", array elements
 * "a.0"). *ret: where a "status" in it goes, or NULL. */
void gt_rows_no_args(struct gt_import_rows *r);
void gt_rows_number(struct gt_import_rows *r, const char *key, uint64_t value);
int gt_rows_details(
	struct gt_import_rows *r, struct gt_json *j, bool array, int32_t *ret, struct gt_err *err);

/* The arguments collected so far, one by one. text: of a string. */
struct gt_rows_arg {
	const char *key, *text;
	uint32_t kind;
	uint64_t value;
};
/* false: there are no more */
bool gt_rows_arg(const struct gt_import_rows *r, unsigned i, struct gt_rows_arg *arg);
/* Makes it another one; i of the number of arguments adds one. What finds no room is left out and
 * counted. */
void gt_rows_set_arg(
	struct gt_import_rows *r, unsigned i, const char *key, uint32_t kind, uint64_t value);

/* Rows, with the arguments collected so far. key: pairs begin with end (GT_PAIR_BY_ID). */
int gt_rows_begin(struct gt_import_rows *r, uint32_t track, uint32_t name, int64_t time,
	uint64_t key, struct gt_err *err);
int gt_rows_end(struct gt_import_rows *r, uint32_t track, uint32_t name, int64_t time, uint64_t key,
	int32_t ret, struct gt_err *err);
/* A loss as gtexport --jsonl writes it: a moment called LOST whose arguments say "until" (seconds)
 * and perhaps "count". 1 when this is one and was written, 0 when it is none, or negative.
 * everywhere: the line names no thread. */
int gt_rows_lost(struct gt_import_rows *r, uint32_t track, bool everywhere, uint32_t name,
	int64_t from, struct gt_err *err);
/* nested: has a begin that awaits its end */
bool gt_rows_is_open(const struct gt_import_rows *r, uint32_t track, uint32_t name);
int gt_rows_complete(struct gt_import_rows *r, enum gt_kind kind, uint32_t track, uint32_t name,
	int64_t start, int64_t end, struct gt_err *err);
/* The same, told at its begin; start, end, depth and ret are those of row. */
int gt_rows_row(struct gt_import_rows *r, enum gt_kind kind, uint32_t track, uint32_t name,
	const struct gt_row *row, struct gt_err *err);
#endif
