import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = {"docs/subscriptions.md": 1}


@pytest.mark.parametrize("page", PAGES)
def test_the_python_on_a_page_runs(page, monkeypatch):
    monkeypatch.chdir(ROOT)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    assert len(blocks) == PAGES[page]
    for block in blocks:
        exec(block, {})
