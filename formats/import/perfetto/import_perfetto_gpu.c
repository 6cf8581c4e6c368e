/* Packets about GPUs that are no TrackEvents.
 *
 * GpuRenderStageEvent: work on a hardware queue of a GPU, with its duration. PyTorch's profiler
 * writes kernels, copies and sets like that, and Android's drivers their render stages. Its names
 * are interned, or in a list of specifications (old writers). It becomes GPU work: a copy or set by
 * the name of its stage ("Memcpy", "Memset"), else a kernel. "Annotation" is the time of a range's
 * work, which follows from the other rows; records of events and host functions in graphs are
 * ranges, since the GPU computes nothing.
 *
 * The launching call is found by the correlation id among the event's texts; or else by the event's
 * own id, which a TrackEvent of the call then lists. The stream is that of the texts, or the number
 * in the queue's name ("Stream #7"); without both, the work is on its GPU's own track.
 *
 * GpuCounterEvent and GpuMemTotalEvent become counters of the GPU, or of the process. A GPU without
 * a number is GPU 0. */
#include "formats/import/perfetto/import_perfetto.h"

#include <stdio.h>
#include <stdlib.h>

#define OLD_NAMES 256u      /* stages or queues without interned names; further ones have none */
#define COUNTERS_MAX 65536u /* different counters; further ones are not read */
#define KEY offsetof(struct gt_pftrace_counter, name)

struct stage {
	uint64_t id, duration, context, queue, stage, old_queue, old_stage, kernel, name_iid;
	int64_t gpu;
	struct gt_proto_field name, launch;
	unsigned nextra;
	struct gt_proto_field extra[GT_PFTRACE_ARGS]; /* not zeroed */
};

/* A name, and where it comes from. */
struct spec {
	const char *name;
	size_t len;
	uint64_t category;
};

static bool is(const char *text, size_t len, const char *word)
{
	return len == strlen(word) && !memcmp(text, word, len);
}

static bool begins(const struct spec *s, const char *word)
{
	return s->len >= strlen(word) && !memcmp(s->name, word, strlen(word));
}

/* ---- names ---- */

/* The text in field `number` of a message; len 0: none. */
static const char *text_in(const char *message, size_t size, uint32_t number, size_t *len)
{
	struct gt_proto_in in = gt_proto_message(
		&(struct gt_proto_field){ .bytes = (const uint8_t *)message, .value = size });
	const char *text = NULL;
	struct gt_proto_field f;

	*len = 0;
	while (gt_proto_next(&in, &f) > 0)
		if (f.number == number && f.wire == GT_PROTO_BYTES) {
			text = (const char *)f.bytes;
			*len = f.value;
		}
	return text;
}

/* The number in field `number` of a message, 0: none. */
static uint64_t number_in(const char *message, size_t size, uint32_t number)
{
	struct gt_proto_in in = gt_proto_message(
		&(struct gt_proto_field){ .bytes = (const uint8_t *)message, .value = size });
	struct gt_proto_field f;
	uint64_t v = 0;

	while (gt_proto_next(&in, &f) > 0)
		if (f.number == number && f.wire == GT_PROTO_VARINT)
			v = f.value;
	return v;
}

/* Of a stage or queue: by its interned number, or else its place among the old names. */
static struct spec spec_of(struct gt_pftrace *p, const struct gt_pftrace_sequence *s, uint64_t iid,
	const struct gt_pftrace_names *old, uint64_t place)
{
	struct spec spec = { "", 0, GT_RENDER_OTHER };
	const char *message, *name;
	size_t size;

	if (iid) {
		message = gt_pftrace_text(p, s, GT_INTERNED_SPECS, iid, &size);
		name = text_in(message, size, GT_RENDER_SPEC_NAME, &spec.len);
		spec.name = name ? name : "";
		spec.category = number_in(message, size, GT_RENDER_SPEC_CATEGORY);
	} else if (place < old->n) {
		spec.name = gt_writer_text(p->d->k.w, old->names[place]);
		spec.len = strlen(spec.name);
	}
	return spec;
}

static uint32_t intern(struct gt_pftrace *p, const char *s, size_t len)
{
	return gt_kineto_intern(
		&p->d->k, &(struct gt_kineto_event){ .cat = GT_KINETO_KERNEL }, s, len);
}

/* Specifications in an event: the names of stages and queues, which have their numbers from 0 on.
 */
static int read_old_specs(struct gt_pftrace *p, const struct gt_proto_field *specs)
{
	struct gt_proto_in in = gt_proto_message(specs);
	struct gt_pftrace_names *to;
	struct gt_proto_field f;
	const char *name;
	size_t len;
	int more;

	while ((more = gt_proto_next(&in, &f)) > 0) {
		if (f.wire != GT_PROTO_BYTES ||
			(f.number != GT_OLD_SPECS_QUEUE && f.number != GT_OLD_SPECS_STAGE))
			continue;
		to = f.number == GT_OLD_SPECS_QUEUE ? &p->queues : &p->stages;
		if (!to->names && !(to->names = malloc(OLD_NAMES * sizeof(*to->names))))
			return gt_kineto_no_memory(p->err);
		name = text_in((const char *)f.bytes, f.value, 1, &len);
		if (to->n < OLD_NAMES)
			to->names[to->n++] = intern(p, name ? name : "", len);
	}
	return more < 0 ? gt_pftrace_malformed(p, "a render stage") : 0;
}

/* ---- render stages ---- */

static int read_stage(struct gt_pftrace *p, const struct gt_proto_field *event, struct stage *to)
{
	struct gt_proto_in in = gt_proto_message(event);
	struct gt_proto_field f;
	int more;

	while ((more = gt_proto_next(&in, &f)) > 0) {
		bool bytes = f.wire == GT_PROTO_BYTES;

		if (!bytes && f.wire != GT_PROTO_VARINT)
			continue;
		switch (f.number) {
		case GT_RENDER_ID: to->id = f.value; break;
		case GT_RENDER_DURATION: to->duration = f.value; break;
		case GT_RENDER_OLD_QUEUE: to->old_queue = f.value; break;
		case GT_RENDER_OLD_STAGE: to->old_stage = f.value; break;
		case GT_RENDER_CONTEXT: to->context = f.value; break;
		case GT_RENDER_GPU: to->gpu = (int32_t)f.value; break;
		case GT_RENDER_QUEUE: to->queue = f.value; break;
		case GT_RENDER_STAGE: to->stage = f.value; break;
		case GT_RENDER_KERNEL: to->kernel = f.value; break;
		case GT_RENDER_NAME_IID: to->name_iid = f.value; break;
		case GT_RENDER_NAME: to->name = f; break;
		case GT_RENDER_LAUNCH: to->launch = f; break;
		case GT_RENDER_SPECS:
			if (bytes && read_old_specs(p, &f))
				return p->err->code;
			break;
		case GT_RENDER_EXTRA:
			if (bytes && to->nextra < GT_PFTRACE_ARGS)
				to->extra[to->nextra++] = f;
			else
				p->d->k.counts.args_left_out++;
			break;
		}
	}
	return more < 0 ? gt_pftrace_malformed(p, "a render stage") : 0;
}

static uint8_t category_of(const struct stage *t, const struct spec *stage)
{
	if (t->kernel || t->launch.bytes || stage->category == GT_RENDER_COMPUTE)
		return GT_KINETO_KERNEL;
	if (begins(stage, "Memcpy"))
		return GT_KINETO_COPY;
	if (begins(stage, "Memset"))
		return GT_KINETO_SET;
	if (is(stage->name, stage->len, "Annotation"))
		return GT_KINETO_GPU_RANGE;
	return is(stage->name, stage->len, "EventRecord") || is(stage->name, stage->len, "HostNode")
		? GT_KINETO_RANGE
		: GT_KINETO_KERNEL;
}

/* The name of a kernel, as its library has it if that is known; or that of the event, or of its
 * stage. */
static uint32_t name_of(struct gt_pftrace *p, const struct gt_pftrace_sequence *s,
	const struct stage *t, const struct spec *stage)
{
	const char *name = NULL, *message;
	size_t len = 0, size;

	if (t->kernel) {
		message = gt_pftrace_text(p, s, GT_INTERNED_KERNELS, t->kernel, &size);
		name = text_in(message, size, GT_KERNEL_NAME, &len);
		if (!len)
			name = text_in(message, size, GT_KERNEL_DEMANGLED, &len);
	}
	if (!len && t->name.bytes) {
		name = (const char *)t->name.bytes;
		len = t->name.value;
	}
	if (!len && t->name_iid)
		name = gt_pftrace_text(p, s, GT_INTERNED_NAMES, t->name_iid, &len);
	return name && len   ? intern(p, name, len)
		: stage->len ? intern(p, stage->name, stage->len)
			     : p->d->k.no_name;
}

/* The number of a stream in a name like "Stream #7" or "[07] stream 7"; -1: it has none. */
static int64_t stream_in_name(const struct spec *queue)
{
	char text[64];
	const char *at = text;
	long long n;

	snprintf(text, sizeof(text), "%.*s", (int)(queue->len < 60 ? queue->len : 60), queue->name);
	if (*at == '[' && strstr(at, "] "))
		at = strstr(at, "] ") + 2;
	return sscanf(at, "%*[Ss]tream #%9lld", &n) == 1 || sscanf(at, "%*[Ss]tream %9lld", &n) == 1
		? n
		: -1;
}

/* ---- its arguments ---- */

/* Keys that differ from those of Kineto's files. */
static void put_arg(struct gt_pftrace *p, struct gt_kineto_event *ev, const char *key, size_t len,
	int token, const char *text, size_t size)
{
	static const struct {
		const char *key, *kineto;
	} keys[] = {
		{ "device id", "device" },
		{ "context id", "context" },
		{ "stream id", "stream" },
		{ "registers_per_thread", "registers per thread" },
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (is(key, len, keys[i].key)) {
			key = keys[i].kineto;
			len = strlen(key);
			break;
		}
	gt_kineto_event_arg(&p->d->k, ev, &p->scratch, key, len, token, text, size);
}

static void read_extra(
	struct gt_pftrace *p, const struct gt_proto_field *extra, struct gt_kineto_event *ev)
{
	const char *message = (const char *)extra->bytes, *key, *value;
	size_t len, size, digits = 0;

	key = text_in(message, extra->value, 1, &len);
	value = text_in(message, extra->value, 2, &size);
	if (!key || !value)
		return;
	while (digits < size && value[digits] >= '0' && value[digits] <= '9')
		digits++;
	put_arg(p, ev, key, len, digits == size && size ? GT_JSON_INT : GT_JSON_STRING, value,
		size);
}

/* A number by its name: registers, shared memory. */
static void read_launch_arg(struct gt_pftrace *p, const struct gt_pftrace_sequence *s,
	const struct gt_proto_field *arg, struct gt_kineto_event *ev)
{
	struct gt_proto_in in = gt_proto_message(arg);
	const char *key = NULL;
	struct gt_proto_field f;
	bool has_value = false;
	uint64_t value = 0;
	char text[24];
	size_t len = 0;

	while (gt_proto_next(&in, &f) > 0) {
		if (f.number == GT_LAUNCH_ARG_NAME && f.wire == GT_PROTO_BYTES) {
			key = (const char *)f.bytes;
			len = f.value;
		}
		if (f.wire != GT_PROTO_VARINT)
			continue;
		if (f.number == GT_LAUNCH_ARG_NAME_IID)
			key = gt_pftrace_text(p, s, GT_INTERNED_LAUNCH_ARGS, f.value, &len);
		if (f.number == GT_LAUNCH_ARG_INT || f.number == GT_LAUNCH_ARG_UINT) {
			value = f.value;
			has_value = true;
		}
	}
	if (!key || !has_value)
		return;
	if (is(key, len, "shared_mem_dynamic") || is(key, len, "shared_mem_static")) {
		ev->gpu.shared += (uint32_t)value;
		ev->gpu.unknown &= ~(unsigned)GT_GPU_NO_SHARED;
		return;
	}
	put_arg(p, ev, key, len, GT_JSON_INT, text, (size_t)(gt_put_u64(text, value) - text));
}

static void read_launch(struct gt_pftrace *p, const struct gt_pftrace_sequence *s,
	const struct gt_proto_field *launch, struct gt_kineto_event *ev)
{
	struct gt_proto_in in = gt_proto_message(launch), dims;
	struct gt_proto_field f, g;

	while (gt_proto_next(&in, &f) > 0) {
		uint32_t three[3] = { 1, 1, 1 };

		if (f.wire != GT_PROTO_BYTES)
			continue;
		if (f.number == GT_LAUNCH_ARG)
			read_launch_arg(p, s, &f, ev);
		if (f.number != GT_LAUNCH_GRID && f.number != GT_LAUNCH_BLOCK)
			continue;
		dims = gt_proto_message(&f);
		while (gt_proto_next(&dims, &g) > 0)
			if (g.number >= 1 && g.number <= 3 && g.wire == GT_PROTO_VARINT)
				three[g.number - 1] = (uint32_t)g.value;
		gt_kineto_event_three(ev, f.number == GT_LAUNCH_BLOCK, three);
	}
}

/* The process of a context. */
static void set_process(struct gt_pftrace *p, const struct gt_pftrace_sequence *s,
	const struct stage *t, struct gt_kineto_event *ev)
{
	struct gt_kineto *k = &p->d->k;
	const char *message;
	size_t size;
	int64_t process;

	if (!t->context)
		return;
	message = gt_pftrace_text(p, s, GT_INTERNED_CONTEXTS, t->context, &size);
	ev->pid.number = (int32_t)number_in(message, size, 2);
	if (!message || k->first_process != GT_NONE)
		return;
	process = gt_kineto_process_of(k, ev->pid.number, p->err);
	k->first_process = process < 0 ? GT_NONE : (uint32_t)process;
}

int gt_pftrace_render_stage(struct gt_pftrace *p, const struct gt_pftrace_sequence *s, int64_t time,
	const struct gt_proto_field *event)
{
	struct gt_kineto_event ev;
	struct spec stage, queue;
	struct stage t;

	memset(&t, 0, offsetof(struct stage, extra));
	t.old_queue = t.old_stage = UINT64_MAX;
	if (read_stage(p, event, &t))
		return p->err->code;
	gt_kineto_event_init(&ev);
	ev.phase = 'X';
	ev.ts = time;
	ev.dur = t.duration < (uint64_t)GT_TIME_MAX ? (int64_t)t.duration : GT_TIME_MAX;
	ev.has = GT_KINETO_TS | GT_KINETO_DUR;
	stage = spec_of(p, s, t.stage, &p->stages, t.old_stage);
	ev.cat = category_of(&t, &stage);
	ev.name = name_of(p, s, &t, &stage);
	read_launch(p, s, &t.launch, &ev);
	for (unsigned i = 0; i < t.nextra; i++)
		read_extra(p, &t.extra[i], &ev);
	if (!(ev.has & GT_KINETO_DEVICE))
		ev.gpu.device = t.gpu;
	ev.has |= GT_KINETO_DEVICE;
	queue = spec_of(p, s, t.queue, &p->queues, t.old_queue);
	ev.tid.word = intern(p, queue.len ? queue.name : "queue", queue.len ? queue.len : 5);
	if (!(ev.has & GT_KINETO_STREAM) && (ev.gpu.stream = stream_in_name(&queue)) >= 0)
		ev.has |= GT_KINETO_STREAM;
	if (!(ev.has & GT_KINETO_CORRELATION) && t.id)
		gt_pftrace_set_correlation(&ev, t.id | GT_PFTRACE_RENDER_ID);
	set_process(p, s, &t, &ev);
	return p->err->code ? p->err->code : gt_kineto_row(&p->d->k, &ev, p->err);
}

/* ---- counters ---- */

/* Adds the counters of a descriptor: GpuCounterDescriptor, of a GPU or -1. */
static int add_counters(struct gt_pftrace *p, struct gt_pftrace_counter key,
	const struct gt_proto_field *descriptor)
{
	struct gt_proto_in in = gt_proto_message(descriptor);
	struct gt_proto_field f;
	const char *name;
	size_t len;
	uint32_t i;
	int more;

	while ((more = gt_proto_next(&in, &f)) > 0) {
		if (f.number != 1 || f.wire != GT_PROTO_BYTES)
			continue;
		key.id = (uint32_t)number_in((const char *)f.bytes, f.value, GT_GPU_COUNTER_ID);
		name = text_in((const char *)f.bytes, f.value, GT_GPU_COUNTER_NAME, &len);
		i = gt_map_find_item(&p->counter_map, p->counters, sizeof(key), &key, KEY);
		if (!len || (i == UINT32_MAX && p->ncounters >= COUNTERS_MAX))
			continue;
		key.name = intern(p, name, len);
		if (i != UINT32_MAX)
			p->counters[i] = key;
		else if (gt_map_add_item(&p->counter_map, &p->counters, &p->ncounters,
				 &p->counters_cap, sizeof(key), &key, KEY) == UINT32_MAX)
			return gt_kineto_no_memory(p->err);
	}
	return more < 0 ? gt_pftrace_malformed(p, "a GPU's counters") : 0;
}

/* Reads the counters of an interned descriptor, once. */
static int read_descriptor(
	struct gt_pftrace *p, const struct gt_pftrace_sequence *s, struct gt_pftrace_counter *key)
{
	struct gt_proto_field descriptor = { .bytes = NULL }, f;
	struct gt_proto_in in;
	const char *message;
	size_t size;

	if (p->last_descriptor.generation == s->generation && p->last_descriptor.iid == key->iid) {
		key->gpu = p->last_descriptor.gpu;
		return 0;
	}
	message = gt_pftrace_text(p, s, GT_INTERNED_COUNTERS, key->iid, &size);
	in = gt_proto_message(
		&(struct gt_proto_field){ .bytes = (const uint8_t *)message, .value = size });
	while (gt_proto_next(&in, &f) > 0) {
		if (f.number == GT_GPU_DESCRIPTOR_GPU && f.wire == GT_PROTO_VARINT)
			key->gpu = (int32_t)f.value;
		if (f.number == GT_GPU_DESCRIPTOR_SPECS && f.wire == GT_PROTO_BYTES)
			descriptor = f;
	}
	p->last_descriptor = *key;
	return descriptor.bytes ? add_counters(p, *key, &descriptor) : 0;
}

static int put_value(
	struct gt_pftrace *p, int64_t time, int64_t gpu, int64_t pid, uint32_t name, double value)
{
	struct gt_kineto_event ev;

	gt_kineto_event_init(&ev);
	ev.phase = 'C';
	ev.ts = time;
	ev.has = GT_KINETO_TS | (pid ? 0 : GT_KINETO_DEVICE);
	ev.pid.number = pid;
	ev.gpu.device = gpu;
	ev.name = name;
	ev.nvalues = 1;
	ev.values[0].name = name; /* its own name is enough */
	ev.values[0].value = value;
	return gt_kineto_row(&p->d->k, &ev, p->err);
}

/* Writes a value: GpuCounter. */
static int put_counter(struct gt_pftrace *p, int64_t time, struct gt_pftrace_counter key,
	const struct gt_proto_field *counter)
{
	struct gt_proto_in in = gt_proto_message(counter);
	struct gt_proto_field f;
	bool has_value = false;
	double value = 0;
	uint32_t i;
	int more;

	while ((more = gt_proto_next(&in, &f)) > 0) {
		if (f.number == GT_GPU_COUNTER_ID && f.wire == GT_PROTO_VARINT)
			key.id = (uint32_t)f.value;
		if (f.number == GT_GPU_COUNTER_INT && f.wire == GT_PROTO_VARINT) {
			value = (double)(int64_t)f.value;
			has_value = true;
		}
		if (f.number == GT_GPU_COUNTER_DOUBLE && f.wire == GT_PROTO_FIXED64) {
			memcpy(&value, &f.value, sizeof(value));
			has_value = true;
		}
	}
	if (more < 0)
		return gt_pftrace_malformed(p, "a GPU's counters");
	i = gt_map_find_item(&p->counter_map, p->counters, sizeof(key), &key, KEY);
	if (i == UINT32_MAX || !has_value) {
		p->d->k.counts.not_understood++;
		return 0;
	}
	return put_value(p, time, key.gpu < 0 ? 0 : key.gpu, 0, p->counters[i].name, value);
}

int gt_pftrace_gpu_counters(struct gt_pftrace *p, const struct gt_pftrace_sequence *s,
	bool has_time, int64_t time, const struct gt_proto_field *event)
{
	struct gt_pftrace_counter key = { .gpu = -1 };
	struct gt_proto_in in = gt_proto_message(event);
	struct gt_proto_field f;
	int64_t gpu = -1;
	int more, e = 0;

	/* the descriptor and the GPU come before or after the values */
	while (!e && (more = gt_proto_next(&in, &f)) > 0) {
		if (f.number == GT_GPU_COUNTERS_SPECS && f.wire == GT_PROTO_BYTES)
			e = add_counters(p, key, &f);
		if (f.number == GT_GPU_COUNTERS_GPU && f.wire == GT_PROTO_VARINT)
			gpu = (int32_t)f.value;
		if (f.number == GT_GPU_COUNTERS_SPECS_IID && f.wire == GT_PROTO_VARINT) {
			key.generation = s->generation;
			key.iid = f.value;
		}
	}
	if (!e && more < 0)
		e = gt_pftrace_malformed(p, "a GPU's counters");
	if (!e && key.generation)
		e = read_descriptor(p, s, &key);
	key.gpu = key.gpu < 0 ? (int32_t)gpu : key.gpu;
	in = gt_proto_message(event);
	while (!e && gt_proto_next(&in, &f) > 0)
		if (f.number == GT_GPU_COUNTERS_COUNTER && f.wire == GT_PROTO_BYTES) {
			if (has_time)
				e = put_counter(p, time, key, &f);
			else
				p->d->k.counts.no_time++;
		}
	return e;
}

int gt_pftrace_gpu_memory(struct gt_pftrace *p, int64_t time, const struct gt_proto_field *event)
{
	const char *message = (const char *)event->bytes;
	uint64_t size = number_in(message, event->value, GT_GPU_MEMORY_SIZE),
		 gpu = number_in(message, event->value, GT_GPU_MEMORY_GPU),
		 pid = number_in(message, event->value, GT_GPU_MEMORY_PID);

	return put_value(
		p, time, (uint32_t)gpu, (uint32_t)pid, intern(p, "GPU memory", 10), (double)size);
}

void gt_pftrace_gpu_release(struct gt_pftrace *p)
{
	free(p->queues.names);
	free(p->stages.names);
	free(p->counters);
	gt_map_release(&p->counter_map);
}
