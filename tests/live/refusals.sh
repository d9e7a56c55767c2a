# Variables of a program that cannot be read are refused with the true reason, before the target starts.
. tests/tap.sh
need_live 'refused variables'
compile_target values

# refused NAME SPEC TEXT...
refused() {
	title=$1
	echo "$2" >refused.dpe
	shift 2
	run "$DPE" run -s refused.dpe -- ./values
	says "$title" 2 "$@"
	check 'the refusal of a variable comes before the target starts' ! -s out
}
refused 'an absent function without a similar name is refused' 'detect r: qqqqqqqqqqqq' "no function 'qqqqqqqqqqqq' in values" "'dpe list' prints the names"
refused 'a variable in the place of a function is refused' 'detect r: flag' "it is a variable: its accesses are written [flag]"
refused 'a function in the place of a variable is refused' "detect r: [toggle']" "'toggle' cannot be watched: it is a function" \
	'rules name functions without brackets'
refused 'an absent variable gets a suggestion' 'detect r: toggle [flog = 1]' "'flog' cannot be read: values has no variable 'flog'; did you mean 'flag'?"
refused 'a field that is written as a variable gets a suggestion' 'detect r: toggle [time > 5ms]' "'time' cannot be read" 'the field of an event is written .time in its condition'
refused 'a thread-local variable is refused' 'detect r: toggle [own = 1]' \
	"'own' is in values, but it is thread-local, with another address in each thread"
refused 'a static variable of a function, named alone, is refused' 'detect r: toggle [toggled = 1]' \
	"'toggled' is in values, but it is a static variable of a function"
refused 'a static variable of a function, named with another function, is refused' 'detect r: toggle [enqueue::toggled = 1]' \
	"'toggled' is in values, but it is a static variable of a function: write FUNCTION::VARIABLE"
refused 'a static variable of a function, written as its member, is refused' 'detect r: toggle [toggle.toggled = 1]' \
	"'toggle' is a function, and 'toggled' a static variable of it: write toggle::toggled"
for name in i main::i item next ROUND; do
	refused "$name, which is no variable, is refused, with what can be written" "detect r: toggle [$name = 1]" "'$name' cannot be read: values has no variable '$name'" \
		'; arguments are named in the event, as in f(_, x) [x > 0], members with an object, as in object.x or f(p) [p->x], enumerators by their numbers'
done
run objcopy --strip-debug values bare
gives 'objcopy removes the debug information' 0
run "$DPE" run -e "detect r: [toggle::toggled']" -- ./bare
says 'a static variable of a function is refused without debug information' 2 'that needs debug information, which names the function'
refused 'an argument that the function does not have is refused' 'detect r: enqueue(_, _, x)' "'enqueue' has " ', and the rules ask for 3'
refused 'an argument that the function does not have is refused without a name' 'detect r: toggle(_)' "'toggle' has 0 arguments, and the rules ask for 1"
refused 'a bit field is refused' 'detect r: toggle [bits.low = 1]' "'low' is a bit field"
refused 'an index that is no number is refused' 'detect r: toggle [queue.slots[flag] = 1]' 'an index must be a number'
refused 'a variable of the program that an action assigns is refused' "detect r: toggle { flag += 1; }
detect s: toggle.exit { print(flag); }" "an action assigns 'flag', which is not declared, and the program has a variable of that name: write 'var flag;'"
refused 'a cast is refused' 'detect r: toggle [(int)flag = 1]' 'this is a cast, which conditions do not have'
refused 'a long double is refused' 'detect r: toggle { print(wide); }' 'a floating point number has 4 or 8 bytes, not 16'
refused 'a complex number is refused' 'detect r: toggle { print(both); }' 'it is a complex number'
refused 'a structure as a value is refused' 'detect r: toggle { print(queue); }' 'a value has 1, 2, 4 or 8 bytes, or is an integer of 16, not 24'
refused 'the dereference of a number is refused' 'detect r: toggle [*flag = 1]' 'it is not a pointer'
refused 'more variables than an event carries are refused' \
	'detect r: toggle [v0 + v1 + v2 + v3 + v4 + v5 + v6 + v7 + v8]' 'one event carries 8'
refused 'variables at events of the kernel are refused' 'detect r: thread::exit [flag = 1]' \
	'not yet supported: variables of the running program at events that the kernel reports'

# Returns where stacks are switched: the kernel would end the program with SIGILL.
compile_target contexts
echo 'detect r: lower.exit' >exits.dpe
run "$DPE" run -s exits.dpe -- ./contexts
says 'a return in a program that switches stacks is refused' 2 'contexts switches stacks (makecontext)' 'observe only entries'
check 'the refusal of a return comes before the target starts' ! -s out
echo 'detect r: lower.enter ; higher.enter' >entries.dpe
run "$DPE" run -s entries.dpe -- ./contexts
says 'entries in a program that switches stacks are observed' 1 'r: match'
check 'a program that switches stacks, its entries observed, runs to its end' "$(cat out)" = 'lower returned'
run "$DPE" deadlock -- ./contexts
says 'dpe deadlock of a program that switches stacks is refused' 2 'switches stacks'
run "$DPE" deadlock --preload -- ./contexts
gives 'dpe deadlock --preload of a program that switches stacks finds nothing' 0
check 'a program that switches stacks runs to its end with --preload' "$(cat out)" = 'lower returned'

# Handlers on alternative stacks. From Linux 6.13 on, returns that would cost the program its life are not probed.
compile_target higher_stack
echo 'measure m: (outer.exit + inner.exit + handler.exit) { count(); }' >exits.dpe
for mode in above jump; do
	./higher_stack $mode
	check "$mode: the program ends well without dpe" $? = 0
	run "$DPE" run -s exits.dpe -- ./higher_stack $mode
	says "$mode: returns below the handler are seen, those in it are lost" 3 'exited with status 0' '2 events, 4 lost'
done
run "$DPE" run -s exits.dpe -- ./higher_stack below
says 'below: all returns are seen' 0 'm: count 6'
run "$DPE" run -s exits.dpe -- ./higher_stack once
says 'once: a death by SIGILL is reported as possibly due to dpe' 132 'SIGILL may be due to dpe' 'observe only entries'
echo 'measure m: (outer.enter + inner.enter + handler.enter) { count(); }' >entries.dpe
run "$DPE" run -s entries.dpe -- ./higher_stack once
says 'once: entries are observed, and the program ends well' 0 'm: count 6'

# An exception leaves a function whose return is probed: the unwinder does not find the caller.
${CXX:-g++} -g -O2 "$TOP/tests/live/targets/thrown.cc" -o thrown || not_ok 'compiling thrown.cc'
run "$DPE" run -e 'measure m: passes.exit { count(); }' -- ./thrown
says 'an exception that leaves a probed return: SIGABRT is reported as possibly due to dpe' 3 'SIGABRT may be due to dpe' "such as 'passes'" 'observe only entries'
run "$DPE" run -e 'measure m: passes.enter { count(); }' -- ./thrown
says 'an exception that leaves a function with a probed entry is caught' 0 'm: count 1'
finish
