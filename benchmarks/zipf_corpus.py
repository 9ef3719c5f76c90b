"""A corpus of any size: documents of four classes whose words follow Zipf's law, written chunk by chunk."""

from pathlib import Path

import numpy as np

#: The classes, and the number of words that each has more often than the others.
CLASSES = ("crude", "grain", "money", "ship")
_OWN_WORDS = 200
#: Share of the words of a document that are drawn from those of its class.
_OWN_SHARE = 0.05
#: Exponent of Zipf's law.
_EXPONENT = 1.07
#: Words of the median document, and the spread of its logarithm.
_LENGTH, _SPREAD = 150, 0.8
_DOCUMENTS_AT_ONCE = 5_000


def write_corpus(path: Path, size: int, *, n_words: int = 300_000, seed: int = 0) -> int:
    """Write a CSV file with the columns label and body, and return the number of documents.

    The bodies are quoted, and have commas, doubled quotes and line ends. Frequent words are short, as in a language.

    Parameters
    ----------
    path : Path
    size : int
        Bytes; the last chunk may exceed them by a few megabytes.
    n_words : int, default=300000
        Distinct words that documents are drawn from.
    seed : int, default=0
    """
    rng = np.random.default_rng(seed)
    words = _vocabulary(rng, n_words)
    # Zipf's law as cumulative shares: a word is found by bisection.
    shares = np.cumsum(np.arange(1, n_words + 1) ** -_EXPONENT)
    shares /= shares[-1]
    own = rng.choice(np.arange(n_words // 100, n_words), (len(CLASSES), min(_OWN_WORDS, n_words // 8)), replace=False)
    documents = written = 0
    with path.open("w", encoding="utf-8") as file:
        file.write("label,body\n")
        while written < size:
            chunk = _documents(rng, words, shares, own)
            written += file.write(chunk)
            documents += _DOCUMENTS_AT_ONCE
    return documents


def _vocabulary(rng: np.random.Generator, n_words: int) -> np.ndarray:
    """Distinct words of random letters, the frequent ones first; the rarer a word, the longer."""
    lengths = (2 + np.log2(np.arange(1, n_words + 1)) / 2.2).astype(int)
    letters = rng.choice(list("etaoinshrdlucmfwypvbgk"), (n_words, int(lengths.max())))
    found: dict[str, None] = {}
    for row, length in zip(letters.tolist(), lengths.tolist(), strict=True):
        word = "".join(row[:length])
        while word in found:
            word += "eaiou"[len(found) % 5]
        found[word] = None
    return np.array(list(found), dtype=object)


def _documents(rng: np.random.Generator, words: np.ndarray, shares: np.ndarray, own: np.ndarray) -> str:
    """The lines of some documents."""
    lengths = np.maximum(rng.lognormal(np.log(_LENGTH), _SPREAD, _DOCUMENTS_AT_ONCE).astype(int), 1)
    labels = rng.integers(len(CLASSES), size=_DOCUMENTS_AT_ONCE)
    codes = np.searchsorted(shares, rng.random(int(lengths.sum())))
    special = np.flatnonzero(rng.random(codes.size) < _OWN_SHARE)
    of_document = np.repeat(labels, lengths)[special]
    codes[special] = own[of_document, rng.integers(own.shape[1], size=special.size)]
    drawn = words[codes].tolist()
    lines, start = [], 0
    for label, length in zip(labels.tolist(), lengths.tolist(), strict=True):
        text = drawn[start : start + length]
        start += length
        if length > 20:
            text[7] += ","
            text[11] = f'""{text[11]}""'
            text[17] += ".\n"
        lines.append(f'{CLASSES[label]},"{" ".join(text)}"\n')
    return "".join(lines)
