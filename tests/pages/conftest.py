"""A real browser for the tests of pages: Chromium without a window.

Without it these tests are skipped, with `PYPTO_SPEC_BROWSER=required` (which CI sets) they fail.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.pages.opened import Opened

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
"""What it takes to run as root, and to leave the network alone."""


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One browser for all tests of a worker, with a profile of its own."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        missing = "there is no Chromium on this machine; on Debian: apt-get install chromium"
        if os.environ.get("PYPTO_SPEC_BROWSER") == "required":
            pytest.fail(missing)
        pytest.skip(missing)
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=found, args=QUIET)
        yield running
        running.close()


@pytest.fixture
def opener(browser: Browser) -> Iterator[Opened]:
    """Opens pages, and holds that they say nothing on the console, raise nothing and ask nothing of a network."""
    opened = Opened(browser)
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the files of a session."""
    return tmp_path_factory.mktemp("pages")
