#include "formats/record.h"

#define X(e, w) #w,
static const char *const categories[] = { GT_CATEGORIES(X) };
static const char *const memkinds[] = { GT_MEMKINDS(X) };
static const char *const track_kinds[] = { GT_TRACK_KINDS(X) };
#undef X

const char *gt_category_word(unsigned c) { return c < GT_CATEGORY_COUNT ? categories[c] : "?"; }
const char *gt_memkind_word(unsigned m) { return m < GT_MEMKIND_COUNT ? memkinds[m] : "?"; }
const char *gt_track_kind_word(unsigned k) { return k < GT_TRACK_KIND_COUNT ? track_kinds[k] : "?"; }
