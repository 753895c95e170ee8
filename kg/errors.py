"""Every exception that finpath raises on purpose, in one tree.

    FinpathError
    ├── DataError            a file, report or conversation that breaks a rule of its format
    ├── ProgramError         a derivation that cannot be parsed or executed
    │   └── UndefinedResult  its arithmetic has no result (division by zero)
    ├── OntologyError        an ontology that cannot be built, read or used
    │   ├── FrozenError      a write to something frozen
    ├── QueryError           a tool or store was asked for a name that does not exist
    ├── SchemaError          a type, node or edge that breaks the rules of a growing graph's schema
    ├── ConfigError          a setting out of its range (also a ``ValueError``)
    ├── LMError              the language model cannot be reached or returned nothing usable
    └── TrackingError        a run or program that the tracking store does not know

A message names the file, the place and the rule, for instance
``dev.json: report 'Single_A/2009/page_3.pdf-1': table row 4 has 3 cells, the header has 4``.
"""

from __future__ import annotations


class FinpathError(Exception):
    """Base of all errors that finpath raises on purpose; the command line prints these without a traceback."""


class DataError(FinpathError):
    """Input that breaks a rule of its format.

    Args:
        rule: What is wrong, with the value that was found.
        file: The file it was found in, if any.
        place: Where in the file: a report's id, a row, a line.
    """

    def __init__(self, rule: str, *, file: str | None = None, place: str | None = None) -> None:
        self.rule = rule
        self.file = file
        self.place = place
        super().__init__(": ".join(part for part in (file, place, rule) if part))


class ProgramError(FinpathError):
    """A derivation, written in ConvFinQA's program language, that cannot be parsed or executed."""


class UndefinedResult(ProgramError):  # noqa: N818 - a result without a value, not a fault of the program
    """A derivation whose arithmetic has no result, such as a division by zero."""


class OntologyError(FinpathError):
    """An ontology that cannot be built, read or used."""


class FrozenError(OntologyError):
    """A write to an ontology or report graph that is frozen."""


class QueryError(FinpathError):
    """A query for a name that is not in the graph; the message offers the nearest names that are."""


class SchemaError(FinpathError):
    """A type, node or edge that breaks the rules of a growing graph's schema; the message says which rule."""


class ConfigError(FinpathError, ValueError):
    """A setting out of its range: the message names the parameter, the rule and the value."""


class LMError(FinpathError):
    """A language model that cannot be reached, or that returned nothing usable."""


class TrackingError(FinpathError):
    """A run, model or saved program that cannot be found or read."""
