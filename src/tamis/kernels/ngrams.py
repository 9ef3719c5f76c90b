"""Count n-grams of coded words.

An n-gram is a head, the number of the (n-1)-gram that it begins with, and a tail, its last word. ``heads[t]`` is the
head that begins at token t, -1 where none does; its tail is ``codes[t + lag]``, where -1 is no word. For pairs of words
the heads are the codes and `lag` is 1. Document d has the tokens ``offsets[d]`` up to ``offsets[d + 1]``; documents of
weight zero are left out. All counts are sums of the weights of documents.
"""

import numpy as np

from tamis.kernels.assign import assign
from tamis.kernels.compiler import helper, kernel

#: Columns of the tally of tails: count, documents, and the last document or the row of the output.
_COUNT, _DOCUMENTS, _LAST = 0, 1, 2

_CORPUS = "int64[::1], int32[::1], int32[::1], intp"
_LABELS = "intp[::1], float64[::1]"
_OUT = "float64[:, ::1], int32[::1], int32[::1], int32[::1], float64[::1], float64[::1], float64[:, ::1]"


@kernel(f"void(int64[::1], int32[::1], {_LABELS}, float64[:, ::1], float64[::1])", reads=4)
def word_totals(offsets, codes, y, weight, class_totals, documents):
    """Count every word in each class, and the documents with it."""
    last = np.full(documents.shape[0], -1, dtype=np.int32)
    for d in range(y.shape[0]):
        c, w = y[d], weight[d]
        if w == 0.0:
            continue
        for t in range(offsets[d], offsets[d + 1]):
            word = codes[t]
            if word >= 0:
                class_totals[word, c] += w
                if last[word] != d:
                    last[word] = d
                    documents[word] += w


@kernel(f"void({_CORPUS}, float64[::1], int64[::1])", reads=5)
def head_sizes(offsets, heads, codes, lag, weight, sizes):
    """Count the tokens at which each head has a tail; here weights do not multiply."""
    for d in range(weight.shape[0]):
        if weight[d] > 0.0:
            for t in range(offsets[d], offsets[d + 1] - lag):
                if heads[t] >= 0 and codes[t + lag] >= 0:
                    sizes[heads[t]] += 1


@kernel(f"void({_CORPUS}, float64[::1], intp, int64[::1], int32[:, ::1])", reads=6)
def collect(offsets, heads, codes, lag, weight, first, place, found):
    """Write the tail and the document of every n-gram whose head is one of a range into the bucket of that head.

    The range begins with `first`. ``place[h]`` is the next row of the bucket of its head h, or -1 if it has none.
    """
    n_heads = place.shape[0]
    for d in range(weight.shape[0]):
        if weight[d] == 0.0:
            continue
        for t in range(offsets[d], offsets[d + 1] - lag):
            h = heads[t] - first
            if h >= 0 and h < n_heads and codes[t + lag] >= 0 and place[h] >= 0:
                found[place[h], 0] = codes[t + lag]
                found[place[h], 1] = d
                place[h] += 1


@kernel(f"intp(int32[:, ::1], int64[::1], intp, {_LABELS}, float64, float64, {_OUT})", reads=7)
def bucket_ngrams(
    found, starts, first, y, weight, min_count, min_df, tally, touched, head, tail, total, documents, class_totals
):
    """Count the n-grams in the buckets of :func:`collect`; bucket h has the rows ``starts[h]`` up to ``starts[h + 1]``.

    Those of at least `min_count` occurrences in `min_df` documents are written to the last five arguments, ordered by
    head and tail, and their number is returned. `tally`, all zeros at the beginning and the end, and `touched` have a
    row for every word.
    """
    end = 0
    for h in range(starts.shape[0] - 1):
        n = 0
        for s in range(starts[h], starts[h + 1]):
            n = _add(tally, touched, n, found[s, 0], found[s, 1], weight[found[s, 1]])
        begin = end
        end = _write(tally, touched, n, min_count, min_df, begin, tail, total, documents)
        if end == begin:
            continue
        for row in range(begin, end):
            head[row] = first + h
            for c in range(class_totals.shape[1]):
                class_totals[row, c] = 0.0
        for s in range(starts[h], starts[h + 1]):
            word = found[s, 0]
            if tally[word, _COUNT] > 0.0:
                d = found[s, 1]
                class_totals[np.intp(tally[word, _LAST]), y[d]] += weight[d]
        _clear(tally, tail, begin, end)
    return end


@kernel(f"intp({_CORPUS}, intp, {_LABELS}, float64, float64, {_OUT})", reads=9)
def streamed_ngrams(
    offsets,
    heads,
    codes,
    lag,
    only,
    y,
    weight,
    min_count,
    min_df,
    tally,
    touched,
    head,
    tail,
    total,
    documents,
    class_totals,
):
    """Count the n-grams of the head `only` as :func:`bucket_ngrams` does, from the corpus and not from a bucket."""
    n = 0
    for d in range(weight.shape[0]):
        if weight[d] > 0.0:
            for t in range(offsets[d], offsets[d + 1] - lag):
                if heads[t] == only and codes[t + lag] >= 0:
                    n = _add(tally, touched, n, codes[t + lag], d, weight[d])
    end = _write(tally, touched, n, min_count, min_df, 0, tail, total, documents)
    for row in range(end):
        head[row] = only
        for c in range(class_totals.shape[1]):
            class_totals[row, c] = 0.0
    for d in range(weight.shape[0]):
        if weight[d] > 0.0:
            for t in range(offsets[d], offsets[d + 1] - lag):
                if heads[t] == only:
                    word = codes[t + lag]
                    if word >= 0 and tally[word, _COUNT] > 0.0:
                        class_totals[np.intp(tally[word, _LAST]), y[d]] += weight[d]
    _clear(tally, tail, 0, end)
    return end


@helper
def _add(tally, touched, n, word, document, weight):
    """Count one occurrence; return the number of distinct words so far, which `touched` lists."""
    if tally[word, _COUNT] == 0.0:
        touched[n] = word
        n += 1
        tally[word, _LAST] = -1.0
    tally[word, _COUNT] += weight
    if tally[word, _LAST] != document:
        tally[word, _LAST] = document
        tally[word, _DOCUMENTS] += weight
    return n


@helper
def _write(tally, touched, n, min_count, min_df, begin, tail, total, documents):
    """Write the frequent among the words in ascending order, note their rows in the tally, and clear the others."""
    end = begin
    for i in range(n):
        word = touched[i]
        if tally[word, _COUNT] >= min_count and tally[word, _DOCUMENTS] >= min_df:
            tail[end] = word
            end += 1
        else:
            tally[word, _COUNT] = 0.0
            tally[word, _DOCUMENTS] = 0.0
    tail[begin:end].sort()
    for row in range(begin, end):
        word = tail[row]
        total[row] = tally[word, _COUNT]
        documents[row] = tally[word, _DOCUMENTS]
        tally[word, _LAST] = row
    return end


@helper
def _clear(tally, tail, begin, end):
    for row in range(begin, end):
        tally[tail[row], _COUNT] = 0.0
        tally[tail[row], _DOCUMENTS] = 0.0


@kernel(f"void({_CORPUS}, int64[::1], int32[::1], int32[::1])", reads=6)
def longer_heads(offsets, heads, codes, lag, starts, tails, out):
    """The number of the n-gram that begins at each token, or -1; head h has the tails from ``starts[h]``, ascending."""
    for d in range(offsets.shape[0] - 1):
        for t in range(offsets[d], offsets[d + 1]):
            out[t] = -1
            if heads[t] >= 0 and t + lag < offsets[d + 1] and codes[t + lag] >= 0:
                out[t] = _find(tails, starts[heads[t]], starts[heads[t] + 1], codes[t + lag])


@kernel(
    "Tuple((int32[::1], float64[::1]))"
    "(int64[::1], int32[::1], int32[::1], int64[::1], int32[::1], int32[::1], intp, int64[::1])",
    reads=7,
)
def ngram_rows(offsets, codes, root, starts, words, column, n_columns, indptr):
    """The column numbers and counts of a CSR matrix of n-grams, unsorted in a row; its row pointers go to `indptr`.

    The n-grams are the nodes of a prefix tree. ``root[w]`` is the node of word w, -1 without one. The edges of node i
    are ``starts[i]`` up to ``starts[i + 1]``, with their words ascending; edge e leads to node e + the number of nodes
    of single words. ``column[i]`` is the column of a node, -1 of one that is only a prefix.
    """
    n_roots = column.shape[0] - words.shape[0]
    place = np.full(n_columns, -1, dtype=np.int64)
    indices = np.empty(1024, dtype=np.int32)
    counts = np.empty(1024, dtype=np.float64)
    n = 0
    for d in range(offsets.shape[0] - 1):
        begin, end = n, offsets[d + 1]
        for t in range(offsets[d], end):
            node, u = (root[codes[t]] if codes[t] >= 0 else -1), t
            while node >= 0:
                j = column[node]
                if j >= 0:
                    if place[j] < begin:
                        if n == indices.shape[0]:
                            indices, counts = _grown(indices), _grown(counts)
                        place[j] = n
                        indices[n] = j
                        counts[n] = 0.0
                        n += 1
                    counts[place[j]] += 1.0
                u += 1
                if u == end or codes[u] < 0:
                    break
                edge = _find(words, starts[node], starts[node + 1], codes[u])
                node = edge + n_roots if edge >= 0 else -1
        indptr[d + 1] = n
    return indices[:n].copy(), counts[:n].copy()


@helper
def _grown(values):
    larger = np.empty(2 * values.shape[0], dtype=values.dtype)
    assign(larger, values)
    return larger


@helper
def _find(words, low, high, word):
    """The place of a word in an ascending part of a list, or -1."""
    end = high
    while low < high:
        middle = (low + high) // 2
        if words[middle] < word:
            low = middle + 1
        else:
            high = middle
    return low if low < end and words[low] == word else -1
