"""Machine and strategy models: what to compile, from measured costs (not built yet; see
ROADMAP.md).
"""
