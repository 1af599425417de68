"""When documents are checked: a while after the last edit, in a thread, and never for a version that has gone by.

The compiler is Python, so a check in a thread and the loop that serves the editor take turns. A process of its own
would not have to share, but what a check knows (the programs after each pass) would have to be copied over for every
hover; and the turns are short (`TURN`), so that an answer waits for milliseconds even while a spec of thousands of
statements compiles. Between two passes a check looks whether it is still wanted.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING

from pypto_spec.driver.live import Checked, Stopped, check_live
from pypto_spec.lsp.documents import Open

if TYPE_CHECKING:
    from pypto_spec.editor.facts import Facts

log = logging.getLogger(__name__)

TURN = 0.0005
"""Seconds after which the thread that compiles gives way to the loop (Python's own choice is 0.005)."""

Deliver = Callable[[Open, Checked], bool]
"""Takes the outcome of a check, and says whether its facts are wanted too."""

Learn = Callable[[Open, Checked, "Facts | None"], None]
"""Takes the facts."""


class Job:
    """The check of one version of a document."""

    __slots__ = ("done", "hurry", "known", "opened", "stopped")

    def __init__(self, opened: Open) -> None:
        self.opened = opened
        self.stopped = False
        self.hurry = asyncio.Event()
        self.known = asyncio.Event()
        """Set when there is no more to come: neither findings nor facts."""
        self.done: asyncio.Future[Checked | None] = asyncio.get_running_loop().create_future()

    def checkpoint(self) -> None:
        """Called by the compiler, in its thread."""
        if self.stopped:
            raise Stopped

    def stop(self) -> None:
        """Nobody waits for this version any more."""
        self.stopped = True
        self.finish(None)
        self.known.set()

    def finish(self, checked: Checked | None) -> None:
        """Hand the outcome to those who wait for it."""
        self.hurry.set()
        if not self.done.done():
            self.done.set_result(checked)


class Checker:
    """Checks documents one at a time; `deliver`, then `learn`, get what comes of the versions that still count."""

    def __init__(self, deliver: Deliver, learn: Learn) -> None:
        self.delay = 0.1
        """Seconds without an edit before a check begins."""
        self.defines: Mapping[str, str] = {}
        self._deliver, self._learn = deliver, learn
        self._jobs: dict[str, Job] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="check")

    def soon(self, opened: Open, delay: float | None = None) -> None:
        """Check a new version after the delay, and forget the one before it."""
        self.drop(opened.uri)
        job = self._jobs[opened.uri] = Job(opened)
        task = asyncio.get_running_loop().create_task(self._run(job, self.delay if delay is None else delay))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def drop(self, uri: str) -> None:
        """Call off the check of a document."""
        job = self._jobs.pop(uri, None)
        if job is not None:
            job.stop()

    async def outcome(self, opened: Open, timeout: float | None = None) -> Checked | None:
        """What the check of this very version finds, begun at once if it still waits; None where it is called off."""
        job = self._jobs.get(opened.uri)
        if job is None or job.opened is not opened:
            return None
        job.hurry.set()
        try:
            return await asyncio.wait_for(asyncio.shield(job.done), timeout)
        except TimeoutError:
            return None

    async def known(self, opened: Open, timeout: float) -> None:
        """Wait until all that is to be known of this version is known, or the time is up."""
        job = self._jobs.get(opened.uri)
        if job is not None and job.opened is opened:
            job.hurry.set()
            with suppress(TimeoutError):
                await asyncio.wait_for(job.known.wait(), timeout)

    def warm(self, work: Callable[[], object]) -> None:
        """Do something in the thread before the first check asks for it."""
        self._pool.submit(work)

    def close(self) -> None:
        """Call off everything."""
        for uri in list(self._jobs):
            self.drop(uri)
        self._pool.shutdown(wait=False, cancel_futures=True)

    async def _run(self, job: Job, delay: float) -> None:
        if delay > 0:
            with suppress(TimeoutError):
                await asyncio.wait_for(job.hurry.wait(), delay)
        try:
            await self._work(job)
        except Exception:
            log.exception("the check of %s failed", job.opened.uri)
        finally:  # nobody waits for ever
            job.finish(None)
            job.known.set()

    async def _work(self, job: Job) -> None:
        loop = asyncio.get_running_loop()
        checked = await loop.run_in_executor(self._pool, _check, job, self.defines) if not job.stopped else None
        if checked is None or job.stopped:
            return
        wanted = self._deliver(job.opened, checked)
        job.finish(checked)
        if wanted:
            facts = await loop.run_in_executor(self._pool, _facts, job, checked)
            if not job.stopped:
                self._learn(job.opened, checked, facts)


def _check(job: Job, defines: Mapping[str, str]) -> Checked | None:
    opened = job.opened
    if job.stopped or opened.format is None:
        return None
    try:
        return check_live(opened.source, opened.format, defines, job.checkpoint)
    except Stopped:
        return None


def _facts(job: Job, checked: Checked) -> Facts | None:
    """What hovers and hints say about the program; nothing where that fails, which the log says."""
    try:
        from pypto_spec.editor.facts import facts_of, together

        every = []
        for one in checked.compiled:
            job.checkpoint()
            if one.stages:
                every.append(facts_of(one))
        return together(every) if every else None
    except Stopped:
        return None
    except Exception:
        log.exception("no facts of %s", job.opened.uri)
        return None
