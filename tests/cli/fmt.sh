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
check 'the standard layout' "$status $(diff out tidy.dpe | head -20)" = '0 '
run "$DPE" fmt --check tidy.dpe untidy.dpe
says '--check names what would change' 1 'untidy.dpe: not in the standard layout'
check 'and nothing else' "$(grep -c tidy.dpe err)" -eq 1
chmod 640 untidy.dpe
run "$DPE" fmt -i untidy.dpe tidy.dpe
check 'in place' "$status $(cmp untidy.dpe tidy.dpe) $(stat -c %a untidy.dpe)" = '0  640'
run "$DPE" fmt - <tidy.dpe
check 'standard input' "$(diff out tidy.dpe)" = ''
run "$DPE" fmt -i - </dev/null
says 'which cannot be changed' 2 'standard input cannot be changed in place'

printf 'detect r(x):a ;b\nwithout  c , d(x)\nobserving e  ends{ break }' >absence.dpe
run "$DPE" fmt absence.dpe
check 'without and observing stay as written' "$(cat out)" = "$(printf 'detect r(x): a ; b\n\twithout c, d(x)\n\tobserving e ends { break }')"

printf 'detect r: a ;; b\n' >wrong.dpe
cp wrong.dpe same.dpe
run "$DPE" fmt -i wrong.dpe
says 'what is wrong is reported' 2 'wrong.dpe:1:'
check 'and left alone' "$(diff wrong.dpe same.dpe)" = ''
run "$DPE" fmt nowhere.dpe
says 'a file that is not there' 2 'nowhere.dpe: error: cannot be opened'
run "$DPE" fmt
says 'no file' 2 'no specification'
printf 'detect a: x\r\ndetect b:\ty' >dos.dpe
run "$DPE" fmt dos.dpe
check 'line ends of other systems, and no last one' "$(cat out)" = "$(printf 'detect a: x\ndetect b: y')"
printf "detect o(p):[p->x']\nfrom  a(p). exit  to b( _,p ) by T[p->x=1];from;to(p)\n" >objects.dpe
run "$DPE" fmt objects.dpe
check 'from and to' "$(cat out)" = "$(printf "detect o(p): [p->x']\n\tfrom a(p).exit to b(_, p) by T [p->x = 1] ; from ; to(p)")"
# Whether a name follows a star at once says what it is.
printf 'r: A* s: B *last ; C *last  t: D *  u: E@ v: F\n' >stars.dpe
run "$DPE" fmt stars.dpe
check 'a star, and the name of the next rule or of a control variable' \
	"$(cat out)" = 'r: A* s: B*last ; C*last t: D* u: E@ v: F'
# A prime behind a comment is none that a quote could close.
printf "detect r: [X /* one */ ' ] { n = 1; } Function./* two\n   more */exit { print(n); }\n" >primes.dpe
run "$DPE" fmt primes.dpe
gives 'comments before a prime and after a point' 0
run "$DPE" fmt --check - <out
gives '… which stay where they are' 0
: >empty.dpe
run "$DPE" fmt empty.dpe
check 'an empty file' ! -s out
printf 'detect r: a\0b\n' >nul.dpe
run "$DPE" fmt nul.dpe
gives 'a NUL byte' 2

# All specifications of this tree: the layout is not changed again and means the same.
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
check 'a symbolic link stays, and its file is written' "$(readlink link.dpe) $(cat linked/file.dpe)" = 'linked/file.dpe r: a ; b'
check 'the specifications of the tree keep their meaning' "$good" -eq "$all"
run "$DPE" fmt --check "$TOP"/dpe-lang/std/*.dpe "$TOP"/examples/*/*.dpe
gives 'the ones that ship are in the standard layout' 0
run python3 "$TOP/tests/conformance/layout.py" --dpe "$DPE" "$TOP/tests/conformance/safe.jsonl" \
	"$TOP/tests/conformance/unsafe.jsonl"
check 'expressions with blanks and comments anywhere' "$status $(grep -c '^ok' out)" = '0 16'
finish
