# --max-size: short events become slices "merged events" until the output fits, and the file says so.
. "$SRC/tests/lib.sh"
X=$B/gtexport R=$SRC/samples/recorded

slices() { grep -o '"ph":"[Xi]"' "$1" | wc -l; }
merged() { grep -o '"name":"merged events".*"args":{"events":[0-9]*' "$1" | awk -F : '{ n += $NF; k++ } END { print n + 0, k + 0 }'; }
pid=$("$X" --jsonl "$R/h200-train.zst" | sed -n '1s/.*"pid":\([0-9]*\).*/\1/p')
"$X" --chrome --pid "$pid" -o full.json "$R/h200-train.zst"
full=$(wc -c <full.json)
for share in 3 30; do
	want within-$share 0 "$X" --chrome --pid "$pid" --max-size $((full / share)) -o $share.json "$R/h200-train.zst"
	says within-$share-says 'events shorter than .* are merged into .* slices'
	check within-$share-fits test "$(wc -c <$share.json)" -le $((full / share))
	check within-$share-uses-the-space test "$(wc -c <$share.json)" -ge $((full / share / 8))
	set -- $(merged $share.json)
	is within-$share-loses-none "$(slices full.json)" $(($(slices $share.json) - $2 + $1))
	check within-$share-metadata grep -q "\"level_of_detail\":{\"shorter_than_ns\":[0-9]*,\"merged_events\":$1,\"slices\":$2}" $share.json
done
# what fits is unchanged
want all-fits 0 "$X" --chrome --pid "$pid" --max-size "$full" -o fits.json "$R/h200-train.zst"
same all-fits-same full.json fits.json
want native 0 "$X" --native --max-size 60K -o n.zst "$R/h200-train.zst"
check native-fits test "$(wc -c <n.zst)" -le 61440
want native-reads 0 "$B/gtanalyze" top n.zst
# merged events are in no figure: the header says so, and what would look idle is no answer
want native-note 0 "$B/gtanalyze" --no-pager header n.zst
check native-note-says stdout_matches '(gtexport --max-size merged [0-9]* short events, which are in no figure)'
want native-budget 4 "$B/gtanalyze" --no-pager budget n.zst
# the files of a folder count together
want folder 0 "$X" --parquet --max-size 100K -o tables "$R/h200-train.zst"
check folder-fits test "$(cat tables/* | wc -c)" -le 102400
check folder-uses-the-space test "$(cat tables/* | wc -c)" -ge 25600
want folder-too-small 1 "$X" --parquet --max-size 1000 -o none "$R/h200-train.zst"
check folder-too-small-leaves-nothing test ! -e none
# a packed file counts before compression
want packed 0 "$X" --chrome --pid "$pid" --max-size $((full / 3)) -o p.json.gz "$R/h200-train.zst"
gzip -dc p.json.gz >p.json; same packed-same 3.json p.json
want too-small 1 "$X" --chrome --max-size 1000 -o no.json "$R/h200-train.zst"
says too-small-says 'cannot be exported in 1000 bytes, even with all rows merged'
check too-small-no-file test ! -e no.json
want sums 2 "$X" --folded --max-size 1M "$R/h200-train.zst"
says sums-says 'max-size is not for --folded'
# sums of call stacks are no events; a file of 0 bytes has none
for o in --stacks --stacks=host '--cost count'; do
	want "sums-speedscope $o" 2 "$X" --speedscope $o --max-size 1M -o s.json "$R/h200-train.zst"
	says "sums-speedscope-says $o" 'max-size is not for --speedscope --'
done
want no-bytes 2 "$X" --html --max-size 0 -o no.html "$R/h200-train.zst"
says no-bytes-says 'max-size 0: give at least 1 byte'
