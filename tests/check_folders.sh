#!/bin/sh
# tests/check_folders.sh [TREE]: fails when an #include breaks a rule of docs/architecture.md about folders.
#
# The tables of docs/architecture.md list each folder and the folders of its own top folder that it may include. Besides that,
# collect and analyze include formats, and viewer includes formats and analyze. A token that ends with .h or * is a
# header or a pattern of headers; collect/guest includes nothing but what its rows name.
# It also fails on a folder that no table names, on NAME_internal.h included from another folder, on an outside
# library outside its folders, on a file in the root that is not listed below, on two files of one name, on a
# struct tag gt_* that is defined twice, and on a file or a function that docs/architecture.md names and that does
# not exist.
tree=$(cd "${1:-$(dirname "$0")/..}" && pwd) || exit 2
plan=$(cd "$(dirname "$0")/.." && pwd)/docs/architecture.md
cd "$tree" || exit 2
# The top folders of the programs' sources.
programs='formats collect analyze viewer command'
root='.clang-format .git-blame-ignore-revs .gitignore CONTRIBUTING.md LICENSE Makefile NEWS.md README.md'
status=0
complain() { echo "$*"; status=1; }

for file in $(git ls-files -- ':(glob)*' 2>/dev/null | tr ' ' '_'); do
	case " $root " in *" $file "*) ;; *) complain "$file: an unknown file in the root" ;; esac
done

found=$(mktemp) || exit 2
trap 'rm -f "$found"' EXIT

# FOLDER|INCLUDE|FILE:LINE of each include of our own headers.
grep -rnE --include='*.[chS]' '^#[[:space:]]*include "(formats|collect|analyze|viewer|command|samples|tests)/' \
	$programs 2>/dev/null |
	sed -E 's,^(([^:]*)/[^/:]*:[0-9]+):.*"([^"]+)".*,\2|\3|\1,' >"$found"
awk -F '|' '
	FILENAME == ARGV[1] {	# | `folder` | contents | entry | may include |
		if ($2 !~ /^ `[a-z\/]+` $/) next
		folder = $2; gsub(/[ `]/, "", folder)
		n = split($(NF - 1), token, /[ ,]+/)
		top = folder; sub(/\/.*/, "", top)
		for (i = 1; i <= n; i++) {
			t = token[i]; gsub(/`/, "", t)
			if (t != "") may[folder] = may[folder] " " (t ~ /^(formats|collect|analyze|viewer)/ ? t : top "/" t)
		}
		if (known[folder]++) { print folder ": docs/architecture.md lists it twice"; bad = 1 }
		next
	}
	function permitted(folder, header,  n, i, token, dir, top, htop) {
		dir = header; sub(/\/[^\/]*$/, "", dir)
		top = folder; sub(/\/.*/, "", top); htop = header; sub(/\/.*/, "", htop)
		if (dir == folder) return 1
		if (header ~ /_internal\.h$/) return 0
		if (folder == top && htop == top) return 1		# files of the program itself: gtanalyze.c and the like
		if (top != htop && folder !~ /^collect\/guest/) {
			if (htop == "formats") return top != "formats" && top != "samples"
			return top == "viewer" && htop == "analyze"
		}
		n = split(may[folder], token, " ")
		for (i = 1; i <= n; i++) {
			if (token[i] == dir || token[i] == header) return 1
			if (token[i] ~ /\*$/ && index(header, substr(token[i], 1, length(token[i]) - 1)) == 1) return 1
		}
		return 0
	}
	!known[$1] && !reported[$1]++ { print $1 ": no table of docs/architecture.md names this folder"; bad = 1 }
	!permitted($1, $2) { print $3 ": " $1 " may not include " $2; bad = 1 }
	END { exit bad }' "$plan" "$found" || status=1

grep -rnE --include='*.[chS]' '"(formats|collect|analyze|viewer|tests)/' samples 2>/dev/null >"$found" &&
	{ cat "$found"; complain "^ samples may include nothing of the project"; }

outside() {	# outside HEADERS FOLDER...: headers of a library are included in these folders only
	headers=$1; shift
	grep -rnE --include='*.[ch]' "#include <($headers)>" $programs samples tests 2>/dev/null |
		grep -vE "^($(echo "$@" | tr ' ' '|'))/" >"$found" || return
	cat "$found"; complain "^ only these may include <$headers>: $*"
}
outside 'zstd.*|zlib.h' formats tests
outside 'jansson.h' formats tests
outside 'sqlite3.h' formats tests
outside '(ncursesw/)?n?curses.h|term.h' viewer/term
outside 'bpf/.*' collect tests/bench
outside 'cupti.*' collect samples tests/gpu tests/unit
outside 'cuda.*' tests/gpu

twice=$(find $programs samples tests/unit -name '*.[ch]' 2>/dev/null | sed 's,.*/,,' | sort | uniq -d)
[ -z "$twice" ] || complain "file names used twice: "$twice
twice=$(grep -rhoE --include='*.[ch]' '^[[:space:]]*(static )?(const )?(typedef )?struct gt_[a-z0-9_]+ \{' \
	$programs 2>/dev/null | grep -oE 'gt_[a-z0-9_]+' | sort | uniq -d | grep -v '^gt_tail$')
[ -z "$twice" ] || complain "struct tags defined twice: "$twice
grep -soE '`(struct )?(gt_[a-z0-9_]+(\(\))?|[a-z0-9_]+\.[ch])' docs/architecture.md | sed -E 's/^`(struct )?//; s/\(\)$//' | sort -u |
	while read -r name; do
		case $name in
		*.[ch]) [ "$(find $programs -name "$name" | head -n 1)" ] || echo "$name" ;;
		*) grep -rqw --include='*.h' -e "$name" formats collect analyze viewer || echo "$name" ;;
		esac
	done >"$found"
[ ! -s "$found" ] || complain "docs/architecture.md names what does not exist: "$(cat "$found")
# Files that comments name. These are not ours: system headers, those of other projects, generated files.
foreign='string.h|cuda.h|nv_escape.h|uvm_ioctl.h|wrappers.c|cupti_activity.h|sys/sdt.h|sys/ioctl.h|nvToolsExt.h|nvToolsExtPayload.h|nvtxTypes.h'
files=$(find $programs samples tests -name '*.[chS]' 2>/dev/null)
find $programs -name '*.[ch]' 2>/dev/null | xargs awk '
/^[[:space:]]*#[[:space:]]*include/ {next}
{ line=$0; c=""
 while (1) { if (inc) { e=index(line,"*/"); if(!e){c=c " " line;break} c=c " " substr(line,1,e-1); line=substr(line,e+2); inc=0 }
  s=index(line,"/*"); t=index(line,"//"); if(!s)break; line=substr(line,s+2); inc=1 }
 while (match(c,/[A-Za-z0-9_\/]+\.[ch]([^A-Za-z0-9_(]|$)/)) { w=substr(c,RSTART,RLENGTH); sub(/[^ch]$/,"",w); print FILENAME ":" FNR "|" w; c=substr(c,RSTART+RLENGTH) } }' |
while IFS='|' read -r at w; do
	echo "$w" | grep -qxE "$foreign" || printf '%s\n' "$files" | grep -qE "(^|/)$w\$" || echo "$at $w"; done >"$found"
[ ! -s "$found" ] || complain "comments name files that do not exist: "$(cat "$found")
exit $status
