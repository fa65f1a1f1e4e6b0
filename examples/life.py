"""The game of life: the cells of a board that are alive after some generations, in place."""

import numpy as np

import jitwise


@jitwise.jit
def advance(board):
    """One generation. The border is dead and stays so."""
    alive = board[1:-1, 1:-1]
    around = (
        board[:-2, :-2]
        + board[:-2, 1:-1]
        + board[:-2, 2:]
        + board[1:-1, :-2]
        + board[1:-1, 2:]
        + board[2:, :-2]
        + board[2:, 1:-1]
        + board[2:, 2:]
    )
    board[1:-1, 1:-1] = (around == 3) | ((around == 2) & (alive == 1))


def data(size=1000, generations=40):
    board = np.zeros((size, size), np.uint8)
    board[1:-1, 1:-1] = np.random.default_rng(7).random((size - 2, size - 2)) < 0.3
    return board, generations


def run(board, generations):
    board = board.copy()
    for _ in range(generations):
        advance(board)
    return board, board.sum()


if __name__ == "__main__":
    from jitwise.cli.demo import run_files

    run_files([__file__])
