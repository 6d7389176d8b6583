# The library for Conan 2: `conan create packaging/conan` in a clone of the repository.
# Abseil and fmt are Conan's packages, or with -o "&:system_libraries=True" those of the system.
import os
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load


class Rondo(ConanFile):
    name = "rondo"
    description = "A lazy tensor tracer in which loops are first class"
    license = "Apache-2.0"
    topics = ("tensors", "automatic-differentiation", "xla", "stablehlo", "jit")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "fPIC": [True, False], "system_libraries": [True, False]}
    default_options = {"shared": False, "fPIC": True, "system_libraries": False}

    def _repository(self):
        return os.path.join(self.recipe_folder, os.pardir, os.pardir)

    def set_version(self):
        project = load(self, os.path.join(self._repository(), "CMakeLists.txt"))
        self.version = re.search(r"VERSION (\d+[.]\d+[.]\d+)", project).group(1)

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "cmake/*", "debug/*", "include/*", "src/*"):
            copy(self, pattern, self._repository(), self.export_sources_folder)

    def configure(self):
        if self.options.shared:
            self.options.rm_safe("fPIC")

    def layout(self):
        cmake_layout(self)

    def validate(self):
        check_min_cppstd(self, 20)

    def requirements(self):
        if not self.options.system_libraries:
            self.requires("abseil/[>=20220623]", transitive_headers=False)
            self.requires("fmt/[>=9]", transitive_headers=True)

    def system_requirements(self):
        if self.options.system_libraries:
            from conan.tools.system.package_manager import Apt

            Apt(self).check(["libabsl-dev", "libfmt-dev"])

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables.update({
            f"RONDO_BUILD_{part}": False for part in ("TESTS", "BENCHMARKS", "EXAMPLES", "COMMAND")
        })
        toolchain.cache_variables["RONDO_UNITY_BUILD"] = True
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        CMake(self).install()

    def package_info(self):
        # The targets of the library's own CMake package, which knows what links what.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = [os.path.join("lib", "cmake", "rondo")]
