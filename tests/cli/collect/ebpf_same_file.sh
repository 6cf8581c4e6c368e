# serial
# -a and one file that five processes open through five paths: the original, a hard link, a bind mount and two overlay mounts. All are the
# same file for the kernel's probes, so the probes must be set once: each call is one row.
. "$SRC/tests/lib.sh"
[ -z "$SAN" ] || { skip sanitized "cli/ebpf and cli/ebpf_links run the same code sanitized"; exit 0; }
G=$B/gtcollect
export LD_LIBRARY_PATH="$B/sim${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"

if ! "$G" --via ebpf -q -f -o try.zst --probe libc:getppid -p $$ --duration 1ms >try.out 2>&1; then
	skip ebpf "$(tail -n 1 try.out)"
	exit
fi
mkdir all

# inside PROGRAM [ARGUMENT]...: runs PROGRAM through each path, in its own mount namespace. @ is the path's folder.
cat >inside.sh <<'END'
. "$SRC/tests/lib.sh"
mount -t tmpfs gt all && cd all || exit
mkdir layer link bound top1 work1 overlay1 top2 work2 overlay2
cp "$B/bpf/$1" "$B/sim/libcuda.so.1" layer && ln layer/* link && mount --bind layer bound || exit
for i in 1 2; do mount -t overlay gt -o "lowerdir=layer,upperdir=top$i,workdir=work$i" overlay$i || exit; done
cd ..
for path in layer link bound overlay1 overlay2; do
	"all/$path/$1" $(echo "$2" | sed "s,@,all/$path,") <"$path.in" >"$path.out" 3>&- 4>&- 5>&- 6>&- 9>&- &
	echo "\"pid\":$!," >>pids
done
wait
END
for path in layer link bound overlay1 overlay2; do mkfifo $path.in; done
answers() { cat layer.out link.out bound.out overlay1.out overlay2.out | wc -l | tr -d ' '; }
# five LINE PROGRAM ARGUMENTS OPTIONS...: records into five.zst what five processes do after they have read LINE.
five() {
	line=$1 program=$2 arguments=$3; shift 3
	exec 3<>layer.in 4<>link.in 5<>bound.in 6<>overlay1.in 9<>overlay2.in
	for path in layer link bound overlay1 overlay2; do : >$path.out; done
	: >pids
	unshare -m sh inside.sh "$program" "$arguments" >inside.out 2>inside.err 3>&- 4>&- 5>&- 6>&- 9>&- &
	programs=$!
	for descriptor in 3 4 5 6 9; do echo "$line" >&$descriptor; done
	started() { { [ "$(answers)" = $1 ] || ! kill -0 $programs 2>/dev/null; } && echo yes; }
	until_it_is yes started "$first"
	attach five.zst -a "$@"
	for descriptor in 3 4 5 6 9; do echo "$line" >&$descriptor; done
	until_it_is yes started $((first + 5))
	detach
	exec 3>&- 4>&- 5>&- 6>&- 9>&-
	wait $programs
	"$B/gtexport" --jsonl -f -o - five.zst 2>/dev/null | grep -Ff pids >five.jsonl
}
calls_of() { grep '"phase":"B"' five.jsonl | grep -c "\"name\":\"$1\""; }

first=5 # the number of lines that the programs have printed
five '' functions '' --probe functions:outer
if [ -s inside.err ]; then
	skip overlay "$(tail -n 1 inside.err)"
	exit
fi
is calls-of-functions 100 "$(calls_of outer)"
first=10
five '' gated_calls '@/libcuda.so.1 1 1000' -e api
is calls-of-the-driver 5000 "$(calls_of cuDriverGetVersion)"
if [ -x "$B/bpf/usdt" ]; then
	first=5
	five numbers usdt '' -e usdt:gt_test:numbers
	is hits-of-usdt 10 "$(grep -c '"name":"numbers"' five.jsonl)"
else
	skip hits-of-usdt "needs sys/sdt.h (systemtap-sdt-dev)"
fi
