#include "analyze/stats/name_interner.h"

#include <stdlib.h>
#include <string.h>
#include "formats/base/buf.h"

int gt_name_interner_init(
	struct gt_name_interner *ids, uint32_t types, uint32_t most, struct gt_err *err)
{
	*ids = (struct gt_name_interner){ .most = most,
		.of_type = calloc(types + 1ul, sizeof(*ids->of_type)) };
	return ids->of_type ? 0
			    : gt_err_set(err, -ENOMEM, "out of memory (names of %u types)", types);
}

static bool same_name(const void *arg, uint32_t value, const void *key, size_t len)
{
	const struct gt_name_id *have = &((const struct gt_name_interner *)arg)->list[value],
				*want = key;

	return have->len == want->len && have->tag == want->tag &&
		!memcmp(have->text, want->text, want->len);
}

static uint64_t hash_of(struct gt_string text, uint32_t tag)
{
	return gt_hash(text.ptr, text.len) + tag;
}

static uint32_t get(const struct gt_name_interner *ids, const struct gt_name_id *one, uint64_t hash)
{
	return gt_map_get(&ids->map, hash, same_name, ids, one, sizeof(*one));
}

uint32_t gt_name_interner_get(
	const struct gt_name_interner *ids, struct gt_string text, uint32_t tag)
{
	return get(ids, &(struct gt_name_id){ text.ptr, text.len, tag }, hash_of(text, tag));
}

uint32_t gt_name_interner_find(
	struct gt_name_interner *ids, struct gt_string text, uint32_t tag, struct gt_err *err)
{
	static const char others[] = "(all others)";
	struct gt_name_id one = { text.ptr, text.len, tag };
	uint64_t hash = hash_of(text, tag);
	uint32_t i = get(ids, &one, hash);
	bool rest = ids->most && ids->n == ids->most;

	if (i != GT_NONE)
		return i;
	if (gt_name_interner_has_rest(ids))
		return ids->most;
	if (rest)
		one = (struct gt_name_id){ others, sizeof(others) - 1, 0 };
	if (gt_grow(&ids->list, &ids->cap, ids->n + 1, sizeof(*ids->list)) ||
		(!rest && gt_map_add(&ids->map, hash, (uint32_t)ids->n)))
		return gt_err_set(err, -ENOMEM, "out of memory (names)"), GT_NONE;
	ids->list[ids->n++] = one;
	return (uint32_t)ids->n - 1;
}

uint32_t gt_name_interner_new_type(struct gt_name_interner *ids, uint32_t number,
	const struct gt_segment *seg, uint32_t type, uint32_t tag, struct gt_err *err)
{
	uint32_t id =
		gt_name_interner_find(ids, gt_name_text(seg, seg->types[type].name), tag, err);

	if (id != GT_NONE)
		ids->of_type[number] = 1 + id;
	return id;
}

void gt_name_interner_note(const struct gt_name_interner *ids, struct gt_table *t, const char *what)
{
	if (gt_name_interner_has_rest(ids))
		gt_table_note(t,
			"more than %u different %s: further ones are counted together as (all others)",
			ids->most, what);
}

void gt_name_interner_release(struct gt_name_interner *ids)
{
	free(ids->list);
	free(ids->of_type);
	gt_map_release(&ids->map);
	memset(ids, 0, sizeof(*ids));
}
