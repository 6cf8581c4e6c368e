/* The files that hold the symbols and lines of a library, which are found by its build id: in
 * folders that the user names, in /usr/lib/debug, and the library itself. A file with another build
 * id is never used.
 *
 * A folder may be laid out as /usr/lib/debug is (.build-id/xx/rest.debug), or as debuginfod's cache
 * (ID/debuginfo, ID/executable). Other folders are searched as a whole, the first time that this is
 * necessary. */
#ifndef GT_DEBUG_FILES_H
#define GT_DEBUG_FILES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "formats/base/buf.h"

#define GT_DEBUG_FILES_MAX 8u     /* of a library; further ones are ignored */
#define GT_DEBUG_ID_MAX 64u       /* bytes of a build id */
#define GT_DEBUG_ENTRIES 200000u  /* of all folders: further ones are not searched */
#define GT_DEBUG_FOLDER_DEPTH 24u /* of folders in folders: deeper ones are not searched */

struct gt_debug_files {
	const char *const *folders; /* borrowed */
	size_t nfolders;
	/* Is the path of a library of this machine? Then it is used even if the library has no
	 * build id. */
	bool trust_paths;
	/* private */
	struct gt_found_file {
		size_t path; /* offset in paths */
		uint32_t nid;
		uint8_t id[GT_DEBUG_ID_MAX];
	} * found;
	size_t nfound, cap;
	struct gt_buf paths;
	uint32_t nentries;
	bool is_searched;
	/* after the search: beyond GT_DEBUG_ENTRIES; below GT_DEBUG_FOLDER_DEPTH */
	bool is_cut, has_deep_folders;
};
/* Of one library. Zero-initialised; release it. */
struct gt_library_files {
	char *path[GT_DEBUG_FILES_MAX]; /* those to prefer come first */
	size_t n;
	char *other_build; /* a file of the library's name that does not have its build id, or NULL
			    */
};
/* path: of the library when it was recorded; id: its build id of nid bytes. */
void gt_debug_files_find(struct gt_debug_files *f, const char *path, const uint8_t *id, size_t nid,
	struct gt_library_files *to);
void gt_library_files_release(struct gt_library_files *l);
void gt_debug_files_release(struct gt_debug_files *f);
#endif
