# Reports about launch cost, waits and repeated sequences, compared with known answers: real recordings, whose figures were also counted
# from their JSON lines, and samples on the simulated GPU, each with one known problem.
. "$SRC/tests/lib.sh"
C="$B/gtcollect -q -f" A=$B/gtanalyze R=$SRC/samples/recorded
export LD_LIBRARY_PATH="$B/sim${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" TMPDIR="$PWD"
unset XDG_RUNTIME_DIR
# sum TABLE KEY: the sum of a column of a csv table in the last report
sum() { tr -d '\r' <want.out | awk -F, -v t="# $1" -v k="$2" '$0 ~ /^# / { in_it = $0 == t; head = 1; next } !in_it { next }
	head { for (i = 1; i <= NF; i++) if ($i == k) c = i; head = 0; next } { s += $c } END { printf "%.0f", s }'; }

want train-launches 0 $A launches --format csv --top 0 "$R/h200-train.zst"
sed 's/"[^"]*"/"x"/g' want.out >plain && mv plain want.out	# names contain commas
is train-launched 14992 "$(sum launch_times launches)"
is train-in-calls 148348374 "$(sum launch_times call_ns)"
is train-short 7769 "$(sum launch_times short)"
is train-idle 7284718616 "$(sum unqueued idle_ns)"
is train-unqueued 397825627 "$(sum unqueued unqueued_ns)"
is train-stretches-are-all 397825627 "$(sum stretches unqueued_ns)"
is train-parts-add-up 397825627 "$(($(sum unqueued before_call_ns) + $(sum unqueued in_call_ns) + $(sum unqueued after_call_ns)))"
want graphs-launches 0 $A launches --format csv --top 0 "$R/h200-graphs.zst"
sed 's/"[^"]*"/"x"/g' want.out >plain && mv plain want.out
is graphs-launched 337 "$(sum launch_times launches)"
is graphs-in-calls 44389000 "$(sum launch_times call_ns)"
want graphs-one 0 $A launches "$R/h200-graphs.zst"
check graphs-has-its-graph stdout_matches '^  graph 2 (pid 616), 87 nodes  *100 '
want streams-queues 0 $A queues --format csv "$R/h200-streams.zst"
is streams-launched $((2 * 8350)) "$(sum queues launches)"	# once for the streams and once for their device
want streams-patterns 0 $A patterns "$R/h200-streams.zst"
check streams-repeat stdout_matches ' 500  *5  *2500 .*memcpy HtoD (pinned -> device); scale<float, 3>; memset (device); scale<double, 7>; memcpy DtoH'
check streams-run stdout_matches '^  scale<float, 2>  *400  *400 '
want nothing-of-a-gpu 0 $A launches "$R/h200-mlp-calls.zst"
check nothing-of-a-gpu-has-the-calls stdout_matches '^  -  *12383 '

want graph_replay 0 $C -o g.zst "$B/samples/graph_replay"
want graph_replay-launches 0 $A launches --format json g.zst
check graph_replay-graph stdout_matches '"launched": "graph [0-9]* (pid [0-9]*), 20 nodes"'
check graph_replay-counts-once stdout_matches '"launches": 100$\|"launches": 100,'
want graph_replay-patterns 0 $A patterns g.zst
check graph_replay-tells-graphs-apart stdout_matches ' 2000  *2000  *100.00 .* 2000  *100$'
want sync 0 $C -o s.zst "$B/samples/sync_every_launch"
want sync-patterns 0 $A patterns s.zst
check sync-is-one-run stdout_matches '^  scale<float>  *1000  *1000  *100.00  *1  *1000 '
want train 0 $C -o t.zst "$B/samples/train"
want train-patterns 0 $A patterns t.zst
check train-repeats stdout_matches ' 400  *4  *1600 .* vectorAdd; relu<float>; scale<float>; saxpy$'
