/* Shared by the reader's files: reader.c (finds blocks), reader_dict.c (names),
 * scan.c, iter.c and block_cursor.c (rows). */
#ifndef GT_READER_INTERNAL_H
#define GT_READER_INTERNAL_H
#include <pthread.h>
#include <zstd.h>

#include "formats/os/file.h"
#include "formats/trace/block.h"
#include "formats/trace/index.h"
#include "formats/trace/read/frame_files.h"
#include "formats/trace/read/reader.h"

/* Functions that the compiler has inlined into native frames. */
struct gt_inlined_table {
	struct gt_inlined {
		uint32_t text, n;
		size_t first; /* in inner */
	} * items;
	size_t n, cap;
	struct gt_map map; /* by text */
	uint32_t *inner;
	size_t ninner, inner_cap;
};
/* What added_names.c needs to bring a segment back to what the file has. */
struct gt_added_names {
	struct gt_reader *reader;
	uint64_t memory;                     /* of the reader's added_memory */
	uint32_t nstrings, nframes, nstacks; /* of the file */
	struct gt_text_frame *frames;
	struct gt_stack *stacks;
	struct gt_inlined_table inlined;
};
struct gt_seg {
	struct gt_segment pub;
	int fd;             /* of the file, which its reader closes */
	uint64_t at, bytes; /* in the file */
	int64_t began;      /* ns: monotonic time in its header */
	struct gt_index index;
	uint32_t counted; /* blocks whose rows are counted in pub */
	bool any_rows;
	uint32_t last_open_epoch; /* the epoch whose open calls count; GT_NONE: none */
	/* owned memory behind pub */
	struct gt_buf text;
	struct gt_string *strings;
	size_t strings_cap;
	struct gt_type *types;
	size_t types_cap;
	struct gt_track *tracks;
	bool *lone_contexts;
	size_t tracks_cap;
	struct gt_stack *stacks;
	size_t stacks_cap;
	struct gt_text_frame *frames;
	size_t frames_cap;
	struct gt_frame_files *frame_files;
	struct gt_inlined_table inlined; /* of the file */
	struct gt_module *modules;
	size_t modules_cap;
	struct gt_anchor *anchors;
	size_t anchors_cap;
	char *meta, *host, *boot;
	void *json;                   /* json_t * while metadata are merged */
	struct gt_added_names *added; /* NULL: none */
};
struct gt_reader {
	int fd;              /* -1: joined from other readers, which own the segments */
	uint64_t from, size; /* bytes before `from` and from `size` on are not read */
	/* gt_reader_grow may be called: segments are searched from the front */
	bool grows;
	struct gt_seg *segs;
	size_t nsegs, segs_cap;
	struct gt_damage *damage;
	size_t ndamage, damage_cap;
	uint64_t name_memory;  /* of GT_NAME_MEMORY_MAX, all segments */
	uint64_t added_memory; /* likewise, of added_names.c */
	struct gt_index_store store;
	pthread_mutex_t lock; /* of damage: several threads may scan */
};

/* Working memory for one block. Zero-initialised is valid. */
struct gt_loader {
	ZSTD_DCtx *zstd;
	struct gt_buf packed, bytes; /* bytes: content plus GT_SLACK */
};
/* Reads, decompresses and checks the content behind an entry's head, into l->bytes.
 * 0, -EBADMSG with the place, -ENOMEM. */
int gt_load(const struct gt_seg *seg, const struct gt_wire_entry *e, struct gt_loader *l,
	struct gt_span *content, struct gt_err *err);
void gt_loader_release(struct gt_loader *l);
/* Notes that an entry's rows are missing, once per block. Thread-safe. */
void gt_note_damage(struct gt_reader *r, const struct gt_seg *seg, const struct gt_wire_entry *e,
	const struct gt_err *why);

/* Adds to r->name_memory. 0, or -E2BIG if it exceeds the limit. */
int gt_charge_names(struct gt_reader *r, uint64_t bytes);
/* Reads the names in the blocks from that one on. */
int gt_read_dicts(struct gt_reader *r, struct gt_seg *seg, uint32_t from, struct gt_err *err);
void gt_free_dicts(struct gt_seg *seg);
#endif
