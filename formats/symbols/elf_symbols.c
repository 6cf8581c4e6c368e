#include "formats/symbols/elf_symbols.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "formats/base/buf.h"
#include "formats/base/sorted.h"
#include "formats/symbols/elf_file.h"

#define SYMBOLS_MAX (16u << 20)
#define NAMES_MAX (256u << 20) /* bytes of all names; further symbols are left out */
#define NO_SIZE_MAX 4096       /* bytes that a function without a size may have */

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

/* Reads the tables of this type of the first file that has functions in them. 0 or negative. */
static int read_first(
	struct gt_elf_symbols *s, const char *const *paths, size_t n, uint32_t type, bool *any)
{
	int rc = 0;

	for (size_t i = 0; !rc && !s->n && i < n; i++) {
		struct gt_elf_file f;
		int fd;

		if (!gt_elf_open_path(&f, &fd, paths[i])) {
			*any = true;
			rc = read_tables(s, &f, type);
		}
		gt_elf_close_path(&f, fd);
	}
	return rc;
}

int gt_elf_symbols_open(struct gt_elf_symbols *s, const char *const *paths, size_t n)
{
	bool any = false;
	int rc;

	*s = (struct gt_elf_symbols){ 0 };
	rc = read_first(s, paths, n, SHT_SYMTAB, &any);
	if (!rc && !s->n)
		rc = read_first(s, paths, n, SHT_DYNSYM, &any);
	finish(s);
	return rc ? rc : any ? 0 : -ENOENT;
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
	int fd, rc = gt_elf_open_path(&f, &fd, path);
	size_t n;

	*m = (struct gt_elf_mapping){ .address = offset };
	if (!rc)
		m->address = gt_elf_address(&f, offset);
	n = rc ? 0 : gt_elf_build_id(&f, &id);
	if (n && n <= sizeof(m->build_id)) {
		memcpy(m->build_id, id, n);
		m->nbuild_id = (uint8_t)n;
	}
	gt_elf_close_path(&f, fd);
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
	int fd, rc = gt_elf_open_path(&f, &fd, path);

	for (size_t i = 0; i < n; i++)
		places[i].at = places[i].size = 0;
	while (!rc && (section = elf_nextscn(f.elf, section)))
		if (gelf_getshdr(section, &h) && h.sh_type == SHT_DYNSYM)
			find_places(&f, section, &h, places, n);
	gt_elf_close_path(&f, fd);
	return rc;
}
