"""Every Python example of the documentation has right types, and runs with the product."""

from __future__ import annotations

import gc
import re
import subprocess
import sys
from pathlib import Path

import pytest

import berth

from .product import public_key
from .vectors import ROOT

PAGES = ["clients/python/README.md", "docs/guide/python.md"]
EXAMPLES = [(page, text) for page in PAGES for text in re.findall(r"^```python\n(.*?)^```$", (ROOT / page).read_text(), re.M | re.S)]


def test_examples_have_right_types(tmp_path: Path) -> None:
    files = []
    for index, (_, text) in enumerate(EXAMPLES):
        files.append(tmp_path / f"example_{index}.py")
        files[-1].write_text(text)
    project = ROOT / "clients/python"
    command = [sys.executable, "-m", "mypy", f"--config-file={project / 'pyproject.toml'}", f"--cache-dir={project / '.mypy_cache'}"]
    checked = subprocess.run([*command, *files], cwd=project, capture_output=True, text=True)  # noqa: S603
    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # short programs leave their connections to their end
@pytest.mark.parametrize(("page", "text"), EXAMPLES)
def test_example_runs(page: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSH_PUBLIC_KEY", public_key())
    exec(compile(text, page, "exec"), {"__name__": "example"})  # noqa: S102
    gc.collect()
    with berth.Berth() as client:
        for vm in client.vms.list(name="web-1"):
            client.wait_for_action(client.vms.delete(vm["id"]), timeout=300)
