"""What Souza, Japkowicz and Matwin (2005) print of their results, in tables and in words."""

#: Data sets, with the number of their features and rows.
DATA: dict[str, tuple[int, int]] = {
    "credit.a": (15, 690),
    "labor": (16, 57),
    "vote": (16, 435),
    "primary.tumor": (17, 339),
    "lymph": (18, 148),
    "mushroom": (22, 8124),
    "colic": (23, 368),
    "autos": (25, 205),
    "ionosphere": (34, 351),
    "soybean": (35, 683),
    "splice": (60, 3190),
    "sonar": (60, 208),
    "audiology": (69, 226),
}

#: Figure 2: experiments of 39 in which an algorithm is the best or ties with it, as far as the text gives them.
BEST: dict[str, int] = {"FFS": 24, "FS10": 12, "FS8": 7, "FS6": 5, "FWR": 5, "BWR": 6, "Rel": 7}

#: Figure 4: percent of the 1230 features of all experiments that an algorithm selects, as far as the text gives them.
FEATURES: dict[str, str] = {
    **dict.fromkeys(("FS10", "FS8", "FS6"), "below 40"),
    "FWR": "16.91",
    "BWR": "87.15",
    "B-F": "19.76",
    "Gen": "21.95",
}

#: Table 2: the experiments that the best setting of FortalFS wins and loses, by the p-value of the difference.
SCORES: dict[str, tuple[tuple[int, int], ...]] = {
    "LVF": ((19, 0), (4, 0), (4, 1), (6, 3)),
    "Foc": ((21, 1), (4, 2), (0, 1), (5, 2)),
    "Rel": ((14, 4), (5, 2), (0, 0), (7, 6)),
    "FWR": ((14, 2), (1, 1), (4, 1), (9, 3)),
    "BWR": ((14, 3), (2, 0), (2, 0), (8, 9)),
    "WN2": ((10, 2), (3, 1), (3, 1), (11, 4)),
}

#: The p-values that part the columns of Table 2. Its head has a tenth of them; the text, which counts the same
#: experiments, has these.
LEVELS = (0.01, 0.05, 0.1)

#: Table 1: hybrid algorithms by the kind of filter and the classifier; + marks those that could be adapted.
HYBRIDS: dict[str, dict[str, str]] = {
    "distance (Relief)": {},
    "information gain": {
        "decision tree": "Bala96, BBHFS, Xing01+",
        "k-nearest neighbour": "Sebban02, Xing01",
        "Gaussian classifier": "Xing01",
        "others (SVM)": "Xing01+",
    },
    "dependency (CFS)": {
        "decision tree": "ADHOC",
        "k-nearest neighbour": "ADHOC+",
        "Gaussian classifier": "ADHOC+",
        "others (SVM)": "ADHOC+",
    },
    "consistency (LVF)": {},
}
