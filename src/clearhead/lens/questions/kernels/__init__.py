"""Triton kernels of the lens. On CUDA compiled, elsewhere interpreted; only where Triton is.

tiles.py      what every kernel does with a tile: whose it is, loading, masking, exponents
lse.py        each row's denominator
summaries.py  every statistic at once
scatter.py    sums over columns with few exchanges between threads
strongest.py  the strongest keys of every query
"""
