"""One system, fitted on the rows in a folder, in a process and perhaps an environment of its own.

``python worker.py SYSTEM FOLDER SECONDS`` reads the rows (:func:`benchmarks.mine.resplit.write` wrote them), fits, and
writes ``predictions.npy`` and ``answer.json``. This file imports nothing of the project: the peers' environments do not
have it. The classes of the fresh rows are not in the folder.
"""

import json
import os
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

#: Cores of every system.
CORES = 2

#: The file with recipes for the search to start with, where its portfolio must not know the data.
FIRST = "first.toml"


@dataclass
class Rows:
    """Training rows with the numbers of their classes, and fresh rows without."""

    train: Any
    y: np.ndarray
    fresh: Any
    nominal: list[str]


@dataclass
class Answer:
    """What a system says of itself beside its predictions."""

    chosen: str = ""
    features: int | None = None
    honest: float | None = None
    honest_se: float | None = None
    versions: str = ""
    used: float = 0.0


Found = tuple[np.ndarray, Answer]
System = Callable[[Rows, float], Found]


def mine(rows: Rows, seconds: float, *, permuted: bool = False, **options: Any) -> Found:
    """The search with its default settings; with `permuted` classes there is nothing to find."""
    import tamis

    if Path(FIRST).exists():
        options["edits"] = FIRST

    if not Path(tamis.__file__).is_relative_to(os.environ["PYTHONPATH"]):
        raise ImportError(f"tamis comes from {tamis.__file__}, which is other code than was asked for")
    train, fresh = rows.train, rows.fresh
    if rows.nominal:
        import polars as pl

        train, fresh = (pl.from_pandas(one) for one in (train, fresh))
    y = np.random.default_rng(0).permutation(rows.y) if permuted else rows.y
    found = tamis.mine(train, y, budget=seconds, **options)
    honest = found.validation_.estimates["ber"]
    answer = Answer(found.recipe_, len(found.selected_features_), float(honest.mean), float(honest.se))
    answer.versions = _versions("scikit-learn")
    return found.predict(fresh), answer


def extra_trees(rows: Rows, seconds: float) -> Found:
    """500 extra trees of scikit-learn."""
    from sklearn.ensemble import ExtraTreesClassifier

    train, fresh = _numbers(rows)
    model = ExtraTreesClassifier(500, class_weight="balanced", n_jobs=CORES, random_state=0).fit(train, rows.y)
    return model.predict(fresh), Answer("500 trees", train.shape[1], versions=_versions("scikit-learn"))


def lightgbm(rows: Rows, seconds: float) -> Found:
    """LightGBM with balanced classes; its smallest leaf of 20 rows shrinks where there are few rows."""
    from lightgbm import LGBMClassifier
    from lightgbm.callback import EarlyStopException

    end = time.perf_counter() + seconds

    def stop(env: Any) -> None:
        if time.perf_counter() > end:
            raise EarlyStopException(env.iteration, env.evaluation_result_list or [])

    smallest = min(20, max(2, rows.y.size // 20))
    model = LGBMClassifier(
        n_estimators=300,
        learning_rate=0.05,
        min_child_samples=smallest,
        class_weight="balanced",
        n_jobs=CORES,
        random_state=0,
        verbose=-1,
    )
    train, fresh = _categories(rows)
    model.fit(train, rows.y, callbacks=[stop])
    used = int((model.feature_importances_ > 0).sum())
    chosen = f"{model.booster_.current_iteration()} rounds, leaves of {smallest} rows"
    return np.asarray(model.predict(fresh)), Answer(chosen, used, versions=_versions("lightgbm"))


def l1_logistic(rows: Rows, seconds: float) -> Found:
    """Logistic regression with an l1 penalty, its C of ten by five folds, as many as the time allows.

    Written out because scikit-learn's LogisticRegressionCV knows no limit of time. C grows, so that what takes longest
    comes last; half of the time is for the folds.
    """
    from sklearn.feature_selection import VarianceThreshold
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import balanced_accuracy_score
    from sklearn.model_selection import StratifiedKFold
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    end = time.perf_counter() + seconds / 2
    train, fresh = _numbers(rows)
    sparse = not isinstance(train, np.ndarray)
    # scikit-learn before 1.8 takes the name of the penalty, later versions the share of l1.
    penalty = {"penalty": "l1"} if LogisticRegression().penalty == "l2" else {"l1_ratio": 1.0}

    def model(C: float) -> Any:
        one = LogisticRegression(C=C, solver="liblinear", class_weight="balanced", random_state=0, **penalty)
        prepared = [] if sparse else [SimpleImputer(strategy="median")]
        many = OneVsRestClassifier(one) if np.unique(rows.y).size > 2 else one
        return make_pipeline(*prepared, VarianceThreshold(), StandardScaler(with_mean=not sparse), many)

    folds = list(StratifiedKFold(5, shuffle=True, random_state=0).split(rows.y, rows.y))
    best, best_C, tried = -1.0, 0.01, 0
    for C in np.logspace(-2, 3, 10):
        scores = []
        for fit, test in folds:
            if time.perf_counter() > end:
                break
            found = model(C).fit(train[fit], rows.y[fit]).predict(train[test])
            scores.append(balanced_accuracy_score(rows.y[test], found))
        if len(scores) < len(folds):
            break
        tried += 1
        if np.mean(scores) > best:
            best, best_C = float(np.mean(scores)), float(C)
    last = model(best_C).fit(train, rows.y)
    classifier = last[-1]
    weights = [one.coef_ for one in getattr(classifier, "estimators_", [classifier])]
    used = int(np.any(np.vstack(weights) != 0, axis=0).sum())
    return last.predict(fresh), Answer(f"C={best_C:.3g}, {tried} tried", used, versions=_versions("scikit-learn"))


#: All that FLAML tries by itself but CatBoost.
WITHOUT_CATBOOST = ["lgbm", "rf", "xgboost", "extra_tree", "xgb_limitdepth", "sgd", "lrl1"]


def flaml(rows: Rows, seconds: float, metric: Any = None) -> Found:
    """FLAML, set to lower the balanced error or another metric, with rows that weigh the classes alike.

    FLAML sets no limit of time to a fit of CatBoost. With more than two classes such a fit takes minutes, and FLAML
    gave no answer within 300 s; there it runs without CatBoost, which a plain install of it does not include either.
    """
    from flaml import AutoML
    from sklearn.metrics import balanced_accuracy_score
    from sklearn.utils.class_weight import compute_sample_weight

    def balanced(X: Any, y: Any, estimator: Any, *_: Any, **__: Any) -> tuple[float, dict[str, float]]:
        error = 1.0 - balanced_accuracy_score(y, estimator.predict(X))
        return error, {"ber": error}

    train, fresh = _categories(rows)
    many = np.unique(rows.y).size > 2
    model = AutoML()
    model.fit(
        train,
        rows.y,
        task="classification",
        metric=metric or balanced,
        estimator_list=WITHOUT_CATBOOST if many else "auto",
        time_budget=seconds,
        sample_weight=compute_sample_weight("balanced", rows.y),
        n_jobs=CORES,
        seed=0,
        verbose=0,
    )
    chosen = f"{model.best_estimator} {model.best_config}"
    return np.asarray(model.predict(fresh)), Answer(chosen, versions=_versions("flaml", "lightgbm", "xgboost"))


def flaml_log_loss(rows: Rows, seconds: float) -> Found:
    """The same by the log loss, which is less coarse where there are few rows."""
    return flaml(rows, seconds, "log_loss")


def autogluon(rows: Rows, seconds: float, presets: Sequence[str] = ("best_quality", "medium_quality")) -> Found:
    """AutoGluon, set to raise the balanced accuracy.

    With its best presets, which bag and stack. Where there is too little time for these nothing is fitted; then the
    default ones get the time that is left.
    """
    import pandas as pd
    from autogluon.tabular import TabularPredictor

    end = time.perf_counter() + seconds
    train, fresh = (_frame(one) for one in _categories(rows))
    kind = "binary" if np.unique(rows.y).size == 2 else "multiclass"
    labels = pd.Series(rows.y, index=train.index, name="class of the row")
    given = pd.concat([train, labels], axis=1)
    for one in presets:
        predictor = TabularPredictor(
            labels.name, problem_type=kind, eval_metric="balanced_accuracy", path=one, verbosity=0
        )
        limit = end - time.perf_counter()
        try:
            predictor.fit(given, time_limit=limit, presets=one, num_cpus=CORES, num_gpus=0)
            break
        except (AssertionError, RuntimeError):
            if one == presets[-1] or time.perf_counter() > end:
                raise
    chosen = f"{one}, {predictor.model_best}"
    return predictor.predict(fresh).to_numpy(), Answer(chosen, versions=_versions("autogluon.tabular", "torch"))


def autogluon_medium(rows: Rows, seconds: float) -> Found:
    """The same with the default presets alone, which neither bag nor stack."""
    return autogluon(rows, seconds, ["medium_quality"])


#: What a system imports before its clock starts.
IMPORTED = {
    **dict.fromkeys(("tamis", "tamis nested", "tamis permuted", "tamis nested permuted"), "tamis.reporting.note_facts"),
    "before": "tamis.reporting.note_facts",
    "extra trees": "sklearn.ensemble",
    "lightgbm": "lightgbm",
    "l1 logistic": "sklearn.linear_model",
    "flaml": "flaml.automl",
    "flaml log loss": "flaml.automl",
    "autogluon": "autogluon.tabular",
    "autogluon medium": "autogluon.tabular",
}

SYSTEMS: dict[str, System] = {
    "tamis": mine,
    "before": mine,
    "tamis nested": partial(mine, estimate="nested"),
    "tamis permuted": partial(mine, permuted=True),
    "tamis nested permuted": partial(mine, permuted=True, estimate="nested"),
    "extra trees": extra_trees,
    "lightgbm": lightgbm,
    "l1 logistic": l1_logistic,
    "flaml": flaml,
    "flaml log loss": flaml_log_loss,
    "autogluon": autogluon,
    "autogluon medium": autogluon_medium,
}


def read(folder: Path) -> Rows:
    """The rows of a folder."""
    about = json.loads((folder / "about.json").read_text(encoding="utf-8"))
    return Rows(
        _matrix(folder, "train", about), np.load(folder / "y.npy"), _matrix(folder, "fresh", about), about["nominal"]
    )


def _matrix(folder: Path, part: str, about: dict[str, Any]) -> Any:
    if about["form"] == "sparse":
        from scipy import sparse

        return sparse.csr_matrix(sparse.load_npz(folder / f"{part}.npz"))  # LightGBM takes no sparse array
    if about["form"] == "dense":
        return np.load(folder / f"{part}.npy")
    import pandas as pd

    words = pd.read_csv(folder / f"{part}.csv", dtype="object", keep_default_na=False, na_values=[""])
    return words.astype({name: "float64" for name in about["names"] if name not in about["nominal"]})


def _numbers(rows: Rows) -> tuple[Any, Any]:
    """Rows of numbers: a column for every level of a nominal one."""
    if not rows.nominal:
        return rows.train, rows.fresh
    from sklearn.compose import make_column_transformer
    from sklearn.preprocessing import OneHotEncoder

    levels = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    encoder = make_column_transformer((levels, rows.nominal), remainder="passthrough")
    return encoder.fit_transform(rows.train), encoder.transform(rows.fresh)


def _categories(rows: Rows) -> tuple[Any, Any]:
    """Rows with nominal columns marked as such; rows of numbers as they are."""
    if not rows.nominal:
        return rows.train, rows.fresh
    import pandas as pd

    train, fresh = rows.train.copy(), rows.fresh.copy()
    for name in rows.nominal:
        levels = pd.CategoricalDtype(sorted(train[name].dropna().unique()))
        train[name], fresh[name] = train[name].astype(levels), fresh[name].astype(levels)
    return train, fresh


def _frame(X: Any) -> Any:
    """A data frame with names for its columns."""
    import pandas as pd

    if isinstance(X, pd.DataFrame):
        return X
    dense = X if isinstance(X, np.ndarray) else X.astype(np.float32).toarray()
    return pd.DataFrame(dense, columns=[f"x{number}" for number in range(dense.shape[1])])


def _versions(*packages: str) -> str:
    return ", ".join(f"{name} {version(name)}" for name in packages)


def _bind() -> None:
    """Keep to the first cores, where the system lets a process choose."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])


def main(arguments: Sequence[str]) -> None:
    system, folder, seconds = arguments
    warnings.simplefilter("ignore")
    _bind()
    rows = read(Path(folder))
    os.chdir(folder)
    import_module(IMPORTED[system])
    start = time.perf_counter()
    predictions, answer = SYSTEMS[system](rows, float(seconds))
    answer.used = time.perf_counter() - start
    np.save("predictions.npy", np.asarray(predictions).astype(np.int64))
    Path("answer.json").write_text(json.dumps(asdict(answer)), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
