"""Confining a process: layers that are applied where the machine has them, and reported."""

from lemmata.lean.sandbox.confine import SupervisedLaunch, confine, supervise
from lemmata.lean.sandbox.policy import LAYERS, LayerState, LayerStatus, Policy, Requirement
from lemmata.lean.sandbox.probe import probe
from lemmata.lean.sandbox.report import StartReport
from lemmata.lean.sandbox.scratch import open_in_scratch

__all__ = [
    "LAYERS",
    "LayerState",
    "LayerStatus",
    "Policy",
    "Requirement",
    "StartReport",
    "SupervisedLaunch",
    "confine",
    "open_in_scratch",
    "probe",
    "supervise",
]
