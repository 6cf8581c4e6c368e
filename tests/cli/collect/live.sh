# --print and --live: output about events while they are recorded.
. "$SRC/tests/lib.sh"
G=$B/gtcollect
export LD_LIBRARY_PATH="$B/sim${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"

# ---- --print: one line per event ----
"$G" -q --print -o print.zst -- sh -c '"$0" -n 200 >/dev/null' "$B/samples/train" >lines
is print-status 0 $?
"$B/gtexport" --jsonl -o - print.zst 2>/dev/null | grep -v '"phase":"E"\|"name":"STACK"' >rows
check print-has-records test "$(wc -l <lines)" -gt 3000
is records-printed-are-those-of-the-file "$(wc -l <rows)" "$(wc -l <lines)"
sed 's/^{"ts":[^,]*,\("op_id":[^,]*,\)*\("phase":"B",\)*"name":"\([^"]*\)".*/\3/' rows | grep '^cu' | sort | uniq -c >names.file
sed -n 's,^[0-9.]* train [0-9]*/[0-9]* \(cu[^(]*\)(.*,\1,p' lines | sort | uniq -c >names.lines
same functions-are-equal names.file names.lines
check a-call-has-arguments-result-and-time \
	grep -qE '^[0-9]+\.[0-9]{9} train [0-9]+/[0-9]+ cuMemAlloc_v2\(dptr=0x[0-9a-f]+, bytesize=262144\) = 0 <0\.[0-9]{9}>$' lines
check gpu-work-has-its-stream grep -qE '^[0-9.]+ train [0-9]+ GPU 0 stream [^ ]+ _Z.*\{.*\} <0\.[0-9]{9}>$' lines

# ---- --print-json: JSON lines, which all programs read ----
"$G" -q --print-json -o json.zst -- sh -c '"$0" -t 1 >/dev/null; "$1" -n 20 >/dev/null' "$B/samples/hang" "$B/samples/train" >json.lines
is json-status 0 $?
"$B/gtexport" --jsonl -o json.export json.zst 2>/dev/null
is json-lines-are-those-of-gtexport "$(wc -l <json.export)" "$(wc -l <json.lines)"
top() { "$B/gtanalyze" top --top 0 --format csv "$1" 2>/dev/null | awk -F, 'NR > 1 { print $1, $2, $3 }' | sort; }
top json.zst >top.trace
top json.lines >top.lines
check json-has-calls grep -q '^cuLaunchKernel' top.lines
same json-lines-are-read-back top.trace top.lines

"$G" -q --print --filter 'cuLaunch*' -e api -o filter.zst -- sh -c '"$0" -n 3 >/dev/null' "$B/samples/train" >filtered
is filter-selects-lines "$(wc -l <filtered)" "$(grep -c ' cuLaunchKernel(' filtered)"
check filter-leaves-some test -s filtered

# ---- the output pipe is closed ----
{ "$G" -q --print -o closed.zst -- sh -c '"$0" -s 1 >/dev/null; echo $? >program.status' "$B/samples/spin_calls"; echo $? >closed.status; } | head -n 3 >head.out
is closed-pipe-is-no-failure 0 "$(cat closed.status)"
is closed-pipe-program-is-unharmed 0 "$(cat program.status)"
is closed-pipe-got-lines 3 "$(wc -l <head.out)"
want closed-pipe-file-is-complete 0 "$B/gtanalyze" closed.zst

# ---- a call that does not return ----
"$G" -q --print -o hang.zst -- sh -c '"$0" -t 600 >/dev/null & echo $! >hang.pid; wait' "$B/samples/hang" >hang.lines &
recorder=$!
until_it_is 1 hung hang.zst
kill -KILL "$(cat hang.pid)"
wait $recorder
is open-call-is-one-line 1 "$(grep -cE ' cuStreamSynchronize\(.*\) <unfinished \.\.\.>$' hang.lines)"

# ---- --live: figures ----
"$G" -q --live -o live.zst -- "$B/samples/train" -n 50 >/dev/null 2>live.err
is live-status 0 $?
check live-has-rates grep -qE '^gtcollect: [0-9.]+ s: [0-9]+ calls/s \(cuLaunchKernel [0-9]+/s, .*\), .*GPU 0 busy [0-9.]+ %, .*in synchronizing calls [0-9.]+ ms, 0 lost$' live.err
"$G" -q --live -o losses.zst --ring-memory 1M -- "$B/samples/spin_calls" -s 1 >/dev/null 2>live.err
check live-loses-some test "$(figure lost losses.zst)" -gt 0
is live-losses-are-those-of-the-file "$(figure lost losses.zst)" "$(sed -n '$s/.* \([0-9]*\) lost$/\1/p' live.err)"
if command -v script >/dev/null 2>&1; then
	script -qec "'$G' -q --live -o tty.zst -- '$B/samples/train' -n 50 >/dev/null" /dev/null >screen.out 2>&1
	check screen-has-a-table grep -q 'Calls/s.*Mean us.*Function' screen.out
else
	skip screen-has-a-table "needs script (bsdutils)"
fi

# ---- outputs that cannot be read while they are written ----
mkfifo pipe
cat pipe >/dev/null &
want pipe-is-refused 125 "$G" --print -o pipe true
says pipe-is-reported '--print reads the trace'
wait
