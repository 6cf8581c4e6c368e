/* All BPF programs are one object, because they share maps. gtcollect loads those that it needs. */
#include "collect/bpf/programs/calls.h"
#include "collect/bpf/programs/driver_requests.h"
#include "collect/bpf/programs/functions.h"
#include "collect/bpf/programs/open_calls.h"
#include "collect/bpf/programs/own_mappings.h"
#include "collect/bpf/programs/process_selection.h"
#include "collect/bpf/programs/scheduling.h"
#include "collect/bpf/programs/tracepoints.h"
#include "collect/bpf/programs/usdt_sites.h"

char LICENSE[] SEC("license") = "GPL";
