"""``tamis warm``: compile ahead of time."""

from tamis.cli.show import print_line, progress


def warm() -> None:
    """Compile every kernel now, so that no later command has to."""
    from tamis.kernels.compiler import all_kernels

    kernels = all_kernels()
    with progress("compiling") as report:
        for done, each in enumerate(kernels, start=1):
            each.warm()
            report(done, len(kernels))
    print_line(f"{len(kernels)} kernels are compiled and stored on disk")
