# GPU memory snapshots of PyTorch. torch_memory/make.py makes the files, and says what is in them: the figures here follow from it.
. "$SRC/tests/lib.sh"
X=$B/gtexport A=$B/gtanalyze S=$SRC/tests/cli/export/torch_memory
# rows TABLE REPORT FILE: the rows of a table, without its head
rows() { "$A" "$2" --format tsv "$3" 2>/dev/null | awk -v t="# $1" '/^# / { on = $0 == t; n = 0 } on && NF && ++n > 2'; }
tabs() { printf '%s\n' "$1" | tr ' ' '\t'; }

# GPU 0: 4 MiB and 1 MiB from before, which is freed first, 1000 bytes, 2 MiB for a time, later 512 bytes; GPU 1: 7777 bytes
F=$S/python.pickle
M=$((1 << 20))
all=$((4 * M + M + 1000 + 2 * M + 512 + 7777)) peak=$((4 * M + 1000 + 2 * M + 7777))
is kinds "$(tabs "pool 7 1 2 0 $all $((3 * M)) $peak $((all - 3 * M)) 4 0 0 0")" "$(rows memory memory "$F" | head -n 1)"
is devices "$((peak - 7777)) $((4 * M + 1000 + 512)) 7777 7777" "$("$A" memory --format tsv "$F" 2>want.err |
	awk -F '\t' '/^# / { on = $0 == "# memory_devices"; next } on && $4 == "pool" { printf "%s%s %s", s, $5, $7; s = " " }')"
"$A" memory --by stack --format tsv "$F" >stacks.tsv 2>want.err
check before-has-its-stack grep -q '4194304.*load (app/train.py:4) < <module> (app/train.py:9)' stacks.tsv
check peak-has-stacks grep -q '2097152.*backward (model/net.py:77) < <module> (app/train.py:9)' stacks.tsv
check peak-has-no-others sh -c '! grep -q 512 stacks.tsv'
is folded $peak "$("$X" --folded --stacks=memory "$F" | awk '{ s += $NF } END { print s }')"
want flame 0 "$X" --flame --stacks=memory -o flame.svg "$F"
check flame-has-frames grep -q 'backward (model/net.py:77)' flame.svg
want errors 0 "$A" errors "$F"
check errors-has-oom stdout_matches 'oom  *2 .* 1 '
is annotations '16000 40000 ProfilerStep#1;19000 17000 "## forward ##";' "$("$X" --csv "$F" | awk -F , '$3 == "span" { printf "%s %s %s;", $1, $2, $6 }')"
want header 0 "$A" header "$F"
check says-when stdout_has '2025-11-24T16:00:00Z; import torch-memory'
check says-before stdout_has '2 blocks were allocated before the first event of the snapshot and count from the start'
check says-nothing-of-host-memory stdout_lacks 'host memory'
want first-screen 0 "$A" "$F"
check first-screen-answers stdout_has 'Memory by kind'
check no-invented-calls stdout_lacks 'Kernel launches'
check no-invented-gpu stdout_lacks 'idle'
want gpu 4 "$A" gpu "$F"
check gpu-is-unknown stdout_has 'what GPUs did was not recorded'
want advice 4 "$A" advice "$F"
check advice-knows-allocations stdout_has 'clean: leak'
want metadata 0 "$A" metadata "$F"
check settings-are-kept stdout_has 'max_split_size_mb:64'
want view 0 "$B/gtview" --render 120x24 "$F"
check view-has-curves sh -c 'grep -q "live_pool_bytes .*6.0M" want.out && grep -q "reserved_bytes .*36M" want.out'

# Packed, from a pipe, and in gt's format: the same
"$A" memory --format tsv "$F" >plain.tsv 2>want.err
gzip -c "$F" >p.pickle.gz; zstd -qc "$F" >p.pickle.zst
for f in p.pickle.gz p.pickle.zst; do "$A" memory --format tsv $f >other.tsv 2>want.err; same "packed-$f" plain.tsv other.tsv; done
"$A" memory --format tsv - <"$F" >other.tsv 2>want.err; same piped plain.tsv other.tsv
"$X" --native -o native.zst "$F"
"$A" memory --format tsv native.zst >other.tsv 2>want.err; same native plain.tsv other.tsv

# Blocks without addresses follow each other; frames that record the stack are left out; without free_requested, free_completed frees.
F=$S/cpp.pickle
is cpp-kinds "$(tabs 'pool 3 0 1 0 2900 300 2900 2600 2 0 0 0')" "$(rows memory memory "$F" | head -n 1)"
"$A" memory --by stack --format tsv "$F" >stacks.tsv 2>want.err
check cpp-stacks grep -q 'at::native::empty_cuda.*(src/EmptyTensor.cpp:40) < main (src/serve.cpp:12)' stacks.tsv
check cpp-no-recording sh -c '! grep -qE "gather|unwind" stacks.tsv'

# No times, and blocks with a history
F=$S/old.pickle
is old-kinds "$(tabs 'pool 2 0 1 0 4100 100 4100 4000 1 0 0 0')" "$(rows memory memory "$F" | head -n 1)"
want old-header 0 "$A" header "$F"
check old-says-so stdout_has '3 events have no time and follow the event before by 1 ns'

# The recording ended before the snapshot: 50 bytes were freed later, and 300 bytes allocated
F=$S/later.pickle
is later-kinds "$(tabs 'pool 3 0 1 0 450 100 350 350 2 0 0 0')" "$(rows memory memory "$F" | head -n 1)"
want later-header 0 "$A" header "$F"
check says-allocated-later stdout_has '1 block was allocated after the last event of the snapshot'
check says-freed-later stdout_has '1 block was freed after the last event of the snapshot and counts as live at the end'
check says-host-memory stdout_has 'the snapshot has events of host memory, which are not read'

# Damaged and hostile files, with the output of gtexport and its exit status
for message in "$SRC"/tests/broken/pickle/*.message; do
	file=$(basename "$message" .message)
	cp "$SRC/tests/broken/pickle/$file" .
	status=0; "$X" --jsonl -o /dev/null "$file" 2>output || status=$?
	echo "status $status" >>output
	same "broken-$file" "$message" output
done
