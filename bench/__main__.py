"""Run every bench: each module beside this one that has a `main`."""

import pkgutil
from importlib import import_module

import bench

for module in sorted(pkgutil.iter_modules(bench.__path__), key=lambda m: m.name):
    if not module.name.startswith("_"):
        run = getattr(import_module(f"bench.{module.name}"), "main", None)
        if run is not None:
            print(f"== {module.name}", flush=True)
            run()
