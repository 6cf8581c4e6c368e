/* many_files FILE...: maps each file as code and prints "mapped". After a line on standard input
 * two threads call a function without end. The program ends with its input. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define AT_ONCE 100 /* calls between two pauses */

__attribute__((noinline, noipa)) void called(void) { __asm__ volatile("" ::: "memory"); }

static void *call_without_end(void *arg)
{
	const struct timespec pause = { 0, 1000000 };

	for (;;) {
		for (int i = 0; i < AT_ONCE; i++)
			called();
		nanosleep(&pause, NULL);
	}
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	for (int i = 1; i < argc; i++) {
		int fd = open(argv[i], O_RDONLY);

		if (mmap(NULL, 1, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
			return 1;
		close(fd);
	}
	puts("mapped");
	fflush(stdout);
	if (getchar() == EOF)
		return 0;
	for (int i = 0; i < 2; i++)
		if (pthread_create(&thread, NULL, call_without_end, NULL))
			return 1;
	while (getchar() != EOF)
		;
	return 0;
}
