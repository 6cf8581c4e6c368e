/* Uprobes in one file: one link for all of them; before Linux 6.13, which has sessions, one for the
 * entries and one for the returns; before Linux 6.6 perf events: a few for groups of probes, or one
 * for each. */
#ifndef GT_PROBE_LINK_H
#define GT_PROBE_LINK_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "collect/bpf/links/descriptor_list.h"
#include "collect/bpf/links/perf_probe.h"
#include "collect/bpf/links/probe_group.h"
#include "formats/base/map.h"

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
/* Adds a place of others. 0 or -ENOMEM. */
int gt_probe_places_copy(
	struct gt_probe_places *to, const struct gt_probe_places *from, uint32_t place);
void gt_probe_places_release(struct gt_probe_places *p);

/* What the kernel has. */
struct gt_uprobe_features {
	bool multi;      /* a link of many probes: Linux 6.6 */
	bool of_process; /* such a link is for all threads of a process, not only its first
			    one: 6.10 */
	bool session;    /* one program at the entry and the return: 6.13 */
};
/* Asks the kernel. Without the right to load programs all are false. */
struct gt_uprobe_features gt_uprobe_features(void);

/* The programs at the entry and the return. */
struct gt_probe_programs {
	bool is_point; /* there is only `entry` */
	/* with `session` and no point, the program `session` is loaded, else the other two */
	struct gt_uprobe_features kernel;
	const struct bpf_program *session, *entry, *ret;
	struct gt_cookie_wrappers *wrappers;
	struct gt_probe_groups *groups;
};
struct gt_probe_link {
	int multi[2]; /* of a session, or of entries and of returns; or -1 */
	int *perf;    /* descriptors */
	size_t nperf;
	struct gt_probe_group group; /* of these descriptors, if they are few */
	bool is_of_all;              /* it is set in all processes */
};
#define GT_PROBE_NO_LINK                                                                           \
	{                                                                                          \
		.multi = { -1, -1 }                                                                \
	}
#define GT_ENOTSUPP 524 /* an error code of the kernel: it cannot probe the instruction */
/* Places that the kernel refuses, in the order of the places. */
struct gt_refusal {
	uint64_t offset, cookie;
	int why; /* negative */
};
struct gt_refusals {
	struct gt_refusal *list;
	size_t n, cap;
};
/* pid: 0: in all processes. Places that the kernel refuses are left out, and noted in *refusals;
 * if it refuses all, there is no link. 0 or negative; then *l is closed. Release *refusals in any
 * case. */
int gt_probe_link_open(struct gt_probe_link *l, const struct gt_probe_programs *programs,
	const char *path, pid_t pid, const struct gt_probe_places *places,
	struct gt_refusals *refusals);
void gt_refusals_release(struct gt_refusals *r);
/* The meaning of a negative code; static, or strerror's. */
const char *gt_refusal_text(int code);
void gt_probe_link_close(struct gt_probe_link *l);
/* Gives its descriptors to the list, which closes those of many links at the same time. */
void gt_probe_link_take(struct gt_probe_link *l, struct gt_descriptor_list *to);
/* new: close it. All places or none. program: a descriptor; flags: of the kernel's interface. */
int gt_multi_link(int program, unsigned type, unsigned flags, const char *path, pid_t pid,
	const struct gt_probe_places *places);

/* Of the kernel's interface: headers before Linux 6.6 and 6.13 lack them. */
#define GT_UPROBE_MULTI 48u
#define GT_UPROBE_SESSION 57u
#endif
