# Written by `make docs` from what is found in the room.

from tamis.base.score import Score

all_scores: dict[str, Score]

def get(name: str) -> Score: ...

cc: Score
chi2: Score
count: Score
f: Score
fisher: Score
ig: Score
mi: Score
modl: Score
relief: Score
relieff: Score
s2n: Score
ssv: Score
stump: Score
t: Score
variance: Score
