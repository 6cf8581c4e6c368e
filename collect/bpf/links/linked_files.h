/* The files that have probes: of functions of the driver, of functions that the user names, of
 * loaders, and of USDT. A file has a link for each process, or one for all. */
#ifndef GT_LINKED_FILES_H
#define GT_LINKED_FILES_H
#include <sys/stat.h>
#include "collect/bpf/links/probe_link.h"

enum gt_linked_kind {
	GT_LINKED_DRIVER,
	GT_LINKED_LOADER,
	GT_LINKED_USDT,
	GT_LINKED_FUNCTION /* plus the number of the --probe */
};
struct gt_linked_file {
	unsigned kind;
	pid_t pid; /* 0: all processes */
	dev_t device;
	ino_t inode;
	uint64_t identity; /* file_identity.h; the kernel keeps the file while it has a link */
	struct gt_probe_link link;
	unsigned use; /* enum gt_file_use, of the last look */
};
/* A place that the kernel refuses, in a file as it was. */
struct gt_refused_place {
	uint64_t device, inode, changed, offset, kind; /* the key; changed: ns */
	uint64_t cookie;
	int why;
};
#define GT_REFUSED_PLACE_KEY offsetof(struct gt_refused_place, cookie)
struct gt_linked_files {
	struct gt_linked_file *list;
	size_t n, cap;
	const struct bpf_program *own_mappings, *file_use; /* of file_identity.h; or NULL */
	struct gt_map refused_map;
	struct gt_refused_place *refused; /* not tried again */
	size_t nrefused, refused_cap;
};

/* When the file was changed, in ns. */
uint64_t gt_file_changed(const struct stat *st);
/* Has the file such probes in the process, or in all? By device and inode. */
bool gt_linked_files_have(const struct gt_linked_files *f, const struct gt_linked_file *which);
/* Has it such probes in any process? */
bool gt_linked_files_have_any(
	const struct gt_linked_files *f, unsigned kind, dev_t device, ino_t inode);
/* Sets device, inode and identity of an open file. Returns whether it has such probes, also by
 * another path. */
bool gt_linked_files_identify(
	const struct gt_linked_files *f, struct gt_linked_file *which, int fd);
/* Sets probes in an open file. The kernel may set them in all processes instead, and refuse some of
 * the places or all. Returns the number of places that have probes, or negative. */
int gt_linked_files_add(struct gt_linked_files *f, struct gt_linked_file which,
	const struct gt_probe_programs *programs, int fd, const struct gt_probe_places *places);
/* Closes those of the process. Returns whether it had any. */
bool gt_linked_files_remove(struct gt_linked_files *f, pid_t pid);
/* Closes those of processes that have ended: their ids may belong to others soon. Returns whether
 * there were any. */
bool gt_linked_files_remove_ended(struct gt_linked_files *f);
/* Closes those of files that no process maps, if they have no name any more, and all but the last
 * GT_UNMAPPED_LINKS others: a program that is started again has its probes from the first
 * instruction on. Returns whether there were any. */
#define GT_UNMAPPED_LINKS 64
bool gt_linked_files_remove_unmapped(struct gt_linked_files *f);
/* Closes all links. The refused places remain. */
void gt_linked_files_close(struct gt_linked_files *f);
void gt_linked_files_release(struct gt_linked_files *f);
#endif
