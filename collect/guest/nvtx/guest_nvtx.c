/* NVTX annotations of the program. NVTX is code in the program that does nothing without a tool:
 * at the first annotation it loads the library that NVTX_INJECTION64_PATH names (gtcollect sets
 * it to the guest), calls InitializeInjectionNvtx2 there, and gets functions by number
 * (nvtxTypes.h: NvtxCallbackModule, NvtxCallbackIdCore, ...Core2, ...Cuda, ...CudaRt). Each library
 * in the program that contains NVTX does this by itself.
 *
 * Annotations are events on the ring of the calling thread. A registered string or a domain is an
 * object in the guest's memory, and its address is the handle. */
#define _GNU_SOURCE
#include "collect/guest/nvtx/guest_nvtx.h"

#include <stdlib.h>
#include <wchar.h>
#include "collect/guest/core/guest_hooks.h"

#define ARENA (256u << 10)
#define TEXT_MAX 4096u

enum { NO_TRACKING = -2, PAYLOAD_TYPES = 7 };

/* A registered string or a domain. Each thread that uses it writes its text once, so that a ring
 * is complete. */
struct gt_nvtx_handle {
	uint64_t hash;
	uint32_t len, number;
	char text[];
};

/* ---- memory for handles: never freed, and kept in a forked child ---- */

struct arena {
	uint64_t used;
	char bytes[];
};
static struct arena *arena;

static struct arena *new_arena(struct arena *full)
{
	struct arena *new = gt_map(ARENA);

	if (!new)
		return NULL;
	if (__atomic_compare_exchange_n(
		    &arena, &full, new, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return new;
	syscall(SYS_munmap, new, (size_t)ARENA);
	return full;
}

/* Takes no lock, as a signal handler or a forked child may call it at any time. */
void *gt_nvtx_alloc(size_t size)
{
	uint64_t bytes = (size + 7) & ~7ull, at = 0;
	struct arena *a = __atomic_load_n(&arena, __ATOMIC_ACQUIRE);
	int saved = errno;

	while (!a ||
		(at = __atomic_fetch_add(&a->used, bytes, __ATOMIC_RELAXED)) + bytes >
			ARENA - sizeof(*a)) {
		a = new_arena(a);
		errno = saved;
		if (!a)
			return NULL;
	}
	return a->bytes + at;
}

static struct gt_nvtx_handle *make_handle(const char *text, uint32_t len)
{
	struct gt_nvtx_handle *n = gt_nvtx_alloc(sizeof(*n) + len + 1);
	static uint32_t numbers;

	if (!n)
		return NULL;
	n->len = len;
	memcpy(n->text, text, len);
	n->text[len] = 0;
	n->hash = gt_ring_hash(text, len);
	n->number = __atomic_fetch_add(&numbers, 1, __ATOMIC_RELAXED);
	return n;
}

/* ---- texts ---- */

/* wchar_t is UTF-32 here. The result is cut when `to` is full. */
static uint32_t utf32_to_utf8(const wchar_t *from, char to[TEXT_MAX])
{
	uint32_t n = 0, c;

	for (; from && (c = (uint32_t)*from) && n + 5 < TEXT_MAX; from++) {
		if (c < 0x80) {
			to[n++] = (char)c;
			continue;
		}
		if (c >= 0x10000)
			to[n++] = (char)(0xf0 | (c >> 18 & 7)),
			to[n++] = (char)(0x80 | (c >> 12 & 63));
		else if (c >= 0x800)
			to[n++] = (char)(0xe0 | c >> 12);
		if (c >= 0x800)
			to[n++] = (char)(0x80 | (c >> 6 & 63));
		else
			to[n++] = (char)(0xc0 | c >> 6);
		to[n++] = (char)(0x80 | (c & 63));
	}
	to[n] = 0;
	return n;
}

static uint64_t put_text(struct gt_tcb *t, const char *text)
{
	return text ? gt_ring_put_string(t, text) : 0;
}

static uint64_t put_wide(struct gt_tcb *t, const wchar_t *text)
{
	char to[TEXT_MAX];

	if (!text)
		return 0;
	utf32_to_utf8(text, to);
	return gt_ring_put_string(t, to);
}

static uint64_t put_handle_text(struct gt_tcb *t, const struct gt_nvtx_handle *n)
{
	uint64_t *word, bit;

	if (!n)
		return 0;
	if (n->number >= GT_SENT_REGISTERED)
		return gt_ring_put_string(t, n->text);
	word = &t->sent_registered[n->number / 64];
	bit = 1ull << n->number % 64;
	if (gt_unlikely(!(*word & bit)) &&
		gt_ring_put_text(t, GT_REC_STRING, n->hash, n->text, n->len))
		*word |= bit;
	return n->hash;
}

static uint64_t put_message(struct gt_tcb *t, const struct gt_nvtx_attributes *a)
{
	if (a->message_type == GT_MESSAGE_CHAR)
		return put_text(t, a->message);
	if (a->message_type == GT_MESSAGE_WIDE)
		return put_wide(t, a->message);
	return a->message_type == GT_MESSAGE_REGISTERED ? put_handle_text(t, a->message) : 0;
}

/* ---- an annotation ---- */

/* This thread's ring if annotations are recorded now, else NULL. */
static struct gt_tcb *annotation_ring(int *saved)
{
	struct gt_tcb *t = gt_self;

	*saved = errno;
	if (gt_inside || !__atomic_load_n(gt_recording, __ATOMIC_RELAXED) ||
		(!t->ring && !(t = gt_register_thread())))
		return NULL;
	if (!gt_shared->nvtx || !__atomic_load_n(gt_recording, __ATOMIC_RELAXED))
		return NULL;
	if (!(t->depth & GT_COMMITTING))
		return t;
	gt_ring_count_in_handler(t);
	return NULL;
}

static void put(struct gt_tcb *t, enum gt_ring_event id, const void *event, size_t bytes, int saved)
{
	uint64_t now = gt_now(t);

	if (!gt_ring_put_event(t, id, now, now, event, bytes))
		gt_ring_count_drop(t, now, now);
	errno = saved;
}

static void put_annotation(enum gt_ring_event id, uint64_t range,
	const struct gt_nvtx_handle *domain, const struct gt_nvtx_attributes *a)
{
	int saved;
	struct gt_tcb *t = annotation_ring(&saved);
	struct gt_ev_annotation e = { .range = range };
	struct gt_nvtx_collective c;

	if (!t || !a)
		return;
	e.text = put_message(t, a);
	e.domain = put_handle_text(t, domain);
	e.category = a->category;
	e.color = a->color_type == 1 ? a->color : 0;
	if (a->payload_type > 0 && a->payload_type < PAYLOAD_TYPES) {
		e.payload_type = (uint64_t)a->payload_type;
		e.payload = a->payload;
	}
	c = gt_nvtx_read_collective(domain, a);
	e.communicator = c.communicator;
	e.message_bytes = c.bytes;
	/* most annotations have no such words */
	put(t, id, &e,
		c.communicator | c.bytes ? sizeof(e)
					 : offsetof(struct gt_ev_annotation, communicator),
		saved);
}

static void annotate(enum gt_ring_event id, uint64_t range, const struct gt_nvtx_handle *domain,
	const struct gt_nvtx_attributes *a)
{
	gt_session_enter();
	put_annotation(id, range, domain, a);
	gt_session_leave();
}

/* type: of the text, GT_MESSAGE_CHAR or GT_MESSAGE_WIDE */
static void annotate_text(enum gt_ring_event id, uint64_t range, int32_t type, const void *text)
{
	struct gt_nvtx_attributes a = { .message_type = type, .message = text };

	annotate(id, range, NULL, &a);
}

static void end(enum gt_ring_event id, uint64_t range, const struct gt_nvtx_handle *domain)
{
	struct gt_ev_annotation_end e = { .range = range };
	struct gt_tcb *t;
	int saved;

	gt_session_enter();
	t = annotation_ring(&saved);
	if (t) {
		e.domain = put_handle_text(t, domain);
		put(t, id, &e, sizeof(e), saved);
	}
	gt_session_leave();
}

/* ---- --range nvtx:NAME ---- */

/* pushes inside the range, including its own; all pushes */
static __thread uint32_t pushes_in_range GT_TLS, pushed GT_TLS;
static uint32_t threads_in_range;

static bool matches_range(const struct gt_nvtx_attributes *a)
{
	char wide[TEXT_MAX];
	const char *text = a->message_type == GT_MESSAGE_CHAR ? a->message
		: a->message_type == GT_MESSAGE_REGISTERED && a->message
		? ((const struct gt_nvtx_handle *)a->message)->text
		: NULL;

	if (a->message_type == GT_MESSAGE_WIDE && a->message) {
		utf32_to_utf8(a->message, wide);
		text = wide;
	}
	return text && !strcmp(text, gt_shared->range_name);
}

/* Never in a session that may end before the program does. */
static bool uses_range(void)
{
	return !gt_attached && gt_shared && gt_shared->range == GT_RANGE_NVTX;
}

/* Another thread may change the count before this one sets the state; then the state is set
 * again. */
static void update_range_active(void)
{
	bool on;

	do {
		on = __atomic_load_n(&threads_in_range, __ATOMIC_SEQ_CST);
		gt_set_range_active(GT_RANGE_NVTX, on);
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
	} while (on != (__atomic_load_n(&threads_in_range, __ATOMIC_SEQ_CST) != 0));
}

/* A forked child has only this thread. */
void gt_nvtx_process_attached(void)
{
	if (!uses_range())
		return;
	__atomic_store_n(&threads_in_range, pushes_in_range != 0, __ATOMIC_SEQ_CST);
	update_range_active();
}

static void range_push(const struct gt_nvtx_attributes *a)
{
	if (!gt_attached &&
		(!gt_process_state || !__atomic_load_n(&gt_process_state->pid, __ATOMIC_ACQUIRE)))
		gt_register_thread(); /* the range's name is known only after that */
	if (!uses_range() || (!pushes_in_range && !matches_range(a)))
		return;
	if (!pushes_in_range++ && !__atomic_fetch_add(&threads_in_range, 1, __ATOMIC_SEQ_CST))
		update_range_active();
}

static void range_pop(void)
{
	if (uses_range() && pushes_in_range && !--pushes_in_range &&
		!__atomic_sub_fetch(&threads_in_range, 1, __ATOMIC_SEQ_CST))
		update_range_active();
}

/* ---- functions for NVTX ---- */

int gt_nvtx_push(const struct gt_nvtx_handle *domain, const struct gt_nvtx_attributes *a)
{
	if (a)
		range_push(a);
	annotate(GT_EV_PUSH, 0, domain, a);
	return (int)pushed++;
}

int gt_nvtx_pop(const struct gt_nvtx_handle *domain)
{
	end(GT_EV_POP, 0, domain);
	range_pop();
	return pushed ? (int)--pushed : NO_TRACKING;
}

static uint64_t new_range(void)
{
	static uint64_t last;

	return __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
}

static void mark_ex(const struct gt_nvtx_attributes *a) { annotate(GT_EV_MARK, 0, NULL, a); }
static void mark_a(const char *s) { annotate_text(GT_EV_MARK, 0, GT_MESSAGE_CHAR, s); }
static void mark_w(const wchar_t *s) { annotate_text(GT_EV_MARK, 0, GT_MESSAGE_WIDE, s); }
static int push_ex(const struct gt_nvtx_attributes *a) { return gt_nvtx_push(NULL, a); }
static int push_text(int32_t type, const void *text)
{
	struct gt_nvtx_attributes a = { .message_type = type, .message = text };

	return gt_nvtx_push(NULL, &a);
}
static int push_a(const char *s) { return push_text(GT_MESSAGE_CHAR, s); }
static int push_w(const wchar_t *s) { return push_text(GT_MESSAGE_WIDE, s); }
static int pop_any(void) { return gt_nvtx_pop(NULL); }
static void range_end(uint64_t id) { end(GT_EV_RANGE_END, id, NULL); }
void gt_nvtx_range_end(const struct gt_nvtx_handle *domain, uint64_t id)
{
	end(GT_EV_RANGE_END, id, domain);
}
void gt_nvtx_mark(const struct gt_nvtx_handle *domain, const struct gt_nvtx_attributes *a)
{
	annotate(GT_EV_MARK, 0, domain, a);
}

uint64_t gt_nvtx_range_start(
	const struct gt_nvtx_handle *domain, const struct gt_nvtx_attributes *a)
{
	uint64_t id = new_range();

	annotate(GT_EV_RANGE_START, id, domain, a);
	return id;
}

static uint64_t range_start_ex(const struct gt_nvtx_attributes *a)
{
	return gt_nvtx_range_start(NULL, a);
}
static uint64_t range_start_text(int32_t type, const void *text)
{
	uint64_t id = new_range();

	annotate_text(GT_EV_RANGE_START, id, type, text);
	return id;
}
static uint64_t range_start_a(const char *s) { return range_start_text(GT_MESSAGE_CHAR, s); }
static uint64_t range_start_w(const wchar_t *s) { return range_start_text(GT_MESSAGE_WIDE, s); }

static const struct gt_nvtx_handle *make_text_handle(const char *s)
{
	return s ? make_handle(s, (uint32_t)strnlen(s, TEXT_MAX - 1)) : NULL;
}
static const struct gt_nvtx_handle *make_wide_handle(const wchar_t *s)
{
	char to[TEXT_MAX];

	return s ? make_handle(to, utf32_to_utf8(s, to)) : NULL;
}
static const struct gt_nvtx_handle *register_a(const void *domain, const char *s)
{
	return (void)domain, make_text_handle(s);
}
static const struct gt_nvtx_handle *register_w(const void *domain, const wchar_t *s)
{
	return (void)domain, make_wide_handle(s);
}
static void domain_destroy(const void *domain) { (void)domain; }

/* Records the name of a category of a domain, of a thread or of a stream. */
static void put_name(enum gt_ring_event id, uint64_t object, const struct gt_nvtx_handle *domain,
	const char *text, const wchar_t *wide)
{
	struct gt_ev_name e = { .object = object };
	struct gt_tcb *t;
	int saved;

	gt_session_enter();
	t = annotation_ring(&saved);
	if (t) {
		e.text = text ? put_text(t, text) : put_wide(t, wide);
		e.domain = put_handle_text(t, domain);
		put(t, id, &e, sizeof(e), saved);
	}
	gt_session_leave();
}

static void domain_category_a(const struct gt_nvtx_handle *d, uint32_t c, const char *s)
{
	put_name(GT_EV_NAME_CATEGORY, c, d, s, NULL);
}
static void domain_category_w(const struct gt_nvtx_handle *d, uint32_t c, const wchar_t *s)
{
	put_name(GT_EV_NAME_CATEGORY, c, d, NULL, s);
}
/* NAME_a and NAME_w, without a domain. */
#define NAME_FUNCTIONS(name, type, event)                                                          \
	static void name##_a(type object, const char *s)                                           \
	{                                                                                          \
		put_name(event, object, NULL, s, NULL);                                            \
	}                                                                                          \
	static void name##_w(type object, const wchar_t *s)                                        \
	{                                                                                          \
		put_name(event, object, NULL, NULL, s);                                            \
	}
NAME_FUNCTIONS(category, uint32_t, GT_EV_NAME_CATEGORY)
NAME_FUNCTIONS(thread, uint32_t, GT_EV_NAME_THREAD)
NAME_FUNCTIONS(stream, uint64_t, GT_EV_NAME_STREAM)

/* ---- injection ---- */

enum { CORE = 1, CUDA, CUDART = 4, CORE2, CALLBACKS = 1 };
struct callbacks {
	size_t size;
	int (*table)(int module, void ****functions, unsigned *n);
};

static const struct {
	uint8_t module, id;
	void *function;
} nvtx_functions[] = {
#define F(module, id, f)                                                                           \
	{                                                                                          \
		module, id, (void *)f                                                              \
	}
	F(CORE, 1, mark_ex),
	F(CORE, 2, mark_a),
	F(CORE, 3, mark_w),
	F(CORE, 4, range_start_ex),
	F(CORE, 5, range_start_a),
	F(CORE, 6, range_start_w),
	F(CORE, 7, range_end),
	F(CORE, 8, push_ex),
	F(CORE, 9, push_a),
	F(CORE, 10, push_w),
	F(CORE, 11, pop_any),
	F(CORE, 12, category_a),
	F(CORE, 13, category_w),
	F(CORE, 14, thread_a),
	F(CORE, 15, thread_w),
	F(CORE2, 1, gt_nvtx_mark),
	F(CORE2, 2, gt_nvtx_range_start),
	F(CORE2, 3, gt_nvtx_range_end),
	F(CORE2, 4, gt_nvtx_push),
	F(CORE2, 5, gt_nvtx_pop),
	F(CORE2, 8, domain_category_a),
	F(CORE2, 9, domain_category_w),
	F(CORE2, 10, register_a),
	F(CORE2, 11, register_w),
	F(CUDA, 5, stream_a),
	F(CUDA, 6, stream_w),
	F(CUDART, 3, stream_a),
	F(CUDART, 4, stream_w),
	F(CORE2, 12, make_text_handle),
	F(CORE2, 13, make_wide_handle),
	F(CORE2, 14, domain_destroy),
#undef F
};

GT_EXPORT int InitializeInjectionNvtx2(const void *(*export_table)(uint32_t id));
GT_EXPORT int InitializeInjectionNvtx2(const void *(*export_table)(uint32_t id))
{
	const struct callbacks *c = export_table ? export_table(CALLBACKS) : NULL;
	void ***table;
	unsigned n;

	/* an attached program may get another session later */
	if ((gt_passive && !gt_attached) || !c || c->size < sizeof(*c) || !c->table)
		return 0;
	for (size_t i = 0; i < sizeof(nvtx_functions) / sizeof(*nvtx_functions); i++) {
		table = NULL;
		n = 0;
		if (c->table(nvtx_functions[i].module, &table, &n) && table &&
			nvtx_functions[i].id < n && table[nvtx_functions[i].id])
			*table[nvtx_functions[i].id] = nvtx_functions[i].function;
	}
	return 1;
}
