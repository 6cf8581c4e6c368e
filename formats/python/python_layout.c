#include "formats/python/python_layout.h"
#include "formats/python/python_offsets.h"

#include <string.h>

static const struct gt_python_layout *const known[] = { &gt_python_3_9, &gt_python_3_10,
	&gt_python_3_11, &gt_python_3_12 };

/* ---- 3.13 and later: struct _Py_DebugOffsets (Include/internal, pycore_debug_offsets) ---- */

/* Numbers of its words of 8 bytes, of which the first three are the same. */
enum {
	COOKIE,
	VERSION,
	FREE_THREADED,
	RUNTIME_SIZE,
	FINALIZING,
	INTERPRETERS,
	INTERPRETER_NEXT = 8,
	INTERPRETER_THREADS
};
#define COOKIE_TEXT "xdebugpy"
struct published {
	uint16_t version;
	/* first word of thread_state: size, previous, next, interp, frame, id, native id */
	uint8_t thread;
	uint8_t gil;        /* ceval.gil, _gil, enabled, locked, last_holder */
	uint8_t frame;      /* size, previous, executable, instr_ptr, localsplus, owner */
	uint8_t copy_index; /* 0: it has none */
	uint8_t code;       /* size, filename, name, qualname, linetable, firstlineno */
	uint8_t code_start;
	uint8_t code_copies; /* 0: it has none */
	uint8_t object;      /* size, type */
	uint8_t bytes;       /* size, ob_size, ob_sval */
	uint8_t text;        /* size, state, length, size of an ASCII text's structure */
	uint8_t first_skipped, last_owner, tag_bits;
	uint8_t shift_free_threaded;
};
static const struct published published[] = {
	{ 0x030d, 19, 14, 28, 0, 34, 43, 0, 44, 64, 67, 3, 3, 0, 2 },
	{ 0x030e, 22, 15, 31, 38, 39, 48, 49, 50, 74, 77, 3, 4, 7, 8 },
};

static bool words_are_plausible(const struct published *p, const uint64_t *w, size_t bytes)
{
	uint64_t frame = w[p->frame], object = w[p->object], start = w[p->code_start];

	/* all offsets of a structure are inside it */
	for (int i = 1; i <= 5; i++)
		if (w[p->frame + i] > frame || w[p->code + i] >= start ||
			w[p->thread + i] >= w[p->thread])
			return false;
	return w[RUNTIME_SIZE] == bytes && w[FINALIZING] < bytes && frame <= 256 &&
		(object == 16 || object == 32) && w[p->object + 1] == object - 8 &&
		w[p->bytes + 1] == object && w[p->bytes + 2] == object + 16 &&
		w[p->text + 2] == object && start <= 512 && w[p->code] > start &&
		w[p->code] <= start + 16 && w[p->thread] <= UINT16_MAX && w[p->text + 3] <= 128 &&
		w[p->text + 3] >= object + 8 && w[p->text + 1] <= w[p->text + 3] - sizeof(uint32_t);
}

/* An unsigned long is before the holder, and another one behind `locked`: they are not published.
 */
static void read_gil(const struct published *p, const uint64_t *w, struct gt_python_layout *l)
{
	uint64_t holder = w[p->gil + 4] - w[p->gil + 1], locked = w[p->gil + 3] - w[p->gil + 1];

	if (holder != (w[FREE_THREADED] ? 16 : 8) || locked != holder + 8)
		return;
	l->gil = (uint32_t)w[p->gil];
	l->gil_is_pointed_to = true;
	l->gil_interval = (uint16_t)(holder - 8);
	l->gil_holder = (uint16_t)holder;
	l->gil_locked = (uint16_t)locked;
	l->gil_condition = (uint16_t)(locked + 16);
}

static void read_words(const struct published *p, const uint64_t *w, struct gt_python_layout *l)
{
	bool copies = w[FREE_THREADED] && p->code_copies;
	uint16_t start = (uint16_t)w[p->code_start];

	*l = (struct gt_python_layout){ .version = p->version,
		.instruction_kind = GT_PYTHON_POINTER,
		.first_skipped = p->first_skipped,
		.last_owner = p->last_owner,
		.tag_bits = p->tag_bits,
		.text_shift = w[FREE_THREADED] ? p->shift_free_threaded : 2,
		.thread_next = (uint16_t)w[p->thread + 2],
		.thread_id = (uint16_t)w[p->thread + 5],
		.native_id = (uint16_t)w[p->thread + 6],
		.thread_frame = (uint16_t)w[p->thread + 4],
		.innermost = GT_PYTHON_NO,
		.thread_call = GT_PYTHON_NO,
		.frame_size = (uint16_t)w[p->frame + 4],
		.previous = (uint16_t)w[p->frame + 1],
		.code = (uint16_t)w[p->frame + 2],
		.instruction = (uint16_t)w[p->frame + 3],
		.owner = (uint16_t)w[p->frame + 5],
		.type = (uint16_t)w[p->object + 1],
		.size = (uint16_t)w[p->bytes + 1],
		.bytes_data = (uint16_t)w[p->bytes + 2],
		.first_line = (uint16_t)w[p->code + 5],
		.name = (uint16_t)w[p->code + 2],
		.qualname = (uint16_t)w[p->code + 3],
		.file = (uint16_t)w[p->code + 1],
		.lines = (uint16_t)w[p->code + 4],
		.start = start,
		.copies = copies ? (uint16_t)w[p->code_copies] : GT_PYTHON_NO,
		.copy_index = copies ? (uint16_t)w[p->copy_index] : GT_PYTHON_NO,
		.text_length = (uint16_t)w[p->text + 2],
		.text_state = (uint16_t)w[p->text + 1],
		.ascii_data = (uint16_t)w[p->text + 3],
		.other_data = (uint16_t)(w[p->text + 3] + 16),
		.finalizing = (uint32_t)w[FINALIZING],
		.interpreters = (uint32_t)w[INTERPRETERS],
		.interpreter_next = (uint32_t)w[INTERPRETER_NEXT],
		.interpreter_threads = (uint32_t)w[INTERPRETER_THREADS] };
	/* It is not published: an int and a pointer before the code, or before the copies. */
	l->first_traceable = (copies ? l->copies : start) - 16;
	read_gil(p, w, l);
}

static bool published_layout(const struct published *p, uint32_t version, const uint64_t *w,
	size_t bytes, struct gt_python_layout *l)
{
	if (bytes < 128 * sizeof(*w) || memcmp(w, COOKIE_TEXT, sizeof(*w)) ||
		w[VERSION] >> 16 != version >> 16 || w[FREE_THREADED] > 1 ||
		!words_are_plausible(p, w, bytes))
		return false;
	read_words(p, w, l);
	return !w[FREE_THREADED] || !p->code_copies ||
		(l->copies == l->start - 8 && l->copy_index < l->frame_size);
}

bool gt_python_layout(
	uint32_t version, const void *runtime, size_t bytes, struct gt_python_layout *l)
{
	unsigned level = version >> 4 & 15; /* 15: a release, 12: a candidate for one */

	if (level != 15 && level != 12)
		return false;
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (known[i]->version == version >> 16) {
			*l = *known[i];
			return true;
		}
	for (size_t i = 0; i < sizeof(published) / sizeof(*published); i++)
		if (published[i].version == version >> 16)
			return published_layout(&published[i], version, runtime, bytes, l);
	return false;
}
