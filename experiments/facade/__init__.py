"""The API of ``import finpath``: reports of a user's own, and answers about them."""

from experiments.facade.reports import ReportAnswer, ReportFiles, ask, load, read, resolve_report, saved_program
