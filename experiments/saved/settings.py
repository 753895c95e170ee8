"""Settings of saved programs that a caller changes."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from experiments.saved.programs import SavedProgram
from kg.errors import ConfigError

if TYPE_CHECKING:
    from kg.report_graphs import Unmapped
    from programs.conversation import ConversationQA
    from programs.worlds.paths import Aggregation


def with_program_settings(
    program: ConversationQA, settings: Sequence[str], unmapped: Unmapped | None = None
) -> ConversationQA:
    """A copy of a program with other settings.

    Args:
        program: The program.
        settings: The use of its language model: ``evidence=index``, ``understand=true``.
        unmapped: The treatment of line items outside the ontology; ``None`` for the program's own.

    Raises:
        ConfigError: It has no such setting.
    """
    from optimize.settings import with_setting

    changed = program.with_unmapped(unmapped if unmapped is not None else program.unmapped)
    for text in settings:
        key, equals, value = text.partition("=")
        evidence = getattr(changed.turn, "evidence", None)
        if not equals or evidence is None:
            rule = "a program's setting is written KEY=VALUE" if not equals else f"{program.kind} has no settings"
            raise ConfigError(f"{rule}, got {text!r}")
        changed.evidence = with_setting(evidence, key.strip(), value.strip())
    return changed


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
    from programs.graphs import LMRelationScorer
    from programs.kgqa import KGQA

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
