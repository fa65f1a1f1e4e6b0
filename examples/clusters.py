"""K-means until nothing changes: points of the plane in clusters, by ordinary loops.

How often the centres move is known only when they no longer do.
"""

import numpy as np

import jitwise


@jitwise.jit
def cluster(points, centres, most):
    """The cluster of each point, the centres, and how often they moved."""
    nearest = np.zeros(len(points), dtype=np.int64)
    for turn in range(most):
        changed = 0
        for i in range(len(points)):
            best, least = 0, np.inf
            for k in range(len(centres)):
                x = points[i, 0] - centres[k, 0]
                y = points[i, 1] - centres[k, 1]
                distance = x * x + y * y
                if distance < least:
                    best, least = k, distance
            if best != nearest[i]:
                nearest[i] = best
                changed += 1
        if changed == 0:
            return nearest, centres, turn
        total = np.zeros_like(centres)
        count = np.zeros(len(centres))
        for i in range(len(points)):
            total[nearest[i]] += points[i]
            count[nearest[i]] += 1.0
        centres = total / np.maximum(count, 1.0)[:, None]
    return nearest, centres, most


def data(count=1000, clusters=5):
    random = np.random.default_rng(3)
    middles = random.uniform(-5.0, 5.0, (clusters, 2))
    points = middles[random.integers(0, clusters, count)] + random.normal(0.0, 0.8, (count, 2))
    return points, points[:clusters].copy(), 100


def run(points, centres, most):
    return cluster(points, centres, most)


if __name__ == "__main__":
    from jitwise.cli.demo import run_files

    run_files([__file__])
