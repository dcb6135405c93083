//! An experiment as it was written: its text as a tree, readers of values, and what is wrong with
//! them, each with its place. The planner reads most of it, and each venue its own table.

mod problems;
mod text_size;
mod tree;
pub mod values;

pub use problems::{ExperimentProblems, UnplacedProblem};
pub use text_size::check_size;
pub use tree::{Node, SourceLocation, Table, TreeEntry, Value};
