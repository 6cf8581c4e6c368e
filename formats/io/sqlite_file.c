#define _GNU_SOURCE
#include "formats/io/sqlite_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define VFS "gt-descriptor"
#define SECTOR 4096

struct descriptor {
	sqlite3_file base;
	int fd;
	bool read_only;
};
/* errno of the last failed read or write of this thread, which SQLite's codes do not have */
static _Thread_local int failure;

static int fd_of(sqlite3_file *f) { return ((struct descriptor *)f)->fd; }

static int file_close(sqlite3_file *f) { return SQLITE_OK; }

/* The header says of a database in WAL mode that other files go with it, which SQLite would open.
 * Its own pages are those of the last checkpoint, and complete. */
static void hide_wal(const sqlite3_file *f, char *bytes, int n, sqlite3_int64 at)
{
	const int first = 18, last = 19; /* versions of the format for writing and reading */

	if (!((const struct descriptor *)f)->read_only || at > first || at + n <= last)
		return;
	for (sqlite3_int64 i = first - at; i <= last - at; i++)
		bytes[i] = bytes[i] == 2 ? 1 : bytes[i];
}

static int file_read(sqlite3_file *f, void *to, int n, sqlite3_int64 at)
{
	int done = 0;

	while (done < n) {
		ssize_t r = pread(fd_of(f), (char *)to + done, (size_t)(n - done), at + done);

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0) {
			failure = errno;
			return SQLITE_IOERR_READ;
		}
		if (!r) {
			memset((char *)to + done, 0, (size_t)(n - done));
			return SQLITE_IOERR_SHORT_READ;
		}
		done += (int)r;
	}
	hide_wal(f, to, n, at);
	return SQLITE_OK;
}

static int file_write(sqlite3_file *f, const void *from, int n, sqlite3_int64 at)
{
	int done = 0;

	while (done < n) {
		ssize_t w =
			pwrite(fd_of(f), (const char *)from + done, (size_t)(n - done), at + done);

		if (w < 0 && errno == EINTR)
			continue;
		if (w < 0) {
			failure = errno;
			return errno == ENOSPC ? SQLITE_FULL : SQLITE_IOERR_WRITE;
		}
		done += (int)w;
	}
	return SQLITE_OK;
}

static int file_truncate(sqlite3_file *f, sqlite3_int64 size)
{
	return ftruncate(fd_of(f), size) ? SQLITE_IOERR_TRUNCATE : SQLITE_OK;
}

static int file_sync(sqlite3_file *f, int flags) { return SQLITE_OK; }

static int file_size(sqlite3_file *f, sqlite3_int64 *size)
{
	struct stat st;

	if (fstat(fd_of(f), &st))
		return SQLITE_IOERR_FSTAT;
	*size = st.st_size;
	return SQLITE_OK;
}

static int file_lock(sqlite3_file *f, int level) { return SQLITE_OK; }

static int file_is_locked(sqlite3_file *f, int *is)
{
	*is = 0;
	return SQLITE_OK;
}

static int file_control(sqlite3_file *f, int op, void *arg) { return SQLITE_NOTFOUND; }

static int file_sector(sqlite3_file *f) { return SECTOR; }

static int file_properties(sqlite3_file *f) { return 0; }

static const sqlite3_io_methods methods = {
	.iVersion = 1,
	.xClose = file_close,
	.xRead = file_read,
	.xWrite = file_write,
	.xTruncate = file_truncate,
	.xSync = file_sync,
	.xFileSize = file_size,
	.xLock = file_lock,
	.xUnlock = file_lock,
	.xCheckReservedLock = file_is_locked,
	.xFileControl = file_control,
	.xSectorSize = file_sector,
	.xDeviceCharacteristics = file_properties,
};

/* The name is the number of the descriptor. */
static int vfs_open(sqlite3_vfs *v, const char *name, sqlite3_file *f, int flags, int *out)
{
	struct descriptor *d = (struct descriptor *)f;

	f->pMethods = NULL;
	if (!name || !(flags & SQLITE_OPEN_MAIN_DB))
		return SQLITE_CANTOPEN;
	d->fd = atoi(name);
	d->read_only = flags & SQLITE_OPEN_READONLY;
	f->pMethods = &methods;
	if (out)
		*out = flags;
	return SQLITE_OK;
}

static int vfs_delete(sqlite3_vfs *v, const char *name, int sync) { return SQLITE_OK; }

static int vfs_access(sqlite3_vfs *v, const char *name, int flags, int *is)
{
	*is = 0;
	return SQLITE_OK;
}

static int vfs_full_name(sqlite3_vfs *v, const char *name, int n, char *to)
{
	snprintf(to, (size_t)n, "%s", name);
	return SQLITE_OK;
}

static int vfs_randomness(sqlite3_vfs *v, int n, char *to)
{
	sqlite3_vfs *other = v->pAppData;

	return other->xRandomness(other, n, to);
}

static int vfs_sleep(sqlite3_vfs *v, int us) { return 0; }

static int vfs_time(sqlite3_vfs *v, double *day)
{
	sqlite3_vfs *other = v->pAppData;

	return other->xCurrentTime(other, day);
}

static int vfs_error(sqlite3_vfs *v, int n, char *to) { return 0; }

static bool has_vfs(void)
{
	static sqlite3_vfs vfs = {
		.iVersion = 1,
		.szOsFile = sizeof(struct descriptor),
		.mxPathname = 64,
		.zName = VFS,
		.xOpen = vfs_open,
		.xDelete = vfs_delete,
		.xAccess = vfs_access,
		.xFullPathname = vfs_full_name,
		.xRandomness = vfs_randomness,
		.xSleep = vfs_sleep,
		.xCurrentTime = vfs_time,
		.xGetLastError = vfs_error,
	};

	if (sqlite3_vfs_find(VFS))
		return true;
	vfs.pAppData = sqlite3_vfs_find(NULL);
	return vfs.pAppData && !sqlite3_vfs_register(&vfs, 0);
}

int gt_sqlite_error(sqlite3 *db, int code, struct gt_err *err)
{
	int primary = code & 0xff;

	if (failure && (primary == SQLITE_IOERR || primary == SQLITE_FULL))
		return gt_err_set(err, -failure, "%s", strerror(failure));
	if (primary == SQLITE_NOMEM)
		return gt_err_set(err, -ENOMEM, "out of memory");
	return gt_err_set(err, primary == SQLITE_FULL ? -EFBIG : -EILSEQ, "SQLite: %.120s",
		db ? sqlite3_errmsg(db) : sqlite3_errstr(code));
}

int gt_sqlite_run(sqlite3 *db, const char *sql, struct gt_err *err)
{
	int rc = sqlite3_exec(db, sql, NULL, NULL, NULL);

	return rc ? gt_sqlite_error(db, rc, err) : 0;
}

sqlite3 *gt_sqlite_open(int fd, bool write, struct gt_err *err)
{
	int flags = write ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY, rc;
	sqlite3 *db = NULL;
	char name[16];

	failure = 0;
	snprintf(name, sizeof(name), "%d", fd);
	rc = has_vfs() ? sqlite3_open_v2(name, &db, flags | SQLITE_OPEN_NOMUTEX, VFS)
		       : SQLITE_NOMEM;
	if (!rc)
		rc = sqlite3_exec(db, "PRAGMA temp_store = MEMORY", NULL, NULL, NULL);
	if (!rc)
		return db;
	gt_sqlite_error(db, rc, err);
	sqlite3_close(db);
	return NULL;
}
