"""Write the notebooks, one a paper, with their outputs: `python notebooks/write.py` (needs nbclient).

A notebook shows a paper's point in a few small runs that anybody can afford, asks their facts one question, and
tells how to get the whole evaluation; where that was run (`out/PAPER`), it shows its verdicts.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Paper:
    """What a notebook says of a paper."""

    name: str
    title: str
    cite: str
    point: str
    "What the paper found, in a few sentences."
    scenario: str
    settings: dict[str, str]
    protocols: tuple[str, ...]
    metrics: tuple[str, ...]
    shown: str
    "The metric of the figure."
    question: str
    answer: str
    "Python that answers it from the facts of `result`."


PAPERS = (
    Paper(
        "petrovic",
        "CBR, FT-CBR and RAFT-CBR in the shopping district",
        "M. Petrovic, V. Muthusamy, H.-A. Jacobsen: Content-Based Routing in Mobile Ad Hoc Networks (MobiQuitous 2005)",
        "Routes by content break when people walk. CBR loses about a quarter of the events; FT-CBR and RAFT-CBR deliver nearly "
        "all of them and pay in messages.",
        "shopping",
        {"duration": "420 s"},
        ("cbr", "ft-cbr", "raft-cbr"),
        (
            "delivery_rate",
            "delay_mean",
            "messages",
            "messages_event",
            "messages_subscription",
            "messages_control",
        ),
        "delivery_rate",
        "What do the protocols spend the air on?",
        'sent = result.facts["transmissions"].to_pandas()\n'
        'sent.groupby("kind", observed=True)["airtime"].sum().sort_values(ascending=False)',
    ),
    Paper(
        "schnitzer",
        "TPSR and P-PUBS in the open field",
        "S. Schnitzer, H. Miranda, B. Koldehofe: Content Routing Algorithms to Support Publish/Subscribe in Mobile Ad Hoc Networks",
        "Few want what is published, so events follow source routes that wishes have laid (TPSR) and flood only where none is "
        "known. That takes far fewer messages than flooding every publication with suppression (P-PUBS).",
        "open-field",
        {"duration": "260 s"},
        ("tpsr", "p-pubs"),
        (
            "delivery_rate",
            "messages",
            "messages_event",
            "messages_subscription",
            "messages_per_delivery",
        ),
        "messages",
        "Who repeats what others say?",
        'sent = result.facts["transmissions"].to_pandas()\n'
        'sent.groupby("node").size().describe()[["mean", "50%", "max"]]',
    ),
    Paper(
        "yoneki",
        "Pub/Sub ODMRP in the CD market",
        "E. Yoneki, J. Bacon: Distributed Multicast Grouping for Publish/Subscribe over Mobile Ad Hoc Networks (WCNC 2005)",
        "A multicast channel for each subscription is dear. Where publishers group subscriptions that ask for similar things, "
        "the same air carries more.",
        "cd-market",
        {"duration": "30 s"},
        ("odmrp", "pubsub-odmrp"),
        ("delivery_rate", "throughput", "channels", "messages", "messages_control"),
        "throughput",
        "How much of the traffic is control?",
        'sent = result.facts["transmissions"].to_pandas()\n'
        'sent.groupby("category", observed=True)["airtime"].sum() / sent["airtime"].sum()',
    ),
    Paper(
        "zhang",
        "CLONE and traditional CBR in the city",
        "Y. Zhang, J. Zhao, G. Cao, C. R. Das: On Interest Locality in Content-Based Routing for Large-scale MANETs (MASS 2009)",
        "Who is near wants the same. Communities by interest keep copies where they will be asked for, so that answers come "
        "sooner and cost less than by traditional content-based routing.",
        "city",
        {"duration": "600 s"},
        ("cbr", "clone"),
        ("requests", "satisfied_rate", "response_delay", "fresh_rate", "messages"),
        "response_delay",
        "When are requests answered?",
        'asked = result.facts["requests"].to_pandas()\n(asked["answered"] - asked["time"]).describe()',
    ),
)


def cells(paper: Paper) -> list[tuple[str, str]]:
    """The notebook's cells: markdown or code."""
    return [
        ("markdown", f"# {paper.title}\n\n*{paper.cite}*\n\n{paper.point}"),
        (
            "code",
            "import pandas as pd\n\nimport roamcast\n\n"
            f"SCENARIO, SETTINGS = {paper.scenario!r}, {paper.settings!r}\n"
            f"PROTOCOLS, SEEDS = {paper.protocols!r}, (102, 103)\n\n"
            "runs = {\n    (protocol, seed): roamcast.run(SCENARIO, protocol, seed, SETTINGS)\n"
            "    for protocol in PROTOCOLS\n    for seed in SEEDS\n}",
        ),
        (
            "markdown",
            "The same seed gives every protocol the same people, the same walks and the same events.",
        ),
        (
            "code",
            "numbers = pd.DataFrame({key: result.measures for key, result in runs.items()}).T\n"
            'numbers.index.names = ["protocol", "seed"]\n'
            f"numbers[{list(paper.metrics)!r}]",
        ),
        (
            "code",
            f'mean = numbers.groupby(level="protocol")[{paper.shown!r}].mean().reindex(PROTOCOLS)\n'
            f"axes = mean.plot.barh()\naxes.set_xlabel({paper.shown.replace('_', ' ')!r})\nmean",
        ),
        ("markdown", f"## {paper.question}\n\nFacts are tables: what happened, row by row (docs/tables.md)."),
        ("code", "result = runs[PROTOCOLS[-1], SEEDS[0]]\nresult"),
        ("code", "result.plot()"),
        ("code", paper.answer),
        (
            "markdown",
            "## The whole evaluation\n\n"
            f"A few small runs are no evaluation. `roamcast reproduce {paper.name} --out out/{paper.name}` runs all of it and holds every claim "
            "of the paper against its numbers; where that was done, here are the verdicts.",
        ),
        (
            "code",
            "from pathlib import Path\n\n"
            f'folder = Path("out/{paper.name}")\n'
            'if (folder / "campaign.json").exists():\n'
            "    display(roamcast.Campaign.read(folder))\n"
            "else:\n"
            f'    print("not run yet: roamcast reproduce {paper.name} --out out/{paper.name}")',
        ),
    ]


def notebook(paper: Paper) -> dict[str, Any]:
    """The notebook as its file has it."""
    written: list[dict[str, Any]] = []
    for number, (kind, text) in enumerate(cells(paper)):
        cell: dict[str, Any] = {
            "cell_type": kind,
            "id": f"{paper.name}-{number}",
            "metadata": {},
            "source": text.splitlines(keepends=True),
        }
        if kind == "code":
            cell |= {"execution_count": None, "outputs": []}
        written.append(cell)
    python = {"display_name": "Python 3", "language": "python", "name": "python3"}
    about = {"kernelspec": python, "language_info": {"name": "python"}}
    return {"cells": written, "metadata": about, "nbformat": 4, "nbformat_minor": 5}


def render(paper: Paper) -> str:
    """The text of the notebook's file, without outputs."""
    return spell(notebook(paper))


def spell(book: dict[str, Any]) -> str:
    """A notebook as its file has it."""
    return json.dumps(book, indent=1, ensure_ascii=False) + "\n"


def strip(book: dict[str, Any]) -> dict[str, Any]:
    """The notebook without what running it added."""
    cells = [
        cell
        | ({"execution_count": None, "outputs": []} if cell["cell_type"] == "code" else {})
        | {"metadata": {}}
        for cell in book["cells"]
    ]
    about = {"kernelspec": book["metadata"]["kernelspec"], "language_info": {"name": "python"}}
    return book | {"cells": cells, "metadata": about}


def execute(text: str, folder: Path) -> dict[str, Any]:
    """Run a notebook in `folder`; return it with its outputs and without times and versions."""
    import nbclient
    import nbformat

    book = nbformat.reads(text, as_version=4)
    nbformat.validate(book)
    nbclient.NotebookClient(book, timeout=900, resources={"metadata": {"path": str(folder)}}).execute()
    done: dict[str, Any] = json.loads(nbformat.writes(book))
    outputs = [cell.get("outputs") for cell in done["cells"]]
    counts = [cell.get("execution_count") for cell in done["cells"]]
    done = strip(done)
    for cell, shown, count in zip(done["cells"], outputs, counts, strict=True):
        if cell["cell_type"] == "code":
            cell |= {"outputs": shown, "execution_count": count}
    return done


if __name__ == "__main__":
    for paper in PAPERS:
        with TemporaryDirectory() as folder:
            (HERE / f"{paper.name}.ipynb").write_text(
                spell(execute(render(paper), Path(folder))), encoding="utf-8"
            )
