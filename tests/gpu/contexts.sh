#!/bin/bash
# contexts.sh PORTABLE-TARBALL OUT: two contexts of a program on one GPU (samples/two_contexts.c),
# by CUPTI and by CUDA events. Each must have the kernels, copies and sets that the program
# submitted to it, in two streams. In a program with one context no context may be shown. Leaves
# OUT/contexts.txt, with a frame of gtview, and the traces. SIMULATED=FOLDER: uses the simulated
# driver there, to test this script.
out=$2 W=/tmp/gt-contexts
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p /tmp/gt "$W" "$out" && tar -C /tmp/gt -xzf "$1" && export PATH=/tmp/gt/gt-portable-$(uname -m)/bin:$PATH
gcc -O2 -I"$here/../.." "$here/../../samples/two_contexts.c" -ldl -o "$W/contexts" || exit 1
. "$here/clients.sh"
build_client "$W" >/dev/null 2>&1	# finds CUPTI for $cupti
[ -z "$SIMULATED" ] || export LD_LIBRARY_PATH=$SIMULATED
exec > >(tee "$out/contexts.txt") 2>&1
teeing=$!
broken=

# lanes TRACE: the lanes below the GPU, except copies and counters
lanes() { gtview --render 120x40 "$1" | sed -n 's/^[^A-Za-z]*\(context [0-9]*\|stream [0-9]*\) .*│.*/\1/p' | paste -sd ,; }

# by_context TRACE: "KERNELS COPIES SETS STREAMS" of each context, from the streams' names
by_context() {
	gtanalyze --format csv --top 0 streams "$1" 2>/dev/null | awk -F, 'NR > 1 && $4 != "" { c = $5; sub(/.* of context /, "", c); if (c == $5) c = "-"
		k[c] += $6; o[c] += $7; s[c] += $8; n[c]++ } END { for (c in k) print k[c], o[c], s[c], n[c] }' | sort | paste -sd ,
}

look() {	# look HOW CONTEXTS WANTED-BY-CONTEXT
	trace=$out/contexts-$1-$2.zst
	gtcollect -q -f ${cupti:-} -e api,ioctl,gpu --gpu-timing "$1" -o "$trace" -- "$W/contexts" -c "$2" >"$W/output" 2>&1 || { tail -n 3 "$W/output"; broken="$broken $1-$2"; return; }
	echo "== $1, $2 contexts"
	cat "$W/output"
	got=$(by_context "$trace") lanes=$(lanes "$trace")
	echo "by context: $got"
	echo "lanes: $lanes"
	gtanalyze --top 0 streams "$trace" | tail -n +6
	gtview --render 120x24 "$trace"
	[ "$got" = "$3" ] || { echo "not $3  !"; broken="$broken $1-$2-counts"; }
	[ "$(grep -o 'context' <<<"$lanes" | wc -l)" = $(($2 > 1 ? $2 : 0)) ] || { echo "not $2 contexts in gtview  !"; broken="$broken $1-$2-lanes"; }
}

for how in cupti events; do
	look $how 1 '150 50 50 2'
	look $how 2 '150 50 50 2,150 50 50 2'
done
echo "contexts: ${broken:-no errors}"
exec >&- 2>&-
wait $teeing
[ -z "$broken" ]
