//! What is observed beside a workload, and what observing costs
