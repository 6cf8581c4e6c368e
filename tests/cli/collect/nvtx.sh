# Annotations of the program (NVTX): all kinds are recorded with their attributes, in order with the calls; --range nvtx:NAME.
. "$SRC/tests/lib.sh"
C=$B/gtcollect X=$B/gtexport A=$B/gtanalyze prog=$B/guest/fake/nvtx
on_sim() { LD_LIBRARY_PATH=$B/sim "$@"; }
rows() { "$X" --jsonl -f -o - "$1" 2>/dev/null | sed -E 's/"ts":[0-9.]*,//; s/"(pid|tid)":[0-9]*,?//g; s/"(kind|layer|category|track|duration_us|depth)":("[a-z]*"|[0-9.]+),?//g; s/,\}/}/'; }

want record 0 on_sim "$C" -q -f -e api,nvtx -o t.zst -- "$prog"
rows t.zst >all
only() { grep "\"name\":\"$1\"" all; }
is push-before-any-call '{"op_id":0,"phase":"B","name":"before cuda"}' "$(head -n 1 all)"
is order 'before cuda B cuInit B cuInit E before cuda E cuCtxGetCurrent B cuCtxGetCurrent E registered B weit ä€😀 B cuCtxGetCurrent B cuCtxGetCurrent E mark  weit ä€😀 E registered E' \
	"$(sed -E 's/.*"phase":"(.)".*"name":"([^"]*)".*/\2 \1/; t; s/.*"name":"([^"]*)".*/\1 /' all | head -n 13 | paste -sd ' ')"
is attributes '"details":{"domain":"my domain","category":"cat seven","color":"0xff00ff00","payload":1.5}' \
	"$(only registered | grep '"phase":"B"' | sed -n 2p | grep -o '"details".*}' | sed 's/}}$/}/')"
is a-category-without-a-name '"category":"8","color":"0xff00ff00","payload":-5' "$(grep -o '"category":"8".*-5' all)"
is marks 3 "$(only mark | wc -l)"
is ranges-of-many-threads 2 "$(only started | wc -l)"
is what-a-thread-pushes 2 "$(only 'in thread' | wc -l)"
is never-popped 1 "$(only 'never popped' | wc -l)"
is thread-name 'my main' "$("$A" --format csv threads t.zst | sed -n 's/.*,\(my main\),.*/\1/p')"
want chrome 0 "$X" --chrome -f -o t.json t.zst
check chrome-is-json "$B/unit/test_hostile_traces" json t.json
place() { grep -F "\"name\":\"$1\"" t.json | grep -o '"pid":[0-9]*,"tid":[0-9]*' | sort -u; }
is chrome-ranges-are-on-the-thread-of-calls "$(place cuInit)" "$(place 'before cuda')"

want can-be-left-out 0 on_sim "$C" -q -f -e api,ioctl,gpu -o d.zst -- sh -c 'NVTX_INJECTION64_PATH=$1 exec "$2"' - "$B/libgtpreload.so" "$prog"
is nothing-then 0 "$(rows d.zst | grep -c 'before cuda')"

want range 0 on_sim "$C" -q -f -e api,nvtx --range nvtx:registered -o r.zst -- "$prog"
is only-inside 'cuCtxGetCurrent 3 registered 3' "$(rows r.zst | grep '"phase":"B"' | grep -o '"name":"[^"]*"' | cut -d'"' -f 4 | grep -v weit | sort | uniq -c | awk '{ printf "%s%s %s", s, $2, $1; s = " " }')"
want range-calls-only 0 on_sim "$C" -q -f -e api --range 'nvtx:in thread' -o c.zst -- "$prog"
is one-call '{"op_id":0,"phase":"B","name":"cuCtxGetCurrent"}' "$(rows c.zst | head -n 1)"
want range-that-never-is 0 on_sim "$C" -f -e api --range nvtx:nothing -o n.zst -- "$prog"
says says-why 'never was inside that NVTX range'
want range-fork 0 on_sim "$C" -q -f -e api --range nvtx:held -o k.zst -- "$prog" fork
is range-of-the-parents-other-thread 1 "$(rows k.zst | grep '"phase":"B"' | grep -c cuCtxGetCurrent)"
want range-without-a-name 2 "$C" --range nvtx: -o x.zst -- true
want range-unknown 2 "$C" --range foo -o x.zst -- true

want died 134 on_sim "$C" -q -f -e api,nvtx -o a.zst -- "$prog" die
is what-was-open-when-it-died 1 "$(rows a.zst | grep -c 'never popped')"
on_sim env NVTX_INJECTION64_PATH=/another/tool.so "$C" -q -f -e nvtx -o e.zst -- sh -c 'echo $NVTX_INJECTION64_PATH' >out
is anothers-injection-stays /another/tool.so "$(cat out)"

want stream 0 on_sim "$C" -q -f -e api,nvtx,gpu -o s.zst -- "$prog" stream
is stream-name 'my stream' "$("$A" --format tsv streams s.zst 2>/dev/null | awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "name") k = i } $k == "my stream" { print $k; exit }')"
