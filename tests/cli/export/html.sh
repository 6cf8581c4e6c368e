. "$SRC/tests/lib.sh"
X=$B/gtexport
[ -x "$X" ] || { fail html "gtexport was not built"; exit 0; }

# section NAME FILE: the bytes of a section of a page. A header of gzip before deflated bytes makes a file that gzip unpacks; it lacks
# the end, of which gzip complains.
section() {
	sed -n "s/^<script type=\"text.plain\" id=\"gt-$1\">\(.*\)<.script>/\1/p" "$2" | base64 -d >section.raw
	{ printf '\037\213\010\0\0\0\0\0\0\003'; cat section.raw; } | gzip -dc 2>/dev/null
}

want html 0 "$X" --html -f -o t.html "$SRC/samples/recorded/h200-nvtx.zst"
section head t.html >head.json
section reports t.html >reports.json
is html-policy 1 "$(grep -c "default-src 'none'; script-src 'sha256-[A-Za-z0-9+/]*='; style-src 'sha256-[A-Za-z0-9+/]*='; base-uri 'none'; form-action 'none'" t.html)"
check html-has-no-address sh -c '! sed "/^<script type=.text.plain/d" t.html | grep -q "https\?://"'
check html-head grep -q '"tool":"gtexport ' head.json
check html-has-tracks grep -q '\["stream",7,' head.json
check html-has-reports grep -q '"kernels": {' reports.json
if command -v jq >/dev/null; then
	check html-head-is-json jq -e '.version == 1 and (.lanes | length) > 3 and .merged == 0 and .events > 1000' head.json
	check html-reports-are-json jq -e '.[0].tables.budget.rows | length > 3' reports.json
	section flame t.html >flame.json
	check html-flame-is-json jq -e '(.nodes | length) % 3 == 0 and (.labels | index("GPU")) != null' flame.json
else skip html-head-is-json "no jq"; fi

# The filter applies, also to the reports.
want html-cut 0 "$X" --html -o cut.html --from 1s --to 1.01s "$SRC/samples/recorded/h200-nvtx.zst"
check html-cut-is-smaller test "$(wc -c <cut.html)" -lt "$(wc -c <t.html)"
section head cut.html >cut.json
check html-cut-says-so grep -q '"cut":{"cut":' cut.json

# With --max-size short neighbours become slices, and the file says so.
size=$(($(wc -c <"$SRC/samples/recorded/h200-train.zst") / 2))
want html-max-size 0 "$X" --html -o small.html --max-size $size "$SRC/samples/recorded/h200-train.zst"
check html-max-size-holds test "$(wc -c <small.html)" -le $size
section head small.html >small.json
check html-max-size-says-so grep -q '"merged":[1-9][0-9]*,"resolution":[1-9]' small.json
want html-max-size-too-small 1 "$X" --html -o no.html --max-size 20K "$SRC/samples/recorded/h200-train.zst"
says html-max-size-too-small-message 'max-size is too small: the page without its timeline has [0-9]* bytes'
check html-max-size-too-small-no-file test ! -e no.html
want html-max-size-of-others 2 "$X" --folded --max-size 1M "$SRC/samples/recorded/h200-nvtx.zst"
says html-max-size-of-others-message 'max-size is not for --folded'

# Names stay data, whatever they contain.
printf '{"ts":0.000001,"op_id":0,"phase":"B","name":"</script><script>alert(1)</script>","pid":7,"tid":8,"details":{"a":"<!--<img src=x onerror=alert(2)>"}}\n' >evil.jsonl
printf '{"ts":0.000002,"op_id":0,"phase":"E","name":"</script><script>alert(1)</script>","pid":7,"tid":8,"details":{"status":0}}\n' >>evil.jsonl
printf '{"ts":0.000003,"op_id":1,"phase":"B","name":"\\u001b[31m\377\376","pid":7,"tid":8,"details":{}}\n' >>evil.jsonl
want html-hostile-names 0 "$X" --html -o evil.html evil.jsonl
is html-hostile-names-are-no-html 0 "$(grep -ac 'alert(' evil.html)"
is html-same-tags "$(sed '/^<script type=.text.plain/d' t.html | grep -c '<script')" "$(sed '/^<script type=.text.plain/d' evil.html | grep -c '<script')"
section head evil.html >evil.json
check html-hostile-names-are-kept grep -qF '</script><script>alert(1)</script>' evil.json

: >none.jsonl
want html-empty 1 "$X" --html -o none.html none.jsonl

# gtanalyze --html: a page of the reports alone.
A=$B/gtanalyze
want html-of-reports 0 "$A" --html -o reports.html kernels "$SRC/samples/recorded/h200-nvtx.zst"
section reports reports.html >reports.json
check html-of-reports-has-the-table grep -q '"kernels": {' reports.json
check html-of-reports-has-titles grep -q '"title":"Kernels on the GPU' reports.json
is html-of-reports-has-no-timeline "" "$(section head reports.html)"
want html-of-two-files 0 "$A" --html --per-rank -o two.html kernels "$SRC/samples/recorded/h200-nvtx.zst" "$SRC/samples/recorded/h200-graphs.zst"
section reports two.html >two.json
is html-of-two-files-has-both 2 "$(grep -o '"file":"[^"]*",' two.json | wc -l)"
want html-and-format 2 "$A" --html --format csv kernels "$SRC/samples/recorded/h200-nvtx.zst"
says html-and-format-message '--html and --format exclude each other'
want html-of-no-file 1 "$A" --html -o none.html kernels none.zst
