# What the documents show works, and what there is they tell.
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
check 'there are examples in the documents' "$(lines blocks)" -ge 4
while read -r block document; do
	run "$DPE" check "$block"
	gives "$document, $block: a good specification" 0
done <blocks

for command in check fmt compile run top attach record replay view convert race deadlock explore hang list; do
	run "$DPE" $command --help
	for option in $(sed -n 's/^  \(-., \)\{0,1\}\(--[a-z-]*\).*/\2/p' out); do
		grep -qF -- "$(echo "$option" | sed 's/-/\\-/g')" "$TOP/docs/dpe.1" ||
			not_ok "dpe.1 does not mention $command $option"
	done
	grep -qF "dpe $command" "$TOP/README.md" || not_ok "README does not mention $command"
	ok "$command is documented"
done

python3 - "$TOP" >missing <<'X'
import glob, os, re, sys
top = sys.argv[1]
for path in [f"{top}/README.md"] + glob.glob(f"{top}/docs/*.md"):
	for link in re.findall(r"\]\(([^)#:]+)\)", open(path).read()):
		if not os.path.exists(os.path.join(os.path.dirname(path), link)):
			print(path[len(top) + 1:], link)
X
: | same 'links lead somewhere' missing

check "README has continuous integration's command" "$(grep -cxF -- "$(tail -1 "$TOP/.ci/run")" "$TOP/README.md")" -eq 1

# What README shows of logs; live/pages.sh does all of it.
mkdir page
cd page || exit 1
ln -s "$DPE" dpe
ln -s "$BUILD" build
run python3 "$TOP/tests/sessions.py" "$TOP/README.md" 'Your first DPE'
check "the README's log" "$status $(grep -c '^ok' out)" = '0 1'
ln -s "$TOP/examples" examples
PATH=$PWD:$PATH python3 "$TOP/tests/sessions.py" "$TOP/docs/imports.md" >sessions
check 'logs of other programs' "$(grep -c '^ok' sessions) $(grep -c '^not ok' sessions)" = '4 0'
finish
