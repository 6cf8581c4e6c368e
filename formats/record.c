#include "formats/record.h"

#include <string.h>

#define X(e, w) #w,
static const char *const categories[] = { GT_CATEGORIES(X) };
static const char *const ops[] = { GT_OPS(X) };
static const char *const memkinds[] = { GT_MEMKINDS(X) };
static const char *const track_kinds[] = { GT_TRACK_KINDS(X) };
#undef X

const char *gt_category_word(unsigned c) { return c < GT_CATEGORY_COUNT ? categories[c] : "?"; }
const char *gt_op_word(unsigned op) { return op < GT_OP_COUNT ? ops[op] : "?"; }
const char *gt_memkind_word(unsigned m) { return m < GT_MEMKIND_COUNT ? memkinds[m] : "?"; }
const char *gt_track_kind_word(unsigned k) { return k < GT_TRACK_KIND_COUNT ? track_kinds[k] : "?"; }

int gt_category_from_word(const char *word)
{
	for (int i = 0; i < GT_CATEGORY_COUNT; i++)
		if (!strcmp(categories[i], word))
			return i;
	return -1;
}
