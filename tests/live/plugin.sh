# Libraries that the program loads while it runs.
. tests/tap.sh
need_live 'libraries loaded later'
compile_target host
printf 'int helper_twice(int number)\n{\n\treturn 2 * number;\n}\n' >helper.c
${CC:-cc} -g -O1 -shared -fPIC helper.c -o libhelper.so || not_ok 'compiling helper.c'
${CC:-cc} -g -O1 -shared -fPIC "$TOP/tests/live/targets/plugin.c" -o plugin.so -L. -lhelper '-Wl,-rpath,$ORIGIN' ||
	not_ok 'compiling plugin.c'

count_seen() {
	grep -c "$1" err
}

cat >plugin.dpe <<'DPE'
detect work(x): plugin::plugin_work(x).exit { print(x, $1.ret); }
detect inner: plugin::inner
detect twice: libhelper::helper_twice ; reported
detect line: "plugin.c:9"
DPE
run "$DPE" run --all --library=plugin.so -s plugin.dpe -- ./host ./plugin.so 3
check 'a plugin that is loaded and unloaded three times is observed' "$(count_seen '^work: 2 5$') $(count_seen 'work: match')" = '1 3'
check 'the constructor and static functions of the plugin are observed' "$(count_seen 'inner: match')" -eq 6
check 'a library that the plugin needs is observed' "$(count_seen 'twice: match')" -eq 1
check 'lines of the plugin are observed' "$(count_seen 'line: match')" -eq 6
check 'stacks have frames of the plugin' "$(count_seen 'by plugin_work+0x[0-9a-f]* (.*plugin.c:14)')" -ge 3
check 'no event of the plugin is lost' "$(count_seen ' 0 lost')" -eq 1
check 'the program with the plugin prints its usual result' "$(cat out)" = 9
summary=$(grep '^dpe: .*rules' err)
attaches './host ./plugin.so 3 stands-by' --all --library=./plugin.so -s plugin.dpe
check 'attach with --library sees the same events of the plugin' "$(grep '^dpe: .*rules' err)" = "$summary"
run "$DPE" list --library=plugin.so ./host 'plugin*::*'
check 'dpe list --library shows functions of the plugin' "$(grep -c '^plugin.so::plugin_work(int number)$' out)" -eq 1

# without --library
run "$DPE" run --all -s plugin.dpe -- ./host ./plugin.so 3
says 'without --library, a warning tells that dpe waits for the plugin' 1 "no class, namespace, program or library there is called 'plugin'" \
	'dpe waits for it: the program may load a library that has it'
check 'without --library, the same events of the plugin are seen' "$(grep '^dpe: .*rules' err)" = "$summary"
check 'without --library, the first constructor is seen' "$(count_seen 'inner: match')" -eq 6
check 'without --library, no name is reported as never seen' "$(count_seen 'never appeared')" -eq 0
attaches './host ./plugin.so 3 stands-by' --all -s plugin.dpe
check 'attach without --library sees the same events of the plugin' "$(grep '^dpe: .*rules' err)" = "$summary"
stopped=4
attaches './host ./plugin.so 3 stands-by' --all -s plugin.dpe
check 'attach by a dpe that is stopped for a while sees the same events' "$(grep '^dpe: .*rules' err)" = "$summary"
run "$DPE" run --library=nowhere.so -s plugin.dpe -- ./host ./plugin.so 3
says '--library with an absent file is refused' 2 'nowhere.so: error: cannot be read: No such file or directory'
run "$DPE" run --library=plugin.dpe -s plugin.dpe -- ./host ./plugin.so 3
says '--library with a file that is no library is refused' 2 'this is not an ELF program or library'
check 'the refusal of --library comes before the target starts' ! -s out

# Variables of the plugin.
printf 'static int uses;\nint plugin_work(int number)\n{\n\treturn uses = number;\n}\n' >counts.c
${CC:-cc} -g -shared -fPIC counts.c -o counts.so || not_ok 'compiling counts.c'
run "$DPE" run -e "detect r: [counts::uses']" -- ./host ./counts.so 3
says 'a variable of a library that is loaded later is refused, with a way to name it' 2 "host has no variable 'counts::uses'" \
	'those of a library that it loads with dlopen as library::variable, if LD_PRELOAD loads that library at the start'
run env LD_PRELOAD=./counts.so "$DPE" run -e "detect r: [counts::uses']" -- ./host ./counts.so 3
says 'in this way it is watched' 1 "match of [counts::uses']"
finish
