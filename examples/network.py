"""A two-layer network learns handwritten digits; its gradient is written out by hand."""

import numpy as np

import jitwise


@jitwise.jit
def step(weights, pictures, labels, rate):
    """One step of gradient descent on the cross entropy: new weights, and the loss."""
    w1, b1, w2, b2 = weights
    hidden = np.tanh(pictures @ w1 + b1)
    scores = hidden @ w2 + b2
    scores = scores - scores.max(axis=1, keepdims=True)
    powers = np.exp(scores)
    total = powers.sum(axis=1, keepdims=True)
    loss = (np.log(total[:, 0]) - (scores * labels).sum(axis=1)).mean()

    d_scores = (powers / total - labels) / len(pictures)
    d_hidden = (d_scores @ w2.T) * (1 - hidden**2)
    w1 = w1 - rate * (pictures.T @ d_hidden)
    b1 = b1 - rate * d_hidden.sum(axis=0)
    w2 = w2 - rate * (hidden.T @ d_scores)
    b2 = b2 - rate * d_scores.sum(axis=0)
    return (w1, b1, w2, b2), loss


def data(hidden=48, steps=40):
    from sklearn.datasets import load_digits

    digits = load_digits()
    random = np.random.default_rng(2)
    weights = (
        random.normal(0, 0.2, (64, hidden)),
        np.zeros(hidden),
        random.normal(0, 0.2, (hidden, 10)),
        np.zeros(10),
    )
    labels = (digits.target[:, None] == np.arange(10)).astype(float)
    return weights, digits.data / 16, labels, 0.5, steps


def run(weights, pictures, labels, rate, steps):
    losses = []
    for _ in range(steps):
        weights, loss = step(weights, pictures, labels, rate)
        losses.append(loss)
    return weights, np.array(losses)


if __name__ == "__main__":
    from jitwise.cli.demo import run_files

    run_files([__file__])
