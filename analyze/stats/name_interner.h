/* Names as small numbers. Several types share a name (other arguments, other recordings, graphs) and readers think in names, so
 * what is counted is counted by name; a row gets there by its type in one step, and only the first row of a type looks at texts.
 * Beyond `most` names all further ones share one more, the rest, called "(all others)" and of tag 0: sums stay true, and memory
 * bounded. */
#ifndef GT_NAME_INTERNER_H
#define GT_NAME_INTERNER_H
#include "formats/base/err.h"
#include "formats/base/map.h"
#include "formats/trace/read/reader.h"
#include "formats/table/table.h"

struct gt_name_id { const char *text; uint32_t len, tag; };	/* text: borrowed from the reader; tag: the owner's, tells same texts apart */
struct gt_name_interner {	/* zero-initialised is empty and valid: there is no bound, and types are not asked for */
	struct gt_name_id *list;
	size_t n, cap;
	uint32_t most;		/* 0: as many as there are */
	uint32_t *of_type;	/* by type, numbered over all segments: 1 + its name; 0 not met yet */
	struct gt_map map;
};

/* "?" where there is none. */
static inline struct gt_string gt_name_text(const struct gt_segment *seg, uint64_t string)
{
	return string < seg->nstrings ? seg->strings[string] : (struct gt_string){ "?", 1 };
}
/* The tag of an owner to whom what differs in category or layer is something else, whatever its name. */
static inline uint32_t gt_name_tag(const struct gt_type *type) { return (uint32_t)type->category << 8 | type->layer; }

/* types: how many of all segments. 0 or -ENOMEM. */
int gt_name_interner_init(struct gt_name_interner *ids, uint32_t types, uint32_t most, struct gt_err *err);
/* The number of a name; GT_NONE: it was not met yet. */
uint32_t gt_name_interner_get(const struct gt_name_interner *ids, struct gt_string text, uint32_t tag);
/* The same; the next free one if it is new. GT_NONE with err filled in: no memory. */
uint32_t gt_name_interner_find(struct gt_name_interner *ids, struct gt_string text, uint32_t tag, struct gt_err *err);
/* That of a type, which all segments' types together have the number `number`. The tag must depend on nothing but the type. */
uint32_t gt_name_interner_new_type(struct gt_name_interner *ids, uint32_t number, const struct gt_segment *seg, uint32_t type, uint32_t tag,
			      struct gt_err *err);
static inline uint32_t gt_name_interner_type(struct gt_name_interner *ids, uint32_t number, const struct gt_segment *seg, uint32_t type, uint32_t tag,
					struct gt_err *err)
{
	return ids->of_type[number] ? ids->of_type[number] - 1 : gt_name_interner_new_type(ids, number, seg, type, tag, err);
}
static inline bool gt_name_interner_has_rest(const struct gt_name_interner *ids) { return ids->most && ids->n > ids->most; }	/* there is a rest */
/* Says under a table that there is a rest; what: "kernels". */
void gt_name_interner_note(const struct gt_name_interner *ids, struct gt_table *t, const char *what);
void gt_name_interner_release(struct gt_name_interner *ids);
#endif
