//! HTTP services under load: one that stands already (`http`), one that is started (`service`), and
//! the bank in `apps/bank`.
//!
//! This crate must not know what starts a workload, where a long-lived service was started or what
//! is set around it. Each file holds one workload; `application` is what those with servers of
//! their own share.

mod application;

contract::catalog!(dyn contract::Workload: http, service, bank);
