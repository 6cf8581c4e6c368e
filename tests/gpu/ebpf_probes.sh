#!/bin/bash
# ebpf_probes.sh PORTABLE-TARBALL OUT [BPFTRACE]: eBPF beyond -p: a COMMAND by eBPF beside preload, preload and scheduling in one
# recording, functions of cudart, USDT probes that report kernels, annotations of an attached program, --print; with BPFTRACE, a
# command that runs bpftrace, its counts and its cost beside gtcollect's. Needs root. Prints PASS and FAIL lines; exit status 1:
# something failed. Takes about two minutes.
. "$(dirname "$0")/ebpf_helpers.sh"
bpftrace=$3
rows() { gtanalyze top --top 0 --format tsv "$2" 2>/dev/null | awk -F '\t' -v n="$1" 'NR > 1 && $1 ~ n { s += $3 } END { print s + 0 }'; }
kernels() { gtanalyze top --top 0 --format tsv "$1" 2>/dev/null | awk -F '\t' 'NR > 1 && $2 == "kernel" { s += $3 } END { print s + 0 }'; }
counts() { gtanalyze top --top 0 --format csv "$1" 2>/dev/null | awk -F, '$1 ~ /^(cu|ioctl|open|mmap)/ { print $1, $3 }' | sort; }
differ() { # NAME FILE FILE: of two lists "function count"
	diff "$2" "$3" >"$out/$1.diff"
	echo "$1: $(wc -l <"$2") functions, that differ: $(grep -c '^[<>]' "$out/$1.diff")"
	head -n 12 "$out/$1.diff"
}

# a COMMAND: eBPF from the first instruction, beside preload
for way in ebpf preload; do
	echo "once 20" | gtcollect -q -f --via $way -e api,ioctl -o "$out/$way.zst" -- python3 "$here/ebpf_loop.py" >"$out/$way.txt" 2>"$out/$way.err" || tail -n 2 "$out/$way.err"
	counts "$out/$way.zst" >"$out/$way.counts"
done
differ command "$out/preload.counts" "$out/ebpf.counts"
check "launches of a COMMAND: $(rows '^cuLaunchKernel$' "$out/ebpf.zst"), by preload $(rows '^cuLaunchKernel$' "$out/preload.zst")" \
	test "$(rows '^cuLaunchKernel$' "$out/ebpf.zst")" -eq "$(rows '^cuLaunchKernel$' "$out/preload.zst")" -a -s "$out/ebpf.counts"

# preload and eBPF in one recording: each call once, GPU times, and scheduling
echo "once 200" | gtcollect -f -e api,ioctl,gpu,sched -o "$out/both.zst" -- python3 "$here/ebpf_loop.py" >"$out/both.txt" 2>"$out/both.err" || tail -n 2 "$out/both.err"
gtanalyze --no-pager offcpu "$out/both.zst" 2>/dev/null | sed -n 1,10p
check "both ways: $(rows '^cuLaunchKernel$' "$out/both.zst") launches, $(kernels "$out/both.zst") kernels, $(rows '^cuLaunchKernel$' "$out/preload.zst") + 180 x 50 launches made" \
	test "$(rows '^cuLaunchKernel$' "$out/both.zst")" -eq $(($(rows '^cuLaunchKernel$' "$out/preload.zst") + 9000))

# a program that runs
start_loop
record() { # NAME STEPS OPTION...
	name=$1 steps=$2; shift 2
	gtcollect -v -f -o "$out/$name.zst" -p $loop "$@" 2>"$out/$name.err" >"$out/$name.out" 5>&- &
	recorder=$!
	says 'recording' "$out/$name.err"
	phase "$name" "$steps"
	kill -INT $recorder; wait $recorder
	tail -n 1 "$out/$name.err"
}
phase alone 2000
record cudart 500 -e api --probe 'libcudart:cudaLaunchKernel*' --probe 'libcudart:cudaGetDevice(1)'
gtanalyze --no-pager ranges "$out/cudart.zst" 2>/dev/null | sed -n 1,12p
check "cudart's launches: $(rows '^cudaLaunchKernel' "$out/cudart.zst") of 25000" test "$(rows '^cudaLaunchKernel' "$out/cudart.zst")" -eq 25000
record print 20 -e api --print
check "--print: $(grep -c cuLaunchKernel "$out/print.out") launches of 1000" test "$(grep -c cuLaunchKernel "$out/print.out")" -eq 1000
record annotated 200 --via inject
check "annotations of an attached program: $(rows '^annotated step' "$out/annotated.zst") of 200" test "$(rows '^annotated step' "$out/annotated.zst")" -eq 200
phase alone-again 2000
if [ -n "$bpftrace" ]; then
	library=$(awk '/libcuda.so/ { print $6; exit }' /proc/$loop/maps)
	BPFTRACE_MAX_PROBES=4096 BPFTRACE_MAX_BPF_PROGS=4096 $bpftrace -p $loop -e "uprobe:$library:cu* { @[probe] = count(); } END { printf(\"done\\n\"); }" >"$out/bpftrace.txt" 2>"$out/bpftrace.err" 5>&- &
	tracer=$!
	attached() { ls -l /proc/$tracer/fd 2>/dev/null | grep -c perf_event; }
	for _ in $(seq 60); do n=$(attached); [ "$n" -gt 600 ] && [ "$n" = "$m" ] && break; m=$n; sleep 1; done
	phase bpftrace-alone 2000
	record beside 2000 -e api
	kill -INT $tracer; wait $tracer
	sed -n 's/^@\[uprobe:.*:\(cu[A-Za-z0-9_]*\)\]: \([0-9]*\)$/\1 \2/p' "$out/bpftrace.txt" | sort >"$out/bpftrace.counts"
	head -n 5 "$out/bpftrace.counts"; tail -n 3 "$out/bpftrace.err"
	# bpftrace has also counted the phase before
	counts "$out/beside.zst" | awk '{ print $1, 2 * $2 }' | sort >"$out/beside.counts"
	differ bpftrace "$out/bpftrace.counts" "$out/beside.counts"
fi
record gt-alone 2000 -e api
phase alone-last 2000
exec 5>&-
wait $loop
check "the program ends well" test $? -eq 0
cat "$out/loop.txt"

# probes that report kernels, in a program that gtcollect did not record
mkfifo "$out/in2"
gtcollect --probes-only -- python3 "$here/ebpf_loop.py" <"$out/in2" >"$out/loop.txt" 2>"$out/loop2.err" &
loop=$!
exec 5>"$out/in2"
says ready "$out/loop.txt"
record usdt 200 -e 'api,usdt:parcagpu*:*'
exec 5>&-
wait $loop
gtanalyze --no-pager summary "$out/usdt.zst" 2>/dev/null | sed -n 1,12p
late=$(sed -n 's/^gtcollect: \([0-9]*\) .* no GPU record.*/\1/p' "$out/usdt.err")
check "kernels by USDT: $(kernels "$out/usdt.zst") and ${late:-0} that CUPTI had not given, of 10000" test $(($(kernels "$out/usdt.zst") + ${late:-0})) -eq 10000
ls -l "$out"/*.zst
exit $failed
