# Broken traces and their expected messages: FILE.message is the output of gtexport for tests/broken/trace/FILE and its exit status.
# gtanalyze exits with the same status. (tests/cli/export/import.sh tests tests/broken/json.) To add a file, check that the output is
# correct and save it as FILE.message.
. "$SRC/tests/lib.sh"

for message in "$SRC"/tests/broken/trace/*.message; do
	file=$(basename "$message" .message)
	cp "$SRC/tests/broken/trace/$file" .
	status=0; "$B/gtexport" --jsonl -o /dev/null "$file" 2>output || status=$?
	echo "status $status" >>output
	same "$file" "$message" output
	want "$file-gtanalyze" "$status" "$B/gtanalyze" "$file"
	[ "$(wc -l <output)" -eq 1 ] || check "$file-gtanalyze-message" grep -qE 'the file is damaged|NOT CLOSED|: byte [0-9]+:' want.err want.out
done
check there-were-some test -n "$status"
