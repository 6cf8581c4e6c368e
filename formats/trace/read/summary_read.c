/* Reads stored summaries, and describes the blocks of a trace. */
#include "formats/trace/read/reader_internal.h"
#include "formats/trace/summary.h"

static bool is_described(const struct gt_seg *seg, const struct gt_wire_block *h)
{
	if (h->kind == GT_W_SUMMARY)
		return h->sub == GT_W_OF_BLOCKS || h->sub == GT_W_UPPER;
	return h->kind == GT_W_ROWS && h->sub && h->sub < GT_KINDS && h->rows &&
		(h->track == GT_NONE || h->track < seg->pub.ntracks) &&
		(h->sub != GT_OPEN || h->epoch == seg->last_open_epoch);
}

int gt_each_block(struct gt_reader *r, gt_block_info_fn *fn, void *arg, struct gt_err *err)
{
	int code = 0;

	for (uint32_t s = 0; !code && s < r->nsegs; s++) {
		struct gt_index_walk w = { 0 };
		const struct gt_wire_entry *e;
		int more = 1;

		while (!code && (more = gt_index_next(&r->segs[s].index, &w, &e, err)) > 0) {
			const struct gt_wire_block *h = &e->head;
			bool rows = h->kind == GT_W_ROWS;

			if (is_described(&r->segs[s], h))
				code = fn(arg,
					&(struct gt_block_info){ .segment = s,
						.entry = w.next - 1,
						.number = h->number,
						.track = h->track,
						.kind = rows ? (enum gt_kind)h->sub
							     : (enum gt_kind)0,
						.upper = !rows && h->sub == GT_W_UPPER,
						.rows = h->rows,
						.epoch = h->epoch,
						.start = h->min_start,
						.end = h->max_end });
		}
		code = more < 0 ? more : code;
	}
	return code;
}

/* Damage is noted, and is no error. */
static int read_summaries(struct gt_reader *r, const struct gt_seg *seg,
	const struct gt_wire_entry *e, struct gt_loader *l, gt_summary_fn *fn, void *arg)
{
	struct gt_bucket buckets[GT_SUMMARY_BUCKETS];
	struct gt_err why = GT_ERR_INIT;
	struct gt_summary s;
	struct gt_span in;
	int code = gt_load(seg, e, l, &in, &why), got = 0;

	while (!code && (got = gt_summary_get(&in, &seg->pub, &s, buckets)) > 0)
		code = fn(arg, &s);
	if (got < 0)
		gt_err_at(&why, seg->at + e->at, -EBADMSG, "a summary is damaged");
	if (why.code && why.code != -ENOMEM) {
		gt_note_damage(r, seg, e, &why);
		return 0;
	}
	return code;
}

int gt_block_summaries(struct gt_reader *r, const struct gt_block_info *f, gt_summary_fn *fn,
	void *arg, struct gt_err *err)
{
	const struct gt_seg *seg = &r->segs[f->segment];
	struct gt_loader l = { 0 };
	struct gt_wire_entry e;
	int code = gt_index_get(&seg->index, f->entry, &e, err);

	if (!code)
		code = read_summaries(r, seg, &e, &l, fn, arg);
	gt_loader_release(&l);
	return code == -ENOMEM ? gt_err_set(err, code, "out of memory") : code;
}
