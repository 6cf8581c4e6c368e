# Why threads do not run, on this kernel: a program with known waits, and its child.
. "$SRC/tests/lib.sh"
G=$B/gtcollect A=$B/gtanalyze

mkfifo go
"$B/bpf/waits" <go &
waits=$!
exec 5>go
"$G" -f -e sched -o waits.zst -p $waits 2>waits.err &
recorder=$!
observed() { grep -c 'recording sched' waits.err; }
until_it_is 1 observed
echo >&5
exec 5>&-
wait $waits
is waits-are-unharmed 0 $?
wait $recorder
"$A" --format csv --top 0 offcpu waits.zst >waits.csv 2>/dev/null
# has NAME REASON: a row of it is there; REASON is a pattern
has() { check "waits-of-$1" awk -F, -v r="^($2)\$" '$1 == "pid" { for (i = 1; i <= NF; i++) if ($i == "reason") c = i } c && $c ~ r { y = 1 } END { exit !y }' waits.csv; }
for reason in futex poll sleep; do has $reason $reason; done
has io 'pipe read|io'	# the second, if the program ends before gtcollect looks which file it is

# ---- three busy threads on two processors do not wait ----
"$G" -q -f -e sched -o busy.zst -- sh -c 'for i in 1 2 3; do timeout 1 sh -c "while :; do :; done" & done; wait'
"$A" --format csv --top 0 offcpu busy.zst >busy.csv 2>/dev/null
check busy-threads-are-preempted awk -F, '$1 == "pid" { for (i = 1; i <= NF; i++) column[$i] = i }
	column["reason"] { sum[$column["reason"]] += $column["total_ns"] }
	END { exit !(sum["preempted"] > 2e8 && sum["preempted"] > 10 * sum["page fault"]) }' busy.csv
