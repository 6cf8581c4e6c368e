/* Call frame information of ELF files (.eh_frame): from the registers of a function to those of its
 * caller. libdw reads it. The rules of an address are kept, so the next step from there is a
 * look-up. (libdwfl would take the whole step, but it keeps files by process, and it follows frame
 * pointers without saying so where the information is missing.)
 *
 * Not thread-safe. Files may be damaged or hostile: a step then has a wrong result, not a fault. */
#ifndef GT_ELF_CFI_H
#define GT_ELF_CFI_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Registers have DWARF's numbers. x86-64: the last one is the return address. */
#ifdef __x86_64__
enum { GT_CPU_FP = 6, GT_CPU_SP = 7, GT_CPU_RA = 16, GT_CPU_REGISTERS = 17 };
#else
enum { GT_CPU_FP = 29, GT_CPU_RA = 30, GT_CPU_SP = 31, GT_CPU_REGISTERS = 32 };
#endif
#define GT_CPU_CODE_MASK ((1ull << 48) - 1) /* the bits above may sign an address (aarch64) */
struct gt_cpu_registers {
	uint64_t pc;
	bool is_return;                   /* pc is behind a call, else it is the next instruction */
	uint64_t known;                   /* bit N: the value of register N is known */
	uint64_t value[GT_CPU_REGISTERS]; /* of the stack pointer, if it is not known: at least */
};
static inline void gt_cpu_set(struct gt_cpu_registers *r, unsigned number, uint64_t value)
{
	r->value[number] = value;
	r->known |= 1ull << number;
}
static inline bool gt_cpu_knows(const struct gt_cpu_registers *r, unsigned number)
{
	return r->known >> number & 1;
}

enum gt_cfi_step {
	GT_CFI_CALLER,     /* the registers are the caller's */
	GT_CFI_END,        /* there is no caller: the thread or the process begins here */
	GT_CFI_NO_ENTRY,   /* the file says nothing of this address */
	GT_CFI_UNKNOWN,    /* a register is needed that is not known */
	GT_CFI_UNREADABLE, /* memory that the caller of gt_elf_cfi_step does not have */
	GT_CFI_IMPOSSIBLE  /* damaged, or the address or stack is not what the file describes */
};
/* Reads a word of the thread's memory; false: it cannot be read. */
typedef bool gt_cpu_read(void *arg, uint64_t address, uint64_t *word);

struct gt_elf_cfi;
/* new: close it. fd: borrowed until then. NULL: the file has no usable information. */
struct gt_elf_cfi *gt_elf_cfi_open(int fd);
void gt_elf_cfi_close(struct gt_elf_cfi *c); /* NULL is fine */
/* The address that the file gives to the byte at this offset, which code begins at. */
uint64_t gt_elf_cfi_address(const struct gt_elf_cfi *c, uint64_t offset);
/* Can a call return to this address (the file's own)? Does its code have a call before it? */
bool gt_elf_cfi_is_return(struct gt_elf_cfi *c, uint64_t address);
/* Goes from a function of the file to its caller. bias: what to add to the file's addresses. Unless
 * it returns GT_CFI_CALLER, the registers are as before. */
enum gt_cfi_step gt_elf_cfi_step(struct gt_elf_cfi *c, uint64_t bias, struct gt_cpu_registers *r,
	gt_cpu_read *read, void *arg);
#endif
