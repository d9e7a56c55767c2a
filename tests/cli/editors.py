#!/usr/bin/env python3
"""editors.py: the files for editors know the words that the language has, no others, and are sound."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

failed = 0


def check(name, good, why=""):
    global failed
    print(("ok - " if good else "not ok - ") + name)
    if not good:
        failed += 1
        print("#   " + str(why))


def read(path):
    with open(path) as f:
        return f.read()


vim = read("editors/vim/syntax/dpe.vim")
grammar = json.loads(read("editors/vscode/syntaxes/dpe.tmLanguage.json"))
package = json.loads(read("editors/vscode/package.json"))
json.loads(read("editors/vscode/language-configuration.json"))
scopes = {p["name"]: p.get("match", "") for p in grammar["patterns"]}


def vim_words(*groups):
    return {w for g in groups for line in re.findall(rf"syntax keyword {g} (.*)", vim) for w in line.split()}


def alternatives(text):
    return set(re.search(r"\(([^()]*)\)", text).group(1).replace("\\", "").split("|"))


# What the language has, from its own source.
calls = set(re.findall(r'\{"(\w+)", DPE_CALL_', read("dpe-lang/resolve/resolve_action.c")))
fields = set(re.findall(r'\{"(\w+)", DPE_FIELD_', read("dpe-lang/resolve/resolve_expr.c")))
section = read("docs/language.md").split("## Words and comments")[1].split("|")[0]
words = set(re.findall(r"`(\w+)`", section)) - {"_"} - {"enter", "exit"}

check("Vim's syntax file has all calls of the language, and no others", vim_words("dpeCall") == calls, vim_words("dpeCall") ^ calls)
check("the TextMate grammar has all calls of the language, and no others", alternatives(scopes["support.function.dpe"]) == calls,
      alternatives(scopes["support.function.dpe"]) ^ calls)
vim_fields = set(re.search(r"dpeField /\\\.\\\((.*?)\\\)", vim).group(1).split("\\|"))
check("Vim's syntax file has all fields of events, and no others", vim_fields == fields, vim_fields ^ fields)
check("the TextMate grammar has all fields of events, and no others", alternatives(scopes["variable.language.field.dpe"]) == fields,
      alternatives(scopes["variable.language.field.dpe"]) ^ fields)
known = vim_words("dpeMode", "dpePairing", "dpeKeyword", "dpeConditional")
check("Vim's syntax file has all keywords of the language, and no others", known == words, known ^ words)
textmate = set().union(*(alternatives(scopes[s]) for s in (
    "keyword.control.mode.dpe", "storage.modifier.pairing.dpe", "keyword.other.dpe", "keyword.control.conditional.dpe")))
check("the TextMate grammar has all keywords of the language, and no others", textmate == words, textmate ^ words)
for pattern in grammar["patterns"]:
    for key in ("match", "begin", "end"):
        if key in pattern:
            re.compile(pattern[key])
check("all patterns of the TextMate grammar are regular expressions", True)
check("the files that the Visual Studio Code extension names exist",
      all(os.path.exists(os.path.join("editors/vscode", g["path"])) for g in package["contributes"]["grammars"]))

editor = shutil.which("vim") or shutil.which("nvim")
if not editor:
    print("ok - Vim shows them # SKIP vim is not installed")
else:
    with tempfile.TemporaryDirectory() as folder:
        spec, out = os.path.join(folder, "a.dpe"), os.path.join(folder, "out")
        with open(spec, "w") as f:
            f.write('expect r(x): open(x).enter ; close { print("a;b", $1.tid); } // last\n')
        places = {1: "dpeMode", 22: "dpePhase", 28: "dpeOperator", 38: "dpeCall", 45: "dpeString", 52: "dpePosition", 62: "dpeComment"}
        asks = [f"call writefile([synIDattr(synID(1,{c},1),'name')], '{out}', 'a')" for c in places]
        command = [editor, "-u", "NONE", "-es", "--cmd", f"set rtp^={os.getcwd()}/editors/vim", "--cmd", "filetype plugin on",
                   "--cmd", "syntax on", spec, *sum((["-c", a] for a in asks), []), "-c", "qa!"]
        subprocess.run(command, stdin=subprocess.DEVNULL, timeout=60)
        shown = read(out).split() if os.path.exists(out) else []
        check("Vim highlights the parts of a rule by their kinds", shown == list(places.values()), shown)
sys.exit(failed > 0)
