// Panics through functions that return for others (optimised, `f` ends in a jump to `g`), are caught, and panic again.
use std::hint::black_box;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};

struct Guard(i32);

impl Drop for Guard {
    fn drop(&mut self) {
        black_box(g(black_box(0)));
    }
}

#[no_mangle]
#[inline(never)]
pub extern "C-unwind" fn g(x: i32) -> i32 {
    if x % 3 == 1 {
        resume_unwind(Box::new(x));
    }
    black_box(x) + 1
}

#[no_mangle]
#[inline(never)]
pub extern "C-unwind" fn f(x: i32) -> i32 {
    g(x + 1)
}

#[no_mangle]
#[inline(never)]
pub extern "C-unwind" fn held(x: i32) -> i32 {
    let guard = Guard(x);
    f(x) + guard.0
}

fn rounds() -> (i32, i32) {
    let functions: [extern "C-unwind" fn(i32) -> i32; 3] = [f, g, held];
    let (mut sum, mut caught) = (0, 0);
    for i in 0..300 {
        match catch_unwind(AssertUnwindSafe(|| black_box(functions[i % 3])(i as i32 / 3))) {
            Ok(value) => sum += value,
            Err(_) => caught += 1,
        }
    }
    (sum, caught)
}

fn main() {
    let thread = std::thread::spawn(|| {
        println!("{:?}", rounds());
        held(0)
    });
    println!("joined: {}", thread.join().is_err());
    println!("{:?}", rounds());
}
