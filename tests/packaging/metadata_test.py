#!/usr/bin/env python3
"""Compares what the packages say with the project: versions, dependencies, options. Usage: metadata_test.py PROJECT_DIR

The recipe of Conan is run with stubs in place of Conan; of vcpkg's port the JSON is read, and its portfile as text
(vcpkg.cmake runs that).
"""
import json
import pathlib
import re
import sys
import types
import unittest

# A dependency by its names: in find_package or find_path of CMake, in Conan, in vcpkg.
REQUIRED = {"absl": ("abseil", "abseil"), "fmt": ("fmt", "fmt")}
OPTIONAL = {"RONDO_WITH_OPENBLAS": "openblas", "RONDO_WITH_HIGHWAY": "highway", "RONDO_WITH_XBYAK": "xbyak"}
WITHOUT_PORT = {"RONDO_WITH_VIXL"}  # vcpkg does not have these libraries


def read(path):
    return (PROJECT / path).read_text(encoding="utf-8")


def project_version():
    return re.search(r"^\s*VERSION (\S+)$", read("CMakeLists.txt"), re.MULTILINE)[1]


def port():
    return json.loads(read("packaging/vcpkg/rondo/vcpkg.json"))


def dependencies(listed, host=False):
    """Names of those that the library needs, or of the tools of the port."""
    named = [{"name": each} if isinstance(each, str) else each for each in listed]
    return {each["name"] for each in named if each.get("host", False) == host}


def recipe():
    """An instance of the Conan recipe, whose requirements are collected in `required`."""
    class ConanFile:
        def __init__(self):
            self.required = []
            self.recipe_folder = str(PROJECT / "packaging" / "conan")
            self.options = types.SimpleNamespace(system_libraries=False)

        def requires(self, reference, **_):
            self.required.append(reference)

    def load(_, path):
        return pathlib.Path(path).read_text(encoding="utf-8")

    def module(name, **contents):
        found = types.ModuleType(name)
        vars(found).update(contents)
        return name, found

    unused = dict.fromkeys(["check_min_cppstd", "CMake", "CMakeDeps", "CMakeToolchain", "cmake_layout", "copy"])
    stubs = dict([module("conan", ConanFile=ConanFile), module("conan.tools"),
                  module("conan.tools.build", **unused), module("conan.tools.cmake", **unused),
                  module("conan.tools.files", load=load, **unused)])
    scope = {}
    sys.modules.update(stubs)
    try:
        exec(compile(read("packaging/conan/conanfile.py"), "conanfile.py", "exec"), scope)
    finally:
        for name in stubs:
            del sys.modules[name]
    return scope["Rondo"]()


class Metadata(unittest.TestCase):
    def test_versions(self):
        conan = recipe()
        conan.set_version()
        self.assertEqual(project_version(), conan.version)
        self.assertEqual(project_version(), port()["version"])

    def test_texts_name_the_version(self):
        for path in ("README.md", "packaging/README.md"):
            for found in re.findall(r"\brondo/(\d+\.\d+\.\d+)", read(path)):
                self.assertEqual(project_version(), found, path)

    def test_description_and_license(self):
        described = re.search(r'^\s*DESCRIPTION "(.*)"$', read("CMakeLists.txt"), re.MULTILINE)[1]
        conan = recipe()
        self.assertEqual([described] * 2, [conan.description, port()["description"]])
        self.assertEqual(conan.license, port()["license"])
        self.assertIn("Apache License", read("LICENSE"))

    def test_what_the_library_cannot_be_built_without(self):
        found = re.findall(r"^  rondo_find_package\((\w+)", read("cmake/RondoDependencies.cmake"), re.MULTILINE)
        needed = set(found) - {"GTest", "benchmark"}  # of tests and benchmarks
        self.assertEqual(set(REQUIRED), needed)
        conan = recipe()
        conan.requirements()
        self.assertEqual({name for name, _ in REQUIRED.values()},
                         {reference.partition("/")[0] for reference in conan.required})
        self.assertEqual({name for _, name in REQUIRED.values()}, dependencies(port()["dependencies"]))

    def test_each_option_of_the_project_is_a_feature(self):
        options = set(re.findall(r"^set\((RONDO_WITH_\w+) AUTO CACHE", read("CMakeLists.txt"), re.MULTILINE))
        self.assertEqual(set(OPTIONAL) | WITHOUT_PORT, options)
        features = port()["features"]
        self.assertEqual({*OPTIONAL.values(), "libzip", "command"}, set(features))
        portfile = read("packaging/vcpkg/rondo/portfile.cmake")
        for option, feature in OPTIONAL.items():
            self.assertRegex(portfile, rf"\b{feature}\s+{option}\b")
            self.assertEqual({feature}, dependencies(features[feature]["dependencies"]))
        for option in WITHOUT_PORT:
            self.assertIn(f"-D{option}=OFF", portfile)
        default = {each["name"] for each in port()["default-features"]}
        self.assertLessEqual(default, set(features))

    def test_the_tools_that_the_portfile_calls(self):
        portfile = read("packaging/vcpkg/rondo/portfile.cmake")
        tools = {"vcpkg-cmake-config" if "config_fixup" in name else "vcpkg-cmake"
                 for name in re.findall(r"^(vcpkg_cmake_\w+)\(", portfile, re.MULTILINE)}
        self.assertEqual(tools, dependencies(port()["dependencies"], host=True))


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    PROJECT = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
