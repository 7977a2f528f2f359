"""Write the facts of golden runs and the digests of dialogues again: `python -m tests.golden [NAME ...]`."""

import json
import shutil
import sys

from .dialogues import DIALOGUES, digests
from .runs import HERE, RUNS, known_metrics

KNOWN, METRICS = HERE / "dialogues.json", HERE / "metrics.json"
chosen = sys.argv[1:] or [*RUNS, *DIALOGUES]
for name in RUNS.keys() & chosen:
    shutil.rmtree(HERE / name, ignore_errors=True)
    RUNS[name].play().write(HERE / name)
known = json.loads(KNOWN.read_text()) if KNOWN.exists() else {}
known |= {name: digests(DIALOGUES[name].play()) for name in DIALOGUES.keys() & chosen}
rows = (f"{json.dumps(name)}: {json.dumps(known[name])}" for name in DIALOGUES)
KNOWN.write_text("{\n" + ",\n".join(rows) + "\n}\n")
METRICS.write_text(json.dumps({name: known_metrics(name) for name in RUNS}, indent=1) + "\n")
