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
from validation.plan import Plan
from validation.report import Section, page, table, tally

PAGE = Path("docs/validation.md")

PREFACE = """# Validation

Written by `make validate` (or `python -m validation`) from what it measured; do not edit. A simulator is
worth what its results are worth, so here are ours beside those of others: known values, analysis, and ns-2
on the same movement and traffic. Beside each difference stands its 95 % interval (Student's, over paired runs
where both sides run on the same movements), whether it is significant (zero lies outside the interval), and a
bound: a row *agrees* if the whole interval lies within the bound, is *APART* if all of it lies beyond, and
stays *open* where the runs are too few to tell. The bounds were set before anyone looked at these movements.

{tally}

Roamcast {version} beside ns-2 {ns2} (Debian's package `ns2`; only its binary is used, all Tcl is in
`validation/tcl/`), on {machine}, Python {python}.
`python -m validation --quick` runs a short subset and writes nothing.
"""


def main() -> int:
    """Run the comparisons; 0 if none is apart, 1 if one is, 2 if they cannot be run."""
    parser = argparse.ArgumentParser(prog="python -m validation", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a short subset; writes no page")
    parser.add_argument(
        "--keep",
        type=Path,
        metavar="FOLDER",
        help="keep what is measured there, and measure nothing twice",
    )
    options = parser.parse_args()
    quick = options.quick
    began = time.monotonic()

    def say(what: str) -> None:
        print(f"[{time.monotonic() - began:5.0f} s] {what}", file=sys.stderr, flush=True)

    try:
        rival = ns2.version()
        with tempfile.TemporaryDirectory() as folder:
            sections: list[Section] = []
            for section in all_sections(Plan(quick, Path(folder), say), options.keep):
                print(f"\n{section.title}\n{table(section)}", flush=True)
                sections.append(section)
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    checks = [check for section in sections for check in section.checks]
    print(f"\n{tally(checks)}")
    if not quick:
        preface = PREFACE.format(
            version=__version__,
            tally=tally(checks),
            ns2=rival,
            machine=f"{platform.system()} {platform.machine()}",
            python=platform.python_version(),
        )
        PAGE.write_text(page(sections, preface), encoding="utf-8")
        print(f"{PAGE} written.")
    return int(any(check.verdict == "APART" for check in checks))


if __name__ == "__main__":
    sys.exit(main())
