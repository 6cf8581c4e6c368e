#include "formats/import/importers.h"

#include "formats/io/stream_in.h"
#include "formats/io/json_scan.h"

#define TOKENS 4000u

/* What an object with this key is, when the other one is there, too, or NULL. */
static const struct {
	const char *key, *other, *what;
} kinds[] = {
	{ "nodes", "schema", "an execution trace of PyTorch (ExecutionTraceObserver)" },
	{ "device_traces", "segments", "a snapshot of PyTorch's GPU memory" },
	{ "$schema", "profiles", "a profile of speedscope" },
	{ "$schema", "shared", "a profile of speedscope" },
	{ "nodes", NULL, "a graph" },
};
#define KINDS (sizeof(kinds) / sizeof(*kinds))

static const char *object_kind(struct gt_json *j)
{
	bool key[KINDS] = { false }, other[KINDS] = { false };
	unsigned n = 0;
	int t;

	while (n++ < TOKENS && (t = gt_json_next(j, NULL)) > 0 && j->depth)
		for (size_t i = 0; t == GT_JSON_KEY && j->depth == 1 && i < KINDS; i++) {
			key[i] |= gt_json_is(j, kinds[i].key);
			other[i] |= !kinds[i].other || gt_json_is(j, kinds[i].other);
		}
	for (size_t i = 0; i < KINDS; i++)
		if (key[i] && (other[i] || !kinds[i].other))
			return kinds[i].what;
	return "";
}

/* export_memory_timeline() of PyTorch's profiler writes [[times], [sizes of each category]], or,
 * raw, [[time, action, bytes, category], ...]. */
static const char *array_kind(struct gt_json *j)
{
	int t = gt_json_next(j, NULL), next;

	if (t != GT_JSON_ARRAY)
		return t == GT_JSON_OBJECT ? "a list of objects without a phase" : "";
	next = gt_json_next(j, NULL);
	return next == GT_JSON_INT || next == GT_JSON_REAL
		? "a memory timeline of PyTorch (export_memory_timeline)"
		: "";
}

/* Does another byte than white space follow the value? So it is with a damaged trace, which begins
 * with its metadata. */
static bool goes_on(struct gt_json *j) { return !j->depth && gt_json_next(j, NULL) != 0; }

const char *gt_describe_json(const char *head, size_t len)
{
	struct gt_in *in = gt_in_memory(head, len, NULL);
	const char *what = NULL;
	struct gt_json j;
	int t;

	if (in && !gt_json_init(&j, in, false, NULL)) {
		t = gt_json_next(&j, NULL);
		what = t == GT_JSON_OBJECT   ? object_kind(&j)
			: t == GT_JSON_ARRAY ? array_kind(&j)
					     : NULL;
		what = what && goes_on(&j) ? NULL : what;
		gt_json_release(&j);
	}
	gt_in_close(in);
	return what;
}
