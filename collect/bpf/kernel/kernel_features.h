/* What the kernel and the user's rights permit to eBPF, for --doctor and for messages. */
#ifndef GT_KERNEL_FEATURES_H
#define GT_KERNEL_FEATURES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* check: true: it is there. `text` says what that means, or what to do. */
struct gt_kernel_feature {
	const char *name;
	bool (*check)(char *text, size_t size);
	bool reads_sys; /* without /sys it is unknown */
};
extern const struct gt_kernel_feature gt_kernel_features[]; /* ends with a row without a name */
/* As its check; false if it is unknown. */
bool gt_kernel_feature_is_there(const struct gt_kernel_feature *f, char *text, size_t size);

/* Can the kernel's description of its structs be read? False: `text` says why and what to do. */
bool gt_has_btf(char *text, size_t size);

/* Is the kernel of this version or newer? */
bool gt_is_linux(unsigned major, unsigned minor);
/* gtcollect's pid namespace, as the number of /proc/self/ns/pid; 0: the first one, of the machine.
 */
uint32_t gt_other_pid_namespace(void);
/* The effective capabilities of gtcollect. */
uint64_t gt_own_capabilities(void);
/* Does the calling thread need CAP_SYS_ADMIN for a perf event at a function of a program? Before
 * Linux 6.6 probes are such events. It tries one without that capability. */
bool gt_uprobes_need_admin(void);
/* The capabilities of gtcollect, in setcap's words. */
const char *gt_needed_capabilities(void);
/* Do BPF programs learn at which probe they run? Since Linux 5.15, and in older kernels of some
 * distributions. */
bool gt_has_cookies(void);
/* May BPF maps be as large as they need to be? False: `text` says what to do. */
bool gt_has_memlock(char *text, size_t size);
/* Tries a probe of a kernel function. False: `text` has the reason. */
bool gt_has_kprobes(char *text, size_t size);
#endif
