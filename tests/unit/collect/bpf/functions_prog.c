/* After each line on standard input: calls its own functions, whose arguments and results are
 * known, and functions of the C library. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
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

/* Does not return. */
KEEP void leaver(long a)
{
	__asm__ volatile("" ::"r"(a) : "memory");
	longjmp(back, 1);
}

int main(void)
{
	volatile long sum = 0;
	int c;

	while ((c = getchar()) != EOF) {
		if (c != '\n')
			continue;
		for (long i = 0; i < 20; i++) {
			sum += outer(i);
			if (!setjmp(back))
				leaver(i);
			sum += abs((int)getppid()) > 0;
		}
		puts("done");
		fflush(stdout);
	}
	return 0;
}
