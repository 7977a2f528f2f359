"""The entry point for `spark-submit`: the command line of `roamcast` in the session that was submitted.

    spark-submit --master spark://host:7077 $(python -m roamcast.cli.submit) campaign run FILE --out DIR

Without `spark-submit`, the module prints the path of this file. Master and settings of `spark-submit` are
passed on as --master and --conf; the arguments are otherwise those of `roamcast`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

_OWN = ("spark.master", "spark.submit.", "spark.app.", "spark.jars", "spark.files", "spark.repl.")
"Settings that are given in another way, or that the JVM has already acted on."


def add_settings(arguments: Sequence[str], settings: Mapping[str, str]) -> list[str]:
    """Return the arguments of `roamcast` with the master and the settings of a submitted application."""
    found = list(arguments)
    if "--master" not in found and "--remote" not in found and "spark.master" in settings:
        found += ["--master", settings["spark.master"]]
    for key in sorted(settings):
        if not key.startswith(_OWN):
            found += ["--conf", f"{key}={settings[key]}"]
    return found


def main(arguments: Sequence[str]) -> int:
    """Run a command in the submitted application, or print the path of this file; return the exit code."""
    if "PYSPARK_GATEWAY_PORT" not in os.environ:
        print(Path(__file__).resolve())
        return 0
    from pyspark import SparkConf, SparkContext

    from roamcast.cli.app import invoke

    SparkContext._ensure_initialized()  # the JVM of spark-submit has the settings
    return invoke(add_settings(arguments, dict(SparkConf().getAll())))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
