/* Stubs of the driver: each exported symbol jumps to the function of that name. While an observer
 * is attached, the stub also calls the observer before and after.
 *
 * samples.mk compiles the driver's sources with every entry point renamed to do_NAME. So calls that
 * the driver makes itself are not reported, and the stubs can have the original names. Without an
 * observer a stub is a compare, a branch not taken and a jump. With one, the stub saves the
 * argument registers, calls the enter hook, calls the function with these registers and a copy of
 * the stack words that may hold its other arguments (no entry point takes floating-point ones), and
 * calls the exit hook. On a processor without stubs below nothing is renamed: an observer sees
 * work, but no calls. */
#include "samples/simgpu/sim.h"
#include "samples/simgpu/entries.h"
#include "samples/simgpu/hooks.h"
#include "samples/simgpu/observe.h"

#define HIDDEN __attribute__((visibility("hidden")))
HIDDEN uint8_t sim_watched;
HIDDEN const struct sim_hooks *sim_hooks;
static __thread struct sim_call call __attribute__((tls_model("initial-exec")));
static __thread enum { OUTSIDE, INSIDE, REPORTED } state __attribute__((tls_model("initial-exec")));

#define F(name, version, suffix) #name #suffix,
#define P F
static const char *const symbols[] = { ENTRIES };
#undef F
#undef P

struct sim_call *sim_current_call(void) { return state == REPORTED ? &call : NULL; }

static void read_context(void)
{
	call.ctx = sim_is(sim_current, SIM_CTX) ? sim_current : NULL;
	call.ctx_id = call.ctx ? sim_current->id : 0;
}

/* registers: the n that hold arguments; stack: the words that may hold the others. Returns NULL if
 * the call is not reported. */
HIDDEN struct sim_call *sim_call_begin(
	unsigned entry, const uint64_t *registers, unsigned n, const uint64_t *stack);
HIDDEN struct sim_call *sim_call_begin(
	unsigned entry, const uint64_t *registers, unsigned n, const uint64_t *stack)
{
	if (state != OUTSIDE)
		return NULL;
	state = INSIDE;
	call = (struct sim_call){ .entry = entry };
	/* no memcpy: a sanitizer may protect the words after the arguments */
	for (unsigned i = 0; i < SIM_MAX_CALL_WORDS; i++)
		call.words[i] = i < n ? registers[i] : *(volatile const uint64_t *)&stack[i - n];
	read_context();
	state = sim_hooks->enter(&call) ? REPORTED : OUTSIDE;
	return state == REPORTED ? &call : NULL;
}

HIDDEN int sim_call_end(struct sim_call *c, int rc);
HIDDEN int sim_call_end(struct sim_call *c, int rc)
{
	if (c) {
		c->rc = rc;
		read_context();
		state = INSIDE;
		sim_hooks->exit(c);
		state = OUTSIDE;
	}
	return rc;
}

/* A runtime call made inside another one belongs to the outer one. */
static __thread unsigned runtime_depth __attribute__((tls_model("initial-exec")));

void sim_runtime_begin(unsigned cbid)
{
	if (!runtime_depth++ && sim_watched && state == OUTSIDE)
		sim_hooks->runtime(true, cbid, 0);
}

void sim_runtime_end(int rc)
{
	if (runtime_depth && !--runtime_depth && sim_watched && state == OUTSIDE)
		sim_hooks->runtime(false, 0, rc);
}

#if defined(__x86_64__)
/* It begins with push, as nearly all functions of the real driver do: the kernel emulates this
 * instruction under a probe. */
#define STUB(name)                                                                                 \
	".globl " #name "\n.type " #name ",@function\n.p2align 4\n" #name                          \
	":\n\tpushq %rbp\n\tpopq %rbp\n"                                                           \
	"\tcmpb $0, sim_watched(%rip)\n\tjne 1f\n\tjmp do_" #name "\n"                             \
	"1:\tleaq do_" #name "(%rip), %r11\n\tmovl $sim_entry, %eax\n\tjmp sim_call_watched\n"     \
	".size " #name ", .-" #name "\n.set sim_entry, sim_entry + 1\n"
#define PUSH(r) "\tpushq %" #r "\n"
#define POP(r) "\tpopq %" #r "\n"
#define COPY_WORD(at) "\tpushq " #at "(%rbp)\n"
__asm__(".pushsection .text\n.p2align 4\n"
	"sim_call_watched:\n\t.cfi_startproc\n\tpushq %rbp\n\t.cfi_def_cfa_offset 16\n\t.cfi_offset %rbp, -16\n"
	"\tmovq %rsp, %rbp\n\t.cfi_def_cfa_register %rbp\n" PUSH(r11) PUSH(rax) PUSH(r9) PUSH(
		r8) PUSH(rcx) PUSH(rdx) PUSH(rsi)
		PUSH(rdi) "\tmovl %eax, %edi\n\tmovq %rsp, %rsi\n\tmovl $6, %edx\n\tleaq 16(%rbp), %rcx\n\tcall sim_call_begin\n"
			  "\tmovq %rax, -16(%rbp)\n" POP(rdi) POP(rsi) POP(rdx) POP(rcx) POP(
				  r8) POP(r9) COPY_WORD(72) COPY_WORD(64) COPY_WORD(56)
				  COPY_WORD(48) COPY_WORD(40) COPY_WORD(32) COPY_WORD(24) COPY_WORD(
					  16) "\tcall *-8(%rbp)\n\tmovl %eax, %esi\n\tmovq -16(%rbp), %rdi\n\tcall sim_call_end\n"
					      "\tleave\n\t.cfi_def_cfa %rsp, 8\n\tret\n\t.cfi_endproc\n"
					      ".set sim_entry, 0\n"
#elif defined(__aarch64__)
#define STUB(name)                                                                                     \
	".globl " #name "\n.type " #name ",%function\n.p2align 4\n" #name ":\n\thint #34\n"            \
	"\tadrp x16, sim_watched\n\tldrb w16, [x16, :lo12:sim_watched]\n\tcbnz w16, 1f\n\tb do_" #name \
	"\n"                                                                                           \
	"1:\tadrp x17, do_" #name "\n\tadd x17, x17, :lo12:do_" #name                                  \
	"\n\tmov w16, #sim_entry\n\tb sim_call_watched\n"                                              \
	".size " #name ", .-" #name "\n.set sim_entry, sim_entry + 1\n"
__asm__(".pushsection .text\n.p2align 4\n"
	"sim_call_watched:\n\t.cfi_startproc\n\tstp x29, x30, [sp, #-96]!\n\t.cfi_def_cfa_offset 96\n"
	"\t.cfi_offset x29, -96\n\t.cfi_offset x30, -88\n\tmov x29, sp\n\t.cfi_def_cfa_register x29\n"
	"\tstp x0, x1, [x29, #16]\n\tstp x2, x3, [x29, #32]\n\tstp x4, x5, [x29, #48]\n\tstp x6, x7, [x29, #64]\n"
	"\tstr x17, [x29, #80]\n\tmov w0, w16\n\tadd x1, x29, #16\n\tmov w2, #8\n\tadd x3, x29, #96\n\tbl sim_call_begin\n"
	"\tstr x0, [x29, #88]\n\tldp x9, x10, [x29, #96]\n\tldp x11, x12, [x29, #112]\n\tldp x13, x14, [x29, #128]\n"
	"\tsub sp, sp, #48\n\tstp x9, x10, [sp]\n\tstp x11, x12, [sp, #16]\n\tstp x13, x14, [sp, #32]\n"
	"\tldp x0, x1, [x29, #16]\n\tldp x2, x3, [x29, #32]\n\tldp x4, x5, [x29, #48]\n\tldp x6, x7, [x29, #64]\n"
	"\tldr x17, [x29, #80]\n\tblr x17\n\tmov w1, w0\n\tldr x0, [x29, #88]\n\tbl sim_call_end\n"
	"\tmov sp, x29\n\tldp x29, x30, [sp], #96\n\tret\n\t.cfi_endproc\n"
	".set sim_entry, 0\n"
#endif
#ifdef STUB
#define F(name, version, suffix) STUB_(name##suffix)
#define P F
#define STUB_(name) STUB(name)
	ENTRIES ".popsection\n");
#endif

static bool context(const void *ctx, uint32_t *id, uint32_t *device)
{
	const struct sim_ctx *c = ctx ? ctx : sim_current;
	bool live = sim_is(c, SIM_CTX);

	if (live)
		*id = c->id, *device = c->dev;
	return live;
}

static bool stream(const void *ctx, const void *s, bool per_thread, uint32_t *id)
{
	struct sim_ctx *c = ctx ? (struct sim_ctx *)ctx : sim_current;
	struct sim_stream *at;
	bool live;

	sim_lock();
	live = sim_is(c, SIM_CTX) &&
		!sim_stream_get(c,
			s                    ? (CUstream)s
				: per_thread ? CU_STREAM_PER_THREAD
					     : CU_STREAM_LEGACY,
			&at);
	if (live)
		*id = at->number;
	sim_unlock();
	return live;
}

static const char *function(const void *f)
{
	return sim_is(f, SIM_FUNCTION) ? ((const struct sim_function *)f)->name : NULL;
}

const struct sim_driver *sim_cupti_attach(int version, const struct sim_hooks *hooks)
{
	static const struct sim_driver driver = { symbols, sizeof(symbols) / sizeof(*symbols),
		context, stream, sim_graph_id, sim_node_id, function, &sim_contexts };

	if (version != SIM_HOOKS_VERSION || !hooks)
		return version == SIM_HOOKS_VERSION ? &driver : NULL;
	sim_lock();
	sim_hooks = hooks;
	__atomic_store_n(&sim_watched, 1, __ATOMIC_RELEASE);
	sim_unlock();
	return &driver;
}

void sim_cupti_detach(void) { __atomic_store_n(&sim_watched, 0, __ATOMIC_RELEASE); }
