/* Functions and lines at addresses of a library: functions by its symbol tables, lines and inlined
 * functions by its DWARF. */
#ifndef GT_CODE_PLACES_H
#define GT_CODE_PLACES_H
#include "formats/base/buf.h"
#include "formats/symbols/debug_files.h"

struct gt_code_places {
	struct gt_code_place {
		uint64_t offset;
		size_t symbol;     /* that has the address, mangled; GT_NO_TEXT: none */
		uint32_t first, n; /* of levels: the innermost first; n 0: no line is known */
	} * list;                  /* by offset */
	size_t n, cap;
	struct gt_place_level {
		size_t function, file; /* offsets in text, or GT_NO_TEXT */
		uint32_t line;         /* 0: unknown */
	} * levels;
	size_t nlevels, levels_cap;
	struct gt_buf text; /* each with its NUL */
};
#define GT_NO_TEXT SIZE_MAX

enum gt_lines_state {
	GT_LINES_READ, /* or not asked for, or the files have no lines */
	GT_LINES_LATE, /* there was no time for all lines */
	GT_LINES_BAD   /* the DWARF of a file is damaged or too large: lines are missing */
};
/* offsets: n ones, sorted, each different: the address in the ELF file behind an instruction (the
 * return address of a call), as in struct gt_frame. The results are those of the instruction.
 * lines_ns: lines are read for at most so long; 0: no lines. 0 or -ENOMEM. Zero-initialised;
 * release it. */
int gt_code_places_read(struct gt_code_places *p, struct gt_debug_files *where,
	const struct gt_library_files *files, const uint64_t *offsets, size_t n, int64_t lines_ns,
	enum gt_lines_state *state);
/* NULL: it was not read. */
const struct gt_code_place *gt_code_places_find(const struct gt_code_places *p, uint64_t offset);
/* NULL for GT_NO_TEXT */
static inline const char *gt_place_text(const struct gt_code_places *p, size_t at)
{
	return at == GT_NO_TEXT ? NULL : (const char *)p->text.data + at;
}
void gt_code_places_release(struct gt_code_places *p);
#endif
