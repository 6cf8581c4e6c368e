#include "formats/symbols/cfi_expression.h"

#include <dwarf.h>

#define STACK_MAX 32u

struct machine {
	uint64_t stack[STACK_MAX];
	unsigned n;
	enum gt_cfi_step state; /* GT_CFI_CALLER: no error yet */
};

static void push(struct machine *m, uint64_t value)
{
	if (m->n < STACK_MAX)
		m->stack[m->n++] = value;
	else
		m->state = GT_CFI_IMPOSSIBLE;
}

/* The value that is `depth` below the top. */
static uint64_t peek(struct machine *m, uint64_t depth)
{
	if (depth < m->n)
		return m->stack[m->n - 1 - depth];
	m->state = GT_CFI_IMPOSSIBLE;
	return 0;
}

static uint64_t pop(struct machine *m)
{
	uint64_t value = peek(m, 0);

	if (m->n)
		m->n--;
	return value;
}

static void push_register(
	struct machine *m, const struct gt_cfi_context *in, uint64_t number, uint64_t offset)
{
	if (number < GT_CPU_REGISTERS && gt_cpu_knows(in->registers, (unsigned)number))
		push(m, in->registers->value[number] + offset);
	else
		m->state = GT_CFI_UNKNOWN;
}

static void dereference(struct machine *m, const struct gt_cfi_context *in, uint64_t bytes)
{
	const uint64_t address = pop(m), shift = 8 * (address % 8);
	uint64_t word;

	if (!bytes || bytes > 8 || address % 8 + bytes > 8)
		m->state = GT_CFI_IMPOSSIBLE;
	else if (m->state == GT_CFI_CALLER && !in->read(in->arg, address - address % 8, &word))
		m->state = GT_CFI_UNREADABLE;
	if (m->state == GT_CFI_CALLER)
		push(m, word << (64 - 8 * bytes - shift) >> (64 - 8 * bytes));
}

/* bits: below 64 */
static uint64_t shift_signed(uint64_t a, uint64_t bits)
{
	return a >> 63 ? ~(~a >> bits) : a >> bits;
}

static uint64_t compute(uint8_t atom, uint64_t a, uint64_t b)
{
	switch (atom) {
	case DW_OP_plus: return a + b;
	case DW_OP_minus: return a - b;
	case DW_OP_mul: return a * b;
	case DW_OP_and: return a & b;
	case DW_OP_or: return a | b;
	case DW_OP_xor: return a ^ b;
	case DW_OP_shl: return b < 64 ? a << b : 0;
	case DW_OP_shr: return b < 64 ? a >> b : 0;
	case DW_OP_shra: return shift_signed(a, b < 64 ? b : 63);
	case DW_OP_eq: return a == b;
	case DW_OP_ne: return a != b;
	case DW_OP_lt: return (int64_t)a < (int64_t)b;
	case DW_OP_le: return (int64_t)a <= (int64_t)b;
	case DW_OP_gt: return (int64_t)a > (int64_t)b;
	default: return (int64_t)a >= (int64_t)b; /* DW_OP_ge */
	}
}

static void swap(struct machine *m)
{
	uint64_t a = pop(m), b = pop(m);

	push(m, a);
	push(m, b);
}

/* Jumps are not among the operations: no compiler makes them here, and they could go on for ever.
 */
static void execute(struct machine *m, const struct gt_cfi_context *in, const Dwarf_Op *op)
{
	uint64_t b;

	switch (op->atom) {
	case DW_OP_lit0 ... DW_OP_lit31: push(m, op->atom - DW_OP_lit0); break;
	case DW_OP_const1u ... DW_OP_consts: push(m, op->number); break;
	case DW_OP_breg0 ... DW_OP_breg31:
		push_register(m, in, op->atom - DW_OP_breg0, op->number);
		break;
	case DW_OP_bregx: push_register(m, in, op->number, op->number2); break;
	case DW_OP_call_frame_cfa: push(m, in->cfa); break;
	case DW_OP_plus_uconst: push(m, pop(m) + op->number); break;
	case DW_OP_deref: dereference(m, in, 8); break;
	case DW_OP_deref_size: dereference(m, in, op->number); break;
	case DW_OP_dup: push(m, peek(m, 0)); break;
	case DW_OP_over: push(m, peek(m, 1)); break;
	case DW_OP_pick: push(m, peek(m, op->number)); break;
	case DW_OP_drop: pop(m); break;
	case DW_OP_swap: swap(m); break;
	case DW_OP_neg: push(m, -pop(m)); break;
	case DW_OP_not: push(m, ~pop(m)); break;
	case DW_OP_nop:
	case DW_OP_stack_value: break;
	case DW_OP_plus:
	case DW_OP_minus:
	case DW_OP_mul:
	case DW_OP_and:
	case DW_OP_or:
	case DW_OP_xor:
	case DW_OP_shl:
	case DW_OP_shr:
	case DW_OP_shra:
	case DW_OP_eq ... DW_OP_ne:
		b = pop(m);
		push(m, compute(op->atom, pop(m), b));
		break;
	default: m->state = GT_CFI_IMPOSSIBLE; break;
	}
}

enum gt_cfi_step gt_cfi_evaluate(
	const Dwarf_Op *ops, size_t n, const struct gt_cfi_context *in, uint64_t *value)
{
	struct machine m = { .state = GT_CFI_CALLER };

	for (size_t i = 0; i < n && m.state == GT_CFI_CALLER; i++)
		execute(&m, in, &ops[i]);
	*value = pop(&m);
	return m.state;
}
