# Recordings of a real GPU (samples/recorded). Each figure here was counted when the recording was made, or follows from the definition
# of the format. So reader, reports and exporters are also tested with real data.
. "$SRC/tests/lib.sh"
A=$B/gtanalyze E=$B/gtexport R=$SRC/samples/recorded
unset LC_ALL

number() { tr -d ' ' <want.out | sed -n 's/.*"'"$1"'":\([0-9-]*\).*/\1/p' | head -n 1; }	# number KEY: the first value of that key in the JSON

for f in h200-train h200-inference h200-graphs h200-streams h200-nvtx h200x2-nccl h200-mlp-calls; do
	check $f-is-zstd zstd -tq "$R/$f.zst"
	check $f-is-small test "$(wc -c <"$R/$f.zst")" -le 1048576
	want $f-header 0 $A header --format json "$R/$f.zst"
	is $f-lost-nothing 0 "$(number lost)"
	is $f-left-nothing-open 0 "$(number open)"
	rows=$(($(number calls) + $(number gpu_operations) + $(number spans)))
	want $f-all-reports 0 $A "$R/$f.zst"
	want $f-chrome 0 $E --chrome -f -o $f.json "$R/$f.zst"
	is $f-chrome-has-every-row "$rows" "$(grep -c '"ph":"X"' $f.json)"
	# The parts of the critical path add up to the window of each process, and --without nothing gains nothing.
	$A critical --format json --without nothing "$R/$f.zst" | tr -d ' ' >$f.critical
	is $f-critical-adds-up "" "$(awk -F '[:,]' '/"kind":.*"window_ns":/ { for (i = 1; i < NF; i++) { if ($i == "{\"pid\"") p = $(i + 1)
		if ($i == "\"on_path_ns\"") n[p] += $(i + 1); if ($i == "\"window_ns\"") w[p] = $(i + 1) } }
		END { for (p in w) if (n[p] != w[p] || !w[p]) print p, n[p], w[p] }' $f.critical)"
	is $f-critical-without-nothing "" "$(grep -o '"gain_ns":[1-9][0-9]*' $f.critical)"
	want $f-folded 0 $E --folded --cost count -f -o $f.folded "$R/$f.zst"
	is $f-folded-counts-every-row "$rows" "$(awk '{ n += $NF } END { print n }' $f.folded)"
	want $f-again 0 $E --native -f -o $f.again.zst "$R/$f.zst"
	$A --format csv top --top 0 "$R/$f.zst" >$f.top
	$A --format csv top --top 0 $f.again.zst >$f.again.top
	same $f-copy-says-the-same $f.top $f.again.top
done

# A short name means the same kernel in all reports.
meanings() { awk -F '\t' '/^$/ { exit } !/^#/ && n++ { print $1 "\t" $NF }' | sort -u; }
$A --format tsv kernels "$R/h200-train.zst" 2>/dev/null | meanings >kernels.meanings
$A --format tsv launches "$R/h200-train.zst" 2>/dev/null | meanings | grep -v memcpy | grep -v memset >launches.meanings
is names-mean-the-same "" "$(comm -13 kernels.meanings launches.meanings)"
is names-are-some 1 "$(($(grep -c elementwise_kernel launches.meanings) > 3))"
is names-mean-one-kernel-each "" "$(cut -f1 kernels.meanings | sort | uniq -d)"

want train 0 $A summary --format json "$R/h200-train.zst"
is train-calls 234236 "$(number api_calls)"
is train-launches 14992 "$(number kernel_launches)"
is train-allocated 453249028 "$(number allocated_bytes)"
is train-ioctls 633 "$(number ioctl_calls)"
is train-launches-have-names 14992 "$($A launches --top 0 --format json "$R/h200-train.zst" | sed -n '/^  "launch_times": {$/,/^  }/s/.*"launches": \([0-9]*\).*"name": "[^"].*/\1/p' | awk '{ n += $1 } END { print n }')"
is train-kernels-differ "" "$($A launches --top 0 --format json "$R/h200-train.zst" | sed -n 's/.*"kernel": "\([^"]*\)".*/\1/p' | sort | uniq -d)"
want inference 0 $A summary --format json "$R/h200-inference.zst"
is inference-calls 64240 "$(number api_calls)"
is inference-launches 2352 "$(number kernel_launches)"
want calls 0 $A summary --format json "$R/h200-mlp-calls.zst"
is calls-calls 150213 "$(number api_calls)"
is calls-launches 12383 "$(number kernel_launches)"

# unnecessary waits: waits for a stream without pending work; the expected numbers are from a separate script
waits() { $A sync --format csv "$R/h200-streams.zst" 2>/dev/null | awk -F, '$6 == "'"$1"'" { print $7, $13 }'; }
is waits-stream-14 '25 25' "$(waits 'stream 14')"
is waits-stream-15 '26 25' "$(waits 'stream 15')"
is waits-stream-16 '25 2' "$(waits 'stream 16')"
is waits-stream-17 '1 1' "$(waits 'stream 17')"
is driver-calls "$(($($A driver --format csv "$R/h200-train.zst" 2>/dev/null | awk -F, '$2 ~ /^[0-9]+$/ && NF == 7 { print $5 + $6; exit }')))" \
	"$($A ioctls --format csv "$R/h200-train.zst" | awk -F, 'NR > 1 { n += $3 } END { print n }')"

# The list of calls has a limit, and the report gives the number of calls that it leaves out.
want timeline 0 $A timeline --top 0 "$R/h200-train.zst"
check timeline-says-what-it-left-out grep -q '134987 .*left out' want.out

# GPU work as torch.profiler counted it in other runs of the same programs, or as the program prints it
gpu() {	# gpu FILE: numbers of kernels, copies, sets and exact joins
	$A metadata --format json "$R/$1.zst" | tr -d ' "\n' | tr '}' '\n' | sed -n 's/.*key:gpu_\([a-z_]*\),value:\([0-9]*\).*/\1 \2/p' |
		awk '{ v[$1] = $2 } END { print v["kernels"], v["copies"], v["sets"], v["joined_exact"] }'
}
is gpu-train '14992 466 220 15678' "$(gpu h200-train)"
is gpu-inference '2352 152 272 2776' "$(gpu h200-inference)"
is gpu-graphs '8037 220 824 9081' "$(gpu h200-graphs)"
is gpu-streams '4300 3050 1550 8900' "$(gpu h200-streams)"
is gpu-nccl '4434 1250 296 5980' "$(gpu h200x2-nccl)"
is nccl-all-reduces 218 "$($A kernels --top 0 --format csv "$R/h200x2-nccl.zst" | awk -F, '/^ncclDevKernel_AllReduce/ { print $2 }' | head -n 1)"
is nccl-annotates-itself 218 "$($A nvtx_sum --format csv "$R/h200x2-nccl.zst" 2>/dev/null | awk -F, '$9 == "ncclAllReduce" { print $3 }')"
# Marks of the program: 20 steps of 3 parts each, 20 ranges over two steps, 20 marks. PyTorch names its operators in the last 5 steps.
ranges() { $A nvtx_sum --top 0 --format csv "$R/h200-nvtx.zst" 2>/dev/null | awk -F, "$1 { n += \$3 } END { print n + 0 }"; }
is gpu-nvtx '581 28 0 609' "$(gpu h200-nvtx)"
is nvtx-torch-steps 20 "$(ranges '$9 ~ /^step [0-9]+$/')"
is nvtx-torch-parts 60 "$(ranges '$9 == "forward" || $9 == "backward" || $9 == "optimizer"')"
is nvtx-torch-across 20 "$(ranges '$9 == "across"')"
is nvtx-torch-marks 20 "$($E --jsonl -o - "$R/h200-nvtx.zst" | grep -c '"name":"stepped"')"
is nvtx-torch-operators 20 "$(ranges '/aten::linear, seq = [0-9]+, op_id = [0-9]+/')"
is nvtx-torch-steps-are-steps 'marks 20' "$($A steps --format csv "$R/h200-nvtx.zst" 2>/dev/null | awk -F, '$4 == "marks" { print $4, $5 }')"
is nccl-devices 2 "$($A gpu --format csv "$R/h200x2-nccl.zst" | grep -c ',[01],NVIDIA H200,')"
is graphs-nodes-have-their-creation '7800 7800' "$($E --chrome -o - "$R/h200-graphs.zst" | awk '/"cat":"kernel"/ && /"graph node id"/ { n++; made += /"created_by":"cuLaunchKernel/ } END { print n, made }')"

# A loop that waits for Python: the page names the line, and the parts of the idle time add up to it.
want decode 0 $A "$R/h200-decode.zst"
check decode-names-the-line stdout_has 'in forbidden_by_search (record/decode.py:36)'
$A host --steady --format tsv "$R/h200-decode.zst" 2>/dev/null >decode.tsv
is decode-line-has-most yes "$(awk -F '\t' 'NR == 3 { print ($1 == "forbidden_by_search (record/decode.py:36)" && $3 > 75 && $3 < 88 && $5 > 300) ? "yes" : $0 }' decode.tsv)"
is decode-parts-add-up 0 "$($A budget --format tsv "$R/h200-decode.zst" 2>/dev/null | awk -F '\t' '/^$/ { exit } $6 == 1 { n += $2 } $5 == "idle" { n -= $2 } END { print n }')"
