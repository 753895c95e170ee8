"""Settings of a saved program for questions about graphs."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from experiments.saved.programs import SavedProgram
from kg.errors import ConfigError
from programs.graphs import KGQA, Aggregation, LMRelationScorer


def with_graph_settings(
    saved: SavedProgram,
    aggregation: Aggregation | None = None,
    changes: Mapping[str, int] | None = None,
    *,
    by_lm: bool = False,
) -> SavedProgram:
    """Returns a saved program with changed settings.

    Args:
        saved: The program.
        aggregation: The way to select answers, in place of the saved one.
        changes: Settings of the beam, in place of the saved ones.
        by_lm: Whether a language model rates the relations; the program's own scorer then selects the ones it sees.

    Raises:
        ConfigError: The program is of another kind, or a setting is out of its range.
    """
    if not isinstance(saved.program, KGQA):
        raise ConfigError(
            f"{saved.name} is of kind {saved.config.get('kind')!r}; questions about graphs need kind 'kgqa'"
        )
    own = saved.program
    config = dataclasses.replace(own.config, **(changes or {}))
    program = KGQA(own.scorer, config, aggregation or own.aggregation, own.ranker)
    program.load_state(own.dump_state())
    if by_lm:
        program.scorer = LMRelationScorer(own.scorer.rules, narrowing=own.scorer)
    changed: list[str] = [aggregation] if aggregation is not None else []
    changed += [f"{name.removeprefix('output_')}={value}" for name, value in (changes or {}).items()]
    changed += ["scorer=lm"] if by_lm else []
    return dataclasses.replace(saved, program=program, changes=(*saved.changes, *changed))
