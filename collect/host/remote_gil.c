#include "collect/host/remote_gil.h"

#include <pthread.h>
#include <string.h>
#include "formats/trace/clock.h"

#define SEARCH_INTERVAL 100000000 /* ns: interpreters may be added */
#define INTERPRETERS_MAX 1024
#define BYTES_MAX 40 /* of a GIL before its first condition */

static void add(struct gt_remote_gils *g, uint64_t at)
{
	for (unsigned i = 0; i < g->n; i++)
		if (g->list[i] == at)
			return;
	if (at && g->n < GT_REMOTE_GILS)
		g->list[g->n++] = at;
}

static void search(struct gt_remote_gils *g, uint32_t tgid, const struct gt_remote_interpreter *in)
{
	const struct gt_python_layout *l = &in->layout;
	uint64_t interpreter = 0, gil;

	g->n = 0;
	if (!l->gil_is_pointed_to) {
		add(g, in->runtime + l->gil);
		return;
	}
	gt_read_process(tgid, in->runtime + l->interpreters, &interpreter, 8);
	for (unsigned i = 0; interpreter && i < INTERPRETERS_MAX; i++) {
		if (gt_read_process(tgid, interpreter + l->gil, &gil, 8))
			break;
		add(g, gil);
		if (gt_read_process(tgid, interpreter + l->interpreter_next, &interpreter, 8))
			break;
	}
}

/* The GIL around this address; 0: there is none. */
static uint64_t find(
	const struct gt_remote_gils *g, const struct gt_python_layout *l, uint64_t address)
{
	const size_t size =
		l->gil_condition + 2 * (sizeof(pthread_cond_t) + sizeof(pthread_mutex_t));

	for (unsigned i = 0; i < g->n; i++)
		if (address - g->list[i] < size)
			return g->list[i];
	return 0;
}

bool gt_remote_gil(struct gt_remote_gils *g, uint32_t tgid, const struct gt_remote_interpreter *in,
	uint64_t address, struct gt_remote_gil *gil)
{
	const struct gt_python_layout *l = &in->layout;
	const uint64_t now = (uint64_t)gt_clock_monotonic();
	uint8_t bytes[BYTES_MAX];
	uint64_t at = find(g, l, address), microseconds = 0;
	int locked = 0;

	if (!at && l->gil_condition && now - g->searched_at >= SEARCH_INTERVAL) {
		search(g, tgid, in);
		g->searched_at = now;
		at = find(g, l, address);
	}
	if (!at || !gil)
		return at;
	*gil = (struct gt_remote_gil){ 0 };
	if (l->gil_condition <= sizeof(bytes) &&
		!gt_read_process(tgid, at, bytes, l->gil_condition)) {
		memcpy(&microseconds, bytes + l->gil_interval, sizeof(microseconds));
		memcpy(&locked, bytes + l->gil_locked, sizeof(locked));
		if (locked > 0)
			memcpy(&gil->holder, bytes + l->gil_holder, sizeof(gil->holder));
	}
	gil->interval = 1000 * microseconds;
	return true;
}
