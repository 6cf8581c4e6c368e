#include "formats/symbols/elf_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SEGMENT_ALIGN 65536u /* the largest page */
#define NOTES_MAX (1u << 20) /* bytes of a section of notes */

/* libelf allocates memory for each section and segment. A file with so many that its header cannot
 * hold the number is no library. */
static bool has_few_parts(int fd)
{
	union {
		unsigned char ident[EI_NIDENT];
		Elf32_Ehdr h32;
		Elf64_Ehdr h64;
	} h;

	if (pread(fd, &h, sizeof(h), 0) != sizeof(h))
		return false;
	if (h.ident[EI_CLASS] == ELFCLASS32)
		return (h.h32.e_shnum || !h.h32.e_shoff) && h.h32.e_phnum != PN_XNUM;
	return (h.h64.e_shnum || !h.h64.e_shoff) && h.h64.e_phnum != PN_XNUM;
}

static void read_segments(struct gt_elf_file *f)
{
	size_t n = 0;
	GElf_Phdr p;

	elf_getphdrnum(f->elf, &n);
	for (size_t i = 0; i < n && f->nsegments < GT_ELF_SEGMENTS; i++)
		if (gelf_getphdr(f->elf, (int)i, &p) && p.p_type == PT_LOAD)
			f->segments[f->nsegments++] = (struct gt_elf_segment){ p.p_vaddr,
				p.p_filesz, p.p_offset, p.p_flags };
}

int gt_elf_open(struct gt_elf_file *f, int fd)
{
	memset(f, 0, sizeof(*f));
	elf_version(EV_CURRENT);
	f->fd = fd;
	/* no ELF_C_READ_MMAP: the file may be cut while it is read */
	f->elf = has_few_parts(fd) ? elf_begin(fd, ELF_C_READ, NULL) : NULL;
	if (!f->elf || elf_kind(f->elf) != ELF_K_ELF)
		return -EINVAL;
	read_segments(f);
	return 0;
}

void gt_elf_close(struct gt_elf_file *f)
{
	elf_end(f->elf);
	f->elf = NULL;
}

Elf_Data *gt_elf_data(struct gt_elf_file *f, Elf_Scn *section, uint64_t limit)
{
	GElf_Shdr h;

	if (!section || !gelf_getshdr(section, &h) || h.sh_type == SHT_NOBITS ||
		h.sh_size > limit || h.sh_size > GT_ELF_BYTES - f->bytes)
		return NULL;
	f->bytes += h.sh_size;
	return elf_getdata(section, NULL);
}

struct gt_elf_names gt_elf_names(struct gt_elf_file *f, size_t section)
{
	const Elf_Data *d = gt_elf_data(f, elf_getscn(f->elf, section), GT_ELF_BYTES);

	return d && d->d_buf ? (struct gt_elf_names){ d->d_buf, d->d_size }
			     : (struct gt_elf_names){ NULL, 0 };
}

/* Not elf_strptr(): in a section that does not end with a zero it searches one from the end on, for
 * each name. */
const char *gt_elf_name(const struct gt_elf_names *names, uint64_t at)
{
	size_t left = at < names->n ? names->n - (size_t)at : 0;

	return left && memchr(names->text + at, 0, left < GT_ELF_NAME ? left : GT_ELF_NAME)
		? names->text + at
		: NULL;
}

uint64_t gt_elf_offset(const struct gt_elf_file *f, uint64_t address, uint32_t flag)
{
	for (unsigned i = 0; i < f->nsegments; i++) {
		const struct gt_elf_segment *s = &f->segments[i];

		if (s->flags & flag && address >= s->address && address - s->address < s->bytes)
			return address - s->address + s->offset;
	}
	return UINT64_MAX;
}

uint64_t gt_elf_address(const struct gt_elf_file *f, uint64_t offset)
{
	for (unsigned i = 0; i < f->nsegments; i++) {
		const struct gt_elf_segment *s = &f->segments[i];

		/* a mapping begins at the segment's page */
		if (s->flags & PF_X && offset < s->offset + s->bytes &&
			offset + SEGMENT_ALIGN > s->offset)
			return s->address + offset - s->offset;
	}
	return offset;
}

bool gt_elf_read(const struct gt_elf_file *f, uint64_t offset, void *to, size_t n)
{
	return offset <= INT64_MAX && pread(f->fd, to, n, (off_t)offset) == (ssize_t)n;
}

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

size_t gt_elf_build_id(struct gt_elf_file *f, const uint8_t **id)
{
	Elf_Scn *section = NULL;
	GElf_Shdr h;
	size_t n = 0;

	while (!n && (section = elf_nextscn(f->elf, section)))
		if (gelf_getshdr(section, &h) && h.sh_type == SHT_NOTE)
			n = find_build_id(gt_elf_data(f, section, NOTES_MAX), id);
	return n;
}

bool gt_elf_has_build_id(struct gt_elf_file *f, const uint8_t *id, size_t nid)
{
	const uint8_t *found = NULL;

	return nid && gt_elf_build_id(f, &found) == nid && !memcmp(found, id, nid);
}

/* ---- files by path ---- */

int gt_elf_open_path(struct gt_elf_file *f, int *fd, const char *path)
{
	struct stat st;

	*f = (struct gt_elf_file){ 0 };
	*fd = -1;
	if (stat(path, &st))
		return -errno;
	if (!S_ISREG(st.st_mode)) /* some devices act when they are opened */
		return -EINVAL;
	*fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (*fd < 0 || fstat(*fd, &st))
		return -errno;
	return S_ISREG(st.st_mode) ? gt_elf_open(f, *fd) : -EINVAL;
}

void gt_elf_close_path(struct gt_elf_file *f, int fd)
{
	gt_elf_close(f);
	if (fd >= 0)
		close(fd);
}
