#include "collect/bpf/links/descriptor_list.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>
#include "formats/base/buf.h"

#define CLOSERS 512u /* threads */

struct part {
	const int *list;
	size_t n;
	pthread_t thread;
	bool has_thread;
};

static void *close_part(void *arg)
{
	const struct part *p = arg;

	for (size_t i = 0; i < p->n; i++)
		close(p->list[i]);
	return NULL;
}

void gt_descriptor_list_add(struct gt_descriptor_list *l, int fd)
{
	if (gt_grow(&l->list, &l->cap, l->n + 1, sizeof(*l->list)))
		close(fd);
	else
		l->list[l->n++] = fd;
}

void gt_descriptor_list_close(struct gt_descriptor_list *l)
{
	struct part parts[CLOSERS] = { { NULL } };

	for (size_t i = 0; i < CLOSERS; i++) {
		struct part *p = &parts[i];
		size_t from = l->n * i / CLOSERS;

		p->list = l->list + from;
		p->n = l->n * (i + 1) / CLOSERS - from;
		p->has_thread =
			p->n && l->n > 1 && !pthread_create(&p->thread, NULL, close_part, p);
		if (!p->has_thread)
			close_part(p);
	}
	for (size_t i = 0; i < CLOSERS; i++)
		if (parts[i].has_thread)
			pthread_join(parts[i].thread, NULL);
	free(l->list);
	*l = (struct gt_descriptor_list){ NULL };
}
