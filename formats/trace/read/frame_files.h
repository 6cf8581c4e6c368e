/* How much of the paths of source files and libraries tells them apart. Names of frames show the
 * last components only, which two files of a recording may have in common. */
#ifndef GT_FRAME_FILES_H
#define GT_FRAME_FILES_H
#include "formats/base/map.h"
#include "formats/trace/segment.h"

enum { GT_SOURCE_PARTS = 2, GT_MODULE_PARTS = 1 }; /* shown if no other file has the same ones */

/* How many components at the end of this path (string id; the file or module of a frame) no other
 * file of the segment has: `parts` or more. UINT32_MAX: the whole path is needed. */
uint32_t gt_segment_path_parts(const struct gt_segment *seg, uint32_t path, uint32_t parts);
/* Where the last `parts` components (at least one) of this path begin. */
const char *gt_path_last_parts(const char *path, uint32_t parts);

/* ---- for the reader ---- */
struct gt_frame_files {
	struct gt_frame_file {
		uint32_t path, parts;
		uint32_t next; /* index plus 1 of the file before with the same end */
	} * items;
	size_t n, cap;
	struct gt_map by_path;
	struct gt_path_end {
		uint64_t hash;
		uint32_t latest; /* index in items */
		uint32_t n;
	} * ends;
	size_t nends, ends_cap;
	struct gt_map by_end;
};
/* Adds the file and the module of a frame; text: has the texts of string ids; *f: NULL is no file
 * yet. 0 or -ENOMEM. */
int gt_frame_files_add_frame(struct gt_frame_files **f, const struct gt_frame *frame,
	const char *(*text)(const void *arg, uint32_t id), const void *arg);
void gt_frame_files_free(struct gt_frame_files *f);
#endif
