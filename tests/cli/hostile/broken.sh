# Damaged and hostile files of every format, tests/broken/FORMAT/FILE, each with FILE.message: what gtexport prints, its exit status, and
# the notes of gtanalyze's header. gtanalyze exits with the same status, and its message is the same line. A file of another tool that
# cannot be read gives one line. To add a file, run this test: its output has what FILE.message must contain if it is correct.
. "$SRC/tests/lib.sh"

for file in "$SRC"/tests/broken/*/*; do
	case $file in *.message) continue ;; esac
	format=${file%/*} format=${format##*/} name=${file##*/}
	cp "$file" "./$name"
	status=0; timeout 20 "$B/gtexport" --jsonl -o out -f "$name" 2>message || status=$?
	want "$format-$name-gtanalyze" "$status" timeout 20 "$B/gtanalyze" "$name"
	sed '/^$/,$d' want.out | grep '^  (' >notes
	{ cat message; echo "status $status"; cat notes; } >output
	if [ -e "$file.message" ]; then same "$format-$name" "$file.message" output
	else fail "$format-$name" "no $name.message; it may be: $(cat output)"; fi
	case $status in
	0) ;;
	1)	[ "$format" = trace ] || is "$format-$name-is-one-line" 1 "$(wc -l <message)"
		# a damaged trace of gt's own is read as far as possible: then gtanalyze has notes
		[ -s notes ] || { sed 's/^gtanalyze:/gtexport:/' want.err >same.err; same "$format-$name-gtanalyze-message" message same.err; } ;;
	*) fail "$format-$name-status" "$status" ;;
	esac
	rm -f "./$name"
done
check there-were-some test -n "$status"
