/* gt's own format, from any file that gt reads: every segment is re-packed by itself, with rows in
 * order of time.
 *
 * The copy has everything that a reader sees: tracks, types, strings in use, metadata, anchors,
 * stacks with what is known of their frames, losses, unmatched halves, the calls open at the end.
 * It has new blocks, epochs and summaries. A long call is in the epoch of its start, so each epoch
 * also lists it as open until it ends, as in a recording. Damaged rows become losses of the copy,
 * and its metadata say what the options left out ("cut"). The copy of an unclosed segment is
 * closed; its metadata say up to which time it is complete ("recovered").
 */
#include "formats/export/exporters.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "formats/base/buf.h"
#include "formats/export/level_of_detail.h"
#include "formats/trace/write/writer.h"

struct open_call {
	struct gt_row row;
	uint32_t track;
	uint64_t *args;
};
struct native {
	struct gt_reader *r;
	struct gt_err *err;
	const struct gt_segment *seg;
	struct gt_writer *w;
	uint32_t *strings, *types,
		*stacks; /* new ids by old, plus 1; 0 not yet. Tracks keep theirs */
	/* calls that are open at `now`, and are written already */
	struct gt_pending running;
	uint64_t nrows;
	struct open_call *open; /* those open at the end of the recording */
	size_t nopen, open_cap;
	int64_t now;
};

static int no_memory(struct native *n) { return gt_err_set(n->err, -ENOMEM, "out of memory"); }

static uint32_t new_string(struct native *n, uint32_t id)
{
	const struct gt_string *s;

	if (id >= n->seg->nstrings)
		return GT_NONE;
	s = &n->seg->strings[id];
	if (!n->strings[id])
		n->strings[id] = gt_writer_string_n(n->w, s->ptr, s->len) + 1;
	return n->strings[id] - 1;
}

static uint32_t new_type(struct native *n, uint32_t id)
{
	struct gt_field fields[GT_FIELDS_MAX];
	struct gt_type t = n->seg->types[id];

	if (n->types[id])
		return n->types[id] - 1;
	for (unsigned i = 0; i < t.nfields; i++) {
		fields[i] = t.fields[i];
		fields[i].name = new_string(n, fields[i].name);
	}
	t.name = new_string(n, t.name);
	t.fields = fields;
	n->types[id] = gt_writer_type(n->w, &t) + 1;
	return n->types[id] - 1;
}

static int copy_tracks(struct native *n)
{
	for (uint32_t i = 0; i < n->seg->ntracks; i++) {
		struct gt_track t = n->seg->tracks[i];

		t.name = new_string(n, t.name);
		t.source = new_string(n, t.source);
		if (gt_writer_track(n->w, &t) == GT_NONE)
			return no_memory(n);
	}
	return 0;
}

/* Copies what is known of the frames of stacks. Different frames may have the same text, and
 * different modules the same path. */
static int copy_frames(struct native *n)
{
	for (uint32_t i = 0; i < n->seg->nmodules; i++) {
		const struct gt_module *m = &n->seg->modules[i];
		uint32_t id = gt_writer_module(n->w, new_string(n, m->path), m->id, m->nid);

		if (id == GT_NONE)
			return no_memory(n);
		n->strings[m->path] = id + 1;
	}
	for (uint32_t i = 0; i < n->seg->nframes; i++) {
		const struct gt_text_frame *old = &n->seg->frames[i];
		struct gt_frame f = old->frame;
		uint32_t id;

		f.function = new_string(n, f.function);
		f.file = new_string(n, f.file);
		f.module = new_string(n, f.module);
		id = gt_writer_place(n->w, new_string(n, old->text), &f);
		if (id == GT_NONE)
			return no_memory(n);
		n->strings[old->text] = id + 1;
	}
	return 0;
}

static int copy_stacks(struct native *n)
{
	for (uint32_t i = 0; i < n->seg->nstacks; i++) {
		const struct gt_stack *s = &n->seg->stacks[i];
		uint32_t *frames = malloc(((size_t)s->n + 1) * sizeof(*frames)), id = GT_NONE;

		for (uint32_t j = 0; frames && j < s->n; j++)
			frames[j] = new_string(n, s->frames[j]);
		if (frames)
			id = gt_writer_stack(n->w, frames, s->n);
		free(frames);
		if (id == GT_NONE)
			return no_memory(n);
		n->stacks[i] = id + 1;
	}
	return 0;
}

/* Copies what no row refers to. */
static int copy_names(struct native *n)
{
	int rc = copy_tracks(n);

	if (!rc)
		rc = copy_frames(n);
	if (!rc)
		rc = copy_stacks(n);
	for (uint32_t i = 0; !rc && i < n->seg->nanchors; i++)
		rc = gt_writer_anchor(n->w, &n->seg->anchors[i], n->err);
	return rc;
}

/* ---- rows ---- */

/* Writes the calls that are open at the end of an epoch. Their rows, with arguments,
 * are in the file already. */
static int list_running(struct native *n)
{
	for (size_t i = 0; i < n->running.n; i++) {
		struct gt_pending_row *p = &n->running.heap[i];
		struct gt_row row = p->row;
		int rc;

		row.nargs = 0;
		if (p->end <= n->now)
			continue;
		rc = gt_writer_open_call(n->w, p->track, &row, NULL, n->err);
		if (rc)
			return rc;
	}
	return 0;
}

static int close_epoch_if_due(struct native *n)
{
	int rc;

	if (!gt_writer_epoch_is_due(n->w, n->now))
		return 0;
	rc = list_running(n);
	return rc ? rc : gt_writer_epoch(n->w, n->now, n->err);
}

static int add_running(struct native *n, uint32_t track, const struct gt_row *row)
{
	struct gt_pending_row p = { .end = row->end,
		.seq = n->nrows++,
		.track = track,
		.row = *row },
			      gone;

	while (n->running.n && n->running.heap[0].end <= row->start)
		gt_pending_pop(&n->running, &gone);
	return gt_pending_push(&n->running, &p, n->err);
}

/* Stores an open call, to be written just before the last epoch closes. */
static int store_open_call(
	struct native *n, uint32_t track, const struct gt_row *row, const uint64_t *args)
{
	struct open_call *o;

	if (gt_grow(&n->open, &n->open_cap, n->nopen + 1, sizeof(*n->open)))
		return no_memory(n);
	o = &n->open[n->nopen];
	*o = (struct open_call){
		.row = *row, .track = track, .args = calloc(row->nargs + 1u, sizeof(uint64_t))
	};
	if (!o->args)
		return no_memory(n);
	if (row->nargs)
		memcpy(o->args, args, row->nargs * sizeof(*args));
	n->nopen++;
	return 0;
}

/* Converts values that are ids of the old file. */
static uint64_t new_value(struct native *n, const struct gt_field *f, uint64_t v)
{
	if (f->kind == GT_F_STR)
		return v < GT_NONE ? new_string(n, (uint32_t)v) : GT_NONE;
	if (f->role == GT_R_LAUNCH_TRACK)
		return v < n->seg->ntracks ? v : GT_NONE;
	if (f->role == GT_R_STACK)
		return v < n->seg->nstacks ? n->stacks[v] - 1 : GT_NONE;
	return v;
}

static int copy_row(void *arg, const struct gt_event *ev)
{
	struct native *n = arg;
	uint32_t track = ev->track < n->seg->ntracks ? ev->track : GT_NONE;
	uint64_t args[GT_FIELDS_MAX];
	struct gt_row row = ev->row;
	const struct gt_type *type;
	int rc;

	n->now = ev->row.start > n->now ? ev->row.start : n->now;
	rc = close_epoch_if_due(n);
	if (rc)
		return rc;
	if (ev->kind == GT_LOST)
		return gt_writer_loss(n->w, (enum gt_scope)ev->args[1], track, row.start, row.end,
			ev->args[0], n->err);
	type = &n->seg->types[row.type];
	for (unsigned i = 0; i < row.nargs; i++)
		args[i] = new_value(n, &type->fields[i], ev->args[i]);
	row.type = new_type(n, row.type);
	if (row.type == GT_NONE)
		return no_memory(n);
	if (ev->kind == GT_OPEN)
		return store_open_call(n, track, &row, args);
	rc = gt_writer_row(n->w, ev->kind, track, &row, args, n->err);
	return rc || ev->kind != GT_CALL ? rc : add_running(n, track, &row);
}

/* ---- fewer rows (level_of_detail.h) ---- */

static int put_merged(void *arg, const struct gt_merged *m)
{
	struct native *n = arg;
	const struct gt_field fields[] = {
		{ gt_writer_string(n->w, "events"), GT_F_U64, GT_R_NONE },
		{ gt_writer_string(n->w, "busy_ns"), GT_F_U64, GT_R_NONE },
	};
	const struct gt_type type = { .name = gt_writer_string(n->w, GT_MERGED_EVENTS),
		.layer = m->layer,
		.nfields = 2,
		.fields = fields };
	const struct gt_row row = { .start = m->start,
		.end = m->end,
		.type = gt_writer_type(n->w, &type),
		.depth = m->depth,
		.nargs = 2 };
	const uint64_t args[] = { m->events, m->busy_ns };

	if (row.type == GT_NONE)
		return no_memory(n);
	return gt_writer_row(n->w, m->kind, m->track, &row, args, n->err);
}

static int put_detail(struct native *n, const struct gt_detail *d)
{
	char text[200];

	snprintf(text, sizeof(text),
		"{\"level_of_detail\":{\"shorter_than_ns\":%" PRId64 ",\"merged_events\":%" PRIu64
		",\"slices\":%" PRIu64 "}}",
		d->shorter_than, d->merged, d->slices);
	return gt_writer_meta(n->w, text, n->err);
}

static int copy_rows(
	struct native *n, const struct gt_export_options *options, const struct gt_filter *filter)
{
	struct gt_detail counts = { 0 };
	const struct gt_merge_output to = { copy_row, put_merged, n };
	struct gt_row_merger *merge;
	int rc;

	if (!options->detail)
		return gt_export_rows(n->r, options, filter, NULL, copy_row, n, n->err);
	counts.shorter_than = options->detail->shorter_than;
	merge = gt_merge_new(n->seg, &counts, &to);
	rc = merge ? gt_export_rows(n->r, options, filter, NULL, gt_merge_row, merge, n->err)
		   : -ENOMEM;
	if (!rc)
		rc = gt_merge_finish(merge);
	gt_merge_free(merge);
	options->detail->merged += counts.merged;
	options->detail->slices += counts.slices;
	return rc ? rc : put_detail(n, &counts);
}

/* Adds damaged rows as losses: the copy has no other place for them. */
static int add_losses(struct native *n)
{
	size_t ndamage;
	const struct gt_damage *d = gt_reader_damage(n->r, &ndamage);
	int rc = 0;

	for (size_t i = 0; i < ndamage && !rc; i++)
		if (d[i].segment == n->seg->index && d[i].rows)
			rc = gt_writer_loss(n->w, GT_SCOPE_ALL, GT_NONE, d[i].min_start,
				d[i].max_end, d[i].rows, n->err);
	return rc;
}

/* Closes the last epoch at the end of the recording, with the calls that were open then. */
static int finish(struct native *n, const char *cut)
{
	char recovered[200];
	int rc = add_losses(n);

	if (!rc && cut)
		rc = gt_writer_meta(n->w, cut, n->err);

	for (size_t i = 0; i < n->nopen && !rc; i++) {
		rc = gt_writer_open_call(
			n->w, n->open[i].track, &n->open[i].row, n->open[i].args, n->err);
		if (n->now < n->open[i].row.end)
			n->now = n->open[i].row.end;
	}
	if (!rc && !n->seg->closed) {
		snprintf(recovered, sizeof(recovered),
			"{\"recovered\":{\"complete_to_ns\":%" PRId64 ",\"unread_bytes\":%" PRIu64
			"}}",
			n->seg->complete_to, n->seg->unread_bytes);
		rc = gt_writer_meta(n->w, recovered, n->err);
	}
	if (!rc && n->nopen)
		rc = gt_writer_epoch(
			n->w, n->now > n->seg->max_end ? n->now : n->seg->max_end, n->err);
	return rc;
}

static int copy_segment(struct native *n, const struct gt_export_options *options, int fd)
{
	const struct gt_segment *s = n->seg;
	struct gt_filter filter = options->filter;
	struct gt_writer_options opt = { .rows_sorted = !options->detail,
		.meta_json = s->meta_json,
		.host = s->host ? s->host : "",
		.boot_id = s->boot_id ? s->boot_id : "" };
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0), rc = -ENOMEM, closed;

	if (copy < 0)
		return gt_err_set(
			n->err, -errno, "cannot duplicate a descriptor: %s", strerror(errno));
	filter.segment = s->index + 1;
	n->w = gt_writer_open(copy, &opt, n->err);
	if (!n->w)
		return n->err->code ? n->err->code : -EIO;
	n->strings = calloc((size_t)s->nstrings + 1, sizeof(*n->strings));
	n->types = calloc((size_t)s->ntypes + 1, sizeof(*n->types));
	n->stacks = calloc((size_t)s->nstacks + 1, sizeof(*n->stacks));
	if (n->strings && n->types && n->stacks)
		rc = copy_names(n);
	if (!rc)
		rc = copy_rows(n, options, &filter);
	if (!rc)
		rc = finish(n, options->cut);
	if (rc == -ENOMEM)
		no_memory(n);
	closed = gt_writer_close(n->w, n->err);
	return rc ? rc : closed;
}

static void native_release(struct native *n)
{
	for (size_t i = 0; i < n->nopen; i++)
		free(n->open[i].args);
	free(n->open);
	free(n->strings);
	free(n->types);
	free(n->stacks);
	gt_pending_release(&n->running);
}

int gt_export_copy(
	struct gt_reader *r, const struct gt_export_options *opt, int fd, struct gt_err *err)
{
	int rc = 0;

	for (uint32_t i = 0; i < gt_reader_segments(r) && !rc; i++) {
		struct native n = {
			.r = r, .err = err, .seg = gt_reader_segment(r, i), .now = INT64_MIN
		};

		rc = copy_segment(&n, opt, fd);
		native_release(&n);
	}
	return rc;
}

static int native_export(struct gt_reader *r, const struct gt_export_options *opt,
	struct gt_out *out, struct gt_err *err)
{
	int fd = gt_out_fd(out), rc;

	if (fd == -EINVAL)
		return gt_err_set(
			err, fd, "this format is compressed already: choose a name without .gz");
	if (fd < 0)
		return fd;
	rc = gt_export_copy(r, opt, fd, err);
	/* an error of the output, which reports it itself */
	if (rc == -EPIPE || rc == -ENOSPC || rc == -EDQUOT || rc == -EFBIG || rc == -EBADF) {
		*err = (struct gt_err)GT_ERR_INIT;
		out->failed = rc;
	}
	return rc;
}

const struct gt_exporter gt_export_native = {
	.name = "native",
	.suffix = "gt.zst",
	.help = "gt's own format, re-packed in order of time",
	.export = native_export,
};
