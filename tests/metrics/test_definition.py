"""The code on which a metric depends: campaigns measure again if it has changed."""

import importlib.util
import sys
from itertools import count

from roamcast.metrics.definition import definition

METRIC = """
FACTOR = {factor}
NAMES = frozenset({names})
UNUSED = {unused}


def compute(of):
    return FACTOR * len(NAMES)
"""
NUMBERS = count()


def define(folder, factor=2.0, names="ab", unused=1):
    """The definition of a metric in a module of its own, without the module's name."""
    name = f"metric_{next(NUMBERS)}"
    file = folder / f"{name}.py"
    file.write_text(METRIC.format(factor=factor, names=tuple(names), unused=unused))
    spec = importlib.util.spec_from_file_location(name, file)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return definition(module.compute)[0].replace(name, "")


def test_a_definition_has_the_constants_that_it_uses_and_no_others(tmp_path):
    first = define(tmp_path)
    assert define(tmp_path) == define(tmp_path, names="ba") == define(tmp_path, unused=2) == first
    assert define(tmp_path, factor=3.0) != first
    assert define(tmp_path, names="abc") != first
