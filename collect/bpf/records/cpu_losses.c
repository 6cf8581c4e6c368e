/* Records that the ring of a CPU had no space for. Each CPU has its own loss rows, which last from
 * the first to the last of these records. */
#define _GNU_SOURCE
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include "collect/bpf/bpf_state.h"
#include "collect/bpf/records/bpf_records.h"

int gt_bpf_losses_open(struct gt_bpf_way *b, struct gt_err *err)
{
	b->seen = calloc((size_t)b->ncpus, sizeof(*b->seen));
	b->now = calloc((size_t)b->ncpus, sizeof(*b->now));
	b->opt.rings->cpu_losses = calloc((size_t)b->ncpus, sizeof(*b->opt.rings->cpu_losses));
	if (!b->seen || !b->now || !b->opt.rings->cpu_losses)
		return gt_err_set(err, -ENOMEM, "out of memory (eBPF)");
	b->opt.rings->ncpus = (unsigned)b->ncpus;
	return 0;
}

static void add(struct gt_cpu_loss *to, uint64_t count, uint64_t from, uint64_t until)
{
	if (!to->count || (int64_t)from < to->from)
		to->from = (int64_t)from;
	if (!to->count || (int64_t)until > to->to)
		to->to = (int64_t)until;
	to->count += count;
}

void gt_bpf_losses_take(struct gt_bpf_way *b)
{
	struct gt_cpu_loss *to = b->opt.rings->cpu_losses;
	uint32_t zero = 0;

	/* those are of no CPU */
	__atomic_fetch_add(&b->opt.rings->s->untraced, b->no_memory, __ATOMIC_RELAXED);
	b->no_memory = 0;
	if (bpf_map_lookup_elem(b->losses, &zero, b->now))
		return;
	for (int i = 0; i < b->ncpus; i++) {
		const struct gt_bpf_loss *l = &b->now[i], *before = &b->seen[i];

		if (l->count > before->count)
			add(&to[i], l->count - before->count,
				l->from > before->to ? l->from : before->to, l->to);
		b->seen[i] = *l;
	}
}

void gt_bpf_losses_close(struct gt_bpf_way *b)
{
	free(b->seen);
	free(b->now);
	free(b->opt.rings->cpu_losses);
	b->opt.rings->cpu_losses = NULL;
	b->opt.rings->ncpus = 0;
}
