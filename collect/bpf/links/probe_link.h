/* Uprobes in one file: one link for all of them; before Linux 6.13, which has sessions, one for the
 * entries and one for the returns; before Linux 6.6 a perf event for each. */
#ifndef GT_PROBE_LINK_H
#define GT_PROBE_LINK_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "formats/base/map.h"

struct bpf_link;
struct bpf_program;

/* Where the probes lie in the file, and the number that the programs get from each of them. */
struct gt_probe_places {
	uint64_t *offsets, *cookies;
	uint64_t *counters; /* NULL; or offsets of counters that are incremented meanwhile, or 0 */
	uint32_t n, cap;
	struct gt_map map; /* by offset */
};
/* A place that is there already is not added again: two names of one function. 0 or -ENOMEM. */
int gt_probe_places_add(struct gt_probe_places *p, uint64_t offset, uint64_t cookie);
/* With a counter; then all of the places have been added by this function. */
int gt_probe_places_add_counted(
	struct gt_probe_places *p, uint64_t offset, uint64_t cookie, uint64_t counter);
void gt_probe_places_release(struct gt_probe_places *p);

/* The programs at the entry and the return. */
struct gt_probe_programs {
	bool is_point;    /* there is only `entry` */
	bool has_session; /* the kernel has them; then `session` is loaded, else the other two */
	const struct bpf_program *session, *entry, *ret;
};
struct gt_probe_link {
	int multi[2]; /* of a session, or of entries and of returns; or -1 */
	struct bpf_link **perf;
	size_t nperf;
	bool is_of_all; /* it is set in all processes */
};
#define GT_PROBE_NO_LINK                                                                           \
	{                                                                                          \
		.multi = { -1, -1 }                                                                \
	}
/* pid: 0: in all processes. 0 or negative; then *l is closed. */
int gt_probe_link_open(struct gt_probe_link *l, const struct gt_probe_programs *programs,
	const char *path, pid_t pid, const struct gt_probe_places *places);
void gt_probe_link_close(struct gt_probe_link *l);

/* Of the kernel's interface: headers before Linux 6.6 and 6.13 lack them. */
#define GT_UPROBE_MULTI 48u
#define GT_UPROBE_SESSION 57u
#endif
