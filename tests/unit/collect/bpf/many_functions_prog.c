/* 70,000 functions, f0 to f69999. After each line on standard input it calls f1. */
#include <stdio.h>

void f1(void);
__asm__(".text\n\t.altmacro\n"
	"\t.macro function number\n"
	"\t.globl f\\number\n\t.type f\\number, %function\n"
	"f\\number: nop\n\tret\n\t.size f\\number, . - f\\number\n"
	"\t.endm\n"
	"\t.set i, 0\n"
	"\t.rept 70000\n\tfunction %i\n\t.set i, i + 1\n\t.endr\n"
	"\t.noaltmacro\n");

int main(void)
{
	int c;

	while ((c = getchar()) != EOF)
		if (c == '\n') {
			f1();
			puts("done");
			fflush(stdout);
		}
	return 0;
}
