"""`roamcast ingest` turns files into a folder, and a wrong file into one line."""

import json
from pathlib import Path

import pyarrow.parquet as pq

from roamcast.cli.app import invoke
from roamcast.facts.tables import Facts
from roamcast.metrics.declarations import METRICS

TRACES = Path(__file__).parents[1] / "ingest" / "traces"


def test_an_ns2_run_and_ours_stand_in_one_table(tmp_path, capsys):
    street = Path(__file__).parents[1] / "golden" / "street.toml"
    assert invoke(["run", str(street), "--facts", str(tmp_path / "ours"), "--json"]) == 0
    capsys.readouterr()
    out = tmp_path / "out"
    asked = ["ingest", str(TRACES / "line-new.tr"), "--range", "250 m", "--out", str(out)]
    assert invoke([*asked, "--with-run", str(tmp_path / "ours"), "--json"]) == 0
    record = json.loads(capsys.readouterr().out)["runs"]
    assert [run["protocol"] for run in record] == ["ns2-aodv", "flooding"]
    table = pq.read_table(out / "metrics.parquet").to_pylist()
    assert [row["scenario"] for row in table] == ["line-new", "street"]
    assert METRICS.keys() <= table[0].keys()
    assert table[0]["delivery_rate"] == 3 / 8
    assert all(row["delivery_rate"] is not None and row["neighbours"] for row in table)
    assert Facts.read(out / "line-new").run.protocol == "ns2-aodv"
    assert invoke(asked) == 0  # the same again
    assert "ns-2 does not trace interests" in capsys.readouterr().out


def test_a_folder_made_from_other_files_is_kept(tmp_path, capsys):
    assert invoke(["ingest", str(TRACES / "line-new.tr"), "--out", str(tmp_path)]) == 0
    assert invoke(["ingest", str(TRACES / "line-old.tr"), "--out", str(tmp_path)]) == 2
    assert "an import of other files" in capsys.readouterr().err
    assert invoke(["ingest", str(TRACES / "line-old.tr"), "--out", str(tmp_path), "--overwrite"]) == 0


def test_a_wrong_file_is_told_in_one_line(tmp_path, capsys):
    wrong = tmp_path / "wrong.txt"
    wrong.write_text("what?\n")
    for arguments in (
        [str(wrong)],
        [str(wrong), "--format", "ns2trace"],
        [str(wrong), "--format", "gps"],
        [str(wrong), "--format", "sumofcd"],
        [str(wrong), "--format", "bonnmotion"],
        [str(wrong), "--format", "pcap"],
        [str(tmp_path / "nowhere")],
        [str(TRACES / "line-new.tr"), str(wrong)],
        [str(TRACES / "line-new.tr"), "--range", "250"],
        [str(TRACES / "line-new.tr"), "--movement", str(wrong)],
        [str(TRACES / "line-new.tr"), "--with-run", str(tmp_path)],
    ):
        assert invoke(["ingest", *arguments, "--out", str(tmp_path / "out")]) == 2
        complaint = capsys.readouterr().err
        assert complaint.startswith("roamcast: ")
        assert complaint.count("\n") == 1


def test_a_trace_of_mostly_bad_lines_is_refused(tmp_path, capsys):
    good = (TRACES / "line-new.tr").read_text().splitlines(keepends=True)
    path = tmp_path / "broken.tr"
    path.write_text("".join([*good, *["r nonsense\n"] * (len(good) + 1)]))
    assert invoke(["ingest", str(path), "--format", "ns2trace", "--out", str(tmp_path / "out")]) == 2
    complaint = capsys.readouterr().err
    assert f"{len(good) + 1} of " in complaint
    assert complaint.count("\n") == 1


def test_vehicles_that_come_late_or_leave_early_are_counted(tmp_path, capsys):
    path = tmp_path / "town.xml"
    seen = ["".join(f'<vehicle id="{v}" x="{t}" y="0"/>' for v in range(t % 3 + 1)) for t in range(9)]
    steps = "".join(f'<timestep time="{t}">{vehicles}</timestep>' for t, vehicles in enumerate(seen))
    path.write_text(f"<fcd-export>{steps}</fcd-export>")
    assert invoke(["ingest", str(path), "--out", str(tmp_path / "out")]) == 0
    assert "2 nodes arrive after the start and 0 leave before the end" in capsys.readouterr().out
    assert invoke(["check", str(tmp_path / "out" / "scenario.toml")]) == 0
    assert invoke(["ingest", str(path), "--out", str(tmp_path / "out"), "--presence", "never"]) == 2
