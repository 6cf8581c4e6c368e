#!/bin/sh
# tests/lint.sh: checks the formatting of all sources (.clang-format) and looks for defects with cppcheck.
#
# Both tools change their verdicts from version to version. The versions of Debian 12 decide: with another version the
# script says so and checks nothing. tests/cppcheck-suppressions lists the findings of cppcheck that are wrong, and why.
# Exit status 1 if anything is found. With CI set, a missing tool is a failure, too.
cd "$(dirname "$0")/.." || exit 2
status=0

absent() { echo "lint: $1 is not checked: it needs $2, and there is ${3:-none}"; }

version=$(clang-format --version 2>/dev/null | grep -oE '[0-9]+\.[0-9.]+' | head -n 1)
case $version in
14.*)	find collect formats analyze viewer samples tests -name '*.[ch]' -print0 |
		xargs -0 -n 50 -P "$(nproc)" clang-format --dry-run -Werror || status=1 ;;
*)	absent formatting 'clang-format 14' "$version" ;;
esac

version=$(cppcheck --version 2>/dev/null | grep -oE '[0-9.]+')
case $version in
2.10*)	cppcheck -q -j "$(nproc)" --std=c11 -I. --enable=warning,portability --inline-suppr --error-exitcode=1 \
		--suppressions-list=tests/cppcheck-suppressions -i collect/bpf/programs formats analyze collect viewer || status=1 ;;
*)	absent defects 'cppcheck 2.10' "$version" ;;
esac
exit $status
