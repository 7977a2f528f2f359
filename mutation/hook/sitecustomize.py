"""Loads code objects from a folder instead of compiling the modules that they belong to.

This folder goes in front of PYTHONPATH, so Python runs this file as every process starts: the tests' own, the
commands that they call, the workers of Spark. The working tree is not touched.
"""

import atexit
import copyreg
import importlib.machinery
import json
import marshal
import mmap
import os
import sys
from pathlib import Path

FOLDER = "ROAMCAST_MUTATION"
"Names a folder with `module.code` files; in its folder `hits`, if any, children leave what they have run."


class Loader(importlib.machinery.SourceFileLoader):
    """Loads a module as its code stands in a file."""

    def __init__(self, name, path, code):
        super().__init__(name, path)
        self.code = code

    def get_code(self, fullname):
        """The code object from the file."""
        return marshal.loads(self.code.read_bytes())


class Finder:
    """Finds what the folder has; whatever else is found as always."""

    def __init__(self, folder):
        self.files = {path.name.removesuffix(".code"): path for path in Path(folder).glob("*.code")}

    def find_spec(self, name, path=None, target=None):
        """The usual spec, with another loader."""
        if name not in self.files:
            return None
        for finder in sys.meta_path:
            if finder is not self and (spec := finder.find_spec(name, path, target)) is not None:
                spec.loader = Loader(name, spec.origin, self.files[name])
                return spec
        return None


def hits():
    """The blocks that were run since the last time, by module."""
    found = {}
    for name, module in list(sys.modules.items()):
        hit = getattr(module, "__hit__", None) if name.startswith("roamcast.") else None
        if hit is not None:
            found[name] = [block for block, ran in enumerate(hit[:]) if ran]
            hit[:] = bytes(len(hit))
    return {name: blocks for name, blocks in found.items() if blocks}


def install(folder):
    """Load from a folder from now on, in this process and in its children."""
    here = str(Path(__file__).parent)
    others = [each for each in os.environ.get("PYTHONPATH", "").split(os.pathsep) if each not in ("", here)]
    os.environ["PYTHONPATH"] = os.pathsep.join([here, *others])
    os.environ[FOLDER] = str(folder)
    copyreg.pickle(mmap.mmap, _elsewhere)
    sys.meta_path.insert(0, Finder(folder))


def _elsewhere(hit):
    """What a function that Spark sends to a worker notes its blocks in: nobody looks at it there."""
    return bytearray, (len(hit),)


def _leave_hits(folder):
    test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
    found = hits()
    if test and found:
        (folder / f"{os.getpid()}.json").write_text(json.dumps([test, found]))


if FOLDER in os.environ and __name__ == "sitecustomize":
    install(os.environ[FOLDER])
    if (_hits := Path(os.environ[FOLDER], "hits")).is_dir():
        atexit.register(_leave_hits, _hits)
