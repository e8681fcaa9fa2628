"""The official Lean 4.35.0 kernel as a process of its own, beside the toolchain's.

`base.build_base` checks a library once and saves it; ``python -m lemmata.lean.native BASE`` answers
``hello`` and ``replay`` over it. Within: `ffi` (the C library and its objects), `terms` and
`declarations` (an export as Lean objects), `kernel` (the environment), `replay`, `child` (one
request in one forked process), `server`.
"""
