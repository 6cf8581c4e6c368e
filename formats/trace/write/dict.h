/* What a segment interns while it is written: strings, types, tracks, stacks. Knows their bytes,
 * not where they go. */
#ifndef GT_DICT_H
#define GT_DICT_H
#include "formats/base/buf.h"
#include "formats/base/map.h"
#include "formats/trace/record.h"

struct gt_dict {
	struct gt_buf text; /* all strings, each with its NUL */
	struct gt_dict_string {
		size_t at;
		uint32_t len;
	} * strings;
	struct gt_type *types; /* fields point into the heap, one block each */
	/* by type: the field that counts as its bytes, -1 none */
	int8_t *bytes_field;
	struct gt_track *tracks;
	struct gt_dict_stack {
		uint32_t *frames;
		uint32_t n;
	} * stacks;
	struct gt_dict_rename {
		uint32_t track, name;
	} * renames;
	uint64_t held; /* of GT_NAME_MEMORY_MAX */
	size_t nstrings, ntypes, ntracks, nstacks, nrenames, cap[6];
	size_t wrote_strings, wrote_types, wrote_tracks, wrote_stacks, wrote_renames;
	struct gt_map string_map, type_map, stack_map;
};

/* GT_NONE when memory or the format's limit is out */
uint32_t gt_dict_string(struct gt_dict *d, const char *s, size_t len);
uint32_t gt_dict_type(struct gt_dict *d, const struct gt_type *type);
uint32_t gt_dict_track(struct gt_dict *d, const struct gt_track *track);
uint32_t gt_dict_stack(struct gt_dict *d, const uint32_t *frames, size_t n);
int gt_dict_rename(struct gt_dict *d, uint32_t track, uint32_t name);

/* Puts what has not been written yet into out, no more than about `limit` bytes of one sort.
 * Returns the enum gt_wire_kind of what it put, 0 when there is nothing left; *count says how many.
 * Call again until 0. */
unsigned gt_dict_flush(struct gt_dict *d, size_t limit, struct gt_buf *out, uint32_t *count);
void gt_dict_release(struct gt_dict *d);
#endif
