"""What is uploaded to PyPI: built, installed and imported."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import berth

from .vectors import ROOT

PROJECT = ROOT / "clients/python"
PROGRAM = """
import importlib.metadata, berth
assert berth.__file__.startswith({site!r}), berth.__file__
print(berth.__version__, importlib.metadata.version("berth"))
"""


def run(*command: str | Path, cwd: Path) -> str:
    return subprocess.run([sys.executable, *command], cwd=cwd, check=True, capture_output=True, text=True).stdout  # noqa: S603


def test_wheel_is_complete(tmp_path: Path) -> None:
    run("-m", "hatchling", "build", "-t", "wheel", "-t", "sdist", "-d", tmp_path, cwd=PROJECT)
    (wheel,) = tmp_path.glob("*.whl")
    (source,) = tmp_path.glob("*.tar.gz")
    assert source.name == f"berth-{berth.__version__}.tar.gz"
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if name.startswith("berth/")}
        metadata = archive.read(f"berth-{berth.__version__}.dist-info/METADATA").decode()
    assert packed == {f"berth/{path.name}" for path in (PROJECT / "src/berth").iterdir() if path.is_file()}
    assert "berth/py.typed" in packed
    assert "Requires-Dist: httpx<1,>=0.27\n" in metadata
    assert "## A VM in 10 lines" in metadata

    site = tmp_path / "site"
    run("-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--disable-pip-version-check", "--target", site, wheel, cwd=tmp_path)
    program = f"import sys; sys.path.insert(0, {str(site)!r}){PROGRAM.format(site=str(site))}"
    assert run("-c", program, cwd=tmp_path) == f"{berth.__version__} {berth.__version__}\n"
