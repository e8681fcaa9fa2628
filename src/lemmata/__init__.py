"""Lemmata decides whether a Lean 4 proof is real."""

__version__ = "0.1.0"
