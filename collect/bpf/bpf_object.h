/* The compiled BPF programs, which gtcollect contains. */
#ifndef GT_BPF_OBJECT_H
#define GT_BPF_OBJECT_H
#include <stdint.h>

extern const char gt_bpf_object[];
extern const uint64_t gt_bpf_object_bytes;
#endif
