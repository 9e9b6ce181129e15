"""What a statistic is when one group of cases is left out, for every group at once: thousands of cases in milliseconds.

Arrays are (wordings, cases), `groups` numbers the group of each case from 0 on, and results are (groups, wordings).
Each is the plain statistic of the cases that are left, up to rounding.
"""

import numpy as np

# Numbers at a time: a table of cases and groups may be large.
AT_A_TIME = 2**20


def mean_left_out(values: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Means."""
    count = int(groups.max()) + 1
    own = np.stack([np.bincount(groups, weights=row, minlength=count) for row in values], axis=1)
    left = len(groups) - np.bincount(groups, minlength=count)
    return (values.sum(axis=1) - own) / left[:, None]


def covariance_left_out(first: np.ndarray, second: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Covariances; means are taken off before products, so that nothing cancels."""
    first, second = (each - each.mean(axis=1, keepdims=True) for each in (first, second))
    means = mean_left_out(first, groups) * mean_left_out(second, groups)
    return mean_left_out(first * second, groups) - means


def spearman_left_out(answer: np.ndarray, gold: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Correlations of the ranks among the cases that are left."""
    count, at_a_time = int(groups.max()) + 1, max(1, AT_A_TIME // len(groups))
    found = np.empty((count, len(answer)))
    for start in range(0, count, at_a_time):
        inside = groups[:, None] == np.arange(start, min(start + at_a_time, count))
        previous, labels = None, np.empty(0)
        for wording, row in enumerate(answer):
            # All wordings have the same labels, as a rule.
            if previous is None or not np.array_equal(previous, gold[wording]):
                previous, labels = gold[wording], _ranks(gold[wording], inside)
            ranks = _ranks(row, inside)
            own = (ranks**2).sum(axis=0) * (labels**2).sum(axis=0)
            found[start : start + at_a_time, wording] = (ranks * labels).sum(axis=0) / np.sqrt(own)
    return found


def _ranks(values: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """Ranks less their mean where each group is left out, (cases, groups), equal values sharing theirs; 0 inside it."""
    order = np.argsort(values, kind="stable")
    in_order = values[order]
    below, up_to = (np.searchsorted(in_order, values, side=side) for side in ("left", "right"))
    gone = np.concatenate([np.zeros((1, inside.shape[1])), np.cumsum(inside[order], axis=0, dtype=float)])
    ranks = ((below + up_to + 1)[:, None] - gone[below] - gone[up_to]) / 2
    middle = (len(values) - gone[-1] + 1) / 2
    return np.where(inside, 0.0, ranks - middle)
