"""Measuring: compiles in this process, and cold commands in processes of their own."""

from __future__ import annotations

import os
import resource
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

from pypto_spec.check import check_program
from pypto_spec.collector import collector_paused
from pypto_spec.diagnostics.model import Sink
from pypto_spec.diagnostics.span import Source
from pypto_spec.driver.compile import compile_source
from pypto_spec.ops.instructions import effects
from pypto_spec.render.program import render_kernels
from pypto_spec.targets import TARGETS
from tests.bench.chains import CHAINS

ROOT = Path(__file__).resolve().parents[2]
SOFTMAX = "specs/vector/softmax.yaml"
CHAIN_BUDGETS = {1_000: 500.0, 4_000: 2_000.0, 10_000: 5_000.0}
MAIN = "from pypto_spec.cli.main import main; main()"


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured quantity with its budget; None where there is none."""

    group: str
    name: str
    unit: str
    least: float
    median: float
    budget: float | None

    @property
    def met(self) -> bool | None:
        """Whether the median keeps the budget."""
        return None if self.budget is None else self.median <= self.budget

    def plain(self) -> dict[str, object]:
        """The figure as plain data."""
        return {**asdict(self), "met": self.met}


def figure(group: str, name: str, unit: str, values: list[float], budget: float | None) -> Figure:
    """The figure of several runs."""
    return Figure(group, name, unit, min(values), median(values), budget)


# -- cold -----------------------------------------------------------------------------------------------------------


def cold(python: str, runs: int) -> Iterator[Figure]:
    """`check` and `build` of softmax in new processes, in turns with the yardstick, so that load hits all alike."""
    with tempfile.TemporaryDirectory() as scratch:
        commands = {
            "import pydantic, jinja2, click": [python, "-c", "import pydantic, jinja2, click"],
            "pypto-spec check": [*_program(python), "check", SOFTMAX],
            "pypto-spec build": [*_program(python), "build", SOFTMAX, "-o", str(Path(scratch, "out"))],
        }
        wall: dict[str, list[float]] = {name: [] for name in commands}
        cpu: dict[str, list[float]] = {name: [] for name in commands}
        for command in commands.values():
            _timed(command)  # files come into the cache, bytecode is written
        for _ in range(runs):
            for name, command in commands.items():
                elapsed, used = _timed(command)
                wall[name].append(elapsed)
                cpu[name].append(used)
        yardstick, check, build = commands
        yield figure("cold", yardstick, "ms", wall[yardstick], None)
        for name, budget, ratio in ((check, 300.0, 2.5), (build, 500.0, 3.5)):
            yield figure("cold", name, "ms", wall[name], budget)
            times = [a / b for a, b in zip(cpu[name], cpu[yardstick], strict=True)]
            yield figure("cold", f"{name}, CPU time / the import's", "x", times, ratio)
        for word in ("check", "build"):
            arguments = [word, SOFTMAX, *(["-o", str(Path(scratch, "out"))] if word == "build" else [])]
            yield figure("cold", f"torch modules loaded by {word}", "", [float(_torch_modules(python, arguments))], 0.0)


def _program(python: str) -> list[str]:
    script = Path(python).with_name("pypto-spec")
    return [str(script)] if script.exists() else [python, "-c", MAIN]


def _timed(command: list[str]) -> tuple[float, float]:
    """Milliseconds of wall clock and of CPU that a command takes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = perf_counter()
    done = subprocess.run(command, cwd=ROOT, env=_environment(), capture_output=True, check=False)
    elapsed = perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed: {done.stderr.decode(errors='replace')}")
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return elapsed * 1e3, used * 1e3


def _environment() -> dict[str, str]:
    """The environment of a user: modules are compiled once."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def _torch_modules(python: str, arguments: list[str]) -> int:
    program = (
        "import sys\n"
        f"sys.argv[1:] = {arguments!r}\n"
        "try:\n"
        f"    {MAIN}\n"
        "finally:\n"
        "    print('torch:', sum(m.split('.')[0] == 'torch' for m in sys.modules))\n"
    )
    command = [python, "-c", program]
    done = subprocess.run(command, cwd=ROOT, env=_environment(), capture_output=True, text=True, check=True)
    return int(done.stdout.rpartition("torch:")[2])


# -- in this process ------------------------------------------------------------------------------------------------


def _compile(source: Source, toml: bool = False) -> None:
    """From text to C++; without the cyclic collector, as in the command."""
    with collector_paused():
        made = compile_source(source, format="toml" if toml else "yaml")
        if not made.ok or made.program is None:
            raise RuntimeError(f"{source.name} does not compile: {[d.message for d in made.diagnostics[:3]]}")
        render_kernels(made.program)


def times(work: Callable[[], object], runs: int) -> list[float]:
    """Milliseconds of CPU time per run."""
    measured = []
    for _ in range(runs):
        started = process_time()
        work()
        measured.append((process_time() - started) * 1e3)
    return measured


def gallery(runs: int) -> Iterator[Figure]:
    """Each kernel of the gallery, from text to C++, everything imported already."""
    for path in sorted((ROOT / "specs").rglob("*")):
        if path.suffix not in (".yaml", ".toml"):
            continue
        source, toml = Source(path.name, path.read_text(encoding="utf-8")), path.suffix == ".toml"
        _compile(source, toml)

        def work(source: Source = source, toml: bool = toml) -> None:
            _compile(source, toml)

        yield figure("gallery", path.relative_to(ROOT / "specs").as_posix(), "ms", times(work, runs), 25.0)


def chains(runs: int) -> Iterator[Figure]:
    """Chains of statements, from text to C++, and the checker's share of the largest budgeted build."""
    for kind, make in CHAINS.items():
        for count, budget in CHAIN_BUDGETS.items():
            source = Source(f"{kind}_{count}.yaml", make(count))
            whole = times(lambda source=source: _compile(source), runs)  # type: ignore[misc]
            yield figure("chains", f"{kind}, {count:,} statements", "ms", whole, budget)
            if count == 4_000:
                share = [100 * part / min(whole) for part in _checker(source, runs)]
                yield figure("chains", f"{kind}, {count:,} statements: share of the checker", "%", share, 30.0)


def _checker(source: Source, runs: int) -> list[float]:
    program = compile_source(source, format="yaml").program
    assert program is not None
    target = TARGETS[program.target.platform]
    with collector_paused():
        return times(lambda: check_program(program, target, Sink(), effects), runs)
