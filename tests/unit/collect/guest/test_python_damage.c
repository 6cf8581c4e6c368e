/* Frames of Python from images of memory that are damaged. */
#define _GNU_SOURCE
#include "tests/unit/collect/guest/python_images.h"

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
		put_lines_length(&m, GT_PYTHON_LINES_MAX);
		CHECK(!gt_python_code(&readable, (uintptr_t)m.code[0], &c));
		put_lines_length(&m, 4);
		for (unsigned i = 0; i < 3; i++) {
			char *name;

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

T_MAIN(T(damaged_frames), T(damaged_code_and_instructions), T(chains_that_lead_back),
	T(random_damage), T(damaged_code_objects))
