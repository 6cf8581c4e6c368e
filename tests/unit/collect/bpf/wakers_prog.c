/* Who wakes a thread, for tests/cli/collect/ebpf_waits.sh. After a line on standard input, the main
 * thread makes
 *
 *	50 polls of 20 ms, 50 waits of 2 ms for a condition, and 50 sleeps of 2 ms, which timers
 *	end on a processor where another process runs all the time;
 *	20 reads of a pipe, and 20 of a TCP connection of this machine, into which another thread
 *	of it writes. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define TIMEOUTS 50
#define READS 20

static int pipe_ends[2], connection[2]; /* [1] is written to */

static int connect_to_self(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t size = sizeof(a);

	connection[1] = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(listener, (struct sockaddr *)&a, size) || listen(listener, 1) ||
		getsockname(listener, (struct sockaddr *)&a, &size) ||
		connect(connection[1], (struct sockaddr *)&a, size))
		return -1;
	connection[0] = accept(listener, NULL, NULL);
	return connection[0];
}

static void run_on_one_processor(void)
{
	cpu_set_t one;
	int cpu = sched_getcpu();

	CPU_ZERO(&one);
	CPU_SET(cpu < 0 ? 0 : cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

static pid_t start_busy_process(void)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "busy");
	for (volatile unsigned i = 0;; i++)
		;
}

static void wait_for_timers(void)
{
	const struct timespec ms = { .tv_nsec = 2000000 };
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t never = PTHREAD_COND_INITIALIZER;
	struct timespec until;

	for (int i = 0; i < TIMEOUTS; i++)
		poll(NULL, 0, 20);
	for (int i = 0; i < TIMEOUTS; i++)
		nanosleep(&ms, NULL);
	pthread_mutex_lock(&lock);
	for (int i = 0; i < TIMEOUTS; i++) {
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += ms.tv_nsec;
		if (until.tv_nsec >= 1000000000) {
			until.tv_sec++;
			until.tv_nsec -= 1000000000;
		}
		pthread_cond_timedwait(&never, &lock, &until);
	}
}

/* Each byte when the other thread waits for it, which takes less than 1 ms in most cases. */
static void *write_bytes(void *arg)
{
	for (int i = 0; i < READS; i++) {
		usleep(1000);
		if (write(pipe_ends[1], "x", 1) != 1)
			break;
	}
	for (int i = 0; i < READS; i++) {
		usleep(1000);
		if (send(connection[1], "x", 1, 0) != 1)
			break;
	}
	return arg;
}

int main(void)
{
	pthread_t writer;
	pid_t busy;
	char c;

	if (pipe(pipe_ends) || connect_to_self() < 0 || read(0, &c, 1) != 1)
		return 1;
	run_on_one_processor();
	busy = start_busy_process();
	wait_for_timers();
	kill(busy, SIGKILL);
	if (busy < 0 || pthread_create(&writer, NULL, write_bytes, NULL))
		return 1;
	for (int i = 0; i < READS; i++)
		if (read(pipe_ends[0], &c, 1) != 1)
			return 1;
	for (int i = 0; i < READS; i++)
		if (recv(connection[0], &c, 1, 0) != 1)
			return 1;
	return pthread_join(writer, NULL);
}
