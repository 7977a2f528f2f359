"""The version of a run covers the code that provides its router, however that is installed."""

import importlib
from importlib.metadata import entry_points

import pytest
from test_campaign_file import HEAD, write

from roamcast.campaign import version as version_module
from roamcast.campaign.plan import make_plan, read_campaign
from roamcast.campaign.version import code_version, find_provider
from roamcast.routing import catalogue

ROUTER = '''
from roamcast.routing.flooding import Flooding

class Plugin(Flooding):
    """Floods."""
'''


@pytest.fixture(autouse=True)
def fresh():
    forget()
    yield
    forget()


def forget():
    for cached in (catalogue.installed, version_module.own_version, version_module.provider_version):
        cached.cache_clear()


def add(folder, files):
    for name, content in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())


def install(site, name, module, record=None, **more):
    """A distribution as an installer leaves it in `site`, with one router; `record` lists its files."""
    info = f"{name}-1.0.dist-info"
    add(
        site,
        {
            f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
            f"{info}/entry_points.txt": f"[roamcast.routers]\n{name} = {module}:Plugin\n",
            **{f"{info}/{key}": text for key, text in more.items()},
        },
    )
    if record is not None:
        add(site, {f"{info}/RECORD": "".join(f"{file},,\n" for file in [*record, f"{info}/RECORD"])})


def provided(name):
    importlib.invalidate_caches()
    [entry] = entry_points(group="roamcast.routers", name=name)
    return find_provider(entry)


def version(name):
    importlib.invalidate_caches()
    forget()
    return code_version(name)


def change(file):
    file.write_bytes(file.read_bytes() + b"\n# changed")


def test_an_edited_plug_in_gives_its_runs_other_ids_and_no_others(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    add(tmp_path, {"edited.py": ROUTER})
    install(tmp_path, "edited", "edited", ["edited.py"])
    head = HEAD.replace("[protocols.flooding]", "[protocols.flooding]\n[protocols.edited]")
    campaign = read_campaign(write(tmp_path, '[sweeps.x]\nprotocols = ["flooding", "edited"]\n', head))

    def ids():
        forget()
        runs = make_plan(campaign).runs
        return [{run.id for run in runs if (run.router == "edited") is ours} for ours in (True, False)]

    before = ids()
    change(tmp_path / "edited.py")
    after = ids()
    assert before[0] and before[0].isdisjoint(after[0])
    assert before[1] == after[1]


def test_ours_have_one_digest_and_others_a_second_one(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    add(tmp_path, {"single.py": ROUTER})
    install(tmp_path, "single", "single", ["single.py"])
    assert version("flooding") == version("")
    assert version("single").startswith(version("flooding") + ".")
    assert len(version("single")) == len(version("flooding")) + 9


def test_every_file_of_an_installed_distribution_counts_compiled_ones_too(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    files = {
        "whole/__init__.py": "",
        "whole/router.py": ROUTER,
        "whole/table.json": "{}",
        "whole/_fast.cpython-311-x86_64-linux-gnu.so": b"\x7fELF",
        "helper_of_whole.py": "",
    }
    add(tmp_path, files | {"whole/__pycache__/router.cpython-311.pyc": b"x", "bin/whole": "#!/here"})
    install(
        tmp_path,
        "whole",
        "whole.router",
        [*files, "whole/__pycache__/router.cpython-311.pyc", "../bin/whole"],
    )
    assert provided("whole").keys() == files.keys()
    seen = {version("whole")}
    for name in files:
        change(tmp_path / name)
        seen.add(version("whole"))
    assert len(seen) == len(files) + 1
    (tmp_path / "whole" / "table.json").unlink()
    assert version("whole") not in seen


def test_an_editable_install_counts_as_the_wheel_of_the_same_code(tmp_path, monkeypatch):
    site, project = tmp_path / "site", tmp_path / "project" / "src"
    files = {"linked/__init__.py": "", "linked/deep/router.py": ROUTER, "helper_of_linked.py": ""}
    add(project, files)
    add(site, {"_linked.pth": str(project), "__editable___linked_finder.py": f"MAPPING = {str(project)!r}"})
    install(site, "linked", "linked.deep.router", ["_linked.pth", "__editable___linked_finder.py"])
    monkeypatch.syspath_prepend(project)  # as the .pth file does at the start of Python
    monkeypatch.syspath_prepend(site)
    assert provided("linked") == {name: project / name for name in files}
    editable = version("linked")
    for name, text in files.items():
        change(project / name)
        assert version("linked") != editable
        (project / name).write_text(text)
    wheel = tmp_path / "wheel"
    add(wheel, files)
    install(wheel, "linked", "linked.deep.router", files)
    monkeypatch.syspath_prepend(wheel)
    assert version("linked") == editable


def test_a_package_of_a_shared_namespace_counts_without_its_neighbours(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    add(tmp_path, {"shared_ns/mine/__init__.py": ROUTER, "shared_ns/theirs/__init__.py": ""})
    install(tmp_path, "named", "shared_ns.mine")
    assert provided("named").keys() == {"shared_ns/mine/__init__.py"}


def test_a_module_that_another_distribution_installed_counts(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    add(tmp_path, {"implementation.py": ROUTER, "front.py": ""})
    install(tmp_path, "front", "implementation", ["front.py"])
    assert provided("front").keys() == {"implementation.py", "front.py"}


def test_top_level_modules_of_a_finder_count(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    add(tmp_path, {"found_one/__init__.py": ROUTER, "found_two.py": ""})
    install(tmp_path, "found", "found_one", [], **{"top_level.txt": "found_one\nfound_two\n"})
    assert provided("found").keys() == {"found_one/__init__.py", "found_two.py"}
