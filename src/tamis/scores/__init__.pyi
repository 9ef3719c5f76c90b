# Written by `make docs` from what is found in the room.

from collections.abc import Iterable, Mapping
from typing import Any

from tamis.base.score import Score
from tamis.base.types import FloatArray

all_scores: dict[str, Score]

def get(name: str) -> Score: ...
def many(
    X: Any, y: Any = None, *, by: Iterable[str | tuple[str, Mapping[str, Any]]], sample_weight: Any = None
) -> FloatArray: ...

bns: Score
cc: Score
chi2: Score
count: Score
f: Score
fisher: Score
ig: Score
kl: Score
mi: Score
modl: Score
odds: Score
pip: Score
pipp: Score
relief: Score
relieff: Score
rrelieff: Score
s2n: Score
spearman: Score
ssv: Score
stump: Score
t: Score
tfv: Score
ti: Score
variance: Score
wf: Score
