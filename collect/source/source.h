/* Sources of events that gtcollect can record: one row each, chosen with -e. */
#ifndef GT_SOURCE_H
#define GT_SOURCE_H
#include <stdbool.h>
#include "collect/ipc/ring.h"
#include "formats/cmdline/opt.h"

/* Their names as in -e: "api" calls of the driver API; "ioctl" requests to the kernel driver, and open, close, mmap of its files;
 * "gpu" what the GPU did, by CUPTI, and with it more of what CUPTI tells: "runtime" the CUDA runtime's calls, "um" what managed
 * memory does; "nvtx" the program's annotations; "nvml" counters of every GPU. */
#define GT_SOURCES(X) X(api) X(ioctl) X(gpu) X(nvtx) X(nvml) X(runtime) X(um)
#define GT_SOURCE_WORD(name) " " #name
#define GT_SOURCES_DEFAULT "api,ioctl,gpu,nvtx"

#define GT_SOURCES_LIST 64
struct gt_sources { bool nvml; };	/* those that are no gates of the session: gtcollect does them itself */

/* Opens the gates of the sources in `list` ("api,ioctl"), and notes those without. 0 or -EINVAL. */
int gt_sources_enable(struct gt_session *s, struct gt_sources *own, const char *list, struct gt_err *err);
/* For --inject: what cannot be known there is left out, what comes by itself is in. What is recorded then is put in `list`. */
void gt_sources_inject(struct gt_session *s, const char *wanted, char list[GT_SOURCES_LIST]);
/* Closes the gates of names that no filter matches (when there are filters) or that an exclude matches; sample > 1 makes
 * those left sample. A glob (formats/names/globs.h) is held against the whole name and against the name without _v2, _ptsz and the like.
 * Returns how many gates are open; *useless is a glob that matched nothing, or NULL. */
unsigned gt_sources_filter(struct gt_session *s, const struct gt_opt_list *filter, const struct gt_opt_list *exclude,
			   uint32_t sample, const char **useless);
#endif
