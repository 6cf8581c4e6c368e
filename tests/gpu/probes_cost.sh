#!/bin/sh
# probes_cost.sh PORTABLE-TARBALL [OUT]: what the library costs a launch on a real GPU where nobody is attached to its probes, before anybody
# was and after all have left. tests/bench/probes.sh says how it is measured and what the figures are; RUNS, 5 here, take 20 s each and have
# all measured by a counter that is raised within the process, so no tracer is needed. The aim: probes_idle_ns_per_launch and
# probes_detached_ns_per_launch at most 50. Leaves OUT/probes.raw.
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
