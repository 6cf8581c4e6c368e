#!/bin/sh
# make demo: records a program, reads and exports the trace. B is the build folder.
set -e
B=${B:?the build folder} out=$B/demo
for p in gtcollect gtanalyze gtexport samples/train; do
	[ -x "$B/$p" ] || { echo "make demo needs $B/$p, which is not built" >&2; exit 1; }
done
mkdir -p "$out"
if [ -e /dev/nvidiactl ]; then
	echo "== This machine has an NVIDIA GPU: the demo records the real driver."
else
	echo "== No NVIDIA GPU here: the demo records a SIMULATED one (samples/simgpu)."
	echo "== Its times come from a cost model."
	LD_LIBRARY_PATH=$(cd "$B/sim" && pwd)${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
	export LD_LIBRARY_PATH
fi
say() { echo; echo "\$ $*"; "$@"; }
say "$B/gtcollect" -f -o "$out/train.zst" -- "$B/samples/train"
say "$B/gtanalyze" "$out/train.zst"
if [ -x "$B/gtview" ]; then
	say "$B/gtview" --render 110x20 "$out/train.zst"
else
	echo "== gtview is not built: it needs ncurses"
fi
say "$B/gtexport" --chrome -f -o "$out/train.json" "$out/train.zst"
say "$B/gtexport" --flame -f -o "$out/train.svg" "$out/train.zst"
echo && wc -c "$out"/train.*
cat <<END

== Next steps
  Open $out/train.json in https://ui.perfetto.dev or chrome://tracing:
                                         a timeline of all calls, ioctls and GPU work
  Open $out/train.svg in a browser: a flame graph
  $B/gtview $out/train.zst               the timeline, in this terminal;
                                         with --follow during a recording
  $B/gtanalyze --list                      list the reports
  $B/gtanalyze kernels copies streams $out/train.zst
  $B/gtanalyze --format json $out/train.zst
  $B/gtcollect -- YOUR PROGRAM             record your own
END
