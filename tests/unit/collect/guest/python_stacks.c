/* A library for the tests of Python frames, loaded by Python programs through ctypes. It holds the
 * guest's code and writes the stack of its caller as lines of "function TAB file TAB line". */
#include "collect/guest/stack/recent_python.h"
#include "collect/recorder/python_lines.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define FRAMES 4096
#define RECENT 128
#define WAYS 8 /* recent stacks with the same innermost frame */

/* Of one thread; static thread storage is scarce in a library that is loaded late. */
struct own {
	struct gt_readable readable;
	struct gt_python_frame frames[FRAMES];
	/* some stacks, by the address of the innermost frame */
	struct gt_python_memory memory;
	struct recent {
		struct gt_python_frame frames[FRAMES];
		struct gt_python_place places[FRAMES];
		uint32_t nframes, nplaces;
	} recent[RECENT];
	unsigned walks;
};
static struct own *own(void)
{
	static __thread struct own *o;

	return o ? o : (o = calloc(1, sizeof(*o)));
}

GT_EXPORT unsigned gt_test_find(void)
{
	gt_python_find();
	return gt_python_version();
}

static size_t append_frame(struct own *o, char *text, size_t size, const struct gt_python_frame *f)
{
	struct gt_python_code c;
	int n;

	if (!gt_python_code(&o->readable, f->code, &c))
		return (size_t)snprintf(text, size, "?\t?\t?\n");
	n = snprintf(text, size, "%.*s\t%.*s\t%d\n", (int)c.nname, c.name, (int)c.nfile, c.file,
		gt_python_line(gt_python_version(), c.first_line, c.lines, c.nlines, f->offset));
	return n > 0 ? (size_t)n : 0;
}

static unsigned found; /* among recent stacks */
GT_EXPORT unsigned gt_test_found(void) { return found; }

static bool is_now(const struct own *o, const struct recent *r, const struct gt_python_top *top)
{
	return r->nplaces && gt_python_is_unchanged(&o->memory, top, r->places, r->nplaces);
}

/* A walk finds the same, and code objects with the same contents. */
static bool is_right(struct own *o, const struct recent *r, const struct gt_python_top *top)
{
	enum gt_python_state state;
	uint32_t n = gt_python_walk(&o->readable, top, o->frames, FRAMES, &state);

	return state == GT_PYTHON_OK && n == r->nframes &&
		!memcmp(o->frames, r->frames, n * sizeof(*o->frames));
}

/* The frames as the guest finds them: a recent stack whose words have not changed, else a walk. */
static unsigned read_frames(
	struct own *o, unsigned max, struct gt_python_frame **frames, enum gt_python_state *state)
{
	struct gt_python_top top;
	struct recent *r, *end;

	gt_python_top(&o->readable, 0, &top);
	r = &o->recent[top.frame / 16 * WAYS % RECENT];
	end = r + WAYS;
	while (top.frame && r < end && !is_now(o, r, &top))
		r++;
	if (top.frame && r < end && r->nframes <= max) {
		__atomic_add_fetch(&found, 1, __ATOMIC_RELAXED);
		*frames = r->frames;
		*state = is_right(o, r, &top) ? GT_PYTHON_OK : GT_PYTHON_DAMAGED;
		return r->nframes;
	}
	r = end - 1 - o->walks++ % WAYS;
	*frames = r->frames;
	r->nframes = gt_python_walk(&o->readable, &top, r->frames, max, state);
	if (*state != GT_PYTHON_OK ||
		!gt_python_remember(&o->memory, &o->readable, &top, r->frames, r->nframes,
			r->places, FRAMES, &r->nplaces))
		r->nplaces = 0;
	return r->nframes;
}

/* Returns the state, and the number of frames in *frames. */
GT_EXPORT int gt_test_stack(char *text, size_t size, unsigned max, unsigned *frames)
{
	struct own *o = own();
	struct gt_python_frame *f;
	enum gt_python_state state;
	size_t at = 0;

	*frames = read_frames(o, max < FRAMES ? max : FRAMES, &f, &state);
	text[0] = 0;
	for (unsigned i = 0; i < *frames && at < size; i++)
		at += append_frame(o, text + at, size - at, &f[i]);
	return (int)state;
}

static unsigned runs, is_stopped;

/* Called again and again by the thread that another one waits for; 1: it may end. */
GT_EXPORT unsigned gt_test_run(void)
{
	__atomic_add_fetch(&runs, 1, __ATOMIC_RELEASE);
	return __atomic_load_n(&is_stopped, __ATOMIC_ACQUIRE);
}
GT_EXPORT void gt_test_stop(void) { __atomic_store_n(&is_stopped, 1, __ATOMIC_RELEASE); }

/* gt_test_stack while that thread runs Python code, as this one does not hold the lock. -1: it does
 * not run. */
GT_EXPORT int gt_test_stack_beside(char *text, size_t size, unsigned max, unsigned *frames)
{
	const unsigned before = __atomic_load_n(&runs, __ATOMIC_ACQUIRE);
	unsigned tries = 0;

	while (__atomic_load_n(&runs, __ATOMIC_ACQUIRE) - before < 3)
		if (++tries < 60000)
			usleep(500);
		else
			return -1;
	return gt_test_stack(text, size, max, frames);
}

GT_EXPORT int gt_test_line(
	unsigned version, unsigned first, const uint8_t *table, size_t n, unsigned offset)
{
	return gt_python_line(version, first, table, n, offset);
}

/* Adds to the check of the innermost frame: does a code object at the same address differ? */
GT_EXPORT uint64_t gt_test_innermost(unsigned *check)
{
	struct own *o = own();
	struct gt_python_frame f[1];
	enum gt_python_state state;

	if (!gt_python_frames(&o->readable, 0, f, 1, &state))
		return 0;
	*check = f[0].check;
	return f[0].code;
}

static void *thread(void *arg)
{
	struct own *o = own();
	struct gt_python_frame f[4];
	enum gt_python_state state;
	unsigned n = gt_python_frames(&o->readable, 0, f, 4, &state);

	*(int *)arg = n ? -1 : (int)state;
	return NULL;
}

/* the state in a thread that Python does not know */
GT_EXPORT int gt_test_other_thread(void)
{
	pthread_t t;
	int state = -2;

	if (!pthread_create(&t, NULL, thread, &state))
		pthread_join(t, NULL);
	return state;
}

static unsigned interruptions;
static void interrupt(int number)
{
	static struct own o;
	static bool busy; /* another thread has it */
	enum gt_python_state state;

	if (__atomic_exchange_n(&busy, true, __ATOMIC_ACQUIRE))
		return;
	gt_python_frames(&o.readable, 0, o.frames, FRAMES, &state);
	__atomic_add_fetch(&interruptions, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&busy, false, __ATOMIC_RELEASE);
}

/* From now on a signal interrupts the interpreter at any instruction, every us of processor time
 * (0: no more), and reads its frames, which may be half made. Returns how often that happened. */
GT_EXPORT unsigned gt_test_interrupt(unsigned us)
{
	struct sigaction action = { .sa_handler = interrupt, .sa_flags = SA_RESTART };
	struct itimerval every = { { 0, us }, { 0, us } };

	sigaction(SIGPROF, &action, NULL);
	setitimer(ITIMER_PROF, &every, NULL);
	return __atomic_load_n(&interruptions, __ATOMIC_RELAXED);
}

/* ns of `rounds` walks */
GT_EXPORT double gt_test_time(unsigned rounds, unsigned *frames)
{
	struct own *o = own();
	struct gt_python_frame *f = o->frames;
	enum gt_python_state state;
	struct timespec from, to;

	clock_gettime(CLOCK_MONOTONIC, &from);
	for (unsigned i = 0; i < rounds; i++)
		*frames = gt_python_frames(&o->readable, 0, f, FRAMES, &state);
	clock_gettime(CLOCK_MONOTONIC, &to);
	return 1e9 * (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec);
}
