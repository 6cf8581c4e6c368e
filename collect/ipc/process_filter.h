/* Which processes of the machine are recorded: by name and by cgroup. gtcollect prepares the
 * filter, and the BPF programs ask it of each process, so they include this file, too.
 *
 * The patterns of names are one automaton. A pattern of n characters has n + 1 places: before each
 * character, and behind the last one. A bit of a set of places is one of them. */
#ifndef GT_PROCESS_FILTER_H
#define GT_PROCESS_FILTER_H
#include <stdbool.h>
#ifndef __bpf__
#include "formats/base/err.h"
#include "formats/cmdline/opt.h"
#endif

#define GT_PROCESS_NAME 16 /* bytes, with a zero */
#define GT_CGROUP_NAME 128 /* bytes, with a zero; a multiple of 8 */

typedef unsigned long long gt_name_places;
struct gt_process_filter { /* zeroed: all processes */
	/* before the first characters; where characters may be skipped (*); behind the last ones */
	gt_name_places first, repeats, last; /* first: 0: any name */
	gt_name_places accepts[256];         /* by byte: the places before a character that it is */
	unsigned long long cgroup;           /* its id, which is its inode; 0: any */
	/* of a folder that takes its place, when it was removed; parent: 0: none does */
	unsigned long long parent;
	unsigned long long name[GT_CGROUP_NAME / 8]; /* a text, filled up with zeros */
};

static inline bool gt_process_filter_has_name(
	const volatile struct gt_process_filter *f, const char name[GT_PROCESS_NAME])
{
	gt_name_places at = f->first;

	for (int i = 0; i < GT_PROCESS_NAME - 1 && name[i]; i++)
		at = (at & f->accepts[(unsigned char)name[i]]) << 1 | (at & f->repeats);
	return at & f->last;
}

#ifndef __bpf__
/* names: globs as of fnmatch(3), of which a process must match one, if there are any; folder: of a
 * cgroup v2, or NULL. 0; -EINVAL: a glob matches no name, the globs are too long together, or it is
 * no such folder. */
int gt_process_filter_init(struct gt_process_filter *f, const struct gt_opt_list *names,
	const char *folder, struct gt_err *err);
bool gt_process_filter_selects(const struct gt_process_filter *f);
#endif
#endif
