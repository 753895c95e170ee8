"""Prompts and replies of language models about graphs: queries of typed steps, and their confidence."""

from programs.graphs.query_parsing import query_signature, shown_of
from programs.graphs.query_replies import Replies, Shown, parse_answer
from programs.graphs.reply_confidence import ReplyConfidence
