//! Questions and records to findings
