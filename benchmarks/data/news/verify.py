"""Check the news set: every fact's sentence stands in its document and states it, every answer follows
from the documents the question names.   Run: python verify.py   (standard library only)"""

import calendar
import collections
import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).parent
rows = lambda f: [json.loads(l) for l in open(HERE / f)]
flat = lambda s: re.sub(r"\s+", " ", s).strip()
low = lambda s: flat(s).lower()
MONTHS = {i: (calendar.month_name[i].lower(), calendar.month_abbr[i].lower()) for i in range(1, 13)}

# what is said in other words than the fact's object, by hand
SAID = {
    "chief executive": ("chief executive", "boss", "ceo"),
    "chief financial officer": ("chief financial officer", "finance chief"),
    "chief technology officer": ("technology chief",),
    "chairman": ("chairman", "board, led by"),
    "head": ("becomes head",),
    "interim chief executive": ("interim chief executive",),
    "$310 million to $330 million": ("$310 million to $330 million",),
    "510 to 540 million euros": ("between 510 and 540 million euros",),
}


def date_said(value, text, written):
    parts = [int(x) for x in value.split("-")]
    month = any(m in text for m in MONTHS[parts[1]])
    if len(parts) == 3:
        return (
            (month and re.search(rf"\b0?{parts[2]}\b", text))
            or value == written
            or "yesterday" in text
            or "filed on monday" in text
        )
    return month and str(parts[0]) in text


def said(value, text, aliases, written):
    if re.fullmatch(r"\d{4}-\d\d(-\d\d)?", value):
        return bool(date_said(value, text, written))
    forms = [value, *aliases.get(value, []), *SAID.get(value, [])]
    if value[:1] in "+-" and value[1:2].isdigit():
        forms.append(value[1:])
    if value.isdigit():
        forms.append(f"{int(value):,}")
    forms.append(re.sub(r" per share$", "", value))
    return any(re.search(r"(?<![\w.,])" + re.escape(f.lower()) + r"(?!\w)", text) for f in forms if f)


def main():
    docs, facts, questions = rows("documents.jsonl"), rows("facts.jsonl"), rows("questions.jsonl")
    aliases, also = json.load(open(HERE / "aliases.json")), rows("also_true.jsonl")
    meta = {d["document"]: d for d in docs}
    text = {d["document"]: flat((HERE / d["part"] / (d["document"] + ".txt")).read_text()) for d in docs}
    bad = []
    assert len(docs) == 40 and len(questions) == 120
    part_of = collections.defaultdict(set)
    for d in docs:
        part_of[d["group"]].add(d["part"])
    if any(len(p) > 1 for p in part_of.values()):
        bad.append("a group in both parts")
    for d in docs:
        if str(d["date"])[:4] not in text[d["document"]]:
            bad.append(("no date line", d))
        body = [s for s in re.split(r"(?<=[.?!\"])\s+(?=[A-Z\"])", text[d["document"]])]
        if not 4 <= len(body) <= 16:
            bad.append(("sentences", d["document"], len(body)))
    seen = set()
    for f in facts:
        assert set(f) == {"document", "subject", "relation", "object", "sentence"}
        key = (f["document"], f["subject"], f["relation"], f["object"])
        if key in seen:
            bad.append(("twice", key))
        seen.add(key)
        whole = text[f["document"]]
        if flat(f["sentence"]) not in whole:
            bad.append(("sentence not in document", f))
        if not said(f["object"], low(f["sentence"]), aliases, meta[f["document"]]["date"]) and not said(
            f["object"], low(whole), aliases, meta[f["document"]]["date"]
        ):
            bad.append(("object not said", f))
        if not said(f["subject"], low(whole), aliases, None):
            bad.append(("subject not said", f))
    for a in also:
        key = (a["document"], a["subject"], a["relation"], a["object"])
        if key in seen:
            bad.append(("also_true repeats a fact", key))
        if not said(a["subject"], low(text[a["document"]]), aliases, None):
            bad.append(("also_true subject", key))
        if not said(a["object"], low(text[a["document"]]), aliases, None):
            bad.append(("also_true object", key))
    how = collections.Counter()
    for q in questions:
        assert set(q) == {"id", "question", "answers", "documents", "part"}
        if q["answers"] is None:
            how["unanswerable"] += 1
            if q["documents"]:
                bad.append(("documents for no answer", q))
            continue
        if not q["documents"] or any(meta[d]["part"] != q["part"] for d in q["documents"]):
            bad.append(("documents of another part", q))
        mine = [f for f in facts if f["document"] in q["documents"]]
        whole = low(" ".join(text[d] for d in q["documents"]))
        for a in q["answers"]:
            nodes = {x.replace(",", "").lstrip("-") for f in mine for x in (f["subject"], f["object"])}
            if a in ("yes", "no"):
                how["yes or no"] += 1
            elif a.replace(",", "") in nodes or a in {
                n.removesuffix(" per share").removesuffix(" a month") for n in nodes
            }:
                how["a fact's end"] += 1
            elif said(a, whole, aliases, None):
                how["text of the documents"] += 1
            elif a.isdigit() and "how many" in q["question"].lower():
                how["a count"] += 1
            else:
                bad.append(("answer does not follow", q))

    # the aggregates, from the facts of one part
    def of(part, relation):
        return [f for f in facts if f["relation"] == relation and meta[f["document"]]["part"] == part]

    number = lambda s: float(s.rstrip("%").replace(",", ""))
    ask = {q["question"]: q["answers"] for q in questions}
    checks = [
        ("Which companies had to recall a product?", {f["subject"] for f in of("dev", "recalls")}),
        (
            "which company is cutting the most jobs",
            {max(of("dev", "cuts_jobs"), key=lambda f: number(f["object"]))["subject"]},
        ),
        (
            "Which stocks were downgraded in August 2026?",
            {f["object"] for f in of("dev", "downgrades") if meta[f["document"]]["date"].startswith("2026-08")},
        ),
        (
            "Which share lost the most in one day?",
            {min(of("dev", "share_change"), key=lambda f: number(f["object"]))["subject"]},
        ),
        ("Which companies were upgraded by a broker in 2026?", {f["object"] for f in of("held_out", "upgrades")}),
        (
            "who announced more job losses, Greywater or Lumora?",
            {max(of("held_out", "cuts_jobs"), key=lambda f: number(f["object"]))["subject"]},
        ),
        (
            "Which stock gained the most in a single day?",
            {max(of("held_out", "share_change"), key=lambda f: number(f["object"]))["subject"]},
        ),
    ]
    for q, want in checks:
        if set(ask[q]) != want:
            bad.append(("aggregate", q, ask[q], want))
    moved = {
        f["subject"] for f in facts if meta[f["document"]]["part"] == "dev" and f["relation"] == "moves_headquarters_to"
    } | {
        a["subject"] for a in also if meta[a["document"]]["part"] == "dev" and a["relation"] == "moves_headquarters_to"
    }
    if len(moved) != 3:
        bad.append(("moved", moved))
    print(
        len(docs),
        "documents",
        dict(collections.Counter(d["part"] for d in docs)),
        dict(collections.Counter(d["style"] for d in docs)),
    )
    print(len(questions), "questions", dict(collections.Counter(q["part"] for q in questions)), dict(how))
    print(len(facts), "facts of", len({f["relation"] for f in facts}), "kinds,", len(also), "also true")
    for b in bad:
        print("BAD", b)
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
