#include "collect/host/remote_code.h"

#include <stdlib.h>
#include <string.h>
#include "formats/python/python_text.h"

#define CODES_MAX 65536       /* of a process */
#define BYTES_MAX (64u << 20) /* of texts and line tables of a process */
#define LINES_MAX (1u << 20)  /* bytes of a line table */
#define TEXT_MAX 1024         /* bytes of a name */

static uint64_t word(const uint8_t *bytes, size_t at)
{
	uint64_t v;

	memcpy(&v, bytes + at, sizeof(v));
	return v;
}

static uint32_t half(const uint8_t *bytes, size_t at) { return (uint32_t)word(bytes, at); }

/* Bits of a text's state from text_shift on: 3 bytes per character, 1 "compact", 1 "ASCII". new:
 * the UTF-8 bytes; NULL: it is no text. */
static char *read_text(
	uint32_t tgid, const struct gt_remote_interpreter *in, uint64_t object, uint32_t *n)
{
	const struct gt_python_layout *l = &in->layout;
	uint8_t head[128] = { 0 }, raw[4 * TEXT_MAX];
	char text[TEXT_MAX], *copy;
	unsigned bits, width;
	uint64_t length;

	if (l->other_data > sizeof(head) - 8 ||
		gt_read_process(tgid, object, head, l->other_data) ||
		word(head, l->type) != in->text_type)
		return NULL;
	length = word(head, l->text_length);
	bits = half(head, l->text_state) >> l->text_shift;
	width = bits & 7;
	length = length < TEXT_MAX ? length : TEXT_MAX;
	if (!(bits & 8) || (width != 1 && width != 2 && width != 4) ||
		gt_read_process(tgid, object + (bits & 16 ? l->ascii_data : l->other_data), raw,
			length * width))
		return NULL;
	*n = gt_python_utf8(raw, width, length, text, sizeof(text));
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
	uint8_t head[64] = { 0 };
	uint64_t n;

	if (l->bytes_data > sizeof(head) - 8 ||
		gt_read_process(tgid, object, head, l->bytes_data) ||
		word(head, l->type) != in->bytes_type)
		return false;
	n = word(head, l->size);
	c->lines = n <= LINES_MAX ? malloc(n + 1) : NULL;
	c->nlines = (uint32_t)n;
	return c->lines && (!n || !gt_read_process(tgid, object + l->bytes_data, c->lines, n));
}

/* The length of its instructions. */
static bool read_extent(uint32_t tgid, const struct gt_remote_interpreter *in, const uint8_t *head,
	struct gt_remote_code *c)
{
	const struct gt_python_layout *l = &in->layout;
	uint64_t bytes = 0;

	if (l->instruction_kind == GT_PYTHON_POINTER) {
		bytes = 2 * word(head, l->size);
		c->first_traceable = 2 * half(head, l->first_traceable);
	} else if (gt_read_process(tgid, word(head, l->start) + l->size, &bytes, sizeof(bytes))) {
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
	c->first_line = half(head, l->first_line);
	c->name = read_text(tgid, in, word(head, l->qualname), &c->nname);
	c->file = read_text(tgid, in, word(head, l->file), &c->nfile);
	if (c->name && c->file && read_lines(tgid, in, word(head, l->lines), c) &&
		read_extent(tgid, in, head, c))
		return c;
	free_code(c);
	return NULL;
}

/* An object at the address of a freed one has other texts or another table. */
static uint64_t hash_of(const struct gt_python_layout *l, const uint8_t *head)
{
	const uint64_t parts[] = { half(head, l->first_line), word(head, l->name),
		word(head, l->qualname), word(head, l->file), word(head, l->lines),
		word(head, l->size) };

	return gt_hash(parts, sizeof(parts));
}

const struct gt_remote_code *gt_remote_code(struct gt_remote_codes *c, uint32_t tgid,
	const struct gt_remote_interpreter *in, uint64_t address, const uint8_t *head)
{
	const struct gt_python_layout *l = &in->layout;
	struct gt_remote_code_item new = { .key = { address, 0 } };
	uint32_t i;

	if (word(head, l->type) != in->code_type)
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
