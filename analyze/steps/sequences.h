/* Sequences of launches that come back on a stream. How often one occurs is counted from the left,
 * and no two occurrences overlap. Memory is bounded: beyond GT_SEQUENCES_MAX those that were met
 * once only are forgotten, and if one of them comes again it is new. */
#ifndef GT_SEQUENCES_H
#define GT_SEQUENCES_H
#include "formats/base/err.h"
#include "formats/base/map.h"

#define GT_SEQUENCE_SHORTEST 3
#define GT_SEQUENCE_LONGEST 8
#define GT_SEQUENCE_ENDS 8u         /* launches that wait until what they need was fetched */
#define GT_SEQUENCES_MAX (1u << 17) /* in 20 MiB */

struct gt_sequence_launch {
	uint32_t name;
	int64_t at;
	uint64_t call_ns;
};
/* the launches of a stream that came last, in rings. Zero-initialised: none */
struct gt_sequence_tail {
	/* launches so far; those before `since` cannot be part of a sequence any more */
	uint64_t n, since;
	uint32_t names[GT_SEQUENCE_LONGEST];
	int64_t at[GT_SEQUENCE_LONGEST];
	uint64_t call_ns[GT_SEQUENCE_LONGEST];
};
struct gt_sequence {
	uint32_t stream, n;                  /* n: of how many launches */
	uint32_t names[GT_SEQUENCE_LONGEST]; /* the last n of them */
	/* first occurrence and end of the last one, as numbers of launches on the stream */
	uint64_t first, count, end;
	uint64_t call_ns; /* sum over all occurrences */
	int64_t first_at;
};
struct gt_sequences {                     /* zero-initialised: empty */
	struct gt_sequence *list;         /* complete only after gt_sequences_select */
	size_t n, nlist, cap;             /* n: of all sequences */
	size_t nsettled;                  /* the first ones in the list, which stay */
	struct gt_sequence_chain *chains; /* those that are not in the list */
	size_t nchains, chains_cap;
	struct gt_map settled, map; /* where those are found; and all others */
	/* the last launch of these streams is still to be counted */
	struct gt_sequence_end {
		uint32_t stream;
		bool known;
		uint64_t hash; /* of the shortest sequence; known: there is one */
		struct gt_sequence_tail tail;
	} ends[GT_SEQUENCE_ENDS]; /* a ring */
	uint64_t nends, counted;  /* so far */
	/* sequences that were forgotten; occurrences for which there was no room at all */
	uint64_t forgotten, missed;
	bool crowded; /* forgetting makes too little room */
};

/* One more launch on a stream, whose number and name are the caller's. */
int gt_sequences_add(struct gt_sequences *q, struct gt_sequence_tail *stream, uint32_t number,
	const struct gt_sequence_launch *launch, struct gt_err *err);
/* What comes next on the stream makes no sequence with what came so far. */
static inline void gt_sequences_break(struct gt_sequence_tail *stream)
{
	stream->since = stream->n;
}
/* No more launches: leaves those in the list that say something, best first. Of one name only is a
 * run, and a shorter one repeated says nothing new: neither stays. Of the others the one that
 * covers most launches comes first (then the shorter one, then the stream with the lower number,
 * then the one met first). One that has three launches in a row in common with one above it on the
 * same stream, or with that one behind itself, goes: it is the same work again, shifted. */
int gt_sequences_select(struct gt_sequences *q, struct gt_err *err);
void gt_sequences_release(struct gt_sequences *q);
#endif
