/* The cache of indexed copies of traces: $XDG_CACHE_HOME/gt or ~/.cache/gt, mode 0700, in a path
 * that no other user can redirect (safe_path.h). The key of a copy is the path, device, inode, size
 * and modification time of its trace, and the versions of the code that wrote it. The number and
 * size of copies are limited; the least recently used are removed first. Several programs may use
 * the cache: a copy gets its name only when it is complete, and every user of a copy holds a lock,
 * so that it is not removed. Like any file, a copy is not trusted. */
#ifndef GT_INDEX_CACHE_H
#define GT_INDEX_CACHE_H
#include <limits.h>
#include <stdint.h>
#include <sys/stat.h>
#include "formats/base/err.h"
#include "formats/os/atomic_file.h"

#define GT_INDEX_CACHE_FILES 32u
#define GT_INDEX_CACHE_BYTES (8ull << 30)

struct gt_index_cache_key {
	char id[33], name[48]; /* name: of the copy in the folder */
};
void gt_index_cache_key(struct gt_index_cache_key *k, const char *path, const struct stat *of);

struct gt_index_cache {
	int folder;
	char path[PATH_MAX];
};
/* 0: close it later; negative: err says why the folder cannot be used */
int gt_index_cache_open(struct gt_index_cache *c, struct gt_err *err);
void gt_index_cache_close(struct gt_index_cache *c);
/* Returns the descriptor of a copy, locked until it is closed; -ENOENT: no copy. The caller checks
 * the content. */
int gt_index_cache_find(const struct gt_index_cache *c, const struct gt_index_cache_key *k);
void gt_index_cache_remove(const struct gt_index_cache *c, const struct gt_index_cache_key *k);

/* Begins a new copy; gt_atomic_file_close drops it. */
int gt_index_cache_begin(
	const struct gt_index_cache *c, struct gt_atomic_file *n, struct gt_err *err);
/* Gives the copy its name, and trims the cache. The caller keeps the descriptor and its lock. */
int gt_index_cache_commit(const struct gt_index_cache *c, struct gt_atomic_file *n,
	const struct gt_index_cache_key *k, struct gt_err *err);
/* Removes the least recently used copies until at most so many files and bytes are left. Copies in
 * use stay. */
void gt_index_cache_trim(const struct gt_index_cache *c, unsigned files, uint64_t bytes);

#define GT_INDEX_CACHE_SUFFIX ".gt.zst" /* of the names of copies */
#endif
