/* Files of speedscope: what its two passes (import_speedscope.c) and the rows of its profiles
 * (import_speedscope_rows.c) share. */
#ifndef GT_IMPORT_SPEEDSCOPE_H
#define GT_IMPORT_SPEEDSCOPE_H
#include "formats/base/buf.h"
#include "formats/import/import_profile.h"
#include "formats/io/json_scan.h"
#include "formats/io/sorter.h"

#define GT_SPEEDSCOPE_FRAMES_MAX (1u << 20) /* of the file; more are an error */

enum gt_speedscope_type { GT_SPEEDSCOPE_OTHER, GT_SPEEDSCOPE_EVENTED, GT_SPEEDSCOPE_SAMPLED };
struct gt_speedscope_frame {
	uint32_t name, file;   /* strings of the writer; GT_NONE: unknown */
	uint32_t row_name;     /* of gt_rows_name, plus 1; 0: not used yet */
	uint32_t place;        /* the string for stacks, plus 1; 0: not used yet */
	uint32_t line, column; /* 0: unknown */
};
struct gt_speedscope_profile {
	uint32_t name; /* string of the writer; GT_NONE: none */
	uint8_t type;  /* enum gt_speedscope_type */
	int8_t scale;  /* a value times 10^scale is ns; -1: its unit is no time */
	char unit[16];
};
struct gt_speedscope_open { /* a function that runs */
	int64_t at;         /* ns */
	uint32_t frame;
};
struct gt_speedscope {
	struct gt_import_rows *rows;
	struct gt_writer *w;
	struct gt_err *err;
	struct gt_speedscope_frame *frames;
	size_t nframes, frames_cap;
	struct gt_speedscope_profile *profiles;
	size_t nprofiles, profiles_cap;
	struct gt_speedscope_open *open; /* of the current profile */
	size_t nopen, open_cap;
	uint32_t *stack; /* of the current sample */
	size_t stack_cap;
	uint32_t track;       /* of the current profile */
	struct gt_buf unread; /* names of profiles that are not read */
	uint64_t nread;       /* profiles */
	bool has_frames, truncated;
	/* notes: events or samples of an unknown form; without a valid time; stacks */
	uint64_t not_understood, no_time, negative, stacks_left_out;
};

/* These read one array of a profile, whose bracket the scanner has returned: the events of an
 * evented profile, which become rows; the samples or the weights of a sampled one, which are put
 * into the sorter until gt_speedscope_put_samples makes rows of them. 0 or negative. */
int gt_speedscope_events(
	struct gt_speedscope *s, struct gt_json *j, const struct gt_speedscope_profile *p);
int gt_speedscope_samples(struct gt_speedscope *s, struct gt_json *j, struct gt_sorter *to);
int gt_speedscope_weights(struct gt_speedscope *s, struct gt_json *j,
	const struct gt_speedscope_profile *p, struct gt_sorter *to);
int gt_speedscope_put_samples(struct gt_speedscope *s, int64_t start, struct gt_sorter *from);
/* The number that the scanner returned, times 10^scale, as ns. False: it is no time that a trace
 * can have. */
bool gt_speedscope_time(const struct gt_json *j, int token, int scale, int64_t *ns);
/* 0 or negative; release it in both cases. */
int gt_speedscope_sorter_init(struct gt_sorter *to, struct gt_err *err);
#endif
