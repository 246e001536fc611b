#!/bin/sh
# Finds a Python that can build rosenblatt and prints its path; or says, once and completely, what this machine lacks.
#
#   python=$(sh scripts/check_machine.sh)             the first of python3, python3.14, ... python3.11 that will do
#   python=$(sh scripts/check_machine.sh python3.12)  this one or none
#
# Needs: Python 3.11 or later with its venv module and C headers, and a C++20 compiler ($CXX, c++, g++ or clang++).
set -u

missing=""
need() { missing="${missing}
  - $1"; }

# --- Python ---------------------------------------------------------------------------------------------------------
# Candidates are run, not only looked up: version managers leave names on the path that start nothing.
candidates=${1:-}
[ -n "$candidates" ] || candidates="python3 python3.14 python3.13 python3.12 python3.11"

python=""
for candidate in $candidates; do
  if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
    python=$("$candidate" -c 'import sys; print(sys.executable)')
    break
  fi
done

if [ -z "$python" ]; then
  found=$(for c in $candidates; do "$c" --version 2>/dev/null && break; done)
  need "Python 3.11 or later (tried: ${candidates}; found: ${found:-none})
      Debian, Ubuntu:  sudo apt-get install python3 python3-venv python3-dev
      Fedora:          sudo dnf install python3 python3-devel
      macOS:           brew install python, or the installer from python.org
      Elsewhere it may have another name: make PYTHON=/path/to/python3.12"
else
  version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  "$python" -c 'import ensurepip, venv' >/dev/null 2>&1 ||
    need "the venv module of Python ${version}
      Debian, Ubuntu:  sudo apt-get install python3-venv   (or python${version}-venv)"
  "$python" -c '
import os, sys, sysconfig
paths = {sysconfig.get_path(name) for name in ("include", "platinclude")}
sys.exit(not any(os.path.exists(os.path.join(path, "Python.h")) for path in paths))' >/dev/null 2>&1 ||
    need "the C headers of Python ${version} (Python.h)
      Debian, Ubuntu:  sudo apt-get install python3-dev    (or python${version}-dev)
      Fedora:          sudo dnf install python3-devel"
fi

# --- C++ compiler ---------------------------------------------------------------------------------------------------
install_compiler="Debian, Ubuntu:  sudo apt-get install g++
      Fedora:          sudo dnf install gcc-c++
      macOS:           xcode-select --install"

compiler=${CXX:-}
if [ -z "$compiler" ]; then
  for candidate in c++ g++ clang++; do
    if command -v "$candidate" >/dev/null 2>&1; then compiler=$candidate; break; fi
  done
fi

case "$(uname -s)" in
  MINGW*|MSYS*|CYGWIN*) ;;  # Visual Studio's compiler is not on the path; CMake finds it, or says that it is missing.
  *)
    # $compiler stays unquoted: CXX="ccache g++" is two words.
    if [ -z "$compiler" ]; then
      need "a C++20 compiler (tried: c++, g++, clang++)
      ${install_compiler}"
    elif ! command -v ${compiler%% *} >/dev/null 2>&1; then
      need "the C++ compiler that CXX names, '${compiler}', which is not there; unset CXX, or install one
      ${install_compiler}"
    elif ! printf '#include <concepts>\n#include <span>\ntemplate <std::integral T> T one() { return 1; }\nint main() { return one<int>() - 1; }\n' |
      ${compiler} -std=c++20 -fsyntax-only -x c++ - >/dev/null 2>&1; then
      need "a compiler that knows C++20: '${compiler}' does not (GCC 11, Clang 14 or Xcode 14 and later do)
      ${install_compiler}"
    fi
    ;;
esac

if [ -n "$missing" ]; then
  printf 'rosenblatt cannot be built here yet. Missing:\n%s\n\nInstall that and run the same command again.\n' "${missing#?}" >&2
  exit 1
fi
printf '%s\n' "$python"
