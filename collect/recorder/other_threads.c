#include "collect/recorder/other_threads.h"

#include <stdlib.h>
#include "collect/ipc/guest_server.h"

#define KEY offsetof(struct gt_other_thread, name)

void gt_other_threads_add(struct gt_other_threads *o, int32_t pid, int32_t tid)
{
	struct gt_other_thread new = { .pid = pid, .tid = tid };

	if (!tid || o->n == GT_OTHER_THREADS_MAX ||
		gt_map_find_item(&o->map, o->list, sizeof(new), &new, KEY) != UINT32_MAX)
		return;
	gt_guest_thread_name(&(struct gt_guest){ .host_pid = pid }, tid, new.name);
	gt_map_add_item(&o->map, &o->list, &o->n, &o->cap, sizeof(new), &new, KEY);
}

void gt_other_threads_release(struct gt_other_threads *o)
{
	gt_map_release(&o->map);
	free(o->list);
	*o = (struct gt_other_threads){ .n = 0 };
}
