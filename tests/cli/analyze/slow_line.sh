# What slow steps did differently, by line: a program of Python on the simulated GPU, in which every eleventh step spends 50 ms more
# in one line.
. "$SRC/tests/lib.sh"
A=$B/gtanalyze py=$SRC/tests/cli/analyze/slow_line.py
python=$(command -v /usr/bin/python3 || command -v python3 || :)
if ! "$B/gtcollect" --doctor | grep -q '^ok *samples ' || [ -z "$python" ]; then
	skip slow-line "the kernel refuses perf events, or there is no python3"
	exit
fi
slow="load_batch (analyze/slow_line.py:$(grep -n '# slow$' "$py" | cut -d : -f 1))"

# on a busy machine other steps may be as slow, and for other reasons: the program is recorded again
for again in 1 2 3; do
	env LD_LIBRARY_PATH="$B/sim" "$B/gtcollect" -q -f -e api,gpu,sched,samples --sample-rate 997 -o t.zst -- "$python" "$py" >out 2>&1
	"$A" --steady --format json advice t.zst 2>/dev/null | tr -d '\n' >advice.json
	"$A" host --by step t.zst >steps.txt 2>/dev/null
	if grep -q "\"slow_line\": *\"load_batch" advice.json && grep " slow$" steps.txt | head -n 3 | grep -qF "$slow"; then break; fi
done
check the-verdict-names-the-line grep -qF "\"$slow\"" advice.json
want steps 0 "$A" --format json steps t.zst
check slow-steps-name-the-line sh -c 'tr -d "\n" <want.out | grep -qF "$0"' "$slow"
want by-step 0 "$A" host --by step t.zst
check slow-steps-are-first sh -c 'grep " slow$" want.out | head -n 3 | grep -qF "$0"' "$slow"
