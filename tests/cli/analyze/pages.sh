# The first pages of the recordings equal the files in tests/screen/. The first line of each file has the name of the recording, the
# width of the terminal and --color; the other lines are the page. When a page has to change, check the new page and write it to the
# file, with the same first line.
. "$SRC/tests/lib.sh"
unset NO_COLOR COLUMNS LINES
command -v script >/dev/null || { skip pages "no script(1) that gives a terminal"; exit 0; }
cd "$SRC/samples/recorded" || exit 1
here=$OLDPWD
for page in "$SRC"/tests/screen/*.page; do
	read -r _ file columns color <"$page"
	sed 1d "$page" >"$here/wanted"
	script -qec "stty cols $columns; PAGER=cat TERM=xterm '$B/gtanalyze' --color $color $file" /dev/null </dev/null | tr -d '\r' >"$here/page"
	n=${page##*/}
	same "page-${n%.page}" "$here/wanted" "$here/page"
	is "page-${n%.page}-fits" "" "$(sed 's/\x1b\[[0-9]*m//g' "$here/page" | awk -v w="$columns" 'length > w' | head -n 2)"
done
