#include "formats/export/exporters.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "formats/base/buf.h"
#include "formats/base/heap.h"

/* clang-format off */
#define EXPORTERS(X) \
	X(chrome) \
	X(perfetto) \
	X(folded) \
	X(flame) \
	X(icicle) \
	X(html) \
	X(speedscope) \
	X(pprof) \
	X(dot) \
	X(replay) \
	X(csv) \
	X(tsv) \
	X(jsonl) \
	X(native) \
	X(parquet) \
	X(arrow) \
	X(sqlite)
/* clang-format on */
#define X(name) extern const struct gt_exporter gt_export_##name;
EXPORTERS(X)
#undef X
#define X(name) &gt_export_##name,
const struct gt_exporter *const gt_exporters[] = { EXPORTERS(X) NULL };
#undef X

static const char *const directions[] = { "unknown", "HtoD", "DtoH", "DtoD", "HtoH", "PtoP" };
#define DIRECTIONS (sizeof(directions) / sizeof(*directions))

int gt_export_rows(struct gt_reader *r, const struct gt_export_options *opt,
	const struct gt_filter *filter, struct gt_out *out, gt_export_fn *fn, void *arg,
	struct gt_err *err)
{
	struct gt_iter *it = gt_iter_open(r, filter, err);
	struct gt_event ev;
	int rc;

	if (!it)
		return err->code ? err->code : -EIO;
	while ((rc = gt_iter_next(it, &ev, err)) > 0) {
		gt_export_count_rows(opt, 1);
		rc = fn(arg, &ev);
		if (!rc && out)
			rc = out->failed;
		if (rc)
			break;
	}
	gt_iter_close(it);
	return rc;
}

int64_t *gt_export_bases(struct gt_reader *r)
{
	uint32_t n = gt_reader_segments(r);
	int64_t *bases = calloc((size_t)n + 1, sizeof(*bases));

	for (uint32_t i = 0; bases && i < n; i++) {
		const struct gt_segment *seg = gt_reader_segment(r, i);
		bool known = false;

		for (uint32_t j = 0; j < n; j++) {
			const struct gt_segment *s = gt_reader_segment(r, j);

			if (s->min_start > s->max_end || !gt_same_clock(seg, s) ||
				(known && s->min_start >= bases[i]))
				continue;
			bases[i] = s->min_start;
			known = true;
		}
	}
	return bases;
}

void gt_export_track_name(const struct gt_segment *seg, uint32_t track, char *to, size_t size)
{
	const struct gt_track *t;

	if (track >= seg->ntracks) {
		snprintf(to, size, "?");
		return;
	}
	t = &seg->tracks[track];
	if (t->name != GT_NONE && gt_str(seg, t->name)[0])
		snprintf(to, size, "%s", gt_str(seg, t->name));
	else
		snprintf(to, size, "%s %" PRId64, gt_track_kind_word(t->kind), t->id);
}

void gt_export_cost(struct gt_out *out, enum gt_cost cost, double v)
{
	if (cost == GT_COST_COUNT)
		gt_out_printf(out, "%.0f times", v);
	else if (cost == GT_COST_BYTES)
		gt_out_printf(out, "%.0f bytes", v);
	else if (v >= 1e9)
		gt_out_printf(out, "%.3f s", v / 1e9);
	else
		gt_out_printf(out, v >= 1e6 ? "%.3f ms" : "%.3f us", v >= 1e6 ? v / 1e6 : v / 1e3);
}

/* Writes a number in quotes: programs that read JSON use doubles, which are not exact beyond 2^53.
 */
static char *put_exact(char *p, char *(*put)(char *, uint64_t), uint64_t v)
{
	*p++ = '"';
	p = put(p, v);
	*p++ = '"';
	return p;
}

static char *put_i64_bits(char *p, uint64_t v) { return gt_put_i64(p, (int64_t)v); }

static char *put_double(char *p, uint64_t bits)
{
	double d;

	memcpy(&d, &bits, sizeof(d));
	if (!isfinite(d))
		return p +
			sprintf(p, "\"%s\"",
				isnan(d)        ? "NaN"
					: d > 0 ? "Infinity"
						: "-Infinity");
	for (int digits = 15; digits <= 17; digits++) {
		int n = sprintf(p, "%.*g", digits, d);

		if (digits == 17 || strtod(p, NULL) == d)
			return p + n;
	}
	return p;
}

char *gt_put_value(char *p, uint8_t kind, uint64_t v)
{
	const uint64_t limit = 1ull << 53;

	switch (kind) {
	case GT_F_U64: return v <= limit ? gt_put_u64(p, v) : put_exact(p, gt_put_u64, v);
	case GT_F_I64:
		return v + limit <= 2 * limit ? gt_put_i64(p, (int64_t)v)
					      : put_exact(p, put_i64_bits, v);
	case GT_F_HEX: return put_exact(p, gt_put_hex, v);
	case GT_F_F64: return put_double(p, v);
	case GT_F_BOOL: return stpcpy(p, v ? "true" : "false");
	}
	return stpcpy(p, "null");
}

const char *gt_export_direction_word(uint64_t direction)
{
	return directions[direction < DIRECTIONS ? direction : GT_DIR_UNKNOWN];
}

uint64_t gt_export_direction(const char *word)
{
	for (unsigned i = 0; i < DIRECTIONS; i++)
		if (!strcmp(directions[i], word))
			return i;
	return GT_DIR_UNKNOWN;
}

void gt_export_value(
	struct gt_out *out, const struct gt_segment *seg, const struct gt_field *f, uint64_t v)
{
	char text[64];

	if (f->kind == GT_F_STR && v < seg->nstrings)
		gt_out_json(out, seg->strings[v].ptr, seg->strings[v].len);
	else if (f->role == GT_R_DIRECTION && v < DIRECTIONS)
		gt_out_json(out, directions[v], strlen(directions[v]));
	else
		gt_out_add(out, text, (size_t)(gt_put_value(text, f->kind, v) - text));
}

bool gt_export_is_none(const struct gt_event *ev, const struct gt_type *t, unsigned i)
{
	unsigned role = t->fields[i].role;

	if (t->fields[i].kind == GT_F_STR && ev->args[i] >= ev->seg->nstrings)
		return true;
	if (role == GT_R_LAUNCH_START || role == GT_R_LAUNCH_NS || role == GT_R_LAUNCH_NAME ||
		role == GT_R_LAUNCH_JOIN)
		return gt_event_value(ev, t, GT_R_LAUNCH_JOIN, GT_JOIN_UNKNOWN) == GT_JOIN_UNKNOWN;
	if (role == GT_R_CREATED_BY_START)
		return i + 1u >= t->nfields || ev->args[i + 1] >= ev->seg->nstrings;
	if (role == GT_R_LAUNCH_TRACK || role == GT_R_CREATED_BY_TRACK)
		return ev->args[i] >= ev->seg->ntracks;
	if (role == GT_R_STACK)
		return ev->args[i] >= ev->seg->nstacks;
	return role == GT_R_EVENT && ev->args[i] == UINT32_MAX;
}

const char *gt_export_field_name(const struct gt_segment *seg, const struct gt_field *f)
{
	return f->role == GT_R_LAUNCH_TRACK        ? "launch_tid"
		: f->role == GT_R_CREATED_BY_TRACK ? "made_tid"
		: f->role == GT_R_STACK            ? "stack_id"
						   : gt_str(seg, f->name);
}

/* ---- rows that have begun ---- */

static bool ends_first(
	const void *arg, const struct gt_pending_row *a, const struct gt_pending_row *b)
{
	return a->end != b->end ? a->end < b->end : a->seq > b->seq;
}

GT_HEAP(pending, struct gt_pending_row, ends_first)

int gt_pending_push(struct gt_pending *p, const struct gt_pending_row *row, struct gt_err *err)
{
	if (p->n >= GT_PENDING_MAX)
		return gt_err_set(
			err, -E2BIG, "more than %u rows are open at one moment", GT_PENDING_MAX);
	if (gt_grow(&p->heap, &p->cap, p->n + 1, sizeof(*p->heap)))
		return gt_err_set(err, -ENOMEM, "out of memory");
	pending_up(NULL, p->heap, p->n++, *row);
	return 0;
}

bool gt_pending_pop(struct gt_pending *p, struct gt_pending_row *row)
{
	if (!p->n)
		return false;
	*row = p->heap[0];
	p->n--;
	pending_down(NULL, p->heap, p->n, 0, p->heap[p->n]);
	return true;
}

void gt_pending_release(struct gt_pending *p)
{
	free(p->heap);
	memset(p, 0, sizeof(*p));
}
