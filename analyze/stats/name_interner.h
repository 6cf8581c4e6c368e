/* Maps names to small numbers. Several types share a name (different arguments, recordings or
 * graphs), and users think in names, so reports count by name. A row finds its name by its type
 * in one step; text is compared only for the first row of a type.
 *
 * After `most` names all further ones share one, called "(all others)" with tag 0. So sums stay
 * correct and memory stays bounded. */
#ifndef GT_NAME_INTERNER_H
#define GT_NAME_INTERNER_H
#include "formats/base/err.h"
#include "formats/base/map.h"
#include "formats/trace/read/reader.h"
#include "formats/table/table.h"

/* text: borrowed from the reader; tag: set by the owner, separates equal texts */
struct gt_name_id {
	const char *text;
	uint32_t len, tag;
};
struct gt_name_interner { /* zero-initialised: empty and valid, without a limit and without
			   * lookup by type */
	struct gt_name_id *list;
	size_t n, cap;
	uint32_t most; /* 0: no limit */
	/* by type, numbered over all segments: 1 + its name's number; 0: not seen yet */
	uint32_t *of_type;
	struct gt_map map;
};

/* "?" if there is no such string. */
static inline struct gt_string gt_name_text(const struct gt_segment *seg, uint64_t string)
{
	return string < seg->nstrings ? seg->strings[string] : (struct gt_string){ "?", 1 };
}
/* A tag for owners that count names of different category or layer separately. */
static inline uint32_t gt_name_tag(const struct gt_type *type)
{
	return (uint32_t)type->category << 8 | type->layer;
}

/* types: the number of types of all segments. Returns 0 or -ENOMEM. */
int gt_name_interner_init(
	struct gt_name_interner *ids, uint32_t types, uint32_t most, struct gt_err *err);
/* The number of a name. GT_NONE: not seen yet. */
uint32_t gt_name_interner_get(
	const struct gt_name_interner *ids, struct gt_string text, uint32_t tag);
/* The same; a new name gets the next free number. GT_NONE with err filled in: no memory. */
uint32_t gt_name_interner_find(
	struct gt_name_interner *ids, struct gt_string text, uint32_t tag, struct gt_err *err);
/* The number of the name of a type; `number` is the type's number over all segments. The tag
 * must depend on the type only. */
uint32_t gt_name_interner_new_type(struct gt_name_interner *ids, uint32_t number,
	const struct gt_segment *seg, uint32_t type, uint32_t tag, struct gt_err *err);
static inline uint32_t gt_name_interner_type(struct gt_name_interner *ids, uint32_t number,
	const struct gt_segment *seg, uint32_t type, uint32_t tag, struct gt_err *err)
{
	return ids->of_type[number] ? ids->of_type[number] - 1
				    : gt_name_interner_new_type(ids, number, seg, type, tag, err);
}
/* there are more names than `most` */
static inline bool gt_name_interner_has_rest(const struct gt_name_interner *ids)
{
	return ids->most && ids->n > ids->most;
}
/* Adds a note to a table if there is a rest; what: "kernels". */
void gt_name_interner_note(
	const struct gt_name_interner *ids, struct gt_table *t, const char *what);
void gt_name_interner_release(struct gt_name_interner *ids);
#endif
