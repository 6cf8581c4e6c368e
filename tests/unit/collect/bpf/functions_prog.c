/* After each line on standard input: calls its own functions, whose arguments and results are
 * known, and functions of the C library, and touches 16 new pages. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define KEEP __attribute__((noinline, noipa))

static jmp_buf back;

/* In the table of symbols only, because it is static. */
static KEEP long innermost(long a, long b)
{
	__asm__ volatile("" ::: "memory");
	return a * 16 + b;
}

KEEP long outer(long a)
{
	long sum = 0;

	for (long i = 0; i < 5; i++)
		sum += innermost(a, i);
	return sum;
}

KEEP long deeper(long n)
{
	long depth = n ? deeper(n - 1) + 1 : 0;

	__asm__ volatile("" ::: "memory");
	return depth;
}

/* Does not return. */
KEEP void leaver(long a)
{
	__asm__ volatile("" ::"r"(a) : "memory");
	longjmp(back, 1);
}

static KEEP void leave(long a)
{
	leaver(a);
	__asm__ volatile("" ::: "memory");
}

/* Its last call is a jump. */
KEEP __attribute__((optimize("O2"))) long tail(long a)
{
	__asm__ volatile("" ::: "memory");
	return innermost(a, 7);
}

/* The kernel sets no probe at an instruction with the prefix `lock`. */
long locked(void);
#if defined(__x86_64__)
__asm__(".globl locked\n\t.type locked, @function\n"
	"locked:\tlock incl -8(%rsp)\n\tmov $1, %eax\n\tret\n\t.size locked, . - locked");
#else
long locked(void) { return 1; }
#endif

/* Each page is new, so the first write to it is a page fault. */
static KEEP void touch_new_pages(void)
{
	char *p = mmap(NULL, 16 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise(p, 16 * 4096, MADV_NOHUGEPAGE);
	for (int i = 0; p != MAP_FAILED && i < 16; i++)
		*(volatile char *)(p + 4096 * i) = 1;
}

int main(void)
{
	volatile long sum = 0;
	int c;

	while ((c = getchar()) != EOF) {
		if (c != '\n')
			continue;
		for (long i = 0; i < 20; i++) {
			sum += outer(i) + deeper(3);
			if (!setjmp(back))
				leave(i);
			sum += tail(i) + locked();
			sum += abs((int)getppid()) > 0;
		}
		touch_new_pages();
		puts("done");
		fflush(stdout);
	}
	return 0;
}
