/* ELF files that are made to cost much. Each test reads one within little memory and time. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include "formats/symbols/elf_file.h"
#include "formats/symbols/elf_symbols.h"
#include "collect/bpf/links/mapped_library.h"
#include "collect/bpf/usdt/usdt_notes.h"
#include "tests/unit/t.h"

#define LARGE (sizeof(Elf64_Sym) << 27) /* 3 GiB, of a file without blocks */
#define NSECTIONS 3000u

/* A file of one executable segment, a table of symbols and its names. */
static struct image {
	Elf64_Ehdr file;
	Elf64_Phdr segment;
	Elf64_Shdr sections[NSECTIONS]; /* none, symbols, their names, and others */
	Elf64_Sym symbols[64];
	char names[64];
	char code[16];
} image;

#define AT(member) offsetof(struct image, member)

static void set_up(void)
{
	memset(&image, 0, sizeof(image));
	memcpy(image.file.e_ident, ELFMAG, SELFMAG);
	image.file.e_ident[EI_CLASS] = ELFCLASS64;
	image.file.e_ident[EI_DATA] = ELFDATA2LSB;
	image.file.e_ident[EI_VERSION] = EV_CURRENT;
	image.file.e_type = ET_DYN;
	image.file.e_machine = EM_X86_64;
	image.file.e_version = EV_CURRENT;
	image.file.e_ehsize = sizeof(image.file);
	image.file.e_phoff = AT(segment);
	image.file.e_phentsize = sizeof(image.segment);
	image.file.e_phnum = 1;
	image.file.e_shoff = AT(sections);
	image.file.e_shentsize = sizeof(image.sections[0]);
	image.file.e_shnum = 3;
	image.segment = (Elf64_Phdr){ .p_type = PT_LOAD,
		.p_flags = PF_X | PF_R,
		.p_offset = AT(code),
		.p_vaddr = 0x1000,
		.p_filesz = sizeof(image.code),
		.p_memsz = sizeof(image.code) };
	image.sections[1] = (Elf64_Shdr){ .sh_type = SHT_DYNSYM,
		.sh_offset = AT(symbols),
		.sh_size = sizeof(image.symbols),
		.sh_entsize = sizeof(image.symbols[0]),
		.sh_link = 2 };
	image.sections[2] = (Elf64_Shdr){
		.sh_type = SHT_STRTAB, .sh_offset = AT(names), .sh_size = sizeof(image.names)
	};
	image.symbols[1] = (Elf64_Sym){ .st_name = 1,
		.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
		.st_shndx = 1,
		.st_value = 0x1004 };
	strcpy(image.names + 1, "function");
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int any(void *arg, const char *provider, const char *name) { return 1; }

static struct gt_library_functions found; /* by the last read_image() */

/* Reads the image, in a file of that many bytes. False: that took much memory or time. */
static bool read_image(uint64_t bytes)
{
	int fd = memfd_create("image", MFD_CLOEXEC);
	struct gt_err err = GT_ERR_INIT;
	struct gt_usdt_sites sites;
	struct rusage before, after;
	double from = seconds();

	getrusage(RUSAGE_SELF, &before);
	gt_library_functions_release(&found);
	if (fd < 0 || write(fd, &image, sizeof(image)) != sizeof(image) ||
		ftruncate(fd, (off_t)bytes))
		return false;
	gt_library_functions_read(&found, fd, "image", "*", true, &err);
	gt_usdt_sites_read(&sites, fd, any, NULL, &err);
	gt_usdt_sites_release(&sites);
	close(fd);
	getrusage(RUSAGE_SELF, &after);
	return after.ru_maxrss - before.ru_maxrss < 3 << 19 && seconds() - from < 20;
}

static void good_file(void)
{
	set_up();
	CHECK(read_image(sizeof(image)));
	CHECK_EQ(found.n, 1);
	CHECK_STR(found.list[0].name, "function");
	CHECK_EQ(found.list[0].offset, AT(code) + 4);
}

static void large_sections(void)
{
	set_up();
	image.sections[1].sh_size = LARGE;
	CHECK(read_image(2 * LARGE));
	CHECK_EQ(found.n, 0);
	set_up();
	image.sections[2].sh_size = LARGE;
	CHECK(read_image(2 * LARGE));
	CHECK_EQ(found.n, 0);
	set_up();
	image.sections[1].sh_size = image.sections[2].sh_size = UINT64_MAX;
	CHECK(read_image(sizeof(image)));
	image.sections[1].sh_offset = UINT64_MAX - 8;
	CHECK(read_image(sizeof(image)));
	CHECK_EQ(found.n, 0);
}

/* Each of many tables is the same part of the file. */
static void many_sections(void)
{
	set_up();
	for (unsigned i = 3; i < NSECTIONS; i++) {
		image.sections[i] = image.sections[1];
		image.sections[i].sh_size = sizeof(Elf64_Sym) << 22; /* 96 MiB */
	}
	image.file.e_shnum = NSECTIONS;
	CHECK(read_image(LARGE));
	CHECK(found.n >= 1);
}

static void names_without_end(void)
{
	set_up();
	memset(image.names, 'x', sizeof(image.names));
	CHECK(read_image(sizeof(image)));
	CHECK_EQ(found.n, 0);
	set_up();
	image.symbols[1].st_name = UINT32_MAX;
	CHECK(read_image(sizeof(image)));
	CHECK_EQ(found.n, 0);
}

static void wrong_headers(void)
{
	static const uint16_t numbers[] = { 0, 1, 0xfffe, 0xffff };

	for (unsigned i = 0; i < 4; i++) {
		set_up();
		image.file.e_phnum = numbers[i];
		CHECK(read_image(sizeof(image)));
		set_up();
		image.file.e_shnum = numbers[i];
		CHECK(read_image(sizeof(image)));
		set_up();
		image.file.e_shentsize = image.file.e_phentsize = numbers[i];
		CHECK(read_image(sizeof(image)));
		set_up();
		image.sections[1].sh_entsize = numbers[i];
		CHECK(read_image(sizeof(image)));
		set_up();
		image.sections[1].sh_link = numbers[i];
		CHECK(read_image(sizeof(image)));
	}
	set_up();
	image.segment.p_offset = UINT64_MAX - 2;
	CHECK(read_image(sizeof(image)));
	image.segment.p_vaddr = UINT64_MAX - 2;
	image.segment.p_filesz = UINT64_MAX;
	CHECK(read_image(sizeof(image)));
	CHECK(read_image(40));
	CHECK(read_image(0));
	gt_library_functions_release(&found);
}

/* Symbols that share one long name: the names of the first ones are copied. */
static void long_names_of_many_symbols(void)
{
	enum { N = 40000, LENGTH = 8191 };
	static struct {
		Elf64_Sym symbols[N];
		char name[LENGTH + 1];
	} more;
	int fd = memfd_create("image", MFD_CLOEXEC);
	struct gt_elf_symbols symbols;
	char path[64];

	set_up();
	image.sections[1].sh_offset = sizeof(image);
	image.sections[1].sh_size = sizeof(more.symbols);
	image.sections[2].sh_offset = sizeof(image) + sizeof(more.symbols);
	image.sections[2].sh_size = sizeof(more.name);
	for (unsigned i = 0; i < N; i++) {
		more.symbols[i] = image.symbols[1];
		more.symbols[i].st_name = 0;
		more.symbols[i].st_value = 0x1000 + 16ul * i;
	}
	memset(more.name, 'f', LENGTH);
	CHECK(write(fd, &image, sizeof(image)) == sizeof(image));
	CHECK(write(fd, &more, sizeof(more)) == sizeof(more));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	CHECK_EQ(gt_elf_symbols_open(&symbols, &(const char *){ path }, 1), 0);
	CHECK(symbols.n < N && symbols.nnames <= 256u << 20);
	CHECK_STR(gt_elf_symbols_find(&symbols, 0x1000), more.name);
	gt_elf_symbols_close(&symbols);
	close(fd);
}

T_MAIN(T(good_file), T(large_sections), T(many_sections), T(names_without_end), T(wrong_headers),
	T(long_names_of_many_symbols))
