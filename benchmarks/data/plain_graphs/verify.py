"""Re-derive every gold answer of questions.jsonl from the graphs (gold.jsonl holds one query a turn).
Run: python verify.py      (needs rdflib)"""
import collections, csv, json, pathlib, re, sys
import rdflib
from rdflib.namespace import RDFS

HERE = pathlib.Path(__file__).parent
FILES = {"hospital": "hospital.ttl", "museum": "museum.nt", "railway": "railway.jsonld", "packages": "packages.csv"}
CSVNS = "urn:c:"
PREFIX = {"hospital": "http://stmaren.example/vocab#", "museum": "http://pinacotheca.example/",
          "railway": "https://karsa-rail.example/terms/", "packages": CSVNS}
slug = lambda s: rdflib.URIRef(CSVNS + re.sub(r"[^\w.-]", "_", s))


class Graph:
    def __init__(self, key):
        self.key, self.g = key, rdflib.Graph()
        if key == "packages":
            rows = list(csv.reader(open(HERE / FILES[key])))[1:]
            assert all(len(r) == 3 for r in rows) and len(set(map(tuple, rows))) == len(rows)
            subjects, self.names = {r[0] for r in rows}, {}
            for s, p, o in rows:
                self.names[slug(s)] = s
                if o in subjects: obj = slug(o)
                elif re.fullmatch(r"\d{4}-\d\d-\d\d", o): obj = rdflib.Literal(o, datatype=rdflib.XSD.date)
                elif re.fullmatch(r"\d+", o): obj = rdflib.Literal(int(o))
                else: obj = rdflib.Literal(o)
                self.g.add((slug(s), slug(p), obj))
        else:
            self.g.parse(HERE / FILES[key])
            name = {"hospital": RDFS.label, "railway": rdflib.URIRef("https://schema.org/name")}.get(key)
            if name: self.names = {s: str(o) for s, o in self.g.subject_objects(name)}
            else:
                nodes = {n for s, _, o in self.g for n in (s, o) if isinstance(n, rdflib.URIRef)}
                self.names = {n: str(n).rsplit("/", 1)[-1].replace("_", " ") for n in nodes}
        self.iri = {}
        for n, s in self.names.items():
            assert s not in self.iri, ("two nodes with one name", s)
            self.iri[s] = n

    def text(self, node):
        return str(node) if isinstance(node, rdflib.Literal) else self.names[node]

    def ask(self, query):
        query = re.sub(r"\[\[(.+?)\]\]", lambda m: f"<{self.iri[m[1]]}>", query)
        return self.g.query(f"PREFIX p: <{PREFIX[self.key]}> PREFIX s: <https://schema.org/> "
                            "PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> " + query)

    def gold(self, spec):
        if spec is None: return None
        kind, arg = spec[0], spec[-1]
        if kind == "S": return sorted({self.text(r[0]) for r in self.ask("SELECT ?x {%s}" % arg)})
        if kind == "C": return [str(len({r[0] for r in self.ask("SELECT ?x {%s}" % arg)}))]
        if kind == "A": return ["yes" if self.ask("ASK {%s}" % arg).askAnswer else "no"]
        if kind == "R": return [self.text(v) for r in self.ask(arg) for v in r]
        pick = {"max": max, "min": min}[spec[1]]
        if kind == "T": rows = {(r[0], r[1].toPython() if not str(r[1]).isdigit() else int(r[1])) for r in self.ask("SELECT ?x ?v {%s}" % arg)}
        if kind == "G":
            seen = collections.defaultdict(set)
            for x, y in self.ask("SELECT ?x ?y {%s}" % arg): seen[x].add(y)
            rows = {(x, len(v)) for x, v in seen.items()}
        best = pick(v for _, v in rows)
        return sorted(self.text(x) for x, v in rows if v == best)


def main():
    graphs = {k: Graph(k) for k in FILES}
    for k, g in graphs.items():
        n = len(g.g); assert 150 <= n <= 500, (k, n)
        print(f"{k}: {n} triples, {len(set(g.g.predicates()))} properties")
    questions = [json.loads(l) for l in open(HERE / "questions.jsonl")]
    gold = {r["id"]: r["gold"] for r in map(json.loads, open(HERE / "gold.jsonl"))}
    assert len(questions) == 20 and len({q["id"] for q in questions}) == 20
    bad = turns = nulls = 0
    tally = collections.Counter()
    for q in questions:
        assert set(q) == {"id", "graph", "questions", "answers", "part"} and q["part"] in ("dev", "held_out")
        assert 4 <= len(q["questions"]) <= 7 and len(q["questions"]) == len(q["answers"]) == len(gold[q["id"]])
        for text, answer, spec in zip(q["questions"], q["answers"], gold[q["id"]]):
            want = graphs[q["graph"]].gold(spec)
            turns += 1; nulls += answer is None; tally[q["part"]] += 1
            if want == [] or want != answer:
                bad += 1; print("BAD", q["id"], text, answer, want)
            if "-v" in sys.argv: print(q["id"], "|", text, "->", answer)
    print(f"{len(questions)} conversations, {turns} turns {dict(tally)}, {nulls} unanswerable ({nulls/turns:.0%}), {bad} disagree")
    sys.exit(bool(bad))


if __name__ == "__main__": main()
