#define _GNU_SOURCE
#include "collect/host/remote_python.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include "collect/host/remote_code.h"
#include "collect/host/remote_gil.h"
#include "collect/ipc/process_maps.h"
#include "formats/python/python_read.h"
#include "formats/trace/clock.h"

#define FRAME_MAX 256    /* bytes of a frame that are read */
#define STATE_MAX 512    /* bytes of a thread state that are read */
#define MAX_STATES 4096  /* thread states and interpreters that one search visits */
#define ATTEMPTS 5       /* at frames that do not move */
#define INNER 4          /* innermost frames, which are read three times */
#define THREADS_MAX 8192 /* threads that are remembered */
#define PAGES 4          /* of frames, that one attempt copies */
#define PAGE 4096u
#define RETRY_MAX 64u            /* samples between two searches */
#define FIRST_STACK (128u << 20) /* bytes of a first thread's stack, below which others may be */
/* Up to 3.10 a thread state has no id of the kernel's: the C library's structure at its thread_id
 * does. */
#ifdef __x86_64__
#define LIBC_TID 720
#else
#define LIBC_TID 208
#endif

/* A search is repeated after 1, 2, 4 ... samples in which it was not there. */
struct retry {
	uint32_t left, next;
};
/* The search for an interpreter takes long: it is repeated after 2, 4, 8 ... ms. */
#define SEARCH_FIRST 2000000u /* ns */
#define SEARCH_LAST 2000000000u
struct process {
	uint32_t tgid; /* the key */
	bool has_interpreter;
	uint64_t search_at, search_interval; /* ns */
	bool is_nested;                      /* in a pid namespace below gtcollect's */
	struct gt_remote_interpreter in;
	struct gt_remote_gils gils;
	struct gt_remote_codes *codes; /* NULL: none yet */
};
struct thread {
	uint32_t tid; /* the key */
	uint32_t tgid;
	uint32_t own_id; /* in its pid namespace: the program knows it by this */
	uint64_t state;  /* 0: it has none */
	struct retry retry;
	struct stack {
		uint64_t low, high; /* high is 0: not known */
	} stack;
};
/* One reading of a stack. */
struct reading {
	uint64_t place; /* address of the pointer to the innermost frame */
	uint64_t innermost;
	uint32_t n;
	bool is_cut; /* there are more frames, or one cannot be read */
	uint64_t address[GT_REMOTE_FRAMES];
	uint8_t frames[GT_REMOTE_FRAMES][FRAME_MAX];
};
struct gt_remote_python {
	struct gt_map processes_map, threads_map;
	struct process *processes;
	struct thread *threads;
	size_t nprocesses, processes_cap, nthreads, threads_cap;
	size_t ninterpreters;          /* processes that have one */
	struct gt_remote_codes *ended; /* of processes that have ended */
	uint64_t ncodes;               /* allocated so far */
	/* of the stack that is being read */
	struct reading first;
	uint64_t again_innermost, last_innermost;
	uint8_t again[GT_REMOTE_FRAMES][FRAME_MAX];
	uint8_t last[INNER][FRAME_MAX];
	uint8_t heads[GT_REMOTE_FRAMES][GT_REMOTE_HEAD];
	struct iovec local[GT_REMOTE_FRAMES + INNER + 2], remote[GT_REMOTE_FRAMES + INNER + 2];
	struct page {
		uint64_t at; /* 0: free */
		uint8_t bytes[PAGE];
	} pages[PAGES];
	unsigned next_page;
};

static bool is_due(struct retry *r)
{
	if (r->left) {
		r->left--;
		return false;
	}
	r->next = r->next ? 2 * r->next : 1;
	r->next = r->next < RETRY_MAX ? r->next : RETRY_MAX;
	r->left = r->next - 1;
	return true;
}

static bool is_search_due(struct process *p)
{
	const uint64_t now = (uint64_t)gt_clock_monotonic();

	if (now < p->search_at)
		return false;
	p->search_interval = p->search_interval ? 2 * p->search_interval : SEARCH_FIRST;
	if (p->search_interval > SEARCH_LAST)
		p->search_interval = SEARCH_LAST;
	p->search_at = now + p->search_interval;
	return true;
}

/* ---- processes and threads ---- */

/* The ids of a thread, from gtcollect's pid namespace down to its own. Returns how many; the last
 * one is *own. */
static unsigned read_ids(uint32_t tgid, uint32_t tid, uint32_t *own)
{
	char path[64], line[256];
	unsigned n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/task/%u/status", tgid, tid);
	f = fopen(path, "re");
	while (f && !n && fgets(line, sizeof(line), f)) {
		if (strncmp(line, "NSpid:", 6))
			continue;
		for (char *at = line + 6, *end; n < 32; at = end, n++) {
			unsigned long id = strtoul(at, &end, 10);

			if (end == at)
				break;
			*own = (uint32_t)id;
		}
	}
	if (f)
		fclose(f);
	return n;
}

static struct process *process_of(struct gt_remote_python *p, uint32_t tgid)
{
	const struct process new = { .tgid = tgid };
	uint32_t i =
		gt_map_find_item(&p->processes_map, p->processes, sizeof(new), &tgid, sizeof(tgid));
	struct process *at;

	if (i == UINT32_MAX)
		i = gt_map_add_item(&p->processes_map, &p->processes, &p->nprocesses,
			&p->processes_cap, sizeof(new), &new, sizeof(tgid));
	if (i == UINT32_MAX)
		return NULL;
	at = &p->processes[i];
	if (!at->codes && (at->codes = calloc(1, sizeof(*at->codes))))
		at->codes->last_number = ++p->ncodes << 32;
	if (at->codes && !at->has_interpreter && is_search_due(at)) {
		at->has_interpreter = gt_remote_interpreter_find(tgid, &at->in);
		at->is_nested = at->has_interpreter && read_ids(tgid, tgid, &(uint32_t){ 0 }) > 1;
		p->ninterpreters += at->has_interpreter;
	}
	return at->has_interpreter ? at : NULL;
}

void gt_remote_python_forget(struct gt_remote_python *p, uint32_t tgid, uint64_t at)
{
	uint32_t i = gt_map_find_item(
		&p->processes_map, p->processes, sizeof(*p->processes), &tgid, sizeof(tgid));
	struct gt_remote_codes *codes = i == UINT32_MAX ? NULL : p->processes[i].codes;

	if (codes) {
		codes->ended_at = at;
		codes->next = p->ended;
		p->ended = codes;
	}
	if (i == UINT32_MAX)
		return;
	p->ninterpreters -= p->processes[i].has_interpreter;
	gt_map_remove_item(&p->processes_map, p->processes, &p->nprocesses, sizeof(*p->processes),
		i, sizeof(tgid));
}

static void free_codes(struct gt_remote_codes *codes)
{
	if (codes)
		gt_remote_codes_release(codes);
	free(codes);
}

void gt_remote_python_release(struct gt_remote_python *p, uint64_t until)
{
	for (struct gt_remote_codes **at = &p->ended, *codes; (codes = *at);) {
		if (codes->ended_at > until) {
			at = &codes->next;
			continue;
		}
		*at = codes->next;
		free_codes(codes);
	}
}

static struct thread *remembered_thread(
	struct gt_remote_python *p, const struct process *of, uint32_t tid)
{
	struct thread new = { .tid = tid, .tgid = of->tgid, .own_id = tid };
	uint32_t i = gt_map_find_item(&p->threads_map, p->threads, sizeof(new), &tid, sizeof(tid));

	if (i != UINT32_MAX && p->threads[i].tgid == of->tgid)
		return &p->threads[i];
	if (of->is_nested)
		read_ids(of->tgid, tid, &new.own_id);
	if (i != UINT32_MAX) {
		p->threads[i] = new;
		return &p->threads[i];
	}
	if (p->nthreads >= THREADS_MAX) {
		gt_map_clear(&p->threads_map);
		p->nthreads = 0;
	}
	i = gt_map_add_item(&p->threads_map, &p->threads, &p->nthreads, &p->threads_cap,
		sizeof(new), &new, sizeof(tid));
	return i == UINT32_MAX ? NULL : &p->threads[i];
}

/* ---- thread states ---- */

/* Reads a state as far as it is needed. */
static bool read_state(const struct process *of, uint64_t state, uint8_t bytes[STATE_MAX])
{
	const struct gt_python_layout *l = &of->in.layout;
	size_t n = l->thread_id + 16u;

	n = l->thread_frame + 8u > n ? l->thread_frame + 8u : n;
	return state && !(state & 7) && n <= STATE_MAX &&
		!gt_read_process(of->tgid, state, bytes, n);
}

/* The id of its thread, in the pid namespace of the process. 0: it cannot be read. */
static uint32_t id_of(const struct process *of, const uint8_t *bytes)
{
	const struct gt_python_layout *l = &of->in.layout;
	uint32_t id = 0;

	if (l->native_id != GT_PYTHON_NO)
		return (uint32_t)GT_READ(uint64_t, bytes + l->native_id);
	gt_read_process(
		of->tgid, GT_READ(uint64_t, bytes + l->thread_id) + LIBC_TID, &id, sizeof(id));
	return id;
}

/* The address of the pointer to its innermost frame, and that pointer. 0: it has no frames. */
static uint64_t innermost_of(
	const struct process *of, uint64_t state, const uint8_t *bytes, uint64_t *place)
{
	const struct gt_python_layout *l = &of->in.layout;
	uint64_t frame = GT_READ(uint64_t, bytes + l->thread_frame);

	*place = state + l->thread_frame;
	if (l->innermost == GT_PYTHON_NO || !frame)
		return frame;
	*place = frame + l->innermost;
	return gt_read_process(of->tgid, *place, &frame, sizeof(frame)) ? 0 : frame;
}

/* is_main: of the first interpreter. False: the search ends. */
typedef bool state_fn(void *arg, uint64_t state, const uint8_t *bytes, bool is_main);

/* Calls fn for the states of all interpreters. */
static void each_state(const struct process *of, state_fn *fn, void *arg)
{
	const struct gt_python_layout *l = &of->in.layout;
	uint64_t interpreter = 0, next, state;
	uint8_t bytes[STATE_MAX];
	unsigned visits = 0;

	gt_read_process(of->tgid, of->in.runtime + l->interpreters, &interpreter, 8);
	for (; interpreter && visits++ < MAX_STATES; interpreter = next) {
		if (gt_read_process(of->tgid, interpreter + l->interpreter_threads, &state, 8) ||
			gt_read_process(of->tgid, interpreter + l->interpreter_next, &next, 8))
			return;
		for (; visits++ < MAX_STATES && read_state(of, state, bytes);
			state = GT_READ(uint64_t, bytes + l->thread_next))
			if (!fn(arg, state, bytes, !next))
				return;
	}
}

struct state_search {
	const struct process *of;
	uint32_t own_id;
	struct stack stack;
	uint64_t found, call;
	bool is_unknown;
};

static bool consider_id(void *arg, uint64_t state, const uint8_t *bytes, bool is_main)
{
	struct state_search *s = arg;
	uint64_t place;

	if (id_of(s->of, bytes) != s->own_id)
		return true;
	s->found = state;
	return !innermost_of(s->of, state, bytes, &place);
}

/* The state of a thread in the lists of all interpreters; 0: it has none. It may have several, of
 * which one has frames. */
static uint64_t search_state(const struct process *of, uint32_t own_id)
{
	struct state_search s = { .of = of, .own_id = own_id };

	each_state(of, consider_id, &s);
	return s.found;
}

/* ---- thread states of several interpreters, up to 3.11 ----
 *
 * A thread may use a state that another thread has made, and that has the id of that one. The
 * structure of the interpreter's innermost call is on the stack of the thread that uses the state.
 * 3.9 has no such structure: while a sub-interpreter has frames, it is not known whose they are. */

static bool has_several_interpreters(const struct process *of)
{
	const struct gt_python_layout *l = &of->in.layout;
	int64_t next = 0;

	return l->searches_states &&
		!gt_read_process(of->tgid, of->in.runtime + l->next_interpreter_id, &next, 8) &&
		next > 1;
}

static bool consider_call(void *arg, uint64_t state, const uint8_t *bytes, bool is_main)
{
	struct state_search *s = arg;
	const struct gt_python_layout *l = &s->of->in.layout;
	uint64_t call, place;

	if (l->thread_call == GT_PYTHON_NO) {
		s->is_unknown |= !is_main && GT_READ(uint64_t, bytes + l->thread_frame);
		return true;
	}
	call = GT_READ(uint64_t, bytes + l->thread_call);
	if (call < s->stack.low || call >= s->stack.high || (s->found && call > s->call) ||
		!innermost_of(s->of, state, bytes, &place))
		return true;
	s->found = state;
	s->call = call;
	return true;
}

struct stack_search {
	uint64_t above; /* an address just above the stack; 0: the first thread's */
	struct stack found;
};

static int consider_mapping(void *arg, const struct gt_mapping *m, struct gt_err *err)
{
	struct stack_search *s = arg;

	if (s->above ? m->from >= s->above || m->to < s->above : strcmp(m->name, "[stack]"))
		return 0;
	s->found.high = s->above ? s->above : m->to;
	s->found.low = s->above ? m->from : m->to - FIRST_STACK;
	return 1;
}

/* The C library keeps the data of a thread, whose address is the thread_id of its states, above the
 * stack of each thread but the first. */
static void find_stack(const struct process *of, struct thread *t, const uint8_t *state)
{
	struct stack_search s = { 0 };
	struct gt_err err = GT_ERR_INIT;

	if (t->stack.high)
		return;
	if (t->tid != of->tgid)
		s.above = GT_READ(uint64_t, state + of->in.layout.thread_id);
	gt_mappings_each((pid_t)of->tgid, consider_mapping, &s, &err);
	t->stack = s.found;
}

/* The state that the thread uses; 0: none. A thread that has made no state uses none. */
static uint64_t search_used_state(const struct process *of, struct thread *t, bool *is_unknown)
{
	struct state_search s = { .of = of };
	const uint64_t own = search_state(of, t->own_id);
	uint8_t bytes[STATE_MAX];
	uint64_t place;

	if (!own || !read_state(of, own, bytes))
		return 0;
	find_stack(of, t, bytes);
	s.stack = t->stack;
	each_state(of, consider_call, &s);
	if (of->in.layout.thread_call == GT_PYTHON_NO)
		s.found = s.is_unknown ? 0 : own;
	else
		s.is_unknown = !s.found && innermost_of(of, own, bytes, &place);
	*is_unknown = s.is_unknown;
	return s.found;
}

/* ---- the innermost frame ---- */

/* Finds the pointer to the innermost frame of the thread. False: it has no frames, or they are not
 * known. */
static bool find_innermost(
	struct gt_remote_python *p, const struct process *of, uint32_t tid, bool *is_unknown)
{
	struct thread *t = remembered_thread(p, of, tid);
	uint8_t bytes[STATE_MAX];
	uint64_t finalizing = 0;

	if (!t)
		return false;
	if (has_several_interpreters(of)) {
		t->state = search_used_state(of, t, is_unknown);
		if (!t->state || !read_state(of, t->state, bytes))
			return false;
	} else if (!t->state || !read_state(of, t->state, bytes) || id_of(of, bytes) != t->own_id) {
		t->state = is_due(&t->retry) ? search_state(of, t->own_id) : 0;
		if (!t->state || !read_state(of, t->state, bytes))
			return false;
		t->retry = (struct retry){ 0 };
	}
	/* The thread that finalizes frees the states and frames of all others. */
	if (gt_read_process(of->tgid, of->in.runtime + of->in.layout.finalizing, &finalizing, 8) ||
		(finalizing && finalizing != t->state))
		return false;
	p->first.innermost = innermost_of(of, t->state, bytes, &p->first.place);
	return p->first.innermost;
}

/* ---- frames ---- */

static const uint8_t *page_of(struct gt_remote_python *p, uint32_t tgid, uint64_t at)
{
	struct page *page;

	for (unsigned i = 0; i < PAGES; i++)
		if (p->pages[i].at == at)
			return p->pages[i].bytes;
	page = &p->pages[p->next_page++ % PAGES];
	page->at = gt_read_process(tgid, at, page->bytes, PAGE) ? 0 : at;
	return page->at ? page->bytes : NULL;
}

/* Copies a frame. Frames from 3.11 on lie beside each other; a page is copied at once. */
static bool copy_frame(
	struct gt_remote_python *p, const struct process *of, uint64_t frame, uint8_t *to)
{
	const size_t n = of->in.layout.frame_size;
	const uint8_t *page;

	if (!frame || (frame & 7) || n > FRAME_MAX)
		return false;
	if (of->in.layout.instruction_kind != GT_PYTHON_POINTER || frame % PAGE > PAGE - n)
		return !gt_read_process(of->tgid, frame, to, n);
	page = page_of(p, of->tgid, frame & ~(uint64_t)(PAGE - 1));
	if (page)
		memcpy(to, page + frame % PAGE, n);
	return page;
}

static void read_frames(struct gt_remote_python *p, const struct process *of)
{
	struct reading *r = &p->first;
	uint64_t frame = r->innermost;

	for (unsigned i = 0; i < PAGES; i++)
		p->pages[i].at = 0;
	r->n = 0;
	while (frame && r->n < GT_REMOTE_FRAMES && copy_frame(p, of, frame, r->frames[r->n])) {
		r->address[r->n] = frame;
		frame = GT_READ(uint64_t, r->frames[r->n++] + of->in.layout.previous);
	}
	r->is_cut = frame;
}

static void add_range(
	struct gt_remote_python *p, unsigned i, void *to, uint64_t address, size_t bytes)
{
	p->local[i] = (struct iovec){ to, bytes };
	p->remote[i] = (struct iovec){ (void *)(uintptr_t)address, bytes };
}

static uint64_t code_of(const struct gt_python_layout *l, const uint8_t *frame)
{
	return GT_READ(uint64_t, frame + l->code) & ~(uint64_t)l->tag_bits;
}

/* Reads the frames again, the outermost first, and the pointer to the innermost one; then the
 * innermost frames and the pointer once more. */
static bool read_again(struct gt_remote_python *p, const struct process *of)
{
	const size_t size = of->in.layout.frame_size;
	const struct reading *r = &p->first;
	unsigned n = 0;
	size_t bytes = 0;

	for (uint32_t i = r->n; i-- > 0;)
		add_range(p, n++, p->again[i], r->address[i], size);
	add_range(p, n++, &p->again_innermost, r->place, 8);
	for (uint32_t i = r->n < INNER ? r->n : INNER; i-- > 0;)
		add_range(p, n++, p->last[i], r->address[i], size);
	add_range(p, n++, &p->last_innermost, r->place, 8);
	for (unsigned i = 0; i < n; i++)
		bytes += p->local[i].iov_len;
	return process_vm_readv((pid_t)of->tgid, p->local, n, p->remote, n, 0) == (ssize_t)bytes;
}

/* Reads what the frames' code objects begin with. Frames of no function have none: what cannot be
 * read is passed over. */
static void read_heads(struct gt_remote_python *p, const struct process *of)
{
	const struct gt_python_layout *l = &of->in.layout;
	const uint32_t n = p->first.n;

	memset(p->heads, 0, n * sizeof(p->heads[0]));
	for (uint32_t i = 0; i < n; i++)
		add_range(p, i, p->heads[i], code_of(l, p->first.frames[i]), gt_remote_head(l));
	for (uint32_t i = 0; i < n;) {
		ssize_t got = process_vm_readv(
			(pid_t)of->tgid, p->local + i, n - i, p->remote + i, n - i, 0);

		i += (got > 0 ? (uint32_t)((size_t)got / gt_remote_head(l)) : 0) + 1;
	}
}

/* Do two readings have the same function, at the same instruction? */
static bool is_same_frame(
	const struct gt_python_layout *l, const uint8_t *a, const uint8_t *b, bool with_instruction)
{
	const size_t size = l->instruction_kind == GT_PYTHON_POINTER ? 8 : 4;

	return GT_READ(uint64_t, a + l->code) == GT_READ(uint64_t, b + l->code) &&
		GT_READ(uint64_t, a + l->previous) == GT_READ(uint64_t, b + l->previous) &&
		(!with_instruction || !memcmp(a + l->instruction, b + l->instruction, size));
}

static bool is_unmoved(const struct gt_remote_python *p, const struct gt_python_layout *l,
	uint32_t i, bool with_instruction)
{
	const uint8_t *frame = p->first.frames[i];

	return is_same_frame(l, frame, p->again[i], with_instruction) &&
		(i >= INNER || is_same_frame(l, frame, p->last[i], with_instruction));
}

/* How many frames, at least i, are below this innermost one: they have returned. If it is not
 * there, the innermost frame has called it. */
static uint32_t frames_below(const struct reading *r, uint64_t innermost, uint32_t i)
{
	for (uint32_t k = i; k < r->n; k++)
		if (r->address[k] == innermost)
			return k;
	return i;
}

/* How many of the innermost frames are not known to be right. If the caller of a frame did not
 * move, the frame was where the first reading has it; whether it had called another one is not
 * known. */
static uint32_t changed_frames(const struct gt_remote_python *p, const struct process *of)
{
	const struct gt_python_layout *l = &of->in.layout;
	const struct reading *r = &p->first;
	uint32_t i = r->n;

	while (i > 0 && is_unmoved(p, l, i - 1, true))
		i--;
	if (i && is_unmoved(p, l, i - 1, false))
		i--;
	i = frames_below(r, p->again_innermost, i);
	return frames_below(r, p->last_innermost, i);
}

/* ---- what frames execute ---- */

/* The offset of the instruction in bytes. False: it is outside the code. */
static bool read_offset(const struct process *of, const uint8_t *frame, uint64_t code,
	const uint8_t *head, const struct gt_remote_code *c, int64_t *offset)
{
	const struct gt_python_layout *l = &of->in.layout;
	uint64_t start = code + l->start;
	int32_t index;

	if (l->instruction_kind != GT_PYTHON_POINTER) {
		memcpy(&index, frame + l->instruction, sizeof(index));
		*offset = l->instruction_kind == GT_PYTHON_UNITS && index > 0 ? 2 * (int64_t)index
									      : index;
		return *offset >= -1 && *offset < c->bytes;
	}
	if (l->copies != GT_PYTHON_NO) {
		memcpy(&index, frame + l->copy_index, sizeof(index));
		if (index < 0 ||
			gt_read_process(of->tgid,
				GT_READ(uint64_t, head + l->copies) + 8 + 8 * (uint64_t)index,
				&start, sizeof(start)))
			return false;
	}
	*offset = (int64_t)(GT_READ(uint64_t, frame + l->instruction) - start);
	return *offset >= -2 && *offset < c->bytes && !(*offset & 1);
}

enum kind { FUNCTION, SKIPPED, BROKEN };

static enum kind describe(struct gt_remote_python *p, const struct process *of, uint32_t i,
	struct gt_remote_frame *to)
{
	const struct gt_python_layout *l = &of->in.layout;
	const uint8_t *frame = p->first.frames[i];
	uint8_t owner = l->owner == GT_PYTHON_NO ? 0 : frame[l->owner];
	uint64_t code = code_of(l, frame);
	int64_t offset;

	if (owner >= l->first_skipped)
		return owner <= l->last_owner ? SKIPPED : BROKEN;
	to->code = gt_remote_code(of->codes, of->tgid, &of->in, code, p->heads[i]);
	if (!to->code || !read_offset(of, frame, code, p->heads[i], to->code, &offset))
		return BROKEN;
	to->offset = (uint32_t)offset;
	/* Before the first limit a frame makes cells, a generator or a coroutine. */
	return l->instruction_kind == GT_PYTHON_POINTER && owner != GT_PYTHON_GENERATOR &&
			offset < (int64_t)to->code->first_traceable
		? SKIPPED
		: FUNCTION;
}

static void describe_frames(struct gt_remote_python *p, const struct process *of, uint32_t from,
	struct gt_remote_stack *s)
{
	s->inner_cut = from;
	s->outer_cut = p->first.is_cut;
	for (uint32_t i = from; i < p->first.n; i++) {
		enum kind kind = describe(p, of, i, &s->frames[s->n]);

		if (kind == BROKEN) {
			s->outer_cut = true;
			return;
		}
		s->n += kind == FUNCTION;
	}
}

/* ---- interface ---- */

bool gt_remote_python_search(struct gt_remote_python *p, uint32_t tgid)
{
	return process_of(p, tgid);
}

bool gt_remote_python_has_any(const struct gt_remote_python *p) { return p->ninterpreters; }

void gt_remote_python_stack(
	struct gt_remote_python *p, uint32_t tgid, uint32_t tid, struct gt_remote_stack *s)
{
	const struct process *of = process_of(p, tgid);
	uint32_t changed;

	s->n = 0;
	s->inner_cut = s->outer_cut = false;
	s->eval_low = of ? of->in.eval_low : 0;
	s->eval_high = of ? of->in.eval_high : 0;
	for (unsigned i = 0; of && i < ATTEMPTS; i++) {
		if (!find_innermost(p, of, tid, &s->inner_cut))
			return;
		read_frames(p, of);
		if (!read_again(p, of))
			continue;
		changed = changed_frames(p, of);
		if (changed && i + 1 < ATTEMPTS)
			continue;
		read_heads(p, of);
		describe_frames(p, of, changed, s);
		return;
	}
}

/* The id in gtcollect's pid namespace; 0: that thread was not seen yet. */
static uint32_t outer_id(
	const struct gt_remote_python *p, const struct process *of, uint32_t own_id)
{
	if (!of->is_nested)
		return own_id;
	for (size_t i = 0; i < p->nthreads; i++)
		if (p->threads[i].tgid == of->tgid && p->threads[i].own_id == own_id)
			return p->threads[i].tid;
	return 0;
}

bool gt_remote_python_gil(struct gt_remote_python *p, uint32_t tgid, uint64_t futex,
	uint32_t *holder, uint64_t *interval)
{
	struct process *of = process_of(p, tgid);
	uint8_t state[STATE_MAX];
	struct gt_remote_gil gil;

	if (!of ||
		!gt_remote_gil(&of->gils, tgid, &of->in, futex, holder || interval ? &gil : NULL))
		return false;
	if (interval)
		*interval = gil.interval;
	if (holder)
		*holder = read_state(of, gil.holder, state) ? outer_id(p, of, id_of(of, state)) : 0;
	return true;
}

struct gt_remote_python *gt_remote_python_new(void)
{
	return calloc(1, sizeof(struct gt_remote_python));
}

void gt_remote_python_free(struct gt_remote_python *p)
{
	if (!p)
		return;
	gt_remote_python_release(p, UINT64_MAX);
	for (size_t i = 0; i < p->nprocesses; i++)
		free_codes(p->processes[i].codes);
	gt_map_release(&p->processes_map);
	gt_map_release(&p->threads_map);
	free(p->processes);
	free(p->threads);
	free(p);
}
