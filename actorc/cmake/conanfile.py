"""The recipe of a package for Conan 2: `conan create actorc/cmake --test-folder=`.

It needs no other package: the libraries that Millrace uses come from the system, where `tools/setup library` installs
them.
"""

import re
from pathlib import Path
from typing import ClassVar

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load

COMPILERS = {"clang": 17, "gcc": 12}  # the oldest of each


class Millrace(ConanFile):
    name = "millrace"
    description = "An actor framework for C++20"
    license = "Apache-2.0"
    package_type = "static-library"
    settings = "os", "arch", "compiler", "build_type"
    options: ClassVar = {"checked": [True, False]}
    default_options: ClassVar = {"checked": False}

    def set_version(self):
        text = load(self, f"{self.recipe_folder}/../actorc/__init__.py")
        self.version = re.search('__version__ = "(.*)"', text)[1]

    def export_sources(self):
        root = Path(self.recipe_folder).parents[1]
        for pattern in ("CMakeLists.txt", "LICENSE", "flow/*", "net/*", "actorc/*", "tools/millrace/*"):
            copy(self, pattern, root, self.export_sources_folder, excludes=("*/__pycache__/*", "*.egg-info/*"))

    def validate(self):
        compiler, version = str(self.settings.compiler), str(self.settings.compiler.version)
        if str(self.settings.os) != "Linux" or int(version.split(".")[0]) < COMPILERS.get(compiler, 10**6):
            raise ConanInvalidConfiguration("Millrace is for Linux, and needs clang 17 or gcc 12, or a newer one")

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        for part in ("TESTS", "BENCH", "EXAMPLES"):
            toolchain.cache_variables[f"MILLRACE_BUILD_{part}"] = False
        toolchain.cache_variables["MILLRACE_CHECKED"] = bool(self.options.checked)
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()

    def package_info(self):
        # find_package(millrace) reads what cmake --install has written, not what Conan would make of this.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = ["lib/cmake/millrace"]
