# The files for editors: see editors.py.
. tests/tap.sh
cd "$TOP" || exit 1
python3 tests/cli/editors.py || failures=1
finish
