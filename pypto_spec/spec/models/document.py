"""A whole spec, loaded and validated: what the conversion to IR starts from."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import field

from pydantic import ValidationError

from pypto_spec.collector import collector_paused
from pypto_spec.diagnostics.model import CompileError, Diagnostic, Label, Repair, Severity, diagnose
from pypto_spec.diagnostics.rules.names import SHADOWED_NAME, UNDEFINED_NAME
from pypto_spec.diagnostics.rules.syntax import UNKNOWN_WORD
from pypto_spec.diagnostics.span import Source, Span
from pypto_spec.diagnostics.suggest import did_you_mean
from pypto_spec.records import dataclass
from pypto_spec.spec.formula.constants import Constant, resolve_constants
from pypto_spec.spec.limits import MAX_ERRORS
from pypto_spec.spec.load import Format, load
from pypto_spec.spec.models.keywords import KeywordTable, default_table
from pypto_spec.spec.models.problems import Problems, not_yet
from pypto_spec.spec.models.sections import DocumentModel, FunctionSpec
from pypto_spec.spec.models.statement import Reader, Statement
from pypto_spec.spec.tree import KeyNode, MappingNode, Node, ScalarNode, SequenceNode, Value
from pypto_spec.spec.variants import Variant, read_variants

_PARAMETER = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*)\Z")
_UNTOUCHED = frozenset({"about", "constants", "program", "variants"})


@dataclass(frozen=True, slots=True)
class Function:
    """A function with its statements; `key` is where its name stands, `node` what is written for it."""

    name: str
    model: FunctionSpec
    key: KeyNode
    node: MappingNode
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """A valid spec: its sections as models, its constants resolved, its program as statements."""

    source: Source
    root: MappingNode
    model: DocumentModel
    constants: dict[str, Constant]
    program: tuple[Statement, ...]
    functions: Mapping[str, Function] = field(default_factory=dict)
    warnings: tuple[Diagnostic, ...] = ()
    """What is no error in the spec as a text."""

    @property
    def values(self) -> dict[str, int | float | bool | str]:
        """The values of the constants."""
        return {name: constant.value for name, constant in self.constants.items()}

    def node(self, *path: str | int) -> Node | None:
        """The node at a path of keys, such as `("tensors", "x", "shape", 0)`."""
        return self.root.find(*path)

    def span(self, *path: str | int) -> Span:
        """Where the value at a path stands; of what is not written, the nearest thing above it."""
        node: Node = self.root
        for length in range(1, len(path) + 1):
            found = self.root.find(*path[:length])
            if found is None:
                break
            node = found
        return node.span

    def key_span(self, *path: str | int) -> Span:
        """Where the key at a path stands, such as the name of a tensor."""
        parent = self.root.find(*path[:-1]) if len(path) > 1 else self.root
        span = parent.key_span(str(path[-1])) if isinstance(parent, MappingNode) else None
        return span if span is not None else self.span(*path)


def load_document(
    source: Source,
    format: Format | None = None,
    *,
    defines: Mapping[str, str] | None = None,
    table: KeywordTable | None = None,
    variant: str | None = None,
) -> Document:
    """Load and validate a spec. Raises CompileError with everything that is wrong with it.

    `defines` are the command line's `-D NAME=VALUE`; `variant` is the key of one of its variants, whose program is
    called NAME__KEY. Without it the constants are as they are written.
    """
    with collector_paused():
        return _document(load(source, format), source, dict(defines or {}), table, variant)


def _document(
    root: MappingNode, source: Source, defines: dict[str, str], table: KeywordTable | None, key: str | None
) -> Document:
    variants, wrong = read_variants(root, defines)
    chosen = next((v for v in variants if v.key == key), None)
    constants, errors = resolve_constants(root.get("constants"), defines, chosen.nodes if chosen else None)
    warnings = tuple(d for d in wrong if d.level is Severity.WARNING)
    errors += [d for d in wrong if d.level is Severity.ERROR]
    unknown: list[ScalarNode] = []
    scalar = _parameters(constants, unknown) if "$" in source.text else None
    model = _sections(root, scalar, errors, chosen)
    program = root.entries.get("program")
    statements: tuple[Statement, ...] = ()
    if program is not None:
        statements = Reader(table or default_table(), errors, scalar).block(*program, "control")
    functions = _functions(root, model, Reader(table or default_table(), errors, scalar)) if model is not None else {}
    if unknown:
        errors = _without_cascade(errors, unknown, root)
    if model is not None:
        _check_codes(root, model, errors)
    if errors or model is None:
        raise CompileError(sorted(_distinct(errors), key=lambda d: d.primary.span.start)[:MAX_ERRORS])
    return Document(source, root, model, constants, statements, functions, warnings)


def _functions(root: MappingNode, model: DocumentModel, reader: Reader) -> dict[str, Function]:
    """The functions with their bodies read."""
    section = root.get("functions")
    found: dict[str, Function] = {}
    if not isinstance(section, MappingNode):
        return found
    for key, node in section.items:
        spec = model.functions.get(key.text)
        if spec is None or not isinstance(node, MappingNode):
            continue
        if spec.kind != "inline":
            kind = node.get("kind")
            reader.errors.append(not_yet(kind.span if kind is not None else key.span, f"`kind: {spec.kind}`"))
            continue
        _named_once(node, reader.errors)
        body = node.entries.get("body")
        statements = reader.block(*body, "execution") if body is not None else ()
        found[key.text] = Function(key.text, spec, key, node, statements)
    return found


def _named_once(node: MappingNode, errors: list[Diagnostic]) -> None:
    """An error for a name that stands twice in the list of arguments, or of returns, of a function."""
    for word, what in (("args", "takes"), ("returns", "returns")):
        names = node.get(word)
        first: dict[str, Node] = {}
        for item in names.items if isinstance(names, SequenceNode) else ():
            if not isinstance(item, ScalarNode) or first.setdefault(item.text, item) is item:
                continue
            errors.append(
                diagnose(
                    SHADOWED_NAME,
                    item.span,
                    f"the function {what} `{item.text}` twice",
                    label="again",
                    secondary=[Label(first[item.text].span, "first here")],
                    helps=["leave the second out, or give it a name of its own"],
                    fixes=[Repair("remove", item.span, title=f"leave the second `{item.text}` out")],
                )
            )


def _distinct(errors: list[Diagnostic]) -> list[Diagnostic]:
    """Errors of aliased nodes would otherwise come once per alias."""
    seen: set[tuple[str, str, int, int]] = set()
    found = []
    for error in errors:
        span = error.primary.span
        mark = (error.rule.code, error.message, span.line, span.col)
        if mark not in seen:
            seen.add(mark)
            found.append(error)
    return found


def _sections(
    root: MappingNode,
    scalar: Callable[[ScalarNode], Value] | None,
    errors: list[Diagnostic],
    variant: Variant | None,
) -> DocumentModel | None:
    plain: dict[str, object] = {}
    for key, (_, node) in root.entries.items():
        if key[:2] != "x-":
            plain[key] = node.to_plain(None if key == "about" else scalar) if key not in _UNTOUCHED else None
    if "about" in root:
        about = root.get("about")
        plain["about"] = about.to_plain() if about is not None else None
    if variant is not None:
        name, target = plain.get("name"), plain.get("target", {})
        plain["name"] = f"{name}__{variant.key}" if isinstance(name, str) else name
        if variant.target:
            options = {"platform": target} if isinstance(target, str) else target
            plain["target"] = {**options, **variant.target} if isinstance(options, dict) else options
    problems = Problems(DocumentModel, root, None, "a spec")
    try:
        model = DocumentModel.model_validate(plain)
    except ValidationError as error:
        errors.extend(problems.translate(error))
        return None
    errors.extend(problems.rules_of(model))
    return model


def _parameters(constants: Mapping[str, Constant], unknown: list[ScalarNode]) -> Callable[[ScalarNode], Value]:
    """What a scalar stands for once `$NAME` is replaced by the value of the constant, on the tree."""

    def value(node: ScalarNode) -> Value:
        text = node.value
        if not isinstance(text, str) or text[:1] != "$":
            return text
        match = _PARAMETER.match(text)
        if match is None:
            return text
        constant = constants.get(match.group(1))
        if constant is None:
            unknown.append(node)
            return text
        return constant.value

    return value


def _without_cascade(errors: list[Diagnostic], unknown: list[ScalarNode], root: MappingNode) -> list[Diagnostic]:
    """The errors, those of unknown parameters in place of what their fields said about them."""
    spans = {node.span for node in unknown}
    found = [error for error in errors if error.primary.span not in spans]
    section = root.get("constants")
    known = section.keys() if isinstance(section, MappingNode) else []
    for node in unknown:
        name = node.text[1:]
        if name not in known:  # else the constant itself has been reported
            found.append(
                diagnose(
                    UNDEFINED_NAME,
                    node.span,
                    f"`${name}` names no constant",
                    label="no such constant",
                    secondary=node.alias_labels,
                    helps=[did_you_mean(name, known) or f"define it: `constants: {{{name}: ...}}`"],
                )
            )
    return found


def _check_codes(root: MappingNode, model: DocumentModel, errors: list[Diagnostic]) -> None:
    """The codes of `diagnostics` exist."""
    section = root.get("diagnostics")
    if not isinstance(section, MappingNode):
        return
    from pypto_spec.diagnostics.registry import known_words

    known = known_words()
    for _, entry in section.items:
        for node in entry.items if isinstance(entry, SequenceNode) else [entry]:
            if isinstance(node, ScalarNode) and node.text not in known:
                errors.append(
                    diagnose(
                        UNKNOWN_WORD,
                        node.span,
                        f"there is no diagnostic `{node.text}`",
                        label="unknown code",
                        helps=[did_you_mean(node.text, known) or "`pypto-spec explain` lists them"],
                    )
                )
