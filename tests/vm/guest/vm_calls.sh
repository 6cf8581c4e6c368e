# eBPF on this kernel: a program that runs, and one that starts later. Counts are those of the preload way.
. "$SRC/tests/lib.sh"
G=$B/gtcollect A=$B/gtanalyze
export LD_LIBRARY_PATH=$B/sim

# ids TYPE: of all BPF programs or links of the machine
ids() { bpftool "$1" list 2>/dev/null | sed -n 's/^\([0-9]*\): .*/\1/p' | tr '\n' ' '; }
before=$(ids prog) links=$(ids link)

want attaches 0 "$G" --doctor
check doctor-says-ebpf-works grep -q '^ok *ebpf .*calls, requests to the driver and scheduling' want.out
for row in BTF uprobes kprobes; do check doctor-has-$row grep -q "^yes *$row " want.out; done

# ---- a program that starts later ----
"$G" -v -f -o all.zst -a 2>all.err &
recorder=$!
probed() { grep -c 'recording api,ioctl ([0-9]* functions' all.err; }
"$B/samples/hang" -t 600 >/dev/null 2>&1 &	# its library gets the probes
idle=$!
until_it_is 1 probed
"$B/samples/train" -n 20 >/dev/null
is program-is-unharmed 0 $?
kill -INT $recorder
wait $recorder
is recorder-ends-by-signal 0 $?
"$G" -q -f -e api -o preload.zst "$B/samples/train" -n 20 >/dev/null
for f in all preload; do
	"$A" top --top 0 --format csv $f.zst 2>/dev/null | awk -F, '$1 ~ /^cu/ { n[$1] += $3 } END { for (f in n) print f, n[f] }' | sort >$f.counts
done
check calls-are-many test "$(awk '{ s += $2 } END { print s }' all.counts)" -gt 300
same counts-are-those-of-preload preload.counts all.counts
is nothing-is-lost 0 "$(figure lost all.zst)"
check kernels-have-names sh -c '"$1" launches --format csv all.zst | grep -q relu' - "$A"

# ---- a program that runs; the recorder is killed ----
"$B/samples/spin_calls" -s 600 >/dev/null &
spin=$!
maps() { grep -c 'libcuda.so' /proc/$spin/maps | sed 's/^[1-9].*/yes/'; }
until_it_is yes maps
"$G" -q -f -o part.zst -p $spin --duration 500ms
is duration-ends-it 0 $?
check part-has-calls test "$(calls cuCtxGetCurrent part.zst)" -gt 100
attach killed.zst --via ebpf -p $spin
kill -KILL $recorder
wait $recorder 2>/dev/null
check killed-recorder-harms-nothing kill -0 $spin
is no-program-stays "$before" "$(until_it_is "$before" ids prog; ids prog)"
is no-link-stays "$links" "$(until_it_is "$links" ids link; ids link)"
# before Linux 6.6 the names of events remain in a list
names() { grep -c ':gt_' /sys/kernel/tracing/uprobe_events; }
case $(uname -r) in 5.*|6.[0-5].*) check killed-recorder-leaves-names test "$(names)" -gt 0 ;; esac
want next-recorder 0 "$G" -q -f -e api -o part.zst -p $spin --duration 1ms
is next-recorder-removes-names 0 "$(names)"
kill $spin $idle
wait $spin $idle 2>/dev/null || :
