# dpe fmt: the layout of specifications.
. tests/tap.sh

cat >untidy.dpe <<'END'
var   x=1,y ;
include"pthread.dpe"


def(a,b)=(  a;b )  *  
expect  r( v ) :   ((open (v).enter[ .ret==-1&& ! x ]+close( v ) . exit)@ &s ^^(v)*n);  q {if(x>y){print( "a;b" ,x ,a [ 3 ],*p , p ->f,-y);}else break ;}   else{error( 'c' ) } // trailing   
 /* c */ detect two:"q.c:3"[X=2];"open file" ^(f) .exit;[X=X'+1];[ X' ] &  libc :: f()   observing g ,h
	{
print(x)  ; x += 2 ;
  }
END
cat >tidy.dpe <<'END'
var x = 1, y;
include "pthread.dpe"

def(a, b) = (a ; b)*
expect r(v): ((open(v).enter [.ret == -1 && !x] + close(v).exit)@ & s^^(v)*n) ; q { if (x > y) { print("a;b", x, a[3], *p, p->f, -y); } else break; } else { error('c') } // trailing
/* c */ detect two: "q.c:3" [X = 2] ; "open file"^(f).exit ; [X = X' + 1] ; [X'] & libc::f() observing g, h
	{
		print(x); x += 2;
	}
END
run "$DPE" fmt untidy.dpe
cmp -s out tidy.dpe
check 'dpe fmt writes the standard layout' "$status $(diff out tidy.dpe | head -20)" = '0 '
run "$DPE" fmt --check tidy.dpe untidy.dpe
says 'dpe fmt --check names a file that is not in the standard layout' 1 'untidy.dpe: not in the standard layout'
check 'dpe fmt --check does not name a file in the standard layout' "$(grep -c tidy.dpe err)" -eq 1
chmod 640 untidy.dpe
run "$DPE" fmt -i untidy.dpe tidy.dpe
check 'dpe fmt -i rewrites files in place and keeps their mode' "$status $(cmp untidy.dpe tidy.dpe) $(stat -c %a untidy.dpe)" = '0  640'
run "$DPE" fmt - <tidy.dpe
check 'dpe fmt - reads standard input' "$(diff out tidy.dpe)" = ''
run "$DPE" fmt -i - </dev/null
says 'dpe fmt -i refuses standard input' 2 'standard input cannot be changed in place'

printf 'detect r(x):a ;b\nwithout  c , d(x)\nobserving e  ends{ break }' >absence.dpe
run "$DPE" fmt absence.dpe
check 'dpe fmt writes without, observing and ends on lines of their own' "$(cat out)" = "$(printf 'detect r(x): a ; b\n\twithout c, d(x)\n\tobserving e ends { break }')"

printf 'detect r: a ;; b\n' >wrong.dpe
cp wrong.dpe same.dpe
run "$DPE" fmt -i wrong.dpe
says 'dpe fmt -i reports a syntax error' 2 'wrong.dpe:1:'
check 'dpe fmt -i does not change a file with a syntax error' "$(diff wrong.dpe same.dpe)" = ''
run "$DPE" fmt nowhere.dpe
says 'dpe fmt reports a missing file' 2 'nowhere.dpe: error: cannot be opened'
run "$DPE" fmt
says 'dpe fmt without a file fails' 2 'no specification'
printf 'detect a: x\r\ndetect b:\ty' >dos.dpe
run "$DPE" fmt dos.dpe
check 'dpe fmt replaces CR LF and adds a missing last newline' "$(cat out)" = "$(printf 'detect a: x\ndetect b: y')"
printf "detect o(p):[p->x']\nfrom  a(p). exit  to b( _,p ) by T[p->x=1];from;to(p)\n" >objects.dpe
run "$DPE" fmt objects.dpe
check 'dpe fmt formats from, to and by' "$(cat out)" = "$(printf "detect o(p): [p->x']\n\tfrom a(p).exit to b(_, p) by T [p->x = 1] ; from ; to(p)")"
# A name directly after a star is a control variable, a name after a blank begins the next rule.
printf 'r: A* s: B *last ; C *last  t: D *  u: E@ v: F\n' >stars.dpe
run "$DPE" fmt stars.dpe
check 'dpe fmt distinguishes a control variable from the next rule after a star' \
	"$(cat out)" = 'r: A* s: B*last ; C*last t: D* u: E@ v: F'
# A prime after a comment does not open a string.
printf "detect r: [X /* one */ ' ] { n = 1; } Function./* two\n   more */exit { print(n); }\n" >primes.dpe
run "$DPE" fmt primes.dpe
gives 'dpe fmt accepts comments before a prime and after a point' 0
run "$DPE" fmt --check - <out
gives 'dpe fmt leaves comments before a prime and after a point unchanged' 0
: >empty.dpe
run "$DPE" fmt empty.dpe
check 'dpe fmt of an empty file writes nothing' ! -s out
printf 'detect r: a\0b\n' >nul.dpe
run "$DPE" fmt nul.dpe
gives 'dpe fmt refuses a NUL byte' 2

# All specifications of this tree: formatting is idempotent and keeps the syntax tree.
good=0
all=0
for spec in "$TOP"/dpe-lang/std/*.dpe "$TOP"/examples/*/*.dpe "$TOP"/tests/dpe-lang/*/*.dpe; do
	"$DPE" fmt "$spec" >once.dpe 2>err || continue
	all=$((all + 1))
	"$DPE" fmt --check once.dpe 2>err || explain "$spec"
	"$DPE" check --dump=ast "$spec" >before 2>err
	(cd "$(dirname "$spec")" && "$DPE" check --dump=ast - <"$folder/once.dpe") >after 2>err
	diff before after >difference || continue
	good=$((good + 1))
done
mkdir linked
printf 'r: a;b\n' >linked/file.dpe
ln -s linked/file.dpe link.dpe
run "$DPE" fmt -i link.dpe
check 'dpe fmt -i keeps a symbolic link and writes its file' "$(readlink link.dpe) $(cat linked/file.dpe)" = 'linked/file.dpe r: a ; b'
check 'dpe fmt keeps the syntax tree of all specifications of the tree' "$good" -eq "$all"
run "$DPE" fmt --check "$TOP"/dpe-lang/std/*.dpe "$TOP"/examples/*/*.dpe
gives 'the shipped specifications are in the standard layout' 0
run python3 "$TOP/tests/conformance/layout.py" --dpe "$DPE" "$TOP/tests/conformance/safe.jsonl" \
	"$TOP/tests/conformance/unsafe.jsonl"
check 'dpe fmt formats random expressions with blanks and comments anywhere' "$status $(grep -c '^ok' out)" = '0 16'
finish
