/* A source of events for a test of the contract (collect/source/source.h): a counter that goes up
 * by one at each interval and loses each tenth value. It takes this file and one row: the Makefile
 * builds a gtcollect with -D'GT_SOURCES_MORE(X)=X(heartbeat)'. */
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include "collect/source/source.h"
#include "formats/trace/clock.h"

struct heartbeat {
	int timer;
	uint32_t track, type;
	uint64_t beats, lost;
};

static int64_t interval = 1000000000;
static const struct gt_opt options[] = { { 0, "heartbeat-interval", GT_OPT_NS, &interval, "TIME",
	"interval of the beats (1s)", NULL } };

static void *heartbeat_open(struct gt_err *err)
{
	struct heartbeat *h = calloc(1, sizeof(*h));

	if (h && (h->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)) >= 0)
		return h;
	gt_err_set(err, -errno, "-e heartbeat: no timer");
	free(h);
	return NULL;
}

static int set_timer(struct heartbeat *h, int64_t ns)
{
	struct timespec every = { ns / 1000000000, ns % 1000000000 };

	return timerfd_settime(h->timer, 0, &(struct itimerspec){ every, every }, NULL);
}

static int heartbeat_start(void *state, int64_t from, int64_t until, struct gt_err *err)
{
	return set_timer(state, interval) ? gt_err_set(err, -errno, "no timer") : 0;
}

static int heartbeat_fd(void *state) { return ((struct heartbeat *)state)->timer; }

static void declare(struct heartbeat *h, struct gt_writer *w)
{
	struct gt_field value = { gt_writer_string(w, "value"), GT_F_U64, GT_R_VALUE };
	struct gt_type type = { .nfields = 1, .fields = &value };
	struct gt_track track = { .parent = GT_NONE, .kind = GT_TRACK_CUSTOM };

	type.name = gt_writer_string(w, "beats");
	track.name = track.source = gt_writer_string(w, "heartbeat");
	h->type = gt_writer_type(w, &type);
	h->track = gt_writer_track(w, &track);
}

static int64_t heartbeat_drain(void *state, struct gt_writer *w, struct gt_err *err)
{
	int64_t now = gt_clock_monotonic();
	struct heartbeat *h = state;
	uint64_t expired = 0;
	struct gt_row row = { .start = now, .end = now, .nargs = 1 };

	if (read(h->timer, &expired, sizeof(expired)) < 0 || !expired)
		return 0;
	if (!h->beats++)
		declare(h, w);
	row.type = h->type;
	if (h->beats % 10)
		return gt_writer_row(w, GT_COUNTER, h->track, &row, &h->beats, err) ? err->code : 1;
	h->lost++;
	return gt_writer_loss(w, GT_SCOPE_TRACK, h->track, now, now, 1, err);
}

static void heartbeat_stop(void *state) { set_timer(state, 0); }
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

/* clang-format off */
const struct gt_source gt_source_heartbeat = {
	.name = "heartbeat", .with_inject = true, .options = options, .noptions = 1, .unit = "beat",
	.open = heartbeat_open, .start = heartbeat_start, .fd = heartbeat_fd, .drain = heartbeat_drain,
	.stop = heartbeat_stop, .metadata = heartbeat_metadata, .totals = heartbeat_totals,
	.doctor = heartbeat_doctor, .close = heartbeat_close,
};
