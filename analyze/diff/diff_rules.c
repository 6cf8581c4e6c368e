#include "analyze/diff/diff_rules.h"

#include <string.h>
#include "analyze/diff/diff.h"
#include "analyze/core/run.h"

/* The columns that all sums by name of Nsight share, except the one of the count. */
#define NSIGHT_TIMES(number) .less = "total_ns avg_ns", .either = number, .gates = "time_percent med_ns min_ns max_ns stddev_ns"
#define NSIGHT_KERNELS(report_name, ...) \
	{ .table = report_name, .report = report_name, .layer = GT_LAYER_GPU, NSIGHT_TIMES("instances"), __VA_ARGS__ }

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
	  .less = "cost_ns gain_ns", .gates = "gain_percent", .none = "state at_ns duration_ns pid device tid evidence remedy" },
	{ .table = "gaps", .report = "gaps", .layer = GT_LAYER_GPU, .label = "cause what", .keys = "key what",
	  .less = "total_ns mean_ns max_ns", .either = "gaps", .gates = "share_percent" },
	{ .table = "gaps_waits", .report = "gaps", .layer = GT_LAYER_GPU, .keys = "call waits_for", .loose = "call",
	  .less = "total_ns mean_ns max_ns", .either = "gaps", .gates = "share_percent", .none = "recording pid" },
	{ .table = "memory", .report = "memory", .layer = GT_LAYER_API, .in_default = true, .keys = "kind",
	  .less = "failed unknown_frees peak_bytes live_bytes live_count", .either = "allocations frees allocated_bytes freed_bytes",
	  .gates = "null_frees reference_frees imported_frees" },
	{ .table = "memory_processes", .report = "memory", .layer = GT_LAYER_API, .keys = "process", .loose = "",
	  .gates = "allocated_bytes freed_bytes peak_bytes live_bytes live_count", .none = "recording pid peak_at_ns" },
	{ .table = "memory_devices", .report = "memory", .layer = GT_LAYER_API, .keys = "process device kind", .loose = "device kind",
	  .less = "peak_bytes live_bytes", .none = "recording pid peak_at_ns" },
	{ .table = "memory_churn", .report = "memory", .layer = GT_LAYER_API, .keys = "process call kind size_bytes",
	  .loose = "call kind size_bytes", .less = "again again_per_step cost_ns", .gates = "allocations again_per_s again_ns free_ns",
	  .none = "recording pid" },
	{ .table = "memory_frees", .report = "memory", .layer = GT_LAYER_API, .keys = "process call", .loose = "call",
	  .less = "waited wait_ns", .either = "count", .gates = "total_ns max_ns gpu_busy_ns", .none = "recording pid" },
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
	{ .table = "errors", .report = "errors", .layer = GT_LAYER_API, .findings = true, .keys = "operation code error process",
	  .loose = "operation code error", .less = "count", .gates = "threads", .none = "recording pid tid thread first_ns last_ns" },
	{ .table = "context_events", .report = "contexts", .layer = GT_LAYER_API, .findings = true, .keys = "event",
	  .less = "total_ns", .either = "count", .gates = "max_ns" },
	{ .table = "driver", .report = "driver", .layer = GT_LAYER_IOCTL, .less = "total_ns driver_ns outside_ns",
	  .either = "calls ioctls outside_ioctls", .gates = "driver_percent" },
	{ .table = "driver_calls", .report = "driver", .layer = GT_LAYER_IOCTL, .label = "call", .keys = "call category",
	  .less = "driver_ns", .either = "ioctls", .gates = "count total_ns driver_percent rest_ns entered max_driver_ns" },
	{ .table = "driver_failures", .report = "driver", .layer = GT_LAYER_IOCTL, .findings = true, .keys = "operation code status",
	  .less = "count total_ns", .gates = "of", .none = "first_ns" },
	{ .table = "sync", .report = "sync", .layer = GT_LAYER_API, .keys = "process thread call waits_for",
	  .loose = "thread call waits_for", .less = "total_ns gpu_idle_ns needless needless_ns open", .either = "count",
	  .gates = "max_ns gpu_busy_ns untold wait_ns",
	  .none = "recording pid tid max_at_ns stream" },
	{ .table = "sync_threads", .report = "sync", .layer = GT_LAYER_API, .keys = "process thread", .loose = "thread",
	  .less = "total_ns gpu_idle_ns needless needless_ns open", .either = "count",
	  .gates = "max_ns gpu_busy_ns untold wait_percent wait_ns", .none = "recording pid tid max_at_ns" },
	{ .table = "critical", .report = "critical", .layer = GT_LAYER_GPU, .keys = "process kind", .loose = "kind",
	  .less = "on_path_ns", .gates = "share_percent pieces window_ns", .none = "recording pid from_ns to_ns" },
	{ .table = "critical_names", .report = "critical", .layer = GT_LAYER_GPU, .label = "name", .keys = "process kind full_name",
	  .loose = "kind full_name", .less = "on_path_ns", .gates = "share_percent pieces summed_ns", .none = "recording pid" },
	{ .table = "steps", .report = "steps", .layer = GT_LAYER_GPU, .keys = "process device", .loose = "device",
	  .less = "p50_ns", .more = "busy_percent", .either = "steps",
	  .gates = "p90_ns p99_ns min_ns max_ns alike_percent sequences warm_up drift_percent",
	  .none = "recording pid found_by drift anchor" },
	{ .table = "overlap", .report = "overlap", .layer = GT_LAYER_GPU, .keys = "process device kind", .loose = "device kind",
	  .less = "exposed_ns", .more = "hidden_percent", .either = "count ran_ns",
	  .gates = "alone_ns with_compute_ns with_communication_ns with_copies_ns", .none = "recording pid" },
	{ .table = "overlap_kernels", .report = "overlap", .layer = GT_LAYER_GPU, .keys = "process device", .loose = "device",
	  .either = "kernels_ns several_percent", .gates = "busy_ns several_ns", .none = "recording pid" },
	{ .table = "overlap_streams", .report = "overlap", .layer = GT_LAYER_GPU, .keys = "process device stream other",
	  .loose = "device stream other", .either = "both_percent", .gates = "busy_ns other_busy_ns both_ns turns",
	  .none = "recording pid how" },
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
	{ .table = "unqueued", .report = "launches", .layer = GT_LAYER_GPU, .keys = "process device", .loose = "device",
	  .less = "unqueued_ns unqueued_percent", .either = "window_ns",
	  .gates = "idle_ns before_call_ns in_call_ns after_call_ns stretches late_ns launched_ns unknown_ns", .none = "recording pid" },
	{ .table = "queues", .report = "queues", .layer = GT_LAYER_GPU, .keys = "process device stream", .loose = "device stream",
	  .less = "blocked_ns", .either = "launches most mean full_percent",
	  .gates = "empty_percent few_percent some_percent many_percent waiting_ns window_ns empty_ns few_ns some_ns many_ns full_ns",
	  .none = "recording pid most_at_ns" },
	{ .table = "transfers", .report = "transfers", .layer = GT_LAYER_API, .keys = "direction",
	  .less = "failed total_ns", .either = "count bytes", .gates = "mean_bytes max_bytes max_ns share_percent" },
	{ .table = "cuda_api_sum", .report = "cuda_api_sum", .layer = GT_LAYER_API, .keys = "name", NSIGHT_TIMES("num_calls") },
	NSIGHT_KERNELS("cuda_gpu_kern_sum", .label = "short_name", .keys = "name"),
	NSIGHT_KERNELS("cuda_gpu_kern_gb_sum", .label = "short_name grid_xyz block_xyz", .keys = "name grid_xyz block_xyz"),
	NSIGHT_KERNELS("cuda_gpu_sum", .label = "short_operation", .keys = "category operation"),
	{ .table = "cuda_api_gpu_sum", .report = "cuda_api_gpu_sum", .layer = GT_LAYER_COUNT, .label = "short_operation",
	  .keys = "category operation", NSIGHT_TIMES("instances") },
	{ .table = "cuda_gpu_mem_time_sum", .report = "cuda_gpu_mem_time_sum", .layer = GT_LAYER_GPU, .keys = "operation",
	  NSIGHT_TIMES("count") },
	{ .table = "cuda_gpu_mem_size_sum", .report = "cuda_gpu_mem_size_sum", .layer = GT_LAYER_GPU, .keys = "operation",
	  .either = "total_bytes count avg_bytes", .gates = "med_bytes min_bytes max_bytes stddev_bytes" },
	{ .table = "cuda_kern_exec_sum", .report = "cuda_kern_exec_sum", .layer = GT_LAYER_GPU, .label = "api_name short_kernel_name",
	  .keys = "api_name kernel_name dev_id", .less = "tavg_ns aavg_ns qavg_ns kavg_ns", .either = "count qcount",
	  .gates = "tmed_ns tmin_ns tmax_ns tstddev_ns amed_ns amin_ns amax_ns astddev_ns "
		   "qmed_ns qmin_ns qmax_ns qstddev_ns kmed_ns kmin_ns kmax_ns kstddev_ns", .none = "recording pid tid" },
	{ .table = "nvtx_sum", .report = "nvtx_sum", .layer = GT_LAYER_USER, .keys = "range", NSIGHT_TIMES("instances"), .none = "style" },
	{ .table = "nvtx_gpu_proj_sum", .report = "nvtx_gpu_proj_sum", .layer = GT_LAYER_USER, .keys = "range",
	  .less = "total_proj_ns proj_avg_ns", .either = "range_instances total_gpu_ops",
	  .gates = "total_range_ns proj_med_ns proj_min_ns proj_max_ns proj_stddev_ns avg_gpu_ops avg_range_lvl avg_num_child",
	  .none = "style" },
	{ .table = "nvtx_kern_sum", .report = "nvtx_kern_sum", .layer = GT_LAYER_USER, .label = "nvtx_range short_kernel_name",
	  .keys = "nvtx_range kernel_name", .less = "total_ns avg_ns", .either = "nvtx_inst kern_inst",
	  .gates = "med_ns min_ns max_ns stddev_ns", .none = "recording pid tid style" },
	{ .table = "header", .report = "header", .layer = GT_LAYER_COUNT,
	  .gates = "span_ns recorded_ns processes threads calls open spans gpu_operations instants counters unmatched lost lost_unknown "
		   "unread_bytes damaged_blocks damaged_rows",
	  .none = "file recording host command start_utc gpu driver cuda events args simulated layers sources closed complete_to_ns "
		  "quantile_error_percent" },
	{ .table = "names", .report = "names", .layer = GT_LAYER_COUNT, .label = "operation", .keys = "layer category name",
	  .gates = "count total_ns mean_ns stddev_ns", .none = "drift_ns slices" },
	{ .table = "verdicts", .layer = GT_LAYER_COUNT,
	  .gates = "slower faster added gone more fewer within_noise noise_unknown not_recorded same" },
	{ .table = NULL }
};

_Static_assert(sizeof(gt_diff_rules) / sizeof(*gt_diff_rules) <= GT_DIFF_RULES_MOST, "room in struct gt_diff_request");

const struct gt_diff_rule *gt_diff_rule(const char *table)
{
	for (const struct gt_diff_rule *r = gt_diff_rules; r->table; r++)
		if (!strcmp(r->table, table))
			return r;
	return NULL;
}

/* The names of the comparison have no report of their own: `top` shows them. */
const struct gt_analysis *gt_diff_report(const struct gt_diff_rule *rule)
{
	if (!rule->report)
		return NULL;
	return strcmp(rule->report, gt_diff_names_report.name) ? gt_analysis_find(rule->report) : &gt_diff_names_report;
}

const char *gt_next_word(const char *list, size_t *len)
{
	list = list ? list + strspn(list, " ") : "";
	*len = strcspn(list, " ");
	return *len ? list : NULL;
}

bool gt_list_has(const char *list, const char *word)
{
	size_t len;

	for (const char *w = list; (w = gt_next_word(w, &len)); w += len)
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
		if (gt_list_has(lists[i].list, column))
			return lists[i].role;
	return GT_DIFF_NONE;
}
