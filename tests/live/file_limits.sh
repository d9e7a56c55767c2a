# The ring of --preload is a file in memory: limits of the size of files must not end dpe.
. tests/tap.sh
need_live 'limits of the size of files'
echo 'detect never: libc::pthread_mutex_lock ; libc::pthread_mutex_trylock' >rule.dpe
program=$BUILD/examples/producer-consumer
run sh -c 'ulimit -S -f 1000; exec "$@"' - "$DPE" run --preload --allow-unobserved -s rule.dpe -- "$program"
check '--preload raises a soft limit of the size of files' $status -lt 2
run sh -c 'ulimit -f 1000; exec "$@"' - "$DPE" run --preload -s rule.dpe -- "$program"
says '--preload under a hard limit of the size of files reports that the ring is too large' 2 'File too large'
run sh -c 'ulimit -S -f 1000; exec "$@"' - "$DPE" run --preload -s rule.dpe -- sh -c 'ulimit -f'
check 'with --preload, the program has its own limit of the size of files' "$(cat out)" = 1000
finish
