"""What a published table is: rows of a data set, a recipe, a way to split, and the figures that were printed."""

from dataclasses import dataclass
from typing import Literal

#: Columns that are known to be real, from 1; all others of that data set are probes.
REAL_FEATURES = {
    "madelon": (29, 49, 65, 106, 129, 154, 242, 282, 319, 337, 339, 379, 434, 443, 452, 454, 456, 473, 476, 494)
}


@dataclass(frozen=True)
class Published:
    """The printed figures of one model, all in percent; None where the paper prints none.

    Attributes
    ----------
    cv_error, cv_sd : float, optional
        Cross-validated error and its deviation over folds. The papers do not say whether it is balanced.
    test_ber, test_auc : float, optional
        Balanced error rate and AUC on the challenge's test rows. Without confidences the AUC is 100 - BER.
    f_feat, f_probe : float, optional
        Features used of all, and probes of the features used.
    winner_ber : float, optional
        Test BER of the best entry on that data set.
    about : bool, default=False
        The text gives the figures in words only ("very similar", "1 % lower").
    """

    cv_error: float | None = None
    cv_sd: float | None = None
    test_ber: float | None = None
    test_auc: float | None = None
    f_feat: float | None = None
    f_probe: float | None = None
    winner_ber: float | None = None
    about: bool = False


@dataclass(frozen=True)
class Row:
    """One model of a table.

    Attributes
    ----------
    data : str
        Name of the data set.
    recipe : str
        The model.
    published : Published
    split : {"pooled", "official"}, default="pooled"
        Folds over the train and valid rows together, or train rows against valid rows.
    note : str
        What a reader must know to compare.
    """

    data: str
    recipe: str
    published: Published
    split: Literal["pooled", "official"] = "pooled"
    note: str = ""


@dataclass(frozen=True)
class Table:
    """All models of a paper.

    Attributes
    ----------
    name : str
        What users type.
    title : str
    rows : tuple of Row
        Rows of one data set stand together.
    remarks : tuple of str
        What holds for the whole table; printed under it.
    folds : int, default=10
        For pooled rows.
    """

    name: str
    title: str
    rows: tuple[Row, ...]
    remarks: tuple[str, ...] = ()
    folds: int = 10

    @property
    def data(self) -> tuple[str, ...]:
        """The names of the data sets, in order."""
        return tuple(dict.fromkeys(row.data for row in self.rows))
