"""Every score and classifier on real data, as the tables of docs/results.md.

    TAMIS_DATA=/my/data python examples/survey.py

Prints Markdown: the balanced error rate in percent, its standard error in brackets.
"""

import sys
import warnings
from collections.abc import Iterable

import tamis
from tamis.compose.catalog import catalog
from tamis.compose.recipe import completed, parse
from tamis.data import load

SCORED = {
    "arcene": "rms_norm | {}(5000) | svm(linear, C=100)",
    "dexter": "{}(8000) | svm(linear)",
    "dorothea": "{}(1000) | svm(linear, balance=true)",
    "madelon": "{}(20) | knn(5)",
}
SMALL = ("iris", "wine", "glass", "sonar", "ionosphere", "vote", "soybean", "colon")
MODELS = (
    "standardize | svm(linear)",
    "standardize | svm(gaussian, C=10)",
    "standardize | svm(exponential, C=10)",
    "standardize | svm(polynomial, offset=1.0)",
    "standardize | svm(cosine, degree=2, offset=1.0)",
    "standardize | svm(sigmoid)",
    "standardize | svm(gaussian, C=inf, ridge=1.0)",
    "standardize | knn(5)",
    "standardize | knn(auto)",
    "standardize | knn(5, alpha=1.0)",
    "standardize | knn(5, metric=canberra)",
    "standardize | knn(5, metric=chebychev)",
    "standardize | pca(10) | knn(5)",
    "rms_norm | svm(linear, C=100)",
    "normalize | knn(5)",
    "knn(5)",
    "tree",
    "tree(balanced_error)",
    "standardize | nrbf",
    "standardize | svm(linear, C=auto)",
    "standardize | discretize(ssv) | knn(5)",
    "ssv(10) | standardize | svm(linear)",
    "ssv_tree | standardize | svm(linear)",
    "repeat(ssv_tree, times=3) | standardize | svm(linear)",
    "vote(ssv(10), ssv_tree, cc(10), at_least=2) | standardize | svm(linear)",
    "committee(9, standardize | svm(linear))",
)
TUNED = ("iris", "wine", "sonar", "ionosphere", "vote")
SEARCHES = (
    "standardize | svm(auto)",
    "standardize | svm(auto, caution=1.0)",
    "standardize | svm(gaussian, sigma=classes)",
    "standardize | nrbf(caution=1.0)",
    "tree(caution=1.0)",
    "standardize | wrapper(knn(5)) | knn(5)",
    "standardize | wrapper(knn(5), caution=1.0) | knn(5)",
)


def cell(recipe: str, name: str, split: str) -> str:
    """One estimate, of the recipe with what the data needs in front."""
    data = load(name)
    chain = completed(parse(recipe), nominal=bool(data.nominal.any()), missing=data.n_missing > 0)
    found = tamis.validate(chain.build(), data, split=split, metrics="ber", n_jobs=2)
    estimate = found.summary()["ber"]
    return f"{100 * estimate.mean:.1f} ({100 * estimate.se:.1f})"


def table(title: str, columns: Iterable[str], rows: Iterable[tuple[str, dict[str, str]]], split: str) -> None:
    columns = list(columns)
    print(f"| {title} | {' | '.join(columns)} |\n|{'---|' * (len(columns) + 1)}")
    for head, recipes in rows:
        escaped = head.replace("|", r"\|")
        cells = [cell(recipes[name], name, split) for name in columns]
        print(f"| `{escaped}` | {' | '.join(cells)} |", flush=True)
    print()


def main() -> None:
    if not sys.warnoptions:
        warnings.simplefilter("ignore")
    names = sorted(part.name for part in catalog().values() if part.kind == "score")
    table("score", SCORED, ((s, {d: r.format(s) for d, r in SCORED.items()}) for s in names), "pooled")
    table("model", SMALL, ((m, dict.fromkeys(SMALL, m)) for m in MODELS), "folds")
    table("model that searches", TUNED, ((m, dict.fromkeys(TUNED, m)) for m in SEARCHES), "folds")


if __name__ == "__main__":
    main()
