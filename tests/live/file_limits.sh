# The ring of --preload is memory, but has a size like a file: file limits must not end dpe.
. tests/tap.sh
need_live 'file limits'
echo 'detect never: libc::pthread_mutex_lock ; libc::pthread_mutex_trylock' >rule.dpe
program=$BUILD/examples/producer-consumer
run sh -c 'ulimit -S -f 1000; exec "$@"' - "$DPE" run --preload --allow-unobserved -s rule.dpe -- "$program"
check 'a limit that can be raised' $status -lt 2
run sh -c 'ulimit -f 1000; exec "$@"' - "$DPE" run --preload -s rule.dpe -- "$program"
says 'one that cannot' 2 'File too large'
run sh -c 'ulimit -S -f 1000; exec "$@"' - "$DPE" run --preload -s rule.dpe -- sh -c 'ulimit -f'
check 'the program has the limit that it had' "$(cat out)" = 1000
finish
