# The library's cost per launch while no tracer is attached to its probes (gtcollect --probes-only):
# before the first attach, and after the last detach. The aim is 50 ns; two equal processes differ
# by more. So each figure is a difference within one process (see tests/gpu/launch_ways.c): the
# median of RUNS (9) processes, and with _low and _high the 95 % interval of that median. On the
# simulated GPU; or on a real one: REAL=1 B=FOLDER SRC=. sh tests/bench/probes.sh, where FOLDER has
# gtcollect. A run takes about 10 s.
#	idle, detached	a launch before the first attach, and one second after the last detach, less
#			one before the library was loaded (the program loads it as a driver would)
#	attached	the same while a tracer is attached: CUPTI records
#	nothing		control: no library is loaded and no tracer attaches; before and after the pause
#	way		with gtcollect --probes-only, and with CUDA_INJECTION64_PATH set by hand: a
#			launch by the function that the program finds, less one by the driver's own;
#			both must be the same function, or the bench fails
#	left		with the same two: a launch after a detach less one before the attach
# REAL pins the processes; the threads of the simulated GPU would share the pinned processor
[ -n "$REAL" ] && pace='-p 4 -b 1' || export LD_LIBRARY_PATH="$B/sim" pace=
export GT_DEBUG=1
lib=$(ls "$B/libgtpreload.so" "$B/../lib/gt/libgtpreload.so" 2>/dev/null | head -n 1)
${CC:-cc} -O2 -I"$SRC" "$SRC/tests/gpu/launch_ways.c" -ldl -lm -pthread -o ways || exit 1
ways() { timeout 120 "$@" ./ways -n "${ROUNDS:-100}" -a "${AWAY_MS:-1000}" $load $pace bare calls; }
one() {	# one MODE RUN
	load= by=env
	case $1 in
	loaded) load="-l $lib" ;;
	nothing) load="-l -" ;;
	only) by="$B/gtcollect --probes-only --"; [ $(($2 % 2)) = 0 ] || by="env CUDA_INJECTION64_PATH=$(readlink -f "$lib")" ;;
	esac
	ways $by 2>debug || cat debug >&2
	case $1 in
	loaded|only) grep -q 'CUPTI has ended: *1' debug || echo "CUPTI was not ended: $(tail -n 1 debug)" >&2 ;;
	esac
}
for run in $(seq "${RUNS:-9}"); do
	for mode in loaded nothing only; do one $mode $run | sed "s/^/$mode /"; done
done >raw 2>errors
cat errors >&2
awk '
	BEGIN {
		n = split("idle loaded bare@before change,detached loaded bare@after change,attached loaded bare@attached change," \
			  "nothing_idle nothing bare@before change,nothing_detached nothing bare@after change,plain loaded bare@without ns," \
			  "way_idle only calls@before more,way_detached only calls@after more,left only bare@after change", row, ",")
		for (i = 1; i <= n; i++) {
			split(row[i], f, " ")
			name[f[2], f[3], f[4]] = f[1]
			order[i] = f[1]
		}
	}
	$1 == "only" && $4 == "own" && !$5 { print "the function is not the driver\047s own" >"/dev/stderr"; bad = 1 }
	($1, $3, $4) in name { k = name[$1, $3, $4]; v[k, ++m[k]] = $5 }
	function sort(k, i, j, t) {
		for (i = 2; i <= m[k]; i++)
			for (j = i; j > 1 && v[k, j - 1] > v[k, j]; j--) { t = v[k, j]; v[k, j] = v[k, j - 1]; v[k, j - 1] = t }
	}
	function at(k, i) { return v[k, i < 1 ? 1 : i > m[k] ? m[k] : i] }
	END {
		for (i = 1; i <= n; i++) {
			k = order[i]
			if (!m[k])
				continue
			sort(k)
			middle = int(m[k] / 2) + 1
			reach = int(0.98 * sqrt(m[k])) + 1
			printf "probes_%s_ns_per_launch %.1f ns\n", k, at(k, middle)
			printf "probes_%s_ns_per_launch_low %.1f ns\nprobes_%s_ns_per_launch_high %.1f ns\n", k, at(k, middle - reach), k, at(k, middle + reach)
		}
		exit bad
	}' raw && [ ! -s errors ]
