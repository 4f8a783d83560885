"""python3 -m generate: writes what is generated in src/berth. A test fails when the files are stale."""

from . import PACKAGE, generated

for path, text in generated().items():
    (PACKAGE / path).write_text(text)
