# Finds CUPTI, and builds a client for it (cupti_client.c). To be sourced, with $here the folder of
# this file:
#   build_client FOLDER     builds the library $client there. If the loader does not find CUPTI,
#                           CUPTI_CLIENT_LIBRARY names it, and $cupti has gtcollect's option for it
find_file() {	# find_file NAME FOLDER...: the first existing one
	name=$1
	shift
	for folder; do [ ! -e "$folder/$name" ] || { echo "$folder/$name"; return; }; done
}

build_client() {
	client=$1/cupti_client.so
	cuda=${CUDA_HOME:-/usr/local/cuda}
	[ -d "$cuda" ] || ! nvcc=$(command -v nvcc) || cuda=$(dirname "$(dirname "$(readlink -f "$nvcc")")")
	wheel=$(python3 -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])' 2>/dev/null)/nvidia
	header=$(find_file cupti.h "$cuda/include" "$cuda/extras/CUPTI/include" "$cuda/targets/$(uname -m)-linux/include" "$wheel/cu13/include" \
		"$wheel/cuda_cupti/include")
	[ -n "$header" ] || {
		echo "cupti.h was not found (set CUDA_HOME to the toolkit's folder)"
		return 1
	}
	gcc -O2 -shared -fPIC -pthread -I"$here/../.." -I"${header%/*}" -I"$cuda/include" "$here/cupti_client.c" -ldl -o "$client" || return 1
	ldconfig -p | grep -q 'libcupti\.so\.1[1-9]' && return 0
	library=$(find_file libcupti.so.13 ${LD_LIBRARY_PATH//:/ } "$cuda/lib64" "$cuda/lib" "$cuda/extras/CUPTI/lib64" \
		"$cuda/targets/$(uname -m)-linux/lib" "$wheel/cu13/lib")
	export CUPTI_CLIENT_LIBRARY=${CUPTI_CLIENT_LIBRARY:-$library}
	cupti=${CUPTI_CLIENT_LIBRARY:+--cupti $CUPTI_CLIENT_LIBRARY}
	return 0
}
