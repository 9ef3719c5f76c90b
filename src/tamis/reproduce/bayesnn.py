"""Bayesian neural networks in the NIPS 2003 challenge: few columns by tests of each, and components of all.

BayesNN-small and BayesNN-large are Neal's entries; BayesNN-DFT, his and Zhang's with Dirichlet diffusion trees, won. Of
all three only overall lines are printed. Small chose columns by univariate tests and large took more columns or their
principal components (Neal and Zhang 2006); what each did on a data set is not in the papers at hand.
"""

from functools import partial

from tamis.reproduce.framework.challenge_models import ChallengeModel, Line, brief, figures_of, pieces_of, tables_of
from tamis.reproduce.framework.study import Study

_KINDS = {
    "small": "networks of the columns that a test of each prefers",
    "large": "networks of principal components of all columns",
}

#: For the surrogate's 6000 rows.
_SHORT = "draws=300, warmup=200, leapfrog=30"


def _small(k: int, options: str = "8") -> str:
    return f"standardize | t({k}) | bayes_net({options})"


def _large(components: int, options: str = "8") -> str:
    return f"standardize | pca({components}) | bayes_net({options})"


#: Numbers of columns and components were set before any of these was run. MADELON's classes are a parity, which no test
#: of single columns finds: contrasts of a forest choose there.
_MODELS = (
    ChallengeModel("small", "arcene", _small(300), 30),
    ChallengeModel("large", "arcene", _large(40), 15),
    ChallengeModel("small", "dexter", _small(300), 30),
    ChallengeModel("large", "dexter", _large(60), 20),
    ChallengeModel("small", "dorothea", _small(300), 60),
    ChallengeModel("large", "dorothea", _large(40), 60),
    ChallengeModel("small", "gisette_surrogate", _small(200, f"8, {_SHORT}"), 300),
    ChallengeModel("large", "gisette_surrogate", _large(60, f"8, {_SHORT}"), 120),
    ChallengeModel("small", "madelon", "standardize | contrasts | bayes_net([20, 10])", 120),
    ChallengeModel("large", "madelon", _large(5, "[20, 10]"), 90),
)

#: Overall lines, on test rows.
_PRINTED: dict[str, list[Line]] = {
    "small": [["BayesNN-small, overall, printed", "61.14", "7.13", "97.08", "4.74", "2.91", None, None]],
    "large": [
        ["BayesNN-large, overall, printed", "66.29", "7.27", "96.98", "60.3", "28.51", None, None],
        ["BayesNN-large, overall, printed", "49.14", "7.83", "96.78", "60.3", "28.51", None, None],
        ["BayesNN-DFT, overall, printed", "71.43", "6.48", "97.20", "80.3", "47.77", None, None],
        ["the winner of 1 December, overall, printed", "88.00", "6.84", "97.22", "80.3", "47.8", None, None],
    ],
}

STUDY = Study(
    "BayesNN",
    "Neal and Zhang 2006",
    "Bayesian neural networks on few columns and on components, on the five challenge sets",
    pieces_of(_MODELS),
    partial(tables_of, _MODELS, _KINDS, _PRINTED),
    remarks=(
        "Score: of the tournament among all entries, on test rows; no Score here can be ours.",
        "BER and AUC in percent, the standard error of the BER in brackets; fitted on the train rows.",
        "Only overall lines are printed, on test rows whose labels are not public; most entries knew the valid rows.",
        "Components use all columns, so that all count as used.",
        "A note below a table names the chains that have not met; their networks are averaged all the same.",
        "gisette_surrogate is made after the description of GISETTE; its figures are not GISETTE's.",
    ),
    brief=brief,
    figures=partial(figures_of, _MODELS, _KINDS, _PRINTED),
)
