"""What ``tamis validate`` adds when asked: the permutation test and the learning curve."""

from typing import TYPE_CHECKING, Any

from tamis.cli.show import print_line, print_table, progress

if TYPE_CHECKING:
    from tamis.validation.permutation import PermutationTest


def permute(models: list[Any], dataset: Any, n: int, *, json: bool, **options: Any) -> "list[PermutationTest]":
    """Whether the models do better than on classes dealt out at random; printed unless it is to be JSON."""
    from tamis.validation.permutation import permutation_test

    with progress("dealing out the classes") as report:
        found = permutation_test(models, dataset, n=n, progress=report, **options)
    tests = found if isinstance(found, list) else [found]
    if not json:
        print_line()
        for test in tests:
            print_line(f"{test.recipe}: {test.sentence()}" if len(tests) > 1 else test.sentence())
    return tests


def learn(models: list[Any], dataset: Any, *, json: bool, **options: Any) -> list[dict[str, Any]] | None:
    """How well the models do when they learn from fewer rows."""
    from tamis.validation.learning import learning_curve

    with progress("learning from fewer rows") as report:
        found = learning_curve(models, dataset, progress=report, **options)
    curves = found if isinstance(found, list) else [found]
    if json:
        return [curve.to_dict() for curve in curves]
    for curve in curves:
        metric = curve.metric
        rows = [
            [f"{size:g}", f"{n:g}", *(f"{v:.4f}" for v in (e.mean, e.se))]
            for size, n, e in zip(
                curve.sizes, curve.rows, (v.summary()[metric.name] for v in curve.validations), strict=True
            )
        ]
        columns = ["share", "training rows", metric.title, "standard error"]
        print_line(f"\nlearning curve of {curve.recipe}")
        print_table("", columns, rows, right=columns)
        print_line(curve.sentence())
    return None
