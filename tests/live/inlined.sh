# Stacks with calls that the compiler inlined.
. tests/tap.sh
need_live 'stacks with inlined calls'

printf 'detect a: deposit(n) [n == 1]\ndetect b: begins(n)\n' >calls.dpe
run "$DPE" run --all --stack=2 --show-suppressions -s calls.dpe -- "$BUILD/targets/inlined"
sed 's/  thread.*//; s/+0x[0-9a-f]*//; s,tests/probes/targets/,,; /^dpe/d
	s/^\( *at .*\):[0-9]*)/\1)/' err >shown
same 'inlined calls are in the stack' shown <<'X'
#1 a: match of deposit(n) [n == 1]  [calls.dpe:1]
  where n = 1
  $1 deposit(1)
       at deposit (inlined.c)
       by deposit_both (inlined) (inlined.c:13)
       by work (inlined.c:19)
  suppression rule:a function:deposit
#2 a: match of deposit(n) [n == 1]  [calls.dpe:1]
  where n = 1
  $1 deposit(1)
       at deposit (inlined.c)
       by deposit_twice (inlined) (inlined.h:9)
       by deposit_both (inlined) (inlined.c:14)
       by work (inlined.c:19)
  suppression rule:a function:deposit
#3 b: match of begins(n)  [calls.dpe:2]
  where n = 2
  $1 begins(2)
       at begins (inlined.c)
       by main (inlined.c:32)
  suppression rule:b function:begins
X
echo 'function:deposit_twice' >known
run "$DPE" run --suppressions=known --stack=2 -s calls.dpe -- "$BUILD/targets/inlined"
says 'a suppression by the name of an inlined function applies' 1 '2 matches, 1 suppressed'
finish
