/* Writes a hit of a probe: what all programs at probes share. */
#ifndef GT_BPF_PROBE_RECORDS_H
#define GT_BPF_PROBE_RECORDS_H
#include "collect/bpf/programs/maps.h"

/* Could it be the address of a text? */
static __always_inline bool is_address(__u64 value) { return value >= 4096 && value >> 48 == 0; }

enum put_result { PUT, NO_SPACE, TEXT_IS_LONGER };

/* values, texts, piece: constant, because the kernel must know the size of a record. */
static __always_inline enum put_result put_probe(void *ring, const struct gt_bpf_probe *p,
	const int values, const int texts, const int piece)
{
	const int bytes = __builtin_offsetof(struct gt_bpf_probe, values) + 8 * values;
	struct gt_bpf_probe *to = bpf_ringbuf_reserve(ring, bytes + texts * piece, 0);
	char *text = (char *)to + bytes;
	bool is_longer = false;

	if (!to)
		return NO_SPACE;
	__builtin_memcpy(to, p, bytes);
	to->piece = piece;
	for (int k = 0; k < texts; k++) {
		__u32 i = p->fields.text_of[k];
		long n = 0;

		if (i < GT_PROBE_VALUES && is_address(to->values[i]))
			n = bpf_probe_read_user_str(text + k * piece, piece, (void *)to->values[i]);
		to->text_bytes[k] = n > 0 ? n : 0;
		is_longer |= n == piece;
	}
	if (is_longer && piece < GT_BPF_PROBE_TEXT_MAX) {
		bpf_ringbuf_discard(to, BPF_RB_NO_WAKEUP);
		return TEXT_IS_LONGER;
	}
	bpf_ringbuf_submit(to, BPF_RB_NO_WAKEUP);
	return PUT;
}

static __always_inline enum put_result put_texts(
	void *ring, const struct gt_bpf_probe *p, const int texts)
{
	enum put_result r = put_probe(ring, p, GT_PROBE_VALUES, texts, GT_BPF_PROBE_PIECE);

	return r == TEXT_IS_LONGER
		? put_probe(ring, p, GT_PROBE_VALUES, texts, GT_BPF_PROBE_TEXT_MAX)
		: r;
}

/* The caller has filled in probe, depth, is_range, fields, values, and the times in the head.
 * Reads the texts that values point to, and writes the record. */
static __always_inline void write_probe(struct gt_bpf_probe *p, __u64 pid_tgid)
{
	__u32 cpu = bpf_get_smp_processor_id();
	void *ring = bpf_map_lookup_elem(&rings, &cpu);
	enum put_result r;

	p->head.tgid = pid_tgid >> 32;
	p->head.tid = (__u32)pid_tgid;
	p->head.kind = GT_BPF_PROBE;
	bpf_get_current_comm(p->head.comm, sizeof(p->head.comm));
	if (!ring)
		r = NO_SPACE;
	else if (p->fields.texts > 1)
		r = put_texts(ring, p, GT_BPF_PROBE_TEXTS);
	else if (p->fields.texts)
		r = put_texts(ring, p, 1);
	else if (p->fields.n > GT_BPF_PROBE_FEW)
		r = put_probe(ring, p, GT_PROBE_VALUES, 0, 0);
	else
		r = put_probe(ring, p, GT_BPF_PROBE_FEW, 0, 0);
	if (r != PUT)
		count_loss(p->head.end);
}
#endif
