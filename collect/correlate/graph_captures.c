/* Finds launches that ran nothing because they were captured into a graph: launches without GPU
 * work between the beginning and the end of a capture of their process, by any thread. They are
 * looked up late, because calls of other threads may be read after the end of the capture. */
#include "collect/correlate/gpu_correlate_internal.h"

#include <string.h>
#include "formats/base/buf.h"

/* captures that are remembered, the last ones */
#define SPANS_MAX 1024u

void gt_gpu_capture_begin(struct gt_gpu_captures *s, const struct gt_gpu_call *c)
{
	if (s->n == SPANS_MAX)
		memmove(s->spans, s->spans + 1, --s->n * sizeof(*s->spans));
	if (!gt_grow(&s->spans, &s->cap, s->n + 1, sizeof(*s->spans)))
		s->spans[s->n++] = (struct gt_gpu_capture_span){ c->stream, c->start, INT64_MAX };
}

/* Ends the capture of this stream; if arguments are not recorded, the last one that runs. */
void gt_gpu_capture_end(struct gt_gpu_captures *s, const struct gt_gpu_call *c)
{
	for (size_t i = s->n; i-- > 0;)
		if (s->spans[i].to == INT64_MAX &&
			(!c->streamed || s->spans[i].stream == c->stream)) {
			s->spans[i].to = c->end;
			return;
		}
}

bool gt_gpu_is_captured(const struct gt_gpu_captures *s, const struct gt_gpu_call *c)
{
	for (size_t i = s->n; i-- > 0;)
		if (c->start >= s->spans[i].from && c->end <= s->spans[i].to)
			return true;
	return false;
}

bool gt_gpu_is_capturing(const struct gt_gpu_captures *s)
{
	for (size_t i = s->n; i-- > 0;)
		if (s->spans[i].to == INT64_MAX)
			return true;
	return false;
}
