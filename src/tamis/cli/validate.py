"""``tamis validate``: the error of a whole recipe, beside what a leak would make of it."""

from typing import Annotated, Any, Literal

import typer

from tamis.cli.show import Data, Jobs, Json, Seed, Target, load_data, print_json, print_line, print_table, progress


def validate(
    data: Data,
    recipe: Annotated[str, typer.Argument(help="The model: 'standardize | cc(50) | svm(linear)'.")],
    target: Target = None,
    split: Annotated[
        Literal["folds", "pooled", "official", "leave-one-out"],
        typer.Option("--split", help="How rows are divided; 'pooled' is folds over the official train and valid rows."),
    ] = "folds",
    folds: Annotated[int, typer.Option("--folds", min=2, help="Number of folds.")] = 10,
    repeats: Annotated[int, typer.Option("--repeats", min=1, help="How often the folds are drawn anew.")] = 1,
    group: Annotated[
        str | None, typer.Option("--group", help="A column whose equal values stay together; not used as a feature.")
    ] = None,
    probes: Annotated[
        float, typer.Option("--probes", min=0.0, max=0.95, help="Share of useless columns to add and to look for.")
    ] = 0.0,
    leak_check: Annotated[
        bool, typer.Option("--leak-check", help="Also show the estimate with selection on all rows.")
    ] = False,
    seed: Seed = 0,
    jobs: Jobs = 1,
    json: Json = False,
) -> None:
    """Validate RECIPE on DATA as a whole: every step is fitted inside each fold, on the training rows alone."""
    from tamis.compose.recipe import completed, parse
    from tamis.validate.whole import validate as validate_whole

    written = parse(recipe)
    written.build()
    dataset = load_data(data, target)
    if group is not None:
        dataset = dataset.grouped_by(group)
    chain = completed(written, nominal=bool(dataset.nominal.any()), missing=dataset.n_missing > 0)
    with progress("validating") as report:
        found = validate_whole(
            chain.build(),
            dataset,
            split=split,
            folds=folds,
            repeats=repeats,
            leak_check=leak_check,
            probes=probes,
            seed=seed,
            n_jobs=jobs,
            progress=report,
        )
    if json:
        print_json(found.to_dict())
        return
    print_line(f"{dataset.name}: {dataset.n_rows} rows, {dataset.n_features} features, {len(dataset.classes)} classes")
    print_line(f"recipe: {chain}")
    if chain != written:
        needed = {"impute": "missing values", "encode": "nominal columns"}
        added = [part.name for part in chain.parts[: len(chain.parts) - len(written.parts)]]
        verb, them = ("was", "it is") if len(added) == 1 else ("were", "they are")
        reasons = " and ".join(needed[name] for name in added)
        print_line(f"  ({' and '.join(added)} {verb} added for {reasons}; {them} fitted in the folds)")
    print_line(f"{found.split}, seed {seed}")
    _print_estimates(found)
    _print_features(found)
    if leak_check:
        _print_leak(found)


def _print_estimates(found: Any) -> None:
    leak = found.leak.summary() if found.leak is not None else {}
    rows = []
    for metric in found.metrics:
        e = found.summary()[metric.name]
        numbers = [e.mean, e.se, e.sd, *([leak[metric.name].mean] if leak else [])]
        rows.append([metric.title, *(f"{v:.4f}" if v == v else None for v in numbers)])
    columns = ["measure", "estimate", "standard error", "sd over folds", *(["if it leaked"] if leak else [])]
    print_table("", columns, rows, right=columns[1:])


def _print_features(found: Any) -> None:
    if found.kept is not None:
        sizes = [k.size for k in found.kept]
        span = f"{sizes[0]}" if min(sizes) == max(sizes) else f"{min(sizes)} to {max(sizes)}"
        print_line(f"features used: {span} of {found.n_features}")
    if found.stability is not None and found.stability.index == found.stability.index:
        low, high = found.stability.interval
        print_line(f"stability of the choice over folds: {found.stability.index:.3f} ({low:.3f} to {high:.3f})")
    if found.probe_share is not None:
        print_line(f"probes among them: {100 * found.probe_share:.1f} %")


def _print_leak(found: Any) -> None:
    if found.leak is None:
        print_line("leak check: no step comes before the classifier, so nothing can leak")
        return
    main = found.metrics[0]
    honest, leaky = (f"{v.summary()[main.name].mean:.4f}" for v in (found, found.leak))
    if honest == leaky:
        print_line(f"leak check: fitting the steps on all rows would not change {main.title} here")
        return
    print_line(
        f"leak check: with the steps fitted on all rows {main.title} would look like {leaky} instead of {honest}; "
        "only the latter holds for new data"
    )
