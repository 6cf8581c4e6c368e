/* The notes and arguments of USDT probes, also damaged ones. */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include "collect/bpf/usdt/usdt_arguments.h"
#include "collect/bpf/usdt/usdt_notes.h"
#include "tests/unit/collect/bpf/memory_library.h"
#include "tests/unit/t.h"

/* ---- arguments ---- */

static struct gt_bpf_usdt_site site;
static char bad[64];

/* Of the functions below. */
static uint16_t machine;

/* The only argument. */
static const struct gt_bpf_usdt_argument *one(const char *text)
{
	site = (struct gt_bpf_usdt_site){ 0 };
	return !gt_usdt_arguments_parse(text, machine, &site, bad) && site.fields.n == 1
		? &site.arguments[0]
		: NULL;
}

static unsigned kind(unsigned i) { return GT_PROBE_FIELD_KIND(site.fields.fields[i]); }

static void operands_of_x86(void)
{
	const struct gt_bpf_usdt_argument *a;

	machine = EM_X86_64;
	a = one("8@%rdi");

	CHECK(a && a->operand == GT_BPF_REGISTER && a->base == 7 && a->bits == 64);
	CHECK_EQ(kind(0), GT_PROBE_MAYBE_TEXT);
	CHECK_EQ(site.fields.texts, 1);
	a = one("-1@%ch");
	CHECK(a && a->base == 1 && a->shift == 8 && a->bits == 8 && a->is_signed);
	a = one("2@%r15w");
	CHECK(a && a->base == 15 && !a->shift);
	CHECK_EQ(kind(0), GT_PROBE_UNSIGNED);
	a = one("-4@$-5");
	CHECK(a && a->operand == GT_BPF_CONSTANT && (int64_t)a->constant == -5);
	a = one("8@$0x10");
	CHECK(a && a->constant == 16);
	a = one("-8@-24(%rbp)");
	CHECK(a && a->operand == GT_BPF_MEMORY && a->base == 5 && (int64_t)a->constant == -24 &&
		a->index == GT_BPF_NO_REGISTER);
	a = one("4@8(%rax,%r12,4)");
	CHECK(a && a->base == 0 && a->index == 12 && a->scale == 2 && a->constant == 8);
	a = one("8@(,%rbx,8)");
	CHECK(a && a->base == GT_BPF_NO_REGISTER && a->index == 3 && a->scale == 3);
	a = one("8@(%rsp)");
	CHECK(a && a->base == 4);
	a = one("8f@(%rsp)");
	CHECK(a && kind(0) == GT_PROBE_FLOAT);
	a = one("4f@%eax");
	CHECK(a && kind(0) == GT_PROBE_FLOAT32);
	a = one("%rdx");
	CHECK(a && a->bits == 64 && a->base == 2);
	a = one("4@-12(%rip)");
	CHECK(a && a->base == 16);
}

static void operands_of_arm(void)
{
	const struct gt_bpf_usdt_argument *a;

	machine = EM_AARCH64;
	a = one("8@x0");
	CHECK(a && a->operand == GT_BPF_REGISTER && a->base == 0 && a->bits == 64);
	CHECK_EQ(kind(0), GT_PROBE_MAYBE_TEXT);
	a = one("-4@w30");
	CHECK(a && a->operand == GT_BPF_REGISTER && a->base == 30 && a->bits == 32 && a->is_signed);
	a = one("8@sp");
	CHECK(a && a->operand == GT_BPF_REGISTER && a->base == 31);
	a = one("-4@-5");
	CHECK(a && a->operand == GT_BPF_CONSTANT && (int64_t)a->constant == -5);
	a = one("4@#0x10");
	CHECK(a && a->operand == GT_BPF_CONSTANT && a->constant == 16);
	a = one("-4@[sp, 12]");
	CHECK(a && a->operand == GT_BPF_MEMORY && a->base == 31 && a->constant == 12 &&
		a->index == GT_BPF_NO_REGISTER);
	a = one("8@[x29, #-8]");
	CHECK(a && a->operand == GT_BPF_MEMORY && a->base == 29 && (int64_t)a->constant == -8);
	a = one("2@[sp,6]");
	CHECK(a && a->base == 31 && a->constant == 6 && a->bits == 16);
	a = one("8f@[sp]");
	CHECK(a && a->base == 31 && !a->constant && kind(0) == GT_PROBE_FLOAT);
	a = one("x7");
	CHECK(a && a->bits == 64 && a->base == 7);
	CHECK_EQ(gt_usdt_arguments_parse(" 4@[sp, 12]  8@[x0, 8] 8@1 ", machine, &site, bad), 0);
	CHECK_EQ(site.fields.n, 3);
	CHECK(site.arguments[0].constant == 12 && site.arguments[1].constant == 8 &&
		site.arguments[2].constant == 1);
}

static void cannot_be_read(const char *const *all, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		CHECK_EQ(gt_usdt_arguments_parse(all[i], machine, &site, bad), 1);
		CHECK_EQ(site.fields.n, 0);
		CHECK_STR(bad, all[i]);
	}
}

static void arguments_that_cannot_be_read(void)
{
	static const char *const x86[] = { "8@symbol(%rip)", "8@%xmm0", "3@%rax", "9@%rax", "8@",
		"8@%", "@%rax", "8@$", "8@$x", "8@(%rax", "8@(%rax,%rbx,3)", "8@(%rax,,8)",
		"8@1(%rax)x", "1f@%al", "8@%raxx", "-@%rax", "--4@%eax",
		"8@99999999999999999999(%rax)", "8@%fs:16", "x", "8@(", "8@-(%rax)", "8@()x",
		"8@x0", "8@[sp, 12]" };
	static const char *const arm[] = { "8@d0", "8@x31", "8@x", "8@w-1", "8@xzr", "8@[", "8@[]",
		"8@[sp", "8@[sp,", "8@[sp,]", "8@[sp, x1]", "8@[x0, 8]!", "8@[x1, #:lo12:symbol]",
		"8@symbol", "8@spx", "3@x0", "8@", "8@#", "8@%rdi", "8@$5" };

	machine = EM_X86_64;
	cannot_be_read(x86, sizeof(x86) / sizeof(*x86));
	machine = EM_AARCH64;
	cannot_be_read(arm, sizeof(arm) / sizeof(*arm));
	machine = EM_RISCV;
	cannot_be_read(arm, 3);
}

/* The numbers of the other probes do not change. */
static void numbers_remain(void)
{
	CHECK_EQ(gt_usdt_arguments_parse(" 8@$1  8@symbol(%rip) -4@$2 ", EM_X86_64, &site, bad), 1);
	CHECK_EQ(site.fields.n, 2);
	CHECK_EQ(GT_PROBE_FIELD_WHICH(site.fields.fields[0]), 0);
	CHECK_EQ(GT_PROBE_FIELD_WHICH(site.fields.fields[1]), 2);
	CHECK_EQ(gt_usdt_arguments_parse("", EM_X86_64, &site, bad), 0);
	CHECK_EQ(site.fields.n, 0);
	/* no more than a record has */
	CHECK_EQ(gt_usdt_arguments_parse("4@$0 4@$1 4@$2 4@$3 4@$4 4@$5 4@$6 4@$7 4@$8 4@$9 4@$10 "
					 "4@$11 4@$12",
			 EM_X86_64, &site, bad),
		0);
	CHECK_EQ(site.fields.n, GT_PROBE_VALUES);
}

/* ---- notes ---- */

static uint8_t file[FILE_BYTES];
static struct gt_usdt_sites sites;
static struct gt_err err;

static int any(void *arg, const char *provider, const char *name)
{
	(void)arg;
	return strlen(provider) < 64 && strlen(name) < 64;
}

static int read_file(size_t bytes)
{
	int fd = memfd_create("notes", MFD_CLOEXEC), rc = -1;

	err = (struct gt_err)GT_ERR_INIT;
	if (fd >= 0 && write(fd, file, bytes) == (ssize_t)bytes)
		rc = gt_usdt_sites_read(&sites, fd, any, NULL, &err);
	close(fd);
	return rc;
}

static void notes_of_a_library(void)
{
	memory_library_write(file);
	CHECK_EQ(read_file(sizeof(file)), 0);
	CHECK_EQ(sites.n, 1);
	CHECK_STR(sites.list[0].provider, "gt_memory");
	CHECK_STR(sites.list[0].name, "hit");
	CHECK_STR(sites.list[0].arguments, MEMORY_ARGUMENTS);
	CHECK_EQ(sites.list[0].offset, CODE);
	CHECK_EQ(sites.list[0].semaphore, SEMAPHORE_AT);
	CHECK_EQ(sites.list[0].machine, MEMORY_MACHINE);
	gt_usdt_sites_release(&sites);
}

static unsigned sites_found(size_t bytes)
{
	unsigned n;

	read_file(bytes);
	n = (unsigned)sites.n;
	gt_usdt_sites_release(&sites);
	return n;
}

static void damaged_notes(void)
{
	Elf64_Nhdr *head = (void *)(file + NOTE);
	char *texts = (char *)file + NOTE + sizeof(*head) + 8 + 24;
	const uint64_t nowhere = 0x5000; /* in no segment */

	memory_library_write(file);
	head->n_descsz = 0xffffffff;
	CHECK_EQ(sites_found(sizeof(file)), 0);
	head->n_descsz = 23;
	CHECK_EQ(sites_found(sizeof(file)), 0);
	memory_library_write(file);
	head->n_namesz = 0xfffffff0;
	CHECK_EQ(sites_found(sizeof(file)), 0);
	memory_library_write(file);
	memcpy(file + NOTE + sizeof(*head) + 8, &nowhere, sizeof(nowhere));
	CHECK_EQ(sites_found(sizeof(file)), 0);
	memory_library_write(file);
	memset(texts, 'x', 29); /* no text ends */
	CHECK_EQ(sites_found(sizeof(file)), 0);
	memory_library_write(file);
	texts[10] = 0; /* no name */
	CHECK_EQ(sites_found(sizeof(file)), 0);
	memory_library_write(file);
	file[EI_CLASS] = ELFCLASS32;
	read_file(sizeof(file));
	CHECK_EQ(err.code, -EINVAL);
	gt_usdt_sites_release(&sites);
}

/* A truncated file, or one with other bytes at any place, does no harm. */
static void any_bytes(void)
{
	unsigned found = 0;

	memory_library_write(file);
	for (size_t n = 0; n <= sizeof(file); n += 7)
		found += sites_found(n);
	for (size_t i = 0; i < sizeof(file); i += i < 0x140 || i >= NOTE ? 1 : 64) {
		static const uint8_t other[] = { 0xff, 0x80, 0x01 };

		memory_library_write(file);
		file[i] = other[i % 3];
		found += sites_found(sizeof(file));
	}
	CHECK(found > 500);
}

static long memory_kib(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_maxrss;
}

/* A section that no real library has, and that takes no space on the disk, is not read. */
static void large_notes(void)
{
	const uint64_t bytes = 256ul << 20;
	Elf64_Shdr *notes = (Elf64_Shdr *)(file + SECTIONS) + 1;
	int fd = memfd_create("notes", MFD_CLOEXEC);
	long before = memory_kib();

	memory_library_write(file);
	notes->sh_size = bytes;
	CHECK(fd >= 0 && write(fd, file, sizeof(file)) == (ssize_t)sizeof(file) &&
		!ftruncate(fd, NOTE + (off_t)bytes));
	CHECK_EQ(gt_usdt_sites_read(&sites, fd, any, NULL, &err), 0);
	CHECK_EQ(sites.n, 0);
	gt_usdt_sites_release(&sites);
	close(fd);
	CHECK(memory_kib() - before < 65536);
}

/* libelf would allocate memory for all sections. */
static void many_sections(void)
{
	memory_library_write(file);
	((Elf64_Ehdr *)file)->e_shnum = 0;
	((Elf64_Shdr *)(file + SECTIONS))->sh_size = 3;
	CHECK_EQ(read_file(sizeof(file)), -EINVAL);
	gt_usdt_sites_release(&sites);
}

T_MAIN(T(operands_of_x86), T(operands_of_arm), T(arguments_that_cannot_be_read), T(numbers_remain),
	T(notes_of_a_library), T(large_notes), T(many_sections), T(damaged_notes), T(any_bytes))
