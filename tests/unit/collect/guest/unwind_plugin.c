/* Two libraries with the same code at the same offsets, but with frames of different sizes, for
 * test_unwind.c. FRAME: size in bytes, a multiple of 16 from 256 to 4080: the instructions have the
 * same length then. */
typedef void callback(void *);
extern void unwind_plugin(callback *f, void *arg);
#if defined(__x86_64__)
#define GROW(n) "sub $8+" #n ",%rsp\n\t.cfi_adjust_cfa_offset 8+" #n "\n\t"
#define SHRINK(n) "add $8+" #n ",%rsp\n\t.cfi_adjust_cfa_offset -8-" #n "\n\t"
#define BODY(n) GROW(n) "mov %rdi,%rax\n\tmov %rsi,%rdi\n\tcall *%rax\n\t" SHRINK(n) "ret\n\t"
#define TYPE "@function"
#else
#define BODY(n)                                                                                    \
	"sub sp,sp,#" #n "\n\t.cfi_adjust_cfa_offset " #n "\n\t"                                   \
	"str x30,[sp]\n\t.cfi_rel_offset x30,0\n\t"                                                \
	"mov x9,x0\n\tmov x0,x1\n\tblr x9\n\t"                                                     \
	"ldr x30,[sp]\n\tadd sp,sp,#" #n                                                           \
	"\n\t.cfi_def_cfa_offset 0\n\t.cfi_restore x30\n\tret\n\t"
#define TYPE "%function"
#endif
#define BODY_(n) BODY(n)
__asm__(".text\n\t.globl unwind_plugin\n\t.type unwind_plugin," TYPE "\n\t.p2align 4\n"
	"unwind_plugin:\n\t.cfi_startproc\n\t" BODY_(
		FRAME) ".cfi_endproc\n\t"
		       ".size unwind_plugin,.-unwind_plugin\n");
