"""Runs every query of questions.jsonl over its graph file and compares with the answers.
CSV files (subject,predicate,object, plain names): each name becomes <http://example.org/NAME> (blanks -> _);
an object is a resource if it also occurs as a subject or is the object of 'type' (predicate 'type' = rdf:type);
otherwise a literal: integer, decimal, xsd:date (YYYY-MM-DD) or string."""
import json, re, csv, os, sys
from decimal import Decimal
from urllib.parse import quote, unquote
from rdflib import Graph, URIRef, Literal, BNode, Namespace
from rdflib.namespace import RDF, RDFS, SKOS, FOAF, XSD
H = os.path.dirname(os.path.abspath(__file__))
LABELS = [SKOS.prefLabel, RDFS.label, URIRef("http://schema.org/name"), URIRef("https://schema.org/name"), FOAF.name]

def csv_iri(s): return URIRef("http://example.org/" + quote(s.strip().replace(" ", "_"), safe="_-.,()'"))
def load(path):
    g = Graph()
    if not path.endswith(".csv"):
        g.parse(path, format={"ttl": "turtle", "nt": "nt", "jsonld": "json-ld"}[path.rsplit(".", 1)[1]])
        return g
    rows = list(csv.DictReader(open(path, encoding="utf-8")))
    res = {r["subject"] for r in rows} | {r["object"] for r in rows if r["predicate"] == "type"}
    for r in rows:
        p = RDF.type if r["predicate"] == "type" else csv_iri(r["predicate"])
        v = r["object"]
        if v in res: o = csv_iri(v)
        elif re.fullmatch(r"-?\d+", v): o = Literal(v, datatype=XSD.integer)
        elif re.fullmatch(r"-?\d+\.\d+", v): o = Literal(v, datatype=XSD.decimal)
        elif re.fullmatch(r"\d{4}-\d\d-\d\d", v): o = Literal(v, datatype=XSD.date)
        else: o = Literal(v)
        g.add((csv_iri(r["subject"]), p, o))
    return g

def name(t, g):
    for p in LABELS:
        ls = list(g.objects(t, p))
        if ls:
            ls.sort(key=lambda l: (l.language != "en", l.language is not None, str(l)))
            return str(ls[0])
    return unquote(re.split(r"[/#]", str(t))[-1]).replace("_", " ")

def fmt(t, g):
    if isinstance(t, URIRef): return name(t, g)
    if isinstance(t, BNode): return "BNODE!"
    if t.datatype in (XSD.decimal, XSD.double, XSD.float, XSD.integer, XSD.int):
        s = format(Decimal(str(t)), "f")
        return s.rstrip("0").rstrip(".") if "." in s else s
    if t.datatype == XSD.boolean: return "Yes" if t.toPython() else "No"
    return str(t)

def run(g, q):
    r = g.query(q)
    if r.type == "ASK": return ["Yes" if r.askAnswer else "No"]
    return [fmt(v, g) if v is not None else "UNBOUND!" for row in r for v in row]

def main():
    cache, bad, n, conv, st = {}, 0, 0, 0, {}
    for line in open(os.path.join(H, "questions.jsonl"), encoding="utf-8"):
        c = json.loads(line); conv += 1
        g = cache.setdefault(c["file"], None) or cache.__setitem__(c["file"], load(os.path.join(H, c["file"]))) or cache[c["file"]]
        assert len(c["questions"]) == len(c["answers"]) == len(c["queries"])
        for q, a, s in zip(c["questions"], c["answers"], c["queries"]):
            n += 1
            k = st.setdefault((c["graph"], c["part"]), [0, 0, 0, 0]); k[0] += 1; k[1] += a is None; k[2] += len(c["questions"]) > 1; 
            if (a is None) != (s is None): bad += 1; print("NULL MISMATCH", c["id"], q); continue
            if s is None: continue
            got = run(g, s)
            if sorted(got) != sorted(a) or not a: bad += 1; print("DIFF", c["id"], q, "\n  gold", a, "\n  got ", got)
    for (gname, part), k in st.items():
        f = [x for x in cache if x.startswith(gname + ".")][0]
        print(f"{gname:14s}{part:9s} triples {len(cache[f]):4d}  turns {k[0]}  in conversations {k[2]}  without answer {k[1]}")
    print(conv, "conversations,", n, "turns,", bad, "problems")
    return bad
if __name__ == "__main__": sys.exit(1 if main() else 0)
