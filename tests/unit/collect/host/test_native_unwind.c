/* Native stacks by call frame information: compared with libgcc's, from damaged stacks and from
 * damaged files. */
#define _GNU_SOURCE
#include <execinfo.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "collect/host/native_unwind.h"
#include "formats/symbols/elf_file.h"
#include "tests/unit/own_stack.h"
#include "tests/unit/t.h"

#define NOINLINE __attribute__((noinline))

static void *expected[200];
static uint32_t nexpected;

/* Also libgcc's stack, from this function on. */
static NOINLINE int capture(void)
{
	ucontext_t u;

	nexpected = (uint32_t)backtrace(expected, 200);
	/* sanitized, it has a frame more */
	while (nexpected && (uint64_t)(uintptr_t)expected[0] - (uint64_t)(uintptr_t)capture >= 4096)
		memmove(expected, expected + 1, --nexpected * sizeof(*expected));
	getcontext(&u);
	take_registers(&u);
	unwind(&registers);
	return (int)nexpected;
}

static NOINLINE int capture_deep(int n)
{
	volatile char space[64] __attribute__((aligned(64)));

	space[n] = 1;
	return n ? capture_deep(n - 1) + space[n] : capture() + space[0];
}

static int compare(const void *a, const void *b)
{
	return capture_deep(*(const int *)a) - *(const int *)b;
}

static void is_that_of_libgcc(void)
{
	int items[2] = { 20, 7 };

	open_all();
	qsort(items, 2, sizeof(*items), compare);
	CHECK(nexpected > 25);
	CHECK(!stack.is_part);
	CHECK_EQ(stack.n, nexpected);
	for (uint32_t i = 1; i < nexpected; i++)
		CHECK_EQ(stack.addresses[i], (uintptr_t)expected[i]);
}

static unsigned open_descriptors(void)
{
	unsigned n = 0;

	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* This program and the C library are on the stack in turn: each file is closed for the other. */
static void more_files_than_are_open(void)
{
	const unsigned before = open_descriptors();

	open_files(1);
	for (int again = 0; again < 3; again++) {
		unwind(&registers);
		CHECK(!stack.is_part);
		CHECK_EQ(stack.n, nexpected);
		for (uint32_t i = 1; i < nexpected; i++)
			CHECK_EQ(stack.addresses[i], (uintptr_t)expected[i]);
		CHECK(open_descriptors() <= before);
	}
	open_all();
}

static void short_copy_is_a_part(void)
{
	const uint32_t n = stack.n;
	const size_t all = bytes;
	uint32_t last = 0;

	for (bytes = 0; bytes < all; bytes += 8) {
		unwind(&registers);
		CHECK(stack.n >= last);
		CHECK(stack.n == n || stack.is_part);
		for (uint32_t i = 1; i < stack.n; i++)
			CHECK_EQ(stack.addresses[i], (uintptr_t)expected[i]);
		last = stack.n;
	}
	bytes = all;
}

/* Only the stack pointer is known, as in a wait. */
static void unknown_registers(void)
{
	struct gt_cpu_registers r = { .pc = registers.pc, .is_return = true };

	gt_cpu_set(&r, GT_CPU_SP, registers.value[GT_CPU_SP]);
	unwind(&r);
	CHECK(stack.n >= 1);
	for (uint32_t i = 1; i < stack.n; i++)
		CHECK_EQ(stack.addresses[i], (uintptr_t)expected[i]);
}

/* Each address is right, or one that a call returns to. */
static void damaged_stacks(void)
{
	static uint8_t whole[STACK];
	unsigned seed = 5, parts = 0;

	memcpy(whole, memory, sizeof(whole));
	for (int round = 0; round < 2000; round++) {
		for (int i = 0; i < 100; i++)
			memory[(size_t)rand_r(&seed) % 4096] = (uint8_t)rand_r(&seed);
		unwind(&registers);
		CHECK(stack.n >= 1 && stack.n <= GT_NATIVE_FRAMES);
		parts += stack.is_part;
		memcpy(memory, whole, sizeof(whole));
	}
	CHECK(parts > 500);
}

/* Does the section lie there? */
static bool find_section(int fd, const char *name, uint64_t *offset, uint64_t *size)
{
	struct gt_elf_file f;
	struct gt_elf_names names = { NULL, 0 };
	Elf_Scn *section = NULL;
	bool found = false;
	GElf_Shdr h;
	size_t index;

	if (!gt_elf_open(&f, fd) && !elf_getshdrstrndx(f.elf, &index))
		names = gt_elf_names(&f, index);
	while (!found && names.n && (section = elf_nextscn(f.elf, section))) {
		const char *text =
			gelf_getshdr(section, &h) ? gt_elf_name(&names, h.sh_name) : NULL;

		found = text && !strcmp(text, name);
	}
	*offset = found ? h.sh_offset : 0;
	*size = found ? h.sh_size : 0;
	gt_elf_close(&f);
	return found;
}

static bool read_word(void *arg, uint64_t address, uint64_t *word)
{
	*word = address * 31;
	return (*(unsigned *)arg += 1) % 5;
}

static void step_anywhere(struct gt_elf_cfi *c, unsigned *seed)
{
	for (int i = 0; c && i < 300; i++) {
		struct gt_cpu_registers r = { .pc = (uint64_t)rand_r(seed) % 0x400000,
			.is_return = i & 1 };

		for (unsigned k = 0; k < GT_CPU_REGISTERS; k++)
			gt_cpu_set(&r, k, 0x10000u + 8 * k);
		gt_elf_cfi_step(c, 0, &r, read_word, seed);
		gt_elf_cfi_is_return(c, r.pc);
	}
}

static void damaged_files(void)
{
	static const char *const sections[] = { ".eh_frame", ".eh_frame_hdr" };
	int from = open("/proc/self/exe", O_RDONLY), fd = memfd_create("damaged", 0);
	uint64_t offset, size;
	unsigned seed = 3, opened = 0;
	struct stat st;
	uint8_t *file;

	CHECK(from >= 0 && fd >= 0 && !fstat(from, &st));
	file = malloc((size_t)st.st_size);
	for (int round = 0; round < 60; round++) {
		struct gt_elf_cfi *c;

		CHECK_EQ(pread(from, file, (size_t)st.st_size, 0), st.st_size);
		CHECK(find_section(from, sections[round % 2], &offset, &size));
		for (int i = 0; i < 1 << round % 12; i++)
			file[offset + (unsigned)rand_r(&seed) % size] = (uint8_t)rand_r(&seed);
		CHECK_EQ(pwrite(fd, file, (size_t)st.st_size, 0), st.st_size);
		c = gt_elf_cfi_open(fd);
		opened += c != NULL;
		step_anywhere(c, &seed);
		gt_elf_cfi_close(c);
	}
	CHECK(opened > 20);
	CHECK(!ftruncate(fd, 100));
	CHECK(!gt_elf_cfi_open(fd));
	free(file);
	close(fd);
	close(from);
}

static void close_all(void)
{
	gt_native_unwinder_free(unwinder);
	gt_native_unwinder_free(NULL);
	gt_code_maps_release(&code);
}

T_MAIN(T(is_that_of_libgcc), T(more_files_than_are_open), T(short_copy_is_a_part),
	T(unknown_registers), T(damaged_stacks), T(damaged_files), T(close_all))
