/* Functions that a program compiles while it runs: maps and dumps, lines and records that come
 * later. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "collect/recorder/compiled_functions.h"
#include "tests/unit/t.h"

static struct gt_guest self;

static const char *at(struct gt_compiled_functions *c, uint64_t address)
{
	const char *name = gt_compiled_function(c, &self, address);

	return name ? name : "";
}

static void maps(void)
{
	struct gt_compiled_functions c = { 0 };
	char path[64];
	FILE *f;

	CHECK_STR(at(&c, 0x1000), "");
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	f = fopen(path, "w");
	CHECK(f);
	fputs("2000 10 second one\n1000 20 first\nnonsense\n\n5000 0 empty\n6000 10\n3000 10 th",
		f);
	fflush(f);
	CHECK_STR(at(&c, 0x1000), "first");
	CHECK_STR(at(&c, 0x101f), "first");
	CHECK_STR(at(&c, 0x1020), "");
	CHECK_STR(at(&c, 0x2001), "second one");
	CHECK_STR(at(&c, 0x3000), ""); /* its line has no end */
	CHECK_STR(at(&c, 0x5000), "");
	CHECK_STR(at(&c, 0x6000), "");
	fputs("ird\n1000 20 first again\n1810 800 over the second one\n", f);
	fclose(f);
	CHECK_STR(at(&c, 0x3000), "third");
	CHECK_STR(at(&c, 0x1000), "first again");
	CHECK_STR(at(&c, 0x2001), "over the second one");
	CHECK_STR(at(&c, 0x1811), "over the second one");
	unlink(path);
	CHECK_STR(at(&c, 0x3000), "third");
	gt_compiled_functions_release(&c);
	CHECK_STR(at(&c, 0x3000), "");
	gt_compiled_functions_release(&c);
}

/* Of a line that is longer than what is read at once, the beginning counts, and lines follow. */
static void long_line(void)
{
	struct gt_compiled_functions c = { 0 };
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	f = fopen(path, "w");
	CHECK(f);
	fputs("1000 20 before\n2000 20 ", f);
	for (unsigned i = 0; i < 200000; i++)
		fputc('x', f);
	fflush(f);
	CHECK_STR(at(&c, 0x1000), "before");
	CHECK(!strncmp(at(&c, 0x2000), "xxxxxxxx", 8));
	fputs(" 4000 20 no line of its own\n3000 20 after\n5000 20 no e", f);
	fflush(f);
	CHECK_STR(at(&c, 0x3000), "after");
	CHECK_STR(at(&c, 0x4000), "");
	CHECK_STR(at(&c, 0x5000), "");
	fputs("nd\n", f);
	fclose(f);
	CHECK_STR(at(&c, 0x5000), "no end");
	unlink(path);
	gt_compiled_functions_release(&c);
}

/* A map that an earlier process of this id has left. */
static void old_map(void)
{
	struct gt_compiled_functions c = { 0 };
	const struct gt_guest begins_later = { .host_pid = self.host_pid,
		.ns_pid = self.ns_pid,
		.start = self.start + 3600ll * 1000000000 };
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	f = fopen(path, "w");
	CHECK(f);
	fputs("1000 20 earlier\n", f);
	fclose(f);
	CHECK(!gt_compiled_function(&c, &begins_later, 0x1000));
	CHECK_STR(at(&c, 0x1000), "earlier");
	unlink(path);
	gt_compiled_functions_release(&c);
}

static void put_load(FILE *f, uint64_t address, uint64_t size, const char *name)
{
	const uint32_t bytes = (uint32_t)(56 + strlen(name) + 1 + size), head[] = { 0, bytes };
	const uint64_t rest[] = { 1, 0, address, address, size, 1 };

	fwrite(head, sizeof(head), 1, f);
	fwrite(rest, sizeof(rest), 1, f);
	fwrite(name, strlen(name) + 1, 1, f);
	for (uint64_t i = 0; i < size; i++)
		fputc(0xc3, f);
}

static void put_move(FILE *f, uint64_t from, uint64_t to, uint64_t size)
{
	const uint32_t head[] = { 1, 64 };
	const uint64_t rest[] = { 1, 0, from, from, to, size, 1 };

	fwrite(head, sizeof(head), 1, f);
	fwrite(rest, sizeof(rest), 1, f);
}

/* *mark: unmap its 4096 bytes */
static FILE *open_dump(char *path, size_t size, void **mark)
{
	const uint32_t head[] = { 0x4a695444, 1, 40, 62, 0, 1, 0, 0, 0, 0 };
	FILE *f;

	snprintf(path, size, "/tmp/jit-%d.dump", (int)getpid());
	f = fopen(path, "w+");
	if (!f)
		return NULL;
	fwrite(head, sizeof(head), 1, f);
	*mark = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(f), 0);
	return f;
}

static void dumps(void)
{
	struct gt_compiled_functions c = { 0 };
	char path[64];
	void *mark;
	FILE *f = open_dump(path, sizeof(path), &mark);

	CHECK(f && mark != MAP_FAILED);
	put_load(f, 0x7000, 16, "compiled");
	fflush(f);
	CHECK_STR(at(&c, 0x700f), "compiled");
	CHECK_STR(at(&c, 0x7010), "");
	put_move(f, 0x7000, 0x9000, 16);
	put_load(f, 0x8000, 8, "later");
	fflush(f);
	CHECK_STR(at(&c, 0x9000), "compiled");
	CHECK_STR(at(&c, 0x8007), "later");
	/* a record that ends behind the file, and one without an end */
	fwrite((uint32_t[]){ 0, 1000, 0, 0 }, 16, 1, f);
	fflush(f);
	CHECK_STR(at(&c, 0xa000), "");
	fwrite((uint32_t[]){ 0, 0, 0, 0 }, 16, 1, f);
	fclose(f);
	CHECK_STR(at(&c, 0xa000), "");
	CHECK_STR(at(&c, 0x8000), "later");
	munmap(mark, 4096);
	unlink(path);
	gt_compiled_functions_release(&c);
}

/* Of functions at one address, the latest one is moved, whether or not it has been looked up. A
 * garbage collector moves many functions at once, which may take several look-ups. */
static void moves(void)
{
	const uint64_t from = 0x100000, n = 20000;
	struct gt_compiled_functions c = { 0 };
	char path[64];
	void *mark;
	FILE *f = open_dump(path, sizeof(path), &mark);

	CHECK(f && mark != MAP_FAILED);
	put_load(f, 0x7000, 16, "replaced");
	put_load(f, 0x7000, 16, "first");
	put_load(f, from, 16, "moved often");
	put_move(f, 0x7000, 0x8000, 16);
	put_move(f, 0x7008, 0x9000, 16); /* no function begins there */
	put_move(f, 0x6000, 0x9000, 16);
	fflush(f);
	CHECK_STR(at(&c, 0x8000), "first");
	CHECK_STR(at(&c, 0x9000), "");
	for (uint64_t i = 0; i < n; i++)
		put_move(f, from + i * 32, from + (i + 1) * 32, 16);
	put_load(f, 0x8000, 16, "second");
	put_move(f, 0x8000, 0x9000, 16);
	fflush(f);
	for (unsigned i = 0; i < 1000 && !*at(&c, 0x9000); i++)
		;
	CHECK_STR(at(&c, 0x9000), "second");
	CHECK_STR(at(&c, from + n * 32), "moved often");
	CHECK_STR(at(&c, from + n * 16 + 15), "moved often");
	CHECK_STR(at(&c, from + n * 16 + 16), "");
	CHECK_STR(at(&c, 0x7000), "first");
	fclose(f);
	munmap(mark, 4096);
	unlink(path);
	gt_compiled_functions_release(&c);
}

static void read_self(void) { CHECK(gt_guest_read((int32_t)getpid(), &self)); }

T_MAIN(T(read_self), T(maps), T(long_line), T(old_map), T(dumps), T(moves))
