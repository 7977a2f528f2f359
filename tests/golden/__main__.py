"""Write the facts of the known runs anew: `python -m tests.golden [NAME ...]`."""

import shutil
import sys

from .runs import HERE, RUNS

for name in sys.argv[1:] or RUNS:
    shutil.rmtree(HERE / name, ignore_errors=True)
    RUNS[name].play().write(HERE / name)
