# The first pages of the recordings, held against those in tests/screen/: the first line of each names the file, the
# columns of the terminal and --color; the rest is the page. A page that is to change: see that it is better, then make it
# again by its first line.
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
