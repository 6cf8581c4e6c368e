/* Frames of Python from images of memory: of each version, in all states of a thread. */
#define _GNU_SOURCE
#include "tests/unit/collect/guest/python_images.h"

#include <sys/wait.h>

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
	/* the data of bytes objects, the state and the size of texts: outside the objects */
	for (int i = 0; i < 3; i++) {
		uint64_t *word = (uint64_t *)m.runtime + (const int[]){ 66, 68, 70 }[i],
			 was = *word;

		*word = i == 1 ? *word + 5 : 0;
		CHECK(!gt_python_layout(0x030d00f0, m.runtime, 4096, &m.l));
		*word = was;
	}
	((uint64_t *)m.runtime)[1] = 0x030e00f0;
	CHECK(!gt_python_layout(0x030e00f0, m.runtime, 4096, &m.l));
	publish(m.runtime, 0x030e00f0, &normal_14);
	CHECK(gt_python_layout(0x030e00f0, m.runtime, 4096, &m.l));
	((uint64_t *)m.runtime)[1] = 0x030d00f0;
	CHECK(!gt_python_layout(0x030d00f0, m.runtime, 4096, &m.l));
	close_image(&m);
}

static void line_tables_above_the_limit_are_not_read(void)
{
	static struct gt_python_code c;
	static struct image m;

	for (size_t k = 0; k < KINDS; k++) {
		CHECK(open_image(&m, &kinds[k]));
		put_lines_length(&m, GT_PYTHON_LINES_MAX + 1);
		CHECK(gt_python_code(&readable, (uintptr_t)m.code[0], &c));
		CHECK(!c.lines && c.nlines > GT_PYTHON_LINES_MAX);
		CHECK(c.nname == 9 && c.nfile == 7 && c.first_line == 1);
		close_image(&m);
	}
}

/* up to 3.11: a state in each of two interpreters, none of which is current */
static void states_of_several_interpreters(void)
{
	struct gt_python_frame f[MAX];
	enum gt_python_state state;
	static struct image m;

	for (size_t k = 0; k < 3; k++) {
		char *call, *own, *other;
		bool has_call;

		CHECK(open_image(&m, &kinds[k]));
		call = memset(alloca(64), 0, 64); /* inside the image's call */
		has_call = m.l.thread_call != GT_PYTHON_NO;
		other = second_interpreter(&m);
		/* the other one has no frames, with the id of another thread and with this one's */
		CHECK_EQ(frames_of(f, MAX, &state), FUNCTIONS);
		put(other, m.l.thread_id, (uintptr_t)pthread_self(), 8);
		CHECK_EQ(frames_of(f, MAX, &state), FUNCTIONS);
		/* it has: another thread uses it, on its own stack */
		put_frames(&m, other, m.nframes - 3, m.memory + 64);
		CHECK_EQ(frames_of(f, MAX, &state), has_call ? FUNCTIONS : 0);
		CHECK_EQ(state, has_call ? GT_PYTHON_OK : GT_PYTHON_UNKNOWN);
		/* this thread uses it, with its own id and with the id of another thread */
		put_frames(&m, other, m.nframes - 3, call);
		for (int i = 0; i < 2; i++) {
			CHECK_EQ(frames_of(f, MAX, &state), has_call ? 3 : 0);
			CHECK_EQ(state, has_call ? GT_PYTHON_OK : GT_PYTHON_UNKNOWN);
			put(other, m.l.thread_id, 16, 8);
		}
		/* no state is used on this stack: another thread uses the one with this id */
		put_frames(&m, other, m.nframes - 3, m.memory + 64);
		put_frames(&m, m.state, 0, m.memory + 128);
		CHECK_EQ(frames_of(f, MAX, &state), 0);
		CHECK_EQ(state, GT_PYTHON_UNKNOWN);
		/* lists that lead back */
		own = *(char **)(m.runtime + m.l.interpreters);
		put_pointer(*(char **)(own + m.l.interpreter_next), m.l.interpreter_next, own);
		put_pointer(other, m.l.thread_next, other);
		frames_of(f, MAX, &state);
		close_image(&m);
	}
}

/* 3.10 and 3.11: another thread uses a state that this one has made, with one interpreter. */
static void a_state_that_another_thread_uses(void)
{
	struct gt_python_frame f[MAX];
	enum gt_python_state state;
	static struct image m;

	for (size_t k = 1; k < 3; k++) {
		char *other;

		CHECK(open_image(&m, &kinds[k]));
		other = take(&m, 512);
		put(other, m.l.thread_id, (uintptr_t)pthread_self(), 8);
		put_frames(&m, other, 3, m.memory + 64);
		*(void **)dlsym(m.library, "image_current") = other;
		CHECK_EQ(frames_of(f, MAX, &state), FUNCTIONS);
		CHECK_EQ(state, GT_PYTHON_OK);
		*(void **)dlsym(m.library, "image_of_thread") = other;
		CHECK_EQ(frames_of(f, MAX, &state), 0);
		CHECK_EQ(state, GT_PYTHON_UNKNOWN);
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

T_MAIN(T(frames_and_code_objects_of_each_version), T(gil_of_each_version),
	T(more_frames_than_wanted), T(states_without_frames), T(unknown_versions_have_no_frames),
	T(line_tables_above_the_limit_are_not_read), T(states_of_several_interpreters),
	T(a_state_that_another_thread_uses), T(a_forked_child_has_the_frames))
