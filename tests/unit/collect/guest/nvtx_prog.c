/* A program with annotations, for tests/cli/collect/nvtx.sh. It does the work of the NVTX header
 * itself: at the first use it loads the library named by NVTX_INJECTION64_PATH, calls
 * InitializeInjectionNvtx2 in it, and then calls the functions that the library has set.
 *
 * "alone": ranges and a mark without a call; "die": aborts at the end; "stream": names a stream and
 * launches on it; "late": maps the driver, and goes on when standard input has ended. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wchar.h>
#include "samples/cu.h"

typedef void (*function)(void);
static function core[16], core2[16], cuda[16], *core_at[16], *core2_at[16], *cuda_at[16];

static int module_table(int module, function ***table, unsigned *n)
{
	*table = module == 1 ? core_at : module == 5 ? core2_at : module == 2 ? cuda_at : NULL;
	*n = 16;
	return *table != NULL;
}

static const void *export_table(uint32_t id)
{
	static const struct {
		size_t size;
		int (*table)(int, function ***, unsigned *);
	} callbacks = { sizeof(callbacks), module_table };

	return id == 1 ? &callbacks : NULL;
}

static void inject(void)
{
	const char *path = getenv("NVTX_INJECTION64_PATH");
	void *library = path ? dlopen(path, RTLD_LAZY) : NULL;
	int (*begin)(const void *(*)(uint32_t)) = library
		? (int (*)(const void *(*)(uint32_t)))dlsym(library, "InitializeInjectionNvtx2")
		: NULL;

	for (int i = 0; i < 16; i++) {
		core_at[i] = &core[i];
		core2_at[i] = &core2[i];
		cuda_at[i] = &cuda[i];
	}
	if (!begin || !begin(export_table))
		exit(9);
}

struct attributes {
	uint16_t version, size;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type, reserved;
	union {
		uint64_t u;
		double d;
		int32_t i;
	} payload;
	int32_t message_type;
	const void *message;
};

#define CORE(id, type) ((type)core[id])
#define CORE2(id, type) ((type)core2[id])
static int push(const char *s) { return core[9] ? CORE(9, int (*)(const char *))(s) : -1; }
static int pop(void) { return core[11] ? CORE(11, int (*)(void))() : -1; }

static int (*get)(void **);
static void *context;

static void *other(void *arg)
{
	push("in thread");
	get(&context);
	pop();
	return arg;
}

static void domains(void)
{
	void *d = CORE2(12, void *(*)(const char *))("my domain"),
	     *name = CORE2(10, void *(*)(void *, const char *))(d, "registered");
	struct attributes a = { .version = 3,
		.size = sizeof(a),
		.category = 7,
		.color_type = 1,
		.color = 0xff00ff00,
		.payload_type = 3,
		.message_type = 3,
		.message = name };

	CORE2(8, void (*)(void *, uint32_t, const char *))(d, 7, "cat seven");
	for (int i = 0; i < 3; i++) {
		a.payload.d = 1.5 * i;
		CORE2(4, int (*)(void *, const struct attributes *))(d, &a);
		CORE(10, int (*)(const wchar_t *))(L"weit \u00e4\u20ac\U0001F600");
		get(&context);
		CORE(2, void (*)(const char *))("mark");
		if (pop() != 1)
			exit(8);
		CORE2(5, int (*)(void *))(d);
	}
	a.payload_type = 5;
	a.payload.i = -5;
	a.category = 8; /* has no name */
	CORE2(1, void (*)(void *, const struct attributes *))(d, &a);
}

static int alone(void)
{
	for (int i = 0; i < 3; i++) {
		push("alone");
		usleep(100);
		pop();
	}
	CORE(2, void (*)(const char *))("mark");
	return 0;
}

static int stream(void)
{
	uint64_t cycles = 1000;
	CUstream s;
	CUmodule m;

	cu_start();
	OK(cuModuleLoadData(&m, cu_ptx));
	OK(cuStreamCreate(&s, 1));
	((void (*)(void *, const char *))cuda[5])((void *)s, "my stream");
	for (int i = 0; i < 10; i++)
		LAUNCH(cu_kernel(m, BUSY), 1, s, &cycles);
	OK(cuCtxSynchronize());
	return 0;
}

/* A child is forked while another thread is inside a range: only the child's work inside a range
 * of its own counts there. */
static int inside, through;
static void *holds(void *arg)
{
	push("held");
	__atomic_store_n(&inside, 1, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&through, __ATOMIC_ACQUIRE))
		usleep(1000);
	pop();
	return arg;
}

static int forks(void)
{
	pthread_t t;
	pid_t child;
	int status = 1;

	pthread_create(&t, NULL, holds, NULL);
	while (!__atomic_load_n(&inside, __ATOMIC_ACQUIRE))
		usleep(1000);
	if (!(child = fork())) {
		for (int i = 0; i < 5; i++)
			get(&context);
		push("held");
		get(&context);
		pop();
		get(&context);
		_exit(0);
	}
	waitpid(child, &status, 0);
	__atomic_store_n(&through, 1, __ATOMIC_RELEASE);
	pthread_join(t, NULL);
	return status;
}

static void wait_for_end_of_input(void)
{
	char byte;

	dlopen("libcuda.so.1", RTLD_NOW);
	while (read(0, &byte, 1) > 0)
		;
}

int main(int argc, char **argv)
{
	void *driver;
	uint64_t range;
	pthread_t t;

	if (argc > 1 && !strcmp(argv[1], "late"))
		wait_for_end_of_input();
	inject();
	if (argc > 1 && !strcmp(argv[1], "stream"))
		return stream();
	if (argc > 1 && !strcmp(argv[1], "alone"))
		return alone();
	push("before cuda");
	driver = dlopen("libcuda.so.1", RTLD_NOW);
	if (!driver)
		return 7;
	get = (int (*)(void **))dlsym(driver, "cuCtxGetCurrent");
	((int (*)(unsigned))dlsym(driver, "cuInit"))(0);
	pop();
	if (argc > 1 && !strcmp(argv[1], "fork"))
		return forks();
	get(&context);
	domains();
	range = CORE(5, uint64_t(*)(const char *))("started");
	pthread_create(&t, NULL, other, NULL);
	pthread_join(t, NULL);
	CORE(7, void (*)(uint64_t))(range);
	pop(); /* one too many */
	CORE(14, void (*)(uint32_t, const char *))((uint32_t)syscall(SYS_gettid), "my main");
	push("never popped");
	if (argc > 1 && !strcmp(argv[1], "die"))
		abort();
	return 0;
}
