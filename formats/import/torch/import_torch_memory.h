/* Shared by the parts of the importer of PyTorch's GPU memory snapshots (import_torch_memory.c). */
#ifndef GT_IMPORT_TORCH_MEMORY_H
#define GT_IMPORT_TORCH_MEMORY_H
#include "formats/base/map.h"
#include "formats/import/import_rows.h"
#include "formats/io/pickle.h"

#define GT_TORCH_NO_VALUE UINT32_MAX /* no such value in the pickle */

enum gt_torch_action {
	GT_TORCH_OTHER,
	GT_TORCH_ALLOC,
	GT_TORCH_FREE_REQUESTED,
	GT_TORCH_FREE_COMPLETED,
	GT_TORCH_SEGMENT_ALLOC, /* or mapped */
	GT_TORCH_SEGMENT_FREE,  /* or unmapped */
	GT_TORCH_OOM,
};

/* An event of a device's trace. Texts are borrowed from the pickle. */
struct gt_torch_event {
	enum gt_torch_action action;
	const char *name, *context, *metadata; /* action, compile_context, user_metadata */
	size_t name_len, context_len, metadata_len;
	uint64_t addr, bytes, device_free;
	int64_t stream, time_us;
	bool has_addr, has_bytes, has_device_free, has_stream, has_time;
	gt_pickle_value frames;
};

struct gt_torch_device {
	int64_t number;
	gt_pickle_value events; /* GT_TORCH_NO_VALUE: it has no trace */
	/* blocks are free from free_requested on; without these events, from free_completed on */
	bool has_requests;
	/* bytes of the segments at the end, then at the begin of the trace, then now; more than
	 * INT64_MAX: the file does not say */
	uint64_t reserved;
	/* while rows are written */
	struct gt_pickle_cursor cursor;
	struct gt_torch_event next;
	int64_t at; /* ns: time of the event before, then of the next one */
	bool has_next;
	uint64_t live;
	uint32_t track, events_track; /* of counters, and of events */
};

/* An address of a device: of a block in the segments, or of an event. The first two members are
 * the key. */
struct gt_torch_address {
	uint64_t addr, device; /* device: index */
	uint64_t bytes;        /* of the first event, if it is a free */
	int64_t stream;
	/* of the block in the segments */
	uint64_t block_bytes;
	gt_pickle_value frames;
	/* in_segments: allocated when the snapshot was made; in_trace: an event has it; live: after
	 * the last event; before: it was allocated before the first event */
	bool in_segments, in_trace, live, before;
};

struct gt_torch_import {
	struct gt_pickle *pickle;
	struct gt_writer *w;
	struct gt_import_rows *rows;
	struct gt_torch_device *devices;
	size_t ndevices, devices_cap;
	struct gt_torch_address *addresses;
	size_t naddresses, addresses_cap;
	struct gt_map address_map, frame_map, stack_map;
	/* string ids of frames, and ids of stacks, by their value in the pickle */
	struct gt_torch_number {
		gt_pickle_value value;
		uint32_t id; /* GT_NONE: it is left out */
	} * frames, *stacks;
	size_t nframes, frames_cap, nstacks, stacks_cap;
	int64_t named;           /* tracks with a lower number have their name */
	bool has_segments, host; /* host: it has events of host memory */
	const char *settings;    /* of the environment, borrowed from the pickle; NULL: none */
	size_t settings_len;
	int64_t first_us; /* INT64_MAX: no event has a time */
	/* counts for the metadata */
	uint64_t not_understood, untimed, before, before_bytes, after, freed_after, stacks_left_out;
};

/* ---- import_torch_memory_segments.c ---- */
int gt_torch_read_segments(struct gt_torch_import *t, gt_pickle_value list, struct gt_err *err);

/* ---- import_torch_memory_events.c ---- */

/* The index of the device with this number, or negative. */
int64_t gt_torch_device(struct gt_torch_import *t, int64_t number, struct gt_err *err);
/* The index of an address, or negative. */
int64_t gt_torch_address(
	struct gt_torch_import *t, uint64_t device, uint64_t addr, struct gt_err *err);
/* Reads the traces of all devices once, to know which blocks were allocated before. */
int gt_torch_survey(struct gt_torch_import *t, struct gt_err *err);
/* Does the memory count as free from this event on? */
bool gt_torch_is_free(const struct gt_torch_device *d, const struct gt_torch_event *e);
/* A cursor on the events of a device, behind its bracket. */
int gt_torch_begin_events(struct gt_torch_import *t, struct gt_torch_device *d, struct gt_err *err);
/* The next event: 1; 0: there is none; or negative. Values that are no event are skipped. */
int gt_torch_next_event(struct gt_torch_import *t, struct gt_pickle_cursor *c,
	struct gt_torch_event *e, struct gt_err *err);

/* ---- import_torch_memory_annotations.c ---- */
int gt_torch_read_annotations(struct gt_torch_import *t, gt_pickle_value list, struct gt_err *err);

/* ---- import_torch_memory_rows.c ---- */
/* Groups of names: what rows of this name do. */
enum {
	GT_TORCH_PLAIN,
	GT_TORCH_ALLOCATES,
	GT_TORCH_FREES,
	GT_TORCH_COUNTS,
	GT_TORCH_RESERVES,
	GT_TORCH_RANGES
};
/* The track with this number below a device (device: its number), or negative. */
int64_t gt_torch_track(struct gt_torch_import *t, int64_t device, int64_t number, const char *name,
	struct gt_err *err);
extern const struct gt_rows_config gt_torch_rows;
/* Writes all rows, in order of time. */
int gt_torch_write_rows(struct gt_torch_import *t, struct gt_err *err);

/* ---- import_torch_memory_stacks.c ---- */

/* *stack: the id in the trace, or GT_NONE. 0 or negative. */
int gt_torch_stack(
	struct gt_torch_import *t, gt_pickle_value frames, uint32_t *stack, struct gt_err *err);

int gt_torch_no_memory(struct gt_err *err);
/* Sets *to to the last token if it is a text. */
void gt_torch_text(int token, const struct gt_pickle_cursor *c, const char **to, size_t *len);
/* The value of the last token as an integer. False: it is none, or has more than 63 bits. */
bool gt_torch_integer(int token, const struct gt_pickle_cursor *c, int64_t *to);
/* Likewise a time in microseconds, if it can be a time of the trace. */
bool gt_torch_time(int token, const struct gt_pickle_cursor *c, int64_t *to);
#endif
