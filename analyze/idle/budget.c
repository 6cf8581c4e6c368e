/* Report "budget": the time of the GPUs by use. The parts add up to the window exactly. If the
 * trace has samples, time outside CUDA is divided by them (host_shares.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyze/idle/idle.h"
#include "analyze/gpu/shared_gpus.h"
#include "formats/base/buf.h"
#include "formats/base/sorted.h"
#include "formats/names/kernel_names.h"

#define DIVIDED (WORKS + GT_IDLE_CAUSE_COUNT) /* parts of causes that samples divide */
#define PARTS (DIVIDED + DIVISIONS)
#define BAR 40
#define BESIDE_BAR 26u /* terminal columns of a line besides the bar and the part */
#define LEAST_BAR 12u
#define LEAST_SHARE 100   /* hundredths of a percent: on a page, smaller causes are one row */
#define LEAST_DIVIDED 500 /* likewise: more time outside CUDA is worth samples */

struct budget {
	struct gt_idle *idle;
};

static int budget_init(
	void *state, struct gt_reader *r, const struct gt_analysis_options *opt, struct gt_err *err)
{
	((struct budget *)state)->idle = opt->engine;
	gt_idle_want_shares(opt->engine, false);
	return 0;
}

/* ---- parts ---- */

/* The parts in which the GPU works: compute is divided by whether managed memory migrates. */
enum work { COMPUTE, MIGRATING, COMMUNICATION, COPIES, WORKS };
static const struct {
	const char *key, *text;
	char mark;
} works[WORKS] = {
	[COMPUTE] = { "compute", "compute", GT_MARK_COMPUTE },
	[MIGRATING] = { "compute_migrating", "compute while memory migrates", GT_MARK_COMPUTE },
	[COMMUNICATION] = { "communication", "communication, exposed", GT_MARK_COMMUNICATION },
	[COPIES] = { "copies", "copies and sets, exposed", GT_MARK_COPY },
};

/* What a cause is divided into. */
enum division { PYTHON, NATIVE, DIVISIONS };
static const struct {
	enum gt_idle_cause cause;
	enum gt_host_doing doing;
} divisions[DIVISIONS] = {
	[PYTHON] = { GT_IDLE_OUTSIDE, GT_DOES_PYTHON },
	[NATIVE] = { GT_IDLE_OUTSIDE, GT_DOES_NATIVE },
};

static const char *idle_key(unsigned part)
{
	return part < DIVIDED ? gt_idle_key(part - WORKS)
			      : gt_host_doing_key(divisions[part - DIVIDED].doing);
}

static const char *idle_words(const struct gt_idle *s, unsigned part)
{
	if (part == WORKS + GT_IDLE_OUTSIDE && s->shares.sum.samples)
		return "outside CUDA, not known";
	return part < DIVIDED ? gt_idle_words(part - WORKS)
			      : gt_host_doing_words(divisions[part - DIVIDED].doing);
}

static void device_parts(const struct gt_idle_device *d, uint64_t parts[PARTS])
{
	const uint64_t ns[WORKS] = { d->kind[GT_WORK_COMPUTE] - d->migrating, d->migrating,
		d->kind[GT_WORK_COMMUNICATION], d->kind[GT_WORK_COPY] };

	for (unsigned k = 0; k < WORKS; k++)
		parts[k] = gt_sat_add(parts[k], ns[k]);
	for (unsigned c = 0; c < GT_IDLE_CAUSE_COUNT; c++)
		parts[WORKS + c] = gt_sat_add(parts[WORKS + c], d->cause[c]);
}

struct sheet {
	const struct gt_idle *of;
	uint64_t parts[PARTS], whole, idle;
	/* of parts outside CUDA: half of the 95 % confidence interval, in hundredths of a percent;
	 * 0: exact */
	int64_t errors[DIVISIONS];
	int64_t shares[PARTS], idle_share;
	unsigned cells;
};

/* Moves the divided time of a cause out of it. The shares are of all its time, but managed memory
 * migrates in a part of it, which has that cause: so the proportions count. */
static void divide_cause(
	struct sheet *h, enum gt_idle_cause cause, const uint64_t ns[DIVISIONS], uint64_t all)
{
	uint64_t whole = h->parts[WORKS + cause];

	for (unsigned k = 0; k < DIVISIONS; k++)
		if (divisions[k].cause == cause && all) {
			h->parts[DIVIDED + k] = (uint64_t)((unsigned __int128)whole * ns[k] / all);
			h->parts[WORKS + cause] -= h->parts[DIVIDED + k];
		}
}

static void divide_causes(struct sheet *h)
{
	const struct gt_host_shares *shares = &h->of->shares;
	uint64_t ns[DIVISIONS] = { 0 }, samples[DIVISIONS] = { 0 };

	for (size_t i = 0; i < shares->list.n; i++) {
		const struct gt_host_share *one = gt_group_table_at(&shares->list, i);

		for (unsigned k = 0; k < DIVISIONS; k++)
			if (one->cause == divisions[k].cause && one->doing == divisions[k].doing) {
				ns[k] = gt_sat_add(ns[k], one->ns);
				samples[k] += one->samples;
			}
	}
	divide_cause(h, GT_IDLE_OUTSIDE, ns, shares->sum.outside);
	for (unsigned k = 0; k < DIVISIONS; k++)
		if (samples[k])
			h->errors[k] =
				gt_cell_share(gt_outside_error(&shares->sum, samples[k]), h->whole)
					.i;
}

/* All parts together make one bar; each part shows its section of it. Times are multiplied by the
 * number of cells, so that nothing is rounded. */
struct bar {
	char text[BAR + 1];
};

/* The time of a cell that the part from `before` to `before + part` covers. */
static unsigned __int128 taken(const struct sheet *h, unsigned cell, uint64_t before, uint64_t part)
{
	unsigned __int128 from = (unsigned __int128)before * h->cells,
			  to = from + (unsigned __int128)part * h->cells;
	unsigned __int128 low = (unsigned __int128)cell * h->whole, high = low + h->whole;

	from = from > low ? from : low;
	to = to < high ? to : high;
	return to > from ? to - from : 0;
}

/* Blanks before the section, and marks in cells that it covers by half or more. A part with any
 * time has at least one mark. */
static struct bar stretch(const struct sheet *h, uint64_t before, uint64_t part, char mark)
{
	struct bar b = { { 0 } };
	unsigned n = 0, best = 0;

	memset(b.text, ' ', BAR);
	for (unsigned i = 0; i < h->cells; i++) {
		unsigned __int128 of_it = taken(h, i, before, part);

		best = of_it > taken(h, best, before, part) ? i : best;
		if (of_it && 2 * of_it >= h->whole)
			b.text[(n = i + 1) - 1] = mark;
	}
	if (!n && part && h->cells)
		b.text[(n = best + 1) - 1] = mark;
	b.text[n] = '\0';
	return b;
}

/* A cell shows the part that covers most of it. */
static struct bar all_parts(const struct sheet *h)
{
	struct bar b = { { 0 } };

	for (unsigned i = 0; i < h->cells && h->whole; i++) {
		unsigned __int128 most = 0;
		uint64_t before = 0;

		b.text[i] = GT_MARK_IDLE;
		for (unsigned k = 0; k < WORKS; before += h->parts[k++])
			if (taken(h, i, before, h->parts[k]) > most) {
				most = taken(h, i, before, h->parts[k]);
				b.text[i] = works[k].mark;
			}
		if (taken(h, i, before, h->idle) > most)
			b.text[i] = GT_MARK_IDLE;
	}
	return b;
}

/* beside: terminal columns of the rest of a line */
static unsigned bar_cells(size_t width, size_t beside)
{
	if (!width || width == SIZE_MAX || width >= beside + BAR)
		return BAR;
	return width < beside + LEAST_BAR ? 0 : (unsigned)(width - beside);
}

static const struct gt_column columns[] = {
	{ "part", "Part", GT_C_TEXT },
	{ "total_ns", "Time", GT_C_NS },
	{ "share_percent", "Share %", GT_C_PERCENT },
	{ "bar", "Bar", GT_C_WHOLE },
	{ "key", NULL, GT_C_TEXT },
	{ "level", NULL, GT_C_COUNT },
	{ "error_percent", NULL, GT_C_PERCENT },
};
#define NCOLUMNS 7

struct line {
	const char *text, *key;
	unsigned level;
	uint64_t ns;
	int64_t share;
	const char *bar;
	int64_t error; /* 0: exact */
};

static void add_line(struct gt_table *t, const struct line *l)
{
	gt_table_add(t,
		(struct gt_cell[NCOLUMNS]){ { .s = l->text, .indent = 2 * l->level },
			gt_cell_u(l->ns), gt_cell_i(l->share),
			gt_cell_toned(gt_cell_text(l->bar), GT_TONE_MARKS), gt_cell_text(l->key),
			gt_cell_u(l->level), l->error ? gt_cell_i(l->error) : gt_cell_none() });
}

static int64_t least_share(const struct gt_idle *s)
{
	return s->report.opt->one_page ? LEAST_SHARE : 0;
}

/* The length of the longest part that is shown. */
static size_t longest_part(const struct gt_idle *s, const struct sheet *h)
{
	size_t most = strlen(works[h->parts[MIGRATING] ? MIGRATING : COMMUNICATION].text);

	for (unsigned c = WORKS; c < PARTS; c++) {
		size_t n = 2 + strlen(idle_words(s, c));

		if (h->parts[c] && h->shares[c] >= least_share(s) && n > most)
			most = n;
	}
	return most;
}

static int fill_sheet(const struct gt_idle *s, struct sheet *h, struct gt_err *err)
{
	*h = (struct sheet){ .of = s };
	for (size_t i = 0; i < s->ndevices; i++) {
		device_parts(&s->devices[i], h->parts);
		h->whole = gt_sat_add(h->whole, s->devices[i].window);
	}
	divide_causes(h);
	for (unsigned c = WORKS; c < PARTS; c++)
		h->idle = gt_sat_add(h->idle, h->parts[c]);
	if (gt_compute_shares(h->parts, PARTS, h->shares, err))
		return err->code;
	for (unsigned c = WORKS; c < PARTS; c++)
		h->idle_share += h->shares[c];
	h->cells = bar_cells(s->report.opt->width, BESIDE_BAR + longest_part(s, h));
	return 0;
}

static void add_part(
	struct gt_table *t, const struct sheet *h, struct line l, uint64_t before, char mark)
{
	struct bar b = stretch(h, before, l.ns, mark);

	l.bar = b.text;
	add_line(t, &l);
}

/* The cause with the most time that is not done yet. PARTS: none. */
static unsigned next_cause(const struct sheet *h, const bool done[PARTS])
{
	unsigned most = PARTS;

	for (unsigned c = WORKS; c < PARTS; c++)
		if (!done[c] && h->parts[c] && (most == PARTS || h->parts[c] > h->parts[most]))
			most = c;
	return most;
}

/* Adds the causes in order of their time; causes without time are left out. least: causes with a
 * smaller share are added up in one row. */
static void add_causes(struct gt_table *t, const struct sheet *h, uint64_t before, int64_t least)
{
	bool done[PARTS] = { false };
	struct line rest = { "other causes", "other", 1, 0, 0, NULL, 0 };
	unsigned most, n = 0;

	while ((most = next_cause(h, done)) != PARTS) {
		done[most] = true;
		if (h->shares[most] < least) {
			rest.ns += h->parts[most];
			rest.share += h->shares[most];
			n++;
			continue;
		}
		add_part(t, h,
			(struct line){ idle_words(h->of, most), idle_key(most), 1, h->parts[most],
				h->shares[most], NULL,
				most < DIVIDED ? 0 : h->errors[most - DIVIDED] },
			before, GT_MARK_IDLE);
		before += h->parts[most];
	}
	if (n)
		add_part(t, h, rest, before, GT_MARK_IDLE);
}

static void add_parts(struct gt_table *t, const struct sheet *h, int64_t least)
{
	struct bar all = all_parts(h);
	uint64_t before = 0;

	add_line(t, &(struct line){ "all", "all", 0, h->whole, h->whole ? 10000 : 0, all.text, 0 });
	for (unsigned k = 0; k < WORKS; k++) {
		if (!h->parts[k] && (least || k == MIGRATING))
			continue; /* no such work */
		add_part(t, h,
			(struct line){ works[k].text, works[k].key, 0, h->parts[k], h->shares[k],
				NULL, 0 },
			before, works[k].mark);
		before += h->parts[k];
	}
	add_part(t, h, (struct line){ "idle", "idle", 0, h->idle, h->idle_share, NULL, 0 }, before,
		GT_MARK_IDLE);
	add_causes(t, h, before, least);
}

/* ---- GPUs ---- */

static const struct gt_column gpu_columns[] = {
	GT_WHERE_DEVICE,
	{ "window_ns", "Window", GT_C_NS },
	{ "compute_percent", "Compute %", GT_C_PERCENT },
	{ "communication_percent", "Comm. %", GT_C_PERCENT },
	{ "copies_percent", "Copies %", GT_C_PERCENT },
	{ "idle_percent", "Idle %", GT_C_PERCENT },
	{ "cause", "Idle mostly", GT_C_TEXT },
	{ "compute_ns", NULL, GT_C_NS },
	{ "communication_ns", NULL, GT_C_NS },
	{ "copies_ns", NULL, GT_C_NS },
	{ "idle_ns", NULL, GT_C_NS },
	{ "cause_ns", NULL, GT_C_NS },
};
#define NGPU 14

static int add_gpu(struct gt_table *t, const struct gt_idle_device *d, struct gt_err *err)
{
	uint64_t parts[] = { d->kind[GT_WORK_COMPUTE], d->kind[GT_WORK_COMMUNICATION],
		d->kind[GT_WORK_COPY], d->idle };
	struct gt_cell cells[NGPU + 1];
	unsigned most = 0;
	int64_t shares[4];

	if (gt_compute_shares(parts, 4, shares, err))
		return err->code;
	for (unsigned c = 1; c < GT_IDLE_CAUSE_COUNT; c++)
		most = d->cause[c] > d->cause[most] ? c : most;
	gt_where_device(cells, d->seg, d->track);
	cells[4] = gt_cell_u(d->window);
	for (int i = 0; i < 4; i++) {
		cells[5 + i] = d->window ? gt_cell_i(shares[i]) : gt_cell_none();
		cells[10 + i] = gt_cell_u(parts[i]);
	}
	cells[9] = d->idle ? gt_cell_text(gt_idle_words(most)) : gt_cell_none();
	cells[14] = d->idle ? gt_cell_u(d->cause[most]) : gt_cell_none();
	gt_table_add(t, cells);
	return 0;
}

static int64_t computes(const struct gt_idle_device *d)
{
	return gt_cell_share(d->kind[GT_WORK_COMPUTE], d->window).i;
}

/* Notes the GPUs with the most and the least compute: a GPU that waits for others in communication
 * computes less. */
static void note_extremes(const struct gt_idle *s, struct gt_table *t)
{
	const struct gt_idle_device *most = s->devices, *least = s->devices;

	for (size_t i = 1; i < s->ndevices; i++) {
		most = computes(&s->devices[i]) > computes(most) ? &s->devices[i] : most;
		least = computes(&s->devices[i]) < computes(least) ? &s->devices[i] : least;
	}
	if (s->ndevices > 1 && computes(most) > computes(least))
		gt_table_note(t, "%s computes most (%.2f %%), %s least (%.2f %%)",
			gt_gpu_label_of(&s->report, most->seg, most->track).text,
			(double)computes(most) / 100,
			gt_gpu_label_of(&s->report, least->seg, least->track).text,
			(double)computes(least) / 100);
}

static int gpus_table(const struct gt_idle *s, struct gt_table **to, struct gt_err *err)
{
	size_t shown = gt_rows_shown(s->ndevices, s->report.opt->top);
	struct gt_table *t = *to = gt_report_table(&s->report, "budget_gpus", "GPUs", gpu_columns,
		NGPU + 1, "process communication_percent cause copies_percent window_ns pid", err);

	for (size_t i = 0; t && i < shown; i++)
		if (add_gpu(t, &s->devices[i], err))
			return err->code;
	if (!t)
		return err->code;
	if (s->report.opt->one_page)
		gt_table_set_brief(t);
	else
		note_extremes(s, t);
	gt_table_note_cut(t, s->ndevices, shown);
	gt_shared_gpus_note(t, &s->report);
	return 0;
}

/* ---- names ---- */

static const struct gt_column name_columns[] = {
	{ "operation", "Operation", GT_C_TEXT },
	{ "count", "Count", GT_C_COUNT },
	{ "total_ns", "Total", GT_C_NS },
	{ "exposed_ns", "Exposed", GT_C_NS },
	{ "exposed_percent", "Of window %", GT_C_PERCENT },
	{ "kind", "Kind", GT_C_TEXT },
	{ "name", NULL, GT_C_TEXT },
};

static int by_exposed(const void *pa, const void *pb)
{
	const struct gt_idle_name *a = pa, *b = pb;

	return GT_COMPARE(b->exposed, a->exposed)
		?: gt_compare_texts(a->text, a->len, b->text, b->len);
}

static int names_table(struct gt_idle *s, uint64_t whole, struct gt_table **to, struct gt_err *err)
{
	struct gt_kernel_names *names = gt_kernel_names_of(s->report.reader, s->report.opt->names);
	size_t shown = gt_rows_shown(s->nnames, s->report.opt->top);

	*to = gt_report_table(&s->report, "exposed", "Exposed time by operation", name_columns, 7,
		"kind count total_ns", err);
	if (!names || !*to) {
		gt_kernel_names_free(names);
		return gt_err_set(err, -ENOMEM, "out of memory (kernels)");
	}
	GT_SORT(s->names, s->nnames, by_exposed);
	for (size_t i = 0; i < shown; i++) {
		const struct gt_idle_name *n = &s->names[i];

		gt_table_add(*to,
			(struct gt_cell[]){ gt_cell_text(gt_kernel_names_shown(names, n->text)),
				gt_cell_u(n->count), gt_cell_u(n->total), gt_cell_u(n->exposed),
				gt_cell_share(n->exposed, whole),
				gt_cell_text(gt_work_kind_word(n->kind)), gt_cell_text(n->text) });
	}
	gt_table_note_cut(*to, s->nnames, shown);
	gt_kernel_names_free(names);
	return 0;
}

/* ---- all ---- */

static void note_window(const struct gt_idle *s, struct gt_table *t)
{
	const struct gt_analysis_options *o = s->report.opt;
	bool from = o->filter.ranged && o->filter.from != INT64_MIN,
	     to = o->filter.ranged && o->filter.to != INT64_MAX;
	const char *several =
		s->ndevices > 1 ? ", of each GPU as processes see them; their times are added" : "";

	if (!o->only_steady)
		gt_table_note(t, "of the time from %s to %s%s",
			from               ? "--from"
				: o->whole ? "the first row"
					   : "the first GPU operation",
			to                 ? "--to"
				: o->whole ? "the last row"
					   : "the last GPU operation",
			several);
	else if (!o->one_page)
		gt_table_note(t, "of the steady steps%s", several);
	else if (*several) /* a page says above that it shows the steady steps */
		gt_table_note(t, "the times of the GPUs are added");
	gt_idle_note_late(s, t);
}

/* Says which parts are exact; without samples, how to get them. */
static void note_samples(const struct sheet *h, struct gt_table *t)
{
	const struct gt_idle *s = h->of;
	int64_t most =
		h->errors[PYTHON] > h->errors[NATIVE] ? h->errors[PYTHON] : h->errors[NATIVE];
	char error[64] = "";

	if (most)
		snprintf(error, sizeof(error), ", +-%.2f %% of the time (95 %% confidence)",
			(double)most / 100);
	if (s->shares.sum.samples)
		gt_table_note(t, "running: by %llu samples%s; %s",
			(unsigned long long)s->shares.sum.samples, error,
			gt_has_thread_states(s->report.reader)
				? "the other parts are exact"
				: "waits outside CUDA need gtcollect -e sched");
	else if (!s->report.opt->one_page && !gt_is_imported(s->report.reader) &&
		h->shares[WORKS + GT_IDLE_OUTSIDE] >= LEAST_DIVIDED)
		gt_table_note(t, "outside CUDA by line of the program: gtcollect -e samples");
}

static void note_gil(const struct sheet *h, struct gt_table *t)
{
	char text[128] = "";

	gt_host_put_gil_holder(&h->of->shares, h->of->report.reader, "", text, sizeof(text));
	if (*text)
		gt_table_note(t, "waiting for the GIL: %s", text);
}

static int budget_finish(void *state, struct gt_table **tables, unsigned max, struct gt_err *err)
{
	struct gt_idle *s = ((struct budget *)state)->idle;
	const char *cannot = gt_idle_why_unanswered(s);
	struct sheet h;
	unsigned n = 1;
	int rc;

	tables[0] = gt_report_table(&s->report, "budget", "Where the time of the GPUs went",
		columns, NCOLUMNS, "bar share_percent", err);
	if (!tables[0])
		return err->code;
	if (cannot) {
		gt_table_set_unanswered(tables[0], "%s", cannot);
		return 1;
	}
	rc = fill_sheet(s, &h, err);
	if (rc)
		return rc;
	add_parts(tables[0], &h, least_share(s));
	note_window(s, tables[0]);
	note_samples(&h, tables[0]);
	note_gil(&h, tables[0]);
	if (h.parts[WORKS + GT_IDLE_UNJOINED])
		gt_note_plural(tables[0], s->unjoined,
			"%llu {operation is|operations are} joined to no call",
			(unsigned long long)s->unjoined);
	/* one GPU: the first table has the same figures */
	if (!s->report.opt->in_default_report || s->ndevices > 1)
		rc = gpus_table(s, &tables[n++], err);
	if (!rc && !s->report.opt->one_page)
		rc = names_table(s, h.whole, &tables[n++], err);
	return rc ? rc : (int)n;
}

const struct gt_analysis gt_budget_report = {
	.name = "budget",
	.help = "use of GPU time: compute, communication, copies, idle by cause",
	.wants = GT_IDLE_WANTS,
	.engine = &gt_idle_engine,
	.order = GT_BY_TIME,
	.in_default = GT_DEFAULT_GPU,
	.state_size = sizeof(struct budget),
	.init = budget_init,
	.finish = budget_finish,
};
