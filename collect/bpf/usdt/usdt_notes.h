/* The USDT probes of an ELF file: its notes named "stapsdt" say where the probes are, how a tracer
 * announces itself (a counter, called semaphore), and where the arguments are. */
#ifndef GT_USDT_NOTES_H
#define GT_USDT_NOTES_H
#include <stddef.h>
#include <stdint.h>
#include "formats/base/err.h"

/* A place in the code that fires the probe. There may be several of one name. */
struct gt_usdt_site {
	char *provider, *name;
	char *arguments;    /* as in the note; SYMBOL(%rip) is N(%rip), N from the place on, and
			     #:lo12:SYMBOL is N */
	uint64_t offset;    /* in the file */
	uint64_t semaphore; /* offset in the file; 0: it has none */
	uint16_t machine;   /* of the file: ELF's e_machine */
};
struct gt_usdt_sites {
	struct gt_usdt_site *list;
	size_t n, cap;
	unsigned left_out; /* more than a file may have */
};
/* Adds the sites of the file for which `wants` is true. A note that is damaged is skipped, with the
 * rest of its section. Release *s in any case. 0; -ENOMEM; -EINVAL: it is no ELF file of 64 bits.
 */
typedef int gt_usdt_wants(void *arg, const char *provider, const char *name);
int gt_usdt_sites_read(
	struct gt_usdt_sites *s, int fd, gt_usdt_wants *wants, void *arg, struct gt_err *err);
void gt_usdt_sites_release(struct gt_usdt_sites *s);
#endif
