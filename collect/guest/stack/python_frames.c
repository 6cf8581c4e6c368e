/* Walks the frames of the Python interpreter, and reads its code objects.
 *
 * Up to 3.10 a thread state leads to frame objects, from 3.11 on to frames that are no objects.
 * Each frame leads to its caller's and to its code object. python_layout.h says where.
 *
 * Nothing that is read is trusted. A page is tried before it is read (readable.h). The code of a
 * frame has to be a code object: its type is the interpreter's. The instruction has to lie inside
 * that code. A chain that leads back into itself is searched when a walk does not end. */
#define _GNU_SOURCE
#include "collect/guest/stack/python_internal.h"

#include <dlfcn.h>
#include "collect/guest/core/guest_elf.h"
#include "collect/guest/core/guest_objects.h"
#include "collect/guest/core/guest_session.h"
#include "collect/guest/core/guest_system.h"
#include "formats/python/python_text.h"

#define PAGE (1u << GT_READABLE_SHIFT)
#define MAX_SKIPPED 4096     /* frames of no function that a walk passes */
#define MAX_TABLE (1u << 24) /* bytes of a line table; a longer one is damaged */

/* ---- the state of this thread ---- */

/* From 3.12 on, a thread's current state is its own. */
INLINE uintptr_t newer_state(
	const struct gt_interpreter *in, struct gt_readable *r, enum gt_python_state *state)
{
	const uintptr_t current = (uintptr_t)in->current(), id = in->thread_id();
	uintptr_t found;

	*state = GT_PYTHON_NONE;
	if (current && gt_python_is_state_of(&in->layout, r, current, id))
		return current;
	found = (uintptr_t)in->of_thread();
	if (!found || gt_python_is_state_of(&in->layout, r, found, id))
		return found;
	*state = GT_PYTHON_UNKNOWN;
	return 0;
}

/* 0: it has none (*state: NONE), or it cannot be known (UNKNOWN). */
static uintptr_t thread_state(const struct gt_interpreter *in, struct gt_readable *r, uintptr_t sp,
	enum gt_python_state *state)
{
	const struct gt_python_layout *l = &in->layout;
	const bool must_search = gt_unlikely(gt_interrupted) && in->may_allocate;
	uintptr_t found, finalizing;

	if (must_search)
		found = gt_python_search_states(in, r, sp, state);
	else
		found = l->searches_states ? gt_python_older_state(in, r, sp, state)
					   : newer_state(in, r, state);
	finalizing = found ? GT_READ(uintptr_t, in->runtime + l->finalizing) : 0;
	if (gt_likely(!finalizing || finalizing == found))
		return found;
	/* The thread that finalizes frees the states and frames of all others. */
	*state = GT_PYTHON_UNKNOWN;
	return 0;
}

/* ---- frames ---- */

/* A sample of the line table: its length, its first, middle and last bytes. False: damaged. */
INLINE bool sample_lines(
	const struct gt_python_layout *l, struct gt_readable *r, uintptr_t lines, uint64_t *sample)
{
	uintptr_t data = lines + l->bytes_data;
	int64_t n;

	/* a bytes object has space for eight bytes, also if it is shorter */
	if (gt_unlikely(!gt_readable(r, lines, l->bytes_data + sizeof(uint64_t))))
		return false;
	n = GT_READ(int64_t, lines + l->size);
	*sample = GT_READ(uint64_t, data);
	if (gt_likely((uint64_t)n - 8 < MAX_TABLE)) {
		uintptr_t last = data + (uintptr_t)n - 8, middle = data + (uintptr_t)n / 2 - 4;

		if (gt_unlikely((data ^ (last + 7)) >> GT_READABLE_SHIFT) &&
			(!gt_readable(r, last, 8) || !gt_readable(r, middle, 8)))
			return false;
		*sample += GT_READ(uint64_t, middle) * 0xc2b2ae3d27d4eb4full +
			GT_READ(uint64_t, last) * 0x165667b19e3779f9ull;
	} else if (n >= 0 && n < 8) {
		*sample &= n ? ~0ull >> (64 - 8 * n) : 0;
	} else {
		return false;
	}
	*sample += (uint64_t)n * 0x9e3779b97f4a7c15ull;
	return true;
}

/* Objects of a program lie less than 4 GiB apart, so the lower halves of addresses differ. */
INLINE bool identify(
	const struct gt_python_layout *l, struct gt_readable *r, uintptr_t code, uint32_t *check)
{
	uintptr_t lines = GT_READ(uintptr_t, code + l->lines);
	uint64_t sample;

	if (gt_unlikely(!sample_lines(l, r, lines, &sample)))
		return false;
	sample += lines + GT_READ(uint32_t, code + l->name) * 0x85ebca77ull +
		GT_READ(uint32_t, code + l->file) * 0xc2b2ae3d00ull +
		GT_READ(uint32_t, code + l->first_line);
	*check = (uint32_t)(sample >> 32) ^ (uint32_t)sample;
	return true;
}

/* gt_readable of a code object, with fewer instructions */
INLINE bool readable_code(const struct gt_python_layout *l, struct gt_readable *r, uintptr_t code)
{
	const uintptr_t bytes = l->start + sizeof(uintptr_t), page = code >> GT_READABLE_SHIFT;

	if (gt_unlikely(r->page[page % GT_READABLE_PAGES] != page) || gt_unlikely(!page) ||
		gt_unlikely((code & (PAGE - 1)) > PAGE - bytes))
		return gt_readable(r, code, bytes);
	return true;
}

/* 3.14, free-threaded: each thread may have a copy of the code units. The structure of pointers to
 * them begins with their number. 0: damaged. */
static uintptr_t start_of_copy(
	const struct gt_python_layout *l, struct gt_readable *r, uintptr_t frame, uintptr_t code)
{
	uintptr_t copies = GT_READ(uintptr_t, code + l->copies), entry;
	int32_t index = GT_READ(int32_t, frame + l->copy_index);

	if (!copies || (copies & 7) || index < 0 || !gt_readable(r, copies, sizeof(uintptr_t)) ||
		index >= GT_READ(int64_t, copies))
		return 0;
	entry = copies + sizeof(uintptr_t) * (1 + (uintptr_t)index);
	return gt_readable(r, entry, sizeof(uintptr_t)) ? GT_READ(uintptr_t, entry) : 0;
}

/* Offset of the instruction in bytes, of frames with an index of it. */
INLINE enum gt_python_frame_kind read_index(const struct gt_python_layout *l, struct gt_readable *r,
	uintptr_t frame, uintptr_t code, uint32_t *offset)
{
	uintptr_t start = GT_READ(uintptr_t, code + l->start);
	int64_t at = GT_READ(int32_t, frame + l->instruction);

	if (gt_unlikely(!gt_readable(r, start, l->bytes_data)))
		return GT_FRAME_BROKEN;
	if (l->instruction_kind == GT_PYTHON_UNITS && at > 0)
		at *= 2;
	*offset = (uint32_t)at;
	return at >= -1 && at < GT_READ(int64_t, start + l->size) ? GT_FRAME_FUNCTION
								  : GT_FRAME_BROKEN;
}

/* The same, of frames with its address. */
INLINE enum gt_python_frame_kind read_pointer(const struct gt_python_layout *l,
	struct gt_readable *r, uintptr_t frame, uintptr_t code, uint8_t owner, uint32_t *offset)
{
	uintptr_t start = code + l->start, units = GT_READ(uintptr_t, code + l->size), unit;
	int64_t first = GT_READ(int32_t, code + l->first_traceable), at;

	if (gt_unlikely(l->copies != GT_PYTHON_NO) && !(start = start_of_copy(l, r, frame, code)))
		return GT_FRAME_BROKEN;
	at = (int64_t)(GT_READ(uintptr_t, frame + l->instruction) - start);
	*offset = (uint32_t)at;
	/* it is between the two limits, and even: an odd number becomes large */
	unit = (uintptr_t)at >> 1 | (uintptr_t)at << 63;
	if (gt_likely(unit - (uintptr_t)first < units - (uintptr_t)first))
		return GT_FRAME_FUNCTION;
	/* Before the first limit a frame makes cells, a generator or a coroutine. */
	if (at < -2 || at & 1 || at >= 2 * first)
		return GT_FRAME_BROKEN;
	return owner == GT_PYTHON_GENERATOR ? GT_FRAME_FUNCTION : GT_FRAME_SKIPPED;
}

INLINE enum gt_python_frame_kind read_frame(const struct gt_python_layout *l, uintptr_t code_type,
	struct gt_readable *r, uintptr_t frame, struct gt_python_frame *out)
{
	uint8_t owner = l->owner == GT_PYTHON_NO ? 0 : GT_READ(uint8_t, frame + l->owner);
	uintptr_t code = GT_READ(uintptr_t, frame + l->code) & ~(uintptr_t)l->tag_bits;
	enum gt_python_frame_kind kind;

	if (gt_unlikely(owner >= l->first_skipped))
		return owner <= l->last_owner ? GT_FRAME_SKIPPED : GT_FRAME_BROKEN;
	if (gt_unlikely(
		    !readable_code(l, r, code) || GT_READ(uintptr_t, code + l->type) != code_type))
		return GT_FRAME_BROKEN;
	kind = l->instruction_kind == GT_PYTHON_POINTER
		? read_pointer(l, r, frame, code, owner, &out->offset)
		: read_index(l, r, frame, code, &out->offset);
	if (gt_unlikely(kind != GT_FRAME_FUNCTION))
		return kind;
	out->code = code;
	return gt_likely(identify(l, r, code, &out->check)) ? GT_FRAME_FUNCTION : GT_FRAME_BROKEN;
}

enum gt_python_frame_kind gt_python_read_frame(const struct gt_interpreter *in,
	struct gt_readable *r, uintptr_t frame, struct gt_python_frame *out)
{
	return read_frame(&in->layout, in->code_type, r, frame, out);
}

struct walk {
	const struct gt_python_layout *l;
	struct gt_readable *r;
	uintptr_t code_type, frame;
	uint32_t max;
	uint32_t constants; /* see struct gt_interpreter */
	uint32_t skipped;   /* frames of no function */
};

INLINE uint32_t walk_by(const struct gt_python_layout *l, struct walk *w,
	struct gt_python_frame *frames, enum gt_python_state *state)
{
	uintptr_t frame = w->frame, code_type = w->code_type;
	uintptr_t page = frame ^ (uintptr_t)1 << 63; /* none: far away from it */
	struct gt_python_frame *f = frames, *end = frames + w->max;
	struct gt_readable *r = w->r;
	enum gt_python_frame_kind kind;

	*state = GT_PYTHON_DAMAGED;
	for (; frame; frame = GT_READ(uintptr_t, frame + l->previous)) {
		if (gt_unlikely(f == end || w->skipped == MAX_SKIPPED)) {
			*state = GT_PYTHON_TRUNCATED;
			break;
		}
		/* most frames lie in the page of one before */
		if (gt_unlikely(frame - page > PAGE - l->frame_size)) {
			if (!gt_readable(r, frame, l->frame_size))
				break;
			page = frame & ~(uintptr_t)(PAGE - 1);
		}
		kind = read_frame(l, code_type, r, frame, f);
		if (gt_likely(kind == GT_FRAME_FUNCTION))
			f++;
		else if (kind == GT_FRAME_SKIPPED)
			w->skipped++;
		else
			break;
	}
	if (!frame)
		*state = GT_PYTHON_OK;
	return (uint32_t)(f - frames);
}

static uint32_t walk(struct walk *w, struct gt_python_frame *frames, enum gt_python_state *state)
{
	switch (w->constants) {
	case 0x0309: return walk_by(&gt_python_3_9, w, frames, state);
	case 0x030a: return walk_by(&gt_python_3_10, w, frames, state);
	case 0x030b: return walk_by(&gt_python_3_11, w, frames, state);
	case 0x030c: return walk_by(&gt_python_3_12, w, frames, state);
	case 0x030d: return walk_by(&gt_python_3_13, w, frames, state);
	case 0x030e: return walk_by(&gt_python_3_14, w, frames, state);
	}
	return walk_by(w->l, w, frames, state);
}

/* ---- chains that lead back into themselves ---- */

static uintptr_t next_frame(const struct walk *w, uintptr_t frame)
{
	return GT_READ(uintptr_t, frame + w->l->previous);
}

/* Returns the number of frames before the chain repeats one; 0: it does not, as far as this
 * matters for n frames. Brent's algorithm: the frame at the last power of two is compared with
 * each that follows. */
static uint32_t frames_before_repetition(const struct walk *w, uint32_t n)
{
	uintptr_t at = w->frame, seen = 0, ahead = w->frame;
	uint32_t length = 0, power = 1, before = 0, i;

	for (i = 0; at != seen; i++, length++) {
		if (i > 3 * n || !at || !gt_readable(w->r, at, w->l->frame_size))
			return 0;
		if (!seen || length == power) {
			power *= seen ? 2 : 1;
			seen = at;
			length = 0;
		}
		at = next_frame(w, at);
	}
	for (i = 0; i < length; i++)
		ahead = next_frame(w, ahead);
	for (at = w->frame; at != ahead; before++) {
		at = next_frame(w, at);
		ahead = next_frame(w, ahead);
	}
	return before + length;
}

/* Functions among the first n frames, which were read before. */
static uint32_t functions_among(const struct walk *w, uint32_t n)
{
	struct gt_python_frame one;
	uintptr_t frame = w->frame;
	uint32_t functions = 0;

	for (; n; n--, frame = next_frame(w, frame))
		functions += read_frame(w->l, w->code_type, w->r, frame, &one) == GT_FRAME_FUNCTION;
	return functions;
}

/* Such a chain never ends, so its walk is truncated. */
static uint32_t walk_once(
	struct walk *w, struct gt_python_frame *frames, enum gt_python_state *state)
{
	uint32_t n = walk(w, frames, state), distinct;

	if (gt_likely(*state != GT_PYTHON_TRUNCATED))
		return n;
	distinct = frames_before_repetition(w, n + w->skipped);
	if (distinct) {
		*state = GT_PYTHON_DAMAGED;
		distinct = functions_among(w, distinct);
	}
	return distinct && distinct < n ? distinct : n;
}

/* ---- the interpreter ---- */

/* The one in use, and one that is filled next: a thread may still read the old one. */
static struct gt_interpreter slots[2];
static struct gt_interpreter *in_use, *last; /* last: of slots, the one in use now or before */
static uint32_t found;                       /* interpreters so far */
/* Process whose thread searches. A forked child does not wait for a thread of its parent. */
static int32_t searching;

void gt_python_top(struct gt_readable *r, uintptr_t sp, struct gt_python_top *top)
{
	const struct gt_interpreter *in = __atomic_load_n(&in_use, __ATOMIC_ACQUIRE);
	bool damaged = false;
	uintptr_t thread;

	*top = (struct gt_python_top){ .in = in };
	if (!in)
		return;
	top->state = GT_PYTHON_UNKNOWN;
	if (!in->known)
		return;
	sp = sp ? sp : (uintptr_t)__builtin_frame_address(0);
	thread = thread_state(in, r, sp, &top->state);
	if (!thread)
		return;
	top->frame = gt_python_innermost(&in->layout, r, thread, &damaged);
	top->state = top->frame ? GT_PYTHON_OK : damaged ? GT_PYTHON_DAMAGED : GT_PYTHON_NONE;
}

uint32_t gt_python_walk(struct gt_readable *r, const struct gt_python_top *top,
	struct gt_python_frame *frames, uint32_t max, enum gt_python_state *state)
{
	struct walk w = { .r = r, .frame = top->frame, .max = max };

	*state = top->state;
	if (!top->frame)
		return 0;
	w.l = &top->in->layout;
	w.code_type = top->in->code_type;
	w.constants = top->in->constants;
	return walk_once(&w, frames, state);
}

uint32_t gt_python_frames(struct gt_readable *r, uintptr_t sp, struct gt_python_frame *frames,
	uint32_t max, enum gt_python_state *state)
{
	struct gt_python_top top;

	gt_python_top(r, sp, &top);
	return gt_python_walk(r, &top, frames, max, state);
}

/* "3.10.13 (main, ...": 0x030a. For versions without a variable that tells. */
static uint32_t version_of_text(const char *text)
{
	uint32_t major = 0, minor = 0;

	for (; *text >= '0' && *text <= '9'; text++)
		major = 10 * major + (uint32_t)(*text - '0');
	if (*text++ != '.')
		return 0;
	for (; *text >= '0' && *text <= '9'; text++)
		minor = 10 * minor + (uint32_t)(*text - '0');
	return major > 255 || minor > 255 ? 0 : major << 24 | minor << 16 | 0xf0;
}

/* PY_VERSION_HEX of an interpreter */
static uint32_t version_of(const struct gt_object *o)
{
	const unsigned long *number = gt_object_symbol(o, "Py_Version");
	const char *(*text)(void) = gt_object_symbol(o, "Py_GetVersion");

	if (number)
		return (uint32_t)*number;
	return text ? version_of_text(text()) : 0;
}

static uint32_t constants_of(const struct gt_python_layout *l)
{
	static const struct gt_python_layout *const all[] = { &gt_python_3_9, &gt_python_3_10,
		&gt_python_3_11, &gt_python_3_12, &gt_python_3_13, &gt_python_3_14 };
	const size_t from = offsetof(struct gt_python_layout, instruction_kind),
		     to = offsetof(struct gt_python_layout, qualname);

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (all[i]->version == l->version &&
			!memcmp((const char *)all[i] + from, (const char *)l + from, to - from))
			return l->version;
	return 0;
}

static void describe(
	const struct gt_object *o, uintptr_t runtime, size_t bytes, struct gt_interpreter *in)
{
	size_t size;
	uint32_t version = version_of(o);

	memset(in, 0, sizeof(*in));
	in->runtime = runtime;
	in->version = version >> 16;
	in->in_program = !*o->path; /* as the loader lists the program */
	in->may_allocate = in->version >= 0x030c && !in->in_program;
	/* a program may have copies of these, which the interpreter then uses */
	in->code_type = (uintptr_t)gt_find_in_library("", "PyCode_Type");
	in->text_type = (uintptr_t)gt_find_in_library("", "PyUnicode_Type");
	in->bytes_type = (uintptr_t)gt_find_in_library("", "PyBytes_Type");
	in->eval_low = (uintptr_t)gt_object_range(o, "_PyEval_EvalFrameDefault", &size);
	in->eval_high = in->eval_low + size;
	in->of_thread = gt_object_symbol(o, "PyGILState_GetThisThreadState");
	in->current = gt_object_symbol(o, "_PyThreadState_UncheckedGet");
	if (!in->current)
		in->current = gt_object_symbol(o, "PyThreadState_GetUnchecked");
	in->thread_id = gt_find_libc_function("pthread_self");
	in->known = in->code_type && in->text_type && in->bytes_type && in->of_thread &&
		in->current && in->thread_id &&
		gt_python_layout(version, (const void *)runtime, bytes, &in->layout);
	in->constants = in->known ? constants_of(&in->layout) : 0;
}

/* Makes the interpreter's library stay loaded until the process ends. */
static bool keep_loaded(const struct gt_interpreter *in, const struct gt_object *o)
{
	static uintptr_t kept; /* the interpreter's runtime */
	void *(*load)(const char *, int) = gt_find_libc_function("dlopen");

	/* the loader's lock may stay locked in a forked child */
	if (kept != in->runtime && !gt_is_forked() && load &&
		load(o->path, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE))
		kept = in->runtime;
	return kept == in->runtime;
}

static void find(bool keeps)
{
	struct gt_interpreter *old = in_use, *new = last == &slots[0] ? &slots[1] : &slots[0];
	uintptr_t runtime = (uintptr_t)gt_find_in_library("", "_PyRuntime");
	struct gt_object o;
	size_t bytes;

	if (!runtime || !gt_object_at((const void *)runtime, &o) ||
		!gt_object_range(&o, "_PyRuntime", &bytes)) {
		__atomic_store_n(&in_use, NULL, __ATOMIC_RELEASE);
		return;
	}
	describe(&o, runtime, bytes, new);
	if (old && !memcmp(old, new, offsetof(struct gt_interpreter, number)))
		return;
	if (keeps && !new->in_program && !keep_loaded(new, &o)) {
		__atomic_store_n(&in_use, NULL, __ATOMIC_RELEASE);
		return;
	}
	new->number = ++found;
	last = new;
	__atomic_store_n(&in_use, new, __ATOMIC_RELEASE);
}

static void find_once(bool keeps)
{
	int32_t pid = gt_own_pid(), other = __atomic_load_n(&searching, __ATOMIC_ACQUIRE);
	int saved = errno;

	if (other == pid ||
		!__atomic_compare_exchange_n(
			&searching, &other, pid, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return;
	find(keeps);
	__atomic_store_n(&searching, 0, __ATOMIC_RELEASE);
	errno = saved;
}

void gt_python_find(void) { find_once(false); }
void gt_python_find_safely(void) { find_once(gt_is_loaded_late()); }

bool gt_python_forget(void)
{
	struct gt_interpreter *in = __atomic_load_n(&in_use, __ATOMIC_ACQUIRE);

	if (!in || in->in_program)
		return false;
	__atomic_store_n(&in_use, NULL, __ATOMIC_SEQ_CST);
	return true;
}

uint32_t gt_python_version(void)
{
	const struct gt_interpreter *in = __atomic_load_n(&in_use, __ATOMIC_ACQUIRE);

	return in ? in->version : 0;
}

bool gt_python_eval_range(uintptr_t *low, uintptr_t *high)
{
	const struct gt_interpreter *in = __atomic_load_n(&in_use, __ATOMIC_ACQUIRE);

	if (!in || !in->eval_low)
		return false;
	*low = in->eval_low;
	*high = in->eval_high;
	return true;
}

/* ---- code objects ---- */

static bool readable_range(struct gt_readable *r, uintptr_t from, size_t bytes)
{
	for (uintptr_t at = from; at < from + bytes; at = (at | (PAGE - 1)) + 1)
		if (!gt_readable_page(r, at))
			return false;
	return from + bytes >= from;
}

static bool read_text(const struct gt_interpreter *in, struct gt_readable *r, uintptr_t object,
	char *text, const char **out, uint32_t *n)
{
	struct gt_python_characters c;
	uint64_t used;
	const char *data;

	if (!gt_readable(r, object, in->layout.other_data) ||
		!gt_python_characters(&in->layout, (const void *)object, in->text_type, &c))
		return false;
	used = c.n < GT_PYTHON_TEXT ? c.n : GT_PYTHON_TEXT;
	data = (const char *)object + c.offset;
	if (!readable_range(r, (uintptr_t)data, used * c.width))
		return false;
	*out = c.is_ascii ? data : text;
	*n = c.is_ascii ? (uint32_t)used
			: gt_python_utf8(data, c.width, used, text, GT_PYTHON_TEXT);
	return true;
}

static bool read_lines(const struct gt_interpreter *in, struct gt_readable *r, uintptr_t object,
	struct gt_python_code *c)
{
	const struct gt_python_layout *l = &in->layout;
	uint64_t n;

	if (!gt_readable(r, object, l->bytes_data) ||
		GT_READ(uintptr_t, object + l->type) != in->bytes_type)
		return false;
	n = GT_READ(uint64_t, object + l->size);
	c->nlines = n <= GT_PYTHON_LINES_MAX ? (uint32_t)n : GT_PYTHON_LINES_MAX + 1;
	c->lines = n <= GT_PYTHON_LINES_MAX ? (const uint8_t *)object + l->bytes_data : NULL;
	return !c->lines || readable_range(r, (uintptr_t)c->lines, n);
}

static bool read_code(const struct gt_interpreter *in, struct gt_readable *r, uintptr_t code,
	struct gt_python_code *c)
{
	const struct gt_python_layout *l = &in->layout;

	if (!gt_readable(r, code, l->start + sizeof(uintptr_t)) ||
		GT_READ(uintptr_t, code + l->type) != in->code_type)
		return false;
	c->first_line = GT_READ(uint32_t, code + l->first_line);
	return read_lines(in, r, GT_READ(uintptr_t, code + l->lines), c) &&
		read_text(in, r, GT_READ(uintptr_t, code + l->qualname), c->text, &c->name,
			&c->nname) &&
		read_text(in, r, GT_READ(uintptr_t, code + l->file), c->text + GT_PYTHON_TEXT,
			&c->file, &c->nfile);
}

bool gt_python_code(struct gt_readable *r, uint64_t code, struct gt_python_code *c)
{
	const struct gt_interpreter *in = __atomic_load_n(&in_use, __ATOMIC_ACQUIRE);

	return in && in->known && read_code(in, r, (uintptr_t)code, c);
}
