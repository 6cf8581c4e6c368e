/* NVTX's payload extension: ranges and marks with structures of the program, such as NCCL's. The
 * extension is code in the program and starts by itself: at its first use it calls
 * InitializeInjectionNvtxExtension with slots for functions, by number. A function without an
 * entry does nothing and returns 0, which is right for the parts that the guest leaves out:
 * deferred events and clocks of the program. A range may begin with attributes and end with a
 * payload (NCCL does that), so both kinds call the same functions.
 *
 * Of a payload only what follows is recorded, at offsets that a schema gives, which was registered
 * before. An annotation made by payload alone has its message, category and colour there. NCCL's
 * calls have the size of the message there, and in recent versions the communicator's id, in
 * entries that are found by their names. Only these offsets of a schema are stored; a schema
 * without any is not stored. Only bytes that are certainly inside the payload are read. */
#include "collect/guest/nvtx/guest_nvtx.h"

#include "collect/guest/core/guest_session.h"

#define TEXT_MAX 1024u
#define ENTRIES_MAX 4096u
#define CHAINS 64u
#define NOWHERE UINT64_MAX

enum shape { POINTER_TO_CHARS, POINTER_TO_WIDE, REGISTERED, CHARS_IN_PLACE };
struct schema_layout {
	struct schema_layout *next;
	const void *domain; /* for ids that the program has chosen */
	uint64_t id;
	/* offsets, or NOWHERE */
	uint64_t message, category, color, communicator, bytes;
	uint64_t length; /* maximum length of CHARS_IN_PLACE */
	enum shape shape;
};
static struct schema_layout *chains[CHAINS];

/* ---- ids ---- */

static uint64_t new_id(void)
{
	static uint64_t last;

	return GT_NVTX_OWN_IDS + __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
}

static struct schema_layout **chain_of(uint64_t id) { return &chains[(id ^ id >> 24) % CHAINS]; }

/* Returns the latest schema with that id. */
static const struct schema_layout *find_layout(const void *domain, uint64_t id)
{
	const struct schema_layout *k = __atomic_load_n(chain_of(id), __ATOMIC_ACQUIRE);

	while (k && (k->id != id || (id < GT_NVTX_OWN_IDS && k->domain != domain)))
		k = k->next;
	return k;
}

/* ---- schemas ---- */

/* Size of a value, which is also its alignment; 0: unknown, or a nested schema. */
/* clang-format off */
static const uint8_t size_of[GT_TYPES] = {
	[1] = 1, 1, 2, 2, 4, 4, 8, 8, 8, 8, [11] = 1, 1, 2, 2, 4, 4, 8, 8,
	[19] = 4, 8, 16, 8, 8, 4, 1, 2, 4, [32] = 1, 16, 16, [42] = 2, 4, 8, 16, [50] = 2, [52] = 4,
	[GT_TYPE_CATEGORY] = 4, 4, 8, 4, 8, 4, 8,
	[GT_TYPE_STRING] = 8, 8, 8, 8, [GT_TYPE_REGISTERED] = 8,
};
/* clang-format on */

static bool is_string(uint64_t type) { return type >= GT_TYPE_STRING && type <= GT_TYPE_UTF32; }

/* Size of an entry; its alignment in *align. 0: it is unknown or depends on the payload. */
static uint64_t entry_size(const struct gt_nvtx_entry *e, uint64_t *align)
{
	uint64_t array = e->flags & GT_ENTRY_ARRAY,
		 size = e->type < GT_TYPES ? size_of[e->type] : 0;

	if (e->flags & GT_ENTRY_POINTER)
		return *align = sizeof(void *);
	if (is_string(e->type) && (e->detail || array))
		size = e->type == GT_TYPE_UTF32 ? 4 : e->type == GT_TYPE_UTF16 ? 2 : 1;
	*align = size;
	if (!size || (array && array != GT_ENTRY_FIXED) || (e->flags & GT_ENTRY_ELSEWHERE) ||
		e->detail > UINT32_MAX)
		return 0;
	return array || (is_string(e->type) && e->detail) ? size * e->detail : size;
}

static void set_message(struct schema_layout *k, const struct gt_nvtx_entry *e, uint64_t at)
{
	uint64_t array = e->flags & GT_ENTRY_ARRAY;
	bool chars = e->type == GT_TYPE_STRING || e->type == GT_TYPE_UTF8,
	     pointer = e->flags & GT_ENTRY_POINTER;

	if (k->message != NOWHERE || (e->flags & GT_ENTRY_ELSEWHERE))
		return;
	if (e->type == GT_TYPE_REGISTERED && !array && !pointer)
		k->shape = REGISTERED;
	else if (chars && !e->detail && array == (pointer ? GT_ENTRY_TERMINATED : 0))
		k->shape = POINTER_TO_CHARS;
	else if (e->type == GT_TYPE_UTF32 && !e->detail &&
		array == (pointer ? GT_ENTRY_TERMINATED : 0))
		k->shape = POINTER_TO_WIDE;
	else if (chars && !pointer &&
		(e->detail ? !array || array == GT_ENTRY_FIXED : array == GT_ENTRY_TERMINATED))
		k->shape = CHARS_IN_PLACE;
	else
		return;
	k->length = e->detail ? e->detail : UINT64_MAX;
	k->message = at;
}

/* NCCL's entries are found by their names. */
static void read_nccl_entry(struct schema_layout *k, const struct gt_nvtx_entry *e, uint64_t at)
{
	if (!e->name || (e->type != GT_TYPE_UINT64 && e->type != GT_TYPE_SIZE))
		return;
	if (k->communicator == NOWHERE && !strcmp(e->name, "NCCL communicator ID"))
		k->communicator = at;
	else if (k->bytes == NOWHERE && !strcmp(e->name, "Message size [bytes]"))
		k->bytes = at;
}

/* at: offset of this entry. */
static void read_entry(struct schema_layout *k, const struct gt_nvtx_entry *e, uint64_t at)
{
	bool plain = !(e->flags & (GT_ENTRY_POINTER | GT_ENTRY_ELSEWHERE | GT_ENTRY_ARRAY));

	if (e->flags & GT_ENTRY_MESSAGE)
		set_message(k, e, at);
	if (plain && e->type == GT_TYPE_CATEGORY && k->category == NOWHERE)
		k->category = at;
	if (plain && e->type == GT_TYPE_COLOR && k->color == NOWHERE)
		k->color = at;
	if (plain)
		read_nccl_entry(k, e, at);
}

/* After an entry of unknown size an offset is known only if it is given explicitly. */
static void read_schema(struct schema_layout *k, const struct gt_nvtx_schema *s)
{
	uint64_t pack = s->mask & GT_SCHEMA_HAS_PACK ? s->pack : 0, at = 0, align, size;

	for (size_t i = 0; i < s->n && i < ENTRIES_MAX; i++) {
		size = entry_size(&s->entries[i], &align);
		if (pack && align > pack)
			align = pack;
		if (i && s->entries[i].offset)
			at = s->entries[i].offset <= UINT32_MAX ? s->entries[i].offset : NOWHERE;
		else if (at != NOWHERE && align)
			at = (at + align - 1) / align * align;
		if (at != NOWHERE)
			read_entry(k, &s->entries[i], at);
		at = size && at < UINT32_MAX ? at + size : NOWHERE;
	}
}

static uint64_t schema_register(const void *domain, const struct gt_nvtx_schema *s)
{
	const uint64_t needed = GT_SCHEMA_HAS_ENTRIES | GT_SCHEMA_HAS_N;
	struct schema_layout found = { .domain = domain,
		.message = NOWHERE,
		.category = NOWHERE,
		.color = NOWHERE,
		.communicator = NOWHERE,
		.bytes = NOWHERE },
			     *k, **chain;

	if (!s)
		return 0;
	found.id = s->mask & GT_SCHEMA_HAS_ID && s->id ? s->id : new_id();
	if ((s->mask & needed) == needed && s->entries &&
		(s->type == GT_SCHEMA_STATIC || s->type == GT_SCHEMA_DYNAMIC))
		read_schema(&found, s);
	if ((found.message & found.category & found.color & found.communicator & found.bytes) ==
			NOWHERE ||
		!(k = gt_nvtx_alloc(sizeof(*k))))
		return found.id;
	*k = found;
	chain = chain_of(k->id);
	k->next = __atomic_load_n(chain, __ATOMIC_ACQUIRE);
	while (!__atomic_compare_exchange_n(
		chain, &k->next, k, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		;
	return k->id;
}

/* ---- payloads ---- */

static bool is_inside(const struct gt_nvtx_payload *p, uint64_t at, uint64_t bytes)
{
	return at != NOWHERE && p->bytes && at <= p->size && bytes <= p->size - at;
}

static uint32_t word_at(const struct gt_nvtx_payload *p, uint64_t at)
{
	uint32_t w = 0;

	if (is_inside(p, at, sizeof(w)))
		memcpy(&w, (const char *)p->bytes + at, sizeof(w));
	return w;
}

static uint64_t long_at(const struct gt_nvtx_payload *p, uint64_t at)
{
	uint64_t w = 0;

	if (is_inside(p, at, sizeof(w)))
		memcpy(&w, (const char *)p->bytes + at, sizeof(w));
	return w;
}

/* A text of unknown length must be NUL-terminated. */
static void chars_in_place(struct gt_nvtx_attributes *a, const struct gt_nvtx_payload *p,
	uint64_t at, uint64_t most, char text[TEXT_MAX])
{
	const char *from = (const char *)p->bytes + at;
	uint64_t n;

	if (!is_inside(p, at, 1))
		return;
	n = p->size == SIZE_MAX || most < p->size - at ? most : p->size - at;
	n = strnlen(from, n < TEXT_MAX - 1 ? n : TEXT_MAX - 1);
	memcpy(text, from, n);
	text[n] = 0;
	a->message_type = GT_MESSAGE_CHAR;
	a->message = text;
}

static void take_message(struct gt_nvtx_attributes *a, const struct schema_layout *k,
	const struct gt_nvtx_payload *p, char text[TEXT_MAX])
{
	static const uint8_t types[] = { GT_MESSAGE_CHAR, GT_MESSAGE_WIDE, GT_MESSAGE_REGISTERED };

	if (k->shape == CHARS_IN_PLACE) {
		chars_in_place(a, p, k->message, k->length, text);
	} else if (is_inside(p, k->message, sizeof(a->message))) {
		a->message_type = types[k->shape];
		memcpy(&a->message, (const char *)p->bytes + k->message, sizeof(a->message));
	}
}

/* Reads the message, category and colour. A payload that is only a string is the message if no
 * schema has one. */
static void read_payloads(struct gt_nvtx_attributes *a, const void *domain,
	const struct gt_nvtx_payload *p, size_t n, char text[TEXT_MAX])
{
	const struct gt_nvtx_payload *string = NULL;
	const struct schema_layout *k;

	for (size_t i = 0; p && i < n && i < ENTRIES_MAX; i++) {
		if (!string && (p[i].schema == GT_TYPE_STRING || p[i].schema == GT_TYPE_UTF8))
			string = &p[i];
		if (p[i].schema < GT_TYPES || !(k = find_layout(domain, p[i].schema)))
			continue;
		if (!a->message_type && k->message != NOWHERE)
			take_message(a, k, &p[i], text);
		if (!a->category)
			a->category = word_at(&p[i], k->category);
		if (!a->color_type && is_inside(&p[i], k->color, sizeof(uint32_t))) {
			a->color_type = GT_COLOR_ARGB;
			a->color = word_at(&p[i], k->color);
		}
	}
	if (!a->message_type && string)
		chars_in_place(a, string, 0, UINT64_MAX, text);
}

struct gt_nvtx_collective gt_nvtx_read_collective(
	const struct gt_nvtx_handle *domain, const struct gt_nvtx_attributes *a)
{
	const struct gt_nvtx_payload *p = (const void *)(uintptr_t)a->payload;
	struct gt_nvtx_collective found = { 0, 0 };
	const struct schema_layout *k;

	if (a->payload_type != GT_PAYLOAD_EXTENDED)
		return found;
	for (int32_t i = 0; p && i < a->npayloads && i < (int32_t)ENTRIES_MAX; i++) {
		if (p[i].schema < GT_TYPES || !(k = find_layout(domain, p[i].schema)))
			continue;
		if (!found.communicator)
			found.communicator = long_at(&p[i], k->communicator);
		if (!found.bytes)
			found.bytes = long_at(&p[i], k->bytes);
	}
	return found;
}

/* ---- functions for the extension ---- */

#define PAYLOADS const struct gt_nvtx_payload *p, size_t n

static struct gt_nvtx_attributes of_payloads(PAYLOADS)
{
	return (struct gt_nvtx_attributes){ .payload_type = GT_PAYLOAD_EXTENDED,
		.npayloads = (int32_t)(n < ENTRIES_MAX ? n : ENTRIES_MAX),
		.payload = (uintptr_t)p };
}

static int push(const struct gt_nvtx_handle *domain, PAYLOADS)
{
	struct gt_nvtx_attributes a = of_payloads(p, n);
	char text[TEXT_MAX];

	read_payloads(&a, domain, p, n, text);
	return gt_nvtx_push(domain, &a);
}

static uint64_t start(const struct gt_nvtx_handle *domain, PAYLOADS)
{
	struct gt_nvtx_attributes a = of_payloads(p, n);
	char text[TEXT_MAX];

	read_payloads(&a, domain, p, n, text);
	return gt_nvtx_range_start(domain, &a);
}

static void mark(const struct gt_nvtx_handle *domain, PAYLOADS)
{
	struct gt_nvtx_attributes a = of_payloads(p, n);
	char text[TEXT_MAX];

	read_payloads(&a, domain, p, n, text);
	gt_nvtx_mark(domain, &a);
}

static int pop(const struct gt_nvtx_handle *domain, PAYLOADS)
{
	return (void)p, (void)n, gt_nvtx_pop(domain);
}
static void end(const struct gt_nvtx_handle *domain, uint64_t id, PAYLOADS)
{
	(void)p, (void)n, gt_nvtx_range_end(domain, id);
}
static uint8_t enabled(const void *domain) { return (void)domain, 1; }

/* Returns the given id, or a new one for 0. */
static uint64_t id_or_new(uint64_t id) { return id ? id : new_id(); }
static uint64_t enum_register(const void *domain, const struct gt_nvtx_enum *e)
{
	return (void)domain, e ? id_or_new(e->mask & GT_ENUM_HAS_ID ? e->id : 0) : 0;
}
static uint64_t scope_register(const void *domain, const struct gt_nvtx_scope *s)
{
	return (void)domain, s ? id_or_new(s->size >= sizeof(*s) ? s->id : 0) : 0;
}
static uint64_t time_register(const void *domain, const struct gt_nvtx_time *t)
{
	return (void)domain, t ? id_or_new(t->id) : 0;
}
static int64_t timestamp(void) { return (int64_t)gt_monotonic(); }

/* ---- injection ---- */

static const struct {
	uint8_t slot;
	void *function;
} extension_functions[] = {
	{ GT_SLOT_SCHEMA, (void *)schema_register },
	{ GT_SLOT_ENUM, (void *)enum_register },
	{ GT_SLOT_MARK, (void *)mark },
	{ GT_SLOT_PUSH, (void *)push },
	{ GT_SLOT_POP, (void *)pop },
	{ GT_SLOT_START, (void *)start },
	{ GT_SLOT_END, (void *)end },
	{ GT_SLOT_ENABLED, (void *)enabled },
	{ GT_SLOT_TIMESTAMP, (void *)timestamp },
	{ GT_SLOT_TIME_DOMAIN, (void *)time_register },
	{ GT_SLOT_SCOPE, (void *)scope_register },
};

/* Returns 0 for another extension or version; its functions then do nothing. */
GT_EXPORT int InitializeInjectionNvtxExtension(const struct gt_nvtx_module *m);
GT_EXPORT int InitializeInjectionNvtxExtension(const struct gt_nvtx_module *m)
{
	if (gt_passive || !m || m->size < sizeof(*m) || m->id != GT_NVTX_PAYLOAD_MODULE ||
		m->compatible >> 8 != GT_NVTX_PAYLOAD_VERSION)
		return 0;
	if (!m->nsegments || !m->segments || !m->segments->slots)
		return 0;
	for (size_t i = 0; i < sizeof(extension_functions) / sizeof(*extension_functions); i++)
		/* earlier versions have fewer */
		if (extension_functions[i].slot < m->segments->n)
			m->segments->slots[extension_functions[i].slot] =
				(intptr_t)extension_functions[i].function;
	return 1;
}
