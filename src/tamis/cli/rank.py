"""``tamis rank``: the features of a data set in order of a score."""

from typing import Annotated, Any

import typer

from tamis.cli.show import Data, Json, Target, completed_for, load_data, print_json, print_line, print_table


def rank(
    data: Data,
    score: Annotated[
        str, typer.Argument(help="A score or any recipe that ends in a selector: cc, 't(fdr=0.05)'.")
    ] = "cc",
    target: Target = None,
    top: Annotated[int, typer.Option("--top", min=1, help="How many features to show.")] = 20,
    json: Json = False,
) -> None:
    """Rank the features of DATA, on all its labelled rows.

    A ranking describes the rows it was made on; to know how well a model built on it predicts, use 'tamis validate',
    which ranks anew inside each fold.
    """
    from tamis.base.errors import TamisError
    from tamis.compose.catalog import entry
    from tamis.compose.recipe import parse

    chain = parse(score)
    chain.build()
    last = str(chain.parts[-1]).partition("(")[0]
    if entry(last).kind not in ("score", "selector"):
        raise TamisError(f"{last} is not a selector: rank takes a recipe that ends in one")
    dataset = load_data(data, target)
    chain = completed_for(dataset, chain)
    model = chain.build()
    model.fit(dataset.X, dataset.y)
    steps = [step for _, step in model.steps] if hasattr(model, "steps") else [model]
    selector = steps[-1]
    names: Any = dataset.feature_names
    for step in steps[:-1]:
        names = step.get_feature_names_out(names)
    roles = dataset.roles if dataset.roles is not None and len(names) == dataset.n_features else None
    rows = [
        {
            "rank": place,
            "feature": str(names[column]),
            "column": int(column),
            "score": float(selector.scores_[column]),
            "kept": bool(selector.support_[column]),
            **({"role": str(roles[column])} if roles is not None else {}),
        }
        for place, column in enumerate(selector.order_[:top], start=1)
    ]
    facts = {"data": dataset.name, "rows": dataset.n_rows, "features": len(names), "recipe": str(chain)}
    kept = int(selector.support_.sum())
    if json:
        print_json({**facts, "kept": kept, "ranking": rows})
        return
    title = f"{dataset.name}: {dataset.n_rows} rows, {len(names)} features, ranked by {chain}"
    shown = [[row[key] for key in rows[0] if key != "kept"] + ["*" if row["kept"] else ""] for row in rows]
    print_table(title, [*(key for key in rows[0] if key != "kept"), "kept"], shown, right=["rank", "column", "score"])
    print_line(f"{kept} of {len(names)} features are kept by {chain.parts[-1]}")
    if roles is not None:
        found = int((roles[selector.order_[:top]] != "probe").sum())
        print_line(f"{found} of the {len(rows)} shown are real, {len(rows) - found} are probes")
