"""Write the facts of the known runs anew: `python -m tests.golden [NAME ...]`."""

import sys

from .runs import HERE, RUNS

for name in sys.argv[1:] or RUNS:
    RUNS[name].play().write(HERE / name)
