/* Rows that the events of a trace make. Values that all rows of one type on one track share are
 * computed once, in a form: it has their table, and how each column gets its value. */
#include <stdlib.h>
#include "formats/base/numbers.h"
#include "formats/cuda/gpu_rows.h"
#include "formats/export/tables/trace_tables_internal.h"
#include "formats/trace/write/sched_rows.h"

enum how {
	CONSTANT,
	START,
	ENDING,
	RET,
	DEPTH,
	FIELD,
	FIELD_STRING,
	FIELD_STACK,
	FIELD_MEMORY,
	FIELD_REAL,
	FIELD_INT_AS_REAL,
	FIELD_UINT_AS_REAL,
	FIELD_SCOPE,
	FIELD_DIRECTION,
	CALL_CORRELATION,
	WORK_CORRELATION
};
struct form_key {
	uint32_t segment, type, track, kind;
};
struct gt_table_form {
	struct form_key key;
	uint32_t table;
	struct gt_table_value {
		enum how how;
		uint32_t field;
		int64_t constant;
	} values[GT_TABLE_COLUMNS];
	uint32_t name;        /* string of the type */
	uint32_t join[3];     /* fields of launch_track, _start, _name */
	uint32_t correlation; /* GT_NONE: none */
};

/* ---- batches ---- */

static struct gt_table_batch *new_batch(struct gt_table_work *w, uint32_t table)
{
	const struct gt_trace_table *t = &gt_trace_tables[table];
	struct gt_table_batch *b = calloc(1, sizeof(*b));

	for (unsigned c = 0; b && c < t->ncolumns; c++) {
		b->columns[c] = malloc(GT_TABLE_ROWS * sizeof(int64_t));
		if (!b->columns[c]) {
			while (c--)
				free(b->columns[c]);
			free(b);
			b = NULL;
		}
	}
	if (!b) {
		gt_err_set(w->err, -ENOMEM, "out of memory");
		return NULL;
	}
	b->table = t;
	b->number = table;
	return w->batches[table] = b;
}

/* Texts were stored as offsets: their memory may have moved. */
int gt_table_flush(struct gt_table_work *w, uint32_t table)
{
	struct gt_table_batch *b = w->batches[table];
	int rc;

	if (!b || !b->n)
		return 0;
	if (w->text.failed)
		return gt_err_set(w->err, -ENOMEM, "out of memory");
	for (uint32_t i = 0; i < b->ntexts; i++)
		b->texts[i].ptr = (const char *)w->text.data + (uintptr_t)b->texts[i].ptr;
	rc = w->sink(w->arg, b, w->err);
	b->n = b->ntexts = 0;
	gt_buf_clear(&w->text);
	return rc;
}

struct gt_table_batch *gt_table_batch_of(struct gt_table_work *w, uint32_t table)
{
	struct gt_table_batch *b = w->batches[table];

	if (!b)
		return new_batch(w, table);
	if (b->n == GT_TABLE_ROWS && gt_table_flush(w, table))
		return NULL;
	return b;
}

/* ---- forms ---- */

static uint32_t named_field(
	const struct gt_segment *seg, const struct gt_type *type, const char *name)
{
	for (uint32_t i = 0; i < type->nfields; i++)
		if (!strcmp(gt_str(seg, type->fields[i].name), name))
			return i;
	return GT_NONE;
}

static uint32_t nth_field(const struct gt_type *type, unsigned role, unsigned nth)
{
	for (uint32_t i = 0; i < type->nfields; i++)
		if (type->fields[i].role == role && !nth--)
			return i;
	return GT_NONE;
}

static struct gt_table_value of_constant(int64_t v)
{
	return (struct gt_table_value){ CONSTANT, 0, v };
}

static struct gt_table_value of_field(enum how how, uint32_t field)
{
	return field == GT_NONE ? of_constant(GT_TABLE_NULL)
				: (struct gt_table_value){ how, field, 0 };
}

/* The id of the track's device, context or stream; -1: it has none. */
static int64_t place_id(const struct gt_segment *seg, uint32_t track, enum gt_track_kind kind)
{
	uint32_t t = gt_track_above(seg, track, kind);

	return t == GT_NONE ? -1 : seg->tracks[t].id;
}

static int64_t full_name(struct gt_table_work *w, const char *name)
{
	const char *full = gt_kernel_names_shown(w->demangled, name);

	return gt_table_word(w, full);
}

/* The function's name alone, as Nsight's: several kernels may share it. */
static int64_t short_name(struct gt_table_work *w, const struct gt_segment *seg, uint32_t name)
{
	char brief[GT_SHORT_MAX + 1];

	gt_kernel_function(gt_str(seg, name), brief);
	return gt_table_own_text(w, brief);
}

static int64_t sync_type(const char *name)
{
	static const uint8_t types[GT_GPU_WAITS] = { [GT_GPU_WAIT_EVENT] = 1,
		[GT_GPU_WAIT_STREAM_EVENT] = 2,
		[GT_GPU_WAIT_STREAM] = 3,
		[GT_GPU_WAIT_CONTEXT] = 4 };

	return types[gt_gpu_wait_of_row(name)];
}

static int64_t event_class(const struct gt_type *type)
{
	return type->layer == GT_LAYER_RUNTIME ? GT_CLASS_RUNTIME
		: type->layer == GT_LAYER_API  ? GT_CLASS_DRIVER
					       : GT_CLASS_OS;
}

/* Which of push/pop and start/end a range is, is not recorded: one of a thread is taken for
 * push/pop. */
static int64_t range_type(const struct gt_event *ev)
{
	return ev->kind == GT_INSTANT ? GT_NVTX_MARK
		: ev->track < ev->seg->ntracks && ev->seg->tracks[ev->track].kind == GT_TRACK_THREAD
		? GT_NVTX_PUSH_POP
		: GT_NVTX_START_END;
}

static struct gt_table_value counter_value(const struct gt_type *type)
{
	enum how how = !type->nfields              ? CONSTANT
		: type->fields[0].kind == GT_F_F64 ? FIELD_REAL
		: type->fields[0].kind == GT_F_I64 ? FIELD_INT_AS_REAL
						   : FIELD_UINT_AS_REAL;

	return how == CONSTANT ? of_constant(GT_TABLE_NULL) : of_field(how, 0);
}

static const char *value_kind(const struct gt_type *type)
{
	return !type->nfields || type->fields[0].kind == GT_F_F64 ? "real"
		: type->fields[0].kind == GT_F_I64                ? "integer"
								  : "unsigned";
}

/* Values of columns that every row of the form has. */
static struct gt_table_value value_of_type(struct gt_table_work *w, const struct gt_event *ev,
	const struct gt_type *type, const struct gt_table_column *c)
{
	const struct gt_segment *seg = ev->seg;

	switch ((enum gt_column_source)c->from) {
	case GT_FROM_NAME: return of_constant(gt_table_string(w, seg, type->name));
	case GT_FROM_DEMANGLED: return of_constant(full_name(w, gt_str(seg, type->name)));
	case GT_FROM_SHORT_NAME: return of_constant(short_name(w, seg, type->name));
	case GT_FROM_FIELD: return of_field(FIELD, nth_field(type, c->role, c->nth));
	case GT_FROM_NAMED: return of_field(FIELD, named_field(seg, type, c->field));
	case GT_FROM_STRING: return of_field(FIELD_STRING, named_field(seg, type, c->field));
	case GT_FROM_STACK: return of_field(FIELD_STACK, gt_type_field(type, GT_R_STACK));
	case GT_FROM_COPY_KIND:
		return of_field(FIELD_DIRECTION, gt_type_field(type, GT_R_DIRECTION));
	case GT_FROM_MEMORY_KIND: return of_field(FIELD_MEMORY, gt_type_field(type, c->role));
	case GT_FROM_SYNC_TYPE: return of_constant(sync_type(gt_str(seg, type->name)));
	case GT_FROM_EVENT_CLASS: return of_constant(event_class(type));
	case GT_FROM_CATEGORY_WORD:
		return of_constant(gt_table_word(w, gt_category_word(type->category)));
	case GT_FROM_LAYER_WORD: return of_constant(gt_table_word(w, gt_layer_word(type->layer)));
	case GT_FROM_OPERATION_WORD: return of_constant(gt_table_word(w, gt_op_word(type->op)));
	case GT_FROM_MEMORY_WORD:
		return of_constant(gt_table_word(w, gt_memkind_word(type->memkind)));
	case GT_FROM_VALUE: return counter_value(type);
	case GT_FROM_VALUE_KIND_WORD: return of_constant(gt_table_word(w, value_kind(type)));
	default: return of_constant(GT_TABLE_NULL);
	}
}

static struct gt_table_value value_of(struct gt_table_work *w, const struct gt_event *ev,
	const struct gt_type *type, const struct gt_table_column *c)
{
	const struct gt_segment *seg = ev->seg;
	const struct gt_table_ids *ids = &w->ids[seg->index];
	bool tracked = ev->track < seg->ntracks, open = ev->kind == GT_OPEN;
	uint32_t context = type ? gt_type_field(type, GT_R_CONTEXT) : GT_NONE,
		 process = tracked ? gt_track_process(seg, ev->track) : GT_NONE;

	switch ((enum gt_column_source)c->from) {
	case GT_FROM_START: return (struct gt_table_value){ START, 0, 0 };
	case GT_FROM_ENDING:
		return open || ev->kind == GT_INSTANT || ev->kind == GT_UNMATCHED
			? of_constant(GT_TABLE_NULL)
			: (struct gt_table_value){ ENDING, 0, 0 };
	case GT_FROM_RET:
		return open ? of_constant(GT_TABLE_NULL) : (struct gt_table_value){ RET, 0, 0 };
	case GT_FROM_DEPTH: return (struct gt_table_value){ DEPTH, 0, 0 };
	case GT_FROM_DEVICE: return of_constant(place_id(seg, ev->track, GT_TRACK_DEVICE));
	case GT_FROM_CONTEXT:
		return context != GT_NONE ? of_field(FIELD, context)
					  : of_constant(place_id(seg, ev->track, GT_TRACK_CONTEXT));
	case GT_FROM_STREAM: return of_constant(place_id(seg, ev->track, GT_TRACK_STREAM));
	case GT_FROM_GLOBAL_PID: return of_constant(process == GT_NONE ? 0 : ids->globals[process]);
	case GT_FROM_GLOBAL_TID: return of_constant(tracked ? ids->globals[ev->track] : 0);
	case GT_FROM_TRACK:
		return of_constant(tracked ? (int64_t)ids->track_base + ev->track : GT_TABLE_NULL);
	case GT_FROM_RANGE_TYPE: return of_constant(range_type(ev));
	case GT_FROM_KIND_WORD: return of_constant(gt_table_word(w, gt_kind_word(ev->kind)));
	case GT_FROM_CORRELATION:
		return (struct gt_table_value){
			type && type->layer == GT_LAYER_GPU ? WORK_CORRELATION : CALL_CORRELATION,
			0, 0
		};
	case GT_FROM_COUNT: return of_field(FIELD, 0);
	case GT_FROM_SCOPE_WORD: return of_field(FIELD_SCOPE, 1);
	default: return type ? value_of_type(w, ev, type, c) : of_constant(GT_TABLE_NULL);
	}
}

static struct gt_table_form *new_form(
	struct gt_table_work *w, const struct gt_event *ev, const struct form_key *key)
{
	const struct gt_type *type =
		ev->row.type < ev->seg->ntypes ? &ev->seg->types[ev->row.type] : NULL;
	struct gt_table_form *f = calloc(1, sizeof(*f));

	if (!f || gt_grow(&w->forms, &w->forms_cap, w->nforms + 1, sizeof(*w->forms)) ||
		gt_map_add(&w->form_map, gt_hash(key, sizeof(*key)), (uint32_t)w->nforms)) {
		free(f);
		gt_err_set(w->err, -ENOMEM, "out of memory");
		return NULL;
	}
	w->forms[w->nforms++] = f;
	f->key = *key;
	f->table = gt_trace_table_of(ev->kind, type);
	if (f->table == GT_NONE || !gt_table_is_wanted(w, f->table)) {
		f->table = GT_NONE;
		return f;
	}
	f->name = type ? type->name : GT_NONE;
	f->join[0] = type ? gt_type_field(type, GT_R_LAUNCH_TRACK) : GT_NONE;
	f->join[1] = type ? gt_type_field(type, GT_R_LAUNCH_START) : GT_NONE;
	f->join[2] = type ? gt_type_field(type, GT_R_LAUNCH_NAME) : GT_NONE;
	f->correlation = type ? gt_type_field(type, GT_R_CORRELATION) : GT_NONE;
	for (unsigned c = 0; c < gt_trace_tables[f->table].ncolumns; c++) {
		const struct gt_table_column *column = &gt_trace_tables[f->table].columns[c];

		f->values[c] = value_of(w, ev, type, column);
		if (column->needed && f->values[c].how == CONSTANT &&
			f->values[c].constant == GT_TABLE_NULL)
			f->values[c].constant = 0;
	}
	return w->err->code ? NULL : f;
}

static bool is_form(const void *arg, uint32_t i, const void *key, size_t len)
{
	const struct gt_table_work *w = arg;

	return !memcmp(&w->forms[i]->key, key, sizeof(struct form_key));
}

static struct gt_table_form *form_of(struct gt_table_work *w, const struct gt_event *ev)
{
	struct form_key key = { ev->seg->index, ev->row.type, ev->track, ev->kind };
	struct gt_table_form **last =
		ev->row.type < ev->seg->ntypes ? &w->ids[key.segment].last[key.type] : NULL;
	struct gt_table_form *f = last ? *last : NULL;
	uint32_t i;

	if (f && f->key.track == key.track && f->key.kind == key.kind)
		return f;
	i = gt_map_get(&w->form_map, gt_hash(&key, sizeof(key)), is_form, w, &key, sizeof(key));
	f = i == GT_NONE ? new_form(w, ev, &key) : w->forms[i];
	if (last)
		*last = f;
	return f;
}

/* ---- values of a row ---- */

/* Numbers of CUPTI's are below 1 << 32. A call and its work without one have a number above. */
static int64_t number_of(const struct gt_chrome_launch *launch)
{
	if (!launch || !launch->correlation)
		return GT_TABLE_NULL;
	return launch->is_numbered ? (int64_t)launch->correlation << 32 : launch->correlation;
}

static int64_t call_correlation(
	struct gt_table_work *w, const struct gt_table_form *f, const struct gt_event *ev)
{
	if (f->correlation != GT_NONE && ev->args[f->correlation])
		return (int64_t)ev->args[f->correlation];
	if (!gt_chrome_launches_named(&w->launches, ev->seg, f->name))
		return GT_TABLE_NULL;
	return number_of(
		gt_chrome_launches_find(&w->launches, ev->seg, ev->track, ev->row.start, f->name));
}

static int64_t work_correlation(
	struct gt_table_work *w, const struct gt_table_form *f, const struct gt_event *ev)
{
	const uint32_t *j = f->join;

	if (f->correlation != GT_NONE && ev->args[f->correlation])
		return (int64_t)ev->args[f->correlation];
	if (j[0] == GT_NONE || j[1] == GT_NONE || j[2] == GT_NONE ||
		ev->args[j[0]] >= ev->seg->ntracks || ev->args[j[2]] >= ev->seg->nstrings)
		return GT_TABLE_NULL;
	return number_of(gt_chrome_launches_find(&w->launches, ev->seg, (uint32_t)ev->args[j[0]],
		(int64_t)ev->args[j[1]], (uint32_t)ev->args[j[2]]));
}

static int64_t real_bits(double d)
{
	int64_t bits;

	d += 0.0; /* -0.0, whose bits are GT_TABLE_NULL, becomes 0 */
	memcpy(&bits, &d, sizeof(bits));
	return bits;
}

static int64_t real_of(uint64_t bits)
{
	double d;

	memcpy(&d, &bits, sizeof(d));
	return real_bits(d);
}

/* ENUM_CUDA_MEM_KIND of gt's word. */
static int64_t memory_kind(const struct gt_segment *seg, uint64_t string)
{
	for (unsigned m = 1; string < seg->nstrings && m < GT_GPU_MEMORY_COUNT; m++)
		if (!strcmp(seg->strings[string].ptr, gt_gpu_memory_word(m)))
			return m - 1;
	return 7;
}

/* ENUM_CUDA_MEMCPY_OPER. */
static int64_t copy_kind(uint64_t direction)
{
	static const uint8_t kinds[] = { [GT_DIR_HTOD] = 1,
		[GT_DIR_DTOH] = 2,
		[GT_DIR_DTOD] = 8,
		[GT_DIR_HTOH] = 9,
		[GT_DIR_PEER] = 10 };

	return direction < sizeof(kinds) ? kinds[direction] : 0;
}

static int64_t scope_word(struct gt_table_work *w, uint64_t scope)
{
	static const char *const words[] = { "track", "process", "cpu", "device", "all" };

	return gt_table_word(w, words[scope < 5 ? scope : 4]);
}

static int64_t value_from_args(struct gt_table_work *w, const struct gt_table_form *f,
	const struct gt_table_value *v, const struct gt_event *ev)
{
	uint64_t x;

	if (v->how == CALL_CORRELATION)
		return call_correlation(w, f, ev);
	if (v->how == WORK_CORRELATION)
		return work_correlation(w, f, ev);
	if (!ev->args || v->field >= ev->row.nargs)
		return GT_TABLE_NULL;
	x = ev->args[v->field];
	switch (v->how) {
	case FIELD_STRING: return gt_table_string(w, ev->seg, x);
	case FIELD_STACK:
		return x < ev->seg->nstacks ? (int64_t)(w->ids[ev->seg->index].stack_base + x)
					    : GT_TABLE_NULL;
	case FIELD_MEMORY: return memory_kind(ev->seg, x);
	case FIELD_REAL: return real_of(x);
	case FIELD_INT_AS_REAL: return real_bits((double)(int64_t)x);
	case FIELD_UINT_AS_REAL: return real_bits((double)x);
	case FIELD_SCOPE: return scope_word(w, x);
	case FIELD_DIRECTION: return copy_kind(x);
	default: return (int64_t)x;
	}
}

static int add_row(void *arg, const struct gt_event *ev)
{
	struct gt_table_work *w = arg;
	struct gt_table_form *f = form_of(w, ev);
	struct gt_table_batch *b;
	int64_t base = w->ids[ev->seg->index].base;

	if (!f)
		return w->err->code;
	if (f->table == GT_NONE)
		return 0;
	b = gt_table_batch_of(w, f->table);
	if (!b)
		return w->err->code;
	for (unsigned c = 0; c < b->table->ncolumns; c++) {
		const struct gt_table_value *v = &f->values[c];
		int64_t *to = &b->columns[c][b->n];

		switch (v->how) {
		case CONSTANT: *to = v->constant; break;
		case START: *to = gt_since(ev->row.start, base); break;
		case ENDING: *to = gt_since(ev->row.end, base); break;
		case RET: *to = ev->row.ret; break;
		case DEPTH: *to = ev->row.depth; break;
		case FIELD:
			*to = v->field < ev->row.nargs ? (int64_t)ev->args[v->field]
						       : GT_TABLE_NULL;
			break;
		default: *to = value_from_args(w, f, v, ev);
		}
		if (b->table->columns[c].needed && *to == GT_TABLE_NULL)
			*to = 0;
	}
	b->n++;
	return w->err->code;
}

/* ---- the export ---- */

/* A range or pattern may leave out a call and not its work; the call's number is needed only where
 * both tables are written. */
static int write_all(struct gt_table_work *w)
{
	int rc = gt_table_ids_init(w);

	if (!rc)
		rc = gt_chrome_launches_init(&w->launches, w->opt, w->r, w->err);
	if (!rc)
		rc = gt_export_rows(w->r, w->opt, &w->opt->filter, NULL, add_row, w, w->err);
	for (uint32_t t = 0; t < gt_trace_tables_count && !rc; t++)
		rc = gt_table_flush(w, t);
	return rc ? rc : gt_table_lists(w);
}

int gt_trace_tables_write(struct gt_reader *r, const struct gt_export_options *opt,
	gt_table_sink *sink, void *arg, struct gt_err *err)
{
	struct gt_table_work w = { .r = r,
		.opt = opt,
		.only = opt->tables ? opt->tables : UINT64_MAX,
		.sink = sink,
		.arg = arg,
		.err = err };
	int rc = write_all(&w);

	for (uint32_t t = 0; t < gt_trace_tables_count; t++) {
		struct gt_table_batch *b = w.batches[t];

		for (unsigned c = 0; b && c < b->table->ncolumns; c++)
			free(b->columns[c]);
		if (b)
			free(b->texts);
		free(b);
	}
	for (size_t i = 0; i < w.nforms; i++)
		free(w.forms[i]);
	free(w.forms);
	gt_map_release(&w.form_map);
	gt_buf_release(&w.text);
	gt_chrome_launches_release(&w.launches);
	gt_table_ids_release(&w);
	return rc ? rc : err->code;
}
