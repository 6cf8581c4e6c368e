/* A probe has a type for each combination of kinds that its values have: an argument may be a text
 * at one hit and a number at the next. */
#include "collect/recorder/probe_rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct gt_probe_type {
	uint64_t name, field_names;
	uint8_t is_kernel_function, n;
	uint8_t fields[GT_PROBE_VALUES + 2]; /* whole words: it is a key */
	uint32_t type;                       /* no part of the key */
};
#define TYPE_KEY offsetof(struct gt_probe_type, type)
#define TYPES_MAX (1u << 16)

static const uint8_t kinds[] = { [GT_PROBE_UNSIGNED] = GT_F_U64,
	[GT_PROBE_SIGNED] = GT_F_I64,
	[GT_PROBE_HEX] = GT_F_HEX,
	[GT_PROBE_FLOAT] = GT_F_F64,
	[GT_PROBE_TEXT] = GT_F_STR };

bool gt_probe_is_valid(const struct gt_ev_probe *e, unsigned words)
{
	if (e->n > GT_PROBE_VALUES || words < offsetof(struct gt_ev_probe, values) / 8 + e->n)
		return false;
	for (unsigned i = 0; i < e->n; i++)
		if (GT_PROBE_FIELD_KIND(e->fields[i]) > GT_PROBE_TEXT ||
			GT_PROBE_FIELD_WHICH(e->fields[i]) > GT_PROBE_RETURN)
			return false;
	return true;
}

/* The n-th name in "a,b,c"; GT_NONE: there are fewer. */
static uint32_t nth_name(struct gt_writer *w, const char *names, unsigned n)
{
	while (n && (names = strchr(names, ',')))
		names++, n--;
	return names ? gt_writer_string_n(w, names, strcspn(names, ",")) : GT_NONE;
}

static uint32_t field_name(struct gt_writer *w, uint64_t names, unsigned which)
{
	char name[16], copy[512];
	uint32_t named = GT_NONE;

	if (names != GT_NONE && which < GT_PROBE_END) {
		snprintf(copy, sizeof(copy), "%s", gt_writer_text(w, (uint32_t)names));
		named = nth_name(w, copy, which);
	}
	if (named != GT_NONE)
		return named;
	if (which == GT_PROBE_RETURN)
		return gt_writer_string(w, "return");
	snprintf(name, sizeof(name), "%sarg%u", which < GT_PROBE_END ? "" : "end_",
		which % GT_PROBE_END);
	return gt_writer_string(w, name);
}

static uint32_t make_type(struct gt_probe_rows *p, struct gt_probe_type *key)
{
	struct gt_field fields[1 + GT_PROBE_VALUES] = { { gt_writer_string(p->w, "domain"),
		GT_F_STR, GT_R_NONE } };
	const struct gt_type t = { .name = (uint32_t)key->name,
		.category = key->is_kernel_function ? GT_CAT_KERNEL : GT_CAT_USER,
		.layer = GT_LAYER_USER,
		.nfields = (uint8_t)(1 + key->n),
		.fields = fields };

	for (unsigned i = 0; i < key->n; i++)
		fields[1 + i] = (struct gt_field){ field_name(p->w, key->field_names,
							   GT_PROBE_FIELD_WHICH(key->fields[i])),
			kinds[GT_PROBE_FIELD_KIND(key->fields[i])], GT_R_NONE };
	key->type = p->n < TYPES_MAX && gt_writer_has_name_space(p->w) ? gt_writer_type(p->w, &t)
								       : GT_NONE;
	if (key->type == GT_NONE ||
		gt_map_add_item(&p->map, &p->types, &p->n, &p->cap, sizeof(*key), key, TYPE_KEY) ==
			GT_NONE)
		return GT_NONE;
	return key->type;
}

static uint32_t type_of(struct gt_probe_rows *p, const struct gt_ev_probe *e)
{
	/* so that reports know it by its type (analyze/calls/driver_functions.h) */
	bool is_kernel_function = e->is_range && e->domain != GT_NONE &&
		!strcmp(gt_writer_text(p->w, (uint32_t)e->domain), "kernel");
	struct gt_probe_type key = { .is_kernel_function = is_kernel_function,
		.name = e->name,
		.field_names = e->field_names,
		.n = e->n };
	uint32_t i;

	memcpy(key.fields, e->fields, e->n);
	i = gt_map_find_item(&p->map, p->types, sizeof(key), &key, TYPE_KEY);
	return i == GT_NONE ? make_type(p, &key) : p->types[i].type;
}

int gt_probe_rows_put(struct gt_probe_rows *p, uint32_t track, int64_t start, int64_t end,
	const struct gt_ev_probe *e, struct gt_err *err)
{
	struct gt_row row = { .start = start,
		.end = end,
		.type = e->name == GT_NONE ? GT_NONE : type_of(p, e),
		.depth = e->depth,
		.nargs = (uint8_t)(1 + e->n) };
	uint64_t args[1 + GT_PROBE_VALUES] = { e->domain };

	if (row.type == GT_NONE) {
		p->nameless++;
		return gt_writer_loss(p->w, GT_SCOPE_TRACK, track, start, end, 1, err);
	}
	memcpy(args + 1, e->values, e->n * sizeof(*args));
	return gt_writer_row(p->w, e->is_range ? GT_SPAN : GT_INSTANT, track, &row, args, err);
}

void gt_probe_rows_release(struct gt_probe_rows *p)
{
	gt_map_release(&p->map);
	free(p->types);
}
