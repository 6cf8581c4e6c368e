/* What becomes known of the frames of stacks after a file was written: functions, lines and inlined
 * functions from the symbols of its libraries. One function adds them to each segment that is read,
 * before a reader returns it, so that all readers of a program (also those that read a file a
 * second time, or follow it) have the same. */
#ifndef GT_ADDED_NAMES_H
#define GT_ADDED_NAMES_H
#include "formats/trace/read/reader.h"

struct gt_seg;
/* Readers call this function, on the thread that opens them, with each segment. NULL: none. Set it
 * before the first reader is opened. */
void gt_reader_set_names(void (*add)(struct gt_seg *seg, void *arg), void *arg);

/* ---- for that function ---- */
const struct gt_segment *gt_seg_segment(const struct gt_seg *seg);
/* The id of a new string. GT_NONE: no memory, or names need all they may. */
uint32_t gt_seg_add_string(struct gt_seg *seg, const char *s);
/* Describes a frame (text: string id) from now on. 0 or -ENOMEM. */
int gt_seg_set_frame(struct gt_seg *seg, uint32_t text, const struct gt_frame *f);
/* In each stack, these frames follow the frame with this text: functions that the compiler has
 * inlined there, the outermost first. 0 or -ENOMEM. */
int gt_seg_set_inlined(struct gt_seg *seg, uint32_t text, const uint32_t *frames, uint32_t n);

/* ---- for the reader ---- */
void gt_seg_add_names(struct gt_reader *r, struct gt_seg *seg);
struct gt_inlined_table;
/* 0 or -ENOMEM. The first frames of a text count. */
int gt_inlined_table_add(
	struct gt_inlined_table *t, uint32_t text, const uint32_t *frames, uint32_t n);
void gt_inlined_table_release(struct gt_inlined_table *t);
void gt_seg_drop_names(struct gt_seg *seg); /* the segment is again as the file has it */
#endif
