/* Sets probes at the USDT probes of processes: in each file that they have mapped as code, also one
 * that is in memory only, deleted, or in another mount namespace. The kernel increments a probe's
 * semaphore while it is attached, and decrements it when the link is closed, which also happens
 * when gtcollect is killed. */
#ifndef GT_USDT_H
#define GT_USDT_H
#include <stdbool.h>
#include <sys/types.h>
#include "collect/bpf/links/probe_link.h"
#include "formats/base/err.h"
#include "formats/base/map.h"

struct gt_bpf_way;
/* A file that was looked at. */
struct gt_usdt_file {
	uint64_t device, inode, size, changed; /* the key; changed: ns */
	struct gt_probe_places places;         /* of its wanted probes */
};
#define GT_USDT_FILE_KEY offsetof(struct gt_usdt_file, places)
/* A mapping that was looked at. */
struct gt_usdt_mapping {
	uint64_t pid, from, inode, device;
};
struct gt_usdt {
	struct gt_map files_map;
	struct gt_usdt_file *files;
	size_t nfiles, files_cap;
	struct gt_map seen_map;
	struct gt_usdt_mapping *seen;
	size_t nseen, seen_cap;
	uint32_t nsites;
	uint32_t *unused_sites; /* below nsites */
	size_t nunused_sites, unused_sites_cap;
	char unread[200]; /* the first argument that cannot be read, with its probe; "": none */
	unsigned nunread;
	unsigned nleft_out; /* places: there are too many */
	/* files that the user may not read, and the first of them */
	unsigned nunreadable;
	char unreadable[200];
	/* of each pattern: does a file have such a probe, and how many arguments has it at most? */
	struct gt_usdt_match {
		bool is_matched;
		unsigned arguments;
	} * matches;
};

/* Looks at what the process has mapped now: at first, and after each mapping of code, exec and fork
 * (process_events.c). 0 or negative. */
int gt_usdt_attach(struct gt_bpf_way *b, pid_t pid, struct gt_err *err);
/* The first of the selected patterns that no file has; NULL: there is none. */
const struct gt_usdt_pattern *gt_usdt_first_unmatched(const struct gt_bpf_way *b);
/* Once files were looked at: -ENOENT: a probe of --pair is in none of them; -EINVAL: an argument
 * that -e or --pair names is beyond those of its probe; 0: else. */
int gt_usdt_check(const struct gt_bpf_way *b, struct gt_err *err);
/* Links of files were closed: their sites are for others. */
void gt_usdt_forget_unlinked(struct gt_bpf_way *b);
/* Links were closed: mappings are looked at again. */
void gt_usdt_forget_seen(struct gt_usdt *u);
void gt_usdt_release(struct gt_usdt *u);
#endif
