/* The guest's code inside this program, so that a sanitizer can watch it: every wrapper of the
 * table in every argument mode, by many threads at once while the ring is drained. Nothing is
 * preloaded; the exported dlsym, ioctl ... have other names here. */
#include "tests/unit/collect/guest/guest_host.h"
#include "tests/unit/t.h"
#include "collect/guest/nvtx/guest_nvtx.h"
#include <dlfcn.h>
#include <sys/ioctl.h>

extern void *gt_real[];
extern void *const gt_wrapper[];
extern const char *gt_hosted_session;
void *gt_hosted_dlsym(void *handle, const char *name);
int gt_hosted_ioctl(int fd, unsigned long number, ...),
	gt_hosted_open(const char *path, int flags, ...), gt_hosted_close(int fd);
int cuCtxGetCurrent(void **ctx);

static struct host host;
static void *driver;
static volatile bool over;

/* All tests use one session, because a process attaches once. */
static void attach(void)
{
	static char directory[120];
	char path[3000] = "", *slash;
	ssize_t n = readlink("/proc/self/exe", path, 2900);

	if (driver || n < 0)
		return;
	for (int i = 0; i < 2 && (slash = strrchr(path, '/')); i++)
		*slash = 0;
	strcat(path, "/guest/fake/libcuda.so.1");
	driver = dlopen(path, RTLD_NOW);
	host_open(&host, NULL, 64, 1000, 4096);
	snprintf(directory, sizeof(directory), "%s:", host.dir);
	gt_hosted_session = directory;
	host.s->args = GT_ARGS_ALL;
}

static int stub(void) { return 0; }
static int failing_stub(void) { return 700; }

/* Any function can be called this way: a number that it reads is a truncated address, and a
 * pointer that it follows leads to our own memory. */
static int call(uint32_t id, void *p)
{
	int (*f)(void *, void *, void *, void *, void *, void *, void *, void *, void *, void *,
		void *, void *, void *, void *, void *, void *, void *, void *, void *, void *,
		void *, void *, void *, void *) = (void *)gt_wrapper[id];

	return f(p, p, p, p, p, p, p, p, p, p, p, p, p, p, p, p, p, p, p, p, p, p, p, p);
}

static bool excluded(uint32_t id) /* need more than memory */
{
	return !strncmp(gt_api[id].name, "cuGetProcAddress", 16) ||
		!strncmp(gt_api[id].name, "cuProfiler", 10);
}

static unsigned wanted_fields(uint32_t id, bool all)
{
	struct gt_api_field f[GT_FIELDS_MAX];
	unsigned n = gt_api_fields(&gt_api[id], f), want = 0;

	for (unsigned i = 0; i < n; i++)
		want += all || f[i].key;
	return want;
}

static void *all_wrappers(void *arg)
{
	uint64_t memory[40];

	memset(memory, 0, sizeof(memory));
	memcpy(memory, "kernel", 7);
	for (uint32_t id = 0; id < gt_api_count; id++)
		if (!excluded(id))
			call(id, memory);
	return arg;
}

static void every_wrapper_records_its_fields(void)
{
	unsigned calls = 0;

	attach();
	CHECK(driver);
	for (uint32_t id = 0; id < gt_api_count; id++)
		gt_real[id] = id & 1 ? (void *)stub : (void *)failing_stub;
	all_wrappers(NULL);
	host_drain(&host);
	for (size_t i = 0; i < host.nseen; i++) {
		const struct seen *s = &host.seen[i];

		if (s->kind != GT_REC_CALL || s->id >= GT_API_MAX)
			continue;
		calls++;
		CHECK(s->nargs == wanted_fields(s->id, true) && s->ret == (s->id & 1 ? 0 : 700) &&
			s->depth == 0);
	}
	CHECK(calls >= gt_api_count - 5);
}

/* Many copies in one call: their bytes are the sum of the sizes, read only when the driver has read
 * them. */
static void batches_of_copies_have_bytes(void)
{
	uint32_t id = gt_api_find("cuMemcpyBatchAsync_v2");
	int (*copy)(void *, void *, const size_t *, size_t, void *, void *, size_t, void *) =
		(void *)gt_wrapper[id];
	static const size_t sizes[] = { 100, 20, 3 };
	const struct seen *s = NULL;

	attach();
	gt_real[id] = (void *)stub;
	host.nseen = 0;
	copy(NULL, NULL, sizes, 3, NULL, NULL, 0, NULL);
	copy(NULL, NULL, sizes, 1ul << 40, NULL, NULL, 0, NULL);
	host_drain(&host);
	CHECK_EQ(host_count(&host, "cuMemcpyBatchAsync_v2", &s), 2);
	CHECK(s->args[2] == 123 && s->args[3] == 3 && s[1].args[2] == 0);
}

static void *drain(void *arg)
{
	while (!over)
		host_drain(&host);
	return arg;
}

static void many_threads_at_once(void)
{
	pthread_t t[16], drainer;

	attach();
	host.discard = true;
	host.counted = 0;
	pthread_create(&drainer, NULL, drain, NULL);
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 16; i++)
			pthread_create(&t[i], NULL, all_wrappers, NULL);
		for (int i = 0; i < 16; i++)
			pthread_join(t[i], NULL);
	}
	over = true;
	pthread_join(drainer, NULL);
	host_drain(&host);
	host.discard = false;
	for (uint32_t i = 0; i < host.s->nthreads; i++)
		host.counted += host_threads(&host)[i].dropped;
	CHECK(host.counted + host.s->untraced == 48 * (gt_api_count - 5));
}

/* The tables of NVTX: pointers to the places for functions, by module and number. */
int InitializeInjectionNvtx2(const void *(*export_table)(uint32_t id));
static void *handed[6][17], **places[6][17];
static int table(int module, void ****functions, unsigned *n)
{
	for (unsigned i = 0; i < 17; i++)
		places[module][i] = &handed[module][i];
	*functions = places[module];
	*n = 17;
	return 1;
}
static const struct {
	size_t size;
	int (*table)(int, void ****, unsigned *);
} callbacks = { sizeof(callbacks), table };
static const void *export_table(uint32_t id) { return id == 1 ? &callbacks : NULL; }

/* Each registered string is reported once, for any number of strings and any order of use. */
static void registered_strings_are_reported_once(void)
{
	struct {
		uint16_t version, size;
		uint32_t rest[5];
		uint64_t payload;
		int type, pad;
		const void *message;
	} a = { .version = 3, .size = sizeof(a), .type = 3 };
	const void *(*register_a)(const void *, const char *), *strings[300];
	int (*push)(const void *, const void *), (*pop)(const void *);
	unsigned texts = 0, pushes = 0;
	char name[40];

	attach();
	host.s->nvtx = 1;
	CHECK(InitializeInjectionNvtx2(export_table));
	register_a = (const void *(*)(const void *, const char *))handed[5][10];
	push = (int (*)(const void *, const void *))handed[5][4];
	pop = (int (*)(const void *))handed[5][5];
	CHECK(register_a && push && pop);
	for (int i = 0; i < 300; i++) {
		snprintf(name, sizeof(name), "registered %d", i);
		CHECK((strings[i] = register_a(NULL, name)));
	}
	host_drain(&host);
	host.nseen = 0;
	for (int round = 0; round < 5; round++)
		for (int i = 0; i < 300; i++) {
			a.message = strings[i];
			push(NULL, &a);
			pop(NULL);
		}
	host_drain(&host);
	for (size_t i = 0; i < host.nseen; i++) {
		texts += host.seen[i].kind == GT_REC_STRING;
		pushes += host.seen[i].kind == GT_REC_EVENT && host.seen[i].id == GT_EV_PUSH;
	}
	host.s->nvtx = 0;
	CHECK(pushes == 1500 && texts == 300);
}

/* With any contents of schemas and payloads nothing outside of a payload is read (a sanitizer
 * checks it), and each annotation counts. */
int InitializeInjectionNvtxExtension(const struct gt_nvtx_module *m);
static void payloads_are_read_within_their_bounds(void)
{
	static const uint64_t flags[] = { GT_ENTRY_MESSAGE, GT_ENTRY_MESSAGE | GT_ENTRY_TERMINATED,
		GT_ENTRY_MESSAGE | GT_ENTRY_FIXED, 0, UINT64_MAX },
			      types[] = { 0, 1, 34, GT_TYPE_CATEGORY, GT_TYPE_COLOR, GT_TYPE_STRING,
				      GT_TYPE_UTF8, GT_TYPE_UTF16, GT_TYPES, UINT64_MAX },
			      offsets[] = { 0, 1, 13, 16, UINT64_MAX, UINT64_MAX - 3 },
			      details[] = { 0, 3, UINT64_MAX };
	intptr_t slots[63] = { 0 };
	struct gt_nvtx_segment segment = { 0, 63, slots };
	struct gt_nvtx_module m = { 3, sizeof(m), GT_NVTX_PAYLOAD_MODULE, 0x0104, 1, &segment, NULL,
		NULL };
	struct gt_nvtx_entry e[2] = { { .type = 12 } };
	struct gt_nvtx_schema s = { GT_SCHEMA_HAS_ENTRIES | GT_SCHEMA_HAS_N, NULL, GT_SCHEMA_STATIC,
		0, e, 2, 0, 0, 0 };
	struct gt_nvtx_payload p = { .size = 17 };
	size_t marks = 0, made = 0;
	char *bytes = calloc(1, 17); /* no pointer in it is valid */

	attach();
	host.s->nvtx = 1;
	CHECK(bytes && InitializeInjectionNvtxExtension(&m));
	host_drain(&host);
	host.nseen = 0;
	for (size_t i = 0; i < 5 * 10 * 6 * 3; i++) {
		e[1].flags = flags[i % 5];
		e[1].type = types[i / 5 % 10];
		e[1].offset = offsets[i / 50 % 6];
		e[1].detail = details[i / 300];
		p.schema = ((uint64_t(*)(void *, struct gt_nvtx_schema *))slots[GT_SLOT_SCHEMA])(
			NULL, &s);
		for (p.size = 0; p.size <= 17; p.size++) {
			memset(bytes,
				e[1].type == GT_TYPE_STRING || e[1].type == GT_TYPE_UTF8 ? 0 : 'x',
				17);
			/* up to the end of this program's memory */
			p.bytes = p.size ? bytes + 17 - p.size : NULL;
			((void (*)(void *, struct gt_nvtx_payload *, size_t))slots[GT_SLOT_MARK])(
				NULL, &p, 1);
			made++;
		}
		host_drain(&host);
		for (size_t k = 0; k < host.nseen; k++)
			marks += host.seen[k].kind == GT_REC_EVENT && host.seen[k].id == GT_EV_MARK;
		host.nseen = 0;
	}
	((void (*)(void *, struct gt_nvtx_payload *, size_t))slots[GT_SLOT_MARK])(NULL, NULL, 3);
	host_drain(&host);
	host.s->nvtx = 0;
	host.nseen = 0;
	free(bytes);
	CHECK(marks == made && made == 900 * 18);
}

static void dlsym_and_files(void)
{
	struct {
		uint32_t words[8];
	} control = { { 1, 2, 0x20800110, 0, 0, 0, 0, 9 } };
	int (*get)(void **), memory = memfd_create("sim:nvidia1", 0), fd;
	char path[40];
	size_t before;
	void *ctx;

	attach();
	host_drain(&host);
	before = host.nseen;
	get = (int (*)(void **))gt_hosted_dlsym(driver, "cuCtxGetCurrent");
	CHECK((void *)get == (void *)gt_wrapper[gt_api_find("cuCtxGetCurrent")]);
	CHECK(!get(&ctx) && ctx == (void *)0x77);
	CHECK(gt_hosted_dlsym(RTLD_DEFAULT, "getpid") == dlsym(RTLD_DEFAULT, "getpid") &&
		!gt_hosted_dlsym(driver, "cuNoneSuch"));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", memory);
	fd = gt_hosted_open(path, O_RDWR | O_CLOEXEC);
	CHECK(fd >= 0 && gt_hosted_ioctl(fd, 0xc020462a, &control) == -1 && errno == ENOTTY);
	CHECK(gt_hosted_ioctl(fd, 0x5401, &control) == -1 && !gt_hosted_close(fd) &&
		!close(memory));
	host_drain(&host);
	CHECK(host.nseen == before + 4);
	CHECK(host.seen[before + 2].id == GT_ID_IOCTL &&
		host.seen[before + 2].args[2] == 0x20800110 && host.seen[before + 2].args[3] == 9);
	CHECK(host.seen[before + 2].args[0] == ((uint64_t)GT_DEV_GPU << 32 | 1));
	host_close(&host);
}

T_MAIN(T(every_wrapper_records_its_fields), T(batches_of_copies_have_bytes),
	T(many_threads_at_once), T(registered_strings_are_reported_once),
	T(payloads_are_read_within_their_bounds), T(dlsym_and_files))
