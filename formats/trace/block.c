/* The content of a block of rows, unpacked (TRACE_FORMAT.md, Rows):
 *
 *      base     the earliest start
 *      runs     their number; of each: track + 1, rows. In each column, the rows of all runs follow
 *               one another
 *      types    their number; of each: type id + 1. The code of a row is an index into this list
 *      flags    which columns are present
 *      code     one or two bytes per row, absent if there is one type only
 *      depth    one byte per row, absent if all are 0
 *      gap      start minus the end of the previous row of the run (minus its start, for a call
 *               nested in it)
 *      dur      end - start
 *      ret      only the rows where it is not 0
 *      args     per type with arguments: the number of bytes that follow, then one column per field
 *
 * Rows of a run are sorted by start, a parent before its children, so the gaps of nested calls are
 * never negative. Only intervals that overlap (GPU work, spans of other tools) need signed gaps,
 * and a flag says so.
 */
#include "formats/trace/block.h"

#include <stdlib.h>
#include <string.h>

enum { HAS_CODES = 1, WIDE_CODES = 2, HAS_DEPTH = 4, SIGNED_GAPS = 8, ALL_FLAGS = 15 };

static bool nests(enum gt_kind kind) { return kind == GT_CALL || kind == GT_OPEN; }

static unsigned fields_of(const struct gt_type *types, uint32_t type)
{
	return type == GT_NONE ? 2 : types[type].nfields;
}

/* ---- packing ---- */

static int prepare(struct gt_packer *p)
{
	if (!p->column) {
		p->column = malloc(GT_BLOCK_ROWS * 8);
		p->other = malloc(GT_BLOCK_ROWS * 8);
		p->code = malloc(GT_BLOCK_ROWS * 2);
		p->bytes = malloc(GT_BLOCK_ROWS * 2);
	}
	if (!p->column || !p->other || !p->code || !p->bytes)
		return -ENOMEM;
	if (++p->stamp > 0xffff) {
		memset(p->code_of, 0, p->ncode_of * sizeof(*p->code_of));
		p->stamp = 1;
	}
	return 0;
}

/* Assigns a code to a type that is new in this block. */
static int new_code(struct gt_packer *p, uint32_t slot, uint32_t n)
{
	size_t old = p->ncode_of;

	if (gt_grow(&p->code_of, &p->ncode_of, (size_t)slot + 1, sizeof(*p->code_of)) ||
		gt_grow(&p->types, &p->ntypes_cap, n + 1, sizeof(*p->types)) ||
		gt_grow(&p->count, &p->ncount_cap, n + 1, sizeof(*p->count)))
		return -ENOMEM;
	if (p->ncode_of > old)
		memset(p->code_of + old, 0, (p->ncode_of - old) * sizeof(*p->code_of));
	p->code_of[slot] = p->stamp << 16 | n;
	p->types[n] = slot - 1;
	p->count[n] = 0;
	return 0;
}

/* The results of one pass over the rows. */
struct measure {
	uint64_t gaps, deep, rets;
	int64_t max_end;
	uint32_t ntypes;
};

/* Copies the rows of one slice to the columns, from index `at` on: codes to p->code, gaps to
 * p->column, durations to p->other, depths to p->bytes. Consecutive rows of one type are counted
 * together: dependent increments in memory would cost more than the rest. */
static int measure(struct gt_packer *p, bool nested, const struct gt_slice *slice, size_t at,
	int64_t base, struct measure *to)
{
	struct measure m = *to;
	uint64_t *gap = p->column + at, *dur = p->other + at;
	uint16_t *codes = p->code + at;
	uint8_t *depths = p->bytes + at;
	int64_t start = base, end = base;
	unsigned depth = 255, code = 0;
	uint32_t last = 0;
	size_t since = 0; /* the first of these consecutive rows of one type */

	for (size_t i = 0; i < slice->n; i++) {
		const struct gt_writer_row *r = &slice->rows[i];
		uint32_t slot = r->type + 1; /* GT_NONE + 1 is 0 */

		if (__builtin_expect(!i || slot != last, 0)) {
			if (i)
				p->count[code] += (uint32_t)(i - since);
			if ((slot >= p->ncode_of || p->code_of[slot] >> 16 != p->stamp) &&
				new_code(p, slot, m.ntypes++))
				return -ENOMEM;
			code = p->code_of[slot] & 0xffff;
			last = slot;
			since = i;
		}
		base = nested && r->depth > depth ? start : end;
		start = r->start;
		end = r->end;
		depth = r->depth;
		codes[i] = (uint16_t)code;
		depths[i] = (uint8_t)depth;
		gap[i] = (uint64_t)(start - base);
		dur[i] = (uint64_t)(end - start);
		m.gaps |= (uint64_t)(start - base);
		m.deep |= depth;
		m.rets |= (uint32_t)r->ret;
		m.max_end = end > m.max_end ? end : m.max_end;
	}
	if (slice->n)
		p->count[code] += (uint32_t)(slice->n - since);
	*to = m;
	return 0;
}

static void put_codes(struct gt_packer *p, size_t n, uint32_t ntypes, struct gt_buf *out)
{
	uint8_t *to = gt_buf_reserve(out, n * 2);

	if (!to || ntypes < 2)
		return;
	for (size_t i = 0; i < n; i++)
		to[i] = (uint8_t)p->code[i];
	for (size_t i = 0; ntypes > 256 && i < n; i++)
		to[n + i] = (uint8_t)(p->code[i] >> 8);
	out->len += ntypes > 256 ? n * 2 : n;
}

/* Writes the return codes that are not 0, with their rows. */
static void put_rets(
	struct gt_packer *p, const struct gt_slice *slices, size_t nslices, struct gt_buf *out)
{
	size_t n = 0, at = 0, last = 0;

	for (size_t s = 0; s < nslices; s++)
		for (size_t i = 0; i < slices[s].n; i++, at++)
			if (slices[s].rows[i].ret) {
				p->column[n] = at - last;
				p->other[n++] = gt_zigzag(slices[s].rows[i].ret);
				last = at;
			}
	gt_put_varint(out, n);
	if (!n)
		return;
	gt_put_column(out, p->column, n);
	gt_put_column(out, p->other, n);
}

/* Copies the values of a slice's rows to p->values, ordered by code and field. */
static void place_values(struct gt_packer *p, const struct gt_type *types,
	const struct gt_slice *slice, const uint16_t *codes)
{
	uint32_t code = UINT32_MAX;
	unsigned nfields = 0;
	size_t column = 0;
	uint64_t *to = NULL;

	for (size_t i = 0; i < slice->n; i++) {
		const struct gt_writer_row *r = &slice->rows[i];

		if (codes[i] != code) {
			if (code != UINT32_MAX)
				p->at[code] = (uint32_t)(to - p->values);
			code = codes[i];
			nfields = fields_of(types, r->type);
			column = p->count[code];
			to = p->values + p->at[code];
		}
		for (unsigned f = 0; f < nfields; f++)
			to[f * column] = f < r->nargs ? slice->args[r->args + f] : 0;
		to++;
	}
	if (code != UINT32_MAX)
		p->at[code] = (uint32_t)(to - p->values);
}

/* Writes the argument columns: orders the values by code and field, then packs
 * column after column. */
static int put_args(struct gt_packer *p, const struct gt_type *types, uint32_t ntypes,
	const struct gt_slice *slices, size_t nslices, struct gt_buf *out)
{
	size_t total = 0, row = 0;

	if (gt_grow(&p->at, &p->nat_cap, ntypes, sizeof(*p->at)))
		return -ENOMEM;
	for (uint32_t c = 0; c < ntypes; c++) {
		p->at[c] = (uint32_t)total;
		total += (size_t)p->count[c] * fields_of(types, p->types[c]);
	}
	if (!total)
		return 0;
	if (gt_grow(&p->values, &p->nvalues_cap, total, 8))
		return -ENOMEM;
	for (size_t s = 0; s < nslices; row += slices[s++].n)
		place_values(p, types, &slices[s], p->code + row);
	for (uint32_t c = 0; c < ntypes; c++) {
		unsigned nfields = fields_of(types, p->types[c]);
		const uint64_t *v = p->values + p->at[c] - p->count[c];

		if (!nfields)
			continue;
		gt_buf_clear(&p->section);
		for (unsigned f = 0; f < nfields; f++)
			gt_put_values(
				&p->section, v + (size_t)f * p->count[c], p->count[c], &p->scratch);
		gt_put_varint(out, p->section.len);
		gt_buf_add(out, p->section.data, p->section.len);
		out->failed |= p->section.failed;
	}
	return 0;
}

/* Fills in the head's counts, track and earliest start. Rows of a slice are sorted: its first row
 * starts first. */
static size_t describe_rows(
	const struct gt_slice *slices, size_t nslices, struct gt_wire_block *head)
{
	size_t n = 0;

	head->min_start = INT64_MAX;
	for (size_t s = 0; s < nslices; s++) {
		n += slices[s].n;
		if (slices[s].rows[0].start < head->min_start)
			head->min_start = slices[s].rows[0].start;
	}
	head->rows = (uint32_t)n;
	head->runs = (uint32_t)nslices;
	head->track = nslices == 1 ? slices[0].track : GT_NONE;
	return n;
}

int gt_block_pack(struct gt_packer *p, enum gt_kind kind, const struct gt_type *types,
	const struct gt_slice *slices, size_t nslices, struct gt_buf *out,
	struct gt_wire_block *head)
{
	size_t n = describe_rows(slices, nslices, head), at = 0;
	struct measure m = { .max_end = INT64_MIN };
	unsigned flags;

	if (prepare(p))
		return -ENOMEM;
	for (size_t s = 0; s < nslices; at += slices[s++].n)
		if (measure(p, nests(kind), &slices[s], at, head->min_start, &m))
			return -ENOMEM;
	head->max_end = m.max_end;
	gt_put_varint(out, gt_zigzag(head->min_start));
	gt_put_varint(out, nslices);
	for (size_t s = 0; s < nslices; s++) {
		gt_put_varint(out, slices[s].track == GT_NONE ? 0 : (uint64_t)slices[s].track + 1);
		gt_put_varint(out, slices[s].n);
	}
	gt_put_varint(out, m.ntypes);
	for (uint32_t c = 0; c < m.ntypes; c++)
		gt_put_varint(out, p->types[c] == GT_NONE ? 0 : (uint64_t)p->types[c] + 1);
	flags = (m.gaps >> 63 ? SIGNED_GAPS : 0) | (m.deep ? HAS_DEPTH : 0) |
		(m.ntypes > 1 ? HAS_CODES : 0) | (m.ntypes > 256 ? WIDE_CODES : 0);
	gt_buf_byte(out, (uint8_t)flags);
	put_codes(p, n, m.ntypes, out);
	if (flags & HAS_DEPTH)
		gt_buf_add(out, p->bytes, n);
	for (size_t i = 0; flags & SIGNED_GAPS && i < n; i++)
		p->column[i] = gt_zigzag((int64_t)p->column[i]);
	gt_put_column(out, p->column, n);
	gt_put_column(out, p->other, n);
	if (m.rets)
		put_rets(p, slices, nslices, out);
	else
		gt_put_varint(out, 0);
	if (put_args(p, types, m.ntypes, slices, nslices, out) || out->failed)
		return -ENOMEM;
	return 0;
}

void gt_packer_release(struct gt_packer *p)
{
	free(p->column);
	free(p->other);
	free(p->code);
	free(p->bytes);
	free(p->code_of);
	free(p->types);
	free(p->count);
	free(p->at);
	free(p->values);
	gt_buf_release(&p->scratch);
	gt_buf_release(&p->section);
	memset(p, 0, sizeof(*p));
}

/* ---- unpacking ---- */

#define DAMAGED(err, what) gt_err_set(err, -EBADMSG, "a block's " what)

/* Allocates the arrays for the row and run counts of the head, which may be wrong, in one piece. */
static int alloc_arrays(struct gt_unpacked *u, uint32_t nrows, uint32_t nruns)
{
	size_t n = nrows ? nrows : 1,
	       need = n * (8 + 8 + 2 + 1 + 4 + 4 + 4 + 4) + (size_t)nruns * sizeof(struct gt_run) +
		8 * 16;
	uint8_t *at;

	gt_buf_clear(&u->arena);
	at = gt_buf_reserve(&u->arena, need);
	if (!at)
		return -ENOMEM;
	at += -(uintptr_t)at & 7;
#define ARRAY(field, count)                                                                        \
	((u)->field = (void *)at, at += ((count) * sizeof(*(u)->field) + 7) & ~(size_t)7)
	ARRAY(start, n);
	ARRAY(dur, n);
	ARRAY(runs, nruns);
	ARRAY(types, n); /* no more types than rows */
	ARRAY(per_code, n);
	ARRAY(ret_row, n);
	ARRAY(ret, n);
	ARRAY(code, n);
	ARRAY(depth, n);
#undef ARRAY
	return 0;
}

static int get_runs(
	struct gt_unpacked *u, struct gt_span *in, const struct gt_segment *seg, struct gt_err *err)
{
	uint32_t first = 0;

	for (uint32_t i = 0; i < u->nruns; i++) {
		uint32_t track, n;

		if (!gt_get_u32(in, &track) || !gt_get_u32(in, &n) || n > u->nrows - first)
			return DAMAGED(err, "runs do not add up");
		if (track ? track > seg->ntracks : u->kind != GT_LOST)
			return DAMAGED(err, "run is on a track that does not exist");
		u->runs[i] = (struct gt_run){ track - 1, first, n };
		first += n;
	}
	return first == u->nrows ? 0 : DAMAGED(err, "runs do not add up");
}

static int get_types(
	struct gt_unpacked *u, struct gt_span *in, const struct gt_segment *seg, struct gt_err *err)
{
	if (!gt_get_u32(in, &u->ntypes) || u->ntypes > u->nrows || (u->nrows && !u->ntypes))
		return DAMAGED(err, "types do not fit its rows");
	for (uint32_t i = 0; i < u->ntypes; i++) {
		uint32_t type;

		if (!gt_get_u32(in, &type) || (type ? type > seg->ntypes : u->kind != GT_LOST))
			return DAMAGED(err, "row has a type that does not exist");
		u->types[i] = type - 1;
		u->per_code[i] = 0;
	}
	return 0;
}

/* The same code often occurs many times in sequence, and a dependent increment takes
 * five cycles: four counters per code avoid the dependency. */
void gt_block_count(struct gt_unpacked *u)
{
	uint32_t lane[4][256] = { { 0 } };
	const uint16_t *code = u->code;
	size_t n = u->nrows, i = 0;

	if (u->counted)
		return;
	u->counted = true;
	if (!code) {
		if (n)
			u->per_code[0] = (uint32_t)n;
		return;
	}
	for (; u->ntypes <= 256 && i + 4 <= n; i += 4)
		for (unsigned k = 0; k < 4; k++)
			lane[k][code[i + k]]++;
	for (unsigned c = 0; c < u->ntypes && c < 256; c++)
		u->per_code[c] = lane[0][c] + lane[1][c] + lane[2][c] + lane[3][c];
	for (; i < n; i++)
		u->per_code[u->code[i]]++;
}

static int get_codes(struct gt_unpacked *u, struct gt_span *in, unsigned flags, struct gt_err *err)
{
	size_t n = u->nrows, bytes = flags & WIDE_CODES ? 2 * n : n;
	const uint8_t *low = in->at, *high = in->at + n;
	uint16_t *code = u->code, most = 0;

	if (!(flags & HAS_CODES)) {
		u->code = NULL;
		if (u->ntypes > 1)
			return DAMAGED(err, "codes are missing");
		return 0;
	}
	if ((size_t)(in->end - in->at) < bytes)
		return DAMAGED(err, "codes are cut short");
	in->at += bytes;
	for (size_t i = 0; i < n; i++)
		code[i] = low[i];
	for (size_t i = 0; flags & WIDE_CODES && i < n; i++)
		code[i] = (uint16_t)(code[i] | high[i] << 8);
	for (size_t i = 0; i < n; i++)
		most = code[i] > most ? code[i] : most;
	if (n && most >= u->ntypes)
		return DAMAGED(err, "code has no type");
	return 0;
}

/* Converts gaps (in u->start) to starts. Returns whether all times are in range and in order. */
static bool integrate_run(
	struct gt_unpacked *u, const struct gt_run *run, int64_t base, bool is_signed)
{
	int64_t start = base, end = base;
	unsigned depth = 0;
	bool fine = true;

	for (uint32_t i = run->first; i < run->first + run->n; i++) {
		bool nested = i != run->first && u->depth && u->depth[i] > depth && nests(u->kind);
		int64_t from = nested ? start : end,
			gap = is_signed ? gt_unzigzag((uint64_t)u->start[i]) : u->start[i], s;

		fine &= !__builtin_add_overflow(from, gap, &s) && (is_signed || gap >= 0) &&
			(i == run->first || s >= start);
		fine &= u->dur[i] >= 0 && !__builtin_add_overflow(s, u->dur[i], &end) &&
			s > -GT_TIME_MAX && end < GT_TIME_MAX;
		u->start[i] = start = s;
		depth = u->depth ? u->depth[i] : 0;
	}
	return fine;
}

struct times {
	struct gt_coded_column gaps, durs;
	const uint8_t *gaps_end, *durs_end;
};

/* The fast path: no signs, and no value so large that a sum could overflow. Decoding both columns
 * and adding up in one loop takes less time than one after the other, since each sum depends on the
 * one before. false: this is not the usual case, or bytes are missing. Columns are passed by value,
 * so that the compiler keeps them in registers. */
static inline __attribute__((always_inline)) bool decode_times_fast(
	struct gt_unpacked *u, struct times t, int64_t base, bool nested)
{
	int64_t *starts = u->start, *lengths = u->dur;
	const uint8_t *depths = u->depth;
	uint64_t all = 0;
	bool fine = true;

	for (const struct gt_run *run = u->runs; fine && run < u->runs + u->nruns; run++) {
		uint64_t start = (uint64_t)base, end = start;
		unsigned depth = 255;

		for (size_t i = run->first, last = i + run->n; fine && i < last;) {
			size_t stop = last - i < GT_UNCHECKED ? last : i + GT_UNCHECKED;

			for (; i < stop; i++) {
				uint64_t gap = gt_column_value(&t.gaps),
					 dur = gt_column_value(&t.durs);

				start = gap + (nested && depths[i] > depth ? start : end);
				end = start + dur;
				depth = nested ? depths[i] : 0;
				all |= gap | dur;
				starts[i] = (int64_t)start;
				lengths[i] = (int64_t)dur;
			}
			fine = t.gaps.extra <= t.gaps_end && t.durs.extra <= t.durs_end;
		}
	}
	return fine && t.gaps.extra == t.gaps_end && t.durs.extra == t.durs_end && !(all >> 46);
}

static bool get_times_fast(struct gt_unpacked *u, struct gt_span *in, int64_t base)
{
	struct times t;

	if (gt_column_find(&t.gaps, in, u->nrows))
		return false;
	t.gaps_end = in->at;
	if (gt_column_find(&t.durs, in, u->nrows))
		return false;
	t.durs_end = in->at;
	return u->depth && nests(u->kind) ? decode_times_fast(u, t, base, true)
					  : decode_times_fast(u, t, base, false);
}

static int get_times(
	struct gt_unpacked *u, struct gt_span *in, unsigned flags, int64_t base, struct gt_err *err)
{
	struct gt_span once = *in;

	if (!(flags & SIGNED_GAPS) && base > -GT_TIME_MAX && base < GT_TIME_MAX &&
		get_times_fast(u, &once, base)) {
		*in = once;
		return 0;
	}
	if (gt_get_column(in, (uint64_t *)u->start, u->nrows) ||
		gt_get_column(in, (uint64_t *)u->dur, u->nrows))
		return DAMAGED(err, "times are cut short");
	for (uint32_t r = 0; r < u->nruns; r++)
		if (!integrate_run(u, &u->runs[r], base, flags & SIGNED_GAPS))
			return DAMAGED(err, "times run backwards or overflow");
	return 0;
}

static int get_rets(struct gt_unpacked *u, struct gt_span *in, struct gt_err *err)
{
	uint64_t n, row = 0, *tmp;
	int code = 0;

	if (!gt_get_varint(in, &n) || n > u->nrows)
		return DAMAGED(err, "return codes are more than its rows");
	u->nret = (uint32_t)n;
	if (!n)
		return 0;
	tmp = malloc(n * 8);
	if (!tmp)
		return gt_err_set(err, -ENOMEM, "out of memory");
	if (gt_get_column(in, tmp, n))
		code = -EBADMSG;
	for (uint64_t i = 0; !code && i < n; i++) {
		if (tmp[i] >= u->nrows - row || (i && !tmp[i]))
			code = -EBADMSG;
		u->ret_row[i] = (uint32_t)(row += tmp[i]);
	}
	if (!code && gt_get_column(in, tmp, n))
		code = -EBADMSG;
	for (uint64_t i = 0; !code && i < n; i++)
		u->ret[i] = (int32_t)gt_unzigzag(tmp[i]);
	free(tmp);
	return code ? DAMAGED(err, "return codes do not fit its rows") : 0;
}

int gt_block_unpack(struct gt_unpacked *u, enum gt_kind kind, struct gt_span bytes, uint32_t nrows,
	const struct gt_segment *seg, struct gt_err *err)
{
	struct gt_span in = bytes;
	uint64_t base;
	unsigned flags;
	int code;

	u->kind = kind;
	u->nrows = nrows;
	u->counted = false;
	if (nrows > GT_BLOCK_ROWS || !gt_get_varint(&in, &base) || !gt_get_u32(&in, &u->nruns) ||
		u->nruns > nrows)
		return DAMAGED(err, "head does not fit its content");
	if (alloc_arrays(u, nrows, u->nruns))
		return gt_err_set(err, -ENOMEM, "out of memory");
	if ((code = get_runs(u, &in, seg, err)) || (code = get_types(u, &in, seg, err)))
		return code;
	if (in.at >= in.end || (flags = *in.at++) > ALL_FLAGS)
		return DAMAGED(err, "flags are unknown");
	u->base = gt_unzigzag(base);
	u->wide_codes = flags & WIDE_CODES;
	u->signed_gaps = flags & SIGNED_GAPS;
	u->codes_at = flags & HAS_CODES ? (uint32_t)(in.at - bytes.at) : 0;
	if ((code = get_codes(u, &in, flags, err)))
		return code;
	u->depths_at = flags & HAS_DEPTH ? (uint32_t)(in.at - bytes.at) : 0;
	if (!(flags & HAS_DEPTH)) {
		u->depth = NULL;
	} else {
		if ((size_t)(in.end - in.at) < nrows)
			return DAMAGED(err, "depths are cut short");
		memcpy(u->depth, in.at, nrows);
		in.at += nrows;
	}
	u->gaps_at = (uint32_t)(in.at - bytes.at);
	if ((code = get_times(u, &in, flags, u->base, err)) || (code = get_rets(u, &in, err)))
		return code;
	u->args = in;
	u->next_code = 0;
	u->next_args = in.at;
	return 0;
}

unsigned gt_block_fields(const struct gt_unpacked *u, const struct gt_segment *seg, uint32_t code)
{
	return code < u->ntypes ? fields_of(seg->types, u->types[code]) : 0;
}

int gt_block_columns(
	struct gt_unpacked *u, const struct gt_segment *seg, uint32_t code, uint32_t *at)
{
	struct gt_span in = u->args;
	struct gt_values checked;
	uint32_t c = 0;
	uint64_t bytes;

	gt_block_count(u);
	if (code >= u->next_code) {
		c = u->next_code;
		in.at = u->next_args;
	}
	for (; c < u->ntypes; c++, in.at += bytes) {
		unsigned nfields = gt_block_fields(u, seg, c);

		bytes = 0;
		if (!nfields)
			continue;
		if (!gt_get_varint(&in, &bytes) || bytes > (uint64_t)(in.end - in.at))
			return -EBADMSG;
		if (c != code)
			continue;
		u->next_code = c + 1;
		u->next_args = in.at + bytes;
		in.end = in.at + bytes;
		for (unsigned f = 0; f < nfields; f++) {
			at[f] = (uint32_t)(in.at - u->args.at);
			if (gt_values_open(&checked, &in, u->per_code[c], NULL))
				return -EBADMSG;
		}
		return in.at == in.end ? 0 : -EBADMSG;
	}
	return 0;
}

void gt_unpacked_release(struct gt_unpacked *u)
{
	gt_buf_release(&u->arena);
	memset(u, 0, sizeof(*u));
}

/* ---- arguments, some rows at a time ---- */

static int open_section(
	struct gt_args *a, uint32_t c, uint32_t rows, struct gt_span *in, struct gt_buf *dicts)
{
	struct gt_span section = *in;
	uint64_t bytes;

	if (!gt_get_varint(&section, &bytes) || bytes > (uint64_t)(section.end - section.at))
		return -EBADMSG;
	section.end = in->at = section.at + bytes;
	for (unsigned f = 0; rows && f < a->codes[c].nfields; f++) {
		int code = gt_values_open(&a->values[a->codes[c].first + f], &section, rows, dicts);

		if (code)
			return code;
	}
	return rows && section.at != section.end ? -EBADMSG : 0;
}

/* Numbers the fields of all codes that have rows. The section of a code without rows
 * may be empty, whatever the fields of its type. */
static int number_fields(struct gt_args *a, struct gt_unpacked *u, const struct gt_segment *seg)
{
	uint32_t n = 0;

	gt_block_count(u);
	a->codes = malloc((u->ntypes + 1u) * sizeof(*a->codes));
	if (!a->codes)
		return -ENOMEM;
	for (uint32_t c = 0; c < u->ntypes; c++) {
		unsigned nfields = gt_block_fields(u, seg, c);

		a->codes[c] = (struct gt_args_code){
			.type = u->types[c], .first = n, .nfields = (uint8_t)nfields
		};
		n += u->per_code[c] ? nfields : 0;
		if (u->per_code[c] && nfields > a->most)
			a->most = (uint8_t)nfields;
	}
	a->values = malloc((n + 1u) * sizeof(*a->values));
	a->bytes = u->ntypes * sizeof(*a->codes) + n * sizeof(*a->values);
	return a->values ? 0 : -ENOMEM;
}

int gt_args_open(
	struct gt_args *a, struct gt_unpacked *u, const struct gt_segment *seg, struct gt_span *in)
{
	struct gt_buf dicts = { 0 };
	int code;

	memset(a, 0, sizeof(*a));
	code = number_fields(a, u, seg);
	for (uint32_t c = 0; !code && c < u->ntypes; c++)
		if (a->codes[c].nfields)
			code = open_section(a, c, u->per_code[c], in, &dicts);
	if (!code && dicts.len && !(a->dicts = malloc(dicts.len)))
		code = -ENOMEM;
	if (a->dicts)
		memcpy(a->dicts, dicts.data, dicts.len);
	a->bytes += dicts.len;
	gt_buf_release(&dicts);
	return code;
}

/* Reads the arguments of one code, column after column: row after row would test the
 * encoding for each value. */
static void next_of_code(
	struct gt_args *a, const struct gt_args_code *c, uint64_t *const *to, size_t n)
{
	for (unsigned f = 0; f < c->nfields; f++)
		gt_values_next(&a->values[c->first + f], a->dicts, to, n, f);
}

void gt_args_next(struct gt_args *a, struct gt_args_scratch *scratch, const uint16_t *code,
	uint64_t *const *to, size_t n)
{
	if (!code && n)
		next_of_code(a, &a->codes[0], to, n);
	/* a linked list of the rows of each code */
	for (size_t i = n; code && i--; a->codes[code[i]].row = (uint16_t)(i + 1))
		scratch->next[i] = a->codes[code[i]].row;
	for (size_t i = 0; code && i < n; i++) {
		struct gt_args_code *c = &a->codes[code[i]];
		size_t rows = 0;

		for (unsigned row = c->row; row; row = scratch->next[row - 1])
			scratch->to[rows++] = to[row - 1];
		c->row = 0; /* the list is done for all rows of this code */
		if (rows)
			next_of_code(a, c, scratch->to, rows);
	}
}

void gt_args_release(struct gt_args *a)
{
	free(a->codes);
	free(a->values);
	free(a->dicts);
	memset(a, 0, sizeof(*a));
}
