# The project: rules about folders, documents, the programs' descriptions of themselves, and the installation.
. "$SRC/tests/lib.sh"

check folders "$SRC/tests/check_folders.sh"
is make-without-target-builds-all all "$(env -u MAKEFLAGS make -npq -C "$SRC" BUILD=build/none 2>/dev/null | sed -n 's/^\.DEFAULT_GOAL := //p')"

# Each of these includes breaks a rule about folders.
border() {	# border NAME FILE INCLUDE
	rm -rf tree && mkdir -p "tree/$(dirname "$2")" && cd tree && mkdir -p formats collect analyze viewer samples tests && cd .. &&
		echo "#include $3" >"tree/$2"
	if "$SRC/tests/check_folders.sh" tree >border.out; then fail "$1" "$3 in $2 was permitted"; else ok "$1"; fi
}
border border-base formats/base/x.c '"formats/trace/record.h"'
border border-formats formats/trace/x.c '"collect/ipc/ring.h"'
border border-up formats/trace/x.c '"formats/trace/read/reader.h"'
border border-across analyze/gpu/x.c '"analyze/launch/waits.h"'
border border-internal analyze/advice/x.c '"analyze/idle/idle_internal.h"'
border border-internal-of-another-top viewer/view/x.c '"formats/table/table_internal.h"'
border border-collect collect/recorder/x.c '"analyze/core/analysis.h"'
border border-guest collect/guest/core/x.c '"formats/base/buf.h"'
border border-analyze analyze/core/x.c '"viewer/term/screen.h"'
border border-samples samples/x.c '"formats/trace/record.h"'
border library-zstd analyze/core/x.c '<zstd.h>'
border library-curses formats/base/x.c '<ncurses.h>'
border library-cuda collect/guest/core/x.c '<cuda.h>'
border unknown-folder analyze/new/x.c '"formats/trace/record.h"'
rm -rf tree && mkdir -p tree/formats/base tree/analyze/core && : >tree/formats/base/x.c && : >tree/analyze/core/x.c
want same-file-name 1 "$SRC/tests/check_folders.sh" tree
rm -rf tree && mkdir -p tree/formats/base && echo 'struct gt_a { int b; };' | tee tree/formats/base/x.h >tree/formats/base/y.h
want same-struct-tag 1 "$SRC/tests/check_folders.sh" tree
rm -rf tree && mkdir -p tree/formats/base && echo '#include "formats/text/utf8.h"' >tree/formats/base/x.c
want permitted 0 "$SRC/tests/check_folders.sh" tree

mkdir -p tree/docs && echo 'the function `gt_absent()` in `absent.c`' >tree/docs/architecture.md
want absent-name 1 "$SRC/tests/check_folders.sh" tree
check absent-name-message grep -q 'does not exist: absent.c gt_absent' want.out

# Relative links of all pages name existing files.
(cd "$SRC" && for page in *.md */*.md */*/*.md; do
	[ -f "$page" ] || continue
	case $page in build*) continue ;; esac
	grep -oE '\]\([^)#:]+\)' "$page" | sed 's/^](//; s/)$//' | while read -r to; do
		[ -e "$(dirname "$page")/$to" ] || echo "$page: $to"
	done
done) >links.out
if [ -s links.out ]; then fail links "lead nowhere: $(tr '\n' ' ' <links.out)"; else ok links; fi

# Each program: --help equals the manual page; --version works; a shell can parse the completion; wrong use exits with 2.
for p in "$B"/gtrace "$B"/gtcollect "$B"/gtexport "$B"/gtanalyze "$B"/gtview; do
	[ -x "$p" ] || continue
	n=${p##*/} page=$SRC/docs/${p##*/}.1.md
	"$p" --help >help.txt 2>help.err || fail "$n-help" "--help failed: $(cat help.err)"
	sed -n '/^<!-- help -->$/,/^<!-- \/help -->$/p' "$page" 2>/dev/null | sed '1,2d;$d' | sed '$d' >manual.txt
	same "$n-manual-equals-help" manual.txt help.txt
	check "$n-version" sh -c "\"$p\" --version | grep -qE '^$n [0-9]+\.[0-9]+\.[0-9]+$'"
	check "$n-completion" sh -c "\"$p\" --completion bash >c.sh && bash -n c.sh && grep -q -- --help c.sh"
	want "$n-bad-option" 2 "$p" --no-such-option
	check "$n-bad-option-message" grep -q "^$n: unknown option '--no-such-option'" want.err
	[ ! -w /dev/full ] || { "$p" --help >/dev/full 2>full.err; full=$?; check "$n-help-full-disk" test $full -ne 0; }
	[ ! -w /dev/full ] || [ "$n" = gtcollect ] || check "$n-help-full-disk-is-no-bad-use" test $full -eq 1
done

# The installed programs run from another prefix.
if [ -n "$SAN" ]; then skip install "one build is enough"
else
	check install make -s -C "$SRC" BUILD="${B#"$SRC"/}" PREFIX=/usr DESTDIR="$PWD/root" install
	for p in root/usr/bin/*; do
		[ -x "$p" ] && check "installed-${p##*/}" "$p" --version
	done
	[ ! -f "$B/libgtpreload.so" ] || check installed-library test -f root/usr/lib/gt/libgtpreload.so
	for m in "$SRC"/docs/gt*.1.md; do
		[ -f "$m" ] || continue
		m=root/usr/share/man/man1/$(basename "$m" .md)
		check "installed-${m##*/}" grep -q '^\.SH' "$m"
	done
	left=$(make -n -s -C "$SRC" BUILD="${B#"$SRC"/}" all units replays 2>&1 | grep -v 'Nothing to be done' | head -n 1)
	if [ -z "$left" ]; then ok nothing-left-to-build; else fail nothing-left-to-build "'make all units replays' would still run: $left"; fi
fi
