# The cost of CUDA events per launch on the simulated driver, whose own launch takes about 150 ns.
# Prints the additional ns compared to -e gpu --gpu-timing off, which records the call and no GPU
# work, for each source of GPU times. Medians of single launches, and of five rounds. On a real
# driver each of the four event calls costs more: tests/gpu/events_truth.sh measures that.
${CC:-cc} -O2 -I"$SRC" "$SRC/tests/gpu/launch_cost.c" -ldl -pthread -o launches || exit 1
export LD_LIBRARY_PATH="$B/sim"
cost() { "$B/gtcollect" -q -f -e api,gpu --gpu-timing "$1" -o t.zst -- ./launches -n 8 | awk '$1 == "launch_1t_median" { print $2 }'; }
for round in 1 2 3 4 5; do
	off=$(cost off) again=$(cost off)
	for how in cupti events; do
		cost $how | awk -v how=$how -v off="$off" '{ print how, $1 - off }'
	done
	echo "off $(awk -v a="$again" -v b="$off" 'BEGIN { print a - b }')"
done >all
for how in off cupti events; do
	awk -v how=$how '$1 == how { print $2 }' all | sort -n | awk -v how=$how '{ v[NR] = $1 } END { printf "launch_%s_more_ns %.0f ns\n", how, v[int((NR + 1) / 2)] }'
done
