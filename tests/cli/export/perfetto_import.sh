# gt reads what gtexport --perfetto writes back to the same rows and reports; bytes that are no packets are one message.
. "$SRC/tests/lib.sh"
X=$B/gtexport A=$B/gtanalyze R=$SRC/samples/recorded

# slices FILE: category, name, start and duration of each slice, and the slices at both ends of each arrow, sorted
slices() {
	"$X" --chrome "$1" 2>/dev/null | awk '
		function field(key,   s) { s = $0; if (!sub(".*\"" key "\":", "", s)) return ""; sub(/[,}].*/, "", s); return s }
		/"ph":"X"/ { s = $0; sub(/^{"name":/, "", s); sub(/,"ph":"X".*/, "", s); print s, field("ts"), field("dur") }
		/"ph":"[sf]"/ { print "arrow", field("ph"), field("ts") }' | sort
}
# The rows of reports without their order and the mangled names of kernels, as in chrome_kineto.sh.
rows() {
	"$A" kernels copies sync steps launches budget gaps streams gpu threads queues nvtx_sum cuda_api_sum --top 0 --names full --format tsv "$1" 2>rows.err |
		awk -F '\t' '
		/^# / { table = $1 $2; head = 1; next }
		head { head = 0; for (i in drop) delete drop[i]; for (i = 2; i <= NF; i++) if ($i == "name" || $i == "full_name") drop[i] = 1 }
		{ line = table; for (i = 1; i <= NF; i++) if (!(i in drop)) line = line "\t" ($i ~ /^_Z|^void .*\(|\(ncclDevKernelArgs/ && i > 1 ? "" : $i); print line }' | sort
}
for n in h200-nvtx.zst h200-graphs.zst h200-streams.zst kineto-h200-mlp.json.gz; do
	"$X" --perfetto -f -o t.pftrace "$R/$n"
	slices "$R/$n" >before.txt; slices t.pftrace >after.txt
	check "$n-has-slices" test "$(wc -l <before.txt)" -gt 1000
	same "$n-slices" before.txt after.txt
	rows "$R/$n" >before.txt; rows t.pftrace >after.txt
	# recordings of an earlier version have this function in another category
	sed -i '/	cuThreadExchangeStreamCaptureMode	/s/	context	/	query	/' before.txt
	check "$n-has-rows" test "$(wc -l <before.txt)" -gt 100
	same "$n-reports" before.txt after.txt
done
"$A" --format tsv top t.pftrace >plain.tsv
gzip -k t.pftrace; zstd -qk t.pftrace
for end in gz zst; do "$A" --format tsv top t.pftrace.$end >packed.tsv; same "packed-$end" plain.tsv packed.tsv; done
cat t.pftrace | "$A" --format tsv top - >piped.tsv; same piped plain.tsv piped.tsv

# Hostile files: one line with the offset
size=$(wc -c <t.pftrace)
head -c $((size - 7)) t.pftrace >cut.pftrace
want cut 1 "$A" cut.pftrace
says cut-says "^gtanalyze: cut.pftrace: .*byte [0-9]*: the last packet is incomplete$"
{ cat t.pftrace; printf '\012\377\377\377\377\377\377\377\177'; } >length.pftrace
want length 1 "$A" length.pftrace
says length-says "byte $size: a packet of [0-9]* bytes: at most 16 MiB$"
{ cat t.pftrace; printf '\007'; head -c 4096 /dev/urandom; } >garbage.pftrace # a tag of no kind, then anything
want garbage 1 "$A" garbage.pftrace
says garbage-says "byte $size: malformed packet"
is one-line 1 "$(wc -l <want.err)"
{ cat t.pftrace; printf '\012\005\222\003\002xx'; } >deflate.pftrace
want deflate 1 "$A" deflate.pftrace
says deflate-says "byte $size: damaged deflate data"

# Processes and threads without names still have none after an export.
printf '7 1795860000.000000 getpid() = 7 <0.000001>\n8 1795860000.000100 getpid() = 8 <0.000001>\n' >bare.txt
"$B/gtexport" --native -f -o bare.zst bare.txt
for format in perfetto chrome; do
	want "unnamed-$format" 0 "$B/gtexport" "--$format" -f -o bare.out bare.zst
	"$B/gtanalyze" threads --format tsv bare.zst >before.tsv
	"$B/gtanalyze" threads --format tsv bare.out >after.tsv
	same "unnamed-$format-stays" before.tsv after.tsv
done
