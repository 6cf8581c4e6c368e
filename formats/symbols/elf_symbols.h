/* Functions of an ELF file by address, from its symbol tables. */
#ifndef GT_ELF_SYMBOLS_H
#define GT_ELF_SYMBOLS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_elf_symbols {
	struct gt_elf_symbol {
		uint64_t at, size; /* addresses in the file; size 0: not known */
		const char *name;
		bool is_global;
	} * items; /* sorted by address; one for each */
	size_t n, cap;
	char *names;
	size_t nnames, names_cap;
};

/* Reads the functions of a library that has several files: itself, and debug files
 * (debug_files.h). They are those of the first file with a symbol table; if no file has one, those
 * that the library exports. Functions whose names are beyond 256 MiB in all are left out. 0;
 * -ENOENT: no file can be read; -ENOMEM. Close it also after an error. */
int gt_elf_symbols_open(struct gt_elf_symbols *s, const char *const *paths, size_t n);
void gt_elf_symbols_close(struct gt_elf_symbols *s);
/* The function that has this address, mangled; NULL: no known function has it. */
const char *gt_elf_symbols_find(const struct gt_elf_symbols *s, uint64_t address);

/* What tells where a mapping of an ELF file lies in the file's own addresses. */
struct gt_elf_mapping {
	uint64_t address; /* that the file gives to the byte at the mapping's offset */
	uint8_t build_id[20], nbuild_id;
};
/* offset: in the file, of mapped code. 0 or negative: it cannot be read. */
int gt_elf_mapping(const char *path, uint64_t offset, struct gt_elf_mapping *m);

/* A dynamic symbol, of a function or of data. */
struct gt_elf_place {
	const char *name;
	uint64_t at, size; /* address in the file; 0: the file does not define it */
};
/* Looks these names up. 0 or negative: the file cannot be read. */
int gt_elf_places(const char *path, struct gt_elf_place *places, size_t n);
#endif
