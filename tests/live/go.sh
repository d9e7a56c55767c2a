# Go: an order of threads is no order of goroutines. Rules about threads are refused, other rules can be followed.
. tests/tap.sh
need_live 'programs of Go'

# A program with the function of Go's scheduler by which dpe recognises Go.
printf 'void newproc(void) __asm__("runtime.newproc");\nvoid newproc(void)\n{\n}\nint main(void)\n{\n\tnewproc();\n}\n' >like_go.c
gcc -g like_go.c -o like_go || not_ok 'building like_go'

# checks PROGRAM FUNCTION: what is refused of the program, and that calls of the function are counted
checks() {
	run "$DPE" race "\"$2\",\"$2\"" -- "./$1"
	says "$1: dpe race is refused, with a note on go build -race" 2 "$1: error: it is a Go program, whose goroutines are not threads" 'note: go build -race finds data races'
	run "$DPE" race value,none value -- "./$1"
	check "$1: dpe race is refused once, whatever it names" "$status $(grep -c 'error: it is a Go program' err) $(grep -c error err)" = '2 1 1'
	run "$DPE" deadlock -- "./$1"
	says "$1: dpe deadlock is refused" 2 'goroutines are not threads'
	run "$DPE" run -e "measure calls: \"$2\" { count(); }" -- "./$1"
	says "$1: dpe run warns that it is a Go program" 0 "$1: warning: it is a Go program"
	check "$1: dpe run counts calls" "$(grep -c 'calls: count.* [1-9]' err)" = 1
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
	ok 'a program of Go # skip go is not installed'
fi
finish
