/* Programs that are not prepared for it: gtcollect sets probes in them (collect/bpf), or loads the
 * guest library into those that already run (collect/inject). Their records arrive in the session's
 * rings. */
#ifndef GT_ATTACHED_PROGRAMS_H
#define GT_ATTACHED_PROGRAMS_H
#include <stdbool.h>
#include <sys/types.h>
#include "collect/ipc/guest_server.h"
#include "collect/ipc/shared_memory.h"

struct gt_bpf_way;
struct gt_host_recording;
struct gt_attached_programs { /* zeroed: none; release it with gt_attached_close */
	struct gt_rings *rings;
	struct gt_guest_server *server;
	struct gt_bpf_way *bpf;            /* NULL: only the library records */
	struct gt_host_recording *host;    /* NULL: perf events record nothing */
	bool is_reported;                  /* what host could not read */
	int64_t window_from, window_until; /* ns: gt_attached_set_window */
	bool has_probes;                   /* they are set, or may be at any time */
	struct gt_guest *list;             /* the processes of -p, as far as they are attached to */
	size_t n;
	bool is_refused;        /* injection is */
	char not_recorded[400]; /* in addition, by gt_attached_fall_back */
	pid_t stuck;            /* the last process that a message has named as still stopped */
	int64_t checked;        /* ns: when gt_attached_have_ended last looked for them */
};

/* Replaces --via auto by the way that the user's rights and -e permit. */
void gt_attached_choose_way(void);
/* Is a COMMAND recorded by probes, or by perf events? */
bool gt_attached_starts_command(void);
/* The command line of the first process, which the file names; or "all processes". */
char *gt_attached_command_line(char text[4096]);
/* The name of the first process, for the file's name; or "all". */
const char *gt_attached_name(char name[64]);
/* Are there all processes of -p, and are they no threads? Before -f overwrites a file. 0 or -ESRCH.
 */
int gt_attached_check(struct gt_err *err);
/* Loads what the way needs. rings and server are set. 0 or negative. */
int gt_attached_open(
	struct gt_attached_programs *a, const struct gt_session *selection, struct gt_err *err);
/* Attaches to the processes of -p; with -a, to all that have a driver mapped. 0 or negative. */
int gt_attached_attach(struct gt_attached_programs *a, struct gt_err *err);
/* gt_attached_attach has failed. Is that a refusal of injection, which gtcollect has chosen, and
 * may eBPF record something of -e? */
bool gt_attached_can_fall_back(const struct gt_attached_programs *a, const struct gt_err *refusal);
/* Then: changes the options to --via ebpf, and ends the guests that were injected. The
 * session must be closed and opened again. The next gt_attached_attach says what is missing. */
void gt_attached_fall_back(struct gt_attached_programs *a, const struct gt_err *refusal);
/* With these: a child of gtcollect waits for the return to execute the COMMAND; it and its
 * children are recorded. For gt_child_settings. */
int gt_attached_before_exec(void *attached, pid_t pid, struct gt_err *err);
/* Have all processes of -p exited? now: ns; they are looked for some times a second. */
bool gt_attached_have_ended(struct gt_attached_programs *a, int64_t now);
/* Only records that begin in this time count; ns. */
void gt_attached_set_window(struct gt_attached_programs *a, int64_t from, int64_t until);
/* Is readable when gt_attached_take_events has something to do; -1: there is none. */
int gt_attached_fd(const struct gt_attached_programs *a);
/* Sets probes in processes that have new code, and continues those that wait for it; after
 * gt_attached_stop_probes it only continues them. */
void gt_attached_take_events(struct gt_attached_programs *a);
/* Nothing is recorded by probes any more. */
void gt_attached_stop_probes(struct gt_attached_programs *a);
/* The same, and writes the records of probes to the rings. */
void gt_attached_drain(struct gt_attached_programs *a);
/* What detaching needs of the recorder. */
struct gt_attached_recorder {
	void (*pass)(int64_t now);     /* reads the rings */
	bool (*has_all_records)(void); /* of the GPU work that recorded calls launched */
};
/* Removes the probes, or ends the guests' recording: they write their last records first. */
void gt_attached_detach(struct gt_attached_programs *a, const struct gt_attached_recorder *r);
void gt_attached_close(struct gt_attached_programs *a);
#endif
