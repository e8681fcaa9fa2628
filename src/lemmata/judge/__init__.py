"""Challenge against solution: is this proof real?"""

from lemmata.judge.config import JudgeConfig, load_config, parse_config
from lemmata.judge.decide import TargetDecision
from lemmata.judge.finding import Finding
from lemmata.judge.judge import Judge, judge_files
from lemmata.judge.options import JudgeLimits, JudgeOptions
from lemmata.judge.report import Report, target_verdict
from lemmata.judge.verdict import Outcome, Reason, Verdict

__all__ = [
    "Finding",
    "Judge",
    "JudgeConfig",
    "JudgeLimits",
    "JudgeOptions",
    "Outcome",
    "Reason",
    "Report",
    "TargetDecision",
    "Verdict",
    "judge_files",
    "load_config",
    "parse_config",
    "target_verdict",
]
