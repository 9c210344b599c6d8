"""The recipe for Conan, tried with the Conan of PyPI: the package is made, and a project with actors uses it."""

import os
import subprocess
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROFILE = """\
[settings]
os=Linux
arch=x86_64
compiler=clang
compiler.version=19
compiler.libcxx=libstdc++11
compiler.cppstd=20
build_type=Release
[conf]
tools.build:compiler_executables={"c": "clang-19", "cpp": "clang++-19"}
tools.cmake.cmaketoolchain:generator=Ninja
"""
CONANFILE = "[requires]\nmillrace/[>=0.1]\n[generators]\nCMakeToolchain\n"


def run(*command: str | Path, folder: Path, home: Path) -> str:
    environment = os.environ | {"CONAN_HOME": str(home)}
    done = subprocess.run(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.mark.long  # compiles all libraries anew
def test_a_project_uses_the_conan_package(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (tmp_path / "profile").write_text(PROFILE)
    venv.create(tmp_path / "venv", with_pip=True)
    run(tmp_path / "venv" / "bin" / "pip", "install", "-q", "conan>=2.4,<3", folder=tmp_path, home=home)
    conan, profile = tmp_path / "venv" / "bin" / "conan", f"-pr:a={tmp_path / 'profile'}"
    run(conan, "create", ROOT / "actorc" / "cmake", profile, "--test-folder=", folder=tmp_path, home=home)

    project = tmp_path / "hello"
    run("cp", "-r", ROOT / "tests" / "examples" / "hello", project, folder=tmp_path, home=home)
    (project / "conanfile.txt").write_text(CONANFILE)
    run(conan, "install", ".", profile, "--output-folder=build", folder=project, home=home)
    toolchain = project / "build" / "conan_toolchain.cmake"
    options = ("-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", f"-DCMAKE_TOOLCHAIN_FILE={toolchain}")
    run("cmake", "-S", ".", "-B", "build", *options, folder=project, home=home)
    run("cmake", "--build", "build", folder=project, home=home)
    assert "100% tests passed" in run("ctest", "--test-dir", "build", folder=project, home=home)
