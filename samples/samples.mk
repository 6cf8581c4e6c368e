# The simulated GPU and the sample programs. Both stay unsanitized in a sanitized build, because a
# library is preloaded into them. The unit tests of the simulator link its sanitized objects.
SIM_SRC  := $(filter-out samples/simgpu/cupti_% samples/simgpu/sim_nvml.c,$(wildcard samples/simgpu/*.c))
SIM_OBJ  := $(SIM_SRC:samples/simgpu/%.c=$(BUILD)/sim/%.o)
CUPTI_OBJ := $(patsubst samples/simgpu/%.c,$(BUILD)/sim/%.o,$(wildcard samples/simgpu/cupti_*.c))
SIM_FLAGS := $(GTFLAGS) $(CFLAGS)
# These are linked with the driver; the others load libcuda.so.1 with dlopen.
LINKED   := train leak

# The driver's functions are renamed to do_NAME if calls.c has stubs for the processor.
SIM_RENAMES := $(BUILD)/gen/sim_renames.h
SIM_RENAMED := $(filter-out samples/simgpu/calls.c samples/simgpu/entries.c,$(SIM_SRC))
SIM_RENAMED_OBJ := $(SIM_RENAMED:samples/simgpu/%.c=$(BUILD)/sim/%.o) $(call obj,$(SIM_RENAMED))
ifneq ($(filter x86_64-% aarch64-%,$(shell $(CC) -dumpmachine)),)
$(SIM_RENAMED_OBJ): $(SIM_RENAMES)
$(SIM_RENAMED_OBJ): GTFLAGS += -include $(SIM_RENAMES)
$(SIM_RENAMED_OBJ): SIM_FLAGS += -include $(SIM_RENAMES)
endif
$(SIM_RENAMES): samples/simgpu/entries.h
	@mkdir -p $(@D)
	grep -oE '[FP]\(cu[^)]*\)' $< | sed -E 's/.\((cu[A-Za-z0-9]*), [0-9]*, ?(\w*)\)/#define \1\2 do_\1\2/' >$@

$(BUILD)/sim/%.o: samples/simgpu/%.c
	@mkdir -p $(@D)
	$(CC) $(SIM_FLAGS) -fPIC -c $< -o $@

# As in the real driver, an entry point calls another one directly; only ioctl goes through the
# dynamic linker.
SIM_LINK := -shared -Wl,-soname,libcuda.so.1 -Wl,-z,nodelete -Wl,--version-script=samples/simgpu/exports.map \
            -Wl,-Bsymbolic-functions -Wl,--dynamic-list=samples/simgpu/preempt.map
$(BUILD)/sim/libcuda.so.1: $(SIM_OBJ) samples/simgpu/exports.map samples/simgpu/preempt.map
	$(CC) $(SIM_LINK) $(SIM_OBJ) -ldl -pthread -o $@
	ln -sf libcuda.so.1 $(@D)/libcuda.so
# If the toolkit's headers are installed, the layouts are compared with them.
CUDA_HOME ?= /usr/local/cuda
$(BUILD)/sim/cupti_layout.o: SIM_FLAGS += $(addprefix -isystem ,$(wildcard $(CUDA_HOME)/include))
# Never unloaded: the driver reports running work to it even after it has detached.
$(BUILD)/sim/libcupti.so.13: $(CUPTI_OBJ) samples/simgpu/cupti.map
	$(CC) -shared -Wl,-soname,libcupti.so.13 -Wl,-z,nodelete -Wl,-z,defs -Wl,--version-script=samples/simgpu/cupti.map \
		-Wl,-Bsymbolic-functions $(CUPTI_OBJ) -ldl -pthread -o $@

# Independent of the driver's sources.
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
