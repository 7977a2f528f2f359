"""`python -m validation [FAMILY ...]`: do the runs that are missing and write docs/validation.md."""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
from pathlib import Path

from roamcast import __version__
from roamcast.errors import UserError
from validation import ns2, ours
from validation.age import behaviour, outdated, tell
from validation.comparisons import FAMILIES, sections
from validation.kept import Kept, our_digest
from validation.nearest import tell_nearest
from validation.plan import Plan
from validation.report import Section, name_apart, page, renew, table, tally
from validation.runs import do_missing

PAGE = Path("docs/validation.md")
KEPT = Path("out/validation")

PREFACE = """# Validation

Written by `python -m validation` from what it measured; do not edit. Our results are compared with known
values, analysis, and ns-2 on the same movement and traffic. Beside each difference stands its 95 % interval
(Student's, over paired runs where both sides run on the same movements), whether it is significant (zero lies
outside the interval), and a bound: a row *agrees* if the whole interval lies within the bound, is *APART* if
all of it lies beyond, and stays *open* where the runs are too few to tell. The bounds were set before anyone
looked at these movements. Families with open rows (`geometry`, `flooding`, `aodv`, `dsr`, `odmrp`,
broadcasts in `cells`) were given more runs after a first pass had been seen, the first ones counting too.
Later the bounds of AODV and DSR, which had been three times DSDV's, were narrowed to DSDV's, and so were
those of their rows under strain, when earlier results of these rows were known; none was widened.

{tally}

{apart}

{nearest}

Roamcast {version} beside ns-2 {ns2} (Debian's package `ns2`; only its binary is used, all Tcl is in
`validation/tcl/`), on {machine}, Python {python}. The {our_runs} runs of our side took {ours:.1f} minutes of
CPU, the {their_runs} of ns-2 {theirs:.1f}. Runs are kept in `out/validation`: ours under the digest of our
code ({code}), ns-2's under that of its version, of our Tcl and of the movement, so that they are not done
again when our code changes. The last call of `python -m validation` did {done_ours} runs of ours and
{done_theirs} of ns-2's; earlier calls with the same code and the same ns-2 had done the rest.

Behaviour of our side: {behaviour}.
These are digests of what one short run for each row comes to (decision 0313); `make test` does them again
and fails if they differ, `python -m validation --check` says which.
"7 of 20" runs: the rest has not been done yet, or has no such value, as a delay where nothing was delivered.
`python -m validation FAMILY ...` measures some families and prints them, `--renew` also replaces their
sections; `--quick` does so with short runs.
"""


def main() -> int:
    """Run the comparisons; 0 if none is apart, 1 if one is, 2 if they cannot be run."""
    options = _options()
    if options.check:
        old = outdated(PAGE.read_text(encoding="utf-8"), behaviour())
        print(old or f"{PAGE} was measured with the current behaviour", file=sys.stderr)
        return int(old is not None)
    families = options.families or list(FAMILIES)
    try:
        rival = ns2.version()
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            keep = folder / "kept" if options.quick else options.keep
            missing = _look(families, folder, keep, quick=options.quick)[1].missing
            if options.page:
                missing = []
            do_missing(missing, keep, options.processes)
            measured, kept = _look(families, folder, keep, quick=options.quick)
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nstopped; finished runs are kept, and the same command goes on from there", file=sys.stderr)
        return 130
    checks = [check for section in measured for check in section.checks]
    for section in measured:
        print(f"\n{section.title}\n{table(section)}")
    print(f"\n{tally(checks)}")
    if not options.quick and set(families) == set(FAMILIES):
        done = [job.side for job in missing]
        preface = PREFACE.format(
            version=__version__,
            code=our_digest(),
            tally=tally(checks),
            apart=name_apart(checks),
            nearest=tell_nearest(check.cells() for check in checks),
            ns2=rival,
            machine=f"{platform.system()} {platform.machine()}",
            python=platform.python_version(),
            ours=kept.cpu[ours.__name__] / 60,
            theirs=kept.cpu[ns2.__name__] / 60,
            our_runs=kept.runs[ours.__name__],
            their_runs=kept.runs[ns2.__name__],
            done_ours=done.count(ours.__name__),
            done_theirs=done.count(ns2.__name__),
            behaviour=tell(behaviour()),
        )
        PAGE.write_text(page(measured, preface), encoding="utf-8")
        print(f"{PAGE} written.")
    elif options.renew:
        print(_renew(families, measured))
    return int(any(check.verdict == "APART" for check in checks))


def _renew(families: list[str], measured: list[Section]) -> str:
    """Replace the sections of some families on the page, if those of the others are of the current behaviour;
    return what was done."""
    written, current = PAGE.read_text(encoding="utf-8"), behaviour()
    others = {family: value for family, value in current.items() if family not in families}
    old = outdated(written, others)
    if old is not None:
        return f"{PAGE} not written: {old}"
    names = ", ".join(f"`{family}`" for family in families)
    note = f"Measured after the rest of the page, with code {our_digest()}: {names}."
    PAGE.write_text(renew(written, measured, tell(current), note), encoding="utf-8")
    return f"{PAGE}: sections of {names} written."


def _look(families: list[str], folder: Path, keep: Path, *, quick: bool) -> tuple[list[Section], Kept]:
    """Read the kept runs of some families; return their sections, and what was read and what is missing."""
    kept = Kept(keep, measures=False)
    return list(sections(Plan(quick, folder, kept), families)), kept


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m validation", description=__doc__)
    parser.add_argument("families", nargs="*", metavar="FAMILY", help=f"{', '.join(FAMILIES)}; else all")
    parser.add_argument("--quick", action="store_true", help="short runs; keeps nothing, writes no page")
    parser.add_argument(
        "--page", action="store_true", help="do no runs, write the page from those that are kept"
    )
    parser.add_argument(
        "--renew",
        action="store_true",
        help="replace the sections of FAMILY ... on the page, if the others are of the current behaviour",
    )
    parser.add_argument(
        "--check", action="store_true", help="exit code 1 if the page is of another behaviour; writes nothing"
    )
    parser.add_argument(
        "--keep", type=Path, metavar="FOLDER", default=KEPT, help=f"where runs are kept ({KEPT})"
    )
    parser.add_argument(
        "--processes", type=int, default=os.cpu_count() or 1, help="runs at a time (one for each processor)"
    )
    options = parser.parse_args()
    unknown = [family for family in options.families if family not in FAMILIES]
    if unknown:
        parser.error(f"no family {unknown[0]!r}; there are {', '.join(FAMILIES)}")
    if options.processes < 1:
        parser.error(f"--processes is {options.processes}; 1 or more was expected")
    return options


if __name__ == "__main__":
    sys.exit(main())
