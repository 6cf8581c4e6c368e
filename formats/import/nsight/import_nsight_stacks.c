/* Call stacks: a table has one row for each frame, with the id of the stack and the depth of the
 * frame. Frames are sorted by both in bounded memory, and each stack gets its id in the trace.
 * gtexport's table says what kind of frame it is, and where its source is; Nsight's does not. */
#include "formats/import/nsight/import_nsight_internal.h"

#include <stdlib.h>
#include "formats/base/buf.h"

#define FRAMES_MAX 4096u      /* of a stack; the outer ones are left out */
#define STACKS_MAX (8u << 20) /* of a table; further ones are left out, and counted */

/* Columns, of Nsight's tables and, from TEXT on, of gtexport's. */
enum { ID, SYMBOL, MODULE, UNRESOLVED, DEPTH, KERNEL_MODE, SPECIAL, IP, TEXT, KIND, FILE_ID, LINE };

static uint8_t kind_of(struct gt_nsight *n, sqlite3_value **s, bool ours)
{
	return ours ? gt_nsight_word(n, s, KIND, gt_frame_kind_word, GT_FRAME_UNKNOWN)
		: sqlite3_value_int64(s[SPECIAL])     ? GT_FRAME_MARK
		: sqlite3_value_int64(s[KERNEL_MODE]) ? GT_FRAME_KERNEL
						      : GT_FRAME_NATIVE;
}

/* The string that stacks need for a row's frame. */
static uint32_t frame_of(struct gt_nsight *n, sqlite3_value **s)
{
	bool ours = gt_nsight_has(s, TEXT);
	uint32_t text = gt_nsight_string(n, s, ours ? TEXT : SYMBOL), id;
	struct gt_frame f = { .function = GT_NONE, .file = GT_NONE, .module = GT_NONE };
	const char *module;

	f.kind = kind_of(n, s, ours);
	if (text == GT_NONE || !f.kind)
		return text;
	if (f.kind != GT_FRAME_MARK && !sqlite3_value_int64(s[UNRESOLVED]))
		f.function = gt_nsight_string_or_none(n, s, SYMBOL);
	f.module = gt_nsight_string_or_none(n, s, MODULE);
	module = f.module == GT_NONE ? "" : gt_writer_string_text(n->w, f.module);
	if (!*module)
		f.module = GT_NONE;
	if (ours) { /* Nsight's addresses are those of the process */
		int64_t line = sqlite3_value_int64(s[LINE]);

		f.offset = (uint64_t)sqlite3_value_int64(s[IP]);
		f.file = gt_nsight_string_or_none(n, s, FILE_ID);
		f.line = line > 0 && line <= UINT32_MAX ? (uint32_t)line : 0;
	}
	id = gt_writer_place(n->w, text, &f);
	return id == GT_NONE ? text : id;
}

static int see_frame(struct gt_nsight *n, sqlite3_value **s)
{
	uint32_t text = frame_of(n, s);
	struct gt_nsight_frame *f = text == GT_NONE ? NULL : gt_sorter_add(&n->frames, n->err);

	if (!f)
		return n->err->code;
	*f = (struct gt_nsight_frame){ sqlite3_value_int64(s[ID]), sqlite3_value_int64(s[DEPTH]),
		text };
	return 0;
}

/* frames: of one stack, from the innermost; their order is reversed. */
static int add_stack(struct gt_nsight *n, struct gt_nsight_stack_table *t, int64_t id,
	uint32_t *frames, size_t count)
{
	uint32_t stack;

	if (!count)
		return 0;
	for (size_t i = 0; i < count / 2; i++) {
		uint32_t other = frames[count - 1 - i];

		frames[count - 1 - i] = frames[i];
		frames[i] = other;
	}
	stack = t->n < STACKS_MAX ? gt_writer_stack(n->w, frames, count) : GT_NONE;
	if (stack == GT_NONE) {
		n->stacks_left_out++;
		return 0;
	}
	if (gt_grow(&t->stacks, &t->cap, t->n + 1, sizeof(*t->stacks)))
		return gt_nsight_no_memory(n);
	t->stacks[t->n++] = (struct gt_nsight_stack){ id, stack };
	return 0;
}

static bool frame_before(const void *a, const void *b)
{
	const struct gt_nsight_frame *x = a, *y = b;

	return x->id != y->id ? x->id < y->id : x->depth < y->depth;
}

#define BUFFER 32768u

static int read_frames(struct gt_nsight *n, struct gt_nsight_stack_table *t, uint32_t *frames)
{
	struct gt_nsight_frame f;
	size_t count = 0;
	int64_t id = 0;
	int rc;

	while ((rc = gt_sorter_next(&n->frames, &f, n->err)) > 0) {
		if (count && f.id != id) {
			rc = add_stack(n, t, id, frames, count);
			count = 0;
			if (rc)
				return rc;
		}
		id = f.id;
		if (count < FRAMES_MAX)
			frames[count++] = (uint32_t)f.text;
	}
	return rc ? rc : add_stack(n, t, id, frames, count);
}

/* The table was read: its frames become stacks. */
static int end_stacks(struct gt_nsight *n, enum gt_nsight_stacks table)
{
	uint32_t *frames = malloc(FRAMES_MAX * sizeof(*frames));
	int rc = frames ? read_frames(n, &n->stacks[table], frames) : gt_nsight_no_memory(n);

	free(frames);
	gt_sorter_release(&n->frames);
	return rc;
}

static int begin(struct gt_nsight *n)
{
	return n->frames.size ? 0
			      : gt_sorter_init(&n->frames, sizeof(struct gt_nsight_frame), BUFFER,
					frame_before, n->err);
}

int gt_nsight_see_frame(struct gt_nsight *n, sqlite3_value **s)
{
	return begin(n) ?: see_frame(n, s);
}

int gt_nsight_end_call_stacks(struct gt_nsight *n)
{
	return begin(n) ?: end_stacks(n, GT_NSIGHT_CALL_STACKS);
}

int gt_nsight_end_os_stacks(struct gt_nsight *n)
{
	return begin(n) ?: end_stacks(n, GT_NSIGHT_OS_STACKS);
}

int gt_nsight_end_sample_stacks(struct gt_nsight *n)
{
	return begin(n) ?: end_stacks(n, GT_NSIGHT_SAMPLE_STACKS);
}

static int compare(const void *a, const void *b)
{
	const struct gt_nsight_stack *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

uint32_t gt_nsight_stack(struct gt_nsight *n, enum gt_nsight_stacks table, sqlite3_value **s, int c)
{
	const struct gt_nsight_stack_table *t = &n->stacks[table];
	struct gt_nsight_stack key = { .id = t->n ? sqlite3_value_int64(s[c]) : 0 }, *found;
	uint64_t i = (uint64_t)key.id - (uint64_t)(t->n ? t->stacks[0].id : 0);

	if (!t->n || (!key.id && !gt_nsight_is_number(s, c)))
		return GT_NONE;
	/* usually ids are consecutive */
	found = i < t->n && t->stacks[i].id == key.id
		? &t->stacks[i]
		: bsearch(&key, t->stacks, t->n, sizeof(key), compare);
	return found ? found->stack : GT_NONE;
}
