/* Exit status of gtanalyze. If several apply, the first of this order wins: wrong use, failure
 * (figures are unreliable), finding or failed gate, cannot answer. */
#ifndef GT_EXIT_STATUS_H
#define GT_EXIT_STATUS_H
enum gt_exit {
	GT_EXIT_USAGE = 2,   /* wrong use: nothing was read */
	GT_EXIT_FAILURE = 1, /* a file cannot be read or written, or is damaged */
	/* a gate (--fail-if) failed, or a report that looks for faults found one */
	GT_EXIT_FOUND = 3,
	GT_EXIT_UNKNOWN = 4, /* a question cannot be answered: the data was not recorded */
	GT_EXIT_CLEAN = 0
};
/* The exit status of two parts of one run. */
static inline enum gt_exit gt_exit_worse(enum gt_exit a, enum gt_exit b)
{
	static const enum gt_exit order[] = { GT_EXIT_USAGE, GT_EXIT_FAILURE, GT_EXIT_FOUND,
		GT_EXIT_UNKNOWN };

	for (unsigned i = 0; i < sizeof(order) / sizeof(*order); i++)
		if (a == order[i] || b == order[i])
			return order[i];
	return GT_EXIT_CLEAN;
}
#endif
