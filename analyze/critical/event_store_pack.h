/* Packs the events of a chunk. Starts, durations and launches of consecutive rows differ little,
 * and most other columns of a thread's calls are constant. */
#ifndef GT_EVENT_STORE_PACK_H
#define GT_EVENT_STORE_PACK_H
#include "analyze/critical/event_store.h"

/* bytes of n events, at most */
#define GT_EVENT_PACKED_MAX(n) ((n) * sizeof(struct gt_stored_event) + ((n) / 256 + 1) * 64)

/* Rows are sorted by start. Returns the bytes written. digest: adds the rows to it; NULL: none. */
size_t gt_event_pack(const struct gt_event_columns *rows, uint32_t n, uint8_t *to,
	struct gt_digest_builder *digest);
void gt_event_unpack(const uint8_t *from, uint32_t n, struct gt_event_columns *rows);
#endif
