# The number of calls of each driver function is the same with eBPF, preload and bpftrace, which observes the run that eBPF
# records. The driver is simulated.
. "$SRC/tests/lib.sh"
G=$B/gtcollect A=$B/gtanalyze
# a copy, because bpftrace puts its probes into all processes that have the file
mkdir sim
cp "$B"/sim/lib* sim
cuda=$PWD/sim/libcuda.so.1
export LD_LIBRARY_PATH="$PWD/sim${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
if ! "$G" --via ebpf -q -f -o try.zst -- true >try.out 2>&1; then
	skip ebpf "$(tail -n 1 try.out)"
	exit
fi
cp "$B/samples/train" counted_train # the name by which bpftrace selects the process
program() { "$@" ./counted_train -n 20; }
counts() { "$A" top --top 0 --format csv "$1" 2>/dev/null | awk -F, '$1 ~ /^cu/ { print $1, $3 }' | sort; }
observe() { program "$G" --via "$1" -q -f -e api -o "$1.zst" -- >/dev/null 2>&1; counts "$1.zst" >"$1.counts"; }

# bpftrace needs about 0.1 s to remove a probe, so it only has those functions that preload recorded. COUNT_ALL=1: all cu* functions.
observe preload
names=$([ -n "$COUNT_ALL" ] && echo 'cu*' || awk '{ print $1 }' preload.counts)
if ! command -v bpftrace >/dev/null 2>&1; then
	skip bpftrace "needs bpftrace"
	observe ebpf
else
	{
		for name in $names; do echo "uprobe:$cuda:$name /comm == \"counted_train\"/ { @[probe] = count(); }"; done
		printf '%s\n' "uprobe:$cuda:cuDriverGetVersion { printf(\"attached\n\"); }"
	} >counts.bt
	BPFTRACE_MAX_PROBES=2000 bpftrace counts.bt >bpftrace.out 2>bpftrace.err &
	bpftrace=$!
	# bpftrace prints nothing when its probes are set
	call() {
		echo | "$B/bpf/gated_calls" "$cuda" 1 1 >/dev/null
		grep -q attached bpftrace.out && echo yes || { kill -0 $bpftrace || echo yes; }
	}
	until_it_is yes call
	observe ebpf
	kill -INT $bpftrace
	wait $bpftrace
	sed -n 's/^@\[uprobe:.*:\(cu[A-Za-z0-9_]*\)\]: \([0-9]*\)$/\1 \2/p' bpftrace.out | sort >bpftrace.counts
	if ! grep -q attached bpftrace.out; then skip bpftrace "$(tail -n 1 bpftrace.err)"
	else same bpftrace-counts-the-same bpftrace.counts ebpf.counts; fi
fi
check functions-are-many test "$(wc -l <ebpf.counts)" -gt 10
same preload-counts-the-same preload.counts ebpf.counts
is nothing-is-lost 0 "$(figure lost ebpf.zst)"

# ---- -a during another recording, whose library is in the program: both recordings have each call once ----
cp "$B/samples/train" two-recordings
mkfifo idle
"$B/bpf/renamed" "$cuda" <idle >idle.out &	# the library gets its probes before the program starts
idle=$!
exec 8>idle
until_it_is yes maps_driver $idle
for again in 1 2 3 4 5; do # gtcollect sees the new process too late if it gets no processor time
	attach all.zst -a -e api --comm two-recordings
	"$G" -q -f -e api -o beside.zst -- ./two-recordings -n 20 >/dev/null 2>&1
	status=$?
	detach
	# all.zst also has functions that the library itself calls
	counts all.zst | awk 'NR == FNR { n[$1]; next } $1 in n' preload.counts - >all.counts
	cmp -s preload.counts all.counts && break
done
is beside-is-unharmed 0 $status
exec 8>&-
wait $idle
counts beside.zst >beside.counts
same beside-counts-the-same preload.counts beside.counts
same all-counts-the-same preload.counts all.counts
is all-loses-nothing 0 "$(figure lost all.zst)"

# A function that ends with a jump to another one: both return at the same time, with the same stack pointer.
cat >tail.c <<'END'
__attribute__((optimize("O0"))) int cuDeviceGetCount(int *count) { *count = 1; return 0; }
int cuDriverGetVersion(int *version) { return cuDeviceGetCount(version); }
END
${CC:-cc} -O2 -fcf-protection=none -shared -fPIC -Wl,-soname,libcuda.so.1 tail.c -o libcuda.so.1 || exit 1
export LD_LIBRARY_PATH="$PWD"
echo | "$G" --via ebpf -q -f -e api -o tail.zst -- "$B/bpf/gated_calls" ./libcuda.so.1 2 500 >tail.out 2>&1
is tail-calls-are-counted 'cuDeviceGetCount 1000 cuDriverGetVersion 1000' "$(counts tail.zst | tr '\n' ' ' | sed 's/ $//')"
