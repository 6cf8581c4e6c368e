#include "collect/host/remote_code.h"

#include <stdlib.h>
#include <string.h>
#include "formats/python/python_read.h"
#include "formats/python/python_text.h"

#define CODES_MAX 65536       /* of a process */
#define BYTES_MAX (64u << 20) /* of texts and line tables of a process */

/* new: the UTF-8 bytes; NULL: it is no text. */
static char *read_text(
	uint32_t tgid, const struct gt_remote_interpreter *in, uint64_t object, uint32_t *n)
{
	const size_t size = in->layout.other_data;
	uint8_t head[128], raw[4 * GT_PYTHON_TEXT];
	char text[GT_PYTHON_TEXT], *copy;
	struct gt_python_characters c;
	uint64_t used;

	if (size > sizeof(head) || gt_read_process(tgid, object, head, size) ||
		!gt_python_characters(&in->layout, head, in->text_type, &c))
		return NULL;
	used = c.n < GT_PYTHON_TEXT ? c.n : GT_PYTHON_TEXT;
	if (gt_read_process(tgid, object + c.offset, raw, used * c.width))
		return NULL;
	*n = gt_python_utf8(raw, c.width, used, text, sizeof(text));
	copy = malloc(*n + 1);
	if (copy) {
		memcpy(copy, text, *n);
		copy[*n] = 0;
	}
	return copy;
}

static bool read_lines(uint32_t tgid, const struct gt_remote_interpreter *in, uint64_t object,
	struct gt_remote_code *c)
{
	const struct gt_python_layout *l = &in->layout;
	uint8_t head[64];
	uint64_t n;

	if (l->bytes_data > sizeof(head) || gt_read_process(tgid, object, head, l->bytes_data) ||
		GT_READ(uint64_t, head + l->type) != in->bytes_type)
		return false;
	n = GT_READ(uint64_t, head + l->size);
	c->nlines = n <= GT_PYTHON_LINES_MAX ? (uint32_t)n : GT_PYTHON_LINES_MAX + 1;
	if (c->nlines > GT_PYTHON_LINES_MAX)
		return true;
	c->lines = malloc(n + 1);
	return c->lines && (!n || !gt_read_process(tgid, object + l->bytes_data, c->lines, n));
}

/* The length of its instructions. */
static bool read_extent(uint32_t tgid, const struct gt_remote_interpreter *in, const uint8_t *head,
	struct gt_remote_code *c)
{
	const struct gt_python_layout *l = &in->layout;
	uint64_t bytes = 0;

	if (l->instruction_kind == GT_PYTHON_POINTER) {
		bytes = 2 * GT_READ(uint64_t, head + l->size);
		c->first_traceable = 2 * GT_READ(uint32_t, head + l->first_traceable);
	} else if (gt_read_process(tgid, GT_READ(uint64_t, head + l->start) + l->size, &bytes,
			   sizeof(bytes))) {
		return false;
	}
	c->bytes = (uint32_t)bytes;
	return bytes < UINT32_MAX;
}

static void free_code(struct gt_remote_code *c)
{
	if (c) {
		free(c->name);
		free(c->file);
		free(c->lines);
	}
	free(c);
}

/* new; NULL: it cannot be read. */
static struct gt_remote_code *read_code(
	uint32_t tgid, const struct gt_remote_interpreter *in, const uint8_t *head)
{
	const struct gt_python_layout *l = &in->layout;
	struct gt_remote_code *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->version = l->version;
	c->first_line = GT_READ(uint32_t, head + l->first_line);
	c->name = read_text(tgid, in, GT_READ(uint64_t, head + l->qualname), &c->nname);
	c->file = read_text(tgid, in, GT_READ(uint64_t, head + l->file), &c->nfile);
	if (c->name && c->file && read_lines(tgid, in, GT_READ(uint64_t, head + l->lines), c) &&
		read_extent(tgid, in, head, c))
		return c;
	free_code(c);
	return NULL;
}

/* An object at the address of a freed one has other texts or another table. */
static uint64_t hash_of(const struct gt_python_layout *l, const uint8_t *head)
{
	const uint64_t parts[] = { GT_READ(uint32_t, head + l->first_line),
		GT_READ(uint64_t, head + l->name), GT_READ(uint64_t, head + l->qualname),
		GT_READ(uint64_t, head + l->file), GT_READ(uint64_t, head + l->lines),
		GT_READ(uint64_t, head + l->size) };

	return gt_hash(parts, sizeof(parts));
}

const struct gt_remote_code *gt_remote_code(struct gt_remote_codes *c, uint32_t tgid,
	const struct gt_remote_interpreter *in, uint64_t address, const uint8_t *head)
{
	const struct gt_python_layout *l = &in->layout;
	struct gt_remote_code_item new = { .key = { address, 0 } };
	uint32_t i;

	if (GT_READ(uint64_t, head + l->type) != in->code_type)
		return NULL;
	new.key.hash = hash_of(l, head);
	i = gt_map_find_item(&c->map, c->items, sizeof(new), &new.key, sizeof(new.key));
	if (i != UINT32_MAX)
		return c->items[i].code;
	if (c->n >= CODES_MAX || c->bytes >= BYTES_MAX || !(new.code = read_code(tgid, in, head)))
		return NULL;
	if (gt_map_add_item(&c->map, &c->items, &c->n, &c->cap, sizeof(new), &new,
		    sizeof(new.key)) == UINT32_MAX) {
		free_code(new.code);
		return NULL;
	}
	new.code->number = ++c->last_number;
	c->bytes += sizeof(*new.code) + new.code->nname + new.code->nfile + new.code->nlines;
	return new.code;
}

void gt_remote_codes_release(struct gt_remote_codes *c)
{
	for (size_t i = 0; i < c->n; i++)
		free_code(c->items[i].code);
	free(c->items);
	gt_map_release(&c->map);
	*c = (struct gt_remote_codes){ 0 };
}
