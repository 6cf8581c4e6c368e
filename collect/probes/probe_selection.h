/* Which USDT probes to record, as -e says it: usdt:PROVIDER:PROBE, both globs; behind them, in
 * parentheses, how to show arguments: usdt:web:request(arg0:str arg1:hex). And which of them make a
 * range, as --pair says it: start=NAME,end=NAME,key=argN. A NAME is PROBE or PROVIDER:PROBE. */
#ifndef GT_PROBE_SELECTION_H
#define GT_PROBE_SELECTION_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "collect/ipc/probe_fields.h"
#include "formats/base/err.h"

#define GT_PROBE_NAME 128 /* bytes of a name or glob, with its zero */

struct gt_usdt_pattern {
	char provider[GT_PROBE_NAME], name[GT_PROBE_NAME];
	uint8_t kinds[GT_PROBE_VALUES]; /* enum gt_probe_kind; GT_PROBE_KINDS: not said */
};
struct gt_probe_pair {
	char start[GT_PROBE_NAME], end[GT_PROBE_NAME];
	unsigned key; /* number of the argument that is equal in both */
};
struct gt_probe_selection { /* zeroed: nothing is selected */
	struct gt_usdt_pattern *usdt;
	size_t nusdt, usdt_cap;
	struct gt_probe_pair *pairs;
	size_t npairs, pairs_cap;
};

/* Adds the USDT probes of a list with commas, as -e has it; other words are skipped. 0, -EINVAL or
 * -ENOMEM. */
int gt_probe_selection_events(struct gt_probe_selection *s, const char *list, struct gt_err *err);
/* Adds a pair. The same ones. */
int gt_probe_selection_pair(struct gt_probe_selection *s, const char *text, struct gt_err *err);
void gt_probe_selection_release(struct gt_probe_selection *s);
/* The first pattern that matches; NULL: there is none. */
const struct gt_usdt_pattern *gt_probe_selection_find(
	const struct gt_probe_selection *s, const char *provider, const char *name);
/* May a probe of this name, PROBE or PROVIDER:PROBE, match a pattern? */
bool gt_probe_selection_may_have(const struct gt_probe_selection *s, const char *name);
/* Does a pattern name a provider that begins like that? */
bool gt_probe_selection_names(const struct gt_probe_selection *s, const char *provider);
/* Is that the probe of this name, or PROVIDER:PROBE? */
bool gt_probe_has_name(const char *provider, const char *probe, const char *name);
#endif
