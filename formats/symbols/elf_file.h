/* ELF files of other processes, which may be made to cost much: wrong sizes, counts and offsets,
 * sparse files, names without end. Parts beyond these limits are not read; no library has such. */
#ifndef GT_ELF_FILE_H
#define GT_ELF_FILE_H
#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GT_ELF_BYTES (512ull << 20) /* of all sections that are read */
#define GT_ELF_SEGMENTS 64u         /* that are loaded; further ones are ignored */
#define GT_ELF_NAME 8192u           /* of a name, with its zero; a longer one is none */

struct gt_elf_segment {
	uint64_t address, bytes, offset;
	uint32_t flags;
};
struct gt_elf_file {
	Elf *elf;
	int fd;
	struct gt_elf_segment segments[GT_ELF_SEGMENTS];
	unsigned nsegments;
	uint64_t bytes; /* read so far */
};
/* A section's texts; n: 0: it is not read. Borrowed from the file. */
struct gt_elf_names {
	const char *text;
	size_t n;
};
/* fd is borrowed until the file is closed. 0; -EINVAL: it is no ELF file, or one with more sections
 * or segments than its header can count. */
int gt_elf_open(struct gt_elf_file *f, int fd);
void gt_elf_close(struct gt_elf_file *f); /* also after an error */
/* The same by path. 0; -EINVAL as above, or it is no regular file; other negative. */
int gt_elf_open_path(struct gt_elf_file *f, int *fd, const char *path);
void gt_elf_close_path(struct gt_elf_file *f, int fd); /* also after an error */
/* The length of its build id, 0: it has none. Borrowed from the file. */
size_t gt_elf_build_id(struct gt_elf_file *f, const uint8_t **id);
bool gt_elf_has_build_id(struct gt_elf_file *f, const uint8_t *id, size_t nid);
/* Borrowed from the file. NULL: the section is larger than `limit` bytes or damaged, or enough of
 * the file has been read. */
Elf_Data *gt_elf_data(struct gt_elf_file *f, Elf_Scn *section, uint64_t limit);
struct gt_elf_names gt_elf_names(struct gt_elf_file *f, size_t section);
/* The name that begins there; NULL: none does, or it has no end. */
const char *gt_elf_name(const struct gt_elf_names *names, uint64_t at);
/* The offset in the file of an address in a loaded segment with that flag (PF_X, PF_W). UINT64_MAX:
 * there is none. */
uint64_t gt_elf_offset(const struct gt_elf_file *f, uint64_t address, uint32_t flag);
/* The address that the file gives to the byte at this offset, where mapped code begins. */
uint64_t gt_elf_address(const struct gt_elf_file *f, uint64_t offset);
/* Reads bytes of the file. False: they are not there. */
bool gt_elf_read(const struct gt_elf_file *f, uint64_t offset, void *to, size_t n);
#endif
