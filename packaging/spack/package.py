# A spack recipe. In the folder of the sources, with this folder's package.py in a repository of yours
# (REPO/packages/gtrace/package.py, `spack repo add REPO`):
#
#     spack dev-build gtrace@main
#
# To build from a clone instead, set `git` to its address: spack install gtrace@main. spack 1.0 and newer need one line
# more, before the class: from spack_repo.builtin.build_systems.makefile import MakefilePackage
from spack.package import *


class Gtrace(MakefilePackage):
    """Records every call of a CUDA program to the driver, the work of the GPU and the driver's
    requests to the kernel into one small file, and reports where the GPUs' time went."""

    homepage = "file:///usr/share/doc/gtrace"
    git = "file:///path/to/gt"

    license("Apache-2.0")

    version("main", branch="main")

    depends_on("c", type="build")
    depends_on("gmake", type="build")
    depends_on("elfutils")
    depends_on("zstd")
    depends_on("zlib-api")
    depends_on("jansson")
    depends_on("sqlite")
    depends_on("ncurses+termlib")

    build_targets = ["programs", "man"]

    @property
    def install_targets(self):
        return ["install", f"PREFIX={self.prefix}"]

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_install(self):
        Executable(join_path(self.prefix.bin, "gtrace"))("--version")
