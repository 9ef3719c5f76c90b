"""N-grams: seconds and peak memory of fresh processes, on 20 Newsgroups beside scikit-learn, and on generated text."""

import gzip
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tamis.base.seeds import generator

ROOT = Path(__file__).resolve().parents[1]

#: Tokens and words of the generated text, and tokens of a document.
_TOKENS, _WORDS, _DOCUMENT = 100_000_000, 500_000, 250

#: Rounds of all that is measured on the newsgroups.
_ROUNDS = 3

#: Kilobytes of a process, now (VmRSS) and at most (VmHWM); getrusage would include those of the one that started it.
_MEMORY = """
def memory_of(name):
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith(name))
"""

#: Reads a folder; what is compiled is loaded before the clock starts.
_OURS = """
import sys, time
import numpy as np
from tamis.text.corpus import Corpus
from tamis.text.count_matrix import count_matrix
from tamis.text.ngrams import ngram_counts
from tamis.text.rckl import best_ngrams, choose_ngrams
tiny = Corpus(np.array([0, 4]), np.array([0, 1, 0, 1]), 2)
for memory in (1, 2**20):
    count_matrix(tiny, choose_ngrams(tiny, [0], 2, 2, order=3, min_count=1, max_memory=memory))
folder = sys.argv[1]
offsets, codes, y = (np.load(f"{{folder}}/{{name}}.npy") for name in ("offsets", "codes", "y"))
corpus = Corpus(offsets, codes, int(codes.max()) + 1)
resident = memory_of("VmRSS")
start = time.perf_counter()
n = {work}
peak = memory_of("VmHWM")
print(time.perf_counter() - start, peak / 1024, (peak - resident) / 1024, n)
"""

_PEER = """
import sys, time
from sklearn.feature_extraction.text import CountVectorizer
documents = open(f"{sys.argv[1]}/texts").read().split("\\n")
resident = memory_of("VmRSS")
start = time.perf_counter()
counter = CountVectorizer(ngram_range=(2, 2), tokenizer=str.split, token_pattern=None, lowercase=False)
X = counter.fit_transform(documents)
peak = memory_of("VmHWM")
print(time.perf_counter() - start, peak / 1024, (peak - resident) / 1024, X.shape[1])
"""

#: Codes of the words of texts, which scikit-learn's time and memory include.
_CODE = """
import sys, time
from array import array
import numpy as np
documents = open(f"{sys.argv[1]}/texts").read().split("\\n")
resident = memory_of("VmRSS")
start = time.perf_counter()
words = {}
tokens = array("i")
for text in documents:
    tokens.extend([words.setdefault(word, len(words)) for word in text.split()])
codes = np.frombuffer(tokens, dtype=np.int32)
peak = memory_of("VmHWM")
print(time.perf_counter() - start, peak / 1024, (peak - resident) / 1024, len(words))
"""

#: What is measured on the newsgroups.
_WORK = {
    "all pairs, counted": "sum(len(part.words) for part in ngram_counts(corpus, y))",
    "all pairs, counted, 32 MB": "sum(len(part.words) for part in ngram_counts(corpus, y, max_memory=2**25))",
    "all pairs, the best 5000 by RCKL": "len(best_ngrams(corpus, y, 5000, min_count=1))",
    "pairs of 5 and more, the best 5000": "len(best_ngrams(corpus, y, 5000))",
    "2 and 3 words, 5 and more, the best 5000": "len(best_ngrams(corpus, y, 5000, order=3))",
    "15000 words and 5000 pairs, and their matrix": "count_matrix(corpus, choose_ngrams(corpus, y)).nnz",
}

#: And on the generated text, whose words are independent: there are far more distinct pairs than in real text.
_LARGE = {
    "pairs of 5 and more, the best 5000": "len(best_ngrams(corpus, y, 5000))",
    "the same, 64 MB": "len(best_ngrams(corpus, y, 5000, max_memory=2**26))",
    "all pairs, the best 5000": "len(best_ngrams(corpus, y, 5000, min_count=1))",
}


class Found(NamedTuple):
    """Seconds, megabytes of the process at its peak and above its beginning, and a number that the work returns."""

    seconds: float
    peak: float
    extra: float
    n: int


def _run(code: str, folder: str) -> Found:
    done = subprocess.run([sys.executable, "-c", _MEMORY + code, folder], capture_output=True, text=True, check=True)
    seconds, peak, extra, n = done.stdout.split()
    return Found(float(seconds), float(peak), float(extra), int(n))


def _line(what: str, found: Found, peer: Found | None = None, coding: Found | None = None) -> None:
    """Print one row; the ratios count the coding of words to our side, one after the other."""
    ratio = ""
    if peer and coding:
        speed = peer.seconds / (found.seconds + coding.seconds)
        ratio = f"with coding {speed:5.1f}x, {(found.extra + coding.extra) / peer.extra:5.2f}x the memory"
    memory = f"peak {found.peak:5.0f} MB, {found.extra:5.0f} MB of it for the work"
    print(f"{what:<56} {found.seconds:8.2f} s  {memory}  {found.n:>8} {ratio}", flush=True)


def _compare_newsgroups(folder: str, n: int) -> None:
    """The best of some rounds, so that all are measured under the same load of the machine."""
    jobs = {"CountVectorizer, pairs": _PEER, "codes of words, in plain Python": _CODE}
    jobs |= {what: _OURS.format(work=work) for what, work in _WORK.items()}
    rounds = [{what: _run(code, folder) for what, code in jobs.items()} for _ in range(_ROUNDS)]
    best = {what: min(each[what] for each in rounds) for what in jobs}
    print(f"20 Newsgroups, {n} texts, the best of {_ROUNDS} rounds")
    peer, coding = list(best.values())[:2]
    for what, found in best.items():
        _line(what, found, *((peer, coding) if what in _WORK else ()))


def _newsgroups() -> list[list[str]] | None:
    """Class and text of every document, training rows first, or None where the data is not at hand."""
    folder = Path(os.environ.get("TAMIS_DATA", ROOT.parent / "shared" / "data")) / "newsgroups20"
    files = [folder / f"20newsgroups-{name}.tab.gz" for name in ("train", "test")]
    if not all(file.exists() for file in files):
        return None
    rows = []
    for file in files:
        with gzip.open(file, "rt") as lines:
            # Three lines name the columns, their kinds and their roles.
            rows += [line.rstrip("\n").split("\t") for line in lines][3:]
    return [row for row in rows if len(row) == 2]


def _write_newsgroups(folder: str, rows: list[list[str]]) -> None:
    words: dict[str, int] = {}
    tokens = [[words.setdefault(word, len(words)) for word in text.split()] for _, text in rows]
    _, y = np.unique([label for label, _ in rows], return_inverse=True)
    np.save(f"{folder}/offsets.npy", np.cumsum([0, *map(len, tokens)]))
    np.save(f"{folder}/codes.npy", np.array([code for document in tokens for code in document], dtype=np.int32))
    np.save(f"{folder}/y.npy", y)
    Path(folder, "texts").write_text("\n".join(text for _, text in rows))


def _write_generated(folder: str) -> None:
    """Words drawn one by one, the r-th most frequent with a probability of about 1 / r."""
    rng = generator(0)
    codes = np.empty(_TOKENS, dtype=np.int32)
    place = rng.permutation(_WORDS).astype(np.int32)
    for block in np.array_split(codes, 100):
        block[:] = place[np.minimum((_WORDS + 1.0) ** rng.random(block.size), _WORDS).astype(np.int32) - 1]
    np.save(f"{folder}/codes.npy", codes)
    np.save(f"{folder}/offsets.npy", np.arange(0, _TOKENS + 1, _DOCUMENT))
    np.save(f"{folder}/y.npy", np.arange(_TOKENS // _DOCUMENT) % 20)


def main() -> None:
    rows = _newsgroups()
    with tempfile.TemporaryDirectory() as folder:
        if rows is None:
            print("20 Newsgroups is not at hand; TAMIS_DATA names the folder of newsgroups20")
        else:
            _write_newsgroups(folder, rows)
            _compare_newsgroups(folder, len(rows))
    with tempfile.TemporaryDirectory() as folder:
        _write_generated(folder)
        for what, work in _LARGE.items():
            _line(f"{_TOKENS // 10**6} M tokens: {what}", _run(_OURS.format(work=work), folder))
