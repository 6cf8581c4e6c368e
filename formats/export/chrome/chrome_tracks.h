/* Processes, threads and lanes of a Chrome or Perfetto trace: finds a lane for every row where it
 * partly overlaps no other slice, and names each lane at its first use. A lane is a further thread
 * of the same name behind its track. A GPU is a process, and its streams are the process's threads,
 * named with their context if there are several ("stream 7 of context 2"). Its process id is the
 * number of the GPU, as Kineto writes it; if several processes use it, or a process has that id,
 * all but the first have a made-up id. Waits of a stream are no work and have lanes of their own
 * ("stream 7 waits"), and so have states of a thread off the processor. */
#ifndef GT_CHROME_TRACKS_H
#define GT_CHROME_TRACKS_H
#include "formats/base/map.h"
#include "formats/io/stream_out.h"
#include "formats/trace/read/reader.h"

struct gt_chrome_lane {
	uint32_t tid;
	uint32_t number; /* of all lanes of the trace */
	/* of Chrome: PID,"tid":TID,"ts": and zeros */
	char where[56];
	uint32_t where_len;
	bool waits;  /* holds waits of a stream or states of a thread, and nothing else */
	bool beside; /* it is not the first lane of its track */
	int64_t max_end;
	int64_t *ends; /* of its open spans, outermost first */
	size_t nends, cap;
};
/* The accepted rows of one depth: their times. */
struct gt_chrome_level {
	int64_t start, end; /* the last row in order */
	/* this epoch: end of the rows before it, start of its first row in order */
	int64_t before, first;
	/* this epoch: the last row that began before it and came after others */
	int64_t late_start, late_end;
	/* rows whose parent began before this epoch, or in it */
	struct gt_parentless {
		int64_t start, end;
		bool any;
	} old, young;
};
struct gt_chrome_track {
	/* [0] is the track itself; NULL until its first row */
	struct gt_chrome_lane *lanes;
	size_t nlanes, cap;
	uint32_t first_span_lane; /* the lanes before it hold calls */
	bool calls, spans;
	uint32_t nwaits;                /* lanes of waits */
	struct gt_chrome_level *levels; /* by depth */
	size_t nlevels, levels_cap;
	uint32_t nparentless; /* ranges of rows without parent in all levels */
	uint32_t epoch;
	uint32_t pid;
};
struct gt_ids {
	struct gt_map map;
	uint64_t *keys;
	size_t n, cap;
};

/* Write the names of a process and of a lane before the first row there. order: among the
 * processes, or among the lanes of its process. */
struct gt_chrome_names {
	void (*process)(void *arg, const struct gt_segment *seg, uint32_t track, uint32_t pid,
		const char *name, uint64_t order);
	/* fills in where, the lane's place in events */
	void (*lane)(void *arg, const struct gt_segment *seg, uint32_t track, uint32_t pid,
		struct gt_chrome_lane *lane, const char *name, uint64_t order);
	void *arg;
	bool numbered; /* the second lane of a track has a number in its name */
};

struct gt_chrome_tracks {
	struct gt_reader *r;
	struct gt_out *out;
	struct gt_err *err;
	struct gt_chrome_track **tracks; /* by segment and track */
	struct gt_ids pids, tids;
	struct gt_map by_identity;
	struct gt_chrome_process {
		uint32_t segment, track, pid;
	} * procs;
	size_t nprocs, procs_cap;
	uint32_t nlanes, nlevels, ntracks;
	uint32_t nall; /* lanes of all tracks */
	struct gt_chrome_names names;
	/* an event was written: the next needs a comma */
	bool has_event;
};
/* 0 or -ENOMEM; release it either way. */
int gt_chrome_tracks_init(
	struct gt_chrome_tracks *c, struct gt_reader *r, struct gt_out *out, struct gt_err *err);
void gt_chrome_tracks_release(struct gt_chrome_tracks *c);

/* The track that becomes the process of a track: its device, its process, or else its topmost
 * parent below the machine. */
uint32_t gt_chrome_owner(const struct gt_segment *seg, uint32_t track);
/* Names the process (or GPU) of a track at its first use: its id, or 0 with err set. */
uint32_t gt_chrome_process(
	struct gt_chrome_tracks *c, const struct gt_segment *seg, uint32_t track);
/* Writes the separator before an event. */
void gt_chrome_separate(struct gt_chrome_tracks *c);
/* The track, which it names at the first use; NULL with err set. */
struct gt_chrome_track *gt_chrome_track(
	struct gt_chrome_tracks *c, const struct gt_segment *seg, uint32_t track);
/* Finds a lane. Calls of a track must come in file order, with the epoch of their
 * block, or all in order of time (epoch 0). Spans must come after all calls, in order
 * of start time. NULL: there are too many lanes, or no memory, with err set. */
struct gt_chrome_lane *gt_chrome_call(struct gt_chrome_tracks *c, const struct gt_segment *seg,
	uint32_t track, int64_t start, int64_t end, unsigned depth, uint32_t epoch);
/* A further lane of a thread for a slice that does not nest. These come in any order. NULL: as
 * above. */
struct gt_chrome_lane *gt_chrome_lane_beside(struct gt_chrome_tracks *c,
	const struct gt_segment *seg, uint32_t track, int64_t start, int64_t end);
struct gt_chrome_lane *gt_chrome_span(struct gt_chrome_tracks *c, const struct gt_segment *seg,
	uint32_t track, int64_t start, int64_t end, bool waits);
#endif
