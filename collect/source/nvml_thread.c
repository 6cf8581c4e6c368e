/* The thread that makes the queries and puts changed values into the queue, once per interval. */
#define _GNU_SOURCE
#include "collect/source/nvml_internal.h"

#include <signal.h>
#include <string.h>
#include "formats/trace/clock.h"

#define STOP_TIMEOUT (5 * SECOND) /* for a query that runs when recording ends */

static void add_loss(struct gt_nvml *n, int64_t time, uint64_t count)
{
	if (!n->unreported.count)
		n->unreported.from = time;
	n->unreported.to = time;
	n->unreported.count += count;
}

/* Would the next round be too late to write the value within a second of the last time? A round may
 * be half an interval late. */
static bool must_repeat(const struct gt_nvml *n, const struct gt_nvml_queued *last, int64_t time)
{
	return time + n->interval + n->interval / 2 > last->time + SECOND;
}

static void enqueue(
	struct gt_nvml *n, uint32_t device, unsigned counter, int64_t time, uint64_t value)
{
	struct gt_nvml_queued *last = &n->devices[device].last[counter];
	bool has_space;

	if (last->valid && last->value == value && !must_repeat(n, last, time))
		return;
	pthread_mutex_lock(&n->lock);
	has_space = n->tail - n->head < QUEUE;
	if (has_space) {
		n->queue[n->tail++ % QUEUE] =
			(struct gt_nvml_value){ time, value, device, counter };
	} else {
		add_loss(n, time, 1);
		n->lost++;
	}
	pthread_mutex_unlock(&n->lock);
	*last = (struct gt_nvml_queued){ has_space, value, time };
}

/* The device does not have what the query asks for: it is not queried again. */
static bool is_final(int code)
{
	return code == NVML_NOT_SUPPORTED || code == NVML_NO_PERMISSION ||
		code == NVML_FUNCTION_NOT_FOUND;
}

/* The query failed: the value that was put into the queue last is not valid any more. */
static void note_error(struct gt_nvml *n, struct gt_nvml_device *d, const struct gt_nvml_query *q,
	int code, int64_t time)
{
	pthread_mutex_lock(&n->lock);
	for (unsigned i = 0; i < q->n; i++) {
		d->last[q->counter + i].valid = false;
		if (is_final(code))
			d->refused[q->counter + i] = code;
	}
	if (is_final(code)) {
		n->refusals++;
	} else {
		n->failed += q->n;
		n->last_failure = code;
		add_loss(n, time, q->n);
	}
	pthread_mutex_unlock(&n->lock);
}

static bool must_stop(struct gt_nvml *n)
{
	bool stop;

	pthread_mutex_lock(&n->lock);
	stop = n->stop && n->rounds;
	pthread_mutex_unlock(&n->lock);
	return stop;
}

/* Makes all queries to all devices. When recording ends, only the first round is finished. */
static void sample_all(struct gt_nvml *n)
{
	uint64_t v[2];

	for (uint32_t i = 0; i < n->ndevices; i++) {
		struct gt_nvml_device *d = &n->devices[i];

		for (size_t k = 0; !d->error && k < gt_nvml_nqueries; k++) {
			const struct gt_nvml_query *q = &gt_nvml_queries[k];
			int64_t time;
			int code;

			if (d->refused[q->counter])
				continue;
			if (must_stop(n))
				return;
			time = gt_clock_monotonic();
			code = q->query(&n->api, d->h, v);
			time += (gt_clock_monotonic() - time) / 2;
			for (unsigned c = 0; !code && c < q->n; c++)
				enqueue(n, i, q->counter + c, time, v[c]);
			if (code)
				note_error(n, d, q, code, time);
		}
	}
	pthread_mutex_lock(&n->lock);
	n->rounds++;
	pthread_mutex_unlock(&n->lock);
}

/* Waits under the lock until stop or done is set, or until the time. */
static void wait_for_change(struct gt_nvml *n, int64_t until)
{
	struct timespec t = { until / SECOND, until % SECOND };

	pthread_cond_timedwait(&n->changed, &n->lock, &t);
}

/* Waits until a round is due. False: recording ends. The first round is made nevertheless if it is
 * due. */
static bool wait_for_round(struct gt_nvml *n, int64_t due)
{
	bool go;

	pthread_mutex_lock(&n->lock);
	while (!n->stop && gt_clock_monotonic() < due)
		wait_for_change(n, due);
	go = n->stop ? !n->rounds && gt_clock_monotonic() >= due : true;
	pthread_mutex_unlock(&n->lock);
	return go;
}

/* Deadlines are multiples of the interval. Those that a slow round missed are skipped. */
static int64_t next_deadline(struct gt_nvml *n, int64_t due)
{
	int64_t late = gt_clock_monotonic() - (due += n->interval);
	int64_t skipped = late < 0 ? 0 : late / n->interval + 1;

	pthread_mutex_lock(&n->lock);
	n->skipped += (uint64_t)skipped;
	pthread_mutex_unlock(&n->lock);
	return due + skipped * n->interval;
}

static void *sample(void *arg)
{
	struct gt_nvml *n = arg;
	int64_t now = gt_clock_monotonic(), due = n->from > now ? n->from : now;

	while ((!n->until || due < n->until) && wait_for_round(n, due)) {
		sample_all(n);
		due = next_deadline(n, due);
	}
	pthread_mutex_lock(&n->lock);
	n->done = true;
	pthread_cond_broadcast(&n->changed);
	pthread_mutex_unlock(&n->lock);
	return NULL;
}

int gt_nvml_start(
	struct gt_nvml *n, int64_t interval, int64_t from, int64_t until, struct gt_err *err)
{
	sigset_t all, before;
	int code;

	n->interval = interval;
	n->from = from;
	n->until = until;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before); /* the main thread handles signals */
	code = pthread_create(&n->thread, NULL, sample, n);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (code)
		return gt_err_set(err, -code, "-e nvml: cannot start a thread: %s", strerror(code));
	pthread_setname_np(n->thread, "gt-nvml");
	n->running = true;
	return 0;
}

void gt_nvml_stop(void *state)
{
	int64_t timeout = gt_clock_monotonic() + STOP_TIMEOUT;
	struct gt_nvml *n = state;

	if (!n->running)
		return;
	pthread_mutex_lock(&n->lock);
	n->stop = true;
	pthread_cond_broadcast(&n->changed);
	while (!n->done && gt_clock_monotonic() < timeout)
		wait_for_change(n, timeout);
	n->stuck = !n->done;
	pthread_mutex_unlock(&n->lock);
	if (n->stuck)
		pthread_detach(n->thread);
	else
		pthread_join(n->thread, NULL);
	n->running = false;
}
