/* Chrome trace JSON, for ui.perfetto.dev and chrome://tracing.
 *
 * Finished calls come first, in file order; all other rows follow in order of time.
 * chrome_slices.c writes slices; this file writes the other events (instants, counters,
 * losses) and the JSON around all events.
 *
 * Slices never partly overlap on one thread (chrome_tracks.c); a row for which no lane
 * is left becomes a pair of async events.
 *
 * Times are us with exactly 3 decimals, counted from the segment's first row, so that a
 * double can represent every ns.
 */
#include "formats/export/exporters.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include "formats/base/alloc_failure.h"
#include "formats/base/numbers.h"
#include "formats/cmdline/opt.h"
#include "formats/export/chrome/chrome_head.h"
#include "formats/export/chrome/chrome_ranges.h"
#include "formats/io/json_build.h"
#include "formats/names/demangle.h"
#include "formats/names/kernel_names.h"

struct chrome {
	struct gt_chrome_slices slices;
	struct gt_chrome_ranges ranges;
	bool has_ranges; /* calls and ranges come together, in order of time */
	uint64_t lost_rows, lost_events;
	bool lost_unknown;
};

/* ---- all other rows ---- */

static struct gt_chrome_slice row_slice(const struct gt_event *ev)
{
	return (struct gt_chrome_slice){ .seg = ev->seg,
		.type = ev->row.type,
		.start = ev->row.start,
		.dur = gt_since(ev->row.end, ev->row.start),
		.ret = ev->row.ret,
		.args = ev->args,
		.nargs = ev->row.nargs,
		.event = ev };
}

static int row_call(struct chrome *c, const struct gt_event *ev)
{
	struct gt_chrome_slice s = row_slice(ev);

	return c->has_ranges ? gt_chrome_ranges_call(&c->ranges, ev, &s)
			     : gt_chrome_put_call(&c->slices, ev->track, ev->row.depth, &s);
}

/* A call that was open at the end of the recording lasts to the end of the trace. */
static int row_open(struct chrome *c, const struct gt_event *ev)
{
	struct gt_chrome_slice s = row_slice(ev);

	s.open = true;
	if (ev->seg->max_end > ev->row.end)
		s.dur = gt_since(ev->seg->max_end, s.start);
	return c->has_ranges ? gt_chrome_ranges_call(&c->ranges, ev, &s)
			     : gt_chrome_put_call(&c->slices, ev->track, ev->row.depth, &s);
}

static int row_span(struct chrome *c, const struct gt_event *ev)
{
	struct gt_chrome_slice s = row_slice(ev);

	return gt_chrome_put(&c->slices, ev->track, &s,
		gt_chrome_span(&c->slices.tracks, ev->seg, ev->track, ev->row.start, ev->row.end,
			gt_chrome_waits(ev)),
		ev->kind == GT_GPU);
}

/* Writes the beginning of an event on the first lane of its track. */
static int begin_event(struct chrome *c, const struct gt_event *ev, const char *name,
	const char *category, const char *phase)
{
	struct gt_chrome_track *t = gt_chrome_track(&c->slices.tracks, ev->seg, ev->track);

	if (!t)
		return c->slices.err->code;
	gt_chrome_begin_event(
		&c->slices, ev->seg, name, category, phase, t->lanes->where, ev->row.start);
	return 0;
}

/* Writes its fields with Kineto's names. Freed bytes are negative. */
static void put_allocation(struct chrome *c, const struct gt_event *ev)
{
	const struct gt_type *type = &ev->seg->types[ev->row.type];
	uint64_t bytes = gt_event_value(ev, type, GT_R_BYTES, 0),
		 device = gt_event_value(ev, type, GT_R_DEVICE, 0),
		 addr = gt_event_value(ev, type, GT_R_ADDR, 0);

	gt_out_printf(c->slices.out,
		",\"args\":{\"Bytes\":%s%" PRIu64 ",\"Device Id\":%" PRId64 ",\"Device Type\":%d",
		type->op == GT_OP_FREE ? "-" : "", bytes, (int64_t)device,
		type->memkind != GT_MEM_HOST);
	if (addr)
		gt_out_printf(c->slices.out, ",\"Addr\":\"0x%" PRIx64 "\"", addr);
	gt_out_str(c->slices.out, "}");
}

static int row_instant(struct chrome *c, const struct gt_event *ev)
{
	const struct gt_chrome_type *type = gt_chrome_type(&c->slices, ev->seg, ev->row.type);
	bool allocation = gt_chrome_is_allocation(ev);
	struct gt_chrome_slice s = row_slice(ev);
	int rc;

	if (!type)
		return c->slices.err->code;
	rc = begin_event(c, ev, gt_type_name(ev->seg, ev->row.type), gt_chrome_instant_category(ev),
		"\"i\",\"s\":\"t\"");
	if (rc)
		return rc;
	if (allocation)
		put_allocation(c, ev);
	else if (ev->kind == GT_UNMATCHED)
		gt_out_printf(c->slices.out, ",\"args\":{\"unmatched\":\"%s\"}",
			ev->row.ret ? GT_UNMATCHED_END : GT_UNMATCHED_BEGIN);
	else
		gt_chrome_put_args(&c->slices, &s, type);
	gt_chrome_put_stack(&c->slices, &s, type);
	gt_out_str(c->slices.out, "}");
	return 0;
}

/* Viewers distinguish counters of one name by process and id: the id of the track,
 * unless it is the process (or GPU) itself. */
static int row_counter(struct chrome *c, const struct gt_event *ev)
{
	const struct gt_type *type = &ev->seg->types[ev->row.type];
	const struct gt_track *track = &ev->seg->tracks[ev->track];
	struct gt_field field =
		type->nfields ? type->fields[0] : (struct gt_field){ .kind = GT_F_U64 };
	char phase[64] = "\"C\"";
	int rc;

	if (track->kind != GT_TRACK_PROCESS && track->kind != GT_TRACK_DEVICE)
		snprintf(phase, sizeof(phase), "\"C\",\"id\":\"%" PRId64 "\"", track->id);
	rc = begin_event(c, ev, gt_type_name(ev->seg, ev->row.type),
		gt_category_word(type->category), phase);
	if (rc)
		return rc;
	gt_out_str(c->slices.out, ",\"args\":{\"value\":");
	if (field.kind == GT_F_HEX)
		field.kind = GT_F_U64; /* a viewer draws numbers only */
	gt_export_value(
		c->slices.out, ev->seg, &field, ev->args && ev->row.nargs ? ev->args[0] : 0);
	gt_out_str(c->slices.out, "}}");
	return 0;
}

static int row_lost(struct chrome *c, const struct gt_event *ev)
{
	static const char *const phases[] = { "\"i\",\"s\":\"t\"", "\"i\",\"s\":\"p\"" };
	uint64_t count = ev->args[0], scope = ev->args[1];
	char name[64] = "LOST events (number unknown)";
	int64_t base = c->slices.bases[ev->seg->index];

	c->lost_rows++;
	if (count == GT_LOST_UNKNOWN)
		c->lost_unknown = true;
	else {
		c->lost_events += count;
		snprintf(name, sizeof(name), "LOST %" PRIu64 " event%s", count,
			gt_plural(count, "s"));
	}
	if (ev->track != GT_NONE) {
		int rc = begin_event(
			c, ev, name, "lost", scope < 2 ? phases[scope] : "\"i\",\"s\":\"g\"");

		if (rc)
			return rc;
	} else {
		gt_chrome_begin_event(&c->slices, ev->seg, name, "lost", "\"i\",\"s\":\"g\"",
			"0,\"tid\":0,\"ts\":", ev->row.start);
	}
	gt_out_str(c->slices.out, ",\"args\":{\"until_us\":");
	gt_export_us(c->slices.out, gt_since(ev->row.end, base));
	if (count != GT_LOST_UNKNOWN)
		gt_out_printf(c->slices.out, ",\"count\":%" PRIu64, count);
	gt_out_str(c->slices.out, "}}");
	return 0;
}

typedef int row_fn(struct chrome *, const struct gt_event *);
static row_fn *const row_fns[GT_KINDS] = {
	[GT_CALL] = row_call,
	[GT_OPEN] = row_open,
	[GT_SPAN] = row_span,
	[GT_GPU] = row_span,
	[GT_INSTANT] = row_instant,
	[GT_COUNTER] = row_counter,
	[GT_UNMATCHED] = row_instant,
	[GT_LOST] = row_lost,
};

static int put_call_or_range(void *arg, const struct gt_event *ev)
{
	struct chrome *c = arg;

	if (ev->kind == GT_SPAN) /* counted when the other rows are read */
		return gt_chrome_is_range(ev) ? gt_chrome_ranges_range(&c->ranges, ev) : 0;
	gt_export_count_rows(c->slices.opt, 1);
	return row_fns[ev->kind](c, ev);
}

static int put_row(void *arg, const struct gt_event *ev)
{
	struct chrome *c = arg;

	if (c->has_ranges && gt_chrome_is_range(ev))
		return 0; /* it is written with the calls */
	return row_fns[ev->kind] ? row_fns[ev->kind](arg, ev) : 0;
}

static int rows_pass(struct chrome *c, uint32_t kinds, gt_export_fn *fn)
{
	struct gt_export_options opt = *c->slices.opt;
	struct gt_filter f = opt.filter;

	if (fn == put_call_or_range)
		opt.rows_done = NULL; /* it counts them itself */
	f.kinds = f.kinds ? f.kinds & kinds : kinds;
	return f.kinds ? gt_export_rows(c->slices.r, &opt, &f, c->slices.out, fn, c, c->slices.err)
		       : 0;
}

/* If the filter leaves names out, a call whose enclosing call is missing would remain a row without
 * parent (chrome_tracks.h) to the end. Calls in order of time come after their enclosing calls. */
static int calls_pass(struct chrome *c)
{
	struct gt_filter f = c->slices.opt->filter;
	int rc;

	if (c->has_ranges) {
		rc = rows_pass(
			c, GT_BIT(GT_CALL) | GT_BIT(GT_OPEN) | GT_BIT(GT_SPAN), put_call_or_range);
		return rc ? rc : gt_chrome_ranges_finish(&c->ranges);
	}
	if (f.match)
		return rows_pass(c, GT_BIT(GT_CALL), put_row);
	if (f.kinds && !(f.kinds & GT_BIT(GT_CALL)))
		return 0;
	f.kinds = GT_BIT(GT_CALL);
	f.args = true;
	return gt_chrome_put_calls(&c->slices, &f);
}

/* ---- the JSON around the events ---- */

static void put_metadata(struct gt_out *out, const char *json)
{
	bool no_memory = false;
	json_t *j = json ? gt_json_load(json, strlen(json), 0, &no_memory) : NULL;
	char *text = j ? gt_json_dump(j, 0) : NULL;

	if (no_memory || (j && !text))
		gt_out_fail(out, -ENOMEM);
	if (text)
		gt_out_str(out, text);
	else if (json)
		gt_out_json(out, json, strlen(json));
	else
		gt_out_str(out, "{}");
	free(text);
	json_decref(j);
}

/* UTC in ns at time 0 of the segment; 0: unknown. */
static int64_t utc_of(const struct chrome *c, const struct gt_segment *seg)
{
	const struct gt_anchor *a = seg->anchors;

	return !seg->nanchors
		? 0
		: (int64_t)((uint64_t)a->realtime +
			  (uint64_t)gt_since(c->slices.bases[seg->index], a->monotonic));
}

static void put_segment(struct chrome *c, const struct gt_segment *seg)
{
	const char *host = seg->host ? seg->host : "";

	gt_out_printf(c->slices.out, "%s{\"host\":", seg->index ? ",\n" : "");
	gt_out_json(c->slices.out, host, strlen(host));
	gt_out_printf(c->slices.out,
		",\"simulated\":%s,\"closed\":%s,\"base_monotonic_ns\":\"%" PRId64 "\"",
		seg->simulated ? "true" : "false", seg->closed ? "true" : "false",
		c->slices.bases[seg->index]);
	if (seg->nanchors)
		gt_out_printf(c->slices.out, ",\"base_utc_ns\":\"%" PRId64 "\"", utc_of(c, seg));
	if (!seg->closed)
		gt_out_printf(c->slices.out, ",\"complete_to_us\":%.3f,\"unread_bytes\":%" PRIu64,
			(double)gt_since(seg->complete_to, c->slices.bases[seg->index]) / 1e3,
			seg->unread_bytes);
	gt_out_str(c->slices.out, ",\"metadata\":");
	put_metadata(c->slices.out, seg->meta_json);
	gt_out_str(c->slices.out, "}");
}

/* Writes the full name of each short name. */
static void put_kernels(struct chrome *c)
{
	for (size_t i = 0; i < gt_kernel_names_count(c->slices.names); i++) {
		const char *full, *brief = gt_kernel_names_at(c->slices.names, i, &full);
		char *plain = gt_demangle(full);

		gt_out_str(c->slices.out, i ? ",\n" : "");
		gt_out_json(c->slices.out, brief, strlen(brief));
		gt_out_str(c->slices.out, ":");
		gt_out_json(c->slices.out, plain ? plain : full, strlen(plain ? plain : full));
		free(plain);
	}
}

static void put_foot(struct chrome *c)
{
	size_t ndamage = 0;

	gt_reader_damage(c->slices.r, &ndamage);
	gt_out_str(c->slices.out, "\n]");
	if (c->slices.stacks)
		gt_chrome_stacks_put(c->slices.stacks, c->slices.out);
	gt_out_printf(c->slices.out,
		",\n\"otherData\":{\"tool\":\"gtexport %s\",\"lost\":{\"rows\":%" PRIu64
		",\"events\":%" PRIu64 ",\"unknown\":%s},\"damaged_blocks\":%zu,\n\"kernels\":{",
		GT_VERSION, c->lost_rows, c->lost_events, c->lost_unknown ? "true" : "false",
		ndamage);
	put_kernels(c);
	gt_out_str(c->slices.out, "},\n\"segments\":[");
	for (uint32_t i = 0; i < gt_reader_segments(c->slices.r); i++)
		put_segment(c, gt_reader_segment(c->slices.r, i));
	gt_out_str(c->slices.out, "]}}\n");
}

/* Writes the keys before the events. The keys are those of the first recording. */
static void put_head(struct chrome *c)
{
	const struct gt_segment *seg =
		gt_reader_segments(c->slices.r) ? gt_reader_segment(c->slices.r, 0) : NULL;
	bool no_memory = false;
	json_t *head = json_object(),
	       *meta = seg && seg->meta_json
		? gt_json_load(seg->meta_json, strlen(seg->meta_json), 0, &no_memory)
		: NULL;
	char *text;

	gt_chrome_add_head(head, meta);
	if (seg && seg->nanchors)
		json_object_set_new(head, "baseTimeNanoseconds", json_integer(utc_of(c, seg)));
	else
		json_object_del(head, "baseTimeNanoseconds");
	text = gt_json_finish(head);
	if (no_memory || !text)
		gt_out_fail(c->slices.out, -ENOMEM);
	else
		gt_out_add(c->slices.out, text, strlen(text) - 1); /* without its bracket */
	gt_out_str(c->slices.out, ",\n\"traceEvents\":[");
	json_decref(meta);
	free(text);
}

static int chrome_export(struct gt_reader *r, const struct gt_export_options *opt,
	struct gt_out *out, struct gt_err *err)
{
	struct chrome c = { .lost_rows = 0 };
	int rc = gt_chrome_slices_init(&c.slices, opt, r, out, err);

	c.has_ranges = gt_chrome_has_ranges(r);
	if (!rc)
		rc = gt_chrome_ranges_init(&c.ranges, &c.slices);
	if (!rc) {
		put_head(&c);
		rc = calls_pass(&c);
		if (!rc && !c.has_ranges)
			rc = rows_pass(&c, GT_BIT(GT_OPEN), put_row);
		if (!rc)
			rc = rows_pass(&c, ~(GT_BIT(GT_CALL) | GT_BIT(GT_OPEN)), put_row);
		put_foot(&c); /* also after an error: the JSON is valid */
	}
	gt_chrome_ranges_release(&c.ranges);
	gt_chrome_slices_release(&c.slices);
	return rc;
}

const struct gt_exporter gt_export_chrome = {
	.name = "chrome",
	.suffix = "json",
	.help = "Chrome trace JSON, for ui.perfetto.dev and chrome://tracing",
	.export = chrome_export,
};
