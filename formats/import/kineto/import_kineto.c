/* Chrome trace JSON of PyTorch's profiler (Kineto), plain or packed.
 *
 *      {"schemaVersion": 1, "deviceProperties": [...], "baseTimeNanoseconds": 1790857026000000000,
 *      "traceEvents": [
 *        {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 4304876256187.416,
 *        "dur": 0.991, "args": {"device": 0, "context": 1, "stream": 7, "correlation": 326,
 *        "grid": [16, 2, 1], "block": [256, 1, 1]}}, ...], ...}
 *
 * or only the array of events, which may lack its closing bracket. Files of gtexport --chrome are
 * read, too, as far as their fields are the same; of other writers the phases X, B, E, i, I, R, C,
 * b, n, e, S, T, p, F, M, and arrows (s, f, bind_id) from calls to GPU work. Events of other phases
 * are counted.
 *
 *      import_kineto.c         this file: the document around the events, and the metadata
 *      import_kineto_event.c   reads an event
 *      import_kineto_tracks.c  processes, threads, devices, streams
 *      import_kineto_rows.c    events to rows: calls, ranges, instants, counters
 *      import_kineto_phases.c  begins and ends, of threads and of asynchronous operations
 *      import_kineto_slices.c  pairs of begins and ends
 *      import_kineto_order.c   sorts calls and ranges by time, and nests them
 *      import_kineto_gpu.c     GPU work, joined to its calls
 *      import_kineto_ring.c    tables of recent calls and work
 *      import_kineto_names.c   what the names of GPU work say
 *      import_kineto_stacks.c  call stacks
 *      import_kineto_forward.c stacks of the backward pass
 *
 * Times are microseconds with decimals and are read as whole ns. Their base may be anywhere in the
 * file (baseTimeNanoseconds): a clock anchor at the end has the time of day. All other keys of the
 * document are copied to the metadata, below "kineto".
 *
 * An incomplete file of a killed profiler is imported as far as its events are complete, and the
 * metadata say so. An event without a usable time (CUPTI wrote 0 for some kernels) is a loss
 * somewhere in the recording. An event that is no JSON (a name with quotes) is skipped and counted;
 * it is a loss, too, unless it is known to be a range of the host. */
#include "formats/import/kineto/import_kineto.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "formats/base/buf.h"
#include "formats/import/import_json_copy.h"
#include "formats/import/importers.h"
#include "formats/io/stream_in.h"
#include "formats/io/json_build.h"
#include "formats/io/stream_out.h"

/* bytes of the other keys of the document; a key that does not fit is dropped and counted */
#define OTHERS_MAX (64u << 10)
#define GPUS_MAX 64u
#define SNIFF_TOKENS 2000u

/* ---- the other keys ---- */

/* Notes the name of a GPU, deviceProperties[].name. */
static void note_gpu(struct gt_kineto_document *d)
{
	if (d->ngpus++ >= GPUS_MAX)
		return;
	gt_out_str(&d->gpus, d->gpus.len ? ",{\"model\":" : "{\"model\":");
	gt_out_json(&d->gpus, d->j.text, d->j.len < 256 ? d->j.len : 256);
	gt_out_str(&d->gpus, "}");
}

/* For the tokens of deviceProperties. */
static void note_device(void *arg, int token, unsigned depth)
{
	struct gt_kineto_document *d = arg;

	if (d->at_name && token == GT_JSON_STRING && depth == 2)
		note_gpu(d);
	d->at_name = token == GT_JSON_KEY && gt_json_is(&d->j, "name");
}

static void note_number(struct gt_kineto_document *d, const char *key, int token)
{
	int64_t v;

	if (token != GT_JSON_INT || gt_json_scale(d->j.text, d->j.len, 0, &v))
		return;
	if (!strcmp(key, "baseTimeNanoseconds")) {
		d->base = v;
		d->based = true;
	} else if (!strcmp(key, "cuda_driver_version")) {
		d->cuda = v;
	}
}

/* Reads another key than traceEvents; token: the first one of its value. */
static int read_other_key(
	struct gt_kineto_document *d, const char *key, int token, struct gt_err *err)
{
	int more;

	if (!strcmp(key, "stackFrames"))
		return gt_kineto_frames(&d->k, &d->j, token, err);
	note_number(d, key, token);
	more = gt_json_copy_member(&d->j, key, token, &d->others, OTHERS_MAX,
		!strcmp(key, "deviceProperties") ? note_device : NULL, d, err);
	d->left_out += more != 0;
	return more < 0 ? more : 0;
}

/* ---- the document ---- */

/* May a damaged event be a call or GPU work? Its category comes early, so it is often known. */
static bool may_be_work(const struct gt_kineto_event *ev)
{
	return !(ev->cat == GT_KINETO_RANGE && ev->cat_name != GT_NONE) &&
		!(ev->cat >= GT_KINETO_GPU_RANGE && ev->cat <= GT_KINETO_OTHER_FLOW);
}

/* Skips an event that is no JSON (a quote within a name). 0: the scanner is at the
 * next event; else e, with *err unchanged. */
static int skip_damaged(struct gt_kineto_document *d, unsigned depth,
	const struct gt_kineto_event *ev, int e, struct gt_err *err)
{
	static const char *const first[] = { "ph", "cat", "name", "pid", "tid", "ts", "dur", "args",
		"id", "s", NULL };
	static const char *const beside[] = { "traceName", "displayTimeUnit", "schemaVersion",
		"deviceProperties", "baseTimeNanoseconds", "otherData", "distributedInfo",
		"metadata", "stackFrames", "samples", "systemTraceEvents", "trace_id",
		"record_shapes", "with_stack", "profile_memory", NULL };
	/* not before the first event */
	const struct gt_json_marks marks = { depth, first, d->k.counts.events ? beside : NULL };
	struct gt_err search = GT_ERR_INIT;
	int found = e == -EBADMSG ? gt_json_recover(&d->j, &marks, &search) : 0;

	if (!found)
		return e;
	*err = search;
	if (found < 0)
		return found;
	d->k.counts.damaged++;
	d->k.counts.lost += may_be_work(ev);
	return 0;
}

/* Reads the events; the scanner is behind the bracket of the array. Text between two
 * events is the rest of an event whose name has a quote before a bracket; a bracket
 * there means that the structure is broken. */
static int read_events(struct gt_kineto_document *d, struct gt_err *err)
{
	struct gt_kineto_event ev = { .cat_name = GT_NONE };
	unsigned depth = d->j.depth;
	uint64_t at;
	int t, e = 0;

	while (!e && (t = gt_json_next(&d->j, err)) != GT_JSON_ARRAY_END) {
		if (t < 0 && strchr("{[]}", *d->j.at))
			return t;
		if (t < 0) {
			e = skip_damaged(d, depth, &ev, t, err);
			continue;
		}
		at = gt_json_offset(&d->j) - 1;
		if (t != GT_JSON_OBJECT) {
			d->k.counts.not_understood++;
			e = gt_json_skip(&d->j, err);
			continue;
		}
		e = gt_kineto_event(&d->k, &d->j, &ev, err);
		if (e) {
			e = skip_damaged(d, depth, &ev, e, err);
			continue;
		}
		e = gt_kineto_row(&d->k, &ev, err);
		if (e < 0 && err->offset == GT_NO_OFFSET)
			err->offset = at;
	}
	return e;
}

static int read_object(struct gt_kineto_document *d, struct gt_err *err)
{
	char key[256];
	int t, e = 0;

	while (!e && (t = gt_json_next(&d->j, err)) != GT_JSON_OBJECT_END) {
		if (t < 0)
			return t;
		snprintf(key, sizeof(key), "%.*s",
			(int)(d->j.len < sizeof(key) ? d->j.len : sizeof(key)), d->j.text);
		t = gt_json_next(&d->j, err);
		if (t < 0)
			return t;
		if (t == GT_JSON_ARRAY && !strcmp(key, "traceEvents"))
			e = read_events(d, err);
		else if (!strcmp(key, "traceEvents"))
			e = gt_json_set_error(&d->j, gt_json_offset(&d->j) - 1, err,
				"\"traceEvents\" is no array");
		else
			e = read_other_key(d, key, t, err);
	}
	return e;
}

static int read_document(struct gt_kineto_document *d, struct gt_err *err)
{
	int t = gt_json_next(&d->j, err), e;

	if (t < 0)
		return t;
	d->open_array = t == GT_JSON_ARRAY;
	if (t != GT_JSON_OBJECT && t != GT_JSON_ARRAY)
		return gt_json_set_error(
			&d->j, 0, err, "neither an object with traceEvents nor an array of events");
	e = t == GT_JSON_OBJECT ? read_object(d, err) : read_events(d, err);
	if (e)
		return e;
	t = gt_json_next(&d->j, err);
	if (t > 0)
		return gt_json_set_error(
			&d->j, gt_json_offset(&d->j) - 1, err, "unexpected text after the trace");
	return t;
}

/* ---- metadata and losses ---- */

static void put_count(struct gt_out *o, const char *key, uint64_t n)
{
	gt_out_printf(o, ",\"%s\":%" PRIu64, key, n);
}

static uint64_t count_phases(const uint64_t phases[128])
{
	uint64_t n = 0;

	for (unsigned p = 0; p < 128; p++)
		n += phases[p];
	return n;
}

static void put_phases(struct gt_out *o, const uint64_t phases[128])
{
	char word[2] = "";
	bool any = false;

	gt_out_str(o, ",\"phases_not_read\":{");
	for (unsigned p = 0; p < 128; p++)
		if (phases[p]) {
			word[0] = (char)p;
			gt_out_str(o, any ? "," : "");
			gt_out_json(o, word, p != 0);
			gt_out_printf(o, ":%" PRIu64, phases[p]);
			any = true;
		}
	gt_out_str(o, "}");
}

/* Writes "1313 mtia_ccp_events, 823 mtia_runtime". */
static void put_accelerators(struct gt_out *o, const struct gt_kineto *k)
{
	struct gt_out list;

	gt_out_memory(&list);
	for (unsigned i = 0; i < k->nothers; i++)
		if (k->others[i].accelerator)
			gt_out_printf(&list, "%s%" PRIu64 " %.60s", list.len ? ", " : "",
				k->others[i].n, gt_writer_text(k->w, k->others[i].cat_name));
	gt_out_str(o, ",\"accelerator_events\":");
	gt_out_json(o, list.data ? list.data : "", list.len);
	gt_out_close(&list, NULL);
}

static void put_counts(struct gt_out *o, const struct gt_kineto_document *d)
{
	const struct gt_kineto_counts *c = &d->k.counts;

	put_count(o, "imported_events", c->events);
	put_count(o, "gpu_kernels", c->kernels);
	put_count(o, "gpu_copies", c->copies);
	put_count(o, "gpu_sets", c->sets);
	put_count(o, "gpu_waits", c->waits);
	put_count(o, "gpu_joined_exact", c->exact);
	put_count(o, "gpu_joined_inferred", c->inferred);
	put_count(o, "gpu_unjoined", c->unjoined);
	put_count(o, "gpu_ranges_left_out", c->gpu_ranges);
	put_count(o, "events_without_time", c->no_time);
	put_count(o, "negative_durations", c->negative);
	put_count(o, "calls_not_nested", c->not_nested);
	put_count(o, "names_left_out", c->names_left_out);
	put_count(o, "events_not_understood", c->not_understood);
	put_count(o, "events_damaged", c->damaged);
	put_count(o, "events_of_other_phases", count_phases(c->phases));
	put_count(o, "arguments_left_out", c->args_left_out);
	if (c->backward) {
		put_count(o, "backward_calls", c->backward);
		put_count(o, "backward_calls_without_forward", c->no_forward);
	}
	put_count(o, "stacks_left_out", c->stacks_left_out);
	put_count(o, "values_no_number", d->j.no_numbers);
	put_count(o, "metadata_left_out", d->left_out);
	put_accelerators(o, &d->k);
	put_phases(o, c->phases);
	if (d->k.session_ns >= 0)
		gt_out_printf(o, ",\"profiler_start_ns\":%" PRId64 ",\"profiler_ns\":%" PRId64,
			d->k.session_start, d->k.session_ns);
	if (d->k.window_end != INT64_MIN)
		gt_out_printf(o, ",\"profiler_window_end_ns\":%" PRId64, d->k.window_end);
}

static void put_clock(struct gt_out *o, const struct gt_kineto_document *d, int64_t start)
{
	time_t s = (time_t)((d->base + start) / 1000000000);
	struct tm utc;
	char text[40];

	if (!d->based || !gmtime_r(&s, &utc) ||
		!strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc))
		return;
	gt_out_printf(o, ",\"start_utc\":\"%s\"", text);
}

static int put_metadata(struct gt_kineto_document *d, struct gt_err *err)
{
	const struct gt_writer_stats *s = gt_writer_stats(d->k.w);
	bool lost;
	char *others = gt_json_copy_close(&d->others, &lost);
	struct gt_out o;
	int e;

	if (!others)
		return gt_kineto_no_memory(err);
	d->left_out += lost;
	gt_out_memory(&o);
	gt_out_printf(&o, "{\"imported_from\":\"%s\",\"truncated\":%s", d->k.format,
		d->truncated ? "true" : "false");
	put_counts(&o, d);
	if (s->min_start <= s->max_end)
		put_clock(&o, d, s->min_start);
	if (d->cuda > 0)
		gt_out_printf(&o, ",\"cuda_version\":\"%" PRId64 ".%" PRId64 "\"", d->cuda / 1000,
			d->cuda % 1000 / 10);
	if (d->gpus.len) {
		gt_out_str(&o, ",\"gpus\":[");
		gt_out_add(&o, d->gpus.data, d->gpus.len);
		gt_out_str(&o, "]");
	}
	gt_out_str(&o, ",\"kineto\":");
	gt_out_str(&o, others);
	gt_out_add(&o, "}", 2);
	free(others);
	e = o.failed || d->gpus.failed ? gt_kineto_no_memory(err)
				       : gt_writer_meta(d->k.w, o.data, err);
	gt_out_close(&o, NULL);
	return e;
}

/* Writes an anchor for the time of day. Times in old files, which have no base, count from 1970. */
static int put_anchor(struct gt_kineto_document *d, struct gt_err *err)
{
	const struct gt_writer_stats *s = gt_writer_stats(d->k.w);
	struct gt_anchor a = { .monotonic = s->min_start, .ticks = (uint64_t)s->min_start };

	if (s->min_start > s->max_end)
		return 0;
	if (!d->based && s->min_start > 1000000000000000000) /* 2001 */
		d->based = true;
	if (!d->based || __builtin_add_overflow(d->base, s->min_start, &a.realtime))
		d->based = false;
	return d->based ? gt_writer_anchor(d->k.w, &a, err) : 0;
}

/* Events without a time are losses somewhere in the recording. */
static int put_losses(struct gt_kineto_document *d, struct gt_err *err)
{
	const struct gt_writer_stats *s = gt_writer_stats(d->k.w);
	int64_t from = s->min_start, to = s->max_end;
	uint64_t n = d->k.counts.no_time + d->k.counts.lost;

	return n ? gt_writer_loss(d->k.w, GT_SCOPE_ALL, GT_NONE, from <= to ? from : 0,
			   from <= to ? to : 0, n, err)
		 : 0;
}

int gt_kineto_document_finish(struct gt_kineto_document *d, struct gt_err *err)
{
	int e = gt_kineto_phases_finish(&d->k, err);

	e = e ? e : gt_kineto_order_finish(&d->k, err);
	e = e ? e : gt_kineto_gpu_finish(&d->k, err);
	e = e ? e : gt_kineto_stacks_finish(&d->k, err);
	e = e ? e : put_losses(d, err);
	e = e ? e : put_anchor(d, err);
	if (!e && d->k.now != INT64_MIN)
		e = gt_writer_epoch(d->k.w, d->k.now, err);
	return e ? e : put_metadata(d, err);
}

/* ---- the importer ---- */

void gt_kineto_document_free(struct gt_kineto_document *d)
{
	struct gt_kineto *k = d ? &d->k : NULL;

	if (!d)
		return;
	struct gt_map *maps[] = { &k->thread_map, &k->class_map, &k->name_map, &k->place_map,
		&k->arg_set_map };

	for (size_t i = 0; i < sizeof(maps) / sizeof(*maps); i++)
		gt_map_release(maps[i]);
	for (size_t i = 0; i < k->nthreads; i++) {
		free(k->threads[i].lane.open);
		free(k->threads[i].calls.open);
		free(k->threads[i].ranges.open);
	}
	gt_sorter_release(&k->ordered);
	gt_kineto_slices_release(&k->slices);
	gt_out_close(&k->args, NULL);
	gt_kineto_gpu_release(k);
	free(k->forwards);
	free(k->threads);
	free(k->classes);
	gt_kineto_stacks_release(&k->stacks);
	free(k->arg_sets);
	free(k->names);
	free(k->places);
	gt_out_close(&d->others, NULL);
	gt_out_close(&d->gpus, NULL);
	gt_json_release(&d->j);
	free(d);
}

struct gt_kineto_document *gt_kineto_document_new(
	struct gt_writer *w, const char *format, struct gt_err *err)
{
	struct gt_kineto_document *d = calloc(1, sizeof(*d));

	if (!d) {
		gt_kineto_no_memory(err);
		return NULL;
	}
	gt_out_memory(&d->others);
	gt_out_memory(&d->gpus);
	gt_out_memory(&d->k.args);
	gt_out_str(&d->others, "{");
	d->k.format = format;
	d->k.w = d->k.gpu.w = w;
	d->k.now = INT64_MIN;
	d->k.session_ns = -1;
	d->k.window_end = INT64_MIN;
	if (!gt_kineto_strings(&d->k, err))
		return d;
	gt_kineto_document_free(d);
	return NULL;
}

int gt_kineto_document_key(struct gt_kineto_document *d, const char *key, const char *json,
	size_t len, struct gt_err *err)
{
	struct gt_in *in = gt_in_memory(json, len, err);
	struct gt_err unused = GT_ERR_INIT;
	int t, e = in ? gt_json_init(&d->j, in, false, err) : err->code;

	if (!e) {
		t = gt_json_next(&d->j, &unused);
		if (t > 0)
			read_other_key(d, key, t, &unused);
		d->left_out += unused.code != 0;
	}
	if (in)
		gt_json_release(&d->j);
	d->j = (struct gt_json){ .text = NULL };
	gt_in_close(in);
	return e;
}

static int import(struct gt_in *in, struct gt_writer *w, struct gt_err *err)
{
	struct gt_err scan = GT_ERR_INIT; /* separate: an incomplete file is no error */
	struct gt_kineto_document *d = gt_kineto_document_new(w, "kineto", err);
	bool cut;
	int e;

	if (!d)
		return err->code;
	e = gt_json_init(&d->j, in, false, err);
	d->j.controls = true;
	if (!e) {
		e = read_document(d, &scan);
		cut = e == -ENODATA;
		/* a program that may crash writes an array without end */
		d->truncated = cut && !(d->open_array && d->j.depth == 1 && d->j.at == d->j.end);
		if (e && !cut && err && !err->code)
			*err = scan;
		e = e && !cut ? e : gt_kineto_document_finish(d, err);
	}
	gt_kineto_document_free(d);
	return e;
}

/* Looks at the keys of the object before its events, or at the first of an array of events. */
static int sniff(const char *head, size_t len)
{
	struct gt_in *in = gt_in_memory(head, len, NULL);
	unsigned phase = 0, time = 0;
	struct gt_json j;
	bool array = false;
	int sure = 0, t;

	if (!in || gt_json_init(&j, in, false, NULL)) {
		gt_in_close(in);
		return 0;
	}
	for (unsigned n = 0; n < SNIFF_TOKENS && !sure && (t = gt_json_next(&j, NULL)) > 0; n++) {
		if (!n)
			array = t == GT_JSON_ARRAY;
		if (!j.depth || (array && j.depth == 1 && n && t != GT_JSON_OBJECT_END))
			break; /* a single value, or an array of other things */
		if (t != GT_JSON_KEY || j.depth != 1u + array)
			continue;
		phase |= array && gt_json_is(&j, "ph");
		time |= array && (gt_json_is(&j, "ts") || gt_json_is(&j, "pid"));
		sure = !array &&
				(gt_json_is(&j, "traceEvents") ||
					gt_json_is(&j, "baseTimeNanoseconds") ||
					gt_json_is(&j, "deviceProperties"))
			? 95
			: phase && time ? 80
					: 0;
	}
	gt_json_release(&j);
	gt_in_close(in);
	return sure;
}

const struct gt_importer gt_import_kineto = {
	.name = "kineto",
	.help = "Chrome trace JSON of PyTorch's profiler (Kineto), gtexport --chrome",
	.sniff = sniff,
	.import = import,
};
