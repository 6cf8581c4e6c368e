/* A BPF program at tracepoints that the user names. The cookie of an attachment is the probe's
 * number. The program copies the record as it is; gtcollect knows its fields. */
#include "collect/bpf/programs/cookies.h"
#include "collect/bpf/programs/process_ids.h"

SEC("tracepoint")
int on_tracepoint(void *ctx)
{
	__u64 pid_tgid = current_ids();
	__u32 cpu = bpf_get_smp_processor_id();
	struct gt_bpf_tracepoint *to;
	void *ring;

	if (!is_traced(pid_tgid))
		return 0;
	ring = bpf_map_lookup_elem(&rings, &cpu);
	to = ring ? bpf_ringbuf_reserve(ring, sizeof(*to), 0) : NULL;
	if (!to) {
		count_loss(bpf_ktime_get_ns());
		return 0;
	}
	to->head.start = to->head.end = bpf_ktime_get_ns();
	to->head.tgid = pid_tgid >> 32;
	to->head.tid = (__u32)pid_tgid;
	to->head.kind = GT_BPF_TRACEPOINT;
	to->head.unused = 0;
	bpf_get_current_comm(to->head.comm, sizeof(to->head.comm));
	to->probe = cookie_of(ctx);
	/* more than the record: the kernel's buffer is longer */
	to->bytes = bpf_probe_read_kernel(to->data, sizeof(to->data), ctx) ? 0 : sizeof(to->data);
	bpf_ringbuf_submit(to, BPF_RB_NO_WAKEUP);
	return 0;
}
