"""Whatever stands in a file, the reader gives a scenario or an error of the user: nothing else escapes."""

from pathlib import Path

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from roamcast.errors import UserError
from roamcast.scenario.read import load
from roamcast.scenario.traces.schedule import read_schedule
from roamcast.sim.interest import subscribers
from roamcast.sim.workload import plan

SCENARIOS = Path(__file__).parents[2] / "scenarios"
LINES = [
    line
    for name in ("shopping", "open-field")
    for line in (SCENARIOS / f"{name}.toml").read_text().splitlines()
]

number = st.one_of(st.integers(), st.floats(), st.sampled_from([0, -1, 10**30, 1e308, 5e-324]))
unit = st.sampled_from(["m", "s", "ms", "Mb/s", "m/s", "B", "dB", "", "W", "furlongs"])
value = st.one_of(
    st.builds(lambda n, u: f'"{n} {u}"', number, unit),
    number.map(str),
    st.sampled_from(
        ["true", "[]", "{}", "''", "[[]]", "{ a = 1 }", "1979-05-27", '"\\u0000"', '["0 m", "0 m"]', "inf"]
    ),
    st.sampled_from(
        ['"zone"', '"each-zone"', '["/coupon[zone > 3]"]', '["//"]', '{ type = "x", values = { a = [] } }']
    ),
)
keys = sorted({line.split("=")[0].strip() for line in LINES if "=" in line and not line.startswith("#")})
key = st.one_of(
    st.sampled_from([*keys, "at", "home", "types", "schedule", "mobility", "choose"]), st.text(max_size=5)
)
line = st.one_of(
    st.builds(lambda k, v: f"{k} = {v}", key, value),
    st.sampled_from(LINES),
    st.sampled_from(
        ["[nodes.more]", "[workload.subscribe.more]", "[workload.types.x]", "[protocol.flooding]", "[radio]"]
    ),
    st.text(max_size=20),
)

edits = st.lists(
    st.tuples(st.sampled_from(["replace", "insert", "delete"]), st.integers(0, 40), line), max_size=4
)
slow_disk = settings(
    max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)


@slow_disk
@given(st.sampled_from(["shopping", "open-field"]), edits)
def test_an_edited_scenario_is_right_or_an_error_of_the_user(tmp_path, name, edits):
    lines = (SCENARIOS / f"{name}.toml").read_text().splitlines()
    for kind, at, text in edits:
        place = min(at, len(lines) - 1)
        lines[place : place + (kind != "insert")] = [] if kind == "delete" else [text]
    file = tmp_path / "s.toml"
    file.write_text("\n".join(lines), encoding="utf-8", errors="surrogatepass")
    try:
        scenario = load(file)
        if scenario.duration < 1e5 and scenario.count < 1e3:
            plan(scenario, 1)
            subscribers(scenario, 1)
    except UserError as error:
        assert str(error).strip()


@slow_disk
@example(["float=0"])  # found at random: it is also what pydantic calls one side of a union
@given(st.lists(st.builds("{}={}".format, key, value), max_size=3))
def test_an_override_is_right_or_an_error_of_the_user(overrides):
    try:
        load(SCENARIOS / "shopping.toml", overrides)
    except UserError as error:
        assert str(error).strip()


@slow_disk
@given(st.binary(max_size=200))
def test_bytes_that_are_no_scenario_are_an_error_of_the_user(tmp_path, noise):
    file = tmp_path / "noise"
    file.write_bytes(noise)
    for read in (load, lambda path: read_schedule(path, 5, 60.0)):
        try:
            read(file)
        except UserError as error:
            assert str(file) in str(error)


cell = st.one_of(
    number.map(str), st.sampled_from(["", "alert", "true", '"', "1.5", "0"]), st.text(max_size=4)
)


@slow_disk
@given(
    st.permutations(["time", "publisher", "size", "type", "level"]),
    st.lists(st.lists(cell, max_size=6), max_size=5),
)
def test_a_schedule_is_right_or_an_error_of_the_user(tmp_path, header, rows):
    (tmp_path / "plan.csv").write_text(
        "\n".join(",".join(row) for row in [header, *rows]), encoding="utf-8", errors="surrogatepass"
    )
    (tmp_path / "s.toml").write_text(
        'name = "s"\narea = { width = "9 m", height = "9 m" }\nduration = "60 s"\n'
        'nodes = { all = { count = 3 } }\nworkload = { schedule = "plan.csv" }'
    )
    try:
        plan(load(tmp_path / "s.toml"), 1)
    except UserError as error:
        assert "plan.csv" in str(error)
