/* Hits of USDT probes and of functions as events of the session's rings. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "collect/bpf/bpf_state.h"
#include "collect/bpf/records/bpf_records.h"
#include "formats/text/printable.h"
#include "formats/trace/record.h"

/* ---- names ---- */

static bool has_names(const void *probes, uint32_t i, const void *key, size_t unused)
{
	const struct gt_bpf_known_probe *p = (const struct gt_bpf_known_probe *)probes + i;
	const char *const *names = key;

	(void)unused;
	return !strcmp(p->domain, names[0]) && !strcmp(p->name, names[1]);
}

uint32_t gt_bpf_probe_add(struct gt_bpf_way *b, const char *domain, const char *name)
{
	const char *const names[] = { domain, name };
	const uint64_t hash = gt_hash(domain, strlen(domain)) ^ gt_hash(name, strlen(name)) << 1;
	struct gt_bpf_known_probe *p;
	uint32_t i;

	i = gt_map_get(&b->probes_map, hash, has_names, b->probes, names, 0);
	if (i != UINT32_MAX)
		return i;
	if (gt_grow(&b->probes, &b->probes_cap, b->nprobes + 1, sizeof(*p)))
		return GT_NONE;
	p = &b->probes[b->nprobes];
	*p = (struct gt_bpf_known_probe){ .domain = strdup(domain), .name = strdup(name) };
	p->parcagpu = gt_parcagpu_probe(domain, name);
	gt_probe_pairs_set_roles(b, p);
	if (p->domain && p->name && !gt_map_add(&b->probes_map, hash, (uint32_t)b->nprobes))
		return (uint32_t)b->nprobes++;
	free(p->domain);
	free(p->name);
	return GT_NONE;
}

int gt_bpf_probe_name_fields(struct gt_bpf_way *b, uint32_t probe, const char *names)
{
	struct gt_bpf_known_probe *p = &b->probes[probe];

	free(p->fields);
	p->fields = strdup(names);
	return p->fields ? 0 : -ENOMEM;
}

void gt_bpf_probes_release(struct gt_bpf_way *b)
{
	for (size_t i = 0; i < b->nprobes; i++) {
		free(b->probes[i].domain);
		free(b->probes[i].name);
		free(b->probes[i].fields);
	}
	gt_map_release(&b->probes_map);
	free(b->probes);
}

/* ---- texts ---- */

size_t gt_bpf_probe_size(const struct gt_bpf_probe *p)
{
	if (!p->fields.texts && p->fields.n <= GT_BPF_PROBE_FEW)
		return offsetof(struct gt_bpf_probe, values[GT_BPF_PROBE_FEW]);
	return sizeof(*p) + (size_t)p->fields.texts * p->piece;
}

/* Is it a text of one character or more, all printable, and not cut? */
static bool is_text(const char *s, unsigned bytes)
{
	bool shown = bytes > 1 && bytes < GT_BPF_PROBE_TEXT_MAX;

	while (shown && *s)
		s += gt_printable_char(s, &shown);
	return shown;
}

const char *gt_bpf_probe_text(const struct gt_bpf_probe *p, unsigned i)
{
	const char *text = ((const struct gt_bpf_probe_with_texts *)p)->text;
	unsigned kind = GT_PROBE_FIELD_KIND(p->fields.fields[i]), k = 0;

	while (k < p->fields.texts && p->fields.text_of[k] != i)
		k++;
	if (k == p->fields.texts || !p->text_bytes[k])
		return NULL;
	text += (size_t)k * p->piece;
	return kind == GT_PROBE_TEXT || is_text(text, p->text_bytes[k]) ? text : NULL;
}

static uint64_t write_text(struct gt_bpf_way *b, struct gt_written_thread *t, const char *text)
{
	uint64_t hash = gt_ring_hash(text, (uint32_t)strlen(text));

	gt_ring_writer_text(&b->writer, t, GT_REC_STRING, hash, text);
	return hash;
}

/* ---- events ---- */

/* The names are in the thread's ring before its first event that needs them. */
static void set_names(
	struct gt_bpf_way *b, struct gt_written_thread *t, uint32_t probe, struct gt_ev_probe *e)
{
	const struct gt_bpf_known_probe *p = &b->probes[probe];
	const uint64_t bit = probe < GT_NAMED_PROBES ? 1ull << probe % 64 : 0;
	uint64_t *named = &t->named_probes[probe % GT_NAMED_PROBES / 64];

	e->name = gt_ring_hash(p->name, (uint32_t)strlen(p->name));
	e->domain = gt_ring_hash(p->domain, (uint32_t)strlen(p->domain));
	if (p->fields)
		e->field_names = gt_ring_hash(p->fields, (uint32_t)strlen(p->fields));
	if (*named & bit)
		return;
	if (p->fields &&
		!gt_ring_writer_text(&b->writer, t, GT_REC_STRING, e->field_names, p->fields))
		return;
	if (gt_ring_writer_text(&b->writer, t, GT_REC_STRING, e->name, p->name) &&
		gt_ring_writer_text(&b->writer, t, GT_REC_STRING, e->domain, p->domain))
		*named |= bit;
}

/* The bits of a float as those of a double. */
static uint64_t double_of(uint64_t bits)
{
	uint32_t low = (uint32_t)bits;
	double d;
	float f;

	memcpy(&f, &low, sizeof(f));
	d = (double)f;
	memcpy(&bits, &d, sizeof(bits));
	return bits;
}

/* Adds the values of a hit: all, or, of the end of a range, those but the key. */
static void add_values(struct gt_bpf_way *b, struct gt_written_thread *t,
	const struct gt_bpf_probe *p, unsigned added, unsigned key, struct gt_ev_probe *e)
{
	for (unsigned i = 0; i < p->fields.n && e->n < GT_PROBE_VALUES; i++) {
		unsigned kind = GT_PROBE_FIELD_KIND(p->fields.fields[i]),
			 which = GT_PROBE_FIELD_WHICH(p->fields.fields[i]);
		const char *text = gt_bpf_probe_text(p, i);

		if (which == key)
			continue;
		e->values[e->n] = text             ? write_text(b, t, text)
			: kind == GT_PROBE_FLOAT32 ? double_of(p->values[i])
						   : p->values[i];
		if (kind == GT_PROBE_FLOAT32)
			kind = GT_PROBE_FLOAT;
		else if (kind >= GT_PROBE_TEXT)
			kind = text ? GT_PROBE_TEXT : GT_PROBE_UNSIGNED;
		e->fields[e->n++] = (uint8_t)GT_PROBE_FIELD(kind, which + added);
	}
}

void gt_bpf_write_hit(
	struct gt_bpf_way *b, const struct gt_bpf_probe *p, const struct gt_bpf_range_end *end)
{
	struct gt_written_thread *t = gt_ring_writer_thread(&b->writer, (int32_t)p->head.tgid,
		(int32_t)p->head.tid, p->head.comm, (int64_t)p->head.start);
	struct gt_ev_probe e = { .depth = p->depth, .is_range = p->is_range || end };

	if (!t)
		return;
	set_names(b, t, end ? end->name : p->probe, &e);
	add_values(b, t, p, 0, GT_PROBE_RETURN + 1, &e);
	if (end)
		add_values(b, t, end->hit, GT_PROBE_END, end->key, &e);
	gt_ring_writer_event(&b->writer, t, GT_EV_PROBE, p->head.start,
		end ? end->hit->head.end : p->head.end, &e,
		offsetof(struct gt_ev_probe, values) + 8u * e.n);
}

void gt_bpf_write_probe(struct gt_bpf_way *b, const struct gt_bpf_probe *p)
{
	if (p->probe < b->nprobes && !gt_parcagpu_take(b, p) && !gt_probe_pairs_take(b, p))
		gt_bpf_write_hit(b, p, NULL);
}
