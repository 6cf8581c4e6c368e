# Other tools' files in every tool: plain, packed, joined, through a pipe; what must be refused, with its message.
. "$SRC/tests/lib.sh"

line() { printf '{"ts":0.%09d,"op_id":%d,"phase":"%s","name":"%s"%s}\n' "$@"; }
{ line 1000 0 B cuInit ',"details":{"flags":0}'; line 51000 0 E cuInit ',"details":{"status":0}'
  line 60000 1 B cuMemAlloc_v2 ',"details":{"bytesize":4096,"dptr":"0x7f00"}'; line 61000 1 E cuMemAlloc_v2 ',"details":{"status":0}'
  line 70000 2 B cuLaunchKernel ''; line 75000 2 E cuLaunchKernel ',"details":{"status":1}'; } >b.jsonl
head -n 3 b.jsonl >b1; tail -n +4 b.jsonl >b2
gzip -c b1 >b1.gz; gzip -c b2 >b2.gz; cat b1.gz b2.gz >packed-gz
zstd -qc b1 >b1.zst; zstd -qc b2 >b2.zst; cat b1.zst b2.zst >packed-zst

want plain 0 "$B/gtexport" --jsonl -o - b.jsonl; cp want.out plain.out
check plain-says-something test -s plain.out
for f in packed-gz packed-zst; do
	want $f 0 "$B/gtexport" --jsonl -o - $f
	same $f-is-equal plain.out want.out
done
"$B/gtexport" --jsonl -o - - <b.jsonl >stdin.out 2>stdin.err; same stdin plain.out stdin.out
cat packed-gz | "$B/gtexport" --jsonl -o - - >pipe.out 2>pipe.err; same pipe plain.out pipe.out
want jsonl-again 0 "$B/gtexport" --jsonl -o - plain.out
same jsonl-of-jsonl-is-equal plain.out want.out
want native 0 "$B/gtexport" --native -o b.zst b.jsonl
cat b.zst | "$B/gtexport" --jsonl -o - - >native.out 2>native.err; same native-through-a-pipe plain.out native.out

want analyze 0 "$B/gtanalyze" b.jsonl
check analyze-counts grep -q 'Total CUDA API calls: 3' want.out
check analyze-adds-bytes grep -q 'Total memory allocated: 4096 bytes' want.out

# What gtexport --jsonl wrote of the driver's files are no API calls when they come back.
{ line 1000 0 B 'open /dev/nvidia-uvm' ''; line 2000 0 E 'open /dev/nvidia-uvm' ''; line 3000 1 B 'mmap /dev/nvidia0' ''
  line 4000 1 E 'mmap /dev/nvidia0' ''; line 5000 2 B 'ioctl CARD_INFO' ''; line 6000 2 E 'ioctl CARD_INFO' ''; } >files.jsonl
want files 0 "$B/gtanalyze" summary categories files.jsonl
check files-are-no-api-calls grep -q 'Total CUDA API calls: not recorded' want.out
check files-are-no-ioctls grep -q 'IOCTL calls: 1$' want.out
check files-are-files grep -q '^  file  *2 ' want.out

head -c -30 b.jsonl >cut.jsonl
want cut 0 "$B/gtanalyze" cut.jsonl
check cut-is-told grep -q "was cut short: its last line is not in it)" want.out
{ line 2000 0 B cuInit ""; line 1000 1 B cuInit ""; } >back.jsonl
want back 0 "$B/gtanalyze" header back.jsonl
check back-is-told grep -q "of the imported file 1 lines went back in time" want.out

for f in "$SRC"/tests/broken/json/*.message; do
	file=${f%.message}
	want "refuses-$(basename "$file")" 1 "$B/gtanalyze" "$file"
	check "names-$(basename "$file")" grep -qF "$(basename "$file"): $(cat "$f")" want.err
done
