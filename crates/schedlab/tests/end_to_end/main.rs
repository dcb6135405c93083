//! The binary itself: on the simulator, on a machine of files, and on this host.

mod bench;
mod crashes;
mod fake_root;
mod host;
mod sim;
