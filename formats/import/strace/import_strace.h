/* Lines of strace's output (import_strace_buffer.c, import_strace_line.c) and what their system
 * calls are (import_strace_call.c), for import_strace.c. */
#ifndef GT_IMPORT_STRACE_H
#define GT_IMPORT_STRACE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "formats/base/err.h"
#include "formats/base/map.h"

struct gt_in;

/* Borrowed bytes of a line; p is NULL if there are none. */
struct gt_strace_text {
	const char *p;
	size_t len;
};
enum gt_strace_form {
	GT_STRACE_OTHER,      /* no line of strace, or damaged */
	GT_STRACE_MESSAGE,    /* strace's own: "strace: Process 7 attached" */
	GT_STRACE_CALL,       /* close(3) = 0 <0.000010> */
	GT_STRACE_UNFINISHED, /* close(3 <unfinished ...> */
	GT_STRACE_RESUMED,    /* <... close resumed>) = 0 <0.000010> */
	GT_STRACE_SIGNAL,     /* --- SIGCHLD {si_signo=SIGCHLD, ...} --- */
	GT_STRACE_EXIT,       /* +++ exited with 0 +++ */
};
enum gt_strace_clock {
	GT_STRACE_NO_CLOCK,
	GT_STRACE_UNIX,    /* -ttt: since 1970 */
	GT_STRACE_DAY,     /* -t, -tt: since midnight */
	GT_STRACE_RELATIVE /* -r: since the line before */
};
struct gt_strace_line {
	enum gt_strace_form form;
	enum gt_strace_clock clock;
	int64_t time;                  /* ns on that clock */
	int64_t tid;                   /* 0: the line has none */
	struct gt_strace_text command; /* name of the thread (-Y) */
	struct gt_strace_text name; /* of the call; for signals and exits the name of the event */
	struct gt_strace_text args; /* up to the closing parenthesis or the mark "unfinished" */
	bool has_result, has_duration, failed, restarts;
	int64_t result;             /* as printed */
	int32_t error;              /* errno; INT32_MIN: unknown */
	struct gt_strace_text file; /* of the descriptor that the call returned (-y) */
	int64_t duration;           /* ns (-T) */
};
/* Reads a line of len bytes without its newline. A damaged line has the form GT_STRACE_OTHER. */
void gt_strace_parse(struct gt_strace_line *line, const char *text, size_t len);
/* Argument i, from 0. False: there are fewer. */
bool gt_strace_arg(struct gt_strace_text args, unsigned i, struct gt_strace_text *arg);
/* A descriptor and, with -y, the path of its file: "3</dev/nvidia0>". False: another argument. */
bool gt_strace_fd(struct gt_strace_text arg, int64_t *fd, struct gt_strace_text *path);
/* A number: decimal, hex, or _IOC(...). False: it is a name. */
bool gt_strace_number(struct gt_strace_text arg, uint64_t *value);
bool gt_strace_is(struct gt_strace_text text, const char *word);

enum gt_strace_flags {
	GT_STRACE_HAS_FD = 1,   /* the first argument is a descriptor */
	GT_STRACE_HAS_PATH = 2, /* the first string is a path */
	GT_STRACE_HEX = 4,      /* it returns an address */
};
struct gt_strace_syscall {
	uint8_t category, flags; /* enum gt_category, enum gt_strace_flags */
};
struct gt_strace_syscall gt_strace_syscall_of(const char *name, size_t len);

/* ---- import_strace_buffer.c: the lines of a file ---- */

/* Calls fn for each line, without its newline, until it returns something else than 0; returns
 * that, 0, or negative. The bytes are borrowed for the call. A message of strace within a line is
 * removed. *truncated: the last line has no newline. */
typedef int gt_strace_line_fn(void *arg, const char *bytes, size_t len, struct gt_err *err);
int gt_strace_each_line(
	struct gt_in *in, gt_strace_line_fn *fn, void *arg, bool *truncated, struct gt_err *err);

/* ---- import_strace_call.c: what a call is ---- */

/* groups of names */
enum gt_strace_group {
	GT_STRACE_SYSCALL = 1,
	GT_STRACE_DRIVER_IOCTL,
	GT_STRACE_DRIVER_FILE,
	GT_STRACE_EVENT
};
/* A call on a file of the driver, or another one. */
struct gt_strace_call {
	enum gt_strace_group group;
	char name[160];
	uint64_t file;   /* of the driver; 0: another file or none */
	int64_t fd;      /* -1: none */
	uint64_t length; /* of mmap */
	struct gt_strace_text path;
	bool simulated; /* the file is one of the simulated driver */
};
/* The driver's files that processes have open. Zero it first, release it at the end. */
struct gt_strace_files {
	struct gt_map map;
	struct strace_fd *fds;
	size_t n, cap;
};
void gt_strace_files_release(struct gt_strace_files *f);
/* file: gt_ioctl_file(); 0: the descriptor is closed, or of another file. */
void gt_strace_set_fd(struct gt_strace_files *f, int64_t process, int64_t fd, uint64_t file);
void gt_strace_describe(struct gt_strace_files *f, int64_t process, const struct gt_strace_line *l,
	struct gt_strace_call *c);
bool gt_strace_is_open(struct gt_strace_text name); /* open, openat ... */
/* The first string of the arguments, without its quotes; p is NULL if there is none. */
struct gt_strace_text gt_strace_first_string(struct gt_strace_text args);
#endif
