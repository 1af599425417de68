"""`pypto-spec explain-tiling`."""

from __future__ import annotations

import click


@click.command("explain-tiling")
@click.option("--shape", required=True, metavar="M,N,K", help="The matmul [M, K] @ [K, N], in elements.")
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
    shape: str,
    dtype: str,
    target: str,
    planner: str,
    double: bool,
    bias: str | None,
    pad: bool,
    most: int,
    format: str,
) -> None:
    """Show how a matmul is cut for L0, and why so.

    Every form is listed with its cheapest tile, the modelled cost term by term, and why it was or was not taken.
    """
    from pypto_spec.driver.explain_tiling import Question, subject_of
    from pypto_spec.driver.tiling.document import document_text
    from pypto_spec.driver.tiling.text import text

    subjects = [subject_of(Question(shape, dtype, target, planner, double, bias, pad))]
    click.echo(document_text(subjects, most) if format == "json" else text(subjects, most), nl=False)
