# `predict` on running programs: a race that the order of a lock hid in every run that was observed.
. tests/tap.sh
need_live 'predictions'
compile_target accidents

sed -n '/^sync exclusive mutex/,/^	)$/p; /^sync once thread_create/p; /^sync last thread_join/,/^	)$/p' \
	"$TOP/dpe-lang/std/pthread.dpe" >locks.dpe
cat >race.dpe <<'X'
include "locks.dpe"
detect happened: put() & get()
predict possible: put() & get()
X
cat >all.dpe <<'X'
include "pthread.dpe"
predict possible: put() & get()
X

found=0
for run in 1 2 3 4 5; do
	run "$DPE" run -s race.dpe -- ./accidents
	grep -q 'possible: predicted match of put()&get()' err && ! grep -q 'happened: match' err && found=$((found + 1))
done
check 'a race behind a lock is predicted, and did not happen' $found = 5
check 'with the order that shows it' "$(grep -c 'then thread .* runs until it comes to \(put\|get\)' err)" = 2
run "$DPE" run -s race.dpe -- ./accidents guarded
says 'under the lock there is none' 0 'nothing found'
run "$DPE" run -s all.dpe -- ./accidents
says 'nor where the semaphore is known that makes one wait' 0 'nothing found'
finish
