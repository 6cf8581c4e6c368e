# The probes of parcagpu become rows of kernels: in a process with gtcollect's library, which has the same probes, from the
# simulated GPU; and in a program with the first version of the probes.
. "$SRC/tests/lib.sh"
G=$B/gtcollect A=$B/gtanalyze
if ! "$G" --via ebpf -q -f -e usdt:none:none -o try.zst -p $$ --duration 1ms >try.out 2>&1; then
	skip parcagpu "$(tail -n 1 try.out)"
	exit
fi

# ---- the simulated GPU: each kernel, with the call that launched it ----
# starts before the probes are set, and launches kernels until they fire
: >truth
LD_LIBRARY_PATH="$B/sim" SIM_CUPTI_TRUTH="$PWD/truth" "$G" --probes-only -- "$B/guest/fake/probes" launching seen lines truth launch 200 graph 3 >out 2>err &
program=$!
has_driver() { grep -c 'libcuda.so' /proc/$program/maps | sed 's/^[1-9].*/yes/'; }
until_it_is yes has_driver
"$G" -f -e 'api,usdt:parcagpu*:*' -o sim.zst -p $program 2>sim.err &
recorder=$!
attached() { grep -c recording sim.err; }
until_it_is 1 attached
kernels() { "$A" kernels --format csv "$1" 2>/dev/null | awk -F, 'NR > 1 { n += $2 } END { print n + 0 }'; }
some() { [ "$(kernels sim.zst)" -gt 0 ] && echo yes; }
until_it_is yes some
echo yes >seen
wait $program; is program-is-unharmed 0 $?
wait $recorder; is recorder-ends 0 $?
from=$(sed -n 's/^lines //p' out)
"$B/gtexport" --jsonl -o - sim.zst 2>/dev/null | grep '"category":"kernel"' >rows
# correlation, stream, node: rows of one graph node have the same node number
sed -n 's/.*"correlation":\([0-9]*\).*"graph":\([0-9]*\),"node":\([0-9]*\).*/\1 \2 \3/p; t; s/.*"correlation":\([0-9]*\).*/\1 0 0/p' rows | sort -u >got.all
tail -n +$((from + 1)) truth | awk '$2 == "kernel" { print $1, $12, $13 }' | sort -u >want
sort -u want got.all | comm -12 - got.all | comm -12 - want >got
same kernels-are-those-of-the-truth want got
check kernels-are-many test "$(wc -l <want)" -gt 250
# of_want: counts the rows on stdin that are kernels of want; earlier ones may have been launched before the probes of calls were set
of_want() {
	awk 'NR == FNR { want[$1]; next } match($0, /"correlation":[0-9]+/) && substr($0, RSTART + 14, RLENGTH - 14) in want { n++ } END { print n + 0 }' want -
}
is kernels-have-their-calls "$(of_want <rows)" "$(grep '"launch_join":1' rows | of_want)"
check joined-kernels-are-many test "$(of_want <rows)" -gt 250
is graphs-launch-some 60 "$(grep -c '"launch_name":"cuGraphLaunch"' rows)"
check no-doubt-about-gpu test -z "$(grep 'no GPU work' sim.err)"
want idle 0 "$A" gaps sim.zst
check idle-has-causes grep -q 'in a CUDA call  *cuLaunchKernel' want.out

# ---- a program that continues: launches without a reported kernel are counted ----
LD_LIBRARY_PATH="$B/sim" "$G" --probes-only -- "$B/samples/train" -n 100000000 >/dev/null &
program=$!
until_it_is yes has_driver
"$G" -f -e 'api,usdt:parcagpu*:*' -o on.zst -p $program 2>on.err &
recorder=$!
many() { [ "$(kernels on.zst)" -gt 100 ] && echo yes; }
until_it_is yes many
kill -INT $recorder; wait $recorder
kill $program; wait $program 2>/dev/null
missing=$(sed -n 's/^gtcollect: \([0-9]*\) .* no GPU record.*/\1/p' on.err)
"$B/gtexport" --jsonl -o - on.zst 2>/dev/null | grep '"category":"kernel"' >rows
# kernels that were launched before the recording have no call
launches=$(calls cuLaunchKernel on.zst)
check launches-without-a-kernel-are-counted test "$launches" -ge $(($(grep -c '"launch_join":1' rows) + ${missing:-0})) -a \
	"$launches" -le $(($(wc -l <rows) + ${missing:-0}))

# ---- the first version of the probes, with times of both clocks ----
if [ -x "$B/bpf/kernels" ]; then
	mkfifo in
	"$B/bpf/kernels" <in >starts &
	program=$!
	exec 7>in
	"$G" -f -e 'usdt:parcagpu*:*' -o first.zst -p $program 2>first.err 7>&- &
	recorder=$!
	attached() { grep -c recording first.err; }
	until_it_is 1 attached
	printf 'real\nmonotonic\n' >&7
	exec 7>&-
	wait $program
	wait $recorder
	"$B/gtexport" --jsonl -o - first.zst 2>/dev/null | grep '"category":"kernel"' >rows
	is first-version-kernels 2 "$(grep -c '"name":"_Z6kernelPf".*"device":1.*"duration_us":1000.000.*"correlation":[12]' rows)"
	# the distance between the rows equals that between the hits within 0.1 ms: both clocks are the same
	got=$(sed 's/.*"ts":\([0-9.]*\).*/\1/' rows | awk 'NR == 1 { a = $1 } NR == 2 { printf "%.0f\n", ($1 - a) * 1e9 }')
	meant=$(awk 'NR == 1 { a = $1 } NR == 2 { printf "%.0f\n", $1 - a }' starts)
	check first-version-has-one-clock test $((got - meant)) -gt -1000000 -a $((got - meant)) -lt 1000000
else
	skip first-version "needs sys/sdt.h (systemtap-sdt-dev)"
fi
