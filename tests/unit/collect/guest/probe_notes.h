/* The USDT probes of the libgtpreload.so in this process, by the notes in its file, where a tracer
 * looks, too. */
#ifndef PROBE_NOTES_H
#define PROBE_NOTES_H
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct probe {
	uintptr_t place;   /* of its nop */
	uint16_t *counter; /* one more for each that is attached */
	char name[64];     /* PROVIDER:NAME */
	char arguments[128];
	uint8_t was[16]; /* for code that patches the place */
};
#define PROBES_MAX 16

struct probe_library {
	uintptr_t base;
	char path[4096];
};
static inline int probe_library_is(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct probe_library *l = arg;

	(void)size;
	if (!strstr(info->dlpi_name, "/libgtpreload.so"))
		return 0;
	l->base = info->dlpi_addr;
	snprintf(l->path, sizeof(l->path), "%s", info->dlpi_name);
	return 1;
}

static inline void probe_note(struct probe *p, uintptr_t base, const uint8_t *desc)
{
	uint64_t at[3];
	const char *provider = (const char *)desc + sizeof(at),
		   *name = provider + strlen(provider) + 1;

	memcpy(at, desc, sizeof(at));
	p->place = base + at[0];
	p->counter = (uint16_t *)(base + at[2]);
	snprintf(p->name, sizeof(p->name), "%s:%s", provider, name);
	snprintf(p->arguments, sizeof(p->arguments), "%s", name + strlen(name) + 1);
}

/* Returns how many there are. Without the library the program ends. */
static inline int probe_notes(struct probe to[PROBES_MAX])
{
	struct probe_library l = { .path = "" };
	const ElfW(Shdr) * sections;
	const ElfW(Nhdr) * note;
	const uint8_t *file, *at, *end;
	struct stat st;
	int fd, n = 0;

	if (!dl_iterate_phdr(probe_library_is, &l) || (fd = open(l.path, O_RDONLY)) < 0 ||
		fstat(fd, &st)) {
		fprintf(stderr, "there is no libgtpreload.so in this process\n");
		exit(1);
	}
	file = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	sections = (const void *)(file + ((const ElfW(Ehdr) *)(const void *)file)->e_shoff);
	for (int i = 0; i < ((const ElfW(Ehdr) *)(const void *)file)->e_shnum; i++) {
		at = file + sections[i].sh_offset;
		end = at + sections[i].sh_size;
		for (; sections[i].sh_type == SHT_NOTE && at < end; at += sizeof(*note) +
				(note->n_namesz + 3) / 4 * 4 + (note->n_descsz + 3) / 4 * 4) {
			note = (const void *)at;
			if (note->n_type == 3 && !memcmp(note + 1, "stapsdt", 8) && n < PROBES_MAX)
				probe_note(&to[n++], l.base, (const uint8_t *)(note + 1) + 8);
		}
	}
	return n;
}
#endif
