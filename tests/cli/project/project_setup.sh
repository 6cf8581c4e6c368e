# .ci/setup: when nothing is missing, it is silent and uses no network; without root it prints the command to run; as root it installs the
# packages. Scripts replace the package manager, the compiler and id.
. "$SRC/tests/lib.sh"

mkdir fake
play() { printf '#!/bin/sh\n%s\n' "$2" >"fake/$1"; chmod +x "fake/$1"; }
setup() { env -u MAKEFLAGS -u CI CC="$PWD/fake/cc" PATH="$PWD/fake:$PATH" "$SRC/.ci/setup"; }
play apt-get 'echo "$*" >>apt.log'
play cc 'exit 0'
play id 'echo 1000'
for t in make zstd objdump; do play $t ''; done

want nothing-missing 0 setup
check nothing-missing-is-silent test ! -s want.out -a ! -s want.err -a ! -e apt.log
play cc 'if grep -q jansson.h; then exit 1; fi'
want user-is-reported 1 setup
check user-gets-one-line grep -qx "  sudo sh -c 'apt-get update && apt-get install -y --no-install-recommends libjansson-dev'" want.err
check user-installs-nothing test ! -e apt.log
play id 'echo 0'
want root-installs 0 setup
printf 'update -q\ninstall -q -y --no-install-recommends libjansson-dev\n' >expected
same root-installs-what-is-missing expected apt.log
play apt-get 'exit 100'
want failed-installation-fails 100 setup

# only gtview needs ncurses: without it the setup succeeds; when another package is missing, ncurses is installed with it
rm -f apt.log
play cc 'if grep -q curses; then exit 1; fi'
play id 'echo 1000'
want spare-is-not-asked-for 0 setup
check spare-is-silent test ! -s want.out -a ! -s want.err
play cc 'if grep -qE "jansson|curses"; then exit 1; fi'
want spare-comes-along 1 setup
check spare-is-in-the-line grep -q ' libjansson-dev libncurses-dev' want.err
play id 'echo 0'
play cc 'if grep -q curses; then exit 1; fi'
want spare-may-fail 0 setup
play apt-get 'echo "$*" >>apt.log'
want root-installs-spare 0 setup
printf 'update -q\ninstall -q -y --no-install-recommends libncurses-dev\n' >expected
same root-installs-libncurses-dev expected apt.log

# in CI the setup also installs, one by one, packages that some tests use; those that are not available are skipped
play apt-get 'echo "$*" >>wish.log; exit 100'
play cc 'exit 0'
mkdir bare && ln -s "$(command -v sh)" "$(command -v env)" "$(command -v tr)" "$(command -v sed)" "$(command -v sort)" bare/
want wishes-may-fail 0 env -u MAKEFLAGS CI=1 CC="$PWD/fake/cc" PATH="$PWD/fake:$PWD/bare" sh "$SRC/.ci/setup"
is wishes-are-made 'bpftrace linux-perf gdb sqlite3 tmux clang-format cppcheck python3-venv' "$(sed -n 's/^install.* //p' wish.log | paste -sd ' ')"
