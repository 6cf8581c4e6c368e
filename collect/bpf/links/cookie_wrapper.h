/* Kernels before Linux 5.15 do not tell a program at which probe it runs. There each probe has a
 * small program of its own: it stores the probe's cookie in a map of this CPU, and continues with
 * the program proper by a tail call. These kernels run a program at a perf event to its end before
 * they run another one at an event on the same CPU, so the map needs one value. */
#ifndef GT_COOKIE_WRAPPER_H
#define GT_COOKIE_WRAPPER_H
#include <stdint.h>

struct bpf_object;
struct bpf_program;

#define GT_WRAPPED_PROGRAMS 8u

struct gt_cookie_wrappers {
	int cookies; /* descriptor of the programs' map `cookies`, borrowed; -1: the kernel has
			cookies, and no program is wrapped */
	unsigned n;
	struct {
		const struct bpf_program *program;
		int map; /* for tail calls to the program */
	} targets[GT_WRAPPED_PROGRAMS];
};
/* The descriptor of a new program, which the caller closes; or negative. */
int gt_cookie_wrapper_load(
	struct gt_cookie_wrappers *w, const struct bpf_program *program, uint64_t cookie);
/* The kernel ends tail calls then: no wrapper runs any more. */
void gt_cookie_wrappers_close(struct gt_cookie_wrappers *w);
#endif
