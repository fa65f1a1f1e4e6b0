"""Calls of products, polynomials, statistics of several variables, `numpy.linalg`, `numpy.fft` and
of the methods of arrays: rows of `surface_table`.
"""

from __future__ import annotations

LINEAR = {
    "convolve": """np.convolve(v, u); np.convolve(v, w, 'same');
        np.convolve(v, [1, 2], mode='valid')""",
    "corrcoef": "np.corrcoef(x); np.corrcoef(v, w); np.corrcoef(x, y, rowvar=False)",
    "correlate": "np.correlate(v, u); np.correlate(v, w, 'full'); np.correlate(v, [1, 2], 'same')",
    "cov": """np.cov(x); np.cov(v); np.cov(v, w); np.cov(x, y, rowvar=False, bias=True);
        np.cov(x, ddof=0); np.cov(v, aweights=[1.0, 2.0, 3.0])""",
    "cross": """np.cross(x[:, :3], y[:, :3]); np.cross([1, 2, 3], u[:3]);
        np.cross(x[:3], y[:3], axis=0)""",
    "dot": "np.dot(v, w); np.dot(x, u); np.dot(x, y.T); np.dot(s, x); np.dot(x, 2)",
    "einsum": """np.einsum('ij,ij->i', x, y); np.einsum('ij,j', x, u); np.einsum('ii', s);
        np.einsum('ij->ji', x)""",
    "inner": "np.inner(v, w); np.inner(x, u); np.inner(x, y)",
    "kron": "np.kron(v, w); np.kron(x, s)",
    "matmul": "np.matmul(s, x); np.matmul(x, u); np.matmul(v, x); np.matmul(t, y.T)",
    "matvec": "np.matvec(x, u); np.matvec(t, u)",
    "outer": "np.outer(v, w); np.outer(x, v)",
    "tensordot": "np.tensordot(x, y); np.tensordot(x, y, axes=(1, 1)); np.tensordot(x, y, 0)",
    "trace": "np.trace(x); np.trace(t, 1, 1, 2); np.trace(s, dtype='f8')",
    "vdot": "np.vdot(v, w); np.vdot(x, y)",
    "vecdot": "np.vecdot(v, w); np.vecdot(x, u); np.vecdot(x, y, axis=0)",
    "vecmat": "np.vecmat(v, x); np.vecmat(v, t)",
    "poly": "np.poly(v); np.poly(s)",
    "polyadd": "np.polyadd(v, u); np.polyadd(v, [1, 2])",
    "polyder": "np.polyder(v); np.polyder(v, 2)",
    "polydiv": "np.polydiv(v, [1, 2]); np.polydiv(u, v)",
    "polyfit": "np.polyfit(o, w, 1); np.polyfit(o, x, 2); np.polyfit(o, w, 1, cov=True)",
    "polyint": "np.polyint(v); np.polyint(v, 2, [1, 2])",
    "polymul": "np.polymul(v, u); np.polymul(v, [1, 2])",
    "polysub": "np.polysub(v, u)",
    "polyval": "np.polyval(v, x); np.polyval([1, 2, 3], x); np.polyval(v, g)",
    "roots": "np.roots(v); np.roots([1, -3, 2])",
    "linalg.cholesky": "np.linalg.cholesky(s); np.linalg.cholesky(s, upper=True)",
    "linalg.cond": """np.linalg.cond(s); np.linalg.cond(x); np.linalg.cond(s, 1);
        np.linalg.cond(s, 'fro')""",
    "linalg.cross": "np.linalg.cross(x[:, :3], y[:, :3]); np.linalg.cross(u[:3], u[:3])",
    "linalg.det": "np.linalg.det(s); np.linalg.det(s[None])",
    "linalg.diagonal": "np.linalg.diagonal(x); np.linalg.diagonal(t, offset=1)",
    "linalg.eig": "np.linalg.eig(s); np.linalg.eig(sq)",
    "linalg.eigh": "np.linalg.eigh(s); np.linalg.eigh(s, UPLO='U')",
    "linalg.eigvals": "np.linalg.eigvals(s); np.linalg.eigvals(sq)",
    "linalg.eigvalsh": "np.linalg.eigvalsh(s)",
    "linalg.inv": "np.linalg.inv(s); np.linalg.inv(sq)",
    "linalg.lstsq": """np.linalg.lstsq(x, v); np.linalg.lstsq(x, y, rcond=0.01);
        np.linalg.lstsq(x.T, u)""",
    "linalg.matmul": "np.linalg.matmul(s, x); np.linalg.matmul(x, u)",
    "linalg.matrix_norm": """np.linalg.matrix_norm(x); np.linalg.matrix_norm(t, ord=1);
        np.linalg.matrix_norm(x, ord='nuc', keepdims=True)""",
    "linalg.matrix_power": """np.linalg.matrix_power(s, 3); np.linalg.matrix_power(s, -1);
        np.linalg.matrix_power(s, 0)""",
    "linalg.matrix_rank": """np.linalg.matrix_rank(x); np.linalg.matrix_rank(v);
        np.linalg.matrix_rank(s, tol=0.1); np.linalg.matrix_rank(s, hermitian=True)""",
    "linalg.matrix_transpose": "np.linalg.matrix_transpose(x)",
    "linalg.multi_dot": """np.linalg.multi_dot([s, x, u]); np.linalg.multi_dot([s, s, x]);
        np.linalg.multi_dot((s, v))""",
    "linalg.norm": """np.linalg.norm(v); np.linalg.norm(x); np.linalg.norm(x, axis=1);
        np.linalg.norm(v, 1); np.linalg.norm(v, np.inf); np.linalg.norm(v, -np.inf);
        np.linalg.norm(v, 0); np.linalg.norm(v, 3); np.linalg.norm(x, 2); np.linalg.norm(x, 'nuc');
        np.linalg.norm(x, 'fro', keepdims=True); np.linalg.norm(x, 1); np.linalg.norm(x, -2);
        np.linalg.norm(t, axis=(1, 2), ord=np.inf)""",
    "linalg.outer": "np.linalg.outer(v, w)",
    "linalg.pinv": """np.linalg.pinv(x); np.linalg.pinv(s, hermitian=True);
        np.linalg.pinv(x, rcond=0.1)""",
    "linalg.qr": """np.linalg.qr(x); np.linalg.qr(x, 'complete'); np.linalg.qr(x, mode='r');
        np.linalg.qr(x, 'raw')""",
    "linalg.slogdet": "np.linalg.slogdet(s)",
    "linalg.solve": "np.linalg.solve(s, v); np.linalg.solve(s, x); np.linalg.solve(s[None], x)",
    "linalg.svd": """np.linalg.svd(x); np.linalg.svd(x, full_matrices=False);
        np.linalg.svd(x, compute_uv=False); np.linalg.svd(s, hermitian=True)""",
    "linalg.svdvals": "np.linalg.svdvals(x)",
    "linalg.tensordot": "np.linalg.tensordot(x, y); np.linalg.tensordot(x, y, axes=(1, 1))",
    "linalg.tensorinv": """np.linalg.tensorinv(s[:, :, None], ind=1);
        np.linalg.tensorinv(s[None, :, :], ind=2)""",
    "linalg.tensorsolve": "np.linalg.tensorsolve(s, v); np.linalg.tensorsolve(s[:, :, None], v)",
    "linalg.trace": "np.linalg.trace(x); np.linalg.trace(t, offset=1)",
    "linalg.vecdot": "np.linalg.vecdot(x, y); np.linalg.vecdot(x, y, axis=0)",
    "linalg.vector_norm": """np.linalg.vector_norm(v); np.linalg.vector_norm(x);
        np.linalg.vector_norm(x, axis=0, ord=1);
        np.linalg.vector_norm(t, axis=(0, 1), keepdims=True)""",
    "fft.fftfreq": "np.fft.fftfreq(5); np.fft.fftfreq(k, 0.5); np.fft.fftfreq(v.shape[0])",
    "fft.rfftfreq": "np.fft.rfftfreq(5); np.fft.rfftfreq(k, d=2.0); np.fft.rfftfreq(v.shape[0])",
    "fft.fftshift": "np.fft.fftshift(v); np.fft.fftshift(x, axes=1)",
    "fft.ifftshift": "np.fft.ifftshift(x); np.fft.ifftshift(x, 0)",
}
for _name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
    LINEAR[f"fft.{_name}"] = (
        f"np.fft.{_name}(v); np.fft.{_name}(x, axis=0); np.fft.{_name}(x, n=4);"
        f" np.fft.{_name}(v, 6, norm='ortho')"
    )
for _name in ("fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn"):
    LINEAR[f"fft.{_name}"] = (
        f"np.fft.{_name}(x); np.fft.{_name}(t, axes=(0, 1));"
        f" np.fft.{_name}(x, s=(4, 4), axes=(0, 1)); np.fft.{_name}(x, norm='forward')"
    )

METHODS = {
    "T": "x.T; t.T; v.T",
    "mT": "x.mT; t.mT",
    "all": "x.all(); x.all(axis=0)",
    "any": "x.any(); x.any(axis=1, keepdims=True)",
    "argmax": "x.argmax(); x.argmax(0)",
    "argmin": "x.argmin(); v.argmin()",
    "argpartition": "v.argpartition(0)",
    "argsort": "x.argsort(); x.argsort(axis=0)",
    "astype": "x.astype('f4'); x.astype(np.int64); z.astype(complex)",
    "byteswap": "v.byteswap()",
    "choose": "i.choose([x, y, 1])",
    "clip": "x.clip(0, 1); x.clip(min=0)",
    "compress": "x.compress([True, False], axis=0)",
    "conj": "x.conj()",
    "conjugate": "x.conjugate(); z.conjugate()",
    "copy": "x.copy(); z.copy()",
    "cumprod": "x.cumprod(); x.cumprod(1)",
    "cumsum": "x.cumsum(); x.cumsum(axis=0)",
    "diagonal": "x.diagonal(); x.diagonal(1)",
    "dot": "x.dot(u); v.dot(w)",
    "fill": "x.fill(1); v.fill(g)",
    "flatten": "x.flatten(); x.flatten('F')",
    "imag": "x.imag; z.imag",
    "item": "z.item(); v.item(0)",
    "itemsize": "x.itemsize",
    "max": "x.max(); x.max(axis=1)",
    "mean": "x.mean(); x.mean(0)",
    "min": "x.min(); x.min(axis=0, keepdims=True)",
    "nbytes": "x.nbytes",
    "ndim": "x.ndim",
    "nonzero": "x.nonzero()",
    "partition": "v.partition(0); x.partition(0, axis=0)",
    "prod": "x.prod(); x.prod(axis=1)",
    "put": "x.put([0, 1], [1, 2]); v.put(j, w)",
    "ravel": "x.ravel(); x.ravel('F')",
    "real": "x.real; z.real",
    "repeat": "x.repeat(2); x.repeat(2, axis=0)",
    "reshape": "x.reshape(-1); x.reshape(x.shape[1], x.shape[0]); x.reshape((1, -1), order='F')",
    "resize": "x.resize((2, 2), refcheck=False)",
    "round": "x.round(); x.round(1)",
    "searchsorted": "o.searchsorted(v); o.searchsorted(g, 'right')",
    "shape": "x.shape",
    "size": "x.size",
    "sort": "x.sort(); x.sort(axis=0)",
    "squeeze": "x[None].squeeze(); x[None].squeeze(0)",
    "std": "x.std(); x.std(axis=0, ddof=1)",
    "sum": "x.sum(); x.sum(axis=1, keepdims=True)",
    "swapaxes": "x.swapaxes(0, 1)",
    "take": "v.take(j); x.take([0, 1], axis=1)",
    "tolist": "v.tolist()",
    "trace": "x.trace(); x.trace(1)",
    "transpose": "t.transpose(); t.transpose(1, 0, 2); t.transpose((2, 0, 1))",
    "var": "x.var(); x.var(axis=0)",
}
