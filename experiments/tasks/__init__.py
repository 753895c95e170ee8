"""Tasks of an evaluation: ConvFinQA, conversations, questions about graphs, and the advisor."""
