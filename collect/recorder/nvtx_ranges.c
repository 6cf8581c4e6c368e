/* Each message text has a type, because reports count by type and exporters use its name. A range
 * is written when it ends, as one row. */
#define _GNU_SOURCE /* memmem */
#include "collect/recorder/nvtx_ranges.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "formats/base/buf.h"

/* open ranges of a thread or process: a program may never end them */
#define OPEN_MAX 8192u
#define OPEN_ALL (1u << 20) /* open ranges of all threads and processes */
/* a program whose messages all differ must not fill the dictionary, which threads and kernels
 * need, too */
#define TYPES_MAX (1u << 17)

enum { HAS_DOMAIN = 1, HAS_CATEGORY = 2, HAS_COLOR = 4, HAS_NCCL = 8, FIELDS = 6 };
/* shape: flags, payload type << 4 */
struct gt_nvtx_type {
	uint32_t message, domain, category, color, shape, type;
	uint8_t group; /* enum gt_nccl_group */
};

#define TYPE_KEY offsetof(struct gt_nvtx_type, type)

/* ---- types and their arguments ---- */

static unsigned shape_of(const struct gt_nvtx_event *e)
{
	return (e->domain != GT_NONE ? HAS_DOMAIN : 0u) | (e->category ? HAS_CATEGORY : 0u) |
		(e->color ? HAS_COLOR : 0u) | (e->communicator | e->message_bytes ? HAS_NCCL : 0u) |
		e->payload_type << 4;
}

static enum gt_field_kind payload_kind(unsigned type)
{
	static const uint8_t kinds[] = { GT_F_U64, GT_F_U64, GT_F_I64, GT_F_F64, GT_F_U64, GT_F_I64,
		GT_F_F64 };

	return (enum gt_field_kind)kinds[type < sizeof(kinds) ? type : 0];
}

/* NVTX's payload as the value of a field. A payload of 32 bits is in the lower half. */
static uint64_t payload_value(unsigned type, uint64_t v)
{
	double d;
	float f;

	if (type == 4)
		return (uint32_t)v;
	if (type == 5)
		return (uint64_t)(int64_t)(int32_t)v;
	if (type != 6)
		return v;
	memcpy(&f, &v, sizeof(f));
	d = f;
	memcpy(&v, &d, sizeof(v));
	return v;
}

static uint32_t category_name(
	struct gt_nvtx *n, const struct gt_nvtx_names *names, const struct gt_nvtx_event *e)
{
	char number[16], *p = number + sizeof(number) - 1;
	uint32_t c = e->category;

	for (size_t i = 0; i < names->n; i++)
		if (names->items[i].category == e->category && names->items[i].domain == e->domain)
			return names->items[i].name;
	*p = 0;
	do
		*--p = (char)('0' + c % 10);
	while (c /= 10);
	return gt_writer_string(n->w, p);
}

static uint8_t nccl_group(const char *message)
{
	return !strcmp(message, "ncclGroupStart")  ? GT_NCCL_GROUP_START
		: !strcmp(message, "ncclGroupEnd") ? GT_NCCL_GROUP_END
						   : GT_NCCL_OTHER;
}

static uint32_t make_type(struct gt_nvtx *n, struct gt_nvtx_type *key)
{
	struct gt_field f[FIELDS];
	struct gt_type t = {
		.name = key->message, .category = GT_CAT_USER, .layer = GT_LAYER_USER, .fields = f
	};
	unsigned payload = key->shape >> 4;

	if (key->shape & HAS_DOMAIN)
		f[t.nfields++] =
			(struct gt_field){ gt_writer_string(n->w, "domain"), GT_F_STR, GT_R_NONE };
	if (key->shape & HAS_CATEGORY)
		f[t.nfields++] = (struct gt_field){ gt_writer_string(n->w, "category"), GT_F_STR,
			GT_R_NONE };
	if (key->shape & HAS_COLOR)
		f[t.nfields++] =
			(struct gt_field){ gt_writer_string(n->w, "color"), GT_F_HEX, GT_R_NONE };
	if (payload)
		f[t.nfields++] = (struct gt_field){ gt_writer_string(n->w, "payload"),
			payload_kind(payload), GT_R_VALUE };
	if (key->shape & HAS_NCCL) {
		f[t.nfields++] = (struct gt_field){ gt_writer_string(n->w, "communicator"),
			GT_F_HEX, GT_R_NONE };
		f[t.nfields++] = (struct gt_field){ gt_writer_string(n->w, "message_bytes"),
			GT_F_U64, GT_R_NONE };
	}
	if (t.name == GT_NONE)
		t.name = gt_writer_string(n->w, "(no message)");
	key->group = nccl_group(gt_writer_text(n->w, t.name));
	key->type = n->n < TYPES_MAX && gt_writer_has_name_space(n->w) ? gt_writer_type(n->w, &t)
								       : GT_NONE;
	if (key->type == GT_NONE ||
		gt_map_add_item(&n->map, &n->types, &n->n, &n->cap, sizeof(*key), key, TYPE_KEY) ==
			GT_NONE)
		return GT_NONE;
	return key->type;
}

/* The type for the annotation e, and its arguments. GT_NONE: the table of types is full. */
static void set_type(struct gt_nvtx *n, const struct gt_nvtx_names *names,
	const struct gt_nvtx_event *e, struct gt_nvtx_open *o)
{
	struct gt_nvtx_type key = { .message = e->text,
		.domain = e->domain,
		.category = e->category,
		.color = e->color,
		.shape = shape_of(e) };
	uint32_t i;
	uint8_t k = 0;

	if (key.shape & HAS_DOMAIN)
		o->args[k++] = e->domain;
	if (key.shape & HAS_CATEGORY)
		o->args[k++] = category_name(n, names, e);
	if (key.shape & HAS_COLOR)
		o->args[k++] = e->color;
	if (e->payload_type)
		o->args[k++] = payload_value(e->payload_type, e->payload);
	if (key.shape & HAS_NCCL) {
		o->nccl = k + 1;
		o->args[k++] = e->communicator;
		o->args[k++] = e->message_bytes;
	}
	/* these are arguments; `shape` says which there are */
	key.domain = key.category = key.color = 0;
	i = gt_map_find_item(&n->map, n->types, sizeof(key), &key, TYPE_KEY);
	o->type = i == GT_NONE ? make_type(n, &key) : n->types[i].type;
	o->group = i == GT_NONE ? key.group : n->types[i].group;
}

/* ---- calls of NCCL ---- */

static void add_grouped(struct gt_nccl_calls *to, const uint64_t *args)
{
	to->communicator =
		!to->communicator || to->communicator == args[0] ? args[0] : GT_NCCL_SEVERAL;
	to->bytes += args[1];
}

static void begin_nccl(struct gt_nvtx_stack *s, const struct gt_nvtx_open *o)
{
	s->nccl += o->nccl != 0;
	s->groups += o->group == GT_NCCL_GROUP_START;
	s->group_ends += o->group == GT_NCCL_GROUP_END;
}

/* A call in a group launches its kernel when the group ends. */
static void end_nccl(struct gt_nvtx_stack *s, const struct gt_nvtx_open *o)
{
	s->nccl -= o->nccl != 0;
	if (o->nccl && s->groups && !o->launched)
		add_grouped(&s->grouped, o->args + o->nccl - 1);
	if (o->group != GT_NCCL_GROUP_END)
		return;
	s->group_ends--;
	s->groups -= s->groups != 0; /* the recording may have begun within the group */
	if (!s->groups || o->launched)
		s->grouped = (struct gt_nccl_calls){ 0, 0 };
}

static struct gt_nvtx_open *innermost(struct gt_nvtx_stack *s, bool call)
{
	size_t i = s->n;

	while (i && !(call ? s->open[i - 1].nccl : s->open[i - 1].group == GT_NCCL_GROUP_END))
		i--;
	return i ? &s->open[i - 1] : NULL;
}

struct gt_nccl_calls gt_nvtx_nccl_calls(struct gt_nvtx_stack *s)
{
	struct gt_nccl_calls found = { 0, 0 };
	struct gt_nvtx_open *o = s->nccl || s->group_ends ? innermost(s, s->nccl) : NULL;

	if (!o)
		return found;
	if (o->nccl) {
		found.communicator = o->args[o->nccl - 1];
		found.bytes = o->launched ? 0 : o->args[o->nccl];
	} else {
		found = s->grouped;
		s->grouped.bytes = 0;
	}
	o->launched = true;
	return found;
}

/* ---- PyTorch's sequence numbers ---- */

/* "aten::linear, seq = 5, op_id = 7", "autograd::engine::evaluate_function: MulBackward0, seq = 5"
 */
static void read_sequence(struct gt_nvtx_open *o, const char *message)
{
	static const char before[] = ", seq = ";
	const char *at = strstr(message, before), *number = at ? at + sizeof(before) - 1 : "";
	char *end;

	if (*number < '0' || *number > '9')
		return;
	o->sequence = strtoull(number, &end, 10);
	o->is_numbered = !*end || *end == ',';
	o->is_backward = !strncmp(message, "autograd::engine::", 18) ||
		memmem(message, (size_t)(at - message), "Backward", 8);
}

/* ---- ranges ---- */

static int put_row(struct gt_nvtx *n, enum gt_kind kind, const struct gt_nvtx_open *o, int64_t end,
	struct gt_err *err)
{
	const struct gt_type *t = gt_writer_type_get(n->w, o->type);
	struct gt_row row = { .start = o->start,
		.end = end,
		.type = o->type,
		.depth = (uint8_t)(o->depth < 255 ? o->depth : 255),
		.nargs = t ? t->nfields : 0 };

	return gt_writer_row(n->w, kind, o->track, &row, o->args, err);
}

/* There are too many names or open ranges. */
static int count_lost(struct gt_nvtx *n, const struct gt_nvtx_event *e, struct gt_err *err)
{
	n->nameless++;
	return gt_writer_loss(n->w, GT_SCOPE_TRACK, e->track, e->when, e->when, 1, err);
}

static int begin_range(struct gt_nvtx *n, struct gt_nvtx_stack *s,
	const struct gt_nvtx_names *names, const struct gt_nvtx_event *e, struct gt_err *err)
{
	struct gt_nvtx_open o = { .id = e->id,
		.domain = e->domain,
		.track = e->track,
		.text = e->text,
		.depth = e->id ? 0 : (uint32_t)s->n,
		.start = e->when };

	set_type(n, names, e, &o);
	if (!e->id && e->text != GT_NONE)
		read_sequence(&o, gt_writer_string_text(n->w, e->text));
	if (s->n == OPEN_MAX || n->open == OPEN_ALL)
		return o.type == GT_NONE ? count_lost(n, e, err)
					 : put_row(n, GT_UNMATCHED, &o, o.start, err);
	if (gt_grow(&s->open, &s->cap, s->n + 1, sizeof(*s->open)))
		return gt_err_set(err, -ENOMEM, "out of memory");
	s->open[s->n++] = o;
	begin_nccl(s, &o);
	s->numbered += o.is_numbered;
	n->open++;
	/* also without a type, so that its end finds it */
	return o.type == GT_NONE ? count_lost(n, e, err) : 0;
}

/* Ends the innermost range with this id and domain. */
static int end_range(struct gt_nvtx *n, struct gt_nvtx_stack *s, const struct gt_nvtx_event *e,
	struct gt_err *err)
{
	struct gt_nvtx_open o;
	size_t i = s->n;

	while (i && !(s->open[i - 1].id == e->id && s->open[i - 1].domain == e->domain))
		i--;
	if (!i) {
		n->unmatched++;
		return 0;
	}
	o = s->open[--i];
	memmove(&s->open[i], &s->open[i + 1], (--s->n - i) * sizeof(*s->open));
	n->open--;
	s->numbered -= o.is_numbered;
	end_nccl(s, &o);
	return o.type == GT_NONE
		? 0
		: put_row(n, GT_SPAN, &o, e->when < o.start ? o.start : e->when, err);
}

static int name_category(
	struct gt_nvtx_names *names, const struct gt_nvtx_event *e, struct gt_err *err)
{
	size_t i = 0;

	while (i < names->n &&
		!(names->items[i].category == e->id && names->items[i].domain == e->domain))
		i++;
	if (i == OPEN_MAX)
		return 0;
	if (gt_grow(&names->items, &names->cap, i + 1, sizeof(*names->items)))
		return gt_err_set(err, -ENOMEM, "out of memory");
	names->items[i] = (struct gt_nvtx_name){ (uint32_t)e->id, e->domain, e->text };
	names->n += i == names->n;
	return 0;
}

static int put_mark(struct gt_nvtx *n, const struct gt_nvtx_names *names,
	const struct gt_nvtx_event *e, struct gt_err *err)
{
	struct gt_nvtx_open o = { .track = e->track, .start = e->when };

	set_type(n, names, e, &o);
	return o.type == GT_NONE ? count_lost(n, e, err) : put_row(n, GT_INSTANT, &o, e->when, err);
}

int gt_nvtx_event(struct gt_nvtx *n, struct gt_nvtx_stack *thread, struct gt_nvtx_stack *process,
	struct gt_nvtx_names *names, const struct gt_nvtx_event *e, struct gt_err *err)
{
	switch (e->event) {
	case GT_EV_PUSH: return begin_range(n, thread, names, e, err);
	case GT_EV_POP: return end_range(n, thread, e, err);
	case GT_EV_RANGE_START: return begin_range(n, process, names, e, err);
	case GT_EV_RANGE_END: return end_range(n, process, e, err);
	case GT_EV_MARK: return put_mark(n, names, e, err);
	case GT_EV_NAME_CATEGORY: return name_category(names, e, err);
	default: return 0;
	}
}

int gt_nvtx_end(struct gt_nvtx *n, struct gt_nvtx_stack *s, struct gt_err *err)
{
	int code = 0;

	for (size_t i = 0; !code && i < s->n; i++)
		if (s->open[i].type != GT_NONE)
			code = put_row(n, GT_UNMATCHED, &s->open[i], s->open[i].start, err);
	n->open -= s->n;
	gt_nvtx_stack_release(s);
	return code;
}

void gt_nvtx_stack_release(struct gt_nvtx_stack *s)
{
	free(s->open);
	memset(s, 0, sizeof(*s));
}

void gt_nvtx_names_release(struct gt_nvtx_names *names)
{
	free(names->items);
	memset(names, 0, sizeof(*names));
}

void gt_nvtx_release(struct gt_nvtx *n)
{
	gt_map_release(&n->map);
	free(n->types);
}
