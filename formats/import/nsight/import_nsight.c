/* Nsight Systems' SQLite exports, and those of gtexport --sqlite.
 *
 * SQLite reads the input, or a temporary copy if that is compressed or a pipe, and opens no other
 * file (formats/io/sqlite_file.h). Of a database in WAL mode it reads the last checkpoint. Nothing
 * in the file is executed: the authorizer allows to read tables and their columns, and no function
 * but the importer's own. */
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "formats/import/importers.h"
#include "formats/import/nsight/import_nsight.h"
#include "formats/io/sqlite_file.h"
#include "formats/io/stream_in.h"

#define MAGIC "SQLite format 3" /* and a zero */
#define TEXT_MAX (16 << 20)     /* bytes of a text or row; longer ones are an error */
#define SQL_MAX (1 << 20)       /* bytes of a statement in the file */
#define STEPS 10000             /* of SQLite's between two checks of the time */
/* processor time to read a file: a hundred times of what any file needs */
#define SECONDS 20
#define SECONDS_PER_MIB 1

static int64_t thread_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec;
}

struct deadline {
	int64_t second;
	bool has_passed;
};

/* Rows of a damaged file can share pages, so that a small file takes hours. */
static int is_late(void *arg)
{
	struct deadline *d = arg;

	d->has_passed = thread_seconds() > d->second;
	return d->has_passed;
}

static int authorize(
	void *arg, int action, const char *a, const char *b, const char *database, const char *view)
{
	static const char *const pragmas[] = { "table_info", "page_count", "page_size" };

	if (action == SQLITE_SELECT || action == SQLITE_READ ||
		(action == SQLITE_FUNCTION && !strcmp(b, GT_NSIGHT_FUNCTION)))
		return SQLITE_OK;
	for (size_t i = 0; action == SQLITE_PRAGMA && i < sizeof(pragmas) / sizeof(*pragmas); i++)
		if (!strcmp(a, pragmas[i]))
			return SQLITE_OK;
	return SQLITE_DENY;
}

static int restrict_database(sqlite3 *db, struct gt_err *err)
{
	static const int off[] = { SQLITE_DBCONFIG_ENABLE_TRIGGER, SQLITE_DBCONFIG_ENABLE_VIEW,
		SQLITE_DBCONFIG_TRUSTED_SCHEMA, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION };
	int rc = gt_sqlite_run(db, "PRAGMA cell_size_check = ON", err);

	for (size_t i = 0; i < sizeof(off) / sizeof(*off); i++)
		sqlite3_db_config(db, off[i], 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_limit(db, SQLITE_LIMIT_LENGTH, TEXT_MAX);
	sqlite3_limit(db, SQLITE_LIMIT_SQL_LENGTH, SQL_MAX);
	sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
	sqlite3_set_authorizer(db, authorize, NULL);
	return rc;
}

static int read_database(int fd, struct gt_writer *w, struct gt_err *err)
{
	sqlite3 *db = gt_sqlite_open(fd, false, err);
	struct deadline until = { .second = thread_seconds() + SECONDS };
	struct stat st;
	int rc = db ? restrict_database(db, err) : err->code;

	if (!rc && !fstat(fd, &st))
		until.second += (st.st_size >> 20) * SECONDS_PER_MIB;
	if (!rc) {
		sqlite3_progress_handler(db, STEPS, is_late, &until);
		rc = gt_nsight_import_database(db, w, err);
	}
	if (rc && until.has_passed)
		gt_err_append(err, ": it takes too long to read, as only a damaged file does");
	sqlite3_close(db);
	return rc;
}

static int nsight_import(struct gt_in *in, struct gt_writer *w, struct gt_err *err)
{
	int fd = gt_in_random_access(in, err), rc;

	if (fd < 0)
		return fd;
	rc = read_database(fd, w, err);
	close(fd);
	return rc;
}

static int nsight_sniff(const char *head, size_t len)
{
	return len >= sizeof(MAGIC) && !memcmp(head, MAGIC, sizeof(MAGIC)) ? 100 : 0;
}

const struct gt_importer gt_import_nsight = {
	.name = "nsight",
	.help = "SQLite databases of Nsight Systems and of gtexport --sqlite",
	.sniff = nsight_sniff,
	.import = nsight_import,
};
