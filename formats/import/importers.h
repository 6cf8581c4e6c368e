/* Reads files of other tools, and folders, where a tool writes several files. An importer is
 * a file that ends in its descriptor, in the folder of its tool or format, and one row in
 * importers.c. */
#ifndef GT_IMPORTERS_H
#define GT_IMPORTERS_H
#include "formats/base/err.h"
#include "formats/trace/read/reader.h"
#include "formats/trace/write/writer.h"

struct gt_in; /* formats/io/stream_in.h: a byte stream, plain, gz or zst by its content */

struct gt_importer {
	const char *name; /* "jsonl-a": in the source word "import NAME", and in messages */
	const char *help;
	/* The probability, 0..100, that a file with these (unpacked) first bytes is for this
	 * importer. */
	int (*sniff)(const char *head, size_t len);
	/* Reads all of in and writes rows to w. 0 or negative with the place in err. */
	int (*import)(struct gt_in *in, struct gt_writer *w, struct gt_err *err);
	/* The same for a folder: a descriptor, which is borrowed. NULL: the tool writes no folders;
	 * then sniff and import are there, and otherwise they may be NULL. */
	bool (*is_folder)(int folder);
	int (*import_folder)(int folder, struct gt_writer *w, struct gt_err *err);
};
extern const struct gt_importer *const gt_importers[]; /* NULL-terminated */

/* Opens a file of any known format: gt's format directly; others are imported to an
 * unlinked temporary file in gt's format (in $TMPDIR or /tmp). "-" is stdin (a trace is
 * copied to such a file). new: gt_reader_close it. */
struct gt_reader *gt_open_any(const char *path, struct gt_err *err);
/* As gt_open_any; an imported trace has summaries, for gtview. */
struct gt_reader *gt_open_any_indexed(const char *path, struct gt_err *err);

/* Imports the file (at its start) or folder `from`, which is taken over, into `to`, an empty file,
 * in gt's format. A file that begins like a gt trace is copied. meta: a JSON object with more
 * metadata, or NULL. err must not be NULL. */
int gt_import(int from, int to, const char *meta, struct gt_err *err);
bool gt_may_be_native(int fd); /* does it begin like a trace in gt's format? */
/* Does the file begin like a trace in gt's format, or like a file for an importer? Is the folder
 * one trace? */
bool gt_is_trace(const char *path);
#endif
