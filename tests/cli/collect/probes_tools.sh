# bpftrace and perf attach to the library's probes: their values equal the work of the simulated GPU.
. "$SRC/tests/lib.sh"
events=/sys/kernel/tracing/uprobe_events
# perf needs tracefs; when it is not mounted, the test mounts it in its own mount namespace
if [ ! -e $events ] && [ -z "$ALONE" ] && unshare -m true 2>/dev/null; then ALONE=1 exec unshare -m sh "$0"; fi
[ -z "$ALONE" ] || mount -t tracefs none /sys/kernel/tracing 2>/dev/null
# both tools see the probes of all processes that have the file, so this is a copy, where other users can read it
copy=$(TMPDIR=/tmp mktemp -d)
trap 'rm -rf "$copy"' EXIT
chmod 755 "$copy"
cp "$B/gtcollect" "$B/libgtpreload.so" "$copy"
C=$copy/gtcollect lib=$copy/libgtpreload.so prog=$B/guest/fake/probes
run() { LD_LIBRARY_PATH="$B/sim" SIM_CUPTI_TRUTH="$PWD/truth" "$@"; }
truth() { tail -n +$(($1 + 1)) truth | awk '$2 == "kernel"'; }	# truth N: kernels after the first N lines

# ---- bpftrace. Debian 12's version reads at most six arguments of a probe, so only perf reads a kernel's name and node. Of a batch it
# reads the first 16 records, because the first record alone might never be a kernel ----
cat >all.bt <<END
usdt:$lib:parcagpu:kernel_executed { printf("executed %llu %llu %u %u %u %u\\n", arg0, arg1, arg2, arg3, arg4, arg5); }
usdt:$lib:parcagpu:kernel_launch { printf("launch %u %llu\\n", arg0, arg1); }
usdt:$lib:parcagpu_provider:kernel_launch { printf("old %u %llu\\n", arg0, arg1); }
usdt:$lib:parcagpu:cuda_correlation { printf("correlation %u %d %s %d\\n", arg0, (int32)arg1, str(arg2), pid == tid); }
usdt:$lib:parcagpu:activity_batch { \$i = (uint64)0;
	unroll(16) { if (\$i < arg1) { \$r = *(uint64 *)uptr(arg0 + 8 * \$i); printf("batch %u %u/%u\\n", arg1, *(uint32 *)uptr(\$r), *(uint32 *)uptr(\$r + 92)); } \$i += 1; } }
END
bpf() {	# bpf NAME COMMAND...: attaches, then runs the program by COMMAND
	# buffer space for events while bpftrace gets no processor time
	name=$1; shift
	rm -f seen truth && : >truth
	BPFTRACE_PERF_RB_PAGES=1024 bpftrace -B line all.bt >$name.bpf 2>$name.err & tracer=$!
	run "$@" "$prog" launching seen lines truth launch 200 graph 3 >$name.out 2>&1 & program=$!
	for i in $(seq 1000); do
		[ "$(cut -d ' ' -f 1 $name.bpf | sort -u | grep -cE 'executed|launch|old|correlation|batch')" -lt 5 ] || break
		sleep 0.1
	done
	echo yes >seen
	wait $program; status=$?
	before=$(sed -n 's/^lines //p' $name.out)
	want=$(truth "$before" | wc -l)
	for i in $(seq 600); do [ "$(awk -v n="$before" '/^executed/ && $4 > n' $name.bpf | wc -l)" -lt "$want" ] || break; sleep 0.1; done
	kill -INT $tracer; wait $tracer
	is "$name" 0 $status
	check $name-some-ran test "$want" -ge 260
	first=$(truth "$before" | head -n 1 | cut -d ' ' -f 1)
	later() { awk -v word="$1" -v at="$2" -v first="$first" '$1 == word && $at >= first' $name.bpf | cut -d ' ' -f 2- | sort; }
	truth "$before" | awk '{ print $6, $7, $1, $5, $4, $12 }' | sort >want.is; later executed 4 >got.is
	same $name-kernel_executed want.is got.is
	truth "$before" | awk '{ printf "%s %.0f\n", $1, $7 - $6 }' | sort >want.is; later launch 2 >got.is
	same $name-kernel_launch want.is got.is
	later old 2 >got.is
	same $name-kernel_launch-of-old want.is got.is
	truth "$before" | awk '{ print $1, $12 ? "-514 cuGraphLaunch" : "-307 " $3, 1 }' | sort -u >want.is; later correlation 2 >got.is
	is $name-cuda_correlation 0 "$(comm -23 want.is got.is | wc -l | tr -d ' ')"
	is $name-activity_batch 0 "$(awk '/^batch/ && ($2 < 1 || $2 > 128)' $name.bpf | wc -l | tr -d ' ')"
	truth 0 | awk '{ print "10/" $1 }' | sort -u >want.is; awk '$1 == "batch" && $3 ~ /^10\// { print $3 }' $name.bpf | sort -u >got.is
	is $name-batches-are-records "0 yes" "$(comm -13 want.is got.is | wc -l | tr -d ' ') $([ -s got.is ] && echo yes)"
}
if ! command -v bpftrace >/dev/null; then skip bpftrace "it is not installed"
elif ! timeout 60 bpftrace -e "usdt:$lib:parcagpu:kernel_launch { } interval:ms:1 { exit(); }" >trial 2>&1; then skip bpftrace "it cannot attach here: $(tail -n 1 trial)"
else
	is bpftrace-lists-them 5 "$(bpftrace -l "usdt:$lib:*" 2>/dev/null | grep -c 'parcagpu.*:')"
	bpf bpftrace "$C" --probes-only --
	bpf bpftrace-beside-a-trace "$C" -q -f -e api,gpu -o t.zst --
fi

# ---- perf ----
export HOME="$PWD"
with_perf() {	# with_perf PROBES NAME: records these probes while the program runs
	for p in $1; do perf probe -q "$p" >>perf.log 2>&1 || return 1; done
	rm -f truth && : >truth
	run perf record -q -o $2.data $(for p in $1; do echo "-e $p"; done) -- "$C" --probes-only -- "$prog" launching truth launch 200 graph 3 >>perf.log 2>&1
	status=$?
	perf script -i $2.data -F event,trace >$2.perf 2>>perf.log
	for p in $1; do perf probe -q -d "$p" >>perf.log 2>&1; done
	return $status
}
if ! command -v perf >/dev/null; then skip perf "it is not installed"
elif [ ! -e $events ]; then skip perf "there is no tracefs here"
elif ! perf buildid-cache --add "$lib" >perf.log 2>&1 || ! with_perf sdt_parcagpu:kernel_launch launch; then
	skip perf "it cannot attach here: $(tail -n 1 perf.log)"
else
	args() { grep "$1:" $2.perf | grep -oE 'arg[0-9]+=[-0-9]*' | cut -d= -f 2 | paste -d ' ' $(for i in $(seq $3); do printf -- '- '; done) | sort; }
	awk '$2 == "kernel" { printf "%s %.0f\n", $1, $7 - $6 }' truth | sort >want.is; args kernel_launch launch 2 >got.is
	same perf-kernel_launch want.is got.is
	check perf-some-ran test "$(wc -l <want.is)" -ge 260
	with_perf sdt_parcagpu_provider:kernel_launch old
	awk '$2 == "kernel" { printf "%s %.0f\n", $1, $7 - $6 }' truth | sort >want.is; args kernel_launch old 2 >got.is
	same perf-kernel_launch-of-old want.is got.is
	with_perf 'sdt_parcagpu:kernel_executed sdt_parcagpu:cuda_correlation' executed
	awk '$2 == "kernel" { print $6, $7, $1, $5, $4, $12, $13 }' truth | sort >want.is; args kernel_executed executed 8 | cut -d ' ' -f 1-7 >got.is
	same perf-kernel_executed want.is got.is
	awk '$2 == "kernel" { print $1, $12 ? -514 : -307 }' truth | sort -u >want.is; args cuda_correlation executed 3 | cut -d ' ' -f 1,2 >got.is
	is perf-cuda_correlation 0 "$(comm -23 want.is got.is | wc -l | tr -d ' ')"
fi
