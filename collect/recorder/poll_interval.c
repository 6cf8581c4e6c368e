/* A pass disturbs the program: it takes a processor, and the cache lines that threads write to. So there are as few as losing
 * nothing allows: one whenever a small part of the free room has filled at the pace of late. Should a quiet program awake, what
 * comes at first is bounded by the longest pause, in which a byte a ns fills but an eighth of the room. */
#include "collect/recorder/poll_interval.h"

#define PARTS 64
#define BURST_PARTS 8

int64_t gt_pace(uint64_t room, int64_t taken, int64_t since)
{
	uint64_t burst = room / BURST_PARTS;
	int64_t most = burst > GT_PACE_MOST ? GT_PACE_MOST : (int64_t)burst;
	double fills = taken > 0 ? (double)(room / PARTS) / (double)taken * (double)since : GT_PACE_MOST;

	if (fills < (double)most)
		most = (int64_t)fills;
	return most > GT_PACE_LEAST ? most : GT_PACE_LEAST;
}
