/* Nsight's traces: a row for each call, GPU operation, or kernel with its launch, in order of their
 * start.
 *
 * A long recording has more rows than fit into memory, so rows are not stored: the table gets a
 * source (table.h) that reads the file while it is printed. Before that the report only counts
 * rows. So it can note how many --top leaves out, and the header above the table knows all damage.
 *
 * Facts about a type or track are computed once. They determine more than half of the cells of a
 * row. Rows of one type on one track have one form (table.h): it stores its cells once, and each
 * row changes only its own cells. */
#include <stdlib.h>
#include <string.h>
#include "analyze/gpu/gpu_name.h"
#include "analyze/columns/launch_fields.h"
#include "analyze/nsight/nsight.h"
#include "formats/base/buf.h"

struct shape {              /* of a type */
	bool known, copies; /* copies: a copy or set */
	/* fields of its arguments; NO_FIELD: none */
	uint8_t correlation, grid, block, registers, shared, shared_dynamic, bytes, direction, src,
		dst, context;
	uint8_t launch_track, launch_start, launch_ns, launch_name, launch_join;
	uint32_t name, brief; /* numbers of names; brief: for the short form; GT_NONE: none */
	struct form *last;    /* form of its previous row; NULL: none */
};
#define NO_FIELD UINT8_MAX

struct place { /* of a track */
	bool known;
	uint32_t process, device; /* tracks, or GT_NONE */
	int64_t origin;           /* origin of its times */
	char *device_name;        /* of a device: "NVIDIA H200 (0)"; NULL: not computed yet */
};
/* Texts of grids and blocks. A program has few different ones. The first ones keep their slots,
 * so that their texts stay valid. */
struct three {
	uint32_t x, y, z;
	char text[GT_NSIGHT_TRIPLE];
};
#define THREES 256
#define COLUMNS_MOST 20
struct form { /* of a type on a track */
	uint32_t place;
	unsigned number; /* from 1; 0: rows without a form */
	const struct shape *shape;
	const struct place *at;
	const struct three *grid, *block; /* the ones in its cells; NULL: unknown */
	struct gt_cell cells[COLUMNS_MOST];
};
#define FORM_PLACES (2 * GT_ROW_FORMS)

struct trace {
	const struct trace_spec *spec;
	struct gt_analysis_options opt; /* a copy: rows are made after finish() */
	struct gt_reader *reader;
	struct gt_iter *it;
	struct gt_nsight_names names;
	struct shape *shapes; /* by type, numbered over all recordings */
	struct place *places; /* by track, numbered likewise */
	struct gt_gpu_namer namer;
	uint32_t *first_track;                  /* by segment */
	uint64_t left;                          /* rows that --top still allows */
	unsigned skip;                          /* 1: omits the column of the recording */
	struct form *forms[FORM_PLACES], *none; /* none: used if there are too many forms */
	unsigned nforms;
	struct three threes[THREES];
	/* of the current row, if they have no slot */
	char grid[GT_NSIGHT_TRIPLE], block[GT_NSIGHT_TRIPLE];
};
struct trace_spec {
	const char *name, *title, *hideable_keys;
	const struct gt_column *columns; /* the first one is the recording */
	unsigned ncolumns;
	uint32_t kinds;
	bool (*wants)(const struct gt_type *type); /* selects types */
	/* Set the cells, except the first: own: differ per row, fixed: same for a type on a
	 * track. Cells that neither sets are absent. */
	void (*fixed)(struct trace *t, const struct gt_event *ev, const struct shape *s,
		struct gt_cell *cells);
	void (*own)(struct trace *t, const struct gt_event *ev, struct form *form,
		struct gt_cell *cells);
};

/* ---- types and tracks ---- */

static uint8_t field(const struct gt_type *type, unsigned role)
{
	uint32_t at = gt_type_field(type, role);

	return at < NO_FIELD ? (uint8_t)at : NO_FIELD;
}

static uint8_t three_fields(const struct gt_type *type, unsigned role)
{
	uint32_t first;

	return gt_nsight_three_fields(type, role, &first) ? (uint8_t)first : NO_FIELD;
}

/* The next field of the same role: shared memory has two, static and dynamic. */
static uint8_t next_field(const struct gt_type *type, uint8_t at)
{
	bool both = at != NO_FIELD && at + 1u < type->nfields &&
		type->fields[at + 1].role == type->fields[at].role;

	return both && at + 1 < NO_FIELD ? (uint8_t)(at + 1) : NO_FIELD;
}

static int learn_type(struct trace *t, const struct gt_segment *seg, uint32_t id, struct shape *s,
	struct gt_err *err)
{
	const struct gt_type *y = &seg->types[id];
	enum gt_gpu_what what = y->layer == GT_LAYER_GPU ? gt_gpu_what(y) : GT_GPU_OTHER;

	*s = (struct shape){ .known = true,
		.copies = what == GT_GPU_COPY || what == GT_GPU_SET,
		.correlation = field(y, GT_R_CORRELATION),
		.grid = three_fields(y, GT_R_GRID),
		.block = three_fields(y, GT_R_BLOCK),
		.registers = field(y, GT_R_REGISTERS),
		.shared = field(y, GT_R_SHARED),
		.shared_dynamic = next_field(y, field(y, GT_R_SHARED)),
		.bytes = field(y, GT_R_BYTES),
		.direction = field(y, GT_R_DIRECTION),
		.src = field(y, GT_R_SRC_MEMORY),
		.dst = field(y, GT_R_DST_MEMORY),
		.context = field(y, GT_R_CONTEXT),
		.launch_track = field(y, GT_R_LAUNCH_TRACK),
		.launch_start = field(y, GT_R_LAUNCH_START),
		.launch_ns = field(y, GT_R_LAUNCH_NS),
		.launch_name = field(y, GT_R_LAUNCH_NAME),
		.launch_join = field(y, GT_R_LAUNCH_JOIN),
		.name = gt_nsight_type_name(&t->names, seg, id, err),
		.brief = what == GT_GPU_KERNEL };
	return s->name == GT_NONE ? err->code : 0;
}

static void learn_place(
	struct trace *t, const struct gt_segment *seg, uint32_t track, struct place *p)
{
	p->known = true;
	p->origin = gt_origin(&t->opt, t->reader, seg);
	p->process = gt_track_process(seg, track);
	p->device = gt_track_device(seg, track);
}

static inline struct place *place_of(struct trace *t, const struct gt_segment *seg, uint32_t track)
{
	struct place *p = &t->places[t->first_track[seg->index] + track];

	if (!p->known)
		learn_place(t, seg, track, p);
	return p;
}

/* "NVIDIA H200 (0)". A name that ends in the number, such as "GPU 0", is used as it is. */
static char *name_device(
	struct trace *t, const struct gt_segment *seg, const struct gt_track *device)
{
	const char *name = gt_gpu_name(&t->namer, seg, device),
		   *last = name ? strrchr(name, ' ') : NULL;
	struct gt_buf b = { 0 };
	char id[24];

	*gt_put_i64(id, device->id) = 0;
	if (name)
		gt_buf_str(&b, name);
	if (!last || strcmp(last + 1, id) != 0)
		gt_buf_printf(&b, "%s(%s)", name ? " " : "", id);
	gt_buf_byte(&b, 0);
	if (b.failed)
		gt_buf_release(&b);
	return (char *)b.data;
}

/* NULL: none, or no memory. */
static const char *device_name(struct trace *t, const struct gt_segment *seg, const struct place *p)
{
	struct place *device = p->device != GT_NONE ? place_of(t, seg, p->device) : NULL;

	if (device && !device->device_name)
		device->device_name = name_device(t, seg, &seg->tracks[p->device]);
	return device ? device->device_name : NULL;
}

/* ---- cells ---- */

/* These functions set a cell of a form. They write only what changes: there are millions of
 * rows. */
static inline void put_i(int64_t v, struct gt_cell *to)
{
	to->absent = to->fixed = false;
	to->i = v;
}

static inline void put_if(bool known, struct gt_cell *to, int64_t v)
{
	put_i(v, to);
	to->absent = !known;
}

/* Sets a text that stays valid, such as a name or a grid in a slot. NULL: absent. */
static inline void put_text(const char *text, struct gt_cell *to)
{
	to->absent = !text;
	to->fixed = false;
	to->lasting = true;
	to->s = text;
}

/* A field that the type lacks is absent in all its rows. */
static inline void put_field(const struct gt_event *ev, uint8_t at, struct gt_cell *to)
{
	if (at != NO_FIELD)
		put_i(gt_clamp(ev->args[at]), to);
}

static inline void put_string(const struct gt_event *ev, uint8_t at, struct gt_cell *to)
{
	if (at != NO_FIELD)
		put_text(ev->args[at] < ev->seg->nstrings ? ev->seg->strings[ev->args[at]].ptr
							  : NULL,
			to);
}

static inline bool is_three(const struct three *three, const uint64_t v[3])
{
	return three->x == (uint32_t)v[0] && three->y == (uint32_t)v[1] &&
		three->z == (uint32_t)v[2];
}

/* Sets another grid or block than the cell has. text: storage, if the slot is taken. */
static void put_other_three(struct trace *t, const uint64_t v[3], const struct three **has,
	char text[GT_NSIGHT_TRIPLE], struct gt_cell *to)
{
	uint32_t x = (uint32_t)v[0], y = (uint32_t)v[1], z = (uint32_t)v[2];
	struct three *known = &t->threes[((x * 31 + y) * 31 + z) * 0x9e3779b1u >> 24];

	if (!*known->text) {
		*known = (struct three){ x, y, z, "" };
		gt_nsight_put_triple(known->text, x, y, z);
	}
	*has = is_three(known, v) ? known : NULL;
	if (*has)
		put_text(known->text, to);
	else
		*to = gt_cell_text(
			gt_nsight_put_triple(text, x, y, z)); /* valid for this row only */
}

static inline void put_three(struct trace *t, const struct gt_event *ev, uint8_t at,
	const struct three **has, char text[GT_NSIGHT_TRIPLE], struct gt_cell *to)
{
	if (at != NO_FIELD && !(*has && is_three(*has, ev->args + at)))
		put_other_three(t, ev->args + at, has, text, to);
}

static inline int64_t since(const struct place *p, int64_t at)
{
	return gt_subtract_origin(at, p->origin);
}

static inline void put_id(const struct gt_segment *seg, uint64_t track, struct gt_cell *to)
{
	put_if(track < seg->ntracks, to, track < seg->ntracks ? seg->tracks[track].id : 0);
}

/* The name in the selected form, and the full name for programs. */
static void put_names(struct trace *t, const struct shape *s, struct gt_cell cells[2])
{
	put_text(s->brief ? gt_nsight_short_name(&t->names, s->name)
			  : gt_nsight_text(&t->names, s->name),
		&cells[0]);
	put_text(s->brief ? gt_nsight_full_name(&t->names, s->name)
			  : gt_nsight_text(&t->names, s->name),
		&cells[1]);
}

static const struct gt_column api_columns[] = {
	{ "recording", "Recording", GT_C_COUNT },
	{ "start_ns", "Start", GT_C_TIME },
	{ "duration_ns", "Duration", GT_C_NS },
	{ "name", "Name", GT_C_TEXT },
	{ "result", "Result", GT_C_COUNT },
	{ "corr_id", "CorrID", GT_C_COUNT },
	{ "pid", "Pid", GT_C_COUNT },
	{ "tid", "Tid", GT_C_COUNT },
	{ "thread_name", "Thread Name", GT_C_TEXT },
	{ "t_pri", NULL, GT_C_COUNT },
};

static void api_fixed(
	struct trace *t, const struct gt_event *ev, const struct shape *s, struct gt_cell *cells)
{
	const struct gt_track *track = &ev->seg->tracks[ev->track];

	put_text(gt_nsight_text(&t->names, s->name), &cells[2]);
	put_id(ev->seg, place_of(t, ev->seg, ev->track)->process, &cells[5]);
	put_if(track->kind == GT_TRACK_THREAD, &cells[6], track->id);
	put_text(track->name != GT_NONE ? gt_str(ev->seg, track->name) : NULL, &cells[7]);
}

/* A call that never returned has no duration and no result. */
static void api_own(
	struct trace *t, const struct gt_event *ev, struct form *form, struct gt_cell *cells)
{
	const struct shape *s = form->shape;
	bool open = ev->kind == GT_OPEN;

	put_i(since(form->at, ev->row.start), &cells[0]);
	put_if(!open, &cells[1], ev->row.end - ev->row.start);
	put_if(!open, &cells[3], ev->row.ret);
	put_field(ev, s->correlation, &cells[4]);
}

static const struct gt_column gpu_columns[] = {
	{ "recording", "Recording", GT_C_COUNT },
	{ "start_ns", "Start", GT_C_TIME },
	{ "duration_ns", "Duration", GT_C_NS },
	{ "corr_id", "CorrId", GT_C_COUNT },
	{ "grd_xyz", "GrdXYZ", GT_C_WHOLE },
	{ "blk_xyz", "BlkXYZ", GT_C_WHOLE },
	{ "reg_trd", "Reg/Trd", GT_C_COUNT },
	{ "stc_smem_bytes", "StcSMem", GT_C_BYTES },
	{ "dym_smem_bytes", "DymSMem", GT_C_BYTES },
	{ "bytes", "Bytes", GT_C_BYTES },
	{ "throughput_gb_per_s", "Throughput", GT_C_REAL },
	{ "src_mem_kd", "SrcMemKd", GT_C_TEXT },
	{ "dst_mem_kd", "DstMemKd", GT_C_TEXT },
	{ "device", "Device", GT_C_TEXT },
	{ "ctx", "Ctx", GT_C_COUNT },
	{ "strm", "Strm", GT_C_COUNT },
	{ "short_name", "Name", GT_C_TEXT },
	{ "name", NULL, GT_C_TEXT },
	{ "pid", NULL, GT_C_COUNT },
	{ "green_ctx", NULL, GT_C_COUNT },
};

static void gpu_fixed(
	struct trace *t, const struct gt_event *ev, const struct shape *s, struct gt_cell *cells)
{
	struct place *p = place_of(t, ev->seg, ev->track);

	put_text(device_name(t, ev->seg, p), &cells[12]);
	put_if(ev->seg->tracks[ev->track].kind == GT_TRACK_STREAM, &cells[14],
		ev->seg->tracks[ev->track].id);
	put_names(t, s, cells + 15);
	put_id(ev->seg, p->process, &cells[17]);
}

/* Cells that only copies and sets have. */
static void copy_cells(const struct gt_event *ev, const struct shape *s, struct gt_cell *cells)
{
	int64_t ns = ev->row.end - ev->row.start;
	uint64_t direction = s->direction == NO_FIELD ? GT_DIR_UNKNOWN : ev->args[s->direction];

	if (s->bytes != NO_FIELD)
		cells[9] = ns ? (struct gt_cell){ .d = (double)ev->args[s->bytes] / (double)ns }
			      : gt_cell_none();
	put_text(gt_nsight_operation(gt_gpu_what(&ev->seg->types[ev->row.type]), direction),
		&cells[15]);
	cells[16] = cells[15];
}

static void gpu_own(
	struct trace *t, const struct gt_event *ev, struct form *form, struct gt_cell *cells)
{
	const struct shape *s = form->shape;
	put_i(since(form->at, ev->row.start), &cells[0]);
	put_i(ev->row.end - ev->row.start, &cells[1]);
	put_field(ev, s->correlation, &cells[2]);
	put_three(t, ev, s->grid, &form->grid, t->grid, &cells[3]);
	put_three(t, ev, s->block, &form->block, t->block, &cells[4]);
	put_field(ev, s->registers, &cells[5]);
	put_field(ev, s->shared, &cells[6]);
	put_field(ev, s->shared_dynamic, &cells[7]);
	put_field(ev, s->bytes, &cells[8]);
	put_string(ev, s->src, &cells[10]);
	put_string(ev, s->dst, &cells[11]);
	put_field(ev, s->context, &cells[13]);
	if (s->copies)
		copy_cells(ev, s, cells);
}

static const struct gt_column exec_columns[] = {
	{ "recording", "Recording", GT_C_COUNT },
	{ "api_start_ns", "API Start", GT_C_TIME },
	{ "api_dur_ns", "API Dur", GT_C_NS },
	{ "queue_start_ns", "Queue Start", GT_C_TIME },
	{ "queue_dur_ns", "Queue Dur", GT_C_NS },
	{ "kernel_start_ns", "Kernel Start", GT_C_TIME },
	{ "kernel_dur_ns", "Kernel Dur", GT_C_NS },
	{ "total_dur_ns", "Total Dur", GT_C_NS },
	{ "pid", "PID", GT_C_COUNT },
	{ "tid", "TID", GT_C_COUNT },
	{ "dev_id", "DevId", GT_C_COUNT },
	{ "api_function", "API Function", GT_C_TEXT },
	{ "grid_xyz", "GridXYZ", GT_C_WHOLE },
	{ "block_xyz", "BlockXYZ", GT_C_WHOLE },
	{ "short_kernel_name", "Kernel Name", GT_C_TEXT },
	{ "kernel_name", NULL, GT_C_TEXT },
};

static void exec_fixed(
	struct trace *t, const struct gt_event *ev, const struct shape *s, struct gt_cell *cells)
{
	struct place *p = place_of(t, ev->seg, ev->track);

	put_id(ev->seg, p->process, &cells[7]);
	put_id(ev->seg, p->device, &cells[9]);
	put_names(t, s, cells + 13);
}

/* Start and end of the call, if it is known. */
static bool launch_of(
	const struct gt_event *ev, const struct shape *s, int64_t *start, int64_t *end)
{
	bool known = s->launch_start != NO_FIELD && s->launch_ns != NO_FIELD &&
		s->launch_track != NO_FIELD;

	if (!known || s->launch_name == NO_FIELD || s->launch_join == NO_FIELD ||
		ev->args[s->launch_join] == GT_JOIN_UNKNOWN)
		return false;
	*start = (int64_t)ev->args[s->launch_start];
	return gt_launch_end(*start, ev->args[s->launch_ns], end);
}

static void exec_own(
	struct trace *t, const struct gt_event *ev, struct form *form, struct gt_cell *cells)
{
	const struct shape *s = form->shape;
	int64_t from = 0, to = 0, start = ev->row.start, end = ev->row.end;
	bool joined = launch_of(ev, s, &from, &to), queued = joined && start >= to;
	const struct place *p = form->at;

	put_i(since(p, start), &cells[4]);
	put_i(end - start, &cells[5]);
	put_three(t, ev, s->grid, &form->grid, t->grid, &cells[11]);
	put_three(t, ev, s->block, &form->block, t->block, &cells[12]);
	put_if(joined, &cells[1], to - from);
	put_if(joined, &cells[6], (to > end ? to : end) - from);
	put_if(queued, &cells[3], start - to);
	put_if(joined, &cells[0], since(p, from));
	put_if(queued, &cells[2], since(p, to));
	if (joined) {
		put_id(ev->seg, ev->args[s->launch_track], &cells[8]);
		put_string(ev, s->launch_name, &cells[10]);
	} else {
		cells[8] = cells[10] = gt_cell_none();
	}
}

/* ---- the source ---- */

static void fill_form(
	struct trace *t, const struct gt_event *ev, const struct shape *s, struct form *form)
{
	for (unsigned i = 0; i < COLUMNS_MOST; i++)
		form->cells[i] = gt_cell_none();
	form->cells[0] = gt_cell_u(ev->seg->index);
	t->spec->fixed(t, ev, s, form->cells + 1);
	for (unsigned i = 0; i < COLUMNS_MOST; i++)
		form->cells[i].fixed = true; /* until a row sets it */
}

static struct form *new_form(
	struct trace *t, const struct gt_event *ev, const struct shape *s, uint32_t place)
{
	bool room = t->nforms < GT_ROW_FORMS;
	struct form *form = room || !t->none ? malloc(sizeof(*form)) : t->none;

	if (!form)
		return NULL;
	*form = (struct form){ .place = place,
		.number = room ? ++t->nforms : 0,
		.shape = s,
		.at = place_of(t, ev->seg, ev->track) };
	t->none = room ? t->none : form;
	fill_form(t, ev, s, form);
	return form;
}

/* The form of a type on a track. NULL: no memory. */
static struct form *form_of(
	struct trace *t, const struct gt_event *ev, const struct shape *s, uint32_t place)
{
	uint32_t at = ((uint32_t)(s - t->shapes) * 0x9e3779b1u ^ place * 0x85ebca6bu) % FORM_PLACES;
	struct form *form;

	for (; (form = t->forms[at]); at = (at + 1) % FORM_PLACES)
		if (form->shape == s && form->place == place)
			return form;
	form = new_form(t, ev, s, place);
	if (form && form->number)
		t->forms[at] = form;
	return form;
}

/* Looks up the form if it differs from that of the type's previous row. NULL: error. */
static __attribute__((noinline)) struct form *find_form(struct trace *t, const struct gt_event *ev,
	struct shape *s, uint32_t place, struct gt_err *err)
{
	struct form *form;

	if (!s->known && learn_type(t, ev->seg, ev->row.type, s, err))
		return NULL;
	form = form_of(t, ev, s, place);
	if (!form)
		gt_err_set(err, -ENOMEM, "out of memory (rows)");
	s->last = form && form->number ? form : NULL;
	return form;
}

static int trace_next(void *arg, struct gt_row_at_hand *row, struct gt_err *err)
{
	struct trace *t = arg;
	struct gt_event ev;
	struct form *form;
	struct shape *s;
	uint32_t place;
	int more = t->left ? gt_iter_next(t->it, &ev, err) : 0;

	if (more <= 0)
		return more;
	t->left--;
	s = &t->shapes[gt_nsight_slot(&t->names, ev.seg, ev.row.type)];
	place = t->first_track[ev.seg->index] + ev.track;
	form = s->last;
	if (!form || form->place != place)
		form = find_form(t, &ev, s, place, err);
	if (!form)
		return err->code;
	t->spec->own(t, &ev, form, form->cells + 1);
	*row = (struct gt_row_at_hand){ form->cells + t->skip, form->number };
	return 1;
}

static void trace_close(void *arg)
{
	struct trace *t = arg;
	uint32_t n = t->first_track ? t->first_track[gt_reader_segments(t->reader)] : 0;

	gt_iter_close(t->it);
	gt_nsight_names_release(&t->names);
	for (uint32_t i = 0; t->places && i < n; i++)
		free(t->places[i].device_name);
	for (unsigned i = 0; i < FORM_PLACES; i++)
		free(t->forms[i]);
	free(t->none);
	free(t->places);
	gt_gpu_namer_release(&t->namer);
	free(t->first_track);
	free(t->shapes);
	free(t);
}

static int trace_init(struct trace *t, struct gt_err *err)
{
	uint32_t nsegs = gt_reader_segments(t->reader);
	int rc = gt_nsight_names_init(&t->names, t->reader, t->opt.names, err);

	t->first_track = calloc(nsegs + 1ul, sizeof(*t->first_track));
	for (uint32_t i = 0; !rc && t->first_track && i < nsegs; i++)
		if (__builtin_add_overflow(t->first_track[i],
			    gt_reader_segment(t->reader, i)->ntracks, &t->first_track[i + 1]))
			rc = gt_err_set(err, -EOVERFLOW, "too many tracks");
	if (rc)
		return rc;
	t->shapes = calloc(t->names.first[nsegs] + 1ul, sizeof(*t->shapes));
	t->places = t->first_track ? calloc(t->first_track[nsegs] + 1ul, sizeof(*t->places)) : NULL;
	return t->shapes && t->places
		? 0
		: gt_err_set(err, -ENOMEM, "out of memory (types and tracks)");
}

/* ---- the reports ---- */

struct type_filter {
	const struct trace_spec *spec;
	const struct gt_filter *options;
};

static bool match(const struct gt_segment *seg, const struct gt_type *type, void *arg)
{
	const struct type_filter *w = arg;

	return w->spec->wants(type) &&
		(!w->options->match || w->options->match(seg, type, w->options->match_arg));
}

struct row_count {
	struct gt_report_state report;
	uint64_t rows;
}; /* the state of a report */

/* Counts rows of selected types. Blocks with other types are rare. */
static int count_rows(
	struct row_count *c, const struct trace_spec *spec, const struct gt_cols *cols)
{
	c->rows += cols->n;
	for (uint32_t k = 0; k < cols->ntypes; k++) {
		struct gt_column_cursor p;

		if (gt_cols_type(cols, k) && spec->wants(gt_cols_type(cols, k)))
			continue;
		for (gt_column_cursor_start(&p, cols, k, GT_R_NONE, GT_R_NONE);
			gt_column_cursor_next(&p);)
			c->rows--;
	}
	return 0;
}

static int open_rows(struct trace *t, struct gt_err *err)
{
	struct type_filter w = { t->spec, &t->opt.filter };
	struct gt_filter filter = t->opt.filter;

	filter.kinds = t->spec->kinds;
	filter.match = match; /* called for each type while the scan is opened, not later */
	filter.match_arg = &w;
	t->it = gt_iter_open(t->reader, &filter, err);
	return t->it ? 0 : err->code;
}

static int trace_finish(const struct row_count *c, const struct trace_spec *spec,
	struct gt_table **tables, struct gt_err *err)
{
	const struct gt_report_state *a = &c->report;
	struct trace *t = calloc(1, sizeof(*t));
	unsigned skip = gt_where_skip(a->reader);
	int rc;

	tables[0] =
		gt_table_new(spec->name, spec->title, spec->columns + skip, spec->ncolumns - skip);
	if (!t || !tables[0]) {
		free(t);
		return gt_err_set(err, -ENOMEM, "out of memory (table)");
	}
	*t = (struct trace){ .spec = spec,
		.opt = *a->opt,
		.reader = a->reader,
		.left = a->opt->top ? a->opt->top : UINT64_MAX,
		.skip = skip };
	rc = trace_init(t, err);
	if (!rc)
		rc = open_rows(t, err);
	if (rc) {
		trace_close(t);
		return rc;
	}
	gt_table_set_hideable(tables[0], spec->hideable_keys);
	gt_nsight_show_names(&t->names, tables[0], "short_name", "name");
	gt_nsight_show_names(&t->names, tables[0], "short_kernel_name", "kernel_name");
	if (a->opt->top && c->rows > a->opt->top) /* there is no other limit: rows are not stored */
		gt_table_note_more(tables[0], c->rows - a->opt->top, c->rows);
	rc = gt_table_stream(tables[0], &(struct gt_row_source){ trace_next, trace_close, t }, err);
	return rc ? rc : 1;
}

static bool is_work(const struct gt_type *type) { return type->layer == GT_LAYER_GPU; }
static bool is_kernel(const struct gt_type *type)
{
	return is_work(type) && gt_gpu_what(type) == GT_GPU_KERNEL;
}

#define TRACE(report, what, heading, cols_of, rows, layers, wanted_types, cells_of, narrow)        \
	static const struct trace_spec report##_spec = { .name = #report,                          \
		.title = heading,                                                                  \
		.hideable_keys = narrow,                                                           \
		.columns = cols_of,                                                                \
		.ncolumns = sizeof(cols_of) / sizeof(*(cols_of)),                                  \
		.kinds = rows,                                                                     \
		.wants = wanted_types,                                                             \
		.fixed = cells_of##_fixed,                                                         \
		.own = cells_of##_own };                                                           \
	_Static_assert(sizeof(cols_of) / sizeof(*(cols_of)) <= COLUMNS_MOST,                       \
		"a form has enough cells for a row");                                              \
	static int report##_block(void *state, const struct gt_cols *cols, struct gt_err *err)     \
	{                                                                                          \
		return count_rows(state, &report##_spec, cols);                                    \
	}                                                                                          \
	static int report##_finish(                                                                \
		void *state, struct gt_table **tables, unsigned max, struct gt_err *err)           \
	{                                                                                          \
		return trace_finish(state, &report##_spec, tables, err);                           \
	}                                                                                          \
	const struct gt_analysis gt_##report##_report = {                                          \
		.name = #report,                                                                   \
		.help = what,                                                                      \
		.family = gt_nsight_family,                                                        \
		.wants = rows,                                                                     \
		.needs = layers,                                                                   \
		.order = GT_ANY_ORDER,                                                             \
		.per_recording = true,                                                             \
		.state_size = sizeof(struct row_count),                                            \
		.init = gt_report_state_init,                                                      \
		.block = report##_block,                                                           \
		.finish = report##_finish,                                                         \
	}

TRACE(cuda_api_trace, "every CUDA call", "CUDA API trace", api_columns,
	GT_BIT(GT_CALL) | GT_BIT(GT_SPAN) | GT_BIT(GT_OPEN), GT_LAYERS_OF_CALLS, gt_nsight_is_call,
	api, "corr_id thread_name pid tid result");
TRACE(cuda_gpu_trace, "every kernel, copy and set", "CUDA GPU trace (throughput in GB/s)",
	gpu_columns, GT_BIT(GT_GPU), GT_BIT(GT_LAYER_GPU), is_work, gpu,
	"ctx stc_smem_bytes corr_id reg_trd dym_smem_bytes src_mem_kd dst_mem_kd device blk_xyz grd_xyz strm "
	"throughput_gb_per_s bytes duration_ns");
TRACE(cuda_kern_exec_trace, "every kernel with its launch: call, queue, kernel",
	"CUDA kernel launch and execution trace", exec_columns, GT_BIT(GT_GPU),
	GT_BIT(GT_LAYER_GPU), is_kernel, exec,
	"queue_start_ns kernel_start_ns block_xyz grid_xyz pid tid dev_id total_dur_ns api_function api_dur_ns queue_dur_ns");
