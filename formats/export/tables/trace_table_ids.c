/* Numbers that rows refer to: of texts, of processes and threads. */
#include <stdlib.h>
#include "formats/export/tables/trace_tables_internal.h"

#define ID_BITS 24
#define ID_MASK ((1u << ID_BITS) - 1)

static int no_memory(struct gt_table_work *w)
{
	return gt_err_set(w->err, -ENOMEM, "out of memory");
}

static bool is_text(const void *arg, uint32_t i, const void *key, size_t len)
{
	const struct gt_table_work *w = arg;

	return w->strings[i].len == len && !memcmp(w->strings[i].ptr, key, len);
}

uint32_t gt_table_text(struct gt_table_work *w, const char *text, size_t len)
{
	uint64_t hash = gt_hash(text, len);
	uint32_t i = gt_map_get(&w->string_map, hash, is_text, w, text, len);

	if (i != GT_NONE)
		return i;
	if (gt_grow(&w->strings, &w->strings_cap, w->nstrings + 1, sizeof(*w->strings)) ||
		gt_map_add(&w->string_map, hash, (uint32_t)w->nstrings)) {
		no_memory(w);
		return GT_NONE;
	}
	w->strings[w->nstrings] = (struct gt_string){ text, (uint32_t)len };
	return (uint32_t)w->nstrings++;
}

uint32_t gt_table_own_text(struct gt_table_work *w, const char *text)
{
	size_t len = strlen(text);
	uint32_t i = gt_map_get(&w->string_map, gt_hash(text, len), is_text, w, text, len);
	char *copy;

	if (i != GT_NONE)
		return i;
	copy = strdup(text);
	if (!copy || gt_grow(&w->owned, &w->owned_cap, w->nowned + 1, sizeof(*w->owned))) {
		free(copy);
		no_memory(w);
		return GT_NONE;
	}
	w->owned[w->nowned++] = copy;
	return gt_table_text(w, copy, len);
}

int64_t gt_table_string(struct gt_table_work *w, const struct gt_segment *seg, uint64_t string)
{
	uint32_t *known;

	if (string >= seg->nstrings)
		return GT_TABLE_NULL;
	known = &w->ids[seg->index].strings[string];
	if (!*known)
		*known = gt_table_text(w, seg->strings[string].ptr, seg->strings[string].len) + 1;
	return *known ? *known - 1 : GT_TABLE_NULL;
}

/* ---- processes and threads ---- */

struct used_number {
	uint32_t process, number;
};
struct numbers {
	struct used_number *list;
	size_t n, cap;
	struct gt_map map;
	uint32_t *from_end; /* by process, then of processes: how many of the largest are used */
};

static bool is_used(const struct numbers *x, const struct used_number *u)
{
	return gt_map_find_item(&x->map, x->list, sizeof(*u), u, sizeof(*u)) != GT_NONE;
}

/* The number for an id within a process (of process ids: GT_NONE): the id, or if that is no number
 * or is used, the largest free one. Ids share the number 0 if there are more of them than numbers.
 * GT_NONE: no memory. */
static uint32_t assign_number(
	struct numbers *x, const struct gt_segment *seg, uint32_t process, int64_t id)
{
	uint32_t *from_end = &x->from_end[process < seg->ntracks ? process : seg->ntracks];
	struct used_number u = { process, (uint32_t)(id & ID_MASK) };

	if (u.number != id || is_used(x, &u)) {
		/* each number is passed once, so that many ids take no quadratic time */
		for (u.number = ID_MASK - *from_end; u.number && is_used(x, &u); u.number--)
			++*from_end;
		if (!u.number && is_used(x, &u))
			return 0;
	}
	return gt_map_add_item(&x->map, &x->list, &x->n, &x->cap, sizeof(u), &u, sizeof(u)) ==
			GT_NONE
		? GT_NONE
		: u.number;
}

static int number_tracks(struct gt_table_ids *ids, const struct gt_segment *seg)
{
	struct numbers x = { .from_end = calloc(seg->ntracks + 1ul, sizeof(*x.from_end)) };
	int64_t vm = (int64_t)((seg->index + 1) & 0x7fff) << 48;
	int rc = x.from_end ? 0 : -ENOMEM;

	for (uint32_t t = 0; t < seg->ntracks && !rc; t++) {
		const struct gt_track *track = &seg->tracks[t];
		uint32_t process = gt_track_process(seg, t), number = 0;

		if (track->kind == GT_TRACK_PROCESS)
			number = assign_number(&x, seg, GT_NONE, track->id);
		else if (track->kind == GT_TRACK_THREAD)
			number = assign_number(&x, seg, process, track->id);
		rc = number == GT_NONE ? -ENOMEM : 0;
		if (track->kind == GT_TRACK_PROCESS)
			ids->globals[t] = vm | (int64_t)number << ID_BITS;
		else
			ids->globals[t] = (process < t ? ids->globals[process] : vm) | number;
	}
	gt_map_release(&x.map);
	free(x.list);
	free(x.from_end);
	return rc;
}

static int init_segment(struct gt_table_work *w, const struct gt_segment *seg)
{
	struct gt_table_ids *ids = &w->ids[seg->index];

	ids->strings = calloc(seg->nstrings + 1ul, sizeof(*ids->strings));
	ids->globals = calloc(seg->ntracks + 1ul, sizeof(*ids->globals));
	ids->last = calloc(seg->ntypes + 1ul, sizeof(*ids->last));
	return ids->strings && ids->globals && ids->last ? number_tracks(ids, seg) : -ENOMEM;
}

int gt_table_ids_init(struct gt_table_work *w)
{
	int64_t *bases = gt_export_bases(w->r);
	uint32_t tracks = 0, stacks = 0;
	int rc = bases ? 0 : -ENOMEM;

	w->nsegs = gt_reader_segments(w->r);
	w->ids = calloc(w->nsegs + 1ul, sizeof(*w->ids));
	for (uint32_t i = 0; i < w->nsegs && !rc; i++) {
		const struct gt_segment *seg = gt_reader_segment(w->r, i);

		rc = w->ids ? init_segment(w, seg) : -ENOMEM;
		if (rc)
			break;
		w->ids[i].base = bases[i];
		w->ids[i].track_base = tracks;
		w->ids[i].stack_base = stacks;
		tracks += seg->ntracks;
		stacks += seg->nstacks;
	}
	free(bases);
	w->demangled = gt_kernel_names_new(GT_NAME_FULL);
	return rc || !w->demangled ? no_memory(w) : 0;
}

void gt_table_ids_release(struct gt_table_work *w)
{
	for (uint32_t i = 0; w->ids && i < w->nsegs; i++) {
		free(w->ids[i].strings);
		free(w->ids[i].globals);
		free(w->ids[i].last);
	}
	for (size_t i = 0; i < w->nowned; i++)
		free(w->owned[i]);
	free(w->owned);
	free(w->ids);
	free(w->strings);
	gt_map_release(&w->string_map);
	gt_kernel_names_free(w->demangled);
}
