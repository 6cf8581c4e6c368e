# What the library costs a launch where nobody is attached to its probes (gtcollect --probes-only), before anybody was and after all have
# left, against the same program without it. On the simulated GPU: ns a launch, the best of many tries.
export LD_LIBRARY_PATH="$B/sim"
prog=$B/guest/fake/probes
all='parcagpu:kernel_executed parcagpu:cuda_correlation'
up=$(for p in $all; do echo "up $p"; done) down=$(for p in $all; do echo "down $p"; done)
: >truth
for i in 1 2 3 4 5 6 7; do
	"$prog" ns 100 | sed -n 's/^ns/plain/p'
	SIM_CUPTI_TRUTH=$PWD/truth "$B/gtcollect" --probes-only -- "$prog" ns 100 $up fires parcagpu:cuda_correlation \
		$down quiet "$PWD/truth" ns 100 | sed -n 's/^ns//p' | paste -sd ' ' | sed 's/^/probes /'
done | awk '
	function least(k, v) { if (!(k in best) || v < best[k]) best[k] = v }
	$1 == "plain" { least("plain", $2) }
	$1 == "probes" { least("idle", $2); least("detached", $3) }
	END { printf "probes_idle_ns_per_launch %.1f ns\nprobes_detached_ns_per_launch %.1f ns\nprobes_plain_ns_per_launch %.1f ns\n", \
		best["idle"] - best["plain"], best["detached"] - best["plain"], best["plain"] }'
