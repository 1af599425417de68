"""Text in, text out: each file of `cases/` is a spec and, below a rule, its dump after the pass its first line names.

`pytest --snapshot-update` writes the expected part anew.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from pypto_spec.convert.to_ir import convert
from pypto_spec.convert.to_spec import to_spec
from pypto_spec.diagnostics.model import Sink
from pypto_spec.diagnostics.span import Source
from pypto_spec.passes import pipeline
from pypto_spec.passes.base import Context
from pypto_spec.spec.models.document import load_document
from pypto_spec.targets import TARGETS

CASES = sorted((Path(__file__).parent / "cases").glob("*.yaml"))
RULE = "# " + "=" * 60 + " becomes\n"


def lowered(text: str, name: str) -> str:
    """The dump after the pass, its buffers and what follows its `program:`, and the warnings on the way."""
    after = text.partition(":")[0].removeprefix("# ")
    sink = Sink()
    program = convert(load_document(Source(name, text)), sink)
    made = pipeline.run(program, Context(TARGETS[program.target.platform], sink), after=after, thorough=True)
    found = [f"# {d.rule.code} at line {d.primary.span.line}: {d.message}" for d in sink.found]
    head, _, body = to_spec(made).partition("program:\n")
    _, keyword, buffers = head.partition("buffers:\n")
    return "\n".join([*found, keyword + buffers + body])


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_case(path: Path, request: pytest.FixtureRequest) -> None:
    text, _, expected = path.read_text(encoding="utf-8").partition(RULE)
    made = lowered(text, path.name)
    if request.config.getoption("update_snapshots"):
        path.write_text(text + RULE + made, encoding="utf-8")
    else:
        assert made == expected
