/* A program that attaches to the probes of the library in its own process, as an external tracer
 *does, but without the kernel's help: it reads the notes in the library's file, increments a
 *probe's counter and sets a breakpoint at its place. When the breakpoint is hit, it prints the
 *arguments from the places that the note gives:
 *
 *	PROVIDER:NAME @THREAD ARGUMENT...	strings as text; for activity_batch,
 *KIND/CORRELATION of each record instead
 *
 * @THREAD is "main" for the main thread and "other" for others. The command line lists its actions,
 *in order: up, down PROVIDER:NAME	attaches, detaches launch N, graph N	N kernels, or N
 *graphs of 20, and waits for them runtime N		N kernels by the runtime, and waits for them
 *	fires PROVIDER:NAME	launches until the probe fires
 *	caught 1		a kernel of another name; waits until it has fired kernel_executed:
 *				the probes of earlier work have then fired, too
 *	held N			N kernels and waits as above, while a kernel that another thread
 *launched before them runs until they have fired; then N again, with such a kernel launched after
 *them pile N			N kernels behind others in their streams, none of which ends before
 *all are launched quiet FILE		launches until FILE gets no more lines (SIM_CUPTI_TRUTH
 *writes them there) lines FILE		prints "lines" and the number of lines wait MS, say TEXT
 *	launching FILE		launches until FILE exists and is not empty
 *	subscribe 1		subscribes to CUPTI, as another tool
 *	whose 1			prints the library of the launch function, and whether CUPTI is
 *loaded If PROBES_JUMP is set, the places get a jump instead of a breakpoint, because a real
 *CUPTI's threads may block SIGTRAP; arguments are then those of the calling convention. For
 *tests/gpu/probes.sh, tests/cli/collect/probes.sh and probes_tools.sh. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <pthread.h>
#include "samples/cudart.h"
#include "tests/unit/collect/guest/probe_notes.h"

static struct probe probes[PROBES_MAX];
static int probes_n;

/* ---- hits ---- */

#define HITS 65536
struct hit {
	const struct probe *probe;
	bool main;
	unsigned n;
	uint64_t values[8];
	char text[64];
	unsigned records;
	uint32_t pairs[128][2];
};
static struct hit *hits;
static unsigned hits_n, told;

#if defined(__x86_64__)
enum { BREAK_BYTES = 1 };
static const uint8_t breakpoint[] = { 0xcc };
static uint64_t reg(const ucontext_t *c, const char *name)
{
	static const struct {
		const char *names;
		int at;
	} all[] = {
		{ "rdi edi ", REG_RDI },
		{ "rsi esi ", REG_RSI },
		{ "rdx edx ", REG_RDX },
		{ "rcx ecx ", REG_RCX },
		{ "r8 r8d ", REG_R8 },
		{ "r9 r9d ", REG_R9 },
		{ "rsp ", REG_RSP },
		{ "rax eax ", REG_RAX },
		{ "rbp ebp ", REG_RBP },
	};
	char word[16];

	snprintf(word, sizeof(word), "%s ", name);
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (strstr(all[i].names, word))
			return (uint64_t)c->uc_mcontext.gregs[all[i].at];
	abort();
}
static uintptr_t hit_at(const ucontext_t *c)
{
	return (uintptr_t)c->uc_mcontext.gregs[REG_RIP] - 1;
}
static void go_on(ucontext_t *c) { (void)c; }
#define SUPPORTED
#elif defined(__aarch64__)
enum { BREAK_BYTES = 4 };
static const uint8_t breakpoint[] = { 0x00, 0x00, 0x20, 0xd4 };
static uint64_t reg(const ucontext_t *c, const char *name)
{
	return *name == 's' ? c->uc_mcontext.sp : c->uc_mcontext.regs[atoi(name + 1)];
}
static uintptr_t hit_at(const ucontext_t *c) { return c->uc_mcontext.pc; }
static void go_on(ucontext_t *c) { c->uc_mcontext.pc += 4; }
#define SUPPORTED
#endif

#ifdef SUPPORTED
/* "SIZE@%REG", "SIZE@OFFSET(%REG)", "SIZE@REG": a negative size is a signed value's. */
static uint64_t argument(const ucontext_t *c, const char *s)
{
	long size = strtol(s, (char **)&s, 10), offset = 0;
	uint64_t v, mask;
	char name[8];
	bool deref;

	s++;
	if (*s == '-' || (*s >= '0' && *s <= '9'))
		offset = strtol(s, (char **)&s, 10);
	deref = *s == '(';
	s += deref;
	s += *s == '%';
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(s, ") "), s);
	v = reg(c, name);
	if (deref)
		memcpy(&v, (const void *)(uintptr_t)(v + (uint64_t)offset), sizeof(v));
	mask = labs(size) == 8 ? UINT64_MAX : (1ull << 8 * labs(size)) - 1;
	v &= mask;
	return size < 0 && v >> (8 * -size - 1) ? v | ~mask : v;
}

static void take(const struct probe *p, const ucontext_t *c)
{
	unsigned i = __atomic_fetch_add(&hits_n, 1, __ATOMIC_RELAXED);
	struct hit *h = &hits[i];
	const uint8_t *const *records;

	if (i >= HITS)
		return;
	for (const char *s = p->arguments; *s; s += strcspn(s, " "), s += *s == ' ')
		h->values[h->n++] = argument(c, s);
	h->main = (int)syscall(SYS_gettid) == getpid();
	if (strstr(p->name, "activity_batch")) {
		records = (const uint8_t *const *)(uintptr_t)h->values[0];
		for (; h->records < h->values[1] && h->records < 128; h->records++) {
			memcpy(&h->pairs[h->records][0], records[h->records], 4);
			memcpy(&h->pairs[h->records][1],
				records[h->records] + (h->pairs[h->records][0] == 10 ? 92 : 0), 4);
		}
	} else if (!strstr(p->name, "kernel_launch")) {
		snprintf(
			h->text, sizeof(h->text), "%s", (const char *)(uintptr_t)h->values[--h->n]);
	}
	__atomic_store_n(&h->probe, p, __ATOMIC_RELEASE);
}

static void trapped(int sig, siginfo_t *info, void *context)
{
	(void)sig, (void)info;
	for (int i = 0; i < probes_n; i++)
		if (probes[i].place == hit_at(context)) {
			take(&probes[i], context);
			go_on(context);
			return;
		}
	abort();
}
#endif

/* ---- without signals ---- */

static void jumped(const char *name, unsigned n, const uint64_t *values, const char *text)
{
	unsigned i = __atomic_fetch_add(&hits_n, 1, __ATOMIC_RELAXED);
	struct hit *h = &hits[i];

	if (i >= HITS)
		return;
	h->main = (int)syscall(SYS_gettid) == getpid();
	h->n = n;
	memcpy(h->values, values, n * sizeof(*values));
	snprintf(h->text, sizeof(h->text), "%s", text);
	for (int k = 0; k < probes_n; k++)
		if (!strcmp(probes[k].name, name))
			__atomic_store_n(&h->probe, &probes[k], __ATOMIC_RELEASE);
}

static void correlation(uint32_t id, int32_t cbid, const char *text)
{
	jumped("parcagpu:cuda_correlation", 2, (uint64_t[]){ id, (uint64_t)(int64_t)cbid }, text);
}

static void executed(uint64_t start, uint64_t end, uint32_t id, uint32_t device, uint32_t stream,
	uint32_t graph_id, uint64_t node, const char *text)
{
	jumped("parcagpu:kernel_executed", 7,
		(uint64_t[]){ start, end, id, device, stream, graph_id, node }, text);
}

static void launched(uint32_t id, uint64_t duration)
{
	jumped("parcagpu:kernel_launch", 2, (uint64_t[]){ id, duration }, "");
}

/* An indirect jump over the address behind it, in the 16 bytes that the function has. */
static void jump(struct probe *p, bool up)
{
	uint8_t *at = (uint8_t *)(p->place & ~15ul), code[14] = { 0xff, 0x25, 0, 0, 0, 0 };
	void *to = strstr(p->name, "correlation") ? (void *)correlation
		: strstr(p->name, "executed")     ? (void *)executed
						  : (void *)launched;

	memcpy(code + 6, &to, 8);
	if (up)
		memcpy(p->was, at, sizeof(code));
	memcpy(at, up ? code : p->was, sizeof(code));
}

static void tell(void)
{
	for (; told < hits_n && told < HITS; told++) {
		const struct hit *h = &hits[told];

		while (!__atomic_load_n(&h->probe, __ATOMIC_ACQUIRE))
			usleep(1000);
		printf("%s @%s", h->probe->name, h->main ? "main" : "other");
		if (strstr(h->probe->name, "activity_batch"))
			printf(" %u", h->records);
		for (unsigned i = 0; !h->records && i < h->n; i++)
			printf(" %lld", (long long)h->values[i]);
		for (unsigned i = 0; i < h->records; i++)
			printf(" %u/%u", h->pairs[i][0], h->pairs[i][1]);
		printf("%s%s\n", *h->text ? " " : "", h->text);
	}
	fflush(stdout);
}

/* ---- attaching ---- */

static void begin(void)
{
	if (probes_n)
		return;
	probes_n = probe_notes(probes);
	hits = mmap(NULL, HITS * sizeof(*hits), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
#ifdef SUPPORTED
	sigaction(SIGTRAP, &(struct sigaction){ .sa_sigaction = trapped, .sa_flags = SA_SIGINFO },
		NULL);
#endif
}

static void attach(const char *name, bool up)
{
#ifdef SUPPORTED
	uintptr_t page;

	begin();
	for (int i = 0; i < probes_n; i++) {
		struct probe *p = &probes[i];

		if (strcmp(p->name, name))
			continue;
		page = p->place & ~4095ul;
		mprotect((void *)page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC);
		if (up && !getenv("PROBES_JUMP"))
			memcpy(p->was, (void *)p->place, BREAK_BYTES);
		if (getenv("PROBES_JUMP"))
			jump(p, up);
		else
			memcpy((void *)p->place, up ? breakpoint : p->was, BREAK_BYTES);
		__builtin___clear_cache((char *)p->place, (char *)p->place + 4);
		mprotect((void *)page, 8192, PROT_READ | PROT_EXEC);
		__atomic_fetch_add(p->counter, up ? 1 : -1, __ATOMIC_SEQ_CST);
		return;
	}
	fprintf(stderr, "there is no probe %s\n", name);
	exit(1);
#endif
}

/* ---- actions ---- */

/* a later look-up may wait until all kernels have ended */
static CUfunction busy, relu, wait_flag;

static void launch(int n)
{
	uint64_t cycles = 1000;

	for (int i = 0; i < n; i++)
		LAUNCH(busy, 256 * (i % 7 + 1), NULL, &cycles);
	OK(cuCtxSynchronize());
}

static void graph(int n)
{
	uint64_t cycles = 1000;
	CUgraphExec exec;
	CUstream s;
	CUgraph g;

	OK(cuStreamCreate(&s, 1));
	OK(cuStreamBeginCapture_v2(s, 0));
	for (int i = 0; i < 20; i++)
		LAUNCH(busy, 256, s, &cycles);
	OK(cuStreamEndCapture(s, &g));
	OK(cuGraphInstantiateWithFlags(&exec, g, 0));
	for (int i = 0; i < n; i++)
		OK(cuGraphLaunch(exec, s));
	OK(cuStreamSynchronize(s));
}

#define TRIES 2000 /* of 50 ms and more: a slow machine's time */

static void quiet(const char *file)
{
	struct stat before, after;

	for (int i = 0; i < TRIES; i++) {
		if (stat(file, &before))
			break;
		launch(1);
		if (!stat(file, &after) && after.st_size == before.st_size)
			return;
		usleep(50000);
	}
	fprintf(stderr, "CUPTI stays on\n");
	exit(1);
}

static unsigned fired(const char *name, const char *text)
{
	unsigned n = 0;

	for (unsigned k = 0; k < hits_n; k++)
		n += hits[k].probe && !strcmp(hits[k].probe->name, name) &&
			(!*text || !strcmp(hits[k].text, text));
	return n;
}

static bool have_fired(const char *name, const char *text, unsigned n, int tries)
{
	for (int i = 0; i < tries && fired(name, text) < n; i++)
		usleep(10000);
	return fired(name, text) >= n;
}

/* For each kernel, kernel_executed fires first and activity_batch last. So if a batch came after
 * the last kernel of that name, all its probes have fired. If no tracer is attached to
 * activity_batch, there is nothing to wait for. */
static bool has_fired_all(const char *text)
{
	unsigned last = 0;

	for (int i = 0; i < probes_n; i++)
		if (strstr(probes[i].name, "activity_batch") &&
			!*(volatile uint16_t *)probes[i].counter)
			return true;
	for (unsigned k = 0; k < hits_n; k++)
		if (hits[k].probe && strstr(hits[k].probe->name, ":kernel_executed") &&
			!strcmp(hits[k].text, text))
			last = k;
	for (unsigned k = last; k < hits_n; k++)
		if (hits[k].probe && strstr(hits[k].probe->name, "activity_batch"))
			return true;
	return false;
}

struct long_one {
	CUcontext ctx;
	CUdeviceptr flag;
};

static void *launch_long(void *arg)
{
	struct long_one *l = arg;
	CUstream s;

	OK(cuCtxSetCurrent(l->ctx));
	OK(cuStreamCreate(&s, 1));
	LAUNCH(wait_flag, 1, s, &l->flag);
	return NULL;
}

/* There may be another kernel, which does not end before these have fired, or not within this
 * number of tries of 10 ms. Another thread launches it before them, or after them. (CUPTI has no
 * record of a kernel before the kernels have ended that its thread launched earlier.) */
enum other { ALONE, BESIDE, BEHIND };

static bool caught(int n, enum other other, int tries)
{
	unsigned before = fired("parcagpu:kernel_executed", RELU);
	struct long_one l;
	pthread_t thread;
	CUdeviceptr x;
	CUstream s;
	bool all;
	int *flag, count = 1;

	OK(cuStreamCreate(&s, 1));
	OK(cuMemAlloc_v2(&x, 4));
	OK(cuMemHostAlloc((void **)&flag, sizeof(*flag), 2));
	OK(cuMemHostGetDevicePointer_v2(&l.flag, flag, 0));
	OK(cuCtxGetCurrent(&l.ctx));
	if (other == BESIDE && !pthread_create(&thread, NULL, launch_long, &l))
		pthread_join(thread, NULL);
	for (int i = 0; i < n; i++)
		LAUNCH(relu, 1, s, &x, &count);
	if (other == BEHIND)
		launch_long(&l);
	OK(cuStreamSynchronize(s));
	all = have_fired("parcagpu:kernel_executed", RELU, before + n, tries);
	for (int i = 0; all && other == ALONE && i < tries && !has_fired_all(RELU); i++)
		usleep(10000);
	__atomic_store_n(flag, 1, __ATOMIC_RELEASE);
	OK(cuCtxSynchronize());
	return all;
}

static void pile(int n)
{
	uint64_t cycles = 0;
	CUdeviceptr at;
	CUstream s;
	int *flag;

	OK(cuMemHostAlloc((void **)&flag, sizeof(*flag), 2));
	OK(cuMemHostGetDevicePointer_v2(&at, flag, 0));
	for (int i = 0; i < n; i++) {
		if (i % 500 == 0) { /* a stream takes about a thousand */
			OK(cuStreamCreate(&s, 1));
			LAUNCH(wait_flag, 1, s, &at);
		}
		LAUNCH(busy, 1, s, &cycles);
	}
	__atomic_store_n(flag, 1, __ATOMIC_RELEASE);
	OK(cuCtxSynchronize());
}

/* Right behind many launches they may be too close to it, or the machine too busy. */
static void held(int n)
{
	enum other other;
	int tries;

	for (other = BESIDE; other <= BEHIND; other++) {
		for (tries = 50; !caught(n, other, tries) && tries < 1000; tries *= 2)
			usleep(10000 * tries);
		printf("held %s: %s\n", other == BESIDE ? "beside" : "behind",
			tries < 1000 ? "no" : "yes");
	}
}

static void lines(const char *file)
{
	FILE *f = fopen(file, "r");
	int n = 0, c;

	while (f && (c = getc(f)) != EOF)
		n += c == '\n';
	printf("lines %d\n", n);
	if (f)
		fclose(f);
}

static void until_fires(const char *name)
{
	unsigned before = fired(name, "");

	for (int i = 0; i < TRIES; i++) {
		launch(1);
		usleep(50000);
		if (fired(name, "") > before)
			return;
	}
	fprintf(stderr, "%s does not fire\n", name);
	exit(1);
}

static void ignore_callback(void *user, int domain, uint32_t cbid, const void *data)
{
	(void)user, (void)domain, (void)cbid, (void)data;
}

static void subscribe(void)
{
	void *library = dlopen("libcupti.so.13", RTLD_NOW), *handle;
	int (*to)(void **, void *, void *) =
		library ? (int (*)(void **, void *, void *))dlsym(library, "cuptiSubscribe") : NULL;

	printf("subscribed: %d\n", to ? to(&handle, (void *)ignore_callback, NULL) : -1);
}

static int is_cupti(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size, (void)arg;
	return strstr(info->dlpi_name, "/libcupti.so") != NULL;
}

static void whose(void)
{
	Dl_info where = { .dli_fname = "?" };
	const char *name;

	dladdr((void *)cuLaunchKernel, &where);
	name = strrchr(where.dli_fname, '/');
	printf("launches are of %s, CUPTI is %s\n", name ? name + 1 : where.dli_fname,
		dl_iterate_phdr(is_cupti, NULL) ? "loaded" : "not loaded");
}

int main(int argc, char **argv)
{
	struct stat st;
	CUmodule m;

#ifndef SUPPORTED
	puts("unsupported");
	return 0;
#endif
	atexit(tell); /* behind the library's own end, which may fire some more */
	cu_start();
	cudart_open();
	OK(cuModuleLoadData(&m, cu_ptx));
	busy = cu_kernel(m, BUSY);
	relu = cu_kernel(m, RELU);
	wait_flag = cu_kernel(m, WAIT_FLAG);
	for (int i = 1; i + 1 < argc; i += 2) {
		const char *what = argv[i], *with = argv[i + 1];

		if (!strcmp(what, "up") || !strcmp(what, "down"))
			attach(with, *what == 'u');
		else if (!strcmp(what, "launch"))
			launch(atoi(with));
		else if (!strcmp(what, "runtime"))
			for (int n = atoi(with); n > 0; n--)
				CUDART(CUDA_LAUNCH_KERNEL)
		launch(1);
		else if (!strcmp(what, "graph")) graph(atoi(with));
		else if (!strcmp(what, "fires")) until_fires(with);
		else if (!strcmp(what, "quiet")) quiet(with);
		else if (!strcmp(what, "pile")) pile(atoi(with));
		else if (!strcmp(what, "held")) held(atoi(with));
		else if (!strcmp(what, "caught"))
			printf("caught: %s\n", caught(atoi(with), ALONE, 3000) ? "yes" : "no");
		else if (!strcmp(what, "lines")) lines(with);
		else if (!strcmp(what, "wait")) usleep(1000 * atoi(with));
		else if (!strcmp(what, "subscribe")) subscribe();
		else if (!strcmp(what, "whose")) whose();
		else if (!strcmp(what, "say")) tell(), puts(with);
		else while (!strcmp(what, "launching") && (stat(with, &st) || !st.st_size))
			launch(1),
			usleep(10000);
		tell();
	}
	return 0;
}
