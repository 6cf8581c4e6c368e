#!/bin/bash
# ebpf_rates.sh BUILD OUT: what eBPF costs on this machine. BUILD is a folder with the programs of a build: gtcollect, gtanalyze,
# bench/bench_probed_call, gen/empty_probes.o, bpf/, sim/ and samples/ (lib/: libraries that they need). Prints bench_probed_call,
# then what a recorder takes and loses at the rate of 1, 2 and 4 threads in 10 s and of 2 threads in 60 s (calls of the simulated
# driver), and the bytes a call of a PyTorch loop by eBPF and by preload. Needs root.
here=$(cd "$(dirname "$0")" && pwd) B=$(cd "$1" && pwd) out=$2
export LD_LIBRARY_PATH=$B/lib
mkdir -p "$out" && cd "$out" || exit 1
grep -m 1 'model name' /proc/cpuinfo
"$B/bench/bench_probed_call"
header() { "$B/gtanalyze" header --format tsv "$1" 2>/dev/null | awk -F '\t' -v key="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == key) c = i } NR == 2 { print $c }'; }

rate() { # THREADS CALLS-OF-EACH
	rm -f in says; mkfifo in says; : >said
	LD_LIBRARY_PATH=$B/sim:$B/lib "$B/bpf/gated_calls" "$B/sim/libcuda.so.1" "$1" "$2" <in >said 7>&- &
	held=$!
	exec 7>in
	until grep -q loaded said; do sleep 0.05; done
	"$B/gtcollect" -f -e api -o rate.zst -p $held 2>says 7>&- &
	recorder=$!
	exec 6<says
	read -r line <&6; echo "$line"
	from=$(date +%s%N)
	echo >&7
	until [ "$(wc -l <said)" -ge 2 ]; do sleep 0.05; done
	until=$(date +%s%N)
	exec 7>&-
	used=$(awk '{ print $14 + $15 }' /proc/$recorder/stat)
	wait $recorder
	awk -v threads="$1" -v n="$(tail -n 1 said)" -v ticks="$used" -v hz="$(getconf CLK_TCK)" -v ns=$((until - from)) -v lost="$(header rate.zst lost)" -v bytes="$(stat -c %s rate.zst)" 'BEGIN {
		printf "%d threads: %.0f calls in %.1f s, %.0f a second; gtcollect %.2f of a processor, %.3f s for a million; lost %s; %.2f bytes a call\n",
			threads, n, ns / 1e9, n / ns * 1e9, ticks / hz / ns * 1e9, ticks / hz / n * 1e6, lost, bytes / n }'
}
for threads in 1 2 4; do rate $threads 5000000; done
rate 2 $((${CALLS:-30000000}))
rm -f rate.zst

# ---- bytes a call ----
unset LD_LIBRARY_PATH
for via in ebpf preload ebpf preload; do
	echo "once 2000" | LD_LIBRARY_PATH=$B/lib "$B/gtcollect" --via $via -q -f -e api -o $via.zst -- env -u LD_LIBRARY_PATH python3 "$here/ebpf_loop.py" >/dev/null 2>$via.err
	awk -v via=$via -v bytes="$(stat -c %s $via.zst)" -v n="$(LD_LIBRARY_PATH=$B/lib header $via.zst calls)" 'BEGIN { printf "%s: %d calls, %.3f bytes a call\n", via, n, bytes / n }'
done
