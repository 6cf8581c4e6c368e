#define _GNU_SOURCE
#include "formats/symbols/elf_symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "formats/base/buf.h"
#include "formats/base/sorted.h"
#include "formats/symbols/elf_file.h"

#define DEBUG_FOLDER "/usr/lib/debug/.build-id"
#define SYMBOLS_MAX (16u << 20)
#define NAMES_MAX (256u << 20) /* bytes of all names; further symbols are left out */
#define NOTES_MAX (1u << 20)   /* bytes of a section of notes */
#define NO_SIZE_MAX 4096       /* bytes that a function without a size may have */

/* ---- build id ---- */

/* The section's build id; its length, 0: it has none. */
static size_t find_build_id(Elf_Data *notes, const uint8_t **id)
{
	size_t at = 0, next, name, text;
	GElf_Nhdr h;

	while (notes && (next = gelf_getnote(notes, at, &h, &name, &text))) {
		if (h.n_type == NT_GNU_BUILD_ID && h.n_namesz == 4 &&
			!memcmp((const char *)notes->d_buf + name, "GNU", 4)) {
			*id = (const uint8_t *)notes->d_buf + text;
			return h.n_descsz;
		}
		at = next;
	}
	return 0;
}

/* Of the file; its length, 0: it has none. */
static size_t build_id(struct gt_elf_file *f, const uint8_t **id)
{
	Elf_Scn *section = NULL;
	GElf_Shdr h;
	size_t n = 0;

	while (!n && (section = elf_nextscn(f->elf, section)))
		if (gelf_getshdr(section, &h) && h.sh_type == SHT_NOTE)
			n = find_build_id(gt_elf_data(f, section, NOTES_MAX), id);
	return n;
}

static bool has_build_id(struct gt_elf_file *f, const uint8_t *id, size_t nid)
{
	const uint8_t *found = NULL;

	return !nid || (build_id(f, &found) == nid && !memcmp(found, id, nid));
}

/* ---- symbols ---- */

static bool is_function(const GElf_Sym *s)
{
	unsigned type = GELF_ST_TYPE(s->st_info);

	return (type == STT_FUNC || type == STT_GNU_IFUNC) && s->st_shndx != SHN_UNDEF &&
		s->st_value;
}

static bool is_full(const struct gt_elf_symbols *s)
{
	return s->n >= SYMBOLS_MAX || s->nnames > NAMES_MAX - GT_ELF_NAME;
}

/* Names are offsets in `names` until all are read. */
static int add_symbol(struct gt_elf_symbols *s, const GElf_Sym *sym, const char *name)
{
	size_t length = strlen(name) + 1;

	if (gt_grow(&s->items, &s->cap, s->n + 1, sizeof(*s->items)) ||
		gt_grow(&s->names, &s->names_cap, s->nnames + length, 1))
		return -ENOMEM;
	memcpy(s->names + s->nnames, name, length);
	s->items[s->n++] = (struct gt_elf_symbol){ sym->st_value, sym->st_size,
		(const char *)(uintptr_t)s->nnames, GELF_ST_BIND(sym->st_info) != STB_LOCAL };
	s->nnames += length;
	return 0;
}

static int read_table(
	struct gt_elf_symbols *s, struct gt_elf_file *f, Elf_Scn *section, const GElf_Shdr *h)
{
	struct gt_elf_names names = gt_elf_names(f, h->sh_link);
	Elf_Data *data = gt_elf_data(f, section, GT_ELF_BYTES);
	size_t n = data && h->sh_entsize ? data->d_size / h->sh_entsize : 0;
	GElf_Sym sym;

	for (size_t i = 0; i < n && i < SYMBOLS_MAX && !is_full(s); i++) {
		const char *name;

		if (!gelf_getsym(data, (int)i, &sym) || !is_function(&sym))
			continue;
		name = gt_elf_name(&names, sym.st_name);
		if (name && *name && add_symbol(s, &sym, name))
			return -ENOMEM;
	}
	return 0;
}

/* Reads the tables of this type: SHT_SYMTAB, SHT_DYNSYM. */
static int read_tables(struct gt_elf_symbols *s, struct gt_elf_file *f, uint32_t type)
{
	Elf_Scn *section = NULL;
	GElf_Shdr h;
	int rc = 0;

	while (!rc && (section = elf_nextscn(f->elf, section)))
		if (gelf_getshdr(section, &h) && h.sh_type == type)
			rc = read_table(s, f, section, &h);
	return rc;
}

/* By address; of several symbols of one address the best one is first: a global one, the largest.
 */
static int compare(const void *a, const void *b)
{
	const struct gt_elf_symbol *x = a, *y = b;

	return GT_COMPARE(x->at, y->at) ?: GT_COMPARE(y->is_global, x->is_global)
		?: GT_COMPARE(y->size, x->size) ?: strcmp(x->name, y->name);
}

static void finish(struct gt_elf_symbols *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		s->items[i].name = s->names + (uintptr_t)s->items[i].name;
	GT_SORT(s->items, s->n, compare);
	for (size_t i = 0; i < s->n; i++)
		if (!n || s->items[i].at != s->items[n - 1].at)
			s->items[n++] = s->items[i];
	s->n = n;
}

/* Opens a file and checks its build id. */
static int open_file(
	struct gt_elf_file *f, int *fd, const char *path, const uint8_t *id, size_t nid)
{
	struct stat st;

	*f = (struct gt_elf_file){ 0 };
	*fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (*fd < 0 || fstat(*fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode) || gt_elf_open(f, *fd))
		return -EINVAL;
	return has_build_id(f, id, nid) ? 0 : -ESTALE;
}

static void close_file(struct gt_elf_file *f, int fd)
{
	gt_elf_close(f);
	if (fd >= 0)
		close(fd);
}

/* The symbols that were stripped off and are installed beside. */
static int read_debug_file(struct gt_elf_symbols *s, const uint8_t *id, size_t nid)
{
	char path[sizeof(DEBUG_FOLDER) + 2 * 64 + 16] = DEBUG_FOLDER "/", *p = path + strlen(path);
	struct gt_elf_file f;
	int fd, rc;

	if (nid < 2 || nid > 64)
		return 0;
	for (size_t i = 0; i < nid; i++)
		p += sprintf(p, i ? "%02x" : "%02x/", id[i]);
	strcpy(p, ".debug");
	rc = open_file(&f, &fd, path, id, nid);
	if (!rc)
		rc = read_tables(s, &f, SHT_SYMTAB);
	close_file(&f, fd);
	return rc == -ENOMEM ? rc : 0;
}

int gt_elf_symbols_open(struct gt_elf_symbols *s, const char *path, const uint8_t *id, size_t nid,
	struct gt_err *err)
{
	struct gt_elf_file f;
	int fd, rc;

	*s = (struct gt_elf_symbols){ 0 };
	rc = open_file(&f, &fd, path, id, nid);
	if (!rc)
		rc = read_tables(s, &f, SHT_SYMTAB);
	if (!rc && !s->n)
		rc = read_debug_file(s, id, nid);
	if (!rc && !s->n)
		rc = read_tables(s, &f, SHT_DYNSYM);
	close_file(&f, fd);
	finish(s);
	return rc ? gt_err_set(err, rc, "%s: %s", path,
			    rc == -ESTALE ? "this is another version of the file" : strerror(-rc))
		  : 0;
}

void gt_elf_symbols_close(struct gt_elf_symbols *s)
{
	free(s->items);
	free(s->names);
	*s = (struct gt_elf_symbols){ 0 };
}

const char *gt_elf_symbols_find(const struct gt_elf_symbols *s, uint64_t address)
{
	size_t after = GT_LOWER_BOUND(i, 0, s->n, s->items[i].at <= address);
	const struct gt_elf_symbol *at;

	if (!after)
		return NULL;
	at = &s->items[after - 1];
	return address - at->at < (at->size ? at->size : NO_SIZE_MAX) ? at->name : NULL;
}

/* ---- mappings and single symbols ---- */

int gt_elf_mapping(const char *path, uint64_t offset, struct gt_elf_mapping *m)
{
	const uint8_t *id = NULL;
	struct gt_elf_file f;
	int fd, rc = open_file(&f, &fd, path, NULL, 0);
	size_t n;

	*m = (struct gt_elf_mapping){ .address = offset };
	if (!rc)
		m->address = gt_elf_address(&f, offset);
	n = rc ? 0 : build_id(&f, &id);
	if (n && n <= sizeof(m->build_id)) {
		memcpy(m->build_id, id, n);
		m->nbuild_id = (uint8_t)n;
	}
	close_file(&f, fd);
	return rc;
}

static void find_places(struct gt_elf_file *f, Elf_Scn *section, const GElf_Shdr *h,
	struct gt_elf_place *places, size_t n)
{
	struct gt_elf_names names = gt_elf_names(f, h->sh_link);
	Elf_Data *data = gt_elf_data(f, section, GT_ELF_BYTES);
	size_t count = data && h->sh_entsize ? data->d_size / h->sh_entsize : 0;
	GElf_Sym sym;

	for (size_t i = 0; i < count && i < SYMBOLS_MAX; i++) {
		const char *name;

		if (!gelf_getsym(data, (int)i, &sym) || sym.st_shndx == SHN_UNDEF ||
			!(name = gt_elf_name(&names, sym.st_name)))
			continue;
		for (size_t k = 0; k < n; k++)
			if (!strcmp(name, places[k].name)) {
				places[k].at = sym.st_value;
				places[k].size = sym.st_size;
			}
	}
}

int gt_elf_places(const char *path, struct gt_elf_place *places, size_t n)
{
	Elf_Scn *section = NULL;
	struct gt_elf_file f;
	GElf_Shdr h;
	int fd, rc = open_file(&f, &fd, path, NULL, 0);

	for (size_t i = 0; i < n; i++)
		places[i].at = places[i].size = 0;
	while (!rc && (section = elf_nextscn(f.elf, section)))
		if (gelf_getshdr(section, &h) && h.sh_type == SHT_DYNSYM)
			find_places(&f, section, &h, places, n);
	close_file(&f, fd);
	return rc;
}
