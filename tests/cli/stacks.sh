# Stacks in the report: short names, and only those frames of language libraries that the program calls.
. tests/tap.sh
echo 'detect found: a' >a.dpe

# stack FRAME...: the report of an event with these frames, from the innermost
stack() {
	{
		printf '{"event":"a","thread":1,"stack":['
		separator=
		for frame; do
			printf '%s"%s"' "$separator" "$frame"
			separator=,
		done
		printf ']}\n'
	} >a.jsonl
	run "$DPE" replay $options -s a.dpe a.jsonl
	sed -n 's/^       //p' err >frames
}
options=
stack 'std::_Rb_tree<int, std::pair<int const, int> >::_M_lower_bound(int const&)+0x8c (/usr/include/c++/12/bits/stl_tree.h:1951)' \
	'std::map<int, int, std::less<int> >::find(int const&) (inlined) (/usr/include/c++/12/bits/stl_map.h:1218)' \
	'shop::lookup(std::vector<std::pair<int, int> >&, int (*)(char))+0x43 (src/shop.cpp:17)' \
	'std::__invoke_impl<void, main::{lambda()#1}>() (inlined) (/usr/include/c++/12/bits/invoke.h:61)' \
	'main::{lambda(int)#1}::operator()(int) const+0x10 (src/shop.cpp:29)' '0x7f58122d44a3 (libstdc++.so.6.0.30+0xd44a3)'
same 'a stack omits frames inside the C++ library and parameters of functions' frames <<'X'
at std::map::find() (inlined) (/usr/include/c++/12/bits/stl_map.h:1218)
by shop::lookup()+0x43 (src/shop.cpp:17)
by std::__invoke_impl() (inlined) (/usr/include/c++/12/bits/invoke.h:61)
by main::{lambda()#1}::operator()() const+0x10 (src/shop.cpp:29)
X
options=--full-stacks
stack 'f<int>(int)+0x1 (/usr/include/c++/12/x.h:1)' 'g(char)+0x2 (g.cpp:2)' 'h<int>()+0x3 (/usr/include/c++/12/x.h:3)'
same '--full-stacks prints all frames with full names' frames <<'X'
at f<int>(int)+0x1 (/usr/include/c++/12/x.h:1)
by g(char)+0x2 (g.cpp:2)
by h<int>()+0x3 (/usr/include/c++/12/x.h:3)
X
options=
stack 'f<int>(int)+0x1 (/usr/include/c++/12/x.h:1)' 'g(char)+0x2 (libstdc++.so.6)'
same 'a stack without a frame of the program is printed whole' frames <<'X'
at f()+0x1 (/usr/include/c++/12/x.h:1)
by g()+0x2 (libstdc++.so.6)
X
stack 'std::operator< <char, std::allocator<char> >(std::string const&)+0x1 (a.h:1)' 'q::operator<<(int)+0x2 (a.h:2)' \
	'q<int>::operator()(int)+0x3 (a.h:3)' 'q<(k)2>::operator->() const+0x4 (a.h:4)' 'my_operator<int>(int)+0x5 (a.h:5)' \
	'(anonymous namespace)::f(int)+0x6 (a.h:6)' 'f(decltype (((x)->y)()))+0x7 (a.h:7)' '<shop::Queue as shop::Put>::put+0x8 (a.rs:8)' \
	'plain_c+0x9 (a.c:9)' 'cut<int (a.h:10)' 'main (inlined) (a.c:11)' '0x12 (prog+0x12)' '' '(' '<' 'operator'
same 'names of operators, anonymous namespaces, Rust and C, and odd ones, are shortened' frames <<'X'
at std::operator<()+0x1 (a.h:1)
by q::operator<<()+0x2 (a.h:2)
by q::operator()()+0x3 (a.h:3)
by q::operator->() const+0x4 (a.h:4)
by my_operator()+0x5 (a.h:5)
by (anonymous namespace)::f()+0x6 (a.h:6)
by f()+0x7 (a.h:7)
by shop::Queue::put+0x8 (a.rs:8)
by plain_c+0x9 (a.c:9)
by cut (a.h:10)
by main (inlined) (a.c:11)
by 0x12 (prog+0x12)
by 
by ()
by <>
by operator
X
stack 'sigtimedwait+0x72 (../sysdeps/unix/sysv/linux/sigtimedwait.c:31)' 'timer_helper_thread+0x53 (../sysdeps/unix/sysv/linux/timer_routines.c:70)' \
	'start_thread+0x305 (pthread_create.c:442)' 'clone3+0x2c (../sysdeps/unix/sysv/linux/x86_64/clone3.S:81)'
same 'a stack of the C library is printed, but for the beginning of the thread' frames <<'X'
at sigtimedwait+0x72 (../sysdeps/unix/sysv/linux/sigtimedwait.c:31)
by timer_helper_thread+0x53 (../sysdeps/unix/sysv/linux/timer_routines.c:70)
X

# Findings that differ only in frames of the library are one finding.
one='shop::lookup(int)+0x43 (src/shop.cpp:17)'
for line in 1 2 3; do
	echo "{\"event\":\"a\",\"thread\":$line,\"stack\":[\"std::f()+0x1 (/usr/include/f.h:$line)\",\"std::g() (inlined) (/usr/include/g.h:9)\",\"$one\"]}"
done >a.jsonl
run "$DPE" replay -s a.dpe a.jsonl
says 'findings that differ only in library frames are one finding' 1 '#1 was seen 3 times'
check 'findings that differ only in library frames are printed once' "$(grep -c '^#[0-9]* found' err)" -eq 1

options=
stack 'work+0x1 (w.c:1)' 'main+0x2 (w.c:2)' '0x7f0000027249 (libc.so.6+0x27249)' '__libc_start_main+0x85 (libc.so.6)' '_start+0x21 (w)'
same 'frames below main are left out, also unnamed ones of the C library' frames <<'X'
at work+0x1 (w.c:1)
by main+0x2 (w.c:2)
X
stack 'compare+0x1 (w.c:1)' '0x7f0000000001 (libc.so.6+0x1)' 'qsort+0x9 (libc.so.6)' 'work+0x2 (w.c:2)' '0x7f0000000002 (libc.so.6+0x2)' \
	'0x7f0000000003 (libc.so.6+0x3)'
same 'unnamed C library frames below the function of a thread are left out, others printed' frames <<'X'
at compare+0x1 (w.c:1)
by 0x7f0000000001 (libc.so.6+0x1)
by qsort+0x9 (libc.so.6)
by work+0x2 (w.c:2)
X
stack '0x7f0000000001 (libc.so.6+0x1)' '0x7f0000000002 (libc.so.6+0x2)' '0x7f0000000003 (libc.so.6+0x3)' '0x7f0000000004 (libc.so.6+0x4)'
same 'at most two unnamed C library frames are left out' frames <<'X'
at 0x7f0000000001 (libc.so.6+0x1)
by 0x7f0000000002 (libc.so.6+0x2)
X
options=
stack '<std::sys::sync::mutex::futex::Mutex>::lock_contended+0xb6 (shop/mutex.rs:61)' '<shop::Queue<i32> as shop::Put<u8>>::put::<u8>+0x2 (shop/queue.rs:2)' \
	'<&shop::List<shop::Item>>::each+0x3 (shop/list.rs:3)' '<shop::Pair<<u8 as shop::Put>::Key>>::left+0x4 (shop/list.rs:4)' '<>+0x5 (shop/list.rs:5)'
same 'methods in Rust are named with their types' frames <<'X'
at std::sys::sync::mutex::futex::Mutex::lock_contended+0xb6 (shop/mutex.rs:61)
by shop::Queue::put::<>+0x2 (shop/queue.rs:2)
by &shop::List::each+0x3 (shop/list.rs:3)
by shop::Pair::left+0x4 (shop/list.rs:4)
by <>+0x5 (shop/list.rs:5)
X
finish
