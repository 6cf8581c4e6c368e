/* A loop launches the same operations in the same order again and again. But loops are nested: a
 * step of a network is a loop over layers, and ten steps followed by a report are a loop, too. A
 * search for the best repetition finds the layers, or the ten steps. A step is between them: the
 * shortest loop that has all the usual work.
 *
 * Each symbol that occurs a few times is a candidate for an anchor: a symbol that occurs once per
 * period. Its occurrences divide the sequence into intervals. The most frequent interval, symbol by
 * symbol, is the usual one. Two figures decide whether it is a whole step:
 *
 * - regular: the share of all intervals that is in the usual one (compared as bags, because the
 * order may change), minus the symbols that they lack. Half a step fails, and so does the part of a
 * step before an inner loop.
 * - complete: of the different symbols that occur repeatedly, the share in the usual interval. A
 * layer fails: loss, optimizer and the next batch occur repeatedly and are in no usual layer. A
 * report at every tenth step adds only one or two symbols to dozens.
 *
 * Requests of different sizes run different kernels for the same work, so no interval is like most
 * others. If no anchor passes, the search is repeated leniently: an interval that shares a part of
 * its symbols with the usual one may have other symbols in place of the rest. Then lengths are
 * compared, and of the repeated symbols only those count that are added, not those that replace
 * another.
 *
 * Of the anchors that pass, those with the most occurrences win: ten steps pass like one step, but
 * there are fewer of them. There are at most CANDIDATES_MAX candidates, and one that fails by the
 * lengths of its intervals needs no pass over the sequence.
 *
 * A period may begin anywhere, but a step has a beginning: the first step begins where the symbols
 * before the first anchor differ from those before a usual anchor. */
#include "analyze/steps/period.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "formats/base/map.h"
#include "formats/base/sorted.h"

#define CANDIDATES_MAX 48u
#define PER_COUNT 3u /* candidates with the same number of occurrences */
#define SAMPLE 8192u /* intervals in which the usual one is searched */
#define SLOTS 16384u /* of their hash table: a power of two */
#define REGULAR 0.85
#define COMPLETE 0.80
/* lenient search: one in so many symbols must be the same */
#define SHARED 3u
/* smallest share of all symbols between the first and the last anchor */
#define COVERED 0.25
#define SAME_LOOP 0.80 /* ratio of the counts of two anchors of one loop */

struct symbol {
	uint32_t count, last, gap, even; /* even: gaps as long as the gap before */
	uint32_t usual;                  /* occurrences in the usual interval */
	uint32_t first;                  /* of its positions, in finder.positions */
	/* occurrences in the interval with this number, from 1 */
	uint32_t seen, stamp;
	/* intervals that have it, if the usual one does not */
	uint32_t not_in_usual;
};
struct finder {
	const uint32_t *list;
	size_t n;
	uint32_t nsymbols;
	struct symbol *symbols;
	uint32_t *positions; /* of all symbols, grouped by symbol */
	uint32_t *at;        /* positions of the current anchor */
	struct interval {
		uint64_t hash;
		uint32_t first, length, alike; /* alike: sampled intervals with this hash */
	} * sample;
	uint16_t *slots; /* hash table: 1 + index in sample */
	struct candidate {
		uint32_t symbol, count, even;
		bool fails; /* also in the lenient search */
	} candidates[CANDIDATES_MAX];
	uint32_t ncandidates;
	bool lenient; /* a symbol may be replaced by another */
};

static void list_positions(struct finder *f)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < f->nsymbols; i++) {
		f->symbols[i].first = at;
		at += f->symbols[i].count;
		f->symbols[i].seen = 0;
	}
	for (size_t i = 0; i < f->n; i++) {
		struct symbol *s = &f->symbols[f->list[i]];

		f->positions[s->first + s->seen++] = (uint32_t)i;
	}
}

static int prepare(struct finder *f, struct gt_err *err)
{
	f->symbols = calloc(f->nsymbols + 1ul, sizeof(*f->symbols));
	f->positions = malloc((f->n + 1ul) * sizeof(*f->positions));
	f->sample = malloc(SAMPLE * sizeof(*f->sample));
	f->slots = malloc(SLOTS * sizeof(*f->slots));
	if (!f->symbols || !f->positions || !f->sample || !f->slots)
		return gt_err_set(err, -ENOMEM, "out of memory (search for the period)");
	for (size_t i = 0; i < f->n; i++) {
		struct symbol *s = &f->symbols[f->list[i]];
		uint32_t gap = (uint32_t)i - s->last;

		if (s->count > 1)
			s->even += gap == s->gap;
		s->gap = gap;
		s->last = (uint32_t)i;
		s->count++;
	}
	list_positions(f);
	return 0;
}

/* ---- candidates ---- */

/* The share of even gaps, in 1/1000. */
static uint32_t evenness(const struct symbol *s)
{
	return (uint32_t)(1000ull * s->even / (s->count - 2));
}

static int by_count(const void *pa, const void *pb)
{
	const struct candidate *a = pa, *b = pb;

	return GT_COMPARE(b->count, a->count) ?:
		GT_COMPARE(b->even, a->even) ?:
		GT_COMPARE(a->symbol, b->symbol);
}

static int by_evenness(const void *pa, const void *pb)
{
	const struct candidate *a = pa, *b = pb;

	return GT_COMPARE(b->even, a->even) ?: by_count(pa, pb);
}

/* The most frequent symbols; of those with equal count the most even ones, at most PER_COUNT. */
static int choose_candidates(struct finder *f, struct gt_err *err)
{
	struct candidate *list = malloc((f->nsymbols + 1ul) * sizeof(*list));
	size_t n = 0, kept = 0, same = 0;

	if (!list)
		return gt_err_set(err, -ENOMEM, "out of memory (search for repetitions)");
	for (uint32_t i = 0; i < f->nsymbols; i++)
		if (f->symbols[i].count > GT_PERIOD_LEAST)
			list[n++] = (struct candidate){ i, f->symbols[i].count,
				evenness(&f->symbols[i]), false };
	GT_SORT(list, n, by_count);
	for (size_t i = 0; i < n; i++) {
		same = i && list[i].count == list[i - 1].count ? same + 1 : 0;
		if (same < PER_COUNT)
			list[kept++] = list[i];
	}
	GT_SORT(list, kept, by_evenness);
	kept = kept < CANDIDATES_MAX ? kept : CANDIDATES_MAX;
	GT_SORT(list, kept, by_count);
	memcpy(f->candidates, list, kept * sizeof(*list));
	f->ncandidates = (uint32_t)kept;
	free(list);
	return 0;
}

/* ---- one candidate ---- */

static uint64_t hash_of(const uint32_t *list, size_t n)
{
	uint64_t h = n;

	for (size_t i = 0; i < n; i++)
		h = h * 0x9e3779b97f4a7c15ull + list[i] + 1;
	return gt_hash_u64(h);
}

static int by_length(const void *pa, const void *pb)
{
	const struct interval *a = pa, *b = pb;

	return GT_COMPARE(a->length, b->length) ?: GT_COMPARE(a->first, b->first);
}

/* The first sampled interval with the hash of interval i; i itself is added if it is the first. */
static struct interval *first_alike(struct finder *f, uint32_t i)
{
	uint64_t slot = f->sample[i].hash;

	for (;; slot++) {
		uint16_t *at = &f->slots[slot % SLOTS];

		if (!*at)
			*at = (uint16_t)(i + 1);
		if (f->sample[*at - 1].hash == f->sample[i].hash)
			return &f->sample[*at - 1];
	}
}

/* The most frequent interval; if no two are equal, one of median length. count: intervals. */
static struct interval usual_of(struct finder *f, uint32_t count)
{
	uint32_t n = count < SAMPLE ? count : SAMPLE;
	const struct interval *best = f->sample;

	memset(f->slots, 0, SLOTS * sizeof(*f->slots));
	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = (uint32_t)((uint64_t)i * count / n), first = f->at[k],
			 length = f->at[k + 1] - first;

		f->sample[i] =
			(struct interval){ hash_of(f->list + first, length), first, length, 0 };
		first_alike(f, i)->alike++;
	}
	for (uint32_t i = 1; i < n; i++) {
		const struct interval *one = &f->sample[i];

		if (one->alike > best->alike ||
			(one->alike == best->alike && one->hash < best->hash))
			best = one;
	}
	if (best->alike > 1)
		return *best;
	GT_SORT(f->sample, n, by_length);
	return f->sample[n / 2];
}

/* The number of symbols that the kth interval shares with the usual one. */
static uint32_t compare(struct finder *f, uint32_t k)
{
	uint32_t shared = 0;

	for (uint32_t i = f->at[k]; i < f->at[k + 1]; i++) {
		struct symbol *s = &f->symbols[f->list[i]];

		if (s->stamp != k + 1) {
			s->stamp = k + 1;
			s->seen = 0;
		}
		shared += s->seen++ < s->usual;
	}
	return shared;
}

/* Counts the symbols of the kth interval that the usual one does not have. */
static void count_extra(struct finder *f, uint32_t k)
{
	for (uint32_t i = f->at[k]; i < f->at[k + 1]; i++) {
		struct symbol *s = &f->symbols[f->list[i]];

		s->not_in_usual += !s->usual && s->seen;
		s->seen = 0;
	}
}

/* Compares all intervals with the usual one. Returns the number of shared symbols. */
static uint64_t walk(struct finder *f, const struct interval *usual, struct gt_period *p)
{
	uint64_t regular = 0;

	for (uint32_t k = 0; k < p->count; k++) {
		uint32_t length = f->at[k + 1] - f->at[k], shared = compare(f, k),
			 least = length < usual->length ? length : usual->length;
		bool replaced = f->lenient && shared >= usual->length / SHARED;

		if (!replaced || length > usual->length + (length - shared) / 2)
			count_extra(f, k);
		regular += replaced ? least : shared;
		p->usual += length == usual->length &&
			hash_of(f->list + f->at[k], length) == usual->hash;
	}
	return regular;
}

/* Of the different symbols that occur repeatedly, the share in the usual interval. */
static double complete(const struct finder *f)
{
	uint32_t in = 0, not_in_usual = 0;

	for (uint32_t i = 0; i < f->nsymbols; i++) {
		in += f->symbols[i].usual > 0;
		not_in_usual += f->symbols[i].not_in_usual >= GT_PERIOD_LEAST;
	}
	return (double)in / (in + not_in_usual);
}

/* Do the lengths alone show that the intervals share too little with the usual one? An interval
 * shares at most the shorter of the two lengths. If nothing repeats, most candidates fail here,
 * without a pass over all symbols. */
static bool cannot_pass(
	const struct finder *f, const struct interval *usual, uint32_t count, uint64_t between)
{
	uint64_t most = 0;

	for (uint32_t k = 0; k < count; k++) {
		uint32_t length = f->at[k + 1] - f->at[k];

		most += length < usual->length ? length : usual->length;
	}
	return (double)most / (double)(between + (uint64_t)usual->length * count - most) < REGULAR;
}

/* Is it an anchor of whole steps? Then fills in *p and *usual. */
static bool is_step_anchor(
	struct finder *f, struct candidate *c, struct interval *usual, struct gt_period *p)
{
	uint32_t anchor = c->symbol, n = c->count;
	uint64_t between, regular;

	f->at = f->positions + f->symbols[anchor].first;
	c->fails = true;
	*p = (struct gt_period){ .anchor = anchor, .count = n - 1 };
	between = f->at[n - 1] - f->at[0];
	if ((double)between < COVERED * (double)f->n)
		return false;
	*usual = usual_of(f, p->count);
	p->length = usual->length;
	if (cannot_pass(f, usual, p->count, between))
		return false;
	c->fails = false;
	for (uint32_t i = 0; i < f->nsymbols; i++)
		f->symbols[i].usual = f->symbols[i].stamp = f->symbols[i].not_in_usual = 0;
	for (uint32_t i = 0; i < usual->length; i++)
		f->symbols[f->list[usual->first + i]].usual++;
	regular = walk(f, usual, p);
	p->usual = p->usual ? p->usual : 1;
	p->regular =
		(double)regular / (double)(between + (uint64_t)usual->length * p->count - regular);
	return p->regular >= REGULAR && complete(f) >= COMPLETE;
}

/* ---- the start of a step ---- */

/* The number of symbols before a usual anchor that are also before the first one. The first step
 * often has more operations, so other symbols may be between them: up to a whole period each time.
 */
static uint32_t same_before(const struct finder *f, const struct interval *usual)
{
	uint32_t at = f->at[0], next = usual->first + usual->length, d = 0;

	for (; d + 1 < usual->length; d++) {
		uint32_t far = at > usual->length ? at - usual->length : 0, look = at;

		while (look > far && f->list[look - 1] != f->list[next - 1 - d])
			look--;
		if (look == far)
			break;
		at = look - 1;
	}
	return d;
}

/* Finds the start of the step, and as anchor the next symbol after it that occurs once per period,
 * and not more often elsewhere than the anchor. */
static void place(const struct finder *f, const struct interval *usual, struct gt_period *p)
{
	uint32_t back = same_before(f, usual), anchor = p->anchor,
		 spare = f->symbols[anchor].count / 50;

	p->before = back;
	for (uint32_t i = 0; i < back; i++) {
		const struct symbol *s =
			&f->symbols[f->list[usual->first + usual->length - back + i]];

		if (s->usual == 1 && s->count + spare >= f->symbols[anchor].count &&
			s->count <= f->symbols[anchor].count + spare) {
			p->anchor = (uint32_t)(s - f->symbols);
			p->before = i;
			break;
		}
	}
	if (p->before > GT_PERIOD_BEFORE)
		p->before = 0;
}

static int search(struct finder *f, bool lenient, struct gt_period *best)
{
	struct candidate *found = NULL;
	struct interval usual;
	struct gt_period p;

	f->lenient = lenient;
	for (uint32_t i = 0; i < f->ncandidates; i++) {
		struct candidate *c = &f->candidates[i];

		if (found && (double)c->count < SAME_LOOP * (best->count + 1.0))
			break; /* the rest are longer loops around it */
		if (!c->fails && is_step_anchor(f, c, &usual, &p) &&
			(!found || p.regular > best->regular)) {
			*best = p;
			found = c;
		}
	}
	if (!found)
		return 0;
	is_step_anchor(f, found, &usual, &p);
	place(f, &usual, best);
	return 1;
}

int gt_period_find(const uint32_t *symbols, size_t n, uint32_t nsymbols, struct gt_period *p,
	const char **why, struct gt_err *err)
{
	struct finder f = {
		.list = symbols, .n = n < UINT32_MAX ? n : UINT32_MAX - 1, .nsymbols = nsymbols
	};
	int rc = prepare(&f, err);

	*why = NULL;
	if (!rc)
		rc = choose_candidates(&f, err);
	if (!rc && !f.ncandidates)
		*why = "no operation occurs more than three times";
	else if (!rc && !(rc = search(&f, false, p)) && !(rc = search(&f, true, p)))
		*why = "single operations repeat, but not in the same order with the same neighbours";
	free(f.symbols);
	free(f.positions);
	free(f.sample);
	free(f.slots);
	return rc;
}
