/* Records that the ring of a CPU had no space for. Each CPU has its own loss rows, which last from
 * the first to the last of these records. */
#define _GNU_SOURCE
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include "collect/bpf/bpf_state.h"
#include "collect/bpf/records/bpf_records.h"

int gt_bpf_losses_open(struct gt_bpf_way *b, struct gt_err *err)
{
	b->seen = calloc((size_t)b->ncpus, sizeof(*b->seen));
	b->now = calloc((size_t)b->ncpus, sizeof(*b->now));
	if (!b->seen || !b->now || gt_rings_set_cpus(b->opt.rings, (unsigned)b->ncpus))
		return gt_err_set(err, -ENOMEM, "out of memory (eBPF)");
	return 0;
}

static void take_process_losses(const struct gt_bpf_way *b)
{
	int map = bpf_object__find_map_fd_by_name(b->object, ".bss.process_losses");
	struct gt_bpf_process_losses now;
	uint32_t zero = 0;

	if (!bpf_map_lookup_elem(map, &zero, &now))
		b->opt.rings->process_losses =
			(struct gt_process_losses){ now.unrecorded, now.unprobed, now.events };
}

void gt_bpf_losses_take(struct gt_bpf_way *b)
{
	struct gt_record_loss *to = b->opt.rings->cpu_losses;
	uint32_t zero = 0;

	take_process_losses(b);
	if (bpf_map_lookup_elem(b->losses, &zero, b->now))
		return;
	for (int i = 0; i < b->ncpus; i++) {
		const struct gt_bpf_loss *l = &b->now[i], *before = &b->seen[i];

		if (l->count > before->count)
			gt_record_loss_add(&to[i], l->count - before->count,
				(int64_t)(l->from > before->to ? l->from : before->to),
				(int64_t)l->to);
		b->opt.rings->unseen_waits += l->unseen - before->unseen;
		b->seen[i] = *l;
	}
}

void gt_bpf_losses_close(struct gt_bpf_way *b)
{
	free(b->seen);
	free(b->now);
	gt_rings_set_cpus(b->opt.rings, 0);
}
