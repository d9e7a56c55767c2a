# The unit that watches a service: systemd accepts it, and its command watches the service.
. tests/tap.sh
unit=$TOP/examples/systemd/dpe-deadlock@.service

if command -v systemd-analyze >verify; then
	cp "$unit" dpe-deadlock@some.service
	printf '[Service]\nExecStart=/bin/true\n' >some.service
	run systemd-analyze verify --man=no ./dpe-deadlock@some.service ./some.service
	check 'systemd accepts the unit' "$status $(cat out err)" = '0 '
else
	ok 'the unit # skip no systemd-analyze here'
fi
need_live 'the command of the unit'
compile_target steps

# A replacement for systemctl that knows one service.
mkdir bin
./steps beyond enough >sum 2>&1 &
service=$!
await grep -q steps /proc/$service/comm
cat >bin/systemctl <<X
test "\$*" = 'show --property=MainPID --value some.service' && echo $service
X
printf '#!/bin/sh\ncommand=$1\nshift\nexec "%s" $command --debug=probes:1 "$@"\n' "$DPE" >bin/dpe
chmod +x bin/systemctl bin/dpe
command=$(sed -n "s/^ExecStart=.bin.sh -c '\(.*\)'\$/\1/p" "$unit" | sed 's/%i/some/g')
: >err
(await grep -q 'continues as user' err; : >enough) & # the service ends when it is watched
run env "PATH=$(pwd)/bin:$PATH" timeout 200 sh -c "$command"
says 'the command of the unit watches the service until it ends' 0 ' events, 0 lost; 8 rules: nothing found'
check 'the watched service prints its result' "$(cat sum)" = 'sum 55'
finish
