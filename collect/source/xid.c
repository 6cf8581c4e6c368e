/* Xid messages from /dev/kmsg, from the start of the recording on. The time of a row is that at
 * which the line was read: it becomes readable at once, and the kernel's own time is of another
 * clock. */
#define _GNU_SOURCE
#include "collect/source/xid.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "collect/source/source.h"
#include "formats/trace/clock.h"

#define LOG "/dev/kmsg"
#define LINE 8192 /* bytes of a record of the log, at most */

/* ---- a line ---- */

bool gt_xid_parse(struct gt_xid *x, const char *line)
{
	const char *at = strstr(line, "NVRM: Xid (");
	int end = 0;

	*x = (struct gt_xid){ .number = 0 };
	if (!at)
		return false;
	at += strlen("NVRM: Xid (");
	at += strncmp(at, "PCI:", 4) ? 0 : 4;
	if (sscanf(at, "%31[0-9a-fA-F:.]): %u%n", x->device, &x->number, &end) != 2)
		return false;
	at += end;
	at += strspn(at, ", ");
	snprintf(x->text, sizeof(x->text), "%.*s", (int)strcspn(at, "\n"), at);
	return true;
}

/* ---- the source ---- */

struct xid_log {
	int fd; /* -1: it cannot be read */
	char why_not[160];
	uint32_t track; /* GT_NONE: no row yet */
	uint64_t rows, lost;
};

static void *xid_open(struct gt_err *err)
{
	struct xid_log *x = calloc(1, sizeof(*x));

	if (!x) {
		gt_err_set(err, -ENOMEM, "out of memory (Xid messages)");
		return NULL;
	}
	x->track = GT_NONE;
	x->fd = open(LOG, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (x->fd >= 0 && lseek(x->fd, 0, SEEK_END) >= 0)
		return x;
	snprintf(x->why_not, sizeof(x->why_not), "Xid messages (" LOG ": %s%s)", strerror(errno),
		errno == EPERM || errno == EACCES ? "; it is read by root or with CAP_SYSLOG" : "");
	if (x->fd >= 0)
		close(x->fd);
	x->fd = -1;
	return x;
}

static const char *missing(void *state)
{
	const struct xid_log *x = state;

	return x->fd < 0 ? x->why_not : NULL;
}

static int start(void *state, int64_t from, int64_t until, struct gt_err *err) { return 0; }

static int log_fd(void *state) { return ((struct xid_log *)state)->fd; }

static int put_row(
	struct xid_log *x, struct gt_writer *w, const struct gt_xid *xid, struct gt_err *err)
{
	struct gt_field fields[] = { { gt_writer_string(w, "domain"), GT_F_STR, GT_R_NONE },
		{ gt_writer_string(w, "device"), GT_F_STR, GT_R_NONE },
		{ gt_writer_string(w, "message"), GT_F_STR, GT_R_NONE } };
	struct gt_type type = {
		.category = GT_CAT_USER, .layer = GT_LAYER_USER, .nfields = 3, .fields = fields
	};
	const uint64_t args[] = { gt_writer_string(w, "xid"), gt_writer_string(w, xid->device),
		gt_writer_string(w, xid->text) };
	struct gt_row row = { .start = gt_clock_monotonic(), .nargs = 3 };
	char name[24];

	if (x->track == GT_NONE) {
		struct gt_track track = { .parent = GT_NONE, .kind = GT_TRACK_CUSTOM };

		track.name = gt_writer_string(w, "kernel log");
		track.source = gt_writer_string(w, "xid");
		x->track = gt_writer_track(w, &track);
	}
	snprintf(name, sizeof(name), "Xid %u", xid->number);
	type.name = gt_writer_string(w, name);
	row.end = row.start;
	row.type = gt_writer_type(w, &type);
	return gt_writer_row(w, GT_INSTANT, x->track, &row, args, err);
}

/* A read returns one record of the log. EPIPE: the kernel has overwritten records since. */
static int64_t drain(void *state, struct gt_writer *w, struct gt_err *err)
{
	struct xid_log *x = state;
	struct gt_xid xid;
	char line[LINE];
	int64_t rows = 0;
	ssize_t n;

	while (x->fd >= 0) {
		n = read(x->fd, line, sizeof(line) - 1);
		if (n < 0 && errno == EPIPE) {
			x->lost++;
			continue;
		}
		if (n <= 0)
			break;
		line[n] = 0;
		if (!gt_xid_parse(&xid, line))
			continue;
		if (put_row(x, w, &xid, err))
			return err->code;
		rows++;
	}
	x->rows += (uint64_t)rows;
	return rows;
}

static void stop(void *state) {}

static char *metadata(void *state) { return NULL; }

static void totals(void *state, struct gt_source_totals *t)
{
	const struct xid_log *x = state;

	*t = (struct gt_source_totals){ .rows = x->rows, .failed = x->lost };
}

static bool doctor(FILE *to)
{
	struct gt_err err = GT_ERR_INIT;
	struct xid_log *x = xid_open(&err);
	bool works = x && x->fd >= 0;

	fputs(works ? "Xid messages from " LOG : x ? x->why_not : err.text, to);
	if (works)
		close(x->fd);
	free(x);
	return works;
}

static void xid_close(void *state)
{
	struct xid_log *x = state;

	if (x->fd >= 0)
		close(x->fd);
	free(x);
}

const struct gt_source gt_source_xid = {
	.name = "xid",
	.needs = "a readable " LOG,
	.with_inject = true,
	.unit = "Xid message",
	.open = xid_open,
	.missing = missing,
	.start = start,
	.fd = log_fd,
	.drain = drain,
	.stop = stop,
	.metadata = metadata,
	.totals = totals,
	.doctor = doctor,
	.close = xid_close,
};
