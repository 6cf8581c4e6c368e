/* Waits for each reason for a known time, after a line on standard input: it sleeps 100 ms and 20
 * ms, waits 180 ms for a lock that another thread holds for 200 ms, 150 ms for a byte from a child,
 * then for the child, and polls for 120 ms. */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *hold(void *arg)
{
	pthread_mutex_lock(&lock);
	usleep(200000);
	pthread_mutex_unlock(&lock);
	return arg;
}

int main(void)
{
	int p[2], status = 1;
	pthread_t thread;
	pid_t child;
	char c;

	if (pipe(p) || read(0, &c, 1) != 1)
		return 1;
	usleep(100000);
	if (pthread_create(&thread, NULL, hold, NULL))
		return 1;
	usleep(20000);
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	pthread_join(thread, NULL);
	child = fork();
	if (!child) {
		usleep(150000);
		_exit(write(p[1], "x", 1) != 1);
	}
	if (child < 0 || read(p[0], &c, 1) != 1 || waitpid(child, &status, 0) != child)
		return 1;
	poll(NULL, 0, 120);
	return status;
}
