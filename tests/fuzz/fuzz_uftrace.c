/* Folders of uftrace: the input is divided into the files task.txt, sid-1.map, prog.sym,
 * perf-cpu0.dat and, the rest, 7.dat. Each but the last one has its length before it, in two bytes.
 * The trace that was written must be complete. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "tests/fuzz/read_back.h"

extern const struct gt_importer gt_import_uftrace;

static const char *const names[] = { "task.txt", "sid-1.map", "prog.sym", "perf-cpu0.dat",
	"7.dat" };
#define FILES (sizeof(names) / sizeof(*names))

/* The folder, with its file info. It has no name any more when the program ends. */
static char folder[] = "/tmp/gt-fuzz-XXXXXX";
static int folder_fd = -1;

static void put(const char *name, const void *bytes, size_t n)
{
	int fd = openat(folder_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, bytes, n) != (ssize_t)n || close(fd))
		abort();
}

static void remove_folder(void)
{
	for (size_t i = 0; i < FILES; i++)
		unlinkat(folder_fd, names[i], 0);
	unlinkat(folder_fd, "info", 0);
	rmdir(folder);
}

static void make_folder(void)
{
	static const uint8_t info[40] = "Ftrace!\0\4\0\0\0\50\0\1\2";

	if (!mkdtemp(folder) ||
		(folder_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0 ||
		atexit(remove_folder))
		abort();
	put("info", info, sizeof(info));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gt_writer_options opt = { .level = 1, .host = "", .boot_id = "" };
	struct gt_err err = GT_ERR_INIT;
	struct gt_writer *w;
	int fd;

	if (folder_fd < 0)
		make_folder();
	for (size_t i = 0; i < FILES; i++) {
		size_t n = size;

		if (i + 1 < FILES && size >= 2) {
			n = data[0] | (size_t)data[1] << 8;
			data += 2;
			size -= 2;
			n = n < size ? n : size;
		}
		put(names[i], data, n);
		data += n;
		size -= n;
	}
	fd = memfd_create("fuzz", MFD_CLOEXEC);
	w = gt_writer_open(dup(fd), &opt, &err);
	if (w)
		check_import(gt_import_uftrace.import_folder(folder_fd, w, &err), &err, w, fd);
	else
		close(fd);
	return 0;
}
