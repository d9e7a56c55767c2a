# Go: order of threads is none of goroutines. Rules about threads are refused, others can be followed.
. tests/tap.sh
need_live 'Go'

# A program with the scheduler's functions, as far as dpe looks at them.
printf 'void newproc(void) __asm__("runtime.newproc");\nvoid newproc(void)\n{\n}\nint main(void)\n{\n\tnewproc();\n}\n' >like_go.c
gcc -g like_go.c -o like_go || not_ok 'building like_go'

# checks PROGRAM FUNCTION
checks() {
	run "$DPE" race "\"$2\",\"$2\"" -- "./$1"
	says "$1: races are refused, with the way out" 2 "$1: error: it is a Go program, whose goroutines are not threads" 'note: go build -race finds data races'
	run "$DPE" deadlock -- "./$1"
	says "$1: so are deadlocks" 2 'goroutines are not threads'
	run "$DPE" run -e "measure calls: \"$2\" { count(); }" -- "./$1"
	says "$1: calls can be counted" 0 "$1: warning: it is a Go program"
	check "$1: and are" "$(grep -c 'calls: count.* [1-9]' err)" = 1
}
checks like_go runtime.newproc
if command -v go >/dev/null; then
	cat >program.go <<-'G'
		package main

		//go:noinline
		func work(done chan int) { done <- 1 }

		func main() {
			done := make(chan int)
			for i := 0; i < 3; i++ {
				go work(done)
				<-done
			}
		}
	G
	HOME=$PWD GOFLAGS=-mod=mod go build -o program program.go || not_ok 'building a Go program'
	checks program main.work
else
	ok 'a real program in Go # skip go is not installed'
fi
finish
