#include "formats/trace/record.h"

#include <string.h>

#define X(e, w) #w,
static const char *const categories[] = { GT_CATEGORIES(X) };
static const char *const memkinds[] = { GT_MEMKINDS(X) };
static const char *const ops[] = { GT_OPS(X) };
static const char *const track_kinds[] = { GT_TRACK_KINDS(X) };
#undef X

const char *gt_category_word(unsigned c) { return c < GT_CATEGORY_COUNT ? categories[c] : "?"; }
const char *gt_memkind_word(unsigned m) { return m < GT_MEMKIND_COUNT ? memkinds[m] : "?"; }
const char *gt_track_kind_word(unsigned k)
{
	return k < GT_TRACK_KIND_COUNT ? track_kinds[k] : "?";
}
const char *gt_op_word(unsigned op) { return op < GT_OP_COUNT ? ops[op] : "?"; }

const char *gt_layer_word(unsigned layer)
{
	static const char *const words[] = { "api", "ioctl", "scheduler", "gpu", "user", "runtime",
		"overhead", "syscall" };

	return layer < GT_LAYER_COUNT ? words[layer] : "?";
}

const char *gt_kind_word(unsigned kind)
{
	static const char *const words[GT_KINDS] = { "?", "call", "open", "span", "gpu", "instant",
		"counter", "unmatched", "lost" };

	return words[kind < GT_KINDS ? kind : 0];
}

const char *gt_frame_kind_word(unsigned kind)
{
	static const char *const words[] = { "?", "python", "native", "kernel", "mark", "inlined" };

	return words[kind <= GT_FRAME_INLINED ? kind : 0];
}

uint32_t gt_type_field(const struct gt_type *type, unsigned role)
{
	for (uint32_t i = 0; i < type->nfields; i++)
		if (type->fields[i].role == role)
			return i;
	return GT_NONE;
}

int gt_word_find(const char *(*word)(unsigned), const char *text)
{
	const char *one;

	for (unsigned i = 0; i < 64; i++)
		if (strcmp(one = word(i), "?") && !strcmp(one, text))
			return (int)i;
	return -1;
}
