/* Interns strings, types, tracks, stacks, frames and modules of a segment that is being written,
 * and encodes them. */
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
	/* by type: the field with its bytes, -1 none */
	int8_t *bytes_field;
	struct gt_track *tracks;
	struct gt_dict_stack {
		uint32_t *frames;
		uint32_t n;
	} * stacks;
	struct gt_dict_frame {
		uint32_t text;
		bool changed; /* in changed_frames */
		struct gt_frame frame;
	} * frames;
	uint32_t *changed_frames; /* indexes in frames: since the last flush */
	/* frames whose text belongs to another frame, and their own strings of this text */
	struct gt_dict_twin {
		struct gt_dict_place {
			uint64_t offset;
			uint32_t text, function, file, line, module, kind;
		} key;
		uint32_t id;
	} * twins;
	struct gt_dict_module {
		struct gt_module key;
		uint32_t id; /* string: the path, or one of the same text */
	} * modules;
	uint32_t *module_paths; /* that have a module */
	struct gt_dict_inlined {
		uint32_t text, n;
		size_t first; /* in inner */
	} * inlined;
	uint32_t *inner;
	struct gt_dict_rename {
		uint32_t track, name;
	} * renames;
	uint64_t memory; /* of GT_NAME_MEMORY_MAX */
	size_t nstrings, ntypes, ntracks, nstacks, nrenames, nframes, nmodules, nchanged, ntwins,
		nmodule_paths, ninlined, ninner, cap[13];
	size_t wrote_strings, wrote_types, wrote_tracks, wrote_stacks, wrote_renames, wrote_frames,
		wrote_modules, wrote_inlined;
	struct gt_map string_map, type_map, stack_map, frame_map, inlined_map, twin_map, module_map,
		module_path_map;
};

/* the id; GT_NONE: no memory, or the format's limit is reached */
uint32_t gt_dict_string(struct gt_dict *d, const char *s, size_t len);
uint32_t gt_dict_type(struct gt_dict *d, const struct gt_type *type);
uint32_t gt_dict_track(struct gt_dict *d, const struct gt_track *track);
uint32_t gt_dict_stack(struct gt_dict *d, const uint32_t *frames, size_t n);
/* The same, but always the next id, also for a stack that exists. */
uint32_t gt_dict_next_stack(struct gt_dict *d, const uint32_t *frames, size_t n);
/* 0 or -ENOMEM: as GT_NONE */
int gt_dict_frame(struct gt_dict *d, uint32_t text, const struct gt_frame *frame);
/* Describes a frame that may have its text in common with others: those of other places have other
 * ids. The id that stacks need: text, or another string with the same bytes. GT_NONE: as above. */
uint32_t gt_dict_place(struct gt_dict *d, uint32_t text, const struct gt_frame *frame);
/* The id for frames of this module: its path, or another string with the same bytes if there is
 * one of this path with another build id. GT_NONE: as above. */
uint32_t gt_dict_module(struct gt_dict *d, const struct gt_module *module);
/* 0 or -ENOMEM: as GT_NONE. Nothing happens if the text has inlined functions. */
int gt_dict_inlined(struct gt_dict *d, uint32_t text, const uint32_t *frames, uint32_t n);
int gt_dict_rename(struct gt_dict *d, uint32_t track, uint32_t name);

/* Appends new items of one kind to out, about `limit` bytes at most. Returns their
 * enum gt_wire_kind, and their number in *count; 0: there are no new items. Call it
 * until it returns 0. */
unsigned gt_dict_flush(struct gt_dict *d, size_t limit, struct gt_buf *out, uint32_t *count);
void gt_dict_release(struct gt_dict *d);
#endif
