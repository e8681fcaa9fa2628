"""Lemmata decides whether a Lean 4 proof is real."""

from importlib.metadata import version

__version__ = version("lemmata")
