/* Frames of Python from images of memory, as gtcollect reads them in other processes: here in this
 * one. */
#define _GNU_SOURCE
#include "collect/host/remote_python.h"
#include "tests/unit/collect/guest/python_images.h"

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
		put_lines_length(&m, GT_PYTHON_LINES_MAX + 1);
		gt_remote_python_forget(p, (uint32_t)getpid(), 1);
		gt_remote_python_stack(p, (uint32_t)getpid(), (uint32_t)gettid(), &s);
		CHECK_EQ(s.n, FUNCTIONS);
		CHECK(!s.frames[0].code->lines && s.frames[0].code->nlines > GT_PYTHON_LINES_MAX);
		CHECK_STR(s.frames[0].code->name, "function0");
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

/* 3.11: the frames of the interpreter that this thread runs, whatever id the state has. */
static void frames_of_several_interpreters(void)
{
	static struct gt_remote_stack s;
	static struct image m;
	struct gt_remote_python *p = gt_remote_python_new();
	const uint32_t pid = (uint32_t)getpid(), tid = (uint32_t)gettid();
	char *other, *call;

	CHECK(p && open_image(&m, &kinds[FIRST_OUTSIDE]));
	call = memset(alloca(64), 0, 64); /* inside the image's call */
	other = second_interpreter(&m);
	put(m.state, m.l.native_id, tid, 8);
	put(other, m.l.native_id, tid, 8);
	put(other, m.l.thread_id, (uintptr_t)pthread_self(), 8);
	/* another thread uses the state that this one has made */
	put_frames(&m, other, m.nframes - 3, m.memory + 64);
	gt_remote_python_stack(p, pid, tid, &s);
	CHECK_EQ(s.n, FUNCTIONS);
	CHECK(!s.inner_cut && !s.outer_cut);
	/* this one uses the state that another thread has made */
	put(other, m.l.native_id, 1, 8);
	put_frames(&m, other, m.nframes - 3, call);
	gt_remote_python_stack(p, pid, tid, &s);
	CHECK_EQ(s.n, 3);
	CHECK(!s.inner_cut && !s.outer_cut);
	/* this one has frames, but not on its stack */
	put_frames(&m, other, m.nframes - 3, m.memory + 64);
	put_frames(&m, m.state, 0, m.memory + 128);
	gt_remote_python_stack(p, pid, tid, &s);
	CHECK_EQ(s.n, 0);
	CHECK(s.inner_cut);
	gt_remote_python_free(p);
	close_image(&m);
}

static void *run_in_thread(void *arg)
{
	frames_of_several_interpreters();
	return NULL;
}

/* Its stack is a mapping like any other. */
static void frames_of_several_interpreters_in_a_thread(void)
{
	pthread_t t;

	CHECK(!pthread_create(&t, NULL, run_in_thread, NULL));
	CHECK(!pthread_join(t, NULL));
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

T_MAIN(T(frames_read_from_outside), T(frames_of_several_interpreters),
	T(frames_of_several_interpreters_in_a_thread), T(damage_read_from_outside))
