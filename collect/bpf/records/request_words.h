/* The words of a record of a request to the driver's files, from what the BPF programs copied. */
#ifndef GT_REQUEST_WORDS_H
#define GT_REQUEST_WORDS_H
#include <stdbool.h>
#include "collect/bpf/bpf_events.h"
#include "collect/ipc/ring.h"

struct gt_request_words {
	enum gt_ring_id id;
	int32_t ret;
	unsigned n;
	union {
		struct gt_ioctl_args ioctl;
		struct gt_file_args file;
		uint64_t words[4];
	};
};
/* False: the file is not the driver's. */
bool gt_request_words(const struct gt_bpf_request *r, struct gt_request_words *to);
#endif
