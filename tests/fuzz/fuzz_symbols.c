/* Arbitrary bytes as the file of a library: its build id, its link to a debug file, its symbols,
 * and its lines, which a process of their own reads. Whatever the file is, that process ends in
 * time, and names are whole. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "formats/symbols/code_places.h"
#include "formats/symbols/debug_lines.h"

#define OFFSETS 256u
#define LINES_NS 3000000000ll

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct gt_code_places *p, const struct gt_code_place *place)
{
	if (place->n > GT_CODE_LEVELS || (uint64_t)place->first + place->n > p->nlevels ||
		(place->symbol != GT_NO_TEXT && place->symbol >= p->text.len))
		abort();
	for (uint32_t i = place->first; i < place->first + place->n; i++) {
		const struct gt_place_level *l = &p->levels[i];

		if ((l->function != GT_NO_TEXT && l->function >= p->text.len) ||
			(l->file != GT_NO_TEXT && l->file >= p->text.len))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gt_debug_files where = { .trust_paths = true };
	struct gt_library_files files = { .n = 0 };
	struct gt_code_places p = { .n = 0 };
	int fd = memfd_create("fuzz_symbols", MFD_CLOEXEC);
	uint64_t offsets[OFFSETS];
	enum gt_lines_state state;
	char path[64];

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	for (unsigned i = 0; i < OFFSETS; i++)
		offsets[i] = 0x1001 + 4ul * i;
	gt_debug_files_find(&where, path, NULL, 0, &files);
	if (files.n && !gt_code_places_read(&p, &where, &files, offsets, OFFSETS, LINES_NS, &state))
		for (size_t i = 0; i < p.n; i++)
			check(&p, &p.list[i]);
	gt_code_places_release(&p);
	gt_library_files_release(&files);
	gt_debug_files_release(&where);
	close(fd);
	return 0;
}
