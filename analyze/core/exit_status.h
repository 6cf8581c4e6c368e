/* What gtanalyze exits with. Where several hold, what stands first here wins: bad use, then a failure (its figures are not to
 * be relied on), then a finding or a gate that failed, then what cannot be answered. */
#ifndef GT_EXIT_STATUS_H
#define GT_EXIT_STATUS_H
enum gt_exit {
	GT_EXIT_USAGE = 2,	/* wrong use: nothing was read */
	GT_EXIT_FAILURE = 1,	/* a file cannot be read or written, or is damaged */
	GT_EXIT_FOUND = 3,	/* a gate (--fail-if) failed, or a report that looks for faults found one */
	GT_EXIT_UNKNOWN = 4,	/* what was asked cannot be answered: it was not recorded */
	GT_EXIT_CLEAN = 0
};
/* The status of two parts of one run. */
static inline enum gt_exit gt_exit_worse(enum gt_exit a, enum gt_exit b)
{
	static const enum gt_exit order[] = { GT_EXIT_USAGE, GT_EXIT_FAILURE, GT_EXIT_FOUND, GT_EXIT_UNKNOWN };

	for (unsigned i = 0; i < sizeof(order) / sizeof(*order); i++)
		if (a == order[i] || b == order[i])
			return order[i];
	return GT_EXIT_CLEAN;
}
#endif
