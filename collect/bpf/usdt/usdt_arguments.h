/* The arguments of a USDT probe, as its note describes them: a size, with a minus for signed and an
 * f for floating-point numbers, and an operand of the assembler. On x86-64 "8@%rdi -4@-20(%rbp)
 * 4@$5", on aarch64 "8@x0 -4@[sp, 12] 4@5". */
#ifndef GT_USDT_ARGUMENTS_H
#define GT_USDT_ARGUMENTS_H
#include "collect/bpf/bpf_events.h"

/* What the BPF program reads at a place with these arguments, in a file of that machine (ELF's
 * e_machine). Those that cannot be read are left
 * out: a symbol, a register that the kernel does not save, another machine. Their numbers remain
 * unused. Returns how many are left out; *bad, of 64 bytes, has the first of them. */
unsigned gt_usdt_arguments_parse(
	const char *text, uint16_t machine, struct gt_bpf_usdt_site *to, char bad[64]);
#endif
