/* Shared by importers of begin/end files: converts names, typed arguments, tracks
 * and pairs to rows of a writer. The importer reads a line and calls these functions;
 * it handles no types or ids. Not an importer itself.
 *
 * Limits: GT_ROWS_TEXT bytes of different names and strings (more names are an error;
 * arguments may use half of it, and arguments beyond that are dropped and counted),
 * GT_ROWS_TRACKS threads (more are an error), GT_ROWS_TYPES different sets of arguments
 * and GT_FIELDS_MAX arguments per row (further ones are dropped and counted).
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
/* ns: 73 years before and after 0: no difference of two times overflows */
#define GT_ROWS_TIME_MAX ((int64_t)1 << 61)

struct gt_import_rows;

struct gt_rows_config {
	const char *importer; /* "jsonl-b" */
	enum gt_pair_mode mode;
	/* Fills in the category, operation, memory kind and layer of calls of this name.
	 * group: that of gt_rows_name. */
	void (*classify)(const char *name, unsigned group, struct gt_type *type);
	/* The role of an argument in that group; GT_R_NONE: use the default role of its name
	 * (import_roles.h). NULL: always use the default. */
	uint8_t (*role)(unsigned group, const char *key, unsigned kind);
	/* An end has another time than its line: only gt_rows_note_line counts times that go back.
	 */
	bool notes_lines;
};
/* The key of any track. It is compared as bytes: zero it first. */
struct gt_rows_place {
	int64_t pid, id;
	int64_t device, context; /* parents of a stream, context or custom track */
	uint32_t kind;           /* enum gt_track_kind */
	bool on_device, in_context;
};
struct gt_import_rows *gt_rows_new(
	const struct gt_rows_config *config, struct gt_writer *w, struct gt_err *err);
/* Writes the waiting halves and the metadata. truncated: the input's last line was
 * incomplete. 0 or negative. */
int gt_rows_finish(struct gt_import_rows *r, bool truncated, struct gt_err *err);
void gt_rows_free(struct gt_import_rows *r); /* NULL is fine */

/* Interns a name in a group (names of different groups are different types). Its number, or
 * negative. */
int64_t gt_rows_name(
	struct gt_import_rows *r, const char *text, size_t len, unsigned group, struct gt_err *err);
/* Interns the same name in another group. */
int64_t gt_rows_regroup(
	struct gt_import_rows *r, uint32_t name, unsigned group, struct gt_err *err);
/* The number of this thread's track, or negative; word, if not NULL, is its name. */
int64_t gt_rows_track(
	struct gt_import_rows *r, int64_t pid, int64_t tid, const char *word, struct gt_err *err);
/* Adds a process with its name. A process that is known keeps its name. */
int gt_rows_process(
	struct gt_import_rows *r, int64_t pid, const char *name, size_t len, struct gt_err *err);
int64_t gt_rows_place(struct gt_import_rows *r, const struct gt_rows_place *at, struct gt_err *err);
/* the id of a track in the trace; GT_NONE: no memory */
uint32_t gt_rows_track_id(struct gt_import_rows *r, uint32_t track);

/* The arguments of the next row. gt_rows_no_args clears them; gt_rows_number adds a
 * number, gt_rows_value a value of that enum gt_field_kind, gt_rows_text a string; gt_rows_details
 * adds the values of the object or array whose opening bracket the scanner has just returned (keys
 * of inner objects become "a.b", array elements "a.0"). *ret, if not NULL, receives a "status" in
 * it. */
void gt_rows_no_args(struct gt_import_rows *r);
void gt_rows_number(struct gt_import_rows *r, const char *key, uint64_t value);
void gt_rows_value(struct gt_import_rows *r, const char *key, uint8_t kind, uint64_t value);
void gt_rows_text(struct gt_import_rows *r, const char *key, const char *text, size_t len);
int gt_rows_details(
	struct gt_import_rows *r, struct gt_json *j, bool array, int32_t *ret, struct gt_err *err);

/* Adds the fields of the launch, which all GPU work has. launch: NULL if it is unknown; its stack
 * is not used. start: of the work, ns. */
struct gt_gpu_cause; /* formats/cuda/gpu_rows.h */
void gt_rows_launch(struct gt_import_rows *r, const struct gt_gpu_cause *launch, int64_t start);

/* An argument of the next row. text: of a string. */
struct gt_rows_arg {
	const char *key, *text;
	uint32_t kind;
	uint64_t value;
};
/* argument i; false: there is none */
bool gt_rows_arg(const struct gt_import_rows *r, unsigned i, struct gt_rows_arg *arg);
/* Replaces argument i, or adds it if i is the number of arguments. Arguments beyond
 * the limits are dropped and counted. */
void gt_rows_set_arg(
	struct gt_import_rows *r, unsigned i, const char *key, uint32_t kind, uint64_t value);

/* Call stacks. gt_rows_frames reads the array of frames whose bracket the scanner has returned, and
 * makes a stack of the trace; GT_NONE: there is no memory for it. gt_rows_define_stack gives it the
 * number that it has in the file. gt_rows_translate_stack replaces that number in the arguments of
 * the next row (GT_ROWS_STACK). 0 or negative. */
#define GT_ROWS_STACK "stack_id"
int gt_rows_frames(
	struct gt_import_rows *r, struct gt_json *j, uint32_t *stack, struct gt_err *err);
int gt_rows_define_stack(
	struct gt_import_rows *r, uint64_t number, uint32_t stack, struct gt_err *err);
void gt_rows_translate_stack(struct gt_import_rows *r);

/* Add rows with the current arguments. key: pairs begin with end (GT_PAIR_BY_ID). */
int gt_rows_begin(struct gt_import_rows *r, uint32_t track, uint32_t name, int64_t time,
	uint64_t key, struct gt_err *err);
int gt_rows_end(struct gt_import_rows *r, uint32_t track, uint32_t name, int64_t time, uint64_t key,
	int32_t ret, struct gt_err *err);
/* Adds a loss, in the form of gtexport --jsonl: an instant named LOST with the
 * argument "until" (seconds) and perhaps "count". 1: added; 0: the row is not a loss;
 * or negative. everywhere: the line names no thread. */
int gt_rows_loss(struct gt_import_rows *r, uint32_t track, bool everywhere, uint32_t name,
	int64_t from, struct gt_err *err);
/* The time of a line. A line that is earlier than one before is counted in the metadata. */
void gt_rows_note_line(struct gt_import_rows *r, int64_t time);
/* nested: is there an open begin? */
bool gt_rows_is_open(const struct gt_import_rows *r, uint32_t track, uint32_t name);
int gt_rows_complete(struct gt_import_rows *r, enum gt_kind kind, uint32_t track, uint32_t name,
	int64_t start, int64_t end, struct gt_err *err);
/* Adds a row with the start, end, depth and ret of `row`. */
int gt_rows_row(struct gt_import_rows *r, enum gt_kind kind, uint32_t track, uint32_t name,
	const struct gt_row *row, struct gt_err *err);
#endif
