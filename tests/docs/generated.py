"""The parts of the documentation that come from the code. `python -m tests.docs.generated` writes them anew.

In a page they stand between `<!-- generated: NAME -->` and `<!-- end -->`; a test compares them with the code.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from pypto_spec.convert import calls
from pypto_spec.convert.let_composites import COMPOSITES, usage
from pypto_spec.diagnostics.registry import all_rules
from pypto_spec.diagnostics.render import FORMATS
from pypto_spec.diagnostics.span import Source
from pypto_spec.driver.compile import compile_source
from pypto_spec.golden.compare import TOLERANCES
from pypto_spec.golden.functions import FUNCTIONS
from pypto_spec.golden.run import AUTO_BLOCKS
from pypto_spec.ops.reference import page as ops_page
from pypto_spec.ops.registry import OPS
from pypto_spec.passes.pipeline import PASSES
from pypto_spec.render.program import render_kernels
from pypto_spec.spec import limits
from pypto_spec.spec.formula import lexer, parser
from pypto_spec.spec.models import extras, sections, structure
from pypto_spec.spec.models.base import Model
from pypto_spec.spec.models.keywords import Keyword, default_table
from pypto_spec.spec.models.reference import fields_of, plain, says_something
from pypto_spec.spec.schema import FILE, schema_text
from pypto_spec.spec.tree import MAX_DEPTH
from pypto_spec.spec.variants import MOST_VARIANTS
from pypto_spec.targets import TARGETS, l0
from pypto_spec.targets.costs import UNITS, VectorCost
from tests.docs import generated_cube

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
BLOCK = re.compile(r"<!-- generated: ([a-z-]+) -->\n(.*?)<!-- end -->\n", re.DOTALL)


def pages() -> list[Path]:
    """Every page of the documentation."""
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted(DOCS.glob("*.md"))]


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A Markdown table."""
    heads = list(head)
    lines = [heads, ["---"] * len(heads), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def _table_of(rows: Iterable[Iterable[str]]) -> str:
    """A table whose first row is its head."""
    head, *others = rows
    return table(head, others)


def _said_once(rows: Iterable[Iterable[str]]) -> Iterator[Iterable[str]]:
    """Rows whose last cell is `as above` where it is that of the row before."""
    before = ""
    for *cells, last in rows:
        yield *cells, "as above" if last == before else last
        before = last


# --- the language ---------------------------------------------------------------------------------------------------


def fields(model: type[Model]) -> str:
    """The fields of a model as a table."""
    rows = []
    for name, held, required, default, meaning in fields_of(model):
        must = "required" if required else f"`{plain(default)}`" if says_something(default) else ""
        rows.append((f"`{name}`", "list" if name == "program" else held, must, meaning))
    return table(("key", "holds", "default", "meaning"), rows)


def keywords() -> str:
    """The keywords of statements that are no operators."""
    found = [k for k in default_table() if not k.reserved and k.name not in OPS]
    rows = [(f"`{k.name}`", _planes(k), f"`- {k.example}`", k.doc) for k in found]
    return table(("keyword", "stands in", "example", "meaning"), rows)


def reserved() -> str:
    """The keywords that are known and not there yet."""
    found = [k for k in default_table() if k.reserved]
    rows = [(f"`{k.name}`", _planes(k), k.doc.removesuffix(" (reserved: not there yet)")) for k in found]
    return table(("keyword", "plane", "meaning"), rows)


def _planes(keyword: Keyword) -> str:
    return " and ".join({"control": "`program`", "execution": "a region"}[p] for p in sorted(keyword.planes))


def bounds() -> str:
    """The limits of the loader and of formulas."""
    return table(
        ("what", "limit"),
        (
            ("code points of a spec", f"{limits.MAX_TEXT:,}"),
            ("values written in a spec", f"{limits.MAX_NODES:,}"),
            ("values that aliases may add", f"{limits.MAX_EXPANDED:,}"),
            ("collections inside each other", f"{MAX_DEPTH}"),
            ("errors reported of one loading step", f"{limits.MAX_ERRORS}"),
            ("characters of a formula", f"{lexer.MAX_LENGTH:,}"),
            ("parts of a formula", f"{parser.MAX_NODES:,}"),
            ("parentheses, calls and signs inside each other", f"{parser.MAX_NESTING}"),
            ("operations chained in a formula", f"{parser.MAX_HEIGHT}"),
            ("calls inside each other", f"{calls.DEEPEST}"),
            ("statements that all calls make, and calls (`PS2052`)", f"{calls.MOST_INLINED:,}"),
            ("variants of a spec (`PS2071`)", f"{MOST_VARIANTS}"),
        ),
    )


def words() -> str:
    """The words of formulas that name nothing else."""
    return ", ".join(f"`{word}`" for word in sorted(parser.RESERVED)) + "\n"


# --- compiler -------------------------------------------------------------------------------------------------------


def codes() -> str:
    """Every diagnostic."""
    rows = [
        (f"[{r.code}](../pypto_spec/diagnostics/pages/{r.code}.md)", r.name, r.severity.value, r.summary)
        for r in all_rules().values()
    ]
    return table(("code", "name", "severity", "summary"), rows)


def formats() -> str:
    """The values of `--format`."""
    return ", ".join(f"`{name}`" for name in FORMATS) + "\n"


def passes() -> str:
    """The passes in order, in their own words."""
    parts = []
    for number, step in enumerate(PASSES, 1):
        head, _, rest = step.doc.strip().partition("\n\n")
        title, _, first = " ".join(head.split()).partition(": ")
        assert title == step.name, f"the docstring of {step.name} starts with `{title}`"
        text = first[:1].upper() + first[1:] + (f"\n\n{rest.strip()}" if rest else "")
        known = ", ".join(f"`{p.value}`" for p in sorted(step.requires, key=lambda p: p.value)) or "nothing"
        made = ", ".join(f"`{p.value}`" for p in sorted(step.produces, key=lambda p: p.value)) or "nothing"
        parts.append(f"### {number}. {step.name}\n\n{text}\n\nNeeds {known}; establishes {made}.\n")
    return "\n".join(parts)


def no_alias() -> str:
    """Which operand of which operator a result may not be written over."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for name, defn in OPS.items():
        if defn.no_alias:
            groups.setdefault(tuple(sorted(defn.no_alias)), []).append(f"`{name}`")
    rows = [(", ".join(f"`{f}`" for f in key), ", ".join(names)) for key, names in sorted(groups.items())]
    return table(("operand", "operators"), rows)


def composites() -> str:
    """The functions of a `let` that are formulas over operators."""
    return table(("function", "what it computes"), ((f"`{usage(n)}`", c.formula) for n, c in COMPOSITES.items()))


def layers() -> str:
    """The layers of the package, from high to low."""
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contract = next(c for c in config["tool"]["importlinter"]["contracts"] if c["type"] == "layers")
    return "".join(f"    {layer.replace(' | ', ', ')}\n" for layer in contract["layers"])


def hardware() -> str:
    """The figures of the targets, with their sources."""
    rows = []
    for name in ("capacity", "reserved", "address_alignment"):
        for memory in getattr(TARGETS["a2a3"], name):
            cells = [f"{getattr(t, name).get(memory, 0):,}&nbsp;B" for t in TARGETS.values()]
            rows.append((f"`{name}` of `{memory.value}`", *cells, _sources(name)))
    for name in TARGETS["a2a3"].__dataclass_fields__:
        values = [getattr(t, name) for t in TARGETS.values()]
        if name in ("name", "costs", "l0", "sources") or isinstance(values[0], Mapping):
            continue
        cells = [f"{v:,}" if type(v) is int else plain(v) for v in values]
        rows.append((f"`{name}`", *cells, _sources(name)))
    return table(("figure", *(f"`{n}`" for n in TARGETS), "source"), _said_once(rows))


def costs() -> str:
    """The cost tables of the targets, with their sources."""
    tables = {t.name: t.costs for t in TARGETS.values()}
    rows = []
    for name, unit in UNITS.items():
        cells = [f"{getattr(c, name):,}" for c in tables.values()]
        rows.append((f"`{name}`, {unit}", *cells, _cost_sources(name)))
    cells = [_vector_cost(c.vector_default) for c in tables.values()]
    rows.append(("other vector calls", *cells, _cost_sources("vector_default")))
    for call in tables["a2a3"].vector:
        cells = [_vector_cost(c.vector[call]) for c in tables.values()]
        rows.append((f"`{call}`", *cells, _cost_sources(f"vector.{call}")))
    return table(("figure", *(f"`{n}`" for n in TARGETS), "source of `a2a3`"), _said_once(rows))


def l0_costs() -> str:
    """What the L0 tile chooser reckons with, with the sources."""
    rows = [
        (
            f"`{name}`, {unit}",
            l0.MEANINGS[name],
            *(f"{getattr(t.l0, name):g}" for t in TARGETS.values()),
            _l0_sources(name),
        )
        for name, unit in l0.UNITS.items()
    ]
    return table(("figure", "what it is", *(f"`{n}`" for n in TARGETS), "source"), _said_once(rows))


def _l0_sources(name: str) -> str:
    return _by_target({t.name: t.l0.sources[name] for t in TARGETS.values()})


def _vector_cost(cost: VectorCost) -> str:
    partial = f" + {cost.partial} if a repeat is not full" if cost.partial else ""
    return f"{cost.fixed} + {cost.per_repeat} a repeat{partial}"


def _cost_sources(name: str) -> str:
    return TARGETS["a2a3"].costs.sources[name]


def _sources(name: str) -> str:
    return _by_target({t.name: t.sources.get(name, "") for t in TARGETS.values()})


def _by_target(found: Mapping[str, str]) -> str:
    if len(set(found.values())) == 1:
        return next(iter(found.values()))
    return "; ".join(f"{n}: {text}" for n, text in found.items() if text)


# --- goldens and the host model -------------------------------------------------------------------------------------


def functions() -> str:
    """The functions of golden formulas."""
    return ", ".join(f"`{name}`" for name in FUNCTIONS) + "\n"


def tolerances() -> str:
    """The default tolerances."""
    rows = [(name, f"{a.rtol:g}", f"{a.atol:g}") for name, a in TOLERANCES.items()]
    return table(("dtype", "rtol", "atol"), rows)


def auto_blocks() -> str:
    """The block counts that stand for `auto`."""
    return ", ".join(map(str, AUTO_BLOCKS)) + "\n"


def finding_kinds() -> set[str]:
    """The kinds of findings that the engine of the host model can report."""
    engine = ROOT / "pypto_spec" / "host" / "engine"
    text = "\n".join(path.read_text(encoding="utf-8") for path in sorted(engine.glob("*.cpp")))
    kinds = re.findall(r'(?:\bReport|\bAdd)\(\s*(?:tensor\.memory == Memory::None \? )?"([a-z-]+)"', text)
    return {*kinds, *re.findall(r'push_back\(\{"([a-z-]+)"', text), *re.findall(r'"([a-z-]+)" : "misaligned"', text)}


# --- README ---------------------------------------------------------------------------------------------------------


def readme_spec() -> str:
    """The spec that the README shows."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return text.partition("```yaml file=exponent.yaml\n")[2].partition("```")[0]


def readme_kernel() -> str:
    """The kernel of the README's spec, without what stands before its tensors."""
    program = compile_source(Source("exponent.yaml", readme_spec())).program
    assert program is not None
    (kernel,) = render_kernels(program, None).kernels
    text = kernel.text
    start = text.index("    LocalTensor<")
    return f"```cpp\n{text[start:].rstrip()}\n```\n"


SECTIONS: Mapping[str, Callable[[], str]] = {
    "keys": lambda: fields(sections.DocumentModel),
    "target": lambda: fields(sections.Target),
    "symbols": lambda: fields(sections.Symbol),
    "tensors": lambda: fields(sections.TensorSpec),
    "buffers": lambda: fields(sections.BufferSpec),
    "golden": lambda: fields(sections.GoldenSpec),
    "inputs": lambda: fields(sections.InputSpec),
    "tolerance": lambda: fields(sections.Tolerance),
    "diagnostics": lambda: fields(sections.DiagnosticsSpec),
    "dump": lambda: fields(sections.DumpSpec),
    "region": lambda: fields(structure.Region),
    "create-tensor": lambda: fields(structure.CreateTensor),
    "for": lambda: fields(structure.For),
    "call": lambda: fields(structure.Call),
    "variants": lambda: fields(sections.VariantsSpec),
    "function": lambda: fields(sections.FunctionSpec),
    "unroll": lambda: fields(structure.Unroll),
    "pipeline": lambda: fields(structure.Pipeline),
    "parallel": lambda: fields(structure.Parallel),
    "spmd": lambda: fields(structure.Spmd),
    "flag": lambda: fields(structure.SetFlag),
    "barrier": lambda: fields(structure.Barrier),
    "alloc": lambda: fields(structure.Alloc),
    "beside": lambda: fields(extras.Extras),
    "type": lambda: fields(extras.TypeSpec),
    "carried": lambda: fields(extras.Carried),
    "keywords": keywords,
    "reserved": reserved,
    "limits": bounds,
    "words": words,
    "codes": codes,
    "formats": formats,
    "passes": passes,
    "no-alias": no_alias,
    "composites": composites,
    "layers": layers,
    "hardware": hardware,
    "moves": lambda: _table_of(generated_cube.moves()),
    "layouts": lambda: _table_of(generated_cube.layouts()),
    "accumulators": lambda: _table_of(generated_cube.accumulators()),
    "costs": costs,
    "tile-costs": l0_costs,
    "functions": functions,
    "tolerances": tolerances,
    "auto-blocks": auto_blocks,
    "readme-kernel": readme_kernel,
}
"""Every generated part by name."""


def renewed(text: str) -> str:
    """A page with its generated parts written anew."""
    return BLOCK.sub(lambda m: f"<!-- generated: {m[1]} -->\n{SECTIONS[m[1]]()}<!-- end -->\n", text)


def main() -> None:
    """Write all generated parts, the pictures, and the JSON Schema that is packaged."""
    from docs.site.pictures.all import write  # which needs this module

    write()
    FILE.write_text(schema_text(), encoding="utf-8")
    for path in pages():
        old = path.read_text(encoding="utf-8")
        new = ops_page() if path.name == "ops.md" else renewed(old)
        if new != old:
            path.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main()
