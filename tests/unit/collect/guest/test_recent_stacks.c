/* Stacks of eight threads while libraries are closed: walks beside libgcc's, and stacks that are
 * found among recent ones. */
#include "tests/unit/t.h"
#include "collect/guest/stack/recent_stacks.h"
#include "collect/guest/stack/unwind_rules.h"
#include "tests/unit/collect/guest/unwind_libraries.h"
#include <pthread.h>
#include <unwind.h>

static volatile bool is_over;
static volatile uint32_t nwalks, nwrong, nrecent;
static bool (*call_in_way)(int, callback *, void *);
static int (*call_deep)(callback *, void *, int);

#define STACKS 512
struct stack {
	uint64_t words[256];
	uint32_t n;
};
struct one_walk {
	struct gt_readable readable;
	uint64_t theirs[256], words[256];
	uintptr_t from;
	uint32_t ntheirs, complete, nstacks;
	struct gt_recent_stacks recent;
	struct stack stacks[STACKS]; /* by number - 1 */
};

static _Unwind_Reason_Code note_address(struct _Unwind_Context *c, void *arg)
{
	struct one_walk *w = arg;
	uintptr_t ra = _Unwind_GetIP(c);

	if ((w->ntheirs || ra == w->from) && ra && w->ntheirs < 256)
		w->theirs[w->ntheirs++] = ra;
	return _URC_NO_REASON;
}

static uint32_t number_of_stack(struct one_walk *w, uint32_t n)
{
	for (uint32_t i = 0; i < w->nstacks; i++)
		if (w->stacks[i].n == n && !memcmp(w->stacks[i].words, w->words, 8 * n))
			return i + 1;
	if (w->nstacks == STACKS)
		return 0;
	w->stacks[w->nstacks].n = n;
	memcpy(w->stacks[w->nstacks].words, w->words, 8 * n);
	return ++w->nstacks;
}

/* A stack that is found among recent ones is the current one. */
static bool is_recent_right(struct one_walk *w, const uintptr_t start[3])
{
	static const struct gt_python_top none;
	uint32_t number = gt_recent_find(&w->recent, start, &none);
	const struct stack *s = &w->stacks[number ? number - 1 : 0];

	if (!number)
		return true;
	__atomic_add_fetch(&nrecent, 1, __ATOMIC_RELAXED);
	return s->n == w->ntheirs && !memcmp(s->words, w->theirs, 8 * s->n);
}

static void keep_stack(struct one_walk *w, const uintptr_t start[3], uint32_t n, uint64_t epoch)
{
	static const struct gt_python_top none;
	uint32_t number = number_of_stack(w, n);

	if (number)
		gt_recent_keep(&w->recent, &w->readable,
			&(struct gt_recent_walk){
				.number = number, .epoch = epoch, .start = start, .top = &none });
}

/* What there is of our walk is right, whether all rules are known or not. */
static __attribute__((noinline)) void walk_once(void *arg)
{
	const uintptr_t *fp = __builtin_frame_address(0);
	uintptr_t start[3] = { (uintptr_t)__builtin_return_address(0),
		(uintptr_t)__builtin_dwarf_cfa(), fp[0] };
	struct one_walk *w = arg;
	enum gt_native_state state;
	uint64_t epoch = gt_unwind_epoch();
	uint32_t n = gt_native_frames(&w->readable, start, 0, 0, w->words, 256, &state);

	w->ntheirs = 0;
	w->from = start[0];
	_Unwind_Backtrace(note_address, w);
	if (n > w->ntheirs || memcmp(w->words, w->theirs, n * 8) ||
		(state == GT_NATIVE_OK && n != w->ntheirs) || state > GT_NATIVE_PENDING ||
		!is_recent_right(w, start))
		__atomic_add_fetch(&nwrong, 1, __ATOMIC_RELAXED);
	__atomic_add_fetch(&nwalks, 1, __ATOMIC_RELAXED);
	w->complete += state == GT_NATIVE_OK;
	if (state == GT_NATIVE_OK)
		keep_stack(w, start, n, epoch);
}

/* The stack differs from that of the other site in one word, and begins at the same place. */
static __attribute__((noinline)) void call_from_elsewhere(struct one_walk *w, int depth, int site)
{
	volatile int n = depth;

	if (site == 1) {
		call_deep(walk_once, w, n);
		n = 0;
	} else {
		call_deep(walk_once, w, n);
		n = 1;
	}
}

static void *walk_all_the_time(void *arg)
{
	struct one_walk *w = calloc(1, sizeof(*w));
	unsigned seed = (unsigned)(uintptr_t)arg;
	uintptr_t complete;

	while (!is_over)
		switch (rand_r(&seed) % 4) {
		case 0: call_in_way(4 + (int)(rand_r(&seed) % 5), walk_once, w); break;
		case 1: call_deep(walk_once, w, (int)(rand_r(&seed) % 100)); break;
		case 2: call_from_elsewhere(w, (int)(rand_r(&seed) % 10), 1); break;
		case 3: call_from_elsewhere(w, (int)(rand_r(&seed) % 10), 2); break;
		}
	complete = w->complete;
	free(w);
	return (void *)complete;
}

static void eight_threads(void)
{
	void *lib = dlopen(path_of("libunwindcalls.so"), RTLD_NOW), *complete;
	pthread_t threads[8];

	if (!lib)
		SKIP("no compiler of C++");
	gt_unwind_open();
	call_in_way = (bool (*)(int, callback *, void *))dlsym(lib, "unwind_call");
	call_deep = (int (*)(callback *, void *, int))dlsym(lib, "unwind_deep");
	is_over = false;
	for (uintptr_t i = 0; i < 8; i++)
		CHECK(!pthread_create(&threads[i], NULL, walk_all_the_time, (void *)(i + 1)));
	/* the cache is emptied again and again meanwhile */
	for (int i = 0; i < 200 || nwalks < 50000; i++) {
		void (*call)(callback *, void *);
		void *plugin = open_plugin(
			i % 2 ? "libunwindplugin272.so" : "libunwindplugin4064.so", &call);

		if (plugin)
			gt_hosted_dlclose(plugin);
	}
	/* now it stays, so that stacks are found there again */
	for (uint32_t before = nrecent; nrecent - before < 1000;)
		sched_yield();
	is_over = true;
	for (int i = 0; i < 8; i++) {
		CHECK(!pthread_join(threads[i], &complete));
		CHECK(complete);
	}
	CHECK_EQ(nwrong, 0);
}

T_MAIN(T(eight_threads))
