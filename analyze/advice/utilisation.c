#include "analyze/advice/utilisation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyze/columns/column_cursor.h"
#include "formats/base/buf.h"
#include "formats/trace/meta.h"

enum { WORK, REASONS, MHZ }; /* gt_moment.addr */

/* ---- clocks of GPUs ---- */

struct visible {
	const char *key;
	char text[256];
};

static int find_visible(void *arg, const char *key, const char *value)
{
	struct visible *v = arg;
	const char *at = strstr(key, v->key);

	if (at && !at[strlen(v->key)])
		snprintf(v->text, sizeof(v->text), "%s", value);
	return 0;
}

/* The machine's number of the nth GPU of a process; -1: unknown. */
static int64_t machine_number(const struct gt_segment *seg, int64_t nth)
{
	struct visible v = { "CUDA_VISIBLE_DEVICES", "" };
	const char *p = v.text;
	char *end;

	gt_meta_each(seg, find_visible, &v);
	if (!*p)
		return nth;
	while (*p && nth--)
		p += strcspn(p, ",") + (p[strcspn(p, ",")] == ',');
	nth = strtol(p, &end, 10);
	return end > p && (!*end || *end == ',') ? nth : -1;
}

/* Devices without process belong to NVML. */
static int find_clocks(struct gt_utilisation *w, const struct gt_segment *seg, struct gt_err *err)
{
	for (uint32_t t = 0; t < seg->ntracks; t++) {
		if (seg->tracks[t].kind != GT_TRACK_DEVICE || gt_track_process(seg, t) != GT_NONE)
			continue;
		if (gt_grow(&w->clocks, &w->clocks_cap, w->nclocks + 1, sizeof(*w->clocks)))
			return gt_err_set(err, -ENOMEM, "out of memory (clocks)");
		w->clocks[w->nclocks++] = (struct gt_gpu_sample_clock){ .seg = seg, .track = t };
		w->clock[w->order.tracks[seg->index] + t] = (uint32_t)w->nclocks;
	}
	return 0;
}

static uint32_t clock_of(const struct gt_utilisation *w, const struct gt_idle_device *d)
{
	int64_t number = machine_number(d->seg, d->seg->tracks[d->track].id);
	uint32_t n = 0, only = 0, same = 0;

	for (uint32_t i = 0; i < w->nclocks; i++) {
		const struct gt_gpu_sample_clock *c = &w->clocks[i];

		if (c->seg != d->seg)
			continue;
		n++;
		only = i + 1;
		same = c->seg->tracks[c->track].id == number ? i + 1 : same;
	}
	return n == 1 ? only : same;
}

/* ---- moments ---- */

static void work(struct gt_utilisation_gpu *g, int64_t start, int64_t end)
{
	int64_t from = g->all.any && g->all.end > start ? g->all.end : start,
		last = g->edges[GT_CHUNKS];

	from = from < g->edges[0] ? g->edges[0] : from;
	end = end > last ? last : end;
	if (from >= end)
		return;
	gt_union_add(&g->all, from, end);
	while (g->chunk + 1 < GT_CHUNKS && g->edges[g->chunk + 1] <= from)
		g->chunk++;
	for (unsigned i = g->chunk; i < GT_CHUNKS && g->edges[i] < end; i++) {
		int64_t a = from > g->edges[i] ? from : g->edges[i],
			b = end < g->edges[i + 1] ? end : g->edges[i + 1];

		g->busy[i] += b > a ? (uint64_t)(b - a) : 0;
	}
}

/* Accounts the time from the last samples of a clock to `at`. */
static void account_until(struct gt_utilisation *w, struct gt_gpu_sample_clock *c, int64_t at)
{
	for (size_t i = 0; i < w->idle->ndevices; i++) {
		struct gt_utilisation_gpu *g = &w->gpus[i];
		uint64_t now, ns;

		if (!g->clock || &w->clocks[g->clock - 1] != c)
			continue;
		now = gt_union_before(&g->all, at);
		ns = now - g->before;
		g->before = now;
		c->watched += c->knows_reasons ? ns : 0;
		if (!ns || !c->knows_reasons || !(c->now & GT_THROTTLE_REASONS))
			continue;
		c->throttled_ns += ns;
		c->reasons |= c->now & GT_THROTTLE_REASONS;
		c->weighed += c->knows_mhz ? (unsigned __int128)ns * c->mhz : 0;
		c->clockless |= !c->knows_mhz;
	}
}

static void end_throttling(struct gt_gpu_sample_clock *c, int64_t at)
{
	struct gt_evidence one = { c->seg, c->since, at, GT_NONE, GT_NONE, GT_NONE };

	if (c->knows_reasons && c->now & GT_THROTTLE_REASONS)
		gt_evidence_keep_longest(&c->longest, &one);
}

static void sample(
	struct gt_utilisation *w, struct gt_gpu_sample_clock *c, const struct gt_moment *m)
{
	account_until(w, c, m->at);
	if (m->addr == MHZ) {
		c->mhz = m->bytes;
		c->knows_mhz = true;
		c->best = m->bytes > c->best ? m->bytes : c->best;
		return;
	}
	if (!(m->bytes & GT_THROTTLE_REASONS))
		end_throttling(c, m->at);
	else if (!c->knows_reasons || !(c->now & GT_THROTTLE_REASONS))
		c->since = m->at;
	c->samples++;
	c->free += !(m->bytes & GT_THROTTLE_REASONS);
	c->now = m->bytes;
	c->knows_reasons = true;
}

static int on_moment(void *arg, const struct gt_moment *m, struct gt_err *err)
{
	struct gt_utilisation *w = arg;

	if (m->addr == WORK && w->gpu[m->place])
		work(&w->gpus[w->gpu[m->place] - 1], m->at, m->end);
	else if (m->addr != WORK && w->clock[m->place])
		sample(w, &w->clocks[w->clock[m->place] - 1], m);
	return 0;
}

/* ---- rows ---- */

static unsigned counts_as(const struct gt_segment *seg, const struct gt_type *type)
{
	const char *name = gt_str(seg, type->name);

	return !type->nfields                       ? WORK
		: !strcmp(name, "throttle_reasons") ? REASONS
		: !strcmp(name, "sm_clock_mhz")     ? MHZ
						    : WORK;
}

bool gt_utilisation_needs(const struct gt_segment *seg, const struct gt_type *type)
{
	return type->layer == GT_LAYER_GPU || counts_as(seg, type) != WORK;
}

int gt_utilisation_run(struct gt_utilisation *w, const struct gt_cols *cols, struct gt_err *err)
{
	struct gt_moment *m = gt_time_ordered_run(&w->order, cols, err);

	if (!m)
		return err->code;
	for (uint32_t c = 0; c < cols->ntypes && cols->kind == GT_COUNTER; c++) {
		const struct gt_type *type = gt_cols_type(cols, c);
		unsigned what = type ? counts_as(cols->seg, type) : WORK;
		uint32_t n = 0, nth = 0;
		const uint64_t *values = what == WORK ? NULL : gt_cols_args(cols, c, 0, &n);
		struct gt_column_cursor p;

		for (gt_column_cursor_start(&p, cols, c, GT_R_NONE, GT_R_NONE);
			values && gt_column_cursor_next(&p) && nth < n; nth++) {
			m[p.row].bytes = values[nth];
			m[p.row].addr = what;
		}
	}
	return 0;
}

/* ---- start and end ---- */

int gt_utilisation_init(struct gt_utilisation *w, const struct gt_idle *s, struct gt_err *err)
{
	size_t tracks = s->order.tracks[s->order.nsegs] + 1ul;
	int rc = gt_time_ordered_init(&w->order, s->report.reader, on_moment, w, err);

	w->idle = s;
	w->gpu = calloc(tracks, sizeof(*w->gpu));
	w->clock = calloc(tracks, sizeof(*w->clock));
	w->gpus = calloc(s->ndevices + 1, sizeof(*w->gpus));
	if (!rc && (!w->gpu || !w->clock || !w->gpus))
		rc = gt_err_set(err, -ENOMEM, "out of memory (list of GPUs)");
	for (uint32_t i = 0; !rc && i < s->order.nsegs; i++)
		rc = find_clocks(w, gt_reader_segment(s->report.reader, i), err);
	for (size_t i = 0; !rc && i < s->ndevices; i++) {
		const struct gt_gpu_window *e = &s->windows[s->devices[i].seg->index];

		for (unsigned k = 0; k <= GT_CHUNKS; k++)
			w->gpus[i].edges[k] = e->from +
				(int64_t)((unsigned __int128)gt_gpu_window_ns(e) * k / GT_CHUNKS);
		w->gpus[i].clock = clock_of(w, &s->devices[i]);
		w->gpu[s->devices[i].number] = (uint32_t)i + 1;
	}
	for (size_t t = 0; !rc && t + 1 < tracks; t++)
		w->gpu[t] = w->gpu[s->device_of[t]];
	return rc;
}

int gt_utilisation_finish(struct gt_utilisation *w, struct gt_err *err)
{
	int rc = gt_time_ordered_flush(&w->order, err);

	for (size_t i = 0; !rc && i < w->nclocks; i++) {
		account_until(w, &w->clocks[i], INT64_MAX);
		end_throttling(&w->clocks[i],
			gt_gpu_window_end(&w->idle->windows[w->clocks[i].seg->index]));
	}
	return rc;
}

void gt_utilisation_release(struct gt_utilisation *w)
{
	gt_time_ordered_release(&w->order);
	free(w->gpu);
	free(w->clock);
	free(w->gpus);
	free(w->clocks);
}
