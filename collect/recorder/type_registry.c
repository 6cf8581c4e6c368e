#include "collect/recorder/type_registry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "formats/base/buf.h"
#include "formats/cuda/ioctl_names.h"

/* ---- driver functions ---- */

void gt_types_init(struct gt_types *t, struct gt_writer *w, unsigned args)
{
	memset(t, 0, sizeof(*t));
	t->w = w;
	t->args = args;
	for (unsigned i = 0; i < GT_API_MAX; i++)
		t->calls[i].type = t->calls[i].stacked = GT_NONE;
}

void gt_types_release(struct gt_types *t)
{
	gt_map_release(&t->files);
	free(t->file);
	t->file = NULL;
	t->nfile = t->cap = 0;
}

static bool is_recorded(const struct gt_types *t, const struct gt_api_field *f)
{
	return t->args == GT_ARGS_ALL || (t->args == GT_ARGS_KEY && f->key);
}

/* Sets how the call concerns GPU work. False: it does not. */
static bool classify_call(struct gt_call_type *c, const struct gt_api *api)
{
	c->wait = gt_gpu_wait_of_call(api->name);
	c->per_thread = gt_api_per_thread(api->name);
	c->kind = c->wait                           ? GT_GPU_CALL_WAITS
		: api->role == GT_API_CAPTURE_BEGIN ? GT_GPU_CALL_BEGINS_CAPTURE
		: api->role == GT_API_CAPTURE_END   ? GT_GPU_CALL_ENDS_CAPTURE
		: api->role == GT_API_STREAM_END    ? GT_GPU_CALL_ENDS_STREAM
						    : GT_GPU_CALL_WORKS;
	return c->kind != GT_GPU_CALL_WORKS || gt_api_makes_work(api->op);
}

static uint8_t find_field(const struct gt_field *fields, unsigned n, unsigned role)
{
	unsigned i = 0;

	while (i < n && fields[i].role != role)
		i++;
	return i < n ? (uint8_t)i : GT_NO_WORD;
}

/* Sets the fields that the memory counters read. They skip calls whose address is not recorded. */
static void set_memory_fields(
	struct gt_call_type *c, const struct gt_api *api, const struct gt_field *fields, unsigned n)
{
	c->addr = find_field(fields, n, GT_R_ADDR);
	c->bytes = find_field(fields, n, api->op == GT_OP_MAP ? GT_R_SRC : GT_R_BYTES);
	c->device = find_field(fields, n, GT_R_DEVICE);
	c->memory =
		gt_api_is_memory(api->op) ? c->addr != GT_NO_WORD : api->role == GT_API_CONTEXT_END;
}

/* Makes the type: the fields that the mode records, in the guest's order. A launch with its
 * function among them also gets its kernel's name. */
static void make_call_type(struct gt_types *t, uint32_t id)
{
	struct gt_api_field all[GT_FIELDS_MAX];
	struct gt_field fields[GT_FIELDS_MAX];
	struct gt_call_type *c = &t->calls[id];
	const struct gt_api *api = &gt_api[id];
	struct gt_type type = { .category = api->category,
		.op = api->op,
		.memkind = api->memkind,
		.layer = GT_LAYER_API };
	unsigned n = 0, count = gt_api_fields(api, all);

	for (unsigned i = 0; i < count; i++) {
		if (!is_recorded(t, &all[i]))
			continue;
		if (all[i].kind == GT_F_STR)
			c->strings |= 1ULL << n;
		fields[n++] = (struct gt_field){ gt_writer_string(t->w, all[i].name), all[i].kind,
			all[i].role };
	}
	c->func = api->op == GT_OP_LAUNCH ? find_field(fields, n, GT_R_FUNC) : GT_NO_WORD;
	c->graph = api->op == GT_OP_GRAPH_LAUNCH ? find_field(fields, n, GT_R_GRAPH) : GT_NO_WORD;
	c->grid = find_field(fields, n, GT_R_GRID);
	c->block = find_field(fields, n, GT_R_BLOCK);
	c->stream = find_field(fields, n, GT_R_STREAM);
	c->event = find_field(fields, n, GT_R_EVENT);
	c->nwords = (uint8_t)n;
	if (n == GT_FIELDS_MAX)
		c->func = GT_NO_WORD;
	if (c->func != GT_NO_WORD)
		fields[n++] = (struct gt_field){ gt_writer_string(t->w, "kernel"), GT_F_STR,
			GT_R_KERNEL };
	c->nfields = type.nfields = (uint8_t)n;
	c->makes_gpu_work = t->gpu && classify_call(c, api);
	c->nodes = t->gpu && api->role == GT_API_GRAPH_NODE;
	set_memory_fields(c, api, fields, n);
	c->memory &= t->memory;
	c->plain = !c->strings && c->func == GT_NO_WORD && !c->makes_gpu_work && !c->nodes &&
		!c->memory;
	type.fields = fields;
	c->name = type.name = gt_writer_string(t->w, api->name);
	c->type = gt_writer_type(t->w, &type);
}

const struct gt_call_type *gt_types_call(struct gt_types *t, uint32_t id)
{
	if (__builtin_expect(t->calls[id].type == GT_NONE, 0))
		make_call_type(t, id);
	return &t->calls[id];
}

uint32_t gt_types_stacked(struct gt_types *t, struct gt_call_type *c)
{
	const struct gt_type *plain = gt_writer_type_get(t->w, c->type);
	struct gt_field fields[GT_FIELDS_MAX];
	struct gt_type type;

	if (c->stacked != GT_NONE || !plain || plain->nfields == GT_FIELDS_MAX)
		return c->stacked;
	type = *plain;
	if (type.nfields)
		memcpy(fields, type.fields, type.nfields * sizeof(*fields));
	type.fields = fields;
	fields[type.nfields++] =
		(struct gt_field){ gt_writer_string(t->w, "stack"), GT_F_U64, GT_R_STACK };
	return c->stacked = gt_writer_type(t->w, &type);
}

/* ---- device files ---- */

static uint32_t make_file_type(struct gt_types *t, const struct gt_file_type *k)
{
	static const char *const verbs[] = { "ioctl", "open", "close", "mmap", "munmap" };
	char name[160], path[64];
	struct gt_field fields[2] = { { gt_writer_string(t->w, "minor"), GT_F_U64, GT_R_NONE } };
	struct gt_type type = {
		.category = GT_CAT_FILE, .layer = GT_LAYER_IOCTL, .nfields = 2, .fields = fields
	};

	if (k->id == GT_ID_IOCTL) {
		gt_ioctl_name(name, sizeof(name), k->file, k->request, k->command);
		type.category = GT_CAT_IOCTL;
		type.op = GT_OP_IOCTL;
		type.nfields = k->has_status ? 2 : 1;
		fields[1] = (struct gt_field){ gt_writer_string(t->w, "status"), GT_F_HEX,
			GT_R_STATUS };
	} else {
		bool fd = k->id == GT_ID_OPEN || k->id == GT_ID_CLOSE;

		gt_ioctl_file(path, sizeof(path), k->file);
		snprintf(name, sizeof(name), "%s %s", verbs[k->id - GT_ID_IOCTL], path);
		fields[1] = (struct gt_field){ gt_writer_string(t->w, fd ? "fd" : "length"),
			fd ? GT_F_I64 : GT_F_U64, GT_R_NONE };
	}
	type.name = gt_writer_string(t->w, name);
	return gt_writer_type(t->w, &type);
}

static uint32_t file_type(struct gt_types *t, struct gt_file_type *k)
{
	const size_t key = offsetof(struct gt_file_type, type);
	uint32_t at = gt_map_find_item(&t->files, t->file, sizeof(*k), k, key);

	if (at != UINT32_MAX)
		return t->file[at].type;
	/* A program may make new requests without end, but the dictionary must have space for new
	 * threads. */
	k->type = gt_writer_has_name_space(t->w) ? make_file_type(t, k) : GT_NONE;
	if (k->type != GT_NONE) /* without memory each such call makes its type again */
		gt_map_add_item(&t->files, &t->file, &t->nfile, &t->cap, sizeof(*k), k, key);
	return k->type;
}

/* ioctls on files of one kind share types; open, close and mmap have a type per file. The status
 * of the driver counts as failure; a positive return value (a descriptor) does not. */
uint32_t gt_types_file(struct gt_types *t, uint16_t id, const uint64_t *words, unsigned nwords,
	uint64_t *args, uint8_t *nargs, int32_t *ret)
{
	struct gt_file_type k = { .id = id };
	struct gt_ioctl_args a = { .status = UINT64_MAX }; /* begins like struct gt_file_args */

	memcpy(&a, words,
		nwords * sizeof(*words) < sizeof(a) ? nwords * sizeof(*words) : sizeof(a));
	if (*ret > 0)
		*ret = 0;
	args[0] = (uint32_t)a.file;
	args[1] = a.request;
	*nargs = 2;
	k.file = a.file;
	if (id == GT_ID_IOCTL) {
		k.file = a.file >> 32 << 32;
		k.request = a.request;
		k.command = a.command;
		k.has_status = a.status != UINT64_MAX;
		args[1] = a.status;
		*nargs = k.has_status ? 2 : 1;
		if (!*ret && k.has_status)
			*ret = (int32_t)a.status;
	}
	return file_type(t, &k);
}

/* ---- names that processes report ---- */

#define NAME_KEY offsetof(struct gt_reported_name, string)

static uint32_t find_name(
	const struct gt_reported_names *k, enum gt_reported_kind kind, uint64_t key)
{
	struct gt_reported_name item = { .key = key, .kind = kind };

	return gt_map_find_item(&k->map, k->items, sizeof(item), &item, NAME_KEY);
}

void gt_reported_names_add(struct gt_reported_names *k, enum gt_reported_kind kind, uint64_t key,
	uint32_t string, bool replace)
{
	const struct gt_reported_name new = { key, kind, string };
	uint32_t at = find_name(k, kind, key);

	if (at != UINT32_MAX) {
		if (replace)
			k->items[at].string = string;
	} else if (k->n >= GT_REPORTED_MAX ||
		gt_map_add_item(&k->map, &k->items, &k->n, &k->cap, sizeof(new), &new, NAME_KEY) ==
			UINT32_MAX) {
		k->forgotten++;
	}
}

uint32_t gt_reported_names_get(
	const struct gt_reported_names *k, enum gt_reported_kind kind, uint64_t key)
{
	uint32_t at = find_name(k, kind, key);

	return at == UINT32_MAX ? GT_NONE : k->items[at].string;
}

bool gt_reported_names_has(
	const struct gt_reported_names *k, enum gt_reported_kind kind, uint64_t key)
{
	return find_name(k, kind, key) != UINT32_MAX;
}

void gt_reported_names_copy(struct gt_reported_names *to, const struct gt_reported_names *from)
{
	for (size_t i = 0; i < from->n; i++)
		gt_reported_names_add(
			to, from->items[i].kind, from->items[i].key, from->items[i].string, false);
}

void gt_reported_names_release(struct gt_reported_names *k)
{
	gt_map_release(&k->map);
	free(k->items);
	memset(k, 0, sizeof(*k));
}
