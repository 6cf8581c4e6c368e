# Steps and overlaps of real recordings and of a simulated program. The programs mark their steps. The last step has no successor that
# ends it, so it is not counted.
. "$SRC/tests/lib.sh"
A=$B/gtanalyze R=$SRC/samples/recorded

# column FILE REPORT TABLE KEY: the values of this column in one line
column() {
	"$A" "$2" --top 0 --format tsv "$1" 2>/dev/null | awk -F '\t' -v table="# $3" -v key="$4" '
		/^# / { on = $0 == table; c = 0; next }
		on && !c { for (i = 1; i <= NF; i++) if ($i == key) c = i; next }
		on && NF { print $c }' | tr '\n' ' ' | sed 's/ $//'
}
different() { echo "$*" | tr ' ' '\n' | sort -n | uniq -c | awk '{ print $1 "x" $2 }' | tr '\n' ' ' | sed 's/ $//'; }

is train-steps 219 "$(column $R/h200-train.zst steps steps steps)"
is train-warm-up 2 "$(column $R/h200-train.zst steps steps warm_up)"
is train-kernels '218x68 1x100' "$(different $(column $R/h200-train.zst steps step_list kernels))"
is train-reads-its-loss '209x2 10x3' "$(different $(column $R/h200-train.zst steps step_list copies))"
is train-sequences '208x1 10x2 1x3' "$(different $(column $R/h200-train.zst steps step_list sequence))"
is train-begins 'memcpy HtoD (pinned -> device)' "$(column $R/h200-train.zst steps steps anchor)"
is requests 39 "$(column $R/h200-inference.zst steps steps steps)"
is requests-of-eight-lengths '5x1 5x2 5x3 5x4 5x5 5x6 5x7 4x8' "$(different $(column $R/h200-inference.zst steps step_list sequence))"
# The same steps found without the program's marks: each begins within its mark, and the last one is incomplete.
want unmarked 0 "$B/gtexport" --native -o unmarked.zst --exclude @user "$R/h200-nvtx.zst"
is marked-steps 'marks 20' "$(column $R/h200-nvtx.zst steps steps found_by) $(column $R/h200-nvtx.zst steps steps steps)"
is unmarked-steps 'sequence 19' "$(column unmarked.zst steps steps found_by) $(column unmarked.zst steps steps steps)"
step_starts() { "$A" steps --format json "$1" | jq -r '.step_list.rows[].start_ns'; }
step_starts "$R/h200-nvtx.zst" >marked; step_starts unmarked.zst >found
is unmarked-in-marks 19 "$(paste marked found | awk 'NF == 2 && $2 >= $1 { n += !before || before <= $1; before = $2 } END { print n }')"
is graphs-steps 99 "$(column $R/h200-graphs.zst steps steps steps)"
is graphs-kernels 99x78 "$(different $(column $R/h200-graphs.zst steps step_list kernels))"
is nccl-steps '49 49' "$(column $R/h200x2-nccl.zst steps steps steps)"
is nccl-hidden ' 0.03 3.57  7.13 6.37  6.71 4.98' "$(column $R/h200x2-nccl.zst overlap overlap hidden_percent)"
# GPU 0 is late: GPU 1 waits for it during 68 of the 73 ms of its communication.
want nccl-late 3 "$A" advice --from 9.61s --to 9.70s "$R/h200x2-nccl.zst"
check nccl-late-names-it sh -c 'tr -s "\n " " " <want.out | grep -qF "GPU 0 of process 708 arrives last at 80 of 80 collectives, 849.1 us after the first on average: the others wait 67.93 ms for it"'
is nccl-waits '0 83.360888' "$(column $R/h200x2-nccl.zst collectives collectives wait_ns | awk '{ print $1 / 1e6, $2 / 1e6 }' OFMT=%.6f)"
want calls-alone 4 $A steps "$R/h200-mlp-calls.zst"
check calls-alone-cannot grep -q 'cannot answer: what GPUs did was not recorded' want.out

want record 0 env LD_LIBRARY_PATH="$B/sim" "$B/gtcollect" -f -o sim.zst -- "$B/samples/train" -n 60
is sim-steps 59 "$(column sim.zst steps steps steps)"
is sim-kernels 59x16 "$(different $(column sim.zst steps step_list kernels))"
is sim-copies '53x1 6x2' "$(different $(column sim.zst steps step_list copies))"
is sim-calls '53x18 6x20' "$(different $(column sim.zst steps step_list calls))"
