"""Write what is known of runs, dialogues and content anew: `python -m tests.golden [NAME ...]`.

`answers` are those of content, all of them; so is `content`, line by line.
"""

import json
import shutil
import sys

from .answers import ANSWERS
from .content import CONTENT
from .content import KNOWN as CONTENT_KNOWN
from .content import digests as of_lines
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
if not sys.argv[1:] or "answers" in chosen:
    rows = (f"{json.dumps(name)}: {json.dumps(play())}" for name, play in ANSWERS.items())
    (HERE / "answers.json").write_text("{\n" + ",\n".join(rows) + "\n}\n")
if not sys.argv[1:] or "content" in chosen:
    rows = (f"{json.dumps(name)}: {json.dumps(of_lines(play()))}" for name, play in CONTENT.items())
    CONTENT_KNOWN.write_text("{\n" + ",\n".join(rows) + "\n}\n")
METRICS.write_text(json.dumps({name: known_metrics(name) for name in RUNS}, indent=1) + "\n")
