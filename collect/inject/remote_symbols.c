/* Reads the mappings of a process and the symbol tables of their files. The files are opened
 * through /proc/PID/root, as the process may have another root. */
#define _GNU_SOURCE
#include "collect/inject/remote_symbols.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "collect/ipc/process_maps.h"

/* ---- a library's file ---- */

struct file {
	const uint8_t *bytes;
	size_t size;
};

/* 0 or a negative errno. */
static int open_file(const char *path, struct file *f)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	void *p = MAP_FAILED;

	*f = (struct file){ NULL };
	if (fd < 0)
		return -errno;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size >= (off_t)sizeof(Elf64_Ehdr))
		p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	*f = (struct file){ p, p == MAP_FAILED ? 0 : (size_t)st.st_size };
	return p == MAP_FAILED ? -EINVAL : 0;
}

static void close_file(struct file *f) { munmap((void *)(uintptr_t)f->bytes, f->size); }

/* NULL: the part is not in the file. */
static const void *part(const struct file *f, uint64_t at, uint64_t size)
{
	return at <= f->size && size <= f->size - at && at % 8 == 0 ? f->bytes + at : NULL;
}

static const Elf64_Ehdr *header_of(const struct file *f)
{
	const Elf64_Ehdr *h = part(f, 0, sizeof(*h));

	return h && !memcmp(h->e_ident, ELFMAG, SELFMAG) && h->e_ident[EI_CLASS] == ELFCLASS64
		? h
		: NULL;
}

struct symbol_table {
	const Elf64_Sym *list;
	size_t n;
	const char *names;
	size_t names_size;
};

static bool find_table(const struct file *f, struct symbol_table *t)
{
	const Elf64_Ehdr *h = header_of(f);
	const Elf64_Shdr *s =
		h ? part(f, h->e_shoff, (uint64_t)h->e_shnum * sizeof(Elf64_Shdr)) : NULL;
	const Elf64_Shdr *names;

	for (unsigned i = 0; s && i < h->e_shnum; i++) {
		if (s[i].sh_type != SHT_DYNSYM || s[i].sh_link >= h->e_shnum)
			continue;
		names = &s[s[i].sh_link];
		if (names->sh_offset > f->size || names->sh_size > f->size - names->sh_offset ||
			!names->sh_size || f->bytes[names->sh_offset + names->sh_size - 1])
			return false;
		*t = (struct symbol_table){ part(f, s[i].sh_offset, s[i].sh_size),
			s[i].sh_size / sizeof(Elf64_Sym), (const char *)f->bytes + names->sh_offset,
			names->sh_size };
		return t->list;
	}
	return false;
}

/* NULL: the library does not define this function. */
static const Elf64_Sym *find_symbol(const struct symbol_table *t, const char *name)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->list[i].st_shndx != SHN_UNDEF && t->list[i].st_name < t->names_size &&
			ELF64_ST_TYPE(t->list[i].st_info) == STT_FUNC &&
			!strcmp(t->names + t->list[i].st_name, name))
			return &t->list[i];
	return NULL;
}

/* The address in the process at which address 0 of the file lies. `at`: the address of the byte
 * `offset` of the file. */
static uint64_t bias(const struct file *f, uint64_t at, uint64_t offset)
{
	const Elf64_Ehdr *h = header_of(f);
	const Elf64_Phdr *p =
		h ? part(f, h->e_phoff, (uint64_t)h->e_phnum * sizeof(Elf64_Phdr)) : NULL;
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	for (unsigned i = 0; p && i < h->e_phnum; i++)
		if (p[i].p_type == PT_LOAD && p[i].p_flags & PF_X &&
			offset >= (p[i].p_offset & ~(page - 1)) &&
			offset < p[i].p_offset + p[i].p_filesz)
			return at - offset + p[i].p_offset - p[i].p_vaddr;
	return at - offset;
}

/* ---- functions of the C library, the loader and allocators ---- */

static void add_unsafe(struct gt_remote_symbols *s, uint64_t from, uint64_t to)
{
	if (s->nunsafe < GT_REMOTE_RANGES_MAX && from < to)
		s->unsafe[s->nunsafe++] = (struct gt_remote_range){ from, to };
}

/* The allocator of the C library is one object file, so its functions are one range of code. */
static void add_allocator(struct gt_remote_symbols *s, const struct symbol_table *t, uint64_t base)
{
	static const char *const names[] = { "malloc", "free", "calloc", "realloc", "memalign",
		"valloc", "pvalloc", "malloc_trim", "malloc_usable_size", "mallopt", "malloc_info",
		"mallinfo", "posix_memalign", "aligned_alloc" };
	uint64_t from = UINT64_MAX, to = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const Elf64_Sym *y = find_symbol(t, names[i]);

		if (!y)
			continue;
		from = y->st_value < from ? y->st_value : from;
		to = y->st_value + y->st_size > to ? y->st_value + y->st_size : to;
	}
	add_unsafe(s, base + from, base + to);
}

/* Before glibc 2.34 libdl had dlopen, which only programs have that link it. libc's own function
 * did the same. */
static void add_functions(struct gt_remote_symbols *s, const struct symbol_table *t, uint64_t base)
{
	const struct {
		const char *name;
		uint64_t *to;
	} rows[] = { { "dlopen", &s->dlopen }, { "dlsym", &s->dlsym }, { "dlerror", &s->dlerror },
		{ "__errno_location", &s->errno_location }, { "memfd_create", &s->memfd_create },
		{ "socketpair", &s->socketpair }, { "close", &s->close },
		{ "__libc_dlopen_mode", &s->dlopen }, { "__libc_dlsym", &s->dlsym } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const Elf64_Sym *y = *rows[i].to ? NULL : find_symbol(t, rows[i].name);

		if (y)
			*rows[i].to = base + y->st_value;
	}
}

static void read_library(struct gt_remote_symbols *s, pid_t pid, const char *name, uint64_t at,
	uint64_t offset, bool is_libc)
{
	char path[PATH_MAX + 32];
	struct symbol_table t;
	struct file f;
	uint64_t base;
	int rc;

	snprintf(path, sizeof(path), "/proc/%d/root%s", (int)pid, name);
	rc = open_file(path, &f);
	s->is_forbidden |= rc == -EACCES || rc == -EPERM;
	if (rc)
		return;
	if (find_table(&f, &t)) {
		base = bias(&f, at, offset);
		add_functions(s, &t, base);
		if (is_libc)
			add_allocator(s, &t, base);
	}
	close_file(&f);
}

static bool is_any(const char *file, const char *const *prefixes)
{
	for (; *prefixes; prefixes++)
		if (!strncmp(file, *prefixes, strlen(*prefixes)))
			return true;
	return false;
}

struct search {
	pid_t pid;
	struct gt_remote_symbols *symbols;
};

static int read_mapping(void *arg, const struct gt_mapping *m, struct gt_err *err)
{
	static const char *const loaders[] = { "ld-linux", "ld-2.", "ld64.so", NULL };
	static const char *const allocators[] = { "libjemalloc", "libtcmalloc", "libmimalloc",
		NULL };
	static const char *const libc[] = { "libc.so", "libc-2.", NULL };
	static const char *const libdl[] = { "libdl.so", "libdl-2.", NULL };
	const struct search *search = arg;
	struct gt_remote_symbols *s = search->symbols;
	const char *file = strrchr(m->name, '/');

	if (!file)
		return 0;
	file++;
	s->has_library |= strstr(file, "libgtpreload.so") != NULL;
	s->has_driver |= !strncmp(file, "libcuda.so", 10);
	s->is_musl |= !strncmp(file, "ld-musl", 7);
	if (is_any(file, loaders) && m->flags[1] == 'w')
		s->loader_data = (struct gt_remote_range){ m->from, m->to };
	if (m->flags[2] != 'x')
		return 0;
	if (is_any(file, loaders) || is_any(file, allocators))
		add_unsafe(s, m->from, m->to);
	else if (is_any(file, libc) || is_any(file, libdl))
		read_library(s, search->pid, m->name, m->from, m->offset, is_any(file, libc));
	return 0;
}

int gt_remote_symbols_read(pid_t pid, struct gt_remote_symbols *s, struct gt_err *err)
{
	struct search search = { pid, s };

	*s = (struct gt_remote_symbols){ 0 };
	return gt_mappings_each(pid, read_mapping, &search, err);
}

bool gt_remote_is_unsafe(const struct gt_remote_symbols *s, uint64_t address)
{
	for (unsigned i = 0; i < s->nunsafe; i++)
		if (address >= s->unsafe[i].from && address < s->unsafe[i].to)
			return true;
	return false;
}
