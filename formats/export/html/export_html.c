/* A trace as one HTML file: a timeline, a flame graph and tables of reports in any browser, from
 * disk and offline (formats/export/html/). The data are columns of a few bytes an event
 * (html_lanes.h); if they would be larger than --max-size, short neighbours become slices. */
#include "formats/export/exporters.h"

#include <stdlib.h>
#include "formats/export/html/html_lanes.h"
#include "formats/export/html/html_page.h"
#include "formats/export/stacks/stack_tree.h"
#include "formats/trace/codec.h"

#define DEFAULT_MAX (200ull << 20) /* bytes: browsers open this */
#define BYTES_PER_SLICE 5          /* about; what did not fit says it better */

struct html {
	struct gt_reader *r;
	const struct gt_export_options *opt;
	struct gt_err *err;
};

/* ---- columns to sections ---- */

static int add_section(
	struct html *x, struct gt_html_page *p, enum gt_html_section s, struct gt_buf *b)
{
	int rc = b->failed ? -ENOMEM : gt_html_page_add(p, s, b->data, b->len);

	return rc ? gt_err_set(x->err, rc, "out of memory") : 0;
}

/* One section has this column of all lanes. offset: of the column in struct gt_html_lane. */
static int add_column(struct html *x, struct gt_html_page *p, struct gt_html_lanes *h,
	enum gt_html_section section, size_t offset)
{
	struct gt_buf all = { .len = 0 };
	int rc;

	for (size_t i = 0; i < h->nlanes; i++) {
		const struct gt_buf *b =
			(const struct gt_buf *)((const char *)&h->lanes[i] + offset);

		all.failed |= b->failed;
		if (section == GT_HTML_EXTRA) /* the page must know where they end */
			gt_put_varint(&all, b->len);
		gt_buf_add(&all, b->data, b->len);
	}
	rc = add_section(x, p, section, &all);
	gt_buf_release(&all);
	return rc;
}

static void put_column(struct gt_buf *to, const struct gt_html_column *c)
{
	to->failed |= c->bytes.failed;
	if (!c->varies) {
		gt_put_varint(to, 0);
		gt_html_zigzag(to, (int64_t)c->first);
		return;
	}
	gt_put_varint(to, c->bytes.len);
	gt_buf_add(to, c->bytes.data, c->bytes.len);
}

static int add_args(struct html *x, struct gt_html_page *p, struct gt_html_lanes *h)
{
	struct gt_buf all = { .len = 0 };
	int rc;

	for (size_t i = 0; i < h->nlanes; i++)
		for (uint32_t k = 0; k < h->lanes[i].ntypes; k++) {
			const struct gt_html_lane_type *t = &h->lane_types[h->lanes[i].types[k]];

			for (uint32_t c = 0; c < t->ncolumns; c++)
				put_column(&all, &t->columns[c]);
		}
	rc = add_section(x, p, GT_HTML_ARGS, &all);
	gt_buf_release(&all);
	return rc;
}

static int add_head(struct html *x, struct gt_html_page *p, struct gt_html_lanes *h)
{
	struct gt_out json;
	struct gt_err ignored = GT_ERR_INIT;
	int rc;

	gt_out_memory(&json);
	gt_html_head(h, x->opt, &json);
	rc = x->err->code     ? x->err->code
		: json.failed ? json.failed
			      : gt_html_page_add(p, GT_HTML_HEAD, json.data, json.len);
	gt_out_close(&json, &ignored);
	return rc && !x->err->code ? gt_err_set(x->err, rc, "out of memory") : rc;
}

/* ---- the flame graph ---- */

static void put_tree(const struct gt_stack_tree *t, struct gt_out *out)
{
	gt_out_printf(
		out, "{\"bytes\":%s,\"labels\":[", t->cost == GT_COST_BYTES ? "true" : "false");
	for (uint32_t i = 0; i < t->nlabels; i++) {
		const char *label = gt_stack_tree_label(t, i);

		gt_out_str(out, i ? "," : "");
		gt_out_json(out, label, strlen(label));
	}
	gt_out_str(out, "],\"nodes\":[");
	for (size_t i = 0; i < t->nnodes; i++)
		gt_out_printf(out, "%s%d,%u,%lld", i ? "," : "",
			t->nodes[i].parent == GT_NONE ? -1 : (int)t->nodes[i].parent,
			t->nodes[i].label, (long long)t->nodes[i].cost);
	gt_out_str(out, "]}");
}

static int add_flame(struct html *x, struct gt_html_page *p)
{
	struct gt_err ignored = GT_ERR_INIT;
	struct gt_stack_tree tree;
	struct gt_out json;
	struct gt_export_options opt = *x->opt;
	int rc;

	opt.rows_done = NULL; /* the timeline counts the rows */
	rc = opt.tree ? 0 : gt_stack_tree_build(&tree, x->r, &opt, x->err);

	gt_out_memory(&json);
	if (!rc)
		put_tree(x->opt->tree ? x->opt->tree : &tree, &json);
	if (!rc)
		rc = json.failed ? json.failed
				 : gt_html_page_add(p, GT_HTML_FLAME, json.data, json.len);
	gt_out_close(&json, &ignored);
	if (!x->opt->tree)
		gt_stack_tree_release(&tree);
	return rc && !x->err->code ? gt_err_set(x->err, rc, "out of memory") : rc;
}

/* ---- the file ---- */

static int read_rows(struct html *x, struct gt_html_lanes *h)
{
	struct gt_filter f = x->opt->filter;
	int rc;

	f.args = true;
	rc = gt_export_rows(x->r, x->opt, &f, NULL, gt_html_lanes_put, h, x->err);
	return rc ? rc : gt_html_lanes_finish(h);
}

/* *slices: how many the page has. */
static int add_timeline(
	struct html *x, struct gt_html_page *p, int64_t resolution, uint64_t *slices)
{
	static const struct {
		enum gt_html_section section;
		size_t offset;
	} columns[] = { { GT_HTML_START, offsetof(struct gt_html_lane, start) },
		{ GT_HTML_DUR, offsetof(struct gt_html_lane, dur) },
		{ GT_HTML_TYPE, offsetof(struct gt_html_lane, type) },
		{ GT_HTML_LEVEL, offsetof(struct gt_html_lane, level) },
		{ GT_HTML_EXTRA, offsetof(struct gt_html_lane, extra) },
		{ GT_HTML_VALUE, offsetof(struct gt_html_lane, value) } };
	struct gt_html_lanes h;
	int rc = gt_html_lanes_init(&h, x->r, x->err);

	h.resolution = resolution;
	rc = rc ? rc : read_rows(x, &h);
	for (size_t i = 0; !rc && i < sizeof(columns) / sizeof(*columns); i++)
		rc = add_column(x, p, &h, columns[i].section, columns[i].offset);
	rc = rc ? rc : add_args(x, p, &h);
	rc = rc ? rc : add_head(x, p, &h);
	*slices = 0;
	for (size_t i = 0; i < h.nlanes; i++)
		*slices += h.lanes[i].n;
	gt_html_lanes_release(&h);
	return rc;
}

/* Without the timeline: the size of the rest is then known. */
static int add_rest(struct html *x, struct gt_html_page *p)
{
	int rc = 0;

	if (x->opt->reports)
		rc = gt_html_page_add(p, GT_HTML_REPORTS, x->opt->reports, strlen(x->opt->reports));
	if (rc)
		return gt_err_set(x->err, rc, "out of memory");
	return add_flame(x, p);
}

static void drop_timeline(struct gt_html_page *p)
{
	for (unsigned i = GT_HTML_HEAD; i <= GT_HTML_ARGS; i++)
		gt_buf_clear(&p->sections[i]);
}

/* What a resolution leaves; known after the trace was read for that. */
struct detail {
	bool measured;
	uint64_t counts[GT_HTML_RESOLUTIONS];
	unsigned next; /* the finest resolution that was not tried */
};

static int measure(struct html *x, struct detail *d)
{
	struct gt_html_lanes h;
	int rc = gt_html_lanes_init(&h, x->r, x->err);

	h.measuring = true;
	rc = rc ? rc : read_rows(x, &h);
	memcpy(d->counts, h.counts, sizeof(d->counts));
	d->measured = true;
	gt_html_lanes_release(&h);
	return rc;
}

/* Adds the timeline in at most `most` bytes: all events, if so many may fit, else with the finest
 * resolution that leaves few enough slices. If a slice takes more bytes than expected, it tries
 * again. */
static int fit_timeline(struct html *x, struct gt_html_page *p, size_t most)
{
	struct detail d = { .next = 0 };
	size_t rest = gt_html_page_size(p), size = 0;
	double bytes = BYTES_PER_SLICE;
	uint64_t slices = 0;
	int64_t resolution = 0;
	int rc = 0;

	for (uint32_t i = 0; i < gt_reader_segments(x->r); i++)
		slices += gt_segment_rows(gt_reader_segment(x->r, i));
	for (bool all = (double)slices * bytes < (double)most; !rc; all = false) {
		if (!all && !d.measured && (rc = measure(x, &d)))
			break;
		while (!all && d.next < GT_HTML_RESOLUTIONS &&
			(double)d.counts[d.next] * bytes > (double)most)
			d.next++;
		if (d.next >= GT_HTML_RESOLUTIONS)
			return gt_err_set(x->err, -EFBIG,
				"--max-size is too small: the page needs about %zu bytes",
				rest + (size ? size : (size_t)bytes));
		resolution = all ? 0 : gt_html_resolution(d.next++);
		drop_timeline(p);
		rc = add_timeline(x, p, resolution, &slices);
		size = gt_html_page_size(p) - rest;
		if (rc || size <= most)
			break;
		bytes = 1.05 * (double)size / (double)(slices ? slices : 1);
	}
	return rc;
}

static int html_export(struct gt_reader *r, const struct gt_export_options *opt, struct gt_out *out,
	struct gt_err *err)
{
	struct html x = { r, opt, err };
	const uint64_t max = opt->max_size ? opt->max_size : DEFAULT_MAX;
	struct gt_html_page page = { .sections = { { .len = 0 } } };
	int rc = add_rest(&x, &page);
	size_t rest = gt_html_page_size(&page);

	if (!rc && rest >= max)
		rc = gt_err_set(err, -EFBIG,
			"--max-size is too small: the page without its timeline has %zu bytes",
			rest);
	rc = rc ? rc : fit_timeline(&x, &page, max - rest);
	if (!rc)
		gt_html_page_write(&page, out);
	gt_html_page_release(&page);
	return rc;
}

const struct gt_exporter gt_export_html = {
	.name = "html",
	.suffix = "html",
	.help = "one HTML file with the timeline, a flame graph and reports, for any browser",
	.takes = GT_TAKES_STACKS,
	.has_reports = true,
	.limits_size = true,
	.export = html_export,
};
