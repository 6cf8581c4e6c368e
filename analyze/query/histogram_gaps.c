/* Histograms of the lengths of gaps, in which a GPU runs no operation; one per GPU, or per group
 * of --by. Thousands of gaps of a few microseconds need other remedies than a few long ones, so
 * the total time stands beside the number. Gaps are those of `gaps` and `budget` (idle.h): each
 * counts once, in full, under the cause of its longest part. Numbers and sums are exact: one
 * histogram counts gaps, another one weights each gap by its length. */
#include "analyze/query/histogram_gaps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyze/core/durations.h"
#include "analyze/stats/group_table.h"
#include "analyze/idle/idle.h"
#include "formats/base/buf.h"
#include "formats/base/sorted.h"
#include "formats/cmdline/did_you_mean.h"

#define GROUPS_MOST 4096u
#define NO_DEVICE INT64_MIN

struct gap_key {
	int64_t of[GT_GAP_FIELDS];
}; /* by enum gt_gap_field; 0: not grouped by it */
struct gap_group {
	struct gap_key key;
	struct gt_durations d;
	struct gt_hist ns;
};
struct histogram_gaps {
	struct gt_idle *idle;
	const struct gt_gap_by *by; /* NULL: nothing to do */
	struct gt_group_table groups;
	size_t hist_bytes;
};

/* ---- --by ---- */

static const struct {
	const char *name;
	struct gt_column column;
} fields[] = {
	[GT_GAP_RECORDING] = { "recording", { "recording", "Recording", GT_C_COUNT } },
	[GT_GAP_PID] = { "pid", { "pid", "PID", GT_C_COUNT } },
	[GT_GAP_DEVICE] = { "device", { "device", "Device", GT_C_COUNT } },
	[GT_GAP_CAUSE] = { "cause", { "cause", "Cause", GT_C_TEXT } },
};

static int field_called(const char *s, size_t len, unsigned at, struct gt_err *err)
{
	char name[40];
	struct gt_nearest near = GT_NEAREST(name);

	snprintf(name, sizeof(name), "%.*s", (int)(len < sizeof(name) ? len : sizeof(name) - 1), s);
	for (unsigned i = 0; i < GT_GAP_FIELDS; i++) {
		if (!strcmp(fields[i].name, name))
			return (int)i;
		gt_nearest_try(&near, fields[i].name);
	}
	if (near.best)
		return gt_err_at(err, at, -EINVAL, "gaps have no field '%s'; did you mean '%s'?",
			name, near.best);
	return gt_err_at(err, at, -EINVAL, "gaps are grouped by recording, pid, device, cause");
}

static int read_list(struct gt_gap_by *b, const char *by, struct gt_err *err)
{
	for (const char *s = by;; s += strcspn(s, ",") + 1) {
		size_t blanks = strspn(s, " "), len = strcspn(s + blanks, ", ");
		unsigned at = (unsigned)(s + blanks - by);
		int field = field_called(s + blanks, len, at, err);

		if (field < 0)
			return field;
		if (memchr(b->list, field, b->n))
			return gt_err_at(err, at, -EINVAL, "this field occurs twice");
		b->list[b->n++] = (uint8_t)field;
		if (!s[strcspn(s, ",")])
			return 0;
	}
}

int gt_gap_by_read(struct gt_gap_by *b, const char *by, struct gt_err *err)
{
	static const struct gt_column figures[GT_HISTOGRAM_COLUMNS] = {
		{ "from_ns", "From", GT_C_NS },
		{ "to_ns", "Below", GT_C_NS },
		{ "count", "Count", GT_C_COUNT },
		{ "share_percent", "Share %", GT_C_PERCENT },
		{ "total_ns", "Total", GT_C_NS },
	};
	int rc;

	*b = (struct gt_gap_by){ .has_by = by };
	rc = read_list(b, by ? by : "recording,pid,device", err);
	if (rc)
		return rc;
	strcpy(b->title, "Gaps in which GPUs were idle, by length");
	for (unsigned i = 0; i < b->n; i++) {
		b->columns[i] = fields[b->list[i]].column;
		if (by)
			sprintf(b->title + strlen(b->title), ", %s", fields[b->list[i]].name);
	}
	memcpy(b->columns + b->n, figures, sizeof(figures));
	return 0;
}

int gt_histogram_gaps_configure(
	struct gt_configured_report *c, const struct gt_analysis_options *opt, struct gt_err *err)
{
	if (gt_report_option(opt, "where"))
		return gt_err_set(err, -EINVAL,
			"--where selects rows, and gaps have none; use --from and --to to select a time range");
	c->report = gt_histogram_gaps_report;
	c->option = "--by";
	c->text = gt_report_option(opt, "by");
	c->settings = malloc(sizeof(struct gt_gap_by));
	return c->settings ? gt_gap_by_read(c->settings, c->text, err)
			   : gt_err_set(err, -ENOMEM, "out of memory (histogram)");
}

/* ---- gaps ---- */

static int on_gap(void *arg, const struct gt_idle_gap *gap, struct gt_err *err)
{
	struct histogram_gaps *h = arg;
	uint32_t track = gap->device - h->idle->order.tracks[gap->seg->index], group;
	uint32_t process = gt_track_process(gap->seg, track);
	const struct gt_track *device = &gap->seg->tracks[track];
	const int64_t all[GT_GAP_FIELDS] = { gap->seg->index,
		process == GT_NONE ? -1 : gap->seg->tracks[process].id,
		device->kind == GT_TRACK_DEVICE ? device->id : NO_DEVICE, gap->cause };
	struct gap_key key = { { 0 } };
	int64_t ns = gap->to - gap->from;
	struct gap_group *to;
	struct gt_hist_bucket *octave, *bucket;

	for (unsigned i = 0; i < h->by->n; i++)
		key.of[h->by->list[i]] = all[h->by->list[i]];
	group = gt_group_table_find(&h->groups, &key, err);
	if (group == GT_GROUP_TABLE_NONE)
		return err->code;
	to = gt_group_table_at(&h->groups, group);
	gt_durations_add(&to->d, (uint64_t)ns, &h->hist_bytes);
	octave = to->d.coarse ? NULL : gt_hist_grow(&to->ns, gt_hist_bucket(ns) / GT_HIST_OCTAVE);
	if (octave) {
		bucket = &octave[gt_hist_bucket(ns) % GT_HIST_OCTAVE];
		/* an amount, not a number of rows */
		bucket->count = gt_sat_add(bucket->count, (uint64_t)ns);
	}
	return octave || to->d.coarse ? 0 : gt_err_set(err, -ENOMEM, "out of memory (histogram)");
}

static void release_groups(struct histogram_gaps *h)
{
	for (size_t i = 0; i < h->groups.n; i++) {
		struct gap_group *g = gt_group_table_at(&h->groups, i);

		gt_durations_release(&g->d);
		gt_hist_release(&g->ns);
	}
	gt_group_table_release(&h->groups);
}

static void on_rewind(void *arg)
{
	struct histogram_gaps *h = arg;

	release_groups(h);
	gt_group_table_init(
		&h->groups, sizeof(struct gap_group), sizeof(struct gap_key), GROUPS_MOST);
}

static int gaps_init(
	void *state, struct gt_reader *r, const struct gt_analysis_options *opt, struct gt_err *err)
{
	struct histogram_gaps *h = state;

	h->by = gt_report_option(opt, "histogram");
	h->idle = opt->engine;
	gt_idle_listen(h->idle,
		&(struct gt_idle_listener){ .gap = on_gap, .restart = on_rewind, .arg = h });
	gt_group_table_init(
		&h->groups, sizeof(struct gap_group), sizeof(struct gap_key), GROUPS_MOST);
	return 0;
}

/* ---- the table ---- */

static int by_total(const void *pa, const void *pb)
{
	const struct gap_group *a = pa, *b = pb;

	return GT_COMPARE(b->d.total, a->d.total) ?: memcmp(&a->key, &b->key, sizeof(a->key));
}

static struct gt_cell key_cell(
	const struct histogram_gaps *h, const struct gap_group *g, enum gt_gap_field field)
{
	int64_t v = g->key.of[field];

	if (gt_group_table_is_rest(&h->groups, g) || (field == GT_GAP_DEVICE && v == NO_DEVICE) ||
		(field == GT_GAP_PID && v < 0))
		return gt_cell_none();
	return field == GT_GAP_CAUSE ? gt_cell_text(gt_idle_words((unsigned)v)) : gt_cell_i(v);
}

static char *label_of(
	const struct gt_gap_by *by, const struct gt_cell *cells, unsigned skip, bool rest)
{
	struct gt_buf b = { 0 };

	gt_buf_str(&b, rest ? "all others" : "");
	for (unsigned i = skip; i < by->n && !rest; i++) {
		gt_buf_printf(&b, "%s%s", i > skip ? ", " : "",
			by->columns[i].kind == GT_C_TEXT ? "" : by->columns[i].title);
		if (cells[i].absent || cells[i].s)
			gt_buf_printf(&b, "%s", cells[i].absent ? " -" : cells[i].s);
		else
			gt_buf_printf(&b, " %lld", (long long)cells[i].i);
	}
	gt_buf_byte(&b, 0);
	if (!b.failed)
		return (char *)b.data;
	gt_buf_release(&b);
	return NULL;
}

static int add_group(const struct histogram_gaps *h, struct gt_table *t, const struct gap_group *g,
	unsigned skip, const struct gt_histogram_layout *l, struct gt_err *err)
{
	struct gt_cell cells[GT_GAP_FIELDS + GT_HISTOGRAM_COLUMNS], *from = cells + skip;
	struct gt_histogram d = { .of = "gap", .kind = GT_C_NS };
	size_t width = h->idle->report.opt->width;
	char *label;
	int rc;

	for (unsigned i = 0; i < h->by->n; i++)
		cells[i] = key_cell(h, g, h->by->list[i]);
	gt_histogram_make(&d, g->d.hist, (int64_t)g->d.shortest, gt_clamp(g->d.longest));
	gt_histogram_add_amounts(&d, &g->ns);
	rc = gt_histogram_add_rows(t, &d, from, h->by->n - skip, err);
	if (rc || !width)
		return rc;
	label = label_of(h->by, cells, skip, gt_group_table_is_rest(&h->groups, g));
	if (!label || gt_histogram_clip_labels(&label, 1, width))
		rc = gt_err_set(err, -ENOMEM, "out of memory (names)");
	if (!rc)
		rc = gt_histogram_draw(t, &d, l, label, err);
	free(label);
	return rc;
}

static int add_groups(
	struct histogram_gaps *h, struct gt_table *t, unsigned skip, struct gt_err *err)
{
	size_t shown = gt_rows_shown(h->groups.n, h->idle->report.opt->top);
	uint64_t most = 0, coarse = 0;
	struct gt_histogram_layout l;
	int rc = 0;

	gt_group_table_sort(&h->groups, by_total);
	for (size_t i = 0; i < shown; i++) {
		const struct gap_group *g = gt_group_table_at(&h->groups, i);

		most = g->d.count > most ? g->d.count : most;
		coarse += g->d.coarse;
	}
	l = gt_histogram_layout(h->idle->report.opt->width, most, true);
	for (size_t i = 0; !rc && i < shown; i++) {
		const struct gap_group *g = gt_group_table_at(&h->groups, i);

		if (i && h->idle->report.opt->width)
			gt_table_add_line(t, "%s", "");
		rc = g->d.coarse ? 0 : add_group(h, t, g, skip, &l, err);
	}
	gt_table_note_cut(t, h->groups.n, shown);
	if (coarse)
		gt_table_note(t, "too many groups: %llu of them could not be counted",
			(unsigned long long)coarse);
	return rc;
}

static int gaps_finish(void *state, struct gt_table **tables, unsigned max, struct gt_err *err)
{
	struct histogram_gaps *h = state;
	unsigned skip = h->by->has_by ? 0 : gt_where_skip(h->idle->report.reader);
	const char *cannot = gt_idle_why_unanswered(h->idle);
	int rc;

	tables[0] = gt_table_new("histogram", h->by->title, h->by->columns + skip,
		h->by->n + GT_HISTOGRAM_COLUMNS - skip);
	if (!tables[0])
		return gt_err_set(err, -ENOMEM, "out of memory (table)");
	if (cannot) {
		gt_table_set_unanswered(tables[0], "%s", cannot);
		return 1;
	}
	rc = add_groups(h, tables[0], skip, err);
	gt_idle_note_gaps(h->idle, tables[0]);
	return rc ? rc : 1;
}

static void gaps_release(void *state) { release_groups(state); }

const struct gt_analysis gt_histogram_gaps_report = {
	.name = "histogram",
	.help = "the lengths of the gaps in which GPUs were idle",
	.wants = GT_IDLE_WANTS,
	.engine = &gt_idle_engine,
	.order = GT_BY_TIME,
	.free_settings = free,
	.state_size = sizeof(struct histogram_gaps),
	.init = gaps_init,
	.finish = gaps_finish,
	.release = gaps_release,
};
