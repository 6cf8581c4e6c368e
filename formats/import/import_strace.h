/* A line of strace's output, and what its system call means. Shared by import_strace.c and
 * import_strace_line.c. */
#ifndef GT_IMPORT_STRACE_H
#define GT_IMPORT_STRACE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
	int64_t time;               /* ns on that clock */
	int64_t tid;                /* 0: the line has none */
	struct gt_strace_text name; /* of the call; for signals and exits the name of the event */
	struct gt_strace_text args; /* up to the closing parenthesis or the mark "unfinished" */
	bool has_result, has_duration, failed, restarts;
	int64_t result;             /* as printed */
	int32_t error;              /* errno; INT32_MIN: unknown */
	struct gt_strace_text file; /* of the descriptor that the call returned (-y) */
	int64_t duration;           /* ns (-T) */
};
/* Reads a line of len bytes without its newline. line->form says what it is. */
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
#endif
