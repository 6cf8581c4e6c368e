# How a program ends decides which records CUPTI delivers: all, or those that it had completed; then the trace reports the missing ones.
. "$SRC/tests/lib.sh"
C=$B/gtcollect A=$B/gtanalyze rows=$B/unit/gpu_rows_prog
meta() { zstd -dcq "$2" | LC_ALL=C grep -ao "\"$1\":[^,}]*" | tail -n 1 | cut -d: -f 2- | tr -d '"'; }
losses() { "$A" --format tsv header "$1" 2>/dev/null | awk -F"\t" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "lost") k = i } NR == 2 { print $k }'; }
on_sim() { env LD_LIBRARY_PATH="$B/sim" "$@"; }

# a normal exit immediately after the last launch
want clean 0 on_sim "$C" -q -f -e api,gpu -o clean.zst -- "$B/samples/train" -n 20
is clean-has-all "$(meta gpu_joined_exact clean.zst) 0 0" "$("$rows" rows clean.zst | wc -l | tr -d ' ') $(meta gpu_launches_without_record clean.zst) $(losses clean.zst)"

# exit during a kernel of one minute: the exit does not wait for it, and its record is missing
want running 0 timeout 50 env LD_LIBRARY_PATH="$B/sim" "$C" -q -f -e api,gpu -o running.zst -- "$B/guest/fake/events" long
is running-is-reported '10 1 1' "$("$rows" rows running.zst | wc -l) $(meta gpu_launches_without_record running.zst) $(meta gpu_records_impossible running.zst)"

# exit while the library's thread is in a function of CUPTI, and CUPTI serves one thread at a time
want meanwhile 0 on_sim SIM_CUPTI_ALONE_MS=1500 "$C" -q -f -e api,gpu -o meanwhile.zst -- "$B/samples/idle_host" -n 4 -u 150000
is meanwhile-has-all "$(meta gpu_joined_exact meanwhile.zst) 0" "$("$rows" rows meanwhile.zst | wc -l | tr -d ' ') $(meta gpu_launches_without_record meanwhile.zst)"

# captured launches do not count as lost
want graph 0 on_sim "$C" -q -f -e api,gpu -o graph.zst -- "$B/samples/graph_replay"
is graph-captured '20 0 0' "$(meta gpu_launches_captured graph.zst) $(meta gpu_launches_without_record graph.zst) $(losses graph.zst)"
want graph-alone 0 on_sim "$C" -q -f -e gpu -o alone.zst -- "$B/samples/graph_replay"
is graph-alone-captured '20 0' "$(meta gpu_launches_captured alone.zst) $(losses alone.zst)"

# with these options the library does not see the begin of the capture
for o in '--filter cuLaunch* --filter cuGraphLaunch*' '--exclude *Capture*' '--sample 7'; do
	set -f
	want graph-captured 0 on_sim "$C" -q -f -e api,gpu $o -o graph.zst -- "$B/samples/graph_replay"
	set +f
	is "graph-captured $o" 'yes 0 0' "$(test "$(meta gpu_launches_captured graph.zst)" -ge 2 && echo yes) $(meta gpu_launches_without_record graph.zst) $(losses graph.zst)"
done

# killed during a kernel that never ends
env LD_LIBRARY_PATH="$B/sim" "$C" -q -f -e api,gpu -o killed.zst -- "$B/samples/hang" >out &
until_it_is 1 hung killed.zst
pkill -KILL -P $! hang
wait $!
is killed-status 137 $?
is killed-reports-what-is-missing '0 1 1' "$("$rows" rows killed.zst | wc -l | tr -d ' ') $(meta gpu_launches_without_record killed.zst) $(losses killed.zst)"
is killed-lists-what-is-missing 1 "$("$A" --format csv unseen killed.zst | grep -c cuLaunchKernel)"
for how in "-s 9" "-s 0" ""; do
	name=crash$(echo "$how" | tr -d ' -')
	on_sim "$C" -q -f -e api,gpu -o "$name.zst" -- "$B/samples/crash" -n 50 $how >out 2>err
	got=$("$rows" rows "$name.zst" | wc -l) lost=$(losses "$name.zst")
	launches=$("$A" --format csv --match 'cuLaunchKernel*' top "$name.zst" | awk -F, 'NR > 1 { n += $3 } END { print n + 0 }')
	check "$name-nothing-unaccounted" test $((got + lost)) -ge "$launches" -a "$lost" -eq "$(meta gpu_launches_without_record "$name.zst")"
done

# a process that ends by _exit loses its pending records: gtcollect and the reports say so
# on a busy machine the program may die before it waits for the GPU; then it runs again
dying() {
	for again in 1 2 3 4 5; do
		want "$@"
		[ "$(losses left.zst)" -eq 0 ] || break
	done
}
dying left-by-exit 3 on_sim "$C" -f -e api,gpu -o left.zst -- "$B/samples/crash" -n 50 -s 0
says left-reports-what-is-missing "^gtcollect: $(losses left.zst) launch.* no GPU record: "
says left-has-losses ', no calls lost, '

# A capture has ended when it failed or its stream was destroyed: launches after that do not count as captured.
for how in 1 2; do
	on_sim "$C" -q -f -e api,gpu -o spoilt.zst -- "$B/guest/fake/events" spoilt $how >out 2>err
	is spoilt-$how-reports-what-is-missing '137 1 1 1' "$? $(meta gpu_launches_captured spoilt.zst) $(meta gpu_launches_without_record spoilt.zst) $(losses spoilt.zst)"
done

# records missing per stream, and since when: the program uses the stream for a while before it is killed
env LD_LIBRARY_PATH="$B/sim" "$C" -q -f -e api,gpu -o stream.zst -- "$B/samples/idle_host" -n 1000000 >out &
many() { test "$("$rows" rows stream.zst | wc -l)" -gt 50 && echo yes; }
until_it_is yes many
pkill -KILL -P $! idle_host
wait $!
"$A" header stream.zst >r.txt 2>&1
check killed-stream-has-rows test "$(many)"
if [ "$(losses stream.zst)" -gt 0 ]; then check killed-stream-since grep -q 'LOST on stream [0-9]* of GPU 0: GPU records of [0-9]* launche*s* since [0-9]*\.[0-9]* s' r.txt
else ok killed-stream-since; fi	# the program was killed between a flush and the next launch

# a forked child: CUPTI does not work in it, which is reported; the parent's recording continues
want forked 0 on_sim "$C" -q -f -e api,gpu -o forked.zst -- "$B/guest/fake/profiler" fork
is forked-parent-has-all '100 100 1' "$("$rows" rows forked.zst | grep -c kernel) $(meta gpu_joined_exact forked.zst) $(meta gpu_forked_children forked.zst)"
is forked-no-losses 0 "$(losses forked.zst)"

# abort and assert, which the library intercepts; but the program is not kept alive while CUPTI is busy
for how in abort assert; do
	want $how 134 on_sim "$C" -q -f -e api,gpu -o $how.zst -- "$B/guest/fake/profiler" $how
	is $how-has-all '50 0 0' "$("$rows" rows $how.zst | grep -c kernel) $(losses $how.zst) $(meta gpu_launches_without_record $how.zst)"
done
want abort-at-once 134 on_sim SIM_CUPTI_ALONE_MS=600000 timeout 100 "$C" -q -f -e api,gpu -o abort.zst -- "$B/guest/fake/profiler" 'abort later'
is abort-at-once-nothing-unaccounted 50 $(($("$rows" rows abort.zst | grep -c kernel) + $(losses abort.zst)))

# exec, by any function: CUPTI's records are read before
for how in execve execv execvp execvpe fexecve execl execlp execle; do
	want $how 0 on_sim "$C" -q -f -e api,gpu -o exec.zst -- "$B/guest/fake/profiler" $how
	is $how-has-all '50 0 0' "$("$rows" rows exec.zst | grep -c kernel) $(losses exec.zst) $(meta gpu_launches_without_record exec.zst)"
done
want exec-events 0 on_sim "$C" -q -f -e api,gpu --gpu-timing events -o exec.zst -- "$B/guest/fake/profiler" execve
is exec-events-has-all '50 0 0' "$("$rows" rows exec.zst | grep -c kernel) $(losses exec.zst) $(meta gpu_launches_without_record exec.zst)"
want stay-events 0 on_sim "$C" -q -f -e api,gpu --gpu-timing events -o stay.zst -- "$B/guest/fake/profiler" stay
got=$("$rows" rows stay.zst | grep -c kernel) lost=$(losses stay.zst)
check stay-events-nothing-unaccounted test $((got + lost)) -eq 100 -a "$got" -ge 50 -a "$lost" -eq "$(meta gpu_launches_without_record stay.zst)"
# exec fails and the program continues: records that are missing at the end are reported
want stay 0 on_sim "$C" -q -f -e api,gpu -o stay.zst -- "$B/guest/fake/profiler" stay
got=$("$rows" rows stay.zst | grep -c kernel) lost=$(losses stay.zst)
check stay-nothing-unaccounted test $((got + lost)) -eq 100 -a "$got" -ge 50 -a "$lost" -eq "$(meta gpu_launches_without_record stay.zst)"
