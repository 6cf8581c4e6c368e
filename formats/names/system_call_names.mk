# The system calls of both processors, as C initializers "[NUMBER] = NAME,": gen/system_call_names_*.h. The numbers are those of the
# kernel's headers. x86_64 has a header of its own, which other machines may lack; then its table is empty.
CALLS_HEADER_x86_64  := $(if $(filter x86_64-%,$(shell $(CC) -dumpmachine)),asm/unistd_64.h,x86_64-linux-gnu/asm/unistd_64.h)
CALLS_HEADER_aarch64 := asm-generic/unistd.h
# as the processor's own header sets them before it includes the generic one
CALLS_FLAGS_aarch64  := $(addprefix -D__ARCH_WANT_,RENAMEAT NEW_STAT SET_GET_RLIMIT SYS_CLONE3 MEMFD_SECRET)
$(BUILD)/gen/system_call_names_%.h: formats/names/system_call_names.mk
	@mkdir -p $(@D)
	@include='#include <$(CALLS_HEADER_$*)>'; cpp="$(CC) $(CALLS_FLAGS_$*) -E -P"; \
	{ echo "$$include"; echo "$$include" | $$cpp -dM - 2>/dev/null | \
		sed -n 's/^#define __NR_\([a-z0-9_]*\) .*/\1/p' | grep -vx 'syscalls\|arch_specific_syscall' | \
		sed 's/.*/[__NR_&] = "&",/'; } | $$cpp - 2>/dev/null | grep '^\[' | sort -u >$@ || :
$(BUILD)/formats/names/system_call_names.o $(BUILD)/fuzz/formats/names/system_call_names.o: $(patsubst %,$(BUILD)/gen/system_call_names_%.h,x86_64 aarch64)
