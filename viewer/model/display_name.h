/* What rows are called on the screen: as recorded, and kernels in the short form that reports have them in. */
#ifndef GT_SPELL_H
#define GT_SPELL_H
#include "formats/names/demangle.h"
#include "formats/trace/read/reader.h"

struct gt_spell {			/* zero-initialised but for the reader */
	struct gt_reader *reader;	/* borrowed */
	struct gt_kernel_names *kernels;
};
/* Borrowed until release. */
const char *gt_spell_type(struct gt_spell *s, const struct gt_segment *seg, uint32_t type);
const char *gt_spell_kernel(struct gt_spell *s, const char *name);
void gt_spell_release(struct gt_spell *s);
#endif
