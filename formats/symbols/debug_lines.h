/* Source lines and inlined functions of addresses, from DWARF; libdw. Hostile files can crash
 * libdw, so this runs in a process of its own (code_places.h). */
#ifndef GT_DEBUG_LINES_H
#define GT_DEBUG_LINES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "formats/symbols/debug_files.h"

#define GT_CODE_LEVELS 32u /* functions at an address; further ones are left out */

/* One function at an address. The first is the innermost one, with the address' own line; each
 * other one has the line at which the function before it was inlined. */
struct gt_code_level {
	const char *function; /* mangled, or NULL */
	const char *file;     /* or NULL */
	uint32_t line;        /* 0: unknown */
};
/* i: index of the address. The levels are borrowed for the call. */
typedef void gt_code_levels_fn(void *arg, size_t i, const struct gt_code_level *levels, unsigned n);
/* Called before the lines of a compilation unit are read. False: they are left out. */
typedef bool gt_code_unit_fn(void *arg);
/* Calls fn for those of the n addresses (sorted, of the ELF file) of which something is known. If
 * the file shares DWARF with others (.gnu_debugaltlink), their common file is looked for in `where`
 * and where libdw looks. begin_unit may be NULL. 0; -EBADMSG: the
 * file has DWARF that cannot be read; other negative: it has none, or is no ELF file. */
int gt_debug_lines_read(const char *path, struct gt_debug_files *where, const uint64_t *addresses,
	size_t n, gt_code_unit_fn *begin_unit, gt_code_levels_fn *fn, void *arg);
#endif
