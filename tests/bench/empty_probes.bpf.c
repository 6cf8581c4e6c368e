/* Empty BPF programs, for bench_probed_call.c: what the kernel's probes cost by themselves. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

SEC("kprobe")
int on_session(void *ctx) { return 0; }

SEC("kprobe")
int on_entry(void *ctx) { return 0; }

SEC("kprobe")
int on_return(void *ctx) { return 0; }

char LICENSE[] SEC("license") = "GPL";
