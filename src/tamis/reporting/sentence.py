"""A recipe as an English sentence."""

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any, TypeAlias

from tamis.base.errors import TamisError
from tamis.compose.catalog import entry
from tamis.compose.chain import Call, Chain, as_text
from tamis.compose.recipe import parse

__all__ = ["sentence"]

#: The arguments of a part, defaults included. A phrase takes out what it says; the rest is said after it.
Arguments: TypeAlias = dict[str, Any]

#: What says nothing about the model.
_SILENT = ("n_jobs", "random_state")

#: What features are ranked by, for the scores whose name does not say it.
_SCORES = {
    "cc": "correlation with the class",
    "chi2": "the chi-square statistic",
    "count": "the number of rows in which they are not zero",
    "f": "the F statistic",
    "fisher": "Fisher's criterion",
    "ig": "the information gain of their presence",
    "mi": "mutual information with the class",
    "modl": "how much more probable their intervals are than none (MODL)",
    "relief": "how far rows of the other classes are in them (Relief)",
    "relieff": "how far rows of the other classes are in them (ReliefF)",
    "s2n": "the signal-to-noise ratio",
    "ssv": "the separability of their best split (SSV)",
    "stump": "the accuracy of a tree of one split",
    "t": "the t statistic",
    "variance": "variance",
}

_KERNELS = {"gaussian": "Gaussian"}

_BINS = {
    "sigma": "by mean and standard deviation",
    "equal_width": "of equal width",
    "equal_frequency": "of equally many rows",
    "ssv": "by SSV splits",
    "modl": "the most probable ones, MODL",
    "optimal": "of least squared error",
}

_NORMS = {"l2": "its length", "l1": "the sum of its absolute values", "max": "its largest absolute value"}


def sentence(recipe: str) -> str:
    """Say a recipe in English: what is done to the features, step by step, and the classifier at the end.

    Parts that have no phrase of their own are said by the first line of their documentation.

    Parameters
    ----------
    recipe : str
        A text that is no single recipe, such as the ``repr`` of an estimator from elsewhere, is given back as it is.

    Examples
    --------
    >>> sentence("cc(50) | svm(gaussian, C=10)")
    'ranks the features by correlation with the class and keeps the best 50, then a support vector machine with
    Gaussian kernel (C = 10)'
    >>> sentence("committee(9, ssv_tree | knn(3))")
    'the vote of 9 copies, each taught without one of 9 folds, of [keeps the features that an SSV decision tree uses,
    then the vote of the 3 nearest neighbours]'
    """
    try:
        chain = parse(recipe)
    except TamisError:
        return recipe
    stands_for_many = len(list(islice(chain.variants(), 2))) > 1
    return recipe if stands_for_many else _chain(chain)


def _chain(chain: Chain) -> str:
    return ", then ".join(_part(part) for part in chain.parts if isinstance(part, Call))


def _model(chain: Chain | None, otherwise: str) -> str:
    """A recipe inside a phrase: several steps are held together by brackets."""
    if chain is None:
        return otherwise
    return f"[{_chain(chain)}]" if len(chain.parts) > 1 else _chain(chain)


def _part(call: Call) -> str:
    known = entry(call.name)
    given = dict(call.arguments)
    arguments = {name: given.get(name, one.default) for name, one in known.parameters.items()}
    summary = ""
    if known.score is not None:
        said = f"ranks the features by {_SCORES.get(call.name, call.name)} and keeps {_best(arguments, 'above zero')}"
    elif call.name in _PHRASES:
        said = _PHRASES[call.name](arguments)
    else:
        said = f"the {known.kind} {call.name}"
        summary = known.summary.rstrip(".").replace("`", "")
    # What the recipe spells out and the phrase has not said; defaults go without saying.
    left = {name: value for name, value in given.items() if name in arguments and name not in _SILENT}
    extras = [_extra(name, value) for name, value in left.items() if value != known.parameters[name].default]
    said += f" ({', '.join(extras)})" if extras else ""
    return f"{said} [{summary[:1].lower()}{summary[1:]}]" if summary else said


def _extra(name: str, value: Any) -> str:
    if name == "balance" and value is True:
        return "the classes weigh the same"
    if value == "auto":
        return f"{name} found by cross-validation"
    return f"{name} = {_model(value, '') if isinstance(value, Chain) else as_text(value)}"


def _listed(recipes: Sequence[Chain]) -> str:
    return "[" + "; ".join(f"({number}) {_chain(one)}" for number, one in enumerate(recipes, 1)) + "]"


def _best(arguments: Arguments, otherwise: str) -> str:
    """How many features a cut keeps."""
    k, share, least, rate = (arguments.pop(name, None) for name in ("k", "fraction", "threshold", "fdr"))
    if k is not None:
        return "the best one" if k == 1 else f"the best {k}"
    if share is not None:
        return f"the best {_percent(share)}"
    if rate is not None:
        return f"those that pass at a false discovery rate of {_percent(rate)}"
    return f"those {otherwise}" if least is None else f"those above {as_text(least)}"


def _percent(share: float) -> str:
    return f"{100 * share:g} %"


def _standardize(a: Arguments) -> str:
    return "standardizes all values together" if a.pop("per") == "matrix" else "standardizes every feature"


def _pca(a: Arguments) -> str:
    k = a.pop("k")
    if isinstance(k, float):
        return f"replaces the features by the principal components that hold {_percent(k)} of the variance"
    return f"replaces the features by {'one principal component' if k == 1 else f'{k} principal components'}"


def _ssv_tree(a: Arguments) -> str:
    k = a.pop("k")
    if k is None:
        return "keeps the features that an SSV decision tree uses"
    return f"keeps the best {'feature' if k == 1 else f'{k} features'} of an SSV decision tree"


def _vote(a: Arguments) -> str:
    members, needed = a.pop("members"), a.pop("at_least")
    if not members:
        return "keeps the features that most of several rankings keep"
    least = len(members) // 2 + 1 if needed is None else needed
    return f"keeps the features that at least {least} of {len(members)} selections keep {_listed(members)}"


def _repeat(a: Arguments) -> str:
    selector, times, k = a.pop("selector"), a.pop("times"), a.pop("k")
    most = "" if k is None else f", at most {k} at a time"
    what = "ranks the features and keeps the best" if selector is None else _chain(selector)
    return f"{times} times over, each time without the features taken before{most}, [{what}]"


def _from_model(a: Arguments) -> str:
    who = _model(a.pop("model"), "extremely randomized trees")
    kept = _best(a, "of the mean weight or more")
    return f"ranks the features by the weights that they have in {who} and keeps {kept}"


def _with_probes(a: Arguments) -> str:
    ranked, rate = _inner(a.pop("selector")), _percent(a.pop("fdr"))
    return f"keeps what [{ranked}] puts before permuted copies of the features, {rate} of it false at most"


def _stability_selection(a: Arguments) -> str:
    chosen, fits, share, most = _inner(a.pop("selector")), 2 * a.pop("times"), a.pop("threshold"), a.pop("max_false")
    often = f"in {_percent(0.75 if share is None else share)} of {fits} halves of the rows"
    if most is not None:
        often = f"so often in {fits} halves of the rows that at most {most:g} are false"
    return f"keeps what [{chosen}] keeps {often}"


def _mrmr(a: Arguments) -> str:
    measure = "mutual information" if a.pop("criterion").startswith("m") else "F statistic and correlation"
    return f"picks {a.pop('k')} features that are relevant and do not repeat each other (mRMR by {measure})"


def _contrasts(a: Arguments) -> str:
    return "keeps the features that ensembles of trees rank above permuted copies of all features"


def _inner(selector: Chain | None) -> str:
    return "ranks the features by correlation with the class" if selector is None else _chain(selector)


def _rfe(a: Arguments) -> str:
    k, share = a.pop("k"), a.pop("fraction")
    left = "one is" if k == 1 else f"{_percent(0.5 if share is None else share) if k is None else k} are"
    return (
        f"drops the features of the smallest weights in a linear support vector machine step by step until {left} left"
    )


def _svm(a: Arguments) -> str:
    kernel = a.pop("kernel")
    named = "the best of several kernels" if kernel == "auto" else f"{_KERNELS.get(kernel, kernel)} kernel"
    return f"a support vector machine with {named}"


def _knn(a: Arguments) -> str:
    k = a.pop("k")
    if k == "auto":
        return "the vote of the nearest neighbours, as many as cross-validation finds best"
    return "the nearest neighbour" if k == 1 else f"the vote of the {k} nearest neighbours"


def _naive_bayes(a: Arguments) -> str:
    model = a.pop("model")
    return "naive Bayes on the states of the features" if model == "states" else f"naive Bayes ({model})"


def _convex_net(a: Arguments) -> str:
    few = a.pop("sparsity")
    return "a convex network" if few is None else f"a convex network of few basis functions ({few})"


def _tree(a: Arguments) -> str:
    return "a decision tree by balanced error" if a.pop("criterion") == "balanced_error" else "an SSV decision tree"


def _centroid(a: Arguments) -> str:
    shrink = a.pop("shrink")
    return "the nearest class mean" + (f", shrunken by {as_text(shrink)}" if shrink else "")


def _committee(a: Arguments) -> str:
    folds, how = a.pop("folds"), a.pop("how")
    what = _model(a.pop("model"), "a linear support vector machine")
    many = "mean probability" if how == "average" else "vote"
    return f"the {many} of {folds} copies, each taught without one of {folds} folds, of {what}"


def _blend(a: Arguments) -> str:
    models, weights = a.pop("models"), a.pop("weights")
    if not models:
        return "the mean of what a linear support vector machine and the nearest neighbours say"
    counted = f", weighted {' to '.join(map(as_text, weights))}," if weights else ""
    return f"the mean of what {len(models)} models say{counted} {_listed(models)}"


_PHRASES: dict[str, Callable[[Arguments], str]] = {
    "standardize": _standardize,
    "normalize": lambda a: f"divides every row by {_NORMS[a.pop('norm')]}",
    "rms_norm": lambda a: "scales the rows to a mean length of one",
    "pca": _pca,
    "impute": lambda a: f"fills missing values with the {a.pop('strategy')}",
    "encode": lambda a: "turns names into numbers",
    "discretize": lambda a: f"cuts every feature into bins ({_BINS.get(by := a.pop('by'), by)})",
    "bin_means": lambda a: "puts the class shares of optimal bins in place of the values",
    "ssv_tree": _ssv_tree,
    "vote": _vote,
    "repeat": _repeat,
    "from_model": _from_model,
    "with_probes": _with_probes,
    "stability_selection": _stability_selection,
    "mrmr": _mrmr,
    "contrasts": _contrasts,
    "rfe": _rfe,
    "svm": _svm,
    "knn": _knn,
    "nrbf": lambda a: "a normalized radial basis function network",
    "tree": _tree,
    "nb": _naive_bayes,
    "snb": lambda a: "naive Bayes on columns chosen one after another",
    "esnb": lambda a: "naive Bayes on columns chosen by the area under the lift curve",
    "convex_net": _convex_net,
    "mdl_histogram": lambda a: "a histogram whose cells the description length divides",
    "forest": lambda a: f"a random forest of {a.pop('trees')} trees",
    "extra_trees": lambda a: f"{a.pop('trees')} extremely randomized trees",
    "boost": lambda a: f"gradient boosting of {a.pop('trees')} small trees",
    "logistic": lambda a: f"logistic regression with {a.pop('penalty').upper()} penalty",
    "lda": lambda a: "linear discriminant analysis",
    "centroid": _centroid,
    "committee": _committee,
    "blend": _blend,
}
