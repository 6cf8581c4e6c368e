/* Many uprobes as few perf events, before Linux 6.6. The kernel removes perf events one after the
 * other, and at each it waits until no processor runs its program, some 30 ms. An event of tracefs
 * (uprobe_events) has any number of places, but its program gets one cookie for all of them. So an
 * event here has places that differ in the lower bits of their addresses, by which the program
 * finds the cookie of the place (programs/cookies.h). At returns programs need no cookie: all of
 * them are one event.
 *
 * If gtcollect is killed, the names of its events remain in the list of tracefs, without probes in
 * any code. The next gtcollect removes them. */
#ifndef GT_PROBE_GROUP_H
#define GT_PROBE_GROUP_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct gt_probe_places;
struct gt_probe_programs;

struct gt_probe_group;
struct gt_probe_groups {
	int tracefs, list; /* its folder, and uprobe_events; -1: there are no groups */
	int cookies;       /* the programs' map `group_cookies`, borrowed */
	uint32_t next;     /* number of the next group */
	char system[32];   /* under this name tracefs has the events of this process */
	struct gt_probe_group *ended;
	size_t nended, ended_cap;
};
/* Of one link. */
struct gt_probe_group {
	struct gt_probe_groups *groups;
	uint32_t first, n; /* numbers of events */
	uint32_t *keys;    /* in the map */
	uint32_t nkeys;
};

/* tracefs: its folder, which `g` consumes; without the right to write there g->list is -1. */
void gt_probe_groups_open(struct gt_probe_groups *g, int tracefs, int cookies);
void gt_probe_groups_close(struct gt_probe_groups *g);
/* Are these enough places for groups? */
bool gt_probe_groups_fit(const struct gt_probe_groups *g, const struct gt_probe_places *places);
/* Sets all probes or none. Stores the descriptors of the perf events in `events`, which has space
 * for two for each place, and their number in *nevents.
 * 0 or negative; then nothing remains. */
int gt_probe_group_open(struct gt_probe_group *group, struct gt_probe_groups *g,
	const struct gt_probe_programs *programs, const char *path, pid_t pid,
	const struct gt_probe_places *places, int *events, size_t *nevents);
/* The caller closes the descriptors before it opens another group or closes all: only then the
 * kernel permits to remove the names. */
void gt_probe_group_end(struct gt_probe_group *group);
#endif
