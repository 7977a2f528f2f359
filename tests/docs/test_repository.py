"""The files that people look for first agree with the package."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_the_license_is_the_one_that_the_metadata_names():
    assert PROJECT["license"] == "Apache-2.0"
    assert "Apache License\n                           Version 2.0" in (ROOT / "LICENSE").read_text()


def test_the_citation_has_the_version_and_license_of_the_package():
    citation = (ROOT / "CITATION.cff").read_text()
    assert f"\nversion: {PROJECT['version']}\n" in citation
    assert f"\nlicense: {PROJECT['license']}\n" in citation


def test_the_changelog_has_unreleased_changes_first_and_a_section_for_the_version():
    headings = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert headings[0] == "Unreleased"
    assert headings[1].split()[0] == PROJECT["version"]
