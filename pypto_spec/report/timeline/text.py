"""A timeline as text and as plain data. Whoever prints one says that it is modelled."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from pypto_spec.report.timeline.model import Busy, KernelTimeline, SizesFrom, Timeline

NOTE = "modelled from the cost table of the target, not measured; it ranks kernels, it does not predict a device"

_FROM: Mapping[SizesFrom, str] = {
    "compile time": "all known at compile time",
    "given": "given",
    "golden": "the golden's first",
    "bounds": "from the bounds of the symbols",
}


def makespan(timeline: Timeline | KernelTimeline, clock_mhz: int, complete: bool = True) -> str:
    """`2,400 cycles, 1.3 us`."""
    least = "" if complete else "at least "
    return f"{least}{timeline.cycles:,} cycles, {timeline.cycles / clock_mhz:,.1f} us"


def percent(share: float) -> str:
    """`63 %`."""
    return f"{100 * share:.0f} %"


def busiest(timeline: Busy) -> str:
    """`v 63 %`."""
    return f"{timeline.busiest} {percent(timeline.share)}"


def shares(timeline: Busy) -> str:
    """`s 2 %, v 63 %, mte2 21 %`."""
    return ", ".join(f"{pipe} {percent(share)}" for pipe, share in timeline.shares.items())


def bound(timeline: Busy) -> str:
    """What bounds it, in words."""
    if timeline.bound_by == "waits":
        return "no pipe works all the time: they wait for one another"
    return f"bound by {timeline.bound_by}"


def sizes(timeline: Timeline) -> str:
    """`M = 1 (the golden's first)`."""
    named = ", ".join(f"{name} = {value}" for name, value in timeline.sizes.items())
    return f"{named} ({_FROM[timeline.sizes_from]})" if named else _FROM[timeline.sizes_from]


def lines(timeline: Timeline) -> Iterator[str]:
    """One or two lines for each kernel, as `test --timeline` prints them."""
    clock = timeline.clock_mhz
    for kernel in timeline.kernels:
        yield (
            f"{kernel.kernel}: modelled {makespan(kernel, clock, timeline.complete)} at {clock} MHz on "
            f"{_blocks(kernel)}; busiest pipe {busiest(kernel)}"
        )
        yield f"  busy: {shares(kernel)}; {bound(kernel)}"


def timeline_text(timeline: Timeline) -> str:
    """`report/timeline.txt`."""
    made = [
        f"{NOTE}",
        "",
        f"program {timeline.program} on {timeline.platform} at {timeline.clock_mhz} MHz: "
        f"{makespan(timeline, timeline.clock_mhz, timeline.complete)}, without the time of launching",
        f"  sizes: {sizes(timeline)}",
        f"  busiest pipe: {busiest(timeline)}; {bound(timeline)}",
        *(f"  assumed: {text}" for text in timeline.assumptions),
    ]
    for kernel in timeline.kernels:
        times = f"{kernel.launches:,} launch{'es' * (kernel.launches != 1)}"
        made += [
            "",
            f"kernel {kernel.kernel}: {makespan(kernel, timeline.clock_mhz)}",
            f"  {times} on {_blocks(kernel)}, {kernel.instructions:,} instructions; {bound(kernel)}",
            *(
                f"  {pipe:<5}{kernel.busy[pipe]:>15,} cycles  {percent(share):>5}"
                for pipe, share in kernel.shares.items()
            ),
        ]
    return "\n".join(made) + "\n"


def _blocks(kernel: KernelTimeline) -> str:
    waves = f" in {kernel.waves} waves" if kernel.waves > 1 else ""
    return f"{kernel.blocks} block{'s' * (kernel.blocks != 1)}{waves}"


def timeline_json(timeline: Timeline) -> str:
    """`report/timeline.json`: all figures in cycles, shares 0 to 1."""
    plain = {
        "modelled": True,
        "note": NOTE,
        "program": timeline.program,
        "platform": timeline.platform,
        "clock_mhz": timeline.clock_mhz,
        "complete": timeline.complete,
        "sizes": dict(timeline.sizes),
        "sizes_from": timeline.sizes_from,
        "assumptions": list(timeline.assumptions),
        **_figures(timeline, timeline.clock_mhz),
        "kernels": [
            {
                "kernel": kernel.kernel,
                "region": kernel.region,
                "core": kernel.core,
                "launches": kernel.launches,
                "blocks": kernel.blocks,
                "waves": kernel.waves,
                "instructions": kernel.instructions,
                **_figures(kernel, timeline.clock_mhz),
            }
            for kernel in timeline.kernels
        ],
    }
    return json.dumps(plain, indent=2, ensure_ascii=False) + "\n"


def _figures(timeline: Timeline | KernelTimeline, clock_mhz: int) -> dict[str, object]:
    return {
        "makespan_cycles": timeline.cycles,
        "makespan_us": round(timeline.cycles / clock_mhz, 3),
        "busiest_pipe": timeline.busiest,
        "busiest_share": round(timeline.share, 4),
        "bound_by": timeline.bound_by,
        "busy_cycles": dict(timeline.busy),
        "shares": {pipe: round(share, 4) for pipe, share in timeline.shares.items()},
    }
