# Go: an order of threads is no order of goroutines. Rules about threads are refused, other rules can be followed.
. tests/tap.sh
need_live 'programs of Go'

# Its stacks move, which its collector walks.
cat >program.go <<-'G'
	package main

	import "runtime"

	//go:noinline
	func work(done chan int) {
		runtime.GC()
		done <- 1
	}

	func main() {
		done := make(chan int)
		for i := 0; i < 3; i++ {
			go work(done)
			<-done
		}
	}
G
HOME=$PWD go build program.go || not_ok 'building a Go program'

for rule in '"main.work","main.work"' value,none; do
	run "$DPE" race "$rule" value,none -- ./program
	says "dpe race $rule is refused, with a note on go build -race" 2 'program: error: it is a Go program, whose goroutines are not threads' 'note: go build -race finds data races'
	check "dpe race $rule is refused once, whatever it names" "$(grep -c error err)" = 1
done
run "$DPE" deadlock -- ./program
says 'dpe deadlock is refused' 2 'goroutines are not threads'
run "$DPE" run -e 'measure calls: "main.work" { count(); }' -- ./program
says 'dpe run warns that it is a Go program, and counts calls' 0 'program: warning: it is a Go program' 'calls: count 3'
run "$DPE" run -e 'measure calls: "main.work".exit { count(); }' -- ./program
says 'returns, whose probes would end it, are refused' 2 'program switches stacks' 'observe only entries'
run "$DPE" run --follow -e 'measure calls: "main.work".exit { count(); }' -- /bin/sh -c './program; echo status $?'
check 'no return is probed in a process that is followed' "$status $(tail -1 out)" = '3 status 0'
finish
