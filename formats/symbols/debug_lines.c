#include "formats/symbols/debug_lines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "formats/base/sorted.h"
#include "formats/symbols/elf_file.h"

#define DEPTH_MAX 200 /* of blocks in blocks */
#define LANG_RUST 0x1c

/* The addresses that lie in one compilation unit. */
struct unit {
	Dwarf_Die die;
	const uint64_t *addresses; /* of all units, sorted */
	size_t *in;                /* indices of this unit's addresses, ascending */
	size_t n;
	struct chain { /* by position in `in`: the functions around it, the outermost first */
		Dwarf_Die die[GT_CODE_LEVELS];
		unsigned n;
	} * chains;
	Dwarf_Files *files;
	bool is_rust;
};

static uint64_t address_of(const struct unit *u, size_t i) { return u->addresses[u->in[i]]; }

/* ---- the functions around addresses ---- */

/* Does the code of this die contain an address of the unit? If it is a function, it becomes one of
 * those around these addresses. */
static bool enter(struct unit *u, Dwarf_Die *die, bool is_function)
{
	Dwarf_Addr base, low, high;
	ptrdiff_t at = 0;
	bool any = false;

	while ((at = dwarf_ranges(die, at, &base, &low, &high)) > 0) {
		size_t i = GT_LOWER_BOUND(k, 0, u->n, address_of(u, k) < low);

		for (; i < u->n && address_of(u, i) < high; i++) {
			struct chain *c = &u->chains[i];

			any = true;
			if (is_function && c->n < GT_CODE_LEVELS)
				c->die[c->n++] = *die;
		}
	}
	return any;
}

/* May a die of this kind, which has no code itself, hold functions? In Rust types hold them. */
static bool holds_functions(const struct unit *u, int tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_module ||
		(u->is_rust &&
			(tag == DW_TAG_structure_type || tag == DW_TAG_enumeration_type ||
				tag == DW_TAG_union_type));
}

static void find_functions(struct unit *u, Dwarf_Die *parent, unsigned depth)
{
	Dwarf_Die die;

	if (depth > DEPTH_MAX || dwarf_child(parent, &die))
		return;
	do {
		int tag = dwarf_tag(&die);
		bool is_function = tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;

		if (is_function || tag == DW_TAG_lexical_block || tag == DW_TAG_try_block ||
			tag == DW_TAG_catch_block) {
			if (enter(u, &die, is_function))
				find_functions(u, &die, depth + 1);
		} else if (holds_functions(u, tag)) {
			find_functions(u, &die, depth + 1);
		}
	} while (!dwarf_siblingof(&die, &die));
}

/* ---- lines ---- */

static const char *function_name(Dwarf_Die *die)
{
	Dwarf_Attribute a;
	const char *name = NULL;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &a) ||
		dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &a))
		name = dwarf_formstring(&a);
	return name ? name : dwarf_diename(die);
}

/* Where an inlined function was called. */
static void set_call(struct unit *u, Dwarf_Die *inlined, struct gt_code_level *to)
{
	Dwarf_Attribute a;
	Dwarf_Word file, line;

	if (dwarf_attr(inlined, DW_AT_call_file, &a) && !dwarf_formudata(&a, &file) && u->files)
		to->file = dwarf_filesrc(u->files, file, NULL, NULL);
	if (dwarf_attr(inlined, DW_AT_call_line, &a) && !dwarf_formudata(&a, &line) &&
		line <= UINT32_MAX)
		to->line = (uint32_t)line;
}

static void set_line(struct unit *u, uint64_t address, struct gt_code_level *to)
{
	Dwarf_Line *l = dwarf_getsrc_die(&u->die, address);
	int line = 0;

	if (!l || dwarf_lineno(l, &line) || line <= 0)
		return;
	to->file = dwarf_linesrc(l, NULL, NULL);
	to->line = (uint32_t)line;
}

static void put_levels(struct unit *u, size_t i, gt_code_levels_fn *fn, void *arg)
{
	struct gt_code_level levels[GT_CODE_LEVELS] = { { NULL, NULL, 0 } };
	struct chain *c = &u->chains[i];
	unsigned n = 0;

	set_line(u, address_of(u, i), &levels[0]);
	for (unsigned k = c->n; k-- > 0; n++) {
		levels[n].function = function_name(&c->die[k]);
		if (k)
			set_call(u, &c->die[k], &levels[n + 1]);
	}
	if (n || levels[0].line)
		fn(arg, u->in[i], levels, n ? n : 1);
}

static void read_unit(struct unit *u, Dwarf_Die *functions, gt_code_levels_fn *fn, void *arg)
{
	size_t nfiles;

	u->chains = calloc(u->n, sizeof(*u->chains));
	if (!u->chains)
		return;
	u->is_rust = dwarf_srclang(&u->die) == LANG_RUST;
	if (dwarf_getsrcfiles(&u->die, &u->files, &nfiles))
		u->files = NULL;
	find_functions(u, functions, 0);
	for (size_t i = 0; i < u->n; i++)
		put_levels(u, i, fn, arg);
	free(u->chains);
}

/* ---- units ---- */

/* Puts the addresses of the unit that no unit before had into u->in. */
static void find_addresses(struct unit *u, size_t n, bool *taken)
{
	Dwarf_Addr base, low, high;
	ptrdiff_t at = 0;

	u->n = 0;
	while ((at = dwarf_ranges(&u->die, at, &base, &low, &high)) > 0) {
		size_t i = GT_LOWER_BOUND(k, 0, n, u->addresses[k] < low);

		for (; i < n && u->addresses[i] < high; i++)
			if (!taken[i]) {
				taken[i] = true;
				u->in[u->n++] = i;
			}
	}
}

static int compare(const void *a, const void *b)
{
	const size_t *x = a, *y = b;

	return GT_COMPARE(*x, *y);
}

static int read_units(Dwarf *dw, const uint64_t *addresses, size_t n, gt_code_unit_fn *begin_unit,
	gt_code_levels_fn *fn, void *arg)
{
	bool *taken = calloc(n + 1, sizeof(*taken)), any = false;
	struct unit u = { .addresses = addresses, .in = calloc(n + 1, sizeof(*u.in)) };
	Dwarf_CU *cu = NULL;
	Dwarf_Die split;
	uint8_t type;

	while (taken && u.in && !dwarf_get_units(dw, cu, &cu, NULL, &type, &u.die, &split)) {
		bool is_split = type == DW_UT_skeleton && dwarf_tag(&split) == DW_TAG_compile_unit;

		any = true;
		find_addresses(&u, n, taken);
		if (!u.n || (begin_unit && !begin_unit(arg)))
			continue;
		GT_SORT(u.in, u.n, compare);
		read_unit(&u, is_split ? &split : &u.die, fn, arg);
	}
	free(taken);
	free(u.in);
	return any ? 0 : -ENOENT;
}

/* Also if libdw cannot unpack it. */
static bool has_dwarf(const char *path)
{
	struct gt_elf_file f;
	struct gt_elf_names names = { NULL, 0 };
	Elf_Scn *section = NULL;
	bool is_there = false;
	const char *name;
	size_t index;
	GElf_Shdr h;
	int fd;

	if (!gt_elf_open_path(&f, &fd, path) && !elf_getshdrstrndx(f.elf, &index))
		names = gt_elf_names(&f, index);
	while (names.n && !is_there && (section = elf_nextscn(f.elf, section)))
		if (gelf_getshdr(section, &h) && h.sh_type != SHT_NOBITS && h.sh_size) {
			name = gt_elf_name(&names, h.sh_name);
			is_there = name &&
				(!strcmp(name, ".debug_info") || !strcmp(name, ".zdebug_info"));
		}
	gt_elf_close_path(&f, fd);
	return is_there;
}

static Dwarf *open_dwarf(const char *path, int *fd)
{
	*fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	return *fd < 0 ? NULL : dwarf_begin(*fd, DWARF_C_READ);
}

static void close_dwarf(Dwarf *dw, int fd)
{
	dwarf_end(dw);
	if (fd >= 0)
		close(fd);
}

/* The file that this one shares DWARF with; NULL: none, or it is not found. */
static Dwarf *open_shared(Dwarf *dw, struct gt_debug_files *where, int *fd)
{
	struct gt_library_files files = { .n = 0 };
	const char *name;
	const void *id;
	ssize_t nid = dw ? dwelf_dwarf_gnu_debugaltlink(dw, &name, &id) : 0;
	Dwarf *shared = NULL;

	*fd = -1;
	if (nid > 0)
		gt_debug_files_find(where, name, id, (size_t)nid, &files);
	if (files.n)
		shared = open_dwarf(files.path[0], fd);
	gt_library_files_release(&files);
	return shared;
}

int gt_debug_lines_read(const char *path, struct gt_debug_files *where, const uint64_t *addresses,
	size_t n, gt_code_unit_fn *begin_unit, gt_code_levels_fn *fn, void *arg)
{
	int fd, shared_fd, rc = -ENOENT;
	Dwarf *dw = open_dwarf(path, &fd), *shared = open_shared(dw, where, &shared_fd);

	if (shared)
		dwarf_setalt(dw, shared);
	if (dw)
		rc = read_units(dw, addresses, n, begin_unit, fn, arg);
	close_dwarf(dw, fd);
	close_dwarf(shared, shared_fd);
	return rc && has_dwarf(path) ? -EBADMSG : rc;
}
