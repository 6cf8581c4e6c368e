#include "formats/import/probes/import_gpu_probes.h"

#include <string.h>
#include "formats/import/import_roles.h"

void gt_probe_classify(const char *name, unsigned group, struct gt_type *type)
{
	static const struct {
		uint8_t layer, category, op;
	} groups[] = {
		[GT_PROBE_KERNEL] = { GT_LAYER_GPU, GT_CAT_KERNEL, GT_OP_LAUNCH },
		[GT_PROBE_GRAPH] = { GT_LAYER_GPU, GT_CAT_GRAPH, GT_OP_GRAPH_LAUNCH },
		[GT_PROBE_MOMENT] = { GT_LAYER_GPU, GT_CAT_KERNEL, GT_OP_NONE },
		[GT_PROBE_COUNTER] = { GT_LAYER_API, GT_CAT_OTHER, GT_OP_NONE },
	};

	type->layer = groups[group].layer;
	type->category = groups[group].category;
	type->op = groups[group].op;
}

uint8_t gt_probe_role(unsigned group, const char *key, unsigned kind)
{
	return gt_import_recorded_role(key, (uint8_t)kind);
}

int64_t gt_probe_gpu(struct gt_import_rows *r, struct gt_err *err)
{
	struct gt_rows_place at;

	memset(&at, 0, sizeof(at));
	at.kind = GT_TRACK_STREAM;
	return gt_rows_place(r, &at, err);
}

int64_t gt_probe_stream(
	struct gt_import_rows *r, int64_t pid, int64_t device, int64_t stream, struct gt_err *err)
{
	struct gt_rows_place at;

	memset(&at, 0, sizeof(at));
	at.pid = pid;
	at.id = stream;
	at.kind = GT_TRACK_STREAM;
	at.on_device = true;
	at.device = device;
	return gt_rows_place(r, &at, err);
}

int gt_probe_work(struct gt_import_rows *r, enum gt_probe_group group, uint32_t track,
	const char *name, int64_t start, int64_t end, struct gt_err *err)
{
	int64_t n = gt_rows_name(r, name, strlen(name), group, err);

	if (n < 0)
		return (int)n;
	gt_rows_launch(r, NULL, start);
	return gt_rows_row(
		r, GT_GPU, track, (uint32_t)n, &(struct gt_row){ .start = start, .end = end }, err);
}
