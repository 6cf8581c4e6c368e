# The preloaded library's file: it loads into any program on any system that CUDA supports.
. "$SRC/tests/lib.sh"
lib=$B/libgtpreload.so

newest=$(objdump -T "$lib" | grep -o 'GLIBC_[0-9.]*' | sed 's/GLIBC_//' | sort -uV | tail -n 1)
if [ "$(printf '%s\n2.17\n' "$newest" | sort -V | tail -n 1)" = 2.17 ]; then ok no-new-libc-symbols
else fail no-new-libc-symbols "needs GLIBC_$newest"; fi

needed=$(readelf -d "$lib" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | tr '\n' ' ')
if [ "$needed" = "libc.so.6 " ]; then ok links-only-libc; else fail links-only-libc "needs $needed"; fi

taboo=$(objdump -T "$lib" | awk '/\*UND\*/ { print $NF }' | grep -xE 'malloc|calloc|realloc|free|exit|_exit|abort|f?printf|pthread_.*|sigaction|signal|dlsym|dlvsym|dlopen|__asan_.*|__ubsan_.*' | tr '\n' ' ')
if [ -z "$taboo" ]; then ok asks-libc-for-nothing-it-may-not; else fail asks-libc-for-nothing-it-may-not "$taboo"; fi

sed -n 's/^GT_API(\(cu[A-Za-z0-9_]*\),.*/\1/p' "$SRC/formats/cuda/cuda_api.def" | sort >table
printf '%s\n' cuptiActivityDisable cuptiActivityDisableContext cuptiActivityEnable \
	cuptiActivityEnableAndDump cuptiActivityEnableContext cuptiActivityEnableDriverApi cuptiActivityEnableRuntimeApi cuptiActivityFlushAll \
	cuptiActivityRegisterCallbacks cuptiActivityRegisterTimestampCallback cuptiFinalize cuptiSubscribe gt_attach InitializeInjection InitializeInjectionNvtx2 InitializeInjectionNvtxExtension __assert_fail abort close dlclose dlsym execl execle execlp execv execve execveat execvp execvpe fexecve ioctl mmap mmap64 open open64 openat openat64 pthread_create prctl sigaction signal signalfd sigtimedwait sigwait sigwaitinfo >>table
objdump -T "$lib" | awk '$4 == ".text" { print $NF }' | sort >exports
sort table >want
same exports-the-table-and-no-more want exports

tls=$(readelf -rW "$lib" | grep -cE 'DTPMOD|TLSDESC' || true)
if [ "$tls" = 0 ]; then ok thread-storage-is-static; else fail thread-storage-is-static "$tls dynamic relocations"; fi

# Two constructors: the compiler's, and one that looks up functions of libc.
count=$(readelf -d "$lib" | sed -n 's/.*(INIT_ARRAYSZ) *\([0-9]*\).*/\1/p')
if [ "${count:-0}" -le 16 ]; then ok one-constructor; else fail one-constructor "init array of $count bytes"; fi

# a program without CUDA behaves as without the library
LD_PRELOAD=$lib ls / >with 2>&1
ls / >without 2>&1
same a-plain-program-is-unharmed without with
