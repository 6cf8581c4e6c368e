# Options that have no effect with the chosen way or events are refused, in one line, before a file is overwritten.
. "$SRC/tests/lib.sh"
G=$B/gtcollect
export LD_LIBRARY_PATH="$B/sim${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
echo old >old.zst
# refuses NAME WORDS OPTION...: status 2, one line with the words, and the old file remains
refuses() {
	refuses_name=$1 refuses_words=$2; shift 2
	want "$refuses_name" 2 "$G" -f -o old.zst "$@"
	is "$refuses_name-is-reported" "1 1 old" "$(grep -c . want.err) $(grep -c -e "$refuses_words" want.err) $(cat old.zst)"
}
refuses wait-with-pid '--wait needs a COMMAND$' --wait all -p $$
refuses wait-with-all '--wait needs a COMMAND$' --wait primary -a
refuses slow-with-preload '--slow-probes needs --probe, or --via ebpf with -e api$' --slow-probes true
refuses slow-with-inject '--slow-probes needs' --slow-probes --via inject -p $$
refuses slow-without-calls '--slow-probes needs' --slow-probes --via ebpf -e sched true
refuses timing-without-gpu '--gpu-timing needs -e gpu$' --gpu-timing auto -e api true
refuses timing-with-ebpf '--gpu-timing needs --via preload or inject$' --gpu-timing cupti --via ebpf true
refuses cupti-without-gpu '--cupti needs -e gpu$' --cupti "$B/sim/libcupti.so.13" -e api,ioctl true
refuses cupti-with-ebpf '--cupti needs --via preload or inject$' --cupti "$B/sim/libcupti.so.13" -a
refuses sample-with-ebpf '--sample needs --via preload or inject$' --sample 10 --via ebpf true
refuses ring-size-with-ebpf '--ring-size needs --via preload or inject$' --ring-size 1M -a
refuses interval-without-nvml '--nvml-interval needs -e nvml$' --nvml-interval 10ms true
refuses pid-twice "-p $$ is given twice$" -p $$ -p $$
refuses pid-with-all '-a records all processes: -p cannot be used with it$' -a -p $$
refuses comm-without-all '--comm selects processes of -a$' --comm x -p $$
refuses pair-unselected-start "--pair: -e selects no probe 'query_start': add usdt:PROVIDER:PROBE$" -e 'usdt:web:request_*' --pair start=query_start,end=request_end,key=arg0 -a
refuses pair-unselected-end "selects no probe 'db:request_end'" -e 'usdt:web:request_*' --pair start=request_start,end=db:request_end,key=arg0 -- true
refuses arguments-of-functions 'arguments in parentheses must lie between 0 and 6$' --via ebpf --probe 'libc:read(7)' -p $$
refuses arguments-of-kernel 'arguments in parentheses must lie between 0 and 6$' --via ebpf --kprobe 'vfs_read(arg7:str)' -p $$
only_probes() { want "only-probes$1" 2 "$G" --probes-only $1 -- true; says "only-probes$1-is-reported" '--probes-only records nothing'; }
for option in --live --report -f '-e api' '--sample 2' '--duration 1s' '--wait all' '--ring-memory 1M'; do only_probes "$option"; done
