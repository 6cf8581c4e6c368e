# The library's own USDT probes, tested by a program that sets breakpoints on them itself (tests/unit/collect/guest/probes_prog.c), so that
# every value is tested on every machine. tests/cli/collect/probes_tools.sh attaches bpftrace and perf.
. "$SRC/tests/lib.sh"
C=$B/gtcollect lib=$B/libgtpreload.so prog=$B/guest/fake/probes
export LD_LIBRARY_PATH="$B/sim"
all='up parcagpu:kernel_executed up parcagpu:kernel_launch up parcagpu_provider:kernel_launch up parcagpu:activity_batch up parcagpu:cuda_correlation'

# the notes as readelf prints them; only addresses differ between builds
readelf -n "$lib" | sed -n '/stapsdt/,$p' | sed 's/0x[0-9a-f]*/ADDRESS/g; s/[ \t]*$//' >notes
if [ -f "$SRC/tests/golden/probes-$(uname -m)" ]; then same notes-are-those-of-old "$SRC/tests/golden/probes-$(uname -m)" notes
else skip notes-are-those-of-old "there is no tests/golden/probes-$(uname -m)"; fi
objcopy --strip-all "$lib" stripped.so
readelf -n stripped.so | sed -n '/stapsdt/,$p' | sed 's/0x[0-9a-f]*/ADDRESS/g; s/[ \t]*$//' >stripped
same notes-outlive-strip notes stripped

# fast: each probe is a nop of one byte and one of five, in a function without other code
if [ "$(uname -m)" = x86_64 ]; then
	objdump -d "$lib" --disassemble=gt_probe_kernel_executed | awk '/^ / { for (i = 2; i <= NF && $i ~ /^[0-9a-f][0-9a-f]$/; i++) printf "%s", $i } END { print "" }' >place
	is places-have-both-nops f30f1efa900f1f440000c3 "$(cut -c 1-22 place)"
else skip places-have-both-nops "of x86-64"; fi

[ "$("$prog" | tail -n 1)" != unsupported ] || { skip values "probes_prog knows no breakpoints here"; exit 0; }
values() {	# values NAME: the values of the probes equal the truth in truth.*
	cat truth.* >"$1.truth"
	awk '$2 == "kernel" { print $6, $7, $1, $5, $4, $12, $13, $3 }' "$1.truth" | sort >want.executed
	sed -n 's/^parcagpu:kernel_executed @other //p' "$1.out" | sort >got.executed
	same "$1-kernel_executed" want.executed got.executed
	check "$1-kernel_executed-is-not-empty" test -s got.executed
	awk '$2 == "kernel" { printf "%s %.0f\n", $1, $7 - $6 }' "$1.truth" | sort >want.launch
	for provider in parcagpu parcagpu_provider; do
		sed -n "s/^$provider:kernel_launch @other //p" "$1.out" | sort >got.launch
		same "$1-$provider-kernel_launch" want.launch got.launch
	done
	awk '$2 == "kernel" { print "10/" $1 }' "$1.truth" | sort >want.batch
	sed -n 's/^parcagpu:activity_batch @other [0-9]* //p' "$1.out" | tr ' ' '\n' | grep '^10/' | sort >got.batch
	same "$1-activity_batch" want.batch got.batch
	check "$1-batches-say-how-many" awk '/activity_batch/ && $3 != NF - 3 { exit 1 }' "$1.out"
	awk '$2 == "kernel" && !$12 { print $1, -307, $3 } $2 == "kernel" && $12 { print $1, -514, "cuGraphLaunch" }' "$1.truth" | sort -u >want.calls
}
correlations() {	# correlations NAME THREAD: of all kernels since the first one on that thread; and of launches that only became nodes of a graph
	sed -n "s/^parcagpu:cuda_correlation @$2 //p" "$1.out" | sort -u >got.calls
	awk -v first="$(sort -n got.calls | head -n 1)" '$1 >= first + 0' want.calls >want.later && mv want.later want.calls
	check "$1-many-launches" test "$(wc -l <want.calls)" -ge 50
	is "$1-cuda_correlation" 0 "$(comm -23 want.calls got.calls | wc -l | tr -d ' ')"
	check "$1-on-the-$2-thread" test -s got.calls
	check "$1-on-no-other" sh -c "! grep 'cuda_correlation' $1.out | grep -vq '@$2 '"
}

# during a recording
want session 0 env SIM_CUPTI_TRUTH="$PWD/truth.%p" "$C" -q -f -e api,gpu -o session.zst -- "$prog" $all fires parcagpu:cuda_correlation launch 300 graph 3
cp want.out session.out
values session
correlations session main
is session-recorded-too "$(grep -c kernel session.truth)" "$("$B/unit/gpu_rows_prog" rows session.zst | grep -c kernel)"

# probes do not wait for a kernel that is still running
want session-held 0 "$C" -q -f -e api,gpu -o held.zst -- "$prog" up parcagpu:kernel_executed fires parcagpu:kernel_executed held 5
is session-held-no-kernel-waits-for-another 'held beside: no,held behind: no' "$(grep '^held' want.out | paste -sd ,)"

# CUPTI has another subscriber: launches are taken from activity records
rm truth.*
want taken 0 env SIM_CUPTI_TRUTH="$PWD/truth.%p" SIM_CUPTI_TAKEN=1 "$C" -q -f -e api,gpu -o taken.zst -- "$prog" $all fires parcagpu:cuda_correlation launch 50
cp want.out taken.out
values taken
sed -i 's/_Z4busyy/cuLaunchKernel/' want.calls
correlations taken other

# Without a recording CUPTI starts late, so launches by the runtime are taken from the runtime's records.
rm truth.*
want taken-late 0 env SIM_CUPTI_TRUTH="$PWD/truth.%p" SIM_CUPTI_TAKEN=1 "$C" --probes-only -- "$prog" up parcagpu:kernel_executed up parcagpu:cuda_correlation fires parcagpu:cuda_correlation say now runtime 50 launch 50
sed -n 's/^parcagpu:cuda_correlation @other //p' want.out >reported
is taken-late-by-both '50 cudaLaunchKernel 50 cuLaunchKernel' "$(sed '1,/^now/d' want.out | awk '/cuda_correlation/ { n[$4 " " $5]++ } END { print n["211 cudaLaunchKernel"] + 0, "cudaLaunchKernel", (n["-307 cuLaunchKernel"] >= 50 ? 50 : 0), "cuLaunchKernel" }')"
is taken-late-each-kernels 0 "$(sed '1,/^now/d' want.out | awk 'FILENAME == "reported" { reported[$1]; next } /:kernel_executed/ { n += !($5 in reported) } END { print n + 0 }' reported -)"

# another subscriber that comes while the library is subscribed can subscribe
want comes 0 "$C" -q -f -e api,gpu -o comes.zst -- "$prog" up parcagpu:cuda_correlation fires parcagpu:cuda_correlation say now launch 5 subscribe 1 launch 5
is comes-and-may "subscribed: 0" "$(grep subscribed want.out)"
is comes-ours-go-on "5 5" "$(sed '1,/^now/d' want.out | grep -c '_correlation @main') $(grep -c '_correlation @other' want.out)"

# impossible records do not become kernels
want bad 0 env SIM_CUPTI_BAD=10 "$C" -q -f -e api,gpu -o bad.zst -- "$prog" up parcagpu:kernel_launch up parcagpu:activity_batch launch 50
is bad-are-left-out "45 50" "$(grep -c kernel_launch want.out) $(grep activity_batch want.out | tr ' ' '\n' | grep -c '^10/')"

# no tool is attached: no probe fires, and the program can subscribe to CUPTI
want detached 0 "$C" -q -f -e api,gpu -o detached.zst -- "$prog" launch 5 subscribe 1
is detached-fires 0 "$(grep -c '^parcagpu' want.out)"
is detached-subscribes "subscribed: 0" "$(grep subscribed want.out)"

# More kernels wait than there are buffers, which contain one record each here. CUPTI, which may crash without buffers, always gets one.
want pile 0 env SIM_CUPTI_STRICT=100000 "$C" --probes-only -- "$prog" up parcagpu:kernel_launch fires parcagpu:kernel_launch wait 500 pile 36000 fires parcagpu:kernel_launch
check pile-most-are-reported test "$(grep -c kernel_launch want.out)" -ge 32000

# without a recording: CUPTI is used only while a tool is attached, repeatedly; the probes fire for the work of that time
none=$(echo "$all" | sed 's/up/down/g')
window="$all fires parcagpu:cuda_correlation launch 100 graph 2 held 5 caught 1 lines truth $none"
for how in '' alone; do
	name=only${how:+-$how}
	rm -f truth truth.* && : >truth
	if [ -z "$how" ]; then set -- "$C" --probes-only --; else set -- env CUDA_INJECTION64_PATH="$lib"; fi
	want $name 0 env SIM_CUPTI_STRICT=100000 SIM_CUPTI_TRUTH="$PWD/truth" "$@" "$prog" whose 1 launch 10 wait 500 whose 1 $window quiet truth launch 10 lines truth $window quiet truth say end whose 1 launch 10
	cp want.out $name.out
	set -- $(sed -n 's/^lines //p' want.out)
	sed -n "1,$1p; $(($2 + 1)),$3p" truth >truth.0	# without the work after the tool detached
	is $name-calls-are-the-drivers-own '3 of libcuda.so.1' "$(grep -c '^launches are of libcuda.so.1,' want.out) of $(sed -n 's/^launches are of \(.*\),.*/\1/p' want.out | sort -u)"
	is $name-without-cupti-before 'not loaded,not loaded' "$(sed -n 's/^launches.*CUPTI is //p' want.out | head -n 2 | paste -sd ,)"
	is $name-nothing-before 0 "$(sed '/cuda_correlation/,$d' want.out | grep -c '^parcagpu')"
	is $name-nothing-behind 0 "$(sed '1,/^end$/d' want.out | grep -c '^parcagpu')"
	is $name-no-kernel-waits-for-another 'held beside: no,held behind: no' "$(grep '^held' want.out | head -n 2 | paste -sd ,)"
	values $name
	sed -n 's/^parcagpu:cuda_correlation @main //p' $name.out | sort -u >got.calls
	check $name-correlations-of-both test "$(comm -12 want.calls got.calls | wc -l)" -ge 200
done
