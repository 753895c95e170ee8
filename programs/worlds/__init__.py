"""The worlds that questions are asked about: a report, a graph, a collection of texts (:mod:`programs.worlds.base`)."""
