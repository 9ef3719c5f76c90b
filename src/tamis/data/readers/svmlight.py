"""svmlight files: ``label index:value ...`` lines, indices from 1, as LIBSVM and SVMlight write them."""

import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from tamis.base.errors import DataError, quoted
from tamis.data.dataset import Dataset
from tamis.data.parsing.index_value import number, pairs, read_plain, stack
from tamis.data.parsing.matrices import assemble, own_target, tidy_csr, tidy_labels
from tamis.data.parsing.reader import Reader, Source

_ROW = re.compile(rb"[^\s:,]+(\s+qid:\S+)?(\s+\d+:\S+)+")


def _recognizes(source: Source) -> bool:
    head = source.head
    if len(head) < len(source.content):
        # The head may end in the middle of a word.
        head = head[: max(head.rfind(b" "), head.rfind(b"\n"), 0)]
    lines = (line.partition(b"#")[0].split() for line in head.split(b"\n"))
    words = next((line for line in lines if line), [])
    return _ROW.fullmatch(b" ".join(words)) is not None


def _read(source: Source, target: str | None) -> Dataset:
    own_target(target, ("class",), source.path)
    plain = read_plain(source.text)
    X, y, groups = _scan(source.text, source.path) if plain is None else (*plain, None)
    labels = tidy_labels(y, X.shape[0], str(source.path))
    return assemble({"": (tidy_csr(X), labels)}, source.path, name=source.stem, groups=groups)


def _scan(text: str, path: Path) -> tuple[sp.csr_array, np.ndarray, np.ndarray | None]:
    """Parse line by line; a message names the line of the first error."""
    rows, labels, groups = [], [], []
    for count, line in enumerate(text.split("\n"), start=1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        where = f"{path}, line {count}"
        labels.append(_label(words.pop(0), where))
        if words and words[0].startswith("qid:"):
            groups.append(_group(words.pop(0), where))
        if groups and len(groups) != len(labels):
            raise DataError(f"{where}: some lines have a qid and others have none")
        indices, values = pairs(words, where)
        for left, right in pairwise(indices):
            if left > right:
                raise DataError(f"{where}: index {right} follows {left}, but indices must increase")
        rows.append((indices, values))
    if not any(indices for indices, _ in rows):
        raise DataError(f"{path}: holds no index:value pair")
    return stack(rows), np.array(labels), np.array(groups) if groups else None


def _label(word: str, where: str) -> float:
    if ":" in word:
        raise DataError(f"{where}: starts with {quoted(word)}, the label before it is missing")
    if "," in word:
        raise DataError(f"{where}: has several labels, {quoted(word)}; one is expected")
    return number(word, f"label {quoted(word)}", where)


def _group(word: str, where: str) -> int:
    text = word.removeprefix("qid:")
    if not re.fullmatch(r"\d{1,18}", text, re.ASCII):
        raise DataError(f"{where}: qid {quoted(text)} is not a whole number")
    return int(text)


reader = Reader("svmlight", (".svm", ".svmlight", ".libsvm"), _recognizes, _read)
