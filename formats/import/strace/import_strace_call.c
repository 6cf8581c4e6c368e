/* What a system call of strace's output is: a call on a file of the driver, with the name that
 * gtcollect gives it, or another one. The file of a descriptor is in the line (-y), or is known
 * from the call that opened it.
 *
 * FILES_MAX descriptors are known; calls on further ones are plain system calls. */
#define _GNU_SOURCE
#include "formats/import/strace/import_strace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "formats/cuda/ioctl_names.h"

#define FILES_MAX (1u << 16)

typedef struct gt_strace_text text;

struct strace_fd {
	int64_t process, fd; /* the key */
	uint64_t file;       /* gt_ioctl_file(); 0: closed, or another file */
};

/* ---- files of descriptors ---- */

static struct strace_fd *find_fd(struct gt_strace_files *f, int64_t process, int64_t fd)
{
	struct strace_fd key = { .process = process, .fd = fd };
	uint32_t at = gt_map_find_item(
		&f->map, f->fds, sizeof(*f->fds), &key, offsetof(struct strace_fd, file));

	return at == UINT32_MAX ? NULL : &f->fds[at];
}

void gt_strace_set_fd(struct gt_strace_files *f, int64_t process, int64_t fd, uint64_t file)
{
	struct strace_fd *known = find_fd(f, process, fd);
	struct strace_fd new = { process, fd, file };

	if (known)
		known->file = file;
	else if (file && f->n < FILES_MAX) /* beyond the limit its calls are plain ones */
		gt_map_add_item(&f->map, &f->fds, &f->n, &f->cap, sizeof(new), &new,
			offsetof(struct strace_fd, file));
}

static uint64_t file_of_fd(struct gt_strace_files *f, int64_t process, int64_t fd, text path)
{
	struct strace_fd *known = path.p ? NULL : find_fd(f, process, fd);

	return path.p ? gt_ioctl_file_of_path(path.p, path.len) : known ? known->file : 0;
}

/* ---- what a call is ---- */

/* The first string of the arguments, without its quotes. */
text gt_strace_first_string(text args)
{
	text arg;

	for (unsigned i = 0; i < 3 && gt_strace_arg(args, i, &arg); i++)
		if (arg.len > 1 && *arg.p == '"') {
			const char *end = memrchr(arg.p + 1, '"', arg.len - 1);

			return (text){ arg.p + 1, end ? (size_t)(end - arg.p - 1) : arg.len - 1 };
		}
	return (text){ NULL, 0 };
}

/* Requests that only the driver has: 'F' with a direction, or UVM's two large numbers. */
static uint64_t file_of_request(uint64_t request)
{
	if ((request >> 8 & 0xff) == 'F' && request >> 30 == 3)
		return (uint64_t)GT_DEV_CTL << 32 | 255;
	return (request & ~3ull) == 0x30000000 ? (uint64_t)GT_DEV_UVM << 32 : 0;
}

/* strace names numbers of other drivers, which UVM uses as well. */
static bool request_of(text arg, bool uvm, uint64_t *request)
{
	if (uvm && (gt_strace_is(arg, "FIBMAP") || gt_strace_is(arg, "FIGETBSZ"))) {
		*request = gt_strace_is(arg, "FIBMAP") ? 1 : 2;
		return true;
	}
	return gt_strace_number(arg, request);
}

static void describe_ioctl(struct gt_strace_call *c, text args, bool known_file)
{
	uint64_t request = 0;
	text arg = { "", 0 };
	bool number = gt_strace_arg(args, 1, &arg) &&
		request_of(arg, c->file >> 32 == GT_DEV_UVM, &request);

	if (!c->file && number && !known_file)
		c->file = file_of_request(request);
	if (c->file)
		c->group = GT_STRACE_DRIVER_IOCTL;
	if (c->file && number)
		gt_ioctl_name(c->name, sizeof(c->name), c->file >> 32 << 32, request, GT_IOCTL_ANY);
	else if (number)
		snprintf(c->name, sizeof(c->name), "ioctl 0x%" PRIx64, request);
	else if (arg.len && arg.len < 40)
		snprintf(c->name, sizeof(c->name), "ioctl %.*s", (int)arg.len, arg.p);
}

static void describe_file_call(struct gt_strace_call *c, const char *verb)
{
	char path[64];

	if (!c->file)
		return;
	gt_ioctl_file(path, sizeof(path), c->file);
	snprintf(c->name, sizeof(c->name), "%s %s", verb, path);
	c->group = GT_STRACE_DRIVER_FILE;
}

bool gt_strace_is_open(text name)
{
	return gt_strace_is(name, "openat") || gt_strace_is(name, "open") ||
		gt_strace_is(name, "openat2");
}

static bool is_map(text name) { return gt_strace_is(name, "mmap") || gt_strace_is(name, "mmap2"); }

static bool is_simulated(text path)
{
	return path.p && path.len > 5 && !memcmp(path.p, "/memf", 5);
}

/* The descriptor of the call and its file. */
static void find_file(struct gt_strace_files *f, int64_t process, const struct gt_strace_line *l,
	struct gt_strace_call *c, bool has_fd)
{
	text arg, path = { NULL, 0 };

	if (gt_strace_is_open(l->name)) {
		path = l->file.p ? l->file : c->path;
		c->file = path.p ? gt_ioctl_file_of_path(path.p, path.len) : 0;
	} else if ((has_fd || is_map(l->name)) && gt_strace_arg(l->args, has_fd ? 0 : 4, &arg) &&
		gt_strace_fd(arg, &c->fd, &path)) {
		c->file = file_of_fd(f, process, c->fd, path);
		if (path.p && !c->path.p)
			c->path = path;
	}
	c->simulated = c->file && is_simulated(path);
}

void gt_strace_describe(struct gt_strace_files *f, int64_t process, const struct gt_strace_line *l,
	struct gt_strace_call *c)
{
	struct gt_strace_syscall is = gt_strace_syscall_of(l->name.p, l->name.len);
	text arg;

	memset(c, 0, sizeof(*c));
	c->group = GT_STRACE_SYSCALL;
	c->fd = -1;
	snprintf(c->name, sizeof(c->name), "%.*s", (int)l->name.len, l->name.p);
	if (is.flags & GT_STRACE_HAS_PATH)
		c->path = gt_strace_first_string(l->args);
	find_file(f, process, l, c, is.flags & GT_STRACE_HAS_FD);
	if (is_map(l->name)) {
		if (gt_strace_arg(l->args, 1, &arg))
			gt_strace_number(arg, &c->length);
		describe_file_call(c, "mmap");
	} else if (gt_strace_is_open(l->name)) {
		describe_file_call(c, "open");
	} else if (gt_strace_is(l->name, "close")) {
		describe_file_call(c, "close");
	} else if (gt_strace_is(l->name, "ioctl")) {
		describe_ioctl(c, l->args, c->path.p != NULL);
	}
}

void gt_strace_files_release(struct gt_strace_files *f)
{
	gt_map_release(&f->map);
	free(f->fds);
}
