/* --pair: two hits of probes with an equal argument make one range. The first is stored until the
 * second comes. A hit without the other one remains a mark: a start when its process or the
 * recording ends, or when another start has the same key. */
#include "collect/bpf/records/probe_pairs.h"

#include <stdlib.h>
#include <string.h>
#include "collect/bpf/bpf_state.h"
#include "collect/bpf/records/bpf_records.h"
#include "formats/base/buf.h"
#include "formats/trace/record.h"

#define OPEN_MAX 65536u /* starts that are stored: limits memory */

struct gt_probe_start {
	uint64_t tgid, pair, key; /* the key; pair: number, << 1 | the argument is a text */
	struct gt_bpf_probe *hit;
};
#define KEY_BYTES offsetof(struct gt_probe_start, hit)

/* The key of a hit for a pair. False: it does not have this argument. */
static bool make_key(const struct gt_bpf_way *b, const struct gt_bpf_probe *p, unsigned pair,
	struct gt_probe_start *to)
{
	unsigned argument = b->opt.usdt->pairs[pair].key, i = 0;
	const char *text;

	while (i < p->fields.n && GT_PROBE_FIELD_WHICH(p->fields.fields[i]) != argument)
		i++;
	if (i == p->fields.n)
		return false;
	text = gt_bpf_probe_text(p, i);
	*to = (struct gt_probe_start){ .tgid = p->head.tgid,
		.pair = (uint64_t)pair << 1 | (text ? 1 : 0),
		.key = text ? gt_ring_hash(text, (uint32_t)strlen(text)) : p->values[i] };
	return true;
}

static uint32_t find(const struct gt_probe_pairs *pairs, const struct gt_probe_start *key)
{
	return gt_map_find_item(&pairs->map, pairs->starts, sizeof(*key), key, KEY_BYTES);
}

/* Takes it out: free it. */
static struct gt_bpf_probe *take(struct gt_probe_pairs *pairs, uint32_t i)
{
	struct gt_bpf_probe *hit = pairs->starts[i].hit;

	gt_map_remove_item(
		&pairs->map, pairs->starts, &pairs->n, sizeof(*pairs->starts), i, KEY_BYTES);
	return hit;
}

/* ---- names ---- */

void gt_probe_pairs_set_roles(const struct gt_bpf_way *b, struct gt_bpf_known_probe *p)
{
	const struct gt_probe_selection *s = b->opt.usdt;

	for (uint16_t i = 0; i < s->npairs && p->domain && p->name; i++) {
		if (!p->starts && gt_probe_has_name(p->domain, p->name, s->pairs[i].start))
			p->starts = i + 1;
		if (!p->ends && gt_probe_has_name(p->domain, p->name, s->pairs[i].end))
			p->ends = i + 1;
	}
}

/* The name of a range: what the names of both probes begin with (request_start, request_end:
 * request), or the start's name. Returns its number as that of a probe. */
static uint32_t range_name(struct gt_bpf_way *b, uint32_t start, uint32_t end)
{
	const struct gt_bpf_known_probe *s = &b->probes[start], *e = &b->probes[end];
	char name[GT_PROBE_NAME];
	uint32_t number;
	size_t n = 0;

	while (n < sizeof(name) - 1 && s->name[n] && s->name[n] == e->name[n])
		n++;
	while (n && strchr("_-.:", s->name[n - 1]))
		n--;
	if (n < 2)
		return start;
	memcpy(name, s->name, n);
	name[n] = 0;
	number = gt_bpf_probe_add(b, s->domain, name);
	return number == GT_NONE ? start : number;
}

/* ---- hits ---- */

static void write_range(
	struct gt_bpf_way *b, struct gt_bpf_probe *start, const struct gt_bpf_probe *hit)
{
	unsigned pair = b->probes[hit->probe].ends - 1u;
	const struct gt_bpf_range_end end = { .hit = hit,
		.name = range_name(b, start->probe, hit->probe),
		.key = b->opt.usdt->pairs[pair].key };

	gt_bpf_write_hit(b, start, &end);
	free(start);
}

static void write_mark(struct gt_bpf_way *b, struct gt_bpf_probe *hit)
{
	b->pairs.unpaired++;
	gt_bpf_write_hit(b, hit, NULL);
	free(hit);
}

static bool store(struct gt_bpf_way *b, const struct gt_bpf_probe *p, struct gt_probe_start *new)
{
	struct gt_probe_pairs *pairs = &b->pairs;
	size_t bytes = gt_bpf_probe_size(p);
	uint32_t i = find(pairs, new);

	if (i != UINT32_MAX)
		write_mark(b, take(pairs, i));
	new->hit = pairs->n < OPEN_MAX ? malloc(bytes) : NULL;
	if (!new->hit) {
		pairs->unpaired++;
		return false;
	}
	memcpy(new->hit, p, bytes);
	if (gt_map_add_item(&pairs->map, &pairs->starts, &pairs->n, &pairs->cap, sizeof(*new), new,
		    KEY_BYTES) != UINT32_MAX)
		return true;
	free(new->hit);
	pairs->unpaired++;
	return false;
}

bool gt_probe_pairs_take(struct gt_bpf_way *b, const struct gt_bpf_probe *p)
{
	const struct gt_bpf_known_probe *probe = &b->probes[p->probe];
	struct gt_probe_start key;
	uint32_t i;

	if (probe->ends && make_key(b, p, probe->ends - 1u, &key)) {
		i = find(&b->pairs, &key);
		if (i != UINT32_MAX) {
			write_range(b, take(&b->pairs, i), p);
			return true;
		}
		if (!probe->starts)
			b->pairs.unpaired++;
	}
	return probe->starts && make_key(b, p, probe->starts - 1u, &key) && store(b, p, &key);
}

void gt_probe_pairs_end(struct gt_bpf_way *b, uint32_t tgid)
{
	for (size_t i = b->pairs.n; i-- > 0;)
		if (b->pairs.starts[i].tgid == tgid)
			write_mark(b, take(&b->pairs, (uint32_t)i));
}

void gt_probe_pairs_flush(struct gt_bpf_way *b)
{
	while (b->pairs.n)
		write_mark(b, take(&b->pairs, (uint32_t)b->pairs.n - 1));
}

void gt_probe_pairs_release(struct gt_probe_pairs *pairs)
{
	for (size_t i = 0; i < pairs->n; i++)
		free(pairs->starts[i].hit);
	free(pairs->starts);
	gt_map_release(&pairs->map);
}
