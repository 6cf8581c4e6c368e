/* The compiled BPF programs (programs/), as bytes of gtcollect itself. */
#include "collect/bpf/bpf_object.h"

#define OBJECT(name, file)                                                                         \
	__asm__(".section .rodata\n"                                                               \
		".balign 16\n"                                                                     \
		".global " name ", " name "_bytes\n" name ":\n"                                    \
		".incbin \"" file "\"\n"                                                           \
		"1:\n"                                                                             \
		".balign 8\n" name "_bytes: .quad 1b - " name "\n"                                 \
		".previous\n")

OBJECT("gt_bpf_object", GT_BPF_OBJECTS "all_bpf.o");
OBJECT("gt_bpf_object_of_context", GT_BPF_OBJECTS "all_bpf_context.o");
OBJECT("gt_bpf_object_no_session", GT_BPF_OBJECTS "all_bpf_no_session.o");
