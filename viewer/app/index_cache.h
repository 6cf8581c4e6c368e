/* Where indexed copies of traces are kept: $XDG_CACHE_HOME/gt, or ~/.cache/gt, a folder of ours
 * alone (mode 0700) that nobody else can rename (safe_path.h). A copy is found by the path, device,
 * inode, size and time of change of what it is of, and by the versions of what wrote it. The folder
 * is bounded; what was used longest ago goes first. Several programs may use it at once: a copy has
 * its name only when it is complete, and who uses one holds a lock on it, so that it is not
 * removed. What lies there is distrusted like any file. */
#ifndef GT_INDEX_CACHE_H
#define GT_INDEX_CACHE_H
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include "formats/base/err.h"
#include "formats/os/atomic_file.h"

#define GT_INDEX_CACHE_FILES 32u
#define GT_INDEX_CACHE_BYTES (8ull << 30)

struct gt_index_cache_key {
	char id[33];
}; /* hexadecimal */
void gt_index_cache_key(struct gt_index_cache_key *k, const char *path, const struct stat *of);

struct gt_index_cache {
	int folder;
	char path[PATH_MAX];
};
/* 0 or negative, with why the folder cannot be used; to be closed if 0 */
int gt_index_cache_open(struct gt_index_cache *c, struct gt_err *err);
void gt_index_cache_close(struct gt_index_cache *c);
/* A copy's descriptor, locked until it is closed; -ENOENT: there is none. What is in it is still to
 * be looked at. */
int gt_index_cache_find(const struct gt_index_cache *c, const struct gt_index_cache_key *k);
void gt_index_cache_touch(int fd); /* now, so it goes last */
void gt_index_cache_remove(const struct gt_index_cache *c, const struct gt_index_cache_key *k);

/* A copy that is being made, and dropped with gt_atomic_file_close. */
int gt_index_cache_begin(
	const struct gt_index_cache *c, struct gt_atomic_file *n, struct gt_err *err);
/* Gives it its name, and makes room. The descriptor stays the caller's, and the lock with it. */
int gt_index_cache_commit(const struct gt_index_cache *c, struct gt_atomic_file *n,
	const struct gt_index_cache_key *k, struct gt_err *err);
/* Removes what was used longest ago until no more than so many files of so many bytes are left;
 * what is in use stays. */
void gt_index_cache_trim(const struct gt_index_cache *c, unsigned files, uint64_t bytes);

/* The name of a copy in the folder. */
#define GT_INDEX_CACHE_SUFFIX ".gt.zst"
void gt_index_cache_name(const struct gt_index_cache_key *k, char to[48]);
#endif
