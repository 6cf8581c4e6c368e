/* The compiled BPF programs, which gtcollect contains. bpf_session_is_return() of the kernel has no
 * parameter in Linux 6.18, and later the context as its parameter; libbpf wants equal types, so the
 * programs are there for both. A kernel without sessions has no such function: libbpf would look
 * for it in the kernel's modules, which needs CAP_SYS_ADMIN, so the programs are there without it,
 * too. */
#ifndef GT_BPF_OBJECT_H
#define GT_BPF_OBJECT_H
#include <stdint.h>

extern const char gt_bpf_object[];
extern const uint64_t gt_bpf_object_bytes;
extern const char gt_bpf_object_of_context[];
extern const uint64_t gt_bpf_object_of_context_bytes;
extern const char gt_bpf_object_no_session[];
extern const uint64_t gt_bpf_object_no_session_bytes;
#endif
