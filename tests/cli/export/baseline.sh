# --baseline: differential folded stacks and flame graphs.
. "$SRC/tests/lib.sh"
X=$B/gtexport

# run PID SLOW: a program whose step takes SLOW us; names of processes and threads are equal, ids are not
run() {
	cat <<-END
	{"traceEvents":[
	{"ph":"M","name":"process_name","pid":$1,"tid":0,"args":{"name":"python3"}},
	{"ph":"M","name":"thread_name","pid":$1,"tid":$1,"args":{"name":"main"}},
	{"ph":"M","name":"thread_name","pid":$1,"tid":$(($1 + 2)),"args":{"name":"t1"}},
	{"ph":"X","cat":"cuda_driver","name":"cuInit","pid":$1,"tid":$(($1 + 2)),"ts":300,"dur":2},
	{"ph":"X","cat":"user_annotation","name":"step (1)","pid":$1,"tid":$1,"ts":0,"dur":$2},
	{"ph":"X","cat":"cuda_driver","name":"cuCtxSynchronize","pid":$1,"tid":$1,"ts":5,"dur":10},
	$3
	{"ph":"X","cat":"cuda_driver","name":"cuInit","pid":$1,"tid":$(($1 + 1)),"ts":200,"dur":1}]}
	END
}
run 100 40 '{"ph":"X","cat":"cuda_driver","name":"cuGone","pid":100,"tid":100,"ts":100,"dur":7},' >before.json
run 4711 100 '{"ph":"X","cat":"cuda_driver","name":"cuNew","pid":4711,"tid":4711,"ts":120,"dur":3},' >after.json

want folded 0 "$X" --folded --baseline before.json -o - after.json
cat >wanted <<'END'
CPU;python3;main;cuGone 7000 0
CPU;python3;main;cuNew 0 3000
CPU;python3;main;step (1) 30000 90000
CPU;python3;main;step (1);cuCtxSynchronize 10000 10000
CPU;python3;t1;cuInit 2000 2000
CPU;python3;thread;cuInit 1000 1000
END
same folded-lines wanted want.out
want count 0 "$X" --folded --cost count --baseline before.json -o - after.json
check count-lines grep -qx 'CPU;python3;main;cuNew 0 1' want.out
want range 0 "$X" --folded --to 90us --baseline before.json -o - after.json
is range-lines 'CPU;python3;main;step (1) 30000 80000' "$(grep 'step (1) ' want.out)"
want match 0 "$X" --folded --match cuInit --baseline before.json -o - after.json
is match-lines 'CPU;python3;thread;cuInit 1000 1000' "$(grep -v ';t1;' want.out)"

want flame 0 "$X" --flame --baseline before.json -o - after.json; cp want.out d.svg
check flame-names grep -qF '>Flame graph: after.json compared with before.json</text>' d.svg
check flame-legend grep -qF '>wide as in after.json; red: more than in before.json, blue: less; full colour: twice or half; not scaled to equal lengths</text>' d.svg
# colour_of NAME: of a frame
colour_of() { awk -v name="<title>$1" 'index($0, name) { found = 1 } found && match($0, /fill="#[0-9a-f]*"/) { print substr($0, RSTART + 6, RLENGTH - 7); exit }' d.svg; }
is flame-more '#ff6464' "$(colour_of 'step (1)')"
is flame-new '#ff6464' "$(colour_of cuNew)"
is flame-equal '#e6e6e6' "$(colour_of cuCtxSynchronize)"
is flame-gone 0 "$(grep -c cuGone d.svg)"
check flame-tooltip grep -q '^before 40.000 us: +150.0 %</title>' d.svg
check flame-tooltip-new grep -q '^before 0.000 us</title>' d.svg
"$X" --icicle -f --baseline after.json -o d.svg before.json
is icicle-less '#6464ff' "$(colour_of 'step (1)')"
check icicle-gone-is-in-the-parent grep -q '^before 106.000 us: -' d.svg
want stacks 0 "$X" --flame --stacks=host --baseline "$SRC/samples/recorded/h200-decode.zst" -o s.svg "$SRC/samples/recorded/h200-decode.zst"
is stacks-equal 0 "$(grep -c 'fill="#[0-9a-f]*"' s.svg | awk -v all="$(grep -c 'fill="#e6e6e6"' s.svg)" '{ print $1 - all - 1 }')"

want chrome 2 "$X" --chrome --baseline before.json after.json
says chrome-says '--baseline is not for --chrome: it is for --folded, --flame and --icicle$'
want pid 2 "$X" --folded --pid 3 --baseline before.json after.json
says pid-says '--pid is not for --baseline: another run has other ids; use --match$'
want absent 1 "$X" --folded --baseline absent.json -o a.folded after.json
says absent-says 'after.json: --baseline absent.json: cannot open'
check absent-no-file test ! -e a.folded
want stdin-twice 2 "$X" --folded --baseline - - <before.json
says stdin-twice-says '- cannot be both the trace and that of --baseline$'
want itself 1 "$X" --folded -f --baseline before.json -o before.json after.json
says itself-says 'is also the input'
