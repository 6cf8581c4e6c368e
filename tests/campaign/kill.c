/* Runs COMMAND (gtcollect with a program), sends SIGKILL to one or two of its processes after
 * MICROSECONDS, waits until all processes have ended, and notes the facts in the truth file. A
 * descendant that loses its parent becomes a child of this process, so that every exit status is
 * known and no process is missed. PICK chooses among several children.
 * Usage: kill TRUTH VICTIM MICROSECONDS PICK COMMAND... The exit status is that of COMMAND. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include "tests/campaign/truth.h"

#define STEP 5000000ull  /* ns between two samples */
#define END_TIMEOUT_S 30 /* s that all processes may take to end */

static struct truth *truth;
static pid_t recorder;

static int shell_status(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void reap(pid_t pid, int status)
{
	if (pid == recorder) {
		truth->recorder_status = shell_status(status);
		truth->recorder_signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	} else if (pid == truth->program) {
		truth->main_status = shell_status(status);
	}
}

static void sleep_ns(uint64_t ns)
{
	struct timespec t = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };

	nanosleep(&t, NULL);
}

static void sample(void)
{
	struct truth_sample *s;

	if (truth->nsamples == TRUTH_SAMPLES)
		return;
	s = &truth->sample[truth->nsamples++];
	for (uint32_t i = 0; i < truth_threads(truth); i++)
		s->returned[i] = __atomic_load_n(&truth->thread[i].returned, __ATOMIC_ACQUIRE);
	s->ns = truth_now();
}

/* ---- the victim ---- */

static int children_of(pid_t parent, pid_t *child, int max)
{
	char path[64];
	int n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)parent, (int)parent);
	f = fopen(path, "re");
	while (f && n < max && fscanf(f, "%d", &child[n]) == 1)
		n++;
	if (f)
		fclose(f);
	return n;
}

static pid_t child_of(pid_t parent)
{
	pid_t child;

	return children_of(parent, &child, 1) ? child : 0;
}

static struct truth_thread *leader_of(pid_t pid)
{
	for (uint32_t i = 0; i < truth_threads(truth); i++)
		if (truth->thread[i].pid == pid && truth->thread[i].leader)
			return &truth->thread[i];
	return NULL;
}

/* A process of the program other than its first; the first if there is no other. */
static pid_t pick_child(unsigned pick)
{
	pid_t found[TRUTH_THREADS];
	unsigned n = 0;

	for (uint32_t i = 0; i < truth_threads(truth); i++) {
		const struct truth_thread *t = &truth->thread[i];

		if (t->pid && t->leader && t->pid != truth->main_pid && !t->done)
			found[n++] = t->pid;
	}
	if (!n)
		truth->victim = VICTIM_PROGRAM;
	return n ? found[pick % n] : truth->main_pid;
}

static int is_done(pid_t pid)
{
	const struct truth_thread *t = leader_of(pid);

	return pid == truth->main_pid ? (int)truth->main_done : t && t->done;
}

static int is_sleeping(const struct truth_thread *t)
{
	char path[64], line[256] = "";
	const char *end;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)t->pid, (int)t->tid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	end = fgets(line, sizeof(line), f) ? strrchr(line, ')') : NULL;
	fclose(f);
	return end && end[1] && end[2] == 'S';
}

/* A thread that sleeps between the two counts of a call sleeps in the driver. The first call of a
 * thread may sleep in gt, because the process connects there. */
static void note_blocked(struct truth_thread *t)
{
	uint64_t started = __atomic_load_n(&t->started, __ATOMIC_ACQUIRE);

	t->at_kill = __atomic_load_n(&t->returned, __ATOMIC_ACQUIRE);
	if (started > 1 && t->at_kill + 1 == started && is_sleeping(t) &&
		__atomic_load_n(&t->returned, __ATOMIC_ACQUIRE) + 1 == started)
		t->blocked = started;
}

static void send_kill(unsigned pick)
{
	pid_t first, second = 0, program = truth->main_pid ? truth->main_pid : child_of(recorder);

	truth->program = program;
	first = truth->victim == VICTIM_CHILD     ? pick_child(pick)
		: truth->victim == VICTIM_PROGRAM ? program
						  : recorder;
	if (truth->victim == VICTIM_RECORDER_FIRST)
		second = program;
	if (truth->victim == VICTIM_PROGRAM_FIRST && program) {
		first = program;
		second = recorder;
	}
	sample();
	for (uint32_t i = 0; i < truth_threads(truth); i++)
		note_blocked(&truth->thread[i]);
	truth->kill_ns = truth_now();
	truth->victim_pid = first;
	truth->hit = first > 0 && !kill(first, SIGKILL);
	if (second > 0)
		kill(second, SIGKILL);
	truth->victim_done = first != recorder && is_done(first);
}

/* ---- the end ---- */

/* Waits for the descendants until the time is over or the last one has ended; then 0. */
static int collect_all(uint64_t until)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) >= 0) {
		if (pid)
			reap(pid, status);
		else if (truth_now() > until)
			return -1;
		else
			sleep_ns(1000000);
	}
	return errno == ECHILD ? 0 : -1;
}

/* Kills the programs that did not end by themselves. Orphans become children of this process. */
static void kill_programs(void)
{
	pid_t child[64];

	for (int round = 0; round < 100; round++) {
		int n = children_of(recorder, child, 64), left = n;

		n += children_of(getpid(), child + n, 64 - n);
		for (int i = 0; i < n; i++)
			if (child[i] != recorder && !kill(child[i], SIGKILL))
				truth->programs_hung = 1;
		if (!collect_all(truth_now() + 100000000) || (!left && n <= 1))
			return;
	}
}

/* A program may hang if another one overwrote the memory of all; gtcollect must not. */
static void end_all(void)
{
	if (!collect_all(truth_now() + END_TIMEOUT_S * 1000000000ull))
		return;
	kill_programs();
	if (!collect_all(truth_now() + END_TIMEOUT_S / 2 * 1000000000ull))
		return;
	truth->recorder_hung = 1;
	kill(recorder, SIGKILL);
	kill_programs();
}

int main(int argc, char **argv)
{
	static const char *const victims[] = TRUTH_VICTIMS;
	uint64_t until;
	int status;
	pid_t pid;

	if (argc < 6)
		return 2;
	truth = truth_open(argv[1]);
	while (truth->victim < VICTIM_KINDS && strcmp(victims[truth->victim], argv[2]))
		truth->victim++;
	if (truth->victim == VICTIM_KINDS)
		return 2;
	truth->recorder_status = truth->main_status = -1;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	until = truth_now() + strtoull(argv[3], NULL, 0) * 1000;
	recorder = fork();
	if (!recorder) {
		execvp(argv[5], argv + 5);
		perror(argv[5]);
		_exit(127);
	}
	for (uint64_t now = truth_now(); truth->victim && now < until; now = truth_now()) {
		sample();
		sleep_ns(until - now < STEP ? until - now : STEP);
		pid = waitpid(-1, &status, WNOHANG);
		if (pid > 0)
			reap(pid, status);
		if (pid == recorder)
			break;
	}
	if (truth->victim && truth->recorder_status < 0)
		send_kill((unsigned)atoi(argv[4]));
	end_all();
	return truth->recorder_status;
}
