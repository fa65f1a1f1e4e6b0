"""Kernels to machine code through LLVM: the only layer that imports llvmlite, and that at the first
compile.
"""
