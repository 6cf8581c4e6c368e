/* Interned data of a Perfetto trace: texts and stacks with a number (iid) in a table of their
 * sequence. A sequence may clear its state and begin again with other entries, so an entry belongs
 * to a generation. If there are too many, or their texts need too much memory, those of earlier
 * generations are removed; if that is not enough, the import fails. */
#include "formats/import/perfetto/import_perfetto.h"

#include <stdlib.h>
#include "formats/base/buf.h"
#include "formats/trace/read/frame_files.h"

#define KEY offsetof(struct gt_pftrace_entry, at)
#define DEEPEST 1024u
#define RECENT (sizeof(((struct gt_pftrace *)0)->recent) / sizeof(struct gt_pftrace_recent))

static bool is_current(const struct gt_pftrace *p, const struct gt_pftrace_entry *e)
{
	return p->sequences[e->sequence].generation == e->generation;
}

/* Removes the entries of earlier generations. */
static int compact(struct gt_pftrace *p)
{
	struct gt_buf texts = { 0 };
	size_t n = 0;

	gt_map_release(&p->entry_map);
	memset(p->recent, 0, sizeof(p->recent));
	for (size_t i = 0; i < p->nentries; i++) {
		struct gt_pftrace_entry e = p->entries[i];
		size_t at = texts.len;

		if (!is_current(p, &e))
			continue;
		gt_buf_add(&texts, p->texts.data + e.at, e.len + 1);
		e.at = at;
		p->entries[n] = e;
		if (gt_map_add(&p->entry_map, gt_hash(&p->entries[n], KEY), (uint32_t)n))
			texts.failed = true;
		n++;
	}
	gt_buf_release(&p->texts);
	p->texts = texts;
	p->nentries = n;
	return texts.failed ? gt_kineto_no_memory(p->err) : 0;
}

/* Makes room for an entry. At least a quarter of the limits is free afterwards, so that the next
 * removal is far away. */
static int make_room(struct gt_pftrace *p, uint64_t len)
{
	if (p->texts.len + len <= GT_PFTRACE_INTERNED_MAX && p->nentries < GT_PFTRACE_ENTRIES_MAX)
		return 0;
	if (compact(p))
		return p->err->code;
	if (p->texts.len + len > GT_PFTRACE_INTERNED_MAX / 4 * 3)
		return gt_err_set(p->err, -E2BIG, "interned texts need more than %u MiB",
			GT_PFTRACE_INTERNED_MAX >> 20);
	if (p->nentries > GT_PFTRACE_ENTRIES_MAX / 4 * 3)
		return gt_err_set(
			p->err, -E2BIG, "more than %u interned entries", GT_PFTRACE_ENTRIES_MAX);
	return 0;
}

static int add_entry(struct gt_pftrace *p, const struct gt_pftrace_sequence *s, uint32_t table,
	uint64_t iid, const uint8_t *bytes, uint64_t len)
{
	struct gt_pftrace_entry e = { .generation = s->generation,
		.table = table,
		.iid = iid,
		.len = len,
		.sequence = (uint32_t)(s - p->sequences) };
	uint32_t i;

	if (make_room(p, len))
		return p->err->code;
	e.at = p->texts.len;
	i = gt_map_find_item(&p->entry_map, p->entries, sizeof(e), &e, KEY);
	gt_buf_add(&p->texts, bytes, len);
	gt_buf_byte(&p->texts, 0);
	if (i != UINT32_MAX)
		p->entries[i] = e; /* the last one counts */
	else if (gt_map_add_item(&p->entry_map, &p->entries, &p->nentries, &p->entries_cap,
			 sizeof(e), &e, KEY) == UINT32_MAX)
		p->texts.failed = true;
	return p->texts.failed ? gt_kineto_no_memory(p->err) : 0;
}

/* Of texts the text is stored, of others the message. */
static bool is_text(uint32_t table)
{
	return table <= GT_INTERNED_ARG_NAMES || table == GT_INTERNED_FUNCTIONS ||
		table == GT_INTERNED_PATHS || table == GT_INTERNED_SOURCES ||
		table == GT_INTERNED_STRINGS || table == GT_INTERNED_LAUNCH_ARGS;
}

static bool is_message(uint32_t table)
{
	return table == GT_INTERNED_FRAMES || table == GT_INTERNED_STACKS ||
		table == GT_INTERNED_MAPPINGS || table == GT_INTERNED_CONTEXTS ||
		table == GT_INTERNED_SPECS || table == GT_INTERNED_COUNTERS ||
		table == GT_INTERNED_KERNELS;
}

static int read_entry(struct gt_pftrace *p, const struct gt_pftrace_sequence *s,
	const struct gt_proto_field *entry)
{
	struct gt_proto_in in = gt_proto_message(entry);
	const uint8_t *bytes = entry->bytes;
	uint64_t iid = 0, len = is_text(entry->number) ? 0 : entry->value;
	struct gt_proto_field f;
	int more;

	while ((more = gt_proto_next(&in, &f)) > 0) {
		if (f.number == GT_INTERNED_IID && f.wire == GT_PROTO_VARINT)
			iid = f.value;
		if (f.number == GT_INTERNED_TEXT && f.wire == GT_PROTO_BYTES &&
			is_text(entry->number)) {
			bytes = f.bytes;
			len = f.value;
		}
	}
	if (more < 0)
		return gt_pftrace_malformed(p, "interned data");
	return add_entry(p, s, entry->number, iid, bytes, len);
}

int gt_pftrace_intern(struct gt_pftrace *p, const struct gt_pftrace_sequence *s,
	const struct gt_proto_field *interned)
{
	struct gt_proto_in in = gt_proto_message(interned);
	struct gt_proto_field f;
	int more, e = 0;

	while (!e && (more = gt_proto_next(&in, &f)) > 0)
		if (f.wire == GT_PROTO_BYTES && (is_text(f.number) || is_message(f.number)))
			e = read_entry(p, s, &f);
	return e ? e : more < 0 ? gt_pftrace_malformed(p, "interned data") : 0;
}

static struct gt_pftrace_entry *find_in_map(
	struct gt_pftrace *p, const struct gt_pftrace_sequence *s, uint32_t table, uint64_t iid)
{
	struct gt_pftrace_entry key = { .generation = s->generation, .table = table, .iid = iid };
	uint32_t i = gt_map_find_item(&p->entry_map, p->entries, sizeof(key), &key, KEY);

	if (i != UINT32_MAX) {
		p->recent[(iid * 32 + table) % RECENT] =
			(struct gt_pftrace_recent){ s->generation, table, iid, i };
		return &p->entries[i];
	}
	p->missing_iids++;
	return NULL;
}

static inline struct gt_pftrace_entry *find(
	struct gt_pftrace *p, const struct gt_pftrace_sequence *s, uint32_t table, uint64_t iid)
{
	const struct gt_pftrace_recent *r = &p->recent[(iid * 32 + table) % RECENT];

	if (r->iid == iid && r->generation == s->generation && r->table == table)
		return &p->entries[r->entry];
	return find_in_map(p, s, table, iid);
}

const char *gt_pftrace_text(struct gt_pftrace *p, const struct gt_pftrace_sequence *s,
	uint32_t table, uint64_t iid, size_t *len)
{
	const struct gt_pftrace_entry *e = find(p, s, table, iid);

	*len = e ? e->len : 0;
	return e ? (const char *)p->texts.data + e->at : NULL;
}

uint32_t gt_pftrace_name(struct gt_pftrace *p, const struct gt_pftrace_sequence *s, uint64_t iid,
	const struct gt_kineto_event *ev)
{
	struct gt_pftrace_entry *e = find(p, s, GT_INTERNED_NAMES, iid);
	struct gt_kineto *k = &p->d->k;
	uint32_t name;

	if (!e || e->known)
		return e ? e->known - 1 : GT_NONE;
	name = gt_kineto_intern(k, ev, (const char *)p->texts.data + e->at, e->len);
	/* whether there is memory for a name depends on the event's category */
	if (name != k->nameless && name != GT_NONE)
		e->known = name + 1;
	return name;
}

bool gt_pftrace_category(struct gt_pftrace *p, const struct gt_pftrace_sequence *s, uint64_t iid,
	struct gt_kineto_event *ev)
{
	struct gt_pftrace_entry *e = find(p, s, GT_INTERNED_CATEGORIES, iid);

	if (!e)
		return false;
	if (e->known) {
		ev->cat = e->cat;
		ev->cat_name = e->known == UINT32_MAX ? GT_NONE : e->known - 1;
		return true;
	}
	gt_kineto_event_category(&p->d->k, ev, (const char *)p->texts.data + e->at, e->len);
	e->cat = ev->cat;
	e->known = ev->cat_name == GT_NONE ? UINT32_MAX : ev->cat_name + 1;
	return true;
}

/* ---- stacks ---- */

struct frame {
	const char *function, *file, *module;
	size_t nfunction, nfile, nmodule;
	uint64_t line, kind, pc;
	bool mark, inlined;
};

/* The last components of a path. */
static const char *end_of_path(const char *path, size_t *len, unsigned parts)
{
	const char *p = path ? path + *len : NULL;

	while (p > path && (p[-1] != '/' || --parts))
		p--;
	*len -= (size_t)(p - path);
	return p;
}

/* The frame as --chrome names it: "step (train.py:88)", "gemm (libblas.so.3)", "libblas.so.3+0x1f".
 * Adds it to the stack of this parent; its id. */
static uint64_t add_frame(struct gt_pftrace *p, uint64_t parent, struct frame *f)
{
	enum gt_frame_kind kind = f->mark                   ? GT_FRAME_MARK
		: f->inlined                                ? GT_FRAME_INLINED
		: f->kind == GT_FRAMES_INTERPRETED          ? GT_FRAME_PYTHON
		: f->kind == GT_FRAMES_KERNEL               ? GT_FRAME_KERNEL
		: f->kind == GT_FRAMES_NATIVE || f->nmodule ? GT_FRAME_NATIVE
							    : GT_FRAME_UNKNOWN;
	struct gt_kineto *k = &p->d->k;
	struct gt_buf name = { 0 };
	uint64_t id = 0;

	f->file = end_of_path(f->file, &f->nfile, GT_SOURCE_PARTS);
	f->module = end_of_path(f->module, &f->nmodule, GT_MODULE_PARTS);
	if (f->nfunction)
		gt_buf_add(&name, f->function, f->nfunction);
	if (f->nfile && f->nfunction && f->line)
		gt_buf_printf(&name, " (%.*s:%u)", (int)f->nfile, f->file, (unsigned)f->line);
	else if (f->nfile && f->nfunction)
		gt_buf_printf(&name, " (%.*s)", (int)f->nfile, f->file);
	else if (f->nmodule && f->nfunction && !memchr(f->function, '(', f->nfunction))
		gt_buf_printf(&name, " (%.*s)", (int)f->nmodule, f->module);
	else if (f->nmodule && !f->nfunction)
		gt_buf_printf(&name, "%.*s+0x%llx", (int)f->nmodule, f->module,
			(unsigned long long)f->pc);
	if (!name.failed)
		id = gt_kineto_add_frame(k, parent,
			gt_kineto_intern(k, &(struct gt_kineto_event){ .cat = GT_KINETO_RANGE },
				name.len ? (char *)name.data : "", name.len),
			kind);
	gt_buf_release(&name);
	return id;
}

/* The path of a mapping: its last part. */
static const char *find_module(
	struct gt_pftrace *p, const struct gt_pftrace_sequence *s, uint64_t iid, size_t *len)
{
	const struct gt_pftrace_entry *e = find(p, s, GT_INTERNED_MAPPINGS, iid);
	const uint8_t *bytes = e ? p->texts.data + e->at : NULL;
	struct gt_proto_in in = { bytes, bytes ? bytes + e->len : NULL };
	const char *path = NULL;
	struct gt_proto_field f;

	*len = 0;
	while (gt_proto_next(&in, &f) > 0)
		if (f.number == GT_MAPPING_PATH && f.wire == GT_PROTO_VARINT)
			path = gt_pftrace_text(p, s, GT_INTERNED_PATHS, f.value, len);
	return path;
}

static uint64_t add_interned_frame(
	struct gt_pftrace *p, const struct gt_pftrace_sequence *s, uint64_t parent, uint64_t iid)
{
	const struct gt_pftrace_entry *e = find(p, s, GT_INTERNED_FRAMES, iid);
	const uint8_t *bytes = e ? p->texts.data + e->at : NULL;
	struct gt_proto_in in = { bytes, bytes ? bytes + e->len : NULL };
	struct frame to = { 0 };
	struct gt_proto_field f;

	while (gt_proto_next(&in, &f) > 0) {
		if (f.number == GT_FRAMES_KIND_TEXT && f.wire == GT_PROTO_BYTES) {
			to.mark = f.value == 4 && !memcmp(f.bytes, "mark", 4);
			to.inlined = f.value == 7 && !memcmp(f.bytes, "inlined", 7);
		}
		if (f.wire != GT_PROTO_VARINT)
			continue;
		switch (f.number) {
		case GT_FRAMES_FUNCTION:
			to.function = gt_pftrace_text(
				p, s, GT_INTERNED_FUNCTIONS, f.value, &to.nfunction);
			break;
		case GT_FRAMES_MAPPING: to.module = find_module(p, s, f.value, &to.nmodule); break;
		case GT_FRAMES_SOURCE:
			to.file = gt_pftrace_text(p, s, GT_INTERNED_SOURCES, f.value, &to.nfile);
			break;
		case GT_FRAMES_PC: to.pc = f.value; break;
		case GT_FRAMES_LINE: to.line = f.value; break;
		case GT_FRAMES_KIND: to.kind = f.value; break;
		}
	}
	return add_frame(p, parent, &to);
}

uint32_t gt_pftrace_stack(struct gt_pftrace *p, const struct gt_pftrace_sequence *s, uint64_t iid)
{
	struct gt_pftrace_entry *e = find(p, s, GT_INTERNED_STACKS, iid);
	uint64_t frames[DEEPEST], leaf = 0;
	struct gt_proto_field f;
	struct gt_proto_in in;
	unsigned n = 0;

	if (!e || e->known)
		return e ? e->known : 0;
	in = (struct gt_proto_in){ p->texts.data + e->at, p->texts.data + e->at + e->len };
	while (n < DEEPEST && gt_proto_next(&in, &f) > 0)
		if (f.number == GT_STACKS_FRAME && f.wire == GT_PROTO_VARINT)
			frames[n++] = f.value;
	for (unsigned i = 0; i < n; i++)
		leaf = add_interned_frame(p, s, leaf, frames[i]);
	e->known = leaf ? gt_kineto_stack(&p->d->k, leaf) : 0;
	return e->known;
}

uint32_t gt_pftrace_inline_stack(struct gt_pftrace *p, const struct gt_proto_field *stack)
{
	struct gt_proto_in in = gt_proto_message(stack), frame;
	struct gt_proto_field f, g;
	uint64_t leaf = 0;

	for (unsigned n = 0; n < DEEPEST && gt_proto_next(&in, &f) > 0; n++) {
		struct frame to = { 0 };

		if (f.number != 1 || f.wire != GT_PROTO_BYTES)
			continue;
		frame = gt_proto_message(&f);
		while (gt_proto_next(&frame, &g) > 0) {
			if (g.number == 1 && g.wire == GT_PROTO_BYTES) {
				to.function = (const char *)g.bytes;
				to.nfunction = g.value;
			} else if (g.number == 2 && g.wire == GT_PROTO_BYTES) {
				to.file = (const char *)g.bytes;
				to.nfile = g.value;
			} else if (g.number == 3 && g.wire == GT_PROTO_VARINT) {
				to.line = g.value;
			}
		}
		leaf = add_frame(p, leaf, &to);
	}
	return leaf ? gt_kineto_stack(&p->d->k, leaf) : 0;
}
