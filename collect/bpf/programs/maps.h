/* What all programs use: settings, the traced processes, and the rings for records. */
#ifndef GT_BPF_MAPS_H
#define GT_BPF_MAPS_H
#include <stdbool.h>
#include <linux/types.h>
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include "collect/bpf/bpf_events.h"
#include "collect/bpf/programs/registers.h"

/* ---- settings and traced processes ---- */

const volatile struct gt_bpf_settings settings;

struct gt_bpf_process_losses process_losses SEC(".bss.process_losses");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);  /* a process */
	__type(value, __u8); /* GT_BPF_TRACED and others */
} traced SEC(".maps");

/* Each change of `traced`: it may be full. */
static __always_inline void trace_process(__u32 tgid, __u8 value)
{
	if (bpf_map_update_elem(&traced, &tgid, &value, BPF_ANY))
		__sync_fetch_and_add(&process_losses.unrecorded, 1);
}

/* gtcollect sets it before it removes the probes, which takes some time: no more calls begin. */
__u32 is_ended SEC(".bss.ended");

static __always_inline bool is_traced(__u64 pid_tgid)
{
	__u32 tgid = pid_tgid >> 32;
	const __u8 *value;

	if (is_ended)
		return false;
	if (settings.all_processes)
		return tgid && tgid != settings.recorder;
	value = bpf_map_lookup_elem(&traced, &tgid);
	return value && *value & GT_BPF_TRACED;
}

/* Is it traced, or was it, before it matched the filter no longer? */
static __always_inline bool has_records(__u64 pid_tgid)
{
	__u32 tgid = pid_tgid >> 32;

	return settings.all_processes ? tgid : !!bpf_map_lookup_elem(&traced, &tgid);
}

/* ---- rings ---- */

struct ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
};
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1); /* gtcollect sets the number of CPUs */
	__type(key, __u32);
	__array(values, struct ring);
} rings SEC(".maps");

/* It wakes gtcollect. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 256 * 1024);
} process_events SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct gt_bpf_loss);
} losses SEC(".maps");

static __always_inline void count_loss(__u64 at)
{
	__u32 zero = 0;
	struct gt_bpf_loss *l = bpf_map_lookup_elem(&losses, &zero);

	if (!l)
		return;
	if (!l->count || at > l->to + GT_BPF_LOSS_GAP)
		l->from = at;
	l->to = at;
	l->count++;
}

/* The end of a wait that the kernel has not reported. */
static __always_inline void count_unseen(__u64 at)
{
	__u32 zero = 0;
	struct gt_bpf_loss *l = bpf_map_lookup_elem(&losses, &zero);

	if (l)
		l->unseen++;
	count_loss(at);
}

#endif
