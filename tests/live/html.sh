# The page of a program that ran: objects by their variables, stacks, source lines.
. tests/tap.sh
need_live 'pages of programs'

mkdir examples
cp -r "$TOP/examples/producer-consumer" examples
run "$DPE" run -s examples/producer-consumer/race.dpe --on-break=continue --html=page.html -- "$BUILD/examples/producer-consumer-broken"
gives 'the race is found' 1
check 'semaphores have the names of their variables' "$(grep -c '"deposited"' page.html)" -ge 1
check 'stacks have lines' "$(grep -c 'producer-consumer.c:35' page.html)" -ge 1
check 'whose text is on the page' "$(grep -cF 'queue[last] = item' page.html)" -ge 1
run "$DPE" deadlock --html=order.html -- "$BUILD/examples/lock-inversion"
gives 'the lock order is found' 1
check 'edges as well' "$(grep -c '"mutex"' order.html)" -ge 1
check 'locks that actions hold are on the page' "$(grep -c '"journal"' order.html)" -ge 1
finish
