/* Writes a hit of a probe: what all programs at probes share. */
#ifndef GT_BPF_PROBE_RECORDS_H
#define GT_BPF_PROBE_RECORDS_H
#include "collect/bpf/programs/maps.h"

/* Could it be the address of a text? */
static __always_inline bool is_address(__u64 value) { return value >= 4096 && value >> 48 == 0; }

/* texts: constant, because the kernel must know the size of a record. */
static __always_inline bool put_probe(void *ring, const struct gt_bpf_probe *p, const int texts)
{
	struct gt_bpf_probe_with_texts *to = bpf_ringbuf_reserve(
		ring, sizeof(*p) + texts * GT_BPF_PROBE_TEXT_MAX, 0);

	if (!to)
		return false;
	to->probe = *p;
	for (int k = 0; k < texts; k++) {
		__u32 i = p->fields.text_of[k];
		long n = 0;

		if (i < GT_PROBE_VALUES && is_address(to->probe.values[i]))
			n = bpf_probe_read_user_str(to->text + k * GT_BPF_PROBE_TEXT_MAX,
				GT_BPF_PROBE_TEXT_MAX, (void *)to->probe.values[i]);
		to->probe.text_bytes[k] = n > 0 ? n : 0;
	}
	bpf_ringbuf_submit(to, BPF_RB_NO_WAKEUP);
	return true;
}

/* The caller has filled in probe, depth, is_range, fields, values, and the times in the head.
 * Reads the texts that values point to, and writes the record. */
static __always_inline void write_probe(struct gt_bpf_probe *p, __u64 pid_tgid)
{
	__u32 cpu = bpf_get_smp_processor_id();
	void *ring = bpf_map_lookup_elem(&rings, &cpu);

	p->head.tgid = pid_tgid >> 32;
	p->head.tid = (__u32)pid_tgid;
	p->head.kind = GT_BPF_PROBE;
	bpf_get_current_comm(p->head.comm, sizeof(p->head.comm));
	if (!ring ||
		!(p->fields.texts > 1         ? put_probe(ring, p, GT_BPF_PROBE_TEXTS)
				: p->fields.texts ? put_probe(ring, p, 1)
						  : put_probe(ring, p, 0)))
		count_loss(p->head.end);
}
#endif
