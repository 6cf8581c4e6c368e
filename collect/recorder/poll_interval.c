/* A pass disturbs the program: it takes a processor, and the cache lines that threads write to.
 * So there are as few passes as possible without losses: one whenever a small part of the free
 * memory has filled at the recent pace. If a quiet program becomes busy, the longest interval
 * limits its first burst: at one byte per ns, that interval fills only an eighth of the memory. */
#include "collect/recorder/poll_interval.h"

#define PARTS 64
#define BURST_PARTS 8

int64_t gt_poll_interval(uint64_t room, int64_t taken, int64_t since)
{
	uint64_t burst = room / BURST_PARTS;
	int64_t most = burst > GT_POLL_MAX ? GT_POLL_MAX : (int64_t)burst;
	double fills =
		taken > 0 ? (double)(room / PARTS) / (double)taken * (double)since : GT_POLL_MAX;

	if (fills < (double)most)
		most = (int64_t)fills;
	return most > GT_POLL_MIN ? most : GT_POLL_MIN;
}
