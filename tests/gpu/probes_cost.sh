#!/bin/sh
# probes_cost.sh PORTABLE-TARBALL [OUT]: the library's cost per launch on a real GPU while no
# tracer is attached to its probes, before the first attach and after the last detach.
# tests/bench/probes.sh describes the method and the figures. RUNS, 5 here, take 20 s each. The
# process raises a counter of its own probes, so no tracer is needed. The aim:
# probes_idle_ns_per_launch and probes_detached_ns_per_launch at most 50. Leaves OUT/probes.raw.
src=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d) && tar -C "$work" -xzf "$1" && cd "$work" || exit 1
export REAL=1 SRC="$src" B="$work/gt-portable-$(uname -m)/bin" AWAY_MS=1500 RUNS="${RUNS:-5}"
GT_CUPTI=${GT_CUPTI-$(ls /usr/local/cuda/extras/CUPTI/lib64/libcupti.so.1? /usr/local/cuda/targets/*/lib/libcupti.so.1? 2>/dev/null | head -n 1)}
[ -z "$GT_CUPTI" ] && unset GT_CUPTI || export GT_CUPTI
sh "$src/tests/bench/probes.sh"
status=$?
[ -z "$2" ] || { mkdir -p "$2" && cp raw "$2/probes.raw"; }
rm -rf "$work"
exit $status
