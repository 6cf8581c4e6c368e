#define _GNU_SOURCE
#include "collect/live/growing_trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include "formats/base/buf.h"

/* The file may not have its first bytes yet: it is opened when they are there. */
static int refresh(struct gt_growing_trace *g, struct gt_err *err)
{
	int fd, rc = 1;

	while (g->reader && rc > 0)
		rc = gt_reader_grow(g->reader, UINT64_MAX, err);
	if (g->reader)
		return rc;
	fd = open(g->path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return gt_err_set(err, -errno, "%s", strerror(errno));
	g->reader = gt_reader_open_growing(fd, UINT64_MAX, err);
	if (g->reader)
		return 0;
	if (!g->last)
		*err = (struct gt_err)GT_ERR_INIT;
	return g->last ? err->code : 0;
}

static int note_block(void *arg, const struct gt_block_info *f)
{
	struct gt_growing_trace *g = arg;

	if (!f->kind || (f->kind == GT_OPEN ? !g->last : f->entry < g->seen))
		return 0;
	if (gt_grow(&g->blocks, &g->cap, g->nblocks + 1, sizeof(*g->blocks)))
		return -ENOMEM;
	g->blocks[g->nblocks++] = f->entry;
	return 0;
}

int gt_growing_trace_read(
	struct gt_growing_trace *g, bool last, gt_export_fn *fn, void *arg, struct gt_err *err)
{
	struct gt_export_options none = { .rows_done = NULL };
	struct gt_filter filter = { .segment = 1 };
	int rc;

	g->last = last;
	rc = refresh(g, err);
	if (rc < 0 || !g->reader || !gt_reader_segments(g->reader))
		return rc;
	g->nblocks = 0;
	rc = gt_each_block(g->reader, note_block, g, err);
	if (rc)
		return gt_err_set(err, rc, "out of memory");
	if (!g->nblocks)
		return 0;
	filter.entries = g->blocks;
	filter.nentries = g->nblocks;
	rc = gt_export_rows(g->reader, &none, &filter, NULL, fn, arg, err);
	for (size_t i = 0; i < g->nblocks; i++)
		if (g->blocks[i] >= g->seen)
			g->seen = g->blocks[i] + 1;
	return rc;
}

void gt_growing_trace_close(struct gt_growing_trace *g)
{
	gt_reader_close(g->reader);
	free(g->blocks);
	g->reader = NULL;
	g->blocks = NULL;
}
