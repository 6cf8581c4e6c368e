/* Snapshots of PyTorch's GPU memory: torch.cuda.memory._dump_snapshot(FILE), and
 * _memory_snapshot_pickled() of C++. The file is a pickle (pickle.h) of
 *
 *	{ "segments": [ { device, address, total_size, stream, blocks: [ { address, size,
 *		requested_size, state, frames: [ { name, filename, line } ] } ] } ],
 *	  "device_traces": [ [ { action, addr, size, stream, time_us, frames } ] ] of each device,
 *	  "external_annotations": [ { name, stage: START | END, device, time_us } ],
 *	  "allocator_settings": { ... } }
 *
 * as torch/cuda/memory.py, torch/csrc/cuda/Module.cpp and torch/csrc/cuda/memory_snapshot.cpp of
 * PyTorch define it. Older forms have no time_us, no requested_size, no address of a block (blocks
 * follow each other), or frames in a "history" of a block.
 *
 * Sizes are those that the program requested, as in the events; the allocator rounds them up to 512
 * bytes, and its statistic allocated_bytes counts that. Host memory ("host_traces") is not read. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "formats/base/buf.h"
#include "formats/import/importers.h"
#include "formats/import/torch/import_torch_memory.h"
#include "formats/io/stream_out.h"

int gt_torch_no_memory(struct gt_err *err)
{
	return gt_err_set(err, -ENOMEM, "out of memory (import)");
}

bool gt_torch_integer(int token, const struct gt_pickle_cursor *c, int64_t *to)
{
	if (token != GT_JSON_INT || c->magnitude > INT64_MAX)
		return false;
	*to = c->negative ? -(int64_t)c->magnitude : (int64_t)c->magnitude;
	return true;
}

bool gt_torch_time(int token, const struct gt_pickle_cursor *c, int64_t *to)
{
	return gt_torch_integer(token, c, to) && *to > -GT_ROWS_TIME_MAX / 1000 &&
		*to < GT_ROWS_TIME_MAX / 1000;
}

void gt_torch_text(int token, const struct gt_pickle_cursor *c, const char **to, size_t *len)
{
	if (token != GT_JSON_STRING)
		return;
	*to = c->text;
	*len = c->len;
}

/* ---- the whole file ---- */

/* The token of the first element of *list, which becomes that element; 0: it is empty; or
 * negative. */
static int first_element(struct gt_torch_import *t, gt_pickle_value *list, struct gt_err *err)
{
	struct gt_pickle_cursor c;
	int token;

	gt_pickle_open(&c, t->pickle, *list);
	token = gt_pickle_next(&c, err);
	token = token < 0 ? token : gt_pickle_element(&c, err);
	*list = c.value;
	return token;
}

/* Are there events of host memory, in a list or in lists? */
static bool has_events(struct gt_torch_import *t, gt_pickle_value list)
{
	int token = first_element(t, &list, NULL);

	if (token == GT_JSON_ARRAY)
		token = first_element(t, &list, NULL);
	return token > 0;
}

/* The index of a trace is the number of its device. */
static int read_traces(struct gt_torch_import *t, gt_pickle_value list, struct gt_err *err)
{
	struct gt_pickle_cursor c;
	gt_pickle_value event;
	int64_t device = 0;
	int token, first;

	gt_pickle_open(&c, t->pickle, list);
	token = gt_pickle_next(&c, err);
	for (int64_t number = 0; token > 0 && device >= 0; number++) {
		token = gt_pickle_element(&c, err);
		gt_pickle_skip(&c);
		if (token != GT_JSON_ARRAY) {
			t->not_understood += token > 0;
			continue;
		}
		event = c.value;
		first = first_element(t, &event, err);
		if (first < 0)
			return first;
		if (!first)
			continue; /* the device was not used */
		device = gt_torch_device(t, number, err);
		if (device >= 0)
			t->devices[device].events = c.value;
	}
	return token < 0 ? token : device < 0 ? (int)device : 0;
}

/* The environment variable's text, as PYTORCH_CUDA_ALLOC_CONF. */
static int read_settings(struct gt_torch_import *t, gt_pickle_value settings, struct gt_err *err)
{
	struct gt_pickle_cursor c;
	const char *key;
	size_t len;
	int token;

	gt_pickle_open(&c, t->pickle, settings);
	token = gt_pickle_next(&c, err);
	while (token > 0 && (token = gt_pickle_pair(&c, &key, &len, err)) > 0) {
		if (len > 5 && gt_pickle_is(key + len - 5, 5, "_CONF"))
			gt_torch_text(token, &c, &t->settings, &t->settings_len);
		gt_pickle_skip(&c);
	}
	return token;
}

struct parts {
	gt_pickle_value segments, traces, settings, annotations;
};

static int read_root(struct gt_torch_import *t, struct parts *p, struct gt_err *err)
{
	struct gt_pickle_cursor c;
	const char *key;
	size_t len;
	int token;

	gt_pickle_open(&c, t->pickle, gt_pickle_root(t->pickle));
	token = gt_pickle_next(&c, err);
	if (token != GT_JSON_OBJECT)
		return token < 0 ? token : 0;
	while ((token = gt_pickle_pair(&c, &key, &len, err)) > 0) {
		if (token == GT_JSON_ARRAY && gt_pickle_is(key, len, "segments"))
			p->segments = c.value;
		else if (token == GT_JSON_ARRAY && gt_pickle_is(key, len, "device_traces"))
			p->traces = c.value;
		else if (token == GT_JSON_OBJECT && gt_pickle_is(key, len, "allocator_settings"))
			p->settings = c.value;
		else if (token == GT_JSON_ARRAY && gt_pickle_is(key, len, "external_annotations"))
			p->annotations = c.value;
		else if (token == GT_JSON_ARRAY && gt_pickle_is(key, len, "host_traces"))
			t->host = has_events(t, c.value);
		gt_pickle_skip(&c);
	}
	return token;
}

static int read_parts(struct gt_torch_import *t, struct gt_err *err)
{
	struct parts p = { GT_TORCH_NO_VALUE, GT_TORCH_NO_VALUE, GT_TORCH_NO_VALUE,
		GT_TORCH_NO_VALUE };
	int e = read_root(t, &p, err);

	if (!e && p.segments == GT_TORCH_NO_VALUE && p.traces == GT_TORCH_NO_VALUE)
		e = gt_err_set(err, -EILSEQ,
			"a pickle without \"segments\" and \"device_traces\": no memory snapshot of PyTorch");
	if (!e && p.segments != GT_TORCH_NO_VALUE)
		e = gt_torch_read_segments(t, p.segments, err);
	if (!e && p.traces != GT_TORCH_NO_VALUE)
		e = read_traces(t, p.traces, err);
	if (!e && p.settings != GT_TORCH_NO_VALUE)
		e = read_settings(t, p.settings, err);
	if (!e && p.annotations != GT_TORCH_NO_VALUE)
		e = gt_torch_read_annotations(t, p.annotations, err);
	return e;
}

static void put_count(struct gt_out *o, const char *key, uint64_t n)
{
	gt_out_printf(o, "\"%s\":%" PRIu64 ",", key, n);
}

static int put_metadata(struct gt_torch_import *t, struct gt_err *err)
{
	time_t first = (time_t)(t->first_us / 1000000);
	char start[40] = "";
	struct gt_out o;
	struct tm utc;
	int e;

	gt_out_memory(&o);
	gt_out_str(&o, "{");
	put_count(&o, "events_not_understood", t->not_understood);
	put_count(&o, "events_untimed", t->untimed);
	put_count(&o, "allocated_before_trace", t->before);
	put_count(&o, "allocated_before_trace_bytes", t->before_bytes);
	put_count(&o, "allocated_after_trace", t->after);
	put_count(&o, "freed_after_trace", t->freed_after);
	put_count(&o, "stacks_left_out", t->stacks_left_out);
	if (t->first_us != INT64_MAX && gmtime_r(&first, &utc) &&
		strftime(start, sizeof(start), "%Y-%m-%dT%H:%M:%SZ", &utc))
		gt_out_printf(&o, "\"start_utc\":\"%s\",", start);
	if (t->settings) {
		gt_out_str(&o, "\"allocator_settings\":");
		/* metadata have no zeros */
		gt_out_json(&o, t->settings, strnlen(t->settings, t->settings_len));
		gt_out_str(&o, ",");
	}
	gt_out_printf(&o, "\"host_memory_not_read\":%s", t->host ? "true" : "false");
	gt_out_add(&o, "}", 2); /* with the zero */
	e = o.failed ? gt_torch_no_memory(err) : gt_writer_meta(t->w, o.data, err);
	gt_out_close(&o, NULL);
	return e;
}

/* Times are those of the clock: several files have one. */
static int put_anchor(struct gt_torch_import *t, struct gt_err *err)
{
	int64_t at = t->first_us == INT64_MAX ? 0 : t->first_us * 1000;
	struct gt_anchor a = { at, at, (uint64_t)at, 0 };

	return at ? gt_writer_anchor(t->w, &a, err) : 0;
}

static void release(struct gt_torch_import *t)
{
	gt_rows_free(t->rows);
	gt_pickle_free(t->pickle);
	gt_map_release(&t->address_map);
	gt_map_release(&t->frame_map);
	gt_map_release(&t->stack_map);
	free(t->devices);
	free(t->addresses);
	free(t->frames);
	free(t->stacks);
}

static int import(struct gt_in *in, struct gt_writer *w, struct gt_err *err)
{
	struct gt_torch_import t = { .w = w, .first_us = INT64_MAX };
	int e;

	t.pickle = gt_pickle_load(in, err);
	t.rows = t.pickle ? gt_rows_new(&gt_torch_rows, w, err) : NULL;
	e = t.rows ? read_parts(&t, err) : err->code;
	if (!e)
		e = gt_torch_survey(&t, err);
	if (!e)
		e = gt_torch_write_rows(&t, err);
	if (!e)
		e = gt_rows_finish(t.rows, false, err);
	if (!e)
		e = put_metadata(&t, err);
	if (!e)
		e = put_anchor(&t, err);
	release(&t);
	return e;
}

static bool has_word(const char *head, size_t len, const char *word)
{
	return memmem(head, len, word, strlen(word));
}

/* A pickle that soon has a key of a snapshot, and no dump of PyTorch's Flight Recorder. */
static int sniff(const char *head, size_t len)
{
	if (len < 2 || (uint8_t)head[0] != 0x80 || head[1] < 2 || head[1] > 5)
		return 0;
	if (has_word(head, len, "pg_config"))
		return 0;
	return has_word(head, len, "segments") || has_word(head, len, "device_traces") ? 90 : 0;
}

const struct gt_importer gt_import_torch_memory = {
	.name = "torch-memory",
	.help = "GPU memory snapshots of PyTorch (torch.cuda.memory._dump_snapshot): pickles, of which no code is run",
	.sniff = sniff,
	.import = import,
};
