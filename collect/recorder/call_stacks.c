#define _GNU_SOURCE
#include "collect/recorder/call_stacks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "collect/recorder/python_lines.h"
#include "formats/base/buf.h"
#include "formats/python/python_layout.h"
#include "formats/symbols/vdso_image.h"

/* A damaged ring may define anything, so the memory and time for it have limits. */
#define ALL_LINES_MAX (256u << 20) /* bytes of all line tables of a thread */
#define SEARCHED_MAX (16u << 20)   /* bytes of line tables that are searched for one stack */
#define CODES_MAX (256u << 10)     /* of a thread */
#define STACKS_MAX (1u << 20)      /* of a thread */
#define OBJECTS_MAX (64u << 10)    /* of a process */
#define RECENT_OBJECTS 256         /* that a new one is compared with */
#define FRAMES_MAX 2048            /* of a stack */
#define UNPLACED_MAX 1024          /* frames without a library */
#define NAME_MAX_ 400 /* bytes of a function's and of a file's name in a frame's text */

void gt_thread_stacks_release(struct gt_thread_stacks *s)
{
	for (size_t i = 0; i < s->ncodes; i++)
		free(s->codes[i].lines);
	free(s->codes);
	free(s->stacks);
	*s = (struct gt_thread_stacks){ 0 };
}

void gt_loaded_objects_release(struct gt_loaded_objects *o)
{
	free(o->items);
	free(o->unplaced);
	gt_compiled_functions_release(&o->compiled);
	*o = (struct gt_loaded_objects){ 0 };
}

/* ---- code objects ---- */

/* The code object of this number, which may be the next one; NULL: the number is wrong or too
 * large, or there is no memory. */
static struct gt_stack_code *code_at(struct gt_thread_stacks *s, uint64_t number)
{
	if (!number || number > s->ncodes + 1 || number > CODES_MAX)
		return NULL;
	if (number == s->ncodes + 1) {
		if (gt_grow(&s->codes, &s->codes_cap, s->ncodes + 1, sizeof(*s->codes)))
			return NULL;
		s->codes[s->ncodes++] = (struct gt_stack_code){
			.name = GT_NONE, .file = GT_NONE, .frame = GT_NONE
		};
	}
	return &s->codes[number - 1];
}

static void forget_lines(struct gt_thread_stacks *s, struct gt_stack_code *c)
{
	s->line_bytes -= c->head.at;
	free(c->lines);
	c->lines = NULL;
	c->lines_cap = 0;
	c->frame = GT_NONE;
}

void gt_call_stacks_code(struct gt_thread_stacks *s, uint64_t number, const void *text, size_t len,
	uint32_t name, uint32_t file)
{
	struct gt_stack_code *c = len < sizeof(c->head) ? NULL : code_at(s, number);
	struct gt_rec_code head;
	size_t n = len - sizeof(head);

	if (!c)
		return;
	memcpy(&head, text, sizeof(head));
	if (!head.at) {
		forget_lines(s, c);
		c->head = head;
		c->name = name;
		c->file = file;
	}
	if (c->head.total > GT_PYTHON_LINES_MAX || head.at != c->head.at ||
		n > c->head.total - head.at || n > ALL_LINES_MAX - s->line_bytes ||
		gt_grow(&c->lines, &c->lines_cap, head.at + n + 1, 1))
		return;
	memcpy(c->lines + head.at, (const uint8_t *)text + sizeof(head), n);
	c->frame = GT_NONE;
	c->head.at += (uint32_t)n;
	s->line_bytes += n;
}

/* ---- libraries ---- */

static const struct gt_frame no_frame = { .function = GT_NONE, .file = GT_NONE, .module = GT_NONE };

/* in: NULL: no library is known there. */
static struct gt_frame native_place(const struct gt_loaded_object *in, uint64_t address)
{
	struct gt_frame f = no_frame;

	f.kind = GT_FRAME_NATIVE;
	if (in) {
		f.module = in->module;
		f.offset = address - in->base;
	}
	return f;
}

/* Describes the frames that wait for the library that was defined last. */
static void place_frames(struct gt_writer *w, struct gt_loaded_objects *o)
{
	const struct gt_loaded_object *in = &o->items[o->n - 1];
	size_t left = 0;

	for (size_t i = 0; i < o->nunplaced; i++) {
		const struct gt_unplaced_frame u = o->unplaced[i];
		const struct gt_frame f = native_place(in, u.address);

		if (u.address >= in->low && u.address < in->high)
			gt_writer_frame(w, u.text, &f);
		else
			o->unplaced[left++] = u;
	}
	o->nunplaced = left;
}

/* The latest one at this address, among the latest `most`. */
static const struct gt_loaded_object *object_at(
	const struct gt_loaded_objects *o, uint64_t address, size_t most)
{
	for (size_t i = o->n; i-- > 0 && most--;)
		if (address >= o->items[i].low && address < o->items[i].high)
			return &o->items[i];
	return NULL;
}

/* Is it a recent object, and the latest one at its first and its last address? */
static bool is_known(const struct gt_loaded_objects *o, const struct gt_loaded_object *new)
{
	const struct gt_loaded_object *at = object_at(o, new->low, RECENT_OBJECTS);

	return at && at->low == new->low && at->high == new->high && at->base == new->base &&
		at->module == new->module &&object_at(o, new->high - 1, RECENT_OBJECTS) == at;
}

/* 0 or -ENOMEM */
static int add_object(struct gt_loaded_objects *o, const struct gt_loaded_object *new)
{
	if (o->n >= OBJECTS_MAX) { /* the older half is forgotten */
		o->n -= OBJECTS_MAX / 2;
		memmove(o->items, o->items + OBJECTS_MAX / 2, o->n * sizeof(*o->items));
	}
	if (gt_grow(&o->items, &o->cap, o->n + 1, sizeof(*o->items)))
		return -ENOMEM;
	o->items[o->n++] = *new;
	return 0;
}

static bool begins(const char *path, size_t len, const char *with)
{
	return len >= strlen(with) && !memcmp(path, with, strlen(with));
}

/* Else the memory has no file of its own, and the program may have compiled what is there. */
static bool is_file(const char *path, size_t len)
{
	return gt_is_vdso(path, len) ||
		(begins(path, len, "/") && !begins(path, len, "//") &&
			!begins(path, len, "/memfd:") && !begins(path, len, "/dev/"));
}

void gt_call_stacks_object(
	struct gt_writer *w, struct gt_loaded_objects *o, const void *text, size_t len)
{
	struct gt_rec_object head;
	struct gt_loaded_object new;
	const char *path = (const char *)text + sizeof(head);
	uint32_t module;

	if (len < sizeof(head) || !gt_writer_has_name_space(w))
		return;
	memcpy(&head, text, sizeof(head));
	len -= sizeof(head);
	if (head.low >= head.high)
		return;
	new = (struct gt_loaded_object){ head.low, head.high, head.base, GT_NONE,
		is_file(path, len) };
	if (gt_is_vdso(path, len))
		new.module = gt_writer_string(w, GT_VDSO_NAME);
	else
		new.module = gt_writer_string_n(w, path, len);
	if (head.nbuild_id <= sizeof(head.build_id)) {
		module = gt_writer_module(w, new.module, head.build_id, head.nbuild_id);
		new.module = module == GT_NONE ? new.module : module;
	}
	if (!is_known(o, &new) && !add_object(o, &new))
		place_frames(w, o);
}

/* ---- frames ---- */

/* The part of a path that a frame shows: its last folder and its name. */
static const char *short_path(const char *path)
{
	const char *name = strrchr(path, '/'), *folder;

	if (!name || name == path)
		return path;
	folder = memrchr(path, '/', (size_t)(name - path));
	return folder ? folder + 1 : path;
}

/* The line of an instruction; -1: it is not known. searched: bytes for this stack so far */
static int32_t line_of(const struct gt_stack_code *c, uint32_t offset, size_t *searched)
{
	if (!c->lines || c->head.at != c->head.total || *searched > SEARCHED_MAX)
		return -1;
	*searched += c->head.total;
	return gt_python_line(c->head.version, c->head.first_line, c->lines, c->head.total, offset);
}

/* The string id for stacks. */
static uint32_t add_frame(struct gt_writer *w, const char *text, const struct gt_frame *f)
{
	uint32_t string = gt_writer_string(w, text), id = gt_writer_place(w, string, f);

	return id == GT_NONE ? string : id;
}

static uint32_t python_frame(
	struct gt_writer *w, struct gt_thread_stacks *s, uint64_t word, size_t *searched)
{
	uint32_t number = (uint32_t)(word >> 32 & 0x3fffffff);
	struct gt_stack_code *c = number && number <= s->ncodes ? &s->codes[number - 1] : NULL;
	struct gt_frame f = no_frame;
	char text[2 * NAME_MAX_ + 32];
	const char *function, *file;
	int32_t line;
	uint32_t id;

	if (!c || c->name == GT_NONE || c->file == GT_NONE)
		return gt_writer_string(w, "[unknown Python function]");
	if (c->frame != GT_NONE && c->offset == (uint32_t)word)
		return c->frame;
	line = line_of(c, (uint32_t)word, searched);
	function = gt_writer_string_text(w, c->name);
	file = gt_writer_string_text(w, c->file);
	if (line > 0)
		snprintf(text, sizeof(text), "%.*s (%.*s:%" PRId32 ")", NAME_MAX_, function,
			NAME_MAX_, short_path(file), line);
	else
		snprintf(text, sizeof(text), "%.*s (%.*s)", NAME_MAX_, function, NAME_MAX_,
			short_path(file));
	f.kind = GT_FRAME_PYTHON;
	f.function = c->name;
	f.file = c->file;
	f.line = line > 0 ? (uint32_t)line : 0;
	id = add_frame(w, text, &f);
	c->offset = (uint32_t)word;
	c->frame = *searched <= SEARCHED_MAX ? id : GT_NONE; /* else the line may be missing */
	return id;
}

/* GT_NONE: none is known there. */
static uint32_t compiled_frame(struct gt_writer *w, struct gt_loaded_objects *o,
	const struct gt_guest *guest, uint64_t word)
{
	const char *name = gt_compiled_function(&o->compiled, guest, word - 1);
	char text[NAME_MAX_ + 1];
	struct gt_frame f = no_frame;

	if (!name)
		return GT_NONE;
	snprintf(text, sizeof(text), "%s", name);
	f.kind = GT_FRAME_NATIVE;
	f.function = gt_writer_string(w, text);
	f.module = gt_writer_string(w, "[compiled]");
	return add_frame(w, text, &f);
}

static uint32_t native_frame(struct gt_writer *w, struct gt_loaded_objects *o,
	const struct gt_guest *guest, uint64_t word)
{
	const struct gt_loaded_object *in = object_at(o, word, OBJECTS_MAX);
	const struct gt_frame f = native_place(in, word);
	char text[NAME_MAX_ + 32];
	const char *path;
	uint32_t id;

	if (!in || !in->is_file) {
		id = compiled_frame(w, o, guest, word);
		if (id != GT_NONE)
			return id;
	}
	if (in) {
		path = gt_writer_string_text(w, in->module);
		snprintf(text, sizeof(text), "%.*s+0x%" PRIx64, NAME_MAX_,
			strrchr(path, '/') ? strrchr(path, '/') + 1 : path, word - in->base);
	} else {
		snprintf(text, sizeof(text), "0x%" PRIx64, word);
	}
	id = add_frame(w, text, &f);
	if (!in && o->nunplaced < UNPLACED_MAX &&
		!gt_grow(&o->unplaced, &o->unplaced_cap, o->nunplaced + 1, sizeof(*o->unplaced)))
		o->unplaced[o->nunplaced++] = (struct gt_unplaced_frame){ word, id };
	return id;
}

static uint32_t mark_frame(struct gt_writer *w, uint64_t word)
{
	static const char *const texts[] = {
		[GT_MARK_NATIVE_CUT] = "[native frames unknown]",
		[GT_MARK_PYTHON_CUT] = "[more Python frames]",
		[GT_MARK_PYTHON_UNREADABLE] = GT_MARK_UNREADABLE,
		[GT_MARK_PYTHON_UNKNOWN] = "[Python frames unknown]",
	};
	uint64_t mark = word & ~GT_STACK_KIND;
	struct gt_frame f = no_frame;
	uint32_t id = gt_writer_string(
		w, mark < sizeof(texts) / sizeof(*texts) ? texts[mark] : "[unknown frame]");

	f.kind = GT_FRAME_MARK;
	gt_writer_frame(w, id, &f);
	return id;
}

/* ---- stacks ---- */

void gt_call_stacks_stack(struct gt_writer *w, struct gt_thread_stacks *s,
	struct gt_loaded_objects *o, const struct gt_guest *guest, uint64_t number,
	const void *text, size_t len)
{
	uint32_t frames[FRAMES_MAX], n = (uint32_t)(len / 8), id = GT_NONE;
	size_t searched = 0;
	bool has_python = false;
	uint64_t word;

	if (!number || number > s->nstacks + 1 || number > STACKS_MAX || n > FRAMES_MAX ||
		gt_grow(&s->stacks, &s->stacks_cap, s->nstacks + 1, sizeof(*s->stacks)))
		return;
	if (gt_writer_has_name_space(w)) {
		for (uint32_t i = 0; i < n; i++) {
			memcpy(&word, (const uint8_t *)text + 8 * i, sizeof(word));
			has_python |= (word & GT_STACK_KIND) == GT_STACK_PYTHON;
			/* the file has the outermost first */
			frames[n - 1 - i] = (word & GT_STACK_KIND) == GT_STACK_PYTHON
				? python_frame(w, s, word, &searched)
				: (word & GT_STACK_KIND) == GT_STACK_MARK
				? mark_frame(w, word)
				: native_frame(w, o, guest, word);
		}
		id = gt_writer_stack(w, frames, n);
	}
	if (number == s->nstacks + 1)
		s->nstacks++;
	s->stacks[number - 1] = (struct gt_thread_stack){ id, 0, has_python };
	o->has_python |= has_python;
}
