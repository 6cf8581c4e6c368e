/* A program with USDT probes of provider gt_test, for tests/cli/collect/usdt.sh. It reads commands
 * from its standard input, one a line, and answers each with one line:
 *
 *	operands	fires `operands`, whose arguments have every encoding
 *	numbers		fires `numbers` from two places: arguments as the compiler places them
 *	texts N		fires `text` N times, with the texts "text 0", "text 1", ...
 *	long N		fires `text` with a text of N characters x
 *	counted N	N times: fires `counted` if its semaphore is raised; prints how often it did
 *	semaphore	prints the semaphore's value
 *	pairs N		N requests: request_start in this thread, request_end in another
 *	refused		fires 7 probes of provider gt_refused, 3 of them at instructions that the
 *			kernel does not probe
 *	memory		loads a library that exists only in memory, and that has the probe
 *			gt_memory:hit
 *	hits N		fires that probe N times; prints its semaphore
 *	name NAME	the process gets this name
 *
 * It ends at the end of its input. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>
#include "tests/unit/collect/bpf/memory_library.h"

#define SEMAPHORE(probe)                                                                           \
	volatile unsigned short gt_test_##probe##_semaphore __attribute__((section(".probes")))
SEMAPHORE(numbers);
SEMAPHORE(text);
SEMAPHORE(counted);
SEMAPHORE(request_start);
SEMAPHORE(request_end);

/* ---- encodings ---- */

static uint64_t table[4] = { 1, 0xfffffffe, 33, 0 };

/* A place that fires the probe, with these arguments. */
#define OPERANDS(arguments)                                                                        \
	"990:\n\tnop\n\t"                                                                          \
	".pushsection .note.stapsdt,\"\",\"note\"\n\t.balign 4\n\t"                                \
	".4byte 992f-991f, 994f-993f, 3\n"                                                         \
	"991:\t.asciz \"stapsdt\"\n"                                                               \
	"992:\t.balign 4\n"                                                                        \
	"993:\t.8byte 990b, _.stapsdt.base, 0\n\t"                                                 \
	".asciz \"gt_test\"\n\t.asciz \"operands\"\n\t.asciz \"" arguments "\"\n"                  \
	"994:\t.balign 4\n\t.popsection"

static void operands(void)
{
	const uint64_t number = 0x1234567890abcd80;
	const double d = 2.5;
	const float f = -0.5f;
	uint32_t bits;

	memcpy(&table[3], &d, sizeof(d));
	memcpy(&bits, &f, sizeof(f));
#if defined(__x86_64__)
	register uint64_t r8 __asm__("r8") = bits;
	__asm__ volatile(OPERANDS("8@(%%rax,%%rcx,8) -4@8(%%rax) 2@%%bx -1@%%bl 1@%%bh 4@%%ebx "
				  "8@%%rbx 4@$7 -8@$-7 8f@24(%%rax) 4f@%%r8d 8@table(%%rip)")
			 :
			 : "a"(table), "c"(2ul), "b"(number), "r"(r8)
			 : "memory");
#elif defined(__aarch64__)
	register const void *x9 __asm__("x9") = table;
	register uint64_t x10 __asm__("x10") = number;
	register const void *x11 __asm__("x11") = &number;
	register uint64_t x12 __asm__("x12") = bits;
	register uint64_t x13 __asm__("x13") = (uintptr_t)table & ~0xffful;
	__asm__ volatile(OPERANDS("8@[x9, 16] -4@[x9, #8] 2@w10 -1@w10 1@[x11,1] 4@w10 "
				  "8@x10 4@7 -8@#-7 8f@[x9, 24] 4f@w12 8@[x13, #:lo12:table]")
			 :
			 : "r"(x9), "r"(x10), "r"(x11), "r"(x12), "r"(x13)
			 : "memory");
#endif
}

static volatile int8_t i8 = -8;
static volatile uint16_t u16 = 65535;
static volatile int32_t i32 = -32;
static volatile uint64_t u64 = 1ull << 40;

static __attribute__((noinline)) void numbers(unsigned long place)
{
	if (place)
		STAP_PROBE6(gt_test, numbers, i8, u16, i32, u64, 5, place);
	else
		STAP_PROBE6(gt_test, numbers, i8, u16, i32, u64, 5, place);
}

/* ---- texts, semaphores, pairs ---- */

static __attribute__((noinline)) void texts(int n)
{
	char text[32];

	for (int i = 0; i < n; i++) {
		snprintf(text, sizeof(text), "text %d", i);
		STAP_PROBE2(gt_test, text, (const char *)text, i);
	}
}

static __attribute__((noinline)) void long_text(size_t n)
{
	static char text[1024];

	memset(text, 'x', sizeof(text));
	text[n < sizeof(text) ? n : 0] = 0;
	STAP_PROBE2(gt_test, text, (const char *)text, 0);
}

static __attribute__((noinline)) int counted(int n)
{
	int fired = 0;

	for (int i = 0; i < n; i++)
		if (__builtin_expect(gt_test_counted_semaphore, 0)) {
			STAP_PROBE1(gt_test, counted, i);
			fired++;
		}
	return fired;
}

static void *end_requests(void *arg)
{
	char id[32];

	for (long i = 0; i < (long)(intptr_t)arg; i++) {
		snprintf(id, sizeof(id), "req-%ld", i);
		STAP_PROBE2(gt_test, request_end, (const char *)id, i * 10);
	}
	return NULL;
}

/* One request more begins and does not end, one ends that has not begun, and one begins twice. */
static void pairs(long n)
{
	pthread_t other;
	char id[32];

	for (long i = 0; i < n; i++) {
		snprintf(id, sizeof(id), "req-%ld", i);
		STAP_PROBE2(gt_test, request_start, (const char *)id, i);
	}
	STAP_PROBE2(gt_test, request_start, (const char *)"never ends", -1);
	if (!pthread_create(&other, NULL, end_requests, (void *)(intptr_t)n))
		pthread_join(other, NULL);
	STAP_PROBE2(gt_test, request_end, (const char *)"never began", -1);
	STAP_PROBE2(gt_test, request_start, (const char *)"again", 1);
	STAP_PROBE2(gt_test, request_start, (const char *)"again", 2);
	STAP_PROBE2(gt_test, request_end, (const char *)"again", 3);
}

/* ---- places that the kernel refuses ---- */

#define PROBE_AT(instruction, name)                                                                \
	"990:\n\t" instruction "\n\t"                                                              \
	".pushsection .note.stapsdt,\"\",\"note\"\n\t.balign 4\n\t"                                \
	".4byte 992f-991f, 994f-993f, 3\n"                                                         \
	"991:\t.asciz \"stapsdt\"\n"                                                               \
	"992:\t.balign 4\n"                                                                        \
	"993:\t.8byte 990b, _.stapsdt.base, 0\n\t"                                                 \
	".asciz \"gt_refused\"\n\t.asciz \"" name "\"\n\t.asciz \"\"\n"                            \
	"994:\t.balign 4\n\t.popsection\n"

static void refused(void)
{
#if defined(__x86_64__)
	static volatile int counter;

	/* an instruction with the prefix `lock` cannot be executed at another address */
	__asm__ volatile(PROBE_AT("nop", "good") PROBE_AT("lock incl %0", "bad1") PROBE_AT(
		"nop", "good") PROBE_AT("nop", "good") PROBE_AT("lock incl %0", "bad2")
				 PROBE_AT("lock incl %0", "bad3") PROBE_AT("nop", "good")
			 : "+m"(counter));
#endif
}

int main(void)
{
	struct memory_library library = { NULL, NULL };
	char line[64], word[16];
	long n;

	while (fgets(line, sizeof(line), stdin)) {
		n = 0;
		if (sscanf(line, "%15s %ld", word, &n) < 1)
			continue;
		if (!strcmp(word, "operands"))
			operands();
		else if (!strcmp(word, "numbers"))
			numbers(0), numbers(1);
		else if (!strcmp(word, "texts"))
			texts((int)n);
		else if (!strcmp(word, "long"))
			long_text((size_t)n);
		else if (!strcmp(word, "counted"))
			n = counted((int)n);
		else if (!strcmp(word, "semaphore"))
			n = gt_test_counted_semaphore;
		else if (!strcmp(word, "pairs"))
			pairs(n);
		else if (!strcmp(word, "refused"))
			refused();
		else if (!strcmp(word, "name"))
			prctl(PR_SET_NAME, strtok(line + sizeof("name"), "\n"));
		else if (!strcmp(word, "memory"))
			n = memory_library_load(&library);
		else if (!strcmp(word, "hits")) {
			while (library.fire && n--)
				library.fire((uint64_t)n, -n);
			n = library.semaphore ? *library.semaphore : -1;
		}
		printf("%s %ld\n", word, n);
		fflush(stdout);
	}
	return 0;
}
