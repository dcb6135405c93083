//! What is run: native workloads and adapters for programs
