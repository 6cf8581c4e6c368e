# The rights that probes need on this kernel, with a gtcollect that carries capabilities. Before Linux 6.6 probes are perf
# events, which these kernels permit to CAP_SYS_ADMIN only, whatever kernel.perf_event_paranoid says.
. "$SRC/tests/lib.sh"
paranoid=/proc/sys/kernel/perf_event_paranoid
default=$(cat $paranoid)
export LD_LIBRARY_PATH=$B/sim
shared=$(mktemp -d)
chmod 777 "$shared"
for set in three four; do cp "$B/gtcollect" "$shared/$set"; done
three=cap_bpf,cap_perfmon,cap_sys_ptrace,cap_sys_resource	# the last one: BPF maps are locked memory before Linux 5.11
setcap $three+ep "$shared/three"
setcap $three,cap_sys_admin+ep "$shared/four"
case $(uname -r) in 5.*|6.[0-5].*) are_events=yes three_are=125 ;; *) are_events=no three_are=0 ;; esac

mkfifo hold
"$B/bpf/functions" <hold >/dev/null &
program=$!
exec 7>hold
as_user() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
records() { as_user "$shared/$1" -q -f --probe functions:outer -o "$shared/r.zst" -p $program --duration 1ms; }
for value in -1 2 $default; do
	echo $value >$paranoid
	want three-capabilities-at-$value $three_are records three
	[ $are_events = no ] || says three-capabilities-at-$value-are-reported 'cannot set probes: .*perf events before Linux 6.6.*CAP_SYS_ADMIN'
	want four-capabilities-at-$value 0 records four
done
as_user "$shared/three" --doctor >doctor.three 2>&1
as_user "$shared/four" --doctor >doctor.four 2>&1
row() { sed -n "s/^\([a-z]*\) *uprobes .*/\1/p" "$1"; }
[ $are_events = yes ] && rows="no yes" || rows="yes yes"
is doctor-says-what-is-permitted "$rows" "$(row doctor.three) $(row doctor.four)"
check doctor-says-ebpf-works grep -q '^ok *ebpf .*calls, requests' doctor.four
[ $are_events = no ] || check doctor-names-the-capability grep -q '^no *uprobes .*CAP_SYS_ADMIN' doctor.three
exec 7>&-
wait $program

# ---- probes that are set after gtcollect has given up its rights: a driver that the command loads ----
cp "$B/sim/libcuda.so.1" "$shared/"
chmod 755 "$shared/libcuda.so.1"
# later NAME COMMAND...: gtcollect, as COMMAND
later() {
	later_name=$1; shift
	echo | "$@" -q -f -e api --via ebpf -o "$shared/l.zst" -- "$B/bpf/gated_calls" "$shared/libcuda.so.1" 1 1000 >/dev/null 2>later.err
	is "later-driver-$later_name" "0 1000" "$? $(calls cuDriverGetVersion "$shared/l.zst")"
	rm -f "$shared/l.zst"
}
for value in 2 $default; do
	echo $value >$paranoid
	later of-root-at-$value "$B/gtcollect"
done
later of-capabilities as_user "$shared/four"
rm -r "$shared"
