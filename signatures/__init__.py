"""The prompts of finpath: typed signatures, one module a family; they hold no logic.

from signatures import Aggregate, Answer, UnderstandReport        # those of a question about a report
"""

from signatures.aggregate import Aggregate
from signatures.answer import Answer
from signatures.understand import Understand, UnderstandReport
