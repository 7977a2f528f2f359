"""Simulated seconds per CPU second of both ODMRPs in the CD market: 100 nodes, five publishers."""

from pathlib import Path

from roamcast.api.runs import run
from roamcast.scenario.read import load

CD_MARKET = Path(__file__).parents[1] / "scenarios" / "cd-market.toml"
SECONDS = 60
SETTINGS = {"duration": f"{SECONDS} s", "workload.publish.market.count": 5}


def main(runs: int = 3) -> None:
    scenario = load(CD_MARKET, SETTINGS)
    for protocol in ("odmrp", "pubsub-odmrp"):
        metrics = [run(scenario, protocol, seed, ()).metrics for seed in range(1, runs + 1)]
        best = min(each.cpu_seconds or 0.0 for each in metrics)
        frames = metrics[0].messages["total"]
        print(
            f"{protocol}: {SECONDS / best:.0f} simulated seconds per CPU second at 100 nodes ({frames} sent)"
        )


if __name__ == "__main__":
    main()
