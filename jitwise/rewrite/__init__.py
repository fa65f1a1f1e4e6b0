"""Rewrite rules: patterns made by calling primitives on holes, and what each rule preserves."""
