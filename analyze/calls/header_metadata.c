#include <stdlib.h>
#include <string.h>
#include "analyze/calls/header_internal.h"
#include "formats/trace/meta.h"

static const char *const keys[GT_HEADER_KEYS] = {
	[GT_HEADER_COMMAND] = "command",
	[GT_HEADER_START] = "start_utc",
	[GT_HEADER_DRIVER] = "driver_version",
	[GT_HEADER_CUDA] = "cuda_version",
	[GT_HEADER_EVENTS] = "events",
	[GT_HEADER_ARGS] = "args",
	[GT_HEADER_TOOL] = "tool",
	[GT_HEADER_DURATION] = "duration_ns",
	[GT_HEADER_DELAY] = "delay_ns",
	[GT_HEADER_LIMIT] = "duration_limit_ns",
	[GT_HEADER_RANGE] = "range",
};

static int note_value(void *arg, const char *key, const char *value)
{
	struct gt_header_metadata *m = arg;

	for (size_t i = 0; *value && i < GT_HEADER_KEYS; i++)
		if (!strcmp(key, keys[i]) && !m->values[i] && !(m->values[i] = strdup(value)))
			return -ENOMEM;
	gt_gpu_models_add(&m->models, key, value);
	gt_metadata_notes_add(&m->notes, key, value);
	return 0;
}

int gt_header_metadata_read(struct gt_header_metadata *m, const struct gt_report_state *a,
	const struct gt_segment *seg, struct gt_table *t)
{
	int rc;

	*m = (struct gt_header_metadata){ .notes = { .report = a, .seg = seg, .t = t } };
	rc = gt_meta_each(seg, note_value, m);
	gt_gpu_models_put(&m->models, m->gpus);
	return rc;
}

void gt_header_metadata_release(struct gt_header_metadata *m)
{
	for (size_t i = 0; i < GT_HEADER_KEYS; i++)
		free(m->values[i]);
}

/* -1: not a number. */
static int64_t number(const char *text)
{
	char *end;
	long long n = text ? strtoll(text, &end, 10) : -1;

	return n >= 0 && !*end ? n : -1;
}

int64_t gt_header_recorded_ns(const struct gt_header_metadata *m)
{
	int64_t ns = number(m->values[GT_HEADER_DURATION]),
		delay = number(m->values[GT_HEADER_DELAY]),
		limit = number(m->values[GT_HEADER_LIMIT]);

	if (ns < 0 || m->notes.part || m->values[GT_HEADER_RANGE])
		return -1;
	if (delay > 0)
		ns = ns > delay ? ns - delay : 0;
	return limit > 0 && limit < ns ? limit : ns;
}
