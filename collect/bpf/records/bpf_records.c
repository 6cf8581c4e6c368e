/* The programs write to one ring per CPU, because a single one would be contended. A thread may
 * change its CPU between two calls, so a drain collects the records of all rings, keeps those that
 * are too recent for the next drain, and sorts the others by the end of the call. Then they become
 * records of the session's rings. */
#define _GNU_SOURCE
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdlib.h>
#include <string.h>
#include "collect/bpf/bpf_state.h"
#include "collect/bpf/records/bpf_records.h"
#include "collect/bpf/records/request_words.h"
#include "formats/base/sorted.h"
#include "formats/cuda/cuda_api.h"
#include "formats/trace/clock.h"
#include "formats/trace/write/sched_rows.h"

/* states of a thread, as the kernel tells them */

/* ---- names of kernels ---- */

static struct gt_bpf_kernel_name *name_of(struct gt_bpf_way *b, uint32_t tgid, uint64_t handle)
{
	struct gt_bpf_kernel_name key = { .tgid = tgid, .handle = handle };
	uint32_t i = gt_map_find_item(&b->names_map, b->names, sizeof(key), &key,
		offsetof(struct gt_bpf_kernel_name, text));

	return i == UINT32_MAX ? NULL : &b->names[i];
}

static void set_name(struct gt_bpf_way *b, uint32_t tgid, uint64_t handle, const char *text,
	struct gt_written_thread *t)
{
	struct gt_bpf_kernel_name new = { .tgid = tgid, .handle = handle },
				  *old = name_of(b, tgid, handle);
	char *copy = strdup(text);

	if (!copy || !handle) {
		free(copy);
		return;
	}
	if (old) {
		free(old->text);
		old->text = copy;
	} else {
		new.text = copy;
		if (gt_map_add_item(&b->names_map, &b->names, &b->nnames, &b->names_cap,
			    sizeof(new), &new,
			    offsetof(struct gt_bpf_kernel_name, text)) == UINT32_MAX)
			free(copy);
	}
	gt_ring_writer_text(&b->writer, t, GT_REC_NAME, handle, text);
}

static void forget_names(struct gt_bpf_way *b, uint32_t tgid)
{
	for (size_t i = b->nnames; i-- > 0;)
		if (b->names[i].tgid == tgid) {
			free(b->names[i].text);
			gt_map_remove_item(&b->names_map, b->names, &b->nnames, sizeof(*b->names),
				(uint32_t)i, offsetof(struct gt_bpf_kernel_name, text));
		}
}

/* What the guest's hooks do: they learn the names of kernels. */
static void note_names(struct gt_bpf_way *b, const struct gt_bpf_call *c,
	const struct gt_call_plan *plan, struct gt_written_thread *t)
{
	const char *function = gt_api[c->id].name, *text = NULL;
	const uint8_t *handle = gt_call_memory(plan, c, 0, 8);
	const struct gt_bpf_kernel_name *from;

	if (c->ret || !handle)
		return;
	if (!strcmp(function, "cuModuleGetFunction") || !strcmp(function, "cuLibraryGetKernel"))
		text = gt_call_text(plan, c, 2);
	else if (!strcmp(function, "cuKernelGetFunction")) {
		from = name_of(b, c->head.tgid, gt_call_word(c, 1));
		text = from ? from->text : NULL;
	}
	if (text)
		set_name(b, c->head.tgid, gt_u64_at(handle), text, t);
}

/* ---- records ---- */

static size_t size_of(const struct gt_bpf_head *h)
{
	if (h->kind == GT_BPF_SCHED)
		return sizeof(struct gt_bpf_sched);
	if (h->kind == GT_BPF_REQUEST)
		return sizeof(struct gt_bpf_request);
	if (h->kind == GT_BPF_EXEC || h->kind == GT_BPF_EXIT || h->kind == GT_BPF_THREAD_EXIT)
		return sizeof(*h);
	if (h->kind == GT_BPF_TRACEPOINT)
		return sizeof(struct gt_bpf_tracepoint);
	if (h->kind == GT_BPF_PROBE)
		return gt_bpf_probe_size((const struct gt_bpf_probe *)h);
	return gt_call_size((const struct gt_bpf_call *)h);
}

static int lose_record(struct gt_bpf_way *b, const struct gt_bpf_head *h)
{
	gt_record_loss_add(&b->opt.rings->own_loss, 1, (int64_t)h->start, (int64_t)h->end);
	return 0;
}

/* Records have whole words. One that finds no memory is lost, and counted. */
int gt_bpf_take_record(void *arg, void *data, size_t size)
{
	struct gt_bpf_way *b = arg;
	const struct gt_bpf_head *h = data;
	size_t used = size_of(h);
	bool late = h->end > b->until;
	struct gt_buf *to = late ? &b->later : &b->bytes;
	size_t at = to->len;

	if (!late && gt_grow(&b->records, &b->records_cap, b->nrecords + 1, sizeof(*b->records)))
		return lose_record(b, h);
	gt_buf_add(to, data, used < size ? used : size);
	if (to->failed) {
		to->failed = false;
		lose_record(b, h);
	} else if (!late)
		b->records[b->nrecords++] = (struct gt_bpf_record){ h->end, at };
	return 0;
}

static int by_end(const void *pa, const void *pb)
{
	const struct gt_bpf_record *x = pa, *y = pb;

	return GT_COMPARE(x->end, y->end) ?: GT_COMPARE(x->at, y->at);
}

static struct gt_written_thread *thread_of(struct gt_bpf_way *b, const struct gt_bpf_head *h)
{
	return gt_ring_writer_thread(
		&b->writer, (int32_t)h->tgid, (int32_t)h->tid, h->comm, (int64_t)h->start);
}

static bool is_in_window(const struct gt_bpf_way *b, const struct gt_bpf_head *h)
{
	return h->start >= b->window_from && h->start < b->window_until;
}

static void write_call(struct gt_bpf_way *b, const struct gt_bpf_call *c)
{
	const struct gt_call_plan *plan = &b->plans[c->id];
	struct gt_written_thread *t = thread_of(b, &c->head);
	uint64_t words[GT_FIELDS_MAX];
	struct gt_rec head = { .start = c->head.start,
		.end = c->head.end,
		.id = c->id,
		.nargs = (uint8_t)plan->nfields,
		.kind_depth = c->depth,
		.ret = c->ret };

	if (!t)
		return;
	note_names(b, c, plan, t);
	if (!is_in_window(b, &c->head))
		return;
	if (gt_api[c->id].op == GT_OP_LAUNCH || gt_api[c->id].op == GT_OP_GRAPH_LAUNCH) {
		t->launched_at = head.start + (head.end - head.start) / 2;
		t->launch = c->id;
	}
	for (unsigned i = 0; i < plan->nfields; i++) {
		const struct gt_arg *a = &plan->fields[i];
		const char *text = a->how == GT_FROM_STR ? gt_call_text(plan, c, a->param) : NULL;

		words[i] = gt_call_value(plan, c, a);
		if (text && gt_inputs_were_read(c->ret)) {
			words[i] = gt_ring_hash(text, (uint32_t)strlen(text));
			gt_ring_writer_text(&b->writer, t, GT_REC_STRING, words[i], text);
		}
	}
	gt_ring_writer_call(&b->writer, t, &head, words);
}

/* With those arguments that need no memory: it is read when a call returns. */
static void write_open_call(struct gt_bpf_way *b, const struct gt_bpf_call *c)
{
	const struct gt_call_plan *plan = &b->plans[c->id];
	struct gt_written_thread *t = thread_of(b, &c->head);
	struct gt_rec head = { .start = c->head.start, .id = c->id, .kind_depth = c->depth };
	uint64_t words[GT_RING_OPEN_ARGS];

	while (head.nargs < plan->nfields && head.nargs < GT_RING_OPEN_ARGS &&
		gt_call_needs_no_memory(&plan->fields[head.nargs])) {
		words[head.nargs] = gt_call_value(plan, c, &plan->fields[head.nargs]);
		head.nargs++;
	}
	if (t)
		gt_ring_writer_open_call(&b->writer, t, &head, words);
}

static void write_request(struct gt_bpf_way *b, const struct gt_bpf_request *r)
{
	struct gt_request_words words;
	struct gt_written_thread *t;
	struct gt_rec head = { .start = r->head.start, .end = r->head.end };

	if (!gt_request_words(r, &words))
		return;
	t = thread_of(b, &r->head);
	head.id = (uint16_t)words.id;
	head.nargs = (uint8_t)words.n;
	head.kind_depth = r->depth;
	head.ret = words.ret;
	if (t)
		gt_ring_writer_call(&b->writer, t, &head, words.words);
}

/* A wait has two rows: until the thread is woken, and until it runs. One that began before the
 * window begins with it. */
static void write_scheduling(struct gt_bpf_way *b, const struct gt_bpf_sched *s)
{
	uint64_t start = s->head.start > b->window_from ? s->head.start : b->window_from,
		 woken = s->preempted || !s->woken || s->woken > s->head.end ? s->head.end
									     : s->woken;
	struct gt_written_thread *t;
	struct gt_wait_look look;
	struct gt_ev_sched e = {
		.system_call = s->system_call, .pid = s->by_tgid, .tid = s->by_tid
	};

	if (start >= s->head.end || start >= b->window_until)
		return;
	t = thread_of(b, &s->head);
	if (!t)
		return;
	look = gt_ring_writer_look(t, start, woken);
	gt_bpf_wait_reason(b, s, &look, &e);
	if (start < woken)
		gt_ring_writer_event(&b->writer, t, GT_EV_SCHED, start, woken, &e, sizeof(e));
	if (woken == s->head.end)
		return;
	if (start > woken)
		woken = start;
	e = (struct gt_ev_sched){ .state = GT_SCHED_RUNNABLE,
		.system_call = GT_BPF_NO_SYSTEM_CALL };
	gt_ring_writer_event(&b->writer, t, GT_EV_SCHED, woken, s->head.end, &e, sizeof(e));
}

void gt_bpf_write_records(struct gt_bpf_way *b)
{
	GT_SORT(b->records, b->nrecords, by_end);
	for (size_t i = 0; i < b->nrecords; i++) {
		const struct gt_bpf_head *h = (const void *)(b->bytes.data + b->records[i].at);

		if (h->kind == GT_BPF_CALL)
			write_call(b, (const struct gt_bpf_call *)h);
		else if (h->kind == GT_BPF_EXEC) {
			gt_ring_writer_exec(&b->writer, (int32_t)h->tgid, (int32_t)h->tid, h->comm,
				(int64_t)h->start);
			gt_bpf_waits_forget(b, h->tgid);
		} else if (h->kind == GT_BPF_EXIT) {
			forget_names(b, h->tgid);
			gt_probe_pairs_end(b, h->tgid);
			gt_bpf_waits_forget(b, h->tgid);
		} else if (h->kind == GT_BPF_THREAD_EXIT)
			gt_ring_writer_end_thread(&b->writer, (int32_t)h->tid);
		else if (h->kind == GT_BPF_SCHED)
			write_scheduling(b, (const struct gt_bpf_sched *)h);
		else if (!is_in_window(b, h))
			continue;
		else if (h->kind == GT_BPF_OPEN_CALL)
			write_open_call(b, (const struct gt_bpf_call *)h);
		else if (h->kind == GT_BPF_REQUEST)
			write_request(b, (const struct gt_bpf_request *)h);
		else if (h->kind == GT_BPF_TRACEPOINT)
			gt_kernel_probes_write(
				b->kernel_probes, (const struct gt_bpf_tracepoint *)h);
		else if (h->kind == GT_BPF_PROBE)
			gt_bpf_write_probe(b, (const struct gt_bpf_probe *)h);
	}
}

/* Records that the last drain kept come first. */
void gt_bpf_take_later(struct gt_bpf_way *b)
{
	struct gt_buf kept = b->later;

	b->later = (struct gt_buf){ NULL };
	for (size_t at = 0; at < kept.len;) {
		size_t size = size_of((const void *)(kept.data + at));

		gt_bpf_take_record(b, kept.data + at, size);
		at += size;
	}
	gt_buf_release(&kept);
}

void gt_bpf_write_waiting(struct gt_bpf_way *b)
{
	int waits = bpf_object__find_map_fd_by_name(b->object, "waits");
	uint32_t key, *from = NULL;
	struct gt_bpf_sched s;

	for (; b->opt.scheduling && !bpf_map_get_next_key(waits, from, &key); from = &key)
		if (!bpf_map_lookup_elem(waits, &key, &s)) {
			s.head.end = (uint64_t)gt_clock_monotonic();
			write_scheduling(b, &s);
		}
}
