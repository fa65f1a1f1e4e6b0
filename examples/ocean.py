"""The density of sea water: a polynomial of 84 terms in salinity, temperature and depth.

The polynomial has the shape of the ones in use in oceanography, not their coefficients.
"""

import numpy as np

import jitwise

DEGREE = 6
COEFFICIENTS = {
    (i, j, k): (1000.0 if i + j + k == 0 else 30.0)
    * np.cos(i + 2 * j + 3 * k).item()
    / 2 ** (i + j + k)
    for i in range(DEGREE + 1)
    for j in range(DEGREE + 1 - i)
    for k in range(DEGREE + 1 - i - j)
}


@jitwise.jit
def density(salinity, temperature, depth):
    """Horner's rule in each variable, the loops over the terms written in Python."""
    s = np.sqrt((salinity + 24.0) / 64.0)
    t = temperature / 40.0
    p = depth / 10_000.0
    in_p = 0.0
    for k in reversed(range(DEGREE + 1)):
        in_t = 0.0
        for j in reversed(range(DEGREE + 1 - k)):
            in_s = 0.0
            for i in reversed(range(DEGREE + 1 - j - k)):
                in_s = in_s * s + COEFFICIENTS[i, j, k]
            in_t = in_t * t + in_s
        in_p = in_p * p + in_t
    return in_p


def data(longitudes=360, latitudes=170, depths=20):
    random = np.random.default_rng(5)
    shape = (depths, latitudes, longitudes)
    depth = np.broadcast_to(np.linspace(0, 5_000, depths)[:, None, None], shape)
    salinity = random.uniform(33, 37, shape)
    temperature = random.uniform(-1, 28, shape) * np.exp(-depth / 1_000)
    return salinity, temperature, depth


def run(salinity, temperature, depth):
    return density(salinity, temperature, depth)


if __name__ == "__main__":
    from jitwise.cli.demo import run_files

    run_files([__file__])
