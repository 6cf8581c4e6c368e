/* Small things that most reports do the same way. */
#ifndef GT_REPORT_H
#define GT_REPORT_H
#include "analyze/core/analysis.h"
#include "analyze/columns/top_n.h"

struct gt_buf;

/* The state, or its head, of a report that keeps only what it was given. */
struct gt_report_state { struct gt_reader *reader; const struct gt_analysis_options *opt; };
int gt_report_state_init(void *state, struct gt_reader *r, const struct gt_analysis_options *opt, struct gt_err *err);

/* Cells. Figures beyond INT64_MAX print as INT64_MAX. */
static inline int64_t gt_clamp(uint64_t v) { return v > INT64_MAX ? INT64_MAX : (int64_t)v; }
static inline struct gt_cell gt_cell_text(const char *s) { return (struct gt_cell){ .s = s }; }
static inline struct gt_cell gt_cell_u(uint64_t v) { return (struct gt_cell){ .i = gt_clamp(v) }; }
static inline struct gt_cell gt_cell_i(int64_t v) { return (struct gt_cell){ .i = v }; }
static inline struct gt_cell gt_cell_none(void) { return (struct gt_cell){ .absent = true }; }
static inline struct gt_cell gt_cell_toned(struct gt_cell cell, enum gt_tone tone) { cell.tone = tone; return cell; }
/* How many failed, or what else should be 0: it catches the eye where it is not. */
static inline struct gt_cell gt_cell_faults(uint64_t n) { return gt_cell_toned(gt_cell_u(n), n ? GT_TONE_BAD : GT_TONE_NONE); }
/* Text says why there is no figure; `why` is copied with the cell. */
static inline struct gt_cell gt_cell_missing(const char *why) { return (struct gt_cell){ .absent = true, .s = why }; }
static inline struct gt_cell gt_cell_known(bool known, uint64_t v) { return known ? gt_cell_u(v) : gt_cell_none(); }

/* What begins a note on one recording, where there are several: "rank 3: ", "b.zst: ", "recording 1: ". */
struct gt_recording_prefix { char text[160]; };
struct gt_recording_prefix gt_recording_prefix(const struct gt_report_state *a, const struct gt_segment *seg);

/* "GPU 0 of rank 3", "GPU 1 of process 617": what the track, of a device, goes by in a sentence. */
struct gt_gpu_label { char text[128]; };
struct gt_gpu_label gt_gpu_label_of(const struct gt_report_state *a, const struct gt_segment *seg, uint32_t track);

/* How many of n rows a table shows under --top; GT_TOP_N_MAX at most, since tables are held in memory. */
static inline size_t gt_rows_shown(size_t n, unsigned top)
{
	size_t most = top && top < GT_TOP_N_MAX ? top : GT_TOP_N_MAX;

	return n < most ? n : most;
}
/* Words by number: of each {one|many} in text that which fits n, so that "{row is|rows are} left out" reads well of any. */
void gt_put_plural(struct gt_buf *to, const char *text, uint64_t n);
/* A note in which fmt is such a text: "%llu {row is|rows are} left out"; no conversion stands within braces. */
void gt_note_plural(struct gt_table *t, uint64_t n, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* That some rows are joined to no call, or by order only. all: how many rows there are; what: "kernels"; figures: where those without a
 * call are not: "in no row". */
void gt_note_joins(struct gt_table *t, uint64_t all, const char *what, uint64_t unjoined, const char *figures, uint64_t by_order);
/* Says so where rows could not be put in order (time_ordered.h); what: the figures that hang on that order, "busy times". */
void gt_note_unordered(struct gt_table *t, uint64_t late, const char *what);
void gt_note_top_n(struct gt_table *t, const struct gt_top_n *keep);	/* as gt_table_note_cut, where memory bounds it, too */
/* Notes that nothing matched the options, and what there is: times, processes, threads, names. */
void gt_note_no_rows(struct gt_table *t, const struct gt_report_state *a);
/* shares[i] = hundredths of a percent that parts[i] is of their sum; they add up to exactly 10000 (largest remainder).
 * All 0 when the sum is 0. 0 or -ENOMEM. */
int gt_compute_shares(const uint64_t *parts, size_t n, int64_t *shares, struct gt_err *err);
/* part of whole in hundredths of a percent, rounded; absent when whole is 0. */
struct gt_cell gt_cell_share(uint64_t part, uint64_t whole);

/* Where times of a recording count from, for who asks for many; and such a time, or the end of what a number can be. */
int64_t gt_origin(const struct gt_analysis_options *opt, struct gt_reader *r, const struct gt_segment *seg);
static inline int64_t gt_subtract_origin(int64_t at, int64_t origin)
{
	int64_t since;

	return !__builtin_sub_overflow(at, origin, &since) ? since : at < origin ? INT64_MIN : INT64_MAX;
}
/* A time as printed: since the origin that times of its recording count from. */
int64_t gt_time_since_origin(const struct gt_analysis_options *opt, struct gt_reader *r, const struct gt_segment *seg, int64_t at);
/* The time that was looked at: the segment's extent, cut to --from and --to. ns. */
uint64_t gt_span_of(const struct gt_analysis_options *opt, const struct gt_segment *seg);

/* Was this layer (enum gt_layer) looked at, in this segment or in any? It was where types of it are declared, and where the
 * recorder was told to look at all of it and somebody came to be looked at. What was not recorded is absent from tables,
 * never 0. */
bool gt_is_recorded_in(const struct gt_segment *seg, unsigned layer);
bool gt_no_gpu_source(const char *value);	/* gpu_source in the metadata of a recording with -e gpu: was there none? */
bool gt_is_recorded(struct gt_reader *r, unsigned layer);
bool gt_has_name_filter(struct gt_reader *r);	/* were names left out, by the recorder or a copy? Then a 0 may mean either */
bool gt_is_imported(struct gt_reader *r);	/* is any of it another tool's? Then gtcollect's options are no remedy for what is missing */
const char *gt_direction_text(uint64_t direction);	/* "host to device" and its like; "unknown" */
/* Do the options leave no row of any kind, for another reason than that nothing happened in the time they choose? */
bool gt_is_selection_empty(const struct gt_report_state *a);
/* Why there can be no figure of this layer (GT_LAYER_COUNT: any but the GPU) and operation (GT_OP_NONE: any): the options left all
 * such rows out. NULL: they did not. What was filtered away is absent from tables, never 0. */
const char *gt_why_filtered_out(const struct gt_report_state *a, unsigned layer, unsigned op);

/* Where something happened, as columns: recording (which segment), pid, process; and device, stream, or tid and thread. Tables of files with
 * one segment leave the first out: pass columns and cells from gt_where_skip(r) on. */
#define GT_WHERE_PROCESS { "recording", "Recording", GT_C_COUNT }, { "pid", "PID", GT_C_COUNT }, { "process", "Process", GT_C_TEXT }
/* Four: the process, and its GPU. Five: and the stream. */
#define GT_WHERE_DEVICE GT_WHERE_PROCESS, { "device", "Device", GT_C_COUNT }
#define GT_WHERE_STREAM GT_WHERE_DEVICE, { "stream", "Stream", GT_C_COUNT }
#define GT_WHERE_THREAD { "tid", "TID", GT_C_COUNT }, { "thread", "Thread", GT_C_TEXT }
/* In order of the file: which of two places comes first, as qsort wants it; 0: they are one. */
static inline int gt_by_place(const struct gt_segment *a, uint32_t track_a, const struct gt_segment *b, uint32_t track_b)
{
	if (a != b)
		return a->index < b->index ? -1 : 1;
	return (track_a > track_b) - (track_a < track_b);
}
/* Likewise devices, each before its streams, those by their id. device: the track of the track's, or what stands in its place. */
int gt_by_stream(const struct gt_segment *a, uint32_t device_a, uint32_t track_a, const struct gt_segment *b, uint32_t device_b,
		 uint32_t track_b);
void gt_where_process(struct gt_cell cells[3], const struct gt_segment *seg, uint32_t process);
/* track: the device's, or one below it; what stands in the place of a device that was not told of has no number. */
void gt_where_device(struct gt_cell cells[4], const struct gt_segment *seg, uint32_t track);
void gt_where_stream(struct gt_cell cells[5], const struct gt_segment *seg, uint32_t track);	/* of a device: all its streams */
void gt_where_thread(struct gt_cell cells[2], const struct gt_segment *seg, uint32_t track);
static inline unsigned gt_where_skip(struct gt_reader *r) { return gt_reader_segments(r) > 1 ? 0 : 1; }
#endif
