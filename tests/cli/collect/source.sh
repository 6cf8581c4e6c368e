# A source of events is one file and one row in a table: the test's gtcollect has the source "heartbeat" (tests/unit/collect).
. "$SRC/tests/lib.sh"
C=$B/heartbeat/gtcollect
export GT_GUEST="$B/libgtpreload.so"

"$C" --help >help.out
check in-help sh -c "tr -s ' \\n' ' ' <help.out | grep -q 'api ioctl gpu nvtx nvml runtime um sched samples driver fault usdt xid heartbeat'"
check option-in-help grep -q 'heartbeat-interval TIME' help.out
"$C" --doctor >doctor.out
check in-doctor grep -q 'heartbeat *-e heartbeat can record its beats' doctor.out
want bad-name 2 "$C" -e heart true
says bad-name-lists-it 'choose from api ioctl gpu nvtx nvml runtime um sched samples driver fault usdt xid heartbeat'

# The program ends when the file has rows of the source. gtanalyze runs without the preloaded library, because a
# sanitizer's runtime must be loaded first.
want records 0 timeout 100 "$C" -o h.zst -e heartbeat --heartbeat-interval 5ms sh -c \
	'until LD_PRELOAD= "$0/gtanalyze" counters --format csv h.zst 2>/dev/null | grep -q beats; do sleep 0.05; done' "$B"
says rows-in-the-last-line '[0-9] beats, '
says losses 'beats\{0,1\} lost on the way to the file'
"$B/gtanalyze" header --format json h.zst >header.json
check in-header grep -q '"heartbeat"' header.json
check losses-in-header grep -q '"lost": *[1-9]' header.json
check rows sh -c '[ "$("$1" counters --format csv h.zst | grep -c beats)" -ge 1 ]' - "$B/gtanalyze"
"$B/gtcollect" --help >plain.out
check absent-elsewhere sh -c '! grep -q heartbeat plain.out'
