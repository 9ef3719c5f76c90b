"""Table 1 of Lal, Chapelle and Schölkopf (2006), "Combining a filter method with SVMs", with Tables 2 and 3.

The width sigma of the paper is that of the Spider toolbox, exp(-d^2 / (2 sigma^2)), so ours is twice its square:
0.115 -> 0.02645, 0.382 -> 0.291848, 0.011 -> 0.000242. The paper says that it was found before feature selection. But
then the mean distance to the other class is 1.30 on DOROTHEA and 0.070 on MADELON; after the selection it is 0.113
(train + valid) and 0.011, the printed values. Both are here: the printed values, and widths (and on DOROTHEA C) found
before selection, as the text has it.

"Balanced" on DOROTHEA is the class ridge of the paper's section 1, not one C for each class.
"""

from tamis.reproduce.framework.challenge_table import READING
from tamis.reproduce.framework.table import Published, Row, table_study
from tamis.reproduce.fs_svm.entries import tables
from tamis.reproduce.fs_svm.figures import PIECES, describe

_ARCENE = "rms_norm | fisher(4700) | svm(linear, C=inf)"
_DEXTER = "rms_norm | fisher(3714) | svm(linear, C=inf)"
_DOROTHEA = "rms_norm | fisher(1000) | svm(gaussian, C=10, sigma=0.02645, ridge=1.0)"
_GISETTE = "rms_norm | fisher(1700) | svm(gaussian, C=inf, sigma=0.291848)"
_GISETTE_1 = "rms_norm | fisher(700) | svm(gaussian, C=inf, sigma=0.291848)"
_MADELON = "rms_norm | fisher(20) | svm(gaussian, C=inf, sigma=0.000242)"

#: With C and sigma found on all features before the selection.
_DOROTHEA_FIRST = "rms_norm | tuned_first(svm(gaussian, C=auto, sigma=classes, ridge=1.0), fisher(1000))"
_GISETTE_FIRST = "rms_norm | tuned_first(svm(gaussian, C=inf, sigma=classes), fisher(1700))"
_MADELON_FIRST = "rms_norm | tuned_first(svm(gaussian, C=inf, sigma=classes), fisher(20))"
_FIRST = "width (and C, where the margin is soft) found before the selection, as the text has it"


def _entry(ber: float, f_feat: float, f_probe: float, winner: float) -> Published:
    """A line of Table 2 or 3; the entries had no confidences, so their AUC is 100 - BER."""
    return Published(test_ber=ber, test_auc=round(100 - ber, 2), f_feat=f_feat, f_probe=f_probe, winner_ber=winner)


ROWS = (
    Row("arcene", _ARCENE, _entry(18.20, 47.0, 13.6, 13.30), "official"),
    Row("arcene", _ARCENE, _entry(12.76, 47.0, 5.9, 11.86)),
    Row("dexter", _DEXTER, _entry(4.20, 18.6, 49.8, 3.90), "official"),
    Row("dexter", _DEXTER, _entry(3.30, 18.6, 42.1, 3.30)),
    Row("dorothea", _DOROTHEA, _entry(19.68, 1.0, 8.9, 8.54), "official"),
    Row("dorothea", _DOROTHEA, _entry(16.34, 1.0, 3.2, 8.61)),
    Row("dorothea", _DOROTHEA_FIRST, _entry(19.68, 1.0, 8.9, 8.54), "official", note=_FIRST),
    Row("dorothea", _DOROTHEA_FIRST, _entry(16.34, 1.0, 3.2, 8.61), note=_FIRST),
    Row(
        "gisette_surrogate",
        _GISETTE_1,
        _entry(1.69, 14.0, 0.0, 1.37),
        "official",
        note="14 % of the features is 700; Table 1 has the 1700 of 8 December, and the width that goes with them",
    ),
    Row("gisette_surrogate", _GISETTE, _entry(1.31, 34.0, 0.2, 1.35)),
    Row("gisette_surrogate", _GISETTE_FIRST, _entry(1.31, 34.0, 0.2, 1.35), note=_FIRST),
    Row("madelon", _MADELON, _entry(14.06, 4.0, 35.0, 7.17), "official"),
    Row("madelon", _MADELON, _entry(11.22, 4.0, 35.0, 7.11)),
    Row("madelon", _MADELON_FIRST, _entry(14.06, 4.0, 35.0, 7.17), "official", note=_FIRST),
    Row("madelon", _MADELON_FIRST, _entry(11.22, 4.0, 35.0, 7.11), note=_FIRST),
)

STUDY = table_study(
    "FS + SVM",
    "Lal, Chapelle and Schölkopf 2006, Tables 1 to 3, Figures 1, 2 and 4",
    "the models of two challenge entries",
    ROWS,
    remarks=(
        "'train -> valid' stands beside the entries of 1 December 2003, which were trained on the train rows alone.",
        "'train + valid' stands beside the entries of 8 December 2003, which were trained on both.",
        "gisette_surrogate is made after the description of GISETTE; its figures are not GISETTE's.",
        *READING,
    ),
    more=PIECES,
    tables=lambda findings: tables(ROWS, findings),
    figures=lambda findings: describe(ROWS, findings),
)
