#include "viewer/report/report_jump.h"

#include <stdlib.h>
#include <string.h>
#include "formats/names/kernel_names.h"
#include "viewer/util/deadline.h"

/* ---- times ---- */

static const struct gt_cell *cell_of(const struct gt_table *t, uint32_t row, const char *key)
{
	int column = gt_table_column(t, key);
	const struct gt_cell *c = column < 0 ? NULL : gt_table_cell(t, row, (unsigned)column);

	return c && !c->absent ? c : NULL;
}

/* The recording of a row's times; tables without that column have only one recording. */
static uint32_t segment_of(const struct gt_scene *s, const struct gt_table *t, uint32_t row)
{
	const struct gt_cell *c = cell_of(t, row, "recording");

	return c && c->i >= 0 && c->i < gt_reader_segments(s->reader) ? (uint32_t)c->i : 0;
}

static const struct gt_cell *first_time(const struct gt_table *t, uint32_t row)
{
	unsigned n;
	const struct gt_column *columns = gt_table_columns(t, &n);

	for (unsigned i = 0; i < n; i++) {
		const struct gt_cell *c =
			columns[i].kind == GT_C_TIME ? gt_table_cell(t, row, i) : NULL;

		if (c && !c->absent)
			return c;
	}
	return NULL;
}

bool gt_row_time(const struct gt_scene *s, const struct gt_report_result *of,
	const struct gt_table *t, uint32_t row, struct gt_range *to)
{
	const struct gt_cell *from = first_time(t, row), *ns = cell_of(t, row, "duration_ns"), *end;
	uint32_t segment = segment_of(s, t, row);
	int64_t zero;

	if (!from || !of->origins || segment >= gt_reader_segments(s->reader))
		return false;
	zero = of->origins[segment] - gt_archive_offset(s->archive, segment);
	to->from = to->to = zero + from->i;
	if (ns && ns->i > 0)
		to->to += ns->i;
	else if ((end = cell_of(t, row, "last_ns")) || (end = cell_of(t, row, "to_ns")))
		to->to = zero + end->i > to->from ? zero + end->i : to->from;
	return true;
}

/* The first text of a row, or, if text is given, NULL unless the row has it. */
static const char *text_in(const struct gt_table *t, uint32_t row, const char *text)
{
	unsigned n;

	gt_table_columns(t, &n);
	for (unsigned i = 0; i < n; i++) {
		const struct gt_cell *c = gt_table_is_text(t, i) ? gt_table_cell(t, row, i) : NULL;

		if (c && !c->absent && c->s && (!text || !strcmp(c->s, text)))
			return c->s;
	}
	return NULL;
}

bool gt_row_find_similar(const struct gt_scene *s, const struct gt_report_result *of,
	const struct gt_table **t, uint32_t *row)
{
	const char *text = text_in(*t, *row, NULL);
	struct gt_range at;

	for (unsigned i = 0; text && i < of->n; i++)
		for (uint32_t r = 0; of->tables[i] != *t && r < gt_table_rows(of->tables[i]); r++)
			if (text_in(of->tables[i], r, text) &&
				gt_row_time(s, of, of->tables[i], r, &at)) {
				*t = of->tables[i];
				*row = r;
				return true;
			}
	return false;
}

/* ---- tracks ---- */

/* The track of this kind and number, below `above` (GT_NONE: anywhere). GT_NONE: none or several.
 */
static uint32_t track_of(
	const struct gt_segment *seg, uint32_t above, unsigned kind, const struct gt_cell *id)
{
	uint32_t found = GT_NONE;

	for (uint32_t t = 0; id && t < seg->ntracks; t++) {
		const struct gt_track *track = &seg->tracks[t];

		if (track->kind != kind || track->id != id->i)
			continue;
		if (above != GT_NONE &&
			(seg->tracks[above].kind == GT_TRACK_DEVICE
					? gt_track_device(seg, t)
					: gt_track_process(seg, t)) != above)
			continue;
		if (found != GT_NONE)
			return GT_NONE;
		found = t;
	}
	return found;
}

bool gt_row_track(const struct gt_scene *s, const struct gt_table *t, uint32_t row,
	uint32_t *segment, uint32_t *track)
{
	const struct gt_segment *seg =
		gt_reader_segment(s->reader, *segment = segment_of(s, t, row));
	uint32_t process = track_of(seg, GT_NONE, GT_TRACK_PROCESS, cell_of(t, row, "pid"));
	uint32_t device = track_of(seg, process, GT_TRACK_DEVICE, cell_of(t, row, "device"));
	uint32_t stream = device == GT_NONE
		? GT_NONE
		: track_of(seg, device, GT_TRACK_STREAM, cell_of(t, row, "stream"));
	uint32_t thread = track_of(seg, process, GT_TRACK_THREAD, cell_of(t, row, "tid"));

	*track = stream != GT_NONE  ? stream
		: device != GT_NONE ? device
		: thread != GT_NONE ? thread
				    : process;
	return *track != GT_NONE;
}

/* ---- gaps ---- */

#define GAP_SEARCH_US 4000u /* the user waits: after this time no further GPUs are tried, */
#define GAP_SEARCH_GPUS 8u  /* but at least so many */

static int gap_of(const struct gt_scene *s, uint32_t segment, uint32_t device, int64_t t,
	struct gt_range *to, struct gt_err *err)
{
	const struct gt_lane_key lane = { { segment, device, GT_ASPECT_WORK, true }, 0 };
	int64_t offset = gt_archive_offset(s->archive, segment);
	struct gt_event_ref before, after;
	int code = gt_gap_at(s->archive, &lane, t + offset, &before, &after, err);

	if (code > 0)
		*to = (struct gt_range){ gt_event_ref_end(&before) - offset, after.start - offset };
	return code;
}

int gt_gap_around(const struct gt_scene *s, struct gt_range *to, struct gt_err *err)
{
	uint64_t deadline = gt_deadline(GAP_SEARCH_US);
	int64_t t = gt_cell_start(&s->window, s->window.cells / 2);
	uint32_t tried = 0;
	bool any = false;
	struct gt_range gap;

	for (uint32_t i = 0; i < gt_reader_segments(s->reader); i++) {
		const struct gt_segment *seg = gt_reader_segment(s->reader, i);

		for (uint32_t k = 0; k < seg->ntracks &&
			(tried < GAP_SEARCH_GPUS || !gt_deadline_is_over(deadline));
			k++) {
			int code = seg->tracks[k].kind == GT_TRACK_DEVICE
				? gap_of(s, i, k, t, &gap, err)
				: 0;

			tried += seg->tracks[k].kind == GT_TRACK_DEVICE;
			if (code < 0)
				return code;
			if (code && (!any || gap.to - gap.from < to->to - to->from))
				*to = gap;
			any |= code;
		}
	}
	return any;
}

/* ---- names ---- */

char *gt_row_name(const struct gt_table *t, uint32_t row)
{
	static const char *const keys[] = { "operation", "kernel", "call", "what" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		const struct gt_cell *c = cell_of(t, row, keys[i]);
		int column = c ? gt_table_column(t, keys[i]) : -1;

		if (c && gt_table_is_text(t, (unsigned)column) && c->s && *c->s)
			return strdup(c->s);
	}
	return NULL;
}

static bool has_name(const struct gt_segment *seg, const struct gt_type *type, void *arg)
{
	const struct gt_report_jump *j = arg;
	const char *name = gt_str(seg, type->name);

	if (!strcmp(name, j->name))
		return true;
	return type->category == GT_CAT_KERNEL &&
		!strcmp(gt_kernel_names_shown(j->names, name), j->name);
}

struct gt_report_jump *gt_report_jump_new(struct gt_scene *s, const char *name, struct gt_err *err)
{
	const struct gt_time_extent *e = &s->extent;
	struct gt_range range = gt_scene_range(s);
	struct gt_report_jump *j = calloc(1, sizeof(*j));
	struct gt_search_spec what = { .what = GT_SEARCH_TYPE,
		.wants = has_name,
		.arg = j,
		.from = range.from > e->from ? range.from : e->from,
		.to = range.to < e->to ? range.to : e->to };

	if (!j) {
		gt_err_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	j->name = strdup(name);
	j->names = gt_kernel_names_of(s->reader, GT_NAME_SHORT);
	if (j->name && j->names)
		j->search = gt_event_search_new(s->archive, &what, err);
	if (j->search)
		return j;
	gt_report_jump_free(j);
	gt_err_set(err, -ENOMEM, "out of memory");
	return NULL;
}

void gt_report_jump_free(struct gt_report_jump *j)
{
	if (!j)
		return;
	gt_event_search_free(j->search);
	gt_kernel_names_free(j->names);
	free(j->name);
	free(j);
}
