"""The programs that answer questions about reports and graphs, with or without a language model."""
