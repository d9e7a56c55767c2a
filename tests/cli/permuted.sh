# Any permutation of a log gives the same verdicts.
. tests/tap.sh
python3 "$TOP/tests/conformance/permuted.py" --dpe "$DPE" || failures=1
finish
