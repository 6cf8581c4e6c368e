/* Sequences of launches that repeat on a stream. Occurrences are counted from the left and do not
 * overlap. Memory is bounded: beyond GT_SEQUENCES_MAX the sequences that occurred once are dropped;
 * if one occurs again, it counts as new. */
#ifndef GT_SEQUENCES_H
#define GT_SEQUENCES_H
#include "formats/base/err.h"
#include "formats/base/map.h"

#define GT_SEQUENCE_SHORTEST 3
#define GT_SEQUENCE_LONGEST 8
#define GT_SEQUENCE_ENDS 8u         /* launches that wait for their prefetched memory */
#define GT_SEQUENCES_MAX (1u << 17) /* 20 MiB */

struct gt_sequence_launch {
	uint32_t name;
	int64_t at;
	uint64_t call_ns;
};
/* rings of the last launches of a stream. Zeroed: empty */
struct gt_sequence_tail {
	/* launches so far; sequences begin at `since` or later */
	uint64_t n, since;
	uint32_t names[GT_SEQUENCE_LONGEST];
	int64_t at[GT_SEQUENCE_LONGEST];
	uint64_t call_ns[GT_SEQUENCE_LONGEST];
};
struct gt_sequence {
	uint32_t stream, n;                  /* n: number of launches */
	uint32_t names[GT_SEQUENCE_LONGEST]; /* the last n of them */
	/* first occurrence, and end of the last one, as indices of launches on the stream */
	uint64_t first, count, end;
	uint64_t call_ns; /* sum over all occurrences */
	int64_t first_at;
};
struct gt_sequences {                     /* zeroed: empty */
	struct gt_sequence *list;         /* complete only after gt_sequences_select */
	size_t n, nlist, cap;             /* n: of all sequences */
	size_t nsettled;                  /* the first ones in the list, which are never dropped */
	struct gt_sequence_chain *chains; /* sequences that are not in the list */
	size_t nchains, chains_cap;
	struct gt_map settled, map; /* maps of the settled ones, and of all others */
	/* launches that are not counted yet */
	struct gt_sequence_end {
		uint32_t stream;
		bool known;
		uint64_t hash; /* of the shortest sequence; known: there is one */
		struct gt_sequence_tail tail;
	} ends[GT_SEQUENCE_ENDS]; /* a ring */
	uint64_t nends, counted;  /* so far */
	/* sequences that were dropped; occurrences that were not counted */
	uint64_t forgotten, missed;
	bool crowded; /* dropping frees too little memory */
};

/* Adds a launch on a stream; the caller chooses the numbers of streams and names. */
int gt_sequences_add(struct gt_sequences *q, struct gt_sequence_tail *stream, uint32_t number,
	const struct gt_sequence_launch *launch, struct gt_err *err);
/* No sequence includes launches both before and after this moment. */
static inline void gt_sequences_break(struct gt_sequence_tail *stream)
{
	stream->since = stream->n;
}
/* After the last launch: selects the sequences to report, best first. Left out are sequences of one
 * name (a run), and repetitions of a shorter sequence. The others are sorted by the number of
 * launches that they cover (then the shorter one, then the lower stream number, then the earlier
 * one). A sequence that has three launches in a row in common with a better one on the same stream,
 * or with two occurrences of it one after the other, is left out: it is the same work, shifted. */
int gt_sequences_select(struct gt_sequences *q, struct gt_err *err);
void gt_sequences_release(struct gt_sequences *q);
#endif
