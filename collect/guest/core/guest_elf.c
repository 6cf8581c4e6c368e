/* Symbols of the loaded libraries.
 *
 * dlsym cannot be used: the guest library replaces it, it may call malloc (possibly the program's
 * own, not yet initialized), and a failed lookup leaves a message that the program would find in
 * dlerror. So this file reads the tables that the loader reads: each library's dynamic section,
 * symbol table and hash. guest_objects.c lists the libraries in load order. */
#define _GNU_SOURCE
#include "collect/guest/core/guest_elf.h"

#include <elf.h>
#include <link.h>
#include "collect/guest/core/guest_objects.h"
#include "collect/guest/core/guest_session.h"
#include "collect/ipc/cupti_paths.h"

/* glibc has relocated the addresses in a dynamic section, except in the vdso. Some other loaders
 * leave them unrelocated. */
static const void *relocated(const struct gt_object *o, ElfW(Addr) value)
{
	return (const void *)(value < o->base ? o->base + value : value);
}

static bool read_dynamic(struct gt_object *o)
{
	const ElfW(Dyn) *d = o->dynamic;
	ElfW(Xword) soname = 0;

	if (!d)
		return false;
	for (; d->d_tag != DT_NULL; d++)
		switch (d->d_tag) {
		case DT_SYMTAB: o->symbols = relocated(o, d->d_un.d_ptr); break;
		case DT_STRTAB: o->strings = relocated(o, d->d_un.d_ptr); break;
		case DT_GNU_HASH: o->gnu_hash = relocated(o, d->d_un.d_ptr); break;
		case DT_HASH: o->hash = relocated(o, d->d_un.d_ptr); break;
		case DT_VERSYM: o->versions = relocated(o, d->d_un.d_ptr); break;
		case DT_SONAME: soname = d->d_un.d_val; break;
		}
	o->soname = soname && o->strings ? o->strings + soname : "";
	return o->symbols && o->strings;
}

static bool read_object(const struct dl_phdr_info *info, struct gt_object *o)
{
	*o = (struct gt_object){ .base = info->dlpi_addr,
		.path = info->dlpi_name ? info->dlpi_name : "",
		.low = UINTPTR_MAX };
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t from = o->base + p->p_vaddr;

		if (p->p_type == PT_DYNAMIC)
			o->dynamic = (const void *)from;
		if (p->p_type != PT_LOAD)
			continue;
		o->low = from < o->low ? from : o->low;
		o->high = from + p->p_memsz > o->high ? from + p->p_memsz : o->high;
	}
	return read_dynamic(o);
}

/* ---- symbols ---- */

/* Returns symbol i if it is a usable definition of `name`. A hidden version, which exists for old
 * programs only, goes to *hidden: it is used if there is no other. */
static const ElfW(Sym) *
	definition(
		const struct gt_object *o, uint32_t i, const char *name, const ElfW(Sym) * *hidden)
{
	const ElfW(Sym) *s = (const ElfW(Sym) *)o->symbols + i;
	unsigned type = s->st_info & 15, bind = s->st_info >> 4;

	if (s->st_shndx == SHN_UNDEF || !s->st_value || type > STT_FUNC ||
		(bind != STB_GLOBAL && bind != STB_WEAK))
		return NULL;
	if (strcmp(o->strings + s->st_name, name))
		return NULL;
	if (!o->versions || !(((const uint16_t *)o->versions)[i] & 0x8000))
		return s;
	*hidden = s;
	return NULL;
}

static const ElfW(Sym) * find_gnu(const struct gt_object *o, const char *name)
{
	uint32_t nbuckets = o->gnu_hash[0], first = o->gnu_hash[1], nmasks = o->gnu_hash[2],
		 shift = o->gnu_hash[3], h = 5381, i;
	const ElfW(Addr) *masks = (const ElfW(Addr) *)(o->gnu_hash + 4);
	const uint32_t *buckets = (const uint32_t *)(masks + nmasks), *chain = buckets + nbuckets;
	const unsigned bits = 8 * sizeof(ElfW(Addr));
	const ElfW(Sym) *hidden = NULL, *found;
	ElfW(Addr) mask;

	for (const char *c = name; *c; c++)
		h = h * 33 + (uint8_t)*c;
	if (!nbuckets || !nmasks)
		return NULL;
	mask = masks[h / bits % nmasks];
	if (!(mask >> h % bits & mask >> (h >> shift) % bits & 1))
		return NULL;
	i = buckets[h % nbuckets];
	if (i < first)
		return NULL;
	for (;; i++) {
		uint32_t there = chain[i - first];

		if ((there | 1) == (h | 1) && (found = definition(o, i, name, &hidden)))
			return found;
		if (there & 1)
			return hidden;
	}
}

static const ElfW(Sym) * find_sysv(const struct gt_object *o, const char *name)
{
	uint32_t nbuckets = o->hash[0], h = 0, top;
	const ElfW(Sym) *hidden = NULL, *found;

	for (const char *c = name; *c; c++) {
		h = (h << 4) + (uint8_t)*c;
		top = h & 0xf0000000;
		h = (h ^ top >> 24) & ~top;
	}
	for (uint32_t i = nbuckets ? o->hash[2 + h % nbuckets] : 0; i;
		i = o->hash[2 + nbuckets + i])
		if ((found = definition(o, i, name, &hidden)))
			return found;
	return hidden;
}

void *gt_object_range(const struct gt_object *o, const char *name, size_t *bytes)
{
	const ElfW(Sym) *s = o->gnu_hash ? find_gnu(o, name) : o->hash ? find_sysv(o, name) : NULL;

	*bytes = s ? s->st_size : 0;
	return s ? (void *)(o->base + s->st_value) : NULL;
}

void *gt_object_symbol(const struct gt_object *o, const char *name)
{
	size_t bytes;

	return gt_object_range(o, name, &bytes);
}

/* ---- libraries ---- */

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool gt_object_has_name(const struct gt_object *o, const char *prefix)
{
	size_t n = strlen(prefix);

	return !strncmp(o->soname, prefix, n) || !strncmp(file_name(o->path), prefix, n);
}

struct search {
	uintptr_t address; /* searched: the library that contains this address */
	/* searched: a symbol (NULL: any) in a library with a prefix (NULL: after the guest) */
	const char *name, *prefix;
	const char *soname; /* searched: the library with this soname or file name */
	bool after_guest;
	void *found;
	struct gt_object object;
};

static int match_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct search *s = arg;
	struct gt_object o;

	if (!read_object(info, &o))
		return 0;
	o.after_guest = s->after_guest;
	s->after_guest |= (uintptr_t)&gt_api[0] >= o.low && (uintptr_t)&gt_api[0] < o.high;
	if (s->address || s->soname) {
		if (s->address ? s->address < o.low || s->address >= o.high
			       : strcmp(o.soname, s->soname) &&
					strcmp(file_name(o.path), s->soname))
			return 0;
		s->object = o;
		s->found = (void *)o.base;
		return 1;
	}
	if (s->prefix ? gt_object_has_name(&o, s->prefix) : o.after_guest)
		s->found = s->name ? gt_object_symbol(&o, s->name) : (void *)o.base;
	s->object = o;
	return !!s->found;
}

bool gt_object_at(const void *address, struct gt_object *o)
{
	struct search s = { .address = (uintptr_t)address };

	if (!address || !gt_for_each_object(match_object, &s))
		return false;
	*o = s.object;
	return true;
}

void *gt_find_next_definition(const char *name, struct gt_object *o)
{
	struct search s = { .name = name };

	gt_for_each_object(match_object, &s);
	if (o)
		*o = s.object;
	return s.found;
}

static void *replaced[GT_REPLACED];

void gt_replaced_find(void)
{
	static const char *const names[GT_REPLACED] = { "ioctl", "open", "open64", "openat",
		"openat64", "close", "mmap", "mmap64", "execve", "execv", "execvp", "execvpe",
		"fexecve", "execveat", "abort", "__assert_fail", "dlclose", "pthread_create",
		"sigaction", "signal", "prctl", "sigtimedwait", "signalfd" };

	for (unsigned i = 0; i < GT_REPLACED; i++)
		__atomic_store_n(
			&replaced[i], gt_find_next_definition(names[i], NULL), __ATOMIC_RELEASE);
}

/* Another library's constructor may call before the guest library's constructor has run. */
void *gt_replaced_function(enum gt_replaced which)
{
	int saved = errno;

	if (gt_unlikely(!__atomic_load_n(&replaced[which], __ATOMIC_ACQUIRE)))
		gt_replaced_find();
	errno = saved;
	return __atomic_load_n(&replaced[which], __ATOMIC_ACQUIRE);
}

void *gt_find_in_library(const char *library, const char *name)
{
	struct search s = { .name = name, .prefix = library };

	gt_for_each_object(match_object, &s);
	return s.found;
}

bool gt_find_functions(
	const char *library, const struct gt_function_row *rows, size_t n, void *table)
{
	for (size_t i = 0; i < n; i++) {
		void *found = gt_find_in_library(library, rows[i].name);

		if (!found && rows[i].must)
			return false;
		memcpy((uint8_t *)table + rows[i].at, &found, sizeof(found));
	}
	return true;
}

void *gt_find_libc_function(const char *name)
{
	/* the last two before glibc 2.34 */
	static const char *const libraries[] = { "libc.so", "libpthread.so", "libdl.so" };
	void *found = gt_find_next_definition(name, NULL);

	for (size_t i = 0; !found && i < sizeof(libraries) / sizeof(*libraries); i++)
		found = gt_find_in_library(libraries[i], name);
	return found;
}

/* Loads `name` from the folder of another library, or from where NVIDIA's packages put CUPTI
 * relative to that folder. */
static void *load_near(void *(*load)(const char *, int), const char *other, const char *name)
{
	static const char *const ways[] = { NULL, "../../cuda_cupti/lib", "../extras/CUPTI/lib64" };
	char folder[4096], path[4096];
	void *loaded = NULL;
	const char *end = strrchr(other, '/');
	size_t n = end ? (size_t)(end - other) : 0;

	if (!n || n >= sizeof(folder))
		return NULL;
	memcpy(folder, other, n);
	folder[n] = '\0';
	for (size_t i = 0; !loaded && i < sizeof(ways) / sizeof(*ways); i++)
		if (gt_join_path(path, sizeof(path), folder, ways[i], name))
			loaded = load(path, RTLD_NOW);
	return loaded;
}

void *gt_load_cuda_library(void *(*load)(const char *, int), const char *name)
{
	static const char *const others[] = { "libcudart.so", "libnvrtc.so", "libcublas.so" };
	void *loaded = NULL;
	char path[4096];
	int more = 1;

	for (size_t i = 0; !loaded && i < sizeof(others) / sizeof(*others); i++) {
		struct search s = { .prefix = others[i] };

		if (gt_for_each_object(match_object, &s))
			loaded = load_near(load, s.object.path, name);
	}
	for (unsigned i = 0;
		!loaded && (more = gt_cupti_candidate(i, gt_environment, name, path, sizeof(path)));
		i++)
		if (more > 0)
			loaded = load(path, RTLD_NOW);
	return loaded;
}

static struct gt_object own = { .path = "" }; /* the guest library */

void gt_own_object_find(void) { gt_object_at(&gt_api[0], &own); }

const struct gt_object *gt_own_object(void)
{
	if (!own.high)
		gt_own_object_find();
	return &own;
}

bool gt_is_guest_code(const void *address)
{
	const struct gt_object *o = gt_own_object();

	return (uintptr_t)address >= o->low && (uintptr_t)address < o->high;
}

bool gt_is_driver_code(const void *address)
{
	static const char *const names[] = { "libcuda.so", "libcudadebugger.so", "libcupti.so",
		"libnvperf_" };
	struct gt_object o;

	if (!gt_object_at(address, &o))
		return false;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (gt_object_has_name(&o, names[i]))
			return true;
	return false;
}

static bool needs(const struct gt_object *o, const char *prefix, unsigned depth, unsigned *budget)
{
	for (const ElfW(Dyn) *d = o->dynamic; d->d_tag != DT_NULL; d++) {
		struct search s = { .soname = o->strings + d->d_un.d_val };

		if (d->d_tag != DT_NEEDED)
			continue;
		if (!strncmp(s.soname, prefix, strlen(prefix)))
			return true;
		if (depth < 12 && *budget && --*budget && gt_for_each_object(match_object, &s) &&
			needs(&s.object, prefix, depth + 1, budget))
			return true;
	}
	return false;
}

bool gt_object_needs(const struct gt_object *o, const char *prefix)
{
	unsigned budget = 2000; /* lookups of libraries; some are looked up several times */

	return needs(o, prefix, 0, &budget);
}
