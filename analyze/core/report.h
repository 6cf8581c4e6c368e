/* Helpers that most reports share: cells, notes, shares, times, and columns that say where
 * something happened. */
#ifndef GT_REPORT_H
#define GT_REPORT_H
#include "analyze/core/analysis.h"
#include "analyze/columns/top_n.h"

struct gt_buf;

/* The state of a report that only needs these two, or the head of a larger state. */
struct gt_report_state {
	struct gt_reader *reader;
	const struct gt_analysis_options *opt;
};
/* Reads the trace again: fn gets each run that the filter selects, one after the other. 0 or
 * negative. */
typedef int gt_run_fn(void *arg, const struct gt_cols *cols, struct gt_err *err);
int gt_reread_trace(struct gt_reader *r, const struct gt_filter *filter, enum gt_order order,
	gt_run_fn *fn, void *arg, struct gt_err *err);
int gt_report_state_init(void *state, struct gt_reader *r, const struct gt_analysis_options *opt,
	struct gt_err *err);

/* --spark: reports with a histogram per row draw it beside the name (text_bars.h). */
extern const struct gt_option_row gt_spark_option, gt_by_id_option;
/* --by: of query and histogram the fields to group by; of other reports a part of call stacks
 * (analyze/stacks/by_stack.h). */
#define GT_QUERY_HEADING "Options of query and histogram"
extern const struct gt_option_row gt_by_option;

/* Cells. Figures beyond INT64_MAX become INT64_MAX. */
static inline int64_t gt_clamp(uint64_t v) { return v > INT64_MAX ? INT64_MAX : (int64_t)v; }
static inline struct gt_cell gt_cell_text(const char *s) { return (struct gt_cell){ .s = s }; }
static inline struct gt_cell gt_cell_u(uint64_t v) { return (struct gt_cell){ .i = gt_clamp(v) }; }
static inline struct gt_cell gt_cell_i(int64_t v) { return (struct gt_cell){ .i = v }; }
static inline struct gt_cell gt_cell_none(void) { return (struct gt_cell){ .absent = true }; }
/* Of GT_C_DATA. */
static inline struct gt_cell gt_cell_bool(bool v)
{
	return (struct gt_cell){ .s = v ? "true" : "false" };
}
/* Adds to the JSON list in `to` (a gt_out in memory; at first empty), and ends it. */
void gt_add_to_list(struct gt_out *to, const char *text, size_t len);
void gt_end_list(struct gt_out *to);
/* The parts of a text between these separators, as such a list. */
void gt_put_list(struct gt_out *to, const char *text, const char *separator);
static inline struct gt_cell gt_cell_toned(struct gt_cell cell, enum gt_tone tone)
{
	cell.tone = tone;
	return cell;
}
/* A count that should be 0, such as failures: shown in red otherwise. */
static inline struct gt_cell gt_cell_faults(uint64_t n)
{
	return gt_cell_toned(gt_cell_u(n), n ? GT_TONE_BAD : GT_TONE_NONE);
}
/* An absent figure, for which text shows the reason `why`; the cell copies it. */
static inline struct gt_cell gt_cell_missing(const char *why)
{
	return (struct gt_cell){ .absent = true, .s = why };
}
static inline struct gt_cell gt_cell_known(bool known, uint64_t v)
{
	return known ? gt_cell_u(v) : gt_cell_none();
}

/* The prefix of a note on one of several recordings: "rank 3: ", "b.zst: ", "recording 1: ".
 * Empty for a single one. */
struct gt_recording_prefix {
	char text[160];
};
struct gt_recording_prefix gt_recording_prefix(
	const struct gt_report_state *a, const struct gt_segment *seg);
/* A note on one recording. fmt is a literal. */
#define gt_note_recording(a, seg, t, fmt, ...)                                                     \
	gt_table_note(t, "%s" fmt, gt_recording_prefix(a, seg).text, ##__VA_ARGS__)

/* The name of a device in a sentence: "GPU 0 of rank 3", "GPU 1 of process 617". track: of a
 * device. */
struct gt_gpu_label {
	char text[128];
};
struct gt_gpu_label gt_gpu_label_of(
	const struct gt_report_state *a, const struct gt_segment *seg, uint32_t track);

/* How many of n rows a table shows under --top: at most GT_TOP_N_MAX, since tables are in
 * memory. */
static inline size_t gt_rows_shown(size_t n, unsigned top)
{
	size_t most = top && top < GT_TOP_N_MAX ? top : GT_TOP_N_MAX;

	return n < most ? n : most;
}
/* Writes text with each {one|many} replaced by the form for n: "{row is|rows are} left out". */
void gt_put_plural(struct gt_buf *to, const char *text, uint64_t n);
/* Adds a note whose fmt has such forms: "%llu {row is|rows are} left out". Braces must not
 * contain conversions. No note if n is 0. */
void gt_note_plural(struct gt_table *t, uint64_t n, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Notes that rows have no call, or a call matched by order only. all: number of rows; what:
 * "kernels"; figures: where rows without a call are missing: "in no row". */
void gt_note_joins(struct gt_table *t, uint64_t all, const char *what, uint64_t unjoined,
	const char *figures, uint64_t by_order);
/* Notes rows that could not be sorted by time (time_ordered.h). what: figures that depend on the
 * order, "busy times". */
void gt_note_unordered(struct gt_table *t, uint64_t late, const char *what);
/* as gt_table_note_cut, also if memory bounds the list */
void gt_note_top_n(struct gt_table *t, const struct gt_top_n *keep);
/* Notes that no row matches the options, and what the file has: times, processes, threads,
 * names. */
void gt_note_no_rows(struct gt_table *t, const struct gt_report_state *a);
/* shares[i] = parts[i] as hundredths of a percent of the sum of parts. The shares add up to
 * exactly 10000 (largest remainder). All 0 if the sum is 0. Returns 0 or -ENOMEM. */
int gt_compute_shares(const uint64_t *parts, size_t n, int64_t *shares, struct gt_err *err);
/* The same for the uint64_t at `offset` of each of n structs of `size` bytes. The caller frees the
 * result. NULL: err. */
int64_t *gt_new_shares(const void *list, size_t n, size_t size, size_t offset, struct gt_err *err);
#define GT_NEW_SHARES(list, n, member, err)                                                        \
	gt_new_shares(list, n, sizeof(*(list)), offsetof(__typeof__(*(list)), member), err)
/* part of whole in hundredths of a percent, rounded; absent if whole is 0. */
struct gt_cell gt_cell_share(uint64_t part, uint64_t whole);

/* The time that the printed times of a recording count from; and a time relative to it, clamped
 * to 64 bits. */
int64_t gt_origin(
	const struct gt_analysis_options *opt, struct gt_reader *r, const struct gt_segment *seg);
static inline int64_t gt_subtract_origin(int64_t at, int64_t origin)
{
	int64_t since;

	return !__builtin_sub_overflow(at, origin, &since) ? since
		: at < origin                              ? INT64_MIN
							   : INT64_MAX;
}
/* A time as printed: relative to the origin of its recording. */
int64_t gt_time_since_origin(
	const struct gt_report_state *a, const struct gt_segment *seg, int64_t at);
/* ns since the origin up to which the segment is complete. Of one that its recorder has not closed
 * never negative, although all its rows may be later. */
int64_t gt_complete_since_origin(const struct gt_report_state *a, const struct gt_segment *seg);
static inline struct gt_cell gt_cell_time(
	const struct gt_report_state *a, const struct gt_segment *seg, int64_t at)
{
	return gt_cell_i(gt_time_since_origin(a, seg, at));
}
/* ns: the duration of the segment, cut to --from and --to. */
uint64_t gt_span_of(const struct gt_analysis_options *opt, const struct gt_segment *seg);

/* Was this layer (enum gt_layer) recorded, in this segment or in any? It was if the segment
 * declares types of it, or if the recorder traced the whole layer and a process connected. What
 * was not recorded is absent from tables, never 0. */
bool gt_is_recorded_in(const struct gt_segment *seg, unsigned layer);
/* gpu_source in the metadata of a recording with -e gpu: does it say that no source was available?
 */
bool gt_no_gpu_source(const char *value);
bool gt_is_recorded(struct gt_reader *r, unsigned layer);
/* Were the states of threads off the processor recorded (formats/trace/write/sched_rows.h)? */
bool gt_has_thread_states(struct gt_reader *r);
/* Were running threads sampled (GT_OP_SAMPLE)? */
bool gt_has_samples(struct gt_reader *r);
/* did the recorder or a copy leave names out? A 0 is then ambiguous */
bool gt_has_name_filter(struct gt_reader *r);
/* did another tool record any of it? gtcollect's options then do not help against missing data */
bool gt_is_imported(struct gt_reader *r);
/* is it only from files of other tools, without calls of CUDA, ioctls or GPU work? */
bool gt_is_without_cuda(struct gt_reader *r);
/* Did gtexport --max-size merge events, which then are in no figure? */
bool gt_is_merged(const struct gt_reader *r);
/* Are collectives the only GPU work that was recorded (gpu_work in the metadata)? What else GPUs
 * did, and when they were idle, is then unknown. */
bool gt_has_only_collectives(const struct gt_reader *r);
const char *gt_direction_text(uint64_t direction); /* "host to device", ...; "unknown" */
/* Do the options leave no row of any kind? false if the only reason is that the selected time
 * range is idle. */
bool gt_is_selection_empty(const struct gt_report_state *a);
/* Why there is no figure of this layer (GT_LAYER_COUNT: any but the GPU) and operation
 * (GT_OP_NONE: any): the options leave out all such rows. NULL: they do not. Rows that are
 * filtered out are absent from tables, never 0. */
const char *gt_why_filtered_out(const struct gt_report_state *a, unsigned layer, unsigned op);

/* Columns that say where something happened: recording (segment), pid, process; then device,
 * stream, or tid and thread. Tables of files with one segment omit the first column
 * (gt_report_table). */
#define GT_WHERE_PROCESS                                                                           \
	{ "recording", "Recording", GT_C_COUNT }, { "pid", "PID", GT_C_COUNT },                    \
	{                                                                                          \
		"process", "Process", GT_C_TEXT                                                    \
	}
/* Four columns: the process and its GPU. Five: also the stream. */
#define GT_WHERE_DEVICE                                                                            \
	GT_WHERE_PROCESS, { "device", "Device", GT_C_COUNT }
#define GT_WHERE_STREAM                                                                            \
	GT_WHERE_DEVICE, { "stream", "Stream", GT_C_COUNT }
#define GT_WHERE_THREAD                                                                            \
	{ "tid", "TID", GT_C_COUNT }, { "thread", "Thread", GT_C_TEXT }
/* Compares two tracks in the order of the file, for qsort. 0: the same track. */
static inline int gt_by_place(
	const struct gt_segment *a, uint32_t track_a, const struct gt_segment *b, uint32_t track_b)
{
	if (a != b)
		return a->index < b->index ? -1 : 1;
	return (track_a > track_b) - (track_a < track_b);
}
/* Likewise for streams: by device, the device before its streams, those by id. device: the track
 * of the device, or its stand-in if there is none. */
int gt_by_stream(const struct gt_segment *a, uint32_t device_a, uint32_t track_a,
	const struct gt_segment *b, uint32_t device_b, uint32_t track_b);
void gt_where_process(struct gt_cell cells[3], const struct gt_segment *seg, uint32_t process);
/* track: a device or one below it. A stand-in for an unrecorded device has no number. */
void gt_where_device(struct gt_cell cells[4], const struct gt_segment *seg, uint32_t track);
/* track: a device: all its streams */
void gt_where_stream(struct gt_cell cells[5], const struct gt_segment *seg, uint32_t track);
void gt_where_thread(struct gt_cell cells[2], const struct gt_segment *seg, uint32_t track);
static inline unsigned gt_where_skip(struct gt_reader *r)
{
	return gt_reader_segments(r) > 1 ? 0 : 1;
}
/* A table of a report. If its first column is the recording, and the file has only one, the table
 * omits it and ignores the first cell of each row. hideable_keys: gt_table_set_hideable, or NULL.
 * The caller owns the table. NULL with err filled in. */
struct gt_table *gt_report_table(const struct gt_report_state *a, const char *name,
	const char *title, const struct gt_column *columns, size_t ncolumns,
	const char *hideable_keys, struct gt_err *err);
#endif
