#include "analyze/gpu/shared_gpus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "formats/base/buf.h"
#include "formats/base/sorted.h"
#include "formats/trace/meta.h"

#define UUIDS_MOST 4096u /* as many as the recorder writes */
#define NOTES_MOST 4u

struct uuid {
	long long pid, device;
	char uuid[48];
};
struct uuids {
	struct uuid *list;
	size_t n, cap;
	bool failed;
};
struct gpu {
	const struct gt_segment *seg;
	uint32_t track;
	char uuid[48];
};
struct gpus {
	struct gpu *list;
	size_t n, cap;
};

static int note_uuid(void *arg, const char *key, const char *value)
{
	struct uuids *all = arg;
	struct uuid one = { .pid = 0 };
	int end = 0;

	if (sscanf(key, "gpu_uuids.%lld.%lld%n", &one.pid, &one.device, &end) != 2 || key[end] ||
		strlen(value) >= sizeof(one.uuid) || all->n == UUIDS_MOST)
		return 0;
	memcpy(one.uuid, value, strlen(value) + 1);
	if (gt_grow(&all->list, &all->cap, all->n + 1, sizeof(*all->list)))
		return -ENOMEM;
	all->list[all->n++] = one;
	return 0;
}

static int by_device(const void *pa, const void *pb)
{
	const struct uuid *a = pa, *b = pb;

	return GT_COMPARE(a->pid, b->pid) ?: GT_COMPARE(a->device, b->device);
}

static int by_uuid(const void *pa, const void *pb)
{
	const struct gpu *a = pa, *b = pb;

	return strcmp(a->uuid, b->uuid) ?: gt_by_place(a->seg, a->track, b->seg, b->track);
}

static int add_devices(struct gpus *g, const struct gt_segment *seg, const struct uuids *all)
{
	for (uint32_t t = 0; all->n && t < seg->ntracks; t++) {
		uint32_t process =
			seg->tracks[t].kind == GT_TRACK_DEVICE ? gt_track_process(seg, t) : GT_NONE;
		struct uuid *found,
			key = { .pid = process == GT_NONE ? 0 : seg->tracks[process].id,
				.device = seg->tracks[t].id };

		found = process == GT_NONE
			? NULL
			: bsearch(&key, all->list, all->n, sizeof(key), by_device);
		if (!found)
			continue;
		if (gt_grow(&g->list, &g->cap, g->n + 1, sizeof(*g->list)))
			return -ENOMEM;
		g->list[g->n] = (struct gpu){ .seg = seg, .track = t };
		memcpy(g->list[g->n++].uuid, found->uuid, sizeof(found->uuid));
	}
	return 0;
}

/* All devices with a known UUID, sorted by GPU, then in the order of the trace. 0 or -ENOMEM. The
 * caller frees g->list. */
static int find_gpus(struct gpus *g, struct gt_reader *r)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < gt_reader_segments(r); i++) {
		const struct gt_segment *seg = gt_reader_segment(r, i);
		struct uuids all = { .list = NULL };

		rc = strstr(seg->meta_json, "\"gpu_uuids.") ? gt_meta_each(seg, note_uuid, &all)
							    : 0;
		GT_SORT(all.list, all.n, by_device);
		if (!rc)
			rc = add_devices(g, seg, &all);
		free(all.list);
	}
	if (!rc)
		GT_SORT(g->list, g->n, by_uuid);
	return rc;
}

static bool same_gpu(const struct gpu *a, const struct gpu *b) { return !strcmp(a->uuid, b->uuid); }

int gt_shared_gpus_join(uint32_t *devices, const struct gt_time_ordered *order, struct gt_reader *r)
{
	struct gpus g = { .list = NULL };
	uint32_t *joined = NULL;
	int rc = find_gpus(&g, r);
	bool any = false;

	if (!rc && g.n && !(joined = malloc((order->tracks[order->nsegs] + 1ul) * sizeof(*joined))))
		rc = -ENOMEM;
	for (uint32_t t = 0; joined && t < order->tracks[order->nsegs]; t++)
		joined[t] = t;
	for (size_t i = 1, first = 0; joined && i < g.n; i++) {
		first = same_gpu(&g.list[first], &g.list[i]) && g.list[first].seg == g.list[i].seg
			? first
			: i;
		joined[order->tracks[g.list[i].seg->index] + g.list[i].track] =
			order->tracks[g.list[i].seg->index] + g.list[first].track;
		any |= first != i;
	}
	for (uint32_t t = 0; any && t < order->tracks[order->nsegs]; t++)
		devices[t] = joined[devices[t]];
	free(joined);
	free(g.list);
	return rc;
}

/* "GPU 0 of process 617" */
static struct gt_gpu_label label_of(const struct gpu *g)
{
	struct gt_gpu_label w;

	snprintf(w.text, sizeof(w.text), "GPU %lld of process %lld",
		(long long)g->seg->tracks[g->track].id,
		(long long)g->seg->tracks[gt_track_process(g->seg, g->track)].id);
	return w;
}

/* g[0..n) are one GPU in one recording. */
static void note_joined(
	struct gt_table *t, const struct gt_report_state *a, const struct gpu *g, size_t n)
{
	char more[64] = "";

	if (n > 2)
		snprintf(more, sizeof(more), " and of %zu more process%s", n - 2,
			n == 3 ? "" : "es");
	gt_table_note(t, "%s%s and %s%s are the same GPU: one row has the work of all",
		gt_recording_prefix(a, g->seg).text, label_of(g).text, label_of(g + 1).text, more);
}

/* Both are one GPU, in two recordings. */
static void note_two_recordings(struct gt_table *t, const struct gt_report_state *a,
	const struct gpu *one, const struct gpu *two)
{
	gt_table_note(t,
		"%s and %s are the same GPU: it counts as two, and one may work while the other is idle",
		gt_gpu_label_of(a, one->seg, one->track).text,
		gt_gpu_label_of(a, two->seg, two->track).text);
}

void gt_shared_gpus_note(struct gt_table *t, const struct gt_report_state *a)
{
	struct gpus g = { .list = NULL };
	size_t n = 0, end;

	if (!gt_table_rows(t) || a->opt->filter.pid || find_gpus(&g, a->reader))
		g.n = 0;
	for (size_t i = 0; i < g.n; i = end) {
		bool repeated = i && same_gpu(&g.list[i - 1], &g.list[i]);

		for (end = i + 1; end < g.n && same_gpu(&g.list[i], &g.list[end]) &&
			g.list[end].seg == g.list[i].seg;)
			end++;
		if (repeated && n++ < NOTES_MOST)
			note_two_recordings(t, a, &g.list[i - 1], &g.list[i]);
		if (end > i + 1 && n++ < NOTES_MOST)
			note_joined(t, a, &g.list[i], end - i);
	}
	if (n > NOTES_MOST)
		gt_note_plural(t, n - NOTES_MOST, "%zu more such {GPU|GPUs}", n - NOTES_MOST);
	free(g.list);
}
