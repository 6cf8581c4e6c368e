/* The compiled BPF programs (programs/), as bytes of gtcollect itself. */
#include "collect/bpf/bpf_object.h"

__asm__(".section .rodata\n"
	".balign 16\n"
	".global gt_bpf_object, gt_bpf_object_bytes\n"
	"gt_bpf_object:\n"
	".incbin \"" GT_BPF_OBJECT "\"\n"
	"1:\n"
	".balign 8\n"
	"gt_bpf_object_bytes: .quad 1b - gt_bpf_object\n"
	".previous\n");
