"""Download a data set from OpenML, through scikit-learn, into the folder of named data sets."""

import os
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from http.client import HTTPException
from pathlib import Path
from threading import Lock
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote, urlsplit
from urllib.request import Request, urlopen

import numpy as np
import polars as pl
from sklearn.datasets import fetch_openml

from tamis.base._sklearn import openml_client
from tamis.base.errors import DataError, TamisError
from tamis.base.types import FloatArray
from tamis.data.dataset import Dataset
from tamis.data.parsing.reader import Source
from tamis.data.parsing.table import CLASS_NAMES, Table, sparse_dataset
from tamis.data.write import write

#: Seconds that a server may stay silent.
_TIMEOUT = 30.0

#: OpenML's status code for a query without result; scikit-learn handles it.
_NO_RESULT = 412

_LOCK = Lock()

_openml = openml_client()


def fetch(
    name_or_id: str | int,
    *,
    version: int | str = "active",
    home: str | os.PathLike[str] | None = None,
    server: str | None = None,
) -> Dataset:
    """Download a data set from OpenML and store it where ``tamis.data.load`` finds it by name.

    Tables are stored as ``NAME.parquet`` with the class as the last column, sparse matrices as ``NAME.npz``; NAME is
    OpenML's name for the data, with ``_`` for special characters. A file of an earlier fetch is replaced. The class
    column keeps its name when the loader takes a column of that name for the class; otherwise it is renamed
    ``class``, and a feature of that name ``class_``.

    Parameters
    ----------
    name_or_id : str or int
        OpenML's name of the data, or its number, which identifies one version.
    version : int or "active", default="active"
        Version of the named data; "active" takes the oldest one in use.
    home : path, optional
        Folder to store it in; by default the one that ``TAMIS_DATA`` names, else ``tamis_data`` in the home folder.
    server : str, optional
        Address of a mirror of www.openml.org, such as ``"http://127.0.0.1:8000"``; all files are then
        requested there.

    Returns
    -------
    Dataset
        `X` is an array when all columns are numbers, else a polars data frame. Nominal columns of sparse data stay
        whole numbers, the position of the word in OpenML's list counted from 0.

    Raises
    ------
    DataError
        When the server cannot be reached, has no such data, or sends data that cannot be used.

    See Also
    --------
    tamis.data.load.load : Load a data set from a file, a folder or a name.

    Examples
    --------
    >>> from tamis.data.fetch import fetch
    >>> iris = fetch("iris", version=1)  # doctest: +SKIP
    >>> fetch(61, version=1)
    Traceback (most recent call last):
    ...
    tamis.base.errors.TamisError: version goes with a name; the number 61 identifies one version already
    """
    what, query = _query(name_or_id, version)
    if server is not None and urlsplit(server).scheme not in ("http", "https"):
        raise TamisError(f"server must be an address that starts with http:// or https://; got {server!r}")
    with _linked(_Link(what, server)):
        bunch = _download(what, query)
    data = _dataset(what, bunch)
    folder = Path(home or os.environ.get("TAMIS_DATA") or Path.home() / "tamis_data").expanduser()
    path = folder / f"{data.name}{'.npz' if data.is_sparse else '.parquet'}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{path}: cannot be written ({error.strerror})") from None
    write(data, path)
    return data


def _query(name_or_id: str | int, version: int | str) -> tuple[str, dict[str, Any]]:
    """The data set in words, and as arguments for scikit-learn."""
    name, number = str(name_or_id).strip(), str(version)
    if not name:
        raise TamisError("the name of an OpenML data set must not be empty")
    if number != "active" and (not number.isdecimal() or int(number) < 1):
        raise TamisError(f"version must be 'active' or a whole number of 1 or more; got {version!r}")
    if name.isdecimal():
        if number != "active":
            raise TamisError(f"version goes with a name; the number {name} identifies one version already")
        return f"OpenML data set {name}", {"data_id": max(1, int(name))}
    if number == "active":
        return f"OpenML data set {name!r}", {"name": quote(name, safe=""), "version": number}
    return f"OpenML data set {name!r}, version {number}", {"name": quote(name, safe=""), "version": int(number)}


@dataclass
class _Link:
    """Opens addresses at the mirror where there is one, and fails at once after a first failure."""

    what: str
    server: str | None
    failure: DataError | None = None

    def __call__(self, request: Request) -> Any:
        if self.failure is not None:
            raise self.failure
        url = urlsplit(request.full_url)
        if self.server is not None:
            mirror = urlsplit(self.server)
            path = mirror.path.rstrip("/") + url.path
            url = url._replace(scheme=mirror.scheme, netloc=mirror.netloc, path=path)
        try:
            return urlopen(Request(url.geturl(), headers=dict(request.header_items())), timeout=_TIMEOUT)
        except HTTPError as error:
            if error.code == _NO_RESULT:
                raise
            error.close()
            self.failure = DataError(f"{self.what}: {url.netloc} returned {error.code} {error.reason}")
        except (OSError, HTTPException, ValueError) as error:
            reason = getattr(error, "reason", error)
            reason = getattr(reason, "strerror", None) or reason
            self.failure = DataError(f"{self.what}: {url.netloc} cannot be reached ({reason}); is there a network?")
        raise self.failure


@contextmanager
def _linked(link: _Link) -> Iterator[None]:
    """Let scikit-learn's OpenML client, and nothing else, open its addresses through `link`.

    The client has no parameter for the server or the timeout, and retries for seconds without a network.
    """
    with _LOCK:
        usual = _openml.urlopen
        _openml.urlopen = link
        try:
            yield
        finally:
            _openml.urlopen = usual


def _download(what: str, query: dict[str, Any]) -> Any:
    try:
        with warnings.catch_warnings():
            # The client warns before it retries.
            warnings.simplefilter("ignore", RuntimeWarning)
            # The class is read as a feature, because for sparse data the client leaves labels of value 0 unset.
            # Its pandas parser would need pandas.
            return fetch_openml(**query, target_column=None, cache=False, as_frame=False, parser="liac-arff")
    except DataError:
        raise
    except _openml.OpenMLError:
        raise DataError(f"{what}: OpenML knows no such data set, or it is not active") from None
    except Exception as error:  # whatever the parsers raise on a damaged response
        if "STRING" in str(error):
            raise DataError(f"{what}: has columns of free text, which are neither numbers nor nominal") from None
        reason = str(error).split(". ")[0].strip().rstrip(".")
        raise DataError(f"{what}: the response cannot be read ({type(error).__name__}: {reason})") from None


def _dataset(what: str, bunch: Any) -> Dataset:
    target = bunch.details.get("default_target_attribute")
    if target not in bunch.feature_names:
        raise DataError(f"{what}: names no single column as its class; OpenML's default target is {target!r}")
    if len(bunch.feature_names) == 1:
        raise DataError(f"{what}: has no feature column beside {target!r}")
    at = bunch.feature_names.index(target)
    names, source = _distinct_names(bunch.feature_names, at), Source(Path(what))
    dense = isinstance(bunch.data, np.ndarray)
    nominal = {
        j: _words(bunch.data[:, [j]] if dense else bunch.data[:, [j]].toarray(), bunch.categories[name])
        for j, name in enumerate(bunch.feature_names)
        if name in bunch.categories and (dense or j == at)
    }
    if dense:
        data = Table(source, names, bunch.data, nominal, _place).dataset(names[at])
    else:
        data = sparse_dataset(source, names, bunch.data, at, nominal.get(at), _place)
    name = re.sub(r"[^\w.-]+", "_", str(bunch.details["name"])).strip(".") or f"openml_{bunch.details['id']}"
    return replace(data, name=name, notes=tuple(source.notes))


def _place(row: int) -> str:
    return f"row {row + 1}"


def _words(codes: FloatArray, words: list[str]) -> pl.Series:
    """The words of the codes; null where the code is missing."""
    known = np.array([*words, None], dtype=object)
    chosen = known[np.where(np.isnan(codes), -1, codes).astype(np.intp).ravel()]
    return pl.Series(chosen.tolist(), dtype=pl.String)


def _distinct_names(names: list[str], at: int) -> list[str]:
    """Names of the columns by which the loader recognizes column `at` as the class.

    >>> _distinct_names(["size", "y", "label"], 2)
    ['size', 'y', 'label']
    >>> _distinct_names(["Class", "y", "label"], 2)
    ['Class_', 'y', 'class']
    """
    lower = [name.lower() for name in names]
    found = next((lower.index(word) for word in CLASS_NAMES if word in lower), None)
    if found == at and lower.count(lower[at]) == 1:
        return names
    renamed = [f"{name}_" if name.lower() == CLASS_NAMES[0] else name for name in names]
    renamed[at] = CLASS_NAMES[0]
    return renamed
