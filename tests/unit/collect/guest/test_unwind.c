/* Walks over the native stack against libgcc's unwinder: the same return addresses, stack pointers
 * and frame pointers in calls of C, C++, Python and libc, and at random addresses of libraries. */
#define _GNU_SOURCE
#include "tests/unit/t.h"
#include "collect/guest/stack/native_frames.h"
#include "collect/guest/stack/unwind_step.h"
#include "tests/unit/collect/guest/unwind_libraries.h"
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <unwind.h>

#define DEPTH 4096
#define WAIT_MS 20000
#define TRIES 300
#ifdef __x86_64__
#define FP_NUMBER 6
#else
#define FP_NUMBER 29
#endif

struct frame {
	uintptr_t ra, sp, fp;
};
/* A walk of each kind from one place. */
struct walks {
	struct frame theirs[DEPTH], ours[DEPTH];
	uint64_t words[DEPTH];
	uint32_t ntheirs, nours, nwords;
	uintptr_t from; /* return address of the first frame */
	enum gt_native_state state;
	uint32_t tries; /* until all rules were known */
	bool ended;     /* our walk found the end of the stack */
};

/* ---- both walks ---- */

static _Unwind_Reason_Code note(struct _Unwind_Context *c, void *arg)
{
	struct walks *w = arg;
	struct frame f = { _Unwind_GetIP(c), _Unwind_GetCFA(c), _Unwind_GetGR(c, FP_NUMBER) };

	if (w->ntheirs || f.ra == w->from)
		if (f.ra && w->ntheirs < DEPTH)
			w->theirs[w->ntheirs++] = f;
	return _URC_NO_REASON;
}

static __attribute__((no_sanitize("address"))) bool read_word(
	void *arg, uintptr_t address, uint64_t *word)
{
	if (!gt_readable(arg, address, 8))
		return false;
	*word = *(uint64_t *)address;
	return true;
}

/* Waits for the rules that it needs. */
static void walk_by_steps(struct walks *w, struct gt_readable *r, const uintptr_t start[3])
{
	struct gt_frame_registers at = { start[0], start[1], start[2] };
	enum gt_step step = GT_STEP_BY_RULE;
	struct gt_unwind_rule rule;

	while (w->nours < DEPTH && step <= GT_STEP_BY_FP) {
		w->ours[w->nours++] = (struct frame){ at.ra, at.sp, at.fp };
		while (!gt_unwind_rule(at.ra, &rule))
			if (!gt_unwind_wait(WAIT_MS))
				return;
		step = gt_unwind_step(rule, &at, read_word, r);
	}
	w->ended = step == GT_STEP_END;
}

static struct gt_readable readable;

static __attribute__((noinline)) void walk(void *arg)
{
	const uintptr_t *fp = __builtin_frame_address(0);
	uintptr_t start[3] = { (uintptr_t)__builtin_return_address(0),
		(uintptr_t)__builtin_dwarf_cfa(), fp[0] };
	struct walks *w = arg;

	*w = (struct walks){ .from = start[0] };
	_Unwind_Backtrace(note, w);
	for (; w->tries < TRIES; w->tries++) {
		w->nwords = gt_native_frames(&readable, start, 0, 0, w->words, DEPTH, &w->state);
		if (w->state != GT_NATIVE_PENDING || !gt_unwind_wait(WAIT_MS))
			break;
	}
	walk_by_steps(w, &readable, start);
}

static char difference[300];

/* Does our walk have the frames of libgcc's? */
static bool same(const struct walks *w)
{
	uint32_t n = w->ntheirs < w->nours ? w->ntheirs : w->nours;

	*difference = 0;
	for (uint32_t i = 0; i < n && !*difference; i++)
		if (memcmp(&w->theirs[i], &w->ours[i], sizeof(struct frame)))
			snprintf(difference, sizeof(difference),
				"frame %u: ra %lx sp %lx fp %lx, not %lx %lx %lx", i, w->ours[i].ra,
				w->ours[i].sp, w->ours[i].fp, w->theirs[i].ra, w->theirs[i].sp,
				w->theirs[i].fp);
		else if (i < w->nwords && w->words[i] != w->ours[i].ra)
			snprintf(difference, sizeof(difference), "word %u", i);
	if (!*difference && (w->nwords != w->nours || w->nours != w->ntheirs))
		snprintf(difference, sizeof(difference), "%u words, %u frames, libgcc %u, state %d",
			w->nwords, w->nours, w->ntheirs, w->state);
	return !*difference;
}
#define CHECK_SAME(w)                                                                              \
	do {                                                                                       \
		if (!same(w)) {                                                                    \
			t_failed = difference;                                                     \
			t_line = __LINE__;                                                         \
			return;                                                                    \
		}                                                                                  \
	} while (0)

static struct walks walks;
static bool has_compared;

static int compare(const void *a, const void *b)
{
	if (!has_compared) {
		has_compared = true;
		walk(&walks);
	}
	return *(const int *)a - *(const int *)b;
}

static void libc_calls_back(void)
{
	int numbers[64], key = 17;

	gt_unwind_open();
	for (int i = 0; i < 64; i++)
		numbers[i] = i * 37 % 64;
	has_compared = false;
	qsort(numbers, 64, sizeof(int), compare);
	CHECK(has_compared);
	CHECK_SAME(&walks);
	CHECK_EQ(walks.state, GT_NATIVE_OK);
	has_compared = false;
	CHECK(bsearch(&key, numbers, 64, sizeof(int), compare));
	CHECK_SAME(&walks);
}

static void cpp_calls_back(void)
{
	void *lib = dlopen(path_of("libunwindcalls.so"), RTLD_NOW);
	bool (*call)(int, callback *, void *);
	int (*deep)(callback *, void *, int), n = 0;

	if (!lib)
		SKIP("no compiler of C++");
	gt_unwind_open();
	call = (bool (*)(int, callback *, void *))dlsym(lib, "unwind_call");
	deep = (int (*)(callback *, void *, int))dlsym(lib, "unwind_deep");
	while (call(n, walk, &walks)) {
		CHECK_SAME(&walks);
		CHECK_EQ(walks.state, GT_NATIVE_OK);
		n++;
	}
	CHECK_EQ(n, 11);
	deep(walk, &walks, 2000);
	CHECK_SAME(&walks);
	CHECK(walks.nwords > 2000);
	CHECK_EQ(walks.state, GT_NATIVE_OK);
}

static void *in_thread(void *arg)
{
	walk(arg);
	return NULL;
}

static void thread_has_an_end(void)
{
	pthread_t t;

	gt_unwind_open();
	CHECK(!pthread_create(&t, NULL, in_thread, &walks));
	pthread_join(t, NULL);
	CHECK_EQ(walks.state, GT_NATIVE_OK);
	CHECK_SAME(&walks);
}

/* libpython does not free everything */
const char *__lsan_default_suppressions(void) { return "leak:libpython"; }
const char *__lsan_default_options(void);
const char *__lsan_default_options(void) { return "print_suppressions=0"; }

static void python_calls_back(void)
{
	static const char *const names[] = { "libpython3.9.so.1.0", "libpython3.10.so.1.0",
		"libpython3.11.so.1.0", "libpython3.12.so.1.0", "libpython3.13.so.1.0" };
	void (*init)(int);
	int (*run)(const char *);
	char script[400];
	void *lib = NULL;

	for (int i = 0; !lib && i < 5; i++)
		lib = dlopen(names[i], RTLD_NOW | RTLD_GLOBAL);
	if (!lib)
		SKIP("no libpython");
	gt_unwind_open();
	init = (void (*)(int))dlsym(lib, "Py_InitializeEx");
	run = (int (*)(const char *))dlsym(lib, "PyRun_SimpleString");
	init(0);
	snprintf(script, sizeof(script),
		"import ctypes\n"
		"f = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(%lu)\n"
		"def g(n): return g(n - 1) if n else sorted([2, 1], key=lambda x: f(%lu) or x)\n"
		"g(5)\n",
		(unsigned long)walk, (unsigned long)&walks);
	walks.nwords = 0;
	CHECK(!run(script));
	CHECK(walks.nwords > 10);
	CHECK_SAME(&walks);
	CHECK_EQ(walks.state, GT_NATIVE_OK);
}

static struct frame found_start;
static bool has_start;

static int compare_and_start(const void *a, const void *b)
{
	uintptr_t start[3];

	if (!has_start && (has_start = gt_native_start(start))) {
		found_start = (struct frame){ start[0], start[1], start[2] };
		walk(&walks);
	}
	return *(const int *)a - *(const int *)b;
}

/* The guest library is this program here. */
static void start_is_outside_of_the_guest(void)
{
	int numbers[2] = { 2, 1 };
	uint32_t i = 0;

	gt_unwind_open();
	has_start = false;
	qsort(numbers, 2, sizeof(int), compare_and_start);
	CHECK(has_start);
	while (i < walks.ntheirs && gt_is_guest_code((void *)walks.theirs[i].ra))
		i++;
	CHECK(i < walks.ntheirs);
	CHECK(!memcmp(&walks.theirs[i], &found_start, sizeof(found_start)));
}

/* ---- ends of a walk ---- */

static __attribute__((noinline)) uint32_t walk_up_to(
	uintptr_t low, uintptr_t high, uint32_t max, uint64_t *words, enum gt_native_state *state)
{
	const uintptr_t *fp = __builtin_frame_address(0);
	uintptr_t start[3] = { (uintptr_t)__builtin_return_address(0),
		(uintptr_t)__builtin_dwarf_cfa(), fp[0] };
	uint32_t n = 0;

	for (int i = 0; i < TRIES; i++) {
		n = gt_native_frames(&readable, start, low, high, words, max, state);
		if (*state != GT_NATIVE_PENDING)
			break;
		gt_unwind_wait(WAIT_MS);
	}
	return n;
}

static void walk_ends_where_it_must(void)
{
	enum gt_native_state state;
	uint64_t words[64], part[64];
	uint32_t n;

	gt_unwind_open();
	n = walk_up_to(0, 0, 64, words, &state);
	CHECK_EQ(state, GT_NATIVE_OK);
	CHECK(n > 3);
	CHECK_EQ(walk_up_to(0, 0, 2, part, &state), 2);
	CHECK_EQ(state, GT_NATIVE_TRUNCATED);
	CHECK_EQ(part[1], words[1]);
	CHECK_EQ(walk_up_to(words[2], words[2] + 1, 64, part, &state), 2);
	CHECK_EQ(state, GT_NATIVE_STOPPED);
	CHECK_EQ(walk_up_to(0, 0, 0, part, &state), 0);
	CHECK_EQ(state, GT_NATIVE_TRUNCATED);
}

static void damaged_stacks_end_the_walk(void)
{
	static uint64_t area[512];
	static const uintptr_t sps[] = { 8, 4096, 1ul << 46, 1ul << 63, UINTPTR_MAX - 7, 3 };
	enum gt_native_state state;
	uint64_t words[64];
	struct gt_unwind_rule rule;
	unsigned seed = 1;

	gt_unwind_open();
	walk_up_to(0, 0, 64, words, &state);
	for (int i = 0; i < 200000; i++) {
		uintptr_t start[3] = { words[rand_r(&seed) % 3],
			(uintptr_t)&area[rand_r(&seed) % 500],
			(uintptr_t)&area[rand_r(&seed) % 512] };
		uint64_t found[64];
		uint32_t n;

		for (int k = 0; k < 8; k++)
			area[rand_r(&seed) % 512] = rand_r(&seed) % 3
				? words[rand_r(&seed) % 4]
				: (uintptr_t)&area[rand_r(&seed) % 512] + rand_r(&seed) % 9 - 4;
		if (i % 7 == 0)
			start[1] = sps[rand_r(&seed) % 6];
		if (i % 5 == 0)
			start[2] = sps[rand_r(&seed) % 6];
		n = gt_native_frames(&readable, start, 0, 0, found, 64, &state);
		CHECK(n <= 64);
	}
	CHECK(!gt_unwind_rule((uintptr_t)1 << 50, &rule));
}

static void on_signal(int number) { walk(&walks); }

static void signal_handler_ends_the_walk(void)
{
	gt_unwind_open();
	signal(SIGUSR1, on_signal);
	raise(SIGUSR1);
	/* emulators have a return of their own, without call frame information */
	CHECK(walks.state == GT_NATIVE_SIGNAL || walks.state == GT_NATIVE_NO_RULE);
	CHECK_EQ(walks.nwords, 2); /* on_signal, and the kernel's return to here */
}

#ifdef __x86_64__
static __attribute__((noinline)) void call_code(void (*code)(callback *, void *))
{
	code(walk, &walks);
	__asm__ volatile("");
}

/* Code as of a just-in-time compiler. */
static void code_without_information(void)
{
	/* push %rbp; mov %rsp,%rbp; sub $32,%rsp; mov %rdi,%rax; mov %rsi,%rdi; call *%rax; leave;
	 * ret */
	static const uint8_t framed[] = { 0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x20, 0x48,
		0x89, 0xf8, 0x48, 0x89, 0xf7, 0xff, 0xd0, 0xc9, 0xc3 };
	/* push %rbp; sub $32,%rsp; xor %ebp,%ebp; the same; add $32,%rsp; pop %rbp; ret */
	static const uint8_t frameless[] = { 0x55, 0x48, 0x83, 0xec, 0x20, 0x31, 0xed, 0x48, 0x89,
		0xf8, 0x48, 0x89, 0xf7, 0xff, 0xd0, 0x48, 0x83, 0xc4, 0x20, 0x5d, 0xc3 };
	uint8_t *code = mmap(
		NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	gt_unwind_open();
	if (code == MAP_FAILED)
		SKIP("no memory for code");
	memcpy(code, framed, sizeof(framed));
	memcpy(code + 256, frameless, sizeof(frameless));
	call_code((void (*)(callback *, void *))code);
	CHECK_EQ(walks.state, GT_NATIVE_OK);
	CHECK_EQ(walks.words[0], (uintptr_t)code + 16);
	CHECK(walks.words[1] > (uintptr_t)call_code && walks.words[1] < (uintptr_t)call_code + 100);
	call_code((void (*)(callback *, void *))(code + 256));
	CHECK_EQ(walks.state, GT_NATIVE_NO_RULE);
	CHECK_EQ(walks.nwords, 1);
}
#else
static void code_without_information(void) { SKIP("x86-64 only"); }
#endif

/* ---- random addresses ---- */

#define AREA 8192 /* words of a stack above the frame of at_address */
static struct frame wanted[2];
static uint32_t nwanted;
static uintptr_t planted;

struct dwarf_eh_bases {
	void *tbase, *dbase, *func;
};
const void *_Unwind_Find_FDE(void *pc, struct dwarf_eh_bases *bases);

static _Unwind_Reason_Code note_planted(struct _Unwind_Context *c, void *arg)
{
	struct frame f = { _Unwind_GetIP(c), _Unwind_GetCFA(c), _Unwind_GetGR(c, FP_NUMBER) };

	if (nwanted < 2 && (nwanted || f.ra == planted))
		wanted[nwanted++] = f;
	return nwanted == 2 ? _URC_NORMAL_STOP : _URC_NO_REASON;
}

/* Lets libgcc's unwinder see a caller of this function at any address, with any frame pointer. The
 * words are put back before this function returns. */
static __attribute__((noinline, no_sanitize("address"))) void at_address(
	uintptr_t address, uintptr_t fp)
{
	volatile uintptr_t *frame = __builtin_frame_address(0);
	uintptr_t old_fp = frame[0], old_address = frame[1];

	nwanted = 0;
	planted = address;
	frame[0] = fp;
	frame[1] = address;
	_Unwind_Backtrace(note_planted, NULL);
	frame[0] = old_fp;
	frame[1] = old_address;
}

struct counts {
	uint32_t compared, unlike, none, unknown;
};

/* Does the rule lead to a place within the area? */
static bool is_within(struct gt_unwind_rule rule)
{
	intptr_t cfa = rule.cfa;

	switch (gt_rule_kind(rule)) {
	case GT_RULE_SP: return cfa < AREA * 8 && cfa >= (intptr_t)gt_rule_fp(rule);
	case GT_RULE_FP:
	case GT_RULE_AT_FP: return cfa < AREA * 4 && cfa > -AREA * 3;
	default: return gt_rule_kind(rule) == GT_RULE_END;
	}
}

/* not sanitized: the area lies next to the frame of at_address */
static __attribute__((no_sanitize("address"))) void compare_at(uintptr_t address, struct counts *n)
{
	uint64_t *volatile area = __builtin_alloca(AREA * 8);
	struct gt_frame_registers at;
	struct dwarf_eh_bases bases;
	struct gt_unwind_rule rule;
	enum gt_step step;

	/* different addresses within the area: libgcc reads code where a return address points */
	for (unsigned i = 0; i < AREA; i++)
		area[i] = (uintptr_t)&area[i * 5 % AREA];
	while (!gt_unwind_rule(address, &rule))
		if (!gt_unwind_wait(WAIT_MS))
			return;
	n->none += gt_rule_kind(rule) == GT_RULE_NONE;
	n->unknown += gt_rule_kind(rule) == GT_RULE_PLAIN &&
		_Unwind_Find_FDE((void *)(address - 1), &bases);
	if (!is_within(rule))
		return;
	at_address(address, (uintptr_t)&area[AREA / 2]);
	at = (struct gt_frame_registers){ wanted[0].ra, wanted[0].sp, wanted[0].fp };
	step = nwanted ? gt_unwind_step(rule, &at, read_word, &readable) : GT_STEP_NONE;
	n->compared++;
	if (step == GT_STEP_END
			? nwanted == 1 || !wanted[1].ra
			: step == GT_STEP_BY_RULE && nwanted == 2 && at.ra == wanted[1].ra &&
				at.sp == wanted[1].sp && at.fp == wanted[1].fp)
		return;
	if (!n->unlike++)
		snprintf(difference, sizeof(difference),
			"%lx step %d: ra %lx sp %lx fp %lx, not %lx %lx %lx", address, step, at.ra,
			at.sp, at.fp, wanted[1].ra, wanted[1].sp, wanted[1].fp);
}

static uintptr_t code_low, code_high;
static const char *library;

static int find_code(struct dl_phdr_info *info, size_t size, void *arg)
{
	if (!strstr(info->dlpi_name, library))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_LOAD && p->p_flags & PF_X) {
			code_low = info->dlpi_addr + p->p_vaddr;
			code_high = code_low + p->p_memsz;
		}
	}
	return 1;
}

static void random_addresses(void)
{
	static const char *const libraries[] = { "libc.so", "libstdc++", "libpython", "libm.so",
		"libunwindcalls", "ld-linux" };
	unsigned seed = 7;

	gt_unwind_open();
	dlopen(path_of("libunwindcalls.so"), RTLD_NOW);
	for (int k = 0; k < 6; k++) {
		struct counts n = { 0 };

		library = libraries[k];
		code_low = code_high = 0;
		*difference = 0;
		if (!dl_iterate_phdr(find_code, NULL))
			continue;
		for (int i = 0; i < 2000; i++)
			compare_at(code_low +
					((uintptr_t)rand_r(&seed) << 8 ^ (uintptr_t)rand_r(&seed)) %
						(code_high - code_low),
				&n);
		if (getenv("GT_TEST_VERBOSE"))
			printf("%s: %u compared, %u without a rule, %u not known\n", library,
				n.compared, n.none, n.unknown);
		if (n.unlike) {
			t_failed = difference;
			t_line = __LINE__;
			return;
		}
		CHECK_EQ(n.unknown, 0);
		CHECK(n.compared > 500 || code_high - code_low < 100000);
	}
}

/* ---- damaged call frame information ---- */

static struct gt_eh_image libc_image;

static int copy_image(struct dl_phdr_info *info, size_t size, void *arg)
{
	const ElfW(Phdr) *header = NULL;

	if (!strstr(info->dlpi_name, "libc.so"))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME)
			header = &info->dlpi_phdr[i];
	for (int i = 0; header && i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type != PT_LOAD || header->p_vaddr - p->p_vaddr >= p->p_filesz)
			continue;
		libc_image.header = info->dlpi_addr + header->p_vaddr;
		libc_image.header_size = header->p_memsz;
		/* only what begins with the header */
		libc_image.address = libc_image.header;
		libc_image.size = p->p_filesz - (header->p_vaddr - p->p_vaddr);
		libc_image.bytes = (const uint8_t *)libc_image.address;
	}
	return 1;
}

/* Truncated, changed, and in order: no read is beyond the end (a sanitizer finds that), and each
 * lookup ends. */
static void damaged_information(void)
{
	struct gt_eh_image m;
	struct gt_cfi_row row;
	uint32_t found = 0, seed = 3;
	uint8_t *copy;

	dl_iterate_phdr(copy_image, NULL);
	if (!libc_image.size)
		SKIP("libc has no such information");
	library = "libc.so";
	dl_iterate_phdr(find_code, NULL);
	for (unsigned i = 0; i < 400; i++) {
		m = libc_image;
		m.registers = FP_NUMBER == 6 ? GT_CFI_X86_64 : GT_CFI_AARCH64;
		if (i % 4 == 1)
			m.size = rand_r(&seed) % m.size;
		copy = malloc(m.size + !m.size);
		memcpy(copy, m.bytes, m.size);
		m.bytes = copy;
		for (unsigned k = 0; i % 4 > 1 && k < m.size / 16; k++)
			copy[rand_r(&seed) % m.size] ^= (uint8_t)(1u << rand_r(&seed) % 8);
		for (unsigned k = 0; k < 200; k++)
			found += gt_eh_find(&m,
					 code_low +
						 (uintptr_t)rand_r(&seed) % (code_high - code_low),
					 &row) == GT_EH_FOUND;
		free(copy);
	}
	CHECK(found > 100 * 100);
}

/* ---- libraries come and go ---- */

static void replaced_library(bool by_hook)
{
	void (*first)(callback *, void *), (*second)(callback *, void *);
	void *lib = open_plugin("libunwindplugin272.so", &first);
	const struct gt_code_object *o;
	uintptr_t inside;

	gt_unwind_open();
	CHECK(lib);
	first(walk, &walks);
	CHECK_SAME(&walks);
	CHECK_EQ(walks.state, GT_NATIVE_OK);
	inside = walks.words[0];
	o = gt_code_object(gt_unwind_object(inside));
	CHECK(o && strstr(o->path, "libunwindplugin272") && inside > o->low && inside < o->high);
	CHECK(!(by_hook ? gt_hosted_dlclose : dlclose)(lib));
	lib = open_plugin("libunwindplugin4064.so", &second);
	if (first != second)
		SKIP("the second library is elsewhere");
	if (!by_hook) { /* noticed with the next request */
		struct gt_unwind_rule rule;

		gt_unwind_rule((uintptr_t)replaced_library + 1, &rule);
		CHECK(gt_unwind_wait(WAIT_MS));
	}
	second(walk, &walks);
	CHECK_SAME(&walks);
	CHECK_EQ(walks.state, GT_NATIVE_OK);
	CHECK_EQ(walks.words[0], inside);
	CHECK(gt_code_object(gt_unwind_object(inside)) != o);
	CHECK(strstr(o->path, "libunwindplugin272"));
	CHECK(strstr(gt_code_object(gt_unwind_object(inside))->path, "libunwindplugin4064"));
	gt_hosted_dlclose(lib);
}

static void closed_library_is_forgotten(void) { replaced_library(true); }
static void library_closed_without_the_hook_is_forgotten(void) { replaced_library(false); }

static void close_without_unload_forgets_nothing(void)
{
	void (*call)(callback *, void *);
	void *lib = open_plugin("libunwindplugin272.so", &call);
	uint64_t compiled[2];

	gt_unwind_open();
	CHECK(lib && open_plugin("libunwindplugin272.so", &call) == lib);
	for (int i = 0; i < 2; i++) {
		call(walk, &walks);
		CHECK_SAME(&walks);
		compiled[i] = gt_unwind_compiled();
		CHECK(!gt_hosted_dlclose(lib));
	}
	CHECK_EQ(compiled[0], compiled[1]);
}

static void forked_child_has_its_own(void)
{
	int status = 0, key = 1;
	pid_t pid;

	gt_unwind_open();
	libc_calls_back();
	if (t_failed)
		return;
	fflush(stdout);
	pid = fork();
	if (!pid) {
		struct gt_unwind_rule rule;

		alarm(60);
		if (gt_rule_lookup(
			    gt_rule_cache, gt_rule_epoch(gt_rule_cache), walks.words[0], &rule))
			_exit(2);
		has_compared = false;
		bsearch(&key, &key, 1, sizeof(key), compare);
		/* the first request is enough for this short stack */
		_exit(!same(&walks) ? 1 : walks.tries > 1 ? 3 : 0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
}

/* No memory is left for stacks of threads of this size. */
static void set_stacks(size_t bytes)
{
	pthread_attr_t a;

	pthread_attr_init(&a);
	pthread_attr_setstacksize(&a, bytes);
	pthread_setattr_default_np(&a);
}

/* In a child, as its parent has the thread. */
static void helper_is_started_later(void)
{
	const uintptr_t address = (uintptr_t)__builtin_return_address(0);
	struct gt_unwind_rule rule;
	int status = 0, tries = 0;
	pid_t pid;

	gt_unwind_open();
	fflush(stdout);
	pid = fork();
	if (!pid) {
		alarm(60);
		set_stacks((size_t)1 << 50);
		while (++tries < 100)
			if (gt_unwind_rule(address, &rule))
				_exit(1);
		set_stacks(1 << 20);
		while (!gt_unwind_rule(address, &rule))
			usleep(1000);
		_exit(0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
}

T_MAIN(T(libc_calls_back), T(cpp_calls_back), T(thread_has_an_end), T(python_calls_back),
	T(start_is_outside_of_the_guest), T(walk_ends_where_it_must),
	T(damaged_stacks_end_the_walk), T(signal_handler_ends_the_walk),
	T(code_without_information), T(random_addresses), T(damaged_information),
	T(closed_library_is_forgotten), T(library_closed_without_the_hook_is_forgotten),
	T(close_without_unload_forgets_nothing), T(forked_child_has_its_own),
	T(helper_is_started_later))
