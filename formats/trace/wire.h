/* The bytes of a trace file, version 1; TRACE_FORMAT.md describes them in reading order. Little
 * endian, fixed widths.
 *
 * A trace is a zstd file. Data are in zstd frames. Heads, index and footer are in zstd's skippable
 * frames, which a reader finds without decompressing and any zstd program ignores:
 *
 *      segment header | (block head, zstd frame)* | index | footer | next segment ...
 *
 * Every one of these structs ends in a crc32 of the bytes before it.
 */
#ifndef GT_WIRE_H
#define GT_WIRE_H
#include <stdint.h>

#define GT_WIRE_SKIP_MAGIC 0x184D2A57u /* one of zstd's sixteen skippable magics */
#define GT_WIRE_SEGMENT_MAGIC "gt trace"
#define GT_WIRE_BLOCK_MAGIC 0x6b427467u  /* "gtBk" */
#define GT_WIRE_INDEX_MAGIC 0x78497467u  /* "gtIx" */
#define GT_WIRE_FOOTER_MAGIC 0x6e457467u /* "gtEn" */
#define GT_WIRE_VERSION 1

#define GT_BLOCK_BYTES (256u << 10) /* a block's content unpacked, at most */
#define GT_BLOCK_ROWS 16384u        /* rows of a block, at most */
#define GT_DICT_MAX (1u << 24)      /* strings, types, tracks or stacks of a segment, at most */
/* The memory that a reader and its reports need for names while a file is open is
 * bounded: the sum of these over all segments. */
#define GT_NAME_MEMORY_MAX (192u << 20)
#define GT_NAME_MEMORY_STRING(len) ((len) + 17u)
#define GT_NAME_MEMORY_TYPE(fields) (256u + 16u * (fields))
#define GT_NAME_MEMORY_TRACK 512u
#define GT_NAME_MEMORY_STACK(depth) (48u + 4u * (depth))
#define GT_NAME_MEMORY_FRAME 64u
#define GT_NAME_MEMORY_MODULE 128u
/* , : and [ { */
#define GT_NAME_MEMORY_META(bytes, commas, openings)                                               \
	(2u * (bytes) + 128u * (commas) + 512u * (openings))
#define GT_NAME_MEMORY_SEGMENT 1024u

struct gt_wire_skip {
	uint32_t magic, size;
}; /* zstd's own: size is the number of bytes that follow */

struct gt_wire_segment {
	uint8_t magic[8];
	/* size of this struct; readers ignore bytes beyond the fields they know */
	uint16_t version, size;
	uint32_t flags;              /* 0 */
	uint64_t id;                 /* random: the footer repeats it */
	int64_t monotonic, realtime; /* ns, read together at the start of the segment */
	uint32_t reserved, crc;
};
_Static_assert(sizeof(struct gt_wire_segment) == 48, "segment header");

enum gt_wire_kind {
	GT_W_META = 1,
	GT_W_STRINGS,
	GT_W_TYPES,
	GT_W_TRACKS,
	GT_W_STACKS,
	GT_W_NAMES, /* new names of tracks */
	GT_W_ANCHORS,
	GT_W_ROWS,    /* sub: enum gt_kind */
	GT_W_SUMMARY, /* sub: enum gt_wire_summary */
	GT_W_FRAMES,
	GT_W_MODULES,
	GT_W_INLINED,
};
/* readers ignore other numbers */
enum gt_wire_summary {
	GT_W_OF_BLOCKS = 2, /* of the blocks of an epoch */
	GT_W_UPPER,         /* the upper levels */
};
struct gt_wire_block {
	uint32_t magic;
	uint16_t size; /* of this struct */
	uint8_t kind, sub;
	uint32_t epoch;
	uint32_t rows;
	uint32_t track; /* the only track in it, or GT_NONE */
	uint32_t runs;
	uint32_t zbytes, bytes; /* size of the frame that follows; of its content */
	/* ns, of its rows; GT_OPEN: max_end is the end of the epoch */
	int64_t min_start, max_end;
	/* ns: time from the start of its earliest row to the start of its epoch, 0 if the row is
	 * later */
	uint64_t lateness;
	uint32_t number; /* blocks of this segment before it */
	uint32_t crc;
};
_Static_assert(sizeof(struct gt_wire_block) == 64, "block head");
/* bytes from a block's head to its zstd frame */
#define GT_WIRE_HEAD (sizeof(struct gt_wire_skip) + sizeof(struct gt_wire_block))

struct gt_wire_index { /* then count entries, then a crc32 of all before it */
	uint32_t magic, count;
};
struct gt_wire_entry {
	/* offset of the block's skippable frame from the segment's start */
	uint64_t at;
	struct gt_wire_block head;
};
_Static_assert(sizeof(struct gt_wire_entry) == 72, "index entry");

struct gt_wire_footer { /* the last 48 bytes of a closed segment */
	uint32_t magic;
	uint16_t version, size;
	uint64_t id;
	uint64_t bytes; /* of the segment, footer included */
	/* offset of the index' skippable frame from the segment's start, 0: there is none */
	uint64_t index_at;
	uint32_t reserved, crc;
};
_Static_assert(sizeof(struct gt_wire_footer) == 40, "footer");

uint32_t gt_crc(const void *bytes, uint64_t n); /* zlib's crc32 */
/* continues crc with n more bytes */
uint32_t gt_crc_continue(uint32_t crc, const void *bytes, uint64_t n);
#endif
