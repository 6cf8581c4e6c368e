#include "collect/guest/stack/recent_python.h"

#include "collect/guest/stack/python_internal.h"

static uint32_t seen_at(uintptr_t code)
{
	return (uint32_t)(code >> 4 ^ code >> 14) % GT_PYTHON_SEEN;
}

/* ---- remember ---- */

/* The walk has found these words readable just now. */
static void remember_code(
	const struct gt_python_layout *l, uintptr_t code, uint32_t check, struct gt_python_seen *s)
{
	uintptr_t data, n;

	s->code = code;
	s->check = check;
	s->first_line = GT_READ(uint32_t, code + l->first_line);
	s->name = GT_READ(uintptr_t, code + l->name);
	s->file = GT_READ(uintptr_t, code + l->file);
	s->lines = GT_READ(uintptr_t, code + l->lines);
	data = s->lines + l->bytes_data;
	s->nlines = n = GT_READ(uint64_t, s->lines + l->size);
	s->middle = n < 8 ? data : data + n / 2 - 4;
	s->last = n < 8 ? data : data + n - 8;
	s->at_first = GT_READ(uint64_t, data);
	s->at_middle = GT_READ(uint64_t, s->middle);
	s->at_last = GT_READ(uint64_t, s->last);
}

INLINE uint64_t instruction_of(const struct gt_python_layout *l, uintptr_t frame)
{
	return l->instruction_kind == GT_PYTHON_POINTER ? GT_READ(uint64_t, frame + l->instruction)
							: GT_READ(uint32_t, frame + l->instruction);
}

INLINE uint16_t owner_of(const struct gt_python_layout *l, uintptr_t frame)
{
	return l->owner == GT_PYTHON_NO ? 0 : GT_READ(uint8_t, frame + l->owner);
}

static void place_function(struct gt_python_memory *m, const struct gt_python_layout *l,
	const struct gt_python_frame *f, struct gt_python_place *p)
{
	struct gt_python_seen *s = &m->seen[seen_at(f->code)];

	if (s->code != f->code || s->check != f->check)
		remember_code(l, f->code, f->check, s);
	p->check = f->check;
	p->code = (uint16_t)(s - m->seen);
}

bool gt_python_remember(struct gt_python_memory *m, struct gt_readable *r,
	const struct gt_python_top *top, const struct gt_python_frame *frames, uint32_t nframes,
	struct gt_python_place *places, uint32_t max, uint32_t *n)
{
	const struct gt_python_layout *l = &top->in->layout;
	struct gt_python_frame read;
	uint32_t functions = 0;
	uintptr_t frame;

	*n = 0;
	if (l->copies != GT_PYTHON_NO)
		return false;
	for (frame = top->frame; frame && *n < max;
		frame = GT_READ(uintptr_t, frame + l->previous)) {
		struct gt_python_place *p = &places[(*n)++];

		*p = (struct gt_python_place){ .frame = frame,
			.instruction = instruction_of(l, frame),
			.code = GT_PLACE_SKIPPED,
			.owner = owner_of(l, frame) };
		switch (gt_python_read_frame(top->in, r, frame, &read)) {
		case GT_FRAME_FUNCTION:
			if (functions == nframes)
				return false;
			place_function(m, l, &frames[functions++], p);
			break;
		case GT_FRAME_SKIPPED:
			/* a function before its first instruction: a walk reads more of it */
			if (p->owner < l->first_skipped)
				return false;
			break;
		default: return false;
		}
	}
	return !frame && functions == nframes;
}

/* ---- compare ---- */

/* The code object that a frame of this thread executes has not been freed. It may have taken the
 * place of one that was. */
INLINE bool is_same_code(
	const struct gt_python_layout *l, const struct gt_python_seen *s, uintptr_t code)
{
	return GT_READ(uintptr_t, code + l->lines) == s->lines &&
		GT_READ(uintptr_t, code + l->name) == s->name &&
		GT_READ(uintptr_t, code + l->file) == s->file &&
		GT_READ(uint32_t, code + l->first_line) == s->first_line &&
		GT_READ(uint64_t, s->lines + l->size) == s->nlines &&
		GT_READ(uint64_t, s->lines + l->bytes_data) == s->at_first &&
		GT_READ(uint64_t, s->middle) == s->at_middle &&
		GT_READ(uint64_t, s->last) == s->at_last;
}

INLINE bool is_unchanged(const struct gt_python_layout *l, const struct gt_python_memory *m,
	const struct gt_python_place *p, uint32_t n, uintptr_t frame)
{
	const struct gt_python_place *end = p + n;

	for (; p < end; p++) {
		const struct gt_python_seen *s = &m->seen[p->code % GT_PYTHON_SEEN];
		uintptr_t code;

		/* a frame of the chain, so it can be read */
		if (frame != p->frame)
			return false;
		if (l->owner != GT_PYTHON_NO && owner_of(l, frame) != p->owner)
			return false;
		if (gt_likely(p->code != GT_PLACE_SKIPPED)) {
			code = GT_READ(uintptr_t, frame + l->code) & ~(uintptr_t)l->tag_bits;
			if (gt_unlikely(code != s->code || p->check != s->check ||
				    instruction_of(l, frame) != p->instruction ||
				    !is_same_code(l, s, code)))
				return false;
		}
		frame = GT_READ(uintptr_t, frame + l->previous);
	}
	return !frame;
}

bool gt_python_is_unchanged(const struct gt_python_memory *m, const struct gt_python_top *top,
	const struct gt_python_place *p, uint32_t n)
{
	switch (top->in->constants) {
	case 0x0309: return is_unchanged(&gt_python_3_9, m, p, n, top->frame);
	case 0x030a: return is_unchanged(&gt_python_3_10, m, p, n, top->frame);
	case 0x030b: return is_unchanged(&gt_python_3_11, m, p, n, top->frame);
	case 0x030c: return is_unchanged(&gt_python_3_12, m, p, n, top->frame);
	case 0x030d: return is_unchanged(&gt_python_3_13, m, p, n, top->frame);
	case 0x030e: return is_unchanged(&gt_python_3_14, m, p, n, top->frame);
	}
	return is_unchanged(&top->in->layout, m, p, n, top->frame);
}
