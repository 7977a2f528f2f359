"""Runs dealt out to tasks, and what is heard of them, by a session that stands in for Spark."""

import os
from dataclasses import replace
from types import SimpleNamespace

import pytest
from standing_session import StandingSession

from roamcast.campaign.campaign import Limits
from roamcast.campaign.plan import Run
from roamcast.campaign.progress import Progress
from roamcast.pipeline.running import simulate as simulating
from roamcast.pipeline.running import task as tasks
from roamcast.pipeline.running.simulate import DiskFull, simulate
from roamcast.pipeline.store import Store

RUN = Run("0" * 20, "flooding", "{}", 1, "{}", 10.0, 0.0, 250.0, 20, 10, "v", "{}", "command")
RUNS = [replace(RUN, id=f"{number:020x}", duration=10.0 + number) for number in range(5)]
LIMITS = Limits(time=7.0, memory=5e8)


@pytest.fixture
def world(tmp_path, monkeypatch):
    """A store, a session, and a list of tasks that were done; `answers` tells what becomes of a run."""
    did, answers = [], {}

    def execute(task):
        did.append(task)
        told = {"run": task.run.id, "status": "done", "error": "", "wall": 2.0, "files": {}}
        return told | answers.get(task.run.id, {})

    monkeypatch.setattr(tasks, "execute", execute)
    monkeypatch.setattr(simulating, "deal", lambda spark, items: spark.deal(items))
    store = Store(tmp_path)
    store.create()
    return SimpleNamespace(store=store, spark=StandingSession(slots=2), did=did, answers=answers)


def test_the_longest_runs_go_first_each_with_its_limits(world):
    watched = []
    answers = simulate(
        world.spark,
        world.store,
        RUNS,
        LIMITS,
        watch=lambda progress: watched.append((progress.done, progress.failed)),
        runner="some:runner",
    )
    assert [task.run.id for task in world.did] == [run.id for run in reversed(RUNS)]
    assert {(task.staged, task.seconds, task.memory, task.runner) for task in world.did} == {
        (world.store.staged, 7.0, 5e8, "some:runner")
    }
    assert sorted(told["run"] for told in answers) == [run.id for run in RUNS]
    assert watched[-1] == (5, 0) and world.spark.jobs == 1 and world.spark.cancelled == 0


def test_costs_that_are_known_decide_what_is_longest_and_ties_go_by_name(world):
    costs = dict(zip([run.id for run in RUNS], (1.0, 9.0, 2.0, 9.0, 1.0), strict=True))
    simulate(world.spark, world.store, RUNS, LIMITS, costs=costs)
    assert [RUNS.index(task.run) for task in world.did] == [1, 3, 2, 0, 4]


def test_no_runs_are_no_job(world):
    assert simulate(world.spark, world.store, [], LIMITS) == []
    assert world.spark.jobs == 0


def test_a_run_that_fails_is_an_answer_and_is_counted(world):
    world.answers[RUNS[2].id] = {"status": "failed", "error": "why"}
    watched = []
    answers = simulate(world.spark, world.store, RUNS, LIMITS, watch=watched.append)
    assert [told["error"] for told in answers if told["status"] == "failed"] == ["why"]
    assert (watched[-1].done, watched[-1].failed) == (4, 1)


def test_a_full_disk_is_told_with_the_folder(world):
    world.answers[RUNS[4].id] = {"status": "disk full", "error": "No space left"}
    with pytest.raises(
        DiskFull, match=r"the disk is full \(No space left\); make room and run again"
    ) as told:
        simulate(world.spark, world.store, RUNS, LIMITS)
    assert str(told.value).startswith(str(world.store.folder))


def test_what_goes_wrong_in_the_job_is_raised_here(world, monkeypatch):
    def fail(task):
        raise RuntimeError("a worker's error")

    monkeypatch.setattr(tasks, "execute", fail)
    with pytest.raises(RuntimeError, match="a worker's error"):
        simulate(world.spark, world.store, RUNS, LIMITS)


def test_short_runs_share_a_task(world):
    short = [replace(RUN, id=f"{number:020x}", duration=1.0) for number in range(40)]
    portions = []
    deal = world.spark.deal
    world.spark.deal = lambda items: portions.extend(items) or deal(items)
    simulate(world.spark, world.store, short, LIMITS)
    assert [len(each) for each in portions] == [2] * 20


def test_a_task_that_spark_tries_again_passes_over_what_is_staged(world, monkeypatch):
    from pyspark import TaskContext

    staged = {"run": RUNS[0].id, "status": "done", "error": "", "files": {}}
    world.store.staging.say(staged)
    for attempt, count in ((0, 5), (1, 4)):
        world.did.clear()
        monkeypatch.setattr(
            TaskContext, "get", lambda attempt=attempt: SimpleNamespace(attemptNumber=lambda: attempt)
        )
        assert len(simulate(world.spark, world.store, RUNS, LIMITS)) == 5
        assert len(world.did) == count


class Remote:
    """A session with a server, which tells how many tasks have ended."""

    def __init__(self):
        self.handlers, self.interrupted = [], 0

    def registerProgressHandler(self, handler):
        self.handlers.append(handler)

    def removeProgressHandler(self, handler):
        self.handlers.remove(handler)

    def interruptAll(self):
        self.interrupted += 1

    def tell(self, *completed):
        stages = [SimpleNamespace(num_completed_tasks=count) for count in completed]
        for handler in self.handlers:
            handler(stages=stages or None, inflight_tasks=1, operation_id="x", done=False)


def test_over_connect_runs_are_counted_by_the_tasks_that_ended():
    remote, progress = Remote(), Progress(RUNS, 2)
    hearing = simulating._Counting(remote, [2, 2, 1])
    assert hearing.tell is None
    hearing.hear(progress)
    assert progress.done == 0
    for completed, done in (((1,), 2), ((0, 2), 4), ((), 4), ((1,), 4), ((3,), 5)):
        remote.tell(*completed)
        hearing.hear(progress)
        assert progress.done == done
    hearing.cancel()
    assert remote.interrupted == 1
    hearing.end()
    assert remote.handlers == []


def test_what_tasks_tell_is_heard_once():
    spark = StandingSession()
    hearing, heard = simulating._Hearing(spark), []
    progress = SimpleNamespace(hear=lambda new, now: heard.append([told["run"] for told in new]))
    hearing.hear(progress)
    for names in (["a"], ["b", "c"], []):
        for name in names:
            hearing.tell({"run": name})
        hearing.hear(progress)
    assert heard == [["a"], ["b", "c"]]
    hearing.cancel()
    assert spark.cancelled == 1


def failing_with(error):
    def fail(run, folder):
        raise error

    return fail


@pytest.fixture
def asked(tmp_path):
    return tasks.Task(RUN, str(tmp_path / "staged"), 7.0, 5e8, "synthetic_runner:run")


def live(task, monkeypatch, runner, work):
    monkeypatch.setattr(tasks, "find_runner", lambda path: runner)
    return tasks._live(task, work)


def test_a_run_that_is_done_tells_its_files(asked, monkeypatch, tmp_path):
    def run(run, folder):
        (folder / "b.json").write_bytes(b"12345")
        (folder / "a.json").write_bytes(b"123")

    told = live(asked, monkeypatch, run, tmp_path / "work")
    assert (told["status"], told["error"], told["rows"]) == ("done", "", 0)
    assert [(name, file["size"], file["rows"]) for name, file in told["files"].items()] == [
        ("a.json", 3, 0),
        ("b.json", 5, 0),
    ]
    assert told["files"]["a.json"]["digest"] != told["files"]["b.json"]["digest"]


def test_a_run_that_raises_tells_where_and_keeps_the_end_of_its_traceback(asked, monkeypatch, tmp_path):
    told = live(asked, monkeypatch, failing_with(RuntimeError("one\n  two" + "x" * 1000)), tmp_path)
    assert (told["status"], told["files"], told["rows"]) == ("failed", {}, None)
    kind, _, rest = told["error"].partition(": ")
    assert kind == "RuntimeError" and rest.startswith("one twoxxx")
    assert rest.partition(" (")[0] == ("one two" + "x" * 1000)[:400]
    assert "(test_simulating.py:" in rest
    assert told["traceback"].startswith("Traceback") and "failing_with" not in told["error"]
    monkeypatch.setattr(tasks, "_MOST_TRACEBACK", 20)
    told = live(asked, monkeypatch, failing_with(RuntimeError("the very end")), tmp_path)
    assert told["traceback"] == "Error: the very end\n"


@pytest.mark.parametrize("number", ["ENOSPC", "EDQUOT"])
def test_a_full_disk_is_not_the_runs_fault(asked, monkeypatch, tmp_path, number):
    import errno

    error = OSError(getattr(errno, number), os.strerror(getattr(errno, number)))
    told = live(asked, monkeypatch, failing_with(error), tmp_path)
    assert told == {"files": {}, "status": "disk full", "error": str(error)}


def test_a_run_without_memory_says_so(asked, monkeypatch, tmp_path):
    told = live(asked, monkeypatch, failing_with(MemoryError()), tmp_path)
    assert (told["status"], told["error"]) == ("failed", "used more memory than its limit")


def test_a_router_that_fails_tells_its_own_story(asked, monkeypatch, tmp_path):
    from roamcast.sim.failure import RouterFailed

    class Failed(RouterFailed):
        def __init__(self):
            Exception.__init__(self, "node 3 raised at 12 s")

    error = Failed()
    told = live(asked, monkeypatch, failing_with(error), tmp_path)
    assert (told["status"], told["error"]) == ("failed", str(error))
    assert "Traceback" in told["traceback"]


class Keeper:
    """Answers one after the other."""

    def __init__(self, *answers):
        self.answers, self.asked = list(answers), []

    def run(self, work, seconds, memory):
        self.asked.append((seconds, memory))
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


@pytest.mark.parametrize(
    ("answers", "error"),
    [
        ([{"limit": "time"}], "took longer than its limit of 7 s"),
        ([{"limit": "memory"}], "used more memory than its limit"),
        ([{"died": 0, "code": 3}], "its process ended with code 3"),
        ([{"died": 6}], "its process was killed by SIGABRT"),
        ([{"died": 15}, {"died": 15}], "its process was killed by SIGTERM, twice"),
        ([{"died": 9}, {"died": 6}], "its process was killed by SIGABRT, twice"),
        (
            [tasks.KeeperDied(), {"died": 9}],
            "its process was killed by SIGKILL, twice; the machine may be out of memory",
        ),
        ([{"died": 9}, {"said": {"status": "done", "error": "", "files": {}}}], ""),
    ],
)
def test_what_becomes_of_a_run_is_said_and_kept(asked, monkeypatch, answers, error):
    keeper = Keeper(*answers)
    monkeypatch.setattr(tasks, "keeper_of", lambda runner: keeper)
    told = tasks.execute(asked)
    assert (told["run"], told["error"], told["version"]) == (RUN.id, error, "v")
    assert told["status"] == ("failed" if error else "done")
    assert 0 <= told["wall"] < 60 and keeper.answers == []
    assert set(keeper.asked) == {(7.0, 5e8)}
    assert tasks.Staging(asked.staged).look(RUN.id)["error"] == error


def test_what_is_said_of_a_full_disk_is_not_kept_there(asked, monkeypatch):
    keeper = Keeper({"said": {"status": "disk full", "error": "No space left", "files": {}}})
    monkeypatch.setattr(tasks, "keeper_of", lambda runner: keeper)
    assert tasks.execute(asked)["status"] == "disk full"
    assert tasks.Staging(asked.staged).look(RUN.id) is None


def test_trouble_with_the_staging_is_an_answer_and_no_work_stays_behind(asked, monkeypatch, tmp_path):
    said = {"said": {"status": "done", "error": "", "files": {"gone": {}}}}
    keeper = Keeper(said)

    def run(work, seconds, memory):
        tasks.Staging(asked.staged).work_folder(RUN.id).mkdir(parents=True)
        return said

    keeper.run = run
    monkeypatch.setattr(tasks, "keeper_of", lambda runner: keeper)
    told = tasks.execute(asked)
    assert told["status"] == "failed" and told["error"].startswith("FileNotFoundError")
    assert (told["run"], told["files"]) == (RUN.id, {})
    assert not list((tmp_path / "staged").glob(".work-*"))
