/* The arguments of a USDT probe, as its note describes them ("8@%rdi -4@-20(%rbp) 4@$5"): a size,
 * with a minus for signed and an f for floating-point numbers, and an operand of the assembler. */
#ifndef GT_USDT_ARGUMENTS_H
#define GT_USDT_ARGUMENTS_H
#include "collect/bpf/bpf_events.h"

/* What the BPF program reads at a place with these arguments. Those that cannot be read are left
 * out: a symbol, a register that the kernel does not save. Their numbers remain unused. Returns how
 * many are left out; *bad, of 64 bytes, has the first of them. */
unsigned gt_usdt_arguments_parse(const char *text, struct gt_bpf_usdt_site *to, char bad[64]);
#endif
