/* The accept thread answers when a process makes its first traced call and waits for the memory.
 * At that moment the process is certainly visible in /proc, however short its life is. So its
 * identity is read here. */
#define _GNU_SOURCE
#include "collect/ipc/guest_server.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define SIMULATOR_MAX (8 << 20) /* the real libcuda is several times larger */

/* ---- /proc ---- */

/* Reads up to size - 1 bytes of /proc/PID/NAME and adds a NUL. Returns the bytes read, or -1. */
static ssize_t read_proc_file(int pid, const char *name, char *to, size_t size)
{
	char path[64];
	ssize_t n, got = 0;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	while ((size_t)got < size - 1 && (n = read(fd, to + got, size - 1 - (size_t)got)) > 0)
		got += n;
	close(fd);
	to[got] = 0;
	return got;
}

/* /proc counts from boot, including sleep; CLOCK_MONOTONIC stops during sleep. */
static int64_t boot_to_monotonic(int64_t ns)
{
	struct timespec b, m;

	clock_gettime(CLOCK_BOOTTIME, &b);
	clock_gettime(CLOCK_MONOTONIC, &m);
	return ns - (b.tv_sec - m.tv_sec) * 1000000000LL - (b.tv_nsec - m.tv_nsec);
}

/* Reads the state, the number of threads and the start (clock ticks since boot) from
 * /proc/PID/stat. The command in it may contain any character. */
static bool read_stat(int pid, char *state, long *threads, unsigned long long *start)
{
	char text[1024], *p;

	if (read_proc_file(pid, "stat", text, sizeof(text)) <= 0 || !(p = strrchr(text, ')')))
		return false;
	return sscanf(p + 1,
		       " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %ld %*d %llu",
		       state, threads, start) == 3;
}

static int32_t innermost_pid(int pid)
{
	char text[4096], *line, *end;

	if (read_proc_file(pid, "status", text, sizeof(text)) <= 0 ||
		!(line = strstr(text, "\nNSpid:")))
		return pid;
	line += 7;
	end = line + strcspn(line, "\n");
	while (end > line && end[-1] != '\t' && end[-1] != ' ')
		end--;
	return atoi(end);
}

bool gt_is_simulator_file(const char *path)
{
	static const char marker[] = "(Simulated)"; /* in the simulator's device name */
	struct stat st;
	char *bytes;
	bool found = false;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return false;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size < SIMULATOR_MAX &&
		(bytes = malloc((size_t)st.st_size + 1))) {
		ssize_t n = read(fd, bytes, (size_t)st.st_size);

		found = n > 0 && memmem(bytes, (size_t)n, marker, sizeof(marker) - 1);
		free(bytes);
	}
	close(fd);
	return found;
}

static void find_libcuda(int pid, struct gt_guest *guest)
{
	char path[64], line[4200], file[4400], *name;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	f = fopen(path, "re");
	while (f && !guest->libcuda && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = 0;
		name = strchr(line, '/');
		if (!name || !strstr(name, "/libcuda.so"))
			continue;
		guest->libcuda = true;
		snprintf(file, sizeof(file), "/proc/%d/root%s", pid, name);
		guest->simulated = gt_is_simulator_file(file) || gt_is_simulator_file(name);
	}
	if (f)
		fclose(f);
}

static bool read_identity(int32_t host_pid, struct gt_guest *guest)
{
	unsigned long long start;
	char state, comm[32];
	long threads;

	memset(guest, 0, sizeof(*guest));
	if (!read_stat(host_pid, &state, &threads, &start))
		return false;
	guest->host_pid = host_pid;
	guest->ns_pid = innermost_pid(host_pid);
	guest->start_clock = start;
	guest->start = boot_to_monotonic((int64_t)start * (1000000000 / sysconf(_SC_CLK_TCK)));
	if (read_proc_file(host_pid, "comm", comm, sizeof(comm)) > 0) {
		comm[strcspn(comm, "\n")] = 0;
		snprintf(guest->comm, sizeof(guest->comm), "%.15s", comm);
	}
	return true;
}

bool gt_guest_read(int32_t host_pid, struct gt_guest *guest)
{
	if (!read_identity(host_pid, guest))
		return false;
	find_libcuda(host_pid, guest);
	return true;
}

/* A process whose leader is a zombie is alive while it has other threads. */
bool gt_guest_has_exited(const struct gt_guest *guest)
{
	unsigned long long start;
	char state;
	long threads;

	if (!read_stat(guest->host_pid, &state, &threads, &start))
		return true;
	return start != guest->start_clock || (strchr("ZX", state) && threads <= 1);
}

void gt_guest_each_thread(const struct gt_guest *guest, gt_guest_thread_fn *each, void *arg)
{
	char path[64];
	struct dirent *e;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", guest->host_pid);
	tasks = opendir(path);
	while (tasks && (e = readdir(tasks)))
		if (atoi(e->d_name))
			each(arg, atoi(e->d_name), innermost_pid(atoi(e->d_name)));
	if (tasks)
		closedir(tasks);
}

bool gt_guest_thread_name(const struct gt_guest *guest, int32_t host_tid, char name[16])
{
	char path[32], text[32];

	snprintf(path, sizeof(path), "task/%d/comm", host_tid);
	if (read_proc_file(guest->host_pid, path, text, sizeof(text)) <= 0)
		return false;
	text[strcspn(text, "\n")] = 0;
	snprintf(name, 16, "%.15s", text);
	return true;
}

/* ---- accept thread ---- */

static struct gt_guest *add(struct gt_guest_server *s, const struct gt_guest *guest)
{
	if (s->nguests == GT_GUESTS_MAX) { /* the oldest one has never taken a slot */
		s->unrecorded[s->guests[0].unrecorded]++;
		memmove(s->guests, s->guests + 1, --s->nguests * sizeof(*guest));
	}
	s->guests[s->nguests] = *guest;
	return &s->guests[s->nguests++];
}

void gt_guest_server_add(struct gt_guest_server *s, const struct gt_guest *guest)
{
	pthread_mutex_lock(&s->lock);
	add(s, guest);
	pthread_mutex_unlock(&s->lock);
}

/* Reads no files of another user's process: they could be such that reading them takes long. */
static void note_connection(struct gt_guest_server *s, int pid, uint32_t uid)
{
	struct gt_guest guest;

	if (!(uid == geteuid() ? gt_guest_read(pid, &guest) : read_identity(pid, &guest)))
		return;
	guest.uid = uid;
	pthread_mutex_lock(&s->lock);
	add(s, &guest);
	s->connections++;
	pthread_mutex_unlock(&s->lock);
}

/* The process may have exited, and be unknown to /proc. It may also be a fork that uses its
 * parent's memory, and takes a slot. */
static void note_unrecorded(
	struct gt_guest_server *s, const struct ucred *who, enum gt_unrecorded why)
{
	const struct gt_guest unknown = {
		.host_pid = who->pid, .ns_pid = who->pid, .uid = who->uid
	};
	struct gt_guest *guest = NULL;

	pthread_mutex_lock(&s->lock);
	for (unsigned i = 0; i < s->nguests; i++)
		if (s->guests[i].host_pid == who->pid)
			guest = &s->guests[i];
	if (!guest)
		guest = add(s, &unknown);
	guest->unrecorded = why;
	pthread_mutex_unlock(&s->lock);
}

/* False: the process does not wait any more. */
static bool send_memory(int to, int memory)
{
	char byte = 'g';
	struct iovec v = { &byte, 1 };
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { { 0 } };
	struct msghdr m = { .msg_iov = &v,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &memory, sizeof(int));
	return sendmsg(to, &m, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0;
}

/* A process of another user does not get the memory: traced processes trust its contents, so a
 * user who can write to it could control them. */
static void answer_connection(struct gt_guest_server *s, int to)
{
	struct ucred who;
	socklen_t size = sizeof(who);
	bool known = !getsockopt(to, SOL_SOCKET, SO_PEERCRED, &who, &size) && who.pid > 0;

	if (known)
		note_connection(s, who.pid, who.uid);
	if (known && who.uid != geteuid())
		note_unrecorded(s, &who, GT_UNRECORDED_USER);
	else if (!send_memory(to, s->memory_fd) && known)
		note_unrecorded(s, &who, GT_UNRECORDED_LATE);
}

void gt_guest_server_answer(struct gt_guest_server *s, int connection)
{
	pthread_mutex_lock(&s->accept_lock);
	answer_connection(s, connection);
	close(connection);
	pthread_mutex_unlock(&s->accept_lock);
}

/* Accepts and answers the next connection. False, and errno: there is none. */
static bool accept_one(struct gt_guest_server *s, int listen_fd)
{
	int fd;

	pthread_mutex_lock(&s->accept_lock);
	fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC);
	if (fd >= 0) {
		answer_connection(s, fd);
		close(fd);
	}
	pthread_mutex_unlock(&s->accept_lock);
	return fd >= 0;
}

/* Accepts one connection of each socket in turn: any user can connect to the socket named by
 * process id, without a limit. */
static void *accept_thread(void *arg)
{
	struct gt_guest_server *s = arg;
	struct pollfd p[] = { { .fd = s->listen_fd, .events = POLLIN },
		{ .fd = s->by_pid_fd, .events = POLLIN }, { .fd = s->stop[0], .events = POLLIN } };

	while (poll(p, 3, -1) >= 0 || errno == EINTR) {
		if (p[2].revents)
			break;
		for (unsigned i = 0; i < 2; i++)
			if (p[i].revents && !accept_one(s, p[i].fd) &&
				(errno == EMFILE || errno == ENFILE || errno == ENOMEM ||
					errno == ENOBUFS))
				usleep(1000);
	}
	return NULL;
}

bool gt_guest_server_take_guest(struct gt_guest_server *s, int32_t ns_pid, struct gt_guest *guest)
{
	bool found = false;

	pthread_mutex_lock(&s->lock);
	for (unsigned i = s->nguests; i-- > 0 && !found;)
		if (s->guests[i].ns_pid == ns_pid) {
			*guest = s->guests[i];
			memmove(s->guests + i, s->guests + i + 1,
				(--s->nguests - i) * sizeof(*guest));
			found = true;
		}
	pthread_mutex_unlock(&s->lock);
	return found && guest->start_clock; /* otherwise only its pid is known */
}

/* If gtcollect was stopped until the end, some processes may still wait for the accept thread. */
void gt_guest_server_count_unrecorded(struct gt_guest_server *s, struct gt_unrecorded_processes *m)
{
	for (unsigned n = 0;
		n < SOMAXCONN && (accept_one(s, s->listen_fd) || accept_one(s, s->by_pid_fd));)
		n++;
	pthread_mutex_lock(&s->lock);
	memcpy(m->n, s->unrecorded, sizeof(m->n));
	for (unsigned i = 0; i < s->nguests; i++) {
		const struct gt_guest *g = &s->guests[i];

		m->n[g->unrecorded]++;
		if (g->unrecorded != GT_UNRECORDED_USER)
			continue;
		m->uid = g->uid;
		snprintf(m->comm, sizeof(m->comm), "%s", *g->comm ? g->comm : "?");
	}
	pthread_mutex_unlock(&s->lock);
}

/* ---- open and close ---- */

static int listen_at(struct gt_guest_server *s, struct gt_err *err)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int code;

	snprintf(a.sun_path, sizeof(a.sun_path), "%.99s/sock", s->dir.path);
	s->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (s->listen_fd < 0 || bind(s->listen_fd, (struct sockaddr *)&a, sizeof(a)) ||
		listen(s->listen_fd, SOMAXCONN)) {
		code = -errno;
		return gt_err_set(err, code, "%.100s: %s", a.sun_path, strerror(-code));
	}
	/* other users connect, too, and are counted: answer_connection() */
	chmod(a.sun_path, 0666);
	return 0;
}

/* Any user can take a name like this, so guests check who owns it. Few processes need this
 * socket; if its name is taken, they are not recorded. */
static void listen_by_pid(struct gt_guest_server *s)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int n = snprintf(a.sun_path + 1, sizeof(a.sun_path) - 1, GT_RING_ANCESTOR "%d", getpid());
	size_t bytes = offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n;

	s->by_pid_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (s->by_pid_fd < 0)
		return;
	if (bind(s->by_pid_fd, (struct sockaddr *)&a, (socklen_t)bytes) ||
		listen(s->by_pid_fd, SOMAXCONN)) {
		close(s->by_pid_fd);
		s->by_pid_fd = -1;
	}
}

int gt_guest_server_start(struct gt_guest_server *s, struct gt_err *err)
{
	sigset_t all, old;
	int code;

	if (pipe2(s->stop, O_CLOEXEC))
		return gt_err_set(err, -errno, "pipe: %s", strerror(errno));
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	code = pthread_create(&s->accept_thread, NULL, accept_thread, s);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	s->running = !code;
	if (!code)
		return 0;
	close(s->stop[0]);
	close(s->stop[1]);
	return gt_err_set(err, -code, "cannot start a thread: %s", strerror(code));
}

int gt_guest_server_open(struct gt_guest_server *s, const struct gt_rings *r, struct gt_err *err)
{
	int code;

	memset(s, 0, sizeof(*s));
	s->dir.fd = s->listen_fd = s->by_pid_fd = -1;
	s->memory_fd = r->fd;
	pthread_mutex_init(&s->lock, NULL);
	pthread_mutex_init(&s->accept_lock, NULL);
	if (r->ebpf) /* no guest connects */
		return 0;
	code = gt_session_dir_make(&s->dir, err);
	if (code)
		return code;
	code = listen_at(s, err);
	if (code)
		return code;
	listen_by_pid(s);
	return r->with_writer ? 0 : gt_guest_server_start(s, err);
}

void gt_guest_server_stop(struct gt_guest_server *s)
{
	if (!s->running)
		return;
	close(s->stop[1]);
	pthread_join(s->accept_thread, NULL);
	close(s->stop[0]);
	s->running = false;
}

void gt_guest_server_close(struct gt_guest_server *s)
{
	gt_guest_server_stop(s);
	if (s->listen_fd >= 0)
		close(s->listen_fd);
	if (s->by_pid_fd >= 0)
		close(s->by_pid_fd);
	gt_session_dir_remove(&s->dir);
	s->listen_fd = s->by_pid_fd = -1;
	pthread_mutex_destroy(&s->lock);
	pthread_mutex_destroy(&s->accept_lock);
}
