# Names with any content: each report and format works within 256 MiB, and JSON output is valid.
. "$SRC/tests/lib.sh"
. "$SRC/tests/hostile.sh"

# Names: a megabyte long, quotes, control characters, invalid UTF-8, syntax of other formats.
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
