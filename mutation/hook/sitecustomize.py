"""Loads the mutated module instead of the one in the tree, in every Python process of a trial.

This folder is put in front of PYTHONPATH, so Python runs this file when a process starts: the tests' own, the
commands that they call, the workers of Spark. The working tree is not changed.
"""

import importlib.machinery
import os
import sys
from pathlib import Path


class Finder:
    """Finds the mutated module; others are found as always."""

    def __init__(self, name, source):
        self.name, self.source = name, source

    def find_spec(self, name, path=None, target=None):
        """Return the usual spec with a loader that compiles the mutated source."""
        if name != self.name:
            return None
        others = (finder for finder in sys.meta_path if finder is not self)
        spec = next(found for each in others if (found := each.find_spec(name, path, target)))
        code = compile(self.source.read_text(), spec.origin, "exec", dont_inherit=True)
        spec.loader = importlib.machinery.SourceFileLoader(name, spec.origin)
        spec.loader.get_code = lambda fullname: code
        return spec


if "ROAMCAST_MUTANT" in os.environ:
    _name, _, _file = os.environ["ROAMCAST_MUTANT"].partition("=")
    sys.meta_path.insert(0, Finder(_name, Path(_file)))
