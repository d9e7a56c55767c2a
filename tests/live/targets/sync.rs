// Rust's ways to order threads: cases that are right, and twins that are not. put and get of one number: in a right case one
// comes before the other.
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{mpsc, Arc, Barrier, Condvar, Mutex, Once, RwLock};
use std::thread;

#[inline(never)]
#[no_mangle]
pub extern "C" fn put(number: &i32) {
    unsafe { std::ptr::read_volatile(number) };
}

#[inline(never)]
#[no_mangle]
pub extern "C" fn get(number: &i32) -> i32 {
    unsafe { std::ptr::read_volatile(number) }
}

static ONCE: Once = Once::new();
static ENDED: AtomicBool = AtomicBool::new(false);

fn right_mutex(number: &'static i32) {
    let done = Arc::new(Mutex::new(false));
    let theirs = done.clone();
    let thread = thread::spawn(move || {
        let mut guard = theirs.lock().unwrap();
        put(number);
        *guard = true;
    });
    while !*done.lock().unwrap() {}
    get(number);
    thread.join().unwrap();
}

fn wrong_mutex(number: &'static i32) {
    let done = Arc::new(Mutex::new(false));
    let theirs = done.clone();
    let thread = thread::spawn(move || {
        *theirs.lock().unwrap() = true;
        put(number);
    });
    while !*done.lock().unwrap() {}
    get(number);
    thread.join().unwrap();
}

fn right_tried(number: &'static i32) {
    let done = Arc::new(Mutex::new(false));
    let theirs = done.clone();
    let thread = thread::spawn(move || {
        put(number);
        *theirs.lock().unwrap() = true;
    });
    while !done.try_lock().map_or(false, |guard| *guard) {}
    get(number);
    thread.join().unwrap();
}

fn right_rwlock(number: &'static i32) {
    let done = Arc::new(RwLock::new(false));
    let theirs = done.clone();
    let thread = thread::spawn(move || {
        let mut guard = theirs.write().unwrap();
        put(number);
        *guard = true;
    });
    while !*done.read().unwrap() {}
    get(number);
    thread.join().unwrap();
}

fn right_readers(number: &'static i32) {
    let count = Arc::new((RwLock::new(()), Mutex::new(0)));
    let theirs = count.clone();
    let thread = thread::spawn(move || {
        let _guard = theirs.0.read().unwrap();
        *theirs.1.lock().unwrap() = 1; // it reads
        put(number);
    });
    while *count.1.lock().unwrap() == 0 {}
    let _guard = count.0.write().unwrap();
    get(number);
    thread.join().unwrap();
}

fn wrong_readers(number: &'static i32) {
    let lock = Arc::new(RwLock::new(()));
    let theirs = lock.clone();
    let thread = thread::spawn(move || {
        let _guard = theirs.read().unwrap();
        put(number);
    });
    {
        let _guard = lock.read().unwrap();
        get(number);
    }
    thread.join().unwrap();
}

fn right_condvar(number: &'static i32) {
    let pair = Arc::new((Mutex::new(false), Condvar::new()));
    let theirs = pair.clone();
    let thread = thread::spawn(move || {
        put(number);
        *theirs.0.lock().unwrap() = true;
        theirs.1.notify_one();
    });
    let mut guard = pair.0.lock().unwrap();
    while !*guard {
        guard = pair.1.wait(guard).unwrap();
    }
    get(number);
    drop(guard);
    thread.join().unwrap();
}

fn right_channel(number: &'static i32) {
    let (sender, receiver) = mpsc::channel();
    let thread = thread::spawn(move || {
        for _ in 0..100 {
            sender.send([1u64; 5]).unwrap();
        }
        put(number);
        sender.send([2u64; 5]).unwrap();
    });
    while receiver.recv().unwrap()[0] == 1 {}
    get(number);
    thread.join().unwrap();
}

fn wrong_channel(number: &'static i32) {
    let (sender, receiver) = mpsc::channel();
    let thread = thread::spawn(move || {
        sender.send((1u32, 1u32)).unwrap();
        put(number);
        std::mem::forget(sender); // its end would be an order
    });
    receiver.recv().unwrap();
    get(number);
    thread.join().unwrap();
}

// The receiver learns that there will be no more, and the sender that there is room.
fn right_hangup(number: &'static i32) {
    let (sender, receiver) = mpsc::channel::<i32>();
    let thread = thread::spawn(move || {
        put(number);
        drop(sender);
    });
    while receiver.recv().is_ok() {}
    get(number);
    thread.join().unwrap();
}

fn right_room(number: &'static i32) {
    let (sender, receiver) = mpsc::sync_channel(1);
    let thread = thread::spawn(move || {
        put(number);
        receiver.recv().unwrap();
        receiver.recv().unwrap();
    });
    sender.send(1).unwrap();
    sender.send(2).unwrap();
    get(number);
    thread.join().unwrap();
}

fn right_rendezvous(number: &'static i32) {
    let (sender, receiver) = mpsc::sync_channel(0);
    let thread = thread::spawn(move || {
        put(number);
        sender.send(1).unwrap();
    });
    receiver.recv().unwrap();
    get(number);
    thread.join().unwrap();
}

fn right_once(number: &'static i32) {
    let thread = thread::spawn(move || ONCE.call_once(|| put(number)));
    ONCE.call_once(|| put(number));
    get(number);
    thread.join().unwrap();
}

fn right_park(number: &'static i32) {
    let me = thread::current();
    let done = Arc::new(Mutex::new(false));
    let theirs = done.clone();
    let thread = thread::spawn(move || {
        put(number);
        me.unpark();
        *theirs.lock().unwrap() = true;
    });
    thread::park();
    while !*done.lock().unwrap() {} // a park may return by itself
    get(number);
    thread.join().unwrap();
}

fn right_barrier(number: &'static i32) {
    let meet = Arc::new(Barrier::new(2));
    let theirs = meet.clone();
    let thread = thread::spawn(move || {
        put(number);
        theirs.wait();
    });
    meet.wait();
    get(number);
    thread.join().unwrap();
}

fn wrong_barrier(number: &'static i32) {
    let meet = Arc::new(Barrier::new(2));
    let theirs = meet.clone();
    let thread = thread::spawn(move || {
        theirs.wait();
        put(number);
    });
    meet.wait();
    get(number);
    thread.join().unwrap();
}

fn right_join(number: &'static i32) {
    thread::spawn(move || put(number)).join().unwrap();
    get(number);
}

fn right_scope(number: &'static i32) {
    let (first, second) = (AtomicBool::new(false), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            put(number);
            first.store(true, Ordering::Relaxed);
        });
        scope.spawn(|| second.store(true, Ordering::Relaxed));
    });
    get(number);
}

// The handle is the last owner of what counts the thread out.
fn right_handle(number: &'static i32) {
    thread::scope(|scope| {
        let handle = scope.spawn(|| put(number));
        while !handle.is_finished() {
            thread::yield_now();
        }
    });
    get(number);
}

struct Getter(&'static i32);

impl Drop for Getter {
    fn drop(&mut self) {
        get(self.0);
    }
}

// Whichever thread is the last to give up the value reads it.
fn right_arc(number: &'static i32) {
    let value = Arc::new(Getter(number));
    let theirs = value.clone();
    ENDED.store(false, Ordering::Relaxed);
    let thread = thread::spawn(move || {
        put(number);
        drop(theirs);
        while !ENDED.load(Ordering::Relaxed) {}
    });
    while Arc::strong_count(&value) > 1 {}
    drop(value);
    ENDED.store(true, Ordering::Relaxed);
    thread.join().unwrap();
}

fn right_unwrapped(number: &'static i32) {
    let mut value = Arc::new(number);
    let theirs = value.clone();
    ENDED.store(false, Ordering::Relaxed);
    let thread = thread::spawn(move || {
        put(number);
        drop(theirs);
        while !ENDED.load(Ordering::Relaxed) {}
    });
    while Arc::get_mut(&mut value).is_none() {}
    get(number);
    if let Ok(number) = Arc::try_unwrap(value) {
        get(number);
    }
    ENDED.store(true, Ordering::Relaxed);
    thread.join().unwrap();
}

fn inlined_atomic(number: &'static i32) {
    let done = Arc::new(AtomicBool::new(false));
    let theirs = done.clone();
    let thread = thread::spawn(move || {
        put(number);
        theirs.swap(true, Ordering::SeqCst);
    });
    while !done.load(Ordering::Acquire) {}
    get(number);
    thread.join().unwrap();
}

// The cases whose names begin with the word; "list": prints the names.
fn main() {
    let word = std::env::args().nth(1).unwrap_or_default();
    let cases: [(&str, fn(&'static i32)); 23] = [
        ("right_mutex", right_mutex),
        ("wrong_mutex", wrong_mutex),
        ("right_tried", right_tried),
        ("right_rwlock", right_rwlock),
        ("right_readers", right_readers),
        ("wrong_readers", wrong_readers),
        ("right_condvar", right_condvar),
        ("right_channel", right_channel),
        ("wrong_channel", wrong_channel),
        ("right_hangup", right_hangup),
        ("right_room", right_room),
        ("right_rendezvous", right_rendezvous),
        ("right_once", right_once),
        ("right_park", right_park),
        ("right_barrier", right_barrier),
        ("wrong_barrier", wrong_barrier),
        ("right_join", right_join),
        ("right_scope", right_scope),
        ("right_handle", right_handle),
        ("right_arc", right_arc),
        ("right_unwrapped", right_unwrapped),
        ("inlined_atomic", inlined_atomic),
        ("", |_| {}),
    ];
    for (name, run) in cases {
        if word == "list" {
            println!("{}", name);
        } else if name.starts_with(&word) {
            run(Box::leak(Box::new(0)));
        }
    }
}
