# SPDX-License-Identifier: MIT
"""What the check scripts share: the C files of the tree, without comments."""
import os
import re
import sys

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

_TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"'
                    r"|'(?:\\.|[^'\\\n])*'", re.S)


def c_files(*folders):
    """Paths from the top of the tree, sorted."""
    found = []
    for folder in folders:
        for where, _, names in os.walk(os.path.join(TOP, folder)):
            found += [os.path.relpath(os.path.join(where, n), TOP)
                      for n in names if n.endswith((".c", ".h"))]
    return sorted(found)


def read(path):
    with open(os.path.join(TOP, path), encoding="utf-8") as f:
        return f.read()


def bare(text):
    """Comments and the insides of strings gone, the lines kept."""
    def blank(match):
        token = match.group(0)
        return "\n" * token.count("\n") if token[0] == "/" else token[0] * 2
    return _TOKEN.sub(blank, text)


def allowed(name):
    """Rows of an allow-list: fields, without comments and empty lines."""
    rows = []
    for line in read(name).splitlines():
        fields = line.split("#")[0].split()
        if fields:
            rows.append(fields)
    return rows


def finish(faults):
    for fault in faults:
        print(fault)
    sys.exit(1 if faults else 0)
