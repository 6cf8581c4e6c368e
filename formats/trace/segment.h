/* A segment: one recording of a trace file, with its names, types and tracks. Zero or more blocks
 * of rows refer to them by index. */
#ifndef GT_SEGMENT_H
#define GT_SEGMENT_H
#include "formats/base/map.h"
#include "formats/trace/record.h"

/* ptr[len] is 0; the string may contain zeros */
struct gt_string {
	const char *ptr;
	uint32_t len;
};

/* One recording. All pointers are borrowed until gt_reader_close. */
struct gt_segment {
	uint32_t index;        /* 0, 1, ... in file order */
	const char *meta_json; /* merged metadata, one JSON object */
	const char *host, *boot_id;
	/* random, chosen when the recording starts: a copy of a file has the same id */
	uint64_t id;
	const struct gt_string *strings;
	uint32_t nstrings;
	const struct gt_type *types;
	uint32_t ntypes;
	const struct gt_track *tracks;
	uint32_t ntracks;
	const bool *lone_contexts; /* by track: see gt_lone_contexts */
	const struct gt_anchor *anchors;
	uint32_t nanchors;
	const struct gt_stack {
		const uint32_t *frames;
		uint32_t n;
	} * stacks;
	uint32_t nstacks;
	/* frames by their text; gt_segment_frame() finds one */
	const struct gt_text_frame {
		uint32_t text; /* string id; in at most one element */
		struct gt_frame frame;
	} * frames;
	uint32_t nframes;
	struct gt_map frame_map;
	const struct gt_frame_files *frame_files; /* gt_segment_path_parts() */
	const struct gt_module *modules;
	uint32_t nmodules;
	int64_t min_start, max_end; /* of all rows */
	/* by kind; GT_OPEN: only those open at the end of the last epoch */
	uint64_t rows[GT_KINDS];
	bool closed;    /* has its index and footer */
	bool simulated; /* metadata says "simulated": true */
	/* not closed: all rows that ended before this time are present */
	int64_t complete_to;
	uint64_t unread_bytes; /* not closed: bytes at the end that are no complete block */
};
static inline uint64_t gt_segment_rows(const struct gt_segment *seg) /* of all kinds */
{
	uint64_t n = 0;

	for (unsigned k = 0; k < GT_KINDS; k++)
		n += seg->rows[k];
	return n;
}
#endif
