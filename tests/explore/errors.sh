# Calls return the same under control as without dpe.
. tests/tap.sh

${CC:-cc} -g -O1 -pthread "$TOP/tests/explore/targets/errors.c" -o errors || not_ok "compiling errors.c"
run ./errors
says "calls return the expected errors without dpe" 0
run "$DPE" explore --runs=20 --fails=1-255 -- ./errors
says "calls return the same under control as without dpe" 0 "nothing found"
finish
