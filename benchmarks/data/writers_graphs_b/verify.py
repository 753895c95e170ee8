#!/usr/bin/env python
"""Runs every query of questions.jsonl over its graph file and compares with the answers."""
import csv, json, os, re, sys
from decimal import Decimal
from rdflib import Graph, URIRef, Literal, BNode, Namespace
from rdflib.namespace import RDF, RDFS, SKOS, DCTERMS, FOAF, XSD
HERE = os.path.dirname(os.path.abspath(__file__))
LABELS = [SKOS.prefLabel, RDFS.label, URIRef('http://schema.org/name'), URIRef('https://schema.org/name'), DCTERMS.title, FOAF.name]
_cache = {}

def csv_term(v):
    if re.match(r'^https?://', v): return URIRef(v)
    if re.match(r'^-?\d+$', v): return Literal(v, datatype=XSD.integer)
    if re.match(r'^-?\d+\.\d+$', v): return Literal(v, datatype=XSD.decimal)
    if re.match(r'^\d{4}-\d\d-\d\d$', v): return Literal(v, datatype=XSD.date)
    return Literal(v)

def load(name):
    if name in _cache: return _cache[name]
    p = os.path.join(HERE, name); g = Graph()
    if name.endswith('.csv'):
        for r in csv.DictReader(open(p, encoding='utf-8')):
            g.add((URIRef(r['subject']), URIRef(r['predicate']), csv_term(r['object'])))
    else:
        g.parse(p, format={'ttl': 'turtle', 'nt': 'nt', 'jsonld': 'json-ld'}[name.rsplit('.', 1)[1]])
    _cache[name] = g
    return g

def num(s):
    d = Decimal(s)
    s = format(d, 'f')
    return s.rstrip('0').rstrip('.') if '.' in s else s

def show(g, t):
    if isinstance(t, Literal):
        s = str(t)
        if t.datatype in (XSD.integer, XSD.int, XSD.nonNegativeInteger): return s
        if t.datatype in (XSD.decimal, XSD.double, XSD.float): return num(s)
        if t.datatype == XSD.boolean: return 'Yes' if s in ('true', '1') else 'No'
        if t.datatype == XSD.time: return s[:5]
        if t.datatype == XSD.duration:
            m = re.match(r'^PT(?:(\d+)H)?(?:(\d+)M)?$', s)
            return '%d minutes' % (int(m.group(1) or 0) * 60 + int(m.group(2) or 0))
        return s
    for p in LABELS:
        for o in g.objects(t, p):
            if o.language in (None, 'en'): return str(o)
    loc = re.split(r'[/#]', str(t))[-1]
    return re.sub(r'[_\-]+', ' ', loc).strip()

def run(g, q):
    r = g.query(q, initNs={'rdfunused': 'urn:x-unused:'})  # the queries carry their own prefixes
    if r.type == 'ASK': return ['Yes' if r.askAnswer else 'No']
    out = []
    for row in r:
        for v in row:
            if v is not None:
                s = show(g, v)
                if s not in out: out.append(s)
    return out

def main():
    bad = n = none = 0
    for line in open(os.path.join(HERE, 'questions.jsonl'), encoding='utf-8'):
        c = json.loads(line); g = load(c['file'])
        assert len(c['questions']) == len(c['answers']) == len(c['queries']), c['id']
        for q, a, s in zip(c['questions'], c['answers'], c['queries']):
            n += 1
            if a is None or s is None:
                none += 1
                if a is not s: bad += 1; print('NULL MISMATCH', c['id'], q)
                continue
            got = run(g, s)
            if sorted(got) != sorted(a):
                bad += 1; print('MISMATCH', c['id'], repr(q), 'answer', a, 'query gives', got)
    print('%d turns, %d unanswerable, %d disagreements' % (n, none, bad))
    return 1 if bad else 0
if __name__ == '__main__': sys.exit(main())
