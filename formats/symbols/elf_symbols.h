/* Functions of an ELF file by address, from its symbol tables. If the file was stripped and the
 * system has its symbols in /usr/lib/debug, they are read there. */
#ifndef GT_ELF_SYMBOLS_H
#define GT_ELF_SYMBOLS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "formats/base/err.h"

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

/* Reads the functions of the file. id: its build id as it was recorded, of `nid` bytes (0: any file
 * of that name is right). Functions whose names are beyond 256 MiB in all are left out. 0; -ESTALE:
 * it has another build id; other negative. Close it also after an error. */
int gt_elf_symbols_open(struct gt_elf_symbols *s, const char *path, const uint8_t *id, size_t nid,
	struct gt_err *err);
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
