/* Images of the memory of Python interpreters, for tests: versions that this machine may not have,
 * and damage. A library (python_image.c) has the symbols by which an interpreter is found.
 *
 * Real interpreters are compared in tests/cli/collect/python_frames.sh. The images of 3.9 to 3.13
 * use the layouts under test; those of 3.14 and of free-threaded builds are written down here from
 * their headers (Include/internal/pycore_debug_offsets.h, pycore_interpframe_structs.h,
 * Include/cpython/code.h), which no interpreter of this machine confirms. */
#ifndef GT_PYTHON_IMAGES_H
#define GT_PYTHON_IMAGES_H
#include "collect/guest/stack/python_frames.h"
#include "formats/python/python_layout.h"
#include "tests/unit/t.h"

#include <alloca.h>
#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#define FUNCTIONS 12 /* of an image, which calls one another */
#define PAGES 64
#define MAX 64

/* ---- an image ---- */

struct image {
	void *library;
	struct gt_python_layout l;
	char *runtime, *code_type, *memory, *next, *state;
	char *code[FUNCTIONS], *frame[3 * FUNCTIONS];
	uint32_t nframes;
	struct gt_python_frame want[FUNCTIONS]; /* innermost first */
	uint32_t nwant;
};
static struct gt_readable readable;

static inline char *take(struct image *m, size_t bytes)
{
	char *p = m->next;

	m->next += (bytes + 15) & ~(size_t)15;
	return p;
}

static inline void put(char *p, uint32_t at, uint64_t value, size_t bytes)
{
	if (at != GT_PYTHON_NO)
		memcpy(p + at, &value, bytes);
}
static inline void put_pointer(char *p, uint32_t at, const void *value)
{
	put(p, at, (uintptr_t)value, 8);
}

static inline char *make_bytes(struct image *m, const void *data, size_t n)
{
	char *p = take(m, m->l.bytes_data + n + 1);

	put_pointer(p, m->l.type, dlsym(m->library, "PyBytes_Type"));
	put(p, m->l.size, n, 8);
	memcpy(p + m->l.bytes_data, data, n);
	return p;
}

/* characters of `width` bytes */
static inline char *make_text(struct image *m, const void *data, size_t n, unsigned width)
{
	bool ascii = width == 1;
	char *p = take(m, m->l.other_data + n * width + width);

	for (size_t i = 0; ascii && i < n; i++)
		ascii = ((const uint8_t *)data)[i] < 0x80;
	put_pointer(p, m->l.type, dlsym(m->library, "PyUnicode_Type"));
	put(p, m->l.text_length, n, 8);
	put(p, m->l.text_state, (uint64_t)(width | 8 | (ascii ? 16 : 0)) << m->l.text_shift | 1, 4);
	memcpy(p + (ascii ? m->l.ascii_data : m->l.other_data), data, n * width);
	return p;
}

static const uint16_t greek[] = { 0x3bb, 'x', 0xd800 };
static const uint32_t snake[] = { 0x1f40d, '.', 'p', 'y' };

static inline char *make_code(struct image *m, uint32_t i)
{
	const struct gt_python_layout *l = &m->l;
	char *p = take(m, l->start + 256u), name[16], *text, *file;
	char lines[] = { 1, 2, 3, (char)i };

	snprintf(name, sizeof(name), "function%u", i);
	text = i % 3 == 1 ? make_text(m, greek, 3, 2)
			  : make_text(m, i % 3 ? "gr\xf6\xdf" : name, i % 3 ? 4 : strlen(name), 1);
	file = i % 2 ? make_text(m, snake, 4, 4) : make_text(m, "file.py", 7, 1);
	put_pointer(p, l->type, m->code_type);
	put(p, l->size, 100, 8);
	put(p, l->first_line, 10 * i + 1, 4);
	put_pointer(p, l->name, text);
	put_pointer(p, l->qualname, text);
	put_pointer(p, l->file, file);
	put_pointer(p, l->lines, make_bytes(m, lines, sizeof(lines)));
	put(p, l->first_traceable, 2, 4);
	if (l->instruction_kind != GT_PYTHON_POINTER)
		put_pointer(p, l->start, make_bytes(m, name, 10));
	if (l->copies !=
		GT_PYTHON_NO) { /* number of copies, and the second one of them elsewhere */
		char *copies = take(m, 24);

		put(copies, 0, 2, 8);
		put_pointer(copies, 8, p + l->start);
		put_pointer(copies, 16, take(m, 256));
		put_pointer(p, l->copies, copies);
	}
	return p;
}

/* A frame at instruction `unit` that calls the one made before. */
static inline char *make_frame(struct image *m, char *code, int unit, uint8_t owner)
{
	const struct gt_python_layout *l = &m->l;
	char *p = take(m, l->frame_size + 24u), *start = code ? code + l->start : NULL;

	put_pointer(p, l->code, code + (l->tag_bits && code ? 1 : 0));
	put(p, l->owner, owner, 1);
	put(p, l->copy_index, m->nframes % 2, 4);
	if (code && l->copies != GT_PYTHON_NO && m->nframes % 2)
		memcpy(&start, *(char **)(code + l->copies) + 16, 8);
	if (l->instruction_kind == GT_PYTHON_POINTER)
		put_pointer(p, l->instruction, start + 2 * unit);
	else
		put(p, l->instruction,
			(uint64_t)(unit < 0                                      ? -1
					: l->instruction_kind == GT_PYTHON_UNITS ? unit
										 : 2 * unit),
			4);
	if (m->nframes)
		put_pointer(m->frame[m->nframes - 1], l->previous, p);
	m->frame[m->nframes++] = p;
	return p;
}

static inline void want(struct image *m, char *code, int unit)
{
	m->want[m->nwant].code = (uintptr_t)code;
	m->want[m->nwant++].offset = (uint32_t)(unit < 0 ? unit : 2 * unit);
}

/* Functions at instructions 3, 4, ..., between them frames that tracebacks omit, and a generator
 * before its first instruction. */
static inline void make_chain(struct image *m)
{
	bool new = m->l.instruction_kind == GT_PYTHON_POINTER;

	for (uint32_t i = 0; i < FUNCTIONS; i++)
		m->code[i] = make_code(m, i);
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		int unit = i == 5 ? (new ? 1 : -1) : (int)i % 2 + 3;

		if (new && m->l.first_skipped <= m->l.last_owner && i % 3 == 0)
			make_frame(m, NULL, 0, m->l.last_owner);
		if (new &&i == 4)
			make_frame(m, m->code[1], 1, 0);
		if (new &&i == 8)
			make_frame(m, m->code[1], -1, 0);
		make_frame(m, m->code[i], unit, i == 5 ? GT_PYTHON_GENERATOR : 0);
		want(m, m->code[i], unit);
	}
}

/* call: memory on this thread's stack */
static inline void make_state(struct image *m, char *call)
{
	const struct gt_python_layout *l = &m->l;
	char *cframe = l->thread_call == GT_PYTHON_NO ? take(m, 64) : call;

	m->state = take(m, 512);
	put_pointer(m->state, l->thread_call, call);
	put(m->state, l->thread_id, (uintptr_t)pthread_self(), 8);
	put_pointer(m->state, l->thread_frame, l->innermost == GT_PYTHON_NO ? m->frame[0] : cframe);
	if (l->innermost != GT_PYTHON_NO)
		put_pointer(cframe, l->innermost, m->frame[0]);
	*(void **)dlsym(m->library, "image_of_thread") = m->state;
}

/* ---- what 3.13 and later publish ---- */

struct publication {
	uint64_t finalizing, free_threaded, next, frame, id;
	uint64_t frame_size, previous, executable, instruction, locals, owner, stack, copy_index;
	uint64_t code_size, file, name, qualname, lines, first_line, start, copies;
	uint64_t object, text_size, runtime;
};
/* object headers of 16 and 32 bytes; 24 bytes more in a free-threaded code object of 3.14 */
static const struct publication normal = { .finalizing = 608,
	.next = 8,
	.frame = 72,
	.id = 152,
	.frame_size = 80,
	.previous = 8,
	.instruction = 56,
	.locals = 72,
	.owner = 70,
	.code_size = 208,
	.file = 112,
	.name = 120,
	.qualname = 128,
	.lines = 136,
	.first_line = 68,
	.start = 200,
	.object = 16,
	.text_size = 40,
	.runtime = 4096 };
static const struct publication free_threaded = { .finalizing = 608,
	.free_threaded = 1,
	.next = 8,
	.frame = 72,
	.id = 152,
	.frame_size = 80,
	.previous = 8,
	.instruction = 56,
	.locals = 72,
	.owner = 70,
	.code_size = 224,
	.file = 128,
	.name = 136,
	.qualname = 144,
	.lines = 152,
	.first_line = 84,
	.start = 216,
	.object = 32,
	.text_size = 56,
	.runtime = 4096 };
static const struct publication normal_14 = { .finalizing = 1024,
	.next = 8,
	.frame = 72,
	.id = 152,
	.frame_size = 88,
	.previous = 8,
	.instruction = 56,
	.locals = 80,
	.owner = 74,
	.stack = 64,
	.code_size = 208,
	.file = 112,
	.name = 120,
	.qualname = 128,
	.lines = 136,
	.first_line = 68,
	.start = 200,
	.object = 16,
	.text_size = 40,
	.runtime = 4096 };
static const struct publication free_threaded_14 = { .finalizing = 1024,
	.free_threaded = 1,
	.next = 8,
	.frame = 72,
	.id = 152,
	.frame_size = 88,
	.previous = 8,
	.instruction = 56,
	.locals = 80,
	.owner = 78,
	.stack = 64,
	.copy_index = 72,
	.code_size = 240,
	.file = 128,
	.name = 136,
	.qualname = 144,
	.lines = 152,
	.first_line = 84,
	.start = 232,
	.copies = 224,
	.object = 32,
	.text_size = 56,
	.runtime = 4096 };

static inline void append(char *runtime, uint32_t *at, const uint64_t *words, uint32_t n)
{
	memcpy(runtime + 8 * *at, words, 8 * n);
	*at += n;
}
#define APPEND(...)                                                                                \
	append(runtime, &at, (const uint64_t[]){ __VA_ARGS__ },                                    \
		sizeof((const uint64_t[]){ __VA_ARGS__ }) / 8)

/* struct _Py_DebugOffsets; it has more members in 3.14 */
static inline void publish(char *runtime, uint32_t version, const struct publication *p)
{
	const uint64_t gil = 8000, before = p->free_threaded ? 8 : 0;
	bool later = version >= 0x030e0000;
	uint32_t at = 1;

	memcpy(runtime, "xdebugpy", 8);
	APPEND(version, p->free_threaded, p->runtime, p->finalizing, 2048);
	APPEND(9000, 100, 7264, 7344);
	if (later)
		APPEND(7352); /* threads_main */
	APPEND(1, 2, 3, 4, 16, gil, p->free_threaded ? gil : 0, gil + 16 + before,
		gil + 8 + before);
	if (later)
		APPEND(10, 11); /* generations */
	APPEND(900, 0, p->next, 16, p->frame, p->id, 160, 200, 24);
	APPEND(p->frame_size, p->previous, p->executable, p->instruction, p->locals, p->owner);
	if (later)
		APPEND(p->stack, p->copy_index);
	APPEND(p->code_size, p->file, p->name, p->qualname, p->lines, p->first_line, 52, 96, 104,
		p->start);
	if (later)
		APPEND(p->copies);
	APPEND(p->object, p->object - 8);
	APPEND(408, 24, 88, 168, 32, 24, 16, 40, 24, 16); /* types, tuples, lists */
	if (later)
		APPEND(200, 24, 32, 40);        /* sets */
	APPEND(48, 32, 40, 24, 16, 32, 16, 24); /* dictionaries, floats, ints */
	APPEND(p->object + 24, p->object, p->object + 16);
	APPEND(p->text_size + 24, p->object + 16, p->object, p->text_size);
}

/* ---- versions ---- */

struct kind {
	const char *name;
	uint32_t hex;
	const struct publication *published; /* NULL: the layouts under test */
};
static const struct kind kinds[] = { { "3.9.18 (main, x)", 0x030912f0, NULL },
	{ "3.10.0+", 0x030a00f0, NULL }, { "3.11", 0x030b02f0, NULL }, { "3.12", 0x030c01f0, NULL },
	{ "3.13", 0x030d00f0, &normal }, { "3.13t", 0x030d00f0, &free_threaded },
	{ "3.14", 0x030e00f0, &normal_14 }, { "3.14t", 0x030e06f0, &free_threaded_14 } };
#define KINDS (sizeof(kinds) / sizeof(*kinds))

static inline void *load(bool old)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, 3900);

	path[n > 0 ? n : 0] = 0;
	for (int i = 0; i < 2 && strrchr(path, '/'); i++)
		*strrchr(path, '/') = 0;
	strcat(path, old ? "/guest/fake/libpythonimage-old.so" : "/guest/fake/libpythonimage.so");
	return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

/* An interpreter that the guest finds. False: it does not. */
#define open_image(m, k) open_image_at(m, k, memset(alloca(64), 0, 64))
static inline bool open_image_at(struct image *m, const struct kind *k, char *call)
{
	bool old = k->hex < 0x030b0000;

	memset(m, 0, sizeof(*m));
	memset(&readable, 0, sizeof(readable));
	m->library = load(old);
	if (!m->library)
		return false;
	m->runtime = dlsym(m->library, "_PyRuntime");
	m->code_type = dlsym(m->library, "PyCode_Type");
	if (old)
		*(const char **)dlsym(m->library, "image_version_text") = k->name;
	else
		*(unsigned long *)dlsym(m->library, "Py_Version") = k->hex;
	if (k->published)
		publish(m->runtime, k->hex, k->published);
	gt_python_find();
	if (gt_python_version() != k->hex >> 16 ||
		!gt_python_layout(k->hex, m->runtime, 4096, &m->l))
		return false;
	m->memory =
		mmap(NULL, PAGES << 12, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	m->next = m->memory + 4096;
	make_chain(m);
	make_state(m, call);
	return true;
}

static inline void close_image(struct image *m)
{
	if (m->memory)
		munmap(m->memory, PAGES << 12);
	if (m->library)
		dlclose(m->library);
	gt_python_find();
}

static inline uint32_t frames_of(
	struct gt_python_frame *f, uint32_t max, enum gt_python_state *state)
{
	memset(f, 0xee, max * sizeof(*f));
	return gt_python_frames(&readable, 0, f, max, state);
}

static inline bool are_first(const struct image *m, const struct gt_python_frame *f, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (i >= m->nwant || f[i].code != m->want[i].code ||
			f[i].offset != m->want[i].offset)
			return false;
	return true;
}

/* Bytes of the line table of the code object of the innermost frame. */
static inline void put_lines_length(struct image *m, uint64_t n)
{
	char *lines;

	memcpy(&lines, m->code[0] + m->l.lines, 8);
	put(lines, m->l.size, n, 8);
}

/* functions before frame number i */
static inline uint32_t functions_before(const struct image *m, uint32_t i)
{
	uint32_t n = 0;

	for (uint32_t j = 0; j < i; j++)
		for (uint32_t k = 0; k < m->nwant; k++)
			n += (*(uint64_t *)(m->frame[j] + m->l.code) & ~7ull) == m->want[k].code &&
				n == k;
	return n;
}

/* A second interpreter before the image's, and its state. */
static inline char *second_interpreter(struct image *m)
{
	char *interpreter = take(m, 256), *second = take(m, 256), *state = take(m, 512);

	put(m->runtime, m->l.next_interpreter_id, 2, 8);
	put_pointer(m->runtime, m->l.interpreters, second);
	put_pointer(second, m->l.interpreter_next, interpreter);
	put_pointer(interpreter, m->l.interpreter_threads, m->state);
	put_pointer(second, m->l.interpreter_threads, state);
	put_pointer(state, m->l.thread_call, state + 336);
	if (m->l.innermost != GT_PYTHON_NO)
		put_pointer(state, m->l.thread_frame, state + 336);
	return state;
}

/* The state has the frames of the image from number n on. call: where the interpreter's innermost
 * call is. */
static inline void put_frames(struct image *m, char *state, uint32_t n, char *call)
{
	put_pointer(state, m->l.thread_call, call);
	put_pointer(state, m->l.thread_frame, m->l.innermost == GT_PYTHON_NO ? m->frame[n] : call);
	if (m->l.innermost != GT_PYTHON_NO)
		put_pointer(call, m->l.innermost, m->frame[n]);
}
#endif
