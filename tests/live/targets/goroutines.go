// Goroutines that call `write`, in an order that the argument names. Calls of `alone` are ordered by nothing.
package main

import (
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

var value int
var counter int64

type queue struct{ items int }

//go:noinline
func write(n int) { value += n }

//go:noinline
func alone(n int) { value += n }

// Its stack grows with n, so it is moved while calls are in progress; the collector walks it.
//
//go:noinline
func deep(n int) int {
	var room [200]byte
	if n == 0 {
		runtime.GC()
		return 0
	}
	room[n%200] = 1
	return deep(n-1) + int(room[n%200])
}

//go:noinline
func (q *queue) put(n int, name string, last [1]int32) (int, error) {
	q.items += n
	return q.items + len(name) + int(last[0]), nil
}

//go:noinline
func far(a, b, c, d, e, f, g, h, i, j int) int { return a + j }

//go:noinline
func real(x float64, n int8) int8 { return n + int8(x) }

//go:noinline
func leave(n int) {
	if n < 2 {
		panic(n)
	}
}

// A panic leaves the first two calls.
func recovers() {
	for i := 0; i < 4; i++ {
		func() {
			defer func() { recover() }()
			leave(i)
		}()
	}
}

// Two goroutines, and what follows both.
func both(f func()) {
	var done sync.WaitGroup
	for i := 0; i < 2; i++ {
		done.Add(1)
		go func() {
			defer done.Done()
			for j := 0; j < 20; j++ {
				f()
			}
		}()
	}
	done.Wait()
	write(1)
}

// `first` in another goroutine, then `second`, by an atomic variable, which dpe does not observe: nobody waits.
func after(first, second func()) {
	var passed int32
	go func() {
		write(1)
		first()
		atomic.StoreInt32(&passed, 1)
	}()
	for atomic.LoadInt32(&passed) == 0 {
		runtime.Gosched()
	}
	second()
	write(1)
}

func channels() {
	one, two, none := make(chan int, 1), make(chan int, 30), make(chan int)
	both(func() { one <- 1; write(1); <-one })
	go func() {
		for i := 0; i < 20; i++ {
			write(1)
			two <- 1
		}
		close(two)
	}()
	for range two {
	}
	write(1)
	go func() {
		for i := 0; i < 20; i++ {
			write(1)
			none <- 1
			<-none
		}
	}()
	for i := 0; i < 20; i++ {
		<-none
		write(1)
		none <- 1
	}
	both(func() {
		select {
		case one <- 1:
			write(1)
			<-one
		case <-none:
		}
	})
	after(func() {
		select {
		case one <- 1:
		case <-none:
		}
	}, func() { <-one })
}

func locks() {
	var m sync.Mutex
	var rw sync.RWMutex
	var once sync.Once
	var values sync.Map
	var pool sync.Pool
	var done sync.WaitGroup
	nothing := func() {}
	both(func() { m.Lock(); write(1); m.Unlock() })
	both(func() {
		for !m.TryLock() {
			runtime.Gosched()
		}
		write(1)
		m.Unlock()
	})
	both(func() { rw.Lock(); write(1); rw.Unlock() })
	after(func() { rw.RLock(); rw.RUnlock() }, func() { rw.Lock(); rw.Unlock() })
	after(func() { rw.Lock(); rw.Unlock() }, func() { rw.RLock(); rw.RUnlock() })
	after(func() { once.Do(nothing) }, func() { once.Do(nothing) })
	after(func() { pool.Put(&m) }, func() { pool.Get() })
	done.Add(1)
	after(done.Done, done.Wait)
	values.Store(1, 1)
	values.Range(func(key, value any) bool { return true })
	after(func() { values.Store(1, 2) }, func() { values.Load(1) })
	changed, turn := sync.NewCond(&m), 0
	go func() {
		m.Lock()
		write(1)
		turn = 1
		m.Unlock()
		changed.Signal()
	}()
	m.Lock()
	for turn == 0 {
		changed.Wait()
	}
	m.Unlock()
	write(1)
}

func timers() {
	done := make(chan int)
	write(1)
	time.AfterFunc(time.Millisecond, func() { write(1); close(done) })
	<-done
	write(1)
	ticker := time.NewTicker(time.Millisecond)
	done = make(chan int)
	go func() { <-ticker.C; write(1); close(done) }()
	<-done
	write(1)
}

func main() {
	var rw sync.RWMutex
	switch os.Args[1] {
	case "ordered":
		channels()
		locks()
		timers()
	case "none":
		both(func() { alone(1) })
	case "readers":
		both(func() { rw.RLock(); alone(1); rw.RUnlock() })
	case "sent":
		c, done := make(chan int, 1), make(chan int)
		go func() { c <- 1; alone(1); close(done) }()
		<-c
		alone(2)
		<-done
	case "atomic":
		both(func() { alone(1); atomic.AddInt64(&counter, 1) })
	case "calls":
		q := &queue{3}
		both(func() { deep(100) })
		recovers()
		q.put(4, "abc", [1]int32{5})
		far(1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
		real(2, -3)
	}
}
