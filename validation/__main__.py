"""`python -m validation [FAMILY ...]`: run comparisons and write docs/validation.md from all that is kept."""

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
from validation.age import stale
from validation.comparisons import FAMILIES, sections
from validation.kept import Kept, our_digest
from validation.plan import Plan
from validation.report import Section, page, table, tally

PAGE = Path("docs/validation.md")
KEPT = Path("out/validation")

PREFACE = """# Validation

Written by `make validate` (or `python -m validation`) from what it measured; do not edit. A simulator is
worth what its results are worth, so here are ours beside those of others: known values, analysis, and ns-2
on the same movement and traffic. Beside each difference stands its 95 % interval (Student's, over paired runs
where both sides run on the same movements), whether it is significant (zero lies outside the interval), and a
bound: a row *agrees* if the whole interval lies within the bound, is *APART* if all of it lies beyond, and
stays *open* where the runs are too few to tell. The bounds were set before anyone looked at these movements.
Families with open rows (`geometry`, `aodv`, `dsr`, `odmrp`, broadcasts in `cells`) were given more runs after
a first pass had been seen, the first ones counting too. Later the bounds of AODV and DSR, which had been
three times DSDV's, were narrowed to DSDV's, so that some of their rows are open again; none was widened.

{tally}

Roamcast {version} (code {code}) beside ns-2 {ns2} (Debian's package `ns2`; only its binary is used, all Tcl
is in `validation/tcl/`), on {machine}, Python {python}. These runs took {ours:.1f} minutes of CPU on our side
and {theirs:.1f} on ns-2's.

`python -m validation FAMILY ...` measures some families ({families}).
Every run is kept in `out/validation` under the digest of the code that it was done with, so an interrupted
validation goes on where it was, and this page joins what was measured with this code at different times.
`python -m validation --check` says whether this page is of the current code.
"7 of 20" runs: the rest has not been done yet, or has no such value, as a delay where nothing was delivered.
`--quick` runs a short subset and writes nothing.
"""


def main() -> int:
    """Run the comparisons; 0 if none is apart, 1 if one is, 2 if they cannot be run."""
    parser = argparse.ArgumentParser(prog="python -m validation", description=__doc__)
    parser.add_argument("families", nargs="*", metavar="FAMILY", help=f"{', '.join(FAMILIES)}; else all")
    parser.add_argument("--quick", action="store_true", help="a short subset; keeps nothing, writes no page")
    parser.add_argument(
        "--page", action="store_true", help="measure nothing, write the page from what is kept"
    )
    parser.add_argument(
        "--check", action="store_true", help="measure nothing; exit code 1 if the page is of other code"
    )
    parser.add_argument(
        "--keep", type=Path, metavar="FOLDER", default=KEPT, help=f"where runs are kept ({KEPT})"
    )
    options = parser.parse_args()
    if options.check:
        old = stale(PAGE.read_text(encoding="utf-8"), our_digest())
        print(old or f"{PAGE} was measured with the current code", file=sys.stderr)
        return int(old is not None)
    unknown = [family for family in options.families if family not in FAMILIES]
    if unknown:
        parser.error(f"no family {unknown[0]!r}; there are {', '.join(FAMILIES)}")
    began = time.monotonic()

    def say(what: str) -> None:
        print(f"[{time.monotonic() - began:5.0f} s] {what}", file=sys.stderr, flush=True)

    try:
        rival = ns2.version()
        with tempfile.TemporaryDirectory() as folder:
            kept = Kept(None if options.quick else options.keep)
            measured: list[Section] = []
            if not options.page:
                plan = Plan(options.quick, Path(folder), say, kept)
                for section in sections(plan, options.families or FAMILIES):
                    print(f"\n{section.title}\n{table(section)}", flush=True)
                    measured.append(section)
            if not options.quick:
                kept = Kept(options.keep, measures=False)
                measured = list(sections(Plan(False, Path(folder), lambda _: None, kept)))
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    checks = [check for section in measured for check in section.checks]
    print(f"\n{tally(checks)}")
    if not options.quick:
        preface = PREFACE.format(
            version=__version__,
            code=our_digest(),
            tally=tally(checks),
            ns2=rival,
            machine=f"{platform.system()} {platform.machine()}",
            python=platform.python_version(),
            ours=kept.cpu.get("validation.ours", 0.0) / 60,
            theirs=kept.cpu.get("validation.ns2", 0.0) / 60,
            families=", ".join(f"`{family}`" for family in FAMILIES),
        )
        PAGE.write_text(page(measured, preface), encoding="utf-8")
        print(f"{PAGE} written.")
    return int(any(check.verdict == "APART" for check in checks))


if __name__ == "__main__":
    sys.exit(main())
