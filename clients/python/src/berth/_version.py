"""The version in pyproject.toml is read from here."""

VERSION = "0.1.0"
