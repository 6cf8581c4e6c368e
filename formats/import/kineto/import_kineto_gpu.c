/* GPU work, and the calls that launched it.
 *
 * Both have a correlation id, and either may come first in the file. A kernel waits in the table
 * `works` for its call, and a call is in the table `calls` for later kernels, of which a graph
 * launch has many. Both tables are rings with a fixed number of the most recent items, so a file of
 * any size can be read. Work that leaves its ring before its call comes is written as work of an
 * unknown call. In PyTorch's files the two are close to each other.
 *
 * The file also has flows ("ac2g": an arrow from the call to the work). They are used only for work
 * without a correlation id, and for files of gtexport, in which calls have none: the end of an
 * arrow follows soon after its work. */
#include "formats/import/kineto/import_kineto.h"

#include <stdlib.h>

#define CALL_BITS 19 /* 512 Ki calls and 64 Ki works at most */
#define WORK_BITS 16
#define FLOW_BITS 16
#define STACKED 4096          /* works in memory that wait for stacks: 1.5 MiB */
#define NEAR 64               /* works between one and the end of its arrow */
#define AT_PLACE (1ull << 63) /* marks keys that are no correlation id */
#define NO_KEY UINT64_MAX

struct call {
	struct gt_kineto_link link;
	int64_t start;
	uint64_t ns;
	uint32_t thread, name;
	uint32_t stack; /* plus 1; 0: none */
	/* for gt_kineto_name_launch; has it a kernel's name? */
	uint64_t number : 63, named : 1;
};
struct flow {
	struct gt_kineto_link link;
	int64_t ts;
	struct gt_kineto_id pid, tid;
};
struct work {
	struct gt_kineto_link link;
	struct gt_kineto_work gpu;
	int64_t start, end, pid;
	uint64_t place;
	uint32_t name, process;
	uint32_t thread; /* of overhead; 0: of no thread */
	uint32_t stack;  /* plus 1; 0: none */
	struct gt_gpu_cause cause;
	uint32_t extra_at;
	uint16_t extra; /* 0: none */
	uint8_t cat;
	bool done, peers, inferred;
};

static int make_rings(struct gt_kineto *k, struct gt_err *err)
{
	if (k->works.items)
		return 0;
	if (gt_kineto_ring_init(&k->works, sizeof(struct work), WORK_BITS) ||
		gt_kineto_ring_init(&k->calls, sizeof(struct call), CALL_BITS) ||
		gt_kineto_ring_init(&k->flows, sizeof(struct flow), FLOW_BITS))
		return gt_kineto_no_memory(err);
	return 0;
}

/* ---- rows ---- */

static int put_copy(struct gt_kineto *k, const struct work *w, const struct gt_gpu_work *work,
	struct gt_err *err)
{
	const char *name = gt_writer_text(k->w, w->name);
	struct gt_gpu_copy c = { .direction = gt_kineto_direction(name),
		.bytes = w->gpu.bytes,
		.src_device = w->gpu.from_device,
		.dst_device = w->gpu.to_device };

	gt_kineto_memories(name, &c.src, &c.dst);
	c.async = work->cause.join && strstr(gt_writer_text(k->w, work->cause.name), "Async");
	if (w->peers && w->gpu.from_device != w->gpu.to_device && c.direction == GT_DIR_DTOD)
		c.direction = GT_DIR_PEER;
	return gt_gpu_put_copy(&k->gpu, work, &c, err);
}

static int put_set(struct gt_kineto *k, const struct work *w, const struct gt_gpu_work *work,
	struct gt_err *err)
{
	struct gt_gpu_set s = { .bytes = w->gpu.bytes, .value = (uint32_t)w->gpu.value };
	enum gt_gpu_memory none;

	gt_kineto_memories(gt_writer_text(k->w, w->name), &none, &s.memory);
	s.async = work->cause.join && strstr(gt_writer_text(k->w, work->cause.name), "Async");
	return gt_gpu_put_set(&k->gpu, work, &s, err);
}

/* Adds the extra arguments. fields must live as long as work. */
static void add_extra(struct gt_kineto *k, const struct work *w, struct gt_gpu_work *work,
	struct gt_gpu_extra_field fields[GT_KINETO_NEXTRA])
{
	unsigned n = 0;

	if (!w->extra)
		return;
	for (unsigned i = 0; i < GT_KINETO_NEXTRA; i++)
		if (w->extra >> i & 1)
			fields[n++] = (struct gt_gpu_extra_field){ gt_kineto_extra_keys[i].word,
				gt_kineto_extra_keys[i].text ? GT_F_STR : GT_F_U64 };
	work->extra = (struct gt_gpu_extra){ w->extra, n, fields, k->arg_sets[w->extra_at].values };
}

/* The file has static and dynamic shared memory as one number. */
static int put_kernel(struct gt_kineto *k, const struct work *w, const struct gt_gpu_work *work,
	struct gt_err *err)
{
	struct gt_gpu_kernel kernel = {
		.name = w->name, .registers = w->gpu.registers, .shared_dynamic = w->gpu.shared
	};
	struct gt_gpu_extra_field fields[GT_KINETO_NEXTRA];
	struct gt_gpu_work with = *work;

	memcpy(kernel.grid, w->gpu.grid, sizeof(kernel.grid));
	memcpy(kernel.block, w->gpu.block, sizeof(kernel.block));
	add_extra(k, w, &with, fields);
	if (!gt_writer_has_name_space(k->w) && !gt_gpu_knows_kernel(&k->gpu, &with, w->name)) {
		kernel.name = k->nameless;
		k->counts.names_left_out++;
	}
	return gt_gpu_put_kernel(&k->gpu, &with, &kernel, err);
}

static int put_by_kind(struct gt_kineto *k, const struct work *w, const struct gt_gpu_work *work,
	struct gt_err *err)
{
	struct gt_kineto_counts *n = &k->counts;

	switch ((enum gt_kineto_cat)w->cat) {
	case GT_KINETO_COPY: n->copies++; return put_copy(k, w, work, err);
	case GT_KINETO_SET: n->sets++; return put_set(k, w, work, err);
	case GT_KINETO_WAIT:
		n->waits++;
		return gt_gpu_put_wait(&k->gpu, work,
			&(struct gt_gpu_waiting){
				gt_kineto_wait_kind(gt_writer_text(k->w, w->name)), w->gpu.event },
			err);
	case GT_KINETO_OVERHEAD:
		return gt_gpu_put_overhead(&k->gpu, work,
			&(struct gt_gpu_overhead){
				.kind = gt_kineto_overhead_kind(gt_writer_text(k->w, w->name)),
				.thread = w->thread },
			err);
	default: n->kernels++; return put_kernel(k, w, work, err);
	}
}

/* The process whose work this GPU did last. */
static struct gt_kineto_owner *owner_of(struct gt_kineto *k, int64_t pid)
{
	for (unsigned i = 0; i < k->nowners; i++)
		if (k->owners[i].pid == pid)
			return &k->owners[i];
	return NULL;
}

static void note_owner(struct gt_kineto *k, int64_t pid, uint32_t process)
{
	struct gt_kineto_owner *o = owner_of(k, pid);

	if (!o && k->nowners < sizeof(k->owners) / sizeof(*k->owners))
		o = &k->owners[k->nowners++];
	if (o)
		*o = (struct gt_kineto_owner){ pid, process };
}

/* The process of work: that of its call, or of other work of that GPU, or the first process. In a
 * file of gtexport, overhead of a thread is on a lane of its own process. */
static int64_t process_of(struct gt_kineto *k, const struct work *w, struct gt_err *err)
{
	const struct gt_kineto_owner *o = w->cause.join ? NULL : owner_of(k, w->pid);
	int64_t p;

	if (w->cat == GT_KINETO_OVERHEAD && w->thread)
		return gt_kineto_process_of(k, w->pid, err);
	if (w->cause.join || o)
		return o ? o->process : w->process;
	if (k->first_process == GT_NONE) {
		p = gt_kineto_process_of(k, 0, err);
		if (p < 0)
			return p;
		k->first_process = (uint32_t)p;
	}
	return k->first_process;
}

static int put(struct gt_kineto *k, struct work *w, struct gt_err *err)
{
	struct gt_gpu_work work = { .start = w->start,
		.end = w->end,
		.correlation = (uint32_t)w->gpu.correlation,
		.context = w->gpu.context,
		.graph = (uint32_t)w->gpu.graph,
		.node = w->gpu.node,
		.cause = w->cause,
		.unknown = w->gpu.unknown & (w->cause.join ? ~(unsigned)GT_GPU_NO_ASYNC : ~0u) };
	int64_t track = process_of(k, w, err);
	int e;

	work.cause.stack = w->stack;
	w->done = true;
	if (track >= 0 && w->cat != GT_KINETO_OVERHEAD && w->gpu.device >= 0)
		track = gt_kineto_stream_of(
			k, (uint32_t)track, w->gpu.device, w->gpu.context, w->gpu.stream, err);
	if (track < 0)
		return (int)track;
	work.track = (uint32_t)track;
	if (w->cat != GT_KINETO_OVERHEAD && w->cat != GT_KINETO_WAIT) {
		k->counts.exact += w->cause.join == GT_JOIN_CORRELATION;
		k->counts.inferred += w->cause.join == GT_JOIN_ORDER;
		k->counts.unjoined += !w->cause.join;
	}
	e = put_by_kind(k, w, &work, err);
	return e ? e : gt_kineto_close_due_epoch(k, w->end, err);
}

/* ---- the join ---- */

static uint64_t place(const struct gt_kineto_id *pid, const struct gt_kineto_id *tid)
{
	return gt_hash_u64((uint64_t)pid->number * 31 + pid->word) +
		gt_hash_u64((uint64_t)tid->number * 31 + tid->word);
}

static uint64_t call_key(uint32_t track, int64_t start)
{
	return gt_hash_u64((uint64_t)start ^ (uint64_t)track << 40) | AT_PLACE;
}

/* The host's wait for a stream lasts as long as its call; CUPTI's times lie within it. */
static void take_times_of_call(struct gt_kineto *k, struct work *w, const struct call *c)
{
	int64_t end = c->start + (int64_t)c->ns;

	if (gt_kineto_wait_kind(gt_writer_text(k->w, w->name)) != GT_GPU_WAIT_STREAM ||
		w->start < c->start || w->end > end)
		return;
	w->start = c->start;
	w->end = end;
}

/* Work of a file with forward and backward operators: its call's stack is not known before all
 * calls are in order. */
struct gt_kineto_stacked_work {
	int64_t start, end; /* of the call */
	uint64_t number;    /* of the call */
	uint64_t at;        /* number of the work */
	struct work work;
};

/* Is this call before that one in the order of import_kineto_order.c? */
static bool is_before(
	const struct gt_kineto_stacked_work *w, int64_t start, int64_t end, uint64_t n)
{
	if (w->start != start)
		return w->start < start;
	if (w->end != end)
		return w->end > end;
	return w->number < n;
}

static bool stacked_before(const void *a, const void *b)
{
	const struct gt_kineto_stacked_work *x = a, *y = b;

	return is_before(x, y->start, y->end, y->number) ||
		(x->number == y->number && x->at < y->at);
}

static int put_later(struct gt_kineto *k, struct work *w, const struct call *c, struct gt_err *err)
{
	struct gt_sorter *s = &k->stacked_works;
	struct gt_kineto_stacked_work *later;
	int e = s->size ? 0 : gt_sorter_init(s, sizeof(*later), STACKED, stacked_before, err);

	later = e ? NULL : gt_sorter_add(s, err);
	if (!later)
		return e ? e : err->code;
	w->done = true;
	*later = (struct gt_kineto_stacked_work){ c->start, c->start + (int64_t)c->ns, c->number,
		s->added, *w };
	return 0;
}

/* Reads the next work that waits. 1, 0 at the end, or negative. */
static int next_work(struct gt_kineto *k, struct gt_err *err)
{
	int more = gt_sorter_next(&k->stacked_works, k->next_work, err);

	if (more > 0)
		return 1;
	free(k->next_work);
	k->next_work = NULL;
	gt_sorter_release(&k->stacked_works);
	k->stacked_works.size = 0;
	return more;
}

int gt_kineto_put_stacked(struct gt_kineto *k, uint64_t number, int64_t start, int64_t end,
	uint32_t stack, struct gt_err *err)
{
	int e = 0;

	if (!k->stacked_works.size)
		return 0;
	if (!k->next_work) {
		k->next_work = malloc(sizeof(*k->next_work));
		e = k->next_work ? next_work(k, err) : gt_kineto_no_memory(err);
	}
	while (e >= 0 && k->next_work) {
		struct gt_kineto_stacked_work *w = k->next_work;
		bool own = w->number == number;

		if (!own && !is_before(w, start, end, number))
			break;
		if (own && !w->work.stack)
			w->work.stack = stack;
		e = put(k, &w->work, err);
		e = e ? e : next_work(k, err);
	}
	return e < 0 ? e : 0;
}

static int put_with(struct gt_kineto *k, struct work *w, struct call *c, struct gt_err *err)
{
	struct gt_kineto_thread *t = &k->threads[c->thread];
	int e = 0;

	if (w->cat == GT_KINETO_WAIT)
		take_times_of_call(k, w, c);
	w->process = t->process;
	note_owner(k, w->pid, w->process);
	w->cause = (struct gt_gpu_cause){ w->inferred ? GT_JOIN_ORDER : GT_JOIN_CORRELATION,
		t->track, c->name, c->start, c->ns, 0 };
	if (!w->stack && !w->gpu.graph && w->cat != GT_KINETO_OVERHEAD)
		w->stack = c->stack; /* a graph's nodes were created by other code */
	if (w->cat == GT_KINETO_KERNEL && !c->named) {
		c->named = true;
		e = gt_kineto_name_launch(
			k, c->number, c->start, c->start + (int64_t)c->ns, w->name, err);
	}
	return e ? e : k->has_sequences ? put_later(k, w, c, err) : put(k, w, err);
}

/* Writes all work that waits for this call. Removes written work from the chain, so
 * that no search passes it again. */
static int put_waiting_work(struct gt_kineto *k, struct call *c, uint64_t correlation,
	uint32_t *kernel, struct gt_err *err)
{
	uint64_t *link = gt_kineto_ring_head(&k->works, correlation);
	struct work *w;
	int e = 0;

	for (unsigned others = 0;
		!e && others < GT_KINETO_CHAIN_MAX && (w = gt_kineto_ring_at(&k->works, *link));) {
		if (!w->done && w->link.key == correlation) {
			if (w->cat == GT_KINETO_KERNEL)
				*kernel = w->name;
			e = put_with(k, w, c, err);
		}
		if (!w->done) {
			link = &w->link.before;
			others++;
		} else {
			*link = w->link.before;
		}
	}
	return e;
}

int gt_kineto_add_call(struct gt_kineto *k, size_t thread, const struct gt_kineto_event *ev,
	uint32_t *kernel, struct gt_err *err)
{
	const struct gt_kineto_thread *t = &k->threads[thread];
	struct call *c;
	int e = 0;

	*kernel = GT_NONE;
	if (make_rings(k, err))
		return -ENOMEM;
	c = gt_kineto_ring_add(&k->calls,
		ev->has & GT_KINETO_CORRELATION ? ev->gpu.correlation : call_key(t->track, ev->ts));
	c->start = ev->ts;
	c->ns = (uint64_t)ev->dur;
	c->thread = (uint32_t)thread;
	c->stack = ev->stack;
	c->name = ev->name == GT_NONE ? k->no_name : ev->name;
	c->number = gt_kineto_next_number(k);
	c->named = true; /* the caller sets the name: the call is not in the sorter yet */
	if (ev->has & GT_KINETO_CORRELATION)
		e = put_waiting_work(k, c, ev->gpu.correlation, kernel, err);
	c->named = *kernel != GT_NONE;
	return e;
}

/* The waiting work at whose start an arrow ends. Arrows of gtexport end 1 ns later,
 * inside the slice. */
static struct work *find_work_near(const struct gt_kineto *k, const struct gt_kineto_event *ev)
{
	uint64_t at = place(&ev->pid, &ev->tid);

	if (k->works.n - k->newest_unjoined >= NEAR || !k->newest_unjoined)
		return NULL;
	for (uint64_t i = 0; i < NEAR && i < k->works.n; i++) {
		struct work *w = gt_kineto_ring_at(&k->works, k->works.n - i);

		if (w->place == at && !w->done && (w->start == ev->ts || w->start == ev->ts - 1))
			return w;
	}
	return NULL;
}

static struct call *call_at(struct gt_kineto *k, const struct flow *f, uint64_t id)
{
	struct call *c =
		gt_kineto_ring_find(&k->calls, id); /* most often it is the correlation id */
	int64_t thread;

	if (f->pid.word != GT_NONE || f->tid.word != GT_NONE ||
		(thread = gt_kineto_find_thread(k, f->pid.number, f->tid.number)) < 0)
		return NULL;
	if (c && c->start == f->ts && c->thread == (uint32_t)thread)
		return c;
	c = gt_kineto_ring_find(&k->calls, call_key(k->threads[thread].track, f->ts - 1));
	return c ? c : gt_kineto_ring_find(&k->calls, call_key(k->threads[thread].track, f->ts));
}

int gt_kineto_flow(
	struct gt_kineto *k, const struct gt_kineto_event *ev, char phase, struct gt_err *err)
{
	struct flow *f;
	struct call *c;
	struct work *w;

	if (!(ev->has & GT_KINETO_ID))
		return 0;
	if (make_rings(k, err))
		return -ENOMEM;
	if (phase == 's') {
		f = gt_kineto_ring_add(&k->flows, ev->id);
		f->ts = ev->ts;
		f->pid = ev->pid;
		f->tid = ev->tid;
		return 0;
	}
	w = phase == 'f' ? find_work_near(k, ev) : NULL;
	f = w ? gt_kineto_ring_find(&k->flows, ev->id) : NULL;
	c = f ? call_at(k, f, ev->id) : NULL;
	return c ? put_with(k, w, c, err) : 0;
}

/* ---- events ---- */

/* The stream of an event. 2^32 - 1 and -1 mean none. */
static int64_t stream_of(const struct gt_kineto_event *ev)
{
	int64_t s = ev->has & GT_KINETO_STREAM ? ev->gpu.stream
		: ev->tid.word == GT_NONE      ? ev->tid.number
					       : -1;

	if (!(ev->has & GT_KINETO_STREAM) && ev->cat == GT_KINETO_WAIT && s >= 1000000)
		s -= 1000000; /* Kineto adds it for viewers that cannot show overlaps */
	return s > INT32_MAX ? -1 : s;
}

static int64_t device_of(const struct gt_kineto_event *ev)
{
	return ev->has & GT_KINETO_DEVICE ? ev->gpu.device
		: ev->pid.word == GT_NONE ? ev->pid.number
					  : -1;
}

/* w: zeroed, except its link. */
static void fill_work(const struct gt_kineto *k, struct work *w, const struct gt_kineto_event *ev)
{
	w->gpu = ev->gpu;
	w->gpu.device = device_of(ev);
	w->gpu.stream = stream_of(ev);
	if (!(ev->has & GT_KINETO_EVENT))
		w->gpu.event = GT_GPU_NO_EVENT;
	w->start = ev->ts;
	w->end = ev->ts + ev->dur;
	w->pid = ev->pid.number;
	w->place = place(&ev->pid, &ev->tid);
	w->name = ev->name == GT_NONE ? k->no_name : ev->name;
	w->peers = ev->has & GT_KINETO_PEERS;
	w->inferred = ev->has & GT_KINETO_INFERRED;
	w->thread = ev->has & GT_KINETO_THREAD ? (uint32_t)ev->thread : 0;
	w->cat = ev->cat;
	w->stack = ev->stack;
	w->extra = (uint16_t)ev->extra;
	w->extra_at = ev->extra_at;
}

/* Adds work that waits for its call, and writes the oldest if there is no space. */
static int add_work(struct gt_kineto *k, const struct gt_kineto_event *ev, struct gt_err *err)
{
	bool correlated = ev->has & GT_KINETO_CORRELATION;
	uint64_t size = (uint64_t)1 << WORK_BITS;
	struct work *w =
		gt_kineto_ring_at(&k->works, k->works.n < size ? 0 : k->works.n + 1 - size);
	int e = w && !w->done ? put(k, w, err) : 0;

	fill_work(k, gt_kineto_ring_add(&k->works, correlated ? ev->gpu.correlation : NO_KEY), ev);
	if (!correlated || ev->has & GT_KINETO_ARROW)
		k->newest_unjoined = k->works.n;
	return e;
}

int gt_kineto_gpu_row(struct gt_kineto *k, const struct gt_kineto_event *ev, struct gt_err *err)
{
	struct work known = { .cat = 0 }; /* of a known call: it does not wait */
	struct call *c = NULL;

	if (!ev->ts && !ev->dur) { /* CUPTI had no time for it */
		k->counts.no_time++;
		return 0;
	}
	if (make_rings(k, err))
		return -ENOMEM;
	if (ev->has & GT_KINETO_CORRELATION)
		c = gt_kineto_ring_find(&k->calls, ev->gpu.correlation);
	if (!c &&
		!(ev->cat == GT_KINETO_OVERHEAD &&
			((ev->has & GT_KINETO_THREAD && ev->thread) ||
				k->first_process != GT_NONE)))
		return add_work(k, ev, err);
	fill_work(k, &known, ev);
	return c ? put_with(k, &known, c, err) : put(k, &known, err);
}

void gt_kineto_gpu_release(struct gt_kineto *k)
{
	gt_kineto_ring_release(&k->works);
	gt_kineto_ring_release(&k->calls);
	gt_kineto_ring_release(&k->flows);
	gt_sorter_release(&k->stacked_works);
	free(k->next_work);
	gt_gpu_types_release(&k->gpu);
}

int gt_kineto_gpu_finish(struct gt_kineto *k, struct gt_err *err)
{
	uint64_t size = (uint64_t)1 << WORK_BITS;
	int e = gt_kineto_put_stacked(k, UINT64_MAX, INT64_MAX, INT64_MIN, 0, err);

	for (uint64_t i = k->works.n > size ? k->works.n - size + 1 : 1; !e && i <= k->works.n;
		i++) {
		struct work *w = gt_kineto_ring_at(&k->works, i);

		if (!w->done)
			e = put(k, w, err);
	}
	return e;
}
