#include "analyze/diff_rules.h"

#include <string.h>
#include "analyze/diff.h"
#include "analyze/run.h"

const struct gt_diff_rule gt_diff_rules[] = {
	{ .table = "userspace", .report = "summary", .layer = GT_LAYER_API, .in_default = true,
	  .either = "api_calls kernel_launches allocations allocated_bytes transfers transferred_bytes" },
	{ .table = "kernel_space", .report = "summary", .layer = GT_LAYER_IOCTL, .in_default = true,
	  .less = "ioctl_time_ns", .either = "ioctl_calls scheduler_calls" },
	{ .table = "gpu", .report = "gpu", .layer = GT_LAYER_GPU, .in_default = true, .keys = "process device", .loose = "device",
	  .more = "busy_percent", .either = "kernels copies sets busy_ns", .none = "recording pid name" },
	{ .table = "budget", .report = "budget", .layer = GT_LAYER_GPU, .in_default = true, .label = "part", .keys = "key",
	  .either = "total_ns", .gates = "share_percent", .none = "bar level" },
	{ .table = "budget_gpus", .report = "budget", .layer = GT_LAYER_GPU, .keys = "process device", .loose = "device",
	  .less = "idle_ns idle_percent", .either = "window_ns compute_ns communication_ns copies_ns",
	  .gates = "compute_percent communication_percent copies_percent cause_ns", .none = "recording pid cause" },
	{ .table = "exposed", .report = "budget", .layer = GT_LAYER_GPU, .label = "operation", .keys = "kind name",
	  .less = "exposed_ns", .gates = "count total_ns exposed_percent" },
	{ .table = "advice", .report = "advice", .layer = GT_LAYER_COUNT, .state = "state", .keys = "rule",
	  .less = "cost_ns gain_ns", .gates = "gain_percent", .none = "state at_ns duration_ns tid evidence remedy" },
	{ .table = "gaps", .report = "gaps", .layer = GT_LAYER_GPU, .label = "cause what", .keys = "key what",
	  .less = "total_ns mean_ns max_ns", .either = "gaps", .gates = "share_percent" },
	{ .table = "memory", .report = "memory", .layer = GT_LAYER_API, .in_default = true, .keys = "kind",
	  .less = "failed unknown_frees peak_bytes live_bytes live_count", .either = "allocations frees allocated_bytes freed_bytes",
	  .gates = "null_frees" },
	{ .table = "memory_processes", .report = "memory", .layer = GT_LAYER_API, .keys = "process", .loose = "",
	  .gates = "allocated_bytes freed_bytes peak_bytes live_bytes live_count", .none = "recording pid peak_at_ns" },
	{ .table = "copies", .report = "copies", .layer = GT_LAYER_GPU, .names = GT_NAMES_COPIES, .in_default = true,
	  .keys = "operation direction source destination", .less = "busy_ns", .more = "bandwidth_gb_per_s",
	  .either = "count bytes mean_bytes",
	  .gates = "total_ns row_bandwidth_gb_per_s min_bytes max_bytes exposed_ns hidden_ns hidden_percent" },
	{ .table = "kernels", .report = "kernels", .layer = GT_LAYER_GPU, .names = GT_NAMES_KERNELS, .in_default = true,
	  .label = "kernel", .keys = "name", .less = "queue_mean_ns launch_mean_ns", .tail = "p99_ns",
	  .gates = "count total_ns mean_ns p50_ns p90_ns min_ns max_ns stddev_ns busy_percent busy_ns queued joined joined_by_order" },
	{ .table = "top", .report = "top", .layer = GT_LAYER_COUNT, .names = GT_NAMES_KERNELS | GT_NAMES_COPIES | GT_NAMES_CALLS,
	  .in_default = true, .keys = "operation category", .less = "failed",
	  .gates = "count total_ns mean_ns p50_ns p99_ns max_ns share_percent" },
	{ .table = "ioctls", .report = "ioctls", .layer = GT_LAYER_IOCTL, .names = GT_NAMES_IOCTLS, .keys = "operation category",
	  .less = "failed", .tail = "p99_ns", .gates = "count total_ns mean_ns p50_ns max_ns share_percent" },
	{ .table = "categories", .report = "categories", .layer = GT_LAYER_API, .keys = "category",
	  .less = "time_ns", .either = "count", .gates = "outermost share_percent nested_ns" },
	{ .table = "layers", .report = "layers", .layer = GT_LAYER_COUNT, .keys = "layer",
	  .less = "time_ns failed", .either = "count open instants", .gates = "max_ns" },
	{ .table = "threads", .report = "threads", .layer = GT_LAYER_API, .keys = "process thread", .loose = "thread",
	  .less = "open busy_ns", .either = "calls", .gates = "share_percent max_depth", .none = "recording pid tid" },
	{ .table = "pauses", .report = "pauses", .layer = GT_LAYER_API, .keys = "process", .loose = "",
	  .less = "total_ns mean_ns max_ns", .either = "launches pauses", .gates = "doubtful doubtful_ns",
	  .none = "recording pid max_at_ns" },
	{ .table = "errors", .report = "errors", .layer = GT_LAYER_API, .findings = true, .keys = "operation code error",
	  .less = "count", .none = "recording pid process tid thread first_ns" },
	{ .table = "streams", .report = "streams", .layer = GT_LAYER_GPU, .keys = "process device stream", .loose = "device stream",
	  .more = "busy_percent", .either = "kernels copies sets busy_ns", .none = "recording pid name first_ns last_ns" },
	{ .table = "counters", .report = "counters", .layer = GT_LAYER_COUNT, .keys = "process device track counter",
	  .loose = "device track counter", .either = "mean max", .gates = "samples min last", .none = "recording pid first_ns uncertain_ns" },
	{ .table = "launches", .report = "launches", .layer = GT_LAYER_API, .label = "kernel", .keys = "name",
	  .less = "failed mean_ns", .either = "launches", .gates = "total_ns max_ns share_percent" },
	{ .table = "launch_times", .report = "launches", .layer = GT_LAYER_GPU, .label = "launched", .keys = "name",
	  .less = "call_mean_ns queue_mean_ns short", .either = "launches",
	  .gates = "call_ns call_per_node_ns gpu_mean_ns call_percent queue_percent gpu_percent queue_ns queued gpu_ns all_ns ops",
	  .none = "graph pid" },
	{ .table = "launch_bound", .report = "launches", .layer = GT_LAYER_GPU, .keys = "process device", .loose = "device",
	  .less = "launch_bound_ns launch_bound_percent", .either = "window_ns",
	  .gates = "idle_ns before_call_ns in_call_ns after_call_ns stretches late_ns launched_ns unknown_ns", .none = "recording pid" },
	{ .table = "queues", .report = "queues", .layer = GT_LAYER_GPU, .keys = "process device stream", .loose = "device stream",
	  .less = "blocked_ns", .either = "launches most mean full_percent",
	  .gates = "empty_percent few_percent some_percent many_percent waiting_ns window_ns empty_ns few_ns some_ns many_ns full_ns",
	  .none = "recording pid most_at_ns" },
	{ .table = "transfers", .report = "transfers", .layer = GT_LAYER_API, .keys = "direction",
	  .less = "failed total_ns", .either = "count bytes", .gates = "mean_bytes max_bytes max_ns share_percent" },
	{ .table = "header", .report = "header", .layer = GT_LAYER_COUNT,
	  .gates = "span_ns recorded_ns processes threads calls open spans gpu_operations instants counters unmatched lost lost_unknown "
		   "unread_bytes damaged_blocks damaged_rows",
	  .none = "file recording host command start_utc gpu driver cuda events args simulated layers sources closed complete_to_ns" },
	{ .table = "names", .report = "names", .layer = GT_LAYER_COUNT, .label = "operation", .keys = "layer category name",
	  .gates = "count total_ns mean_ns stddev_ns", .none = "drift_ns slices" },
	{ .table = "verdicts", .layer = GT_LAYER_COUNT,
	  .gates = "slower faster added gone more fewer within_noise noise_unknown not_recorded same" },
	{ .table = NULL }
};

const struct gt_diff_rule *gt_diff_rule(const char *table)
{
	for (const struct gt_diff_rule *r = gt_diff_rules; r->table; r++)
		if (!strcmp(r->table, table))
			return r;
	return NULL;
}

/* Operations with their scatter are no report of their own: `top` shows them to people. */
const struct gt_analysis *gt_diff_report(const struct gt_diff_rule *rule)
{
	if (!rule->report)
		return NULL;
	return strcmp(rule->report, gt_diff_names_report.name) ? gt_analysis_find(rule->report) : &gt_diff_names_report;
}

const char *gt_word(const char *list, size_t *len)
{
	list = list ? list + strspn(list, " ") : "";
	*len = strcspn(list, " ");
	return *len ? list : NULL;
}

bool gt_listed(const char *list, const char *word)
{
	size_t len;

	for (const char *w = list; (w = gt_word(w, &len)); w += len)
		if (strlen(word) == len && !memcmp(w, word, len))
			return true;
	return false;
}

enum gt_diff_role gt_diff_role(const struct gt_diff_rule *r, const char *column)
{
	const struct { const char *list; enum gt_diff_role role; } lists[] = {
		{ r->keys, GT_DIFF_KEY }, { r->label, GT_DIFF_LABEL }, { r->less, GT_DIFF_LESS }, { r->more, GT_DIFF_MORE },
		{ r->either, GT_DIFF_EITHER }, { r->tail, GT_DIFF_TAIL }, { r->gates, GT_DIFF_GATE },
	};

	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
		if (gt_listed(lists[i].list, column))
			return lists[i].role;
	return GT_DIFF_NONE;
}
