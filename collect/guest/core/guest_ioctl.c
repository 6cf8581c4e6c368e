/* Calls on the driver's files: /dev/nvidiactl, /dev/nvidia0 ..., nvidia-uvm, caps. libcuda calls
 * the kernel through ioctl.
 *
 * Each call identifies the file by its device number. An fstat costs little compared with an
 * ioctl, and it needs no table of descriptors, which dup, fork or another thread could make
 * wrong. Requests that cannot be the driver's pass without fstat. Programs call close and mmap on
 * all files, so a bitmap of descriptors that open has seen says for which of them fstat is
 * needed. The simulated driver's files are memory files of known names.
 *
 * Launches are not visible here: a running channel gets its work through memory, not by ioctl. */
#define _GNU_SOURCE
#include "collect/guest/core/guest_elf.h"

#include <fcntl.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include "collect/guest/core/guest_ring.h"
#include "collect/ipc/requests.h"

#ifdef GT_HOSTED
#define ioctl gt_hosted_ioctl
#define open gt_hosted_open
#define open64 gt_hosted_open64
#define openat gt_hosted_openat
#define openat64 gt_hosted_openat64
#define close gt_hosted_close
#define mmap gt_hosted_mmap
#define mmap64 gt_hosted_mmap64
#endif

#define NVIDIA_MAJOR 195
#define SIMULATED (1ULL << 63) /* internal, not recorded */

/* ---- identification of a file ---- */

static int32_t uvm_major, caps_major; /* 0: not read yet; -1: there is no such device */

static bool starts(const char *s, const char *with) { return !strncmp(s, with, strlen(with)); }

/* "236 nvidia-uvm" in /proc/devices. The numbers may change at each boot. */
static void read_majors(void)
{
	int32_t uvm = -1, caps = -1, major = 0;
	char text[8192];

	gt_read_text("/proc/devices", text, sizeof(text));
	for (const char *p = text; *p; p++) {
		if (*p >= '0' && *p <= '9' && major < 100000)
			major = major * 10 + (*p - '0');
		else if (*p == '\n')
			major = 0;
		else if (starts(p, "nvidia-uvm\n"))
			uvm = major;
		else if (starts(p, "nvidia-caps\n"))
			caps = major;
	}
	__atomic_store_n(&caps_major, caps, __ATOMIC_RELAXED);
	__atomic_store_n(&uvm_major, uvm, __ATOMIC_RELEASE);
}

static uint64_t file(enum gt_driver_file dev, uint32_t number)
{
	return (uint64_t)dev << 32 | number;
}

static uint64_t char_file(dev_t dev)
{
	int32_t maj = (int32_t)major(dev);
	uint32_t min = minor(dev);

	if (maj == NVIDIA_MAJOR)
		return min == 255    ? file(GT_DEV_CTL, min)
			: min == 254 ? file(GT_DEV_MODESET, min)
				     : file(GT_DEV_GPU, min);
	if (!__atomic_load_n(&uvm_major, __ATOMIC_ACQUIRE))
		read_majors();
	if (maj == uvm_major)
		return file(min ? GT_DEV_UVM_TOOLS : GT_DEV_UVM, min);
	return maj == caps_major ? file(GT_DEV_CAPS, min) : 0;
}

/* "/memfd:sim:nvidia0 (deleted)" */
static uint64_t simulated_file(int fd)
{
	char link[32], name[64] = "", *end = gt_append(link, link + sizeof(link), "/proc/self/fd/");
	const char *kind = name + 17;
	uint32_t number = 0;

	gt_append_number(end, link + sizeof(link), (unsigned)fd);
	if (syscall(SYS_readlinkat, AT_FDCWD, link, name, sizeof(name) - 1) <= 0 ||
		!starts(name, "/memfd:sim:nvidia"))
		return 0;
	if (starts(kind, "ctl"))
		return SIMULATED | file(GT_DEV_CTL, 255);
	if (starts(kind, "-uvm"))
		return SIMULATED | file(GT_DEV_UVM, 0);
	for (; *kind >= '0' && *kind <= '9'; kind++)
		number = number * 10 + (uint32_t)(*kind - '0');
	return SIMULATED | file(GT_DEV_GPU, number);
}

/* Returns minor number | GT_DEV_* << 32, or 0. Preserves errno. */
static uint64_t file_of(int fd)
{
	int saved = errno;
	uint64_t f = 0;
	struct stat st;

	if (fd >= 0 && !syscall(SYS_fstat, fd, &st)) {
		if (S_ISCHR(st.st_mode))
			f = char_file(st.st_rdev);
		else if (S_ISREG(st.st_mode) && !st.st_nlink)
			f = simulated_file(fd);
	}
	errno = saved;
	return f;
}

#define MARKED 16384
static uint64_t marked_fds[MARKED / 64];

static void mark_fd(int fd)
{
	if (fd >= 0 && fd < MARKED)
		__atomic_fetch_or(&marked_fds[fd / 64], 1ULL << fd % 64, __ATOMIC_RELAXED);
}

static bool is_marked(int fd)
{
	return fd >= 0 && fd < MARKED &&
		__atomic_load_n(&marked_fds[fd / 64], __ATOMIC_RELAXED) >> fd % 64 & 1;
}

static bool is_recorded_now(void)
{
	return __atomic_load_n(gt_recording, __ATOMIC_RELAXED) && !gt_inside &&
		(!gt_shared || gt_shared->ioctls);
}

/* ---- ioctl ---- */

/* The kernel has just read and written this memory, so it is safe to read. */
static void decode(struct gt_ioctl_args *a, const void *arg)
{
	struct gt_request r = gt_request_of(a->file, a->request, arg);

	gt_request_decode(&r, r.pointer ? (const void *)(uintptr_t)r.pointer : arg, a);
}

/* sys/ioctl.h is not included because of its macros. */
GT_EXPORT int ioctl(int fd, unsigned long number, ...);

GT_EXPORT int ioctl(int fd, unsigned long number, ...)
{
	int (*real)(int, unsigned long, void *) = gt_replaced_function(GT_LIBC_IOCTL);
	struct gt_ioctl_args a = { .request = number, .status = UINT64_MAX };
	struct gt_call c;
	va_list args;
	void *arg;
	int rc, error;

	va_start(args, number);
	arg = va_arg(args, void *);
	va_end(args);
	if (!gt_request_may_be_ours(number) || !is_recorded_now() || !(a.file = file_of(fd)) ||
		!gt_call_enter(&c, GT_ID_IOCTL))
		return real(fd, number, arg);
	a.file &= ~SIMULATED;
	memcpy(gt_call_claim_entry(&c)->args, &a, offsetof(struct gt_ioctl_args, command));
	gt_call_start(&c, 2);
	rc = real(fd, number, arg);
	gt_call_stop(&c);
	error = rc < 0 ? errno : 0;
	if (error == ENOTTY && file_of(fd) & SIMULATED)
		/* the simulator has answered the request; the kernel does not know its file */
		error = 0;
	if (!error)
		decode(&a, arg);
	gt_call_record_words(&c, rc >= 0 ? rc : -error, (const uint64_t *)&a, sizeof(a) / 8);
	return rc;
}

/* ---- open, close, mmap ---- */

static void record_file_call(uint32_t id, uint64_t start, int32_t ret, const struct gt_file_args *a)
{
	gt_call_record_finished(
		id, start, gt_now(gt_self), ret, (const uint64_t *)a, sizeof(*a) / 8);
}

static int opened(int fd, uint64_t start, const char *path)
{
	int error = fd < 0 ? errno : 0;
	struct gt_file_args a = { file_of(fd) & ~SIMULATED, (uint64_t)(int64_t)fd };

	if (a.file)
		mark_fd(fd);
	if (a.file || (error && path && starts(path, "/dev/nvidia")))
		record_file_call(GT_ID_OPEN, start, -error, &a);
	if (error)
		errno = error;
	return fd;
}

static mode_t mode_of(int flags, va_list args)
{
	return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(args, mode_t) : 0;
}

/* params, args, types: of open or openat, with the mode where it is not optional */
#define DEFINE_OPEN(name, which, params, args, types)                                              \
	GT_EXPORT int name params                                                                  \
	{                                                                                          \
		int(*real) types = gt_replaced_function(which);                                    \
		bool on = is_recorded_now();                                                       \
		uint64_t start = on ? gt_now(gt_self) : 0;                                         \
		va_list ap;                                                                        \
		mode_t mode;                                                                       \
                                                                                                   \
		va_start(ap, flags);                                                               \
		mode = mode_of(flags, ap);                                                         \
		va_end(ap);                                                                        \
		return on ? opened(real args, start, path) : real args;                            \
	}
#define OPEN(name, which)                                                                          \
	DEFINE_OPEN(name, which, (const char *path, int flags, ...), (path, flags, mode),          \
		(const char *, int, mode_t))
#define OPENAT(name, which)                                                                        \
	DEFINE_OPEN(name, which, (int at, const char *path, int flags, ...),                       \
		(at, path, flags, mode), (int, const char *, int, mode_t))
OPEN(open, GT_LIBC_OPEN)
OPEN(open64, GT_LIBC_OPEN64)
OPENAT(openat, GT_LIBC_OPENAT)
OPENAT(openat64, GT_LIBC_OPENAT64)

GT_EXPORT int close(int fd)
{
	int (*real)(int) = gt_replaced_function(GT_LIBC_CLOSE);
	struct gt_file_args a = { .value = (uint64_t)(int64_t)fd };
	uint64_t start;
	int rc, error;

	if (!is_marked(fd) || !is_recorded_now() || !(a.file = file_of(fd) & ~SIMULATED))
		return real(fd);
	start = gt_now(gt_self);
	rc = real(fd);
	error = rc < 0 ? errno : 0;
	record_file_call(GT_ID_CLOSE, start, -error, &a);
	if (error)
		errno = error;
	return rc;
}

#define DEFINE_MMAP(name, which, offset_type)                                                      \
	GT_EXPORT void *name(                                                                      \
		void *want, size_t bytes, int prot, int flags, int fd, offset_type offset)         \
	{                                                                                          \
		void *(*real)(void *, size_t, int, int, int, offset_type) =                        \
			gt_replaced_function(which);                                               \
		struct gt_file_args a = { .value = bytes };                                        \
		uint64_t start;                                                                    \
		int saved;                                                                         \
		void *p;                                                                           \
                                                                                                   \
		if (!is_marked(fd) || !is_recorded_now() || !(a.file = file_of(fd) & ~SIMULATED))  \
			return real(want, bytes, prot, flags, fd, offset);                         \
		start = gt_now(gt_self);                                                           \
		p = real(want, bytes, prot, flags, fd, offset);                                    \
		saved = errno;                                                                     \
		record_file_call(GT_ID_MMAP, start, p == MAP_FAILED ? -saved : 0, &a);             \
		errno = saved;                                                                     \
		return p;                                                                          \
	}
DEFINE_MMAP(mmap, GT_LIBC_MMAP, off_t)
DEFINE_MMAP(mmap64, GT_LIBC_MMAP64, off64_t)
