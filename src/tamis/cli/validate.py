"""``tamis validate``: the error of whole recipes, one or many, beside what a leak would make of it."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from tamis.cli.report import check_place, this_command
from tamis.cli.show import (
    Data,
    Jobs,
    Json,
    Memory,
    Seed,
    Target,
    completed_for,
    load_data,
    memory_bytes,
    print_json,
    print_line,
    print_table,
    progress,
)

if TYPE_CHECKING:
    from tamis.compose.chain import Chain
    from tamis.data.dataset import Dataset
    from tamis.validation.result import Validation


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
        typer.Option("--repeats", min=1, help="How often the folds are drawn anew; the number of bootstrap samples."),
    ] = None,
    group: Annotated[
        str | None, typer.Option("--group", help="A column whose equal values stay together; not used as a feature.")
    ] = None,
    probes: Annotated[
        float, typer.Option("--probes", min=0.0, max=0.95, help="Share of useless columns to add and to look for.")
    ] = 0.0,
    nested: Annotated[
        bool, typer.Option("--nested", help="Choose among the recipes in inner folds and judge the choice.")
    ] = False,
    rule: Annotated[
        Literal["best", "cautious", "simplest"],
        typer.Option(
            "--rule",
            help="How --nested chooses: the best mean, the best mean less one deviation, or the fewest features within "
            "one standard error of the best.",
        ),
    ] = "best",
    inner_folds: Annotated[int, typer.Option("--inner-folds", min=2, help="Inner folds of --nested.")] = 5,
    permutations: Annotated[
        int, typer.Option("--permutations", min=0, help="Also deal the classes out at random so often, for a p-value.")
    ] = 0,
    learning_curve: Annotated[
        bool, typer.Option("--learning-curve", help="Also learn from a tenth, a quarter, a half, ... of the rows.")
    ] = False,
    leak_check: Annotated[
        bool, typer.Option("--leak-check", help="Also show the estimate with selection on all rows.")
    ] = False,
    report: Annotated[Path | None, typer.Option("--report", help="Also write a page about it; for one recipe.")] = None,
    memory: Memory = None,
    seed: Seed = 0,
    jobs: Jobs = 1,
    engine: Annotated[
        str | None,
        typer.Option("--engine", help="Who computes, in place of --jobs: serial, local, local(2) or dask://host:port."),
    ] = None,
    json: Json = False,
) -> None:
    """Validate recipes on DATA as a whole: every step is fitted inside each fold, on the training rows alone.

    Many recipes are judged on the same folds, and what they share is computed once.
    """
    from tamis.base.errors import TamisError
    from tamis.cli import validate_extra, validate_many
    from tamis.compose.recipe import parse
    from tamis.validation.models import as_estimators

    written = list(dict.fromkeys(chain for text in recipes for chain in parse(text).variants()))
    for chain in written:
        chain.build()
    limit = memory_bytes(memory)
    for option, asked in (("--leak-check", leak_check), ("--report", report is not None)):
        if asked and (len(written) > 1 or nested):
            raise TamisError(f"{option} takes one recipe{' and no --nested' if nested else f'; got {len(written)}'}")
    if report is not None:
        check_place(report)
        if split == "bootstrap":
            raise TamisError("--report takes folds or test rows; --split bootstrap has none")
    dataset = load_data(data, target)
    if group is not None:
        dataset = dataset.grouped_by(group)
    chains = [completed_for(dataset, chain) for chain in written]
    models = as_estimators([chain.build() for chain in chains])
    options = {"split": split, "folds": folds, "repeats": repeats, "seed": seed, "n_jobs": jobs, "engine": engine}

    def head() -> None:
        _print_data(dataset, written, chains)

    found: dict[str, Any] = {}
    if nested:
        found["nested"] = validate_many.choose(
            models,
            dataset,
            None if json else head,
            rule=rule,
            inner_folds=inner_folds,
            probes=probes,
            memory=limit,
            **options,
        )
    elif len(models) > 1:
        found["many"] = validate_many.judge(
            models, dataset, None if json else head, probes=probes, memory=limit, **options
        )
    else:
        one = _judge_one(models[0], dataset, None if json else head, probes=probes, leak_check=leak_check, **options)
        found["one"] = one.to_dict()
    tests = []
    if permutations:
        tests = validate_extra.permute(models, dataset, permutations, memory=limit, json=json, **options)
        found["permutations"] = [test.to_dict() for test in tests]
    if learning_curve:
        found["learning_curve"] = validate_extra.learn(models, dataset, memory=limit, json=json, **options)
    if report is not None:
        from tamis.reporting.facts import validated_facts
        from tamis.reporting.html import write_page

        facts = validated_facts(one, dataset, permutation=tests[0] if tests else None, command=this_command())
        write_page(facts, report)
        if not json:
            print_line(f"report: {report}")
    if json:
        # One recipe by itself is printed as it is, everything else under its name.
        print_json(found["one"] if list(found) == ["one"] else found["many"] if list(found) == ["many"] else found)


def _print_data(dataset: "Dataset", written: "list[Chain]", chains: "list[Chain]") -> None:
    from tamis.compose.catalog import part_for

    print_line(f"{dataset.name}: {dataset.n_rows} rows, {dataset.n_features} features, {len(dataset.classes)} classes")
    if len(chains) == 1:
        print_line(f"recipe: {chains[0]}")
    added = {str(part) for one, chain in zip(written, chains, strict=True) for part in chain.parts[: _more(one, chain)]}
    if added:
        needed = {part_for("imputation").name: "missing values", part_for("encoding").name: "nominal columns"}
        names = [name for name in needed if name in added]
        verb, them = ("was", "it is") if len(names) == 1 else ("were", "they are")
        reasons = " and ".join(needed[name] for name in names)
        print_line(f"  ({' and '.join(names)} {verb} added for {reasons}; {them} fitted in the folds)")


def _more(written: "Chain", completed: "Chain") -> int:
    return len(completed.parts) - len(written.parts)


def _judge_one(
    model: Any, dataset: Any, head: Callable[[], None] | None, *, leak_check: bool, **options: Any
) -> "Validation":
    """Validate one recipe; printed below a head when there is one."""
    from tamis.validation.whole import validate as validate_whole

    with progress("validating") as report:
        found = validate_whole(model, dataset, leak_check=leak_check, progress=report, **options)
    if head is not None:
        head()
        print_line(f"{found.split}, seed {found.seed}")
        print_estimates(found)
        print_features(found)
        if leak_check:
            _print_leak(found)
    return found


def print_estimates(found: Any) -> None:
    """The measures of one model."""
    leak = found.leak.summary() if found.leak is not None else {}
    rows = []
    for metric in found.metrics:
        e = found.summary()[metric.name]
        numbers = [e.mean, e.se, e.sd, *([leak[metric.name].mean] if leak else [])]
        rows.append([metric.title, *(f"{v:.4f}" if v == v else None for v in numbers)])
    columns = ["measure", "estimate", "standard error", "sd over folds", *(["if it leaked"] if leak else [])]
    print_table("", columns, rows, right=columns[1:])


def print_features(found: Any) -> None:
    """How many features one model uses, and how much the folds agree on them."""
    if found.selected is not None:
        sizes = [k.size for k in found.selected]
        span = f"{sizes[0]}" if min(sizes) == max(sizes) else f"{min(sizes)} to {max(sizes)}"
        print_line(f"selected features: {span} of {found.n_features}")
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
