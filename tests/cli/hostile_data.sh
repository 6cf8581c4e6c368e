# Traces that are well made and unheard of: 100,000 tracks, names of every kind, calls 10,000 deep, times far apart. Every report and
# every format comes out, within 256 MiB, and what claims to be JSON is JSON.
. "$SRC/tests/lib.sh"
. "$SRC/tests/hostile.sh"

everything() {	# everything NAME FILE: all reports and formats, from it and from the native copy of it
	e=$1
	want "$e-native" 0 bounded "$X" --native -f -o n.zst "$2"
	check "$e-zstd" zstd -qt n.zst
	want "$e-default" 0 bounded "$A" "$2"
	reported json;	check "$e-json" test ! -s err
	check "$e-is-json" all_json
	for f in text csv tsv; do
		reported $f
		check "$e-$f" test -z "$([ $f = text ] && cat err || grep -v '^gtanalyze: n.zst: ' err)"
	done
	for f in chrome folded jsonl native; do want "$e-$f" 0 bounded "$X" --$f -f -o x.$f n.zst; done
	check "$e-chrome-is-json" "$json" json x.chrome
	[ ! -s x.jsonl ] || check "$e-jsonl-is-json" "$json" jsonl x.jsonl
	"$A" --format csv top "$2" >1.csv; "$A" --format csv top x.native >2.csv
	same "$e-copies-are-equal" 1.csv 2.csv
}

awk 'BEGIN { for (i = 0; i < 100000; i++) {
	printf "{\"ts\":%.6f,\"op_id\":%d,\"phase\":\"B\",\"name\":\"cuLaunchKernel\",\"pid\":%d,\"tid\":%d}\n", i / 1e5, i, i / 7 + 1, i + 1
	printf "{\"ts\":%.6f,\"op_id\":%d,\"phase\":\"E\",\"name\":\"cuLaunchKernel\",\"pid\":%d,\"tid\":%d}\n", i / 1e5 + 5e-6, i, i / 7 + 1, i + 1 } }' >tracks
everything tracks tracks
check tracks-all-there test "$("$A" --format csv --top 0 threads n.zst | grep -c '^[0-9]*,[^,]*,[0-9]*,')" -eq 100000

awk 'BEGIN { for (i = 0; i < 100000; i++)
	printf "{\"ts\":%.6f,\"op_id\":%d,\"phase\":\"B\",\"name\":\"cuStreamSynchronize\",\"pid\":%d,\"tid\":%d}\n", i / 1e6, i, i / 7 + 1, i + 1 }' >waiting
everything waiting waiting

awk 'BEGIN { for (i = 0; i < 10000; i++) printf "{\"ts\":%.6f,\"op_id\":%d,\"phase\":\"B\",\"name\":\"f%d\",\"tid\":1}\n", i / 1e6, i, i % 50
	for (i = 9999; i >= 0; i--) printf "{\"ts\":%.6f,\"op_id\":%d,\"phase\":\"E\",\"name\":\"f%d\",\"tid\":1}\n", (20000 - i) / 1e6, i, i % 50 }' >deep
everything deep deep

awk 'BEGIN { for (i = 0; i < 1000; i++) {
	printf "{\"ts\":%d,\"op_id\":%d,\"phase\":\"B\",\"name\":\"far\"}\n", (1000 - i) * 1000000, i
	printf "{\"ts\":%d.5,\"op_id\":%d,\"phase\":\"E\",\"name\":\"far\"}\n", (1000 - i) * 1000000, i } }' >far
everything far far

# Names: a megabyte long, quotes, controls, what is no UTF-8, what other formats take for their own.
long=$(head -c 1000000 /dev/zero | tr '\0' x)
{ i=0
for name in "$long" '\"' '\\' '\n\r\t\b\f' '\u0001\u001f\u007f' '\ud83d\ude00' '\u202e' ';a;b' 'a b c' '=1+1' ',' '\",\"x\":\"' '' ' ' '</script>' '%s%n' '$(id)' \
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
