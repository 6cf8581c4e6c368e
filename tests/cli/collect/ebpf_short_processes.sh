# Many short processes with probes: what gtcollect has open for each of them is closed again.
. "$SRC/tests/lib.sh"
G=$B/gtcollect prog=$B/bpf/usdt

if [ ! -x "$prog" ]; then skip usdt "needs sys/sdt.h (systemtap-sdt-dev)"; exit; fi
if ! "$G" --via ebpf -q -f -e usdt:none:none -o try.zst -- true >try.out 2>&1; then
	skip usdt "$(tail -n 1 try.out)"
	exit
fi
# run.sh FIRST LAST COMMAND...: runs it LAST times, and prints gtcollect's open files and memory (kB) after FIRST times and at the end
cat >run.sh <<'END'
first=$1 last=$2 i=0
shift 2
while [ $i -lt $last ]; do
	echo numbers | "$@" >/dev/null
	i=$((i + 1))
	case $i in $first | $last)
		echo "$(ls "/proc/$recorder/fd" | wc -l) $(sed -n 's/^RssAnon:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$recorder/status")"
		;;
	esac
done
END
# bounded NAME FILE PROCESSES: the descriptors of both lines differ by a few that are open for a moment, and a process costs some kB
# of memory at most
bounded() {
	is "$1-descriptors" yes "$(awk 'NR == 1 { from = $1 } NR == 2 && $1 - from < 20 { print "yes" }' "$2")"
	[ -n "$SAN" ] || is "$1-memory" yes "$(awk -v n="$3" 'NR == 1 { from = $2 } NR == 2 && ($2 - from) / n < 8 { print "yes" }' "$2")" # a sanitizer keeps freed memory
}

# each has a link of its own
"$G" -q -f -o tree.zst -e 'usdt:gt_test:*' -- sh -c 'recorder=$PPID exec sh run.sh "$@"' sh 20 220 "$prog" >tree.state 2>tree.err
bounded tree tree.state 200
is tree-has-all-hits 440 "$("$B/gtexport" --jsonl -o - tree.zst 2>/dev/null | grep -c '"name":"numbers"')"

# one link for all processes of a file
mkfifo in
"$prog" <in >out &
living=$!
exec 7>in
cp "$prog" other
attach all.zst -a -e usdt:gt_test:numbers
export recorder
sh run.sh 20 1020 "$prog" >all.state
sh run.sh 20 1020 ./other >other.state
detach
exec 7>&-
wait $living
bounded all all.state 1000
bounded other-file other.state 1000
