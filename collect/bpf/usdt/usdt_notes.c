#include "collect/bpf/usdt/usdt_notes.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "formats/symbols/elf_file.h"
#include "formats/base/buf.h"

#define NOTE_TYPE 3
/* limits of one file: it may be made to cost much */
#define SITES_MAX 65536u
#define NOTES_BYTES (16u << 20)

/* A note's description: the addresses of the place, of the section .stapsdt.base when the file was
 * linked, and of the semaphore; then three texts. */
struct note {
	uint64_t place, base, semaphore;
	const char *provider, *name, *arguments;
};

struct symbol {
	const char *name;
	uint64_t address;
};
struct reader {
	struct gt_usdt_sites *to;
	struct gt_elf_file file;
	struct symbol *symbols; /* by name, as soon as one is needed */
	size_t nsymbols, symbols_cap;
	bool has_symbols;
	uint64_t base; /* of .stapsdt.base now; 0: there is none */
	uint16_t machine;
	gt_usdt_wants *wants;
	void *arg;
};

/* 0: there is none. */
static uint64_t offset_of(const struct reader *r, uint64_t address, uint32_t flag)
{
	uint64_t offset = gt_elf_offset(&r->file, address, flag);

	return offset == UINT64_MAX ? 0 : offset;
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

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct symbol *)a)->name, ((const struct symbol *)b)->name);
}

static int add_symbols(struct reader *r, Elf_Scn *section, size_t link)
{
	Elf_Data *data = gt_elf_data(&r->file, section, GT_ELF_BYTES);
	struct gt_elf_names names = gt_elf_names(&r->file, link);
	GElf_Sym sym;

	for (int i = 0; data && gelf_getsym(data, i, &sym); i++) {
		const char *name = gt_elf_name(&names, sym.st_name);

		if (!name || !*name || !sym.st_value)
			continue;
		if (gt_grow(&r->symbols, &r->symbols_cap, r->nsymbols + 1, sizeof(*r->symbols)))
			return -ENOMEM;
		r->symbols[r->nsymbols++] = (struct symbol){ name, sym.st_value };
	}
	return 0;
}

static int read_symbols(struct reader *r)
{
	Elf_Scn *section = NULL;
	GElf_Shdr h;
	int rc = 0;

	while (!rc && (section = elf_nextscn(r->file.elf, section)))
		if (gelf_getshdr(section, &h) &&
			(h.sh_type == SHT_SYMTAB || h.sh_type == SHT_DYNSYM))
			rc = add_symbols(r, section, h.sh_link);
	if (r->nsymbols)
		qsort(r->symbols, r->nsymbols, sizeof(*r->symbols), by_name);
	r->has_symbols = true;
	return rc;
}

/* The address of a symbol of n characters; 0: it is not known. */
static uint64_t find_symbol(struct reader *r, const char *name, size_t n)
{
	size_t low = 0, high;

	if (!r->has_symbols && read_symbols(r))
		return 0;
	for (high = r->nsymbols; low < high;) {
		size_t middle = low + (high - low) / 2;
		const struct symbol *s = &r->symbols[middle];
		int order = strncmp(s->name, name, n);

		if (!order && !s->name[n])
			return s->address;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return 0;
}

/* A place in memory that the compiler names by a symbol: "8@counter+4(%rip)". An operand that is
 * none remains as it is. */
static void add_operand(
	struct reader *r, uint64_t place, const char *operand, size_t n, struct gt_buf *to)
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

/* The same for aarch64: "8@[x0, #:lo12:counter+4]", where x0 is the address of the page. */
static void resolve_low_bits(struct reader *r, const char *p, struct gt_buf *to)
{
	static const char before[] = "#:lo12:";
	const char *at;

	while ((at = strstr(p, before))) {
		const char *name = at + strlen(before);
		size_t n = strcspn(name, "+-] ");
		uint64_t address = find_symbol(r, name, n);

		gt_buf_add(to, p, (size_t)(at - p));
		p = name + n;
		if (address)
			gt_buf_printf(to, "%u",
				(unsigned)(address + (uint64_t)strtoll(p, (char **)&p, 0)) & 0xfff);
		else
			gt_buf_add(to, at, (size_t)(p - at));
	}
	gt_buf_add(to, p, strlen(p));
}

/* new: the arguments without symbols. NULL: no memory. */
static char *resolve_symbols(struct reader *r, const struct note *note)
{
	const char *p = note->arguments ? note->arguments : "";
	struct gt_buf to = { NULL };

	if (r->machine == EM_AARCH64) {
		resolve_low_bits(r, p, &to);
		p = "";
	}
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
		.semaphore = note->semaphore ? offset_of(r, note->semaphore + moved, PF_W) : 0,
		.machine = r->machine };

	if (!new.offset)
		return 0;
	if (s->n == SITES_MAX) {
		s->left_out++;
		return 0;
	}
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

static bool is_named(const struct gt_elf_names *names, const GElf_Shdr *h, const char *name)
{
	const char *its = gt_elf_name(names, h->sh_name);

	return its && !strcmp(its, name);
}

/* `names` is the section of the names of sections. */
static int read_sections(struct reader *r)
{
	uint64_t left = NOTES_BYTES;
	Elf_Scn *section = NULL;
	struct gt_elf_names names;
	GElf_Shdr h;
	GElf_Ehdr file;
	size_t at;
	int rc = 0;

	if (!gelf_getehdr(r->file.elf, &file) || elf_getshdrstrndx(r->file.elf, &at))
		return 0;
	r->machine = file.e_machine;
	names = gt_elf_names(&r->file, at);
	while ((section = elf_nextscn(r->file.elf, section)))
		if (gelf_getshdr(section, &h) && is_named(&names, &h, ".stapsdt.base"))
			r->base = h.sh_addr;
	while (!rc && (section = elf_nextscn(r->file.elf, section))) {
		if (!gelf_getshdr(section, &h) || h.sh_type != SHT_NOTE || h.sh_size > left ||
			!is_named(&names, &h, ".note.stapsdt"))
			continue;
		left -= h.sh_size;
		rc = read_section(r, gt_elf_data(&r->file, section, NOTES_BYTES));
	}
	return rc;
}

int gt_usdt_sites_read(
	struct gt_usdt_sites *s, int fd, gt_usdt_wants *wants, void *arg, struct gt_err *err)
{
	struct reader r = { .to = s, .wants = wants, .arg = arg };
	int rc = gt_elf_open(&r.file, fd);

	*s = (struct gt_usdt_sites){ NULL };
	if (rc || gelf_getclass(r.file.elf) != ELFCLASS64)
		rc = gt_err_set(err, -EINVAL, "it is no ELF file of 64 bits");
	else
		rc = read_sections(&r);
	if (rc == -ENOMEM)
		gt_err_set(err, rc, "out of memory (USDT probes)");
	gt_elf_close(&r.file);
	free(r.symbols);
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
