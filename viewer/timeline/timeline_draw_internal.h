/* Shared by the files that draw parts of a frame: timeline_draw.c (lanes, axis, missing data),
 * timeline_samples.c (lines of samples), overview_draw.c (the whole run) and timeline_text.c
 * (title, details, status). */
#ifndef GT_TIMELINE_DRAW_INTERNAL_H
#define GT_TIMELINE_DRAW_INTERNAL_H
#include "viewer/timeline/timeline_draw.h"
#include "viewer/util/number_text.h"

#define MIDDLE_DOT 0xb7
#define LINE_DOWN 0x2502
#define LINE_ACROSS 0x2500

/* of damaged, lost and unread data */
extern const struct gt_look gt_hole_look;

/* Draws a cell; eighths: its height. */
void gt_cell_draw(
	struct gt_screen *to, int x, int y, const struct gt_cell_sums *c, unsigned eighths);
/* The character of a cell of that height. Without colours, communication is shaded. */
uint32_t gt_cell_glyph(const struct gt_screen *to, unsigned category, unsigned eighths);
/* A counter's name says whether it counts bytes; its samples are plain numbers. */
bool gt_counts_bytes(const struct gt_picture *p, const struct gt_lane_line *line);
/* ns of the visible time within the trace; at least 1 */
uint64_t gt_visible_ns(const struct gt_picture *p);
/* Is the cursor in a line that is shown? */
bool gt_picture_has_cursor(const struct gt_picture *p);

/* timeline_samples.c: lines whose events are samples. */
void gt_sample_line_draw(const struct gt_picture *p, const struct gt_lane_line *line,
	const struct gt_cell_sums *cells, int y, struct gt_screen *to);
/* The number of samples in the visible time, or about which share of it the thread runs. */
void gt_sample_line_figure(const struct gt_picture *p, const struct gt_lane_line *line,
	const struct gt_cell_sums *cells, char to[GT_BRIEF + 1]);
/* A cell of such a line in words. width: ns of the cell. Returns the number of columns. */
int gt_sample_line_words(const struct gt_lane_line *line, const struct gt_cell_sums *c,
	uint64_t width, int y, int x, struct gt_screen *to);

/* overview_draw.c */
void gt_overview_draw(const struct gt_picture *p, struct gt_screen *to);
/* Marks the visible part of the whole run with a bracket, or with a background colour if the
 * bracket has no line. */
void gt_bracket_draw(const struct gt_picture *p, struct gt_screen *to);

/* timeline_text.c */
void gt_title_draw(const struct gt_picture *p, struct gt_screen *to);
/* The cell at the cursor. */
void gt_detail_draw(const struct gt_picture *p, struct gt_screen *to);
/* The most important first: a narrow terminal shows the beginning. */
void gt_status_draw(const struct gt_picture *p, struct gt_screen *to);
#endif
