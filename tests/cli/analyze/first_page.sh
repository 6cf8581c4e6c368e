# The default report of a trace with GPU work: a verdict on the steady steps, on one page.
. "$SRC/tests/lib.sh"
A=$B/gtanalyze R=$SRC/samples/recorded
unset COLUMNS
# cell TABLE KEY COLUMN FILE: the value in the row whose `key` or `rule` is KEY; "" selects the only row
cell() { jq -r --arg k "$2" ".\"$1\".rows[] | select(\$k == \"\" or .key == \$k or .rule == \$k) | .$3" "$4"; }

# ---- the page describes the steady steps, not the start-up ----
"$A" --format json "$R/h200x2-nccl.zst" >nccl.json
is nccl-communication-of-steps 38.82 "$(cell budget communication share_percent nccl.json)"
is nccl-communication-of-run 0.83 "$(cell whole_run.budget communication share_percent nccl.json)"
is nccl-is-found found "$(cell advice exposed-communication state nccl.json)"
is nccl-was-clean clean "$(cell whole_run.advice exposed-communication state nccl.json)"
is nccl-late-gpu found "$(cell advice unbalanced-gpus state nccl.json)"
want nccl 0 "$A" "$R/h200x2-nccl.zst"
check nccl-names-both-gpus stdout_matches '^  2 x NVIDIA H200, '
check nccl-has-no-losses stdout_matches '; no losses$'
check nccl-gpus-differ stdout_matches '^The 2 GPUs are busy 20 % to 90 % of the 44 steady steps (median 2.175 ms)\.'
want nccl-gate-of-steps 3 "$A" --fail-if 'budget.share[communication] > 20%' "$R/h200x2-nccl.zst"
want nccl-gate-of-run 0 "$A" --whole-run --fail-if 'budget.share[communication] > 20%' "$R/h200x2-nccl.zst"

"$A" --format json "$R/h200-train.zst" >train.json
is train-steps 217 "$(cell steady "" steady train.json)"
is train-busy "32.56 2.61" "$(cell verdict "" busy_percent train.json) $(cell whole_run.verdict "" busy_percent train.json)"
is train-largest-loss host-bound "$(cell verdict "" rule train.json)"
want train 0 "$A" "$R/h200-train.zst"
check train-says-what-is-shown stdout_matches '^Shown: the 217 steady steps (of 219, by repetition): 577.2 ms of 8.922 s, from 7.357 s on; --whole-run: all$'
check train-start-up stdout_matches '^  start-up  *0.000000000  *6.869 s '
check train-tail stdout_matches '^  after the last GPU operation  *7.936484355  *985.4 ms '
check train-has-no-summary stdout_lacks 'TRACE SUMMARY'
check train-finding-has-a-command stdout_matches "^     see: gtview --at 7.788557s+742us $R/h200-train.zst"
check train-finding-has-a-place stdout_matches '(step 160, thread 523)$'
want train-command 0 sh -c "'$B/'$(sed -n '/^     see: /{s///;s/  (.*//;p;}' want.out | head -n 1) --render 80x24"
want train-whole 0 "$A" --whole-run "$R/h200-train.zst"
check train-whole-begins-early stdout_matches '^  all  *7.480 s'
check train-whole-has-no-line stdout_lacks '^Shown: '
want train-from 0 "$A" --from 7.5s "$R/h200-train.zst"
check train-from-is-what-was-asked stdout_matches '^  all  *436.5 ms'

# --from and --to of the steady steps give the same figures as the page.
for f in h200-train h200-inference h200-graphs h200-streams h200x2-nccl; do
	"$A" --format json "$R/$f.zst" >page.json
	# the range is that of the longest loop, the one with the most operations
	range=$(jq -r '[.steady.rows[] | select(.steady > 0)] | max_by(.duration_ns) | "--from \(.from_ns)ns --to \(.from_ns + .duration_ns)ns"' page.json)
	"$A" --format json $range budget kernels "$R/$f.zst" | jq '.budget.rows, .kernels.rows' >asked.json
	"$A" --format json --steady budget kernels "$R/$f.zst" | jq '.budget.rows, .kernels.rows' >steady.json
	jq '.budget.rows' page.json >page
	jq -s '.[0]' asked.json >budget
	same $f-page-is-its-range page budget
	same $f-steady-is-its-range steady.json asked.json
done

# ---- the page of the steady steps has a note on calls outside of them that have no end ----
{ "$B/gtexport" --jsonl -o - "$R/h200-nvtx.zst"
  for id in 1 2; do echo '{"ts":5.056,"op_id":9000000,"phase":"B","name":"cuInit","pid":678,"tid":678,"details":{}}'; done; } >unended.jsonl
want unended 0 "$A" unended.jsonl
check unended-has-steady-steps stdout_matches '^Shown: the 18 steady steps (of 20, '
check unmatched-has-its-name stdout_matches 'UNMATCHED: 1 event has a begin but no end; .* cuInit (1))$'

# ---- recordings without steps ----
# one kernel
printf '{"traceEvents":[{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":9,"args":{"device":0,"stream":7,"correlation":1}}]}' >one.json
want none 0 "$A" one.json
check none-gives-the-reason stdout_matches '^Shown: the whole run, because it has no steady steps: no operation occurs more than three times$'
want none-asked 4 "$A" --steady budget one.json
check none-asked-gives-the-reason grep -q 'there are no steady steps: no operation occurs' want.err
want both-refused 2 "$A" --steady --whole-run "$R/h200-train.zst"

# ---- every rule gives an answer; the size of a leak is in bytes ----
is rules-answer 21 "$(jq '[.advice.rows[] | select(.state != "cannot answer" or .rule == "throttled-clocks" or .rule == "off-processor")] | length' train.json)"
env LD_LIBRARY_PATH="$B/sim" "$B/gtcollect" -q -f -o leak.zst -- "$B/samples/leak" >/dev/null
"$A" --format json leak.zst >leak.json
is leak-has-bytes true "$(jq '.advice.rows[] | select(.rule == "leak") | .bytes >= 90 * 1048576 and .gain_ns == null' leak.json)"
want leak 3 "$A" advice leak.zst
check leak-is-not-0-ns stdout_lacks 'leak): up to'
check leak-says-bytes stdout_matches '(leak): .* MiB$'

# ---- waits during migrations of managed memory ----
# (the advice depends on how long the program waited, which differs between machines)
env LD_LIBRARY_PATH="$B/sim" "$B/gtcollect" -q -f -e gpu,um -o managed.zst -- "$B/samples/managed" >/dev/null
"$A" --format json --whole-run advice top managed.zst >managed.json
is managed-remedy "$(jq -r '([.top.rows[] | select(.operation | test("^migration|GPU page fault")) | .total_ns] | add) as $migrated |
	(.advice.rows[] | select(.rule == "sync-in-loop")) as $rule | $rule.cost_ns as $waited |
	if $migrated < ($waited / 4 | floor) and $rule.duration_ns >= $waited - ($waited / 2 | floor) then "look at this moment first"
	elif $migrated < ($waited / 4 | floor) then "synchronise later, on an event, or not at all"
	else "keep managed memory where it is used (cudaMemPrefetchAsync), or copy it" end' managed.json)" "$(cell advice sync-in-loop remedy managed.json)"

# ---- diff ----
want diff-steps 0 "$A" diff "$R/h200-inference.zst" "$R/h200-train.zst"
check diff-leads-with-steps stdout_matches '^  python3 / 0  slower  *2.331 ms  *2.645 ms  *+13.45 '
want diff-gate 3 "$A" --fail-if 'steady.p50_ns > +5%' diff "$R/h200-inference.zst" "$R/h200-train.zst"
want diff-whole 0 "$A" --whole-run diff "$R/h200-train.zst" "$R/h200-inference.zst"
check diff-whole-has-no-steps stdout_lacks '^Median step'
# one file has no steps, so whole runs are compared
want diff-none 0 "$A" diff "$R/h200-train.zst" one.json
check diff-none-has-no-steps stdout_lacks '^Median step'

# ---- the report fits on one page ----
if command -v script >/dev/null; then
	for f in h200-train h200-inference h200-graphs h200-streams h200-nvtx; do
		cp "$R/$f.zst" .
		script -qec "stty cols 80; PAGER=cat TERM=xterm '$A' --color never $f.zst" /dev/null </dev/null | tr -d '\r' >page
		is $f-page-fits "" "$(awk 'length > 80' page | head -n 3)"
		check $f-page-is-a-page test "$(wc -l <page)" -le 72
	done
else
	skip page-fits "no script(1) that gives a terminal"
fi

# ---- phases: the time before the first CUDA call ----
env LD_LIBRARY_PATH="$B/sim" "$B/gtcollect" -q -f -o slow.zst -- sh -c 'sleep 0.1; exec "$0"' "$B/samples/train" >/dev/null
"$A" --format json phases slow.zst >slow.json
is before-cuda true "$(jq '[.phases.rows[] | select(.key == "before_cuda")][0] | .duration_ns >= 100000000 and .from_ns == -.duration_ns' slow.json)"
is phases-are-the-run true "$(jq '.header.rows[0].recorded_ns as $all | [.phases.rows[] | select(.from_ns != null) | .duration_ns] | add | . <= $all and . > 0.9 * $all' slow.json)"

# ---- gates use whole tables in every format; several files exit with the worst status ----
for format in text json; do
	want gate-of-$format 3 "$A" --format $format --fail-if 'exposed.exposed_ns > 1ns' "$R/h200-train.zst"
done
echo nonsense >damaged.zst
want worst-status 1 "$A" --per-rank --steady budget damaged.zst one.json
want steady-is-a-restriction 0 "$A" --steady kernels "$R/h200-train.zst"
check steady-is-reported stdout_matches '(restricted by --steady'

# ---- file names in example commands are quoted ----
cp "$R/h200-streams.zst" "it's \$a.zst"
want quoted 0 "$A" "it's \$a.zst"
want quoted-runs 0 sh -c "'$B/'$(sed -n '/^     see: /{s///;s/  (.*//;p;}' want.out | head -n 1) --render 60x6"

# ---- a selected time range has no phases ----
want phases-of-a-part 4 "$A" --from 7.4s --to 7.7s phases "$R/h200-train.zst"
check phases-of-a-part-say-why stdout_matches 'cannot answer: phases are those of the whole run'
want page-of-a-part 0 "$A" --from 7.4s --to 7.7s "$R/h200-train.zst"
check page-of-a-part-has-no-phases stdout_lacks 'Start-up and tail'

# ---- a verdict when no rule finds anything, and one about a loss in one event ----
env LD_LIBRARY_PATH="$B/sim" "$B/gtcollect" -q -f -o overlap.zst -- "$B/samples/overlap" >/dev/null
"$A" --format json --whole-run advice budget overlap.zst >overlap.json
is verdict-names-exposed-copies true "$(jq '(.budget.rows[] | select(.key == "copies").share_percent >= 5.01) as $exposed |
	(.verdict.rows[0] | .rule != null or ((.text | contains("nothing overlaps")) or ($exposed | not)))' overlap.json)"
