/* Events of the host: calls of the CUDA runtime and driver, ranges, instants, counters.
 *
 * PyTorch's profiler records the outermost calls, mostly of the runtime, without the driver calls
 * inside them. So they count as calls of the layer API. If a call encloses another one of the same
 * operation, as cudaLaunchKernel encloses cuLaunchKernel, the inner one gets no operation, so that
 * the launch is counted once.
 *
 * Ranges are spans of the layer user with their depth, like NVTX ranges. The times of their work on
 * the GPU ("gpu_user_annotation") follow from the other rows: they are dropped and counted. The
 * time that the profiler was on, and the end of its window, are no events of the program: they go
 * into the metadata, so that no figure includes them. */
#include "formats/import/kineto/import_kineto.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "formats/base/buf.h"
#include "formats/cuda/cuda_api.h"
#include "formats/import/strace/import_strace.h"
#include "formats/trace/write/sched_rows.h"

#define ARG_SETS_MAX (1u << 16) /* different sets of arguments: 6 MiB */
#define CLASSES_MAX (1u << 17)  /* different names */

int gt_kineto_close_due_epoch(struct gt_kineto *k, int64_t end, struct gt_err *err)
{
	k->now = end > k->now ? end : k->now;
	return gt_writer_epoch_is_due(k->w, k->now) ? gt_writer_epoch(k->w, k->now, err) : 0;
}

static int put_row(struct gt_kineto *k, enum gt_kind kind, uint32_t track, const struct gt_row *row,
	const uint64_t *args, struct gt_err *err)
{
	int e = gt_writer_row(k->w, kind, track, row, args, err);

	return e ? e : gt_kineto_close_due_epoch(k, row->end, err);
}

/* ---- classes ---- */

/* In a file of gtexport: is it a call into the kernel? Fills in its type. */
static bool is_kernel_call(const char *category, const char *name, struct gt_type *type)
{
	bool is_ioctl = !strcmp(category, "ioctl");

	if (!strcmp(category, "syscall")) {
		type->layer = GT_LAYER_SYSCALL;
		type->category = gt_strace_syscall_of(name, strcspn(name, " ")).category;
		return true;
	}
	if (!is_ioctl && strcmp(category, "file"))
		return false;
	type->layer = GT_LAYER_IOCTL;
	type->category = is_ioctl ? GT_CAT_IOCTL : GT_CAT_FILE;
	type->op = is_ioctl ? GT_OP_IOCTL : GT_OP_NONE;
	return true;
}

/* In a file of gtexport: is it a state of a thread off the processor? Fills in its type; its fields
 * are lost. */
static bool is_state(const char *name, const char *category, struct gt_type *type)
{
	const struct gt_type off = { .op = GT_OP_OFF_CPU };
	unsigned state = gt_sched_state_of(&off, name);

	if (strcmp(gt_sched_name(state), name) ||
		strcmp(gt_category_word(gt_sched_category(state)), category))
		return false;
	type->layer = GT_LAYER_SCHED;
	type->category = gt_sched_category(state);
	type->op = GT_OP_OFF_CPU;
	return true;
}

/* For a PyTorch allocator: cat_name is MEMORY_GPU or MEMORY_HOST, plus MEMORY_ADDR
 * if the file has addresses. */
enum { MEMORY_HOST, MEMORY_GPU, MEMORY_ADDR };

static void classify_memory(const struct gt_kineto_class *cls, struct gt_type *type)
{
	type->category = GT_CAT_MEMORY;
	type->op = cls->cat == GT_KINETO_ALLOC ? GT_OP_ALLOC : GT_OP_FREE;
	type->memkind = cls->cat_name & MEMORY_GPU ? GT_MEM_POOL : GT_MEM_HOST;
}

/* Fills in type, except its fields, and class->call. */
static void classify(struct gt_kineto *k, struct gt_kineto_class *cls, struct gt_type *type)
{
	const char *name = gt_writer_text(k->w, cls->name);
	struct gt_api api = gt_api_guess(name);

	*type = (struct gt_type){
		.name = cls->name, .category = GT_CAT_USER, .layer = GT_LAYER_USER
	};
	if (cls->cat == GT_KINETO_OTHER && cls->cat_name != GT_NONE &&
		is_kernel_call(gt_writer_text(k->w, cls->cat_name), name, type)) {
		cls->call = true;
	} else if (cls->cat == GT_KINETO_OTHER && cls->cat_name != GT_NONE &&
		is_state(name, gt_writer_text(k->w, cls->cat_name), type)) {
		return;
	} else if (cls->cat == GT_KINETO_ALLOC || cls->cat == GT_KINETO_FREE) {
		classify_memory(cls, type);
	} else if (cls->cat == GT_KINETO_OUTER) {
		type->layer = GT_LAYER_RUNTIME;
		type->category = api.category;
	} else if (cls->cat == GT_KINETO_RUNTIME || cls->cat == GT_KINETO_DRIVER ||
		(cls->cat == GT_KINETO_OTHER && gt_api_is_cuda(name))) {
		type->layer = GT_LAYER_API;
		type->category = api.category;
		type->op = api.op;
		type->memkind = api.memkind;
		cls->call = true;
	}
}

/* fields: type->fields */
static void add_field(struct gt_kineto *k, struct gt_type *type, struct gt_field *fields,
	const char *name, uint8_t kind, uint8_t role)
{
	fields[type->nfields++] = (struct gt_field){ gt_writer_string(k->w, name), kind, role };
}

static uint32_t series_name(struct gt_kineto *k, uint32_t name, uint32_t series)
{
	const char *word = series == GT_NONE ? "" : gt_writer_text(k->w, series);
	char text[256];

	if (!*word || series == name || !strcmp(word, "value"))
		return name;
	snprintf(text, sizeof(text), "%.120s %.120s", gt_writer_text(k->w, name),
		gt_writer_text(k->w, series));
	return gt_writer_string(k->w, text);
}

static int make_class(struct gt_kineto *k, struct gt_kineto_class *cls)
{
	struct gt_field fields[4 + GT_KINETO_NEXTRA];
	struct gt_type type;

	classify(k, cls, &type);
	type.fields = fields;
	if (cls->cat == GT_KINETO_COUNTER) {
		/* counters have no layer of their own */
		type.layer = GT_LAYER_API;
		type.category = GT_CAT_OTHER;
		type.name = series_name(k, cls->name, cls->cat_name);
		add_field(k, &type, fields, "value", GT_F_F64, GT_R_VALUE);
	} else if (cls->cat == GT_KINETO_ALLOC || cls->cat == GT_KINETO_FREE) {
		add_field(k, &type, fields, "bytes", GT_F_U64, GT_R_BYTES);
		add_field(k, &type, fields, "device", GT_F_I64, GT_R_DEVICE);
		if (cls->cat_name & MEMORY_ADDR)
			add_field(k, &type, fields, "addr", GT_F_HEX, GT_R_ADDR);
	} else if (type.layer == GT_LAYER_USER) {
		add_field(k, &type, fields, "category", GT_F_STR, GT_R_NONE);
		for (unsigned i = 0; i < GT_KINETO_NEXTRA; i++)
			if (cls->extra >> i & 1)
				add_field(k, &type, fields, gt_kineto_extra_keys[i].word,
					gt_kineto_extra_keys[i].text ? GT_F_STR : GT_F_U64,
					GT_R_NONE);
	} else if (cls->cat == GT_KINETO_OTHER) {
		cls->first_arg = 1; /* calls of gtexport have no correlation id */
	} else {
		add_field(k, &type, fields, "correlation", GT_F_U64, GT_R_CORRELATION);
	}
	if (cls->call && type.op == GT_OP_LAUNCH)
		add_field(k, &type, fields, "kernel", GT_F_STR, GT_R_KERNEL);
	if (cls->extra & GT_KINETO_STACKED)
		add_field(k, &type, fields, "stack", GT_F_U64, GT_R_STACK);
	cls->nfields = type.nfields;
	cls->op = type.op;
	cls->type = cls->inner = gt_writer_type(k->w, &type);
	if (gt_api_makes_work(type.op)) {
		type.op = GT_OP_NONE;
		cls->inner = gt_writer_type(k->w, &type);
	}
	return cls->type == GT_NONE || cls->inner == GT_NONE ? -ENOMEM : 0;
}

/* The number of a class, or negative. */
static int64_t class_with(struct gt_kineto *k, uint32_t name, uint32_t cat, uint32_t cat_name,
	uint32_t extra, struct gt_err *err)
{
	struct gt_kineto_class cls = { .name = name == GT_NONE ? k->no_name : name,
		.cat = cat,
		.cat_name = cat_name,
		.extra = extra };
	const size_t key = offsetof(struct gt_kineto_class, type);
	uint32_t *recent = &k->recent_classes[(cls.name * 31 + cat * 7 + extra) %
			 GT_KINETO_RECENT_CLASSES],
		 i = *recent;

	if (i < k->nclasses && !memcmp(&k->classes[i], &cls, key))
		return i;
	i = gt_map_find_item(&k->class_map, k->classes, sizeof(cls), &cls, key);
	if (i != GT_NONE) {
		*recent = i;
		return i;
	}
	if ((k->nclasses == CLASSES_MAX || !gt_writer_has_name_space(k->w)) &&
		cls.name != k->nameless) {
		k->counts.names_left_out++;
		return class_with(k, k->nameless, cat, cat_name, extra, err);
	}
	i = make_class(k, &cls) ? GT_NONE
				: gt_map_add_item(&k->class_map, &k->classes, &k->nclasses,
					  &k->classes_cap, sizeof(cls), &cls, key);
	return i == GT_NONE ? gt_kineto_no_memory(err) : (int64_t)i;
}

static int64_t class_of(
	struct gt_kineto *k, uint32_t name, uint32_t cat, uint32_t cat_name, struct gt_err *err)
{
	return class_with(k, name, cat, cat_name, 0, err);
}

int64_t gt_kineto_stacked_class(struct gt_kineto *k, uint32_t cls, struct gt_err *err)
{
	const struct gt_kineto_class *c = &k->classes[cls];

	if (k->nclasses == CLASSES_MAX || !gt_writer_has_name_space(k->w))
		return cls;
	return class_with(k, c->name, c->cat, c->cat_name, c->extra | GT_KINETO_STACKED, err);
}

/* ---- extra arguments ---- */

/* Finds or adds the event's set of extra arguments. If there are too many sets, or
 * no memory, the event has none. */
static void share_extra(struct gt_kineto *k, struct gt_kineto_event *ev)
{
	struct gt_kineto_arg_set one = { .mask = ev->extra };

	memcpy(one.values, ev->extra_values, ev->nextra * sizeof(*one.values));
	ev->extra_at =
		gt_map_find_item(&k->arg_set_map, k->arg_sets, sizeof(one), &one, sizeof(one));
	if (ev->extra_at == GT_NONE && k->narg_sets < ARG_SETS_MAX)
		ev->extra_at = gt_map_add_item(&k->arg_set_map, &k->arg_sets, &k->narg_sets,
			&k->arg_sets_cap, sizeof(one), &one, sizeof(one));
	if (ev->extra_at == GT_NONE) {
		k->counts.args_left_out += ev->nextra;
		ev->extra = 0;
	}
}

/* ---- calls and ranges ---- */

int gt_kineto_put_host(struct gt_kineto *k, enum gt_kind kind, uint32_t track,
	const struct gt_row *row, const struct gt_kineto_class *cls, const uint64_t *args,
	struct gt_err *err)
{
	uint64_t all[2 + GT_KINETO_NEXTRA] = { args[0] };
	bool stacked = cls->extra & GT_KINETO_STACKED;

	if (!cls->extra)
		return put_row(k, kind, track, row, args + cls->first_arg, err);
	if (cls->extra & ~GT_KINETO_STACKED)
		memcpy(all + 1, k->arg_sets[args[1]].values, sizeof(k->arg_sets->values));
	else
		all[1] = args[1];
	if (stacked)
		all[cls->first_arg + cls->nfields - 1] = args[2];
	return put_row(k, kind, track, row, all + cls->first_arg, err);
}

/* Calls and ranges of a thread are sorted first. Instants, states, and events without a
 * thread, are written at once. */
static int put_host(struct gt_kineto *k, enum gt_kind kind, uint32_t track, size_t thread,
	const struct gt_kineto_event *ev, uint32_t cls, uint32_t kernel, struct gt_err *err)
{
	const struct gt_kineto_class *w = &k->classes[cls];
	struct gt_row row = { .start = ev->ts,
		.end = ev->ts + ev->dur,
		.type = w->type,
		.ret = ev->ret,
		.nargs = w->nfields };
	bool correlated = w->call || w->cat == GT_KINETO_OUTER;
	/* CUDA's ids have 32 bits; others have marks above them */
	uint64_t args[GT_KINETO_ARGS] = { correlated ? (uint32_t)ev->gpu.correlation : w->cat_name,
		w->extra & ~GT_KINETO_STACKED ? ev->extra_at : kernel, ev->stack - 1,
		gt_kineto_sequence(ev) };

	if (thread != SIZE_MAX && kind == GT_SPAN && w->op != GT_OP_OFF_CPU)
		return gt_kineto_order(k, thread, ev, cls, args, err);
	return gt_kineto_put_host(k, kind, track, &row, w, args, err);
}

/* ---- events ---- */

/* Counts events of an unknown category. Work and calls of accelerators without CUDA
 * or HIP become ranges; the metadata have their numbers. */
static void count_other(struct gt_kineto *k, uint32_t cat_name)
{
	static const char *const prefixes[] = { "mtia_", "hpu_", "xpu_", "glow_", "privateuse1_",
		"npu_", "neuron_", "tpu_" };
	const char *text = gt_writer_text(k->w, cat_name);
	struct gt_kineto_other *o = k->others;

	while (o < k->others + k->nothers && o->cat_name != cat_name)
		o++;
	if (o == k->others + sizeof(k->others) / sizeof(*o))
		return;
	if (o == k->others + k->nothers) {
		*o = (struct gt_kineto_other){ .cat_name = cat_name };
		k->nothers++;
		for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
			o->accelerator |= !strncasecmp(text, prefixes[i], strlen(prefixes[i]));
	}
	o->n++;
}

/* In a file of gtexport: has it a category of calls, and a correlation id? */
static bool is_gtexport_call(const struct gt_kineto *k, const struct gt_kineto_event *ev)
{
	return ev->cat == GT_KINETO_OTHER && ev->cat_name != GT_NONE &&
		ev->has & GT_KINETO_CORRELATION &&
		gt_word_find(gt_category_word, gt_writer_text(k->w, ev->cat_name)) >= 0;
}

/* A runtime call of that layer is in a file of gtexport, around driver calls that are events, too.
 */
static uint32_t cat_of(const struct gt_kineto *k, const struct gt_kineto_event *ev)
{
	if (is_gtexport_call(k, ev))
		return GT_KINETO_DRIVER;
	return ev->cat == GT_KINETO_RUNTIME && ev->has & GT_KINETO_OF_RUNTIME ? GT_KINETO_OUTER
									      : ev->cat;
}

/* May work be joined to this call? A file of Kineto, or of gtexport, has an id for it, and other
 * files may have an arrow. */
static bool may_launch(const struct gt_kineto_event *ev)
{
	return ev->has & (GT_KINETO_CORRELATION | GT_KINETO_BIND_OUT) ||
		(ev->cat != GT_KINETO_RUNTIME && ev->cat != GT_KINETO_DRIVER);
}

static int host_row(struct gt_kineto *k, const struct gt_kineto_event *ev, struct gt_err *err)
{
	size_t thread;
	int64_t track = gt_kineto_track_of(k, ev, false, &thread, err), cls;
	uint32_t kernel = GT_NONE;
	int e = 0;

	if (track < 0)
		return (int)track;
	if (ev->cat == GT_KINETO_OTHER && ev->cat_name != GT_NONE)
		count_other(k, ev->cat_name);
	cls = class_with(k, ev->name, cat_of(k, ev), ev->cat_name,
		(ev->cat == GT_KINETO_RANGE ? ev->extra : 0) | (ev->stack ? GT_KINETO_STACKED : 0),
		err);
	if (cls < 0)
		return (int)cls;
	if (k->first_process == GT_NONE && thread != SIZE_MAX)
		k->first_process = k->threads[thread].process;
	if (k->classes[cls].call && thread != SIZE_MAX && may_launch(ev))
		e = gt_kineto_add_call(k, thread, ev, &kernel, err);
	if (!e)
		e = put_host(k, GT_SPAN, (uint32_t)track, thread, ev, (uint32_t)cls, kernel, err);
	return e;
}

/* Writes an allocation or free of a PyTorch allocator. Device type 0 is the host;
 * the others are GPUs. */
static int memory_row(
	struct gt_kineto *k, const struct gt_kineto_event *ev, uint32_t track, struct gt_err *err)
{
	bool addressed = !(ev->gpu.unknown & GT_GPU_NO_VALUE) && ev->gpu.value;
	uint32_t kind = (ev->gpu.stream ? MEMORY_GPU : MEMORY_HOST) | (addressed ? MEMORY_ADDR : 0);
	int64_t cls =
		class_of(k, ev->name, ev->change < 0 ? GT_KINETO_FREE : GT_KINETO_ALLOC, kind, err);
	uint64_t args[] = { ev->change < 0 ? 0 - (uint64_t)ev->change : (uint64_t)ev->change,
		(uint64_t)ev->gpu.device, ev->gpu.value };
	struct gt_row row = { .start = ev->ts, .end = ev->ts };

	if (cls < 0)
		return (int)cls;
	row.type = k->classes[cls].type;
	row.nargs = k->classes[cls].nfields;
	return put_row(k, GT_INSTANT, track, &row, args, err);
}

/* Writes a sample of a thread, from a file of gtexport. */
static int sample_row(
	struct gt_kineto *k, const struct gt_kineto_event *ev, uint32_t track, struct gt_err *err)
{
	int e = k->samples.w ? 0 : gt_sample_types_init(&k->samples, k->w, err);

	if (!e)
		e = gt_sample_put(&k->samples, track, ev->ts, ev->period, ev->stack - 1, err);
	return e ? e : gt_kineto_close_due_epoch(k, ev->ts, err);
}

static bool is_sample(const struct gt_kineto *k, const struct gt_kineto_event *ev)
{
	return ev->period && ev->cat_name != GT_NONE &&
		!strcmp(gt_writer_text(k->w, ev->cat_name), "sample");
}

static bool is_loss(const struct gt_kineto *k, const struct gt_kineto_event *ev)
{
	return ev->has & GT_KINETO_LOSS && ev->dur >= 0 && ev->cat_name != GT_NONE &&
		!strcmp(gt_writer_text(k->w, ev->cat_name), "lost");
}

/* A loss of a file of gtexport. One of the whole recording has the process 0 in Chrome JSON, and in
 * Perfetto's format the track "recording". */
static int loss(struct gt_kineto *k, const struct gt_kineto_event *ev, struct gt_err *err)
{
	bool all = ev->pid.word == GT_NONE
		? !ev->pid.number
		: !strcmp(gt_writer_text(k->w, ev->pid.word), "recording");
	int64_t track =
		all ? (int64_t)GT_NONE : gt_kineto_track_of(k, ev, true, &(size_t){ 0 }, err);

	return track < 0
		? (int)track
		: gt_writer_loss(k->w, all ? GT_SCOPE_ALL : GT_SCOPE_TRACK, (uint32_t)track, ev->ts,
			  ev->ts + ev->dur, ev->lost ? ev->lost : GT_LOST_UNKNOWN, err);
}

int gt_kineto_instant(struct gt_kineto *k, const struct gt_kineto_event *ev, struct gt_err *err)
{
	struct gt_kineto_event at = *ev;
	bool whole = !(ev->has & GT_KINETO_TID);
	size_t thread;
	int64_t track, cls;

	if (ev->name == k->window_end_name && ev->pid.word != GT_NONE) {
		k->window_end = ev->ts;
		return 0;
	}
	if (is_loss(k, ev))
		return loss(k, ev, err);
	track = gt_kineto_track_of(k, ev, whole, &thread, err);
	if (track >= 0 && ev->name == k->memory_name && ev->has & GT_KINETO_CHANGE &&
		ev->has & GT_KINETO_STREAM && ev->change)
		return memory_row(k, ev, (uint32_t)track, err);
	if (track >= 0 && is_sample(k, ev))
		return sample_row(k, ev, (uint32_t)track, err);
	cls = track < 0 ? track
			: class_with(k, ev->name, GT_KINETO_RANGE, ev->cat_name,
				  ev->stack ? GT_KINETO_STACKED : 0, err);
	at.dur = 0;
	if (cls < 0)
		return (int)cls;
	return put_host(k, ev->has & GT_KINETO_UNMATCHED ? GT_UNMATCHED : GT_INSTANT,
		(uint32_t)track, thread, &at, (uint32_t)cls, GT_NONE, err);
}

int gt_kineto_unmatched(
	struct gt_kineto *k, struct gt_kineto_event *ev, bool end, struct gt_err *err)
{
	ev->has |= GT_KINETO_UNMATCHED;
	ev->ret = end;
	ev->dur = 0;
	return gt_kineto_instant(k, ev, err);
}

/* The name of a counter with an id: "name [id]". */
static uint32_t counter_name(struct gt_kineto *k, const struct gt_kineto_event *ev)
{
	char text[256];
	int n;

	if (ev->label == GT_NONE || ev->name == GT_NONE)
		return ev->name;
	n = snprintf(text, sizeof(text), "%.120s [%.120s]", gt_writer_text(k->w, ev->name),
		gt_writer_text(k->w, ev->label));
	return gt_kineto_intern(k, ev, text, (size_t)n);
}

/* That of its GPU, which may be one of a process, or of its process. */
static int64_t counter_track(
	struct gt_kineto *k, const struct gt_kineto_event *ev, struct gt_err *err)
{
	int64_t process = GT_NONE;
	size_t thread;

	if (!(ev->has & GT_KINETO_DEVICE))
		return gt_kineto_track_of(k, ev, true, &thread, err);
	if (ev->pid.word == GT_NONE && ev->pid.number > 0)
		process = gt_kineto_process_of(k, ev->pid.number, err);
	return process < 0 ? process
			   : gt_kineto_stream_of(k, (uint32_t)process, ev->gpu.device, 0, -1, err);
}

static int counter(struct gt_kineto *k, const struct gt_kineto_event *ev, struct gt_err *err)
{
	struct gt_row row = { .start = ev->ts, .end = ev->ts, .nargs = 1 };
	int64_t track = counter_track(k, ev, err);
	int64_t cls;
	bool metrics = ev->cat == GT_KINETO_METRICS; /* a metric's own name is enough */
	uint32_t name = counter_name(k, ev);
	uint64_t value;
	int e = track < 0 ? (int)track : 0;

	for (unsigned i = 0; !e && i < ev->nvalues; i++) {
		cls = class_of(k, metrics ? ev->values[i].name : name, GT_KINETO_COUNTER,
			ev->values[i].name, err);
		if (cls < 0)
			return (int)cls;
		row.type = k->classes[cls].type;
		memcpy(&value, &ev->values[i].value, sizeof(value));
		e = put_row(k, GT_COUNTER, (uint32_t)track, &row, &value, err);
	}
	return e;
}

/* An end of an arrow between the operators of the forward and the backward pass. */
static int arrow(struct gt_kineto *k, const struct gt_kineto_event *ev, struct gt_err *err)
{
	size_t thread;
	int64_t track;

	if (!(ev->has & GT_KINETO_ID) || (ev->phase != 's' && ev->phase != 'f'))
		return 0;
	track = gt_kineto_track_of(k, ev, false, &thread, err);
	if (track < 0 || thread == SIZE_MAX)
		return track < 0 ? (int)track : 0;
	k->has_sequences = k->has_backward = true;
	return gt_kineto_order_arrow(k, thread, ev, err);
}

/* An arrow that is part of an event (bind_id): from a call, or to GPU work. */
static int bound_arrow(struct gt_kineto *k, struct gt_kineto_event *ev, struct gt_err *err)
{
	bool gpu = ev->cat >= GT_KINETO_KERNEL && ev->cat <= GT_KINETO_SET;

	ev->id = ev->bind;
	ev->has |= GT_KINETO_ID;
	if (ev->has & GT_KINETO_BIND_OUT && !gpu)
		return gt_kineto_flow(k, ev, 's', err);
	return ev->has & GT_KINETO_BIND_IN && gpu ? gt_kineto_flow(k, ev, 'f', err) : 0;
}

static int put_complete(struct gt_kineto *k, struct gt_kineto_event *ev, struct gt_err *err)
{
	int e;

	if (ev->has & GT_KINETO_THREAD && ev->cat != GT_KINETO_OVERHEAD)
		ev->tid = (struct gt_kineto_id){ GT_NONE, ev->thread };
	if (!(ev->has & GT_KINETO_DUR)) {
		if (ev->cat == GT_KINETO_RANGE || ev->cat == GT_KINETO_OTHER)
			return gt_kineto_unmatched(k, ev, false, err);
		k->counts.not_understood++;
		return 0;
	}
	if (ev->dur < 0) {
		k->counts.negative++;
		ev->dur = 0;
	}
	if (ev->cat == GT_KINETO_GPU_RANGE) {
		k->counts.gpu_ranges++;
		return 0;
	}
	if (ev->cat == GT_KINETO_SESSION) {
		k->session_start = ev->ts;
		k->session_ns = ev->dur;
		return 0;
	}
	if (ev->extra)
		share_extra(k, ev);
	if ((ev->cat >= GT_KINETO_KERNEL && ev->cat <= GT_KINETO_WAIT) ||
		ev->cat == GT_KINETO_OVERHEAD)
		return gt_kineto_gpu_row(k, ev, err);
	e = ev->cat == GT_KINETO_METRICS ? counter(k, ev, err) : 0;
	return e ? e : host_row(k, ev, err);
}

int gt_kineto_complete(struct gt_kineto *k, struct gt_kineto_event *ev, struct gt_err *err)
{
	int e = put_complete(k, ev, err);

	return !e && ev->has & GT_KINETO_BIND ? bound_arrow(k, ev, err) : e;
}

int gt_kineto_row(struct gt_kineto *k, struct gt_kineto_event *ev, struct gt_err *err)
{
	k->counts.events++;
	if (ev->phase == 'M')
		return gt_kineto_set_name(k, ev, err);
	if (!ev->phase || !strchr("XiIRCstf" GT_KINETO_HALVES, ev->phase)) {
		k->counts.phases[(uint8_t)ev->phase]++;
		return 0;
	}
	if (!(ev->has & GT_KINETO_TS) || ev->has & GT_KINETO_BAD_TIME ||
		ev->ts + ev->dur >= GT_TIME_MAX) {
		k->counts.no_time++;
		return 0;
	}
	if (ev->phase == 'X')
		return gt_kineto_complete(k, ev, err);
	if (ev->phase == 'C')
		return counter(k, ev, err);
	if (ev->phase == 'i' || ev->phase == 'I' || ev->phase == 'R')
		return gt_kineto_instant(k, ev, err);
	if (strchr(GT_KINETO_HALVES, ev->phase))
		return gt_kineto_phase(k, ev, err);
	if (ev->cat == GT_KINETO_FORWARD_FLOW)
		return arrow(k, ev, err);
	if (ev->cat == GT_KINETO_FLOW)
		return gt_kineto_flow(k, ev, ev->phase, err);
	k->counts.phases[(uint8_t)ev->phase] += ev->cat == GT_KINETO_OTHER;
	return 0;
}
