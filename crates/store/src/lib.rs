//! The campaign directory
