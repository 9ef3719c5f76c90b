"""What ``tamis validate`` prints of many recipes: the table, the curve, the comparison, the nested choice."""

from collections.abc import Callable
from typing import Any

from tamis.cli.plot import Point, draw
from tamis.cli.show import print_line, print_table, progress
from tamis.cli.validate import print_estimates, print_features

#: Recipes that the table shows at most.
_SHOWN = 25


#: Prints what comes before the findings; None when they are wanted as a dictionary, for JSON.
Head = Callable[[], None] | None


def judge(models: list[Any], dataset: Any, head: Head, **options: Any) -> dict[str, Any] | None:
    """Validate many recipes on the same folds."""
    from tamis.validation.many import validate_many
    from tamis.validation.plan import plan

    with progress(f"validating {len(models)} recipes") as report:
        found = validate_many(models, dataset, progress=report, **options)
    if head is None:
        return found.to_dict()
    head()
    first, fits = found[0], plan(models).n_fits()
    steps = sum(len(getattr(model, "steps", [model])) for model in models)
    print_line(f"{len(models)} recipes, {first.split}, seed {first.seed}; {fits} fits a fold in place of {steps}")
    _print_ranking(found)
    _print_curves(found)
    if len(found) > 1:
        print_line()
        for sentence in found.comparison().sentences():
            print_line(sentence)
    return None


def choose(models: list[Any], dataset: Any, head: Head, **options: Any) -> dict[str, Any] | None:
    """Choose among the recipes in inner folds and judge the choice."""
    from tamis.validation.nested import validate_nested

    with progress(f"choosing among {len(models)} recipes") as report:
        found = validate_nested(models, dataset, progress=report, **options)
    if head is None:
        return found.to_dict()
    head()
    validation = found.validation
    print_line(f"{validation.recipe}; {validation.split}, seed {validation.seed}")
    print_estimates(validation)
    print_features(validation)
    rows = [[times, recipe] for recipe, times in found.chosen().items()]
    print_table(f"chosen in {len(found.inner)} outer folds", ["times", "recipe"], rows, right=["times"])
    metric = validation.metrics[0]
    print_line(f"on all rows the choice is: {found.choice}")
    print_line(
        f"  its {metric.title} in the folds that chose it is {found.inner_estimate:.4f}; "
        f"the figure to report is {validation.summary()[metric.name].mean:.4f}, that of the choice as a whole"
    )
    _print_failed(found.failed)
    return None


def _print_ranking(found: Any) -> None:
    metric = found.metric
    rows = []
    for place, one in enumerate(found.ordered()[:_SHOWN], start=1):
        e = one.summary()[metric.name]
        size = None if one.mean_selected is None else f"{one.mean_selected:g}"
        steady = None if one.stability is None or one.stability.index != one.stability.index else one.stability.index
        figures = [f"{v:.4f}" if v == v else None for v in (e.mean, e.se)]
        rows.append([place, one.recipe, *figures, size, None if steady is None else f"{steady:.3f}"])
    columns = ["", "recipe", metric.title, "standard error", "features", "stability"]
    print_table("", columns, rows, right=["", *columns[2:]])
    if len(found) > _SHOWN:
        print_line(f"... and {len(found) - _SHOWN} more; --json has them all")
    _print_failed(found.failed)


def _print_failed(failed: Any) -> None:
    for recipe, why in failed.items():
        print_line(f"failed: {recipe}: {why}")


def _print_curves(found: Any) -> None:
    metric = found.metric
    order = {id(one): place for place, one in enumerate(found.ordered())}
    curves = found.curves()
    best_first = sorted(curves, key=lambda name: min(order[id(one)] for one in curves[name]))
    points = {
        name: [
            Point(one.mean_selected, one.summary()[metric.name].mean, one.summary()[metric.name].se)
            for one in curves[name]
            if len({other.mean_selected for other in curves[name]}) > 1
        ]
        for name in best_first
    }
    for line in draw(points, x_title="selected features", y_title=metric.title):
        print_line(line)
