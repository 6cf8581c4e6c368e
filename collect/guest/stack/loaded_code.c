#define _GNU_SOURCE
#include "collect/guest/stack/loaded_code.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include "collect/guest/core/guest_objects.h"
#include "collect/guest/core/guest_system.h"

#define RANGES 8192

#ifdef __x86_64__
#define REGISTERS GT_CFI_X86_64
#else
#define REGISTERS GT_CFI_AARCH64
#endif

/* A segment of code. */
struct range {
	uintptr_t low, high;
	uint32_t loaded; /* index of its library */
};
/* A library of the list. Its pointers are valid while no library can be unloaded. */
struct loaded {
	uintptr_t base, low, high;
	const char *path;
	const ElfW(Phdr) * segments;
	uint32_t nsegments, number; /* number 0: none yet */
};

/* The kernel clears it in a forked child. */
static struct code_state {
	uint64_t adds,
		subs;  /* counts of libraries ever loaded and closed, when the list was made */
	bool is_known; /* the list is complete */
	uint32_t nloaded, nranges, nobjects;
	struct loaded loaded[GT_CODE_OBJECTS];
	struct range ranges[RANGES]; /* sorted */
	struct gt_code_object objects[GT_CODE_OBJECTS];
} * state;

bool gt_code_open(void)
{
	struct code_state *old = NULL, *new;

	if (__atomic_load_n(&state, __ATOMIC_ACQUIRE))
		return true;
	new = gt_map_of_process(sizeof(*new));
	/* if two threads are here, one of the two mappings is never used */
	if (new)
		__atomic_compare_exchange_n(
			&state, &old, new, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
	return new;
}

const struct gt_code_object *gt_code_object(uint32_t number)
{
	const struct code_state *s = __atomic_load_n(&state, __ATOMIC_ACQUIRE);

	return s && number && number <= __atomic_load_n(&s->nobjects, __ATOMIC_ACQUIRE)
		? &s->objects[number]
		: NULL;
}

/* ---- the list ---- */

static void add_range(uintptr_t low, uintptr_t high, uint32_t loaded)
{
	uint32_t i = state->nranges;

	if (i == RANGES || low >= high)
		return;
	for (; i && state->ranges[i - 1].low > low; i--)
		state->ranges[i] = state->ranges[i - 1];
	state->ranges[i] = (struct range){ low, high, loaded };
	state->nranges++;
}

static void add_library(const struct dl_phdr_info *info)
{
	struct loaded *l = &state->loaded[state->nloaded];

	if (state->nloaded == GT_CODE_OBJECTS)
		return;
	*l = (struct loaded){ .base = info->dlpi_addr,
		.low = UINTPTR_MAX,
		.path = info->dlpi_name ? info->dlpi_name : "",
		.segments = info->dlpi_phdr,
		.nsegments = info->dlpi_phnum };
	for (uint32_t i = 0; i < l->nsegments; i++) {
		const ElfW(Phdr) *p = &l->segments[i];
		uintptr_t from = l->base + p->p_vaddr, to = from + p->p_memsz;

		if (p->p_type != PT_LOAD)
			continue;
		l->low = from < l->low ? from : l->low;
		l->high = to > l->high ? to : l->high;
		if (p->p_flags & PF_X)
			add_range(from, to, state->nloaded);
	}
	state->nloaded++;
}

struct visit {
	void (*work)(void *arg);
	void *arg;
	bool has_begun, is_impossible, *closed;
};

/* At the first library: is the list up to date? Then the work is done here, because the loader
 * changes nothing before this function returns. */
static int visit_library(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct visit *v = arg;

	if (size < offsetof(struct dl_phdr_info, dlpi_subs) + sizeof(info->dlpi_subs))
		return v->is_impossible = true;
	if (!v->has_begun) {
		v->has_begun = true;
		*v->closed |= info->dlpi_subs != state->subs;
		if (state->is_known && state->adds == info->dlpi_adds &&
			state->subs == info->dlpi_subs) {
			v->work(v->arg);
			return 1;
		}
		state->is_known = false;
		state->adds = info->dlpi_adds;
		state->subs = info->dlpi_subs;
		state->nloaded = state->nranges = 0;
	}
	add_library(info);
	return 0;
}

bool gt_with_loaded_code(void (*work)(void *arg), void *arg, bool *closed)
{
	*closed = false;
	for (unsigned tries = 0; tries < 20; tries++) {
		struct visit v = { .work = work, .arg = arg, .closed = closed };

		/* In a forked child the loader's lock may stay locked for ever. Then this thread
		 * waits for ever, and no other one does for that. */
		if (dl_iterate_phdr(visit_library, &v))
			return !v.is_impossible;
		state->is_known = true;
	}
	return false;
}

struct list_key {
	uint64_t sum; /* of addresses: a forked child has no counts of libraries */
	uint64_t subs;
};

static int add_to_key(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct list_key *k = arg;

	(void)size;
	k->sum = (k->sum ^ info->dlpi_addr) * 0x9e3779b97f4a7c15ull;
	k->subs = info->dlpi_subs;
	return 0;
}

static int visit_alone(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size, (void)arg;
	add_library(info);
	return 0;
}

bool gt_with_loaded_code_alone(void (*work)(void *arg), void *arg, bool *closed)
{
	struct list_key key = { 1, 0 };

	*closed = false;
	if (!gt_loader_is_idle())
		return false;
	gt_for_each_object(add_to_key, &key);
	*closed = key.subs != state->subs;
	if (!state->is_known || state->adds != key.sum || *closed) {
		state->adds = key.sum;
		state->subs = key.subs;
		state->nloaded = state->nranges = 0;
		gt_for_each_object(visit_alone, NULL);
		state->is_known = true;
	}
	work(arg);
	return true;
}

static int count_closed(struct dl_phdr_info *info, size_t size, void *n)
{
	if (size < offsetof(struct dl_phdr_info, dlpi_subs) + sizeof(info->dlpi_subs))
		return 2;
	*(uint64_t *)n = info->dlpi_subs;
	return 1;
}

bool gt_closed_libraries(uint64_t *n)
{
	return !gt_is_forked() && dl_iterate_phdr(count_closed, n) == 1;
}

/* ---- numbers ---- */

/* Are all bytes of the segment loaded, and readable? */
static bool is_loaded(const struct loaded *l, const ElfW(Phdr) * s)
{
	for (uint32_t i = 0; i < l->nsegments; i++) {
		const ElfW(Phdr) *p = &l->segments[i];

		if (p->p_type == PT_LOAD && p->p_flags & PF_R && s->p_vaddr >= p->p_vaddr &&
			s->p_vaddr - p->p_vaddr <= p->p_filesz &&
			s->p_filesz <= p->p_filesz - (s->p_vaddr - p->p_vaddr))
			return true;
	}
	return false;
}

static void read_build_id(const struct loaded *l, struct gt_code_object *o)
{
	for (uint32_t i = 0; i < l->nsegments; i++) {
		const ElfW(Phdr) *p = &l->segments[i];
		const uint8_t *at = (const uint8_t *)(l->base + p->p_vaddr);
		uint64_t left = p->p_type == PT_NOTE && is_loaded(l, p) ? p->p_filesz : 0, name, n,
			 all;

		for (; left >= sizeof(ElfW(Nhdr)); at += all, left -= all) {
			const ElfW(Nhdr) *note = (const void *)at;

			name = ((uint64_t)note->n_namesz + 3) & ~3ULL;
			n = note->n_descsz;
			all = sizeof(*note) + name + ((n + 3) & ~3ULL);
			if (all > left)
				break;
			if (note->n_type != NT_GNU_BUILD_ID || note->n_namesz != 4 ||
				memcmp(note + 1, "GNU", 4))
				continue;
			o->nbuild_id = (uint8_t)(n < GT_CODE_ID_MAX ? n : GT_CODE_ID_MAX);
			memcpy(o->build_id, (const uint8_t *)(note + 1) + name, o->nbuild_id);
			return;
		}
	}
}

static void describe(const struct loaded *l, struct gt_code_object *o)
{
	long n;

	memset(o, 0, sizeof(*o));
	o->low = l->low;
	o->high = l->high;
	o->base = l->base;
	o->generation = state->subs;
	read_build_id(l, o);
	gt_append(o->path, o->path + sizeof(o->path), l->path);
	if (*l->path)
		return;
	n = syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", o->path, sizeof(o->path) - 1);
	o->path[n > 0 ? n : 0] = '\0';
}

/* Without a build id, a library that was loaded after another one was closed may be a new version
 * of the same file. */
static bool is_same(const struct gt_code_object *a, const struct gt_code_object *b)
{
	return a->low == b->low && a->high == b->high && a->base == b->base &&
		a->nbuild_id == b->nbuild_id && !memcmp(a->build_id, b->build_id, a->nbuild_id) &&
		(a->nbuild_id || a->generation == b->generation) && !strcmp(a->path, b->path);
}

static uint32_t number_of(struct loaded *l)
{
	struct gt_code_object *new = &state->objects[state->nobjects + 1];

	if (l->number)
		return l->number;
	if (state->nobjects == GT_CODE_OBJECTS - 1)
		return 0;
	describe(l, new);
	for (uint32_t i = 1; i <= state->nobjects && !l->number; i++)
		if (is_same(&state->objects[i], new))
			l->number = i;
	if (!l->number) {
		l->number = state->nobjects + 1;
		__atomic_store_n(&state->nobjects, l->number, __ATOMIC_RELEASE);
	}
	return l->number;
}

/* ---- lookup ---- */

static const struct range *range_at(uintptr_t address)
{
	uint32_t low = 0, high = state->nranges;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (state->ranges[middle].low <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && address < state->ranges[low - 1].high ? &state->ranges[low - 1] : NULL;
}

static struct gt_eh_image image_of(const struct loaded *l)
{
	const ElfW(Phdr) *header = NULL;
	struct gt_eh_image m = { .registers = REGISTERS };

	for (uint32_t i = 0; i < l->nsegments; i++)
		if (l->segments[i].p_type == PT_GNU_EH_FRAME)
			header = &l->segments[i];
	for (uint32_t i = 0; header && i < l->nsegments; i++) {
		const ElfW(Phdr) *p = &l->segments[i];

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_R) ||
			header->p_vaddr - p->p_vaddr >= p->p_filesz)
			continue;
		m.address = l->base + p->p_vaddr;
		m.bytes = (const uint8_t *)m.address;
		m.size = p->p_filesz;
		m.header = l->base + header->p_vaddr;
		m.header_size = header->p_memsz;
	}
	return m;
}

bool gt_code_at(uintptr_t address, struct gt_eh_image *image, uint32_t *number)
{
	const struct range *r = range_at(address);

	if (!r)
		return false;
	*image = image_of(&state->loaded[r->loaded]);
	*number = number_of(&state->loaded[r->loaded]);
	return true;
}
