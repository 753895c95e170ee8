"""The verbs about graphs: of reports, of any subject (``kgqa``), and growing ones (``advisor``, ``schema``)."""

__all__ = ["advisor", "graph", "kgqa", "ontology", "schema"]
