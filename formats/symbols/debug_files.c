#define _GNU_SOURCE
#include "formats/symbols/debug_files.h"

#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "formats/symbols/elf_file.h"
#include "formats/symbols/vdso_image.h"
#include "formats/trace/wire.h"

#define SYSTEM_FOLDER "/usr/lib/debug"
#define LINK_MAX 4096u /* bytes of .gnu_debuglink */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* ---- searching a folder ---- */

static const char *path_of(const struct gt_debug_files *f, const struct gt_found_file *one)
{
	return (const char *)f->paths.data + one->path;
}

static void add_found(struct gt_debug_files *f, const char *path)
{
	struct gt_found_file new = { .path = f->paths.len };
	struct gt_elf_file file;
	const uint8_t *id;
	size_t n;
	int fd;

	if (!gt_elf_open_path(&file, &fd, path) &&
		!gt_grow(&f->found, &f->cap, f->nfound + 1, sizeof(new))) {
		n = gt_elf_build_id(&file, &id);
		if (n && n <= sizeof(new.id)) {
			memcpy(new.id, id, n);
			new.nid = (uint32_t)n;
		}
		gt_buf_add(&f->paths, path, strlen(path) + 1);
		if (!f->paths.failed)
			f->found[f->nfound++] = new;
	}
	gt_elf_close_path(&file, fd);
}

static bool is_elf(int folder, const char *name)
{
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char magic[SELFMAG];
	bool is = fd >= 0 && read(fd, magic, SELFMAG) == SELFMAG && !memcmp(magic, ELFMAG, SELFMAG);

	if (fd >= 0)
		close(fd);
	return is;
}

/* Takes fd over. Links to folders are not followed, those to files are. */
static void search_folder(struct gt_debug_files *f, int fd, const char *path, unsigned depth)
{
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	if (!d) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while (!f->is_cut && (e = readdir(d))) {
		struct stat st;
		char *inner;

		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		f->is_cut = ++f->nentries > GT_DEBUG_ENTRIES;
		if (f->is_cut || fstatat(dirfd(d), e->d_name, &st, 0) ||
			asprintf(&inner, "%s/%s", path, e->d_name) < 0)
			continue;
		if (S_ISDIR(st.st_mode) && depth >= GT_DEBUG_FOLDER_DEPTH)
			f->has_deep_folders = true;
		else if (S_ISDIR(st.st_mode))
			search_folder(f,
				openat(dirfd(d), e->d_name,
					O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC),
				inner, depth + 1);
		else if (S_ISREG(st.st_mode) && is_elf(dirfd(d), e->d_name))
			add_found(f, inner);
		free(inner);
	}
	closedir(d);
}

static void search(struct gt_debug_files *f)
{
	for (size_t i = 0; !f->is_searched && i < f->nfolders; i++)
		search_folder(f, open(f->folders[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC),
			f->folders[i], 0);
	f->is_searched = true;
}

/* ---- the files of a library ---- */

struct library {
	struct gt_debug_files *f;
	const char *name; /* of its file, without folders */
	const uint8_t *id;
	size_t nid;
	char hex[2 * GT_DEBUG_ID_MAX + 1];
	struct gt_library_files *to;
};

static void add_path(struct gt_library_files *to, const char *path)
{
	for (size_t i = 0; i < to->n; i++)
		if (!strcmp(to->path[i], path))
			return;
	if (to->n < GT_DEBUG_FILES_MAX && (to->path[to->n] = strdup(path)))
		to->n++;
}

static void note_other_build(struct gt_library_files *to, const char *path)
{
	if (!to->other_build)
		to->other_build = strdup(path);
}

/* Adds the file if it is there and has the build id. */
static void try_path(const struct library *l, const char *path)
{
	struct gt_elf_file file;
	int fd;

	if (!gt_elf_open_path(&file, &fd, path)) {
		if (l->nid ? gt_elf_has_build_id(&file, l->id, l->nid) : l->f->trust_paths)
			add_path(l->to, path);
		else if (l->nid && !strcmp(base_name(path), l->name))
			note_other_build(l->to, path);
	}
	gt_elf_close_path(&file, fd);
}

/* A file with another name than the library's. */
static void __attribute__((format(printf, 2, 3)))
try_format(const struct library *l, const char *format, ...)
{
	va_list args;
	char *path;

	va_start(args, format);
	if (vasprintf(&path, format, args) < 0)
		path = NULL;
	va_end(args);
	if (path)
		try_path(l, path);
	free(path);
}

static void try_folder(const struct library *l, const char *folder)
{
	if (l->nid < 2)
		return;
	try_format(l, "%s/.build-id/%.2s/%s.debug", folder, l->hex, l->hex + 2);
	try_format(l, "%s/%.2s/%s.debug", folder, l->hex, l->hex + 2);
	try_format(l, "%s/%.2s/%s/debuginfo", folder, l->hex, l->hex + 2);
	try_format(l, "%s/%s/debuginfo", folder, l->hex);
}

static void try_found(const struct library *l)
{
	search(l->f);
	for (size_t i = 0; l->nid && i < l->f->nfound; i++) {
		const struct gt_found_file *one = &l->f->found[i];
		const char *path = path_of(l->f, one);

		if (one->nid == l->nid && !memcmp(one->id, l->id, l->nid))
			add_path(l->to, path);
		else if (!strcmp(base_name(path), l->name))
			note_other_build(l->to, path);
	}
}

/* ---- .gnu_debuglink: the name and the checksum of the file with the stripped sections ---- */

/* The name; NULL: it has none. new: free it. */
static char *read_link(const char *path, uint32_t *crc)
{
	Elf_Scn *section = NULL;
	struct gt_elf_file f;
	char *name = NULL;
	size_t names = 0;
	GElf_Shdr h;
	int fd;

	if (!gt_elf_open_path(&f, &fd, path) && !elf_getshdrstrndx(f.elf, &names)) {
		struct gt_elf_names texts = gt_elf_names(&f, names);

		while (!name && (section = elf_nextscn(f.elf, section))) {
			const char *s =
				gelf_getshdr(section, &h) ? gt_elf_name(&texts, h.sh_name) : NULL;
			const Elf_Data *d = s && !strcmp(s, ".gnu_debuglink")
				? gt_elf_data(&f, section, LINK_MAX)
				: NULL;
			size_t n = d && d->d_buf ? strnlen(d->d_buf, d->d_size) : 0;

			if (!n || (n + 4) / 4 * 4 + 4 > d->d_size)
				continue;
			memcpy(crc, (const char *)d->d_buf + (n + 4) / 4 * 4, 4);
			name = strndup(d->d_buf, n);
		}
	}
	gt_elf_close_path(&f, fd);
	return name;
}

static bool has_checksum(int fd, uint32_t wanted)
{
	uint8_t bytes[1 << 14];
	uint32_t crc = 0;
	off_t at = 0;
	ssize_t n;

	while ((n = pread(fd, bytes, sizeof(bytes), at)) > 0) {
		crc = gt_crc_continue(crc, bytes, (uint64_t)n);
		at += n;
	}
	return !n && crc == wanted;
}

/* Its build id counts; only if it has none, its checksum. */
static void try_linked(const struct library *l, const char *path, uint32_t crc)
{
	struct gt_elf_file file;
	const uint8_t *id;
	int fd;

	if (!gt_elf_open_path(&file, &fd, path) &&
		(gt_elf_build_id(&file, &id) ? gt_elf_has_build_id(&file, l->id, l->nid)
					     : has_checksum(fd, crc)))
		add_path(l->to, path);
	gt_elf_close_path(&file, fd);
}

static void try_links(const struct library *l, const char *path)
{
	uint32_t crc = 0;
	char *name = read_link(path, &crc), *near;
	int folder = (int)(base_name(path) - path);
	static const char *const places[] = { "", ".debug/" };

	if (!name || strchr(name, '/')) {
		free(name);
		return;
	}
	for (size_t i = 0; i < 2; i++)
		if (asprintf(&near, "%.*s%s%s", folder, path, places[i], name) >= 0) {
			try_linked(l, near, crc);
			free(near);
		}
	if (*path == '/' && asprintf(&near, "%s%.*s%s", SYSTEM_FOLDER, folder, path, name) >= 0) {
		try_linked(l, near, crc);
		free(near);
	}
	search(l->f);
	for (size_t i = 0; i < l->f->nfound; i++)
		if (!strcmp(base_name(path_of(l->f, &l->f->found[i])), name))
			try_linked(l, path_of(l->f, &l->f->found[i]), crc);
	free(name);
}

void gt_debug_files_find(struct gt_debug_files *f, const char *path, const uint8_t *id, size_t nid,
	struct gt_library_files *to)
{
	struct library l = { .f = f, .name = base_name(path), .id = id, .nid = nid, .to = to };
	uint64_t bytes;
	size_t n;

	if (nid > GT_DEBUG_ID_MAX)
		return;
	for (size_t i = 0; i < nid; i++)
		sprintf(l.hex + 2 * i, "%02x", id[i]);
	for (size_t i = 0; i < f->nfolders; i++)
		try_folder(&l, f->folders[i]);
	try_folder(&l, SYSTEM_FOLDER);
	if (!to->n)
		try_found(&l);
	for (size_t i = 0; nid && i < f->nfolders; i++)
		try_format(&l, "%s/%s/executable", f->folders[i], l.hex);
	if (gt_is_vdso(path, strlen(path)))
		path = gt_vdso_path(&bytes);
	if (path && *path == '/')
		try_path(&l, path);
	n = to->n;
	for (size_t i = 0; i < n; i++)
		try_links(&l, to->path[i]);
}

void gt_library_files_release(struct gt_library_files *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->path[i]);
	free(l->other_build);
	*l = (struct gt_library_files){ .n = 0 };
}

void gt_debug_files_release(struct gt_debug_files *f)
{
	free(f->found);
	gt_buf_release(&f->paths);
	f->found = NULL;
	f->nfound = f->cap = 0;
	f->nentries = 0;
	f->is_searched = f->is_cut = f->has_deep_folders = false;
}
