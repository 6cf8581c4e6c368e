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

	for (size_t s = 0; !code && s < r->nsegs; s++)
		for (size_t i = 0; !code && i < r->segs[s].nentries; i++) {
			const struct gt_wire_block *h = &r->segs[s].entries[i].head;

			if (h->kind != GT_W_SUMMARY || (level != 255 && (level > 0) != (h->sub > 0)))
				continue;
			code = each_of_block(r, &r->segs[s], &r->segs[s].entries[i], &l, level, from, to, fn, arg);
		}
	gt_loader_release(&l);
	return code == -ENOMEM ? gt_err_set(err, code, "out of memory") : code;
}
