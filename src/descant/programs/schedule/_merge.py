"""Fewer heads: those that agree in two of their three factors become one, by adding the third."""

import numpy as np

from ._steps import Head, Reading, Write


def merged(heads: list[Head]) -> tuple[Head, ...]:
    """Merge until nothing fits."""
    found: list[Head] = []
    for head in heads:
        place = len(found)
        index = 0
        while index < len(found):
            one = _together(found[index], head)
            if one is None:
                index += 1
                continue
            # It stands where the first of its parts stood, and may fit to others now that it is larger.
            del found[index]
            head, place, index = one, min(place, index), 0
        found.insert(place, head)
    return tuple(found)


def _together(first: Head, second: Head) -> Head | None:
    """One head for two, if two of their factors agree but for a number."""
    query = _ratio(first.query, second.query)
    key = _ratio(first.key, second.key)
    if query is not None and key is not None:
        return Head(first.query, first.key, _added(first.values, second.values, query * key))
    if query is None and key is None:
        return None
    value = _values_ratio(first.values, second.values)
    if value is None:
        return None
    if query is not None and first.key.shape == second.key.shape:
        return Head(first.query, first.key + second.key.times(query * value), first.values)
    if key is not None and first.query.shape == second.query.shape:
        return Head(first.query + second.query.times(key * value), first.key, first.values)
    return None


def _added(first: tuple[Write, ...], second: tuple[Write, ...], factor: float) -> tuple[Write, ...]:
    found = {write.place: write.reading for write in first}
    for write in second:
        reading = write.reading.times(factor)
        found[write.place] = found[write.place] + reading if write.place in found else reading
    return tuple(Write(place, reading) for place, reading in found.items())


def _ratio(first: Reading, second: Reading) -> float | None:
    """c if the second reading is exactly c times the first."""
    if first.shape != second.shape or [p for p, _ in first.terms] != [p for p, _ in second.terms]:
        return None
    if (first.constant is None) != (second.constant is None):
        return None
    arrays = [(a, b) for (_, a), (_, b) in zip(first.terms, second.terms, strict=True)]
    if first.constant is not None and second.constant is not None:
        arrays.append((first.constant, second.constant))
    return _array_ratio(arrays)


def _values_ratio(first: tuple[Write, ...], second: tuple[Write, ...]) -> float | None:
    if [write.place for write in first] != [write.place for write in second]:
        return None
    ratios = {_ratio(a.reading, b.reading) for a, b in zip(first, second, strict=True)}
    return ratios.pop() if len(ratios) == 1 else None


def _array_ratio(pairs: list[tuple[np.ndarray, np.ndarray]]) -> float | None:
    for first, second in pairs:
        if first.any():
            largest = np.unravel_index(np.argmax(np.abs(first)), first.shape)
            ratio = float(second[largest] / first[largest])
            fits = ratio != 0 and all(np.array_equal(b, ratio * a) for a, b in pairs)
            return ratio if fits else None
    return None
