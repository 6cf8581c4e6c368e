# The BPF programs, which gtcollect contains. They need clang, and libbpf to load them; without these gtcollect records by
# preload only, and says so.
BPF_CLANG   := $(firstword $(foreach c,clang clang-19 clang-18 clang-16 clang-14,$(shell command -v $(c) 2>/dev/null)))
HAVE_BPF    := $(if $(BPF_CLANG),$(shell printf '\043include <bpf/libbpf.h>\n' | $(CC) -E -x c - >/dev/null 2>&1 && echo yes))
BPF_SOURCES := $(shell find collect/bpf -name "*.c" -not -name bpf_missing.c -not -path "*/programs/*")
BPF_LIBS    := $(if $(HAVE_BPF),-lbpf)
# the processor that $(CC) compiles for: the programs know its registers
BPF_ARCH    := $(shell $(CC) -dumpmachine | sed 's/-.*//; s/x86_64/x86/; s/aarch64/arm64/')

BPF_OBJECTS := $(patsubst %,$(BUILD)/gen/%.o,all_bpf all_bpf_context all_bpf_no_session)
$(BUILD)/gen/all_bpf_context.o: BPF_FLAGS := -DSESSION_OF_CONTEXT
$(BUILD)/gen/all_bpf_no_session.o: BPF_FLAGS := -DNO_SESSION
$(BPF_OBJECTS): $(wildcard collect/bpf/programs/*) collect/bpf/bpf_events.h
	@mkdir -p $(@D)
	$(BPF_CLANG) -O2 -g -target bpf -mcpu=v3 -I. -I/usr/include/$(shell uname -m)-linux-gnu -Wall -D__TARGET_ARCH_$(BPF_ARCH) $(BPF_FLAGS) -c collect/bpf/programs/all_bpf.c -o $@
	@llvm-objcopy --strip-debug --remove-section=.rel.BTF --remove-section=.rel.BTF.ext --remove-section=.llvm_addrsig $@ 2>/dev/null || true
$(BUILD)/collect/bpf/bpf_object.o: GTFLAGS += -DGT_BPF_OBJECTS='"$(BUILD)/gen/"'
$(BUILD)/fuzz/collect/bpf/bpf_object.o: FUZZFLAGS += -DGT_BPF_OBJECTS='"$(BUILD)/gen/"'
$(BUILD)/collect/bpf/bpf_object.o $(BUILD)/fuzz/collect/bpf/bpf_object.o: $(BPF_OBJECTS)

# What tests/cli/collect/ebpf*.sh observe.
$(BUILD)/bpf/%: tests/unit/collect/bpf/%_prog.c
	@mkdir -p $(@D)
	$(CC) -O1 -g -I. $(BPF_TEST_FLAGS) $< -pthread -ldl -o $@
$(BUILD)/bpf/usdt: tests/unit/collect/bpf/memory_library.h
# gcc would name variables in its notes by labels that no file has (aarch64)
$(BUILD)/bpf/usdt: BPF_TEST_FLAGS := $(if $(filter arm64,$(BPF_ARCH)),-fno-section-anchors)
# <sys/sdt.h> is systemtap-sdt-dev's
HAVE_SDT := $(shell printf '\043include <sys/sdt.h>\n' | $(CC) -E -x c - >/dev/null 2>&1 && echo yes)
BPF_TESTS := $(patsubst %,$(BUILD)/bpf/%,waits deadlock wakers parent functions many_functions many_files driver_requests gated_calls renamed thread_crowd $(if $(HAVE_SDT),usdt kernels))
units: $(BPF_TESTS)

# Empty programs, beside which tests/bench/bench_probed_call.c measures.
$(BUILD)/gen/empty_probes.o: tests/bench/empty_probes.bpf.c
	@mkdir -p $(@D)
	$(BPF_CLANG) -O2 -g -target bpf -mcpu=v3 -I/usr/include/$(shell uname -m)-linux-gnu -Wall -c $< -o $@
benches: $(BUILD)/gen/empty_probes.o
