"""`python -m validation`: run every comparison, print it, and write docs/validation.md from it."""

from __future__ import annotations

import argparse
import platform
import sys
import tempfile
import time
from pathlib import Path

from roamcast import __version__
from roamcast.errors import UserError
from validation import ns2
from validation.comparisons import all_sections
from validation.report import Section, page, table

PAGE = Path("docs/validation.md")

PREFACE = """# Validation

Written by `make validate` (or `python -m validation`) from what it measured; do not edit. A simulator is
worth what its results are worth, so here are ours beside those of others: known values, analysis, and ns-2
on the same movement and traffic. A row that does not hold says FAIL.

Roamcast {version} beside ns-2 {ns2} (Debian's package `ns2`; only its binary is used, all Tcl is in
`validation/tcl/`), on {machine}, Python {python}. It took {minutes:.0f} minutes.
`python -m validation --quick` runs a short subset and writes nothing.
"""


def main() -> int:
    """Run the comparisons; 0 if all hold, 1 if some do not, 2 if they cannot be run."""
    parser = argparse.ArgumentParser(prog="python -m validation", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a short subset; writes no page")
    quick = parser.parse_args().quick
    began = time.monotonic()

    def say(what: str) -> None:
        print(f"[{time.monotonic() - began:5.0f} s] {what}", file=sys.stderr, flush=True)

    try:
        rival = ns2.version()
        with tempfile.TemporaryDirectory() as folder:
            sections: list[Section] = []
            for section in all_sections(say, quick, Path(folder)):
                print(f"\n{section.title}\n{table(section)}", flush=True)
                sections.append(section)
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    checks = [check for section in sections for check in section.checks]
    held = sum(check.passed for check in checks)
    print(f"\n{held} of {len(checks)} comparisons hold.")
    if not quick:
        preface = PREFACE.format(
            version=__version__,
            ns2=rival,
            machine=f"{platform.system()} {platform.machine()}",
            python=platform.python_version(),
            minutes=(time.monotonic() - began) / 60,
        )
        PAGE.write_text(page(sections, preface), encoding="utf-8")
        print(f"{PAGE} written.")
    return 0 if held == len(checks) else 1


if __name__ == "__main__":
    sys.exit(main())
