"""Every score and classifier on real data, as the tables of docs/results.md.

    TAMIS_DATA=/my/data python examples/survey.py

Prints Markdown: the balanced error rate in percent, its standard error in brackets.
"""

import sys
import warnings
from collections.abc import Iterable, Mapping, Sequence

from tamis.compose.catalog import catalog
from tamis.compose.recipe import completed, parse
from tamis.data import load
from tamis.validation.many import validate_many

SCORED = {
    "arcene": "rms_norm | {}(5000) | svm(linear, C=100)",
    "dexter": "{}(8000) | svm(linear)",
    "dorothea": "{}(1000) | svm(linear, class_weight=balanced)",
    "madelon": "{}(20) | knn(5)",
}
SMALL = ("iris", "wine", "glass", "sonar", "ionosphere", "vote", "soybean", "colon")
MODELS = (
    "standardize | svm(linear)",
    "standardize | svm(gaussian, C=10)",
    "standardize | svm(exponential, C=10)",
    "standardize | svm(polynomial, coef0=1.0)",
    "standardize | svm(cosine, degree=2, coef0=1.0)",
    "standardize | svm(sigmoid)",
    "standardize | svm(gaussian, C=inf, ridge=1.0)",
    "standardize | knn(5)",
    "standardize | knn(auto)",
    "standardize | knn(5, alpha=1.0)",
    "standardize | knn(5, metric=canberra)",
    "standardize | knn(5, metric=chebyshev)",
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
    "standardize | rms_norm | logistic(l2, C=10)",
    "standardize | rms_norm | logistic(l1, C=10)",
    "lda",
    "centroid(0.5)",
    "forest",
    "extra_trees",
    "boost",
    "standardize | from_model(extra_trees, k=10) | svm(linear)",
    "blend(standardize | svm(gaussian, C=10), forest, standardize | nrbf)",
    "nb",
    "nb(states, bins=modl)",
    "snb",
    "snb(loo=true)",
    "esnb",
    "esnb(average=true)",
    "mdl_histogram",
    "discretize(modl) | logistic",
    "standardize | logistic",
    "bin_means | logistic",
    "standardize | convex_net",
    "standardize | convex_net(0.1)",
    "standardize | convex_net(0.1, kernel=gaussian)",
    "standardize | fr_svm(10, 5)",
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
    "standardize | sfs(knn(5), k=5) | knn(5)",
    "standardize | sbs(knn(5), k=5) | knn(5)",
    "standardize | pta(knn(5), k=5) | knn(5)",
    "standardize | sffs(knn(5), k=5) | knn(5)",
    "standardize | rfe(5) | svm(linear)",
)


def cells(recipes: Iterable[str], name: str, split: str) -> list[str]:
    """The estimates on one data set, of recipes with what the data needs in front; what they share is computed once."""
    data = load(name)
    needs = {"nominal": bool(data.nominal.any()), "missing": data.n_missing > 0}
    models = [completed(parse(recipe), **needs).build() for recipe in recipes]
    found = validate_many(models, data, split=split, metrics="ber", n_jobs=2)
    return [f"{100 * one.summary()['ber'].mean:.1f} ({100 * one.summary()['ber'].se:.1f})" for one in found]


def table(
    title: str, names: Iterable[str], heads: Sequence[str], recipes: Mapping[str, Sequence[str]], split: str
) -> None:
    names = list(names)
    columns = [cells(recipes[name], name, split) for name in names]
    print(f"| {title} | {' | '.join(names)} |\n|{'---|' * (len(names) + 1)}")
    for head, *row in zip(heads, *columns, strict=True):
        escaped = head.replace("|", r"\|")
        print(f"| `{escaped}` | {' | '.join(row)} |")
    print(flush=True)


def main() -> None:
    if not sys.warnoptions:
        warnings.simplefilter("ignore")
    names = sorted(part.name for part in catalog().values() if part.kind == "score")
    scored = {data: [recipe.format(score) for score in names] for data, recipe in SCORED.items()}
    table("score", SCORED, names, scored, "pooled")
    table("model", SMALL, MODELS, dict.fromkeys(SMALL, MODELS), "folds")
    table("model that searches", TUNED, SEARCHES, dict.fromkeys(TUNED, SEARCHES), "folds")


if __name__ == "__main__":
    main()
