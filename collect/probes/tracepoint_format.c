#include "collect/probes/tracepoint_format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int gt_tracepoint_names_check(const struct gt_opt_list *list, struct gt_err *err)
{
	for (size_t i = 0; i < list->n; i++) {
		const char *text = list->items[i], *colon = strchr(text, ':');

		if (!colon || colon == text || !colon[1] || colon - text >= 64 ||
			strlen(colon) >= 100 || strchr(text, '/') || strchr(colon + 1, ':'))
			return gt_err_set(err, -EINVAL,
				"--tracepoint '%.100s': it must be CATEGORY:NAME, as sched:sched_switch",
				text);
	}
	return 0;
}

/* ---- the format file ---- */

static bool is_address(const char *type, const char *name)
{
	return strchr(type, '*') || !strcmp(name, "address") || !strcmp(name, "addr") ||
		!strcmp(name, "ip");
}

/* The kind of a field; -1: it is not recorded. */
static int kind_of(const char *type, const char *name, unsigned size, bool is_array, bool is_signed)
{
	if (!strncmp(type, "__data_loc char[]", 17))
		return GT_TRACEPOINT_TEXT_AT;
	if (!strncmp(type, "__rel_loc char[]", 16))
		return GT_TRACEPOINT_TEXT_AFTER;
	if (strstr(type, "_loc "))
		return -1;
	if (is_array)
		return strcmp(type, "char") ? -1 : GT_TRACEPOINT_TEXT;
	if (size != 1 && size != 2 && size != 4 && size != 8)
		return -1;
	return is_address(type, name) ? GT_TRACEPOINT_HEX
		: is_signed           ? GT_TRACEPOINT_SIGNED
				      : GT_TRACEPOINT_UNSIGNED;
}

/* "unsigned long address", "char comm[16]", "__data_loc char[] name": splits it at the name. */
static char *split_declaration(char *declaration, bool *is_array)
{
	char *name = strrchr(declaration, ' '), *bracket;

	if (!name)
		return NULL;
	*name++ = 0;
	bracket = strchr(name, '[');
	*is_array = bracket;
	if (bracket)
		*bracket = 0;
	return name;
}

static void take_field(struct gt_tracepoint_format *f, char *line)
{
	struct gt_tracepoint_field *to = &f->fields[f->n];
	unsigned offset, size, is_signed;
	char *declaration = strstr(line, "field:"), *end, *name;
	bool is_array = false;
	int kind;

	end = declaration ? strchr(declaration, ';') : NULL;
	if (!end || f->n == GT_TRACEPOINT_FIELDS ||
		sscanf(end, ";\toffset:%u;\tsize:%u;\tsigned:%u", &offset, &size, &is_signed) != 3)
		return;
	*end = 0;
	declaration += strlen("field:");
	name = split_declaration(declaration, &is_array);
	if (!name || !strncmp(name, "common_", 7) || offset > UINT16_MAX || size > UINT16_MAX)
		return;
	kind = kind_of(declaration, name, size, is_array, is_signed);
	if (kind < 0)
		return;
	*to = (struct gt_tracepoint_field){
		.offset = (uint16_t)offset, .size = (uint16_t)size, .kind = (uint8_t)kind
	};
	snprintf(to->name, sizeof(to->name), "%s", name);
	f->n++;
}

int gt_tracepoint_format_read(struct gt_tracepoint_format *f, FILE *file, struct gt_err *err)
{
	char *line = NULL;
	size_t size = 0;
	bool has_id = false;

	*f = (struct gt_tracepoint_format){ .id = 0 };
	while (getline(&line, &size, file) > 0) {
		has_id |= sscanf(line, "ID: %u", &f->id) == 1;
		take_field(f, line);
	}
	free(line);
	return has_id ? 0 : gt_err_set(err, -EINVAL, "it is not the format of a tracepoint");
}

/* ---- a hit ---- */

uint64_t gt_tracepoint_number(const struct gt_tracepoint_field *f, const void *record, size_t size)
{
	uint64_t value = 0;
	unsigned unused = 64 - 8u * f->size;

	if ((size_t)f->offset + f->size > size || f->size > sizeof(value))
		return 0;
	memcpy(&value, (const char *)record + f->offset, f->size);
	return f->kind == GT_TRACEPOINT_SIGNED ? (uint64_t)((int64_t)(value << unused) >> unused)
					       : value;
}

void gt_tracepoint_text(const struct gt_tracepoint_field *f, const void *record, size_t size,
	char *to, size_t to_size)
{
	size_t at = f->offset, bytes = f->size;

	if (f->kind > GT_TRACEPOINT_TEXT) {
		uint64_t where = gt_tracepoint_number(
			&(const struct gt_tracepoint_field){ .offset = f->offset, .size = 4 },
			record, size);

		at = (where & 0xffff) + (f->kind == GT_TRACEPOINT_TEXT_AFTER ? f->offset + 4u : 0);
		bytes = where >> 16;
	}
	if (at >= size)
		bytes = 0;
	else if (bytes > size - at)
		bytes = size - at;
	if (bytes >= to_size)
		bytes = to_size - 1;
	memcpy(to, (const char *)record + (bytes ? at : 0), bytes);
	to[bytes] = 0;
}
