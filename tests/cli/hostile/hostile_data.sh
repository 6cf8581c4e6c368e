# Well-formed traces with extreme contents: 100,000 tracks, calls nested 10,000 deep, times far apart. Each report and format works within
# 256 MiB, and JSON output is valid.
. "$SRC/tests/lib.sh"
. "$SRC/tests/hostile.sh"
tracks=100000
[ -z "$SAN" ] || tracks=20000

awk -v n=$tracks 'BEGIN { for (i = 0; i < n; i++) {
	printf "{\"ts\":%.6f,\"op_id\":%d,\"phase\":\"B\",\"name\":\"cuLaunchKernel\",\"pid\":%d,\"tid\":%d}\n", i / 1e5, i, i / 7 + 1, i + 1
	printf "{\"ts\":%.6f,\"op_id\":%d,\"phase\":\"E\",\"name\":\"cuLaunchKernel\",\"pid\":%d,\"tid\":%d}\n", i / 1e5 + 5e-6, i, i / 7 + 1, i + 1 } }' >tracks
everything tracks tracks
check tracks-all-there test "$("$A" --format csv --top 0 threads n.zst | grep -c '^[0-9]*,[^,]*,[0-9]*,')" -eq $tracks

awk -v n=$tracks 'BEGIN { for (i = 0; i < n; i++)
	printf "{\"ts\":%.6f,\"op_id\":%d,\"phase\":\"B\",\"name\":\"cuStreamSynchronize\",\"pid\":%d,\"tid\":%d}\n", i / 1e6, i, i / 7 + 1, i + 1 }' >waiting
everything waiting waiting

awk 'BEGIN { for (i = 0; i < 10000; i++) printf "{\"ts\":%.6f,\"op_id\":%d,\"phase\":\"B\",\"name\":\"f%d\",\"tid\":1}\n", i / 1e6, i, i % 50
	for (i = 9999; i >= 0; i--) printf "{\"ts\":%.6f,\"op_id\":%d,\"phase\":\"E\",\"name\":\"f%d\",\"tid\":1}\n", (20000 - i) / 1e6, i, i % 50 }' >deep
everything deep deep

awk 'BEGIN { for (i = 0; i < 1000; i++) {
	printf "{\"ts\":%d,\"op_id\":%d,\"phase\":\"B\",\"name\":\"far\"}\n", (1000 - i) * 1000000, i
	printf "{\"ts\":%d.5,\"op_id\":%d,\"phase\":\"E\",\"name\":\"far\"}\n", (1000 - i) * 1000000, i } }' >far
everything far far
