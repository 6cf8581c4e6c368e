/* The events of a trace as columns, for the page that gtexport --html writes.
 *
 * A lane holds the events of one aspect of a track: its calls, its ranges, its GPU work, one of its
 * counters. Within a lane events are in levels, so that those of one level never overlap: a call
 * stands on the first level below its callers that is free. Events come in order of time, and each
 * lane appends to its columns:
 *
 *     start   zigzag varint: ns since the start of the event before it in the lane
 *     dur     varint: ns
 *     type    varint: index in the lane's list of types
 *     level   varint
 *     extra   of few events: varints (events since the last one with an extra, kind, value)
 *     value   of counters: 8 bytes of a double, or zigzag varint: difference to the value before
 *
 * The arguments of a type of a lane are columns of their own, in the same order: zigzag varints of
 * the differences, or one varint if all values are equal.
 *
 * With a resolution R, neighbours on a level that are shorter than R and begin within R become one
 * slice with the number of events (level of detail). So the size of a file can be bounded. Other
 * exporters have level_of_detail.h instead, which merges the rows of a trace: per track, without
 * nesting and arrows. A page must keep the levels, so that the lanes have the same height with each
 * resolution, the arrow from a launch to its GPU work, and the name of the longest event, and it
 * merges while it writes its columns, without a second trace.
 * gt_html_lanes.counts tells beforehand how many slices each resolution leaves. */
#ifndef GT_HTML_LANES_H
#define GT_HTML_LANES_H
#include "formats/base/buf.h"
#include "formats/base/map.h"
#include "formats/export/exporters.h"
#include "formats/io/stream_out.h"
#include "formats/names/kernel_names.h"

enum gt_html_aspect {
	GT_HTML_CALLS,
	GT_HTML_RANGES,
	GT_HTML_STATES, /* of a thread off the processor */
	GT_HTML_WORK,
	GT_HTML_WAITS,
	GT_HTML_OVERHEAD,
	GT_HTML_OTHERS,
	GT_HTML_SAMPLES,
	GT_HTML_MARKS, /* instants */
	GT_HTML_LOSSES,
	GT_HTML_COUNTER
};
enum gt_html_extra { GT_HTML_COUNT = 1, GT_HTML_RET, GT_HTML_OPEN };

struct gt_html_column {
	struct gt_buf bytes;
	uint64_t previous, first;
	bool varies;
};
/* A type of a lane. The key comes first. */
struct gt_html_lane_type {
	uint32_t lane, type; /* type: index in gt_html_lanes.types */
	uint32_t local, n;
	struct gt_html_column *columns; /* one per field, and one for the launch of GPU work */
	uint32_t ncolumns;
};
struct gt_html_level;
struct gt_html_lane {
	struct gt_html_lane_key {
		uint32_t segment, track, aspect, counter; /* counter: its type, or GT_NONE */
	} key;
	uint32_t n, nlevels, ntypes, since_extra;
	bool real; /* values of the counter are doubles */
	int64_t last_start, last_value;
	struct gt_html_level *levels;
	size_t levels_cap;
	struct gt_buf start, dur, type, level, extra, value;
	uint32_t *types; /* by local type: index in gt_html_lanes.lane_types */
	size_t types_cap;
	/* of calls: by start, for gt_html_lanes to find the call that launched GPU work */
	struct gt_html_call {
		int64_t start;
		uint32_t index, name;
	} * calls;
	size_t calls_n, calls_cap;
};
struct gt_html_type {
	uint32_t segment, type; /* type GT_NONE: lost events */
};
#define GT_HTML_RESOLUTIONS 24 /* resolution k is 64 ns << 2 k */
static inline int64_t gt_html_resolution(unsigned k) { return 64ll << (2 * k); }

struct gt_html_lanes {
	struct gt_reader *r; /* borrowed, as err */
	struct gt_err *err;
	int64_t *bases;     /* by segment */
	int64_t resolution; /* ns; 0: all events */
	bool measuring;     /* counts slices instead of writing columns */
	uint64_t counts[GT_HTML_RESOLUTIONS], total, merged; /* total: events that came */
	int64_t from, to;                                    /* of all events, ns */
	struct gt_html_lane *lanes;
	size_t nlanes, lanes_cap;
	struct gt_html_lane_type *lane_types;
	size_t nlane_types, lane_types_cap;
	struct gt_map by_lane, by_lane_type;
	struct gt_html_type *types;
	size_t ntypes, types_cap;
	uint32_t lost_type; /* 1 + its index */
	/* what the page has of a segment; each list has the ids in the order of their numbers */
	struct gt_html_ids {
		struct gt_html_id {
			uint32_t segment, id;
			bool kernel; /* a string: it is the name of a kernel */
		} * list;
		size_t n, cap;
		uint32_t **number;         /* by segment and id: 1 + index in list */
	} strings, tracks, stacks, frames; /* frames: by their texts */
	uint32_t **type_number;            /* by segment and type: 1 + index in types */
};
/* 0 or -ENOMEM; release it in both cases. */
int gt_html_lanes_init(struct gt_html_lanes *h, struct gt_reader *r, struct gt_err *err);
void gt_html_lanes_release(struct gt_html_lanes *h);
/* A gt_export_fn. Events come in order of time. */
int gt_html_lanes_put(void *lanes, const struct gt_event *ev);
/* Call it after the last event. 0 or negative. */
int gt_html_lanes_finish(struct gt_html_lanes *h);
/* 1 + the number of a string, track or stack in the page, which then has it; 0: none, or no memory,
 * with err set. */
uint32_t gt_html_id(struct gt_html_lanes *h, struct gt_html_ids *ids, uint32_t segment,
	uint32_t limit, uint64_t id);
void gt_html_zigzag(struct gt_buf *b, int64_t v);
/* Writes what is neither a column nor an argument as JSON: tracks, lanes, types, names. It adds the
 * tracks above those of lanes. */
void gt_html_head(struct gt_html_lanes *h, const struct gt_export_options *opt, struct gt_out *out);
#endif
