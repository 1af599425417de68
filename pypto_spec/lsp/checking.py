"""When documents are checked: a while after the last edit, in a thread, and never for a version that has gone by.

The compiler is Python, so a check in a thread and the loop that serves the editor take turns. A process of its own
would not have to share, but what a check knows (the programs after each pass) would have to be copied over for every
hover; and the turns are short (`TURN`), so that an answer waits for milliseconds even while a spec of thousands of
statements compiles. Between two passes a check looks whether it is still wanted.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from pypto_spec.driver.live import Checked, Stopped, check_live
from pypto_spec.lsp.documents import Open

TURN = 0.0005
"""Seconds after which the thread that compiles gives way to the loop (Python's own choice is 0.005)."""

Deliver = Callable[[Open, Checked], None]


class Job:
    """The check of one version of a document."""

    __slots__ = ("done", "hurry", "opened", "stopped")

    def __init__(self, opened: Open) -> None:
        self.opened = opened
        self.stopped = False
        self.hurry = asyncio.Event()
        self.done: asyncio.Future[Checked | None] = asyncio.get_running_loop().create_future()

    def checkpoint(self) -> None:
        """Called by the compiler, in its thread."""
        if self.stopped:
            raise Stopped

    def stop(self) -> None:
        """Nobody waits for this version any more."""
        self.stopped = True
        self.finish(None)

    def finish(self, checked: Checked | None) -> None:
        """Hand the outcome to those who wait for it."""
        self.hurry.set()
        if not self.done.done():
            self.done.set_result(checked)


class Checker:
    """Checks documents one at a time; `deliver` gets the outcome of each version that is still the current one."""

    def __init__(self, deliver: Deliver) -> None:
        self.delay = 0.1
        """Seconds without an edit before a check begins."""
        self.defines: Mapping[str, str] = {}
        self.count = 0
        """Checks that ran to their end."""
        self._deliver = deliver
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
        if job.stopped:
            return
        checked = await asyncio.get_running_loop().run_in_executor(self._pool, _check, job, self.defines)
        if checked is None or job.stopped:
            return
        self.count += 1
        self._deliver(job.opened, checked)
        job.finish(checked)


def _check(job: Job, defines: Mapping[str, str]) -> Checked | None:
    opened = job.opened
    if job.stopped or opened.format is None:
        return None
    try:
        return check_live(opened.source, opened.format, defines, job.checkpoint)
    except Stopped:
        return None
