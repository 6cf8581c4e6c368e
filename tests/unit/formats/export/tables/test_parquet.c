/* Encodings of Parquet's pages, against decoders that follow the format's description. */
#include "tests/unit/t.h"

#include "formats/export/tables/parquet_encode.h"

static uint64_t state = 88172645463325252u;

static uint64_t next_random(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

struct bytes {
	const uint8_t *p, *end;
	bool bad;
};

static uint64_t varint(struct bytes *b)
{
	uint64_t v = 0;

	for (unsigned shift = 0; b->p < b->end && shift < 64; shift += 7) {
		uint8_t byte = *b->p++;

		v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return v;
	}
	b->bad = true;
	return 0;
}

static int64_t signed_varint(struct bytes *b)
{
	uint64_t v = varint(b);

	return (int64_t)(v >> 1 ^ (0 - (v & 1)));
}

/* `width` bits at bit `at`, bit by bit. */
static uint64_t bits(const uint8_t *p, uint64_t at, unsigned width)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < width; i++)
		v |= (uint64_t)(p[(at + i) / 8] >> (at + i) % 8 & 1) << i;
	return v;
}

static size_t read_hybrid(struct bytes *b, unsigned width, uint32_t *to, size_t most)
{
	size_t n = 0;

	while (b->p < b->end && !b->bad && n < most) {
		uint64_t header = varint(b), count = header >> 1;

		if (header & 1) {
			for (uint64_t i = 0; i < count * 8 && n < most; i++)
				to[n++] = (uint32_t)bits(b->p, i * width, width);
			b->p += count * width;
		} else {
			uint32_t v = 0;

			for (unsigned i = 0; i < (width + 7) / 8; i++)
				v |= (uint32_t)*b->p++ << 8 * i;
			while (count-- && n < most)
				to[n++] = v;
		}
	}
	return n;
}

static size_t read_deltas(struct bytes *b, int64_t *to, size_t most)
{
	uint64_t block = varint(b), minis = varint(b), total = varint(b), n = 0;
	int64_t value = signed_varint(b);
	uint64_t mini = block / minis;

	if (total > most)
		return 0;
	if (total)
		to[n++] = value;
	while (n < total && !b->bad) {
		int64_t least = signed_varint(b);
		const uint8_t *widths = b->p;

		b->p += minis;
		for (uint64_t m = 0; m < minis && n < total; m++) {
			for (uint64_t i = 0; i < mini && n < total; i++) {
				value = (int64_t)((uint64_t)value + (uint64_t)least +
					bits(b->p, i * widths[m], widths[m]));
				to[n++] = value;
			}
			b->p += mini * widths[m] / 8;
		}
	}
	return n;
}

#define MOST 5000

static void runs_and_packed_numbers(void)
{
	static uint32_t v[MOST], got[MOST + 8];

	for (unsigned round = 0; round < T_INPUTS(400); round++) {
		unsigned width = (unsigned)(next_random() % 16);
		size_t n = next_random() % MOST;
		unsigned repeats = (unsigned)(next_random() % 40) + 1;
		struct gt_buf b = { 0 };
		struct bytes in;

		for (size_t i = 0; i < n; i++)
			v[i] = i && next_random() % repeats
				? v[i - 1]
				: (uint32_t)next_random() & ((1u << width) - 1);
		gt_parquet_put_hybrid(&b, v, n, width);
		in = (struct bytes){ b.data, b.data + b.len, false };
		CHECK_EQ(read_hybrid(&in, width, got, n), n);
		CHECK(!in.bad && in.p == in.end && (!n || !memcmp(v, got, n * sizeof(*v))));
		gt_buf_release(&b);
	}
}

static void differences(void)
{
	static int64_t v[MOST], got[MOST];

	for (unsigned round = 0; round < T_INPUTS(400); round++) {
		unsigned shift = (unsigned)(next_random() % 64);
		size_t n = next_random() % MOST;
		struct gt_buf b = { 0 };
		struct bytes in;

		for (size_t i = 0; i < n; i++)
			v[i] = round % 3
				? (int64_t)((i ? (uint64_t)v[i - 1] : 0) + (next_random() >> shift))
				: (int64_t)(next_random() >> shift);
		gt_parquet_put_deltas(&b, v, n);
		in = (struct bytes){ b.data, b.data + b.len, false };
		CHECK_EQ(read_deltas(&in, got, MOST), n);
		CHECK(!in.bad && in.p == in.end && (!n || !memcmp(v, got, n * sizeof(*v))));
		gt_buf_release(&b);
	}
}

static void extreme_differences(void)
{
	static const int64_t v[] = { INT64_MAX, INT64_MIN, 0, -1, INT64_MIN, INT64_MAX, INT64_MAX };
	int64_t got[7];
	struct gt_buf b = { 0 };
	struct bytes in;

	gt_parquet_put_deltas(&b, v, 7);
	in = (struct bytes){ b.data, b.data + b.len, false };
	CHECK_EQ(read_deltas(&in, got, 7), 7);
	CHECK(!memcmp(v, got, sizeof(v)));
	gt_buf_release(&b);
}

static void a_full_dictionary(void)
{
	struct gt_parquet_dictionary d = { 0 };
	static int64_t v[GT_PARQUET_DICTIONARY_MAX + 1];
	static uint32_t at[GT_PARQUET_DICTIONARY_MAX + 1];

	for (uint32_t i = 0; i <= GT_PARQUET_DICTIONARY_MAX; i++)
		v[i] = (int64_t)i << 40;
	CHECK_EQ(gt_parquet_look_up(&d, v, GT_PARQUET_DICTIONARY_MAX, at), 1);
	for (uint32_t i = 0; i < GT_PARQUET_DICTIONARY_MAX; i++)
		CHECK(at[i] == i && d.values[i] == v[i]);
	CHECK_EQ(gt_parquet_look_up(&d, v, GT_PARQUET_DICTIONARY_MAX + 1, at), 0);
	gt_parquet_dictionary_clear(&d);
	CHECK_EQ(gt_parquet_look_up(&d, v + 7, 1, at), 1);
	CHECK(at[0] == 0 && d.values[0] == v[7]);
	CHECK_EQ(gt_parquet_width(1), 0);
	CHECK_EQ(gt_parquet_width(2), 1);
	CHECK_EQ(gt_parquet_width(256), 8);
	CHECK_EQ(gt_parquet_width(257), 9);
	gt_parquet_dictionary_release(&d);
}

T_MAIN(T(runs_and_packed_numbers), T(differences), T(extreme_differences), T(a_full_dictionary))
