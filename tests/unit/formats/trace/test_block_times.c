/* The times of a block: they are unchanged after packing and unpacking, all ways to sum them
 * agree, and invalid columns are detected. */
#include "formats/trace/block.h"
#include "tests/unit/t.h"

/* of a run, at most: more than are decoded without a look at where they end */
#define ROWS 700u
#define RUNS 4u

static uint64_t seed = 1;
static uint64_t rnd(uint64_t below)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (seed >> 33) % below;
}

struct rows {
	struct gt_writer_row held[RUNS][ROWS];
	struct gt_slice slices[RUNS];
	size_t nslices, n;
};

static const struct gt_type types[3];
static const struct gt_track tracks[RUNS];
static const struct gt_segment seg = {
	.types = types, .ntypes = 3, .tracks = tracks, .ntracks = RUNS
};

/* Sometimes a long one, so that numbers of all lengths occur. */
static int64_t some(void) { return (int64_t)(rnd(20) ? rnd(230) : rnd(1ull << (8 + rnd(24)))); }

/* Calls that nest two deep, or follow one another. */
static void make_run(struct rows *r, uint32_t track, int64_t at, bool nest)
{
	struct gt_slice *s = &r->slices[track];

	*s = (struct gt_slice){ .track = track, .rows = r->held[track], .n = 1 + rnd(ROWS) };
	for (size_t i = 0; i < s->n; i++) {
		struct gt_writer_row *h = &r->held[track][i], *outer = i ? h - 1 : NULL;
		bool inner =
			nest && outer && !outer->depth && outer->end - outer->start > 10 && rnd(2);

		*h = (struct gt_writer_row){ .type = (uint32_t)rnd(3), .depth = inner };
		h->start = inner ? outer->start + (int64_t)rnd(5) : at + some();
		h->end = inner ? h->start + (int64_t)rnd(5) : h->start + some();
		at = inner ? outer->end : h->end;
		/* the row after it is nested in no other row */
		if (inner && rnd(2) && i + 1 < s->n) {
			h[1] = (struct gt_writer_row){ .start = at + 3, .end = at + 7 };
			at = h[1].end;
			i++;
		}
	}
	r->n += s->n;
}

static size_t pack(const struct rows *r, enum gt_kind kind, struct gt_buf *b, uint32_t *nrows)
{
	struct gt_packer p = { 0 };
	struct gt_wire_block head;
	size_t len = gt_block_pack(&p, kind, types, r->slices, r->nslices, b, &head) ? 0 : b->len;

	gt_packer_release(&p);
	*nrows = head.rows;
	memset(gt_buf_reserve(b, GT_SLACK), 0xff, GT_SLACK);
	return len;
}

static bool same(const struct rows *r, const struct gt_unpacked *u)
{
	uint32_t count[3] = { 0 }, at = 0;
	bool fine = u->nrows == r->n && u->nruns == r->nslices;

	for (size_t s = 0; fine && s < r->nslices; s++)
		for (size_t i = 0; fine && i < r->slices[s].n; i++, at++) {
			const struct gt_writer_row *h = &r->slices[s].rows[i];

			fine = u->start[at] == h->start && u->dur[at] == h->end - h->start &&
				(u->depth ? u->depth[at] : 0) == h->depth &&
				u->types[u->code ? u->code[at] : 0] == h->type;
			count[h->type]++;
		}
	for (uint32_t c = 0; fine && c < u->ntypes; c++)
		fine = u->per_code[c] == count[u->types[c]];
	return fine;
}

static bool comes_back(const struct rows *r, enum gt_kind kind)
{
	struct gt_unpacked u = { 0 };
	struct gt_buf b = { 0 };
	uint32_t n;
	size_t len = pack(r, kind, &b, &n);
	bool fine = len &&
		!gt_block_unpack(&u, kind, (struct gt_span){ b.data, b.data + len }, n, &seg, NULL);

	if (fine)
		gt_block_count(&u);
	fine = fine && same(r, &u);
	gt_unpacked_release(&u);
	gt_buf_release(&b);
	return fine;
}

static void times_come_back(void)
{
	for (int round = 0; round < 300; round++) {
		struct rows r = { .nslices = 1 + rnd(RUNS) };
		int64_t at = round % 10 ? (int64_t)rnd(1u << 30) : -GT_TIME_MAX + 1;
		struct gt_writer_row *last;

		for (uint32_t t = 0; t < r.nslices; t++)
			make_run(&r, t, at + (int64_t)rnd(1000), round & 1);
		CHECK(comes_back(&r, GT_CALL));
		last = &r.held[r.nslices - 1][r.slices[r.nslices - 1].n - 1];
		if (last->depth)
			continue;
		/* too long for sums, which no code needs */
		last->end = last->start + (1ll << (45 + rnd(10)));
		CHECK(comes_back(&r, GT_CALL));
		last->start = last->end = GT_TIME_MAX - 1;
		CHECK(comes_back(&r, GT_CALL));
		last->end = GT_TIME_MAX;
		CHECK(!comes_back(&r, GT_CALL));
	}
}

/* Of spans that overlap, gaps have signs. */
static void times_of_spans_come_back(void)
{
	for (int round = 0; round < 100; round++) {
		struct rows r = { .nslices = 1, .n = ROWS };
		int64_t at = 0;

		r.slices[0] = (struct gt_slice){ .rows = r.held[0], .n = ROWS };
		for (size_t i = 0; i < ROWS; i++, at += some())
			r.held[0][i] = (struct gt_writer_row){
				.start = at, .end = at + some(), .type = (uint32_t)rnd(3)
			};
		CHECK(comes_back(&r, GT_SPAN));
	}
}

/* After any truncation, and with any size of the extras of a column. Copies end at the end of
 * the slack, so that the sanitizer finds reads beyond it. */
static void columns_that_lie_are_reported(void)
{
	struct rows r = { .nslices = 2 };
	struct gt_unpacked u = { 0 };
	struct gt_buf b = { 0 };
	uint32_t n;
	size_t len;

	make_run(&r, 0, 5, true);
	make_run(&r, 1, 5, false);
	len = pack(&r, GT_CALL, &b, &n);
	CHECK(len &&
		!gt_block_unpack(
			&u, GT_CALL, (struct gt_span){ b.data, b.data + len }, n, &seg, NULL) &&
		u.gaps_at);
	for (size_t cut = 0; cut < len; cut++) {
		uint8_t *copy = malloc(cut + GT_SLACK);

		memcpy(copy, b.data, cut + GT_SLACK);
		CHECK_EQ(gt_block_unpack(
				 &u, GT_CALL, (struct gt_span){ copy, copy + cut }, n, &seg, NULL),
			-EBADMSG);
		free(copy);
	}
	for (int more = -1; more <= 1; more += 2) {
		/* the varint's lowest seven bits */
		b.data[u.gaps_at] = (uint8_t)(b.data[u.gaps_at] + more);
		CHECK_EQ(gt_block_unpack(&u, GT_CALL, (struct gt_span){ b.data, b.data + len }, n,
				 &seg, NULL),
			-EBADMSG);
		b.data[u.gaps_at] = (uint8_t)(b.data[u.gaps_at] - more);
	}
	memset(b.data + len / 4, 0xff, len - len / 4); /* all of them long ones */
	CHECK_EQ(gt_block_unpack(
			 &u, GT_CALL, (struct gt_span){ b.data, b.data + len }, n, &seg, NULL),
		-EBADMSG);
	gt_unpacked_release(&u);
	gt_buf_release(&b);
}

T_MAIN(T(times_come_back), T(times_of_spans_come_back), T(columns_that_lie_are_reported))
