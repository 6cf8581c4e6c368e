#include "formats/import/nccl/import_nccl.h"

#include <string.h>
#include <time.h>
#include "formats/cuda/gpu_rows.h"
#include "formats/import/import_roles.h"

void gt_import_nccl_classify(const char *name, unsigned group, struct gt_type *type)
{
	bool gpu = group == GT_IMPORT_NCCL_GPU;

	type->layer = gpu ? GT_LAYER_GPU : GT_LAYER_USER;
	type->category = gpu ? GT_CAT_KERNEL : GT_CAT_USER;
	type->op = gpu ? GT_OP_LAUNCH : GT_OP_NONE;
}

uint8_t gt_import_nccl_role(unsigned group, const char *key, unsigned kind)
{
	if (kind == GT_F_U64 && !strcmp(key, GT_ROWS_STACK))
		return GT_R_STACK;
	return gt_import_recorded_role(key, (uint8_t)kind);
}

int64_t gt_import_nccl_stream(struct gt_import_rows *r, struct gt_writer *w, uint32_t *known,
	int64_t pid, int64_t stream, const char *name, struct gt_err *err)
{
	struct gt_rows_place at;
	int64_t track;
	uint32_t id, text;

	memset(&at, 0, sizeof(at));
	at.pid = pid;
	at.id = stream;
	at.kind = GT_TRACK_STREAM;
	track = gt_rows_place(r, &at, err);
	if (track < (int64_t)*known)
		return track;
	*known = (uint32_t)track + 1;
	id = gt_rows_track_id(r, (uint32_t)track);
	text = gt_writer_string(w, name);
	if (id == GT_NONE || text == GT_NONE)
		return gt_err_set(err, -ENOMEM, "out of memory (import)");
	return gt_writer_track_name(w, id, text, err) ? err->code : track;
}

int gt_import_nccl_put(struct gt_import_rows *r, uint32_t track, uint32_t name, int64_t start,
	int64_t end, const struct gt_gpu_cause *launch, struct gt_err *err)
{
	gt_rows_launch(r, launch, start);
	return gt_rows_row(r, GT_GPU, track, name,
		&(struct gt_row){ .start = start, .end = end > start ? end : start }, err);
}

int gt_import_nccl_anchor(struct gt_writer *w, int64_t first, struct gt_err *err)
{
	struct gt_anchor a = { first, first, (uint64_t)first, 0 };

	return gt_writer_anchor(w, &a, err);
}

void gt_import_nccl_start(int64_t first, char text[48])
{
	time_t seconds = (time_t)(first / 1000000000);
	struct tm utc;

	text[0] = '\0';
	if (gmtime_r(&seconds, &utc))
		strftime(text, 48, ",\"start_utc\":\"%Y-%m-%dT%H:%M:%SZ\"", &utc);
}
