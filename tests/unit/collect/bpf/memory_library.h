/* A shared library with a USDT probe, gt_memory:hit(uint64_t, int64_t), written byte by byte into a
 * memory file and loaded from there, as libstapsdt does it: no path leads to it. */
#ifndef MEMORY_LIBRARY_H
#define MEMORY_LIBRARY_H
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef __aarch64__
#define MEMORY_MACHINE EM_AARCH64
#define MEMORY_ARGUMENTS "8@x0 -8@x1"
#define MEMORY_CODE 0x1f, 0x20, 0x03, 0xd5, 0xc0, 0x03, 0x5f, 0xd6 /* nop; ret */
#else
#define MEMORY_MACHINE EM_X86_64
#define MEMORY_ARGUMENTS "8@%rdi -8@%rsi"
#define MEMORY_CODE 0x90, 0xc3 /* nop; ret */
#endif

struct memory_library {
	void (*fire)(uint64_t a, int64_t b);
	volatile uint16_t *semaphore;
};

/* Addresses are offsets in the file. The section headers are not loaded. */
enum { CODE = 0x400, SYMBOLS = 0x500, STRINGS = 0x580, DYNAMIC = 0x1000, SEMAPHORE_AT = 0x1200 };
enum { NOTE = 0x2000, NAMES = 0x2100, SECTIONS = 0x2200, FILE_BYTES = 0x2400 };

static inline void memory_library_note(uint8_t *to)
{
	static const char texts[] = "gt_memory\0hit\0" MEMORY_ARGUMENTS;
	const uint64_t addresses[3] = { CODE, 0, SEMAPHORE_AT };
	const Elf64_Nhdr head = { 8, sizeof(addresses) + sizeof(texts), 3 };

	memcpy(to, &head, sizeof(head));
	memcpy(to + sizeof(head), "stapsdt", 8);
	memcpy(to + sizeof(head) + 8, addresses, sizeof(addresses));
	memcpy(to + sizeof(head) + 8 + sizeof(addresses), texts, sizeof(texts));
}

static inline void memory_library_write(uint8_t *to)
{
	static const char names[] = "\0.note.stapsdt\0.shstrtab";
	static const uint8_t code[] = { MEMORY_CODE };
	const Elf64_Ehdr head = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1 },
		.e_type = ET_DYN,
		.e_machine = MEMORY_MACHINE,
		.e_version = 1,
		.e_phoff = sizeof(head),
		.e_shoff = SECTIONS,
		.e_ehsize = sizeof(head),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 4,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 3,
		.e_shstrndx = 2 };
	const Elf64_Phdr segments[] = {
		{ PT_LOAD, PF_R | PF_X, 0, 0, 0, 0x1000, 0x1000, 0x1000 },
		{ PT_LOAD, PF_R | PF_W, 0x1000, 0x1000, 0x1000, 0x1000, 0x1000, 0x1000 },
		{ PT_DYNAMIC, PF_R | PF_W, DYNAMIC, DYNAMIC, DYNAMIC, 0x100, 0x100, 8 },
		{ PT_GNU_STACK, PF_R | PF_W, 0, 0, 0, 0, 0, 16 },
	};
	const Elf64_Dyn dynamic[] = { { DT_STRTAB, { STRINGS } }, { DT_SYMTAB, { SYMBOLS } },
		{ DT_STRSZ, { 1 } }, { DT_SYMENT, { sizeof(Elf64_Sym) } } };
	const Elf64_Shdr sections[] = { { 0 },
		{ .sh_name = 1,
			.sh_type = SHT_NOTE,
			.sh_offset = NOTE,
			.sh_size = 80,
			.sh_addralign = 4 },
		{ .sh_name = 15,
			.sh_type = SHT_STRTAB,
			.sh_offset = NAMES,
			.sh_size = sizeof(names) } };

	memcpy(to, &head, sizeof(head));
	memcpy(to + sizeof(head), segments, sizeof(segments));
	memcpy(to + CODE, code, sizeof(code));
	memcpy(to + DYNAMIC, dynamic, sizeof(dynamic));
	memory_library_note(to + NOTE);
	memcpy(to + NAMES, names, sizeof(names));
	memcpy(to + SECTIONS, sections, sizeof(sections));
}

/* 0, or -1. The descriptor stays open, as libstapsdt's does. */
static inline int memory_library_load(struct memory_library *l)
{
	static uint8_t bytes[FILE_BYTES];
	int fd = memfd_create("gt_memory", MFD_CLOEXEC);
	struct link_map *map = NULL;
	char path[32];
	void *handle;

	memory_library_write(bytes);
	if (fd < 0 || write(fd, bytes, sizeof(bytes)) != sizeof(bytes))
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	handle = dlopen(path, RTLD_NOW);
	if (!handle || dlinfo(handle, RTLD_DI_LINKMAP, &map)) {
		fprintf(stderr, "%s\n", dlerror());
		return -1;
	}
	l->fire = (void (*)(uint64_t, int64_t))(map->l_addr + CODE);
	l->semaphore = (volatile uint16_t *)(map->l_addr + SEMAPHORE_AT);
	return 0;
}
#endif
