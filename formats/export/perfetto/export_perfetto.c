/* Perfetto's own format, for ui.perfetto.dev and trace_processor: a file of packets
 * (TracePacket) in protocol buffers.
 *
 *      export_perfetto.c    this file: the passes over the rows, and what is known of the recording
 *      perfetto_events.c    events: begins and ends of slices, instants, counters
 *      perfetto_packets.c   packets, and texts that are written once and then have a number (iid)
 *      perfetto_tracks.c    tracks: processes, threads, GPUs, streams, counters
 *      perfetto_stacks.c    call stacks
 *
 * Names, categories and arguments are those of --chrome, which are Kineto's; so are the tracks
 * (chrome_tracks.h), but GPUs stand below their processes.
 *
 * A slice is a begin and an end event. Readers sort all events by time, and leave events of one
 * time in the order of the file; then each end ends the innermost open slice of its track. So the
 * events of one track must be in order: rows come by start, and the ends of a track are written
 * before its next begin. Calls, and ranges that nest with them (range_marks.h), come first, then
 * all other rows, which are on other tracks.
 *
 * All packets are of one sequence, whose state is cleared once, in the first packet. The sequence
 * has a clock of its own, which counts ns from the first row: so times are short. A snapshot of the
 * clocks relates it to CLOCK_MONOTONIC and to the time of day. Numbers of the sequence, of tracks
 * and of flows begin with bits of the recording's id, or with the number of the file in an archive
 * of several ranks (perfetto_manifest.h), so that files may be concatenated.
 *
 * Recordings of different boots are in one file, too: their times are related by the time of day.
 */
#include "formats/export/perfetto/perfetto.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "formats/base/alloc_failure.h"
#include "formats/cmdline/opt.h"
#include "formats/export/chrome/chrome_head.h"
#include "formats/export/chrome/chrome_ranges.h"
#include "formats/export/perfetto/perfetto_manifest.h"
#include "formats/export/range_marks.h"
#include "formats/io/json_build.h"

#define ID_BITS GT_PERFETTO_ID_BITS
#define UUID_BITS 21
#define FLOW_BITS 50

struct perfetto {
	struct gt_perfetto x;
	struct gt_range_marks marks;
	bool has_ranges;
	size_t range; /* number of the next one */
	uint64_t lost_rows, lost_events;
	bool lost_unknown;
};

/* ---- clocks ---- */

/* UTC in ns at time 0 of the segment; 0: unknown. */
static int64_t utc_of(const struct gt_perfetto *x, const struct gt_segment *seg)
{
	const struct gt_anchor *a = seg->anchors;

	return seg->nanchors ? a->realtime + gt_since(x->bases[seg->index], a->monotonic) : 0;
}

/* Recordings of another boot than the first are placed by the time of day; without it they begin
 * at time 0. */
static void align(struct gt_perfetto *x)
{
	uint32_t n = gt_reader_segments(x->r);
	int64_t least = 0;

	for (uint32_t i = 1; i < n; i++) {
		const struct gt_segment *first = gt_reader_segment(x->r, 0),
					*seg = gt_reader_segment(x->r, i);
		int64_t a = utc_of(x, first), b = utc_of(x, seg);

		if (gt_same_clock(first, seg))
			x->offsets[i] = gt_since(x->bases[i], x->bases[0]);
		else if (a > 0 && b > 0)
			x->offsets[i] = b - a;
		least = x->offsets[i] < least ? x->offsets[i] : least;
	}
	for (uint32_t i = 0; i < n; i++)
		x->offsets[i] -= least;
}

static char *put_clock(char *p, unsigned id, int64_t time)
{
	char *mark = gt_proto_open(&p, GT_CLOCKS_CLOCK);

	p = gt_proto_u64(p, GT_CLOCK_ID, id);
	p = gt_proto_u64(p, GT_CLOCK_TIME, (uint64_t)time);
	return gt_proto_close(mark, p);
}

/* Writes the first packet: it clears the state of the sequence, gives it its clock, and relates
 * that to others. */
static void put_first(struct gt_perfetto *x)
{
	const struct gt_segment *seg = gt_reader_segments(x->r) ? gt_reader_segment(x->r, 0) : NULL;
	int64_t at = seg ? gt_since(x->bases[0], x->offsets[0]) : 0, utc = seg ? utc_of(x, seg) : 0;
	char *p = gt_out_reserve(x->out, 256), *packet = gt_proto_open(&p, GT_TRACE_PACKET), *mark;

	p = gt_proto_u64(p, GT_PACKET_SEQUENCE, x->sequence);
	p = gt_proto_u64(p, GT_PACKET_FLAGS, GT_PACKET_CLEARED);
	p = gt_proto_u64(p, GT_PACKET_FIRST, 1);
	mark = gt_proto_open(&p, GT_PACKET_DEFAULTS);
	p = gt_proto_u64(p, GT_DEFAULTS_CLOCK, GT_CLOCK_OWN);
	p = gt_proto_close(mark, p);
	mark = gt_proto_open(&p, GT_PACKET_CLOCKS);
	p = put_clock(p, GT_CLOCK_OWN, 0);
	p = put_clock(p, GT_CLOCK_MONOTONIC, at > 0 ? at : 0);
	if (utc > 0)
		p = put_clock(p, GT_CLOCK_REALTIME, gt_since(utc, x->offsets[0]));
	p = gt_proto_u64(p, GT_CLOCKS_PRIMARY, GT_CLOCK_MONOTONIC);
	p = gt_proto_close(mark, p);
	gt_out_commit(x->out, gt_proto_close(packet, p));
}

/* ---- what is known of the recording ---- */

/* Adds an attribute. */
static void add_attribute(struct gt_buf *to, const char *key, const char *text)
{
	struct gt_buf one = { 0 }, value = { 0 };
	char head[2 * GT_PROTO_FIELD_MAX], *p;

	gt_perfetto_add_text(&one, GT_ATTRIBUTE_KEY, key);
	gt_perfetto_put_text(&value, text, strlen(text), SIZE_MAX);
	p = gt_proto_varint(gt_proto_tag(head, GT_ATTRIBUTE_STRING, GT_PROTO_BYTES), value.len);
	gt_buf_add(&one, head, (size_t)(p - head));
	gt_buf_add(&one, value.data, value.len);
	p = gt_proto_varint(gt_proto_tag(head, GT_ATTRIBUTES_ONE, GT_PROTO_BYTES), one.len);
	gt_buf_add(to, head, (size_t)(p - head));
	gt_buf_add(to, one.data, one.len);
	to->failed |= one.failed || value.failed;
	gt_buf_release(&one);
	gt_buf_release(&value);
}

static void put_attributes(struct gt_perfetto *x, struct gt_buf *all)
{
	if (all->failed)
		gt_err_set(x->err, -ENOMEM, "out of memory");
	gt_perfetto_put_packet(x, GT_PACKET_ATTRIBUTES, (char *)all->data, all->len, false);
	gt_buf_release(all);
}

/* What Kineto's files have around their events, as JSON. */
static void add_head(struct gt_perfetto *x, struct gt_buf *all, const char *meta_json)
{
	bool no_memory = false;
	json_t *meta = meta_json ? gt_json_load(meta_json, strlen(meta_json), 0, &no_memory) : NULL,
	       *head = json_object(), *value;
	const char *key;
	char name[128];

	gt_chrome_add_head(head, meta);
	json_object_foreach(head, key, value)
	{
		char *text = gt_json_dump(value, JSON_ENCODE_ANY);

		snprintf(name, sizeof(name), GT_PERFETTO_KINETO "%.100s", key);
		if (text)
			add_attribute(all, name, text);
		no_memory |= !text;
		free(text);
	}
	if (no_memory)
		gt_err_set(x->err, -ENOMEM, "out of memory");
	json_decref(meta);
	json_decref(head);
}

/* Viewers show these as properties of the trace. */
static void put_head(struct gt_perfetto *x)
{
	uint32_t n = gt_reader_segments(x->r);
	struct gt_buf all = { 0 };
	char key[64];

	add_attribute(&all, "gt.tool", "gtexport " GT_VERSION);
	add_head(x, &all, n ? gt_reader_segment(x->r, 0)->meta_json : NULL);
	for (uint32_t i = 0; i < n; i++) {
		const struct gt_segment *seg = gt_reader_segment(x->r, i);
		const struct {
			const char *name, *value;
		} values[] = {
			{ "host", seg->host ? seg->host : "" },
			{ "simulated", seg->simulated ? "true" : "false" },
			{ "closed", seg->closed ? "true" : "false" },
			{ "metadata", seg->meta_json ? seg->meta_json : "{}" },
		};

		for (size_t k = 0; k < sizeof(values) / sizeof(*values); k++) {
			snprintf(key, sizeof(key), n > 1 ? "gt.%s.%u" : "gt.%s", values[k].name, i);
			add_attribute(&all, key, values[k].value);
		}
	}
	put_attributes(x, &all);
}

static void put_foot(struct perfetto *c)
{
	struct gt_buf all = { 0 };
	size_t ndamage = 0;
	char text[64];

	gt_reader_damage(c->x.r, &ndamage);
	snprintf(text, sizeof(text), "%" PRIu64 "%s", c->lost_events,
		c->lost_unknown ? " and more" : "");
	add_attribute(&all, "gt.lost_events", text);
	snprintf(text, sizeof(text), "%zu", ndamage);
	add_attribute(&all, "gt.damaged_blocks", text);
	put_attributes(&c->x, &all);
}

/* ---- rows ---- */

/* A call or a range that nests is on the first lane of its thread, another one beside it. */
static int put_on_thread(struct perfetto *c, const struct gt_event *ev, bool may_nest)
{
	struct gt_chrome_track *t = gt_chrome_track(&c->x.tracks, ev->seg, ev->track);
	int64_t end = ev->kind == GT_OPEN ? INT64_MAX : ev->row.end;
	struct gt_chrome_lane *l;

	if (!t)
		return c->x.err->code;
	t->calls = true;
	l = may_nest && gt_perfetto_nests(&c->x, ev, t->lanes, end)
		? t->lanes
		: gt_chrome_lane_beside(&c->x.tracks, ev->seg, ev->track, ev->row.start, end);
	return gt_perfetto_put_slice(&c->x, ev, l);
}

static int mark_row(void *arg, const struct gt_event *ev)
{
	struct perfetto *c = arg;
	bool range = ev->kind == GT_SPAN;

	if ((range && !gt_chrome_is_range(ev)) || !gt_range_marks_add(&c->marks, ev, range))
		return 0;
	return gt_err_set(c->x.err, -ENOMEM, "out of memory");
}

static int put_thread_row(void *arg, const struct gt_event *ev)
{
	struct perfetto *c = arg;

	if (ev->kind != GT_SPAN) {
		gt_export_count_rows(c->x.opt, 1);
		return put_on_thread(c, ev, true);
	}
	return gt_chrome_is_range(ev) ? put_on_thread(c, ev, gt_range_nests(&c->marks, c->range++))
				      : 0;
}

static int put_span(struct perfetto *c, const struct gt_event *ev)
{
	return gt_perfetto_put_slice(&c->x, ev,
		gt_chrome_span(&c->x.tracks, ev->seg, ev->track, ev->row.start, ev->row.end,
			gt_chrome_waits(ev)));
}

static int put_lost(struct perfetto *c, const struct gt_event *ev)
{
	c->lost_rows++;
	if (ev->args[0] == GT_LOST_UNKNOWN)
		c->lost_unknown = true;
	else
		c->lost_events += ev->args[0];
	return gt_perfetto_put_lost(&c->x, ev);
}

static int put_row(void *arg, const struct gt_event *ev)
{
	struct perfetto *c = arg;

	gt_export_count_rows(c->x.opt, 1);
	switch (ev->kind) {
	case GT_SPAN:
		if (c->has_ranges && gt_chrome_is_range(ev))
			return 0; /* it is in the file already */
		return put_span(c, ev);
	case GT_GPU: return put_span(c, ev);
	case GT_INSTANT:
	case GT_UNMATCHED: return gt_perfetto_put_instant(&c->x, ev);
	case GT_COUNTER: return gt_perfetto_put_counter(&c->x, ev);
	case GT_LOST: return put_lost(c, ev);
	default: return 0;
	}
}

static int rows_pass(struct perfetto *c, uint32_t kinds, gt_export_fn *fn)
{
	struct gt_export_options opt = *c->x.opt;
	struct gt_filter f = opt.filter;

	opt.rows_done = NULL; /* the functions count them */
	f.kinds = f.kinds ? f.kinds & kinds : kinds;
	return f.kinds ? gt_export_rows(c->x.r, &opt, &f, c->x.out, fn, c, c->x.err) : 0;
}

/* Ends all slices that are still open. */
static void end_all(struct gt_perfetto *x)
{
	for (uint32_t i = 0; i < gt_reader_segments(x->r); i++) {
		const struct gt_segment *seg = gt_reader_segment(x->r, i);

		for (uint32_t t = 0; t < seg->ntracks; t++) {
			struct gt_chrome_track *track = &x->tracks.tracks[i][t];

			for (size_t l = 0; l < track->nlanes; l++)
				gt_perfetto_end_until(x, seg, &track->lanes[l], INT64_MAX);
		}
	}
}

static int put_rows(struct perfetto *c)
{
	uint32_t calls = GT_BIT(GT_CALL) | GT_BIT(GT_OPEN) | (c->has_ranges ? GT_BIT(GT_SPAN) : 0);
	int rc = c->has_ranges ? rows_pass(c, calls, mark_row) : 0;

	if (!rc)
		rc = rows_pass(c, calls, put_thread_row);
	end_all(&c->x);
	if (!rc)
		rc = rows_pass(c, ~(GT_BIT(GT_CALL) | GT_BIT(GT_OPEN)), put_row);
	end_all(&c->x);
	return rc;
}

/* ---- the export ---- */

static int init(struct perfetto *c)
{
	struct gt_perfetto *x = &c->x;
	uint32_t n = gt_reader_segments(x->r);
	uint64_t id = x->opt->file_number ? x->opt->file_number - 1
		: n ? gt_hash_u64(gt_reader_segment(x->r, 0)->id) >> (64 - ID_BITS)
		    : 0;

	x->sequence = (uint32_t)id + 1;
	x->uuid_base = (id + 1) << UUID_BITS;
	x->flow_base = id << FLOW_BITS;
	x->bases = gt_export_bases(x->r);
	x->offsets = calloc(n + 1ul, sizeof(*x->offsets));
	x->names = gt_kernel_names_of(x->r, GT_NAME_SHORT);
	x->full_names = gt_kernel_names_of(x->r, GT_NAME_FULL);
	x->segs = calloc(n + 1ul, sizeof(*x->segs));
	if (!x->bases || !x->offsets || !x->names || !x->full_names || !x->segs)
		return gt_err_set(x->err, -ENOMEM, "out of memory");
	for (uint32_t i = 0; i < n; i++) {
		const struct gt_segment *seg = gt_reader_segment(x->r, i);

		x->segs[i].types = calloc(seg->ntypes + 1ul, sizeof(*x->segs[i].types));
		x->segs[i].uuids = calloc(seg->ntracks + 1ul, sizeof(*x->segs[i].uuids));
		if (!x->segs[i].types || !x->segs[i].uuids)
			return gt_err_set(x->err, -ENOMEM, "out of memory");
	}
	align(x);
	if (gt_chrome_launches_init(&x->launches, x->opt, x->r, x->err))
		return x->err->code;
	c->has_ranges = gt_chrome_has_ranges(x->r);
	if (c->has_ranges && gt_range_marks_init(&c->marks, x->r))
		return gt_err_set(x->err, -ENOMEM, "out of memory");
	return 0;
}

static void release(struct perfetto *c)
{
	struct gt_perfetto *x = &c->x;

	for (size_t i = 0; i < x->nlanes; i++)
		free(x->lanes[i].ends);
	free(x->lanes);
	gt_perfetto_types_release(x);
	gt_perfetto_tracks_release(x);
	gt_chrome_launches_release(&x->launches);
	if (c->has_ranges)
		gt_range_marks_release(&c->marks);
	gt_buf_release(&x->interned);
	gt_buf_release(&x->texts);
	gt_map_release(&x->entry_map);
	free(x->entries);
	free(x->bases);
	free(x->offsets);
	gt_kernel_names_free(x->names);
	gt_kernel_names_free(x->full_names);
}

static int perfetto_export(struct gt_reader *r, const struct gt_export_options *opt,
	struct gt_out *out, struct gt_err *err)
{
	struct perfetto c = { .x = { .r = r, .opt = opt, .out = out, .err = err } };
	int rc = init(&c);

	if (!rc) {
		put_first(&c.x);
		put_head(&c.x);
		rc = gt_perfetto_tracks_init(&c.x);
	}
	if (!rc)
		rc = put_rows(&c);
	if (!rc)
		put_foot(&c);
	release(&c);
	return rc ? rc : err->code;
}

const struct gt_exporter gt_export_perfetto = {
	.name = "perfetto",
	.suffix = "pftrace",
	.archive = "tar",
	.help = "Perfetto's own format, for ui.perfetto.dev and trace_processor",
	.export = perfetto_export,
};
