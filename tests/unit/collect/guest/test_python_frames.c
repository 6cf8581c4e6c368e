/* Frames of Python from images of memory: versions that this machine may not have, and damage.
 *
 * Real interpreters are compared in tests/cli/collect/python_frames.sh. The images of 3.9 to 3.13
 * use the layouts under test; those of 3.14 and of free-threaded builds are written down here from
 * their headers (Include/internal/pycore_debug_offsets.h, pycore_interpframe_structs.h,
 * Include/cpython/code.h), which no interpreter of this machine confirms. */
#define _GNU_SOURCE
#include "collect/guest/stack/python_frames.h"
#include "collect/host/remote_python.h"
#include "formats/python/python_layout.h"
#include "tests/unit/t.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
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

static char *take(struct image *m, size_t bytes)
{
	char *p = m->next;

	m->next += (bytes + 15) & ~(size_t)15;
	return p;
}

static void put(char *p, uint32_t at, uint64_t value, size_t bytes)
{
	if (at != GT_PYTHON_NO)
		memcpy(p + at, &value, bytes);
}
static void put_pointer(char *p, uint32_t at, const void *value)
{
	put(p, at, (uintptr_t)value, 8);
}

static char *make_bytes(struct image *m, const void *data, size_t n)
{
	char *p = take(m, m->l.bytes_data + n + 1);

	put_pointer(p, m->l.type, dlsym(m->library, "PyBytes_Type"));
	put(p, m->l.size, n, 8);
	memcpy(p + m->l.bytes_data, data, n);
	return p;
}

/* characters of `width` bytes */
static char *make_text(struct image *m, const void *data, size_t n, unsigned width)
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

static char *make_code(struct image *m, uint32_t i)
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
static char *make_frame(struct image *m, char *code, int unit, uint8_t owner)
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

static void want(struct image *m, char *code, int unit)
{
	m->want[m->nwant].code = (uintptr_t)code;
	m->want[m->nwant++].offset = (uint32_t)(unit < 0 ? unit : 2 * unit);
}

/* Functions at instructions 3, 4, ..., between them frames that tracebacks omit, and a generator
 * before its first instruction. */
static void make_chain(struct image *m)
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

static void make_state(struct image *m)
{
	const struct gt_python_layout *l = &m->l;
	char *cframe = take(m, 64);

	m->state = take(m, 512);
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

static void append(char *runtime, uint32_t *at, const uint64_t *words, uint32_t n)
{
	memcpy(runtime + 8 * *at, words, 8 * n);
	*at += n;
}
#define APPEND(...)                                                                                \
	append(runtime, &at, (const uint64_t[]){ __VA_ARGS__ },                                    \
		sizeof((const uint64_t[]){ __VA_ARGS__ }) / 8)

/* struct _Py_DebugOffsets; it has more members in 3.14 */
static void publish(char *runtime, uint32_t version, const struct publication *p)
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

static void *load(bool old)
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
static bool open_image(struct image *m, const struct kind *k)
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
	make_state(m);
	return true;
}

static void close_image(struct image *m)
{
	if (m->memory)
		munmap(m->memory, PAGES << 12);
	if (m->library)
		dlclose(m->library);
	gt_python_find();
}

static uint32_t frames_of(struct gt_python_frame *f, uint32_t max, enum gt_python_state *state)
{
	memset(f, 0xee, max * sizeof(*f));
	return gt_python_frames(&readable, f, max, state);
}

static bool are_first(const struct image *m, const struct gt_python_frame *f, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (i >= m->nwant || f[i].code != m->want[i].code ||
			f[i].offset != m->want[i].offset)
			return false;
	return true;
}

/* ---- tests ---- */

static void frames_and_code_objects_of_each_version(void)
{
	struct gt_python_frame f[MAX];
	static struct gt_python_code c;
	enum gt_python_state state;
	static struct image m;

	for (size_t k = 0; k < KINDS; k++) {
		CHECK(open_image(&m, &kinds[k]));
		CHECK_EQ(frames_of(f, MAX, &state), FUNCTIONS);
		CHECK_EQ(state, GT_PYTHON_OK);
		CHECK(are_first(&m, f, FUNCTIONS));
		CHECK(gt_python_code(&readable, f[0].code, &c));
		CHECK(c.nname == 9 && !memcmp(c.name, "function0", 9));
		CHECK(c.nfile == 7 && !memcmp(c.file, "file.py", 7));
		CHECK(c.first_line == 1 && c.nlines == 4 && !memcmp(c.lines, "\1\2\3\0", 4));
		CHECK(gt_python_code(&readable, f[1].code, &c));
		CHECK(c.nname == 6 && !memcmp(c.name, "\xce\xbbx\xef\xbf\xbd", 6));
		CHECK(c.nfile == 7 && !memcmp(c.file, "\xf0\x9f\x90\x8d.py", 7));
		CHECK(gt_python_code(&readable, f[2].code, &c));
		CHECK(c.nname == 6 && !memcmp(c.name, "gr\xc3\xb6\xc3\x9f", 6));
		CHECK(f[0].check != f[1].check);
		close_image(&m);
	}
}

/* 3.9 to 3.12: as offsetof says with their own headers. */
static void gil_of_each_version(void)
{
	static const uint32_t places[KINDS] = { 352, 352, 360, 384, 16, 16, 16, 16 };
	static struct image m;

	for (size_t k = 0; k < KINDS; k++) {
		uint16_t before = kinds[k].published && kinds[k].published->free_threaded ? 8 : 0;

		CHECK(open_image(&m, &kinds[k]));
		CHECK_EQ(m.l.gil, places[k]);
		CHECK_EQ(m.l.gil_is_pointed_to, kinds[k].hex >= 0x030c0000);
		CHECK_EQ(m.l.gil_interval, before);
		CHECK_EQ(m.l.gil_holder, 8 + before);
		CHECK_EQ(m.l.gil_locked, 16 + before);
		CHECK_EQ(m.l.gil_condition, 32 + before);
		close_image(&m);
	}
}

static void more_frames_than_wanted(void)
{
	struct gt_python_frame f[MAX];
	enum gt_python_state state;
	static struct image m;

	for (size_t k = 0; k < KINDS; k++) {
		CHECK(open_image(&m, &kinds[k]));
		for (uint32_t max = 1; max <= FUNCTIONS; max++) {
			CHECK_EQ(frames_of(f, max, &state), max);
			CHECK_EQ(state, max < FUNCTIONS ? GT_PYTHON_TRUNCATED : GT_PYTHON_OK);
			CHECK(are_first(&m, f, max));
		}
		close_image(&m);
	}
}

static void states_without_frames(void)
{
	struct gt_python_frame f[MAX];
	enum gt_python_state state;
	static struct image m;
	uint64_t other = 1;
	void **current;

	gt_python_find();
	CHECK_EQ(frames_of(f, MAX, &state), 0);
	CHECK(state == GT_PYTHON_NONE && !gt_python_version());
	for (size_t k = 0; k < KINDS; k++) {
		CHECK(open_image(&m, &kinds[k]));
		current = dlsym(m.library, "image_current");
		*current = m.memory; /* another thread's */
		CHECK_EQ(frames_of(f, MAX, &state), FUNCTIONS);
		*current = m.state;
		CHECK_EQ(frames_of(f, MAX, &state), FUNCTIONS);
		/* the thread that finalizes the interpreter, and another one */
		put_pointer(m.runtime, m.l.finalizing, m.state);
		CHECK_EQ(frames_of(f, MAX, &state), FUNCTIONS);
		put_pointer(m.runtime, m.l.finalizing, m.memory);
		CHECK_EQ(frames_of(f, MAX, &state), 0);
		CHECK_EQ(state, GT_PYTHON_UNKNOWN);
		put_pointer(m.runtime, m.l.finalizing, NULL);
		*current = NULL;
		put_pointer(m.state, m.l.thread_frame, NULL);
		CHECK_EQ(frames_of(f, MAX, &state), 0);
		CHECK_EQ(state, GT_PYTHON_NONE);
		memcpy(m.state + m.l.thread_id, &other, 8);
		CHECK_EQ(frames_of(f, MAX, &state), 0);
		CHECK_EQ(state, GT_PYTHON_UNKNOWN);
		*(void **)dlsym(m.library, "image_of_thread") = NULL;
		CHECK_EQ(frames_of(f, MAX, &state), 0);
		CHECK_EQ(state, GT_PYTHON_NONE);
		close_image(&m);
		CHECK_EQ(frames_of(f, MAX, &state), 0);
		CHECK(state == GT_PYTHON_NONE && !gt_python_version());
	}
}

static void unknown_versions_have_no_frames(void)
{
	static const struct kind unknown[] = { { "3.8.1", 0x030801f0, NULL }, { "x", 0, NULL },
		{ "3.", 0, NULL }, { "3.15", 0x030f00f0, &normal_14 },
		{ "3.13 alpha", 0x030d00a1, &normal }, { "no cookie", 0x030d00f0, NULL } };
	struct gt_python_frame f[MAX];
	enum gt_python_state state;
	static struct image m;
	struct publication p;

	for (size_t k = 0; k < sizeof(unknown) / sizeof(*unknown); k++) {
		CHECK(!open_image(&m, &unknown[k]));
		CHECK_EQ(frames_of(f, MAX, &state), 0);
		CHECK_EQ(state, GT_PYTHON_UNKNOWN);
		close_image(&m);
	}
	/* offsets that cannot be right; the order of members of 3.13 under the number of 3.14 */
	for (int i = 0; i < 8; i++) {
		struct kind k = { "3.13", 0x030d00f0, &p };

		p = normal;
		*(i == 0                 ? &p.object
				: i == 1 ? &p.owner
				: i == 2 ? &p.start
				: i == 3 ? &p.runtime
				: i == 4 ? &p.id
				: i == 5 ? &p.text_size
				: i == 6 ? &p.frame_size
					 : &p.finalizing) = 5000;
		CHECK(!open_image(&m, &k));
		CHECK_EQ(frames_of(f, MAX, &state), 0);
		CHECK_EQ(state, GT_PYTHON_UNKNOWN);
		close_image(&m);
	}
	memset(&m, 0, sizeof(m));
	m.library = load(false);
	m.runtime = dlsym(m.library, "_PyRuntime");
	publish(m.runtime, 0x030d00f0, &normal);
	CHECK(gt_python_layout(0x030d00f0, m.runtime, 4096, &m.l));
	((uint64_t *)m.runtime)[1] = 0x030e00f0;
	CHECK(!gt_python_layout(0x030e00f0, m.runtime, 4096, &m.l));
	publish(m.runtime, 0x030e00f0, &normal_14);
	CHECK(gt_python_layout(0x030e00f0, m.runtime, 4096, &m.l));
	((uint64_t *)m.runtime)[1] = 0x030d00f0;
	CHECK(!gt_python_layout(0x030d00f0, m.runtime, 4096, &m.l));
	close_image(&m);
}

/* Values that lead nowhere. */
static uint64_t garbage(const struct image *m, unsigned i)
{
	const uint64_t values[] = { 1, 8, 4088, 0xffffffffffffffff, 0xfffffffffffff000,
		0xffffffffffffff80, 0x8000000000000000, 0x7ffffffff008, 0xdeadbeefdeadbeef,
		(uintptr_t)m->memory + (PAGES << 12), (uintptr_t)m->memory + (PAGES << 12) - 16,
		(uintptr_t)m->memory + (PAGES << 12) + 4096 - 8, (uintptr_t)m->runtime,
		(uintptr_t)m->code[0] + 8, (uintptr_t)m->code_type, (uintptr_t)m->frame[0] + 1,
		(uintptr_t)m->memory, (uintptr_t)strlen };

	return values[i % (sizeof(values) / sizeof(*values))];
}
#define GARBAGE 18

/* functions before frame number i */
static uint32_t functions_before(const struct image *m, uint32_t i)
{
	uint32_t n = 0;

	for (uint32_t j = 0; j < i; j++)
		for (uint32_t k = 0; k < m->nwant; k++)
			n += (*(uint64_t *)(m->frame[j] + m->l.code) & ~7ull) == m->want[k].code &&
				n == k;
	return n;
}

static void damaged_frames(void)
{
	struct gt_python_frame f[MAX];
	enum gt_python_state state;
	static struct image m;

	for (size_t k = 0; k < KINDS; k++) {
		CHECK(open_image(&m, &kinds[k]));
		CHECK_EQ(mprotect(m.memory + ((PAGES - 8) << 12), 8 << 12, PROT_NONE), 0);
		for (uint32_t i = 0; i + 1 < m.nframes; i++)
			for (unsigned g = 0; g < GARBAGE; g++) {
				uint64_t *previous = (uint64_t *)(m.frame[i] + m.l.previous),
					 was = *previous;
				uint32_t right = functions_before(&m, i + 1), n;

				*previous = garbage(&m, g);
				n = frames_of(f, MAX, &state);
				*previous = was;
				CHECK_EQ(state, GT_PYTHON_DAMAGED);
				CHECK_EQ(n, right);
				CHECK(are_first(&m, f, n));
			}
		CHECK_EQ(frames_of(f, MAX, &state), FUNCTIONS);
		for (unsigned g = 0; g < GARBAGE; g++) { /* the first one */
			char *at = m.state + m.l.thread_frame;

			if (m.l.innermost != GT_PYTHON_NO)
				at = *(char **)at + m.l.innermost;
			put(at, 0, garbage(&m, g), 8);
			CHECK_EQ(frames_of(f, MAX, &state), 0);
			CHECK_EQ(state, GT_PYTHON_DAMAGED);
			if (m.l.innermost == GT_PYTHON_NO)
				continue;
			put(m.state, m.l.thread_frame, garbage(&m, g), 8);
			frames_of(f, MAX, &state);
			put_pointer(m.state, m.l.thread_frame, at - m.l.innermost);
		}
		close_image(&m);
	}
}

static void damaged_code_and_instructions(void)
{
	struct gt_python_frame f[MAX];
	enum gt_python_state state;
	static struct image m;

	for (size_t k = 0; k < KINDS; k++) {
		CHECK(open_image(&m, &kinds[k]));
		for (uint32_t i = 0; i < m.nwant; i++)
			for (unsigned g = 0; g < 2 * GARBAGE; g++) {
				uint32_t at = g % 2 ? m.l.code : m.l.instruction, j = 0, n;
				size_t bytes =
					g % 2 || m.l.instruction_kind == GT_PYTHON_POINTER ? 8 : 4;
				uint64_t value = g % 2 || bytes == 8
					? garbage(&m, g / 2)
					: (uint64_t[]){ 1000, (uint64_t)-2, 1 << 30,
						  (uint64_t)INT32_MIN }[g / 2 % 4],
					 was;

				while (functions_before(&m, j + 1) <= i)
					j++;
				memcpy(&was, m.frame[j] + at, 8);
				put(m.frame[j], at, value, bytes);
				n = frames_of(f, MAX, &state);
				memcpy(m.frame[j] + at, &was, 8);
				CHECK_EQ(state, GT_PYTHON_DAMAGED);
				CHECK_EQ(n, i);
				CHECK(are_first(&m, f, n));
			}
		/* 4 GiB away, as far as an offset of 32 bits can tell the right one */
		for (int sign = -1; sign <= 1 && m.l.instruction_kind == GT_PYTHON_POINTER;
			sign += 2) {
			uint64_t *at = (uint64_t *)(m.frame[m.nframes - 1] + m.l.instruction),
				 was = *at;

			for (int back = 0; back <= 6; back += 2) {
				*at = was - (uint64_t)back + (uint64_t)(sign * (1ll << 32));
				CHECK_EQ(frames_of(f, MAX, &state), FUNCTIONS - 1);
				CHECK_EQ(state, GT_PYTHON_DAMAGED);
			}
			*at = was;
		}
		CHECK_EQ(frames_of(f, MAX, &state), FUNCTIONS);
		close_image(&m);
	}
}

/* Each frame of the chain as the caller of each other one: as many frames as are distinct. */
static void chains_that_lead_back(void)
{
	struct gt_python_frame f[MAX];
	enum gt_python_state state;
	static struct image m;

	for (size_t k = 0; k < KINDS; k++) {
		CHECK(open_image(&m, &kinds[k]));
		for (uint32_t i = 0; i < m.nframes; i++)
			for (uint32_t to = 0; to <= i; to++) {
				uint64_t was;
				uint32_t n;

				memcpy(&was, m.frame[i] + m.l.previous, 8);
				put_pointer(m.frame[i], m.l.previous, m.frame[to]);
				n = frames_of(f, MAX, &state);
				memcpy(m.frame[i] + m.l.previous, &was, 8);
				CHECK_EQ(state, GT_PYTHON_DAMAGED);
				CHECK_EQ(n, functions_before(&m, i + 1));
				CHECK(are_first(&m, f, n));
			}
		close_image(&m);
	}
}

/* Any word of the frames, code objects and state replaced: no crash, and frames that are all right
 * unless the state says otherwise, or the word was an instruction or a whole pointer to another
 * frame or code object, which nothing can tell. */
static void random_damage(void)
{
	static struct gt_python_frame f[MAX];
	static struct gt_python_code c;
	enum gt_python_state state;
	static struct image m;
	uint64_t random = 88172645463325252u;

	for (size_t k = 0; k < KINDS; k++) {
		CHECK(open_image(&m, &kinds[k]));
		for (int round = 0; round < 20000; round++) {
			uint64_t *at, was;
			size_t words = (size_t)(m.next - m.memory - 4096) / 8;
			uint32_t n;

			random ^= random << 13, random ^= random >> 7, random ^= random << 17;
			at = (uint64_t *)(m.memory + 4096) + random % words;
			was = *at;
			*at = random & 1 << 20 ? garbage(&m, (unsigned)(random >> 32)) : random;
			n = frames_of(f, MAX, &state);
			for (uint32_t i = 0; i < n; i++)
				gt_python_code(&readable, f[i].code, &c);
			*at = was;
			CHECK(n <= MAX);
		}
		CHECK_EQ(frames_of(f, MAX, &state), FUNCTIONS);
		close_image(&m);
	}
}

static void damaged_code_objects(void)
{
	static struct gt_python_code c;
	static struct image m;

	for (size_t k = 0; k < KINDS; k++) {
		CHECK(open_image(&m, &kinds[k]));
		const uint32_t pointers[] = { m.l.type, m.l.qualname, m.l.file, m.l.lines };

		CHECK_EQ(mprotect(m.memory + ((PAGES - 8) << 12), 8 << 12, PROT_NONE), 0);
		for (unsigned p = 0; p < 4; p++)
			for (unsigned g = 0; g < 12; g++) {
				uint64_t was;

				memcpy(&was, m.code[0] + pointers[p], 8);
				put(m.code[0], pointers[p], garbage(&m, g), 8);
				CHECK(!gt_python_code(&readable, (uintptr_t)m.code[0], &c));
				memcpy(m.code[0] + pointers[p], &was, 8);
			}
		/* lengths that leave the mapped memory, and more than the limit */
		for (unsigned i = 0; i < 3; i++) {
			char *lines, *name;

			memcpy(&lines, m.code[0] + m.l.lines, 8);
			put(lines, m.l.size, (uint64_t[]){ 1 << 20, (uint64_t)-1, 1ull << 40 }[i],
				8);
			CHECK(!gt_python_code(&readable, (uintptr_t)m.code[0], &c));
			put(lines, m.l.size, 4, 8);
			memcpy(&name, m.code[0] + m.l.qualname, 8);
			put(name, m.l.text_length,
				i ? (uint64_t[]){ 0, 5000, 1 << 30 }[i] : (uint64_t)-1, 8);
			CHECK_EQ(gt_python_code(&readable, (uintptr_t)m.code[0], &c), i > 0);
			CHECK(!i || c.nname == GT_PYTHON_TEXT);
			put(name, m.l.text_length, 9, 8);
		}
		CHECK(gt_python_code(&readable, (uintptr_t)m.code[0], &c));
		CHECK(!gt_python_code(&readable, 0, &c));
		for (unsigned g = 0; g < GARBAGE; g++)
			CHECK(!gt_python_code(&readable, garbage(&m, g), &c));
		close_image(&m);
	}
}

/* up to 3.11: a state of this thread in each of two interpreters, none of which is current */
static void states_of_several_interpreters(void)
{
	struct gt_python_frame f[MAX];
	enum gt_python_state state;
	static struct image m;

	for (size_t k = 0; k < 3; k++) {
		char *interpreter, *second, *other, *cframe;

		CHECK(open_image(&m, &kinds[k]));
		interpreter = take(&m, 256), second = take(&m, 256), cframe = m.memory + 64;
		other = take(&m, 512);
		put(m.runtime, m.l.next_interpreter_id, 2, 8);
		put_pointer(m.runtime, m.l.interpreters, second);
		put_pointer(second, m.l.interpreter_next, interpreter);
		put_pointer(interpreter, m.l.interpreter_threads, m.state);
		put_pointer(second, m.l.interpreter_threads, other);
		/* the other one is another thread's, has no frames, has the inner frames */
		CHECK_EQ(frames_of(f, MAX, &state), FUNCTIONS);
		put(other, m.l.thread_id, (uintptr_t)pthread_self(), 8);
		CHECK_EQ(frames_of(f, MAX, &state), FUNCTIONS);
		put_pointer(other, m.l.thread_frame,
			m.l.innermost == GT_PYTHON_NO ? m.frame[3] : cframe);
		if (m.l.innermost != GT_PYTHON_NO)
			put_pointer(cframe, m.l.innermost, m.frame[m.nframes - 3]);
		CHECK_EQ(frames_of(f, MAX, &state), m.l.innermost == GT_PYTHON_NO ? 0 : 3);
		CHECK_EQ(state, m.l.innermost == GT_PYTHON_NO ? GT_PYTHON_UNKNOWN : GT_PYTHON_OK);
		/* lists that lead back */
		put_pointer(interpreter, m.l.interpreter_next, second);
		put_pointer(other, m.l.thread_next, other);
		frames_of(f, MAX, &state);
		close_image(&m);
	}
}

static void a_forked_child_has_the_frames(void)
{
	struct gt_python_frame f[MAX];
	enum gt_python_state state;
	static struct image m;
	int status;
	pid_t pid;

	CHECK(open_image(&m, &kinds[2]));
	pid = fork();
	if (!pid) {
		gt_python_find();
		_exit(frames_of(f, MAX, &state) != FUNCTIONS || state != GT_PYTHON_OK);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
	close_image(&m);
}

/* ---- from outside: gtcollect reads this process as it reads others ---- */

/* What leads from the runtime to the state of this thread. */
static void make_lists(struct image *m)
{
	const struct gt_python_layout *l = &m->l;
	char *interpreter = take(m, l->interpreter_threads + 64u);

	put(m->state, l->native_id, (uint64_t)gettid(), 8);
	put_pointer(interpreter, l->interpreter_threads, m->state);
	put_pointer(interpreter, l->interpreter_next, NULL);
	put_pointer(m->runtime, l->interpreters, interpreter);
}

/* Code objects stay for older stacks when their process executes another program. */
static bool outlive_their_process(struct gt_remote_python *p, const struct gt_remote_stack *old)
{
	const uint32_t here = (uint32_t)getpid();
	static struct gt_remote_stack s;
	bool is_right;

	gt_remote_python_forget(p, here, 5);
	gt_remote_python_release(p, 4);
	gt_remote_python_stack(p, here, (uint32_t)gettid(), &s);
	is_right = s.n == old->n && s.n &&
		!strcmp(old->frames[0].code->name, s.frames[0].code->name) &&
		old->frames[0].code->number != s.frames[0].code->number;
	gt_remote_python_release(p, 5);
	return is_right && !strcmp(s.frames[0].code->name, "function0");
}

/* 3.9 and 3.10 have no variable with their version, and the images no file name that has it. */
#define FIRST_OUTSIDE 2

static void frames_read_from_outside(void)
{
	static struct gt_remote_stack s;
	static struct image m;

	for (size_t k = FIRST_OUTSIDE; k < KINDS; k++) {
		struct gt_remote_python *p = gt_remote_python_new();

		CHECK(p && open_image(&m, &kinds[k]));
		make_lists(&m);
		for (int again = 0; again < 2; again++) {
			gt_remote_python_stack(p, (uint32_t)getpid(), (uint32_t)gettid(), &s);
			CHECK_EQ(s.n, FUNCTIONS);
			CHECK(!s.inner_cut && !s.outer_cut);
		}
		for (uint32_t i = 0; i < s.n; i++) {
			CHECK_EQ(s.frames[i].offset, m.want[i].offset);
			CHECK_EQ(s.frames[i].code->first_line, 10 * i + 1);
			CHECK_EQ(s.frames[i].code->version, kinds[k].hex >> 16);
		}
		CHECK_STR(s.frames[0].code->name, "function0");
		CHECK_STR(s.frames[1].code->name, "\xce\xbbx\xef\xbf\xbd");
		CHECK_STR(s.frames[1].code->file, "\xf0\x9f\x90\x8d.py");
		CHECK(s.frames[2].code->nlines == 4 &&
			!memcmp(s.frames[2].code->lines, "\1\2\3\2", 4));
		CHECK(outlive_their_process(p, &s));
		/* a thread without a state; a thread without frames */
		gt_remote_python_stack(p, (uint32_t)getpid(), 1, &s);
		CHECK_EQ(s.n, 0);
		put_pointer(m.state, m.l.thread_frame, NULL);
		gt_remote_python_stack(p, (uint32_t)getpid(), (uint32_t)gettid(), &s);
		CHECK_EQ(s.n, 0);
		gt_remote_python_free(p);
		close_image(&m);
	}
}

/* Bits of the image are wrong: frames end, and what is read is never more than there is. */
static void damage_read_from_outside(void)
{
	static struct gt_remote_stack s;
	static struct image m;
	uint64_t random = 1;

	for (size_t k = FIRST_OUTSIDE; k < KINDS; k++) {
		struct gt_remote_python *p = gt_remote_python_new();

		CHECK(p && open_image(&m, &kinds[k]));
		make_lists(&m);
		for (int i = 0; i < 3000; i++) {
			char *at = m.memory + 4096, before;

			random = random * 6364136223846793005ull + 1442695040888963407ull;
			at += (random >> 33) % (size_t)(m.next - at);
			before = *at;
			*at ^= (char)(1 << (random >> 20 & 7));
			gt_remote_python_stack(p, (uint32_t)getpid(), (uint32_t)gettid(), &s);
			CHECK(s.n <= GT_REMOTE_FRAMES);
			*at = before;
		}
		/* a chain that leads back into itself has an end */
		put_pointer(m.frame[m.nframes - 1], m.l.previous, m.frame[0]);
		gt_remote_python_stack(p, (uint32_t)getpid(), (uint32_t)gettid(), &s);
		CHECK(s.outer_cut && s.n >= FUNCTIONS);
		gt_remote_python_free(p);
		close_image(&m);
	}
}

T_MAIN(T(frames_and_code_objects_of_each_version), T(gil_of_each_version),
	T(more_frames_than_wanted), T(states_without_frames), T(unknown_versions_have_no_frames),
	T(damaged_frames), T(damaged_code_and_instructions), T(chains_that_lead_back),
	T(random_damage), T(damaged_code_objects), T(states_of_several_interpreters),
	T(a_forked_child_has_the_frames), T(frames_read_from_outside), T(damage_read_from_outside))
