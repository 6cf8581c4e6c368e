/* Shared by the importers of formats A and B: files with one JSON object per line,
 * with the keys "ts", "name" and "phase". Each importer adds a function that handles a
 * line. Not an importer itself. */
#ifndef GT_IMPORT_JSONL_LINES_H
#define GT_IMPORT_JSONL_LINES_H
#include "formats/import/import_rows.h"
#include "formats/io/stream_in.h"

enum gt_line_has {
	GT_LINE_TS = 1,
	GT_LINE_NAME = 2,
	GT_LINE_PHASE = 4,
	GT_LINE_OP_ID = 8,
	GT_LINE_TYPE = 16,
	GT_LINE_DURATION = 32,
	GT_LINE_EVENT_ID = 64,
	GT_LINE_SIZE = 128,
	GT_LINE_DEVICE = 256,
	GT_LINE_CONTEXT = 512,
	GT_LINE_STACK = 1024,
	GT_LINE_FRAMES = 2048,
	GT_LINE_KIND = 4096, /* kind or layer, of gtexport */
};
/* For formats that state the class of a name: the parts of the class in a line, each
 * plus 1, are the name's group. */
#define GT_LINE_CLASSED (1u << 20)
#define GT_LINE_LAYER(g) ((g)&15)
#define GT_LINE_CATEGORY(g) ((g) >> 4 & 63)
#define GT_LINE_OP(g) ((g) >> 10 & 31)
#define GT_LINE_MEMKIND(g) ((g) >> 15 & 15)
struct gt_import_line {
	unsigned has;     /* enum gt_line_has */
	char phase;       /* 'B', 'E', or 0: an instant */
	int64_t time;     /* ns: "ts", which is in seconds */
	int64_t duration; /* ns: "duration_us" */
	uint64_t op_id, size;
	int64_t pid, tid;        /* 0: unknown */
	uint32_t name;           /* of gt_rows_name, in group `group` */
	unsigned group;          /* 1 + index of "type" in the format's words, 0 for others */
	int32_t ret;             /* "status" */
	uint8_t kind;            /* "kind": enum gt_kind, 0: unknown */
	uint8_t track, depth;    /* "track": enum gt_track_kind plus 1 */
	int64_t device, context; /* of its track */
	/* of a line that defines a call stack: its number in the file, and its id in the trace */
	int64_t stack_number;
	uint32_t stack;
};
struct gt_line_format {
	struct gt_rows_config rows;
	const char *const *words; /* of "type", NULL-terminated; NULL: there is no such key */
	/* there may be keys for the kind, the class and the track of a row */
	bool classed;
	/* The fast path: reads the beginning of a line in the usual form, from j->at up to a
	 * ',' or '}', which it returns; NULL: the line has another form. May be NULL. */
	const char *(*begin)(
		struct gt_import_rows *r, struct gt_json *j, struct gt_import_line *line);
	/* Handles a line. Its arguments are in r. An err without a place gets that of the line. */
	int (*row)(struct gt_import_rows *r, const struct gt_import_line *line, struct gt_err *err);
};
int gt_import_lines(const struct gt_line_format *format, struct gt_in *in, struct gt_writer *w,
	struct gt_err *err);
/* The keys (enum gt_line_has) in the first objects of head. 0: it does not begin with an object. */
unsigned gt_lines_sniff(const char *head, size_t len);
#endif
