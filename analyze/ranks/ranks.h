/* Opens several files that are ranks of one run, names them, and reads them as one trace. */
#ifndef GT_RANKS_H
#define GT_RANKS_H
#include "formats/trace/read/reader.h"

struct gt_rank {
	const char *path;         /* as given; borrowed */
	struct gt_reader *reader; /* NULL: not read, for one of the following reasons */
	struct gt_err err;        /* the file cannot be read */
	const char *same;         /* path of the same file or of a copy, which counts instead */
	uint32_t first;           /* index of its first recording in `all` */
	long long number;         /* of the rank, from the recording; -1: unknown */
	char *label, *called;
};
/* The names of a recording. */
struct gt_rank_name {
	const char *file;
	/* short: "3", or the part of the path that differs; "3 (1)": the second recording in its
	 * file */
	const char *label;
	const char *called; /* in a sentence: "rank 3"; if the number is unknown, as label */
};
struct gt_ranks {
	/* files that are read come first: by number if all have one, else as given */
	struct gt_rank *list;
	size_t n, nread;
	bool numbered;              /* their names are numbers */
	struct gt_reader *all;      /* the files that are read, as one; NULL: none */
	struct gt_rank_name *names; /* by recording of `all` */
	const char **labels;        /* the same, labels only */
	char **texts;               /* owned names of files with several recordings */
	size_t ntexts, texts_cap;
};
/* Opens all files, on up to `threads` threads. A file that cannot be read does not stop the
 * others: its err says why. Returns 0, or negative if there is no memory. Release in both cases. */
int gt_ranks_open(
	struct gt_ranks *ranks, char *const *paths, size_t n, unsigned threads, struct gt_err *err);
void gt_ranks_release(struct gt_ranks *ranks);
#endif
