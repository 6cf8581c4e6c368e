/* Packets of a Perfetto trace, and the texts that they share: see export_perfetto.c. */
#include "formats/export/perfetto/perfetto.h"

#include <stdlib.h>
#include "formats/text/utf8.h"

#define TEXT_MAX 60000u /* bytes of one text; the rest of a longer one is missing */
#define SHORT_MAX 600u
#define HEAD_MAX 64u /* of a packet, before its message */

struct text_key {
	const struct gt_perfetto *x;
	uint32_t space;
};

/* value: index of an entry; key: its text */
static bool same_text(const void *arg, uint32_t value, const void *key, size_t len)
{
	const struct text_key *k = arg;
	const struct gt_perfetto_text *t = &k->x->entries[value];

	return t->space == k->space && t->len == len && !memcmp(k->x->texts.data + t->at, key, len);
}

void gt_perfetto_put_text(struct gt_buf *to, const char *text, size_t len, size_t most)
{
	size_t start = to->len;
	char buffer[4];
	uint32_t ch;

	for (size_t i = 0; i < len && to->len - start + 4 <= most;) {
		i += gt_utf8_get(text + i, len - i, &ch);
		gt_buf_add(to, buffer, gt_utf8_put(buffer, ch == UINT32_MAX ? 0xfffd : ch));
	}
}

void gt_perfetto_add_text(struct gt_buf *to, uint32_t field, const char *text)
{
	char head[2 * GT_PROTO_FIELD_MAX], *p = gt_proto_tag(head, field, GT_PROTO_BYTES);
	struct gt_buf valid = { 0 };

	gt_perfetto_put_text(&valid, text, strlen(text), SHORT_MAX);
	p = gt_proto_varint(p, valid.len);
	gt_buf_add(to, head, (size_t)(p - head));
	gt_buf_add(to, valid.data, valid.len);
	to->failed |= valid.failed;
	gt_buf_release(&valid);
}

void gt_perfetto_add_interned(struct gt_perfetto *x, uint32_t field, const char *bytes, size_t n)
{
	char *p = (char *)gt_buf_reserve(&x->interned, GT_PROTO_FIELD_MAX + n);

	if (p)
		x->interned.len =
			(size_t)(gt_proto_bytes(p, field, bytes, n) - (char *)x->interned.data);
}

/* Adds an entry {iid, text} to the interned data. */
static void add_entry(
	struct gt_perfetto *x, uint32_t space, uint32_t iid, const char *s, size_t len)
{
	char head[2 * GT_PROTO_FIELD_MAX], *p = gt_proto_u64(head, GT_INTERNED_IID, iid), *to;
	size_t n;

	p = gt_proto_varint(gt_proto_tag(p, GT_INTERNED_TEXT, GT_PROTO_BYTES), len);
	n = (size_t)(p - head);
	to = (char *)gt_buf_reserve(&x->interned, GT_PROTO_FIELD_MAX + n + len);
	if (!to)
		return;
	to = gt_proto_varint(gt_proto_tag(to, space, GT_PROTO_BYTES), n + len);
	memcpy(to, head, n);
	memcpy(to + n, s, len);
	x->interned.len = (size_t)(to + n + len - (char *)x->interned.data);
}

uint32_t gt_perfetto_iid(struct gt_perfetto *x, uint32_t space, const char *text, size_t len)
{
	uint64_t hash = gt_hash(text, len) ^ gt_hash_u64(space);
	struct text_key key = { x, space };
	uint32_t i = gt_map_get(&x->entry_map, hash, same_text, &key, text, len);
	size_t at = x->texts.len;

	if (i != UINT32_MAX)
		return i + 1;
	if (gt_grow(&x->entries, &x->entries_cap, x->nentries + 1, sizeof(*x->entries)) ||
		gt_map_add(&x->entry_map, hash, (uint32_t)x->nentries)) {
		gt_err_set(x->err, -ENOMEM, "out of memory");
		return 1;
	}
	gt_buf_add(&x->texts, text, len);
	x->entries[x->nentries++] =
		(struct gt_perfetto_text){ .at = at, .len = (uint32_t)len, .space = space };
	/* the text in the file is valid UTF-8, and not too long; a build id is no text */
	at = x->texts.len;
	if (space == GT_INTERNED_BUILD_IDS)
		gt_buf_add(&x->texts, text, len);
	else
		gt_perfetto_put_text(&x->texts, text, len, TEXT_MAX);
	if (x->texts.failed || x->interned.failed) {
		gt_err_set(x->err, -ENOMEM, "out of memory");
		return 1;
	}
	add_entry(x, space, (uint32_t)x->nentries, (char *)x->texts.data + at, x->texts.len - at);
	x->texts.len = at;
	return (uint32_t)x->nentries;
}

uint32_t gt_perfetto_key(struct gt_perfetto *x, enum gt_perfetto_key key)
{
	static const char *const words[GT_PERFETTO_KEYS] = { "correlation", "caller", "layer",
		"thread", "ret", "runtime" };

	if (!x->keys[key])
		x->keys[key] = gt_perfetto_iid(x,
			key == GT_PERFETTO_RUNTIME ? GT_INTERNED_STRINGS : GT_INTERNED_ARG_NAMES,
			words[key], strlen(words[key]));
	return x->keys[key];
}

/* Writes a packet whose message may be long: its head, then the message. */
static void put_long(struct gt_perfetto *x, const char *head, size_t nhead, uint32_t field,
	const void *bytes, size_t n)
{
	char tag[GT_PROTO_FIELD_MAX], *t = gt_proto_tag(tag, field, GT_PROTO_BYTES), *p;

	t = gt_proto_varint(t, n);
	p = gt_proto_tag(gt_out_reserve(x->out, HEAD_MAX), GT_TRACE_PACKET, GT_PROTO_BYTES);
	p = gt_proto_varint(p, nhead + (size_t)(t - tag) + n);
	memcpy(p, head, nhead);
	memcpy(p + nhead, tag, (size_t)(t - tag));
	gt_out_commit(x->out, p + nhead + (t - tag));
	gt_out_add(x->out, bytes, n);
}

void gt_perfetto_put_packet(
	struct gt_perfetto *x, uint32_t field, const char *bytes, size_t n, bool sequence)
{
	char head[GT_PROTO_FIELD_MAX], *p = head;

	if (sequence)
		p = gt_proto_u64(p, GT_PACKET_SEQUENCE, x->sequence);
	put_long(x, head, (size_t)(p - head), field, bytes, n);
}

void gt_perfetto_flush_interned_(struct gt_perfetto *x)
{
	char head[2 * GT_PROTO_FIELD_MAX], *p = gt_proto_u64(head, GT_PACKET_SEQUENCE, x->sequence);

	p = gt_proto_u64(p, GT_PACKET_FLAGS, GT_PACKET_NEEDS_STATE);
	put_long(
		x, head, (size_t)(p - head), GT_PACKET_INTERNED, x->interned.data, x->interned.len);
	gt_buf_clear(&x->interned);
}
