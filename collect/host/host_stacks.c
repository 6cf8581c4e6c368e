/* Stacks of threads and their definitions in the threads' rings, as the guest library writes those
 * of calls (collect/guest/stack/stack_table.c). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "collect/host/host_internal.h"
#include "collect/ipc/code_piece.h"
#include "formats/base/buf.h"
#include "formats/symbols/elf_symbols.h"
#include "formats/symbols/vdso_image.h"

#define NUMBERS_MAX 65536 /* stacks that a thread remembers */

struct frames {
	uint32_t n;
	uint64_t words[GT_NATIVE_FRAMES + GT_REMOTE_FRAMES + 4]; /* as in a ring (ring.h) */
};
/* What writes definitions, and where to. */
struct target {
	struct gt_host_recording *h;
	struct gt_host_thread *t;
	struct gt_written_thread *to;
};

static bool put(
	const struct target *g, enum gt_rec_kind kind, uint64_t key, const void *bytes, size_t n)
{
	return gt_ring_writer_bytes(g->h->writer, g->to, kind, key, bytes, n);
}

/* ---- numbers ---- */

static void release_numbers(struct gt_ring_numbers *n)
{
	gt_map_release(&n->map);
	free(n->items);
	*n = (struct gt_ring_numbers){ 0 };
}

void gt_host_stacks_release(struct gt_host_thread *t)
{
	release_numbers(&t->stacks);
	release_numbers(&t->codes);
	release_numbers(&t->objects);
}

/* 0: it has none */
static uint32_t number_of(const struct gt_ring_numbers *n, uint64_t key)
{
	uint32_t i = gt_map_find_item(&n->map, n->items, sizeof(*n->items), &key, sizeof(key));

	return i == UINT32_MAX ? 0 : n->items[i].number;
}

static uint32_t add_number(struct gt_ring_numbers *n, uint64_t key)
{
	const struct gt_ring_number new = { key, ++n->count };

	if (n->n >= NUMBERS_MAX) {
		n->n = 0;
		gt_map_clear(&n->map);
	}
	gt_map_add_item(&n->map, &n->items, &n->n, &n->cap, sizeof(new), &new, sizeof(new.key));
	return new.number;
}

/* ---- native frames ---- */

static bool write_code(const struct target *g, struct gt_mapped_code *code)
{
	const char *path = g->h->code.files[code->file];
	size_t n = strnlen(path, PATH_MAX);
	const struct gt_elf_mapping *m = &code->place;
	char there[GT_CODE_PATH];
	struct {
		struct gt_rec_object head;
		char path[PATH_MAX];
	} text = { .head = { .low = code->low, .high = code->high } };

	if (!code->is_read) {
		code->is_read = true;
		code->place.address = code->offset;
		if (gt_mapped_code_path(&g->h->code, g->t->tgid, code, there))
			gt_elf_mapping(there, code->offset, &code->place);
	}
	text.head.base = code->low - m->address;
	text.head.nbuild_id = m->nbuild_id;
	memcpy(text.head.build_id, m->build_id, sizeof(m->build_id));
	memcpy(text.path, path, n);
	return put(g, GT_REC_OBJECT, code->low, &text, sizeof(text.head) + n);
}

/* Writes the definition of a piece of mapped code. Each ring of a thread has one, as rings are read
 * one after the other. */
static void define_code(const struct target *g, struct gt_mapped_code *code)
{
	if (!number_of(&g->t->objects, code->number) && write_code(g, code))
		add_number(&g->t->objects, code->number);
}

static void add_mark(struct frames *f, enum gt_frame_mark mark)
{
	f->words[f->n++] = GT_STACK_MARK | mark;
}

void gt_host_unwind(struct gt_host_recording *h, struct gt_native_thread *at,
	const struct gt_remote_stack *python, struct gt_native_stack *to)
{
	if (python && python->n) {
		at->stop_low = python->eval_low;
		at->stop_high = python->eval_high;
	}
	gt_native_unwind(h->unwinder, at, to);
	if (python && python->n && !to->has_found)
		to->is_part = true;
}

static void add_native(const struct target *g, const struct gt_native_stack *s, struct frames *f)
{
	for (uint32_t i = 0; i < s->n; i++) {
		const uint64_t address = s->addresses[i];
		struct gt_mapped_code *code;

		if (address == GT_NATIVE_GAP) {
			add_mark(f, GT_MARK_NATIVE_CUT);
			continue;
		}
		code = gt_code_maps_find(&g->h->code, g->t->tgid, address - 1);
		if (code)
			define_code(g, code);
		f->words[f->n++] = address & ~GT_STACK_KIND;
	}
	if (s->is_part)
		add_mark(f, GT_MARK_NATIVE_CUT);
}

/* ---- frames of Python ---- */

static bool put_code(const struct target *g, uint32_t number, const struct gt_remote_code *c)
{
	const uint64_t name = gt_ring_hash(c->name, c->nname),
		       file = gt_ring_hash(c->file, c->nfile);
	struct gt_code_piece piece;

	piece.head = (struct gt_rec_code){ .version = c->version,
		.first_line = c->first_line,
		.name = name,
		.file = file,
		.total = c->nlines };
	if (!put(g, GT_REC_STRING, name, c->name, c->nname) ||
		!put(g, GT_REC_STRING, file, c->file, c->nfile))
		return false;
	do {
		if (!put(g, GT_REC_CODE, number, &piece, gt_code_piece_fill(&piece, c->lines)))
			return false;
	} while (gt_code_piece_next(&piece, c->lines));
	return true;
}

/* The number of a code object; 0: the ring is full. */
static uint32_t code_number(const struct target *g, const struct gt_remote_code *c)
{
	struct gt_ring_numbers *codes = &g->t->codes;
	uint32_t number = number_of(codes, c->number);

	if (number)
		return number;
	return put_code(g, codes->count + 1, c) ? add_number(codes, c->number) : 0;
}

static void add_python(const struct target *g, const struct gt_remote_stack *p, struct frames *f)
{
	if (p->inner_cut)
		add_mark(f, GT_MARK_PYTHON_UNREADABLE);
	for (uint32_t i = 0; i < p->n; i++) {
		uint32_t code = code_number(g, p->frames[i].code);

		if (code)
			f->words[f->n++] =
				GT_STACK_PYTHON | (uint64_t)code << 32 | p->frames[i].offset;
		else
			add_mark(f, GT_MARK_PYTHON_UNREADABLE);
	}
	if (p->outer_cut)
		add_mark(f, GT_MARK_PYTHON_CUT);
}

/* ---- stacks ---- */

/* Numbers are those of one ring: a new one has none. */
static void check_ring(const struct target *g)
{
	if (g->t->slot == g->to->slot && g->t->generation == g->to->generation)
		return;
	gt_host_stacks_release(g->t);
	g->t->slot = g->to->slot;
	g->t->generation = g->to->generation;
}

uint32_t gt_host_stack_number(struct gt_host_recording *h, struct gt_host_thread *t,
	struct gt_written_thread *to, const struct gt_host_stack *s)
{
	const struct target g = { h, t, to };
	struct frames f;
	uint32_t number;
	uint64_t hash;

	f.n = 0;
	check_ring(&g);
	add_native(&g, s->native, &f);
	if (s->python)
		add_python(&g, s->python, &f);
	else if (s->python_unknown)
		add_mark(&f, GT_MARK_PYTHON_UNREADABLE);
	if (!f.n)
		return 0;
	hash = gt_hash(f.words, f.n * sizeof(*f.words));
	number = number_of(&t->stacks, hash);
	if (number)
		return number;
	return put(&g, GT_REC_STACK, t->stacks.count + 1, f.words, f.n * sizeof(*f.words))
		? add_number(&t->stacks, hash)
		: 0;
}
