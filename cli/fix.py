"""`pypto-spec fix`."""

from __future__ import annotations

import click

from pypto_spec.cli import options
from pypto_spec.cli.rewriting import deliver, rewriting


@click.command("fix")
@click.argument("specs", nargs=-1, required=True, type=click.Path(allow_dash=True), metavar="SPECS...")
@options.input_format
@options.defines
@click.option("--unsafe", is_flag=True, help="Apply fixes that may change what a kernel does, too.")
@rewriting
@options.output_format
def command(
    specs: tuple[str, ...],
    input_format: str,
    defines: tuple[str, ...],
    unsafe: bool,
    check: bool,
    diff: bool,
    format: str,
) -> None:
    """Apply the fixes of findings to specs: by default those that keep the meaning of the kernel.

    SPECS are files, folders that are searched for specs, or `-` for standard input, which goes to standard output. What
    is still found afterwards is printed, and decides the exit code as with `check`.
    """
    from pypto_spec.driver.fix import fix_specs
    from pypto_spec.driver.inputs import gather

    gathered = gather(specs, "toml" if input_format == "toml" else "yaml")
    made = fix_specs(gathered, options.constants(defines), unsafe=unsafe)
    for one in made:
        deliver(one, check=check, diff=diff)
        if one.changed and not one.standard_input:
            options.say(f"{'would fix' if check or diff else 'fixed'}: {one.name}")
            for title in one.done:
                options.say(f"  {title}")
    findings = [*gathered.findings, *(d for one in made for d in one.findings)]
    options.show(findings, format, err=True)
    changed = [one for one in made if one.changed]
    unsafe_left = sum(one.unsafe_left for one in made)
    if not any(one.standard_input for one in made):
        did = "would be fixed" if check or diff else "fixed"
        more = f"; `--unsafe` has fixes for {options.count(unsafe_left, 'finding')} more" if unsafe_left else ""
        options.say(f"{options.count(len(made), 'spec')}: {len(changed)} {did}{more}")
    options.leave(findings)
    if check and changed:
        raise click.exceptions.Exit(1)
