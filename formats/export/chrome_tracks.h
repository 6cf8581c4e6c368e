/* Processes, threads and lanes of a Chrome trace: gives every row a place where it overlaps no
 * other slice by halves, and names each place when it is used first. A lane is one more thread of
 * the same name behind its track. A GPU is a process, and its streams are the threads of it, named
 * with their context where there are several ("stream 7 of context 2"); what a stream waited for is
 * no work and has lanes of its own ("stream 7 waits"). */
#ifndef GT_CHROME_TRACKS_H
#define GT_CHROME_TRACKS_H
#include "formats/base/map.h"
#include "formats/io/stream_out.h"
#include "formats/trace/read/reader.h"

struct gt_chrome_lane {
	uint32_t tid;
	char where[56]; /* PID,"tid":TID,"ts": and zeros */
	uint32_t where_len;
	bool waits; /* holds waits of a stream, and nothing else */
	int64_t max_end;
	int64_t *ends; /* of the spans open on it, outermost first */
	size_t nends, cap;
};
/* What is known of the rows of one depth; times of rows let through. */
struct gt_chrome_level {
	int64_t start, end; /* the last row in order */
	/* this epoch: end of what came earlier, start of its first row in order */
	int64_t before, first;
	/* this epoch: the last row that began before it and was written behind others */
	int64_t late_start, late_end;
	/* parent began before this epoch, or in it */
	struct gt_orphans {
		int64_t start, end;
		bool any;
	} old, young;
};
struct gt_chrome_track {
	/* [0] is the track itself; NULL until its first row */
	struct gt_chrome_lane *lanes;
	size_t nlanes, cap;
	uint32_t first_span_lane; /* spans keep off the lanes that hold calls */
	bool calls, spans;
	uint32_t nwaits;                /* lanes of waits */
	struct gt_chrome_level *levels; /* by depth */
	size_t nlevels, levels_cap;
	uint32_t norphans; /* ranges of orphans in all levels */
	uint32_t epoch;
	uint32_t pid;
	bool lone; /* a context that need not be named: see gt_lone_contexts */
};
struct gt_ids {
	struct gt_map map;
	uint64_t *keys;
	size_t n, cap;
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
	/* an event has been written: the next needs a comma */
	bool some;
};
/* 0 or -ENOMEM; release it either way. */
int gt_chrome_tracks_init(
	struct gt_chrome_tracks *c, struct gt_reader *r, struct gt_out *out, struct gt_err *err);
void gt_chrome_tracks_release(struct gt_chrome_tracks *c);

/* Ends the event before, if there is one. */
void gt_chrome_separate(struct gt_chrome_tracks *c);
/* The track itself, named by now; NULL with err set. */
struct gt_chrome_track *gt_chrome_track(
	struct gt_chrome_tracks *c, const struct gt_segment *seg, uint32_t track);
/* Where a call may go: calls of a track block by block as they lie in the file, with the number of
 * the block's epoch, or all in order of time (epoch 0). A span: in order of start time, after all
 * calls. NULL: nowhere, there are too many lanes; also NULL, with err set, when memory is out. */
struct gt_chrome_lane *gt_chrome_call(struct gt_chrome_tracks *c, const struct gt_segment *seg,
	uint32_t track, int64_t start, int64_t end, unsigned depth, uint32_t epoch);
struct gt_chrome_lane *gt_chrome_span(struct gt_chrome_tracks *c, const struct gt_segment *seg,
	uint32_t track, int64_t start, int64_t end, bool waits);
#endif
