"""``tamis validate``: the error of whole recipes, one or many, and what a leak would make of it."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from tamis.cli.plot import Point, draw
from tamis.cli.report import check_place, this_command
from tamis.cli.several import check_several, print_labels, print_recipes
from tamis.cli.show import (
    Data,
    Group,
    Jobs,
    Json,
    Memory,
    Prefilter,
    Rule,
    Seed,
    Several,
    SharedSelection,
    Target,
    Threshold,
    TopLabels,
    load_data,
    memory_bytes,
    note_large_sizes,
    print_json,
    print_line,
    print_notes,
    print_table,
    progress,
    reads_data,
    target_words,
)

if TYPE_CHECKING:
    from tamis.compose.chain import Chain
    from tamis.data.dataset import Dataset
    from tamis.data.reading import Reading
    from tamis.validation.learning import LearningCurve
    from tamis.validation.many import Validations
    from tamis.validation.nested import Nested
    from tamis.validation.result import Validation

#: Recipes that the table shows at most.
_SHOWN = 25


@reads_data
def validate(
    data: Data,
    recipes: Annotated[
        list[str],
        typer.Argument(
            metavar="RECIPE",
            help="The models: 'standardize | cc(50) | svm(linear)'. Sets and ranges stand for many: "
            "'cc(geom(50, 5000, 10)) | {knn(5), svm(linear, C={1, 100})}'.",
        ),
    ],
    target: Target = None,
    split: Annotated[
        Literal["folds", "pooled", "official", "leave-one-out", "bootstrap"],
        typer.Option(
            "--split",
            help="How rows are divided; 'pooled' is folds over the official train and valid rows, 'bootstrap' the "
            ".632+ estimate.",
        ),
    ] = "folds",
    folds: Annotated[int, typer.Option("--folds", min=2, help="Number of folds.")] = 10,
    repeats: Annotated[
        int | None,
        typer.Option("--repeats", min=1, help="Repeats of the folds; the number of bootstrap samples."),
    ] = None,
    group: Group = None,
    probes: Annotated[
        float,
        typer.Option("--probes", min=0.0, max=0.95, help="Share of useless columns to add, to count those selected."),
    ] = 0.0,
    nested: Annotated[
        bool,
        typer.Option("--nested", help="Choose among the recipes by --rule in inner folds, and evaluate the choice."),
    ] = False,
    rule: Rule = "best",
    inner_folds: Annotated[
        int, typer.Option("--inner-folds", min=2, help="Inner folds of --nested and --threshold.")
    ] = 5,
    permutations: Annotated[
        int, typer.Option("--permutations", min=0, help="Also permute the target this many times, for a p-value.")
    ] = 0,
    learning_curve: Annotated[
        bool, typer.Option("--learning-curve", help="Also fit on a tenth, a quarter, a half, ... of the rows.")
    ] = False,
    leak_check: Annotated[
        bool, typer.Option("--leak-check", help="Also show the estimate with selection on all rows.")
    ] = False,
    report: Annotated[Path | None, typer.Option("--report", help="Also write a report page; for one recipe.")] = None,
    several: Several = None,
    top_labels: TopLabels = None,
    min_rows: Annotated[
        int | None,
        typer.Option("--min-rows", min=1, help="With --several: leave out labels with fewer rows; by default --folds."),
    ] = None,
    labelled_only: Annotated[
        bool, typer.Option("--labelled-only", help="With --several: leave out rows that have none of the labels.")
    ] = False,
    shared_selection: SharedSelection = False,
    threshold: Threshold = None,
    prefilter: Prefilter = None,
    memory: Memory = None,
    seed: Seed = 0,
    jobs: Jobs = 1,
    engine: Annotated[
        str | None,
        typer.Option("--engine", help="Who computes, instead of --jobs: serial, local, local(2) or dask://host:port."),
    ] = None,
    json: Json = False,
    *,
    reading: "Reading",
) -> None:
    """Validate recipes on DATA as a whole: every step is fitted inside each fold, on the training rows alone.

    Many recipes are evaluated on the same folds, and what they share is computed once.
    """
    from tamis.base.errors import TamisError
    from tamis.compose.recipe import completed_for, parse
    from tamis.validation.learning import learning_curve as fit_on_fewer_rows
    from tamis.validation.many import validate_many
    from tamis.validation.models import as_estimators
    from tamis.validation.nested import validate_nested
    from tamis.validation.permutation import permutation_test
    from tamis.validation.prefilter import for_folds
    from tamis.validation.several.labels import validate_labels
    from tamis.validation.whole import validate as validate_one

    written = list(dict.fromkeys(chain for text in recipes for chain in parse(text).variants()))
    for chain in written:
        chain.build()
    limit = memory_bytes(memory)
    check_several(
        several,
        {
            "--top-labels": top_labels,
            "--min-rows": min_rows,
            "--labelled-only": labelled_only,
            "--shared-selection": shared_selection,
            "--threshold": threshold,
        },
        {
            "--nested": nested,
            "--probes": probes,
            "--permutations": permutations,
            "--learning-curve": learning_curve,
            "--leak-check": leak_check,
            "--report": report,
            "--split bootstrap": split == "bootstrap",
        },
    )
    for option, given in (("--leak-check", leak_check), ("--report", report is not None)):
        if given and (len(written) > 1 or nested):
            raise TamisError(f"{option} takes one recipe{' and no --nested' if nested else f'; got {len(written)}'}")
    if report is not None:
        check_place(report)
        if split == "bootstrap":
            raise TamisError("--report takes folds or test rows; --split bootstrap has none")
    if prefilter is None:
        dataset = load_data(data, target, reading, group, several=several)
    else:
        refused = {
            "--several": several,
            "--nested": nested,
            "--probes": probes,
            "--permutations": permutations,
            "--learning-curve": learning_curve,
            f"--split {split}": split != "folds",
        }
        if wrong := [option for option, given in refused.items() if given]:
            raise TamisError(f"--prefilter reads the file for the folds of one validation, without {wrong[0]}")
        dataset = for_folds(
            data,
            prefilter,
            folds=folds,
            repeats=repeats,
            seed=seed,
            target=target,
            reading=reading,
            group=group,
            memory=limit,
            engine=engine,
        )
        print_notes(dataset)
    chains = [completed_for(dataset, chain) for chain in written]
    if len(chains) == 1:
        note_large_sizes(chains[0], dataset)
    models: Any = as_estimators([chain.build(dataset.task if several is None else None) for chain in chains])
    options: Any = {"split": split, "folds": folds, "repeats": repeats, "seed": seed, "n_jobs": jobs, "engine": engine}

    def run(title: str, function: Callable[..., Any], models: Any, **more: Any) -> Any:
        with progress(title) as bar:
            return function(models, dataset, progress=bar, **more, **options)

    if several is not None:
        of_labels = {
            "mark": several,
            "top": top_labels,
            "min_rows": min_rows,
            "labelled_only": labelled_only,
            "shared_selection": shared_selection,
            "threshold": threshold,
            "inner_folds": inner_folds,
        }
        results = [run("validating labels", validate_labels, model, **of_labels) for model in models]
        if json:
            print_json(results[0].to_dict() if len(results) == 1 else {"models": [one.to_dict() for one in results]})
            return
        _print_data(dataset, written, chains, results[0].labels.size)
        print_labels(results[0]) if len(results) == 1 else print_recipes(results)
        return
    found: dict[str, Any] = {}
    if nested:
        more = {"rule": rule, "inner_folds": inner_folds, "probes": probes, "memory": limit}
        found["nested"] = run(f"choosing among {len(models)} recipes", validate_nested, models, **more)
    elif len(models) > 1:
        title = f"validating {len(models)} recipes"
        found["many"] = run(title, validate_many, models, probes=probes, memory=limit)
    else:
        found["one"] = run("validating", validate_one, models[0], probes=probes, leak_check=leak_check)
    if not json:
        _print_data(dataset, written, chains)
        if nested:
            _print_nested(found["nested"])
        elif len(models) > 1:
            _print_many(found["many"], models)
        else:
            _print_one(found["one"], leak_check)
    if permutations:
        tests = run("permuting the target", permutation_test, models, n=permutations, memory=limit)
        found["permutations"] = tests if isinstance(tests, list) else [tests]
        if not json:
            print_line()
            for test in found["permutations"]:
                print_line(f"{test.recipe}: {test.sentence()}" if len(models) > 1 else test.sentence())
    if learning_curve:
        curves = run("fitting on fewer rows", fit_on_fewer_rows, models, memory=limit)
        found["learning_curve"] = curves if isinstance(curves, list) else [curves]
        if not json:
            _print_curves(found["learning_curve"])
    if report is not None:
        from tamis.reporting.facts import validated_facts
        from tamis.reporting.html import write_page

        test = found["permutations"][0] if permutations else None
        write_page(validated_facts(found["one"], dataset, permutation=test, command=this_command()), report)
        if not json:
            print_line(f"report: {report}")
    if json:
        plain = {
            name: [each.to_dict() for each in one] if isinstance(one, list) else one.to_dict()
            for name, one in found.items()
        }
        # One table by itself is printed as it is, everything else under its name.
        print_json(plain[next(iter(plain))] if list(plain) in (["one"], ["many"]) else plain)


def _print_data(dataset: "Dataset", written: "list[Chain]", chains: "list[Chain]", n_labels: int | None = None) -> None:
    from tamis.compose.catalog import part_for

    holds = target_words(dataset) if n_labels is None else f"{n_labels} labels"
    print_line(f"{dataset.name}: {dataset.n_rows} rows, {dataset.n_features} features, {holds}")
    if len(chains) == 1:
        print_line(f"recipe: {chains[0]}")
    pairs = zip(written, chains, strict=True)
    added = {str(part) for one, chain in pairs for part in chain.parts[: len(chain.parts) - len(one.parts)]}
    if added:
        needed = {
            part_for("vocabulary").name: "text",
            part_for("imputation").name: "missing values",
            part_for("encoding").name: "nominal columns",
        }
        names = [name for name in needed if name in added]
        verb, them = ("was", "it is") if len(names) == 1 else ("were", "they are")
        reasons = " and ".join(needed[name] for name in names)
        print_line(f"  ({' and '.join(names)} {verb} added for {reasons}; {them} fitted in the folds)")


def _print_one(found: "Validation", leak_check: bool) -> None:
    print_line(f"{found.split}, seed {found.seed}")
    _print_estimates(found)
    print_features(found)
    if leak_check:
        _print_leak(found)


def _print_estimates(found: "Validation") -> None:
    leak = found.leak.summary() if found.leak is not None else {}
    rows = []
    for metric in found.metrics:
        e = found.summary()[metric.name]
        numbers = [e.mean, e.se, e.sd, *([leak[metric.name].mean] if leak else [])]
        rows.append([metric.title, *map(_four, numbers)])
    columns = ["measure", "estimate", "standard error", "sd over folds", *(["if it leaked"] if leak else [])]
    print_table("", columns, rows, right=columns[1:])
    print_caveats(found.caveats)


def print_caveats(caveats: Sequence[str]) -> None:
    """What makes the estimates above too good."""
    for one in caveats:
        print_line(f"beware: {one}")


def print_features(found: Any) -> None:
    """How many features one model uses, and how much the folds agree on them."""
    if found.selected is not None:
        sizes = [k.size for k in found.selected]
        span = f"{sizes[0]}" if min(sizes) == max(sizes) else f"{min(sizes)} to {max(sizes)}"
        print_line(f"selected features: {span} of {found.n_features}")
    if found.stability is not None and found.stability.index == found.stability.index:
        low, high = found.stability.interval
        print_line(f"stability of the selection over folds: {found.stability.index:.3f} ({low:.3f} to {high:.3f})")
    if found.probe_share is not None:
        print_line(f"probes among them: {100 * found.probe_share:.1f} %")


def _print_leak(found: "Validation") -> None:
    if found.leak is None:
        last = "classifier" if found.task == "classify" else "regressor"
        print_line(f"leak check: no step comes before the {last}, so nothing can leak")
        return
    main = found.metrics[0]
    honest, leaky = (_four(v.summary()[main.name].mean) for v in (found, found.leak))
    if honest == leaky:
        print_line(f"leak check: fitting the steps on all rows would not change {main.title} here")
        return
    print_line(
        f"leak check: with the steps fitted on all rows {main.title} would look like {leaky} instead of {honest}; "
        "only the latter holds for new data"
    )


def _print_many(found: "Validations", models: Sequence[Any]) -> None:
    from tamis.validation.many import best_of_many
    from tamis.validation.plan import plan

    first, fits = found[0], plan(models).n_fits()
    steps = sum(len(getattr(model, "steps", [model])) for model in models)
    print_line(f"{len(models)} recipes, {first.split}, seed {first.seed}; {fits} fits a fold instead of {steps}")
    _print_ranking(found)
    print_caveats([*best_of_many(len(found)), *found[0].caveats])
    _print_sizes(found)
    if len(found) > 1:
        print_line()
        for sentence in found.comparison().sentences():
            print_line(sentence)


def _print_ranking(found: "Validations") -> None:
    metric = found.metric
    rows = []
    for place, one in enumerate(found.ordered()[:_SHOWN], start=1):
        e = one.summary()[metric.name]
        size = None if one.mean_selected is None else f"{one.mean_selected:g}"
        stability = float("nan") if one.stability is None else one.stability.index
        figures = [_four(e.mean), _four(e.se), size, f"{stability:.3f}" if stability == stability else None]
        rows.append([place, one.recipe, *figures])
    columns = ["", "recipe", metric.title, "standard error", "features", "stability"]
    print_table("", columns, rows, right=["", *columns[2:]])
    if len(found) > _SHOWN:
        print_line(f"... and {len(found) - _SHOWN} more; --json prints all")
    _print_failed(found.failed)


def _print_sizes(found: "Validations") -> None:
    """Draw the error against the number of features, the curve of the best recipe first."""
    metric = found.metric
    order = {id(one): place for place, one in enumerate(found.ordered())}
    curves = found.curves()
    best_first = sorted(curves, key=lambda name: min(order[id(one)] for one in curves[name]))
    points = {
        name: [
            Point(one.mean_selected, one.summary()[metric.name].mean, one.summary()[metric.name].se)
            for one in curves[name]
            if one.mean_selected is not None and len({other.mean_selected for other in curves[name]}) > 1
        ]
        for name in best_first
    }
    for line in draw(points, x_title="features used", y_title=metric.title):
        print_line(line)


def _print_nested(found: "Nested") -> None:
    validation = found.validation
    print_line(f"{validation.recipe}; {validation.split}, seed {validation.seed}")
    _print_estimates(validation)
    print_features(validation)
    rows = [[times, recipe] for recipe, times in found.chosen().items()]
    print_table(f"chosen in {len(found.inner)} outer folds", ["times", "recipe"], rows, right=["times"])
    metric = validation.metrics[0]
    print_line(f"on all rows the choice is: {found.choice}")
    print_line(
        f"  the inner estimate of its {metric.title} is {_four(found.inner_estimate)}; "
        f"report the honest one, {_four(validation.summary()[metric.name].mean)}"
    )
    _print_failed(found.failed)


def _print_failed(failed: Mapping[str, str]) -> None:
    for recipe, why in failed.items():
        print_line(f"failed: {recipe}: {why}")


def _print_curves(curves: "Sequence[LearningCurve]") -> None:
    for curve in curves:
        metric = curve.metric
        estimates = [validation.summary()[metric.name] for validation in curve.validations]
        rows = [
            [f"{size:g}", f"{n:g}", _four(e.mean), _four(e.se)]
            for size, n, e in zip(curve.sizes, curve.rows, estimates, strict=True)
        ]
        columns = ["share", "training rows", metric.title, "standard error"]
        print_line(f"\nlearning curve of {curve.recipe}")
        print_table("", columns, rows, right=columns)
        print_line(curve.sentence())


def _four(value: float) -> str | None:
    from tamis.validation.result import figure

    return figure(value) if value == value else None
