# docs/why-slow.md: gtanalyze finds the problem of each sample program that the page describes.
. "$SRC/tests/lib.sh"
A=$B/gtanalyze
record() { want record-$1 0 env LD_LIBRARY_PATH="$B/sim" "$B/gtcollect" -q -f -o $1.zst -- "$B/samples/$1"; }
found() { "$A" --format csv advice $1.zst 2>/dev/null | awk -F, '$2 == "found" { print $1 }' | grep -x "$2"; }
# finds PROGRAM RULE WANTED: the rule's state for this program. When the machine is so busy that the program pauses, other rules
# find something; so the program is recorded up to 5 times.
finds() {
	for again in 1 2 3 4 5; do
		[ -e $1.zst ] || record $1
		[ "$(found $1 $2)" != "$3" ] || break
		[ $again = 5 ] || rm $1.zst
	done
	is $1-${4:-finds-$2} "$3" "$(found $1 $2)"
}

while read -r program rule; do
	finds $program $rule $rule
	check $program-$rule-is-on-the-page grep -q "^| \`$program\` | $rule |" "$SRC/docs/why-slow.md"
done <<E
idle_host host-bound
sync_every_launch sync-in-loop
pageable_copy pageable-copy
leak alloc-in-loop
leak leak
E
finds overlap host-bound "" is-not-host-bound
finds overlap serialised-streams "" does-not-take-turns
want overlap-overlaps 0 "$A" overlap overlap.zst
check overlap-side-by-side grep -q "side by side" want.out

want waits 0 "$A" sync sync_every_launch.zst
check waits-are-there grep -q 'cuStreamSynchronize  *stream [0-9]*  *50[0-9] ' want.out
want pinning 0 "$A" copies pageable_copy.zst
check pinning-would-win grep -q 'host to device  *4.000 MiB  *50 ' want.out
want leaked 0 "$A" memory leak.zst
check leaked-blocks grep -q 'cuMemAlloc_v2  *device  *1.000 MiB  *100  *100.0 MiB' want.out

record graph_replay
want patterns 0 "$A" patterns graph_replay.zst
check patterns-of-graphs grep -q 'graph_replay  *0  *[0-9]*  *2000  *2000  *100.00  *0  *0  *2000  *100$' want.out
check patterns-run grep -q '^  scale<float>  *2000  *2000  *100.00  *1  *2000 ' want.out

record train
is train-has-steps "sequence 99 memcpy HtoD (pinned -> device)" \
	"$("$A" steps --format csv train.zst 2>/dev/null | awk -F, '$4 == "sequence" { sub(/\r/, "", $NF); print $4, $5, $NF }')"

# A call that never returns, and a crash that loses GPU records.
{ until_it_is 1 hung hang.zst; pkill -TERM -P "$(cat collector)" hang; } &
want record-hang 143 env LD_LIBRARY_PATH="$B/sim" sh -c 'echo $$ >collector; exec "$0" -q -f -o hang.zst -- "$1"' "$B/gtcollect" "$B/samples/hang"
never_returned() { "$A" open --format csv $1.zst 2>/dev/null | awk -F, 'NR == 2 { print $7 }'; }
# when the machine is busy, CUPTI may deliver all records before the crash, or the crash may come before the call
for again in 1 2 3 4 5; do
	want record-crash 139 env LD_LIBRARY_PATH="$B/sim" "$B/gtcollect" -q -f -o crash.zst -- "$B/samples/crash"
	[ "$(figure lost crash.zst) $(never_returned crash)" != "20 cuStreamSynchronize" ] || break
done
for f in hang crash; do
	is $f-never-returned cuStreamSynchronize "$(never_returned $f)"
done
want crash-budget 4 "$A" budget crash.zst
check crash-budget-gives-the-reason grep -q "cannot answer: events were lost, and no GPU record is left" want.out
is crash-unseen 20 "$("$A" unseen --format csv crash.zst 2>/dev/null | grep -c cuLaunchKernel)"

record many_threads
is threads-are-many 64 "$("$A" threads --format csv many_threads.zst 2>/dev/null | awk -F, 'NR > 1 && $5 > 1000' | wc -l)"
record multiproc
is processes-share-a-gpu 1 "$("$A" gpu --format csv multiproc.zst 2>/dev/null | awk -F, '/^# gpu_kernels/ { exit } $1 ~ /^[0-9]+$/' | wc -l)"
is processes-launch-200 200 "$("$A" kernels --format csv multiproc.zst 2>/dev/null | awk -F, 'NR > 1 { n += $2 } END { print n }')"
want record-managed 0 env LD_LIBRARY_PATH="$B/sim" "$B/gtcollect" -q -f -e api,gpu,um -o managed.zst -- "$B/samples/managed"
want managed-moves 0 "$A" top --match '*igration*' managed.zst
check managed-moves-both-ways grep -q '^  migration HtoD ' want.out

# The commands of the page work.
want commands 0 "$A" budget gaps launches patterns driver critical graph_replay.zst
want query 0 "$A" query --where 'kind==kernel && dur>50us' --by name,stream --agg 'count,sum(dur),p99(dur)' overlap.zst
want histogram 0 "$A" histogram --of queue --where 'kind==kernel' overlap.zst
want gates-pass-on-the-same 0 "$A" diff --fail-if 'kernels.p99 > +5%' --fail-if 'budget.total[idle] > +2%' overlap.zst overlap.zst
