# The simulated GPU and the sample programs. Both stay unsanitized in a sanitized build, because a preloaded library goes into
# them; the unit tests of the simulator link its objects, and these are sanitized.
SIM_SRC  := $(wildcard samples/simgpu/*.c)
SIM_OBJ  := $(SIM_SRC:samples/simgpu/%.c=$(BUILD)/sim/%.o)
SIM_FLAGS := $(GTFLAGS) $(CFLAGS)
# These call the driver as linked symbols; the others ask dlopen for libcuda.so.1.
LINKED   := train leak

$(BUILD)/sim/%.o: samples/simgpu/%.c
	@mkdir -p $(@D)
	$(CC) $(SIM_FLAGS) -fPIC -c $< -o $@

# As in the real driver one entry point that uses another reaches it directly; only ioctl goes through the dynamic linker.
SIM_LINK := -shared -Wl,-soname,libcuda.so.1 -Wl,-z,nodelete -Wl,--version-script=samples/simgpu/exports.map \
            -Wl,-Bsymbolic-functions -Wl,--dynamic-list=samples/simgpu/preempt.map
$(BUILD)/sim/libcuda.so.1: $(SIM_OBJ) samples/simgpu/exports.map samples/simgpu/preempt.map
	$(CC) $(SIM_LINK) $(SIM_OBJ) -ldl -pthread -o $@
	ln -sf libcuda.so.1 $(@D)/libcuda.so

$(BUILD)/samples/%: samples/%.c $(BUILD)/sim/libcuda.so.1
	@mkdir -p $(@D)
	$(CC) $(SIM_FLAGS) $(if $(filter $*,$(LINKED)),-DCU_LINKED) $< $(if $(filter $*,$(LINKED)),-L$(BUILD)/sim -lcuda) -ldl -pthread -o $@

SIM_UNITS := $(patsubst tests/unit/%.c,%,$(wildcard tests/unit/test_sim*.c))
$(foreach t,$(SIM_UNITS),$(eval EXTRA_$(t) := $(call obj,$(SIM_SRC))))
EXTRA_test_sim_files := $(filter-out %/ioctl.o,$(EXTRA_test_sim_files))
