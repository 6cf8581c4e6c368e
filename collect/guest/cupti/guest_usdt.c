/* USDT probes: bpftrace, perf, SystemTap and all tools on libbpf can attach to them without an
 * agent.
 *
 * 	parcagpu:cuda_correlation: fires on the launching thread when its launch returns:
 * 		u32 correlation, int cbid (negative: driver API), the kernel's name, or the
 * 		function's if CUPTI has no kernel name
 * 	parcagpu:kernel_executed: a kernel has run: u64 start, u64 end, u32 correlation,
 * 		u32 device, u32 stream, u32 graph, u64 node, name
 * 	parcagpu:activity_batch: CUPTI's unmodified records, at most 128 at a time:
 * 		const void **records, u32 number of records
 * 	parcagpu:kernel_launch, parcagpu_provider:kernel_launch: a kernel has run:
 * 		u32 correlation of its launch, u64 duration in ns
 *
 * Times are CLOCK_MONOTONIC in ns. All probes except the first fire on CUPTI's thread when it
 * delivers a buffer. Strings and records are valid while the probe fires. Kernels with impossible
 * times fire only activity_batch.
 *
 * A probe consists of an ELF note, a counter, and a place for a breakpoint. The note
 * (.note.stapsdt) has the addresses of the other two and the registers of the arguments. The
 * tracer increments the counter while it is attached; a probe whose counter is zero does nothing.
 * sys/sdt.h would generate all three, but it needs SystemTap's headers, leaves the registers to
 * the compiler, and has no place for the fast kind of nop (arch_*.h). So they are written here,
 * each place as a function of its own. */
#include "collect/guest/cupti/guest_usdt.h"

#include "collect/guest/core/guest_session.h"
#include "collect/guest/cupti/cupti_layout.h"
#include "collect/guest/cupti/guest_cupti_callbacks.h"

/* gt_probe_SYMBOL is the function, gt_up_SYMBOL the counter. Names in notes are NUL-terminated;
 * the section of the notes is not loaded. The base's address in the note shows how far the file
 * was moved since it was linked. */
#define PROBE(symbol, provider, name, arguments)                                                   \
	__asm__(".pushsection .probes,\"aw\",%progbits\n\t.p2align 1\n\t"                          \
		".globl gt_up_" #symbol "\n\t.hidden gt_up_" #symbol "\n\t.type gt_up_" #symbol    \
		",%object\n"                                                                       \
		"gt_up_" #symbol ":\n\t.2byte 0\n\t.size gt_up_" #symbol ",2\n\t.popsection\n\t"   \
		".pushsection .text\n\t.globl gt_probe_" #symbol "\n\t.hidden gt_probe_" #symbol   \
		"\n\t"                                                                             \
		".type gt_probe_" #symbol ",%function\n\t.p2align 4\n"                             \
		"gt_probe_" #symbol ":\n\t.cfi_startproc\n\t" GT_ARCH_PROBE "\t.cfi_endproc\n\t"   \
		".size gt_probe_" #symbol ",.-gt_probe_" #symbol "\n\t.popsection\n\t"             \
		".pushsection .note.stapsdt,\"\",%note\n\t.p2align 2\n\t"                          \
		".4byte 8,3f-2f,3\n\t.asciz \"stapsdt\"\n"                                         \
		"2:\t.8byte 1b,_.stapsdt.base,gt_up_" #symbol "\n\t"                               \
		".asciz \"" provider "\"\n\t.asciz \"" name "\"\n\t.asciz \"" arguments "\"\n"     \
		"3:\t.p2align 2\n\t.popsection")
__asm__(".pushsection .stapsdt.base,\"aG\",%progbits,.stapsdt.base,comdat\n\t.weak _.stapsdt.base\n\t.hidden _.stapsdt.base\n"
	"_.stapsdt.base:\n\t.space 1\n\t.size _.stapsdt.base,1\n\t.popsection");
PROBE(cuda_correlation, "parcagpu", "cuda_correlation", GT_PROBE_CORRELATION);
PROBE(kernel_executed, "parcagpu", "kernel_executed", GT_PROBE_KERNEL);
PROBE(activity_batch, "parcagpu", "activity_batch", GT_PROBE_BATCH);
PROBE(kernel_launch, "parcagpu", "kernel_launch", GT_PROBE_LAUNCH);
PROBE(kernel_launch_old, "parcagpu_provider", "kernel_launch", GT_PROBE_LAUNCH);

#define HIDDEN __attribute__((visibility("hidden")))
extern HIDDEN uint16_t gt_up_cuda_correlation, gt_up_kernel_executed, gt_up_activity_batch,
	gt_up_kernel_launch, gt_up_kernel_launch_old;
HIDDEN void gt_probe_cuda_correlation(uint32_t correlation, int32_t cbid, const char *name);
HIDDEN void gt_probe_kernel_executed(uint64_t start, uint64_t end, uint32_t correlation,
	uint32_t device, uint32_t stream, uint32_t graph, uint64_t node, const char *name);
HIDDEN void gt_probe_activity_batch(const void **records, uint32_t n);
HIDDEN void gt_probe_kernel_launch(uint32_t correlation, uint64_t duration);
HIDDEN void gt_probe_kernel_launch_old(uint32_t correlation, uint64_t duration);

#define IS_ATTACHED(symbol) __atomic_load_n(&gt_up_##symbol, __ATOMIC_RELAXED)

bool gt_probes_need_calls(void) { return IS_ATTACHED(cuda_correlation); }

bool gt_probes_need_work(void)
{
	return IS_ATTACHED(kernel_executed) || IS_ATTACHED(activity_batch) ||
		IS_ATTACHED(kernel_launch) || IS_ATTACHED(kernel_launch_old);
}

void gt_probes_fire_call(uint32_t correlation, int32_t cbid, const char *name)
{
	if (IS_ATTACHED(cuda_correlation))
		gt_probe_cuda_correlation(correlation, cbid, name);
}

#define u32 gt_u32_at
#define u64 gt_u64_at

static void fire_kernel(const uint8_t *r)
{
	uint64_t start = u64(r + GT_K_START), end = u64(r + GT_K_END);
	uint32_t correlation = u32(r + GT_K_CORRELATION);

	if (!start || end < start)
		return;
	if (IS_ATTACHED(kernel_executed))
		gt_probe_kernel_executed(start, end, correlation, u32(r + GT_K_DEVICE),
			u32(r + GT_K_STREAM), u32(r + GT_K_GRAPH), u64(r + GT_K_NODE),
			(const char *)(uintptr_t)u64(r + GT_K_NAME));
	if (IS_ATTACHED(kernel_launch))
		gt_probe_kernel_launch(correlation, end - start);
	if (IS_ATTACHED(kernel_launch_old))
		gt_probe_kernel_launch_old(correlation, end - start);
}

/* Replaces a callback, which has reported the calls that began earlier. */
static void fire_call(const uint8_t *r)
{
	bool driver = u32(r) == GT_CUPTI_DRIVER;
	uint32_t cbid = u32(r + GT_A_CBID);
	const char *name = driver ? gt_launch_name(cbid) : gt_runtime_launch_name(cbid);

	if (name && u64(r + GT_A_START) >= gt_callbacks_refused_since())
		gt_probes_fire_call(
			u32(r + GT_A_CORRELATION), driver ? -(int32_t)cbid : (int32_t)cbid, name);
}

#define BATCH 128
void gt_probes_fire_buffer(
	int (*next)(uint8_t *, size_t, uint8_t **), uint8_t *buffer, size_t valid)
{
	bool calls = gt_probes_need_calls() && gt_callbacks_refused_since();
	const void *batch[BATCH];
	uint8_t *record = NULL;
	uint32_t n = 0;

	if (!calls && !gt_probes_need_work())
		return;
	while (!next(buffer, valid, &record)) {
		if (u32(record) == GT_CUPTI_KERNEL)
			fire_kernel(record);
		if (calls && (u32(record) == GT_CUPTI_DRIVER || u32(record) == GT_CUPTI_RUNTIME))
			fire_call(record);
		batch[n++] = record;
		if (n == BATCH && IS_ATTACHED(activity_batch))
			gt_probe_activity_batch(batch, n);
		n %= BATCH;
	}
	if (n && IS_ATTACHED(activity_batch))
		gt_probe_activity_batch(batch, n);
}
