"""Saved programs: folders of readable files, found by name, folder, MLflow URI or run."""

from typing import TYPE_CHECKING

from kg.lazy import lazy_exports

if TYPE_CHECKING:
    from experiments.saved.programs import (
        REPORT_KINDS,
        SHIPPED,
        ProgramOrigin,
        SavedProgram,
        check_replaceable,
        find_program,
        load_program,
        save_program,
        shipped_programs,
        unfitted_program,
        with_graph_settings,
        with_program_settings,
    )
    from experiments.saved.references import (
        parse_reader,
        path_reader,
        question_reader,
        shipped_encoder,
        shipped_meaning,
        shipped_thesaurus,
    )
    from experiments.saved.serving import log_model
else:
    __getattr__ = lazy_exports(__name__, __file__)

__all__ = [
    "REPORT_KINDS",
    "SHIPPED",
    "ProgramOrigin",
    "SavedProgram",
    "check_replaceable",
    "find_program",
    "load_program",
    "log_model",
    "parse_reader",
    "path_reader",
    "question_reader",
    "save_program",
    "shipped_encoder",
    "shipped_meaning",
    "shipped_programs",
    "shipped_thesaurus",
    "unfitted_program",
    "with_graph_settings",
    "with_program_settings",
]
