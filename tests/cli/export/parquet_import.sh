# Parquet exports of Nsight Systems and of gtexport --parquet: read back as a folder and as single files, damaged, without names.
# What another writer makes of them: tests/consumers/tables.js. Encodings and damage byte by byte: test_parquet_in.c.
. "$SRC/tests/lib.sh"
X=$B/gtexport K=CUPTI_ACTIVITY_KIND_KERNEL.parquet
rows() { "$X" --jsonl -o - "$1" 2>/dev/null; }

# the same rows as through SQLite
for r in nvtx graphs decode; do
	R=$SRC/samples/recorded/h200-$r.zst
	want parquet-$r 0 "$X" --parquet -o $r "$R"
	"$X" --sqlite -o $r.sqlite "$R"
	rows $r.sqlite >expected; rows $r >got
	check parquet-$r-has-rows test "$(grep -c . got)" -gt 1000
	same parquet-$r-same expected got
done
for report in cuda_gpu_kern_sum cuda_api_sum cuda_kern_exec_trace; do
	"$B/gtanalyze" --no-pager --format csv --top 0 $report "$SRC/samples/recorded/h200-graphs.zst" >expected 2>/dev/null
	"$B/gtanalyze" --no-pager --format csv --top 0 $report graphs >got 2>/dev/null
	same parquet-$report expected got
done
want parquet-native 0 "$X" --native -o native.zst nvtx
rows nvtx >expected; rows native.zst >got; same parquet-native-same expected got
want parquet-report 0 "$B/gtanalyze" --no-pager nvtx
check parquet-all-is-read stdout_lacks 'tables that are not read'
check parquet-has-names stdout_lacks 'names are missing'

# one file: its table, by the name in its metadata, packed or not
want parquet-file 0 "$B/gtanalyze" --no-pager kernels nvtx/$K
check parquet-file-note stdout_matches 'names are missing: this is one table; the folder has'
is parquet-file-kernels "$(rows nvtx | grep -c '"category":"kernel"')" "$(rows nvtx/$K | grep -c '"category":"kernel"')"
cp nvtx/$K other-name; gzip -k other-name
rows nvtx/$K >expected
rows other-name >got; same parquet-file-other-name expected got
rows other-name.gz >got; same parquet-file-gz expected got
"$X" --jsonl -o - - <other-name >got 2>/dev/null; same parquet-file-stdin expected got
sed 's/table_name/other_name/' nvtx/$K >$K # a file of Nsight does not say which table it is
rows $K >got; same parquet-file-by-its-name expected got
"$X" --jsonl -o - - <$K >got 2>/dev/null; same parquet-file-by-its-name-stdin expected got
cat $K | "$X" --jsonl -o - - 2>want.err
says parquet-file-without-name '-: a Parquet file that does not say which table it is'
want parquet-file-no-events 1 "$X" --jsonl -o - nvtx/PROCESSES.parquet
says parquet-file-no-events-message "PROCESSES.parquet: Parquet without Nsight's tables"

# a folder without names, of other tables, of nothing
mkdir few; cp nvtx/$K few/
want parquet-no-names 0 "$B/gtanalyze" --no-pager kernels few
check parquet-no-names-note stdout_has 'names are missing: the folder has no StringIds.parquet'
mkdir others; cp nvtx/GT_TRACKS.parquet others/sales.parquet
want parquet-others 1 "$X" --jsonl -o - others
says parquet-others-message 'others: is a folder: name one of the traces in it'
mkdir -p empty/StringIds.parquet
want parquet-empty 1 "$X" --jsonl -o - empty

# damaged files are named, with the place
damaged() {	# damaged NAME MESSAGE: few has a damaged file
	want parquet-$1 1 "$X" --jsonl -o out few
	says parquet-$1-message "gtexport: few: $2"
	check parquet-$1-leaves-nothing test ! -e out
}
head -c 900 nvtx/StringIds.parquet >few/StringIds.parquet; damaged cut 'StringIds.parquet: byte 900: the Parquet file is cut: no footer'
echo text of another kind >few/StringIds.parquet; damaged other 'StringIds.parquet: not a Parquet file'
: >few/StringIds.parquet; damaged empty-file 'StringIds.parquet: too short for a Parquet file'
cp nvtx/StringIds.parquet few/; printf '\377%.0s' $(seq 40) | dd of=few/StringIds.parquet bs=1 seek=3000 conv=notrunc 2>/dev/null
damaged torn 'StringIds.parquet: byte [0-9]*: column [a-z]*: '
cp nvtx/StringIds.parquet few/; chmod 0 few/StringIds.parquet
[ "$(id -u)" -eq 0 ] || damaged no-permission 'StringIds.parquet: Permission denied'
head -c 2000 nvtx/$K >cut.parquet
want parquet-file-cut 1 "$X" --jsonl -o - cut.parquet
says parquet-file-cut-message 'cut.parquet: byte 2000: the Parquet file is cut: no footer'
