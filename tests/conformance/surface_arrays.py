"""Calls of NumPy's functions that make, move, join, sort and search arrays: rows of
`surface_table`.
"""

from __future__ import annotations

ARRAYS = {
    # Making arrays
    "arange": "np.arange(k); np.arange(0, k, 2); np.arange(v.shape[0]); np.arange(1.0, 3.0, 0.5)",
    "array": "np.array(x); np.array([x, y]); np.array([z, g, 1]); np.array(x, dtype='f4', ndmin=3)",
    "asanyarray": "np.asanyarray(x); np.asanyarray([v, w])",
    "asarray": "np.asarray(x); np.asarray([[g, 1]]); np.asarray(x, dtype='c16')",
    "asarray_chkfinite": "np.asarray_chkfinite(x); np.asarray_chkfinite(v, dtype='f4')",
    "ascontiguousarray": "np.ascontiguousarray(x); np.ascontiguousarray(z)",
    "asfortranarray": "np.asfortranarray(x) + 1; np.asfortranarray(v)",
    "astype": "np.astype(x, np.float32); np.astype(x, np.dtype('i8'))",
    "copy": "np.copy(x); np.copy(z)",
    "diag": "np.diag(v); np.diag(x); np.diag(x, 1); np.diag(v, k)",
    "diagflat": "np.diagflat(v); np.diagflat(x, 1)",
    "diag_indices": "np.diag_indices(3); np.diag_indices(k, 3); np.diag_indices(v.shape[0])",
    "diag_indices_from": "np.diag_indices_from(s)",
    "empty": "np.empty(v.shape).shape",
    "empty_like": "np.empty_like(x).shape",
    "eye": "np.eye(3); np.eye(k, 4, 1); np.eye(v.shape[0])",
    "frombuffer": "",
    "fromfunction": """np.fromfunction(lambda a, b: a + b, (3, 2));
        np.fromfunction(lambda a: a * v, v.shape)""",
    "full": """np.full((2, 3), g); np.full(x.shape, 1.5); np.full(v.shape[0], f);
        np.full((2,), v[:1])""",
    "full_like": "np.full_like(x, 2); np.full_like(x, g); np.full_like(v, 1, dtype='f4')",
    "geomspace": "np.geomspace(1, 8, 4); np.geomspace(1.0, f + 2, 5)",
    "identity": "np.identity(3); np.identity(k, 'f4')",
    "indices": "np.indices((2, 3)); np.indices(x.shape); np.indices((2, k), sparse=True)",
    "ix_": "np.ix_(j, [0, 1]); x[np.ix_([0], [1, 0])]; np.ix_(mask[0], j)",
    "linspace": """np.linspace(0, 1, 5); np.linspace(z, 2, 4); np.linspace(v, w, 3);
        np.linspace(0, f, k, endpoint=False, retstep=True)""",
    "logspace": "np.logspace(0, 1, 4); np.logspace(0, f, 3, base=2)",
    "mask_indices": "np.mask_indices(3, np.triu); np.mask_indices(3, np.tril, 1)",
    "meshgrid": """np.meshgrid(v, u); np.meshgrid(v, u, indexing='ij', sparse=True);
        np.meshgrid(v, v, copy=False)""",
    "ones": "np.ones((2, k)); np.ones(x.shape, 'i4')",
    "ones_like": "np.ones_like(x); np.ones_like(x, dtype=bool, shape=(2,))",
    "tri": "np.tri(3); np.tri(k, 4, 1, dtype='i4'); np.tri(v.shape[0])",
    "tril": "np.tril(x); np.tril(t, -1); np.tril(s, k)",
    "triu": "np.triu(x); np.triu(t, 1)",
    "tril_indices": "np.tril_indices(3); np.tril_indices(3, k, 4)",
    "triu_indices": "np.triu_indices(3); np.triu_indices(4, -1, 2)",
    "tril_indices_from": "np.tril_indices_from(s); np.tril_indices_from(x, k=1)",
    "triu_indices_from": "np.triu_indices_from(s)",
    "vander": "np.vander(v); np.vander(v, 3, increasing=True)",
    "zeros": "np.zeros(x.shape); np.zeros((k, 2), dtype=x.dtype)",
    "zeros_like": "np.zeros_like(x); np.zeros_like(v, dtype='c8')",
    "bartlett": "np.bartlett(5); np.bartlett(k); np.bartlett(v.shape[0])",
    "blackman": "np.blackman(5); np.blackman(k); np.blackman(v.shape[0])",
    "hamming": "np.hamming(5); np.hamming(k); np.hamming(v.shape[0])",
    "hanning": "np.hanning(5); np.hanning(k); np.hanning(v.shape[0])",
    "kaiser": "np.kaiser(5, 14.0); np.kaiser(k, f); np.kaiser(v.shape[0], 2)",
    # Facts
    "broadcast_shapes": """np.broadcast_shapes(x.shape, u.shape);
        np.broadcast_shapes((1, 2), (k, 1))""",
    "can_cast": "np.can_cast(x.dtype, 'f8')",
    "ndim": "np.ndim(x); np.ndim(z)",
    "result_type": "np.result_type(x, 1.0); np.result_type(x, u)",
    "shape": "np.shape(x); np.shape([v, w])",
    "size": "np.size(x); np.size(x, 0); np.size(x, axis=1)",
    # Moving
    "append": "np.append(x, y); np.append(x, y, axis=0); np.append(v, 1)",
    "array_split": "np.array_split(v, 2); np.array_split(x, [1], axis=1); np.array_split(x, k, 0)",
    "atleast_1d": "np.atleast_1d(z); np.atleast_1d(x, g)",
    "atleast_2d": "np.atleast_2d(v); np.atleast_2d(z, x)",
    "atleast_3d": "np.atleast_3d(v); np.atleast_3d(x)",
    "block": "np.block([[x, y], [y, x]]); np.block([v, w])",
    "broadcast_arrays": "np.broadcast_arrays(x, u); np.broadcast_arrays(v, g)",
    "broadcast_to": "np.broadcast_to(u, x.shape); np.broadcast_to(z, (2, 3))",
    "column_stack": "np.column_stack([v, w]); np.column_stack((x, v))",
    "concat": "np.concat([x, y]); np.concat([v, w])",
    "concatenate": """np.concatenate([x, y], axis=1); np.concatenate((v, w, v));
        np.concatenate([x, y], axis=None); np.concatenate([x, mask]);
        np.concatenate([x, y], dtype='c16')""",
    "diagonal": "np.diagonal(x); np.diagonal(t, 1, 1, 2); np.diagonal(s, -1)",
    "dsplit": "np.dsplit(t, 2); np.dsplit(t, [1])",
    "dstack": "np.dstack([x, y]); np.dstack((v, w))",
    "expand_dims": "np.expand_dims(x, 0); np.expand_dims(v, (0, 2))",
    "flip": "np.flip(x); np.flip(x, 0); np.flip(t, (0, 2))",
    "fliplr": "np.fliplr(x)",
    "flipud": "np.flipud(x); np.flipud(v)",
    "hsplit": "np.hsplit(x, 2); np.hsplit(v, [1])",
    "hstack": "np.hstack([x, y]); np.hstack((v, w))",
    "matrix_transpose": "np.matrix_transpose(x); np.matrix_transpose(t)",
    "moveaxis": "np.moveaxis(t, 0, -1); np.moveaxis(t, (0, 1), (2, 0))",
    "pad": """np.pad(x, 1); np.pad(v, (1, 2), constant_values=3);
        np.pad(x, ((0, 1), (2, 0)), 'edge'); np.pad(v, 1, 'reflect'); np.pad(v, 1, 'wrap');
        np.pad(v, 2, 'symmetric'); np.pad(v, 1, 'mean'); np.pad(v, 1, 'linear_ramp');
        np.pad(x, 1, 'maximum')""",
    "permute_dims": "np.permute_dims(t, (1, 2, 0)); np.permute_dims(x)",
    "ravel": "np.ravel(x); np.ravel(x, order='F'); np.ravel(x, order='K')",
    "repeat": "np.repeat(v, 2); np.repeat(x, k, axis=1); np.repeat(x, 3); np.repeat(v, j)",
    "reshape": "np.reshape(x, -1); np.reshape(x, (-1, 1)); np.reshape(x, x.shape[::-1], order='F')",
    "resize": "np.resize(x, (2, 3)); np.resize(v, 7)",
    "roll": "np.roll(x, 1); np.roll(x, k, axis=1); np.roll(x, (1, -1), (0, 1)); np.roll(v, -2)",
    "rollaxis": "np.rollaxis(t, 2); np.rollaxis(t, 0, 3)",
    "rot90": "np.rot90(x); np.rot90(x, 2); np.rot90(t, -1, (1, 2))",
    "row_stack": "np.row_stack([v, w])",
    "split": "np.split(v, [1, 2]); np.split(x, 2, axis=1); np.split(x, [1])",
    "squeeze": "np.squeeze(x[:1]); np.squeeze(x[None], 0); np.squeeze(x[:, :1], axis=1)",
    "stack": """np.stack([x, y]); np.stack((v, w), axis=1);
        np.stack([x, y], -1, dtype='f8', casting='unsafe')""",
    "swapaxes": "np.swapaxes(x, 0, 1); np.swapaxes(t, 0, -1)",
    "tile": "np.tile(v, 2); np.tile(x, (2, 1)); np.tile(x, (2, 1, k))",
    "transpose": "np.transpose(x); np.transpose(t, (2, 0, 1))",
    "unstack": "np.unstack(x); np.unstack(x, axis=1)",
    "vsplit": "np.vsplit(x, [1]); np.vsplit(t, 2)",
    "vstack": "np.vstack([x, y]); np.vstack((v, w))",
    # Taking and putting
    "copyto": "np.copyto(x, y); np.copyto(x, u); np.copyto(x, 1, where=mask)",
    "fill_diagonal": """np.fill_diagonal(x, 1); np.fill_diagonal(s, v);
        np.fill_diagonal(x, g, wrap=True)""",
    "place": "np.place(x, mask, [1, 2]); np.place(v, v > 0, g)",
    "put": "np.put(x, [0, 1], [1, 2]); np.put(v, j, w); np.put(x, [7, -9], 1, mode='clip')",
    "put_along_axis": "np.put_along_axis(x, i[:, :1], 1, axis=1); np.put_along_axis(v, j, w, 0)",
    "putmask": "np.putmask(x, mask, y); np.putmask(x, x > 1, [1, 2])",
    "take": """np.take(v, j); np.take(x, [0, 1], axis=1); np.take(x, 0, 0); np.take(x, i);
        np.take(v, [5, -7], mode='wrap'); np.take(v, [5, -7], mode='clip')""",
    "take_along_axis": "np.take_along_axis(x, i[:, :1], axis=1); np.take_along_axis(v, j, None)",
    "ravel_multi_index": """np.ravel_multi_index((j, j), (9, 9));
        np.ravel_multi_index((j, j), (2, 3), mode='wrap')""",
    "unravel_index": """np.unravel_index(j, (3, 4)); np.unravel_index(i, (2, 3), order='F');
        np.unravel_index(2, x.shape)""",
    # Sizes that depend on values
    "argwhere": "np.argwhere(x); np.argwhere(mask)",
    "bincount": "np.bincount(j); np.bincount(j, weights=w); np.bincount(j, minlength=6)",
    "compress": "np.compress([True, False], x, axis=0); np.compress(mask[0], x, axis=1)",
    "delete": """np.delete(v, 1); np.delete(x, [0, 2], axis=1); np.delete(x, slice(0, 2), 0);
        np.delete(v, j)""",
    "extract": "np.extract(mask, x); np.extract(v > 0, v)",
    "flatnonzero": "np.flatnonzero(x)",
    "histogram": """np.histogram(v); np.histogram(x, 4, range=(-1, 2));
        np.histogram(v, [0, 1, 2], density=True)""",
    "histogram2d": "np.histogram2d(v, w); np.histogram2d(v, w, 3, range=[[0, 1], [0, 2]])",
    "histogramdd": "np.histogramdd(x[:, :2], 3); np.histogramdd(x[:, :2], bins=(2, 3), weights=w)",
    "histogram_bin_edges": """np.histogram_bin_edges(v); np.histogram_bin_edges(v, 4, (0, 1));
        np.histogram_bin_edges(v, 'auto')""",
    "insert": "np.insert(v, 1, 9); np.insert(x, 1, u, axis=0); np.insert(v, [0, 2], [1, 2])",
    "intersect1d": "np.intersect1d(v, w); np.intersect1d(v, w, return_indices=True)",
    "nonzero": "np.nonzero(x); np.nonzero(mask)",
    "setdiff1d": "np.setdiff1d(v, w)",
    "setxor1d": "np.setxor1d(v, w)",
    "trim_zeros": "np.trim_zeros(v); np.trim_zeros(v, 'f')",
    "union1d": "np.union1d(v, w)",
    "unique": """np.unique(x); np.unique(v, return_inverse=True, return_counts=True);
        np.unique(x, axis=0)""",
    "unique_all": "np.unique_all(x)",
    "unique_counts": "np.unique_counts(v)",
    "unique_inverse": "np.unique_inverse(x)",
    "unique_values": "np.unique_values(x)",
    # Sorting and searching
    "argpartition": """np.argpartition(v, 0); np.argpartition(x, 0, axis=0);
        np.argpartition(x, 1, axis=None)""",
    "argsort": "np.argsort(x); np.argsort(x, axis=0, kind='stable'); np.argsort(v, stable=True)",
    "digitize": "np.digitize(x, o); np.digitize(v, [0, 1, 2], right=True)",
    "isin": """np.isin(x, v); np.isin(v, [1, 2], invert=True);
        np.isin(x, v, assume_unique=False, kind='sort')""",
    "lexsort": "np.lexsort((v, w)); np.lexsort(x); np.lexsort(x, axis=0)",
    "partition": "np.partition(v, 0); np.partition(x, (0, 1), axis=0)",
    "searchsorted": """np.searchsorted(o, x); np.searchsorted(o, g);
        np.searchsorted(o, v, side='right'); np.searchsorted(o, 1);
        np.searchsorted(w, v, sorter=np.argsort(w))""",
    "sort": "np.sort(x); np.sort(x, axis=0); np.sort(x, axis=None); np.sort(v, kind='stable')",
    "sort_complex": "np.sort_complex(v); np.sort_complex(x)",
    # By Python functions
    "apply_along_axis": """np.apply_along_axis(np.sum, 0, x);
        np.apply_along_axis(lambda r: r[::-1] * 2, 1, x)""",
    "apply_over_axes": "np.apply_over_axes(np.sum, t, [0, 2]); np.apply_over_axes(np.max, x, 1)",
    "vectorize": "np.vectorize(lambda e: e + 1)(v); np.vectorize(lambda a, b: a * b)(x, u)",
    # Bits
    "packbits": "np.packbits(x); np.packbits(mask, axis=1); np.packbits(mask, bitorder='little')",
    "unpackbits": "np.unpackbits(x); np.unpackbits(np.packbits(mask, axis=1), axis=1, count=4)",
}
ARRAYS = {name: calls for name, calls in ARRAYS.items() if calls}
