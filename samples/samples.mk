# The simulated GPU and the sample programs. Both stay unsanitized in a sanitized build, because a preloaded library goes into
# them; the unit tests of the simulator link its objects, and these are sanitized.
SIM_SRC  := $(filter-out samples/simgpu/cupti_% samples/simgpu/sim_nvml.c,$(wildcard samples/simgpu/*.c))
SIM_OBJ  := $(SIM_SRC:samples/simgpu/%.c=$(BUILD)/sim/%.o)
CUPTI_OBJ := $(patsubst samples/simgpu/%.c,$(BUILD)/sim/%.o,$(wildcard samples/simgpu/cupti_*.c))
SIM_FLAGS := $(GTFLAGS) $(CFLAGS)
# These call the driver as linked symbols; the others ask dlopen for libcuda.so.1.
LINKED   := train leak

# Behind the stubs of calls.c the driver's functions are called do_NAME, where calls.c has stubs for the processor.
SIM_DOORS := $(BUILD)/gen/sim_doors.h
SIM_BEHIND := $(filter-out samples/simgpu/calls.c samples/simgpu/entries.c,$(SIM_SRC))
SIM_BEHIND_OBJ := $(SIM_BEHIND:samples/simgpu/%.c=$(BUILD)/sim/%.o) $(call obj,$(SIM_BEHIND))
ifneq ($(filter x86_64-% aarch64-%,$(shell $(CC) -dumpmachine)),)
$(SIM_BEHIND_OBJ): $(SIM_DOORS)
$(SIM_BEHIND_OBJ): GTFLAGS += -include $(SIM_DOORS)
$(SIM_BEHIND_OBJ): SIM_FLAGS += -include $(SIM_DOORS)
endif
$(SIM_DOORS): samples/simgpu/entries.h
	@mkdir -p $(@D)
	grep -oE '[FP]\(cu[^)]*\)' $< | sed -E 's/.\((cu[A-Za-z0-9]*), [0-9]*, ?(\w*)\)/#define \1\2 do_\1\2/' >$@

$(BUILD)/sim/%.o: samples/simgpu/%.c
	@mkdir -p $(@D)
	$(CC) $(SIM_FLAGS) -fPIC -c $< -o $@

# As in the real driver one entry point that uses another reaches it directly; only ioctl goes through the dynamic linker.
SIM_LINK := -shared -Wl,-soname,libcuda.so.1 -Wl,-z,nodelete -Wl,--version-script=samples/simgpu/exports.map \
            -Wl,-Bsymbolic-functions -Wl,--dynamic-list=samples/simgpu/preempt.map
$(BUILD)/sim/libcuda.so.1: $(SIM_OBJ) samples/simgpu/exports.map samples/simgpu/preempt.map
	$(CC) $(SIM_LINK) $(SIM_OBJ) -ldl -pthread -o $@
	ln -sf libcuda.so.1 $(@D)/libcuda.so
# With the toolkit's headers at hand the layouts are compared with them.
CUDA_HOME ?= /usr/local/cuda
$(BUILD)/sim/cupti_layout.o: SIM_FLAGS += $(addprefix -isystem ,$(wildcard $(CUDA_HOME)/include))
# Never unloaded: the driver tells it of work under way also after it has let go.
$(BUILD)/sim/libcupti.so.13: $(CUPTI_OBJ) samples/simgpu/cupti.map
	$(CC) -shared -Wl,-soname,libcupti.so.13 -Wl,-z,nodelete -Wl,-z,defs -Wl,--version-script=samples/simgpu/cupti.map \
		-Wl,-Bsymbolic-functions $(CUPTI_OBJ) -ldl -pthread -o $@

# A library of its own, with nothing of the driver's.
all: $(BUILD)/sim/libnvidia-ml.so.1
$(BUILD)/sim/libnvidia-ml.so.1: $(BUILD)/sim/sim_nvml.o
	$(CC) -shared -Wl,-soname,libnvidia-ml.so.1 -Wl,-z,defs $< -o $@

$(BUILD)/samples/%: samples/%.c $(BUILD)/sim/libcuda.so.1
	@mkdir -p $(@D)
	$(CC) $(SIM_FLAGS) $(if $(filter $*,$(LINKED)),-DCU_LINKED) $< $(if $(filter $*,$(LINKED)),-L$(BUILD)/sim -lcuda) -ldl -pthread -o $@

SIM_UNITS := $(filter-out test_sim_cupti,$(basename $(notdir $(wildcard tests/unit/samples/test_sim*.c))))
$(foreach t,$(SIM_UNITS),$(eval EXTRA_$(t) := $(call obj,$(SIM_SRC))))
$(BUILD)/unit/test_sim_cupti: | $(BUILD)/sim/libcuda.so.1 $(BUILD)/sim/libcupti.so.13
EXTRA_test_sim_files := $(filter-out %/ioctl.o,$(EXTRA_test_sim_files))
