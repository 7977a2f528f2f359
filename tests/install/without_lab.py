"""A program that hides the lab's libraries and the compiled kernel, imports the core and plays dialogues.

Prints JSON: `modules` imported, `dialogues` that say the same as with the kernel, and those that `differ`.
"""

import importlib
import json
import pkgutil
import sys
from pathlib import Path

CORE = {
    "msgspec",
    "pydantic",
    "pydantic_core",
    "numpy",
    "annotated_types",
    "typing_extensions",
    "typing_inspection",
}
ROOT = Path(__file__).parents[2]


class Missing:
    """Finds no library but those of the core, and no kernel."""

    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        known = top in sys.stdlib_module_names or top in CORE | {"roamcast", "tests", "_sysconfigdata"}
        if name == "roamcast._kernel" or (not known and not top.startswith("_")):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def import_core():
    names = []
    for package in ("content", "wire", "routing", "testing"):
        root = importlib.import_module(f"roamcast.{package}")
        for found in pkgutil.walk_packages(root.__path__, f"{root.__name__}."):
            importlib.import_module(found.name)
            names.append(found.name)
    return names


def main():
    sys.meta_path.insert(0, Missing())
    sys.path.insert(0, str(ROOT))
    names = import_core()
    from tests.golden.dialogues import DIALOGUES, digests

    known = json.loads((ROOT / "tests" / "golden" / "dialogues.json").read_text())
    differ = [name for name in DIALOGUES if digests(DIALOGUES[name].play()) != known[name]]
    values = {"modules": len(names), "dialogues": len(DIALOGUES) - len(differ), "differ": differ}
    print(json.dumps(values | {"kernel": "roamcast._kernel" in sys.modules}))


if __name__ == "__main__":
    main()
