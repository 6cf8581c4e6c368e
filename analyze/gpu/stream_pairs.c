#include "analyze/gpu/stream_pairs.h"

#include <stdlib.h>
#include <string.h>
#include "formats/base/buf.h"

uint32_t gt_stream_pairs_add(struct gt_stream_pairs *p, uint32_t track, struct gt_err *err)
{
	size_t n = p->n, first = n ? gt_stream_pair_at(0, n) : 0;

	if (gt_grow(&p->streams, &p->streams_cap, n + 1, sizeof(*p->streams)) ||
		gt_grow(&p->pairs, &p->pairs_cap, first + n + 1, sizeof(*p->pairs))) {
		gt_err_set(err, -ENOMEM, "out of memory (streams)");
		return 0;
	}
	memset(p->pairs + first, 0, n * sizeof(*p->pairs));
	p->streams[p->n++] = (struct gt_paired_stream){ .track = track };
	return (uint32_t)p->n;
}

void gt_stream_pairs_work(struct gt_stream_pairs *p, size_t i, int64_t start, int64_t end)
{
	struct gt_paired_stream *s = &p->streams[i];
	int64_t fresh = s->busy.any && s->busy.end > start ? s->busy.end : start;

	for (size_t k = 0; k < p->n; k++) {
		struct gt_stream_pair *pair = k == i ? NULL : &p->pairs[gt_stream_pair_at(i, k)];
		int64_t until = p->streams[k].busy.end < end ? p->streams[k].busy.end : end;

		if (!pair)
			continue;
		if (until > fresh)
			pair->both = gt_sat_add(pair->both, (uint64_t)until - (uint64_t)fresh);
		pair->turns += pair->second != (i > k);
		pair->second = i > k;
	}
	gt_union_add(&s->busy, start, end);
}

void gt_stream_pairs_release(struct gt_stream_pairs *p)
{
	free(p->streams);
	free(p->pairs);
}
