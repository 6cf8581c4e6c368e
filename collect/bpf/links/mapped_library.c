#define _GNU_SOURCE
#include "collect/bpf/links/mapped_library.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include "formats/symbols/elf_file.h"
#include "collect/ipc/process_maps.h"
#include "collect/ipc/process_status.h"
#include "formats/base/buf.h"

#define MEMORY_FILE "memfd:"

/* ---- libraries of a process ---- */

/* A file in memory (memfd_create) has the name that it was given, after "/memfd:". */
bool gt_mapped_file_has_prefix(const char *name, const char *prefix)
{
	const char *base = strrchr(name, '/');

	base = base ? base + 1 : name;
	if (!strncmp(base, MEMORY_FILE, strlen(MEMORY_FILE)))
		base += strlen(MEMORY_FILE);
	return !strncmp(base, prefix, strlen(prefix));
}

/* Is it the file of the mapping? The device that /proc/PID/maps shows is not that of stat() for
 * files of btrfs, and before Linux 6.8 of overlay mounts. So another device counts only if the
 * link of the mapping shows it, which more rights are needed for. */
static bool is_mapped_file(const struct stat *st, const struct gt_mapped_library *l)
{
	struct stat mapped;

	if (!S_ISREG(st->st_mode) || st->st_ino != l->inode)
		return false;
	return st->st_dev == l->device || stat(l->link, &mapped) ||
		(mapped.st_dev == st->st_dev && mapped.st_ino == st->st_ino);
}

static bool is_file(const char *path, const struct gt_mapped_library *l)
{
	struct stat st;

	return !stat(path, &st) && is_mapped_file(&st, l);
}

/* The descriptor of the process that is this file; false: it has none. */
static bool find_descriptor(pid_t pid, struct gt_mapped_library *l)
{
	char folder[32];
	struct dirent *e;
	bool found = false;
	DIR *all;

	snprintf(folder, sizeof(folder), "/proc/%d/fd", (int)pid);
	all = opendir(folder);
	while (all && !found && (e = readdir(all))) {
		snprintf(l->path, sizeof(l->path), "%s/%s", folder, e->d_name);
		found = is_file(l->path, l);
	}
	if (all)
		closedir(all);
	return found;
}

/* The path of the mapping in the process's own root, if it is still that file; else the link of the
 * mapping itself, which needs more rights; else a descriptor of the process. */
static void set_path(pid_t pid, struct gt_mapped_library *l)
{
	bool is_closed;

	snprintf(l->path, sizeof(l->path), "/proc/%d/root%s", (int)pid, l->name);
	errno = 0;
	if (is_file(l->path, l))
		return;
	is_closed = errno == EACCES;
	if (!is_file(l->link, l) && (is_closed || find_descriptor(pid, l)))
		return; /* the error of a closed path names the missing right */
	snprintf(l->path, sizeof(l->path), "%s", l->link);
}

void gt_mapped_library_set(struct gt_mapped_library *l, pid_t pid, const struct gt_mapping *m)
{
	l->device = makedev(m->major, m->minor);
	l->inode = m->inode;
	snprintf(l->name, sizeof(l->name), "%.*s", (int)sizeof(l->name) - 1, m->name);
	snprintf(l->link, sizeof(l->link), "/proc/%d/map_files/%llx-%llx", (int)pid,
		(unsigned long long)m->from, (unsigned long long)m->to);
	set_path(pid, l);
}

/* A file with the path may be another one than that of the mapping, and no regular one: to open it
 * must not block. */
int gt_mapped_library_open(const struct gt_mapped_library *l, struct gt_err *err)
{
	int fd = open(l->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0 && (errno == EACCES || errno == EPERM))
		return strstr(l->path, "/map_files/")
			? gt_err_set(err, -EACCES,
				  "%s: only root or CAP_CHECKPOINT_RESTORE may read a file that a process maps and that has no path any more",
				  l->name)
			: gt_err_set(err, -EACCES, "%s of the process: %s", l->name,
				  gt_process_refusal());
	if (fd < 0)
		return gt_err_set(err, -errno, "%s: %s", l->name, strerror(errno));
	if (!fstat(fd, &st) && is_mapped_file(&st, l))
		return fd;
	close(fd);
	return gt_err_set(err, -ESTALE, "%s: %s", l->name, strerror(ESTALE));
}

struct search {
	pid_t pid;
	gt_mapped_file_wants *wants;
	const void *arg;
	struct gt_mapped_library *list;
	size_t max;
	int n;
};

static bool is_listed(const struct search *s, const struct gt_mapping *m)
{
	for (int i = 0; i < s->n && i < (int)s->max; i++)
		if (s->list[i].inode == m->inode &&
			s->list[i].device == makedev(m->major, m->minor))
			return true;
	return false;
}

static int add_library(void *arg, const struct gt_mapping *m, struct gt_err *err)
{
	struct search *s = arg;
	struct gt_mapped_library *l;

	if (!m->inode || m->flags[2] != 'x' || !s->wants(s->arg, m->name) || is_listed(s, m))
		return 0;
	if (s->n++ >= (int)s->max)
		return 0;
	l = &s->list[s->n - 1];
	gt_mapped_library_set(l, s->pid, m);
	return 0;
}

int gt_mapped_libraries(pid_t pid, gt_mapped_file_wants *wants, const void *arg,
	struct gt_mapped_library *list, size_t max, struct gt_err *err)
{
	struct search s = { pid, wants, arg, list, max, 0 };
	int rc = gt_mappings_each(pid, add_library, &s, err);

	return rc ? rc : s.n;
}

/* ---- symbols ---- */

#ifdef __aarch64__
/* Functions begin with instructions that the kernel executes out of line (stp, sub, bti, paciasp),
 * nearly all of them: none is left out. */
static bool is_emulated(const uint8_t *p) { return true; }
#else
/* Can the kernel emulate this instruction of x86-64? push, nop, call, jmp and jcc; other first
 * instructions are executed out of line, with two traps. */
static bool is_emulated(const uint8_t *p)
{
	if ((p[0] & 0xf8) == 0x50 || p[0] == 0x90 || p[0] == 0xe8 || p[0] == 0xe9 || p[0] == 0xeb ||
		(p[0] & 0xf0) == 0x70)
		return true;
	if (p[0] == 0x41 && (p[1] & 0xf8) == 0x50)
		return true;
	return p[0] == 0x0f && (p[1] == 0x1f || (p[1] & 0xf0) == 0x80);
}
#endif

static int add(struct gt_library_functions *f, const char *name, uint64_t offset, int fd)
{
	uint8_t code[4] = { 0 };
	char *copy;

	if (f->n == GT_LIBRARY_FUNCTIONS)
		return -E2BIG;
	copy = strdup(name);
	if (!copy || gt_grow(&f->list, &f->cap, f->n + 1, sizeof(*f->list))) {
		free(copy);
		return -ENOMEM;
	}
	f->list[f->n].name = copy;
	f->list[f->n].offset = offset;
	f->list[f->n++].slow =
		pread(fd, code, sizeof(code), (off_t)offset) != sizeof(code) || !is_emulated(code);
	return 0;
}

static int read_symbols(struct gt_library_functions *f, struct gt_elf_file *file, Elf_Scn *section,
	const GElf_Shdr *header, const char *glob, int fd)
{
	Elf_Data *data = gt_elf_data(file, section, GT_ELF_BYTES);
	struct gt_elf_names names = gt_elf_names(file, header->sh_link);
	GElf_Sym sym;
	int rc;

	for (int i = 0; data && gelf_getsym(data, i, &sym); i++) {
		const char *name;
		uint64_t offset;

		if (GELF_ST_TYPE(sym.st_info) != STT_FUNC || sym.st_shndx == SHN_UNDEF)
			continue;
		name = gt_elf_name(&names, sym.st_name);
		offset = gt_elf_offset(file, sym.st_value, PF_X);
		if (!name || offset == UINT64_MAX || fnmatch(glob, name, 0))
			continue;
		rc = add(f, name, offset, fd);
		if (rc)
			return rc;
	}
	return 0;
}

int gt_library_functions_read(struct gt_library_functions *f, int fd, const char *name,
	const char *glob, bool all, struct gt_err *err)
{
	Elf_Scn *section = NULL;
	struct gt_elf_file file;
	GElf_Shdr header;
	int rc = gt_elf_open(&file, fd);

	*f = (struct gt_library_functions){ NULL };
	if (rc)
		gt_err_set(err, rc, "%s: not a library", name);
	while (!rc && (section = elf_nextscn(file.elf, section)))
		if (gelf_getshdr(section, &header) &&
			(header.sh_type == SHT_DYNSYM || (all && header.sh_type == SHT_SYMTAB)))
			rc = read_symbols(f, &file, section, &header, glob, fd);
	if (rc == -ENOMEM)
		gt_err_set(err, rc, "out of memory (functions of a library)");
	if (rc == -E2BIG)
		gt_err_set(err, rc, "%s: more than %u functions match '%s'", name,
			GT_LIBRARY_FUNCTIONS, glob);
	gt_elf_close(&file);
	return rc;
}

void gt_library_functions_release(struct gt_library_functions *f)
{
	for (size_t i = 0; i < f->n; i++)
		free(f->list[i].name);
	free(f->list);
	*f = (struct gt_library_functions){ NULL };
}
