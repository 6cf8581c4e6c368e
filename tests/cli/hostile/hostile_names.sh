# Names with any content: each report and format works within 256 MiB, and JSON output is valid.
. "$SRC/tests/lib.sh"
. "$SRC/tests/hostile.sh"

# Names: a megabyte long, quotes, control characters, invalid UTF-8, syntax of other formats.
long=$(head -c 1000000 /dev/zero | tr '\0' x)
{ i=0
for name in "$long" '\"' '\\' '\n\r\t\b\f' '\u0001\u001f\u007f' '\ud83d\ude00' '\u202e' ';a;b' 'a b c' '=1+1' '=cmd()' '@SUM(1)' '-1+cmd' '\u001b]0;t\u0007\u001b[31m' '&lt;' '\\\\N' ']]>' '<!--' '<img src=x onerror=alert(1)>' '<script>alert(1)</script>' ',' '\",\"x\":\"' '' ' ' '</script>' '%s%n' '$(id)' \
	"$(printf 'a\377\376\300\200\355\240\200b')" "$(printf '\342\202')" null '{}' '\ufeff'; do
	i=$((i + 1))
	printf '{"ts":0.%06d,"op_id":%d,"phase":"B","name":"%s","tid":%d,"details":{"%.100s":"%.2000s","n":%d}}\n' $i $i "$name" $((i % 3 + 1)) "k$name" "$name" $i
	printf '{"ts":0.%06d5,"op_id":%d,"phase":"E","name":"%s","tid":%d}\n' $i $i "$name" $((i % 3 + 1))
done; } | LC_ALL=C sed 's/\\n,"details"/\\n","details"/' >names
everything names names
"$A" --format tsv --top 0 top n.zst >r.tsv
check names-one-line-each awk -F'\t' '/^operation\t/ { n = NF; next } n && NF != n { bad++ } END { exit bad > 0 || !n }' r.tsv
check names-folded-is-two-columns test "$(LC_ALL=C awk '!/ [0-9]+$/' x.folded | wc -l)" -eq 0
check names-are-no-escapes sh -c '! LC_ALL=C grep -q "$(printf "[\001\033]")" r.text.* x.folded'

# ---- all other formats: nothing executes, and a name is one value ----
for f in perfetto html icicle pprof dot replay csv tsv arrow sqlite parquet; do want "names-$f" 0 bounded "$X" --$f -f -o x.$f n.zst; done
"$X" --tsv -o want.tsv n.zst; cut -f 6 want.tsv | LC_ALL=C sed 's/\xef\xbf\xbd/?/g' | cut -c 1-1000 | LC_ALL=C sort >wanted	# their names

check names-no-escapes sh -c '! cat x.csv x.tsv x.replay x.dot x.flame x.icicle x.html | sed "s/\r$//" | LC_ALL=C grep -aq "$(printf "[\001-\010\013-\037\177]")"'
# CSV: records of 16 values, whether or not a value has a line end; no value is a formula.
sed 's/\r$//' x.csv | awk '
	{ record = record (record == "" ? "" : "\n") $0; quotes += gsub(/"/, "\"") ; if (quotes % 2) next }
	{
		n = 0; value = record; quotes = 0; record = ""
		while (match(value, /^("([^"]|"")*"|[^",]*)(,|$)/)) {
			one = substr(value, 1, RLENGTH); n++
			if (one ~ /^"?[=@]/ || one ~ /^"?[-+][^0-9,]/ || one ~ /^"?-1\+/) print "formula: " one
			value = substr(value, RLENGTH + 1)
			if (one !~ /,$/) break
		}
		if (n != 16 || value != "") print n " values: " substr(value, 1, 50)
	}' >csv.bad
check names-csv test ! -s csv.bad
is names-tsv-formulas 0 "$(tr '\t' '\n' <x.tsv | grep -c '^[=@]\|^[-+][^0-9]\|^-1+')"
is names-tsv-lines "$(wc -l <want.tsv)" "$(wc -l <x.tsv)"
# XML: of the script tags one is gt's.
is names-svg-tags '1 1 0' "$(grep -c '<script' x.flame) $(grep -c '<script' x.icicle) $(cat x.flame x.icicle | grep -c '<img\|<!--\|>alert')"
if command -v xmllint >/dev/null; then check names-svg xmllint --huge --noout x.flame x.icicle; else skip names-svg "no xmllint"; fi
# Graphviz: quotes end where they should, & is no entity, no string is longer than the 16 KiB that it reads.
is names-dot '' "$(awk '{ gsub(/\\./, ""); if (gsub(/"/, "\"") % 2) print "quotes: " substr($0, 1, 80); if (/&/ && !/&amp;/) print; if (length() > 16000) print "long" }' x.dot)"
if command -v dot >/dev/null; then check names-graphviz sh -c 'dot -Tsvg x.dot | grep -q "&amp;lt;"'; else skip names-graphviz "no Graphviz"; fi
# Replay: each line begins with a duration or its blanks, and a thread.
is names-replay 0 "$(tail -n +2 x.replay | grep -avc '^[ 0-9.]* *[mu ]s\{0,1\} *\[ *[^]]*\] |')"
# Perfetto: read back, the names are the same; bytes that are not UTF-8 are U+FFFD there.
"$X" --tsv -o back.tsv x.perfetto; cut -f 6 back.tsv | LC_ALL=C sed 's/\xef\xbf\xbd/?/g' | cut -c 1-1000 | LC_ALL=C sort >got
same names-perfetto-are-kept wanted got
if command -v sqlite3 >/dev/null; then is names-sqlite "ok 1" "$(sqlite3 -separator ' ' x.sqlite "SELECT *, (SELECT count(*) FROM StringIds WHERE value = '</script>') FROM pragma_integrity_check")"
else skip names-sqlite "no sqlite3"; fi
want names-openmetrics 0 "$A" --format openmetrics --top 0 top n.zst
is names-openmetrics-is-valid '' "$(openmetrics want.out)"
