//! The binary itself: on the simulator, on a machine of files, and on this host.

#![allow(clippy::unwrap_used, reason = "a failing step of a test should panic")]
#![allow(clippy::print_stdout, reason = "a test says what it measured")]
#![allow(clippy::print_stderr, reason = "a skipped test says so")]

mod bank;
mod bench;
mod bundle;
mod calibration;
mod compare;
mod crashes;
mod evidence;
mod exports;
mod fake_root;
mod full_disk;
mod gateway;
mod host;
mod import;
mod kernels;
mod kill_series;
mod kill_soak;
mod log;
mod memory;
mod net;
mod reboots;
mod schedulers;
mod serve;
mod service;
mod sim;
mod soak;
mod storage;
mod strangers;
mod studies;
mod suites;
mod suspended;
mod undo;
mod vm;
