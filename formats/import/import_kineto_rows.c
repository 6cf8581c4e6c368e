/* What happened on the host: calls of the CUDA runtime and driver, ranges, moments, counters.
 *
 * The calls that PyTorch's profiler has are the outermost ones, of the runtime mostly. Nobody
 * records the driver's within them, so they are what counts here (layer API). Should one call
 * enclose another that does the same, as cudaLaunchKernel does cuLaunchKernel, the inner one has no
 * operation: one launch is one.
 *
 * Ranges are spans of the layer user with the depth at which they lie, as NVTX's are. What stands
 * where on the GPU they caused work
 * ("gpu_user_annotation") is neither work nor a range, but can be told from those: it is left out,
 * and counted. How long the profiler was on, and where its window ended, is nothing that the
 * program did: it goes into the metadata and stretches no figure. */
#include "formats/import/import_kineto.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include "formats/base/buf.h"
#include "formats/cuda/cuda_api.h"

#define KEPT_MAX (1u << 16)  /* different sets of arguments: 6 MiB */
#define WHATS_MAX (1u << 17) /* different names */

int gt_kineto_due(struct gt_kineto *k, int64_t end, struct gt_err *err)
{
	k->now = end > k->now ? end : k->now;
	return gt_writer_due(k->w, k->now) ? gt_writer_epoch(k->w, k->now, err) : 0;
}

int gt_kineto_put(struct gt_kineto *k, enum gt_kind kind, uint32_t track, const struct gt_row *row,
	const uint64_t *args, struct gt_err *err)
{
	int e = gt_writer_row(k->w, kind, track, row, args, err);

	return e ? e : gt_kineto_due(k, row->end, err);
}

/* ---- what a name means ---- */

static bool same_what(const void *arg, uint32_t value, const void *key, size_t len)
{
	return !memcmp(&((const struct gt_kineto *)arg)->whats[value], key,
		offsetof(struct gt_kineto_class, type));
}

/* Of a file of ours: calls into the kernel, in its words. */
static bool of_ioctl(const char *category, struct gt_type *type)
{
	bool is_ioctl = !strcmp(category, "ioctl");

	if (!is_ioctl && strcmp(category, "file"))
		return false;
	type->layer = GT_LAYER_IOCTL;
	type->category = is_ioctl ? GT_CAT_IOCTL : GT_CAT_FILE;
	type->op = is_ioctl ? GT_OP_IOCTL : GT_OP_NONE;
	return true;
}

/* Of an allocator of PyTorch's: cat_name is MEMORY_GPU or MEMORY_HOST, and MEMORY_ADDR where the
 * file has addresses. */
enum { MEMORY_HOST, MEMORY_GPU, MEMORY_ADDR };

static void classify_memory(const struct gt_kineto_class *what, struct gt_type *type)
{
	type->category = GT_CAT_MEMORY;
	type->op = what->cat == GT_KINETO_ALLOC ? GT_OP_ALLOC : GT_OP_FREE;
	type->memkind = what->cat_name & MEMORY_GPU ? GT_MEM_POOL : GT_MEM_HOST;
}

/* Fills in type (but for fields) and says what kind of row it is. */
static void classify(struct gt_kineto *k, struct gt_kineto_class *what, struct gt_type *type)
{
	const char *name = gt_writer_text(k->w, what->name);
	struct gt_api api = gt_api_guess(name);

	*type = (struct gt_type){
		.name = what->name, .category = GT_CAT_USER, .layer = GT_LAYER_USER
	};
	if (what->cat == GT_KINETO_OTHER && what->cat_name != GT_NONE &&
		of_ioctl(gt_writer_text(k->w, what->cat_name), type)) {
		what->call = true;
	} else if (what->cat == GT_KINETO_ALLOC || what->cat == GT_KINETO_FREE) {
		classify_memory(what, type);
	} else if (what->cat == GT_KINETO_OUTER) {
		type->layer = GT_LAYER_RUNTIME;
		type->category = api.category;
	} else if (what->cat == GT_KINETO_RUNTIME || what->cat == GT_KINETO_DRIVER ||
		(what->cat == GT_KINETO_OTHER && gt_api_is_cuda(name))) {
		type->layer = GT_LAYER_API;
		type->category = api.category;
		type->op = api.op;
		type->memkind = api.memkind;
		what->call = true;
	}
}

static unsigned memory_fields(
	struct gt_kineto *k, const struct gt_kineto_class *what, struct gt_field fields[3])
{
	unsigned n = 0;

	fields[n++] = (struct gt_field){ gt_writer_string(k->w, "bytes"), GT_F_U64, GT_R_BYTES };
	fields[n++] = (struct gt_field){ gt_writer_string(k->w, "device"), GT_F_I64, GT_R_DEVICE };
	if (what->cat_name & MEMORY_ADDR)
		fields[n++] =
			(struct gt_field){ gt_writer_string(k->w, "addr"), GT_F_HEX, GT_R_ADDR };
	return n;
}

static uint32_t series_name(struct gt_kineto *k, uint32_t name, uint32_t series)
{
	char text[256];

	if (series == GT_NONE || series == name || !strcmp(gt_writer_text(k->w, series), "value"))
		return name;
	snprintf(text, sizeof(text), "%.120s %.120s", gt_writer_text(k->w, name),
		gt_writer_text(k->w, series));
	return gt_writer_string(k->w, text);
}

static int make_what(struct gt_kineto *k, struct gt_kineto_class *what)
{
	struct gt_field fields[3 + GT_KINETO_NEXTRA];
	struct gt_type type;

	classify(k, what, &type);
	type.fields = fields;
	if (what->cat == GT_KINETO_COUNTER) {
		/* which any file has that has counters: they make no layer */
		type.layer = GT_LAYER_API;
		type.category = GT_CAT_OTHER;
		type.name = series_name(k, what->name, what->cat_name);
		fields[type.nfields++] =
			(struct gt_field){ gt_writer_string(k->w, "value"), GT_F_F64, GT_R_VALUE };
	} else if (what->cat == GT_KINETO_ALLOC || what->cat == GT_KINETO_FREE) {
		type.nfields = (uint8_t)memory_fields(k, what, fields);
	} else if (type.layer == GT_LAYER_USER) {
		fields[type.nfields++] = (struct gt_field){ gt_writer_string(k->w, "category"),
			GT_F_STR, GT_R_NONE };
		for (unsigned i = 0; i < GT_KINETO_NEXTRA; i++)
			if (what->kept >> i & 1)
				fields[type.nfields++] = (struct gt_field){
					gt_writer_string(k->w, gt_kineto_extra_keys[i].word),
					gt_kineto_extra_keys[i].text ? GT_F_STR : GT_F_U64,
					GT_R_NONE
				};
	} else if (what->cat == GT_KINETO_OTHER) {
		what->first_arg = 1; /* calls of ours have no correlation id */
	} else {
		fields[type.nfields++] = (struct gt_field){ gt_writer_string(k->w, "correlation"),
			GT_F_U64, GT_R_CORRELATION };
	}
	if (what->call && type.op == GT_OP_LAUNCH)
		fields[type.nfields++] = (struct gt_field){ gt_writer_string(k->w, "kernel"),
			GT_F_STR, GT_R_KERNEL };
	what->nfields = type.nfields;
	what->op = type.op;
	what->type = what->inner = gt_writer_type(k->w, &type);
	if (gt_api_makes_work(type.op)) {
		type.op = GT_OP_NONE;
		what->inner = gt_writer_type(k->w, &type);
	}
	return what->type == GT_NONE || what->inner == GT_NONE ? -ENOMEM : 0;
}

/* The number of what this is, or negative. */
static int64_t what_with(struct gt_kineto *k, uint32_t name, uint32_t cat, uint32_t cat_name,
	uint32_t kept, struct gt_err *err)
{
	struct gt_kineto_class what = { .name = name == GT_NONE ? k->no_name : name,
		.cat = cat,
		.cat_name = cat_name,
		.kept = kept };
	uint64_t hash = gt_hash_u64(
		((uint64_t)what.name << 32 | (uint64_t)cat_name << 5 | cat) ^ (uint64_t)kept << 48);
	uint32_t i = gt_map_get(&k->what_map, hash, same_what, k, &what, 0);

	if (i != GT_NONE)
		return i;
	if ((k->nwhats == WHATS_MAX || !gt_writer_has_name_space(k->w)) &&
		what.name != k->nameless) {
		k->counts.names_left_out++;
		return what_with(k, k->nameless, cat, cat_name, kept, err);
	}
	if (make_what(k, &what) || gt_grow(&k->whats, &k->whats_cap, k->nwhats + 1, sizeof(what)) ||
		gt_map_add(&k->what_map, hash, (uint32_t)k->nwhats))
		return gt_kineto_no_memory(err);
	k->whats[k->nwhats] = what;
	return (int64_t)k->nwhats++;
}

static int64_t what_of(
	struct gt_kineto *k, uint32_t name, uint32_t cat, uint32_t cat_name, struct gt_err *err)
{
	return what_with(k, name, cat, cat_name, 0, err);
}

/* ---- arguments that are kept ---- */

static bool same_kept(const void *arg, uint32_t value, const void *key, size_t len)
{
	return !memcmp(&((const struct gt_kineto *)arg)->kept[value], key,
		sizeof(struct gt_kineto_arg_set));
}

/* Events with the same arguments share them. Where there is no room for others, or no memory, the
 * event has none. */
static void share_kept(struct gt_kineto *k, struct gt_kineto_event *ev)
{
	struct gt_kineto_arg_set one = { .mask = ev->kept };
	uint64_t hash;

	memcpy(one.values, ev->kept_values, ev->nkept * sizeof(*one.values));
	hash = gt_hash(&one, sizeof(one));
	ev->kept_at = gt_map_get(&k->kept_map, hash, same_kept, k, &one, sizeof(one));
	if (ev->kept_at != GT_NONE)
		return;
	if (k->nkept == KEPT_MAX || gt_grow(&k->kept, &k->kept_cap, k->nkept + 1, sizeof(one)) ||
		gt_map_add(&k->kept_map, hash, (uint32_t)k->nkept)) {
		k->counts.args_left_out += ev->nkept;
		ev->kept = 0;
		return;
	}
	ev->kept_at = (uint32_t)k->nkept;
	k->kept[k->nkept++] = one;
}

/* ---- calls and ranges ---- */

int gt_kineto_put_host(struct gt_kineto *k, enum gt_kind kind, uint32_t track,
	const struct gt_row *row, const struct gt_kineto_class *what, const uint64_t *args,
	struct gt_err *err)
{
	uint64_t all[1 + GT_KINETO_NEXTRA] = { args[0] };

	if (!what->kept)
		return gt_kineto_put(k, kind, track, row, args + what->first_arg, err);
	memcpy(all + 1, k->kept[args[1]].values, sizeof(k->kept->values));
	return gt_kineto_put(k, kind, track, row, all, err);
}

/* Calls and ranges of a thread wait to be put in order. Moments, and events of no thread, do not.
 */
static int put_host(struct gt_kineto *k, enum gt_kind kind, uint32_t track, size_t thread,
	const struct gt_kineto_event *ev, uint32_t what, uint32_t kernel, struct gt_err *err)
{
	const struct gt_kineto_class *w = &k->whats[what];
	struct gt_row row = {
		.start = ev->ts, .end = ev->ts + ev->dur, .type = w->type, .nargs = w->nfields
	};
	bool correlated = w->call || w->cat == GT_KINETO_OUTER;
	uint64_t args[GT_KINETO_ARGS] = { correlated ? ev->correlation : w->cat_name,
		w->kept ? ev->kept_at : kernel };

	if (thread != SIZE_MAX && kind == GT_SPAN)
		return gt_kineto_order(k, thread, ev, what, args, err);
	return gt_kineto_put_host(k, kind, track, &row, w, args, err);
}

/* ---- events ---- */

/* Work and calls of accelerators that are no GPU of CUDA or HIP are ranges here: which and how many
 * is said in the metadata. */
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

/* In a file of ours: has it a category of calls, and a correlation id? */
static bool is_call_of_ours(const struct gt_kineto *k, const struct gt_kineto_event *ev)
{
	return ev->cat == GT_KINETO_OTHER && ev->cat_name != GT_NONE &&
		ev->has & GT_KINETO_CORRELATION &&
		gt_word_find(gt_category_word, gt_writer_text(k->w, ev->cat_name)) >= 0;
}

/* A call of the runtime that does not say which of CUPTI's numbers it has is one of ours, around
 * the driver's, which are there, too. */
static uint32_t cat_of(const struct gt_kineto *k, const struct gt_kineto_event *ev)
{
	if (is_call_of_ours(k, ev))
		return GT_KINETO_DRIVER;
	if (ev->cat != GT_KINETO_RUNTIME || ev->has & GT_KINETO_CBID ||
		strncmp(gt_writer_text(k->w, ev->name), "cuda", 4))
		return ev->cat;
	return GT_KINETO_OUTER;
}

static int host_row(struct gt_kineto *k, const struct gt_kineto_event *ev, struct gt_err *err)
{
	size_t thread;
	int64_t track = gt_kineto_track_of(k, ev, false, &thread, err), what;
	uint32_t kernel = GT_NONE;
	int e = 0;

	if (track < 0)
		return (int)track;
	if (ev->cat == GT_KINETO_OTHER && ev->cat_name != GT_NONE)
		count_other(k, ev->cat_name);
	what = what_with(k, ev->name, cat_of(k, ev), ev->cat_name,
		ev->cat == GT_KINETO_RANGE ? ev->kept : 0, err);
	if (what < 0)
		return (int)what;
	if (k->host == GT_NONE && thread != SIZE_MAX)
		k->host = k->processes[k->threads[thread].process].track;
	if (k->whats[what].call && thread != SIZE_MAX)
		e = gt_kineto_add_call(k, thread, ev, &kernel, err);
	if (!e)
		e = put_host(k, GT_SPAN, (uint32_t)track, thread, ev, (uint32_t)what, kernel, err);
	return e;
}

/* An allocator of PyTorch's allocates or frees. Device type 0 is the host; the others are GPUs of
 * some kind. */
static int memory_row(
	struct gt_kineto *k, const struct gt_kineto_event *ev, uint32_t track, struct gt_err *err)
{
	bool addressed = !(ev->unknown & GT_GPU_NO_VALUE) && ev->value;
	uint32_t kind = (ev->stream ? MEMORY_GPU : MEMORY_HOST) | (addressed ? MEMORY_ADDR : 0);
	int64_t what =
		what_of(k, ev->name, ev->change < 0 ? GT_KINETO_FREE : GT_KINETO_ALLOC, kind, err);
	uint64_t args[] = { ev->change < 0 ? 0 - (uint64_t)ev->change : (uint64_t)ev->change,
		(uint64_t)ev->device, ev->value };
	struct gt_row row = { .start = ev->ts, .end = ev->ts };

	if (what < 0)
		return (int)what;
	row.type = k->whats[what].type;
	row.nargs = k->whats[what].nfields;
	return gt_kineto_put(k, GT_INSTANT, track, &row, args, err);
}

static int moment(struct gt_kineto *k, const struct gt_kineto_event *ev, struct gt_err *err)
{
	struct gt_kineto_event at = *ev;
	bool whole = !(ev->has & GT_KINETO_TID);
	size_t thread;
	int64_t track, what;

	if (ev->name == k->window_end_name && ev->pid.word != GT_NONE) {
		k->window_end = ev->ts;
		return 0;
	}
	track = gt_kineto_track_of(k, ev, whole, &thread, err);
	if (track >= 0 && ev->name == k->memory_name && ev->has & GT_KINETO_CHANGE &&
		ev->has & GT_KINETO_STREAM && ev->change)
		return memory_row(k, ev, (uint32_t)track, err);
	what = track < 0 ? track : what_of(k, ev->name, GT_KINETO_RANGE, ev->cat_name, err);
	at.dur = 0;
	if (what < 0)
		return (int)what;
	return put_host(k, GT_INSTANT, (uint32_t)track, thread, &at, (uint32_t)what, GT_NONE, err);
}

static int counter(struct gt_kineto *k, const struct gt_kineto_event *ev, struct gt_err *err)
{
	struct gt_row row = { .start = ev->ts, .end = ev->ts, .nargs = 1 };
	size_t thread;
	int64_t track = gt_kineto_track_of(k, ev, true, &thread, err), what;
	bool metrics = ev->cat == GT_KINETO_METRICS; /* their names stand for themselves */
	uint64_t value;
	int e = track < 0 ? (int)track : 0;

	for (unsigned i = 0; !e && i < ev->nvalues; i++) {
		what = what_of(k, metrics ? ev->values[i].name : ev->name, GT_KINETO_COUNTER,
			ev->values[i].name, err);
		if (what < 0)
			return (int)what;
		row.type = k->whats[what].type;
		memcpy(&value, &ev->values[i].value, sizeof(value));
		e = gt_kineto_put(k, GT_COUNTER, (uint32_t)track, &row, &value, err);
	}
	return e;
}

static int complete(struct gt_kineto *k, struct gt_kineto_event *ev, struct gt_err *err)
{
	int e;

	if (!(ev->has & GT_KINETO_DUR)) {
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
	if (ev->kept)
		share_kept(k, ev);
	if ((ev->cat >= GT_KINETO_KERNEL && ev->cat <= GT_KINETO_WAIT) ||
		ev->cat == GT_KINETO_OVERHEAD)
		return gt_kineto_gpu_row(k, ev, err);
	e = ev->cat == GT_KINETO_METRICS ? counter(k, ev, err) : 0;
	return e ? e : host_row(k, ev, err);
}

int gt_kineto_row(struct gt_kineto *k, struct gt_kineto_event *ev, struct gt_err *err)
{
	k->counts.events++;
	if (ev->phase == 'M')
		return gt_kineto_set_name(k, ev, err);
	if (!ev->phase || !strchr("XiICstf", ev->phase)) {
		k->counts.phases[(uint8_t)ev->phase]++;
		return 0;
	}
	if (!(ev->has & GT_KINETO_TS) || ev->has & GT_KINETO_BAD_TIME ||
		ev->ts + ev->dur >= GT_TIME_MAX) {
		k->counts.no_time++;
		return 0;
	}
	if (ev->phase == 'X')
		return complete(k, ev, err);
	if (ev->phase == 'C')
		return counter(k, ev, err);
	if (ev->phase == 'i' || ev->phase == 'I')
		return moment(k, ev, err);
	return ev->cat == GT_KINETO_FLOW ? gt_kineto_flow(k, ev, err) : 0;
}
