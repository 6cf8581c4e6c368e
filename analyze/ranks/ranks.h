/* Several files that are ranks of one run: opened side by side, told apart by name, and read as one trace. */
#ifndef GT_RANKS_H
#define GT_RANKS_H
#include "formats/trace/read/reader.h"

struct gt_rank {
	const char *path;		/* as given; borrowed */
	struct gt_reader *reader;	/* NULL: it is not looked at, because of one of these */
	struct gt_err err;		/* it cannot be read */
	const char *same;		/* it is the file of that path, or a copy: counted once */
	uint32_t first;			/* index of its first recording among all */
	long long number;		/* of the rank, as recorded; -1: unknown */
	char *label, *called;
};
/* What a recording goes by. */
struct gt_rank_name {
	const char *file;
	const char *label;		/* short: "3", or what tells the file from the others; "3 (1)": the second in its file */
	const char *called;		/* in a sentence: "rank 3"; where that is not known as label */
};
struct gt_ranks {
	struct gt_rank *list;		/* those that are read stand first: by number where all have one, else as given */
	size_t n, nread;
	bool numbered;			/* they go by their numbers */
	struct gt_reader *all;		/* those that are read, as one; NULL: there are none */
	struct gt_rank_name *names;	/* by recording of `all` */
	const char **labels;		/* the same, labels only */
	char **texts;			/* owned, behind the names of files with several recordings */
	size_t ntexts, texts_cap;
};
/* Opens all of them, on several threads if told. A file that cannot be read does not keep the others from being: its err says why. 0, or
 * negative where there is no memory. To be released in both cases. */
int gt_ranks_open(struct gt_ranks *ranks, char *const *paths, size_t n, unsigned threads, struct gt_err *err);
void gt_ranks_release(struct gt_ranks *ranks);
#endif
