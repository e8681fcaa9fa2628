"""The process between the judge and a program it starts: supervision and confinement.

Runs as ``python -I -S ../_exec.py SPEC -- ARGV...`` and imports only the standard library, so
that it starts in milliseconds and under any Python that can run the package.
"""
