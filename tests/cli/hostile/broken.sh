# Wrong traces beside all that must be said about them: FILE.message is what gtexport prints for tests/broken/trace/FILE, and its
# exit status. gtanalyze agrees on the status. (tests/broken/json is import.sh's.) To make one: look at what is said, and keep it if
# it is right.
. "$SRC/tests/lib.sh"

for message in "$SRC"/tests/broken/trace/*.message; do
	file=$(basename "$message" .message)
	cp "$SRC/tests/broken/trace/$file" .
	status=0; "$B/gtexport" --jsonl -o /dev/null "$file" 2>said || status=$?
	echo "status $status" >>said
	same "$file" "$message" said
	want "$file-gtanalyze" "$status" "$B/gtanalyze" "$file"
	[ "$(wc -l <said)" -eq 1 ] || check "$file-gtanalyze-says" grep -qE 'the file is damaged|NOT CLOSED|: byte [0-9]+:' want.err want.out
done
check there-were-some test -n "$status"
