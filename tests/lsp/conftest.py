"""One running server for all tests here; what needs other settings is tested in this process."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.lsp.wire import Editor, editor


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def wired(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Editor]:
    """An editor with its server, whose log must be empty in the end."""
    async with editor(tmp_path_factory.mktemp("lsp") / "log") as made:
        yield made
    assert made.complaints() == ""
