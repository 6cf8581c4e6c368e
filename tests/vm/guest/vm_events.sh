# Tracepoints and page faults, and probes of the kernel whose recorder is killed. The driver is tests/vm/module.
. "$SRC/tests/lib.sh"
G=$B/gtcollect
export LD_LIBRARY_PATH=$B/sim

want records 0 "$G" -f -e ioctl,fault --tracepoint syscalls:sys_enter_ioctl -o events.zst -- "$B/bpf/driver_requests"
is nothing-is-lost 0 "$(figure lost events.zst)"
"$B/gtexport" --jsonl -f -o events.jsonl events.zst 2>/dev/null
# rows NAME: without the ends of ranges
rows() { grep -v '"phase":"E"' events.jsonl | grep -c "\"name\":\"$1\""; }
check ioctls-are-hits test "$(rows sys_enter_ioctl)" -ge 15
is hits-are-ioctls "$(rows ioctl.*)" "$(rows sys_enter_ioctl)"
if [ "$(uname -m)" = x86_64 ]; then check page-faults-are-hits test "$(rows page_fault_user)" -ge 1
else
	"$B/gtanalyze" header events.zst >header.out 2>/dev/null
	check page-faults-are-missing grep -q 'page faults (this kernel has no tracepoint exceptions:page_fault_user)' header.out
fi

"$B/samples/hang" -t 600 >/dev/null 2>&1 &
program=$!
maps() { grep -c 'libcuda.so' /proc/$program/maps | sed 's/^[1-9].*/yes/'; }
until_it_is yes maps
programs() { bpftool prog list | grep -c '^[0-9]'; }
before=$(programs)
"$G" -v -f -o killed.zst -e driver --kprobe 'nvidia_standin_*' -p $program 2>killed.err &
recorder=$!
recording() { { grep -q recording killed.err || ! kill -0 $recorder; } 2>/dev/null && echo yes; }
until_it_is yes recording
check recorder-has-programs test "$(programs)" -gt "$before"
kill -KILL $recorder
wait $recorder 2>/dev/null
until_it_is "$before" programs
is no-program-stays "$before" "$(programs)"
check killed-recorder-harms-nothing kill -0 $program
kill $program
wait $program 2>/dev/null || :
