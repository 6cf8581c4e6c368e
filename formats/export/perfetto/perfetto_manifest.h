/* The manifest of an archive of Perfetto traces, "perfetto_manifest.json": to which machine each
 * file belongs, and how their clocks relate, so that Perfetto (version 58 and newer) shows all
 * files on one timeline. Its definition: Perfetto's docs/reference/perfetto-manifest.md and
 * src/trace_processor/plugins/perfetto_manifest.
 *
 * Each file is a machine of its own, named after its rank, so that the viewer shows which process
 * is of which rank, and processes of one id stay apart. Every file has CLOCK_MONOTONIC:
 *
 *      files of one boot          the clock is the same: related without an offset
 *      the time of day is known   nothing is written: Perfetto relates them by CLOCK_REALTIME
 *      else                       an offset with which both files begin at the same time, as in one
 *                                 file with several recordings; `unplaced` says that it is a guess
 *
 * The timeline is the clock of the machine that booted first, so that no time on it is negative. */
#ifndef GT_PERFETTO_MANIFEST_H
#define GT_PERFETTO_MANIFEST_H
#include "formats/trace/read/reader.h"

#define GT_PERFETTO_ID_BITS 14 /* of the id of a file, in its numbers of sequences and tracks */
#define GT_PERFETTO_FILES_MAX (1u << GT_PERFETTO_ID_BITS)
#define GT_PERFETTO_MANIFEST "perfetto_manifest.json"

struct gt_perfetto_file {
	const char *name;    /* in the archive */
	const char *machine; /* not empty */
	struct gt_reader *reader;
	bool unplaced; /* set: no clock relates the file to the others */
};
/* new: the text. NULL: no memory. */
char *gt_perfetto_manifest(struct gt_perfetto_file *files, size_t n);
#endif
