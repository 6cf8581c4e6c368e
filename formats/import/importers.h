/* Other tools' files in. One importer is one file, import_<tool>.c, ending in its descriptor, and
 * one row in importers.c. */
#ifndef GT_IMPORTERS_H
#define GT_IMPORTERS_H
#include "formats/base/err.h"
#include "formats/trace/read/reader.h"
#include "formats/trace/write/writer.h"

struct gt_in; /* formats/io/stream_in.h: a byte stream, plain, gz or zst by its content */

struct gt_importer {
	const char *name; /* "jsonl-a": in the source word "import NAME", and in messages */
	const char *help;
	/* How sure this importer is, 0..100, that a file whose (unpacked) first bytes these are is
	 * its own. */
	int (*sniff)(const char *head, size_t len);
	/* Reads everything from in, writes rows to w. 0 or negative with the place in err. */
	int (*import)(struct gt_in *in, struct gt_writer *w, struct gt_err *err);
};
extern const struct gt_importer *const gt_importers[]; /* NULL-terminated */

/* What a JSON file that no importer knows seems to be, by its first bytes; "" when that is not
 * known; NULL: it is no JSON object or array. */
const char *gt_describe_json(const char *head, size_t len);

/* Opens whatever it is: our own format directly; anything an importer knows by way of an unlinked
 * temporary file in our format (in $TMPDIR or /tmp). "-" is stdin (spooled the same way if it is
 * ours). new: gt_reader_close it. */
struct gt_reader *gt_open_any(const char *path, struct gt_err *err);

/* For who wants to choose the place of that file and keep it: puts what is read from `from` (at its
 * beginning; taken over) into `to`, an empty file, in our format: imported, or as it is if it
 * begins like ours. meta: a JSON object, more metadata for what is imported, or NULL. err must not
 * be NULL. */
int gt_import(int from, int to, const char *meta, struct gt_err *err);
bool gt_may_be_native(int fd); /* does it begin like a trace in our format? */
/* does the file begin like a trace in our format, or like what an importer knows? */
bool gt_is_trace(const char *path);
#endif
