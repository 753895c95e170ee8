import json
from pathlib import Path
docs=[("s01","press release","2026-03-04"),("s02","wire","2026-05-18"),("s03","filing","2026-06-22"),("s04","blog","2026-09-26"),("s05","minutes","2026-10-06"),("s06","call transcript","2026-07-30"),("s07","newsletter","2026-11-13"),("s08","notes without headline and year","" ),("s09","sports report","2026-05-31"),("s10","science","2026-02-09"),("s11","obituary","2026-09-03"),("s12","wire without year",""),("s13","recall notice","2026-04-16"),("s14","society minutes","2026-03-21"),("s15","market column without year","")]
held={"s11","s12","s13","s14","s15"}
out=[json.dumps({"document":d,"style":s,"date":t,"group":s,"part":"held_out" if d in held else "dev"}) for d,s,t in docs]
Path("documents.jsonl").write_text("\n".join(out)+"\n")
Q=[
("s01","How many people will work at the Tamsin Bay plant?",["240"]),
("s01","Who is going to run Pellworth's new site?",["Ingrid Vasterholt"]),
("s01","How much did Pellworth earn in 2025?",None),
("s02","Which authority's fine did Korvale Bank get, how large was it?",["120 million kronor"]),
("s02","Who owns 18 percent of Korvale?",["Bergholm family foundation"]),
("s02","What did Estmark Bank have to pay?",None),
("s03","Who lent Greyfen the money?",["Halloran National Bank"]),
("s03","When does Theodore Amsel's resignation take effect?",["2026-07-31"]),
("s03","Who takes over from Amsel for the time being?",["Lucinda Park"]),
("s03","How big is Greyfen's term loan?",["$175,000,000"]),
("s04","Who founded Quillbox?",["Joss Merriweather","Robin Castellane"]),
("s04","How long was the service down in September?",["47 minutes"]),
("s04","What does Quillbox pay per month for its database now?",["£620"]),
("s05","Who voted against the library roof bid?",["Bram Tilley"]),
("s05","What will it cost to repair the library roof?",["$312,000"]),
("s05","Until when will the Mill Road bridge be shut?",["2026-12-04"]),
("s05","How many firefighters did the mayor hire?",None),
("s06","How many clinics does Lumenar run?",["128"]),
("s06","What was Lumenar's profit in the same quarter last year?",["$44 million"]),
("s06","Who did Lumenar buy in May?",["BrightStep Therapy"]),
("s06","Who is Lumenar's chairman?",None),
("s07","Which negative events happened in November?",["winter service to Nolan Island cancelled","ammonia leak at the Meridale cannery"]),
("s07","Who will be the next harbormaster?",["Yvonne Tate"]),
("s07","How much did Agnes Rowe's estate give to the museum?",["$750,000"]),
("s08","Who wants to buy Zentrix?",["Marlow Industries"]),
("s08","Who upgraded Zentrix?",["Cowden & Pike"]),
("s08","How much does Dornick Air pay its pilots?",None),
("s09","Who scored the winning goal in the Wexley Cup final?",["Femi Adebayo"]),
("s10","What is the name of the migraine drug?",["velorimab"]),
("s10","How many patients died in the velorimab trial?",None),
("s11","Where did Beatrix Hollander die?",["Oakhaven"]),
("s11","Which firm acquired Strand & Mawby?",["Norcross Engineering"]),
("s11","When was Paul Hollander born?",None),
("s12","How many flights did Skerry Air cancel?",["52"]),
("s12","Who is the governor?",["Helen Drummond"]),
("s12","How many people were killed in the storm?",["2"]),
("s13","Who makes the CozyNest blankets?",["Wenfu Appliances"]),
("s13","How many blankets were recalled in Canada?",["4,100"]),
("s13","How many people were killed by the blankets?",None),
("s14","Who is the new chairman of the Elmswood Allotment Society?",["Sunita Rao"]),
("s14","What will a plot cost from October?",["£34"]),
("s14","Who is the society's secretary?",None),
("s15","Who downgraded Arbelo?",["Winslow Research"]),
("s15","Where is Silverlode based?",["Tucson"]),
("s15","Which shares went up on Thursday?",["Vantage Photonix"]),
]
# two part question and event list are asked as people write them; the gold of each is one fact or a list
rows=[]
for n,(d,q,a) in enumerate(Q,1):
    rows.append({"id":f"y{n:03}","question":q,"answers":a,"documents":[d],"part":"held_out" if d in held else "dev"})
rows[3]["question"]="How large was the fine for Korvale Bank?"
rows[21]["question"]="Which company's plant was evacuated in November?"; rows[21]["answers"]=["Meridale Foods"]
assert sum(r["answers"] is None for r in rows)==10,sum(r["answers"] is None for r in rows)
assert len(rows)==45
Path("questions.jsonl").write_text("\n".join(json.dumps(r,ensure_ascii=False) for r in rows)+"\n")
A={"Pellworth Ceramics":["Pellworth","PLWC","Pellworth Ceramics, Inc."],"Korvale Bank":["Korvale"],"Estmark Bank":["Estmark"],"Bergholm family foundation":["Bergholm family","Bergholm"],"Greyfen Logistics Corporation":["Greyfen","Greyfen Logistics","the Company"],"Theodore R. Amsel":["Amsel","Theodore Amsel","Mr. Amsel"],"Lucinda Park":["Ms. Park","Park"],"Halloran National Bank":["Halloran"],"Joss Merriweather":["Merriweather"],"Robin Castellane":["Castellane"],"Bram Tilley":["Tilley","Councillor Tilley"],"BrightStep Therapy":["BrightStep"],"Lumenar Health":["Lumenar"],"Meridale Foods":["Meridale"],"Yvonne Tate":["Tate"],"Marlow Industries":["Marlow","MRLW"],"Zentrix":["ZENT"],"Cowden & Pike":["Cowden"],"Femi Adebayo":["Adebayo"],"velorimab":[],"Beatrix Hollander":["Ms. Hollander","Hollander"],"Norcross Engineering":["Norcross"],"Helen Drummond":["Drummond"],"Skerry Air":["Skerry"],"Wenfu Appliances":["Wenfu"],"Hearthline Home Products":["Hearthline"],"Sunita Rao":["Sunita","Rao"],"Vic Pemberton":["Vic"],"Moira Fenn":["Moira"],"Winslow Research":["Winslow"],"Vantage Photonix":["VPHX","Vantage"],"Arbelo Microsystems":["ABLO","Arbelo"],"Silverlode Devices":["SLVD","Silverlode"],"Trask Capital":["Trask"],"Seacrest Savings":["Seacrest"],"Caspian Biologics":["Caspian"],"Ashgrove Town":["Ashgrove"],"Penmarsh Rovers":["Penmarsh"],"Ingrid Vasterholt":["Vasterholt"],"Ridgeline Partners":["Ridgeline"],"Strand & Mawby":[],"Norvolt":[],"Marcus Oyelaran":["Oyelaran"],"Ashgrove Town":["Ashgrove"],"47 minutes":["47"]}
Path("aliases.json").write_text(json.dumps(A,ensure_ascii=False,indent=1)+"\n")
M={
"s01":dict(company=["Pellworth Ceramics","Dunmore Glassworks"],person=["Ingrid Vasterholt","Marcus Oyelaran"],place=["Tamsin Bay","Oregon","Cardel"],ticker=["PLWC"],amount=["$86 million","240","$9.5 million","70"],date=["2026-03-04","2026-04-13"],event=["build","join","contributing","close"]),
"s02":dict(company=["Korvale Bank","Estmark Bank","Northwire","Bergholm family foundation"],person=["Henrik Sand","Petra Lindqvist","Nils Thorvall"],place=["Ludhavn","Sweden"],ticker=[],amount=["120 million kronor","41","10","3,800","3.2%","18 percent"],date=["2026-05-18"],event=["fined","slid","examined"]),
"s03":dict(company=["Greyfen Logistics Corporation","Halloran National Bank"],person=["Theodore R. Amsel","Lucinda Park","Walter Ibsen"],place=[],ticker=[],amount=["$175,000,000","$50,000,000","2.25%","$410,000"],date=["2026-06-22","2031-06-22","2026-06-19","2026-07-31"],event=["entered","resign","appointed"]),
"s04":dict(company=["Quillbox","Fenwick Data"],person=["Joss Merriweather","Amal Haddad","Robin Castellane"],place=["Leeds"],ticker=[],amount=["9,000","11","£1,400","£5,150","£620","47"],date=["2026-09-12","2026-09-26"],event=["moving","started","joined","down"]),
"s05":dict(company=["Harrow Creek Town Council","Stoneleigh Builders","Kestrel Paving"],person=["Denise Okafor","Bram Tilley","Rosa Quintero","Alan Whitcomb","June Sato","Peter Lund","Carl Brandvold","Lorna Haig","Tessa Groves"],place=["Harrow Creek","Mill Road"],ticker=[],amount=["$312,000","$40,000","14","2"],date=["2026-10-06","2026-09-01","2026-11-03","2026-10-19","2026-12-04"],event=["approved","moved","voted","closed"]),
"s06":dict(company=["Lumenar Health","BrightStep Therapy","Sable Securities"],person=["Priya Venkat","Douglas Reinholt","Elena Marchetti","Tom Garrick"],place=["Ohio"],ticker=[],amount=["$642 million","11 percent","6","1","128","$58 million","$37 million","$44 million","$2.5 billion","$190 million","9"],date=["2026-07-30"],event=["opened","completed","lowering"]),
"s07":dict(company=["Blue Strait Lines","Meridale Foods","Port Ansley Credit Union","Seacrest Savings","Coast Guard"],person=["Mary-Ann Dolan","Luis Ferreira","Yvonne Tate","Agnes Rowe"],place=["Port Ansley","Nolan Island"],ticker=[],amount=["2,300","3","$1.2 billion","26","$750,000"],date=["2026-11-13","2026-11-17","2026-12-31"],event=["cancelled","evacuated","merging","retires"]),
"s08":dict(company=["Zentrix","Marlow Industries","Cowden & Pike","Ridgeline Partners","Dornick Air"],person=[],place=[],ticker=["ZENT","MRLW"],amount=["14%","$31","$2.7bn","4%","$30","$19","7.4%","91%"],date=["12-02"],event=["offer","raises","voted","strike"]),
"s09":dict(company=["Ashgrove Town","Penmarsh Rovers","Corriedale United","Northern League"],person=["Femi Adebayo","Joel Kirwan","Sander Vik","Matteo Ricci","Carol Brightwell","Dean Moffat","Luke Osman"],place=["Linton Park"],ticker=[],amount=["14","11,482","250,000 pounds"],date=["2026-05-31"],event=["won","scored","sacked","sent"]),
"s10":dict(company=["University of Tolverne","Caspian Biologics","Horta Foundation"],person=["Nuria Salgado"],place=["Spain","Portugal","Italy","Europe"],ticker=[],amount=["1,140","36","4.1","8.3","9","4 million euros"],date=["2026-02-09"],event=["cut","developed","left","apply"]),
"s11":dict(company=["Strand & Mawby","Norcross Engineering","Fairmont College"],person=["Beatrix Hollander","Miriam Castell","Paul Hollander"],place=["Oakhaven","Delft","Canada"],ticker=[],amount=["30","$210 million","2","5"],date=["2026-09-03"],event=["died","emigrated","joined","bought","retired"]),
"s12":dict(company=["Norvolt","Skerry Air","Pennant Mutual","Reuben Press"],person=["Helen Drummond"],place=["Dunsby","Port Isla","Kalverton"],ticker=[],amount=["60,000","2","400","52","35 million","2.1%","28 million dollars"],date=["11-22"],event=["cut","killed","closed","cancelled"]),
"s13":dict(company=["Hearthline Home Products","Larkspur","Wenfu Appliances"],person=[],place=["Dayton","Ohio","United States","Canada","Vietnam"],ticker=[],amount=["53,000","4,100","22","3","$45","12,000"],date=["2026-04-16"],event=["recalled","received"]),
"s14":dict(company=["Elmswood Allotment Society"],person=["Geraldine","Vic Pemberton","Moira Fenn","Sunita Rao"],place=[],ticker=[],amount=["38","£4,860","£3,975","£6,210","£30","£34","29","17"],date=["2026-03-21","2026-05-16"],event=["spent","elected","standing"]),
"s15":dict(company=["Arbelo Microsystems","Winslow Research","Trask Capital","Vantage Photonix","Silverlode Devices"],person=["Kenji Morales","Hannah Boyle","Oskar Lehtonen"],place=["Tucson"],ticker=["ABLO","VPHX","SLVD"],amount=["9 percent","$54.20","$3.1 billion","$3.4 billion","$80","5.5%","$90 million"],date=["06-16"],event=["tumbled","cut","lifted","rose","won"]),
}
rows=[]
for d,kinds in M.items():
    for k,vs in kinds.items():
        rows += [{"document":d,"kind":k,"value":v} for v in vs]
Path("mentions.jsonl").write_text("\n".join(json.dumps(r,ensure_ascii=False) for r in rows)+"\n")
Path("facts.jsonl").write_text("")
print(len(rows))
