# make portable: BUILD/gt-portable-ARCH.tar.gz, a tarball for any node of a cluster. Its programs
# contain zstd, zlib and jansson (gtview also ncurses) and run on glibc 2.31 and newer. The
# preloaded library needs nothing newer than 2.17.
ARCH     := $(shell uname -m)
PORT     := $(BUILD)/portable
PORTNAME := gt-portable-$(ARCH)
PORTLIBS  = -Wl,-Bstatic $(if $(filter %/gtview,$@),$(CURSES)) -lzstd -lz -ljansson -Wl,-Bdynamic
PORTABLE := $(patsubst $(BUILD)/%,$(PORT)/bin/%,$(PROGRAMS)) $(if $(GUEST),$(PORT)/lib/gt/libgtpreload.so)

$(PORT)/stubs-%/done: portable/stubs.sh
	CC="$(CC)" portable/stubs.sh $(@D) $*
	@touch $@
$(PORT)/shim.o: portable/shim.c
	@mkdir -p $(@D)
	$(CC) $(GTFLAGS) $(CFLAGS) -fno-builtin -c $< -o $@

# Start files and libgcc come from the compiler; all symbols of the C library come from the stubs.
stubs     = $(addprefix $(PORT)/stubs-$(1)/,libpthread.so libdl.so librt.so libm.so libc.so)
port_link = $(CC) -pie -nodefaultlibs -Wl,--wrap=__libc_start_main $(WRAPS) -Wl,-z,relro,-z,now,--strip-debug $(filter %.o,$^) \
            -Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(PORTLIBS) \
            -Wl,--no-as-needed $(call stubs,2.31) -lgcc -o $@

$(PORT)/bin/gtcollect: $(call obj,collect/gtcollect.c $(COLLECT))
$(PORT)/bin/gtexport: $(call obj,formats/gtexport.c)
$(PORT)/bin/gtanalyze: $(call obj,analyze/gtanalyze.c $(ANALYZE))
$(PORT)/bin/gtrace: $(call obj,command/gtrace.c)
$(PORT)/bin/gtview: $(call obj,viewer/gtview.c) $(BUILD)/libgtview.a $(BUILD)/libgtanalyze.a
$(PORT)/bin/%: $(PORT)/shim.o $(LIBGT) $(PORT)/stubs-2.31/done
	@mkdir -p $(@D)
	$(port_link)

# The guest is built to need nothing newer than 2.17.
$(PORT)/lib/gt/libgtpreload.so: $(BUILD)/libgtpreload.so
	@mkdir -p $(@D)
	objcopy --strip-debug $< $@

$(BUILD)/$(PORTNAME).tar.gz: $(PORTABLE) $(wildcard README.md NEWS.md LICENSE docs/*.md formats/TRACE_FORMAT.md)
	@mkdir -p $(PORT)/share/doc/gt
	cp $(filter %.md LICENSE,$^) $(PORT)/share/doc/gt/
	tar -C $(PORT) --owner=0 --group=0 --sort=name --transform='s,^,$(PORTNAME)/,' -czf $@ \
		bin $(if $(GUEST),lib) share
portable: setup | all
	@$(MAKE) --no-print-directory -j$$(nproc) $(BUILD)/$(PORTNAME).tar.gz
	@ls -l $(BUILD)/$(PORTNAME).tar.gz
.PHONY: portable
.SECONDARY: $(PORT)/stubs-2.31/done
