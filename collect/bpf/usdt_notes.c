#include "collect/bpf/usdt_notes.h"

#include <errno.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "formats/base/buf.h"

#define NOTE_TYPE 3
#define SITES_MAX 65536u /* of one file: limits memory */

/* A note's description: the addresses of the place, of the section .stapsdt.base when the file was
 * linked, and of the semaphore; then three texts. */
struct note {
	uint64_t place, base, semaphore;
	const char *provider, *name, *arguments;
};

struct reader {
	struct gt_usdt_sites *to;
	Elf *elf;
	size_t nsegments;
	uint64_t base; /* of .stapsdt.base now; 0: there is none */
	gt_usdt_wants *wants;
	void *arg;
};

/* The offset in the file of an address in a loaded segment with that flag; 0: there is none. */
static uint64_t offset_of(const struct reader *r, uint64_t address, unsigned flag)
{
	GElf_Phdr p;

	for (size_t i = 0; i < r->nsegments; i++)
		if (gelf_getphdr(r->elf, (int)i, &p) && p.p_type == PT_LOAD && p.p_flags & flag &&
			address >= p.p_vaddr && address - p.p_vaddr < p.p_filesz)
			return address - p.p_vaddr + p.p_offset;
	return 0;
}

/* The text at *at, and *at behind it. NULL: it does not end within the n bytes. */
static const char *take_text(const char *data, size_t n, size_t *at)
{
	const char *text = data + *at, *end = *at < n ? memchr(text, 0, n - *at) : NULL;

	*at = end ? (size_t)(end - data) + 1 : n;
	return end ? text : NULL;
}

static bool read_note(const char *data, size_t n, struct note *note)
{
	size_t at = 24;

	if (n < at)
		return false;
	memcpy(note, data, at);
	note->provider = take_text(data, n, &at);
	note->name = take_text(data, n, &at);
	note->arguments = take_text(data, n, &at);
	return note->provider && note->name && *note->name;
}

/* ---- symbols ---- */

/* The address of a symbol of n characters; 0: it is not known. */
static uint64_t find_symbol(const struct reader *r, const char *name, size_t n)
{
	Elf_Scn *section = NULL;
	GElf_Shdr h;
	GElf_Sym sym;

	while ((section = elf_nextscn(r->elf, section))) {
		Elf_Data *data = gelf_getshdr(section, &h) &&
				(h.sh_type == SHT_SYMTAB || h.sh_type == SHT_DYNSYM)
			? elf_getdata(section, NULL)
			: NULL;

		for (int i = 0; data && gelf_getsym(data, i, &sym); i++) {
			const char *its = elf_strptr(r->elf, h.sh_link, sym.st_name);

			if (its && !strncmp(its, name, n) && !its[n] && sym.st_value)
				return sym.st_value;
		}
	}
	return 0;
}

/* A place in memory that the compiler names by a symbol: "8@counter+4(%rip)". An operand that is
 * none remains as it is. */
static void add_operand(
	const struct reader *r, uint64_t place, const char *operand, size_t n, struct gt_buf *to)
{
	static const char behind[] = "(%rip)";
	size_t symbol = strcspn(operand, "+-("), end = n - strlen(behind);
	bool relative = n > strlen(behind) && !strncmp(operand + end, behind, strlen(behind)) &&
		symbol && symbol <= end && strcspn(operand, "0123456789") && *operand != '$';
	uint64_t at = relative ? find_symbol(r, operand, symbol) : 0;

	if (at)
		gt_buf_printf(to, "%lld%s",
			(long long)(at + (uint64_t)strtoll(operand + symbol, NULL, 0) - place),
			behind);
	else
		gt_buf_add(to, operand, n);
}

/* new: the arguments without symbols. NULL: no memory. */
static char *resolve_symbols(const struct reader *r, const struct note *note)
{
	const char *p = note->arguments ? note->arguments : "";
	struct gt_buf to = { NULL };

	while (*p) {
		size_t before = strcspn(p, "@ "), n;

		before += p[before] != 0;
		gt_buf_add(&to, p, before);
		p += before;
		n = before && p[-1] == '@' ? strcspn(p, " ") : 0;
		if (n)
			add_operand(r, note->place, p, n, &to);
		p += n;
	}
	gt_buf_byte(&to, 0);
	if (!to.failed)
		return (char *)to.data;
	gt_buf_release(&to);
	return NULL;
}

/* ---- notes ---- */

static int add(struct reader *r, const struct note *note)
{
	/* a tool has moved the file's addresses after it was linked */
	uint64_t moved = r->base && note->base ? r->base - note->base : 0;
	struct gt_usdt_sites *s = r->to;
	struct gt_usdt_site new = { .offset = offset_of(r, note->place + moved, PF_X),
		.semaphore = note->semaphore ? offset_of(r, note->semaphore + moved, PF_W) : 0 };

	if (!new.offset || s->n >= SITES_MAX)
		return 0;
	if (gt_grow(&s->list, &s->cap, s->n + 1, sizeof(*s->list)))
		return -ENOMEM;
	new.provider = strdup(note->provider);
	new.name = strdup(note->name);
	new.arguments = resolve_symbols(r, note);
	s->list[s->n++] = new;
	return new.provider &&new.name &&new.arguments ? 0 : -ENOMEM;
}

static int read_section(struct reader *r, Elf_Data *data)
{
	GElf_Nhdr h;
	size_t at = 0, name, description;
	struct note note;

	while (data && (at = gelf_getnote(data, at, &h, &name, &description)) > 0) {
		const char *bytes = data->d_buf;

		if (h.n_type != NOTE_TYPE || h.n_namesz != 8 ||
			memcmp(bytes + name, "stapsdt", 8) ||
			!read_note(bytes + description, h.n_descsz, &note) ||
			!r->wants(r->arg, note.provider, note.name))
			continue;
		if (add(r, &note))
			return -ENOMEM;
	}
	return 0;
}

/* fn for each section; `names` is the section of their names. */
static int read_sections(struct reader *r)
{
	Elf_Scn *section = NULL;
	GElf_Shdr h;
	size_t names;
	int rc = 0;

	if (elf_getshdrstrndx(r->elf, &names))
		return 0;
	while ((section = elf_nextscn(r->elf, section))) {
		const char *name =
			gelf_getshdr(section, &h) ? elf_strptr(r->elf, names, h.sh_name) : NULL;

		if (name && !strcmp(name, ".stapsdt.base"))
			r->base = h.sh_addr;
	}
	while (!rc && (section = elf_nextscn(r->elf, section)))
		if (gelf_getshdr(section, &h) && h.sh_type == SHT_NOTE)
			rc = read_section(r, elf_getdata(section, NULL));
	return rc;
}

int gt_usdt_sites_read(
	struct gt_usdt_sites *s, int fd, gt_usdt_wants *wants, void *arg, struct gt_err *err)
{
	struct reader r = { .to = s, .wants = wants, .arg = arg };
	int rc = 0;

	*s = (struct gt_usdt_sites){ NULL };
	elf_version(EV_CURRENT);
	/* no ELF_C_READ_MMAP: the file may be cut while it is read */
	r.elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!r.elf || elf_kind(r.elf) != ELF_K_ELF || gelf_getclass(r.elf) != ELFCLASS64)
		rc = gt_err_set(err, -EINVAL, "it is no ELF file of 64 bits");
	else if (!elf_getphdrnum(r.elf, &r.nsegments))
		rc = read_sections(&r);
	if (rc == -ENOMEM)
		gt_err_set(err, rc, "out of memory (USDT probes)");
	elf_end(r.elf);
	return rc;
}

void gt_usdt_sites_release(struct gt_usdt_sites *s)
{
	for (size_t i = 0; i < s->n; i++) {
		free(s->list[i].provider);
		free(s->list[i].name);
		free(s->list[i].arguments);
	}
	free(s->list);
	*s = (struct gt_usdt_sites){ NULL };
}
