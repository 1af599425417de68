"""What all tests share: how hard hypothesis searches, and the form of snapshots."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

# Specs beside tests are their data: where pypto-spec is installed, its pytest plugin would run them as goldens.
collect_ignore_glob = ["*.yaml", "*.yml", "*.toml"]

# `make test` gives the same answer each time; `make test-long` searches further, from a new seed on each run.
settings.register_profile("default", deadline=None, derandomize=True, max_examples=60)
settings.register_profile("long", deadline=None, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


class TextFile(SingleFileSnapshotExtension):
    """One plain text file per snapshot, so that a review shows the text as a user sees it."""

    _write_mode = WriteMode.TEXT
    file_extension = "txt"


@pytest.fixture
def text_snapshot(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    """Compares a str with a file under `__snapshots__/`; `pytest --snapshot-update` writes it."""
    return snapshot.use_extension(TextFile)
