"""A block of a transformer: layer norm, attention with eight heads, two dense layers."""

import numpy as np

import jitwise


def softmax(scores):
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def layer_norm(x, scale, shift):
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = (centred**2).mean(axis=-1, keepdims=True)
    return centred / np.sqrt(variance + 1e-5) * scale + shift


def gelu(x):
    return 0.5 * x * (1 + np.tanh(0.7978845608 * (x + 0.044715 * x**3)))


def heads_of(x, heads):
    """(words, features) to (heads, words, features of a head)."""
    words, features = x.shape
    return x.reshape(words, heads, features // heads).transpose(1, 0, 2)


@jitwise.jit
def block(x, weights, heads):
    words, features = x.shape
    normal = layer_norm(x, weights["scale 1"], weights["shift 1"])
    queries = heads_of(normal @ weights["queries"], heads)
    keys = heads_of(normal @ weights["keys"], heads)
    values = heads_of(normal @ weights["values"], heads)
    scores = queries @ keys.transpose(0, 2, 1) / np.sqrt(features / heads)
    mixed = (softmax(scores) @ values).transpose(1, 0, 2).reshape(words, features)
    x = x + mixed @ weights["mix"]
    normal = layer_norm(x, weights["scale 2"], weights["shift 2"])
    return x + gelu(normal @ weights["wide"]) @ weights["narrow"]


def data(words=256, features=256, heads=8):
    random = np.random.default_rng(4)

    def matrix(rows, columns):
        return (random.normal(0, 1, (rows, columns)) / np.sqrt(rows)).astype(np.float32)

    weights = {name: matrix(features, features) for name in ("queries", "keys", "values", "mix")}
    weights["wide"], weights["narrow"] = matrix(features, 1024), matrix(1024, features)
    for name in ("scale 1", "scale 2"):
        weights[name] = np.ones(features, np.float32)
    for name in ("shift 1", "shift 2"):
        weights[name] = np.zeros(features, np.float32)
    return random.normal(0, 1, (words, features)).astype(np.float32), weights, heads


def run(x, weights, heads):
    return block(x, weights, heads)


if __name__ == "__main__":
    from jitwise.cli.demo import run_files

    run_files([__file__])
