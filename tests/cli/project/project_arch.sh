# Code for each processor architecture assembles, also on a machine of another architecture.
. "$SRC/tests/lib.sh"
[ -z "$SAN" ] || { skip arch "it depends on no build: the plain run of the same test does it"; exit 0; }

cat >arch.c <<'END'
#include "formats/arch/arch.h"
uint64_t ticks(void);
uint64_t ticks(void)
{
	gt_cpu_pause();
	return gt_ticks();
}
void *hook(void *a, const char *b);
void *hook(void *a, const char *b) { return b ? a : 0; }
void *real = 0;
GT_TAIL_JUMP(jump, hook, real);
END
for target in x86_64 aarch64; do
	if ! command -v clang >/dev/null; then skip "assembles-$target" "no clang here to compile for another processor"; continue; fi
	if echo '#include <pthread.h>' | clang --target=$target-linux-gnu -E - >/dev/null 2>&1; then
		check "assembles-stubs-$target" clang --target=$target-linux-gnu -ffreestanding -std=gnu11 -Wall -Wextra -Werror -O2 -fPIC \
			-I"$SRC" -c "$SRC/samples/simgpu/calls.c" -o calls.o
	else
		skip "assembles-stubs-$target" "the headers of the C library for it are not here"
	fi
	check "assembles-$target" clang --target=$target-linux-gnu -ffreestanding -std=gnu11 -Wall -Wextra -Werror -O2 -fPIC -I"$SRC" -c arch.c
done

# The BPF programs, which read registers: clang compiles them for each architecture's kernel.
for arch in x86 arm64; do
	if ! command -v clang >/dev/null || ! [ -e /usr/include/bpf/bpf_helpers.h ]; then skip "bpf-programs-$arch" "no clang or no libbpf-dev here"; continue; fi
	check "bpf-programs-$arch" clang -O2 -g -target bpf -mcpu=v3 -I"$SRC" -I"/usr/include/$(uname -m)-linux-gnu" -Wall -Werror \
		-D__TARGET_ARCH_$arch -c "$SRC/collect/bpf/programs/all_bpf.c" -o bpf.o
done

# The whole guest library, if there is a compiler with a C library for the other architecture.
X=aarch64-linux-gnu-gcc
if ! command -v $X >/dev/null || ! echo '#include <stdio.h>' | $X -E - >/dev/null 2>&1; then skip assembles-guest "no $X here"
else
	guest="$(ls "$SRC"/collect/guest/*/*.c) $SRC/formats/cuda/cuda_api.c $SRC/formats/cuda/cuda_cbid.c $SRC/formats/python/python_layout.c $SRC/formats/python/python_text.c $B/gen/wrappers.c"
	check assembles-guest $X -std=gnu11 -I"$SRC" -Wall -Wextra -Wno-unused-parameter -Werror -O2 -fPIC -fvisibility=hidden -shared -Wl,-Bsymbolic \
		-Wl,-z,defs $guest -o guest.so
	need=$(aarch64-linux-gnu-objdump -T guest.so 2>/dev/null | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -n 1)
	check assembles-collect $X -std=gnu11 -fsyntax-only -I"$SRC" -I"$B/gen" -idirafter /usr/include -Wall -Wextra -Wno-unused-parameter -Werror \
		-DGT_BPF_OBJECTS='""' $(find "$SRC/collect" -name '*.c' ! -path '*/guest/*' ! -path '*/programs/*' ! -name bpf_missing.c)
	check assembles-guest-for-old-systems test "$need" = GLIBC_2.17
fi
