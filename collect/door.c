/* The usher answers at the moment a process makes its first traced call and waits for the memory: the one moment when we can
 * be sure to see it in /proc, however short it lives. So this is where its identity is read. */
#define _GNU_SOURCE
#include "collect/door.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define LIBRARY "libgtpreload.so"
#define PREFIX "gt-session-"
#define SIMULATOR_MAX (8 << 20)		/* the real libcuda is several times larger */

/* ---- /proc ---- */

/* Up to size - 1 bytes of /proc/PID/NAME, NUL-terminated. Bytes read or -1. */
static ssize_t slurp(int pid, const char *name, char *to, size_t size)
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

/* /proc counts from boot, sleep included; CLOCK_MONOTONIC stops in sleep. */
static int64_t boot_to_monotonic(int64_t ns)
{
	struct timespec b, m;

	clock_gettime(CLOCK_BOOTTIME, &b);
	clock_gettime(CLOCK_MONOTONIC, &m);
	return ns - (b.tv_sec - m.tv_sec) * 1000000000LL - (b.tv_nsec - m.tv_nsec);
}

/* State, number of threads and start (clock ticks since boot) from /proc/PID/stat; the command may hold any character. */
static bool read_stat(int pid, char *state, long *threads, unsigned long long *start)
{
	char text[1024], *p;

	if (slurp(pid, "stat", text, sizeof(text)) <= 0 || !(p = strrchr(text, ')')))
		return false;
	return sscanf(p + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %ld %*d %llu", state, threads,
		      start) == 3;
}

static int32_t innermost_pid(int pid)
{
	char text[4096], *line, *end;

	if (slurp(pid, "status", text, sizeof(text)) <= 0 || !(line = strstr(text, "\nNSpid:")))
		return pid;
	line += 7;
	end = line + strcspn(line, "\n");
	while (end > line && end[-1] != '\t' && end[-1] != ' ')
		end--;
	return atoi(end);
}

bool gt_simulator_file(const char *path)
{
	static const char marker[] = "(Simulated)";	/* in the simulator's device name */
	struct stat st;
	char *bytes;
	bool found = false;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return false;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size < SIMULATOR_MAX && (bytes = malloc((size_t)st.st_size + 1))) {
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
		guest->simulated = gt_simulator_file(file) || gt_simulator_file(name);
	}
	if (f)
		fclose(f);
}

bool gt_guest_look(int32_t host_pid, struct gt_guest *guest)
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
	if (slurp(host_pid, "comm", comm, sizeof(comm)) > 0) {
		comm[strcspn(comm, "\n")] = 0;
		snprintf(guest->comm, sizeof(guest->comm), "%.15s", comm);
	}
	find_libcuda(host_pid, guest);
	return true;
}

/* A process whose leader is a zombie lives on while it has other threads. */
bool gt_guest_gone(const struct gt_guest *guest)
{
	unsigned long long start;
	char state;
	long threads;

	if (!read_stat(guest->host_pid, &state, &threads, &start))
		return true;
	return start != guest->start_clock || (strchr("ZX", state) && threads <= 1);
}

/* ---- the usher ---- */

static struct gt_guest *add(struct gt_door *d, const struct gt_guest *guest)
{
	if (d->nguests == GT_GUESTS_MAX) {	/* the oldest never took a slot */
		d->shut_out += d->guests[0].left;
		memmove(d->guests, d->guests + 1, --d->nguests * sizeof(*guest));
	}
	d->guests[d->nguests] = *guest;
	return &d->guests[d->nguests++];
}

static void note(struct gt_door *d, int pid)
{
	struct gt_guest guest;

	if (!gt_guest_look(pid, &guest))
		return;
	pthread_mutex_lock(&d->lock);
	add(d, &guest);
	d->knocked++;
	pthread_mutex_unlock(&d->lock);
}

/* It may have run to its end by now, and be unknown to /proc. It may also be a fork that has its parent's memory, and is seen in a slot. */
static void note_left(struct gt_door *d, int pid)
{
	const struct gt_guest unknown = { .host_pid = pid, .ns_pid = pid };
	struct gt_guest *guest = NULL;

	pthread_mutex_lock(&d->lock);
	for (unsigned i = 0; i < d->nguests; i++)
		if (d->guests[i].host_pid == pid)
			guest = &d->guests[i];
	if (!guest)
		guest = add(d, &unknown);
	guest->left = true;
	pthread_mutex_unlock(&d->lock);
}

/* False when there is nobody any more to take it. */
static bool send_memory(int to, int memory)
{
	char byte = 'g';
	struct iovec v = { &byte, 1 };
	union { char room[CMSG_SPACE(sizeof(int))]; struct cmsghdr align; } control = { { 0 } };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1, .msg_control = control.room, .msg_controllen = sizeof(control.room) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &memory, sizeof(int));
	return sendmsg(to, &m, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0;
}

static void hand_out(struct gt_door *d, int to)
{
	struct ucred who;
	socklen_t size = sizeof(who);
	bool known = !getsockopt(to, SOL_SOCKET, SO_PEERCRED, &who, &size) && who.pid > 0;

	if (known)
		note(d, who.pid);
	if (!send_memory(to, d->memory_fd) && known)
		note_left(d, who.pid);
}

/* The next who has knocked. False, and errno, when there is none. */
static bool let_in(struct gt_door *d)
{
	int fd;

	pthread_mutex_lock(&d->handing);
	fd = accept4(d->listen_fd, NULL, NULL, SOCK_CLOEXEC);
	if (fd >= 0) {
		hand_out(d, fd);
		close(fd);
	}
	pthread_mutex_unlock(&d->handing);
	return fd >= 0;
}

static void *usher(void *arg)
{
	struct gt_door *d = arg;
	struct pollfd p[] = { { .fd = d->listen_fd, .events = POLLIN }, { .fd = d->stop[0], .events = POLLIN } };

	while (poll(p, 2, -1) >= 0 || errno == EINTR) {
		if (p[1].revents)
			break;
		if (!let_in(d) && (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS))
			usleep(1000);
	}
	return NULL;
}

bool gt_door_guest(struct gt_door *d, int32_t ns_pid, struct gt_guest *guest)
{
	bool found = false;

	pthread_mutex_lock(&d->lock);
	for (unsigned i = d->nguests; i-- > 0 && !found;)
		if (d->guests[i].ns_pid == ns_pid) {
			*guest = d->guests[i];
			memmove(d->guests + i, d->guests + i + 1, (--d->nguests - i) * sizeof(*guest));
			found = true;
		}
	pthread_mutex_unlock(&d->lock);
	return found && guest->start_clock;	/* else nothing but its pid is known */
}

/* Where gtcollect stood still until all was over, those who knocked meanwhile may still wait for the usher. */
unsigned gt_door_shut_out(struct gt_door *d)
{
	unsigned n;

	for (n = 0; n < SOMAXCONN && let_in(d); )
		n++;
	pthread_mutex_lock(&d->lock);
	n = d->shut_out;
	for (unsigned i = 0; i < d->nguests; i++)
		n += d->guests[i].left;
	pthread_mutex_unlock(&d->lock);
	return n;
}

/* ---- the directory ---- */

int gt_door_library(char *path, size_t size, struct gt_err *err)
{
	static const char *const places[] = { "%s/" LIBRARY, "%s/../lib/gt/" LIBRARY, "%s/../lib/" LIBRARY };
	char self[4096], found[4096 + 64];
	const char *own = getenv("GT_GUEST");
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (own && *own) {
		snprintf(path, size, "%s", own);
		return access(own, R_OK) ? gt_err_set(err, -ENOENT, "GT_GUEST=%.120s: %s", own, strerror(errno)) : 0;
	}
	self[n > 0 ? n : 0] = 0;
	if (strrchr(self, '/'))
		*strrchr(self, '/') = 0;
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		snprintf(found, sizeof(found), places[i], self);
		if (!access(found, R_OK) && strlen(found) < size) {
			strcpy(path, found);
			return 0;
		}
	}
	return gt_err_set(err, -ENOENT, LIBRARY " is neither in %.80s nor in its ../lib/gt; GT_GUEST may name it", self);
}

/* Does a running process have this directory in its environment? */
static bool still_named(const char *dir)
{
	static char env[256 << 10];
	struct dirent *e;
	bool named = false;
	DIR *proc = opendir("/proc");
	ssize_t n;

	while (proc && !named && (e = readdir(proc))) {
		if (e->d_name[0] < '1' || e->d_name[0] > '9' || atoi(e->d_name) == getpid())
			continue;
		n = slurp(atoi(e->d_name), "environ", env, sizeof(env));
		named = n > 0 && memmem(env, (size_t)n, dir, strlen(dir));
	}
	if (proc)
		closedir(proc);
	return named;
}

static void remove_dir(const char *dir)
{
	char path[GT_DOOR_DIR + 32];

	snprintf(path, sizeof(path), "%s/sock", dir);
	unlink(path);
	if (still_named(dir))
		return;
	snprintf(path, sizeof(path), "%s/" LIBRARY, dir);
	unlink(path);
	rmdir(dir);
}

/* Directories of ours that nobody locks and that are a minute old were left by a gtcollect that was killed. */
static void sweep(const char *base)
{
	char dir[GT_DOOR_DIR];
	struct dirent *e;
	struct stat st;
	DIR *all = opendir(base);
	int fd;

	while (all && (e = readdir(all))) {
		if (strncmp(e->d_name, PREFIX, strlen(PREFIX)) || strlen(e->d_name) != strlen(PREFIX) + 6)
			continue;
		snprintf(dir, sizeof(dir), "%.60s/%.30s", base, e->d_name);
		fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0)
			continue;
		if (!fstat(fd, &st) && st.st_uid == geteuid() && time(NULL) - st.st_mtime > 60 && !flock(fd, LOCK_EX | LOCK_NB))
			remove_dir(dir);
		close(fd);
	}
	if (all)
		closedir(all);
}

/* LD_PRELOAD is split at colons and blanks, and a socket's name has room for 108 bytes. */
static bool make_dir(struct gt_door *d, const char *base)
{
	if (!base || base[0] != '/' || strpbrk(base, ": \t\n$") || strlen(base) > 60)
		return false;
	sweep(base);
	snprintf(d->dir, sizeof(d->dir), "%s/" PREFIX "XXXXXX", base);
	if (!mkdtemp(d->dir)) {
		d->dir[0] = 0;
		return false;
	}
	d->dir_fd = open(d->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (d->dir_fd >= 0)
		flock(d->dir_fd, LOCK_EX);
	return true;
}

static bool make_any_dir(struct gt_door *d)
{
	return make_dir(d, getenv("XDG_RUNTIME_DIR")) || make_dir(d, getenv("TMPDIR")) || make_dir(d, "/tmp");
}

bool gt_door_place(char place[GT_DOOR_DIR])
{
	struct gt_door d = { .dir_fd = -1 };

	if (!make_any_dir(&d))
		return false;
	rmdir(d.dir);
	if (d.dir_fd >= 0)
		close(d.dir_fd);
	snprintf(place, GT_DOOR_DIR, "%s", d.dir);
	*strrchr(place, '/') = 0;
	return true;
}

static int listen_at(struct gt_door *d, struct gt_err *err)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int code;

	snprintf(a.sun_path, sizeof(a.sun_path), "%.99s/sock", d->dir);
	d->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (d->listen_fd < 0 || bind(d->listen_fd, (struct sockaddr *)&a, sizeof(a)) || listen(d->listen_fd, SOMAXCONN)) {
		code = -errno;
		return gt_err_set(err, code, "%.100s: %s", a.sun_path, strerror(-code));
	}
	return 0;
}

static int start_usher(struct gt_door *d, struct gt_err *err)
{
	sigset_t all, old;
	int code;

	if (pipe2(d->stop, O_CLOEXEC))
		return gt_err_set(err, -errno, "pipe: %s", strerror(errno));
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	code = pthread_create(&d->usher, NULL, usher, d);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (code)
		return gt_err_set(err, -code, "cannot start a thread: %s", strerror(code));
	d->running = true;
	return 0;
}

int gt_door_open(struct gt_door *d, const struct gt_rings *r, struct gt_err *err)
{
	char library[4200], real[4200];
	int code;

	memset(d, 0, sizeof(*d));
	d->dir_fd = d->listen_fd = d->stop[0] = d->stop[1] = -1;
	d->memory_fd = r->fd;
	pthread_mutex_init(&d->lock, NULL);
	pthread_mutex_init(&d->handing, NULL);
	code = gt_door_library(library, sizeof(library), err);
	if (code)
		return code;
	if (!make_any_dir(d))
		return gt_err_set(err, -EACCES, "cannot make a directory for the session in $XDG_RUNTIME_DIR, $TMPDIR or /tmp");
	snprintf(d->preload, sizeof(d->preload), "%s/" LIBRARY, d->dir);
	if (!realpath(library, real) || symlink(real, d->preload))
		return gt_err_set(err, -errno, "%.100s: %s", d->preload, strerror(errno));
	code = listen_at(d, err);
	return code ? code : start_usher(d, err);
}

void gt_door_close(struct gt_door *d)
{
	if (d->running) {
		close(d->stop[1]);
		d->stop[1] = -1;
		pthread_join(d->usher, NULL);
		d->running = false;
	}
	for (int *fd = (int[]){ d->listen_fd, d->stop[0], d->stop[1], -2 }; *fd != -2; fd++)
		if (*fd >= 0)
			close(*fd);
	if (d->dir[0])
		remove_dir(d->dir);
	d->dir[0] = 0;
	if (d->dir_fd >= 0)
		close(d->dir_fd);
	d->dir_fd = d->listen_fd = d->stop[0] = d->stop[1] = -1;
	pthread_mutex_destroy(&d->lock);
	pthread_mutex_destroy(&d->handing);
}
