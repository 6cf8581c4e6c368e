/* Tables that do not come from events: names, processes, stacks, metadata, values of enums. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "formats/export/tables/trace_tables_internal.h"
#include "formats/text/utf8.h"
#include "formats/trace/meta.h"

struct cell {
	int64_t v;
	const char *text; /* of a TEXT column; NULL: no value */
	size_t len;
};
#define NUMBER(x) ((struct cell){ .v = (x) })
#define WORDS(x) ((struct cell){ .text = (x), .len = strlen(x) })

/* Adds a text. Bytes that are not UTF-8, and zeros, become U+FFFD. */
static void add_utf8(struct gt_buf *b, const char *s, size_t len)
{
	for (size_t i = 0; i < len;) {
		uint32_t ch;
		size_t n = gt_utf8_get(s + i, len - i, &ch);

		if (ch == UINT32_MAX || !ch)
			gt_buf_add(b, "\xef\xbf\xbd", 3);
		else
			gt_buf_add(b, s + i, n);
		i += n;
	}
}

static int64_t add_text(struct gt_table_work *w, struct gt_table_batch *b, const struct cell *c)
{
	size_t at = w->text.len, room = GT_TABLE_ROWS * 4ul;

	if (!c->text)
		return GT_TABLE_NULL;
	if (!b->texts)
		b->texts = malloc(room * sizeof(*b->texts));
	if (!b->texts || b->ntexts == room) {
		gt_err_set(w->err, -ENOMEM, "out of memory");
		return GT_TABLE_NULL;
	}
	add_utf8(&w->text, c->text, c->len);
	b->texts[b->ntexts] =
		(struct gt_string){ (const char *)(uintptr_t)at, (uint32_t)(w->text.len - at) };
	return b->ntexts++;
}

#define TEXT_BYTES (4u << 20) /* of a batch, about */

static int add(struct gt_table_work *w, uint32_t table, const struct cell *cells)
{
	struct gt_table_batch *b;

	if (w->text.len > TEXT_BYTES && gt_table_flush(w, table))
		return w->err->code;
	b = gt_table_batch_of(w, table);
	if (!b)
		return w->err->code;
	for (unsigned c = 0; c < b->table->ncolumns; c++) {
		const struct gt_table_column *column = &b->table->columns[c];

		b->columns[c][b->n] = column->from == GT_FROM_NOTHING ? GT_TABLE_NULL
			: column->type == GT_COLUMN_TEXT              ? add_text(w, b, &cells[c])
								      : cells[c].v;
	}
	b->n++;
	return w->err->code;
}

/* ---- enums ---- */

struct enum_value {
	int64_t id;
	const char *name, *label;
};
static const struct enum_value copies[] = {
	{ 0, "CUDA_MEMCPY_KIND_UNKNOWN", "Unknown" },
	{ 1, "CUDA_MEMCPY_KIND_HTOD", "Host-to-Device" },
	{ 2, "CUDA_MEMCPY_KIND_DTOH", "Device-to-Host" },
	{ 3, "CUDA_MEMCPY_KIND_HTOA", "Host-to-Array" },
	{ 4, "CUDA_MEMCPY_KIND_ATOH", "Array-to-Host" },
	{ 5, "CUDA_MEMCPY_KIND_ATOA", "Array-to-Array" },
	{ 6, "CUDA_MEMCPY_KIND_ATOD", "Array-to-Device" },
	{ 7, "CUDA_MEMCPY_KIND_DTOA", "Device-to-Array" },
	{ 8, "CUDA_MEMCPY_KIND_DTOD", "Device-to-Device" },
	{ 9, "CUDA_MEMCPY_KIND_HTOH", "Host-to-Host" },
	{ 10, "CUDA_MEMCPY_KIND_PTOP", "Peer-to-Peer" },
	{ -1, NULL, NULL },
};
static const struct enum_value memories[] = {
	{ 0, "CUDA_MEMOPR_MEMORY_KIND_PAGEABLE", "Pageable" },
	{ 1, "CUDA_MEMOPR_MEMORY_KIND_PINNED", "Pinned" },
	{ 2, "CUDA_MEMOPR_MEMORY_KIND_DEVICE", "Device" },
	{ 3, "CUDA_MEMOPR_MEMORY_KIND_ARRAY", "Array" },
	{ 4, "CUDA_MEMOPR_MEMORY_KIND_MANAGED", "Managed" },
	{ 5, "CUDA_MEMOPR_MEMORY_KIND_DEVICE_STATIC", "Device Static" },
	{ 6, "CUDA_MEMOPR_MEMORY_KIND_MANAGED_STATIC", "Managed Static" },
	{ 7, "CUDA_MEMOPR_MEMORY_KIND_UNKNOWN", "Unknown" },
	{ -1, NULL, NULL },
};
static const struct enum_value syncs[] = {
	{ 0, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_UNKNOWN", "Unknown" },
	{ 1, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE", "Event sync" },
	{ 2, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT", "Stream wait sync" },
	{ 3, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE", "Stream sync" },
	{ 4, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE", "Context sync" },
	{ -1, NULL, NULL },
};
static const struct enum_value classes[] = {
	{ GT_CLASS_RUNTIME, "TRACE_PROCESS_EVENT_CUDA_RUNTIME", "CUDA runtime" },
	{ GT_CLASS_DRIVER, "TRACE_PROCESS_EVENT_CUDA_DRIVER", "CUDA driver" },
	{ GT_CLASS_OS, "TRACE_PROCESS_EVENT_OS_RUNTIME", "OSRT runtime" },
	{ -1, NULL, NULL },
};
static const struct enum_value types[] = {
	{ GT_NVTX_MARK, "NvtxMark", "NvtxMark" },
	{ GT_NVTX_PUSH_POP, "NvtxPushPopRange", "NvtxPushPopRange" },
	{ GT_NVTX_START_END, "NvtxStartEndRange", "NvtxStartEndRange" },
	{ -1, NULL, NULL },
};

static int list_enum(struct gt_table_work *w, uint32_t table, const struct enum_value *v)
{
	int rc = 0;

	for (; v->name && !rc; v++)
		rc = add(w, table,
			(struct cell[]){ NUMBER(v->id), WORDS(v->name), WORDS(v->label) });
	return rc;
}

static int list_copies(struct gt_table_work *w, uint32_t t) { return list_enum(w, t, copies); }
static int list_memories(struct gt_table_work *w, uint32_t t) { return list_enum(w, t, memories); }
static int list_syncs(struct gt_table_work *w, uint32_t t) { return list_enum(w, t, syncs); }
static int list_classes(struct gt_table_work *w, uint32_t t) { return list_enum(w, t, classes); }
static int list_types(struct gt_table_work *w, uint32_t t) { return list_enum(w, t, types); }

/* ---- names ---- */

static int list_strings(struct gt_table_work *w, uint32_t table)
{
	int rc = 0;

	for (size_t i = 0; i < w->nstrings && !rc; i++)
		rc = add(w, table,
			(struct cell[]){ NUMBER((int64_t)i),
				{ .text = w->strings[i].ptr, .len = w->strings[i].len } });
	return rc;
}

static int list_processes(struct gt_table_work *w, uint32_t table)
{
	int rc = 0;

	for (uint32_t i = 0; i < w->nsegs; i++) {
		const struct gt_segment *seg = gt_reader_segment(w->r, i);

		for (uint32_t t = 0; t < seg->ntracks && !rc; t++) {
			const struct gt_track *track = &seg->tracks[t];
			const struct gt_string *name =
				track->name < seg->nstrings ? &seg->strings[track->name] : NULL;

			if (track->kind == GT_TRACK_PROCESS)
				rc = add(w, table,
					(struct cell[]){ NUMBER(w->ids[i].globals[t]),
						NUMBER(track->id),
						{ .text = name ? name->ptr : NULL,
							.len = name ? name->len : 0 } });
		}
	}
	return rc;
}

static int list_threads(struct gt_table_work *w, uint32_t table)
{
	int rc = 0;

	for (uint32_t i = 0; i < w->nsegs; i++) {
		const struct gt_segment *seg = gt_reader_segment(w->r, i);

		for (uint32_t t = 0; t < seg->ntracks && !rc; t++)
			if (seg->tracks[t].kind == GT_TRACK_THREAD &&
				seg->tracks[t].name < seg->nstrings)
				rc = add(w, table,
					(struct cell[]){ NUMBER(gt_table_string(
								 w, seg, seg->tracks[t].name)),
						NUMBER(0), NUMBER(w->ids[i].globals[t]) });
	}
	return rc;
}

static int list_tracks(struct gt_table_work *w, uint32_t table)
{
	int rc = 0;

	for (uint32_t i = 0; i < w->nsegs; i++) {
		const struct gt_segment *seg = gt_reader_segment(w->r, i);
		int64_t base = w->ids[i].track_base;

		for (uint32_t t = 0; t < seg->ntracks && !rc; t++) {
			const struct gt_track *track = &seg->tracks[t];
			int64_t global = w->ids[i].globals[t];

			rc = add(w, table,
				(struct cell[]){ NUMBER(base + t),
					NUMBER(track->parent < t ? base + track->parent
								 : GT_TABLE_NULL),
					NUMBER(i),
					NUMBER(gt_table_word(w, gt_track_kind_word(track->kind))),
					NUMBER(track->id),
					NUMBER(gt_table_string(w, seg, track->name)),
					NUMBER(gt_table_string(w, seg, track->source)),
					NUMBER(global ? global : GT_TABLE_NULL) });
		}
	}
	return rc;
}

/* ---- stacks ---- */

static int list_stack(
	struct gt_table_work *w, uint32_t table, const struct gt_segment *seg, uint32_t id)
{
	const struct gt_stack *s = &seg->stacks[id];
	int rc = 0;

	for (uint32_t i = 0; i < s->n && !rc; i++) {
		uint32_t text = s->frames[s->n - 1 - i];
		const struct gt_frame *f = gt_segment_frame(seg, text);
		int64_t function = f ? gt_table_string(w, seg, f->function) : GT_TABLE_NULL,
			module = f ? gt_table_string(w, seg, f->module) : GT_TABLE_NULL,
			words = gt_table_string(w, seg, text);

		rc = add(w, table,
			(struct cell[]){ NUMBER(w->ids[seg->index].stack_base + id),
				NUMBER(function == GT_TABLE_NULL ? words : function),
				NUMBER(module == GT_TABLE_NULL ? gt_table_word(w, "") : module),
				NUMBER(function == GT_TABLE_NULL),
				NUMBER(f && f->offset ? (int64_t)f->offset : GT_TABLE_NULL),
				NUMBER(i), NUMBER(words),
				NUMBER(gt_table_word(w, gt_frame_kind_word(f ? f->kind : 0))),
				NUMBER(f ? gt_table_string(w, seg, f->file) : GT_TABLE_NULL),
				NUMBER(f && f->line ? f->line : GT_TABLE_NULL) });
	}
	return rc;
}

static int list_stacks(struct gt_table_work *w, uint32_t table)
{
	int rc = 0;

	for (uint32_t i = 0; i < w->nsegs; i++) {
		const struct gt_segment *seg = gt_reader_segment(w->r, i);

		for (uint32_t s = 0; s < seg->nstacks && !rc; s++)
			rc = list_stack(w, table, seg, s);
	}
	return rc;
}

/* ---- metadata ---- */

struct meta {
	struct gt_table_work *w;
	uint32_t table, segment;
	/* of list_gpus */
	int64_t gpu;
	char *model, *bus, *uuid;
};

static int add_meta(void *arg, const char *key, const char *value)
{
	struct meta *m = arg;

	return add(m->w, m->table, (struct cell[]){ NUMBER(m->segment), WORDS(key), WORDS(value) });
}

static int list_metadata(struct gt_table_work *w, uint32_t table)
{
	int rc = 0;

	for (uint32_t i = 0; i < w->nsegs && !rc; i++) {
		const struct gt_segment *seg = gt_reader_segment(w->r, i);
		struct meta m = { .w = w, .table = table, .segment = i };

		rc = gt_meta_each(seg, add_meta, &m);
		if (!rc && !seg->closed)
			rc = add_meta(&m, "complete", "false");
	}
	if (!rc && w->opt->cut)
		rc = add(w, table, (struct cell[]){ NUMBER(0), WORDS("cut"), WORDS(w->opt->cut) });
	return rc;
}

static int put_gpu(struct meta *m)
{
	int rc = 0;

	if (m->gpu >= 0)
		rc = add(m->w, m->table,
			(struct cell[]){ NUMBER((int64_t)(m->segment + 1) << 48), NUMBER(m->gpu),
				{ .text = m->model, .len = m->model ? strlen(m->model) : 0 },
				{ .text = m->bus, .len = m->bus ? strlen(m->bus) : 0 },
				{ .text = m->uuid, .len = m->uuid ? strlen(m->uuid) : 0 },
				NUMBER(m->gpu) });
	free(m->model);
	free(m->bus);
	free(m->uuid);
	m->model = m->bus = m->uuid = NULL;
	m->gpu = -1;
	return rc;
}

/* Keys are gpus.0.model, gpus.0.uuid and so on. */
static int see_gpu(void *arg, const char *key, const char *value)
{
	struct meta *m = arg;
	char what[20];
	int64_t gpu;
	char **to;
	int rc;

	if (sscanf(key, "gpus.%" SCNd64 ".%19s", &gpu, what) != 2)
		return 0;
	rc = gpu == m->gpu ? 0 : put_gpu(m);
	m->gpu = gpu;
	to = !strcmp(what, "model") || !strcmp(what, "name") ? &m->model
		: !strcmp(what, "bus")                       ? &m->bus
		: !strcmp(what, "uuid")                      ? &m->uuid
							     : NULL;
	if (to && !*to)
		*to = strdup(value);
	return rc;
}

static int list_gpus(struct gt_table_work *w, uint32_t table)
{
	int rc = 0, last;

	for (uint32_t i = 0; i < w->nsegs && !rc; i++) {
		struct meta m = { .w = w, .table = table, .segment = i, .gpu = -1 };

		rc = gt_meta_each(gt_reader_segment(w->r, i), see_gpu, &m);
		last = put_gpu(&m);
		rc = rc ? rc : last;
	}
	return rc;
}

static int list_session(struct gt_table_work *w, uint32_t table)
{
	const struct gt_segment *seg = w->nsegs ? gt_reader_segment(w->r, 0) : NULL;
	char utc[32], local[32];
	const char *const form = "%Y-%m-%dT%H:%M:%S";
	struct tm tm;
	int64_t ns;
	time_t s;

	if (!seg || !seg->nanchors)
		return 0;
	ns = seg->anchors[0].realtime + gt_since(w->ids[0].base, seg->anchors[0].monotonic);
	s = (time_t)(ns / 1000000000);
	if (!gmtime_r(&s, &tm) || !strftime(utc, sizeof(utc), form, &tm) || !localtime_r(&s, &tm) ||
		!strftime(local, sizeof(local), form, &tm))
		return 0;
	return add(w, table, (struct cell[]){ NUMBER(ns), WORDS(utc), WORDS(local) });
}

static int list_details(struct gt_table_work *w, uint32_t table)
{
	int rc = 0;

	for (uint32_t i = 0; i < w->nsegs && !rc; i++) {
		const struct gt_segment *seg = gt_reader_segment(w->r, i);
		int64_t base = w->ids[i].base, from = gt_since(seg->min_start, base),
			to = gt_since(seg->max_end, base);

		rc = add(w, table,
			(struct cell[]){ NUMBER((int64_t)(i + 1) << 48), NUMBER(gt_since(to, from)),
				NUMBER(from), NUMBER(to) });
	}
	return rc;
}

static int list_export(struct gt_table_work *w, uint32_t table)
{
	static const char *const values[][2] = { { "EXPORT_PRODUCT_NAME", "gtexport" },
		{ "EXPORT_SCHEMA_VERSION", "3.0.0" }, { "EXPORT_SCHEMA_VERSION_MAJOR", "3" },
		{ "EXPORT_SCHEMA_VERSION_MINOR", "0" }, { "EXPORT_SCHEMA_VERSION_MICRO", "0" } };
	int rc = 0;

	for (size_t i = 0; i < sizeof(values) / sizeof(*values) && !rc; i++)
		rc = add(w, table, (struct cell[]){ WORDS(values[i][0]), WORDS(values[i][1]) });
	return rc;
}

/* ---- all lists ---- */

static const struct {
	const char *table;
	int (*list)(struct gt_table_work *w, uint32_t table);
} lists[] = {
	{ "GT_TRACKS", list_tracks }, { "CUDA_CALLCHAINS", list_stacks },
	{ "PROCESSES", list_processes }, { "ThreadNames", list_threads },
	{ "TARGET_INFO_GPU", list_gpus }, { "TARGET_INFO_SESSION_START_TIME", list_session },
	{ "ANALYSIS_DETAILS", list_details }, { "META_DATA_EXPORT", list_export },
	{ "metadata", list_metadata }, { "ENUM_CUDA_MEMCPY_OPER", list_copies },
	{ "ENUM_CUDA_MEM_KIND", list_memories }, { "ENUM_CUPTI_SYNC_TYPE", list_syncs },
	{ "ENUM_NSYS_EVENT_CLASS", list_classes }, { "ENUM_NSYS_EVENT_TYPE", list_types },
	{ "StringIds", list_strings }, /* last: the others add strings */
};

int gt_table_lists(struct gt_table_work *w)
{
	int rc = 0;

	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists) && !rc; i++) {
		uint32_t table = gt_trace_table_find(lists[i].table);

		if (!gt_table_is_wanted(w, table))
			continue;
		rc = lists[i].list(w, table);
		if (!rc)
			rc = gt_table_flush(w, table);
	}
	return rc;
}
