"""Pages of the site that are made from other files, and links that lead out of docs/."""

import posixpath
import re
from pathlib import Path

from mkdocs.structure.files import File

ROOT = Path(__file__).parents[2]
API = {
    "Run and analyse": [
        "roamcast",
        "roamcast.api.runs",
        "roamcast.api.campaigns",
        "roamcast.report.result",
        "roamcast.facts.tables",
        "roamcast.lake.lake",
    ],
    "Routers": ["roamcast.routing.router", "roamcast.routing.traits", "roamcast.routing.state.leases"],
    "Messages": ["roamcast.wire.message", "roamcast.wire.fields", "roamcast.wire.publication"],
    "Content": [
        "roamcast.content.schema",
        "roamcast.content.event",
        "roamcast.content.filter",
        "roamcast.content.expression",
        "roamcast.content.xml.xsd",
        "roamcast.content.json.json_schema",
        "roamcast.content.match.index",
    ],
    "Scenarios": ["roamcast.scenario.model", "roamcast.scenario.workload", "roamcast.scenario.read"],
    "Testing": ["roamcast.testing.mesh", "roamcast.testing.links"],
}
"The modules of the Python reference, by subject."
_FILE = re.compile(r"^```(\w+) (\+?)(\S+)$", re.MULTILINE)
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")


def on_files(files, config):
    """Add the pages that are made from README, CHANGELOG, CONTRIBUTING and the code."""
    made = {
        "index.md": _from_root("README.md", ""),
        "reference/changelog.md": _from_root("CHANGELOG.md", "../"),
        "reference/cli.md": (ROOT / "build" / "cli.md").read_text(),
        "reference/api.md": _api(),
    }
    for path, text in made.items():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown, page, config, files):
    """Keep links within docs/; of those that lead to other files of the repository keep the words."""
    folder = posixpath.dirname(page.file.src_uri)

    def link(found):
        image, words, target = found.groups()
        if "://" in target or target.startswith("#"):
            return found[0]
        path, _, anchor = target.partition("#")
        path = posixpath.normpath(posixpath.join(folder, path))
        for known in (path, f"{path}/README.md"):
            if files.get_file_from_path(known) is not None:
                relative = posixpath.relpath(known, folder or ".")
                return f"{image}[{words}]({relative}{'#' + anchor if anchor else ''})"
        if path.startswith("..") or (ROOT / "docs" / path).exists():
            return words
        return found[0]  # mkdocs tells that it leads nowhere

    return _FILE.sub(_title, _LINK.sub(link, markdown))


def _title(found):
    """The first line of a block whose info string names a file, as MkDocs reads it."""
    language, more, file = found.groups()
    return f'```{language} title="{"add to " if more else ""}{file}"'


def _from_root(name, up):
    """A page of the repository's root as one of docs/."""

    def link(found):
        image, words, target = found.groups()
        if "://" in target or target.startswith("#"):
            return found[0]
        if target.startswith("docs/"):
            return f"{image}[{words}]({up}{target.removeprefix('docs/')})"
        return words

    return _LINK.sub(link, (ROOT / name).read_text())


def _api():
    lines = ["# Python API", "", "Generated from the code. Names that begin with `_` are private.", ""]
    for subject, modules in API.items():
        lines += [f"## {subject}", "", *(f"::: {module}\n" for module in modules)]
    return "\n".join(lines)
