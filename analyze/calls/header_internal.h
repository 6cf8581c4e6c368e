/* Shared by header.c (the table of recordings and its notes), header_metadata.c (values of the
 * metadata), header_lines.c (the table as text) and header_damage.c (damage of the file). */
#ifndef GT_HEADER_INTERNAL_H
#define GT_HEADER_INTERNAL_H
#include "analyze/calls/metadata_notes.h"
#include "analyze/gpu/gpu_models.h"

/* Rows of a kind, and tracks of processes or threads, without what a second source recorded of
 * them. */
uint64_t gt_header_rows(
	const struct gt_report_state *a, const struct gt_segment *seg, unsigned kind);
uint64_t gt_header_tracks(
	const struct gt_report_state *a, const struct gt_segment *seg, unsigned kind);
bool gt_header_has_rows(const struct gt_segment *seg);
uint64_t gt_header_span(const struct gt_segment *seg); /* ns from its first to its last row */

/* ---- metadata ---- */

/* Keys of the recorder that the header shows. */
enum gt_header_key {
	GT_HEADER_COMMAND,
	GT_HEADER_START,
	GT_HEADER_DRIVER,
	GT_HEADER_CUDA,
	GT_HEADER_EVENTS,
	GT_HEADER_ARGS,
	GT_HEADER_TOOL,
	GT_HEADER_DURATION,
	GT_HEADER_DELAY,
	GT_HEADER_LIMIT,
	GT_HEADER_RANGE,
	GT_HEADER_KEYS
};
struct gt_header_metadata {
	struct gt_metadata_notes notes;
	char *values[GT_HEADER_KEYS];  /* NULL: not in the metadata */
	char gpus[GT_GPU_MODELS_TEXT]; /* "2 x NVIDIA H200" */
	struct gt_gpu_models models;
};
/* Reads the values, and notes in t those that make figures unreliable. 0 or negative. Release in
 * both cases. */
int gt_header_metadata_read(struct gt_header_metadata *m, const struct gt_report_state *a,
	const struct gt_segment *seg, struct gt_table *t);
/* ns that the recorder recorded of the run, after --delay and --duration. -1: unknown. */
int64_t gt_header_recorded_ns(const struct gt_header_metadata *m);
void gt_header_metadata_release(struct gt_header_metadata *m);

/* ---- damage ---- */

struct gt_header_damage {
	uint64_t places, rows;
};
struct gt_header_damage gt_header_damage_of(struct gt_reader *r, uint32_t segment);
/* The table "damage". NULL: nothing is damaged, or no memory. */
struct gt_table *gt_header_damage_table(const struct gt_report_state *a);

/* ---- text ---- */

struct gt_header_lines { /* as last printed; NULL: not printed yet */
	char *command, *machine;
};
/* Adds the lines of one recording. Ranks are mostly alike: a line equal to that of the rank before
 * is left out, but for the start time. layers, sources: names of the recorded ones. */
void gt_header_lines_add(struct gt_header_lines *last, struct gt_table *t,
	const struct gt_report_state *a, const struct gt_segment *seg,
	const struct gt_header_metadata *m, const char *layers, const char *sources);
void gt_header_lines_release(struct gt_header_lines *last);
#endif
