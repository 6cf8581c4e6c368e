#include "analyze/calls/metadata_notes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "formats/base/buf.h"

/* Metadata values that make figures unreliable. usual: the harmless value; NULL: none is. after:
 * text with plural forms (report.h); NULL: the note does not print the value. */
static const struct {
	const char *key, *usual, *before, *after;
} unreliable[] = {
	{ "sample", "1", "sampled: one call in ", " of each name was recorded" },
	{ "filter", "", "filtered while recording: only ", "" },
	{ "exclude", "", "filtered while recording: without ", "" },
	{ "delay_ns", "0", "the first ", " of the run were not recorded" },
	{ "missing", NULL, "missing: ", "" },
	{ "attached", NULL, "attached to running programs: ", "" },
	{ "duration_limit_ns", NULL, "recorded for ", " at most" },
	{ "range", NULL, "recorded only in the range ", "" },
	{ "cut.match", "", "cut out of a longer recording: match ", "" },
	{ "cut.exclude", "", "cut out of a longer recording: without ", "" },
	{ "cut.from_ns", NULL, "cut out of a longer recording: from ", "" },
	{ "cut.to_ns", NULL, "cut out of a longer recording: to ", "" },
	{ "cut.pid", NULL, "cut out of a longer recording: pid ", "" },
	{ "cut.tid", NULL, "cut out of a longer recording: tid ", "" },
	{ "level_of_detail.merged_events", "0", "gtexport --max-size merged ",
		" short {event|events}, which {is|are} in no figure" },
	{ "recovered.unread_bytes", NULL, "copied from an unfinished recording, without its last ",
		" {byte|bytes}" },
	{ "truncated", "false", "the imported file is truncated: its end is missing", NULL },
	{ "events_without_time", "0", "of the imported file ",
		" {event has an invalid time and is|events have an invalid time and are} ignored" },
	{ "tables_not_read", "", "the imported database has tables that are not read: ", "" },
	{ "names_missing", NULL, "names are missing: ", "" },
	{ "nested_columns", "0", "of the imported tables ",
		" {column is|columns are} nested and {was|were} skipped" },
	{ "profiles_not_read", "",
		"the imported file has profiles without times, which are not read: ", "" },
	{ "negative_durations", "0", "of the imported file ",
		" {event ends before it begins and counts|events end before they begin and count} as 0 ns" },
	{ "calls_not_nested", "0", "of the imported file ",
		" {call begins|calls begin} within another call of the same thread and {ends|end} after it: "
		"{it counts as a span|they count as spans}, not as {a call|calls}" },
	{ "names_left_out", "0", "the imported file has too many names for the memory: ",
		" of them {was|were} replaced by one common name" },
	{ "events_not_understood", "0", "of the imported file ",
		" {event has|events have} an unknown form and {was|were} skipped" },
	{ "events_of_other_phases", "0", "of the imported file ",
		" {event is|events are} of a kind that is not read (samples, objects, arrows other than launches)" },
	{ "accelerator_events", "",
		"operations and calls of an accelerator other than CUDA or HIP count as ranges, not as GPU operations: ",
		"" },
	{ "events_damaged", "0", "of the imported file ",
		" {event is|events are} not JSON and {was|were} skipped" },
	{ "values_no_number", "0", "of the imported file ",
		" {value is|values are} not a number (inf, nan) and {was|were} left out" },
	{ "lines_back_in_time", "0", "of the imported file ",
		" {line has|lines have} an earlier time than the line before" },
	{ "lines_not_understood", "0", "of the imported file ",
		" {line is|lines are} not strace's or {is|are} damaged" },
	{ "lines_not_json", "0", "of the imported file ",
		" {line is|lines are} not JSON and {was|were} skipped" },
	{ "lines_skipped", "0", "of the imported file ",
		" {line has|lines have} no time or an unknown form and {was|were} skipped" },
	{ "kernels_are_blocks", "0", "of the imported file ",
		" {kernel is|kernels are} one block each of {its|their} kernel, which bpftime's probes timed" },
	{ "collectives_not_completed", "0", "",
		" {collective|collectives} of the imported file {has|have} not completed: {it counts|they count} as open" },
	{ "collectives_without_duration", "0", "of the imported file ",
		" {collective has no duration: it counts|collectives have no duration: they count} from when the host enqueued {it|them} "
		"until it found {it|them} completed (TORCH_NCCL_ENABLE_TIMING=1 records durations)" },
	{ "collectives_placed_late", "0", "of the imported file ",
		" {collective has|collectives have} a duration, but neither start nor end: {it is|they are} placed before the time of "
		"{its|their} dump (NCCL_INSPECTOR_DUMP_VERBOSE=1 records times)" },
	{ "proxy_events", "0", "of the imported file ",
		" {event|events} of NCCL's proxy threads {was|were} skipped" },
	{ "first_record", "0", "the flight recorder's file begins with entry ",
		": earlier ones were overwritten or left out" },
	{ "perf_lines_not_understood", "0", "of the imported file ",
		" {line is|lines are} not perf script's or {is|are} damaged" },
	{ "samples_without_time", "0", "of the imported file ",
		" {sample has|samples have} no time: {its event is|their events are} not processor time, or {its period was|their periods were} not printed" },
	{ "calls_without_duration", "0", "of the imported file ",
		" {call has|calls have} no duration and {counts|count} as 0 ns (strace -T prints it)" },
	{ "arguments_not_read", "0", "of the imported file the arguments, result or data of ",
		" {record|records} of uftrace are not read" },
	{ "kernel_files_not_read", "0", "of the imported folder ",
		" {file|files} with functions of the kernel (kernel-cpu*.dat) {is|are} not read" },
	{ "arguments_left_out", "0", "of the imported file ",
		" {argument|arguments} did not fit into memory" },
	{ "stacks_left_out", "0", "of the imported file ",
		" {call stack is|call stacks are} beyond the limit of 8,388,608 frames or of the memory for names" },
	{ "events_untimed", "0", "of the imported file ",
		" {event has no time and follows|events have no time and follow} the event before by 1 ns" },
	{ "allocated_before_trace", "0", "",
		" {block was allocated before the first event of the snapshot and counts|blocks were allocated before the first event "
		"of the snapshot and count} from the start" },
	{ "allocated_after_trace", "0", "",
		" {block was|blocks were} allocated after the last event of the snapshot" },
	{ "freed_after_trace", "0", "",
		" {block was freed after the last event of the snapshot and counts|blocks were freed after the last event of the snapshot "
		"and count} as live at the end" },
	{ "host_memory_not_read", "false",
		"the snapshot has events of host memory, which are not read", NULL },
	{ "packets_of_other_sources", "0", "of the imported file ",
		" {packet is of another data source|packets are of other data sources} (ftrace, counters, settings) and {was|were} skipped" },
	{ "events_of_unknown_clocks", "0", "of the imported file ",
		" {event has a time|events have times} of a clock that no snapshot relates to the others: {it was|they were} not changed" },
	{ "references_without_entry", "0", "of the imported file ",
		" {reference|references} to a text or call stack {has|have} no entry in the file: {it counts|they count} as missing" },
	{ "processes_shut_out", "0", "",
		" {process was|processes were} not recorded: gtcollect did not respond for 10 s" },
	{ "processes_of_other_users", "0", "",
		" {process was|processes were} not recorded: {it|they} ran as another user than gtcollect, "
		"and rings are not shared with other users" },
	{ "processes_without_entry", "0", "",
		" {time|times} a process was not recorded: eBPF recorded as many as it can at the same time" },
	{ "processes_without_probes", "0", "",
		" {time|times} a process had its probes late or not at all: too many started at the same time" },
	{ "processes_without_event", "0", "",
		" {start or end|starts and ends} of processes {has|have} no record: rings were full" },
	{ "abandoned_calls", "0", "",
		" {call has|calls have} no record: longjmp or an exception ended {it|them}" },
	{ "handler_calls", "0", "",
		" {call|calls} of signal handlers {has|have} no record: the handler interrupted the recording of another call" },
	{ "too_deep_calls", "0", "",
		" {call has|calls have} no record: {it was|they were} nested in more than 16 other calls" },
	{ "inject_processes_refused", "0", "calls: ",
		" of the processes {has|have} none: CUPTI refused to subscribe callbacks" },
	{ "gpu_processes_refused", "0", "GPU: ",
		" of the processes {has|have} no GPU records: CUPTI was missing or refused" },
	{ "gpu_processes_by_events", "0", "GPU: in ",
		" of the processes times come from CUDA events around each call: durations are upper "
		"bounds and include some queue time (gtcollect(1), GPU times without CUPTI)" },
	{ "gpu_untimed", "0", "GPU: ",
		" {launch, copy or set has|launches, copies and sets have} no time: no CUDA event could be recorded around {it|them}, "
		"or the event could not be read" },
	{ "gpu_records_dropped", "0", "GPU: CUPTI dropped ",
		" {record|records}: GPU figures do not include {it|them}" },
	{ "gpu_records_foreign", "0", "GPU: ",
		" {record has|records have} times of another profiler's clock, which used CUPTI at the time: GPU figures do not include "
		"{it|them}" },
	{ "gpu_records_lost", "0", "GPU: ",
		" {record was|records were} dropped because a ring was full: "
		"GPU figures do not include {it|them}" },
	{ "gpu_records_impossible", "0", "GPU: ",
		" {record has|records have} invalid times: GPU figures do not include {it|them}" },
	{ "gpu_launches_without_record", "0", "GPU: ",
		" {launch, copy or set has|launches, copies or sets have} no GPU record "
		"({it|they} failed, or CUPTI delivered none); the report unseen lists "
		"{it|them}" },
	{ "gpu_without", NULL, "GPU: not recorded: ", "" },
	{ "waits_without_stream", "0",
		"GPU: ", " {wait|waits} for an unknown stream (--args none)" },
};

/* ns as a percentage of a recording's time. */
static double share_of(const char *ns, const struct gt_segment *seg)
{
	return seg->max_end > seg->min_start
		? 100 * strtod(ns, NULL) / (double)(seg->max_end - seg->min_start)
		: 0;
}

/* "2 s", "1.5 ms": all digits that it has, for values that users give. */
static void put_time(char to[32], const char *ns)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	double value = strtod(ns, NULL);
	size_t i = 0;

	for (; i < 3 && (value >= 1000 || value <= -1000); i++)
		value /= 1000;
	snprintf(to, 32, "%.12g %s", value, units[i]);
}

static bool is_time(const char *key)
{
	size_t n = strlen(key);

	return n > 3 && !strcmp(key + n - 3, "_ns");
}

static void note_value(const struct gt_metadata_notes *n, size_t i, const char *value)
{
	struct gt_buf after = { 0 };
	char time[32];

	if (is_time(unreliable[i].key)) {
		put_time(time, value);
		value = time;
	}
	if (unreliable[i].after)
		gt_put_plural(&after, unreliable[i].after, strtoull(value, NULL, 10));
	gt_buf_byte(&after, 0);
	gt_note_recording(n->report, n->seg, n->t, "%s%s%s", unreliable[i].before,
		unreliable[i].after ? value : "", after.failed ? "" : (char *)after.data);
	gt_buf_release(&after);
}

void gt_metadata_notes_add(struct gt_metadata_notes *n, const char *key, const char *value)
{
	double share;

	if (!strcmp(key, "gpu_source") && gt_no_gpu_source(value)) {
		gt_note_recording(n->report, n->seg, n->t, "GPU: not recorded: %s", value);
		n->gpu_missing = n->no_gpu = true;
	}
	for (size_t i = 0; i < sizeof(unreliable) / sizeof(*unreliable); i++)
		if (!strcmp(key, unreliable[i].key) && !(n->no_gpu && !strncmp(key, "gpu_", 4)) &&
			(!unreliable[i].usual || strcmp(value, unreliable[i].usual))) {
			note_value(n, i, value);
			n->gpu_missing |=
				!strncmp(key, "gpu_", 4) && strcmp(key, "gpu_processes_by_events");
		}
	if (!strcmp(key, "cupti_overhead_ns") && (share = share_of(value, n->seg)) >= 1)
		gt_note_recording(n->report, n->seg, n->t,
			"GPU: CUPTI itself worked for %.1f %% of the time (gtanalyze top has its parts)",
			share);
	n->part |= !strncmp(key, "recovered.", 10) || (!strncmp(key, "cut.", 4) && *value);
	n->newer += !strncmp(key, "untraced_functions.", sizeof("untraced_functions.") - 1);
}
