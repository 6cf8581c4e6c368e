/* Reading summaries back. */
#include "formats/reader_in.h"
#include "formats/summary.h"

static int each_of_block(struct gt_reader *r, const struct gt_seg *seg, const struct gt_wire_entry *e, struct gt_loader *l, unsigned level,
			 int64_t from, int64_t to, gt_summary_fn *fn, void *arg)
{
	struct gt_bucket buckets[GT_SUMMARY_BUCKETS];
	struct gt_err why = GT_ERR_INIT;
	struct gt_summary s;
	struct gt_span in;
	int code = gt_load(r, seg, e, l, &in, &why), got = 0;

	while (!code && (got = gt_summary_get(&in, &seg->pub, &s, buckets)) > 0)
		if ((level == 255 || s.level == level) && s.from < to && s.to > from)
			code = fn(arg, &s);
	if (got < 0)
		gt_err_at(&why, seg->at + e->at, -EBADMSG, "a summary is damaged");
	if (why.code && why.code != -ENOMEM) {
		gt_note_damage(r, seg, e, &why);
		return 0;
	}
	return code;
}

int gt_summaries(struct gt_reader *r, unsigned level, int64_t from, int64_t to, gt_summary_fn *fn, void *arg, struct gt_err *err)
{
	struct gt_loader l = { 0 };
	int code = 0;

	for (size_t s = 0; !code && s < r->nsegs; s++) {
		struct gt_index_walk w = { 0 };
		const struct gt_wire_entry *e;
		int more = 1;

		while (!code && (more = gt_index_next(&r->segs[s].index, &w, &e, err)) > 0)
			if (e->head.kind == GT_W_SUMMARY && (level == 255 || (level > 0) == (e->head.sub > 0)))
				code = each_of_block(r, &r->segs[s], e, &l, level, from, to, fn, arg);
		code = more < 0 ? more : code;
	}
	gt_loader_release(&l);
	return code == -ENOMEM ? gt_err_set(err, code, "out of memory") : code;
}
