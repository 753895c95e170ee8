"""Training of programs: examples and the metric for DSPy's optimizers, and fits of finpath's own models.

>>> train = optimize.turn_examples(load_conversations("sample:train").conversations, program)
>>> compiled = dspy.MIPROv2(metric=optimize.metric).compile(program, trainset=train)
"""

from typing import TYPE_CHECKING

from kg.lazy import lazy_exports

if TYPE_CHECKING:
    from optimize.examples import turn_examples
    from optimize.metrics import metric
else:
    __getattr__ = lazy_exports(__name__, __file__)
