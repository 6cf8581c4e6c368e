/* A source of events for a test of the contract: a counter "beats" that goes up by one at each
 * interval.
 *
 * It takes this file and one row: tests.mk builds a gtcollect with
 * -D'GT_SOURCES_MORE(X)=X(heartbeat)'. It loses each tenth value, so that losses are seen, and
 * needs nothing of the machine. */
#include <errno.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "collect/source/source.h"

extern const struct gt_source gt_source_heartbeat;

struct heartbeat {
	int timer;
	uint32_t track, type;
	bool declared;
	uint64_t beats, lost;
};

static void *heartbeat_open(struct gt_err *err)
{
	struct heartbeat *h = calloc(1, sizeof(*h));

	if (h && (h->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)) >= 0)
		return h;
	gt_err_set(err, -errno, "-e heartbeat: no timer");
	free(h);
	return NULL;
}

static int heartbeat_start(void *state, const struct gt_source_times *t, struct gt_err *err)
{
	struct heartbeat *h = state;
	struct timespec every = { t->interval / 1000000000, t->interval % 1000000000 };

	return timerfd_settime(h->timer, 0, &(struct itimerspec){ every, every }, NULL)
		? gt_err_set(err, -errno, "no timer")
		: 0;
}

static int heartbeat_fd(void *state) { return ((struct heartbeat *)state)->timer; }

static void declare(struct heartbeat *h, struct gt_writer *w)
{
	struct gt_field value = { gt_writer_string(w, "value"), GT_F_U64, GT_R_VALUE };
	struct gt_type type = { .name = gt_writer_string(w, "beats"),
		.category = GT_CAT_OTHER,
		.layer = GT_LAYER_USER,
		.nfields = 1,
		.fields = &value };
	struct gt_track track = { .parent = GT_NONE,
		.name = gt_writer_string(w, "heart"),
		.kind = GT_TRACK_CUSTOM,
		.source = gt_writer_string(w, "heartbeat") };

	h->type = gt_writer_type(w, &type);
	h->track = gt_writer_track(w, &track);
	h->declared = true;
}

static int64_t heartbeat_drain(void *state, struct gt_writer *w, struct gt_err *err)
{
	struct heartbeat *h = state;
	struct timespec now;
	uint64_t expired = 0;
	struct gt_row row = { .nargs = 1 };

	if (read(h->timer, &expired, sizeof(expired)) < 0 || !expired)
		return 0;
	if (!h->declared)
		declare(h, w);
	clock_gettime(CLOCK_MONOTONIC, &now);
	row.start = row.end = now.tv_sec * 1000000000ll + now.tv_nsec;
	row.type = h->type;
	h->beats++;
	if (h->beats % 10)
		return gt_writer_row(w, GT_COUNTER, h->track, &row, &h->beats, err) ? err->code : 1;
	h->lost++;
	return gt_writer_lost(w, GT_SCOPE_TRACK, h->track, row.start, row.start, 1, err);
}

static void heartbeat_stop(void *state)
{
	timerfd_settime(((struct heartbeat *)state)->timer, 0, &(struct itimerspec){ 0 }, NULL);
}
static char *heartbeat_metadata(void *state) { return strdup("{\"heartbeat\":{\"works\":true}}"); }
static bool heartbeat_doctor(FILE *to) { return fputs("its beats", to) >= 0; }

static void heartbeat_totals(void *state, struct gt_source_totals *t)
{
	const struct heartbeat *h = state;

	*t = (struct gt_source_totals){ .rows = h->beats - h->lost, .lost = h->lost };
}

static void heartbeat_close(void *state)
{
	close(((struct heartbeat *)state)->timer);
	free(state);
}

const struct gt_source gt_source_heartbeat = {
	.name = "heartbeat",
	.records = "a counter for tests",
	.with_inject = true,
	.unit = "beat",
	.open = heartbeat_open,
	.start = heartbeat_start,
	.fd = heartbeat_fd,
	.drain = heartbeat_drain,
	.stop = heartbeat_stop,
	.metadata = heartbeat_metadata,
	.totals = heartbeat_totals,
	.doctor = heartbeat_doctor,
	.close = heartbeat_close,
};
