import subprocess
import sys
from pathlib import Path

SHOPPING = Path(__file__).parents[2] / "scenarios" / "shopping.toml"


def roamcast(*arguments):
    command = [sys.executable, "-c", "from roamcast.cli import main; main()", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def test_why_counts_all_causes_and_tells_the_story_that_it_offers(tmp_path):
    run = roamcast(
        *("run", SHOPPING, "--protocol", "cbr", "--set", "duration='120 s'", "--set", "warmup='60 s'"),
        *("--facts", tmp_path, "--json"),
    )
    assert run.returncode == 0, run.stderr
    causes = roamcast("why", tmp_path)
    assert causes.returncode == 0 and "expected deliveries were lost" in causes.stdout, causes.stderr
    words = causes.stdout.split()
    event, node = words[words.index("--event") + 1], words[words.index("--node") + 1]
    story = roamcast("why", tmp_path, "--event", event, "--node", node)
    assert "published" in story.stdout and "so it was lost" in story.stdout, story.stderr


def test_why_says_what_is_wrong_in_a_line(tmp_path):
    for arguments, told in (
        (["why", tmp_path / "nothing"], "no such folder of facts"),
        (["why", tmp_path, "--node", 3], "go together"),
    ):
        ended = roamcast(*arguments)
        assert ended.returncode == 2 and told in ended.stderr and "Traceback" not in ended.stderr
