/* The table of files that have probes, and the files that gtcollect opens for it. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "collect/bpf/links/linked_files.h"
#include "collect/bpf/links/mapped_library.h"
#include "formats/base/buf.h"
#include "tests/unit/t.h"

static struct gt_linked_files files;

static void add(unsigned kind, ino_t inode, pid_t pid)
{
	gt_grow(&files.list, &files.cap, files.n + 1, sizeof(*files.list));
	files.list[files.n++] = (struct gt_linked_file){
		.kind = kind, .pid = pid, .device = 1, .inode = inode, .link = GT_PROBE_NO_LINK
	};
}

static bool have(unsigned kind, ino_t inode, pid_t pid)
{
	const struct gt_linked_file which = {
		.kind = kind, .pid = pid, .device = 1, .inode = inode
	};

	return gt_linked_files_have(&files, &which);
}

/* A link of all processes is also that of each. */
static void links_of_all(void)
{
	add(GT_LINKED_USDT, 5, 0);
	add(GT_LINKED_DRIVER, 5, 100);
	CHECK(have(GT_LINKED_USDT, 5, 100) && have(GT_LINKED_USDT, 5, 0));
	CHECK(have(GT_LINKED_DRIVER, 5, 100) && !have(GT_LINKED_DRIVER, 5, 101));
	CHECK(!have(GT_LINKED_USDT, 6, 0) && !have(GT_LINKED_FUNCTION, 5, 100));
	gt_linked_files_release(&files);
	CHECK(!have(GT_LINKED_USDT, 5, 0));
}

static void links_of_processes(void)
{
	pid_t ended = fork();

	if (!ended)
		_exit(0);
	waitpid(ended, NULL, 0);
	add(GT_LINKED_USDT, 1, ended);
	add(GT_LINKED_FUNCTION + 1, 2, getpid());
	add(GT_LINKED_DRIVER, 3, 0);
	CHECK(gt_linked_files_remove_ended(&files) && !gt_linked_files_remove_ended(&files));
	CHECK(!have(GT_LINKED_USDT, 1, ended));
	CHECK(have(GT_LINKED_FUNCTION + 1, 2, getpid()) && have(GT_LINKED_DRIVER, 3, 7));
	CHECK(gt_linked_files_remove(&files, getpid()));
	CHECK(!have(GT_LINKED_FUNCTION + 1, 2, getpid()) && have(GT_LINKED_DRIVER, 3, 7));
	gt_linked_files_release(&files);
}

static char mapped[64]; /* what the link of the mapping leads to */

static int open_as(const char *path, ino_t inode)
{
	static struct gt_mapped_library l;

	struct gt_err err = GT_ERR_INIT;

	l.inode = inode;
	snprintf(l.path, sizeof(l.path), "%s", path);
	snprintf(l.link, sizeof(l.link), "%s", mapped);
	return gt_mapped_library_open(&l, &err);
}

/* FIFOs and other files are refused; opening a FIFO with the expected inode does not block. */
static void files_of_other_kinds(void)
{
	char folder[] = "/tmp/gt_linked_XXXXXX", path[64];
	struct stat st;
	int fd;

	CHECK(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/file", folder);
	CHECK(!mkfifo(path, 0600) && !stat(path, &st));
	CHECK(open_as(path, st.st_ino) == -ESTALE);
	unlink(path);
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	CHECK(fd >= 0 && !fstat(fd, &st));
	close(fd);
	CHECK(open_as(path, st.st_ino + 1) == -ESTALE);
	fd = open_as(path, st.st_ino);
	CHECK(fd >= 0);
	close(fd);
	/* the inode number is the same, but the link of the mapping shows another device */
	snprintf(mapped, sizeof(mapped), "%s", folder);
	CHECK(open_as(path, st.st_ino) == -ESTALE);
	snprintf(mapped, sizeof(mapped), "%s", path);
	fd = open_as(path, st.st_ino);
	CHECK(fd >= 0);
	close(fd);
	unlink(path);
	rmdir(folder);
}

T_MAIN(T(links_of_all), T(links_of_processes), T(files_of_other_kinds))
