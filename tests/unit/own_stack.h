/* This thread's own stack as the recorder has that of a sample: mapped code, registers, and a copy
 * of the stack. */
#ifndef OWN_STACK_H
#define OWN_STACK_H
#include <ucontext.h>
#include <unistd.h>
#include "collect/host/native_unwind.h"
#include "collect/host/remote_interpreter.h"
#include "collect/ipc/process_maps.h"

#define STACK 65536u

static struct gt_code_maps code;
static struct gt_native_unwinder *unwinder;
static struct gt_cpu_registers registers;
static struct gt_native_stack stack;
static uint8_t memory[STACK];
static size_t bytes;

static int add_mapping(void *arg, const struct gt_mapping *m, struct gt_err *err)
{
	if (m->flags[2] == 'x')
		gt_code_maps_add(&code, 1,
			&(struct gt_mapped_code){ .low = m->from,
				.high = m->to,
				.offset = m->offset,
				.inode = m->inode },
			m->name);
	return 0;
}

/* Once more: all that is mapped by now. files: that are open at a time. */
static void open_files(size_t files)
{
	gt_code_maps_release(&code);
	gt_native_unwinder_free(unwinder);
	unwinder = gt_native_unwinder_new(files);
	gt_mappings_each(getpid(), add_mapping, NULL, NULL);
}

static inline void open_all(void) { open_files(GT_NATIVE_FILES); }

static void take_registers(const ucontext_t *u)
{
	registers = (struct gt_cpu_registers){ .is_return = true };
#ifdef __x86_64__
	static const uint8_t from[GT_CPU_REGISTERS] = { REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI,
		REG_RDI, REG_RBP, REG_RSP, REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13,
		REG_R14, REG_R15, REG_RIP };

	for (unsigned i = 0; i < GT_CPU_REGISTERS; i++)
		gt_cpu_set(&registers, i, (uint64_t)u->uc_mcontext.gregs[from[i]]);
	registers.pc = registers.value[GT_CPU_RA];
#else
	for (unsigned i = 0; i < GT_CPU_SP; i++)
		gt_cpu_set(&registers, i, u->uc_mcontext.regs[i]);
	gt_cpu_set(&registers, GT_CPU_SP, u->uc_mcontext.sp);
	registers.pc = u->uc_mcontext.pc;
#endif
	bytes = gt_read_process_part((uint32_t)getpid(), registers.value[GT_CPU_SP], memory, STACK);
}

static void unwind(const struct gt_cpu_registers *r)
{
	struct gt_native_thread t = { .code = &code,
		.tgid = 1,
		.registers = *r,
		.memory = { r->value[GT_CPU_SP], bytes, memory } };

	gt_native_unwind(unwinder, &t, &stack);
}

#endif
