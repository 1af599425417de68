"""`pypto-spec explain-tiling`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pypto_spec.cli import options

if TYPE_CHECKING:
    from pypto_spec.diagnostics.model import Diagnostic
    from pypto_spec.driver.tiling.divided import Divided
    from pypto_spec.driver.tiling.subject import Subject


@click.command("explain-tiling")
@click.argument("specs", nargs=-1, type=click.Path(allow_dash=True), metavar="[SPECS...]")
@options.input_format
@options.defines
@options.variants
@click.option("--shape", metavar="M,N,K", help="Without a spec: the matmul [M, K] @ [K, N], in elements.")
@click.option("--dtype", default="fp16", show_default=True, help="The dtype of both operands.")
@click.option("--target", "target", type=click.Choice(["a2a3", "a5"]), default="a2a3", show_default=True)
@click.option("--planner", type=click.Choice(["pypto", "ptoas"]), default="pypto", show_default=True)
@click.option("--l0c-double-buffer", "double", is_flag=True, help="As `l0c_double_buffer` of a spec's target.")
@click.option("--bias", type=click.Choice(["mat", "bias"]), help="A bias is added; the memory it stands in.")
@click.option("--pad", is_flag=True, help="Round M, N and K up to what L0 is cut in, instead of refusing them.")
@click.option(
    "--next", "most", type=click.IntRange(0, 100), default=0, show_default=True, help="Next best tiles to show."
)
@click.option(
    "--format", "format", type=click.Choice(["text", "json"]), default="text", help="A table, or all the figures."
)
def command(
    specs: tuple[str, ...],
    input_format: str,
    defines: tuple[str, ...],
    variants: tuple[str, ...],
    shape: str | None,
    dtype: str,
    target: str,
    planner: str,
    double: bool,
    bias: str | None,
    pad: bool,
    most: int,
    format: str,
) -> None:
    """Show how the matmuls of specs, or the one of `--shape`, are cut for L0, and why so.

    Every form is listed with its cheapest tile, the modelled cost term by term, and why it was or was not taken. Of
    products of whole arrays that are divided into blocks the plan is shown. The options of a matmul go with `--shape`;
    a spec has its own.
    """
    from pypto_spec.diagnostics.model import has_errors
    from pypto_spec.driver.explain_tiling import Question, subject_of, subjects_of_specs
    from pypto_spec.driver.tiling.document import document_text
    from pypto_spec.driver.tiling.text import text

    if (shape is None) == (not specs):
        raise click.UsageError("give specs, or `--shape M,N,K` for a matmul without one")
    findings: list[Diagnostic] = []
    if shape is not None:
        subjects: list[Subject | Divided] = [subject_of(Question(shape, dtype, target, planner, double, bias, pad))]
    else:
        _check_options(click.get_current_context())
        constants = options.constants(defines)
        gathered = options.read(specs, input_format, constants, variants)
        subjects, findings = subjects_of_specs(gathered, constants)
    options.show(findings, "text", err=True)
    if subjects or format == "json":
        click.echo(document_text(subjects, most) if format == "json" else text(subjects, most), nl=False)
    elif not has_errors(findings):
        options.say("no matmul whose tiles the compiler chooses")
    options.leave(findings)


def _check_options(context: click.Context) -> None:
    """Refuse options of a matmul beside specs, which have their own."""
    for name in ("dtype", "target", "planner", "double", "bias", "pad"):
        if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            option = next(p for p in context.command.params if p.name == name)
            raise click.UsageError(f"`{option.opts[0]}` goes with `--shape`; a spec says so itself")
