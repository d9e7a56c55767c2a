# Examples in the documents work, and the documents mention all commands and options.
. tests/tap.sh

cat >blocks.py <<'X'
import glob, re, sys
top = sys.argv[1]
count = 0
for path in [f"{top}/README.md"] + sorted(glob.glob(f"{top}/docs/*.md")):
	for block in re.findall(r"^```dpe\n(.*?)^```$", open(path).read(), re.M | re.S):
		count += 1
		with open(f"block{count}.dpe", "w") as file:
			file.write(block)
		print(f"block{count}.dpe", path[len(top) + 1:])
X
python3 blocks.py "$TOP" >blocks
check 'README and docs have at least four specifications' "$(lines blocks)" -ge 4
while read -r block document; do
	run "$DPE" check "$block"
	gives "dpe check accepts the specification $block of $document" 0
done <blocks

for command in check fmt compile run top attach record replay view convert race deadlock explore hang list; do
	run "$DPE" $command --help
	for option in $(sed -n 's/^  \(-., \)\{0,1\}\(--[a-z-]*\).*/\2/p' out); do
		grep -qF -- "$(echo "$option" | sed 's/-/\\-/g')" "$TOP/docs/dpe.1" ||
			not_ok "dpe.1 does not mention $command $option"
	done
	grep -qF "dpe $command" "$TOP/README.md" || not_ok "README does not mention $command"
	ok "dpe $command is in README, and its options in dpe.1"
done

python3 - "$TOP" >missing <<'X'
import glob, os, re, sys
top = sys.argv[1]
for path in [f"{top}/README.md"] + glob.glob(f"{top}/docs/*.md"):
	for link in re.findall(r"\]\(([^)#:]+)\)", open(path).read()):
		if not os.path.exists(os.path.join(os.path.dirname(path), link)):
			print(path[len(top) + 1:], link)
X
: | same 'no link in README or docs is broken' missing

check "README has the command of continuous integration" "$(grep -cxF -- "$(tail -1 "$TOP/.ci/run")" "$TOP/README.md")" -eq 1

# README's example with a log; live/pages.sh runs all examples.
mkdir page
cd page || exit 1
ln -s "$DPE" dpe
ln -s "$BUILD" build
run python3 "$TOP/tests/sessions.py" "$TOP/README.md" 'Your first DPE'
check "README's example with a log prints what README shows" "$status $(grep -c '^ok' out)" = '0 1'
ln -s "$TOP/examples" examples
PATH=$PWD:$PATH python3 "$TOP/tests/sessions.py" "$TOP/docs/imports.md" >sessions
check 'the examples of docs/imports.md print what the page shows' "$(grep -c '^ok' sessions) $(grep -c '^not ok' sessions)" = '4 0'
finish
