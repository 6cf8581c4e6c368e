/* The code that processes have mapped, as the kernel's events report it: it is known after the
 * process has ended, too. */
#ifndef GT_CODE_MAPS_H
#define GT_CODE_MAPS_H
#include <linux/limits.h>
#include <stdbool.h>
#include "formats/base/map.h"
#include "formats/symbols/elf_cfi.h"
#include "formats/symbols/elf_symbols.h"

#define GT_CODE_PATH (PATH_MAX + 32)
#define GT_CODE_RECENT 64

struct gt_mapped_code {
	uint64_t low, high, offset; /* addresses; offset of low in the file */
	uint64_t inode;
	uint32_t file;   /* index of gt_code_maps.files */
	uint64_t number; /* gt_code_maps_add sets it: 1 and up; a forked child has its parent's */
	bool is_read;    /* set by the caller; false at first */
	struct gt_elf_mapping place;
	bool is_searched; /* of native_unwind.c: */
	struct gt_elf_cfi *cfi;
	uint64_t bias, unwind_number;
	uint32_t unwind_file;
};
struct gt_code_process {
	uint32_t tgid;    /* the key */
	uint32_t threads; /* besides the first one */
	struct gt_mapped_code *items;
	size_t n, cap;
	/* of addresses that were looked up: the item's index plus one, by page; 0: none */
	uint32_t recent[GT_CODE_RECENT];
};
struct gt_code_maps { /* zeroed: empty */
	struct gt_map map, files_map;
	struct gt_code_process *processes;
	size_t n, cap;
	char **files; /* paths */
	size_t nfiles, files_cap;
	uint64_t last_number;
};

/* Without memory, this code is not known afterwards. */
void gt_code_maps_add(
	struct gt_code_maps *m, uint32_t tgid, const struct gt_mapped_code *code, const char *path);
void gt_code_maps_fork(struct gt_code_maps *m, uint32_t parent, uint32_t child);
/* The process starts a thread. */
void gt_code_maps_add_thread(struct gt_code_maps *m, uint32_t tgid);
/* A thread has ended. True: it was the last one of the process. */
bool gt_code_maps_end_thread(struct gt_code_maps *m, uint32_t tgid);
/* The process executes another program, or has ended. */
void gt_code_maps_forget(struct gt_code_maps *m, uint32_t tgid);
/* NULL: none is known there. Borrowed until the next change. */
struct gt_mapped_code *gt_code_maps_find(struct gt_code_maps *m, uint32_t tgid, uint64_t address);
void gt_code_maps_release(struct gt_code_maps *m);
/* Where this program finds the file of a process's code: it is one in the root of the process. Once
 * the process has ended, only this program's root is there. False: it has none. */
bool gt_mapped_code_path(const struct gt_code_maps *m, uint32_t tgid,
	const struct gt_mapped_code *code, char to[GT_CODE_PATH]);
#endif
