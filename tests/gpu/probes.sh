#!/bin/bash
# The probes and --inject on a real GPU: probes.sh BIN, where BIN has gtcollect, gtanalyze,
# gtexport and libgtpreload.so (or ../lib/gt has it). Builds probes_prog, which attaches to its own
# probes. Prints one line for each check. probes_cost.sh measures the cost of a launch.
bin=$1
src=$(cd "$(dirname "$0")/../.." && pwd)
cc -I"$src" -O1 -o /tmp/probes_prog "$src/tests/unit/collect/guest/probes_prog.c" -pthread -ldl || exit 1
cupti=${GT_CUPTI:-$(ls /usr/local/cuda/extras/CUPTI/lib64/libcupti.so.1? /usr/local/cuda/targets/*/lib/libcupti.so.1? 2>/dev/null | head -n 1)}
export PROBES_JUMP=1 ${cupti:+GT_CUPTI=$cupti}
all='parcagpu:kernel_executed parcagpu:kernel_launch parcagpu:cuda_correlation'
up=$(for p in $all; do echo "up $p"; done) down=$(for p in $all; do echo "down $p"; done)
say() { printf '%-44s %s\n' "$1" "$2"; }

# All probes fire, with consistent numbers, CYCLES (10) times. HELD= leaves out the kernel that
# delays the records of others.
cycle="$up fires parcagpu:cuda_correlation say begin launch 100 graph 3 ${HELD-held 5} caught 1 say end $down wait 1200 launch 10"
timeout 300 env GT_DEBUG=1 "$bin/gtcollect" --probes-only -- /tmp/probes_prog launch 10 $(for i in $(seq "${CYCLES:-10}"); do echo "$cycle"; done) >/tmp/probes.out 2>/tmp/probes.err
say "${CYCLES:-10} times attached and detached: exit status" $?
say "CUPTI ended (of ${CYCLES:-10})" "$(grep -c 'CUPTI has ended: *1' /tmp/probes.err)"
say "kernels between begin and end (160 a time or a few more, 12 more with delayed ones)" \
	"$(sed -n '/^begin/,/^end/p' /tmp/probes.out | grep -c ':kernel_executed')"
say "of them without a reported launch" "$(awk '
	/cuda_correlation/ { reported[$3] } /:kernel_executed/ { ran[$5] }
	END { for (k in ran) n += !(k in reported); print n + 0 }' /tmp/probes.out)"
say "durations that differ between two probes" "$(awk '/:kernel_executed/ { took[$5 "/" $4 - $3]++ } /parcagpu:kernel_launch/ { took[$3 "/" $4]-- } END { for (t in took) n += took[t] != 0; print n + 0 }' /tmp/probes.out)"
say "delayed by a long kernel" "$(grep '^held' /tmp/probes.out | sort | uniq -c | paste -sd ' ')"

# Programs without a tracer, and the same with --inject.
unset PROBES_JUMP
for app in ${APPS:-torch_train.py,200 torch_graphs.py cupy_app.py ctypes_app.py}; do
	app=${app/,/ }
	name=${app%%.py*}
	timeout 120 python3 "$src/tests/gpu/"$app >/tmp/plain.out 2>&1; plain=$?
	timeout 120 "$bin/gtcollect" --probes-only -- python3 "$src/tests/gpu/"$app >/tmp/p.out 2>&1
	say "$name, --probes-only: exit status (plain)" "$? ($plain)"
	timeout 120 "$bin/gtcollect" --inject ${cupti:+--cupti $cupti} -f -o /tmp/inject.zst -- python3 "$src/tests/gpu/"$app >/tmp/i.out 2>/tmp/i.err
	say "$name, --inject: exit status" $?
	say "$name, --inject: calls, joined, wrong, unjoined" "$("$bin/gtanalyze" top --top 0 --format csv --match 'cu*' /tmp/inject.zst 2>/dev/null | awk -F, 'NR > 1 { n += $3 } END { print n + 0 }') $("$bin/gtanalyze" metadata /tmp/inject.zst | awk '$1 ~ /^gpu_(joined_exact|joined_wrong|unjoined)$/ { v[$1] = $2 } END { print v["gpu_joined_exact"], v["gpu_joined_wrong"], v["gpu_unjoined"] }')"
	tail -n 1 /tmp/i.err
done
