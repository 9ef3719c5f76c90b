"""``tamis warm``: compile ahead of time."""

from typing import TYPE_CHECKING, Annotated

import typer

from tamis.cli.show import print_line, print_table, progress

if TYPE_CHECKING:
    from tamis.kernels.compiler import Kernel


def warm(
    times: Annotated[
        bool, typer.Option("--times", help="Measure how long each kernel takes to compile; nothing is stored.")
    ] = False,
) -> None:
    """Compile every kernel now, so that no later command has to; all cores take part."""
    from tamis.base.errors import TamisError
    from tamis.engines.ready import ready
    from tamis.kernels.compiler import all_kernels

    kernels = all_kernels()
    if times:
        _print_times(kernels)
        return
    if not all(kernel.is_stored for kernel in kernels):
        raise TamisError("compiled kernels cannot be stored; set NUMBA_CACHE_DIR to a folder that can be written")
    with progress("compiling, once on this machine") as report:
        missing = ready(kernels, progress=report)
    if any(kernel.missing() for kernel in kernels):
        raise TamisError("not all kernels could be compiled; is there enough memory?")
    print_line(f"{len(kernels)} kernels are compiled and stored on disk, {missing} of them now")


def _print_times(kernels: "list[Kernel]") -> None:
    from tamis.engines.ready import compile_seconds

    with progress("compiling") as report:
        seconds = compile_seconds(kernels, progress=report)
    rows = sorted(((each, *version) for version, each in seconds.items()), reverse=True)
    title = (
        f"{len(rows)} versions of {len(kernels)} kernels: {sum(seconds.values()):.1f} seconds of CPU time to compile"
    )
    print_table(
        title, ["seconds", "kernel", "argument types"], [[f"{row[0]:.2f}", *row[1:]] for row in rows], right=["seconds"]
    )
