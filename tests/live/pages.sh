# README, the cookbook, the tutorial and the pages about pictures and breaks: their commands print what the pages show.
. tests/tap.sh
need_live 'the pages'

mkdir commands page
ln -s "$DPE" commands/dpe
PATH=$folder/commands:$PATH
export PATH LIBRARY_PATH="$BUILD" LD_LIBRARY_PATH="$BUILD"
cd page || exit 1
ln -s "$DPE" dpe
ln -s "$BUILD" build
ln -s "$TOP/examples" examples
for page in README.md docs/cookbook.md docs/views.md docs/tutorial.md docs/breaks.md; do
	python3 "$TOP/tests/sessions.py" "$TOP/$page" || failures=$((failures + 1))
done
finish
