"""The command `roamcast advisor`: make the advisor's data on Spark, and train its models."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from roamcast.cli.shared.spark_options import Conf, Master, Remote, choose_session

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@app.command("data", help="Run random worlds with all protocols, and keep their metrics.")
def make_data(
    out: Annotated[str, typer.Option(metavar="DIR", help="Folder of the table of runs.")],
    worlds: Annotated[int, typer.Option(min=1, max=1_000_000, help="Number of worlds.")] = 500,
    first: Annotated[int, typer.Option(min=0, help="Seed of the first world.")] = 1,
    *,
    limit: Annotated[float, typer.Option(min=1, help="Maximum simulated duration of a run [s].")] = 60.0,
    master: Master = None,
    remote: Remote = None,
    conf: Conf = None,
) -> None:
    """Run the worlds that the folder does not have yet, and append their metrics."""
    import sys

    from roamcast.campaign.campaign import RunLimits
    from roamcast.cli.shared.progress import stop_on_interrupt
    from roamcast.pipeline.spark.session import open_session
    from roamcast.pipeline.training.world_runs import run_worlds

    def watch(done: int, total: int) -> None:
        print(f"{done} of {total} worlds done", file=sys.stderr, flush=True)

    where = choose_session(master, remote, conf, False, None)
    message = "stopped; finished worlds are kept. Run the same command again to continue"
    with stop_on_interrupt(message, lambda: None), open_session(where) as spark:
        limits = RunLimits(time=limit)
        added = run_worlds(spark, out, range(first, first + worlds), limits, watch)
    print(f"{out}: {added} worlds added, {worlds} in all")


@app.command("train", help="Train the advisor on a table of runs.\n\nIt is evaluated on held-out worlds.")
def train_model(
    data: Annotated[str, typer.Argument(metavar="DATA", help="Folder of `advisor data`, or its table.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Output folder for model, evaluation and table.")],
    *,
    model: Annotated[
        str | None, typer.Option(help="Kind of model; by default cross-validation compares all.")
    ] = None,
    ranking: Annotated[
        str | None, typer.Option(help="Kind of model that ranks protocols; by default that of --model.")
    ] = None,
    master: Master = None,
    conf: Conf = None,
) -> None:
    """Compute features, fit and calibrate the models on Spark, evaluate them, and write all to a folder."""
    import json
    import sys

    from roamcast.pipeline.spark.errors import format_error
    from roamcast.pipeline.spark.session import open_session
    from roamcast.pipeline.training.train import train
    from roamcast.pipeline.training.training_table import make_table, write_table

    def say(line: str) -> None:
        print(line, file=sys.stderr, flush=True)

    out.mkdir(parents=True, exist_ok=True)
    where = choose_session(master, None, conf, False, None)
    with open_session(where) as spark, format_error("training", keeps=False):
        table = make_table(spark, data).toPandas()
        say(f"{table['world'].nunique()} worlds, {len(table)} runs")
        write_table(table, out / "runs.parquet")
        trained, evaluation = train(spark, table, say, model, ranking)
    trained.save(out / "model.npz")
    text = json.dumps(evaluation, indent=1)
    (out / "evaluation.json").write_text(text + "\n", encoding="utf-8")
    chosen = evaluation["choices"]
    print(f"{out}: trained on {evaluation['training_worlds']} worlds")
    for name, found in chosen.items():
        print(
            f"  {name}: regret {100 * found['regret']:.2f} points, agreement {100 * found['agreement']:.1f} %"
        )


@app.command("judge", help="Compare the advisor's predictions with the results of a campaign.")
def judge_campaign(
    folder: Annotated[str, typer.Argument(metavar="DIR", help="Results folder of a campaign.")],
    model: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Model file; by default the shipped one.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the comparison as one JSON object.")] = False,
) -> None:
    """Predict each scenario of a finished campaign, and compare with its runs, without Spark."""
    import json as json_

    from roamcast.advisor.judging import judge
    from roamcast.advisor.model import AdvisorModel
    from roamcast.results.results_folder import ResultsFolder

    store = ResultsFolder(folder)
    measured = {row["run"]: row for row in store.read_table("metrics").to_pylist()}
    planned = store.read_table("plan").to_pylist()
    runs = [row | measured[row["run"]] for row in planned if row["run"] in measured]
    found = judge(runs, AdvisorModel.load(model) if model is not None else None)
    if json:
        print(json_.dumps(found))
        return
    for name, row in found.items():
        coverage = ", ".join(
            f"{key} {100 * share:.0f} %" for key, share in row["coverage"].items() if share is not None
        )
        print(
            f"{name}: chose {row['chosen']}, best {row['best']} ({100 * row['best_delivery']:.1f} %), "
            f"regret {100 * row['regret']:.1f} points; in the intervals: {coverage}"
        )
