"""Every unit is optimised as the precompiled header that it includes.

g++ takes the options for functions from the header, so kernels with -O3 beside a header with -O2 are
compiled with -O2: products of matrices took twice as long. Usage: precompiled_headers_test.py BUILD
"""

import json
import pathlib
import re
import sys


def level(command):
    return re.findall(r"\s(-O\w*)(?=\s)", command)[-1:]


def main(build):
    entries = json.loads((build / "compile_commands.json").read_text())
    headers = {pathlib.Path(entry["file"]).parent: level(entry["command"])
               for entry in entries if entry["file"].endswith("/cmake_pch.hxx.cxx")}
    faults, units = [], 0
    for entry in entries:
        included = re.search(r"-include (\S+)/cmake_pch\.hxx\s", entry["command"])
        if not included or pathlib.Path(entry["file"]).name.startswith("cmake_pch"):
            continue
        units += 1
        own, of_header = level(entry["command"]), headers[pathlib.Path(included[1])]
        if own != of_header:
            faults.append(f"{entry['file']} has {own}, its precompiled header {of_header}")
    print("\n".join(faults) or f"{units} units and {len(headers)} headers are optimised alike")
    return 1 if faults or not units else 0


sys.exit(main(pathlib.Path(sys.argv[1])))
