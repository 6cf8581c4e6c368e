#!/bin/sh
# The walls of the house: fails on an #include from a room that may not be seen (docs/architecture.md has the plan), on an
# outside library that enters by another door than its own, and on two files of one name.
cd "${1:-$(dirname "$0")/..}" || exit 2
rooms='formats|collect|analyze|viewer|samples|tests'
status=0

may_see() {	# may_see ROOM OTHER...: each file of ROOM includes from ROOM itself and OTHER only
	room=$1; allowed=$(echo "$@" | tr ' ' '|')
	grep -rnE --include='*.[chS]' "#include \"($rooms)/" "$room" 2>/dev/null |
		grep -vE ":#include \"($allowed)(/|\")" | grep -vE "^($inner)" >"$found" || return
	cat "$found"; echo "^ $room may see only: $*"; status=1
}

door() {	# door HEADERS ROOM...: outside headers matching HEADERS are included in ROOM... only
	headers=$1; shift
	grep -rnE --include='*.[ch]' "#include <($headers)>" formats collect analyze viewer samples tests 2>/dev/null |
		grep -vE "^($(echo "$@" | tr ' ' '|'))/" >"$found" || return
	cat "$found"; echo "^ only these may include <$headers>: $*"; status=1
}

found=$(mktemp) || exit 2
trap 'rm -f "$found"' EXIT
inner='formats/base/'
may_see formats
inner='collect/guest/'
may_see collect formats
inner='-'
may_see formats/base
may_see collect/guest collect/ring.h collect/cupti_places.h formats/base/safe_path.h 'formats/cuda_api[^"]*' 'formats/arch[^"]*'
may_see analyze formats
may_see viewer formats analyze
may_see samples

door 'zstd.*|zlib.h' formats tests
door 'jansson.h' formats tests
door '(ncursesw/)?n?curses.h|term.h' viewer
door 'bpf/.*' collect
door 'cupti.*' collect samples tests/gpu tests/unit
door 'cuda.*' tests/gpu

twice=$(find formats collect analyze viewer samples -name '*.[ch]' | sed 's,.*/,,' | sort | uniq -d)
[ -z "$twice" ] || { echo "names used twice: "$twice; status=1; }
exit $status
