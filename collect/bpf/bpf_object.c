/* The compiled BPF programs (calls_bpf.c), as bytes of gtcollect itself. */
extern const char gt_bpf_object_begin[], gt_bpf_object_end[];

__asm__(".section .rodata\n"
	".balign 16\n"
	".global gt_bpf_object_begin, gt_bpf_object_end\n"
	"gt_bpf_object_begin:\n"
	".incbin \"" GT_BPF_OBJECT "\"\n"
	"gt_bpf_object_end:\n"
	".previous\n");
